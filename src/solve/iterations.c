/* SPDX-License-Identifier: MIT */
#include "solve/iterations.h"

#include "solve/limits.h"

enum { MAX_LOOPS = SP_MAX_INDICES };

/* The walk through `loops`, the outermost first. An index is reset only after a complete walk, so that the caller sees
 * where it ended. */
static bool walk_iterations_from(struct sp_iterations *iterations, struct sp_loop *const *loops, size_t count)
{
    if (!count) return iterations->visit(iterations);
    struct sp_loop *loop = *loops;
    if (loop->binding.value.type == SHAPEPROOF_VALUE_INT) return walk_iterations_from(iterations, loops + 1, count - 1);
    const struct shapeproof_value first = sp_solver_value(iterations->solver, loop->env, loop->clause->first);
    struct shapeproof_value last = sp_solver_value(iterations->solver, loop->env, loop->clause->last);
    const bool has_first = first.type == SHAPEPROOF_VALUE_INT;
    iterations->open = has_first ? last : first;
    if (has_first && last.type == SHAPEPROOF_VALUE_UNKNOWN && iterations->end)
        iterations->open = last = iterations->end(iterations, loop);
    if (iterations->open.type != SHAPEPROOF_VALUE_INT) return false; /* a bound is not known */
    for (int64_t iteration = first.integer; iteration <= last.integer; iteration++) {
        if (!iterations->left) return false;
        iterations->left--;
        sp_loop_enter(loop, iteration);
        if (!walk_iterations_from(iterations, loops + 1, count - 1)) return false;
    }
    loop->binding.value = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_UNKNOWN, .string = ""};
    return true;
}

bool sp_walk_iterations(struct sp_iterations *iterations)
{
    struct sp_loop *loops[MAX_LOOPS];
    const struct sp_loop *inner = iterations->line->loop;
    const size_t count = inner ? inner->depth + 1 : 0;
    iterations->open = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_INT};
    if (count > MAX_LOOPS) return false;
    for (struct sp_loop *loop = iterations->line->loop; loop; loop = loop->outer) loops[loop->depth] = loop;
    return walk_iterations_from(iterations, loops, count);
}

enum sp_answer sp_line_numbers(struct sp_solver *solver, const struct sp_line *line, uint64_t *numbers,
                               struct shapeproof_value *open)
{
    for (size_t i = 0; i < line->hole_count; i++) {
        const struct sp_hole *hole = &line->holes[i];
        numbers[i] = hole->constant;
        if (hole->loop) numbers[i] += (uint64_t)hole->loop->binding.value.integer * hole->factor;
        if (!hole->expr) continue;
        *open = sp_solver_value(solver, hole->env, hole->expr);
        if (open->type == SHAPEPROOF_VALUE_UNKNOWN) return SP_OPEN;
        if (open->type != SHAPEPROOF_VALUE_INT) return SP_CONTRADICTS;
        numbers[i] = (uint64_t)open->integer;
    }
    return SP_HOLDS;
}

/* ---- the iterations of one name ---- */

/* Visits an iteration: false, which ends the walk, if the line has the wanted numbers in it. */
static bool is_other_name(struct sp_iterations *iterations)
{
    const uint64_t *wanted = iterations->context;
    uint64_t numbers[SP_MAX_INDICES];
    struct shapeproof_value open;
    if (sp_line_numbers(iterations->solver, iterations->line, numbers, &open) != SP_HOLDS) return true;
    for (size_t i = 0; i < iterations->line->hole_count; i++)
        if (iterations->line->holes[i].expr && numbers[i] != wanted[i]) return true;
    return false;
}

bool sp_line_find_iterations(struct sp_solver *solver, const struct sp_line *line, const uint64_t *numbers)
{
    uint64_t wanted[SP_MAX_INDICES];
    struct sp_iterations iterations = {
        .solver = solver, .line = line, .visit = is_other_name, .context = wanted, .left = SP_MOST_WALKED};
    for (size_t i = 0; i < line->hole_count; i++) wanted[i] = numbers[i];
    sp_line_enter(line, numbers);
    if (sp_walk_iterations(&iterations) || iterations.open.type != SHAPEPROOF_VALUE_INT || !iterations.left)
        return false;
    return !is_other_name(&iterations);
}
