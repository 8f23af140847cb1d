/* SPDX-License-Identifier: MIT
 * Claims at points: the table is counted there with every hyper-parameter fixed, so that floors, lists and loops have
 * values. Examples have one point, their own. What is no polynomial identity is tried at many: small numbers, equal
 * ones, the table's defaults, random ones, and those at which something in the claim changes. Of [V == 2*H + 37]
 * these are V = 2*H + 37 and its neighbours, of I % 997 those with a remainder of 0, 1 and 996, and 995 where the claim
 * says so; of max(H - 100000, 0) they are H = 99999, 100000 and 100001. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "lang/functions.h"
#include "prove/assignment.h"
#include "prove/symbolic/atoms.h"
#include "prove/trial.h"
#include "prove/words.h"

enum {
    POINTS = 60,        /* that must agree before a claim is TESTED, if there are so many */
    MAX_REPLAYS = 600,  /* points at which the table is counted and predicted */
    FEW_REPLAYS = 80,   /* of them where the table could not be predicted at its defaults */
    MAX_CONSTANTS = 24, /* numbers of the claim that are tried as values */
    MAX_TARGETS = 4000, /* points of each kind that are computed from where something changes */
    MAX_NESTED = 6,     /* floors and minima within one another that are inverted */
    MAX_TOGETHER = 5,   /* conditions of a product that are made true and false together */
    MAX_LISTS = 6       /* lists that are tried where the table has no default for one */
};

/* ---- examples ---- */

/* Below, because they search for points. */
static bool is_predictable(struct sp_trial *trial);
static const char *defaults_taken(struct sp_trial *trial);

/* The number that a side of the claim is at the values. False, and undecided, when it has none, or depends on more. */
static bool number_of_claim_side(struct sp_trial *trial, const struct sp_poly *side, const struct sp_values *values,
                                 struct sp_rational *number)
{
    const struct sp_poly *reduced = sp_reduce(trial->count, side, values);
    if (!reduced) return sp_trial_undecided(trial, "division by zero");
    if (sp_poly_is_constant(reduced, number)) return true;
    return sp_trial_undecided(trial, sp_arena_printf(trial->arena, "what is the value of %s?",
                                                     sp_sym_text(&trial->count->symbolic, reduced)));
}

/* Takes the numbers from the formulas if they decide them, else from a replay, in which texts and lists have values. */
bool sp_trial_numbers(struct sp_trial *trial, struct sp_rational *left, struct sp_rational *right)
{
    struct sp_values all = {0};
    for (size_t i = 0; i < trial->when.count; i++) sp_values_add(&all, trial->when.atoms[i], trial->when.values[i]);
    sp_values_add_defaults(trial->count, &all, SP_DEFAULTS_OF_ALL);
    bool good = (number_of_claim_side(trial, trial->left, &all, left) &&
                 number_of_claim_side(trial, trial->right, &all, right)) ||
                sp_trial_sides_at(trial, &all, left, right);
    if (good) trial->proof.difference = NULL; /* why the formulas do not decide it */
    if (good && !is_predictable(trial))
        good = sp_trial_undecided(trial, "the table cannot be predicted for these values");
    if (good) trial->proof.cases = defaults_taken(trial);
    sp_values_free(&all);
    return good;
}

/* ---- the search for a point ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* Sizes that divide each other often, as real ones do, and some that do not. */
static const int64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The search for a point at which the claim is wrong. Its unknowns are the free hyper-parameters: numbers and flags to
 * which `when` gives no value. */
struct search {
    struct sp_trial *trial;
    struct sp_trial local;        /* the trial with lists for its settings where the table has none */
    struct sp_assignment numbers; /* the point: values of the unknowns, and what is computed from them */
    struct sp_values defaults;
    size_t *atoms;                  /* heap: the unknowns */
    bool *locked;                   /* heap, beside them: it was set on the way to a target, and must stay */
    size_t count;                   /* of the unknowns */
    char *reached;                  /* heap, by atom: the claim depends on it */
    int64_t usual;                  /* the value of a number without a default */
    uint64_t seed;                  /* of next_random */
    int replays;                    /* left */
    size_t agreed;                  /* points that were replayed, with equal sides */
    size_t untried;                 /* points at which the table could not be predicted, or a side had no value */
    bool sizes_only;                /* no number is 0, unless its default is 0 or less */
    bool met;                       /* `when` was met at one of the points that find_usual tried */
    struct sp_rational left, right; /* of the claim, at the point that was replayed last */
    struct sp_values formal;        /* the first point that could not be replayed, and at which the formulas differ */
    struct sp_rational formal_left, formal_right; /* the sides there, by the formulas */
};

/* Of the claim at one point. */
enum outcome {
    AGREES,
    DIFFERS,
    UNTRIED,  /* the table cannot be predicted there, a side has no value, or no replays are left */
    ELSEWHERE /* the claim is not about the point: `when` says otherwise */
};

static struct sp_algebra *algebra_of(const struct search *search) { return &search->trial->count->symbolic.algebra; }

static bool is_given_atom(const struct sp_trial *trial, size_t atom)
{
    for (size_t i = 0; i < trial->when.count; i++)
        if (trial->when.atoms[i] == atom) return true;
    return false;
}

static bool is_condition(const struct search *search, size_t atom)
{
    return algebra_of(search)->atoms[atom].is_condition;
}

/* Below which value a hyper-parameter makes no sense: what is no dimension, divisor or number of iterations may be 0.
 */
static int64_t least_of(const struct search *search, size_t atom)
{
    const struct sp_atom_info *info = sp_atom_info(&search->trial->count->symbolic, atom);
    if (search->sizes_only && info->is_bounded) return info->least;
    return !info->is_bounded || (!info->is_size && info->least > 0) ? 0 : info->least;
}

/* A number or a flag: no text, list or object, and nothing that is computed. */
static bool is_plain(const struct sp_symbolic *symbolic, const struct sp_symbol_info *symbol)
{
    if (symbol->is_computed || symbol->is_text || symbol->is_list || symbol->unset_key) return false;
    const size_t length = strlen(symbol->key);
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const char *other = symbolic->symbols.items[i].key;
        if (strncmp(other, symbol->key, length) == 0 && other[length] == '.') return false;
    }
    const char *bracket = strpbrk(symbol->key, "([ ");
    return !bracket || sp_atom_info((struct sp_symbolic *)(uintptr_t)symbolic, symbol->atom)->origin;
}

/* Whether an unknown is one side of a pair, patch_size[0]: of the hyper-parameters these alone are computed. */
static bool is_side(const struct search *search, size_t atom)
{
    return sp_atom_info(&search->trial->count->symbolic, atom)->origin != NULL;
}

static void set_atom(struct search *search, size_t atom, int64_t value)
{
    sp_assignment_set(&search->numbers, atom, sp_rational_int(value));
}

static bool is_set(const struct search *search, size_t atom) { return search->numbers.set[atom]; }

/* Sets the point at which all has its default; without a default a number is `usual`, and a flag is false. */
static void set_base(struct search *search, int64_t usual)
{
    for (size_t i = 0; i < search->count; i++) {
        const size_t atom = search->atoms[i];
        sp_assignment_unset(&search->numbers, atom);
        search->locked[i] = false;
        if (search->numbers.instead[atom] || is_side(search, atom)) continue;
        set_atom(search, atom, is_condition(search, atom) ? 0 : usual);
    }
}

/* Sets the point at which every number is `size`, and flags are as by default. */
static void set_equal(struct search *search, int64_t size)
{
    set_base(search, size);
    for (size_t i = 0; i < search->count; i++)
        if (!is_condition(search, search->atoms[i]) && !is_side(search, search->atoms[i]))
            set_atom(search, search->atoms[i], size);
}

/* One of the first `choices` of the sizes, or, one time in six, the least value if that is 0 or less. */
static int64_t random_size(struct search *search, size_t atom, uint64_t choices)
{
    const int64_t least = least_of(search, atom);
    if (least < 1 && next_random(&search->seed) % 6 == 0) return least;
    return sizes[next_random(&search->seed) % choices];
}

/* Sets a random point, of four kinds that are equally frequent:
 *
 *     0    all numbers equal, and one unknown in eight at random
 *     1    all as by default, and one unknown in eight at random
 *     2    all unknowns at random, numbers from 1 to 6
 *     3    all unknowns at random */
static void set_random(struct search *search)
{
    enum { SMALL_SIZES = 6 };
    const uint64_t how = next_random(&search->seed) % 4;
    if (how == 0) set_equal(search, sizes[next_random(&search->seed) % SIZES]);
    else set_base(search, search->usual);
    for (size_t i = 0; i < search->count; i++) {
        const size_t atom = search->atoms[i];
        const bool stays = how < 2 && next_random(&search->seed) % 8;
        if (stays || (is_side(search, atom) && next_random(&search->seed) % 3)) continue;
        if (is_condition(search, atom)) set_atom(search, atom, (int64_t)(next_random(&search->seed) & 1));
        else set_atom(search, atom, random_size(search, atom, how == 2 ? SMALL_SIZES : SIZES));
    }
}

/* ---- one point ---- */

/* Whether the item `which` of trial->when is so at the point. A value that it gives to a hyper-parameter is possible
 * there, and is added to `values`; a value that it gives to what is computed is what the point computes. */
static bool meets_when(struct search *search, struct sp_values *values, size_t which)
{
    struct sp_rational wanted, found;
    const size_t atom = search->trial->when.atoms[which];
    const struct sp_symbol_info *symbol = sp_symbol_of(search->trial->count, atom);
    if (!sp_assignment_of(&search->numbers, search->trial->when.values[which], &wanted)) return false;
    if (symbol && !symbol->is_computed) {
        if (wanted.den != 1 || wanted.num < least_of(search, atom)) return false;
        sp_values_add(values, atom, sp_poly_int(algebra_of(search), wanted.num));
        return true;
    }
    const struct sp_poly *instead = search->numbers.instead[atom];
    search->numbers.instead[atom] = NULL; /* as it is computed, not as it is given */
    search->numbers.is_stale = true;
    const bool known = sp_assignment_of_atom(&search->numbers, atom, &found);
    search->numbers.instead[atom] = instead;
    search->numbers.is_stale = true;
    return known && sp_rational_compare(wanted, found) == 0;
}

/* Adds all that must be given at the point: what is set, and what `when` gives. False when the point does not meet
 * `when`.
 */
static bool point_values(struct search *search, struct sp_values *values)
{
    for (size_t i = 0; i < search->count; i++)
        if (is_set(search, search->atoms[i]))
            sp_values_add(values, search->atoms[i],
                          sp_poly_rational(algebra_of(search), search->numbers.values[search->atoms[i]]));
    for (size_t i = 0; i < search->trial->when.count; i++)
        if (!meets_when(search, values, i)) return false;
    return true;
}

/* Counts and predicts the table at the point, and compares the sides there. */
static enum outcome replay(struct search *search, const struct sp_values *values)
{
    if (search->replays <= 0 || algebra_of(search)->failed) return UNTRIED;
    search->replays--;
    if (!sp_trial_sides_at(&search->local, values, &search->left, &search->right) ||
        !sp_trial_is_possible(&search->local, values)) {
        search->untried++;
        return UNTRIED;
    }
    if (sp_rational_compare(search->left, search->right) != 0) return DIFFERS;
    search->agreed++;
    return AGREES;
}

/* Whether a requirement of the table is not met at the point, as far as the numbers of the point decide it. */
static bool is_refused(struct search *search)
{
    struct sp_symbolic *symbolic = &search->trial->count->symbolic;
    const struct sp_sym_env env = {.frame = search->trial->count->frame};
    const struct sp_unit *table = search->trial->count->table;
    struct sp_rational truth;
    const struct sp_poly *condition;
    bool refused = false;
    const struct sp_sym_heard heard = sp_sym_begin_look_ahead(symbolic);
    for (size_t i = 0; i < table->requirement_count && !refused; i++)
        refused = sp_sym_condition(symbolic, &env, table->requirements[i].condition, &condition) &&
                  sp_assignment_of(&search->numbers, condition, &truth) && truth.num == 0;
    sp_sym_end_look_ahead(symbolic, heard);
    return refused;
}

/* Keeps the first point that could not be replayed, although the formulas have values there which differ. */
static void note_formal(struct search *search, const struct sp_values *values)
{
    if (search->formal.count || is_refused(search) ||
        !sp_assignment_of(&search->numbers, search->trial->left, &search->formal_left) ||
        !sp_assignment_of(&search->numbers, search->trial->right, &search->formal_right))
        return;
    for (size_t i = 0; i < values->count; i++) sp_values_add(&search->formal, values->atoms[i], values->values[i]);
}

/* Evaluates the claim at the point: by its polynomials, which costs little, and by a replay, which decides. Where the
 * polynomials agree, the replay is left out once enough points were replayed that agree. */
static enum outcome try_point(struct search *search)
{
    struct sp_values values = {0};
    struct sp_rational error;
    enum outcome outcome = ELSEWHERE;
    if (point_values(search, &values)) {
        const bool known = sp_assignment_of(&search->numbers, search->trial->error, &error);
        const bool enough =
            search->agreed >= POINTS || (search->replays < MAX_REPLAYS / 3 && search->agreed > POINTS / 3);
        outcome = known && error.num == 0 && enough ? AGREES : replay(search, &values);
        if (outcome == UNTRIED && known && error.num != 0) note_formal(search, &values);
    }
    sp_values_free(&values);
    return outcome;
}

/* ---- points at which something changes: a floor, a minimum, a condition ---- */

/* The functions below change the point so that something has a given value, by inverting how it is computed. To make
 * 3*(V // 8) + 1 the number 13, V // 8 must be 4, so that V is 32, 33 or 39. Each returns whether it was reached.
 * `depth`: how many floors, minima and so on were inverted on the way. */
static bool reach_value(struct search *search, const struct sp_poly *poly, struct sp_rational target, unsigned depth);

/* Whether the atom has that value at the point. */
static bool is_worth(struct search *search, size_t atom, struct sp_rational value)
{
    struct sp_rational now;
    return sp_assignment_of_atom(&search->numbers, atom, &now) && sp_rational_compare(now, value) == 0;
}

/* The index of an atom in search->atoms; SIZE_MAX when it is no unknown. */
static size_t place_of(const struct search *search, size_t atom)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->atoms[i] == atom) return i;
    return SIZE_MAX;
}

enum quotient_kind { FLOOR, REMAINDER };

/* Makes above // below, or above % below, the value, by what is above. Three numbers are tried: of a floor those with
 * the remainders 0, 1 and below - 1, of a remainder those with the floors 0, 1 and 2. Of ceil_div, which is treated as
 * a floor, the caller checks what was reached. */
static bool reach_quotient(struct search *search, const struct sp_origin *origin, enum quotient_kind kind,
                           struct sp_rational value, unsigned depth)
{
    struct sp_rational by;
    if (value.den != 1 || origin->args[0].kind != SP_SYM_NUMBER || origin->args[1].kind != SP_SYM_NUMBER ||
        !sp_assignment_of(&search->numbers, origin->args[1].poly, &by) || by.den != 1 || by.num < 1 ||
        by.num > INT32_MAX || value.num > INT32_MAX || value.num < -INT32_MAX)
        return false;
    const int64_t rests[] = {0, 1, by.num - 1};
    for (int64_t i = 0; i < 3; i++) {
        const int64_t above = kind == REMAINDER ? value.num + by.num * i : value.num * by.num + rests[i];
        if (reach_value(search, origin->args[0].poly, sp_rational_int(above), depth + 1)) return true;
    }
    return false;
}

/* Makes a computed atom the value: a floor, a remainder, ceil_div, or one of a few functions by one of its arguments.
 */
static bool reach_computed(struct search *search, size_t atom, struct sp_rational value, unsigned depth)
{
    const struct sp_origin *origin = sp_atom_info(&search->trial->count->symbolic, atom)->origin;
    if (!origin || depth > MAX_NESTED) return false;
    const enum sp_op op = origin->operation.op;
    if (origin->operation.kind == SP_DO_BINARY && (op == SP_OP_FLOOR || op == SP_OP_MOD))
        return reach_quotient(search, origin, op == SP_OP_MOD ? REMAINDER : FLOOR, value, depth) &&
               is_worth(search, atom, value);
    if (origin->operation.kind != SP_DO_CALL) return false;
    const char *name = origin->operation.function->name;
    if (strcmp(name, "ceil_div") == 0)
        return reach_quotient(search, origin, FLOOR, value, depth) && is_worth(search, atom, value);
    static const char *const functions[] = {"min", "max", "round_up", "int"};
    for (size_t i = 0; SP_IS_AMONG(name, functions) && i < origin->count; i++)
        if (origin->args[i].kind == SP_SYM_NUMBER && reach_value(search, origin->args[i].poly, value, depth + 1) &&
            is_worth(search, atom, value))
            return true;
    return false;
}

/* Sets an unknown to the value, which should make the polynomial the target. False, and the unknown as it was, when it
 * must stay, when the value is none that it can have, or when the polynomial does not become the target, because it
 * depends on the unknown in another way as well. */
static bool reach_by_setting(struct search *search, size_t place, struct sp_rational value, const struct sp_poly *poly,
                             struct sp_rational target)
{
    const size_t atom = search->atoms[place];
    const bool was_set = is_set(search, atom);
    const struct sp_rational before = search->numbers.values[atom];
    struct sp_rational now;
    if (search->locked[place] || value.den != 1 || value.num < least_of(search, atom)) return false;
    if (is_condition(search, atom) && value.num > 1) return false;
    sp_assignment_set(&search->numbers, atom, value);
    search->locked[place] = true;
    if (sp_assignment_of(&search->numbers, poly, &now) && sp_rational_compare(now, target) == 0) return true;
    search->locked[place] = false;
    if (was_set) sp_assignment_set(&search->numbers, atom, before);
    else sp_assignment_unset(&search->numbers, atom);
    return false;
}

/* Makes the polynomial the target by one of its atoms, in which it is linear: of by*x + rest = target the value of x is
 * (target - rest)/by, where `by` and `rest` have the values of the point. x is an unknown, or computed from one. */
static bool reach_value(struct search *search, const struct sp_poly *poly, struct sp_rational target, unsigned depth)
{
    struct sp_algebra *algebra = algebra_of(search);
    struct sp_rational now;
    if (sp_assignment_of(&search->numbers, poly, &now) && sp_rational_compare(now, target) == 0) return true;
    for (size_t i = 0; i < poly->count && depth <= MAX_NESTED; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++) {
            const size_t atom = poly->terms[i].factors[k].atom, place = place_of(search, atom);
            struct sp_rational by, rest, value;
            if (sp_poly_degree(poly, atom) != 1 || sp_poly_low_degree(poly, atom) < 0) continue;
            if (!sp_assignment_of(&search->numbers, sp_poly_coefficient(algebra, poly, atom, 1), &by) || !by.num ||
                !sp_assignment_of(&search->numbers, sp_poly_coefficient(algebra, poly, atom, 0), &rest) ||
                !sp_rational_sub(target, rest, &value) || !sp_rational_div(value, by, &value))
                continue;
            if (place != SIZE_MAX ? reach_by_setting(search, place, value, poly, target)
                                  : reach_computed(search, atom, value, depth))
                return true;
        }
    return false;
}

/* Makes a condition true, or false. A comparison l < r has the gap r - l: it holds from 1 up, and not from 0 down; l ==
 * r holds at 0, and not from 1 up. The three gaps that are closest to where it changes are tried, of an equality that
 * is to hold the only one. A flag is set even where it was set before: a point at which an earlier condition is lost is
 * tried like any other. */
static bool reach_condition(struct search *search, size_t atom, bool holds)
{
    struct sp_symbolic *symbolic = &search->trial->count->symbolic;
    const struct sp_origin *origin = sp_atom_info(symbolic, atom)->origin;
    const struct sp_poly *gap;
    struct sp_rational now;
    bool equality;
    if (sp_assignment_of_atom(&search->numbers, atom, &now) && (now.num != 0) == holds) return true;
    if (place_of(search, atom) != SIZE_MAX) {
        set_atom(search, atom, holds);
        return true;
    }
    if (origin && origin->operation.kind == SP_DO_TRUTH && origin->args[0].kind == SP_SYM_NUMBER)
        return reach_value(search, origin->args[0].poly, sp_rational_int(holds), 0);
    if (!sp_atom_comparison(symbolic, atom, &gap, &equality)) return false;
    for (int64_t step = 0; step < 3; step++) {
        const int64_t target = equality ? (holds ? 0 : 1 + step) : (holds ? 1 + step : -step);
        if (reach_value(search, gap, sp_rational_int(target), 0)) return true;
        if (equality && holds) break;
    }
    return false;
}

/* Sets one of the STARTS points from which something is reached: all as by default, all 2, or random ones. */
static void set_start(struct search *search, int which)
{
    if (which == 0) set_base(search, search->usual);
    else if (which == 1) set_equal(search, 2);
    else set_random(search);
}

enum { STARTS = 4 };

/* Tries points at which the polynomial is the target, one from each start, as long as *left allows. True at a point
 * where the claim differs; so below. */
static bool try_target(struct search *search, const struct sp_poly *poly, int64_t target, int *left)
{
    for (int start = 0; start < STARTS && (*left)-- > 0; start++) {
        set_start(search, start);
        if (reach_value(search, poly, sp_rational_int(target), 0) && try_point(search) == DIFFERS) return true;
    }
    return false;
}

/* Tries points close to where something that is computed changes:
 *
 *     [x]                            x is 0 and 1
 *     l < r, l == r, min, max        the arguments are equal, or differ by 1 or 2
 *     x // y, x % y, f(x, y)         x is 0, y or 2*y, or next to one of these, for the y of the first start */
static bool try_changes_of(struct search *search, const struct sp_origin *origin, int *left)
{
    struct sp_algebra *algebra = algebra_of(search);
    const struct sp_sym *args = origin->args;
    const bool two = origin->count == 2 && args[0].kind == SP_SYM_NUMBER && args[1].kind == SP_SYM_NUMBER;
    const enum sp_op op = origin->operation.op;
    const bool compares = origin->operation.kind == SP_DO_BINARY && (op == SP_OP_LT || op == SP_OP_EQ);
    const bool is_call = origin->operation.kind == SP_DO_CALL;
    const bool is_extreme =
        is_call && origin->operation.function->name[0] == 'm'; /* min or max: member() takes a text */
    if (origin->operation.kind == SP_DO_TRUTH && args[0].kind == SP_SYM_NUMBER)
        return try_target(search, args[0].poly, 0, left) || try_target(search, args[0].poly, 1, left);
    if (!two) return false;
    if (compares || is_extreme) {
        const struct sp_poly *gap = sp_poly_sub(algebra, args[1].poly, args[0].poly);
        for (int64_t target = -2; target <= 2; target++)
            if (try_target(search, gap, target, left)) return true;
        return false;
    }
    const bool divides = is_call || op == SP_OP_FLOOR || op == SP_OP_MOD;
    for (int64_t k = 0; divides && k < 3; k++)
        for (int64_t rest = -1; rest < 2; rest++) {
            struct sp_rational by;
            set_start(search, 0);
            if (!sp_assignment_of(&search->numbers, args[1].poly, &by) || by.den != 1 || by.num > INT32_MAX)
                return false;
            if (try_target(search, args[0].poly, k * by.num + rest, left)) return true;
        }
    return false;
}

/* Tries, for each term of the error, every combination of the conditions in it, true and false: of [H == 64]*[L % 3 ==
 * 0] these are four, and only one shows what the term adds. */
static bool try_terms(struct search *search)
{
    const struct sp_poly *error = search->trial->error;
    int left = MAX_TARGETS;
    for (size_t i = 0; i < error->count; i++) {
        const struct sp_term *term = &error->terms[i];
        size_t conditions[MAX_TOGETHER], count = 0;
        for (size_t k = 0; k < term->count && count < MAX_TOGETHER; k++)
            if (is_condition(search, term->factors[k].atom)) conditions[count++] = term->factors[k].atom;
        for (size_t how = (size_t)1 << count; count && how-- > 0;)
            for (int start = 0; start < STARTS && left-- > 0; start++) {
                bool good = true;
                set_start(search, start);
                for (size_t k = 0; k < count; k++) good = reach_condition(search, conditions[k], how >> k & 1) && good;
                if (good && try_point(search) == DIFFERS) return true;
            }
    }
    return false;
}

/* Tries points close to where anything changes on which the claim depends. */
static bool try_changes(struct search *search)
{
    const size_t atoms = search->numbers.size;
    int left = MAX_TARGETS;
    for (size_t atom = 0; atom < atoms && left > 0; atom++) {
        const struct sp_origin *origin =
            search->reached[atom] ? sp_atom_info(&search->trial->count->symbolic, atom)->origin : NULL;
        if (origin && try_changes_of(search, origin, &left)) return true;
    }
    return false;
}

/* The whole numbers in an expression. */
static void find_constants(const struct sp_expr *expr, int64_t *constants, size_t *count)
{
    if (!expr) return;
    if (expr->kind == SP_EXPR_LITERAL && expr->value.type == SHAPEPROOF_VALUE_INT && *count < MAX_CONSTANTS)
        constants[(*count)++] = expr->value.integer;
    for (size_t i = 0; i < expr->count; i++) find_constants(expr->args[i], constants, count);
}

/* Tries each number on which the claim depends at each constant of the claim, and at one more and one less. */
static bool try_constants(struct search *search)
{
    int64_t constants[MAX_CONSTANTS];
    size_t count = 0;
    int left = MAX_TARGETS;
    find_constants(search->trial->claim->left, constants, &count);
    find_constants(search->trial->claim->right, constants, &count);
    for (size_t i = 0; i < search->count; i++)
        for (size_t c = 0; search->reached[search->atoms[i]] && c < count; c++)
            for (int64_t beside = -1; beside <= 1 && left-- > 0; beside++) {
                const int64_t value = constants[c] + beside;
                if (is_condition(search, search->atoms[i]) || value < least_of(search, search->atoms[i])) continue;
                set_start(search, (int)(c % 2));
                set_atom(search, search->atoms[i], value);
                if (try_point(search) == DIFFERS) return true;
            }
    return false;
}

/* ---- lists that have no default, and the class of the model ---- */

/* The settings of the claim with a value for every list of numbers that neither they nor a default gives: `which` 0
 * to 3 are lists of 1 to 4 items that are all 2, higher ones have the items 1, 2, 3 ... Also sets a class, where
 * the table has several. */
static struct shapeproof_config *lists_like(struct search *search, size_t which)
{
    struct shapeproof_config *config = sp_config_variant(search->trial->settings);
    const struct sp_symbolic *symbolic = &search->trial->count->symbolic;
    const size_t length = which % 4 + 1;
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        if (!symbol->is_list || symbol->is_text || symbol->is_computed || symbol->fallback || symbol->was_left_out)
            continue;
        if (strpbrk(symbol->key, "([ ") || sp_value_is_set(sp_value_at(sp_config_hyper(config)->root, symbol->key)))
            continue;
        struct shapeproof_value *items = sp_arena_array(search->trial->arena, length, sizeof *items);
        for (size_t k = 0; k < length; k++) items[k] = sp_value_int(which < 4 ? 2 : (int64_t)k + 1);
        sp_config_set_value(config, sp_arena_string(search->trial->arena, symbol->key),
                            (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = length, .items = items},
                            "claim");
    }
    const struct sp_unit *table = search->trial->count->table;
    const char *key = sp_unit_class_key(table);
    if (sp_unit_is_by_class(table) && !sp_value_is_set(sp_value_at(sp_config_hyper(config)->root, key)))
        sp_config_set_value(config, key, sp_value_string(table->architectures[which % table->architecture_count]),
                            "claim");
    return config;
}

/* Makes the lists the settings of the replays, in the place of those that were taken before. */
static void take_lists(struct search *search, struct shapeproof_config *lists)
{
    if (search->local.settings != search->trial->settings)
        shapeproof_config_free((struct shapeproof_config *)(uintptr_t)search->local.settings);
    search->local.settings = lists;
}

/* Values that are tried for all that have no default. */
static const int64_t usual_sizes[] = {2, 8, 1, 4, 64, 3};
enum { USUAL_SIZES = sizeof usual_sizes / sizeof *usual_sizes };

/* Finds a point from which the search can begin, with all as by default: lists for those that have no default, and one
 * number, search->usual, for all numbers without one, with which the table can be predicted. False when nothing was
 * found; the number is 2 then, and the lists are the last that were tried. search->met tells whether `when` was met. */
static bool find_usual(struct search *search)
{
    for (size_t which = 0; which < MAX_LISTS; which++) {
        struct shapeproof_config *lists = lists_like(search, which);
        const bool needs_no_lists = lists->setting_count == search->trial->settings->setting_count;
        take_lists(search, lists);
        for (size_t i = 0; i < USUAL_SIZES; i++) {
            struct sp_values values = {0};
            set_base(search, search->usual = usual_sizes[i]);
            const bool met = point_values(search, &values);
            const bool good = met && sp_trial_is_possible(&search->local, &values);
            search->met = search->met || met;
            sp_values_free(&values);
            if (good) return true;
        }
        if (needs_no_lists) break; /* the next ones would be the same */
    }
    search->usual = 2;
    return false;
}

/* ---- what is found ---- */

/* Makes a counter-example smaller: sets one number after the other to the smallest of the sizes at which the claim
 * still differs, and leaves it as it was when there is none. search->left and right stay the sides at the point. */
static void shrink(struct search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        const size_t atom = search->atoms[i];
        const struct sp_rational left = search->left, right = search->right, before = search->numbers.values[atom];
        const bool was_set = is_set(search, atom);
        struct sp_rational now;
        if (is_condition(search, atom) || (!was_set && !search->reached[atom])) continue;
        if (!sp_assignment_of_atom(&search->numbers, atom, &now)) continue;
        bool found = false;
        for (size_t k = 0; k < SIZES && sizes[k] < now.num && !found && search->replays > 0; k++) {
            set_atom(search, atom, sizes[k]);
            found = try_point(search) == DIFFERS;
        }
        if (found) continue;
        if (was_set) sp_assignment_set(&search->numbers, atom, before);
        else sp_assignment_unset(&search->numbers, atom);
        search->left = left;
        search->right = right;
    }
}

/* "depths = [2, 2], E = 3": lists of the point for which the table has no default go first. */
static const char *with_lists(struct search *search, const char *words)
{
    const struct shapeproof_config *settings = search->local.settings;
    for (size_t i = settings->setting_count; i-- > search->trial->settings->setting_count;) {
        struct sp_text text = {0};
        sp_value_json(&text, settings->settings[i].value);
        words = sp_arena_printf(search->trial->arena, "%s = %s%s%s", settings->settings[i].path, text.data,
                                *words ? ", " : "", words);
        sp_text_free(&text);
    }
    return words;
}

/* Whether a formula is made of hyper-parameters, of what the table gives a name, and of what is computed from
 * hyper-parameters alone, such as n // 2: what is computed from other computed things is hard to read. */
static bool is_readable(const struct search *search, const struct sp_poly *poly)
{
    const struct sp_count *count = search->trial->count;
    struct sp_symbolic *symbolic = &search->trial->count->symbolic;
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++) {
            const size_t atom = poly->terms[i].factors[k].atom;
            const struct sp_origin *origin = sp_atom_info(symbolic, atom)->origin;
            if (sp_symbol_of(count, atom)) continue;
            if (!origin || is_condition(search, atom)) return false;
            for (size_t a = 0; a < origin->count; a++)
                if (origin->args[a].kind != SP_SYM_NUMBER || !sp_is_transparent(count, origin->args[a].poly))
                    return false;
        }
    return true;
}

/* Says by how much the claim differs in the case of the point: the difference of the sides with the truth that each of
 * its conditions has there. Of V*E + 2*E*[H % A == 0] at H = A = 1 it is V*E + 2*E, shown for H % A == 0. It must have
 * the value that was found at the point; else no formula is given. */
static void describe_point(struct search *search)
{
    struct sp_trial *trial = search->trial;
    const struct sp_algebra *algebra = algebra_of(search);
    struct sp_values values = {0};
    struct sp_text cases = {0};
    struct sp_rational truth, value, found;
    for (size_t i = 0; i < trial->when.count; i++) sp_values_add(&values, trial->when.atoms[i], trial->when.values[i]);
    const size_t atoms = algebra->atom_count;
    for (size_t atom = 0; atom < atoms; atom++) {
        if (!algebra->atoms[atom].is_condition || is_given_atom(trial, atom) || !sp_poly_uses(trial->error, atom))
            continue;
        if (!sp_assignment_of_atom(&search->numbers, atom, &truth)) continue;
        sp_values_add(&values, atom, sp_poly_int(algebra_of(search), truth.num != 0));
        sp_text_printf(&cases, "%s%s", cases.length ? ", " : "shown for ",
                       sp_condition_by_key(&trial->count->symbolic, atom, truth.num != 0));
    }
    const struct sp_poly *error = sp_reduce(trial->count, trial->error, &values);
    const bool is_right =
        error && !algebra->failed && is_readable(search, error) && sp_assignment_of(&search->numbers, error, &value) &&
        sp_rational_sub(search->right, search->left, &found) && sp_rational_compare(value, found) == 0;
    const int sign = found.num > 0 ? 1 : -1; /* a formula that begins with a minus "differs by" the other one */
    const bool begins_well = is_right && (error->terms[0].coefficient.num > 0) == (sign > 0);
    if (is_right) trial->proof.difference = sp_trial_describe(trial, &values, error, begins_well ? sign : 0);
    if (is_right && cases.length) trial->proof.cases = sp_text_keep(&cases, trial->arena);
    else sp_text_free(&cases);
    sp_values_free(&values);
}

/* Refutes the claim at the point, which is shrunk before. Where the point need not be named, because nothing must be
 * given, the claim is about two plain numbers, and these are shown alone. */
static void refute_here(struct search *search)
{
    struct sp_trial *trial = search->trial;
    struct sp_values values = {0};
    const struct sp_poly *const sides[] = {trial->left, trial->right};
    search->replays = MAX_REPLAYS;
    shrink(search);
    point_values(search, &values);
    const char *words = with_lists(search, sp_trial_point_words(trial, &values, values.count, sides, 2));
    const char *numbers = sp_trial_sides_words(trial, search->left, search->right);
    sp_values_free(&values);
    trial->proof.verdict = SHAPEPROOF_REFUTED;
    trial->proof.difference = *words ? "differs where it was tried" : numbers;
    if (!*words) return;
    trial->proof.counterexample = sp_arena_printf(trial->arena, "%s: %s", words, numbers);
    describe_point(search);
}

/* Tries points in turn: equal numbers from 1 to 4, the defaults, random ones, those close to where something changes,
 * and more random ones until enough agree. Stops, with true, at the first where the claim differs. */
static bool find_difference(struct search *search)
{
    for (int64_t size = 1; size <= 4; size++) {
        set_equal(search, size);
        if (try_point(search) == DIFFERS) return true;
    }
    set_base(search, search->usual);
    if (try_point(search) == DIFFERS) return true;
    for (int i = 0; i < POINTS / 2; i++) {
        set_random(search);
        if (try_point(search) == DIFFERS) return true;
    }
    if (try_terms(search) || try_changes(search) || try_constants(search)) return true;
    for (int i = 0; i < 4 * POINTS && search->agreed < POINTS; i++) {
        set_random(search);
        if (try_point(search) == DIFFERS) return true;
    }
    return false;
}

/* Where the table cannot be predicted at all, because a text without a default is needed, its formulas refute the
 * claim. */
static void refute_formally(struct search *search)
{
    struct sp_trial *trial = search->trial;
    const struct sp_poly *const sides[] = {trial->left, trial->right};
    const char *words = sp_trial_point_words(trial, &search->formal, search->formal.count, sides, 2);
    const char *numbers = sp_trial_sides_words(trial, search->formal_left, search->formal_right);
    trial->proof.verdict = SHAPEPROOF_REFUTED;
    trial->proof.difference =
        sp_arena_printf(trial->arena, "differs by the formulas%s%s: %s; no point could be predicted",
                        *words ? " at " : "", words, numbers);
}

/* Prepares the search for a point: its unknowns are the plain numbers and flags that the claim leaves free;
 * `reached` marks the atoms on which one of the two sides depends. */
static void open_search(struct search *search, struct sp_trial *trial)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    *search = (struct search){.trial = trial,
                              .local = *trial,
                              .usual = 2,    /* the first that find_usual tries */
                              .seed = 20241, /* any: the same points in every run */
                              .replays = MAX_REPLAYS};
    sp_assignment_open(&search->numbers, trial->count);
    search->atoms = sp_realloc(NULL, symbolic->symbols.count, sizeof *search->atoms);
    search->locked = sp_realloc(NULL, symbolic->symbols.count, sizeof *search->locked);
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        if (!is_plain(symbolic, symbol) || is_given_atom(trial, symbol->atom)) continue;
        search->locked[search->count] = false;
        search->atoms[search->count++] = symbol->atom;
    }
    sp_values_add_defaults(trial->count, &search->defaults, SP_DEFAULTS_OF_ALL);
    sp_values_add_fractions(trial->count, &search->defaults);
    sp_assignment_stand_for(&search->numbers, &trial->when); /* first, so that it wins over the defaults */
    sp_assignment_stand_for(&search->numbers, &search->defaults);
    search->reached = sp_realloc(NULL, search->numbers.size, 1);
    memset(search->reached, 0, search->numbers.size);
    sp_poly_reach(symbolic, trial->left, search->reached);
    sp_poly_reach(symbolic, trial->right, search->reached);
}

static void close_search(struct search *search)
{
    take_lists(search, NULL);
    sp_assignment_free(&search->numbers);
    sp_values_free(&search->defaults);
    sp_values_free(&search->formal);
    sp_free(search->atoms);
    sp_free(search->locked);
    sp_free(search->reached);
}

/* Whether `when` gives an integer a fraction, or a value below those that are possible: n = -3. */
static bool gives_impossible(struct search *search)
{
    const struct sp_trial *trial = search->trial;
    for (size_t i = 0; i < trial->when.count; i++) {
        const size_t atom = trial->when.atoms[i];
        const struct sp_symbol_info *symbol = sp_symbol_of(trial->count, atom);
        struct sp_rational value;
        if (!symbol || symbol->is_computed || !sp_atom_info(&trial->count->symbolic, atom)->is_whole) continue;
        if (!sp_poly_is_constant(trial->when.values[i], &value)) continue;
        if (value.den != 1 || value.num < least_of(search, atom)) return true;
    }
    return false;
}

/* Whether the table can be predicted for the values of an example, and some for all else. An example may also give a
 * value to what the table computes from texts: at no point of numbers is it so, and nothing is known then. */
static bool is_predictable(struct sp_trial *trial)
{
    struct search search;
    open_search(&search, trial);
    const bool good = !gives_impossible(&search) && (find_usual(&search) || !search.met);
    close_search(&search);
    return good;
}

/* "judged at the defaults V = 50257, N = 12", of what the sides depend on and `when` does not give; NULL for nothing.
 */
static const char *defaults_taken(struct sp_trial *trial)
{
    struct search search;
    struct sp_text text = {0};
    struct sp_rational value;
    if (trial->claim->is_example) return NULL; /* it says so itself */
    open_search(&search, trial);
    for (size_t i = 0; i < search.count; i++) {
        const size_t atom = search.atoms[i];
        const struct sp_symbol_info *symbol = sp_symbol_of(trial->count, atom);
        if (!search.reached[atom] || is_condition(&search, atom) || is_side(&search, atom)) continue;
        if (!sp_assignment_of_atom(&search.numbers, atom, &value)) continue;
        sp_text_printf(&text, "%s%s = %s", text.length ? ", " : "judged at the defaults ", symbol->name,
                       sp_rational_text(trial->arena, value));
    }
    close_search(&search);
    return text.length ? sp_text_keep(&text, trial->arena) : NULL;
}

/* Removes the values of keys for which the table has different defaults. Returns the names of those that the claim
 * depends on, "k"; NULL when there are none. */
static const char *unset_ambiguous(struct search *search, struct sp_values *values)
{
    struct sp_text names = {0};
    size_t kept = 0;
    for (size_t i = 0; i < values->count; i++) {
        const struct sp_symbol_info *symbol = sp_symbol_of(search->trial->count, values->atoms[i]);
        if (symbol && symbol->is_ambiguous && search->reached[symbol->atom]) {
            sp_text_printf(&names, "%s%s", names.length ? ", " : "", symbol->key);
            continue;
        }
        values->atoms[kept] = values->atoms[i];
        values->values[kept++] = values->values[i];
    }
    values->count = kept;
    return names.length ? sp_text_keep(&names, search->trial->arena) : NULL;
}

/* Notes of a proved claim that it does not hold where a key with two defaults is not set, "A = k default 3" and "B = k
 * default 5": the formulas have one symbol for both, and are right for every value that is set. */
static void note_where_unset(struct search *search, struct sp_values *values)
{
    struct sp_trial *trial = search->trial;
    const char *names = unset_ambiguous(search, values);
    if (!names || !sp_trial_sides_at(&search->local, values, &search->left, &search->right)) return;
    if (!sp_trial_is_possible(&search->local, values) || sp_rational_compare(search->left, search->right) == 0) return;
    trial->proof.cases =
        sp_arena_printf(trial->arena, "where %s is set; where it is not, the table has different defaults for it: %s",
                        names, sp_trial_sides_words(trial, search->left, search->right));
}

/* Whether all that the claim depends on has a default. */
static bool has_defaults(const struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->reached[search->atoms[i]] && !sp_symbol_of(search->trial->count, search->atoms[i])->fallback)
            return false;
    return true;
}

/* Whether the point, whose values are added to `values`, is no reason to refute a claim for a division by zero: both
 * sides have a value, or the claim is not about the point, or the table cannot be predicted there, or it is something
 * else for which a side has no value. */
static bool has_value(struct search *search, struct sp_values *values)
{
    return !point_values(search, values) || sp_trial_sides_at(&search->local, values, &search->left, &search->right) ||
           !sp_trial_is_possible(&search->local, values) || !sp_trial_gap_at(&search->local, values);
}

/* Refutes a claim that is proved for all hyper-parameters, and yet divides by zero where all has its default. Where the
 * claim depends on numbers without a default, it must divide by zero for each of a few values of these. Of a claim with
 * a value it is noted where it does not hold for a key that is not set (note_where_unset). */
void sp_trial_check_at_defaults(struct sp_trial *trial)
{
    struct search search;
    struct sp_values values = {0};
    open_search(&search, trial);
    find_usual(&search);
    bool good = has_value(&search, &values);
    for (size_t k = 0; !good && k < USUAL_SIZES && !has_defaults(&search); k++) {
        values.count = 0;
        set_base(&search, usual_sizes[k]);
        good = has_value(&search, &values);
    }
    if (!good) {
        trial->proof.verdict = SHAPEPROOF_REFUTED;
        trial->proof.cases = NULL;
        const char *why = sp_trial_gap_at(&search.local, &values);
        trial->proof.difference =
            sp_arena_printf(trial->arena, "has no value by default: %s", why ? why : "it divides by zero");
    } else note_where_unset(&search, &values);
    sp_values_free(&values);
    close_search(&search);
}

/* ---- poles ---- */

/* Whether the claim has no value at the point, because it divides by zero there, although `when` is met and the table
 * can be predicted. Adds the values of the point to `values`. */
static bool is_pole(struct search *search, struct sp_values *values)
{
    values->count = 0;
    return search->replays-- > 0 && !has_value(search, values);
}

/* Sets the start `which` for the search for a pole: all numbers 1, as by default, 2, or random. */
static void set_pole_start(struct search *search, int which)
{
    if (which == 0) set_equal(search, 1);
    else set_start(search, which - 1);
}

/* Whether the claim may have no value at the point because of the gap: also if that depends on the index of a sum. */
static bool may_be_in_gap(struct search *search, const struct sp_gap *gap)
{
    struct sp_rational value;
    if (!sp_assignment_of(&search->numbers, gap->poly, &value)) return !gap->function || gap->is_in_sum;
    const struct sp_rational most = sp_rational_int(gap->most);
    return gap->function ? sp_rational_compare(value, most) <= 0 : value.num == 0;
}

/* Finds a point at which the divisor is 0, or the argument too small, and the claim has no value: by inverting how the
 * divisor is computed, and by setting each unknown to small numbers and to those of the claim, at which N^2 - 4 may be
 * 0. */
static bool find_pole_of(struct search *search, const struct sp_gap *gap, const int64_t *tried, size_t count,
                         struct sp_values *values)
{
    const struct sp_poly *divisor = gap->poly;
    for (int start = 0; start <= STARTS; start++) {
        set_pole_start(search, start);
        if (may_be_in_gap(search, gap) && is_pole(search, values)) return true;
        if (reach_value(search, divisor, sp_rational_int(gap->most), 0) && is_pole(search, values)) return true;
    }
    for (size_t i = 0; i < search->count; i++) {
        const size_t atom = search->atoms[i];
        if (!sp_poly_uses(divisor, atom) || is_condition(search, atom)) continue;
        for (size_t k = 0; k < count; k++)
            for (int start = 0; start < 2 && tried[k] >= least_of(search, atom); start++) {
                set_pole_start(search, start);
                set_atom(search, atom, tried[k]);
                if (may_be_in_gap(search, gap) && is_pole(search, values)) return true;
            }
    }
    return false;
}

/* Refutes the claim at the pole that is found. */
static void refute_at_pole(struct search *search, const struct sp_gap *gap, struct sp_values *values)
{
    const struct sp_poly *divisor = gap->poly;
    struct sp_trial *trial = search->trial;
    const struct sp_poly *const polys[] = {divisor, trial->left, trial->right}; /* the ends of a sum are in the sides */
    const size_t count = gap->is_in_sum ? 3 : 1;
    const char *words = with_lists(search, sp_trial_point_words(trial, values, values->count, polys, count));
    trial->proof.verdict = SHAPEPROOF_REFUTED;
    trial->proof.cases = NULL;
    const char *text = sp_sym_text(&trial->count->symbolic, gap->shown);
    trial->proof.difference =
        gap->function ? sp_arena_printf(trial->arena, "has no value where the argument %s of %s is %s", text,
                                        gap->function, gap->most < 0 ? "negative" : "0 or negative")
                      : sp_arena_printf(trial->arena, "has no value where it divides by zero: %s = 0", text);
    trial->proof.counterexample = *words ? words : NULL;
}

void sp_trial_check_poles(struct sp_trial *trial)
{
    enum { SMALL = 8 }; /* numbers from 0 that are tried beside those of the claim */
    struct search search;
    struct sp_values values = {0};
    int64_t tried[SMALL + MAX_CONSTANTS];
    size_t constants = 0;
    bool stands = trial->proof.verdict == SHAPEPROOF_PROVED || trial->proof.verdict == SHAPEPROOF_TESTED;
    if (!stands || !trial->divisors->count || trial->count->symbolic.algebra.failed) return;
    for (int64_t i = 0; i < SMALL; i++) tried[i] = i;
    find_constants(trial->claim->left, tried + SMALL, &constants);
    find_constants(trial->claim->right, tried + SMALL, &constants);
    open_search(&search, trial);
    search.sizes_only = true;
    search.replays = FEW_REPLAYS;
    find_usual(&search);
    for (size_t i = 0; i < trial->divisors->count && stands; i++) {
        const struct sp_gap *gap = &trial->divisors->items[i];
        stands = !find_pole_of(&search, gap, tried, SMALL + constants, &values);
        if (!stands) refute_at_pole(&search, gap, &values);
    }
    sp_values_free(&values);
    close_search(&search);
}

void sp_trial_try_points(struct sp_trial *trial)
{
    struct search search;
    if (trial->count->symbolic.algebra.failed) return;
    open_search(&search, trial);
    if (!find_usual(&search)) search.replays = FEW_REPLAYS; /* most of them will fail */
    if (find_difference(&search)) refute_here(&search);
    else if (!search.agreed && search.formal.count) refute_formally(&search);
    else {
        trial->proof.verdict = SHAPEPROOF_TESTED;
        trial->proof.points = search.agreed;
        trial->proof.untried = search.untried;
        if (!search.agreed) sp_trial_undecided(trial, "is no polynomial identity, and no point could be tried");
    }
    close_search(&search);
}
