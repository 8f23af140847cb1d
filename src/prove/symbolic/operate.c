/* SPDX-License-Identifier: MIT
 * Which operation it is; and those whose arguments are either of two. */
#include "prove/symbolic/operations.h"

#include <string.h>

#include "prove/symbolic/sums.h"

/* ---- choices ---- */

struct sp_sym sp_sym_combine(struct sp_symbolic *symbolic, const struct sp_poly *c, struct sp_sym yes, struct sp_sym no)
{
    struct sp_algebra *algebra = &symbolic->algebra;
    struct sp_rational value;
    if (sp_poly_is_constant(c, &value)) return value.num ? yes : no;
    if (sp_sym_is_numeric(yes) && yes.kind == no.kind) {
        yes.poly = sp_poly_add(algebra, no.poly, sp_poly_mul(algebra, c, sp_poly_sub(algebra, yes.poly, no.poly)));
        yes.name = NULL;
        return yes;
    }
    struct sp_sym *either = sp_arena_array(&algebra->arena, 2, sizeof *either);
    either[0] = yes;
    either[1] = no;
    return (struct sp_sym){.kind = SP_SYM_EITHER, .poly = c, .either = either};
}

/* args[0] ? args[1] : args[2], as a number. */
static bool choose_either(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                          struct sp_sym *out)
{
    const struct sp_poly *number;
    const struct sp_sym chosen = sp_sym_combine(symbolic, args[0].poly, args[1], args[2]);
    if (!sp_sym_as_number(symbolic, operation->span, chosen, &number)) return false;
    *out = sp_sym_of_poly(number);
    return true;
}

/* The operation where args[which] is either of two values: it is done with both, and the results are combined. */
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

/* `a op b`: an order, texts one behind the other, arithmetic, == and `in`; != and `not in` are the negation of these.
 */
static bool operate_on_two(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                           const struct sp_sym *args, struct sp_sym *out)
{
    const enum sp_op op = operation->op;
    if (op >= SP_OP_LT && op <= SP_OP_GE) return sp_sym_order(symbolic, operation, args, out);
    if (op == SP_OP_ADD && (sp_sym_is_text(args[0]) || sp_sym_is_text(args[1])))
        return sp_sym_join(symbolic, operation, args, out);
    if (op != SP_OP_EQ && op != SP_OP_NE && op != SP_OP_IN && op != SP_OP_NOT_IN)
        return sp_sym_compute(symbolic, operation, args, out);
    if (op == SP_OP_EQ || op == SP_OP_NE) *out = sp_sym_equal(symbolic, args);
    else if (!sp_sym_member(symbolic, operation, args, out)) return false;
    if (op == SP_OP_NE || op == SP_OP_NOT_IN) out->poly = sp_sym_not(symbolic, out->poly);
    return true;
}

/* ---- all of them ---- */

/* The sum of args[0] over the index of the operation from args[1] to args[2]. */
static bool symbolic_sum(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                         struct sp_sym *out)
{
    *out = sp_sym_of_poly(
        sp_sym_sum(symbolic, operation->span, operation->index, args[0].poly, args[1].poly, args[2].poly));
    return true;
}

/* Three things are the same for all operations but a choice, a sum and a default. The result is absent or null when an
 * argument is, the first such. With an argument that is either of two values the operation is done with both. All else
 * depends on the operation. A default is done with both values of its first argument alone. */
bool sp_sym_operate(struct sp_symbolic *symbolic, const struct sp_operation *operation, const struct sp_sym *args,
                    size_t count, struct sp_sym *out)
{
    if (operation->kind == SP_DO_CHOICE) return choose_either(symbolic, operation, args, out);
    if (operation->kind == SP_DO_SUM) return symbolic_sum(symbolic, operation, args, out);
    if (operation->kind == SP_DO_DEFAULT && args[0].kind != SP_SYM_EITHER)
        return sp_sym_default(symbolic, operation, args, out);
    if (operation->kind == SP_DO_DEFAULT) return both_ways(symbolic, operation, args, count, 0, out);
    for (size_t i = 0; i < count; i++) {
        if (sp_sym_is_set(args[i])) continue;
        *out = args[i];
        return true;
    }
    for (size_t i = 0; i < count; i++)
        if (args[i].kind == SP_SYM_EITHER) return both_ways(symbolic, operation, args, count, i, out);
    switch (operation->kind) {
    case SP_DO_BINARY:
        return operate_on_two(symbolic, operation, args, out);
    case SP_DO_TRUTH:
        *out = sp_sym_truth(symbolic, operation->span, args[0]);
        return true;
    case SP_DO_MEMBER:
        return sp_sym_member_of(symbolic, operation, args, out);
    case SP_DO_CALL:
        return sp_sym_call(symbolic, operation, args, count, out);
    case SP_DO_INDEX:
    default:
        return sp_sym_item(symbolic, operation, args, out);
    }
}
