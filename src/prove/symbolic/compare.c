/* SPDX-License-Identifier: MIT
 * Comparisons: decided where that is seen for all hyper-parameters, else conditions of their own. */
#include "prove/symbolic/operations.h"

#include <string.h>

#include "lang/functions.h"
#include "prove/symbolic/atoms.h"

enum { MAX_MEMBERS = 16 }; /* items of a list that `in` compares one by one */

enum sign { POSITIVE, NEGATIVE };

/* The terms of a polynomial with that sign, with a plus each: of L - F - 2 the positive ones are L, the negative ones F
 * + 2. */
static const struct sp_poly *terms_with(struct sp_symbolic *symbolic, const struct sp_poly *poly, enum sign sign)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    for (size_t i = 0; i < poly->count; i++) {
        const struct sp_poly term = {&poly->terms[i], 1};
        const struct sp_poly *part = sp_poly_scale(algebra, &term, sp_rational_int(sign == POSITIVE ? 1 : -1));
        if ((poly->terms[i].coefficient.num > 0) == (sign == POSITIVE)) sum = sp_poly_add(algebra, sum, part);
    }
    return sum;
}

/* The condition left < right, or left == right, as an atom: "[F + 2 < L]". */
static struct sp_sym comparison(struct sp_symbolic *symbolic, enum sp_op op, const struct sp_poly *left,
                                const struct sp_poly *right)
{
    const struct sp_operation operation = {.kind = SP_DO_BINARY, .op = op};
    const struct sp_sym args[] = {sp_sym_of_poly(left), sp_sym_of_poly(right)};
    return sp_atom_computed(symbolic, &operation, args, 2, (struct sp_atom_properties){.is_condition = true},
                            sp_arena_printf(&symbolic->algebra.arena, "[%s %s %s]", sp_sym_text(symbolic, left),
                                            op == SP_OP_LT ? "<" : "==", sp_sym_text(symbolic, right)));
}

/* ---- what is seen of a comparison ---- */

enum { MOST_CASES_DEEP = 6 }; /* conditions that one comparison is split by: 2^6 cases */

/* The first condition in a polynomial; SIZE_MAX for none. */
static size_t condition_in(const struct sp_algebra *algebra, const struct sp_poly *poly)
{
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++)
            if (algebra->atoms[poly->terms[i].factors[k].atom].is_condition) return poly->terms[i].factors[k].atom;
    return SIZE_MAX;
}

static const struct sp_poly *decide_by_cases(struct sp_symbolic *symbolic, const struct sp_poly *gap, enum sp_op op,
                                             unsigned depth);

/* Whether 0 < gap (SP_OP_LT), or 0 == gap (SP_OP_EQ), as a polynomial that is 0 or 1; NULL when that is not seen.
 * `depth`: how many conditions were split. */
static const struct sp_poly *decide_gap(struct sp_symbolic *symbolic, const struct sp_poly *gap, enum sp_op op,
                                        unsigned depth)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational value;
    if (sp_poly_is_constant(gap, &value)) return sp_poly_int(algebra, op == SP_OP_LT ? value.num > 0 : value.num == 0);
    const struct sp_poly *back = sp_poly_sub(algebra, sp_poly_int(algebra, 0), gap);
    if (op == SP_OP_LT && sp_poly_never_negative(symbolic, back)) return sp_poly_int(algebra, 0);
    if (sp_poly_is_whole(symbolic, gap)) {
        if (sp_poly_is_at_least(symbolic, gap, 1)) return sp_poly_int(algebra, op == SP_OP_LT);
        if (op == SP_OP_EQ && sp_poly_is_at_least(symbolic, back, 1)) return sp_poly_int(algebra, 0);
    }
    return decide_by_cases(symbolic, gap, op, depth);
}

/* Puts what a case says of the index of an open loop in the place of one end of the loop: where [i < 25] does not hold
 * the loop begins with 25. So 4*(i - 24) is seen to be above 0 there. What the loop's own end said is forgotten, which
 * makes less seen and nothing wrong. Returns the loop, with what it was before in *before; NULL for a condition that
 * says nothing of an index. */
static struct sp_open_loop *narrow_loop(struct sp_symbolic *symbolic, size_t condition, bool holds,
                                        struct sp_open_loop *before)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *gap, *rest, *one = sp_poly_int(algebra, 1);
    bool equality;
    int sign;
    if (!sp_atom_comparison(symbolic, condition, &gap, &equality) || equality) return NULL;
    size_t i = 0;
    while (i < symbolic->loops.count && !sp_poly_is_linear(symbolic, gap, symbolic->loops.items[i].index, &sign, &rest))
        i++;
    if (i == symbolic->loops.count || sp_poly_depends(symbolic, rest) || !sp_poly_is_whole(symbolic, rest)) return NULL;
    struct sp_open_loop *loop = &symbolic->loops.items[i];
    *before = *loop;
    if (sign < 0 && holds) loop->last = sp_poly_sub(algebra, rest, one); /* i < rest */
    else if (sign < 0) loop->first = rest;                               /* rest <= i */
    else if (holds) loop->first = sp_poly_sub(algebra, one, rest);       /* -rest < i */
    else loop->last = sp_poly_scale(algebra, rest, sp_rational_int(-1)); /* i <= -rest */
    return loop;
}

/* decide_gap where the condition is as the case has it. */
static const struct sp_poly *decide_in_case(struct sp_symbolic *symbolic, const struct sp_poly *gap, enum sp_op op,
                                            size_t condition, bool holds, unsigned depth)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *in_case = sp_poly_substitute(algebra, gap, condition, sp_poly_int(algebra, holds));
    struct sp_open_loop before;
    struct sp_open_loop *loop = narrow_loop(symbolic, condition, holds, &before);
    const struct sp_poly *decided = algebra->failed ? NULL : decide_gap(symbolic, in_case, op, depth + 1);
    if (loop) *loop = before;
    return decided;
}

/* A comparison with a condition in it is decided when both cases of the condition are: [0 < j]*B == B is [0 < j],
 * because B == B holds and 0 == B does not. NULL when one of the cases stays open. */
static const struct sp_poly *decide_by_cases(struct sp_symbolic *symbolic, const struct sp_poly *gap, enum sp_op op,
                                             unsigned depth)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const size_t condition = condition_in(algebra, gap);
    const struct sp_poly *cases[2];
    if (condition == SIZE_MAX || depth == MOST_CASES_DEEP) return NULL;
    for (int holds = 0; holds < 2; holds++) {
        cases[holds] = decide_in_case(symbolic, gap, op, condition, holds, depth);
        if (!cases[holds]) return NULL;
    }
    const struct sp_poly *change = sp_poly_sub(algebra, cases[1], cases[0]);
    return sp_poly_add(algebra, cases[0], sp_poly_mul(algebra, sp_poly_atom(algebra, condition), change));
}

/* ---- order and equality ---- */

/* a < b as a condition. Where it is not decided it is an atom with only positive terms on both sides, however it was
 * written: 0 < L - F and -L < -F are both F < L. */
const struct sp_poly *sp_sym_less(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational x, y;
    if (sp_poly_is_constant(a, &x) && sp_poly_is_constant(b, &y)) /* whose difference may not fit in 64 bits */
        return sp_poly_int(algebra, sp_rational_compare(x, y) < 0);
    const struct sp_poly *gap = sp_poly_sub(algebra, b, a);
    if (algebra->failed) return gap;
    const struct sp_poly *decided = decide_gap(symbolic, gap, SP_OP_LT, 0);
    if (decided) return decided;
    return comparison(symbolic, SP_OP_LT, terms_with(symbolic, gap, NEGATIVE), terms_with(symbolic, gap, POSITIVE))
        .poly;
}

/* a == b as a condition; of what is never below 0, a == 0 is not 0 < a. */
static const struct sp_poly *same_number(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational x, y;
    if (sp_poly_is_constant(a, &x) && sp_poly_is_constant(b, &y))
        return sp_poly_int(algebra, sp_rational_compare(x, y) == 0);
    const struct sp_poly *gap = sp_poly_sub(algebra, a, b);
    if (algebra->failed) return gap;
    const struct sp_poly *decided = decide_gap(symbolic, gap, SP_OP_EQ, 0);
    if (decided) return decided;
    if (gap->terms[0].coefficient.num < 0) gap = sp_poly_sub(algebra, b, a);
    if (sp_poly_never_negative(symbolic, gap))
        return sp_sym_not(symbolic, sp_sym_less(symbolic, sp_poly_int(algebra, 0), gap));
    return comparison(symbolic, SP_OP_EQ, terms_with(symbolic, gap, POSITIVE), terms_with(symbolic, gap, NEGATIVE))
        .poly;
}

/* p == q of conditions: 1 - p - q + 2*p*q, which is 1 where both are 0 or both are 1. */
static const struct sp_poly *same_truth(struct sp_symbolic *symbolic, const struct sp_poly *p, const struct sp_poly *q)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *both = sp_poly_scale(algebra, sp_poly_mul(algebra, p, q), sp_rational_int(2));
    return sp_sym_not(symbolic, sp_poly_sub(algebra, sp_poly_add(algebra, p, q), both));
}

/* A comparison of what is only known in part: it is equal to itself alone. */
static struct sp_sym unknown_condition(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                                       const struct sp_sym *args, const char *word)
{
    const char *text = sp_arena_printf(&symbolic->algebra.arena, "[%s %s %s]", sp_sym_compared_words(symbolic, args[0]),
                                       word, sp_sym_compared_words(symbolic, args[1]));
    return sp_atom_computed(symbolic, operation, args, 2, (struct sp_atom_properties){.is_condition = true}, text);
}

/* Whether it is a known value or a number that is no list: a key alone may turn out to be one. */
static bool is_no_list(struct sp_sym sym)
{
    if (sym.kind == SP_SYM_VALUE) return sym.value.type != SHAPEPROOF_VALUE_LIST;
    return sp_sym_is_numeric(sym) && sp_atom_alone(sym.poly) == SIZE_MAX;
}

/* args[0] == args[1], by what the two are:
 *
 *     known values                      a constant
 *     two conditions                    same_truth
 *     two numbers                       same_number
 *     a condition and a number          false; but a condition of its own for a key, which may be a truth value
 *     a list of items and a value       false, if the value is surely no list
 *     texts and lists that are only     a condition of its own; what is compared with a text is noted to be one
 *     named, and a key beside a text */
struct sp_sym sp_sym_equal(struct sp_symbolic *symbolic, const struct sp_sym *args)
{
    const struct sp_operation operation = {.kind = SP_DO_BINARY, .op = SP_OP_EQ};
    struct shapeproof_value left, right;
    const bool are_exact = args[0].kind == SP_SYM_NUMBER && args[1].kind == SP_SYM_NUMBER; /* as literals, rounded */
    if (!are_exact && sp_sym_literal(args[0], &left) && sp_sym_literal(args[1], &right))
        return sp_sym_of_truth(symbolic, sp_values_equal(left, right));
    if (args[0].kind == SP_SYM_CONDITION && args[1].kind == SP_SYM_CONDITION)
        return sp_sym_of_condition(same_truth(symbolic, args[0].poly, args[1].poly));
    if (sp_sym_is_numeric(args[0]) && sp_sym_is_numeric(args[1]) && args[0].kind != args[1].kind) {
        const struct sp_sym number = args[0].kind == SP_SYM_CONDITION ? args[1] : args[0];
        const bool may_be_key = sp_atom_alone(number.poly) != SIZE_MAX;
        return may_be_key ? unknown_condition(symbolic, &operation, args, "==") : sp_sym_of_truth(symbolic, false);
    }
    if (sp_sym_is_numeric(args[0]) && sp_sym_is_numeric(args[1]))
        return sp_sym_of_condition(same_number(symbolic, args[0].poly, args[1].poly));
    for (size_t i = 0; i < 2; i++)
        if (args[i].kind == SP_SYM_OPAQUE && args[i].items && is_no_list(args[!i]))
            return sp_sym_of_truth(symbolic, false);
    for (size_t i = 0; i < 2; i++)
        if (sp_sym_is_text(args[!i])) sp_sym_mark_text(symbolic, args[i]);
    return unknown_condition(symbolic, &operation, args, "==");
}

/* a < b, of which the other three orders are made: of two known texts, of two known numbers of which one is real, of a
 * text or a key with a text that is only named, which is a condition of its own, and of numbers. False after a mistake:
 * anything else, such as a text and a number, has no order. */
static bool less(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym a, struct sp_sym b,
                 const struct sp_poly **out)
{
    const struct sp_operation operation = {.kind = SP_DO_BINARY, .op = SP_OP_LT, .span = span};
    const struct sp_sym args[] = {a, b};
    const struct sp_poly *p, *q;
    struct shapeproof_value left, right;
    const bool known = sp_sym_literal(a, &left) && sp_sym_literal(b, &right);
    if (known && left.type == SHAPEPROOF_VALUE_STRING && right.type == SHAPEPROOF_VALUE_STRING)
        *out = sp_poly_int(&symbolic->algebra, strcmp(left.string, right.string) < 0);
    else if (known && (a.kind == SP_SYM_VALUE || b.kind == SP_SYM_VALUE) && sp_value_is_number(left) &&
             sp_value_is_number(right))
        *out = sp_poly_int(&symbolic->algebra, sp_values_order(left, right) < 0);
    else if (!known && (sp_sym_is_text(a) || sp_sym_is_text(b)))
        *out = unknown_condition(symbolic, &operation, args, "<").poly;
    else {
        if (!sp_sym_as_number(symbolic, span, a, &p) || !sp_sym_as_number(symbolic, span, b, &q)) return false;
        *out = sp_sym_less(symbolic, p, q);
    }
    return true;
}

bool sp_sym_order(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                  struct sp_sym *out)
{
    const bool swapped = operation->op == SP_OP_GT || operation->op == SP_OP_LE;
    const struct sp_poly *poly;
    if (!less(symbolic, operation->span, args[swapped], args[!swapped], &poly)) return false;
    if (operation->op == SP_OP_LE || operation->op == SP_OP_GE) poly = sp_sym_not(symbolic, poly);
    *out = sp_sym_of_condition(poly);
    return true;
}

/* p or q */
static const struct sp_poly *one_of(struct sp_symbolic *symbolic, const struct sp_poly *p, const struct sp_poly *q)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    return sp_poly_sub(algebra, sp_poly_add(algebra, p, q), sp_poly_mul(algebra, p, q));
}

/* `part in whole` of a text: a constant if both are known, else a condition of its own. */
static struct sp_sym in_text(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                             const struct sp_sym *args)
{
    struct shapeproof_value part, whole;
    if (!sp_sym_literal(args[0], &part) || !sp_sym_literal(args[1], &whole) || part.type != SHAPEPROOF_VALUE_STRING) {
        sp_sym_mark_text(symbolic, args[0]);
        return unknown_condition(symbolic, operation, args, "in");
    }
    return sp_sym_of_truth(symbolic, strstr(whole.string, part.string) != NULL);
}

/* Whether the list is of few whole numbers, no two of them equal. */
static bool is_short_list_of_numbers(struct sp_sym list)
{
    if (list.kind != SP_SYM_VALUE || list.value.type != SHAPEPROOF_VALUE_LIST || list.value.count > MAX_MEMBERS)
        return false;
    for (size_t i = 0; i < list.value.count; i++) {
        if (list.value.items[i].type != SHAPEPROOF_VALUE_INT) return false;
        for (size_t k = 0; k < i; k++)
            if (list.value.items[k].integer == list.value.items[i].integer) return false;
    }
    return true;
}

/* n in [1, 2] is [n == 1] + [n == 2], since it is one of different numbers at most. */
static const struct sp_poly *is_one_of_numbers(struct sp_symbolic *symbolic, struct sp_sym number, struct sp_sym list)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    for (size_t i = 0; i < list.value.count; i++) {
        const struct sp_poly *item = sp_poly_int(algebra, list.value.items[i].integer);
        sum = sp_poly_add(algebra, sum, same_number(symbolic, number.poly, item));
    }
    return sum;
}

/* `x in list`, and `not in`, which the caller negates:
 *
 *     x in "text"               a part of a text
 *     x in [a, 3]               [x == a] or [x == 3], for a list with hyper-parameters in it
 *     3 in [1, 3]               a constant
 *     x in [1, 3]               [x == 1] + [x == 3], for a short list of numbers
 *     x in anything else        a condition of its own */
bool sp_sym_member(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                   struct sp_sym *out)
{
    struct sp_operation own = *operation;
    struct shapeproof_value item;
    const struct sp_sym list = args[1];
    own.op = SP_OP_IN;
    if (sp_sym_is_text(list)) {
        *out = in_text(symbolic, &own, args);
        return true;
    }
    if (list.kind == SP_SYM_VALUE && list.value.type != SHAPEPROOF_VALUE_LIST)
        return sp_sym_fail(symbolic, operation->span, "'in' needs a list, not %s", sp_sym_kind(list));
    if (list.kind == SP_SYM_OPAQUE && list.items && list.count <= MAX_MEMBERS) {
        const struct sp_poly *found = sp_poly_int(&symbolic->algebra, 0);
        for (size_t i = 0; i < list.count; i++)
            found = one_of(symbolic, found, sp_sym_equal(symbolic, (struct sp_sym[]){args[0], list.items[i]}).poly);
        *out = sp_sym_of_condition(found);
    } else if (list.kind == SP_SYM_VALUE && (list.value.count == 0 || sp_sym_literal(args[0], &item))) {
        bool found = false;
        struct sp_rational is_equal;
        for (size_t i = 0; i < list.value.count && !found; i++) {
            const struct sp_sym pair[] = {args[0], sp_sym_of_value(symbolic, list.value.items[i])};
            found = sp_poly_is_constant(sp_sym_equal(symbolic, pair).poly, &is_equal) && is_equal.num != 0;
        }
        *out = sp_sym_of_truth(symbolic, found);
    } else if (args[0].kind == SP_SYM_NUMBER && is_short_list_of_numbers(list)) {
        *out = sp_sym_of_condition(is_one_of_numbers(symbolic, args[0], list));
    } else {
        const bool is_list_of_texts = list.kind == SP_SYM_VALUE && list.value.items[0].type == SHAPEPROOF_VALUE_STRING;
        if (is_list_of_texts) sp_sym_mark_text(symbolic, args[0]);
        sp_sym_mark_list(symbolic, list);
        if (sp_sym_is_text(args[0])) sp_sym_mark_text(symbolic, list); /* it may be a text, or a list of texts */
        *out = unknown_condition(symbolic, &own, args, "in");
    }
    return true;
}
