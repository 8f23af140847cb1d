/* SPDX-License-Identifier: MIT
 * One function for each kind of expression. Of its operands one must be unknown and the others known: it computes what
 * the unknown one must be, and goes on with that operand, down to a key. Every function takes the wanted value as
 * `want`, and returns what sp_invert does. */
#include "solve/invert.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "lang/functions.h"
#include "solve/limits.h"
#include "solve/literals.h"

static enum sp_answer solve(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                            const struct sp_want *want);

static enum sp_answer solve_value(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                  struct shapeproof_value value)
{
    const struct sp_want want = sp_want_value(value);
    return solve(solver, env, expr, &want);
}

/* The answer to two demands that must both be met. */
static enum sp_answer both(enum sp_answer a, enum sp_answer b)
{
    if (a == SP_CONTRADICTS || b == SP_CONTRADICTS) return SP_CONTRADICTS;
    return a == SP_HOLDS && b == SP_HOLDS ? SP_HOLDS : SP_OPEN;
}

static bool is_unknown_value(struct shapeproof_value value) { return value.type == SHAPEPROOF_VALUE_UNKNOWN; }

/* ---- keys ---- */

/* The table's own function that a call is of, and in `own` the environment of its body; NULL when it is one of the
 * language. */
static const struct sp_definition *function_of(const struct sp_env *env, const struct sp_expr *expr, struct sp_env *own)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr);
    if (meaning.kind != SP_MEANS_DEFINITION || !meaning.definition->is_function) return NULL;
    *own = sp_definition_env(env, meaning);
    return meaning.definition;
}

/* A name: a definition or parameter is followed to the expression that it stands for; a key is told its value. */
static enum sp_answer solve_name(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                 const struct sp_want *want)
{
    struct sp_env own = *env;
    const struct sp_meaning meaning = sp_meaning_of(env, expr);
    if (meaning.kind == SP_MEANS_LOOP || meaning.kind == SP_MEANS_ARGUMENT) return SP_OPEN;
    if (meaning.kind != SP_MEANS_KEY)
        return sp_meaning_open(&own, &expr) ? solve(solver, &own, expr, want) : SP_CONTRADICTS;
    const struct sp_given *given = sp_view_given(env->frame->view, expr->name);
    if (given) return solve(solver, given->open.env, given->open.expr, want);
    return sp_known_tell(&solver->known, sp_solver_path(solver, env, expr->name), want);
}

/* ---- arithmetic ---- */

/* The expression is to be that integer; SP_CONTRADICTS if it is not `possible`, because a division had a remainder or
 * something overflowed. */
static enum sp_answer solve_int(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                bool possible, int64_t value)
{
    return possible ? solve_value(solver, env, expr, sp_value_int(value)) : SP_CONTRADICTS;
}

/* Solves `expr * factor = product`, of integers exactly, otherwise in real numbers. */
static enum sp_answer solve_quotient(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                     struct shapeproof_value product, struct shapeproof_value factor)
{
    const double by = sp_value_as_real(factor), quotient = sp_value_as_real(product) / by;
    if (by == 0) return sp_value_as_real(product) == 0 ? SP_OPEN : SP_CONTRADICTS;
    if (product.type == SHAPEPROOF_VALUE_INT && factor.type == SHAPEPROOF_VALUE_INT) {
        int64_t whole = 0;
        const bool divides = sp_divide_i64(product.integer, factor.integer, &whole);
        return solve_int(solver, env, expr, divides, whole);
    }
    if (quotient == floor(quotient) && fabs(quotient) < 1e15)
        return solve_value(solver, env, expr, sp_value_int((int64_t)quotient));
    return solve_value(solver, env, expr, sp_value_real(quotient));
}

/* The integer whose power of that degree is the value: (27, 3) -> 3. -1 when there is none. */
static int64_t integer_root(int64_t value, int64_t degree)
{
    if (value < 0 || degree < 1) return -1;
    if (value < 2 || degree == 1) return value;
    const int64_t near = (int64_t)llround(pow((double)value, 1.0 / (double)degree));
    /* `near` may be off by 1. The powers of a root of at least 2 overflow soon. */
    for (int64_t root = near > 2 ? near - 1 : 2; root <= near + 1; root++) {
        int64_t power = 1;
        bool fits = true;
        for (int64_t i = 0; i < degree && fits; i++) fits = !__builtin_mul_overflow(power, root, &power);
        if (fits && power == value) return root;
    }
    return -1;
}

/* What the left operand must be when the right one is known: `left op right = want`, where op is no product. Of several
 * values with the same rounded quotient, left // 3 = 4, the one without a remainder, 12. False when there is none. */
static bool invert_left(enum sp_op op, int64_t right, int64_t want, int64_t *left)
{
    if (op == SP_OP_ADD) return !__builtin_sub_overflow(want, right, left);
    if (op == SP_OP_SUB) return !__builtin_add_overflow(want, right, left);
    if (op == SP_OP_POW) return (*left = integer_root(want, right)) >= 0;
    return !__builtin_mul_overflow(want, right, left);
}

/* What the right operand must be when the left one is known. Of 14 // right = 4 that is 3; 14 // right = 5 has none. */
static bool invert_right(enum sp_op op, int64_t left, int64_t want, int64_t *right)
{
    if (op == SP_OP_ADD) return !__builtin_sub_overflow(want, left, right);
    if (op == SP_OP_SUB) return !__builtin_sub_overflow(left, want, right);
    *right = want > 0 ? left / want : 0;
    return *right > 0 && left / *right == want;
}

/* The value as an integer; false when it is a real number with a fraction. Inside int() an integer is wanted as a real
 * number. */
static bool as_whole(struct shapeproof_value value, int64_t *whole)
{
    const double real = sp_value_as_real(value);
    if (value.type == SHAPEPROOF_VALUE_INT) *whole = value.integer;
    else if (real != floor(real) || fabs(real) >= 1e15) return false;
    else *whole = (int64_t)real;
    return true;
}

/* Solves `left op right = wanted` for the side x that is unknown:
 *
 *     x + 3 = 8, 3 + x = 8     5          x - 3 = 8     11    3 - x = -5    8
 *     x * 3 = 12, 3 * x = 12   4          x / 3 = 4     12    12 / x = 4    3
 *     x // 3 = 4               12, as rounded: 13 and 14 would do as well
 *     x ** 2 = 9               3          2 ** x, x % 3 and 3 % x are left open
 *
 * A product may be of real numbers; the others only of integers. */
static enum sp_answer solve_arithmetic(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                       const struct sp_want *want)
{
    const struct shapeproof_value left = sp_solver_value(solver, env, expr->args[0]),
                                  right = sp_solver_value(solver, env, expr->args[1]);
    if (want->kind != SP_WANT_VALUE || !sp_value_is_number(want->value)) return SP_CONTRADICTS;
    if (is_unknown_value(left) && is_unknown_value(right)) return SP_OPEN;
    const struct shapeproof_value known = is_unknown_value(left) ? right : left;
    const struct sp_expr *unknown = expr->args[is_unknown_value(left) ? 0 : 1];
    if (!sp_value_is_number(known)) return SP_CONTRADICTS;
    if (expr->op == SP_OP_MUL) return solve_quotient(solver, env, unknown, want->value, known);
    if (expr->op == SP_OP_MOD || (expr->op == SP_OP_POW && is_unknown_value(right))) return SP_OPEN;
    int64_t wanted, value = 0;
    if (known.type != SHAPEPROOF_VALUE_INT || !as_whole(want->value, &wanted)) return SP_OPEN;
    const bool possible = is_unknown_value(left) ? invert_left(expr->op, known.integer, wanted, &value)
                                                 : invert_right(expr->op, known.integer, wanted, &value);
    bool *rounded = &solver->known.reason.rounded; /* of whatever key is told below */
    const bool was_rounded = *rounded;
    *rounded = was_rounded || expr->op == SP_OP_FLOOR;
    const enum sp_answer answer = solve_int(solver, env, unknown, possible, value);
    *rounded = was_rounded;
    return answer;
}

/* ---- conditions ---- */

/* Whether the operands are absent(key) and null(key), of one key that is no sub-configuration. */
static bool is_about_one_lack(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *left,
                              const struct sp_expr *right)
{
    const bool is_lack = left->kind == SP_EXPR_CALL && right->kind == SP_EXPR_CALL && left->count == 1 &&
                         right->count == 1 && strcmp(left->name, "absent") == 0 && strcmp(right->name, "null") == 0 &&
                         left->args[0]->kind == SP_EXPR_NAME && right->args[0]->kind == SP_EXPR_NAME &&
                         left->args[0]->name == right->args[0]->name;
    const char *key = is_lack ? sp_solver_key(solver, env, left->args[0]) : NULL;
    return key && !sp_known_is_object(&solver->known, key);
}

/* Whether the operands are about one list: "decoder" in lhuc, and "all" in lhuc. */
static bool is_about_one_list(const struct sp_expr *left, const struct sp_expr *right)
{
    return left->kind == SP_EXPR_BINARY && right->kind == SP_EXPR_BINARY && left->op == SP_OP_IN &&
           right->op == SP_OP_IN && left->args[1]->kind == SP_EXPR_NAME && right->args[1]->kind == SP_EXPR_NAME &&
           left->args[1]->name == right->args[1]->name;
}

/* `a and b` is to be true, or `a or b` is to be false: both operands must be so. In the other two cases one of them
 * must: if the other is known not to be, this one is told (unit propagation). With neither known that stays open,
 * except for "x" in list or "y" in list, and absent(key) or null(key), where the first is told. */
static enum sp_answer solve_logic(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                  bool want)
{
    const struct shapeproof_value so = sp_value_bool(want);
    if ((expr->op == SP_OP_AND) == want)
        return both(solve_value(solver, env, expr->args[0], so), solve_value(solver, env, expr->args[1], so));
    const struct shapeproof_value left = sp_solver_value(solver, env, expr->args[0]),
                                  right = sp_solver_value(solver, env, expr->args[1]);
    if ((!is_unknown_value(left) && sp_value_is_true(left) == want) ||
        (!is_unknown_value(right) && sp_value_is_true(right) == want))
        return SP_HOLDS;
    if (is_unknown_value(left) && is_unknown_value(right) && !is_about_one_list(expr->args[0], expr->args[1]) &&
        !is_about_one_lack(solver, env, expr->args[0], expr->args[1]))
        return SP_OPEN;
    return solve_value(solver, env, expr->args[is_unknown_value(left) ? 0 : 1], so);
}

/* If `item` is an item of a list, and the items are one of two texts as far as its default or else the table shows, the
 * one of them that is not `text`: layer_types[i] != "full" -> "sliding". NULL otherwise. */
static const char *only_other_text(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *item,
                                   const char *text)
{
    struct sp_literals own = {0};
    const char *other = NULL;
    for (; item->kind == SP_EXPR_DEFAULT; item = item->args[0]) sp_literals_in(&own, item->args[1]);
    const char *list = item->kind == SP_EXPR_INDEX ? sp_solver_key(solver, env, item->args[0]) : NULL;
    const struct sp_literals *texts = list && !own.count ? sp_solver_texts(solver, list) : &own;
    for (size_t i = 0; i < texts->count && list; i++)
        if (strcmp(texts->list[i], text) != 0) other = texts->list[i];
    if (texts->count != 2 || !sp_literals_have(texts, text)) other = NULL;
    sp_literals_free(&own);
    return other;
}

/* Solves `a == b` (equal) or `a != b` for the side that is unknown. An inequality has one answer only for a flag, and
 * for one of two texts. */
static enum sp_answer solve_equality(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                     bool equal)
{
    const struct shapeproof_value left = sp_solver_value(solver, env, expr->args[0]),
                                  right = sp_solver_value(solver, env, expr->args[1]);
    if (is_unknown_value(left) && is_unknown_value(right)) return SP_OPEN;
    const struct shapeproof_value known = is_unknown_value(left) ? right : left;
    const struct sp_expr *unknown = expr->args[is_unknown_value(left) ? 0 : 1];
    if (equal) return solve_value(solver, env, unknown, known);
    if (known.type == SHAPEPROOF_VALUE_BOOL) return solve_value(solver, env, unknown, sp_value_bool(!known.boolean));
    const char *other =
        known.type == SHAPEPROOF_VALUE_STRING ? only_other_text(solver, env, unknown, known.string) : NULL;
    return other ? solve_value(solver, env, unknown, sp_value_string(other)) : SP_OPEN;
}

/* Solves `item in list` (member) or `item not in list`: an unknown item of a list of one, or a known item, which the
 * list is told that it has or lacks. */
static enum sp_answer solve_membership(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                       bool member)
{
    const struct shapeproof_value item = sp_solver_value(solver, env, expr->args[0]),
                                  list = sp_solver_value(solver, env, expr->args[1]);
    if (is_unknown_value(item) && list.type == SHAPEPROOF_VALUE_LIST && list.count == 1 && member)
        return solve_value(solver, env, expr->args[0], list.items[0]);
    if (is_unknown_value(item)) return SP_OPEN;
    const struct sp_want want = {.kind = SP_WANT_MEMBER, .value = item, .lacks = !member};
    return solve(solver, env, expr->args[1], &want);
}

/* A binary operator: arithmetic, or a condition that is to be true or false. That `a == b` is true gives a value, that
 * `a < b` is does not. */
static enum sp_answer solve_operator(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                     const struct sp_want *want)
{
    if (expr->op <= SP_OP_POW) return solve_arithmetic(solver, env, expr, want);
    if (want->kind != SP_WANT_VALUE || want->value.type != SHAPEPROOF_VALUE_BOOL) return SP_CONTRADICTS;
    const bool so = want->value.boolean;
    switch (expr->op) {
    case SP_OP_AND:
    case SP_OP_OR:
        return solve_logic(solver, env, expr, so);
    case SP_OP_EQ:
    case SP_OP_NE:
        return solve_equality(solver, env, expr, (expr->op == SP_OP_EQ) == so);
    case SP_OP_IN:
    case SP_OP_NOT_IN:
        return solve_membership(solver, env, expr, (expr->op == SP_OP_IN) == so);
    default:
        return SP_OPEN; /* less and greater leave more than one value */
    }
}

/* not x, -x. */
static enum sp_answer solve_unary(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                  const struct sp_want *want)
{
    if (want->kind != SP_WANT_VALUE) return SP_CONTRADICTS;
    if (expr->op == SP_OP_NOT && want->value.type == SHAPEPROOF_VALUE_BOOL)
        return solve_value(solver, env, expr->args[0], sp_value_bool(!want->value.boolean));
    if (expr->op != SP_OP_NEGATE || !sp_value_is_number(want->value)) return SP_CONTRADICTS;
    if (want->value.type == SHAPEPROOF_VALUE_REAL)
        return solve_value(solver, env, expr->args[0], sp_value_real(-want->value.real));
    int64_t negated = 0;
    const bool fits = !__builtin_sub_overflow((int64_t)0, want->value.integer, &negated);
    return solve_int(solver, env, expr->args[0], fits, negated);
}

/* ---- alternatives ---- */

/* Tells that the condition of `condition ? a : b` is `so`, as a guess about the key `lacks`, because the other
 * alternative may be what is wanted as well. It is no guess when nothing was told. */
static enum sp_answer presume(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *condition,
                              const char *lacks, bool so)
{
    struct sp_known *known = &solver->known;
    const size_t told = known->told, guesses = known->guesses, touched = known->touched;
    sp_known_guess(known, lacks);
    const enum sp_answer answer = solve_value(solver, env, condition, sp_value_bool(so));
    if (known->told != told) return answer;
    known->guesses = guesses;
    known->touched = touched;
    return answer;
}

/* Solves `condition ? a : b = wanted`. A known condition chooses the alternative to go on with. Otherwise the
 * alternatives tell the condition: true if a is what is wanted or b cannot be, false in the reverse case; if both are
 * alike in this, they decide, except that solver->supposes takes the first of two unknown ones. */
static enum sp_answer solve_choice(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                   const struct sp_want *want)
{
    const struct shapeproof_value condition = sp_solver_value(solver, env, expr->args[0]);
    if (!is_unknown_value(condition)) return solve(solver, env, expr->args[sp_value_is_true(condition) ? 1 : 2], want);
    const enum sp_answer yes = sp_value_satisfies(sp_solver_value(solver, env, expr->args[1]), want);
    const enum sp_answer no = sp_value_satisfies(sp_solver_value(solver, env, expr->args[2]), want);
    const bool is_supposed = solver->supposes && yes == SP_OPEN && no == SP_OPEN;
    if (yes == no && !is_supposed) return yes; /* both will do, neither will, or too little is known */
    const bool chosen = yes == SP_HOLDS || no == SP_CONTRADICTS || is_supposed;
    const enum sp_answer decided = yes != SP_CONTRADICTS && no != SP_CONTRADICTS && *condition.string
                                       ? presume(solver, env, expr->args[0], condition.string, chosen)
                                       : solve_value(solver, env, expr->args[0], sp_value_bool(chosen));
    return both(decided, solve(solver, env, expr->args[chosen ? 1 : 2], want));
}

/* Tells that the key is absent or null: `unset` is one of these types. */
static enum sp_answer tell_unset(struct sp_solver *solver, const char *key, enum shapeproof_value_type unset)
{
    const struct sp_want without = sp_want_value((struct shapeproof_value){.type = unset, .string = key});
    return sp_known_tell(&solver->known, key, &without);
}

/* Whether the expression is what is wanted if the key is absent, or null. */
static bool holds_without(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                          const struct sp_want *want, const char *key, enum shapeproof_value_type unset)
{
    struct sp_known *known = &solver->known;
    const struct sp_mark mark = sp_known_mark(known);
    const bool holds = tell_unset(solver, key, unset) == SP_HOLDS &&
                       sp_value_satisfies(sp_solver_value(solver, env, expr), want) == SP_HOLDS;
    sp_known_undo(known, &mark);
    return holds;
}

static bool contains_index(const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_INDEX) return true;
    for (size_t i = 0; i < expr->count; i++)
        if (contains_index(expr->args[i])) return true;
    return false;
}

/* Whether the key need not be told because its default, which depends on other keys, is what is wanted already
 * (solver->known.spares_defaults). */
static bool is_spared(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                      const struct sp_want *want)
{
    if (expr->args[1]->kind == SP_EXPR_LITERAL) return false;
    solver->known.asked |= SP_ASKED_DEFAULTS;
    if (!solver->known.spares_defaults ||
        sp_value_satisfies(sp_solver_value(solver, env, expr->args[1]), want) != SP_HOLDS)
        return false;
    solver->known.spared = true;
    return true;
}

/* Solves `first default rest = wanted`. If it is known whether `first` is set, it or the rest is what is wanted.
 * Otherwise mostly the first key gets the value: n_inner = 200 of `n_inner default 4*E`. But in this order
 *
 *     1  n default 8, with null meaning another   n is null, if that gives what is wanted and its absence does not
 *     2  kind == "auto" default ...               kind is not set, if that will do: else it could be any other text
 *     3  len(id2label) default num_labels ...     id2label is not set, and num_labels gets the number
 *     4  n_inner default 4*E, and 4*E is wanted   open, if solver->known.spares_defaults: n_inner may not be set at all
 */
static enum sp_answer solve_default(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                    const struct sp_want *want)
{
    const struct sp_expr *first = expr->args[0];
    const char *key = sp_solver_key(solver, env, first); /* NULL when it is no key by itself */
    const struct shapeproof_value value = sp_solver_value(solver, env, first);
    if (!is_unknown_value(value)) return solve(solver, env, sp_value_is_set(value) ? first : expr->args[1], want);
    /* 1 */
    if (want->kind == SP_WANT_VALUE && key && holds_without(solver, env, expr, want, key, SHAPEPROOF_VALUE_NULL) &&
        !holds_without(solver, env, expr, want, key, SHAPEPROOF_VALUE_ABSENT))
        return tell_unset(solver, key, SHAPEPROOF_VALUE_NULL);
    /* 2 */
    if (want->kind == SP_WANT_VALUE && first->kind == SP_EXPR_BINARY) {
        if (contains_index(first) && !solver->known.tell_items) return SP_OPEN;
        const char *compared = sp_solver_key(solver, env, first->args[0]);
        if (compared && holds_without(solver, env, expr, want, compared, SHAPEPROOF_VALUE_ABSENT))
            return tell_unset(solver, compared, SHAPEPROOF_VALUE_ABSENT);
        key = compared;
    }
    /* 3 */
    if (first->kind == SP_EXPR_CALL && strcmp(first->name, "len") == 0 && expr->args[1]->kind == SP_EXPR_DEFAULT) {
        const char *list = sp_solver_key(solver, env, first->args[0]);
        if (list && tell_unset(solver, list, SHAPEPROOF_VALUE_ABSENT) == SP_HOLDS)
            return solve(solver, env, expr->args[1], want);
        key = list;
    }
    /* 4 */
    if (key && is_spared(solver, env, expr, want)) return SP_OPEN;
    return solve(solver, env, first, want);
}

/* ---- lists and functions ---- */

/* The key that an expression for a list is: directly, or as the first operand of `key default [...]`; NULL when it is
 * none. */
static const char *key_of_list(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr)
{
    struct sp_env own = *env;
    const char *key = sp_solver_key(solver, &own, expr);
    for (int i = 0; i < SP_MOST_NAMES_IN_TURN && !key; i++) {
        if (expr->kind == SP_EXPR_NAME ? !sp_meaning_open(&own, &expr) : expr->kind != SP_EXPR_DEFAULT) return NULL;
        if (expr->kind == SP_EXPR_DEFAULT) expr = expr->args[0];
        key = sp_solver_key(solver, &own, expr);
    }
    return key;
}

/* An item of an item is to be something: layers[index][2], of which `expr` is the outer item. */
static enum sp_answer solve_inner_item(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                       int64_t index, const struct sp_want *want)
{
    const char *key = key_of_list(solver, env, expr->args[0]);
    return key ? sp_known_tell_inner(&solver->known, key, (size_t)index, want) : SP_OPEN;
}

/* What the list of an item may be in place of a list. */
enum list_form {
    LIST_ALONE,    /* depths[i]: it is a list */
    LIST_OR_SCALAR /* at(depths, i): a value that is no list stands for every item */
};

/* An item of a list, of which it must be known which one it is. */
static enum sp_answer solve_item(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                 const struct sp_want *want, enum list_form form)
{
    const struct shapeproof_value index = sp_solver_value(solver, env, expr->args[1]);
    const bool is_member = want->kind == SP_WANT_MEMBER;
    const struct sp_want whole = sp_want_value(want->value);
    if (want->kind == SP_WANT_ITEM && want->scalar && !want->is_member) want = &whole; /* of at(at(layers, i), j) */
    if (want->kind == SP_WANT_LENGTH || is_unknown_value(index)) return SP_OPEN;
    if (index.type != SHAPEPROOF_VALUE_INT || index.integer < 0) return SP_CONTRADICTS;
    if (want->kind == SP_WANT_ITEM) return solve_inner_item(solver, env, expr, index.integer, want);
    const struct sp_want item = {.kind = SP_WANT_ITEM,
                                 .value = want->value,
                                 .index = (size_t)index.integer,
                                 .scalar = form == LIST_OR_SCALAR,
                                 .is_member = is_member,
                                 .lacks = want->lacks};
    return solve(solver, env, expr->args[0], &item);
}

/* A list that the table writes, [E, 4*E]: its length is known, and an item is solved by itself. */
static enum sp_answer solve_list(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                 const struct sp_want *want)
{
    if (want->kind == SP_WANT_LENGTH) return want->value.integer == (int64_t)expr->count ? SP_HOLDS : SP_CONTRADICTS;
    if (want->kind != SP_WANT_ITEM) return SP_OPEN;
    if (want->index >= expr->count) return SP_CONTRADICTS;
    if (want->is_member) return SP_OPEN;
    return solve_value(solver, env, expr->args[want->index], want->value);
}

/* A member of a sub-configuration or of an item: vision_config.depth, layers[2].width. */
static enum sp_answer solve_member(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                   const struct sp_want *want)
{
    const char *key = sp_solver_key(solver, env, expr);
    if (!key) key = sp_eval_item_path(&solver->arena, sp_solver_value(solver, env, expr->args[0]), expr->name);
    return key ? sp_known_tell(&solver->known, key, want) : SP_OPEN;
}

/* A call of the table's own function: its body is solved, with the arguments as they are known. */
static enum sp_answer invert_call_own(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                      const struct sp_want *want)
{
    struct shapeproof_value args[SP_MAX_PARAMS];
    struct sp_env own;
    const struct sp_definition *function = function_of(env, expr, &own);
    if (!function || function->param_count != expr->count || expr->count > SP_MAX_PARAMS) return SP_CONTRADICTS;
    for (size_t i = 0; i < expr->count; i++) args[i] = sp_solver_value(solver, env, expr->args[i]);
    own.args = args;
    return solve(solver, &own, function->expr, want);
}

/* Solves starts_with(text, start): the text is the one of the table's that begins so, or the start itself if it names
 * none. Open when it names several. */
static enum sp_answer solve_start(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr)
{
    const struct shapeproof_value text = sp_solver_value(solver, env, expr->args[0]),
                                  start = sp_solver_value(solver, env, expr->args[1]);
    if (start.type != SHAPEPROOF_VALUE_STRING) return SP_OPEN;
    const size_t length = strlen(start.string);
    const bool has_texts = is_unknown_value(text) && *text.string && !sp_is_release(start.string);
    const struct sp_literals *texts = has_texts ? sp_solver_texts(solver, text.string) : NULL;
    const char *found = NULL;
    size_t count = 0;
    for (size_t i = 0; texts && i < texts->count; i++) {
        if (strncmp(texts->list[i], start.string, length) != 0 || !texts->list[i][length]) continue;
        found = texts->list[i];
        count++;
    }
    if (count > 1) return SP_OPEN;
    return solve_value(solver, env, expr->args[0], found ? sp_value_string(found) : start);
}

/* A call. Inverts the table's own functions, and those of the language that can be: len, at, int, round, starts_with,
 * absent and null. SP_OPEN for all others. */
static enum sp_answer solve_call(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                 const struct sp_want *want)
{
    struct sp_env own;
    const bool is_own = !expr->function || function_of(env, expr, &own); /* it may hide one of the language */
    if (is_own) return invert_call_own(solver, env, expr, want);
    if (strcmp(expr->name, "at") == 0) return solve_item(solver, env, expr, want, LIST_OR_SCALAR);
    if (want->kind != SP_WANT_VALUE) return SP_OPEN;
    if (strcmp(expr->name, "len") == 0 && want->value.type == SHAPEPROOF_VALUE_INT) {
        const struct sp_want length = {.kind = SP_WANT_LENGTH, .value = want->value};
        return solve(solver, env, expr->args[0], &length);
    }
    const bool rounds = strcmp(expr->name, "int") == 0 || strcmp(expr->name, "round") == 0;
    /* int(x) = 2730 is solved as x = 2730.0: a real number, so that a product within x need not be divisible. What int
     * cut off is found when the solution is computed forwards. */
    if (rounds && want->value.type == SHAPEPROOF_VALUE_INT)
        return solve_value(solver, env, expr->args[0], sp_value_real((double)want->value.integer));
    if (strcmp(expr->name, "starts_with") == 0 && sp_value_is_true(want->value)) return solve_start(solver, env, expr);
    const bool is_absent = strcmp(expr->name, "absent") == 0, is_null = strcmp(expr->name, "null") == 0;
    if ((is_absent || is_null) && sp_value_is_true(want->value))
        return solve_value(solver, env, expr->args[0],
                           (struct shapeproof_value){
                               .type = is_absent ? SHAPEPROOF_VALUE_ABSENT : SHAPEPROOF_VALUE_NULL, .string = ""});
    return SP_OPEN;
}

/* ---- all kinds ---- */

/* Finds the values of the keys in an expression with which it has the wanted value, by the kind of the expression. */
static enum sp_answer invert_dispatch(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                                      const struct sp_want *want)
{
    switch (expr->kind) {
    case SP_EXPR_NAME:
        return solve_name(solver, env, expr, want);
    case SP_EXPR_LIST:
        return solve_list(solver, env, expr, want);
    case SP_EXPR_UNARY:
        return solve_unary(solver, env, expr, want);
    case SP_EXPR_BINARY:
        return solve_operator(solver, env, expr, want);
    case SP_EXPR_CHOICE:
        return solve_choice(solver, env, expr, want);
    case SP_EXPR_DEFAULT:
        return solve_default(solver, env, expr, want);
    case SP_EXPR_CALL:
        return solve_call(solver, env, expr, want);
    case SP_EXPR_INDEX:
        return solve_item(solver, env, expr, want, LIST_ALONE);
    case SP_EXPR_MEMBER:
        return solve_member(solver, env, expr, want);
    case SP_EXPR_LITERAL: /* its value is known: there is nothing to tell */
    case SP_EXPR_GROUP:
    case SP_EXPR_BRACKET:
    case SP_EXPR_SUM:
    case SP_EXPR_STORED:
    case SP_EXPR_ACTIVE:
    case SP_EXPR_CACHE:
    case SP_EXPR_SIZING:
    case SP_EXPR_FLOPS:
    case SP_EXPR_ACTIVATIONS:
    case SP_EXPR_TENSORS:
        break;
    }
    return SP_CONTRADICTS;
}

/* sp_invert within another expression: decides by the value if it is known, and otherwise by the kind of the
 * expression. */
static enum sp_answer solve(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                            const struct sp_want *want)
{
    struct shapeproof_value value;
    if (solver->depth >= SP_DEEPEST_INVERSION) return SP_OPEN;
    if (!sp_solver_eval(solver, env, expr, &value)) return SP_CONTRADICTS;
    const enum sp_answer known = sp_value_satisfies(value, want);
    if (known != SP_OPEN) return known;
    solver->depth++;
    const enum sp_answer answer = invert_dispatch(solver, env, expr, want);
    solver->depth--;
    return answer;
}

enum sp_answer sp_invert(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                         const struct sp_want *want)
{
    solver->depth = 0;
    return solve(solver, env, expr, want);
}

enum sp_answer sp_invert_bool(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr, bool want)
{
    const struct sp_want value = sp_want_value(sp_value_bool(want));
    return sp_invert(solver, env, expr, &value);
}
