/* SPDX-License-Identifier: MIT
 * The body of a loop is a sum of terms. Powers of the index have Faulhaber's closed form. A condition [i < F] makes the
 * loop end earlier, [i == c] leaves one iteration, and [(i + s) % k == 0] holds every k iterations. What depends on the
 * index in any other way stays a sum that is only written down, until both of its ends have values. */
#include "prove/symbolic/sums.h"

#include <string.h>

#include "prove/symbolic/atoms.h"
#include "prove/symbolic/operate.h"
#include "prove/symbolic/reduce.h"

enum {
    MAX_ITERATIONS = 4096, /* of a loop between known ends that is unrolled */
    MAX_BOUNDS = 16        /* conditions [index < bound] of one term */
};

struct loop {
    struct sp_symbolic *symbolic;
    struct sp_span span; /* for messages */
    size_t index;        /* its atom */
    const struct sp_poly *first, *last;
    const struct sp_poly *length; /* last - first + 1: the number of iterations, where it goes forward */
};

/* One term of the body, as a product: outside * powers * [index < bound]... * [index == point] * tangle. Of
 * E*i^2*[i < F]*w[i] the pieces are E, i^2, F, none, and w[i]. */
struct pieces {
    const struct sp_poly *outside;            /* the factors that do not depend on the index */
    const struct sp_poly *powers;             /* the power of the index, or 1 */
    const struct sp_poly *bounds[MAX_BOUNDS]; /* of the factors [index < bound] */
    size_t bound_count;
    const struct sp_poly *point;  /* of the factor [index == point]; NULL: there is none */
    const struct sp_poly *tangle; /* the product of all other factors that depend on the index, or 1 */
    const struct sp_poly *inside; /* the product of all factors that depend on the index, those above among them */
};

/* The bit of the index in sp_atom_info.depends. */
static uint64_t bit_of(const struct loop *loop) { return sp_atom_info(loop->symbolic, loop->index)->depends; }

/* Whether an atom depends on the index, and is not the index itself. */
static bool is_tangled(const struct loop *loop, size_t atom)
{
    return atom != loop->index && (sp_atom_info(loop->symbolic, atom)->depends & bit_of(loop));
}

/* sp_poly_is_linear of the index. */
static bool is_linear(const struct loop *loop, const struct sp_poly *gap, int *sign, const struct sp_poly **rest)
{
    return sp_poly_is_linear(loop->symbolic, gap, loop->index, sign, rest);
}

/* Whether an atom is the comparison left < right (SP_OP_LT) or left == right (SP_OP_EQ): *gap is right - left then. */
static bool comparison_gap(const struct loop *loop, size_t atom, enum sp_op op, const struct sp_poly **gap)
{
    bool equality;
    return sp_atom_comparison(loop->symbolic, atom, gap, &equality) && equality == (op == SP_OP_EQ);
}

/* The body with 1 - [index < c + 1] in the place of [c < index], for whole c: then all bounds are from above. */
static const struct sp_poly *inverted_body(const struct loop *loop, const struct sp_poly *body)
{
    struct sp_symbolic *symbolic = loop->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    const size_t atoms = algebra->atom_count;
    for (size_t atom = 0; atom < atoms; atom++) {
        const struct sp_poly *gap, *rest;
        int sign;
        if (!is_tangled(loop, atom) || !sp_poly_uses(body, atom)) continue;
        if (!comparison_gap(loop, atom, SP_OP_LT, &gap) || !is_linear(loop, gap, &sign, &rest) || sign < 0) continue;
        if (!sp_poly_is_whole(symbolic, rest)) continue;
        const struct sp_poly *bound = sp_poly_sub(algebra, sp_poly_int(algebra, 1), rest);
        const struct sp_poly *below = sp_sym_less(symbolic, sp_poly_atom(algebra, loop->index), bound);
        body = sp_poly_substitute(algebra, body, atom, sp_sym_not(symbolic, below));
    }
    return body;
}

/* ---- one term ---- */

static void multiply_sums(const struct loop *loop, const struct sp_poly **product, const struct sp_poly *by)
{
    *product = sp_poly_mul(&loop->symbolic->algebra, *product, by);
}

/* Adds one factor of a term to the piece that it belongs to. To the tangle goes what depends on the index in any other
 * way: min(i, L), w[i], a second equality, or i < b for a b that may be a fraction. The gap of i == p is sign*i + rest,
 * so that p is -sign*rest; the gap of i < b is -i + b. */
static void take_factor(const struct loop *loop, struct sp_factor factor, struct pieces *pieces)
{
    struct sp_algebra *algebra = &loop->symbolic->algebra;
    const struct sp_poly *atom = sp_poly_atom(algebra, factor.atom), *gap, *rest;
    const struct sp_poly *power =
        algebra->atoms[factor.atom].is_condition ? atom : sp_poly_power(algebra, atom, factor.exponent);
    int sign;
    if (factor.atom != loop->index && !is_tangled(loop, factor.atom)) {
        multiply_sums(loop, &pieces->outside, power);
        return;
    }
    multiply_sums(loop, &pieces->inside, power);
    if (factor.atom == loop->index) pieces->powers = power;
    else if (!pieces->point && comparison_gap(loop, factor.atom, SP_OP_EQ, &gap) &&
             is_linear(loop, gap, &sign, &rest) && sp_poly_is_whole(loop->symbolic, rest))
        pieces->point = sp_poly_scale(algebra, rest, sp_rational_int(-sign));
    else if (pieces->bound_count < MAX_BOUNDS && comparison_gap(loop, factor.atom, SP_OP_LT, &gap) &&
             is_linear(loop, gap, &sign, &rest) && sign < 0 && sp_poly_is_whole(loop->symbolic, rest))
        pieces->bounds[pieces->bound_count++] = rest;
    else multiply_sums(loop, &pieces->tangle, power);
}

/* Takes one term of the body apart. */
static struct pieces take_apart(const struct loop *loop, const struct sp_term *term)
{
    struct sp_algebra *algebra = &loop->symbolic->algebra;
    const struct sp_poly *one = sp_poly_int(algebra, 1);
    struct pieces pieces = {
        .outside = sp_poly_rational(algebra, term->coefficient), .powers = one, .tangle = one, .inside = one};
    for (size_t i = 0; i < term->count; i++) take_factor(loop, term->factors[i], &pieces);
    return pieces;
}

/* 1 unless a < b. */
static const struct sp_poly *not_less(const struct loop *loop, const struct sp_poly *a, const struct sp_poly *b)
{
    return sp_sym_not(loop->symbolic, sp_sym_less(loop->symbolic, a, b));
}

/* The sum of a term with a point: the one iteration in which the index has that value, if it is within the loop. NULL
 * when the iteration has no value. */
static const struct sp_poly *at_point(const struct loop *loop, const struct pieces *pieces)
{
    struct sp_symbolic *symbolic = loop->symbolic;
    const struct sp_poly *rest = pieces->powers, *index = sp_poly_atom(&symbolic->algebra, loop->index);
    for (size_t i = 0; i < pieces->bound_count; i++)
        multiply_sums(loop, &rest, sp_sym_less(symbolic, index, pieces->bounds[i]));
    multiply_sums(loop, &rest, pieces->tangle);
    rest = sp_sym_put(symbolic, rest, loop->index, pieces->point);
    if (!rest) return NULL;
    multiply_sums(loop, &rest, not_less(loop, pieces->point, loop->first));
    multiply_sums(loop, &rest, not_less(loop, loop->last, pieces->point));
    return rest;
}

/* Notes that what the number of iterations grows with is a size, from 1 up: the L of F..L-1, but not the F. */
static void note_iterations(const struct loop *loop)
{
    for (size_t i = 0; loop->symbolic->is_counting && i < loop->length->count; i++)
        if (loop->length->terms[i].coefficient.num > 0)
            sp_poly_mark_sizes(loop->symbolic, &(struct sp_poly){&loop->length->terms[i], 1});
}

/* 1 unless the loop goes backwards, which is last < first - 1. The condition that it does gets the assumption that it
 * does not, "F <= L", as its range: that is what the author of the table took for granted. */
static const struct sp_poly *goes_forward(const struct loop *loop)
{
    struct sp_symbolic *symbolic = loop->symbolic;
    const struct sp_poly *backward = sp_sym_less(symbolic, loop->length, sp_poly_int(&symbolic->algebra, 0));
    const size_t atom = sp_atom_alone(backward);
    struct sp_atom_info *info = atom == SIZE_MAX ? NULL : sp_atom_info(symbolic, atom);
    if (info && info->origin && !info->depends && !info->range)
        info->range =
            sp_arena_printf(&symbolic->algebra.arena, "%s <= %s", sp_sym_words(symbolic, info->origin->args[1]),
                            sp_sym_words(symbolic, info->origin->args[0]));
    return sp_sym_not(symbolic, backward);
}

/* The sum of a term without a point or a tangle: powers of the index (Faulhaber), from `first` on for as many
 * iterations as the loop and all bounds allow. NULL when the power is too high. */
static const struct sp_poly *of_powers(const struct loop *loop, const struct pieces *pieces)
{
    struct sp_symbolic *symbolic = loop->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *iterations = loop->length, *guard = goes_forward(loop), *zero = sp_poly_int(algebra, 0);
    for (size_t i = 0; i < pieces->bound_count; i++) {
        const struct sp_poly *most = sp_poly_sub(algebra, pieces->bounds[i], loop->first);
        iterations = sp_sym_least_of(symbolic, iterations, most);
        multiply_sums(loop, &guard, not_less(loop, most, zero));
    }
    const struct sp_poly *end =
        sp_poly_add(algebra, loop->first, sp_poly_sub(algebra, iterations, sp_poly_int(algebra, 1)));
    const struct sp_poly *sum = sp_poly_sum(algebra, pieces->powers, loop->index, loop->first, end);
    if (sum) multiply_sums(loop, &sum, guard);
    return sum;
}

/* The operation (index + shift) % every behind a condition: that it is 0, or above 0. NULL for any other condition. */
static const struct sp_origin *remainder_of_sum(const struct loop *loop, size_t condition, bool *is_zero)
{
    struct sp_algebra *algebra = &loop->symbolic->algebra;
    const struct sp_poly *gap;
    if (condition == SIZE_MAX || !sp_atom_comparison(loop->symbolic, condition, &gap, is_zero)) return NULL;
    if (*is_zero && gap->count == 1 && gap->terms[0].coefficient.num < 0)
        gap = sp_poly_scale(algebra, gap, sp_rational_int(-1));
    const size_t rest = sp_atom_alone(gap);
    const struct sp_origin *origin = rest == SIZE_MAX ? NULL : sp_atom_info(loop->symbolic, rest)->origin;
    const bool found = origin && origin->operation.kind == SP_DO_BINARY && origin->operation.op == SP_OP_MOD;
    return found ? origin : NULL;
}

/* of // by; NULL after a mistake. */
static const struct sp_poly *floor_of_sum(const struct loop *loop, const struct sp_poly *of, const struct sp_poly *by)
{
    const struct sp_operation floor = {.kind = SP_DO_BINARY, .op = SP_OP_FLOOR, .span = loop->span};
    const struct sp_sym args[] = {sp_sym_of_poly(of), sp_sym_of_poly(by)};
    struct sp_sym result;
    return sp_sym_operate(loop->symbolic, &floor, args, 2, &result) ? result.poly : NULL;
}

/* The sum of a term whose only piece is a tangle [(i + s) % k == 0], for a k from 1 up: the number of multiples of k in
 * first + s .. last + s, which is (last + s) // k - (first + s - 1) // k. Of [0 < (i + s) % k] it is the number of all
 * other iterations. NULL for any other term. */
static const struct sp_poly *every_few(const struct loop *loop, const struct pieces *pieces)
{
    struct sp_symbolic *symbolic = loop->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *shift, *one = sp_poly_int(algebra, 1);
    bool is_zero;
    int sign;
    if (pieces->bound_count || sp_poly_uses(pieces->powers, loop->index)) return NULL;
    const struct sp_origin *rest = remainder_of_sum(loop, sp_atom_alone(pieces->tangle), &is_zero);
    if (!rest || !is_linear(loop, rest->args[0].poly, &sign, &shift) || sign < 0) return NULL;
    const struct sp_poly *every = rest->args[1].poly;
    if ((sp_poly_depends(symbolic, every) & bit_of(loop)) || !sp_poly_is_whole(symbolic, every)) return NULL;
    if (!sp_poly_is_at_least(symbolic, every, 1) || !sp_poly_is_whole(symbolic, shift)) return NULL;
    const struct sp_poly *before = sp_poly_add(algebra, sp_poly_sub(algebra, loop->first, one), shift);
    const struct sp_poly *to = floor_of_sum(loop, sp_poly_add(algebra, loop->last, shift), every);
    const struct sp_poly *from = floor_of_sum(loop, before, every);
    if (!to || !from) return NULL;
    const struct sp_poly *count = sp_poly_sub(algebra, to, from);
    if (!is_zero) count = sp_poly_sub(algebra, loop->length, count);
    multiply_sums(loop, &count, not_less(loop, loop->length, one)); /* without iterations k may be 0 */
    return count;
}

/* Whether what is summed is a product of conditions, so that the sum counts iterations. */
static bool is_count(const struct loop *loop, const struct sp_poly *inside)
{
    if (inside->count != 1) return false;
    for (size_t i = 0; i < inside->terms[0].count; i++)
        if (!loop->symbolic->algebra.atoms[inside->terms[0].factors[i].atom].is_condition) return false;
    return true;
}

/* A sum that is only written down: an atom, with what is known of its value. It is never negative if its body is not,
 * for an index within the loop. */
static const struct sp_poly *unsolved(const struct loop *loop, const struct sp_poly *inside)
{
    struct sp_symbolic *symbolic = loop->symbolic;
    const struct sp_operation operation = {.kind = SP_DO_SUM, .index = loop->index, .span = loop->span};
    const struct sp_sym args[] = {sp_sym_of_poly(inside), sp_sym_of_poly(loop->first), sp_sym_of_poly(loop->last)};
    struct sp_atom_properties fact = {.is_whole = sp_poly_is_whole(symbolic, inside)};
    const size_t room = sizeof symbolic->loops.items / sizeof *symbolic->loops.items;
    if (symbolic->loops.count < room) {
        symbolic->loops.items[symbolic->loops.count++] = (struct sp_open_loop){loop->index, loop->first, loop->last};
        fact.is_bounded = sp_poly_never_negative(symbolic, inside);
        symbolic->loops.count--;
    }
    const char *text =
        sp_arena_printf(&symbolic->algebra.arena, "%s(%s in %s..%s: %s)", is_count(loop, inside) ? "count" : "sum",
                        symbolic->algebra.atoms[loop->index].text, sp_sym_text(symbolic, loop->first),
                        sp_sym_text(symbolic, loop->last), sp_sym_text(symbolic, inside));
    return sp_atom_computed(symbolic, &operation, args, 3, fact, text).poly;
}

/* The sum of one term of the body, by what its pieces are. */
static const struct sp_poly *sum_term(const struct loop *loop, const struct sp_term *term)
{
    const struct pieces pieces = take_apart(loop, term);
    const struct sp_poly *sum = NULL;
    struct sp_rational one;
    const bool untangled = sp_poly_is_constant(pieces.tangle, &one);
    if (pieces.point) sum = at_point(loop, &pieces);
    else if (untangled) sum = of_powers(loop, &pieces);
    else sum = every_few(loop, &pieces);
    if (!sum) sum = unsolved(loop, pieces.inside);
    return sp_poly_mul(&loop->symbolic->algebra, pieces.outside, sum);
}

/* ---- the whole body ---- */

/* Whether the body depends on the index in another way than by its powers. */
static bool any_tangled(const struct loop *loop, const struct sp_poly *body)
{
    for (size_t i = 0; i < body->count; i++)
        for (size_t k = 0; k < body->terms[i].count; k++)
            if (is_tangled(loop, body->terms[i].factors[k].atom)) return true;
    return false;
}

/* ---- the first iteration, or the last one, apart ---- */

/* A condition that tells one end of the loop from the other iterations: [index < first + 1], [index < last]. */
struct end {
    size_t condition;
    bool is_first;
};

/* Whether the polynomial is that constant. */
static bool is_exactly(const struct sp_poly *poly, int64_t number)
{
    struct sp_rational value;
    return sp_poly_is_constant(poly, &value) && value.den == 1 && value.num == number;
}

/* Whether a condition in the body is [index < first + 1], true in the first iteration alone, or [index < last], false
 * in the last one alone. */
static bool tells_end_apart(const struct loop *loop, size_t atom, struct end *end)
{
    struct sp_algebra *algebra = &loop->symbolic->algebra;
    const struct sp_poly *gap, *bound;
    int sign;
    if (!is_tangled(loop, atom) || !comparison_gap(loop, atom, SP_OP_LT, &gap)) return false;
    if (!is_linear(loop, gap, &sign, &bound) || sign > 0) return false;
    *end = (struct end){atom, is_exactly(sp_poly_sub(algebra, bound, loop->first), 1)};
    return end->is_first || is_exactly(sp_poly_sub(algebra, loop->last, bound), 0);
}

/* Whether what is summed under the condition has no closed form. */
static bool is_tangled_under(const struct loop *loop, const struct sp_poly *body, size_t condition)
{
    struct sp_rational one;
    for (size_t i = 0; i < body->count; i++)
        for (size_t k = 0; k < body->terms[i].count; k++)
            if (body->terms[i].factors[k].atom == condition) {
                const struct pieces pieces = take_apart(loop, &body->terms[i]);
                if (!pieces.point && !sp_poly_is_constant(pieces.tangle, &one)) return true;
            }
    return false;
}

/* Finds a condition that tells one end apart, and under which something has no closed form. */
static bool find_end_of_loop(const struct loop *loop, const struct sp_poly *body, struct end *end)
{
    const size_t atoms = loop->symbolic->algebra.atom_count;
    for (size_t atom = 0; atom < atoms; atom++)
        if (sp_poly_uses(body, atom) && tells_end_apart(loop, atom, end) && is_tangled_under(loop, body, atom))
            return true;
    return false;
}

/* The body with what is seen of the index between these ends put in: of f(i > 0 ? E : W) from 1 on f(E), however deep
 * the condition is within f. The body itself where that has no value. */
static const struct sp_poly *body_between(const struct loop *loop, const struct sp_poly *body,
                                          const struct sp_poly *first, const struct sp_poly *last)
{
    struct sp_open_loops *loops = &loop->symbolic->loops;
    if (loops->count == sizeof loops->items / sizeof *loops->items) return body;
    loops->items[loops->count++] = (struct sp_open_loop){loop->index, first, last};
    const struct sp_poly *computed = sp_sym_compute_again(loop->symbolic, body);
    loops->count--;
    return computed ? computed : body;
}

/* The iteration at the end, and the sum of the others: of "i == 0 ? E : channels[i - 1]" E and the sum of channels[i -
 * 1] from 1 on, in which no condition is left. NULL when the one iteration has no value. */
static const struct sp_poly *sum_without_end(const struct loop *loop, const struct sp_poly *body, struct end end)
{
    struct sp_symbolic *symbolic = loop->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *one = sp_poly_int(algebra, 1), *zero = sp_poly_int(algebra, 0);
    const struct sp_poly *holds = sp_poly_substitute(algebra, body, end.condition, one);
    const struct sp_poly *holds_not = sp_poly_substitute(algebra, body, end.condition, zero);
    const struct sp_poly *iteration = end.is_first ? sp_sym_put(symbolic, holds, loop->index, loop->first)
                                                   : sp_sym_put(symbolic, holds_not, loop->index, loop->last);
    if (!iteration) return NULL;
    multiply_sums(loop, &iteration, not_less(loop, loop->last, loop->first));
    const struct sp_poly *first = end.is_first ? sp_poly_add(algebra, loop->first, one) : loop->first;
    const struct sp_poly *last = end.is_first ? loop->last : sp_poly_sub(algebra, loop->last, one);
    const struct sp_poly *rest = body_between(loop, end.is_first ? holds_not : holds, first, last);
    const struct sp_poly *others = sp_sym_sum(symbolic, loop->span, loop->index, rest, first, last);
    return sp_poly_add(algebra, iteration, others);
}

/* The sum between known ends, iteration by iteration. NULL when one has no value, or it takes too many steps. */
static const struct sp_poly *unrolled(const struct loop *loop, const struct sp_poly *body, int64_t first, int64_t last)
{
    struct sp_algebra *algebra = &loop->symbolic->algebra;
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    for (int64_t i = first; i <= last; i++) {
        const struct sp_poly *iteration = sp_sym_put(loop->symbolic, body, loop->index, sp_poly_int(algebra, i));
        if (!iteration || !sp_sym_spend(loop->symbolic, loop->span, 1 + body->count)) return NULL;
        sum = sp_poly_add(algebra, sum, iteration);
    }
    return sum;
}

/* A loop of few iterations between known ends is unrolled, unless only powers of the index are in it. Otherwise an
 * iteration at one end that is unlike the others is set apart, and each term is summed by the rule for it. */
const struct sp_poly *sp_sym_sum(struct sp_symbolic *symbolic, struct sp_span span, size_t index,
                                 const struct sp_poly *body, const struct sp_poly *first, const struct sp_poly *last)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct loop loop = {symbolic, span, index, first, last, NULL};
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    struct sp_rational length, from;
    loop.length = sp_poly_add(algebra, sp_poly_sub(algebra, last, first), sp_poly_int(algebra, 1));
    const bool known = sp_poly_is_constant(loop.length, &length), starts = sp_poly_is_constant(first, &from);
    if (algebra->failed || (known && length.num <= 0)) return sum;
    if (known && starts && length.den == 1 && from.den == 1 && length.num <= MAX_ITERATIONS &&
        any_tangled(&loop, body)) {
        const struct sp_poly *iterations = unrolled(&loop, body, from.num, from.num + length.num - 1);
        if (iterations) return iterations;
    }
    note_iterations(&loop);
    body = inverted_body(&loop, body);
    struct end end;
    const struct sp_poly *apart = find_end_of_loop(&loop, body, &end) ? sum_without_end(&loop, body, end) : NULL;
    if (apart) return apart;
    for (size_t i = 0; i < body->count; i++) sum = sp_poly_add(algebra, sum, sum_term(&loop, &body->terms[i]));
    return sum;
}
