/* SPDX-License-Identifier: MIT */
#include "infer/numbers/stages.h"
#include "infer/limits.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DIMENSIONS = 64 }; /* bits of a mask */

struct sp_loop *sp_stage_loop(const struct sp_line *line, size_t front)
{
    const struct sp_hole *hole = &line->holes[front];
    struct sp_loop *loop = hole->expr ? line->loop : NULL;
    while (loop && !sp_depends_on(hole->env, hole->expr, loop)) loop = loop->outer;
    return loop;
}

/* ---- which lines tell ---- */

/* Whether the modules of a stage are alike in which tensors of the line they have. */
static bool is_there_by_stage(const struct sp_line *line, const struct sp_loop *stage_loop)
{
    if (line->optional || line->row->has_tie || line->old_of != SP_NO_LINE) return false;
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer)
        if (sp_condition_is_about(condition, stage_loop)) return false;
    for (const struct sp_loop *loop = line->loop; loop != stage_loop; loop = loop->outer)
        if (sp_depends_on(loop->env, loop->clause->first, stage_loop) ||
            sp_depends_on(loop->env, loop->clause->last, stage_loop))
            return false;
    return true;
}

/* ---- what a module looks like ---- */

static uint64_t mix_mark(uint64_t mark, uint64_t number)
{
    mark = (mark ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    return mark ^ mark >> 29;
}

/* The hash of a tensor: of its pattern, the numbers behind that of the module, and the dimensions whose bits are set.
 */
static uint64_t mark_of(size_t pattern, const struct shapeproof_tensor *tensor, uint64_t dimensions,
                        const uint64_t *behind, size_t behind_count)
{
    uint64_t mark = mix_mark(1, pattern);
    for (size_t i = 0; i < behind_count; i++) mark = mix_mark(mark, behind[i]);
    for (size_t d = 0; d < tensor->rank && d < MAX_DIMENSIONS; d++)
        if (dimensions >> d & 1) mark = mix_mark(mix_mark(mark, d), tensor->shape[d]);
    return mark;
}

/* The dimensions, as bits, that do not depend on the index within a stage. */
static uint64_t fixed_dimensions(const struct sp_line *line, const struct sp_loop *stage_loop)
{
    uint64_t fixed = 0;
    for (size_t d = 0; d < line->row->rank && d < MAX_DIMENSIONS; d++)
        if (!sp_depends_on(line->env, line->row->shape[d], stage_loop)) fixed |= UINT64_C(1) << d;
    return fixed;
}

/* Adds the tensors of one line to the hashes of their modules. Sums do not depend on the order of the lines. */
static void mark_line(struct sp_stages *stages, const struct sp_deduction *deduction, size_t index,
                      const uint64_t *numbers, size_t front)
{
    const struct sp_line *line = &deduction->outline->lines[index];
    const struct sp_shapes *shapes = deduction->occurrences.shapes;
    const struct sp_loop *stage_loop = sp_stage_loop(line, front);
    const size_t pattern = sp_shapes_find(shapes, line->name), behind = line->hole_count - front - 1;
    const bool tells = stage_loop && !deduction->has_namesake[index] && is_there_by_stage(line, stage_loop);
    const uint64_t fixed = tells ? fixed_dimensions(line, stage_loop) : 0;
    if (pattern == SHAPEPROOF_NONE) return;
    for (size_t i = shapes->first[pattern]; i < shapes->first[pattern + 1]; i++) {
        const uint64_t *own = shapes->named[i].place.indices.value;
        const struct shapeproof_tensor *tensor = sp_occurrence_tensor(&deduction->occurrences, i);
        if (memcmp(own, numbers, front * sizeof *own) != 0 || own[front] >= stages->count) continue;
        stages->names[own[front]] += mark_of(pattern, tensor, 0, own + front + 1, behind);
        if (tells && !sp_shapes_is_flat(shapes, i))
            stages->marks[own[front]] += mark_of(pattern, tensor, fixed, own + front + 1, behind);
    }
}

static uint64_t *new_marks(size_t count)
{
    uint64_t *marks = sp_realloc(NULL, count, sizeof *marks);
    memset(marks, 0, count * sizeof *marks);
    return marks;
}

void sp_stages_read(struct sp_stages *stages, const struct sp_deduction *deduction, const size_t *lines,
                    size_t line_count, const uint64_t *numbers, size_t front, uint64_t most)
{
    *stages = (struct sp_stages){.marks = NULL};
    if (most >= SP_MOST_MODULES_IN_STAGES) return;
    stages->count = (size_t)most + 1;
    stages->marks = new_marks(stages->count);
    stages->names = new_marks(stages->count);
    for (size_t i = 0; i < line_count; i++) mark_line(stages, deduction, lines[i], numbers, front);
}

void sp_stages_free(struct sp_stages *stages)
{
    sp_free(stages->marks);
    sp_free(stages->names);
    *stages = (struct sp_stages){.marks = NULL};
}

/* ---- stages ---- */

bool sp_stages_alike(const struct sp_stages *stages, uint64_t a, uint64_t b)
{
    return a >= stages->count || b >= stages->count || stages->marks[a] == stages->marks[b];
}

int64_t sp_stages_behind(const struct sp_stages *stages, uint64_t first, uint64_t step)
{
    int64_t behind = 0;
    for (uint64_t next = first + step; next < stages->count && stages->marks[first] == stages->marks[next];
         next += step)
        behind++;
    return behind;
}

int64_t sp_stages_count(const struct sp_stages *stages)
{
    int64_t count = 0;
    for (uint64_t first = 0; first < stages->count; first += (uint64_t)sp_stages_behind(stages, first, 1) + 1) count++;
    return count;
}

/* Whether the names of the modules repeat with that period. */
static bool has_period(const struct sp_stages *stages, size_t period)
{
    for (size_t i = period; i < stages->count; i++)
        if (stages->names[i] != stages->names[i - period]) return false;
    return true;
}

int64_t sp_stages_repeats(const struct sp_stages *stages)
{
    size_t period = 1;
    while (stages->count % period || !has_period(stages, period)) period++;
    return (int64_t)(stages->count / period);
}
