/* SPDX-License-Identifier: MIT */
#include "prove/assignment.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "lang/functions.h"
#include "prove/symbolic/atoms.h"

enum {
    MAX_DEPTH = 400,     /* atoms computed within one another: bounds the stack */
    MAX_ITERATIONS = 512 /* of a sum: bounds the time for one point */
};

/* Of an atom since the last change. */
enum {
    STATE_NEW,
    STATE_BUSY, /* it is being computed: met again, it would be computed from itself */
    STATE_KNOWN,
    STATE_NONE /* it has no value */
};

void sp_assignment_open(struct sp_assignment *numbers, struct sp_count *count)
{
    const size_t size = count->symbolic.algebra.atom_count;
    *numbers = (struct sp_assignment){.count = count, .size = size};
    numbers->states = sp_realloc(NULL, size, 1);
    numbers->values = sp_realloc(NULL, size, sizeof *numbers->values);
    numbers->set = sp_realloc(NULL, size, sizeof *numbers->set);
    numbers->instead = sp_realloc(NULL, size, sizeof *numbers->instead);
    memset(numbers->states, STATE_NEW, size);
    for (size_t i = 0; i < size; i++) numbers->set[i] = false;
    for (size_t i = 0; i < size; i++) numbers->instead[i] = NULL;
}

void sp_assignment_free(struct sp_assignment *numbers)
{
    sp_free(numbers->states);
    sp_free(numbers->values);
    sp_free(numbers->set);
    sp_free(numbers->instead);
    *numbers = (struct sp_assignment){0};
}

/* Forgets what was computed before a value changed. */
static void forget(struct sp_assignment *numbers)
{
    if (numbers->depth || !numbers->is_stale) return;
    for (size_t i = 0; i < numbers->size; i++) numbers->states[i] = numbers->set[i] ? STATE_KNOWN : STATE_NEW;
    numbers->is_stale = false;
}

void sp_assignment_stand_for(struct sp_assignment *numbers, const struct sp_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->atoms[i] < numbers->size && !numbers->instead[values->atoms[i]])
            numbers->instead[values->atoms[i]] = values->values[i];
    numbers->is_stale = true;
}

void sp_assignment_set(struct sp_assignment *numbers, size_t atom, struct sp_rational value)
{
    numbers->set[atom] = true;
    numbers->values[atom] = value;
    numbers->is_stale = true;
}

void sp_assignment_unset(struct sp_assignment *numbers, size_t atom)
{
    numbers->set[atom] = false;
    numbers->is_stale = true;
}

/* ---- operations ---- */

static int64_t rounded_down(struct sp_rational value) { return value.num / value.den - (value.num % value.den < 0); }

static bool floor_quotient(struct sp_rational a, struct sp_rational b, struct sp_rational *value)
{
    if (!sp_rational_div(a, b, value)) return false;
    *value = sp_rational_int(rounded_down(*value));
    return true;
}

/* The value of `a op b` in exact fractions. Truths are 0 and 1. Only EQ and LT are compared: the other comparisons were
 * written with these. False where it has no value: division by zero, an overflow, or an exponent that is no whole
 * number from 0 to 64. */
static bool operate_on_numbers(enum sp_op op, struct sp_rational a, struct sp_rational b, struct sp_rational *value)
{
    struct sp_rational part;
    switch (op) {
    case SP_OP_ADD:
        return sp_rational_add(a, b, value);
    case SP_OP_SUB:
        return sp_rational_sub(a, b, value);
    case SP_OP_MUL:
        return sp_rational_mul(a, b, value);
    case SP_OP_DIV:
        return sp_rational_div(a, b, value);
    case SP_OP_FLOOR:
        return floor_quotient(a, b, value);
    case SP_OP_MOD: /* a - (a // b)*b */
        return floor_quotient(a, b, &part) && sp_rational_mul(part, b, &part) && sp_rational_sub(a, part, value);
    case SP_OP_POW:
        return b.den == 1 && b.num >= 0 && b.num <= 64 && sp_rational_power(a, (int)b.num, value);
    case SP_OP_EQ:
        *value = sp_rational_int(sp_rational_compare(a, b) == 0);
        return true;
    case SP_OP_LT:
        *value = sp_rational_int(sp_rational_compare(a, b) < 0);
        return true;
    default:
        return false;
    }
}

/* The value of an argument of an operation. False for a text or a list, too. */
static bool argument(struct sp_assignment *numbers, struct sp_sym sym, struct sp_rational *value)
{
    return sym.kind <= SP_SYM_CONDITION && sp_assignment_of(numbers, sym.poly, value);
}

/* The smallest argument, or the largest. */
static bool extreme_of(struct sp_assignment *numbers, const struct sp_origin *origin, bool largest,
                       struct sp_rational *value)
{
    struct sp_rational other;
    for (size_t i = 0; i < origin->count; i++) {
        if (!argument(numbers, origin->args[i], i ? &other : value)) return false;
        if (i && (sp_rational_compare(other, *value) > 0) == largest && sp_rational_compare(other, *value) != 0)
            *value = other;
    }
    return origin->count > 0;
}

/* The value of a function of the table language, which is computed as a prediction does it. False when an argument has
 * no value, or the result is neither an integer nor a truth. */
static bool call(struct sp_assignment *numbers, const struct sp_origin *origin, struct sp_rational *value)
{
    struct shapeproof_value args[SP_MAX_PARAMS], result = sp_value_int(0);
    const char *name = origin->operation.function->name, *problem = NULL;
    struct sp_rational number;
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) return extreme_of(numbers, origin, name[1] == 'a', value);
    if (origin->count > SP_MAX_PARAMS) return false;
    for (size_t i = 0; i < origin->count; i++) {
        if (!argument(numbers, origin->args[i], &number)) return false;
        args[i] = origin->args[i].kind == SP_SYM_CONDITION ? sp_value_bool(number.num != 0) : sp_value_int(number.num);
        if (number.den != 1) args[i] = sp_value_real((double)number.num / (double)number.den);
    }
    sp_budget_spend(sp_function_cost(origin->operation.function, args, origin->count));
    if (!sp_function_apply(origin->operation.function, &numbers->count->symbolic.algebra.arena, args, origin->count,
                           &result, &problem))
        return false;
    if (result.type == SHAPEPROOF_VALUE_INT) *value = sp_rational_int(result.integer);
    else if (result.type == SHAPEPROOF_VALUE_BOOL) *value = sp_rational_int(result.boolean);
    return result.type == SHAPEPROOF_VALUE_INT || result.type == SHAPEPROOF_VALUE_BOOL;
}

/* Forgets what was computed from the index of the loop: it is computed anew in each iteration. */
static void forget_iteration(struct sp_assignment *numbers, uint64_t index)
{
    for (size_t i = 0; i < numbers->size; i++)
        if (!numbers->set[i] && (sp_atom_info(&numbers->count->symbolic, i)->depends & index))
            numbers->states[i] = STATE_NEW;
}

/* The sum of args[0] while the index runs from args[1] to args[2], by adding up. The index is set to each number in
 * turn, and is not set behind the loop. False when a bound is unknown or no whole number, when the loop has more than
 * MAX_ITERATIONS, or when an iteration has no value. */
static bool sum(struct sp_assignment *numbers, const struct sp_origin *origin, struct sp_rational *value)
{
    const size_t index = origin->operation.index;
    const uint64_t bit = sp_atom_info(&numbers->count->symbolic, index)->depends;
    struct sp_rational first, last, iteration;
    *value = sp_rational_int(0);
    if (index >= numbers->size || !argument(numbers, origin->args[1], &first) ||
        !argument(numbers, origin->args[2], &last) || first.den != 1 || last.den != 1)
        return false;
    if (last.num >= first.num && (uint64_t)last.num - (uint64_t)first.num >= MAX_ITERATIONS) return false;
    bool good = true;
    for (int64_t i = first.num; good && i <= last.num; i++) {
        forget_iteration(numbers, bit);
        numbers->set[index] = true;
        numbers->values[index] = sp_rational_int(i);
        numbers->states[index] = STATE_KNOWN;
        good = argument(numbers, origin->args[0], &iteration) && sp_rational_add(*value, iteration, value);
        numbers->set[index] = false;
    }
    forget_iteration(numbers, bit);
    return good;
}

/* The value of an atom that is computed from others, by how it was computed. False when it has none, such as an item or
 * a member of what is not known. */
static bool computed(struct sp_assignment *numbers, const struct sp_origin *origin, struct sp_rational *value)
{
    struct sp_rational a, b;
    switch (origin->operation.kind) {
    case SP_DO_BINARY:
        return argument(numbers, origin->args[0], &a) && argument(numbers, origin->args[1], &b) &&
               operate_on_numbers(origin->operation.op, a, b, value);
    case SP_DO_TRUTH:
        if (!argument(numbers, origin->args[0], &a)) return false;
        *value = sp_rational_int(a.num != 0);
        return true;
    case SP_DO_CHOICE:
        return argument(numbers, origin->args[0], &a) && argument(numbers, origin->args[a.num ? 1 : 2], value);
    case SP_DO_CALL:
        return call(numbers, origin, value);
    case SP_DO_SUM:
        return sum(numbers, origin, value);
    default:
        return false;
    }
}

/* ---- atoms ---- */

/* The value of an atom that is not set:
 *
 *     H, for which 4*E stands       that of 4*E
 *     patch_size[0]                 that of patch_size, which is one number for both sides
 *     min(F, L)                     computed from those of F and L
 *     any other hyper-parameter     none */
static bool find_number(struct sp_assignment *numbers, size_t atom, struct sp_rational *value)
{
    if (numbers->instead[atom]) return sp_assignment_of(numbers, numbers->instead[atom], value);
    const struct sp_symbol_info *symbol = sp_symbol_of(numbers->count, atom);
    const struct sp_origin *origin = sp_atom_info(&numbers->count->symbolic, atom)->origin;
    const bool is_hyperparameter = symbol && !symbol->is_computed;
    if (!origin) return false;
    if (!is_hyperparameter) return computed(numbers, origin, value);
    const bool is_side_of_pair = origin->operation.kind == SP_DO_CALL;
    return is_side_of_pair && argument(numbers, origin->args[0], value);
}

bool sp_assignment_of_atom(struct sp_assignment *numbers, size_t atom, struct sp_rational *value)
{
    forget(numbers);
    if (atom >= numbers->size || numbers->states[atom] == STATE_NONE) return false;
    if (numbers->states[atom] == STATE_KNOWN) {
        *value = numbers->values[atom];
        return true;
    }
    if (numbers->states[atom] == STATE_BUSY || numbers->depth >= MAX_DEPTH) return false;
    numbers->states[atom] = STATE_BUSY;
    numbers->depth++;
    const bool good = find_number(numbers, atom, value);
    numbers->depth--;
    numbers->states[atom] = good ? STATE_KNOWN : STATE_NONE;
    if (good) numbers->values[atom] = *value;
    return good;
}

/* Adds up the terms. A term with a factor of 0 is 0 even when another of its factors has no value, as in [i < n]*w[i]:
 * all its factors are looked at for a 0 before the term counts as one without a value. */
bool sp_assignment_of(struct sp_assignment *numbers, const struct sp_poly *poly, struct sp_rational *value)
{
    if (!poly || numbers->count->symbolic.algebra.failed) return false;
    struct sp_rational total = sp_rational_int(0);
    for (size_t i = 0; i < poly->count; i++) {
        struct sp_rational term = poly->terms[i].coefficient;
        bool is_zero = false, good = true;
        for (size_t k = 0; k < poly->terms[i].count && !is_zero; k++) {
            const struct sp_factor factor = poly->terms[i].factors[k];
            struct sp_rational power;
            const bool known = sp_assignment_of_atom(numbers, factor.atom, &power);
            is_zero = known && power.num == 0 && factor.exponent > 0;
            good = good && known && sp_rational_power(power, factor.exponent, &power) &&
                   sp_rational_mul(term, power, &term);
        }
        if (!is_zero && (!good || !sp_rational_add(total, term, &total))) return false;
    }
    *value = total;
    return true;
}
