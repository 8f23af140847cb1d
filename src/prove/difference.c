/* SPDX-License-Identifier: MIT
 * What is wrong with a claim, in words: by how much it differs, which group or tensor that is, and the smallest
 * hyper-parameters at which one can see it. */
#include <inttypes.h>
#include <stdlib.h>

#include "prove/symbolic/atoms.h"
#include "prove/trial.h"

enum {
    MAX_SYMBOLS = 16,   /* constraints of one case */
    MAX_SMALL = 4,      /* the largest size that is tried */
    MAX_TRIES = 100000, /* points of one search */
    MAX_REPLAYS = 64,   /* of one search */
    MAX_FAILED = 512,   /* replays of a claim that fail, in all cases: each counts the table: 0.4 ms for Sockeye */
    MAX_SHOWN = 200     /* terms of a difference that are written */
};

const char *sp_rational_text(struct sp_arena *arena, struct sp_rational value)
{
    if (value.den == 1) return sp_arena_printf(arena, "%" PRId64, value.num);
    return sp_arena_printf(arena, "%" PRId64 "/%" PRId64, value.num, value.den);
}

/* ---- the difference ---- */

/* Whether `part`, with the values put in, is the same polynomial as `gap`. */
static bool same_reduced(struct sp_trial *trial, const struct sp_poly *part, const struct sp_values *values,
                         const struct sp_poly *gap)
{
    const struct sp_poly *reduced = sp_reduce(trial->count, part, values);
    return reduced && sp_poly_equal(reduced, gap);
}

/* ": [head]" or ": lm_head.weight", the group or tensor that has as many parameters as `gap`; "" for none. */
static const char *namesake(struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *gap)
{
    const struct sp_count *count = trial->count;
    if (trial->asks_rows) return "";
    for (size_t i = 0; i < count->group_count; i++)
        if (same_reduced(trial, count->groups[i].parameters, values, gap))
            return sp_arena_printf(trial->arena, ": [%s]", count->groups[i].name);
    for (size_t i = 0; i < count->row_count; i++)
        if (same_reduced(trial, count->rows[i].parameters, values, gap))
            return sp_arena_printf(trial->arena, ": %s", count->rows[i].name);
    return "";
}

const char *sp_trial_describe(struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *error,
                              int sign)
{
    static const char *const words[] = {"short by", "differs by", "too large by"};
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    const struct sp_poly *gap = sign > 0 ? error : sp_poly_scale(algebra, error, sp_rational_int(-1));
    struct sp_text text = {0};
    if (gap->count > MAX_SHOWN)
        return sp_arena_printf(trial->arena, "%s a sum of %zu terms", words[sign + 1], gap->count);
    sp_poly_put_factored(&text, algebra, gap);
    const char *kept =
        sp_arena_printf(trial->arena, "%s %s%s", words[sign + 1], text.data, namesake(trial, values, gap));
    sp_text_free(&text);
    return kept;
}

/* ---- points ---- */

/* What the case says of sizes, which must be so at the point: a comparison with the gap r - l holds, or does not. */
struct constraint {
    const struct sp_poly *gap;
    bool equality; /* l == r: it holds where the gap is 0; else l < r, which holds where the gap is above 0 */
    bool holds;
};

/* The search for a point at which the error shows, and which can be replayed. */
struct search {
    struct sp_trial *trial;
    const struct sp_values *values; /* of the case */
    const struct sp_poly *left, *error;
    struct constraint constraints[MAX_SYMBOLS];
    size_t constraint_count;
    size_t *atoms;  /* in the algebra's arena: the symbols that have a value at the point */
    int64_t *sizes; /* beside them */
    bool *is_0;     /* beside them: this one must be 0 in this case */
    size_t count;   /* of all */
    size_t varied;  /* the first of them: those on which the error or the case depends; the others are one size */
    int replays;    /* left */
    struct sp_rational truth, claimed;
};

/* Whether the atom is varied already, or has a value in the case. */
static bool has_size(const struct search *search, size_t atom)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->atoms[i] == atom) return true;
    for (size_t i = 0; i < search->values->count; i++)
        if (search->values->atoms[i] == atom) return true;
    return false;
}

/* Adds a number to the symbols of the point, unless it is there, is computed, or the case gives it a value. */
static void add_symbol(struct search *search, const struct sp_symbol_info *symbol)
{
    if (symbol->is_computed || has_size(search, symbol->atom)) return;
    if (search->trial->count->symbolic.algebra.atoms[symbol->atom].is_condition) return;
    search->sizes[search->count] = 1;
    search->atoms[search->count++] = symbol->atom;
}

/* Adds the symbols of the polynomial. */
static void add_symbols(struct search *search, const struct sp_poly *poly)
{
    for (size_t atom = 0; atom < search->trial->count->symbolic.algebra.atom_count; atom++) {
        const struct sp_symbol_info *symbol = sp_symbol_of(search->trial->count, atom);
        if (symbol && sp_poly_uses(poly, atom)) add_symbol(search, symbol);
    }
}

/* Adds all other hyper-parameters that are numbers. */
static void add_others(struct search *search)
{
    const struct sp_symbolic *symbolic = &search->trial->count->symbolic;
    for (size_t i = 0; i < symbolic->symbols.count; i++)
        if (!symbolic->symbols.items[i].is_text && !symbolic->symbols.items[i].is_list)
            add_symbol(search, &symbolic->symbols.items[i]);
}

/* The value of a polynomial at the point. False when it has none. */
static bool value_at_point(const struct search *search, const struct sp_poly *poly, struct sp_rational *value)
{
    const size_t count = search->trial->count->symbolic.algebra.atom_count;
    struct sp_rational *values = sp_realloc(NULL, count, sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = sp_rational_int(1);
    for (size_t i = 0; i < search->count; i++) values[search->atoms[i]] = sp_rational_int(search->sizes[i]);
    const bool good = sp_poly_evaluate(poly, values, value);
    sp_free(values);
    return good;
}

/* ---- what the case demands ---- */

/* The x of a condition [x], which holds where x is not 0. False for any other condition. */
static bool truth_gap(struct sp_trial *trial, size_t atom, const struct sp_poly **gap)
{
    const struct sp_origin *origin = sp_atom_info(&trial->count->symbolic, atom)->origin;
    if (!origin || origin->operation.kind != SP_DO_TRUTH || origin->args[0].kind != SP_SYM_NUMBER) return false;
    *gap = origin->args[0].poly;
    return true;
}

/* Collects what the case says of sizes. False when one of these cannot be checked, because something in it is computed,
 * or there are too many. */
static bool find_constraints(struct search *search)
{
    struct sp_trial *trial = search->trial;
    for (size_t i = 0; i < search->values->count; i++) {
        const size_t atom = search->values->atoms[i];
        const struct sp_poly *gap;
        bool equality, holds = !sp_poly_is_zero(search->values->values[i]);
        if (truth_gap(trial, atom, &gap)) equality = true, holds = !holds;
        else if (!sp_atom_comparison(&trial->count->symbolic, atom, &gap, &equality)) continue;
        gap = sp_reduce(trial->count, gap, search->values);
        if (!gap || !sp_is_transparent(trial->count, gap) || search->constraint_count == MAX_SYMBOLS) return false;
        search->constraints[search->constraint_count++] = (struct constraint){gap, equality, holds};
    }
    return true;
}

/* Whether the point is one of the case. */
static bool is_allowed(const struct search *search)
{
    for (size_t i = 0; i < search->constraint_count; i++) {
        const struct constraint constraint = search->constraints[i];
        struct sp_rational gap;
        if (!value_at_point(search, constraint.gap, &gap)) return false;
        if ((constraint.equality ? gap.num == 0 : gap.num > 0) != constraint.holds) return false;
    }
    return true;
}

/* Whether a symbol may be 0: the case says that it is, or its default makes it possible. */
static bool may_be_0(const struct search *search, size_t atom)
{
    for (size_t i = 0; i < search->constraint_count; i++) {
        const struct constraint constraint = search->constraints[i];
        if (constraint.equality && constraint.holds && sp_atom_alone(constraint.gap) == atom) return true;
    }
    return sp_atom_info(&search->trial->count->symbolic, atom)->least < 1;
}

/* ---- the search ---- */

/* Symbols that the case demands to be 0 are not varied, since among many symbols few points have all of them at 0: x is
 * 0 where x = 0 holds, and where x > 0 does not. False when one of them is a size, which is not 0. */
static bool find_zeros(struct search *search)
{
    for (size_t k = 0; k < search->constraint_count; k++) {
        const struct constraint constraint = search->constraints[k];
        const size_t atom = constraint.equality == constraint.holds ? sp_atom_alone(constraint.gap) : SIZE_MAX;
        for (size_t i = 0; i < search->count; i++) {
            if (search->atoms[i] != atom) continue;
            if (!may_be_0(search, atom)) return false;
            search->is_0[i] = true;
        }
    }
    return true;
}

/* Sets a symbol to its next size: 1, 2, ... MAX_SMALL, then 0 where it may be that. False when it begins again with 1.
 */
static bool next_size(const struct search *search, size_t which)
{
    int64_t *size = &search->sizes[which];
    if (search->is_0[which]) return false;
    const bool was_last = *size == 0 || (*size == MAX_SMALL && !may_be_0(search, search->atoms[which]));
    *size = was_last ? 1 : (*size + 1) % (MAX_SMALL + 1);
    return !was_last;
}

/* Goes on to the next point, as a counter does whose first digit is the fastest. False after the last point. */
static bool next_point(const struct search *search)
{
    for (size_t i = 0; i < search->varied; i++)
        if (next_size(search, i)) return true;
    return false;
}

static struct sp_values values_at(const struct search *search)
{
    struct sp_values all = {0};
    for (size_t i = 0; i < search->count; i++)
        sp_values_add(&all, search->atoms[i], sp_poly_int(&search->trial->count->symbolic.algebra, search->sizes[i]));
    for (size_t i = 0; i < search->values->count; i++)
        sp_values_add(&all, search->values->atoms[i], search->values->values[i]);
    return all;
}

/* Evaluates both sides where the table is counted and predicted at the point. False when that cannot be done, or the
 * error is not what is between the sides, so that the formulas are no counter-example. */
static bool replay(struct search *search, struct sp_rational error)
{
    struct sp_values all = values_at(search);
    struct sp_rational sum;
    const bool good = search->replays > 0 && sp_trial_sides_at(search->trial, &all, &search->truth, &search->claimed) &&
                      sp_rational_add(search->truth, error, &sum) && sp_rational_compare(sum, search->claimed) == 0 &&
                      sp_trial_is_possible(search->trial, &all);
    search->replays--;
    search->trial->failed_replays += !good;
    sp_values_free(&all);
    return good;
}

/* What a counter-example should be like: the best has both. */
struct wish {
    bool whole; /* both sides are whole numbers */
    bool sign;  /* the error has the sign of its first term, with which it is written */
};

/* Whether the error, *gap, is not 0 at the point, which is one of the case, and as wished. */
static bool shows_error(const struct search *search, struct wish wish, struct sp_rational *gap)
{
    struct sp_rational truth;
    const bool positive = search->error->terms[0].coefficient.num > 0;
    if (!value_at_point(search, search->error, gap) || !gap->num || !is_allowed(search)) return false;
    if ((wish.sign && (gap->num > 0) != positive) || (wish.whole && gap->den != 1)) return false;
    if (!wish.whole || !sp_is_transparent(search->trial->count, search->left)) return true;
    return value_at_point(search, search->left, &truth) && truth.den == 1;
}

/* Searches the points, from the smallest sizes up, for a counter-example as wished that can be replayed. */
static bool find_example(struct search *search, struct wish wish)
{
    struct sp_rational gap;
    for (size_t i = 0; i < search->varied; i++) search->sizes[i] = !search->is_0[i];
    for (int tries = 0; tries < MAX_TRIES && search->replays > 0; tries++) {
        if (shows_error(search, wish, &gap) && replay(search, gap) && (!wish.whole || search->truth.den == 1))
            return true;
        if (!next_point(search)) return false;
    }
    return false;
}

/* Searches with all other symbols at 1, then at 2, then at 4, and each time with fewer wishes. */
static bool find_best_example(struct search *search)
{
    static const struct wish wishes[] = {{.whole = true, .sign = true}, {.whole = true}, {.sign = true}, {0}};
    for (int64_t others = 1; others <= MAX_SMALL; others *= 2) { /* halves of sizes are most often whole then */
        for (size_t i = search->varied; i < search->count; i++) search->sizes[i] = others;
        const int left = MAX_FAILED - search->trial->failed_replays;
        search->replays = left < MAX_REPLAYS ? left : MAX_REPLAYS;
        for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
            if (find_example(search, wishes[i])) return true;
    }
    return false;
}

/* Prepares the search for a point of the case. False when none can be found in this way: something in the error or in
 * the case is computed, or a size would have to be 0. */
static bool open_search(struct search *search)
{
    struct sp_symbolic *symbolic = &search->trial->count->symbolic;
    search->atoms = sp_arena_array(&symbolic->algebra.arena, symbolic->symbols.count, sizeof *search->atoms);
    search->sizes = sp_arena_array(&symbolic->algebra.arena, symbolic->symbols.count, sizeof *search->sizes);
    search->is_0 = sp_arena_array(&symbolic->algebra.arena, symbolic->symbols.count, sizeof *search->is_0);
    if (!search->left || !sp_is_transparent(search->trial->count, search->error) || !find_constraints(search))
        return false;
    add_symbols(search, search->error);
    for (size_t i = 0; i < search->constraint_count; i++) add_symbols(search, search->constraints[i].gap);
    search->varied = search->count;
    add_others(search);
    return find_zeros(search);
}

static void show_example(struct search *search)
{
    struct sp_trial *trial = search->trial;
    const struct sp_poly *polys[MAX_SYMBOLS + 2] = {search->left, search->error};
    struct sp_values all = values_at(search);
    for (size_t i = 0; i < search->constraint_count; i++) polys[i + 2] = search->constraints[i].gap;
    const char *words = sp_trial_point_words(trial, &all, search->varied, polys, search->constraint_count + 2);
    const char *numbers = sp_trial_sides_words(trial, search->truth, search->claimed);
    sp_values_free(&all);
    if (*words) trial->proof.counterexample = sp_arena_printf(trial->arena, "%s: %s", words, numbers);
    else trial->proof.difference = numbers; /* of two plain numbers there are no examples */
}

bool sp_trial_refute(struct sp_trial *trial, const struct sp_values *values, const struct sp_poly *error)
{
    struct search search = {.trial = trial, .values = values, .error = error, .replays = 1};
    search.left = sp_reduce(trial->count, trial->left, values);
    if (!open_search(&search) || !find_best_example(&search)) return false;
    trial->proof.verdict = SHAPEPROOF_REFUTED;
    const int sign = sp_rational_compare(search.claimed, search.truth);
    trial->proof.difference = sp_trial_describe(trial, values, error, sign);
    show_example(&search);
    return true;
}
