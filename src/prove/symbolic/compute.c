/* SPDX-License-Identifier: MIT
 * Arithmetic: exact where the result is a polynomial, else an atom that remembers how it is computed. */
#include "prove/symbolic/operations.h"

#include <math.h>
#include <string.h>

#include "lang/eval.h"
#include "lang/functions.h"
#include "prove/symbolic/atoms.h"

enum { MAX_POWER = 64 };

/* `a op b` in floating point, as predictions compute it. False, with a message, where there is no finite result. */
static bool symbolic_real_arithmetic(struct sp_symbolic *symbolic, const struct sp_operation *operation, double a,
                                     double b, struct sp_sym *out)
{
    const bool divides = operation->op == SP_OP_DIV || operation->op == SP_OP_FLOOR || operation->op == SP_OP_MOD;
    if (b == 0 && divides) return sp_sym_fail(symbolic, operation->span, "division by zero");
    const double result = sp_calculate(operation->op, a, b);
    if (!isfinite(result)) return sp_sym_fail(symbolic, operation->span, "the result is not a finite number");
    *out = sp_sym_of_value(symbolic, sp_value_real(result));
    return true;
}

static int64_t floor_of_division(struct sp_rational value)
{
    return value.num / value.den - (value.num % value.den < 0);
}

/* p // q as a polynomial, where that is seen: of two numbers, of what divides exactly, or, for whole p and q, 0 where
 * 0 <= p < q, and -1 where -q <= p < 0. NULL for any other. */
static const struct sp_poly *floor_quotient(struct sp_symbolic *symbolic, const struct sp_poly *p,
                                            const struct sp_poly *q)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational x, y, ratio;
    if (sp_poly_is_constant(p, &x) && sp_poly_is_constant(q, &y))
        return sp_rational_div(x, y, &ratio) ? sp_poly_int(algebra, floor_of_division(ratio)) : NULL;
    const struct sp_poly *quotient = sp_poly_divide(algebra, p, q);
    if (quotient && sp_poly_is_whole(symbolic, quotient)) return quotient;
    if (algebra->failed || !sp_poly_is_whole(symbolic, p) || !sp_poly_is_whole(symbolic, q)) return NULL;
    const struct sp_poly *minus = sp_poly_scale(algebra, p, sp_rational_int(-1));
    if (sp_poly_never_negative(symbolic, p) && sp_poly_is_at_least(symbolic, sp_poly_sub(algebra, q, p), 1))
        return sp_poly_int(algebra, 0);
    if (sp_poly_is_at_least(symbolic, minus, 1) && sp_poly_never_negative(symbolic, sp_poly_add(algebra, p, q)))
        return sp_poly_int(algebra, -1);
    return NULL;
}

/* p % q, which is p - (p // q)*q; NULL where the floor is none that is seen. */
static const struct sp_poly *remainder_of_division(struct sp_symbolic *symbolic, const struct sp_poly *p,
                                                   const struct sp_poly *q)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *quotient = floor_quotient(symbolic, p, q);
    return quotient ? sp_poly_sub(algebra, p, sp_poly_mul(algebra, quotient, q)) : NULL;
}

/* a^b for a small whole number b; NULL for any other. */
static const struct sp_poly *power(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    struct sp_rational exponent;
    if (!sp_poly_is_constant(b, &exponent) || exponent.den != 1 || exponent.num < 0 || exponent.num > MAX_POWER)
        return NULL;
    return sp_poly_power(&symbolic->algebra, a, (int)exponent.num);
}

/* `p op q` as a polynomial. NULL where it is none: the caller then makes an atom of the operation. */
static const struct sp_poly *exact_result(struct sp_symbolic *symbolic, enum sp_op op, const struct sp_poly *p,
                                          const struct sp_poly *q)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    switch (op) {
    case SP_OP_ADD:
        return sp_poly_add(algebra, p, q);
    case SP_OP_SUB:
        return sp_poly_sub(algebra, p, q);
    case SP_OP_MUL:
        return sp_poly_mul(algebra, p, q);
    case SP_OP_DIV:
        return sp_poly_divide(algebra, p, q);
    case SP_OP_FLOOR:
        return floor_quotient(symbolic, p, q);
    case SP_OP_MOD:
        return remainder_of_division(symbolic, p, q);
    default:
        return power(symbolic, p, q);
    }
}

/* `p op q` as an atom, such as "(H // A)", with what is known of its value. */
static struct sp_sym inexact(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                             const struct sp_sym *args, const struct sp_poly *p, const struct sp_poly *q)
{
    static const char *const words[] = {"+", "-", "*", "/", "//", "%", "^"};
    const bool whole = sp_poly_is_whole(symbolic, p) && sp_poly_is_whole(symbolic, q);
    /* In a table a quotient that is no integer is an error; a claim may have one. */
    struct sp_atom_properties fact = {.is_whole = whole && (operation->op != SP_OP_DIV || symbolic->is_counting)};
    fact.is_bounded = sp_poly_never_negative(symbolic, p) && sp_poly_never_negative(symbolic, q);
    if (operation->op == SP_OP_POW && whole && fact.is_bounded) fact.least = sp_poly_is_at_least(symbolic, p, 1);
    const enum sp_operand_place place = operation->op == SP_OP_POW ? SP_OPERAND_CLOSED : SP_OPERAND_OF_PRODUCT;
    const char *left = sp_sym_operand(symbolic, args[0], place);
    const char *text = sp_arena_printf(&symbolic->algebra.arena, "(%s %s %s)", left, words[operation->op],
                                       sp_sym_operand(symbolic, args[1], SP_OPERAND_CLOSED));
    return sp_atom_computed(symbolic, operation, args, 2, fact, text);
}

void sp_sym_note_gap(struct sp_symbolic *symbolic, const struct sp_poly *poly, int64_t most, const char *function)
{
    enum { MAX_VARIED = 3 }; /* innermost sums of which both ends are put in; of the others only the last one is */
    const struct sp_open_loops *loops = &symbolic->loops;
    struct sp_rational number;
    if (!symbolic->divisors || sp_poly_is_constant(poly, &number)) return;
    if ((function || loops->count) && sp_poly_is_at_least(symbolic, poly, most + 1)) return;
    *SP_PUSH(symbolic->divisors) = (struct sp_gap){poly, most, function, poly, loops->count > 0};
    const size_t varied = loops->count < MAX_VARIED ? loops->count : MAX_VARIED;
    for (unsigned ends = 0; loops->count && ends < 1U << varied; ends++) {
        const struct sp_poly *at_ends = poly;
        for (size_t i = 0; i < loops->count; i++) { /* inner sums first: their ends may have the index of outer ones */
            const struct sp_open_loop *loop = &loops->items[loops->count - 1 - i];
            const bool is_first = i < varied && (ends >> i & 1);
            at_ends = sp_poly_substitute(&symbolic->algebra, at_ends, loop->index, is_first ? loop->first : loop->last);
        }
        if (!sp_poly_is_constant(at_ends, &number))
            *SP_PUSH(symbolic->divisors) = (struct sp_gap){at_ends, most, function, poly, true};
    }
}

/* Notes what a division is by: in a table that it is a size, in a claim that the claim has no value where it is 0. */
static void note_divisor(struct sp_symbolic *symbolic, const struct sp_poly *divisor)
{
    if (symbolic->is_counting) sp_poly_mark_sizes(symbolic, divisor);
    else sp_sym_note_gap(symbolic, divisor, 0, NULL);
}

/* Arithmetic of numbers. If one is a real number it is done in floating point; otherwise the result is a polynomial
 * where it can be one, else an atom. */
bool sp_sym_compute(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                    struct sp_sym *out)
{
    const struct sp_poly *p, *q;
    struct sp_rational number;
    struct shapeproof_value x, y;
    const bool known = sp_sym_literal(args[0], &x) && sp_sym_literal(args[1], &y);
    if (known && (args[0].kind == SP_SYM_VALUE || args[1].kind == SP_SYM_VALUE) && sp_value_is_number(x) &&
        sp_value_is_number(y))
        return symbolic_real_arithmetic(symbolic, operation, sp_value_as_real(x), sp_value_as_real(y), out);
    if (!sp_sym_as_number(symbolic, operation->span, args[0], &p) ||
        !sp_sym_as_number(symbolic, operation->span, args[1], &q))
        return false;
    const bool divides = operation->op >= SP_OP_DIV && operation->op <= SP_OP_MOD;
    if (divides) note_divisor(symbolic, q);
    if (divides && sp_poly_is_zero(q)) return sp_sym_fail(symbolic, operation->span, "division by zero");
    if (operation->op == SP_OP_POW && sp_poly_is_constant(q, &number) && number.num < 0)
        return sp_sym_fail(symbolic, operation->span, "the exponent is negative");
    const struct sp_poly *result = exact_result(symbolic, operation->op, p, q);
    if (!result && known && (x.type == SHAPEPROOF_VALUE_REAL || y.type == SHAPEPROOF_VALUE_REAL)) /* 2^(1/2) */
        return symbolic_real_arithmetic(symbolic, operation, sp_value_as_real(x), sp_value_as_real(y), out);
    const struct sp_sym numbers[] = {sp_sym_of_poly(p), sp_sym_of_poly(q)};
    *out = result ? sp_sym_of_poly(result) : inexact(symbolic, operation, numbers, p, q);
    return true;
}

/* Whether it is a number whatever the configuration says: not a key, which may turn out to be a text. */
static bool is_number_for_sure(struct sp_sym sym)
{
    return sp_sym_is_numeric(sym) && sp_atom_alone(sym.poly) == SIZE_MAX;
}

/* a + b where one of them is a text: the text if both are known, else one that is only named, with its origin. False
 * after a mistake where the other one is none. */
bool sp_sym_join(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                 struct sp_sym *out)
{
    struct sp_arena *arena = &symbolic->algebra.arena;
    const struct shapeproof_value a = args[0].value, b = args[1].value;
    const bool known = args[0].kind == SP_SYM_VALUE && args[1].kind == SP_SYM_VALUE;
    const bool are_texts = !known || (a.type == SHAPEPROOF_VALUE_STRING && b.type == SHAPEPROOF_VALUE_STRING);
    if (!are_texts || is_number_for_sure(args[0]) || is_number_for_sure(args[1]))
        return sp_sym_fail(symbolic, operation->span, "cannot compute with %s and %s", sp_sym_kind(args[0]),
                           sp_sym_kind(args[1]));
    if (known && strlen(a.string) + strlen(b.string) > 64 * 1024)
        return sp_sym_fail(symbolic, operation->span, "the string is longer than %d bytes", 64 * 1024);
    if (known) *out = sp_sym_of_value(symbolic, sp_value_string(sp_arena_printf(arena, "%s%s", a.string, b.string)));
    else
        *out = (struct sp_sym){
            .kind = SP_SYM_OPAQUE,
            .name = sp_arena_printf(arena, "%s + %s", sp_sym_words(symbolic, args[0]), sp_sym_words(symbolic, args[1])),
            .depends = sp_sym_depends(symbolic, args[0]) | sp_sym_depends(symbolic, args[1]),
            .origin = sp_origin_new(symbolic, operation, args, 2)};
    return true;
}
