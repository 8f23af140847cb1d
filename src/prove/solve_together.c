/* SPDX-License-Identifier: MIT
 * Which values of two or three hyper-parameters, changed together, give a total, while ratios between hyper-parameters
 * are kept?
 *
 *     gpt2, about 1.5B, n_layer and n_embd free, n_embd / n_head kept at 768 / 12:
 *     n_layer 32, n_embd 1920, n_head 30: 1,514,...
 *
 * The table is counted once with these keys open, and evaluated at thousands of points. All free keys but the last are
 * enumerated; the last one is found by bisection, since a count grows with a size. Where it does not, every value is
 * evaluated. What is found is predicted with the table itself before it is an answer. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/error.h"
#include "base/suggest.h"
#include "config/choose.h"
#include "config/config.h"
#include "prove/assignment.h"
#include "prove/solve.h"
#include "prove/symbolic/atoms.h"
#include "shapeproof/prediction.h"

enum {
    MAX_FREE = 3,              /* keys that are free */
    MAX_KEPT = 8,              /* ratios that are kept */
    FARTHEST = 32,             /* times or parts of the present value that are tried */
    UNBOUNDED = 1 << 18,       /* the largest value of a key that has no present one */
    SMALL = 256,               /* up to this every integer is usual */
    STEP = 64,                 /* above it the multiples of this are */
    AROUND = 8,                /* values tried beyond the ends of a range: a division that rounds makes steps */
    MAX_EVALUATIONS = 2000000, /* of the formula at a point: a few seconds */
    MAX_CANDIDATES = 1 << 16,  /* that give the total by the formula */
    MAX_ANSWERS = 256          /* that are predicted and handed out */
};

/* ---- keys and their values ---- */

/* Which values of a key are tried. */
enum spacing {
    EVERY,                /* 1, 2, 3, ... */
    SMALL_THEN_MULTIPLES, /* 1, 2, ..., 256, 320, 384, ...: of a key that is no multiple of 64 now */
    MULTIPLES             /* 64, 128, 192, ... */
};

/* A free key, or one that a ratio ties to it. */
struct column {
    struct shapeproof_solved_key shown;
    size_t atom;                     /* its symbol in the count; SIZE_MAX where the count does not depend on it */
    size_t driver;                   /* of a kept one: the column that it follows; its own index for a free key */
    struct sp_rational per_driver;   /* its value is this times that of the driver */
    enum spacing spacing;            /* of a free key: the values that are tried, */
    int64_t first_place, last_place; /* from this to that one: arguments of value_at */
};

struct shapeproof_combinations {
    struct sp_arena arena;
    const char *table;
    const char *asked;                          /* the wanted total as the user wrote it */
    struct column columns[MAX_FREE + MAX_KEPT]; /* the free ones first */
    size_t column_count, free_count;
    struct shapeproof_combination *items; /* heap; best first */
    size_t count, capacity;
    bool rounded;  /* several totals are wanted */
    bool is_cut;   /* a limit was reached: there may be more */
    double within; /* per cent */
};

/* The search. A point, values of all columns, is put into `numbers` column by column, and evaluated there. */
struct search {
    const struct sp_solve_question *question;
    struct shapeproof_combinations *found;
    struct sp_count count;
    const struct sp_poly *poly; /* the parameters, in the symbols of the columns */
    struct sp_assignment numbers;
    bool every;                   /* all integers are tried, not the usual ones alone */
    size_t last;                  /* the free column with the most values, which is searched by bisection */
    bool is_growing;              /* the count grows with it */
    uint64_t evaluations;         /* so far */
    struct candidate *candidates; /* heap */
    size_t candidate_count, candidate_capacity;
};

/* The value at a place, from 1 up: of its spacing the first, the second, ... */
static int64_t value_at(enum spacing spacing, int64_t place)
{
    switch (spacing) {
    case MULTIPLES:
        return place * STEP;
    case SMALL_THEN_MULTIPLES:
        return place <= SMALL ? place : SMALL + (place - SMALL) * STEP;
    default:
        return place;
    }
}

/* The last place whose value is at most `value`; 0 when there is none. */
static int64_t place_of(enum spacing spacing, int64_t value)
{
    switch (spacing) {
    case MULTIPLES:
        return value / STEP;
    case SMALL_THEN_MULTIPLES:
        return value <= SMALL ? value : SMALL + (value - SMALL) / STEP;
    default:
        return value;
    }
}

/* ---- points ---- */

/* Puts the value of a free column, and of all that follow it: the value times their ratio. */
static void put_value(struct search *search, size_t free_column, int64_t value)
{
    for (size_t i = 0; i < search->found->column_count; i++) {
        const struct column *column = &search->found->columns[i];
        struct sp_rational own;
        if (column->driver != free_column || column->atom == SIZE_MAX) continue;
        if (sp_rational_mul(column->per_driver, sp_rational_int(value), &own))
            sp_assignment_set(&search->numbers, column->atom, own);
    }
}

/* The parameters at the values that were put; false where they have no number there. A kept key may be a fraction. */
static bool evaluate(struct search *search, struct sp_rational *parameters)
{
    search->evaluations++;
    return sp_assignment_of(&search->numbers, search->poly, parameters);
}

/* evaluate, with the value at that place put for the last column. */
static bool evaluate_last(struct search *search, int64_t place, struct sp_rational *parameters)
{
    put_value(search, search->last, value_at(search->found->columns[search->last].spacing, place));
    return evaluate(search, parameters);
}

/* ---- candidates ---- */

/* Values that give the total by the formula. */
struct candidate {
    int64_t values[MAX_FREE]; /* of the free columns */
    double cost;              /* lower is better */
    double factor;            /* of the key that changed most, as a factor above 1 */
};

/* How far a number is from being round, 0 to 2: people choose 128 and 12 rather than 192 and 10, and these rather than
 * 131. */
static int oddness_of(int64_t value)
{
    if ((value & (value - 1)) == 0 || value % 128 == 0 || (value < 128 && value % 4 == 0)) return 0;
    return value % 64 == 0 || (value < 128 && value % 2 == 0) ? 1 : 2;
}

/* A step of oddness costs as much as a shape whose proportions are off by this factor. It was chosen by what it puts
 * first for the sizes of GPT-2 and Llama: 40 layers of 5,120 for 13B, 30 of 1,600 rather than 76 of 1,024 for 1B. */
static const double ODDNESS_COST = 1.25;

/* The cost is how unequally the keys grew, the largest factor by the smallest, times ODDNESS_COST for each step of
 * oddness. 24 layers of 1,600 in place of 12 of 768: factors 2 and 2.08, 1,600 is one step from round, cost 1.30. */
static struct candidate candidate_of(const struct search *search, const int64_t *values)
{
    struct candidate candidate = {.factor = 1};
    double least = 0, most = 0, oddness = 1;
    for (size_t i = 0; i < search->found->free_count; i++) {
        const struct shapeproof_value now = search->found->columns[i].shown.configured;
        candidate.values[i] = values[i];
        for (int step = 0; step < oddness_of(values[i]); step++) oddness *= ODDNESS_COST;
        if (now.type != SHAPEPROOF_VALUE_INT || now.integer <= 0) continue;
        const double factor = (double)values[i] / (double)now.integer;
        if (most <= 0 || factor < least) least = factor;
        if (most <= 0 || factor > most) most = factor;
        if (factor > candidate.factor) candidate.factor = factor;
        if (1 / factor > candidate.factor) candidate.factor = 1 / factor;
    }
    candidate.cost = (most > 0 ? most / least : 1) * oddness;
    return candidate;
}

/* The lowest cost first; among equals the nearest to the present values. */
static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    if (a->factor != b->factor) return a->factor < b->factor ? -1 : 1;
    for (size_t i = 0; i < MAX_FREE; i++)
        if (a->values[i] != b->values[i]) return a->values[i] < b->values[i] ? -1 : 1;
    return 0;
}

/* Whether every kept key is a whole number from 1 up when the free ones have these values. */
static bool keeps_ratios(const struct search *search, const int64_t *values)
{
    const struct shapeproof_combinations *found = search->found;
    bool good = true;
    for (size_t i = found->free_count; i < found->column_count && good; i++) {
        struct sp_rational own;
        const struct column *column = &found->columns[i];
        good = sp_rational_mul(column->per_driver, sp_rational_int(values[column->driver]), &own) && own.den == 1 &&
               own.num > 0;
    }
    return good;
}

/* Adds values that give the total, unless a kept key would be no whole number with them. */
static void add_candidate(struct search *search, const int64_t *values)
{
    if (!keeps_ratios(search, values)) return;
    if (search->candidate_count == MAX_CANDIDATES) {
        search->found->is_cut = true;
        return;
    }
    SP_GROW(search->candidates, search->candidate_count, search->candidate_capacity);
    search->candidates[search->candidate_count++] = candidate_of(search, values);
}

/* Whether the formula gives a wanted total at that place of the last column. */
static bool is_wanted_here(struct search *search, int64_t place)
{
    struct sp_rational parameters;
    const struct sp_printed wanted = search->question->wanted;
    return evaluate_last(search, place, &parameters) && parameters.den == 1 && parameters.num >= wanted.least &&
           parameters.num <= wanted.most;
}

/* ---- the last key ---- */

/* Bisection: the first place whose count is at least `bound`; one behind the last place where none is. */
static int64_t first_reaching(struct search *search, int64_t bound)
{
    const struct column *column = &search->found->columns[search->last];
    int64_t low = column->first_place - 1, high = column->last_place + 1;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        struct sp_rational parameters;
        const bool reaches =
            evaluate_last(search, middle, &parameters) && sp_rational_compare(parameters, sp_rational_int(bound)) >= 0;
        *(reaches ? &high : &low) = middle;
    }
    return high;
}

/* Whether the count never falls as the last key goes from its smallest value to its largest in doubling steps, while
 * the others are as they were put. */
static bool grows_with_last(struct search *search)
{
    const struct column *column = &search->found->columns[search->last];
    struct sp_rational before = sp_rational_int(-1), parameters;
    for (int64_t place = column->first_place; place <= column->last_place; place *= 2) {
        if (!evaluate_last(search, place, &parameters) || sp_rational_compare(parameters, before) < 0) return false;
        before = parameters;
    }
    return true;
}

/* Adds the values of the last key that give the total, the others being put: those around the place where the count
 * reaches it if it grows, else among all. Sets is_cut at the limit of evaluations. */
static void search_last(struct search *search, int64_t *values)
{
    const struct column *column = &search->found->columns[search->last];
    int64_t first = column->first_place, last = column->last_place;
    if (search->is_growing) {
        const struct sp_printed wanted = search->question->wanted;
        first = first_reaching(search, wanted.least) - AROUND;
        last = (wanted.most == wanted.least ? first + AROUND : first_reaching(search, wanted.most)) + AROUND;
        if (first < column->first_place) first = column->first_place;
        if (last > column->last_place) last = column->last_place;
    }
    for (int64_t place = first; place <= last; place++) {
        if (search->evaluations >= MAX_EVALUATIONS) {
            search->found->is_cut = true;
            return;
        }
        if (!is_wanted_here(search, place)) continue;
        values[search->last] = value_at(column->spacing, place);
        add_candidate(search, values);
    }
}

/* Whether some value of the last key may give the total: unless the count is above it already at the smallest value, or
 * still below it at the largest. */
static bool is_within_reach(struct search *search)
{
    const struct column *column = &search->found->columns[search->last];
    struct sp_rational parameters;
    if (!search->is_growing) return true;
    if (evaluate_last(search, column->first_place, &parameters) &&
        sp_rational_compare(parameters, sp_rational_int(search->question->wanted.most)) > 0)
        return false;
    return !evaluate_last(search, column->last_place, &parameters) ||
           sp_rational_compare(parameters, sp_rational_int(search->question->wanted.least)) >= 0;
}

/* ---- all keys ---- */

/* The places of a range from `middle` outwards, so that the values nearest to the present one come first: of 3 to 9
 * from 5 they are 5, 6, 4, 7, 3, then those on the longer side, 8, 9. `step` counts from 0. False behind the last. */
static bool nth_place(const struct column *column, int64_t middle, int64_t step, int64_t *place)
{
    const int64_t above = column->last_place - middle, below = middle - column->first_place;
    const int64_t nearer = above < below ? above : below;
    if (step > above + below) return false;
    if (step <= 2 * nearer) *place = step % 2 ? middle + (step + 1) / 2 : middle - step / 2;
    else *place = above > below ? middle + step - below : middle - (step - above);
    return true;
}

/* Enumerates the values of the free keys from `column` on, one loop within another; for each combination of them the
 * key search->last, which is left out, is searched. `values` are those that are put so far. */
static void search_from(struct search *search, size_t column, int64_t *values)
{
    const struct shapeproof_combinations *found = search->found;
    if (column == found->free_count) {
        if (is_within_reach(search)) search_last(search, values);
        return;
    }
    if (column == search->last) {
        search_from(search, column + 1, values);
        return;
    }
    const struct column *own = &found->columns[column];
    const struct shapeproof_value now = own->shown.configured;
    const int64_t middle = now.type == SHAPEPROOF_VALUE_INT ? place_of(own->spacing, now.integer) : own->first_place;
    int64_t place;
    for (int64_t step = 0; nth_place(own, middle, step, &place); step++) {
        if (search->evaluations >= MAX_EVALUATIONS) {
            search->found->is_cut = true;
            return;
        }
        values[column] = value_at(own->spacing, place);
        put_value(search, column, values[column]);
        search_from(search, column + 1, values);
    }
}

/* Predicts the table with the values of the free keys; true when that gives a wanted total. *all becomes the values of
 * all columns, *parameters the total: by the prediction, or, for a table of too many tensors to predict, by the
 * formula. */
static bool is_answer(struct search *search, const int64_t *values, int64_t *all, uint64_t *parameters)
{
    struct shapeproof_combinations *found = search->found;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = sp_config_variant(search->question->config);
    for (size_t i = 0; i < found->column_count; i++) {
        const struct column *column = &found->columns[i];
        struct sp_rational own = sp_rational_int(0);
        sp_rational_mul(column->per_driver, sp_rational_int(values[column->driver]), &own);
        all[i] = own.num;
        sp_config_set_value(config, column->shown.key, sp_value_int(own.num), "");
        put_value(search, column->driver, values[column->driver]);
    }
    struct sp_rational computed = sp_rational_int(0);
    bool good = sp_solve_predict(search->question, config, &computed, NULL, &error);
    if (good) {
        *parameters = (uint64_t)computed.num;
        good = sp_solve_is_wanted(search->question, computed);
    } else if (error.kind == SHAPEPROOF_KIND_LIMIT && evaluate(search, &computed)) {
        *parameters = (uint64_t)computed.num;
        good = true;
    }
    shapeproof_config_free(config);
    return good;
}

/* Makes answers of the candidates that are confirmed by a prediction, the best first. */
static void keep_answers(struct search *search)
{
    struct shapeproof_combinations *found = search->found;
    int64_t all[MAX_FREE + MAX_KEPT];
    uint64_t parameters;
    if (search->candidate_count)
        qsort(search->candidates, search->candidate_count, sizeof *search->candidates, compare_candidates);
    for (size_t i = 0; i < search->candidate_count; i++) {
        if (found->count == MAX_ANSWERS) {
            found->is_cut = true;
            return;
        }
        if (!is_answer(search, search->candidates[i].values, all, &parameters)) continue;
        int64_t *values = sp_arena_array(&found->arena, found->column_count, sizeof *values);
        memcpy(values, all, found->column_count * sizeof *values);
        SP_GROW(found->items, found->count, found->capacity);
        found->items[found->count++] = (struct shapeproof_combination){.values = values, .parameters = parameters};
    }
}

/* ---- reading the question ---- */

/* Fails with "'NAME' WHAT". */
static bool usage_error(struct shapeproof_error *error, const char *name, const char *what)
{
    return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "'%s' %s", name, what);
}

/* The symbol of a key of the table, or of the table's name for it; NULL with an error when it has none. */
static const struct sp_symbol_info *symbol_named(struct sp_count *general, const char *name,
                                                 struct shapeproof_error *error)
{
    const struct sp_symbol_info *symbol = sp_sym_symbol(&general->symbolic, name);
    if (symbol && !symbol->is_computed && !symbol->unset_key && !symbol->is_list && !symbol->is_text &&
        !general->symbolic.algebra.atoms[symbol->atom].is_condition)
        return symbol;
    if (symbol) {
        usage_error(error, name, "is not a number of the table");
        return NULL;
    }
    const size_t count = general->symbolic.symbols.count;
    const char **keys = sp_realloc(NULL, count ? count : 1, sizeof *keys);
    for (size_t i = 0; i < count; i++) keys[i] = general->symbolic.symbols.items[i].key;
    const char *meant = sp_suggest(name, keys, count);
    sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
            meant ? "the table has no hyper-parameter '%s'; did you mean '%s'?"
                  : "the table has no hyper-parameter '%s'",
            name, meant);
    sp_free(keys);
    return NULL;
}

/* What the key is now: as the prediction has it, or else as the configuration gives it. */
static struct shapeproof_value value_now(const struct search *search, const struct shapeproof_prediction *prediction,
                                         const char *key)
{
    for (size_t i = 0; prediction && i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        if (strcmp(hyper->name, key) == 0) return hyper->value;
    }
    return sp_value_at(sp_config_hyper(search->question->config)->root, key);
}

/* The index of the column of a key; SIZE_MAX for none. */
static size_t column_of(const struct shapeproof_combinations *found, const char *key)
{
    for (size_t i = 0; i < found->column_count; i++)
        if (strcmp(found->columns[i].shown.key, key) == 0) return i;
    return SIZE_MAX;
}

/* The present values, and what gives them. */
struct present {
    struct sp_count general;                  /* the table for all hyper-parameters: its symbols */
    struct shapeproof_prediction *prediction; /* NULL where a hyper-parameter is missing */
};

/* Adds a column, which is free until tie_column makes it follow another. NULL with an error for a key that has a value
 * which is no whole number, or is named twice. */
static struct column *add_column(struct search *search, const struct present *present, const char *name,
                                 const char *key, struct shapeproof_error *error)
{
    struct shapeproof_combinations *found = search->found;
    struct shapeproof_value now = value_now(search, present->prediction, key);
    const bool is_other_value = sp_value_is_set(now) && now.type != SHAPEPROOF_VALUE_INT;
    if (is_other_value || column_of(found, key) != SIZE_MAX) {
        usage_error(error, name, is_other_value ? "is not a whole number" : "is named twice");
        return NULL;
    }
    if (now.type != SHAPEPROOF_VALUE_INT) now = sp_value_absent("");
    struct column *column = &found->columns[found->column_count];
    *column = (struct column){.shown = {.name = sp_arena_string(&found->arena, name),
                                        .key = sp_arena_string(&found->arena, key),
                                        .configured = now},
                              .driver = found->column_count++,
                              .per_driver = sp_rational_int(1)};
    return column;
}

/* Adds a column for a number of the table, by its key or the table's name for it. NULL with an error. */
static struct column *add_free_column(struct search *search, struct present *present, const char *name,
                                      struct shapeproof_error *error)
{
    const struct sp_symbol_info *symbol = symbol_named(&present->general, name, error);
    return symbol ? add_column(search, present, symbol->name, symbol->key, error) : NULL;
}

/* Adds a column for a key that is to follow another. It need not be one of the table if the configuration has it: the
 * heads of GPT-2 change no shape. NULL with an error. */
static struct column *add_kept_column(struct search *search, struct present *present, const char *name,
                                      struct shapeproof_error *error)
{
    const struct shapeproof_value given = sp_value_at(sp_config_hyper(search->question->config)->root, name);
    const bool is_of_table = sp_sym_symbol(&present->general.symbolic, name) != NULL;
    if (is_of_table) return add_free_column(search, present, name, error);
    if (given.type == SHAPEPROOF_VALUE_INT) return add_column(search, present, name, name, error);
    usage_error(error, name, "is not in the table, and the configuration does not give its value");
    return NULL;
}

/* Adds a column for the key `name` that follows the column `to`, free or tied already, at their present ratio. False
 * with an error. */
static bool tie_column(struct search *search, struct present *present, const char *name, size_t to,
                       struct shapeproof_error *error)
{
    struct shapeproof_combinations *found = search->found;
    const struct column driver = found->columns[to];
    if (found->column_count == MAX_FREE + MAX_KEPT)
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "at most %d ratios can be kept", MAX_KEPT);
    struct column *column = add_kept_column(search, present, name, error);
    struct sp_rational ratio;
    if (!column) return false;
    const struct shapeproof_value now = column->shown.configured, other = driver.shown.configured;
    if (now.type != SHAPEPROOF_VALUE_INT || other.type != SHAPEPROOF_VALUE_INT || now.integer <= 0 ||
        other.integer <= 0)
        return usage_error(error, now.type != SHAPEPROOF_VALUE_INT ? name : driver.shown.key,
                           "has no value now, so that there is no ratio to keep");
    column->driver = driver.driver;
    column->shown.is_kept = true;
    return (sp_rational_make(now.integer, other.integer, &ratio) &&
            sp_rational_mul(ratio, driver.per_driver, &column->per_driver)) ||
           usage_error(error, name, "has too large a ratio");
}

/* The column of a key, or of the table's name for it; SIZE_MAX when it is none of them. */
static size_t column_named(const struct search *search, const struct present *present, const char *name)
{
    const struct sp_symbol_info *symbol = sp_sym_symbol(&present->general.symbolic, name);
    return column_of(search->found, symbol ? symbol->key : name);
}

/* Adds a column for each ratio that is kept, in any order: n_head / n_kv_head as soon as n_embd / n_head says what
 * n_head follows. One side of a ratio must have a column then, and the other one none. False with an error. */
static bool add_kept(struct search *search, struct present *present,
                     const struct shapeproof_solve_together_options *options, struct shapeproof_error *error)
{
    bool *done = sp_realloc(NULL, options->keep_count ? options->keep_count : 1, sizeof *done);
    bool good = true, progress = true;
    for (size_t i = 0; i < options->keep_count; i++) done[i] = false;
    while (good && progress) {
        progress = false;
        for (size_t i = 0; i < options->keep_count && good; i++) {
            const struct shapeproof_ratio *ratio = &options->keep[i];
            const size_t of = column_named(search, present, ratio->of), to = column_named(search, present, ratio->to);
            if (done[i] || (of == SIZE_MAX && to == SIZE_MAX)) continue;
            if (of != SIZE_MAX && to != SIZE_MAX)
                good = sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                               "'%s' and '%s' are both free or kept already: their ratio cannot be kept", ratio->of,
                               ratio->to);
            else if (of != SIZE_MAX) good = tie_column(search, present, ratio->to, of, error);
            else good = tie_column(search, present, ratio->of, to, error);
            done[i] = progress = true;
        }
    }
    for (size_t i = 0; i < options->keep_count && good; i++)
        if (!done[i])
            good = sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                           "neither '%s' nor '%s' is free: there is nothing to keep", options->keep[i].of,
                           options->keep[i].to);
    sp_free(done);
    return good;
}

/* Sets the spacing and the range of a free key: from a 32nd of its present value to 32 times it, or from 1 to
 * UNBOUNDED. */
static void set_range(const struct search *search, struct column *column)
{
    const struct shapeproof_value now = column->shown.configured;
    const bool is_given = now.type == SHAPEPROOF_VALUE_INT && now.integer > 0 && now.integer <= INT64_MAX / FARTHEST;
    const int64_t least = is_given ? now.integer / FARTHEST : 1;
    const int64_t most = is_given ? now.integer * FARTHEST : UNBOUNDED;
    if (search->every) column->spacing = EVERY;
    else column->spacing = is_given && now.integer % STEP == 0 ? MULTIPLES : SMALL_THEN_MULTIPLES;
    column->first_place = place_of(column->spacing, least) > 0 ? place_of(column->spacing, least) : 1;
    column->last_place = place_of(column->spacing, most);
}

/* Adds a column for each free key, then those that follow them. False with an error. */
static bool add_columns(struct search *search, struct present *present,
                        const struct shapeproof_solve_together_options *options, struct shapeproof_error *error)
{
    struct shapeproof_combinations *found = search->found;
    if (!options->free_count || options->free_count > MAX_FREE)
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                       "1 to %d hyper-parameters can be free, not %zu", MAX_FREE, options->free_count);
    for (size_t i = 0; i < options->free_count; i++) {
        struct column *column = add_free_column(search, present, options->free[i], error);
        if (!column) return false;
        set_range(search, column);
    }
    found->free_count = found->column_count;
    return add_kept(search, present, options, error);
}

/* Makes the columns from what the options name as free and as kept, and the present values. False with an error. */
static bool read_columns(struct search *search, const struct shapeproof_solve_together_options *options,
                         struct shapeproof_error *error)
{
    const struct sp_solve_question *question = search->question;
    struct present present;
    struct shapeproof_error ignored = {0};
    bool good = sp_count_table(&present.general, question->tables, question->table, NULL, SP_SIDES_ARE_EQUAL);
    present.prediction =
        shapeproof_predict(question->tables, question->config,
                           &(struct shapeproof_predict_options){.table = question->table->name}, &ignored);
    if (!good)
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "the table '%s' cannot be counted",
                question->table->name);
    good = good && add_columns(search, &present, options, error);
    shapeproof_prediction_free(present.prediction);
    sp_count_free(&present.general);
    return good;
}

/* Counts the table with the columns open. False with an error when that fails, what is asked about is not known, or a
 * free key has no effect. */
static bool count_columns(struct search *search, struct shapeproof_error *error)
{
    struct shapeproof_combinations *found = search->found;
    const struct sp_solve_question *question = search->question;
    const char *open[MAX_FREE + MAX_KEPT];
    for (size_t i = 0; i < found->column_count; i++) open[i] = found->columns[i].shown.key;
    if (!sp_count_settled_but(&search->count, question->tables, question->table, sp_config_hyper(question->config),
                              open, found->column_count, SP_SIDES_ARE_EQUAL)) {
        if (search->count.symbolic.report.missing)
            return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_NONE, "the table needs a value for '%s'",
                           search->count.symbolic.report.missing);
        return sp_fail_lines(error, SHAPEPROOF_ERR_TABLE, sp_sym_failure(&search->count.symbolic),
                             search->count.messages.data);
    }
    search->poly = sp_solve_count(question, &search->count);
    if (!search->poly) return sp_solve_fail(&search->count, error);
    for (size_t i = 0; i < found->column_count; i++) {
        struct column *column = &found->columns[i];
        const struct sp_symbol_info *symbol = sp_sym_symbol(&search->count.symbolic, column->shown.key);
        column->atom = symbol ? symbol->atom : SIZE_MAX;
        const bool matters = symbol && sp_poly_involves(&search->count.symbolic, search->poly, symbol->atom);
        if (i < found->free_count && !matters)
            return usage_error(error, column->shown.key, "does not change the number of parameters");
    }
    return true;
}

/* Searches all combinations. The column with the most values is searched by bisection, since that saves the most;
 * whether the count grows with it is seen with the others in the middle of their ranges. */
static void search_all(struct search *search)
{
    struct shapeproof_combinations *found = search->found;
    int64_t values[MAX_FREE] = {0};
    sp_assignment_open(&search->numbers, &search->count);
    for (size_t i = 0; i < found->free_count; i++) {
        const struct column *column = &found->columns[i], *last = &found->columns[search->last];
        if (column->last_place - column->first_place > last->last_place - last->first_place) search->last = i;
        put_value(search, i, value_at(column->spacing, (column->first_place + column->last_place) / 2));
    }
    search->is_growing = grows_with_last(search);
    search_from(search, 0, values);
    keep_answers(search);
    sp_assignment_free(&search->numbers);
}

/* What both public functions have in common. NULL with the error. */
static struct shapeproof_combinations *combinations_of(const struct shapeproof_tables *tables,
                                                       const struct shapeproof_config *config,
                                                       const struct sp_solve_target *target,
                                                       const struct shapeproof_solve_together_options *options,
                                                       struct shapeproof_error *error)
{
    sp_config_reuse(config);
    if (!sp_options_are_known(options->reserved, error) || !sp_solve_check_measure(options->measure, error))
        return NULL;
    const struct sp_unit *unit = sp_choose_table(tables, options->table, sp_config_hyper(config), error);
    if (!unit) return NULL;
    const struct sp_solve_question question = {.tables = tables,
                                               .table = unit,
                                               .config = config,
                                               .group = options->group,
                                               .wanted = target->wanted,
                                               .is_active = options->measure != NULL};
    struct shapeproof_combinations *found = sp_realloc(NULL, 1, sizeof *found);
    *found = (struct shapeproof_combinations){
        .table = unit->name, .rounded = target->wanted.least != target->wanted.most, .within = target->within};
    found->asked = sp_arena_string(&found->arena, target->asked);
    struct search search = {.question = &question, .found = found, .every = options->every != 0};
    const bool is_read = sp_solve_check_group(&question, error) && read_columns(&search, options, error);
    const bool is_counted = is_read && count_columns(&search, error);
    if (is_counted) search_all(&search);
    if (is_read) sp_count_free(&search.count);
    sp_free(search.candidates);
    if (is_counted) return found;
    shapeproof_combinations_free(found);
    return NULL;
}

struct shapeproof_combinations *shapeproof_solve_together(const struct shapeproof_tables *tables,
                                                          const struct shapeproof_config *config, uint64_t total,
                                                          const struct shapeproof_solve_together_options *options,
                                                          struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("solving it");
    struct sp_solve_target target;
    assert(tables && config && options);
    sp_error_reset(error);
    if (!sp_solve_target_total(&target, total, options->within, error)) return NULL;
    return combinations_of(tables, config, &target, options, error);
}

struct shapeproof_combinations *
shapeproof_solve_together_rounded(const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                                  const char *figure, const struct shapeproof_solve_together_options *options,
                                  struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("solving it");
    struct sp_solve_target target;
    assert(tables && config && figure && options);
    sp_error_reset(error);
    if (options->within < 0 || options->within > 0) {
        sp_solve_refuse("within", "a figure, which is a range by itself", error);
        return NULL;
    }
    return sp_solve_target_figure(&target, figure, error) ? combinations_of(tables, config, &target, options, error)
                                                          : NULL;
}

void shapeproof_combinations_free(struct shapeproof_combinations *combinations)
{
    if (!combinations) return;
    sp_free(combinations->items);
    sp_arena_free(&combinations->arena);
    sp_free(combinations);
}

const char *shapeproof_combinations_asked(const struct shapeproof_combinations *combinations)
{
    return combinations->asked;
}

bool shapeproof_combinations_rounded(const struct shapeproof_combinations *combinations)
{
    return combinations->rounded;
}

double shapeproof_combinations_within(const struct shapeproof_combinations *combinations)
{
    return combinations->within;
}

const char *shapeproof_combinations_table(const struct shapeproof_combinations *combinations)
{
    return combinations->table;
}

size_t shapeproof_combinations_key_count(const struct shapeproof_combinations *combinations)
{
    return combinations->column_count;
}

const struct shapeproof_solved_key *shapeproof_combinations_key(const struct shapeproof_combinations *combinations,
                                                                size_t index)
{
    return &combinations->columns[index].shown;
}

size_t shapeproof_combinations_count(const struct shapeproof_combinations *combinations) { return combinations->count; }

const struct shapeproof_combination *shapeproof_combinations_get(const struct shapeproof_combinations *combinations,
                                                                 size_t index)
{
    return &combinations->items[index];
}

bool shapeproof_combinations_is_cut(const struct shapeproof_combinations *combinations) { return combinations->is_cut; }
