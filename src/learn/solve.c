/* SPDX-License-Identifier: MIT */
#include "learn/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/chars.h"
#include "base/order.h"
#include "learn/rows/layout.h"
#include "learn/terms/likely.h"

/* ---- functions of the configuration ---- */

enum {
    MOST_POINTS = 400, /* of a reduced function */
    MOST_BANKS = 32,   /* in the cache */
    MOST_COUNTED = 8   /* different values */
};

void sp_function_add(struct sp_learn_function *function, const struct sp_point *point, double value)
{
    if (function->count == function->capacity) {
        function->capacity = function->capacity ? 2 * function->capacity : 16;
        function->points = sp_realloc(function->points, function->capacity, sizeof *function->points);
        function->values = sp_realloc(function->values, function->capacity, sizeof *function->values);
    }
    function->points[function->count] = *point;
    function->values[function->count++] = value;
}

void sp_function_free(struct sp_learn_function *function)
{
    sp_free(function->points);
    sp_free(function->values);
}

/* ---- fewer indices ---- */

struct sample {
    struct sp_point point;
    double value;
};

static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    return sp_compare_points(&a->point, &b->point);
}

/* The points and values of the function, with the indices that the mask lacks set to 0, sorted by point. sp_free them.
 */
static struct sample *masked_samples(const struct sp_learn_function *function, unsigned mask)
{
    struct sample *samples = sp_realloc(NULL, function->count + 1, sizeof *samples);
    for (size_t i = 0; i < function->count; i++) {
        samples[i] = (struct sample){function->points[i], function->values[i]};
        for (size_t k = 0; k < SP_MAX_INDICES; k++)
            if (!(mask >> k & 1)) samples[i].point.index[k] = 0;
    }
    qsort(samples, function->count, sizeof *samples, compare_samples);
    return samples;
}

/* Keeps each point once and returns how many there are; 0 when one point has two values. */
static size_t unite_samples(struct sample *samples, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const bool same = kept && compare_samples(&samples[kept - 1], &samples[i]) == 0;
        if (same && samples[kept - 1].value != samples[i].value) return 0;
        if (!same) samples[kept++] = samples[i];
    }
    return kept;
}

/* Keeps at most MOST_POINTS of the samples, evenly chosen, with the first and the last one. */
static size_t thin_samples(struct sample *samples, size_t count)
{
    if (count <= MOST_POINTS) return count;
    for (size_t i = 0; i < MOST_POINTS; i++) samples[i] = samples[i * (count - 1) / (MOST_POINTS - 1)];
    return MOST_POINTS;
}

static struct sp_reduced keep_samples(const struct sample *samples, size_t count, unsigned mask)
{
    struct sp_reduced reduced = {.domain = {.count = count, .indices = mask}};
    reduced.domain.points = sp_realloc(NULL, count + 1, sizeof *reduced.domain.points);
    reduced.values = sp_realloc(NULL, count + 1, sizeof *reduced.values);
    for (size_t i = 0; i < count; i++) {
        reduced.domain.points[i] = samples[i].point;
        reduced.values[i] = samples[i].value;
    }
    return reduced;
}

/* Reduces the function to the indices of the mask; false when they do not decide its values. */
static bool try_mask(const struct sp_learn_function *function, unsigned mask, struct sp_reduced *reduced)
{
    struct sample *samples = masked_samples(function, mask);
    const size_t count = thin_samples(samples, unite_samples(samples, function->count));
    if (count) *reduced = keep_samples(samples, count, mask);
    sp_free(samples);
    return count > 0;
}

struct sp_reduced sp_function_reduce(const struct sp_learn_function *function)
{
    const unsigned all = (1U << function->index_count) - 1;
    struct sp_reduced reduced = {.values = NULL};
    for (size_t indices = 0; indices <= function->index_count; indices++)
        for (unsigned mask = 0; mask <= all; mask++)
            if ((size_t)__builtin_popcount(mask) == indices && try_mask(function, mask, &reduced)) return reduced;
    return reduced;
}

void sp_reduced_free(struct sp_reduced *reduced)
{
    sp_free(reduced->domain.points);
    sp_free(reduced->values);
}

size_t sp_distinct_values(const double *values, size_t count)
{
    double seen[MOST_COUNTED];
    size_t distinct = 0;
    for (size_t i = 0; i < count && distinct < MOST_COUNTED; i++) {
        size_t known = 0;
        while (known < distinct && seen[known] != values[i]) known++;
        if (known == distinct) seen[distinct++] = values[i];
    }
    return distinct;
}

/* ---- banks ---- */

static bool same_domain(const struct sp_domain *a, const struct sp_domain *b)
{
    return a->indices == b->indices && a->count == b->count &&
           memcmp(a->points, b->points, a->count * sizeof *a->points) == 0;
}

void sp_library_forget(struct sp_library *library)
{
    for (size_t i = 0; i < library->banks.count; i++) sp_term_bank_free(library->banks.items[i]);
    sp_free(library->banks.items);
    library->banks.items = NULL;
    library->banks.count = library->banks.capacity = 0;
}

void sp_library_tidy(struct sp_library *library)
{
    if (library->banks.count >= MOST_BANKS) sp_library_forget(library);
}

struct sp_term_bank *sp_library_bank(struct sp_library *library, const struct sp_domain *domain)
{
    for (size_t i = 0; i < library->banks.count; i++)
        if (same_domain(sp_term_bank_domain(library->banks.items[i]), domain)) return library->banks.items[i];
    struct sp_domain kept = *domain;
    kept.points = sp_arena_array(library->evidence->arena, domain->count, sizeof *kept.points);
    memcpy(kept.points, domain->points, domain->count * sizeof *kept.points);
    *SP_PUSH(&library->banks) = sp_term_bank_new(library->evidence, &kept);
    return library->banks.items[library->banks.count - 1];
}

/* ---- solve ---- */

enum {
    MOST_ROUNDS = 40,         /* of layouts: each ends with a decision taken back */
    MOST_ITERATIONS = 400000, /* of the loops of a row, in all examples */
    MOST_ABSENT = 1000000,    /* of the loops of all rows, in one round, beyond EXPECTED for each tensor */
    EXPECTED = 64,            /* iterations of a loop in each of which a row might have a tensor, and has one */
    MOST_SPELLED = 64,        /* numbers that are spelt out in names */
    POPULAR = 7,              /* the cost of a key that was chosen somewhere */
    FEW = 3                   /* numbers up to here are spelt out rather than not solved */
};

/* ---- loops ---- */

/* The values [begin, end) of a stem that have one outer point: the numbers of one loop. */
struct run {
    size_t begin, end;
};

static struct run next_run(const struct sp_stem_value *values, size_t count, size_t begin)
{
    struct run run = {begin, begin + 1};
    while (run.end < count && sp_compare_points(&values[run.end].outer, &values[begin].outer) == 0) run.end++;
    return run;
}

/* Whether the values of every run are first, first + step, first + 2*step ... */
static bool runs_are_even(const struct sp_stem_value *values, size_t count, uint64_t step)
{
    for (size_t i = 1; i < count; i++)
        if (sp_compare_points(&values[i].outer, &values[i - 1].outer) == 0 &&
            values[i].value - values[i - 1].value != step)
            return false;
    return true;
}

/* The difference of the first two values of a run; 1 if every run has one value. */
static uint64_t step_of_values(const struct sp_stem_value *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (sp_compare_points(&values[i].outer, &values[i - 1].outer) == 0)
            return values[i].value - values[i - 1].value;
    return 1;
}

/* Whether every run has the same values. */
static bool runs_are_alike(const struct sp_stem_value *values, size_t count)
{
    const struct run first = next_run(values, count, 0);
    for (size_t i = 0; i < count;) {
        const struct run run = next_run(values, count, i);
        if (run.end - run.begin != first.end) return false;
        for (size_t k = 0; k < first.end; k++)
            if (values[run.begin + k].value != values[k].value) return false;
        i = run.end;
    }
    return true;
}

/* Whether a term is a key, an item or a length that goes with the name. */
static bool is_key_of_loop(const struct sp_search_term *term, const char *name)
{
    return term->terminal && sp_search_term_affinity(term, name);
}

/* Exchanges the chosen term and an alternative. */
static void choose_rather(struct sp_answer *answer, size_t other)
{
    const struct sp_search_term *stranger = answer->term;
    answer->term = answer->others[other];
    answer->others[other] = stranger;
}

/* Whether a term suits what is called `name`. */
typedef bool suits(const struct sp_search_term *term, const char *name);

/* If the chosen term is not good, exchanges it with the first alternative that is better; again until it is good. */
static void prefer_better(struct sp_answer *answer, const char *name, suits *is_good, suits *is_better)
{
    for (size_t i = 0; answer->term && !is_good(answer->term, name) && i < answer->other_count; i++)
        if (is_better(answer->others[i], name)) choose_rather(answer, i);
}

static bool goes_with_name(const struct sp_search_term *term, const char *name)
{
    return sp_search_term_affinity(term, name) > 0;
}

/* Whether a term is a key, an item or a length, or one more: depth, len(widths) + 1. */
static bool is_plain_count(const struct sp_search_term *term, const char *name)
{
    (void)name;
    const bool one_more = term->op == SP_TERM_ADD && term->b->op == SP_TERM_NUMBER && term->b->number == 1;
    return (one_more ? term->a : term)->terminal != NULL;
}

/* Whether a term counts things: a key that is called so, "num_layers" or "n", or what is read from a list. */
static bool counts_by_name(const struct sp_search_term *term, const char *name)
{
    (void)name;
    static const char *const words[] = {"num", "n_", "layer", "block", "depth", "stage", "level", "count", "repeat"};
    if (term->op != SP_TERM_KEY) return term->terminal != NULL;
    return SP_HAS_ANY(term->terminal->path, words) || strlen(term->terminal->path) == 1;
}

static bool is_no_other_key(const struct sp_search_term *term, const char *name)
{
    return !term->terminal || counts_by_name(term, name);
}

/* For a count of iterations, prefers plain counts to other terms (width // 3), keys that count to other keys (width),
 * and keys that go with the name. */
static void prefer_count(struct sp_answer *answer, const char *name)
{
    prefer_better(answer, name, is_plain_count, is_plain_count);
    prefer_better(answer, name, is_no_other_key, counts_by_name);
    prefer_better(answer, name, goes_with_name, is_key_of_loop);
}

/* How many iterations the loop over an index has in an example: its highest value, and one more. */
static size_t iterations_of_index(const struct sp_learn_function *function, size_t example, size_t index)
{
    uint64_t iterations = 0;
    for (size_t i = 0; i < function->count; i++)
        if (function->points[i].example == example && function->points[i].index[index] >= iterations)
            iterations = function->points[i].index[index] + 1;
    return (size_t)iterations;
}

/* Whether list[i] has the values of the function, and the list has as many items as the loop over i has iterations. */
static bool is_list_of_iterations(const struct sp_learn_function *function, const struct sp_search_term *item)
{
    for (size_t i = 0; i < function->count; i++) {
        const struct sp_point *point = &function->points[i];
        const struct shapeproof_value list = item->terminal->values[point->example];
        if (list.type != SHAPEPROOF_VALUE_LIST || sp_search_term_value(item, point) != function->values[i])
            return false;
        if (list.count != iterations_of_index(function, point->example, (size_t)item->a->number)) return false;
    }
    return true;
}

/* The count of an inner loop, if it does not depend on the outer index i in the examples (two stages of 3 blocks each
 * in all of them): prefers depths[i] to a term like len(depths) + 1. The name of the list must go with that of the
 * loop, and the list must have an item for each iteration of the outer loop. The term that was chosen becomes an
 * alternative. */
static void prefer_list_of_iterations(const struct sp_learn_problem *problem, const struct sp_learn_function *function,
                                      struct sp_answer *answer)
{
    struct sp_arena *arena = problem->evidence->arena;
    if (!answer->term || sp_indices_of(answer->term)) return;
    if (answer->term->op == SP_TERM_KEY && sp_search_term_affinity(answer->term, function->name)) return;
    for (size_t i = 0; i < problem->evidence->terminals.count; i++)
        for (size_t k = 0; k < function->index_count; k++) {
            const struct sp_terminal *terminal = problem->evidence->terminals.items[i];
            if (terminal->values[0].type != SHAPEPROOF_VALUE_LIST || terminal->values[0].count < 2) break;
            const struct sp_search_term *item = sp_search_term_new(
                arena,
                (struct sp_search_term){.op = SP_TERM_ITEM, .terminal = terminal, .a = sp_search_term_index(arena, k)});
            if (!sp_search_term_affinity(item, function->name) || !is_list_of_iterations(function, item)) continue;
            if (answer->other_count < SP_MOST_ALTERNATIVES) answer->other_count++; /* else the last one is replaced */
            answer->others[answer->other_count - 1] = item;
            choose_rather(answer, answer->other_count - 1);
            return;
        }
}

/* Where the numbers behind a body begin, from how often the body is repeated: period*iterations + behind. */
static const struct sp_search_term *place_behind(struct sp_arena *arena, const struct sp_stem *stem,
                                                 const struct sp_search_term *iterations)
{
    const struct sp_search_term *length =
        sp_search_term_binary(arena, SP_TERM_MULTIPLY, sp_search_term_number(arena, (double)stem->period), iterations);
    if (!stem->behind) return length;
    return sp_search_term_binary(arena, SP_TERM_ADD, length, sp_search_term_number(arena, (double)stem->behind));
}

/* Whether a term contains a power like 2^(stages - i), which has no value from some i on. It cannot be the end of a
 * loop, which must have a value at each iteration of the outer loops, also where no row is. */
static bool falls_below_one(const struct sp_search_term *term)
{
    if (!term) return false;
    if (term->op == SP_TERM_POWER && term->b->op == SP_TERM_SUBTRACT && sp_indices_of(term->b)) return true;
    return falls_below_one(term->a) || falls_below_one(term->b) || falls_below_one(term->c);
}

static bool is_end_everywhere(const struct sp_search_term *term, const char *name)
{
    (void)name;
    return !falls_below_one(term);
}

/* What has to be found of a loop. */
enum end {
    FIRST_NUMBER,
    ITERATIONS,
    ITERATIONS_BEFORE /* how often the body is repeated that the loop comes behind */
};

static double value_of_end(const struct sp_stem *stem, const struct sp_stem_value *values, struct run run, enum end end)
{
    if (end == ITERATIONS) return (double)(run.end - run.begin);
    const uint64_t first = values[run.begin].value;
    return (double)(end == FIRST_NUMBER ? first : (first - stem->behind) / stem->period);
}

/* The term for the first number of a loop, for its iterations, or for those of the body before it. */
static struct sp_answer solve_end(struct sp_learn_problem *problem, const struct sp_stem *stem,
                                  const struct sp_stem_value *values, size_t count, enum end end)
{
    struct sp_learn_function function = {.index_count = stem->depth, .name = stem->text};
    for (struct run run = {0, 0}; run.end < count;) {
        run = next_run(values, count, run.end);
        sp_function_add(&function, &values[run.begin].outer, value_of_end(stem, values, run, end));
    }
    struct sp_answer answer = sp_solve_function(problem, &function);
    if (end == ITERATIONS) prefer_list_of_iterations(problem, &function, &answer);
    if (end != FIRST_NUMBER) prefer_count(&answer, stem->text);
    prefer_better(&answer, stem->text, is_end_everywhere, is_end_everywhere);
    sp_function_free(&function);
    return answer;
}

/* The term for the first number of a loop; behind a body it is computed from the iterations of that. */
static struct sp_answer solve_first(struct sp_learn_problem *problem, const struct sp_stem *stem,
                                    const struct sp_stem_value *values, size_t count)
{
    struct sp_arena *arena = problem->evidence->arena;
    if (!stem->period) return solve_end(problem, stem, values, count, FIRST_NUMBER);
    struct sp_answer answer = solve_end(problem, stem, values, count, ITERATIONS_BEFORE);
    if (answer.term) answer.term = place_behind(arena, stem, answer.term);
    for (size_t i = 0; i < answer.other_count; i++) answer.others[i] = place_behind(arena, stem, answer.others[i]);
    return answer;
}

/* Whether the numbers have a step above 1 and begin with the same one everywhere: 1 3 5 and 1 3. */
static bool is_stepped(const struct sp_stem_value *values, size_t count, uint64_t step)
{
    for (size_t i = 0; i < count; i = next_run(values, count, i).end)
        if (values[i].value != values[0].value) return false;
    return step > 1;
}

static uint64_t highest_value(const struct sp_stem_value *values, size_t count)
{
    uint64_t highest = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i].value > highest) highest = values[i].value;
    return highest;
}

/* Spells out numbers that are no loop, if they are the same everywhere, or none is above 3. */
static void spell_stem_of_few(struct sp_learn_problem *problem, const struct sp_stem *stem,
                              const struct sp_stem_value *values, size_t count)
{
    const bool alike = runs_are_alike(values, count) && next_run(values, count, 0).end <= MOST_SPELLED;
    if (!alike && highest_value(values, count) > FEW) return;
    sp_layout_spell_stem(&problem->layout, stem);
    problem->again = true;
}

/* ---- a condition in front of a loop ---- */

/* The points at which a loop may begin: each iteration of the outer loops. */
struct openings {
    const struct sp_learn_problem *problem;
    const struct sp_stem *stem;         /* the loop */
    const struct sp_stem_value *values; /* of the stem, sorted by outer point */
    size_t count, next;                 /* how many those are, and the first that is not before the last point */
    struct sp_learn_function begun;     /* 1 where the loop has iterations, 0 where its ends have no value */
    bool is_open;                       /* at some point its ends have no value, and it has no iterations */
};

static void add_opening(struct openings *openings, const struct sp_point *point)
{
    const struct sp_stem *stem = openings->stem;
    while (openings->next < openings->count && sp_compare_points(&openings->values[openings->next].outer, point) < 0)
        openings->next++;
    const bool has_iterations =
        openings->next < openings->count && sp_compare_points(&openings->values[openings->next].outer, point) == 0;
    const double first = sp_search_term_value(stem->first.term, point),
                 count = sp_search_term_value(stem->count.term, point);
    const bool has_ends = !isnan(first) && !isnan(count);
    if (has_iterations || !has_ends) sp_function_add(&openings->begun, point, has_iterations);
    openings->is_open = openings->is_open || (!has_ends && !has_iterations);
}

/* Whether the loop is begun at this iteration of the outer ones. */
static bool is_begun(const struct sp_stem *stem, const struct sp_point *point)
{
    return !stem->when.term || sp_search_term_value(stem->when.term, point) != 0;
}

/* Adds the openings below a point, whose first `depth` indices are set. */
static void list_openings(struct openings *openings, struct sp_point *point, size_t depth)
{
    if (openings->begun.count >= MOST_ITERATIONS) return;
    if (depth == openings->stem->depth) {
        add_opening(openings, point);
        return;
    }
    const struct sp_stem *stem = &openings->problem->layout.stems.items[openings->stem->stems[depth]];
    const double first = sp_search_term_value(stem->first.term, point),
                 count = sp_search_term_value(stem->count.term, point);
    for (double i = 0; is_begun(stem, point) && i < count; i++) {
        point->index[depth] = (uint64_t)first + (uint64_t)i;
        list_openings(openings, point, depth + 1);
    }
    point->index[depth] = 0;
}

/* Finds the condition of a loop whose ends have no value at some points, such as a loop over a list that some examples
 * lack. False when it needs one and none is found. */
static bool solve_when(struct sp_learn_problem *problem, struct sp_stem *stem, const struct sp_stem_value *values,
                       size_t count)
{
    struct openings openings = {.problem = problem, .stem = stem, .values = values, .count = count};
    openings.begun = (struct sp_learn_function){.index_count = stem->depth, .name = stem->text};
    stem->when = (struct sp_answer){.term = NULL};
    for (size_t i = 0; i < stem->depth; i++)
        if (!problem->layout.stems.items[stem->stems[i]].is_solved) return true; /* its rows are not solved either */
    for (size_t e = 0; e < problem->evidence->count; e++) list_openings(&openings, &(struct sp_point){.example = e}, 0);
    if (openings.is_open) stem->when = sp_solve_condition(problem, &openings.begun, NULL);
    sp_function_free(&openings.begun);
    return !openings.is_open || stem->when.term;
}

/* The loop over the words of a list: from 0 to its length. */
static void solve_listed_stem(struct sp_learn_problem *problem, struct sp_stem *stem)
{
    struct sp_arena *arena = problem->evidence->arena;
    stem->first = (struct sp_answer){.term = sp_search_term_number(arena, 0), .distinct = SIZE_MAX};
    stem->count = (struct sp_answer){.term = sp_search_term_terminal(arena, SP_TERM_LENGTH, stem->listed->terminal),
                                     .distinct = SIZE_MAX};
    stem->is_solved = true;
}

/* Finds the loop for the numbers at one place of the names, by what they are in each example:
 *
 *     1           1          spelt: the 1 of a Sequential is no loop from 1 to 1
 *     0 2 4       0 2        a loop with the step 2
 *     0 1 2       0 1        a loop, from the term for its first to that for its last number
 *     0 1 2 5 6   0 1 5 6    several loops in a row (sp_layout_divide_stem)
 *     3 7         3 7        spelt, if they are few (spell_stem_of_few)
 *
 * Where the layout changed, all stems are solved again (problem->again). A stem that is neither solved nor changed
 * stays as it is, and its rows are not solved. */
static void solve_stem(struct sp_learn_problem *problem, size_t index)
{
    struct sp_stem_value *values;
    struct sp_stem *stem = &problem->layout.stems.items[index];
    const size_t count = sp_stem_values(&problem->layout, index, &values);
    if (count && stem->listed) {
        solve_listed_stem(problem, stem);
        sp_free(values);
        return;
    }
    const uint64_t step = step_of_values(values, count);
    const bool is_even = count && runs_are_even(values, count, step); /* first, first + step, first + 2*step ... */
    const bool is_alike = count && runs_are_alike(values, count);
    const bool is_one_number = is_alike && next_run(values, count, 0).end == 1;
    if (is_one_number && values[0].value) {
        sp_layout_spell_stem(&problem->layout, stem);
        problem->again = true;
    } else if (is_even && is_stepped(values, count, step) && !is_alike) {
        sp_layout_set_step(&problem->layout, stem, step, values[0].value);
        problem->again = true;
    } else if (is_even && step == 1) {
        stem->first = solve_first(problem, stem, values, count);
        stem->count = solve_end(problem, stem, values, count, ITERATIONS);
        stem->is_solved = stem->first.term && stem->count.term && solve_when(problem, stem, values, count);
    }
    if (!stem->is_solved && !is_even && !problem->again)
        problem->again = sp_layout_divide_stem(&problem->layout, index, SP_DIVIDE_ANY);
    if (!stem->is_solved && count && !problem->again) spell_stem_of_few(problem, stem, values, count);
    sp_free(values);
}

/* Whether a row has all `size` values of a loop at each outer point where it has any. */
static bool is_row_whole(const struct sp_tensor_row *row, size_t depth, size_t size)
{
    struct sp_point outer = {.example = SIZE_MAX};
    uint64_t last = 0;
    size_t seen = size;
    for (size_t i = 0; i < row->places.count; i++) {
        struct sp_point here = row->places.items[i].point;
        const uint64_t value = here.index[depth];
        memset(here.index + depth, 0, (SP_MAX_INDICES - depth) * sizeof *here.index);
        if (sp_compare_points(&here, &outer) != 0) {
            if (seen < size) return false;
            outer = here;
            seen = 0;
        }
        seen += !seen || value != last;
        last = value;
    }
    return seen >= size;
}

/* Spells out the numbers of a stem if most of its rows have only some of them: each number is then a thing of its own,
 * such as the layers of a Sequential. */
static void spell_partition(struct sp_learn_problem *problem, size_t index)
{
    struct sp_stem_value *values;
    const struct sp_stem *stem = &problem->layout.stems.items[index];
    const size_t count = sp_stem_values(&problem->layout, index, &values);
    const size_t size = count ? next_run(values, count, 0).end : 0;
    size_t whole = 0, partial = 0;
    if (size > 1 && size <= MOST_SPELLED && runs_are_alike(values, count)) {
        sp_budget_spend(problem->layout.rows.count);
        for (size_t i = 0; i < problem->layout.rows.count; i++) {
            const struct sp_tensor_row *row = &problem->layout.rows.items[i];
            if (row->index_count <= stem->depth || row->stems[stem->depth] != index) continue;
            *(is_row_whole(row, stem->depth, size) ? &whole : &partial) += 1;
        }
    }
    if (partial > whole) {
        sp_layout_spell_stem(&problem->layout, stem);
        problem->again = true;
    }
    sp_free(values);
}

/* ---- where a row is ---- */

struct iterations {
    struct sp_learn_function presence; /* 1 at the iterations where a tensor is, 0 at the others */
    const struct sp_tensor_row *row;
    uint64_t most; /* that are looked at */
    size_t next;   /* the first place of the row that no iteration has reached */
};

/* Notes whether a tensor is at an iteration; false when there are too many. */
static bool add_iteration(struct iterations *iterations, const struct sp_point *point)
{
    const struct sp_tensor_row *row = iterations->row;
    const bool here = iterations->next < row->places.count &&
                      sp_compare_points(&row->places.items[iterations->next].point, point) == 0;
    iterations->next += here;
    sp_function_add(&iterations->presence, point, here);
    return iterations->presence.count < iterations->most;
}

/* Every iteration of the loops from this depth on; false when there are too many. */
static bool list_iterations(const struct sp_learn_problem *problem, struct iterations *iterations,
                            struct sp_point *point, size_t depth)
{
    if (depth == iterations->row->index_count) return add_iteration(iterations, point);
    const struct sp_stem *stem = &problem->layout.stems.items[iterations->row->stems[depth]];
    const double first = sp_search_term_value(stem->first.term, point),
                 count = sp_search_term_value(stem->count.term, point);
    for (double i = 0; is_begun(stem, point) && i < count; i++) {
        point->index[depth] = (uint64_t)first + (uint64_t)i;
        if (!list_iterations(problem, iterations, point, depth + 1)) return false;
    }
    point->index[depth] = 0;
    return true;
}

static bool are_stems_solved(const struct sp_learn_problem *problem, const struct sp_tensor_row *row)
{
    for (size_t i = 0; i < row->index_count; i++)
        if (!problem->layout.stems.items[row->stems[i]].is_solved) return false;
    return true;
}

static bool is_true_everywhere(const struct sp_learn_function *function)
{
    for (size_t i = 0; i < function->count; i++)
        if (function->values[i] == 0) return false;
    return true;
}

/* How many iterations of a row are looked at. Rows of one tensor each, in a loop over as many numbers as there are
 * rows, have the square of them: all rows of a round share those beyond the expected ones. */
static uint64_t most_iterations(const struct sp_learn_problem *problem, const struct sp_tensor_row *row)
{
    const uint64_t most = row->places.count * (uint64_t)EXPECTED + MOST_ABSENT - problem->absent;
    return most < MOST_ITERATIONS ? most : MOST_ITERATIONS;
}

/* Counts those beyond the expected ones. */
static void count_absent(struct sp_learn_problem *problem, const struct iterations *iterations)
{
    const uint64_t expected = iterations->row->places.count * (uint64_t)EXPECTED, count = iterations->presence.count;
    if (count > expected) problem->absent += count - expected;
}

/* Finds the condition of a row, unless it has a tensor at each iteration of its loops. False, with the reason in the
 * row, when there is none. */
static bool solve_where(struct sp_learn_problem *problem, struct sp_tensor_row *row)
{
    struct iterations iterations = {.presence = {.index_count = row->index_count, .name = row->pattern},
                                    .row = row,
                                    .most = most_iterations(problem, row)};
    bool whole = true;
    for (size_t e = 0; e < problem->evidence->count && whole; e++)
        whole = list_iterations(problem, &iterations, &(struct sp_point){.example = e}, 0);
    count_absent(problem, &iterations);
    row->why_not = !whole ? "its loops have too many iterations" : NULL;
    if (whole && iterations.next < row->places.count) row->why_not = "its loops do not cover all its tensors";
    if (!row->why_not && !is_true_everywhere(&iterations.presence)) {
        row->where = sp_solve_condition(problem, &iterations.presence, row);
        if (!row->where.term) row->why_not = "nothing in the configurations determines in which places it exists";
    }
    sp_function_free(&iterations.presence);
    return !row->why_not;
}

/* ---- dimensions ---- */

static bool is_list_of_numbers(const struct sp_terminal *terminal)
{
    return terminal->values[0].type == SHAPEPROOF_VALUE_LIST && terminal->values[0].count &&
           terminal->values[0].items[0].type == SHAPEPROOF_VALUE_INT;
}

static bool asks_length_of_numbers(const struct sp_search_term *term)
{
    if (!term || term->op == SP_TERM_ITEM || term->op == SP_TERM_AT) return false;
    if (term->op == SP_TERM_LENGTH) return is_list_of_numbers(term->terminal);
    return asks_length_of_numbers(term->a) || asks_length_of_numbers(term->b) || asks_length_of_numbers(term->c);
}

static bool asks_last_item(const struct sp_search_term *term)
{
    if (!term) return false;
    if (term->op == SP_TERM_ITEM) return term->a->op == SP_TERM_SUBTRACT && term->a->a->op == SP_TERM_LENGTH;
    return asks_last_item(term->a) || asks_last_item(term->b) || asks_last_item(term->c);
}

static bool is_no_length(const struct sp_search_term *term, const char *name)
{
    (void)name;
    return !asks_length_of_numbers(term);
}

static bool is_last_item(const struct sp_search_term *term, const char *name)
{
    return is_no_length(term, name) && asks_last_item(term);
}

static struct sp_answer solve_dimension(struct sp_learn_problem *problem, const struct sp_tensor_row *row,
                                        uint32_t dimension)
{
    struct sp_learn_function function = {.index_count = row->index_count, .name = row->pattern};
    for (size_t i = 0; i < row->places.count; i++)
        sp_function_add(&function, &row->places.items[i].point, (double)row->places.items[i].tensor->shape[dimension]);
    struct sp_answer answer = sp_solve_function(problem, &function);
    /* of a list of numbers a size is rather the last item than how many there are: [1, 2, 3] has both */
    prefer_better(&answer, row->pattern, is_no_length, is_last_item);
    sp_function_free(&function);
    return answer;
}

static bool solve_dimensions(struct sp_learn_problem *problem, struct sp_tensor_row *row)
{
    row->dims = sp_arena_array(&problem->layout.arena, row->rank + 1, sizeof *row->dims);
    for (uint32_t d = 0; d < row->rank; d++) {
        row->dims[d] = solve_dimension(problem, row, d);
        if (row->dims[d].term) continue;
        row->why_not = sp_arena_printf(problem->evidence->arena, "no expression gives its dimension %u", d);
        return false;
    }
    return true;
}

/* ---- what may be taken back ---- */

/* Whether the numbers of a stem are the same everywhere, or none is above 2. It is looked at once for all rows. */
static bool may_be_spelt(struct sp_learn_problem *problem, size_t index)
{
    struct sp_stem *stem = &problem->layout.stems.items[index];
    if (stem->spelling == SP_SPELLING_UNKNOWN) {
        struct sp_stem_value *values;
        const size_t count = sp_stem_values(&problem->layout, index, &values);
        const bool alike = count && runs_are_alike(values, count) && next_run(values, count, 0).end <= MOST_SPELLED;
        stem->spelling = alike || highest_value(values, count) < FEW ? SP_SPELLING_YES : SP_SPELLING_NO;
        sp_free(values);
    }
    return stem->spelling == SP_SPELLING_YES;
}

/* Spells out an index in this row alone: the innermost one that may be. */
static void spell_failed_row(struct sp_learn_problem *problem, const struct sp_tensor_row *row)
{
    for (size_t depth = row->index_count; depth-- > 0;) {
        if (!may_be_spelt(problem, row->stems[depth])) continue;
        sp_layout_spell_row(&problem->layout, row, depth);
        problem->respelled = true;
        return;
    }
}

static bool is_far_fetched(const struct sp_tensor_row *row)
{
    for (uint32_t d = 0; d < row->rank; d++)
        if (sp_is_accident(&row->dims[d])) return true;
    return false;
}

/* Divides a loop of a row that is not solved, or by terms that may be accidents: it may be several things that
 * alternate. False when no loop can be divided. */
static bool divide_failed_row(struct sp_learn_problem *problem, const struct sp_tensor_row *row)
{
    bool divided = false;
    if (row->is_solved && !is_far_fetched(row)) return false;
    for (size_t i = 0; i < row->index_count && !divided; i++)
        divided = sp_layout_divide_stem(&problem->layout, row->stems[i], SP_DIVIDE_APART);
    problem->respelled = problem->respelled || divided;
    return divided;
}

static void solve_row(struct sp_learn_problem *problem, struct sp_tensor_row *row)
{
    if (!are_stems_solved(problem, row)) {
        row->why_not = "its indices are not a range";
        return;
    }
    row->is_solved = solve_dimensions(problem, row) && solve_where(problem, row);
    if (!divide_failed_row(problem, row) && !row->is_solved) spell_failed_row(problem, row);
}

/* ---- weights come before what is beside them ---- */

static bool is_weight(const struct sp_tensor_row *row) { return sp_ends_with(row->pattern, ".weight"); }

/* The prior for a dimension of a weight, or a new one that is not filled. */
static struct sp_prior *prior_of_weight(struct sp_learn_problem *problem, const char *pattern, uint32_t dimension)
{
    for (size_t i = 0; i < problem->priors.count; i++) {
        struct sp_prior *prior = &problem->priors.items[i];
        if (prior->kind == SP_PRIOR_SIZE_OF_WEIGHT && prior->dimension == dimension && strcmp(prior->row, pattern) == 0)
            return prior;
    }
    return SP_PUSH(&problem->priors);
}

/* Notes what the size of the bias beside a weight will be: its first dimension, or, in some models, its second. */
static void note_weight(struct sp_learn_problem *problem, const struct sp_tensor_row *row)
{
    if (!row->is_solved || !is_weight(row)) return;
    for (uint32_t d = row->rank < 2 ? row->rank : 2; d-- > 0;)
        *prior_of_weight(problem, row->pattern, d) =
            (struct sp_prior){.kind = SP_PRIOR_SIZE_OF_WEIGHT,
                              .term = row->dims[d].term,
                              .row = sp_arena_string(problem->evidence->arena, row->pattern),
                              .dimension = d};
}

/* Each row is held against each other one, which is work beside the values that are computed: for names that have
 * nothing in common it is most of it. */
static bool has_effort_left(struct sp_learn_problem *problem)
{
    enum { VALUES_OF_A_ROW = 20 };
    problem->evidence->spent += VALUES_OF_A_ROW * problem->layout.rows.count;
    return problem->evidence->spent <= problem->evidence->most && !problem->again;
}

static void solve_rows(struct sp_learn_problem *problem)
{
    for (size_t i = 0; i < problem->layout.stems.count && !problem->again; i++) spell_partition(problem, i);
    for (size_t i = 0; i < problem->layout.stems.count && !problem->again; i++) solve_stem(problem, i);
    for (size_t i = 0; i < 2 * problem->layout.rows.count && has_effort_left(problem); i++) {
        struct sp_tensor_row *row = &problem->layout.rows.items[i % problem->layout.rows.count];
        if (is_weight(row) != (i < problem->layout.rows.count)) continue;
        solve_row(problem, row);
        note_weight(problem, row);
    }
    problem->again = problem->again || problem->respelled;
    if (!problem->again) sp_solve_ties(problem);
}

static void solve_until_settled(struct sp_learn_problem *problem)
{
    for (size_t round = 0; round < MOST_ROUNDS; round++) {
        const size_t symbols = problem->evidence->terminals.count;
        problem->again = problem->respelled = false;
        problem->absent = 0;
        sp_layout_make(&problem->layout);
        solve_rows(problem);
        if (!problem->again) break;
        if (symbols != problem->evidence->terminals.count) sp_forget_answers(problem);
    }
}

/* ---- what is used elsewhere is likelier here ---- */

/* Lowers the cost of a key that was chosen somewhere. */
static void make_popular(void *context, const struct sp_terminal *terminal)
{
    const struct sp_learn_problem *problem = context;
    for (size_t i = 0; i < problem->evidence->terminals.count; i++)
        if (problem->evidence->terminals.items[i] == terminal && terminal->cost > POPULAR)
            problem->evidence->terminals.items[i]->cost = POPULAR;
}

/* Counts one more use of a term that is a size, or a condition. */
static void count_prior(struct sp_learn_problem *problem, const struct sp_search_term *term, enum sp_prior_kind kind)
{
    for (size_t i = 0; i < problem->priors.count; i++)
        if (!problem->priors.items[i].row && sp_search_terms_equal(problem->priors.items[i].term, term)) {
            problem->priors.items[i].uses++;
            return;
        }
    *SP_PUSH(&problem->priors) = (struct sp_prior){.kind = kind, .term = term, .uses = 1};
}

/* Adds a term to the sizes of which sums are made, unless it is likely an accident or among them. */
static void note_known_size(struct sp_learn_problem *problem, const struct sp_answer *answer)
{
    if (sp_is_accident(answer) && !sp_indices_of(answer->term)) return;
    for (size_t i = 0; i < problem->sizes.count; i++)
        if (sp_search_terms_equal(problem->sizes.items[i], answer->term)) return;
    *SP_PUSH(&problem->sizes) = answer->term;
}

static void note_prior(void *context, const struct sp_answer *answer, struct sp_asked asked)
{
    struct sp_learn_problem *problem = context;
    (void)asked;
    if (!answer->term || answer->term->op == SP_TERM_NUMBER) return;
    note_known_size(problem, answer);
    if (answer->distinct == 1 && answer->term->op != SP_TERM_KEY) return; /* which one example may have shown */
    if (answer->term->op == SP_TERM_IF && sp_indices_of(answer->term)) return;
    sp_search_term_terminals(answer->term, make_popular, problem);
    count_prior(problem, answer->term, SP_PRIOR_SIZE);
}

/* The negation of a condition. That of x > 0 is x == 0, which reads better than not x > 0; where x is negative they
 * differ, and the term will not be found there. */
static const struct sp_search_term *opposite_of(struct sp_arena *arena, const struct sp_search_term *condition)
{
    const bool is_more =
        condition->op == SP_TERM_LESS && condition->a->op == SP_TERM_NUMBER && condition->a->number == 0;
    if (condition->op == SP_TERM_NOT) return condition->a;
    if (is_more) return sp_search_term_binary(arena, SP_TERM_EQUAL, condition->b, condition->a);
    return sp_search_term_unary(arena, SP_TERM_NOT, condition);
}

/* Notes the condition of each row, and its opposite: often the one half of the rows has the one, the other half the
 * other. */
static void note_conditions(struct sp_learn_problem *problem)
{
    for (size_t i = 0; i < problem->layout.rows.count; i++) {
        const struct sp_search_term *where = problem->layout.rows.items[i].where.term;
        if (!problem->layout.rows.items[i].is_solved || !where) continue;
        count_prior(problem, where, SP_PRIOR_CONDITION);
        count_prior(problem, opposite_of(problem->evidence->arena, where), SP_PRIOR_CONDITION);
        if (where->op != SP_TERM_AND && where->op != SP_TERM_OR)
            *SP_PUSH(&problem->priors) = (struct sp_prior){
                .kind = SP_PRIOR_CONDITION_OF_ROW,
                .term = where,
                .row = sp_arena_string(problem->evidence->arena, problem->layout.rows.items[i].pattern)};
    }
}

/* Finds the condition under which the names of an example begin with the front. */
static void solve_front(struct sp_learn_problem *problem)
{
    const struct sp_fronts *fronts = &problem->layout.fronts;
    struct sp_learn_function function = {.name = fronts->text};
    for (size_t e = 0; e < problem->evidence->count && *fronts->text; e++)
        sp_function_add(&function, &(struct sp_point){.example = e}, fronts->has[e]);
    if (function.count) problem->layout.fronted = sp_solve_condition(problem, &function, NULL);
    sp_function_free(&function);
}

void sp_solve_layout(struct sp_learn_problem *problem)
{
    problem->library.evidence = problem->evidence;
    sp_layout_begin(&problem->layout, problem->evidence, problem->words);
    solve_until_settled(problem);
    sp_layout_dimensions(&problem->layout, note_prior, problem);
    note_conditions(problem);
    problem->effort = 0;
    sp_forget_answers(problem);
    solve_until_settled(problem);
    solve_front(problem);
}

void sp_learn_problem_free(struct sp_learn_problem *problem)
{
    sp_free(problem->priors.items);
    sp_free(problem->sizes.items);
    sp_free(problem->answers.items);
    sp_free(problem->defaults.items);
    sp_forget_answers(problem);
    sp_layout_free(&problem->layout);
}
