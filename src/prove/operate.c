/* SPDX-License-Identifier: MIT */
#include "prove/operate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/eval.h"
#include "lang/functions.h"
#include "prove/atoms.h"
#include "prove/sums.h"

enum { MAX_MEMBERS = 16, MAX_POWER = 64 };

/* ---- kinds ---- */

struct sp_sym sp_sym_of_poly(const struct sp_poly *poly)
{
    return (struct sp_sym){.kind = SP_SYM_NUMBER, .poly = poly};
}

struct sp_sym sp_sym_of_condition(const struct sp_poly *poly)
{
    return (struct sp_sym){.kind = SP_SYM_CONDITION, .poly = poly};
}

struct sp_sym sp_sym_of_truth(struct sp_symbolic *symbolic, bool value)
{
    return sp_sym_of_condition(sp_poly_int(&symbolic->algebra, value));
}

struct sp_sym sp_sym_of_value(struct sp_symbolic *symbolic, struct sp_value value)
{
    if (value.type == SP_INT) return sp_sym_of_poly(sp_poly_int(&symbolic->algebra, value.integer));
    if (value.type == SP_BOOL) return sp_sym_of_truth(symbolic, value.boolean);
    return (struct sp_sym){.kind = SP_SYM_VALUE, .value = value};
}

const struct sp_poly *sp_sym_not(struct sp_symbolic *symbolic, const struct sp_poly *condition)
{
    return sp_poly_sub(&symbolic->algebra, sp_poly_int(&symbolic->algebra, 1), condition);
}

static bool is_numeric(struct sp_sym sym) { return sym.kind == SP_SYM_NUMBER || sym.kind == SP_SYM_CONDITION; }

bool sp_sym_is_set(struct sp_sym sym) { return sym.kind != SP_SYM_VALUE || sp_value_is_set(sym.value); }

bool sp_sym_literal(struct sp_sym sym, struct sp_value *value)
{
    struct sp_rational number;
    *value = sym.value;
    if (sym.kind == SP_SYM_VALUE) return sp_value_is_set(sym.value);
    if (!is_numeric(sym) || !sp_poly_is_constant(sym.poly, &number)) return false;
    if (sym.kind == SP_SYM_CONDITION) *value = sp_value_bool(number.num != 0);
    else if (number.den == 1) *value = sp_value_int(number.num);
    else *value = sp_value_real((double)number.num / (double)number.den);
    return true;
}

static bool not_set(struct sp_symbolic *symbolic, struct sp_span span, struct sp_value value)
{
    const bool heard = symbolic->report.messages != &symbolic->report.unheard, named = value.string && *value.string;
    if (heard && named && !symbolic->report.missing && value.type == SP_ABSENT) symbolic->report.missing = value.string;
    return sp_sym_fail(symbolic, span, "the hyper-parameter '%s' is %s", value.string ? value.string : "",
                       value.type == SP_NULL ? "null" : "not set");
}

static const char *kind_of(struct sp_sym sym)
{
    if (sym.kind == SP_SYM_VALUE) return sp_value_kind(sym.value.type);
    if (sym.kind == SP_SYM_OPAQUE) return sym.items ? "a list" : "a text";
    return sym.kind == SP_SYM_CONDITION ? "a truth value" : "an integer";
}

/* A decimal fraction such as 0.05 is the fraction that its digits say; one of too many digits has no exact value. */
static const struct sp_poly *real_poly(struct sp_symbolic *symbolic, double real)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational value;
    int64_t den = 1;
    for (int digits = 0; digits <= 9 && fabs(real) < 1e9; digits++, den *= 10) {
        const double num = round(real * (double)den);
        if (num / (double)den == real && fabs(num) < 9e15 && sp_rational_make((int64_t)num, den, &value))
            return sp_poly_rational(algebra, value);
    }
    const size_t atom = sp_atom_symbol(algebra, sp_arena_printf(&algebra->arena, "%.17g", real));
    *sp_atom_info(symbolic, atom) = (struct sp_atom_info){.is_bounded = real >= 0};
    return sp_poly_atom(algebra, atom);
}

static struct sp_sym choice_number(struct sp_symbolic *symbolic, struct sp_sym either)
{
    const struct sp_operation operation = {.kind = SP_DO_CHOICE};
    const struct sp_sym args[] = {sp_sym_of_condition(either.poly), either.either[0], either.either[1]};
    return sp_atom_computed(symbolic, &operation, args, 3, (struct sp_fact){.is_condition = false},
                            sp_sym_words(symbolic, either));
}

bool sp_sym_as_number(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym sym, const struct sp_poly **out)
{
    *out = sym.poly;
    if (is_numeric(sym)) return true;
    if (sym.kind == SP_SYM_EITHER) *out = choice_number(symbolic, sym).poly;
    else if (sym.kind == SP_SYM_VALUE && sym.value.type == SP_REAL) *out = real_poly(symbolic, sym.value.real);
    else if (!sp_sym_is_set(sym)) return not_set(symbolic, span, sym.value);
    else return sp_sym_fail(symbolic, span, "expected a number, found %s", kind_of(sym));
    return true;
}

static struct sp_sym truth_of(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym number)
{
    const struct sp_operation operation = {.kind = SP_DO_TRUTH, .span = span};
    struct sp_rational value;
    if (sp_poly_is_constant(number.poly, &value)) return sp_sym_of_truth(symbolic, value.num != 0);
    const char *text = sp_arena_printf(&symbolic->algebra.arena, "[%s]", sp_sym_text(symbolic, number.poly));
    return sp_atom_computed(symbolic, &operation, &number, 1, (struct sp_fact){.is_condition = true}, text);
}

/* A number used as a condition says whether it is not 0. */
bool sp_sym_as_condition(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym sym,
                         const struct sp_poly **out)
{
    const struct sp_poly *yes, *no;
    *out = sym.poly;
    if (sym.kind == SP_SYM_CONDITION) return true;
    if (sym.kind == SP_SYM_NUMBER) {
        *out = truth_of(symbolic, span, sym).poly;
        return true;
    }
    if (!sp_sym_is_set(sym)) return not_set(symbolic, span, sym.value);
    if (sym.kind != SP_SYM_EITHER) return sp_sym_fail(symbolic, span, "expected a truth value, found %s", kind_of(sym));
    if (!sp_sym_as_condition(symbolic, span, sym.either[0], &yes) ||
        !sp_sym_as_condition(symbolic, span, sym.either[1], &no))
        return false;
    *out = sp_sym_combine(symbolic, sym.poly, sp_sym_of_condition(yes), sp_sym_of_condition(no)).poly;
    return true;
}

/* ---- words ---- */

const char *sp_sym_text(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    struct sp_text text = {0};
    sp_poly_put_expanded(&text, &symbolic->algebra, poly, SP_NOTATION_TEXT);
    return sp_text_keep(&text, &symbolic->algebra.arena);
}

const char *sp_sym_words(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    struct sp_text text = {0};
    if (sym.kind == SP_SYM_OPAQUE) return sym.name;
    if (sym.kind == SP_SYM_EITHER)
        return sp_arena_printf(&symbolic->algebra.arena, "(%s ? %s : %s)", sp_sym_text(symbolic, sym.poly),
                               sp_sym_words(symbolic, sym.either[0]), sp_sym_words(symbolic, sym.either[1]));
    if (sym.kind != SP_SYM_VALUE) return sp_sym_text(symbolic, sym.poly);
    sp_value_json(&text, sym.value);
    return sp_text_keep(&text, &symbolic->algebra.arena);
}

static const char *bracketed(struct sp_symbolic *symbolic, struct sp_sym sym)
{
    const char *text = sp_sym_words(symbolic, sym);
    const bool plain = !is_numeric(sym) || sym.poly->count <= 1;
    return plain ? text : sp_arena_printf(&symbolic->algebra.arena, "(%s)", text);
}

/* ---- choices ---- */

struct sp_sym sp_sym_combine(struct sp_symbolic *symbolic, const struct sp_poly *c, struct sp_sym yes, struct sp_sym no)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational value;
    if (sp_poly_is_constant(c, &value)) return value.num ? yes : no;
    if (is_numeric(yes) && yes.kind == no.kind) {
        yes.poly = sp_poly_add(algebra, no.poly, sp_poly_mul(algebra, c, sp_poly_sub(algebra, yes.poly, no.poly)));
        return yes;
    }
    struct sp_sym *either = sp_arena_array(&algebra->arena, 2, sizeof *either);
    either[0] = yes;
    either[1] = no;
    return (struct sp_sym){.kind = SP_SYM_EITHER, .poly = c, .either = either};
}

static bool choose(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                   struct sp_sym *out)
{
    const struct sp_poly *number;
    const struct sp_sym chosen = sp_sym_combine(symbolic, args[0].poly, args[1], args[2]);
    if (!sp_sym_as_number(symbolic, operation->span, chosen, &number)) return false;
    *out = sp_sym_of_poly(number);
    return true;
}

/* An argument that is either of two: the operation is done with both. */
static bool both_ways(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                      size_t count, size_t which, struct sp_sym *out)
{
    struct sp_sym *own = sp_arena_array(&symbolic->algebra.arena, count, sizeof *own), yes, no;
    if (!sp_sym_spend(symbolic, operation->span, 1)) return false;
    memcpy(own, args, count * sizeof *own);
    own[which] = args[which].either[0];
    if (!sp_sym_operate(symbolic, operation, own, count, &yes)) return false;
    own[which] = args[which].either[1];
    if (!sp_sym_operate(symbolic, operation, own, count, &no)) return false;
    *out = sp_sym_combine(symbolic, args[which].poly, yes, no);
    return true;
}

/* A hyper-parameter without a value that is used as a list, or as a text. */
static void mark(struct sp_symbolic *symbolic, struct sp_sym sym, bool list, bool text)
{
    const size_t atom = sym.kind == SP_SYM_NUMBER ? sp_atom_alone(sym.poly) : SIZE_MAX;
    for (size_t i = 0; i < symbolic->symbols.count; i++)
        if (symbolic->symbols.items[i].atom == atom) {
            symbolic->symbols.items[i].is_list = symbolic->symbols.items[i].is_list || list;
            symbolic->symbols.items[i].is_text = symbolic->symbols.items[i].is_text || text;
        }
}

/* ---- comparisons ---- */

static bool never_negative(struct sp_symbolic *symbolic, const struct sp_poly *poly, int64_t above)
{
    return sp_poly_never_negative(symbolic,
                                  sp_poly_sub(&symbolic->algebra, poly, sp_poly_int(&symbolic->algebra, above)));
}

/* The terms of a polynomial with that sign, as they stand on a side of their own. */
static const struct sp_poly *side(struct sp_symbolic *symbolic, const struct sp_poly *poly, bool positive)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    for (size_t i = 0; i < poly->count; i++) {
        const struct sp_poly term = {&poly->terms[i], 1};
        const struct sp_poly *part = sp_poly_scale(algebra, &term, sp_rational_int(positive ? 1 : -1));
        if ((poly->terms[i].coefficient.num > 0) == positive) sum = sp_poly_add(algebra, sum, part);
    }
    return sum;
}

static struct sp_sym comparison(struct sp_symbolic *symbolic, enum sp_op op, const struct sp_poly *left,
                                const struct sp_poly *right)
{
    const struct sp_operation operation = {.kind = SP_DO_BINARY, .op = op};
    const struct sp_sym args[] = {sp_sym_of_poly(left), sp_sym_of_poly(right)};
    return sp_atom_computed(symbolic, &operation, args, 2, (struct sp_fact){.is_condition = true},
                            sp_arena_printf(&symbolic->algebra.arena, "[%s %s %s]", sp_sym_text(symbolic, left),
                                            op == SP_OP_LT ? "<" : "==", sp_sym_text(symbolic, right)));
}

/* However it is written, a comparison is one of sums of positive terms: 0 < L - F is F < L. */
const struct sp_poly *sp_sym_less(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *gap = sp_poly_sub(algebra, b, a), *back = sp_poly_sub(algebra, a, b);
    struct sp_rational difference;
    if (algebra->failed) return gap;
    if (sp_poly_is_constant(gap, &difference)) return sp_poly_int(algebra, difference.num > 0);
    if (sp_poly_never_negative(symbolic, back)) return sp_poly_int(algebra, 0);
    if (sp_poly_is_whole(symbolic, gap) && never_negative(symbolic, gap, 1)) return sp_poly_int(algebra, 1);
    return comparison(symbolic, SP_OP_LT, side(symbolic, gap, false), side(symbolic, gap, true)).poly;
}

static const struct sp_poly *same_number(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *gap = sp_poly_sub(algebra, a, b), *back = sp_poly_sub(algebra, b, a);
    struct sp_rational difference;
    if (algebra->failed) return gap;
    if (sp_poly_is_constant(gap, &difference)) return sp_poly_int(algebra, difference.num == 0);
    if (sp_poly_is_whole(symbolic, gap) && (never_negative(symbolic, gap, 1) || never_negative(symbolic, back, 1)))
        return sp_poly_int(algebra, 0);
    if (gap->terms[0].coefficient.num < 0) gap = back;
    if (sp_poly_never_negative(symbolic, gap)) /* 0, or more */
        return sp_sym_not(symbolic, sp_sym_less(symbolic, sp_poly_int(algebra, 0), gap));
    return comparison(symbolic, SP_OP_EQ, side(symbolic, gap, true), side(symbolic, gap, false)).poly;
}

/* 1 - p - q + 2pq */
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
    const char *text = sp_arena_printf(&symbolic->algebra.arena, "[%s %s %s]", sp_sym_words(symbolic, args[0]), word,
                                       sp_sym_words(symbolic, args[1]));
    return sp_atom_computed(symbolic, operation, args, 2, (struct sp_fact){.is_condition = true}, text);
}

static bool is_text(struct sp_sym sym)
{
    return (sym.kind == SP_SYM_VALUE && sym.value.type == SP_STRING) || (sym.kind == SP_SYM_OPAQUE && !sym.items);
}

static struct sp_sym equal(struct sp_symbolic *symbolic, const struct sp_sym *args)
{
    const struct sp_operation operation = {.kind = SP_DO_BINARY, .op = SP_OP_EQ};
    struct sp_value left, right;
    if (sp_sym_literal(args[0], &left) && sp_sym_literal(args[1], &right))
        return sp_sym_of_truth(symbolic, sp_values_equal(left, right));
    if (args[0].kind == SP_SYM_CONDITION && args[1].kind == SP_SYM_CONDITION)
        return sp_sym_of_condition(same_truth(symbolic, args[0].poly, args[1].poly));
    if (is_numeric(args[0]) && is_numeric(args[1]) && args[0].kind != args[1].kind)
        return sp_sym_of_truth(symbolic, false); /* a truth value is no number */
    if (is_numeric(args[0]) && is_numeric(args[1]))
        return sp_sym_of_condition(same_number(symbolic, args[0].poly, args[1].poly));
    for (size_t i = 0; i < 2; i++)
        if (is_text(args[!i])) mark(symbolic, args[i], false, true);
    return unknown_condition(symbolic, &operation, args, "==");
}

/* a < b, of which the other three are made. */
static bool less(struct sp_symbolic *symbolic, struct sp_span span, struct sp_sym a, struct sp_sym b,
                 const struct sp_poly **out)
{
    const struct sp_operation operation = {.kind = SP_DO_BINARY, .op = SP_OP_LT, .span = span};
    const struct sp_sym args[] = {a, b};
    const struct sp_poly *p, *q;
    struct sp_value left, right;
    const bool known = sp_sym_literal(a, &left) && sp_sym_literal(b, &right);
    if (known && left.type == SP_STRING && right.type == SP_STRING)
        *out = sp_poly_int(&symbolic->algebra, strcmp(left.string, right.string) < 0);
    else if (known && (a.kind == SP_SYM_VALUE || b.kind == SP_SYM_VALUE) && sp_value_is_number(left) &&
             sp_value_is_number(right))
        *out = sp_poly_int(&symbolic->algebra, sp_values_order(left, right) < 0);
    else if (is_text(a) || is_text(b)) *out = unknown_condition(symbolic, &operation, args, "<").poly;
    else {
        if (!sp_sym_as_number(symbolic, span, a, &p) || !sp_sym_as_number(symbolic, span, b, &q)) return false;
        *out = sp_sym_less(symbolic, p, q);
    }
    return true;
}

static bool order(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
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

/* A text in a text. */
static struct sp_sym in_text(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                             const struct sp_sym *args)
{
    struct sp_value part, whole;
    if (!sp_sym_literal(args[0], &part) || !sp_sym_literal(args[1], &whole) || part.type != SP_STRING) {
        mark(symbolic, args[0], false, true);
        return unknown_condition(symbolic, operation, args, "in");
    }
    return sp_sym_of_truth(symbolic, strstr(whole.string, part.string) != NULL);
}

static bool is_member(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                      struct sp_sym *out)
{
    struct sp_operation own = *operation;
    struct sp_value item;
    const struct sp_sym list = args[1];
    own.op = SP_OP_IN;
    if (is_text(list)) {
        *out = in_text(symbolic, &own, args);
        return true;
    }
    if (list.kind == SP_SYM_VALUE && list.value.type != SP_LIST)
        return sp_sym_fail(symbolic, operation->span, "'in' needs a list, not %s", kind_of(list));
    if (list.kind == SP_SYM_OPAQUE && list.items && list.count <= MAX_MEMBERS) {
        const struct sp_poly *found = sp_poly_int(&symbolic->algebra, 0);
        for (size_t i = 0; i < list.count; i++)
            found = one_of(symbolic, found, equal(symbolic, (struct sp_sym[]){args[0], list.items[i]}).poly);
        *out = sp_sym_of_condition(found);
    } else if (list.kind == SP_SYM_VALUE && (list.value.count == 0 || sp_sym_literal(args[0], &item))) {
        bool found = false;
        for (size_t i = 0; i < list.value.count; i++) found = found || sp_values_equal(item, list.value.items[i]);
        *out = sp_sym_of_truth(symbolic, found);
    } else {
        const bool texts = list.kind == SP_SYM_VALUE && list.value.items[0].type == SP_STRING;
        mark(symbolic, args[0], false, texts);
        mark(symbolic, list, true, is_text(args[0])); /* a text in a text, or in a list of texts */
        *out = unknown_condition(symbolic, &own, args, "in");
    }
    return true;
}

/* ---- arithmetic ---- */

static bool real_arithmetic(struct sp_symbolic *symbolic, const struct sp_operation *operation, double a, double b,
                            struct sp_sym *out)
{
    const bool divides = operation->op == SP_OP_DIV || operation->op == SP_OP_FLOOR || operation->op == SP_OP_MOD;
    if (b == 0 && divides) return sp_sym_fail(symbolic, operation->span, "division by zero");
    const double result = sp_calculate(operation->op, a, b);
    if (!isfinite(result)) return sp_sym_fail(symbolic, operation->span, "the result is not a finite number");
    *out = sp_sym_of_value(symbolic, sp_value_real(result));
    return true;
}

static int64_t floor_of(struct sp_rational value) { return value.num / value.den - (value.num % value.den < 0); }

/* p // q where that is seen: an exact quotient, or one of numbers close to 0. */
static const struct sp_poly *floor_quotient(struct sp_symbolic *symbolic, const struct sp_poly *p,
                                            const struct sp_poly *q)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational x, y, ratio;
    if (sp_poly_is_constant(p, &x) && sp_poly_is_constant(q, &y))
        return sp_rational_div(x, y, &ratio) ? sp_poly_int(algebra, floor_of(ratio)) : NULL;
    const struct sp_poly *quotient = sp_poly_divide(algebra, p, q);
    if (quotient && sp_poly_is_whole(symbolic, quotient)) return quotient;
    if (algebra->failed || !sp_poly_is_whole(symbolic, p) || !sp_poly_is_whole(symbolic, q)) return NULL;
    const struct sp_poly *minus = sp_poly_scale(algebra, p, sp_rational_int(-1));
    if (sp_poly_never_negative(symbolic, p) && never_negative(symbolic, sp_poly_sub(algebra, q, p), 1))
        return sp_poly_int(algebra, 0);
    if (never_negative(symbolic, minus, 1) && sp_poly_never_negative(symbolic, sp_poly_add(algebra, p, q)))
        return sp_poly_int(algebra, -1);
    return NULL;
}

static const struct sp_poly *remainder_of(struct sp_symbolic *symbolic, const struct sp_poly *p,
                                          const struct sp_poly *q)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *quotient = floor_quotient(symbolic, p, q);
    return quotient ? sp_poly_sub(algebra, p, sp_poly_mul(algebra, quotient, q)) : NULL;
}

static const struct sp_poly *power(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    struct sp_rational exponent;
    if (!sp_poly_is_constant(b, &exponent) || exponent.den != 1 || exponent.num < 0 || exponent.num > MAX_POWER)
        return NULL;
    return sp_poly_power(&symbolic->algebra, a, (int)exponent.num);
}

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
        return remainder_of(symbolic, p, q);
    default:
        return power(symbolic, p, q);
    }
}

static struct sp_sym inexact(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                             const struct sp_sym *args, const struct sp_poly *p, const struct sp_poly *q)
{
    static const char *const words[] = {"+", "-", "*", "/", "//", "%", "^"};
    const bool whole = sp_poly_is_whole(symbolic, p) && sp_poly_is_whole(symbolic, q);
    struct sp_fact fact = {.is_whole = whole};
    fact.is_bounded = sp_poly_never_negative(symbolic, p) && sp_poly_never_negative(symbolic, q);
    if (operation->op == SP_OP_POW && whole && fact.is_bounded) fact.least = never_negative(symbolic, p, 1);
    const char *text = sp_arena_printf(&symbolic->algebra.arena, "(%s %s %s)", bracketed(symbolic, args[0]),
                                       words[operation->op], bracketed(symbolic, args[1]));
    return sp_atom_computed(symbolic, operation, args, 2, fact, text);
}

static bool arithmetic(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                       struct sp_sym *out)
{
    const struct sp_poly *p, *q;
    struct sp_rational number;
    struct sp_value x, y;
    const bool known = sp_sym_literal(args[0], &x) && sp_sym_literal(args[1], &y);
    if (known && (args[0].kind == SP_SYM_VALUE || args[1].kind == SP_SYM_VALUE) && sp_value_is_number(x) &&
        sp_value_is_number(y))
        return real_arithmetic(symbolic, operation, sp_value_as_real(x), sp_value_as_real(y), out);
    if (!sp_sym_as_number(symbolic, operation->span, args[0], &p) ||
        !sp_sym_as_number(symbolic, operation->span, args[1], &q))
        return false;
    const bool divides = operation->op >= SP_OP_DIV && operation->op <= SP_OP_MOD;
    if (divides && sp_poly_is_zero(q)) return sp_sym_fail(symbolic, operation->span, "division by zero");
    if (operation->op == SP_OP_POW && sp_poly_is_constant(q, &number) && number.num < 0)
        return sp_sym_fail(symbolic, operation->span, "the exponent is negative");
    const struct sp_poly *result = exact_result(symbolic, operation->op, p, q);
    const struct sp_sym numbers[] = {sp_sym_of_poly(p), sp_sym_of_poly(q)};
    *out = result ? sp_sym_of_poly(result) : inexact(symbolic, operation, numbers, p, q);
    return true;
}

/* Texts that are not both known. */
static bool join(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                 struct sp_sym *out)
{
    struct sp_arena *arena = &symbolic->algebra.arena;
    const struct sp_value a = args[0].value, b = args[1].value;
    const bool known = args[0].kind == SP_SYM_VALUE && args[1].kind == SP_SYM_VALUE;
    if (known && (a.type != SP_STRING || b.type != SP_STRING))
        return sp_sym_fail(symbolic, operation->span, "cannot compute with %s and %s", kind_of(args[0]),
                           kind_of(args[1]));
    if (known && strlen(a.string) + strlen(b.string) > 64 * 1024)
        return sp_sym_fail(symbolic, operation->span, "the text is longer than %d bytes", 64 * 1024);
    if (known) *out = sp_sym_of_value(symbolic, sp_value_string(sp_arena_printf(arena, "%s%s", a.string, b.string)));
    else
        *out = (struct sp_sym){
            .kind = SP_SYM_OPAQUE,
            .name = sp_arena_printf(arena, "%s + %s", sp_sym_words(symbolic, args[0]), sp_sym_words(symbolic, args[1])),
            .depends = sp_sym_depends(symbolic, args[0]) | sp_sym_depends(symbolic, args[1]),
            .origin = sp_origin_new(symbolic, operation, args, 2)};
    return true;
}

static bool binary(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                   struct sp_sym *out)
{
    const enum sp_op op = operation->op;
    if (op >= SP_OP_LT && op <= SP_OP_GE) return order(symbolic, operation, args, out);
    if (op == SP_OP_ADD && (is_text(args[0]) || is_text(args[1]))) return join(symbolic, operation, args, out);
    if (op != SP_OP_EQ && op != SP_OP_NE && op != SP_OP_IN && op != SP_OP_NOT_IN)
        return arithmetic(symbolic, operation, args, out);
    if (op == SP_OP_EQ || op == SP_OP_NE) *out = equal(symbolic, args);
    else if (!is_member(symbolic, operation, args, out)) return false;
    if (op == SP_OP_NE || op == SP_OP_NOT_IN) out->poly = sp_sym_not(symbolic, out->poly);
    return true;
}

/* ---- lists ---- */

struct sp_sym sp_sym_of_items(struct sp_symbolic *symbolic, const struct sp_sym *items, size_t count)
{
    struct sp_arena *arena = &symbolic->algebra.arena;
    struct sp_value *values = sp_arena_array(arena, count, sizeof *values);
    struct sp_sym list = {.kind = SP_SYM_OPAQUE, .items = items, .count = count};
    struct sp_text text = {0};
    bool known = true;
    sp_text_puts(&text, "[");
    for (size_t i = 0; i < count; i++) {
        struct sp_rational number;
        const bool exact = !is_numeric(items[i]) || !sp_poly_is_constant(items[i].poly, &number) || number.den == 1;
        known = known && exact && sp_sym_literal(items[i], &values[i]);
        list.depends |= sp_sym_depends(symbolic, items[i]);
        sp_text_printf(&text, "%s%s", i ? ", " : "", sp_sym_words(symbolic, items[i]));
    }
    sp_text_puts(&text, "]");
    list.name = sp_text_keep(&text, arena);
    const struct sp_value value = {.type = SP_LIST, .count = count, .items = values};
    return known ? (struct sp_sym){.kind = SP_SYM_VALUE, .value = value} : list;
}

/* Of items that are numbers: the smallest. */
static struct sp_fact item_fact(struct sp_value list)
{
    struct sp_fact fact = {.is_whole = true, .is_bounded = true, .least = INT64_MAX};
    for (size_t i = 0; i < list.count; i++) {
        const struct sp_value item = list.items[i];
        if (item.type != SP_INT) return (struct sp_fact){.is_condition = false};
        if (item.integer < fact.least) fact.least = item.integer;
    }
    return fact;
}

static bool item_at(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                    struct sp_sym *out)
{
    const struct sp_sym list = args[0];
    const bool is_value = list.kind == SP_SYM_VALUE && list.value.type == SP_LIST;
    const size_t count = is_value ? list.value.count : list.count;
    struct sp_value place;
    if (!is_value && !list.items && list.kind != SP_SYM_NUMBER)
        return sp_sym_fail(symbolic, operation->span, "expected a list, found %s", kind_of(list));
    if (is_value && count == 0) { /* architectures[0] of an empty list: as good as absent */
        *out = (struct sp_sym){.kind = SP_SYM_VALUE, .value = sp_value_absent("an item of an empty list")};
        return true;
    }
    if ((is_value || list.items) && sp_sym_literal(args[1], &place)) {
        if (place.type != SP_INT)
            return sp_sym_fail(symbolic, operation->span, "an index is an integer, not %s", sp_value_kind(place.type));
        if (place.integer < 0 || (uint64_t)place.integer >= count)
            return sp_sym_fail(symbolic, operation->span, "there is no item %" PRId64 " in a list of %zu",
                               place.integer, count);
        *out = is_value ? sp_sym_of_value(symbolic, list.value.items[place.integer]) : list.items[place.integer];
        return true;
    }
    const struct sp_fact given = {.is_whole = true, .is_bounded = true, .is_given = true, .least = 1};
    mark(symbolic, list, true, false);
    *out = sp_atom_computed(symbolic, operation, args, 2, is_value ? item_fact(list.value) : given,
                            sp_arena_printf(&symbolic->algebra.arena, "%s[%s]", sp_sym_words(symbolic, list),
                                            sp_sym_words(symbolic, args[1])));
    return true;
}

/* ---- functions ---- */

static bool is_named(const struct sp_operation *operation, const char *name)
{
    return strcmp(operation->function->name, name) == 0;
}

/* That b is not less than a is assumed where a loop would go backwards otherwise. */
static bool is_assumed(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    if (!symbolic->premises.assumes) return false;
    const size_t atom = sp_atom_alone(sp_sym_less(symbolic, b, a));
    return atom != SIZE_MAX && sp_atom_info(symbolic, atom)->range && sp_atom_assume(symbolic, atom);
}

static bool is_at_most(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    return sp_poly_never_negative(symbolic, sp_poly_sub(&symbolic->algebra, b, a)) || is_assumed(symbolic, a, b);
}

static int compare_words(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* min(b, a) is min(a, b). */
static const char *extreme_text(struct sp_symbolic *symbolic, const char *name, const struct sp_sym *args, size_t count)
{
    const char **words = sp_arena_array(&symbolic->algebra.arena, count, sizeof *words);
    struct sp_text text = {0};
    for (size_t i = 0; i < count; i++) words[i] = sp_sym_words(symbolic, args[i]);
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) sp_text_printf(&text, "%s%s", i ? ", " : "", words[i]);
    const char *kept = sp_arena_printf(&symbolic->algebra.arena, "%s(%s)", name, text.data);
    sp_text_free(&text);
    return kept;
}

static struct sp_fact extreme_fact(struct sp_symbolic *symbolic, const struct sp_sym *args, size_t count, bool largest)
{
    struct sp_fact fact = {.is_whole = true, .is_bounded = !largest, .least = 1};
    bool any = false, one = false;
    for (size_t i = 0; i < count; i++) {
        const bool good = sp_poly_never_negative(symbolic, args[i].poly);
        const bool above = good && never_negative(symbolic, args[i].poly, 1);
        fact.is_whole = fact.is_whole && sp_poly_is_whole(symbolic, args[i].poly);
        fact.is_bounded = largest ? fact.is_bounded : fact.is_bounded && good;
        any = any || good;
        one = one || above;
        if (!above) fact.least = 0;
    }
    if (largest) fact = (struct sp_fact){.is_whole = fact.is_whole, .is_bounded = any, .least = one};
    if (!fact.is_whole) fact.least = 0;
    return fact;
}

/* min and max of numbers: those that another one always beats do not matter. */
static bool extreme(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                    size_t count, struct sp_sym *out)
{
    const bool largest = is_named(operation, "max");
    struct sp_sym *left = sp_arena_array(&symbolic->algebra.arena, count, sizeof *left);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sp_poly *poly;
        bool beaten = false;
        if (!sp_sym_as_number(symbolic, operation->span, args[i], &poly)) return false;
        for (size_t k = 0; k < kept && !beaten; k++)
            beaten = largest ? is_at_most(symbolic, poly, left[k].poly) : is_at_most(symbolic, left[k].poly, poly);
        for (size_t k = 0; k < kept && !beaten;) {
            const bool wins =
                largest ? is_at_most(symbolic, left[k].poly, poly) : is_at_most(symbolic, poly, left[k].poly);
            if (wins) left[k] = left[--kept];
            else k++;
        }
        if (!beaten) left[kept++] = sp_sym_of_poly(poly);
    }
    if (kept == 1) *out = left[0];
    else
        *out = sp_atom_computed(symbolic, operation, left, kept, extreme_fact(symbolic, left, kept, largest),
                                extreme_text(symbolic, operation->function->name, left, kept));
    return true;
}

static const struct sp_poly *sum_of_items(struct sp_symbolic *symbolic, const struct sp_sym *items, size_t count)
{
    const struct sp_poly *sum = sp_poly_int(&symbolic->algebra, 0);
    for (size_t i = 0; i < count; i++) {
        const struct sp_poly *item;
        if (!sp_sym_as_number(symbolic, (struct sp_span){0}, items[i], &item)) return NULL;
        sum = sp_poly_add(&symbolic->algebra, sum, item);
    }
    return sum;
}

const struct sp_poly *sp_sym_least_of(struct sp_symbolic *symbolic, const struct sp_poly *a, const struct sp_poly *b)
{
    const struct sp_operation operation = {.kind = SP_DO_CALL, .function = sp_function_find("min")};
    const struct sp_sym args[] = {sp_sym_of_poly(a), sp_sym_of_poly(b)};
    struct sp_sym least = args[0];
    extreme(symbolic, &operation, args, 2, &least);
    return least.poly;
}

static struct sp_fact call_fact(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                                const struct sp_sym *args)
{
    const bool is_number = args[0].kind == SP_SYM_NUMBER;
    struct sp_fact fact = {.is_condition = is_named(operation, "starts_with") || is_named(operation, "ends_with")};
    fact.is_whole = !is_named(operation, "at") || (is_number && sp_poly_is_whole(symbolic, args[0].poly));
    if (is_named(operation, "at"))
        fact = (struct sp_fact){.is_whole = fact.is_whole, .is_bounded = true, .is_given = true, .least = 1};
    else if (is_named(operation, "len") || is_named(operation, "sum")) fact.is_bounded = true;
    else if (is_number) fact.is_bounded = sp_poly_never_negative(symbolic, args[0].poly);
    if (is_number && (is_named(operation, "ceil_div") || is_named(operation, "round_up")))
        fact.least =
            fact.is_bounded && sp_poly_is_whole(symbolic, args[0].poly) && never_negative(symbolic, args[0].poly, 1);
    return fact;
}

static struct sp_sym unknown_call(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                                  const struct sp_sym *args, size_t count)
{
    const struct sp_fact fact = call_fact(symbolic, operation, args);
    struct sp_text text = {0};
    if (fact.is_condition) mark(symbolic, args[0], false, true);
    sp_text_printf(&text, "%s%s(", fact.is_condition ? "[" : "", operation->function->name);
    for (size_t i = 0; i < count; i++) sp_text_printf(&text, "%s%s", i ? ", " : "", sp_sym_words(symbolic, args[i]));
    sp_text_puts(&text, fact.is_condition ? ")]" : ")");
    const char *atom = sp_text_keep(&text, &symbolic->algebra.arena);
    return sp_atom_computed(symbolic, operation, args, count, fact, atom);
}

/* What can be said without knowing the arguments; false when that is nothing. */
static bool call_known(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                       size_t count, struct sp_sym *out)
{
    const bool is_extreme = is_named(operation, "min") || is_named(operation, "max");
    const struct sp_sym first = args[0];
    const bool is_list = first.kind == SP_SYM_OPAQUE && first.items;
    if (is_extreme && count > 1) return extreme(symbolic, operation, args, count, out);
    if (is_extreme && is_list && first.count) return extreme(symbolic, operation, first.items, first.count, out);
    if (is_named(operation, "sum") && is_list) {
        const struct sp_poly *sum = sum_of_items(symbolic, first.items, first.count);
        *out = sp_sym_of_poly(sum ? sum : first.poly);
        return sum != NULL;
    }
    *out = first;
    if (is_named(operation, "int")) return first.kind == SP_SYM_NUMBER && sp_poly_is_whole(symbolic, first.poly);
    if (is_named(operation, "at") && is_list) return item_at(symbolic, operation, args, out);
    if (is_named(operation, "at") && symbolic->fixed.scalars && first.kind == SP_SYM_NUMBER) return true;
    if (is_named(operation, "len") && is_list) {
        *out = sp_sym_of_poly(sp_poly_int(&symbolic->algebra, (int64_t)first.count));
        return true;
    }
    return false;
}

static bool takes_list(const struct sp_operation *operation)
{
    return is_named(operation, "len") || is_named(operation, "sum") || is_named(operation, "min") ||
           is_named(operation, "max");
}

static bool call(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                 size_t count, struct sp_sym *out)
{
    struct sp_value *values = sp_arena_array(&symbolic->algebra.arena, count, sizeof *values), result;
    const char *problem = NULL;
    bool known = true;
    for (size_t i = 0; i < count; i++) known = sp_sym_literal(args[i], &values[i]) && known;
    result = values[0];
    if (known && operation->function->apply(values, count, &result, &problem)) {
        *out = sp_sym_of_value(symbolic, result);
        return true;
    }
    if (known) return sp_sym_fail(symbolic, operation->span, "%s: %s", operation->function->name, problem);
    const size_t mistakes = symbolic->report.mistakes;
    if (call_known(symbolic, operation, args, count, out)) return true;
    if (symbolic->report.mistakes > mistakes) return false;
    if (takes_list(operation)) mark(symbolic, args[0], true, false);
    *out = unknown_call(symbolic, operation, args, count);
    if (is_named(operation, "at")) sp_atom_side(symbolic, args, *out);
    return true;
}

/* ---- all of them ---- */

static bool sum(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                struct sp_sym *out)
{
    *out = sp_sym_of_poly(
        sp_sym_sum(symbolic, operation->span, operation->index, args[0].poly, args[1].poly, args[2].poly));
    return true;
}

bool sp_sym_operate(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                    size_t count, struct sp_sym *out)
{
    if (operation->kind == SP_DO_CHOICE) return choose(symbolic, operation, args, out);
    if (operation->kind == SP_DO_SUM) return sum(symbolic, operation, args, out);
    for (size_t i = 0; i < count; i++) {
        if (sp_sym_is_set(args[i])) continue;
        *out = args[i]; /* absent and null are contagious */
        return true;
    }
    for (size_t i = 0; i < count; i++)
        if (args[i].kind == SP_SYM_EITHER) return both_ways(symbolic, operation, args, count, i, out);
    switch (operation->kind) {
    case SP_DO_BINARY:
        return binary(symbolic, operation, args, out);
    case SP_DO_TRUTH:
        *out = truth_of(symbolic, operation->span, args[0]);
        return true;
    case SP_DO_CALL:
        return call(symbolic, operation, args, count, out);
    default:
        return item_at(symbolic, operation, args, out);
    }
}
