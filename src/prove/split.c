/* SPDX-License-Identifier: MIT
 * Proof by cases of a claim whose sides are not the same polynomial as they stand. min and max of two, X % k, ceil_div
 * and round_up are rewritten first (see rewritten_atom). Then, for as long as something is left that is no polynomial,
 * one thing is split:
 *
 *     (X + 1) // 2           X = 2*q + 0 and X = 2*q + 1, for a new q from 0 up: the floors are q and q + 1
 *     min(F, L)              L = F + s, where it is F, and F = L + 1 + s, where it is L
 *     [F < L]                L = F + 1 + s, where it is true, and F = L + s, where it is not
 *     [V == 2*H]             V = 2*H, where it is true
 *
 * What `when` says of sizes, F <= L, is put in the same way first. The claim is proved when 0 is left in every case. A
 * case that cannot occur may be among them: that makes a proof harder, not wrong. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lang/functions.h"
#include "prove/symbolic/atoms.h"
#include "prove/symbolic/operate.h"
#include "prove/trial.h"
#include "prove/words.h"

enum {
    MAX_CASES = 4000,     /* that are looked at for one claim */
    MAX_NESTING = 24,     /* cases within one another */
    MAX_REMAINDERS = 128, /* of one division */
    MAX_ROUNDS = 8        /* of rewriting atoms that are within rewritten ones */
};

struct splitter {
    struct sp_trial *trial;
    struct sp_count *count;
    struct sp_symbolic *symbolic;
    struct sp_algebra *algebra;
    struct sp_values values;  /* of the case: a stack */
    size_t cases, closed;     /* looked at; and those in which 0 is left */
    struct sp_text path;      /* the assumptions of the case, "V = 2*q1 + 1, E < H": for the explanation */
    SP_ARRAY(size_t) numbers; /* the atoms of new numbers: a stack. The first is called q1 */
};

/* Proves that the polynomial is 0 under the values of the case, by splitting it further. `depth`: how many cases it is
 * within. False when that is no proof. */
static bool is_zero_in_all(struct splitter *splitter, const struct sp_poly *poly, unsigned depth);

/* ---- what an atom is ---- */

/* What is computed; NULL for a hyper-parameter and for a number that was made here. */
static const struct sp_origin *origin_of(struct splitter *splitter, size_t atom)
{
    const struct sp_symbol_info *symbol = sp_symbol_of(splitter->count, atom);
    return symbol && !symbol->is_computed ? NULL : sp_atom_info(splitter->symbolic, atom)->origin;
}

/* Whether it is `a op b` of two numbers. */
static bool is_binary(const struct sp_origin *origin, enum sp_op op)
{
    return origin->operation.kind == SP_DO_BINARY && origin->operation.op == op &&
           origin->args[0].kind == SP_SYM_NUMBER && origin->args[1].kind == SP_SYM_NUMBER;
}

/* Whether it is the function of two or more numbers. */
static bool is_function(const struct sp_origin *origin, const char *name)
{
    if (origin->operation.kind != SP_DO_CALL || strcmp(origin->operation.function->name, name) != 0) return false;
    for (size_t i = 0; i < origin->count; i++)
        if (origin->args[i].kind != SP_SYM_NUMBER) return false;
    return origin->count >= 2;
}

/* Whether it is computed from numbers alone that are not computed. */
static bool is_pure(struct splitter *splitter, const struct sp_origin *origin)
{
    for (size_t i = 0; i < origin->count; i++) {
        if (origin->args[i].kind != SP_SYM_NUMBER) return false;
        const struct sp_poly *poly = origin->args[i].poly;
        for (size_t t = 0; t < poly->count; t++)
            for (size_t k = 0; k < poly->terms[t].count; k++)
                if (origin_of(splitter, poly->terms[t].factors[k].atom)) return false;
    }
    return true;
}

/* The polynomial with the values of the case put in. NULL when it has no value. */
static const struct sp_poly *reduced(struct splitter *splitter, const struct sp_poly *poly)
{
    return sp_reduce(splitter->count, poly, &splitter->values);
}

/* Whether the polynomial is seen to be `least` or more for all sizes. */
static bool is_at_least(struct splitter *splitter, const struct sp_poly *poly, int64_t least)
{
    struct sp_sym_premises *premises = &splitter->symbolic->premises;
    premises->sizes = premises->counts = true;
    const bool is_so = sp_poly_never_negative(
        splitter->symbolic, sp_poly_sub(splitter->algebra, poly, sp_poly_int(splitter->algebra, least)));
    premises->sizes = premises->counts = false;
    return is_so;
}

/* Below which value an atom never falls. */
static int64_t least_of(struct splitter *splitter, size_t atom)
{
    const struct sp_atom_info *info = sp_atom_info(splitter->symbolic, atom);
    return info->is_given && !info->is_size && info->least > 0 ? 0 : info->least;
}

/* The names of new numbers have the atom behind it. No symbol of a table has a quote in its name. */
#define NUMBER_PREFIX "case'"

/* A new whole number from `least` up. */
static const struct sp_poly *new_number(struct splitter *splitter, int64_t least)
{
    struct sp_algebra *algebra = splitter->algebra;
    const size_t atom =
        sp_atom_symbol(algebra, sp_arena_printf(&algebra->arena, NUMBER_PREFIX "%zu", algebra->atom_count));
    *sp_atom_info(splitter->symbolic, atom) =
        (struct sp_atom_info){.is_whole = true, .is_bounded = true, .is_size = true, .least = least};
    *SP_PUSH(&splitter->numbers) = atom;
    return sp_poly_atom(algebra, atom);
}

/* ---- the explanation ---- */

/* A polynomial for a reader: the new numbers are q1, q2, ... in the order in which the case made them. */
static const char *text_of(const struct splitter *splitter, const struct sp_poly *poly)
{
    struct sp_text text = {0};
    const char *rest = sp_sym_text(splitter->symbolic, poly);
    for (const char *number; (number = strstr(rest, NUMBER_PREFIX)) != NULL;) {
        char *end;
        const size_t atom = (size_t)strtoumax(number + sizeof NUMBER_PREFIX - 1, &end, 10);
        size_t i = 0;
        while (i < splitter->numbers.count && splitter->numbers.items[i] != atom) i++;
        sp_text_append(&text, rest, (size_t)(number - rest));
        sp_text_printf(&text, "q%zu", i + 1);
        rest = end;
    }
    sp_text_puts(&text, rest);
    return sp_text_keep(&text, splitter->trial->arena);
}

/* Appends an assumption to the path of the case, for an explanation that is asked for. */
static void note_assumption(struct splitter *splitter, const char *assumption)
{
    sp_text_printf(&splitter->path, "%s%s", splitter->path.length ? ", " : "", assumption);
}

static void note_condition(struct splitter *splitter, size_t condition, bool holds)
{
    if (splitter->trial->explanation)
        note_assumption(splitter, sp_condition_words(splitter->symbolic, condition, holds));
}

/* Puts in the value that an atom has in the case, and notes it: "V = 2*q1 + 1". */
static void assume_value(struct splitter *splitter, size_t atom, const struct sp_poly *value)
{
    sp_values_add(&splitter->values, atom, value);
    if (!splitter->trial->explanation) return;
    const char *name = text_of(splitter, sp_poly_atom(splitter->algebra, atom));
    note_assumption(splitter, sp_arena_printf(splitter->trial->arena, "%s = %s", name, text_of(splitter, value)));
}

/* A case in which nothing is left of the difference. */
static void note_closed(struct splitter *splitter)
{
    splitter->closed++;
    if (!splitter->trial->explanation) return;
    const char *path =
        splitter->path.length ? splitter->path.data : "with floors and comparisons in place of min, max and roundings";
    sp_explanation_add(splitter->trial->explanation,
                       sp_arena_printf(splitter->trial->arena, "%s: the difference is 0", path));
}

/* ---- remainders and the like, with floors ---- */

/* above // below, computed or as an atom; NULL when it has no value. */
static const struct sp_poly *floor_of(struct splitter *splitter, const struct sp_poly *above,
                                      const struct sp_poly *below)
{
    const struct sp_operation floor = {.kind = SP_DO_BINARY, .op = SP_OP_FLOOR};
    const struct sp_sym args[] = {sp_sym_of_poly(above), sp_sym_of_poly(below)};
    struct sp_sym result;
    return sp_sym_operate(splitter->symbolic, &floor, args, 2, &result) && result.kind == SP_SYM_NUMBER ? result.poly
                                                                                                        : NULL;
}

/* The part of a floor that divides without a remainder: of (2*k*X + 5) // 2, which is k*X + 2 + 1 // 2, it is k*X + 2.
 * 0 when there is none. */
static const struct sp_poly *exact_part(struct splitter *splitter, const struct sp_poly *above,
                                        const struct sp_poly *below)
{
    struct sp_algebra *algebra = splitter->algebra;
    const struct sp_poly *part = sp_poly_int(algebra, 0);
    struct sp_rational by;
    for (size_t i = 0; i < above->count; i++) {
        const struct sp_poly term = {&above->terms[i], 1};
        const struct sp_poly *quotient = sp_poly_divide(algebra, &term, below);
        if (quotient && sp_poly_is_whole(splitter->symbolic, quotient)) part = sp_poly_add(algebra, part, quotient);
        else if (above->terms[i].count == 0 && sp_poly_is_constant(below, &by) && by.den == 1 && by.num > 0 &&
                 above->terms[i].coefficient.den == 1) {
            const int64_t number = above->terms[i].coefficient.num;
            part = sp_poly_add(algebra, part, sp_poly_int(algebra, number / by.num - (number % by.num < 0 ? 1 : 0)));
        }
    }
    return part;
}

/* The atom written with comparisons and floors; NULL if it is none of these, or already the simplest floor:
 *
 *     min(a, b)          a + [b < a]*(b - a)
 *     max(a, b)          b - [b < a]*(b - a)
 *     ceil_div(x, k)     (x + k - 1) // k
 *     round_up(x, k)     (x + k - 1) // k * k
 *     x % k              x - x // k * k
 *     (q*k + r) // k     q + r // k
 */
static const struct sp_poly *rewritten_atom(struct splitter *splitter, size_t atom)
{
    struct sp_algebra *algebra = splitter->algebra;
    const struct sp_origin *origin = origin_of(splitter, atom);
    if (!origin) return NULL;
    const bool is_min = is_function(origin, "min"), is_max = is_function(origin, "max");
    if ((is_min || is_max) && origin->count == 2) {
        const struct sp_poly *a = origin->args[0].poly, *b = origin->args[1].poly;
        const struct sp_poly *less = sp_sym_less(splitter->symbolic, b, a), *gap = sp_poly_sub(algebra, b, a);
        return is_min ? sp_poly_add(algebra, a, sp_poly_mul(algebra, less, gap))
                      : sp_poly_sub(algebra, b, sp_poly_mul(algebra, less, gap));
    }
    const bool floor = is_binary(origin, SP_OP_FLOOR), remainder = is_binary(origin, SP_OP_MOD);
    const bool ceiling = is_function(origin, "ceil_div"), multiple = is_function(origin, "round_up");
    if (!floor && !remainder && !ceiling && !multiple) return NULL;
    const struct sp_poly *above = origin->args[0].poly, *below = origin->args[1].poly;
    if (!sp_poly_is_whole(splitter->symbolic, above) || !sp_poly_is_whole(splitter->symbolic, below)) return NULL;
    if ((ceiling || multiple) && !is_at_least(splitter, below, 1)) return NULL;
    if (ceiling || multiple) {
        const struct sp_poly *more = sp_poly_add(algebra, above, sp_poly_sub(algebra, below, sp_poly_int(algebra, 1)));
        const struct sp_poly *quotient = floor_of(splitter, more, below);
        return ceiling || !quotient ? quotient : sp_poly_mul(algebra, quotient, below);
    }
    if (remainder) {
        const struct sp_poly *quotient = floor_of(splitter, above, below);
        return quotient ? sp_poly_sub(algebra, above, sp_poly_mul(algebra, quotient, below)) : NULL;
    }
    const struct sp_poly *part = exact_part(splitter, above, below);
    if (sp_poly_is_zero(part)) return NULL;
    const struct sp_poly *rest =
        floor_of(splitter, sp_poly_sub(algebra, above, sp_poly_mul(algebra, part, below)), below);
    return rest ? sp_poly_add(algebra, part, rest) : NULL;
}

/* Which atoms the polynomial depends on; heap. */
static char *reached_by(struct splitter *splitter, const struct sp_poly *poly)
{
    char *seen = sp_realloc(NULL, splitter->algebra->atom_count, 1);
    memset(seen, 0, splitter->algebra->atom_count);
    sp_poly_reach(splitter->symbolic, poly, seen);
    return seen;
}

/* The polynomial with every atom rewritten that rewritten_atom has a form for, also those within others. The values are
 * those of the case from then on. NULL for no value. */
static const struct sp_poly *with_atoms_rewritten(struct splitter *splitter, const struct sp_poly *poly)
{
    bool found = true;
    for (int round = 0; poly && found && round < MAX_ROUNDS; round++) {
        const size_t atoms = splitter->algebra->atom_count;
        char *seen = reached_by(splitter, poly);
        found = false;
        for (size_t atom = 0; atom < atoms && !splitter->algebra->failed; atom++) {
            const struct sp_poly *value = seen[atom] ? rewritten_atom(splitter, atom) : NULL;
            if (value) sp_values_add(&splitter->values, atom, value);
            found = found || value;
        }
        sp_free(seen);
        if (found) poly = reduced(splitter, poly);
    }
    return poly;
}

/* ---- what a case says ---- */

/* Assumes that a polynomial is 0 or more. It is solved for an atom x that has the coefficient 1 in it: from L - F >= 0
 * follows L = F + s, for a new s from 0 up. The best x is one of which the bound, here F, is no less than x is by
 * itself: then nothing that was known of x is lost. Any other is sound, too, as more cases are looked at than can
 * occur. Where there is no such x, or it is known already, nothing is put in. False when the polynomial is always below
 * 0, so that the case cannot occur. */
static bool assume_at_least_0(struct splitter *splitter, const struct sp_poly *poly)
{
    struct sp_algebra *algebra = splitter->algebra;
    const size_t atoms = algebra->atom_count;
    size_t best = SIZE_MAX;
    const struct sp_poly *best_bound = NULL;
    poly = reduced(splitter, poly);
    if (!poly || !sp_poly_is_whole(splitter->symbolic, poly)) return true; /* nothing follows */
    if (is_at_least(splitter, sp_poly_scale(algebra, poly, sp_rational_int(-1)), 1)) return false;
    if (is_at_least(splitter, poly, 0)) return true;
    for (size_t atom = 0; atom < atoms; atom++) {
        struct sp_rational by;
        if (!sp_poly_uses(poly, atom) || origin_of(splitter, atom) || algebra->atoms[atom].is_condition) continue;
        if (sp_poly_degree(poly, atom) != 1 || sp_poly_low_degree(poly, atom) < 0) continue;
        if (!sp_poly_is_constant(sp_poly_coefficient(algebra, poly, atom, 1), &by) || by.num != 1 || by.den != 1)
            continue;
        const struct sp_poly *rest = sp_poly_coefficient(algebra, poly, atom, 0);
        if (sp_poly_involves(splitter->symbolic, rest, atom)) continue;
        const struct sp_poly *bound = sp_poly_scale(algebra, rest, sp_rational_int(-1));
        const bool keeps_least = is_at_least(splitter, bound, least_of(splitter, atom));
        if (best != SIZE_MAX && !keeps_least) continue;
        best = atom;
        best_bound = bound;
        if (keeps_least) break;
    }
    if (best == SIZE_MAX) return true;
    const struct sp_poly *value = sp_poly_add(algebra, best_bound, new_number(splitter, 0));
    assume_value(splitter, best, value);
    return true;
}

/* A remainder above - below*f, where f is the floor above // below. */
struct remainder {
    size_t floor;                   /* the atom of f */
    const struct sp_poly *below;    /* the divisor */
    const struct sp_poly *quotient; /* above/below, which f is where the remainder is 0 */
    bool is_negated;                /* the polynomial is below*f - above */
};

/* Whether the polynomial is a remainder, or the negative of one. */
static bool is_remainder(struct splitter *splitter, const struct sp_poly *gap, struct remainder *remainder)
{
    struct sp_algebra *algebra = splitter->algebra;
    const size_t atoms = algebra->atom_count;
    for (size_t atom = 0; atom < atoms; atom++) {
        const struct sp_origin *origin = sp_poly_uses(gap, atom) ? origin_of(splitter, atom) : NULL;
        if (!origin || !is_binary(origin, SP_OP_FLOOR)) continue;
        const struct sp_poly *above = origin->args[0].poly, *below = origin->args[1].poly;
        const struct sp_poly *rest =
            sp_poly_sub(algebra, above, sp_poly_mul(algebra, below, sp_poly_atom(algebra, atom)));
        const bool is_negated = sp_poly_equal(sp_poly_scale(algebra, gap, sp_rational_int(-1)), rest);
        if (!is_negated && !sp_poly_equal(gap, rest)) continue;
        *remainder = (struct remainder){atom, below, sp_poly_divide(algebra, above, below), is_negated};
        return remainder->quotient != NULL;
    }
    return false;
}

/* Whether the polynomial is never below 0: by what is known of its atoms, or as a remainder of a positive divisor. */
static bool is_never_negative(struct splitter *splitter, const struct sp_poly *gap)
{
    struct remainder remainder;
    return is_at_least(splitter, gap, 0) || (is_remainder(splitter, gap, &remainder) && !remainder.is_negated &&
                                             is_at_least(splitter, remainder.below, 1));
}

/* Assumes that a polynomial is 0: puts in the quotient for the floor of a remainder, or solves for a hyper-parameter.
 * Where neither can be done nothing is put in. False when the polynomial is never 0, so that the case cannot occur. */
static bool assume_zero(struct splitter *splitter, const struct sp_poly *gap)
{
    struct sp_algebra *algebra = splitter->algebra;
    const struct sp_poly *value;
    struct sp_rational number;
    struct remainder remainder;
    size_t atom;
    gap = reduced(splitter, gap);
    if (!gap) return true;
    if (sp_poly_is_constant(gap, &number)) return number.num == 0;
    if (is_at_least(splitter, gap, 1) || is_at_least(splitter, sp_poly_scale(algebra, gap, sp_rational_int(-1)), 1))
        return false;
    if (is_remainder(splitter, gap, &remainder)) sp_values_add(&splitter->values, remainder.floor, remainder.quotient);
    else if (sp_trial_solve(splitter->trial, gap, &atom, &value)) sp_values_add(&splitter->values, atom, value);
    return true;
}

/* Assumes the truth of a condition, and what follows from it for sizes. With the gap r - l of a comparison:
 *
 *     [x]         holds      nothing                     holds not    x = 0
 *     l == r      holds      gap = 0                     holds not    nothing
 *     l < r       holds      gap - 1 >= 0, not r < l     holds not    -gap >= 0; gap = 0 if it is never below 0
 *
 * False when the case cannot occur. */
static bool assume_condition(struct splitter *splitter, size_t atom, bool holds)
{
    struct sp_algebra *algebra = splitter->algebra;
    const struct sp_origin *origin = origin_of(splitter, atom);
    const struct sp_poly *gap, *one = sp_poly_int(algebra, 1);
    bool equality;
    sp_values_add(&splitter->values, atom, sp_poly_int(algebra, holds));
    if (origin && origin->operation.kind == SP_DO_TRUTH && origin->args[0].kind == SP_SYM_NUMBER)
        return holds || assume_zero(splitter, origin->args[0].poly);
    if (!sp_atom_comparison(splitter->symbolic, atom, &gap, &equality)) return true;
    if (equality) return !holds || assume_zero(splitter, gap);
    const size_t reverse = sp_atom_alone(sp_sym_less(splitter->symbolic, origin->args[1].poly, origin->args[0].poly));
    if (holds && reverse != SIZE_MAX) sp_values_add(&splitter->values, reverse, sp_poly_int(algebra, 0));
    if (holds) return assume_at_least_0(splitter, sp_poly_sub(algebra, gap, one)); /* of whole numbers */
    const struct sp_poly *now = reduced(splitter, gap);
    if (now && is_never_negative(splitter, now)) return assume_zero(splitter, now);
    return assume_at_least_0(splitter, sp_poly_scale(algebra, gap, sp_rational_int(-1)));
}

/* ---- splitting ---- */

/* Where a case begins: what it puts in is behind these. */
struct case_mark {
    size_t values, numbers, path;
};

static struct case_mark begin_case(const struct splitter *splitter)
{
    return (struct case_mark){splitter->values.count, splitter->numbers.count, splitter->path.length};
}

/* Ends a case: forgets what it put in. Returns `is_good`, the result of the case. */
static bool end_case(struct splitter *splitter, struct case_mark before, bool is_good)
{
    splitter->values.count = before.values;
    splitter->numbers.count = before.numbers;
    if (splitter->path.length > before.path) splitter->path.data[splitter->path.length = before.path] = '\0';
    return is_good;
}

/* Each function below proves a polynomial to be 0 by the cases of one atom. False when one case is left unproved. */

/* A condition is true or false. */
static bool split_condition(struct splitter *splitter, size_t atom, const struct sp_poly *poly, unsigned depth)
{
    for (int holds = 0; holds < 2; holds++) {
        const struct case_mark before = begin_case(splitter);
        note_condition(splitter, atom, holds == 1);
        const bool possible = assume_condition(splitter, atom, holds == 1);
        if (!end_case(splitter, before, !possible || is_zero_in_all(splitter, poly, depth + 1))) return false;
    }
    return true;
}

/* min or max is each of its arguments in one case, in which none of the others is smaller, or larger. Where several are
 * equal, the case is that of the first. */
static bool split_extreme(struct splitter *splitter, size_t atom, const struct sp_origin *origin,
                          const struct sp_poly *poly, unsigned depth)
{
    const bool largest = is_function(origin, "max");
    struct sp_algebra *algebra = splitter->algebra;
    for (size_t i = 0; i < origin->count; i++) {
        const struct case_mark before = begin_case(splitter);
        bool possible = true;
        assume_value(splitter, atom, origin->args[i].poly);
        for (size_t k = 0; k < origin->count && possible; k++) {
            const struct sp_poly *one = origin->args[i].poly, *other = origin->args[k].poly;
            const struct sp_poly *gap = largest ? sp_poly_sub(algebra, one, other) : sp_poly_sub(algebra, other, one);
            if (k < i) gap = sp_poly_sub(algebra, gap, sp_poly_int(algebra, 1)); /* they are not equal */
            if (k != i) possible = assume_at_least_0(splitter, gap);
        }
        if (!end_case(splitter, before, !possible || is_zero_in_all(splitter, poly, depth + 1))) return false;
    }
    return true;
}

/* Whether a floor can be split by remainders: its divisor is a number from 2 to MAX_REMAINDERS, and in what is divided
 * there is a number with a least value, the *unknown to split. */
static bool remainders_of(struct splitter *splitter, const struct sp_origin *origin, int64_t *divisor, size_t *unknown)
{
    struct sp_rational by;
    const struct sp_poly *above = origin->args[0].poly;
    if (!is_binary(origin, SP_OP_FLOOR) || !sp_poly_is_constant(origin->args[1].poly, &by) || by.den != 1) return false;
    if (by.num < 2 || by.num > MAX_REMAINDERS || !sp_poly_is_whole(splitter->symbolic, above)) return false;
    *divisor = by.num;
    for (size_t i = 0; i < above->count; i++)
        for (size_t k = 0; k < above->terms[i].count; k++) {
            *unknown = above->terms[i].factors[k].atom;
            if (sp_atom_info(splitter->symbolic, *unknown)->is_bounded &&
                !splitter->algebra->atoms[*unknown].is_condition)
                return true;
        }
    return false;
}

/* An unknown x is divisor*q + rest, for a new q and each rest. Where x is from `least` up, q is from (least -
 * rest)/divisor up, rounded up; for a negative `least` a smaller bound does. */
static bool split_remainders(struct splitter *splitter, int64_t divisor, size_t unknown, const struct sp_poly *poly,
                             unsigned depth)
{
    struct sp_algebra *algebra = splitter->algebra;
    const int64_t least = least_of(splitter, unknown);
    for (int64_t rest = 0; rest < divisor; rest++) {
        const struct case_mark before = begin_case(splitter);
        const int64_t from = least - rest > 0 ? (least - rest + divisor - 1) / divisor : least < 0 ? least : 0;
        const struct sp_poly *many = sp_poly_scale(algebra, new_number(splitter, from), sp_rational_int(divisor));
        const struct sp_poly *value = sp_poly_add(algebra, many, sp_poly_int(algebra, rest));
        assume_value(splitter, unknown, value);
        if (!end_case(splitter, before, is_zero_in_all(splitter, poly, depth + 1))) return false;
    }
    return true;
}

/* How good it is to split the atom; 0 for what cannot be split. A flag (6) is best, then what is computed from nothing
 * computed: a comparison (5), min or max (4), a floor (3). A comparison of computed things (1) comes last, since
 * splitting these may decide it. */
static int merit_of(struct splitter *splitter, size_t atom)
{
    const struct sp_origin *origin = origin_of(splitter, atom);
    const bool is_condition = splitter->algebra->atoms[atom].is_condition;
    int64_t divisor;
    size_t unknown;
    if (sp_atom_info(splitter->symbolic, atom)->depends) return 0;
    if (!origin) return is_condition ? 6 : 0;
    const bool pure = is_pure(splitter, origin);
    if (is_condition) return pure ? 5 : 1;
    if (pure && (is_function(origin, "min") || is_function(origin, "max"))) return 4;
    return pure && remainders_of(splitter, origin, &divisor, &unknown) ? 3 : 0;
}

/* Splits the atom on which the polynomial depends and whose cases help most (merit_of), and proves the polynomial to be
 * 0 in each. False when no atom can be split, or a case is left unproved. */
static bool split_best(struct splitter *splitter, const struct sp_poly *poly, unsigned depth)
{
    const size_t atoms = splitter->algebra->atom_count;
    char *seen = reached_by(splitter, poly);
    size_t best = SIZE_MAX, unknown;
    int best_merit = 0;
    int64_t divisor;
    for (size_t atom = 0; atom < atoms; atom++) {
        const int merit = seen[atom] ? merit_of(splitter, atom) : 0;
        if (merit > best_merit) best_merit = merit, best = atom;
    }
    sp_free(seen);
    if (best == SIZE_MAX) return false;
    const struct sp_origin *origin = origin_of(splitter, best);
    if (splitter->algebra->atoms[best].is_condition) return split_condition(splitter, best, poly, depth);
    if (is_function(origin, "min") || is_function(origin, "max"))
        return split_extreme(splitter, best, origin, poly, depth);
    return remainders_of(splitter, origin, &divisor, &unknown) &&
           split_remainders(splitter, divisor, unknown, poly, depth);
}

static bool is_zero_in_all(struct splitter *splitter, const struct sp_poly *poly, unsigned depth)
{
    struct sp_rational number;
    if (++splitter->cases > MAX_CASES || depth > MAX_NESTING) return false;
    const struct case_mark before = begin_case(splitter);
    poly = with_atoms_rewritten(splitter, reduced(splitter, poly));
    if (!poly || splitter->algebra->failed) return end_case(splitter, before, false);
    if (sp_poly_is_zero(poly)) {
        note_closed(splitter);
        return end_case(splitter, before, true);
    }
    if (sp_poly_is_constant(poly, &number)) return end_case(splitter, before, false);
    return end_case(splitter, before, split_best(splitter, poly, depth));
}

/* Begins with the values of `when` and what its conditions say of sizes, and splits the difference of the sides. The
 * work that this takes does not count for what is tried after it, nor does a failure of the algebra. */
bool sp_trial_prove_by_splitting(struct sp_trial *trial)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    struct splitter splitter = {.trial = trial, .count = trial->count, .symbolic = symbolic, .algebra = algebra};
    const size_t work = algebra->work;
    bool possible = true;
    if (algebra->failed) return false;
    for (size_t i = 0; i < trial->when.count; i++)
        sp_values_add(&splitter.values, trial->when.atoms[i], trial->when.values[i]);
    for (size_t i = 0; i < trial->when.count && possible; i++) {
        struct sp_rational truth;
        const size_t atom = trial->when.atoms[i];
        if (!algebra->atoms[atom].is_condition || sp_symbol_of(trial->count, atom)) continue;
        if (sp_poly_is_constant(trial->when.values[i], &truth))
            possible = assume_condition(&splitter, atom, truth.num != 0);
    }
    if (trial->explanation)
        sp_explanation_add(trial->explanation, sp_arena_printf(trial->arena, "difference of the sides: %s",
                                                               sp_sym_text(symbolic, trial->error)));
    const bool proved = possible && is_zero_in_all(&splitter, trial->error, 0);
    if (!proved || algebra->failed) sp_explanation_clear(trial->explanation);
    sp_values_free(&splitter.values);
    sp_free(splitter.numbers.items);
    sp_text_free(&splitter.path);
    const bool took_too_much = algebra->failed != NULL;
    algebra->failed = NULL;
    algebra->work = work;
    if (!proved || took_too_much) return false;
    trial->proof.verdict = SHAPEPROOF_PROVED;
    if (splitter.closed > 1) trial->proof.cases = sp_arena_printf(trial->arena, "in all %zu cases", splitter.closed);
    return true;
}
