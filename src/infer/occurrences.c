/* SPDX-License-Identifier: MIT */
#include "infer/occurrences.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "infer/limits.h"
#include "infer/tables/prefilter.h"
#include "match/multi_token.h"
#include "match/naming.h"
#include "model/inventory.h"
#include "names/patterns.h"
#include "shapeproof/inventory.h"
#include "solve/iterations.h"

/* ---- shapes ---- */

/* The tensors of a file, grouped by their names without the numbers in them. */

static int compare_named(const void *left, const void *right)
{
    const struct sp_named *a = left, *b = right;
    const int order = sp_compare_places(&a->place, &b->place);
    return order ? order : sp_order(a->tensor, b->tensor);
}

static void index_patterns(struct sp_shapes *shapes)
{
    size_t next = 0;
    shapes->first = sp_realloc(NULL, shapes->patterns.count + 1, sizeof *shapes->first);
    for (size_t p = 0; p <= shapes->patterns.count; p++) {
        while (next < shapes->count && shapes->named[next].place.pattern < p) next++;
        shapes->first[p] = next;
    }
}

static bool is_known(const struct sp_map *known, const char *name, struct sp_text *pattern)
{
    struct sp_indices indices = {.count = 0};
    pattern->length = 0;
    sp_name_split(pattern, name, SP_INDEX_ANYWHERE, &indices);
    return sp_map_get(known, pattern->data) != SIZE_MAX;
}

/* Writes the name under the naming to `name`; sp_shapes_init says when the added prefix is left out. `pattern` is
 * scratch memory. */
static void put_name(const struct sp_naming *naming, const struct sp_map *known, const char *stored,
                     struct sp_text *name, struct sp_text *pattern)
{
    name->length = 0;
    sp_naming_apply(naming, stored, name);
    if (!known || !*naming->add || is_known(known, name->data, pattern)) return;
    struct sp_naming without_add = *naming;
    struct sp_text bare = {0};
    without_add.add = "";
    sp_naming_apply(&without_add, stored, &bare);
    if (is_known(known, bare.data, pattern)) {
        name->length = 0;
        sp_text_puts(name, bare.data);
    }
    sp_text_free(&bare);
}

void sp_shapes_init(struct sp_shapes *shapes, const struct shapeproof_tables *tables,
                    const struct shapeproof_inventory *inventory, const struct sp_naming *naming,
                    const struct sp_map *known, size_t step)
{
    const size_t total = shapeproof_inventory_count(inventory);
    struct sp_text name = {0}, pattern = {0};
    *shapes = (struct sp_shapes){.inventory = inventory, .patterns = {.rule = SP_INDEX_ANYWHERE}};
    shapes->named = sp_realloc(NULL, total, sizeof *shapes->named);
    for (size_t i = 0; i < total; i += step) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        struct sp_named *named = &shapes->named[shapes->count];
        if (tensor->flags & SHAPEPROOF_TENSOR_STATE) continue;
        *named = (struct sp_named){.tensor = i};
        put_name(naming, known, tensor->name, &name, &pattern);
        named->place.pattern = sp_pattern_of(&shapes->patterns, name.data, &named->place.indices);
        shapes->count++;
    }
    sp_text_free(&name);
    sp_text_free(&pattern);
    if (shapes->count) qsort(shapes->named, shapes->count, sizeof *shapes->named, compare_named);
    index_patterns(shapes);
    shapes->prefilter = sp_prefilter_new(tables, &shapes->patterns);
}

size_t sp_shapes_find(const struct sp_shapes *shapes, const char *pattern)
{
    return sp_pattern_find(&shapes->patterns, pattern);
}

size_t sp_shapes_seek(const struct sp_shapes *shapes, size_t pattern, const uint64_t *numbers, size_t count)
{
    struct sp_place wanted = {.pattern = pattern, .indices = {.count = count}};
    size_t low = shapes->first[pattern], high = shapes->first[pattern + 1];
    for (size_t i = 0; i < count; i++) wanted.indices.value[i] = numbers[i];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sp_compare_places(&shapes->named[middle].place, &wanted) < 0) low = middle + 1;
        else high = middle;
    }
    return low < shapes->first[pattern + 1] && !sp_compare_places(&shapes->named[low].place, &wanted) ? low
                                                                                                      : SHAPEPROOF_NONE;
}

void sp_shapes_free(struct sp_shapes *shapes)
{
    sp_free(shapes->named);
    sp_free(shapes->first);
    sp_prefilter_free(shapes->prefilter);
    sp_patterns_free(&shapes->patterns);
    *shapes = (struct sp_shapes){0};
}

/* ---- one line ---- */

static const struct sp_named *named_at(const struct sp_occurrences *occurrences, size_t named)
{
    return &occurrences->shapes->named[named];
}

const struct shapeproof_tensor *sp_occurrence_tensor(const struct sp_occurrences *occurrences, size_t named)
{
    return shapeproof_inventory_tensor(occurrences->shapes->inventory, named_at(occurrences, named)->tensor);
}

/* The iterations that were worked out for the tensor. */
static const int64_t *iterations_of(const struct sp_occurrence *occurrence, size_t named)
{
    size_t low = 0, high = occurrence->count;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        if (occurrence->named[middle] <= named) low = middle;
        else high = middle;
    }
    return &occurrence->iterations[low * (occurrence->line->loop->depth + 1)];
}

int64_t sp_occurrence_iteration(const struct sp_occurrences *occurrences, const struct sp_occurrence *occurrence,
                                const struct sp_loop *loop, size_t named)
{
    if (occurrence->iterations) return iterations_of(occurrence, named)[loop->depth];
    return sp_line_iteration(occurrence->line, loop, named_at(occurrences, named)->place.indices.value);
}

void sp_occurrence_enter(const struct sp_occurrences *occurrences, const struct sp_occurrence *occurrence, size_t named)
{
    const int64_t *iterations = occurrence->iterations ? iterations_of(occurrence, named) : NULL;
    for (struct sp_loop *loop = occurrence->line->loop; loop && iterations; loop = loop->outer)
        sp_loop_enter(loop, iterations[loop->depth]);
    if (!iterations) sp_line_enter(occurrence->line, named_at(occurrences, named)->place.indices.value);
}

/* ---- numbers that are worked out ---- */

/* The new `named` and `iterations` of an occurrence, while its loops are walked. */
struct placing {
    const struct sp_occurrences *occurrences;
    size_t pattern;      /* of the line's names */
    size_t *named;       /* the tensors found so far, in increasing order */
    int64_t *iterations; /* of the loops, for each of these tensors */
    size_t count, most;  /* how many were found, and how many there can be */
    bool is_final;       /* every condition that was evaluated on the way is known */
};

/* Inserts the tensor and the iterations that the loops are in now, in the order of the tensors. False when the tensor
 * is in already: no two iterations share a tensor, so the values that the walk was made under are wrong. */
static bool keep_iterations(struct placing *placing, const struct sp_line *line, size_t named)
{
    const size_t depth = line->loop->depth + 1;
    size_t place = placing->count;
    while (place && placing->named[place - 1] > named) place--;
    if (place && placing->named[place - 1] == named) return false;
    const size_t behind = placing->count - place;
    memmove(&placing->named[place + 1], &placing->named[place], behind * sizeof *placing->named);
    memmove(&placing->iterations[(place + 1) * depth], &placing->iterations[place * depth],
            behind * depth * sizeof *placing->iterations);
    placing->named[place] = named;
    for (const struct sp_loop *loop = line->loop; loop; loop = loop->outer)
        placing->iterations[place * depth + loop->depth] = loop->binding.value.integer;
    placing->count++;
    return true;
}

/* Visits one combination of iterations: looks up the tensor that has the name then, and keeps it. An iteration without
 * a tensor, or whose conditions are known not to be met, is passed over. False ends the walk: a number is not known
 * yet, or keep_iterations failed. */
static bool place_iteration(struct sp_iterations *iterations)
{
    struct placing *placing = iterations->context;
    uint64_t numbers[SP_MAX_INDICES];
    const enum sp_answer answer = sp_line_numbers(iterations->solver, iterations->line, numbers, &iterations->open);
    if (answer != SP_HOLDS) return answer == SP_CONTRADICTS;
    placing->is_final &= sp_line_is_decided(iterations->solver, iterations->line);
    if (sp_line_is_ruled_out(iterations->solver, iterations->line)) return true;
    const size_t named =
        sp_shapes_seek(placing->occurrences->shapes, placing->pattern, numbers, iterations->line->hole_count);
    if (named == SHAPEPROOF_NONE ||
        sp_occurrence_tensor(placing->occurrences, named)->rank != iterations->line->row->rank)
        return true;
    return placing->count < placing->most && keep_iterations(placing, iterations->line, named);
}

/* For a line whose name has a number that is an expression, {before(s) + j}: walks all iterations of its loops and
 * finds the tensor of each by its name. If the walk gets to its end, sets `named` to these tensors, and `iterations`;
 * otherwise leaves the occurrence as it was. */
static void place_tensors(struct sp_occurrences *occurrences, struct sp_occurrence *occurrence, size_t pattern)
{
    const size_t depth = occurrence->line->loop->depth + 1, most = occurrence->count;
    struct placing placing = {.occurrences = occurrences, .pattern = pattern, .most = most, .is_final = true};
    struct sp_iterations iterations = {.solver = &occurrences->outline->solver,
                                       .line = occurrence->line,
                                       .visit = place_iteration,
                                       .context = &placing,
                                       .left = SP_MOST_ITERATIONS};
    placing.named = sp_realloc(NULL, most, sizeof *placing.named);
    placing.iterations = sp_realloc(NULL, most * depth, sizeof *placing.iterations);
    const bool is_complete = sp_walk_iterations(&iterations);
    sp_loop_leave(occurrence->line->loop);
    if (!is_complete) {
        sp_free(placing.named);
        sp_free(placing.iterations);
        return;
    }
    sp_free(occurrence->named);
    occurrence->named = placing.named;
    occurrence->iterations = placing.iterations;
    occurrence->count = placing.count;
    occurrence->is_placed = placing.is_final;
    occurrence->unknown = SIZE_MAX;
}

/* The bounds of a loop: 0 and INT64_MAX where they are not known, or there is no loop (NULL). */
static void known_iterations(struct sp_occurrences *occurrences, const struct sp_loop *loop, int64_t *first,
                             int64_t *last)
{
    struct shapeproof_value value;
    *first = 0;
    *last = INT64_MAX;
    if (!loop) return;
    if (sp_solver_eval(&occurrences->outline->solver, loop->env, loop->clause->first, &value) &&
        value.type == SHAPEPROOF_VALUE_INT)
        *first = value.integer;
    if (sp_solver_eval(&occurrences->outline->solver, loop->env, loop->clause->last, &value) &&
        value.type == SHAPEPROOF_VALUE_INT)
        *last = value.integer;
}

/* Which iterations of a line's loops its conditions are known to rule out. Where the conditions depend on the outermost
 * loop alone, the answer for its last iteration is cached: tensors come in the order of the iterations. */
struct ruling {
    const struct sp_line *line;
    const struct sp_loop *outermost;
    bool varies;       /* a condition depends on any loop; otherwise all iterations are alike */
    bool by_outermost; /* no condition depends on an inner loop */
    int64_t iteration; /* of the outermost loop: what the cached answer is for; -1: none is cached */
    bool is_out;       /* the cached answer */
};

static struct ruling ruling_of(const struct sp_line *line)
{
    struct ruling ruling = {
        .line = line, .outermost = line->loop ? sp_line_outermost(line) : NULL, .by_outermost = true, .iteration = -1};
    for (const struct sp_line_condition *condition = line->condition; condition && line->loop;
         condition = condition->outer) {
        ruling.varies |= sp_condition_varies(condition);
        for (const struct sp_loop *loop = line->loop; loop != ruling.outermost; loop = loop->outer)
            ruling.by_outermost &= !sp_condition_is_about(condition, loop);
    }
    return ruling;
}

static bool rules_out(struct sp_occurrences *occurrences, struct ruling *ruling, const uint64_t *numbers)
{
    if (!ruling->varies) return false;
    const int64_t iteration = ruling->by_outermost ? sp_line_iteration(ruling->line, ruling->outermost, numbers) : -1;
    if (iteration >= 0 && iteration == ruling->iteration) return ruling->is_out;
    sp_line_enter(ruling->line, numbers);
    ruling->is_out = sp_line_is_ruled_out(&occurrences->outline->solver, ruling->line);
    ruling->iteration = iteration;
    sp_loop_leave(ruling->line->loop);
    return ruling->is_out;
}

/* Whether the line is of a layer for multi-token prediction. */
static bool is_for_multi_token(const struct sp_line *line)
{
    const struct sp_loop *loop = sp_line_outermost(line);
    return line->optional && loop && line->hole_count && sp_is_multi_token_section(loop->env->section->name);
}

/* Which layer was looked at last, and whether it is one for multi-token prediction: tensors come in the order of their
 * layers. */
struct multi_token {
    bool is_asked; /* the line is of such layers, which have lines of their own */
    bool is_known; /* a layer was looked at */
    uint64_t layer;
    bool is_one;
};

/* Marks the lines that only layers for multi-token prediction have: no ordinary line has the name of one. */
static void mark_own_lines(struct sp_occurrences *occurrences)
{
    const struct sp_outline *outline = occurrences->outline;
    struct sp_map ordinary = {0};
    bool has_some = false;
    for (size_t i = 0; i < outline->count && !has_some; i++) has_some = is_for_multi_token(&outline->lines[i]);
    for (size_t i = 0; i < outline->count && has_some; i++)
        if (!is_for_multi_token(&outline->lines[i])) sp_map_add(&ordinary, outline->lines[i].name, i);
    for (size_t i = 0; i < outline->count && has_some; i++) {
        const struct sp_line *line = &outline->lines[i];
        occurrences->of[i].is_own_of_multi_token =
            line->hole_count == 1 && is_for_multi_token(line) && sp_map_get(&ordinary, line->name) == SIZE_MAX;
    }
    sp_map_free(&ordinary);
}

/* Whether the file has a tensor of one of these lines in the layer of that number, among the layers of the line; in any
 * layer if `layer` is NULL: whether there is such a line at all. */
static bool has_own_line(const struct sp_occurrences *occurrences, const struct sp_line *line, const uint64_t *layer)
{
    const size_t front = (size_t)(strchr(line->name, (unsigned char)SP_INDEX_MARK) - line->name) + 1;
    for (size_t i = 0; i < occurrences->outline->count; i++) {
        const struct sp_line *own = &occurrences->outline->lines[i];
        if (!occurrences->of[i].is_own_of_multi_token || strncmp(own->name, line->name, front) != 0) continue;
        if (!layer) return true;
        const size_t pattern = sp_shapes_find(occurrences->shapes, own->name);
        if (pattern != SHAPEPROOF_NONE &&
            sp_shapes_seek(occurrences->shapes, pattern, layer, own->hole_count) != SHAPEPROOF_NONE)
            return true;
    }
    return false;
}

/* Whether a line of layers for multi-token prediction cannot have a tensor, because its layer is an ordinary one. */
static bool is_in_ordinary_layer(const struct sp_occurrences *occurrences, const struct sp_line *line,
                                 struct multi_token *of, uint64_t layer)
{
    if (!of->is_asked) return false;
    if (!of->is_known || of->layer != layer)
        *of = (struct multi_token){true, true, layer, has_own_line(occurrences, line, &layer)};
    return !of->is_one;
}

/* Finds the tensors of the file that may be those of a line. Their names have its pattern, with the numbers that are
 * known; the rank is the line's; the iteration of the outermost loop lies within its known bounds; no condition is
 * known to be false in the iterations that the numbers stand for; and a line of layers for multi-token prediction has
 * no tensors of an ordinary layer. */
static void collect_occurrences(struct sp_occurrences *occurrences, struct sp_occurrence *occurrence)
{
    const struct sp_shapes *shapes = occurrences->shapes;
    const size_t pattern = sp_shapes_find(shapes, occurrence->line->name);
    const struct sp_loop *loop = sp_line_outermost(occurrence->line);
    struct sp_fixed_numbers fixed;
    int64_t least, most;
    if (occurrence->is_placed) return;
    sp_free(occurrence->iterations);
    occurrence->iterations = NULL;
    occurrence->count = 0;
    if (pattern == SHAPEPROOF_NONE) return;
    const size_t first = shapes->first[pattern], end = shapes->first[pattern + 1];
    occurrence->named = sp_realloc(occurrence->named, end - first, sizeof *occurrence->named);
    occurrence->unknown = sp_line_fix_numbers(&occurrences->outline->solver, occurrence->line, &fixed);
    known_iterations(occurrences, loop, &least, &most);
    struct ruling ruling = ruling_of(occurrence->line);
    struct multi_token multi_token = {.is_asked = is_for_multi_token(occurrence->line) &&
                                                  !sp_inventory_is_part(occurrences->shapes->inventory) &&
                                                  has_own_line(occurrences, occurrence->line, NULL)};
    for (size_t i = first; i < end; i++) {
        const uint64_t *numbers = shapes->named[i].place.indices.value;
        /* -1 when the name does not tell it */
        const int64_t iteration = loop ? sp_occurrence_iteration(occurrences, occurrence, loop, i) : -1;
        const bool may_be_in_loop = iteration < 0 || (iteration >= least && iteration <= most);
        if (may_be_in_loop && sp_line_fits(occurrence->line, &fixed, numbers) &&
            sp_occurrence_tensor(occurrences, i)->rank == occurrence->line->row->rank &&
            !rules_out(occurrences, &ruling, numbers) &&
            !is_in_ordinary_layer(occurrences, occurrence->line, &multi_token, numbers[0]))
            occurrence->named[occurrence->count++] = i;
    }
    if (occurrence->unknown != SIZE_MAX && loop && occurrence->count) place_tensors(occurrences, occurrence, pattern);
}

static bool is_indexed(const struct sp_line *line)
{
    for (size_t i = 0; i < line->row->rank && line->loop; i++)
        if (sp_depends_on(line->env, line->row->shape[i], NULL)) return true;
    for (const struct sp_line_condition *condition = line->condition; condition && line->loop;
         condition = condition->outer)
        if (sp_condition_varies(condition)) return true;
    return false;
}

/* ---- all of them ---- */

/* Which of two lines owns a tensor that both could have, by enum sp_contest; `certain`: for the owner it is not
 * contested.
 */
static size_t owner_of(const struct sp_occurrences *occurrences, size_t first, size_t second, enum sp_contest contest,
                       bool *certain)
{
    const struct sp_occurrence *a = &occurrences->of[first], *b = &occurrences->of[second];
    *certain = contest != SP_CONTESTED_UNKNOWN;
    if ((a->unknown != SIZE_MAX) != (b->unknown != SIZE_MAX)) return a->unknown == SIZE_MAX ? first : second;
    if (contest > SP_CONTESTED_BY_ALL && a->line->optional != b->line->optional)
        return a->line->optional ? second : first;
    *certain = false;
    return first;
}

static void find_owners(struct sp_occurrences *occurrences, enum sp_contest contest)
{
    occurrences->seen = 0;
    occurrences->first_owns = contest == SP_CONTESTED_FIRST;
    for (size_t i = 0; i < occurrences->shapes->count; i++) occurrences->owners[i] = SHAPEPROOF_NONE;
    for (size_t i = 0; i < occurrences->outline->count; i++) occurrences->of[i].is_contested = false;
    for (size_t i = 0; i < occurrences->outline->count; i++)
        for (size_t k = 0; k < occurrences->of[i].count; k++) {
            size_t *owner = &occurrences->owners[occurrences->of[i].named[k]];
            const size_t before = *owner;
            bool certain;
            occurrences->seen += before == SHAPEPROOF_NONE;
            *owner = before == SHAPEPROOF_NONE ? i : owner_of(occurrences, before, i, contest, &certain);
            if (before == SHAPEPROOF_NONE) continue;
            occurrences->of[before].is_contested |= !certain || *owner != before;
            occurrences->of[i].is_contested |= !certain || *owner != i;
        }
}

bool sp_occurrence_is_owner(const struct sp_occurrences *occurrences, size_t line)
{
    const struct sp_occurrence *occurrence = &occurrences->of[line];
    if (!occurrence->count || !occurrence->is_contested) return occurrence->count > 0;
    return occurrences->first_owns && occurrences->owners[occurrence->named[0]] == line;
}

void sp_occurrences_renew(struct sp_occurrences *occurrences, enum sp_contest contest)
{
    for (size_t i = 0; i < occurrences->outline->count; i++) {
        struct sp_occurrence *occurrence = &occurrences->of[i];
        if (sp_line_is_ruled_out(&occurrences->outline->solver, occurrence->line)) occurrence->count = 0;
        else collect_occurrences(occurrences, occurrence);
    }
    find_owners(occurrences, contest);
}

void sp_occurrences_init(struct sp_occurrences *occurrences, struct sp_outline *outline, const struct sp_shapes *shapes)
{
    *occurrences = (struct sp_occurrences){.outline = outline, .shapes = shapes};
    occurrences->of = sp_realloc(NULL, outline->count, sizeof *occurrences->of);
    occurrences->owners = sp_realloc(NULL, shapes->count, sizeof *occurrences->owners);
    for (size_t i = 0; i < outline->count; i++)
        occurrences->of[i] =
            (struct sp_occurrence){.line = &outline->lines[i], .indexed = is_indexed(&outline->lines[i])};
    mark_own_lines(occurrences);
    sp_occurrences_renew(occurrences, SP_CONTESTED_BY_ALL);
}

void sp_occurrences_free(struct sp_occurrences *occurrences)
{
    for (size_t i = 0; occurrences->outline && i < occurrences->outline->count; i++) {
        sp_free(occurrences->of[i].named);
        sp_free(occurrences->of[i].iterations);
    }
    sp_free(occurrences->of);
    sp_free(occurrences->owners);
    *occurrences = (struct sp_occurrences){0};
}
