/* SPDX-License-Identifier: MIT
 * One constraint, propagated: the expression that it is about is inverted, and tells values of keys. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "infer/deduce.h"
#include "infer/limits.h"
#include "solve/invert.h"
#include "solve/iterations.h"

static struct sp_occurrence *occurrence_of(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    return &deduction->occurrences.of[constraint->line];
}

static bool is_unknown_answer(struct shapeproof_value value) { return value.type == SHAPEPROOF_VALUE_UNKNOWN; }

static bool is_truth_value(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_BOOL || value.type == SHAPEPROOF_VALUE_INT;
}

static bool is_false_answer(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_BOOL ? !value.boolean : value.type == SHAPEPROOF_VALUE_INT && !value.integer;
}

/* ---- why something is not there ---- */

/* Why a tensor may be absent. A tensor of `w for i in 0..N-1 if a and b, tied to t` is absent because a is false, or b
 * is, or the loop has no iterations, or it is tied: a disjunction, of which at least one term is true. If all but one
 * are known to be false, the last one must be true (unit propagation). */
struct excuse {
    bool holds;        /* a term is known to be true */
    bool broken;       /* a term cannot be computed */
    bool by_iteration; /* a condition on the index of a loop is among the terms */
    bool by_loop;      /* a loop that may have no iterations is among them */
    bool by_tie;       /* a tie is among them, beside such a loop */
    size_t unknown;    /* how many terms have no value yet; the last of them: */
    const struct sp_expr *expr;
    const struct sp_env *env;
    struct sp_want want; /* what `expr` is if the term is true */
    const char *lacks;   /* the first key without a value that any of them depends on, or NULL */
};

/* Adds a term without a value: `expr` would have to be `want`, and is the unknown `value`, which names a key. */
static void add_unknown_term(struct excuse *excuse, const struct sp_env *env, const struct sp_expr *expr,
                             struct shapeproof_value want, struct shapeproof_value value)
{
    if (!excuse->lacks && *value.string) excuse->lacks = value.string;
    excuse->unknown++;
    excuse->expr = expr;
    excuse->env = env;
    excuse->want = sp_want_value(want);
}

/* Whether the condition depends on the index of a loop of which it is not known that it has any iteration. */
static bool is_about_iterations(struct sp_deduction *deduction, const struct sp_line *line,
                                const struct sp_line_condition *condition)
{
    for (struct sp_loop *loop = line->loop; loop && sp_condition_varies(condition); loop = loop->outer)
        if (is_unknown_answer(loop->binding.value) && sp_condition_is_about(condition, loop) &&
            is_unknown_answer(sp_solver_value(deduction->solver, loop->env, loop->clause->last)))
            return true;
    return false;
}

/* Whether the expression names the index of a loop, whether or not its value depends on it. */
static bool mentions_iteration(const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME) return expr->reach == SP_REACH_LOOP;
    for (size_t i = 0; i < expr->count; i++)
        if (mentions_iteration(expr->args[i])) return true;
    return false;
}

/* A condition that depends on inner loops, evaluated in their iterations. */
struct iterations_of_condition {
    const struct sp_line_condition *condition;
    bool is_met;  /* it is true in one of them, which ends the walk */
    bool is_open; /* it has no value yet in one of them */
};

static bool visit_condition(struct sp_iterations *iterations)
{
    struct iterations_of_condition *of = iterations->context;
    const struct shapeproof_value value = sp_condition_value(iterations->solver, of->condition);
    of->is_met = sp_value_is_true(value);
    of->is_open |= is_unknown_answer(value);
    return !of->is_met;
}

/* Decides a condition that has no value only because it depends on inner loops: true when it is met in any of their
 * iterations, false when in none. Returns `value`, the unknown, when a bound or the condition itself is not known. */
static struct shapeproof_value value_in_iterations(struct sp_deduction *deduction,
                                                   const struct sp_constraint *constraint,
                                                   const struct sp_line_condition *condition,
                                                   struct shapeproof_value value)
{
    struct iterations_of_condition of = {.condition = condition};
    struct sp_iterations iterations = {.solver = deduction->solver,
                                       .line = occurrence_of(deduction, constraint)->line,
                                       .visit = visit_condition,
                                       .context = &of,
                                       .left = SP_MOST_ITERATIONS_ASKED};
    const bool all = sp_walk_iterations(&iterations);
    sp_loop_leave(iterations.line->loop);
    if (constraint->loop) sp_loop_enter(constraint->loop, constraint->iteration);
    if (of.is_met) return sp_value_bool(true);
    return all && !of.is_open ? sp_value_bool(false) : value;
}

/* The terms "this condition is false". A condition that only chooses between alternatives of the name is no term when
 * the tensor is not there under any of them (constraint->none). */
static void excuse_by_conditions(struct sp_deduction *deduction, const struct sp_constraint *constraint,
                                 struct excuse *excuse)
{
    const struct sp_line *line = occurrence_of(deduction, constraint)->line;
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer) {
        if (constraint->none && condition->assumed) continue;
        if (is_about_iterations(deduction, line, condition)) {
            excuse->by_iteration = true;
            continue;
        }
        excuse->by_iteration |= mentions_iteration(condition->expr);
        struct shapeproof_value value = sp_condition_value(deduction->solver, condition);
        if (is_unknown_answer(value) && !*value.string && sp_condition_varies(condition))
            value = value_in_iterations(deduction, constraint, condition, value);
        if (is_unknown_answer(value))
            add_unknown_term(excuse, condition->env, condition->expr, sp_value_bool(false), value);
        else if (is_false_answer(value)) excuse->holds = true;
        else if (!is_truth_value(value)) excuse->broken = true;
    }
}

/* The term "it is tied to a tensor that is there", which then need not be stored a second time. */
static void excuse_by_tie(struct sp_deduction *deduction, const struct sp_line *line, struct excuse *excuse)
{
    if (!line->tie || sp_shapes_find(deduction->occurrences.shapes, line->tie) == SHAPEPROOF_NONE) return;
    if (!line->row->tie_condition) {
        excuse->holds = true;
        return;
    }
    const struct shapeproof_value value = sp_solver_value(deduction->solver, line->env, line->row->tie_condition);
    if (is_unknown_answer(value))
        add_unknown_term(excuse, line->env, line->row->tie_condition, sp_value_bool(true), value);
    else if (!is_truth_value(value)) excuse->broken = true;
    else if (!is_false_answer(value)) excuse->holds = true;
}

/* The terms "this loop has no iterations": its last index is the first one less 1. */
static void excuse_by_loops(struct sp_deduction *deduction, const struct sp_line *line, struct excuse *excuse)
{
    for (struct sp_loop *loop = line->loop; loop; loop = loop->outer) {
        const struct shapeproof_value first = sp_solver_value(deduction->solver, loop->env, loop->clause->first);
        const struct shapeproof_value last = sp_solver_value(deduction->solver, loop->env, loop->clause->last);
        if (first.type == SHAPEPROOF_VALUE_INT && last.type == SHAPEPROOF_VALUE_INT && last.integer < first.integer)
            excuse->holds = true;
        if (first.type != SHAPEPROOF_VALUE_INT || !is_unknown_answer(last)) continue;
        add_unknown_term(excuse, loop->env, loop->clause->last, sp_value_int(first.integer - 1), last);
        excuse->by_loop = true;
    }
}

/* All terms for the tensor of a line, or of one iteration of constraint->loop, which stays entered: the caller leaves
 * it.
 */
static struct excuse excuse_for(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    const struct sp_line *line = occurrence_of(deduction, constraint)->line;
    struct excuse excuse = {.holds = false};
    if (constraint->loop) sp_loop_enter(constraint->loop, constraint->iteration);
    excuse_by_conditions(deduction, constraint, &excuse);
    if (!excuse.unknown) excuse_by_loops(deduction, line, &excuse);
    const struct excuse before = excuse;
    excuse_by_tie(deduction, line, &excuse);
    if (!before.by_loop) return excuse;
    /* Of a loop and a tie the loop is told, as a guess (tell_excuse). */
    const bool by_tie = excuse.holds > before.holds || excuse.unknown > before.unknown;
    excuse = before;
    excuse.by_tie = by_tie;
    return excuse;
}

/* Makes the only term without a value true. With by_tie that is a guess, since the tie could be the reason as well; it
 * is no guess when nothing was told in the end. */
static enum sp_answer tell_excuse(struct sp_deduction *deduction, const struct excuse *excuse)
{
    struct sp_known *known = &deduction->solver->known;
    const size_t told = known->told, guesses = known->guesses;
    if (excuse->by_tie) sp_known_guess(known, excuse->lacks ? excuse->lacks : "");
    known->reason.bound = excuse->by_loop;
    const enum sp_answer answer = sp_invert(deduction->solver, excuse->env, excuse->expr, &excuse->want);
    if (known->told == told) known->guesses = guesses;
    return answer;
}

static enum sp_answer ask_missing(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    const struct excuse excuse = excuse_for(deduction, constraint);
    enum sp_answer answer = SP_OPEN;
    if (excuse.broken) answer = SP_CONTRADICTS;
    else if (excuse.holds) answer = SP_HOLDS;
    else if (!excuse.unknown) answer = SP_CONTRADICTS;
    else if (excuse.unknown == 1 && !(excuse.by_iteration && excuse.by_loop)) answer = tell_excuse(deduction, &excuse);
    if (constraint->loop) sp_loop_leave(constraint->loop);
    return answer;
}

/* ---- which line has a tensor ---- */

static int compare_named(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return sp_order(a, b);
}

static bool has_tensor(const struct sp_occurrence *occurrence, size_t named)
{
    return occurrence->count &&
           bsearch(&named, occurrence->named, occurrence->count, sizeof *occurrence->named, compare_named);
}

/* What the conditions of a line say of its claim to a tensor, in the iterations that its loops are in. */
struct claim {
    bool is_ruled_out; /* a condition is false */
    size_t unknown;    /* conditions without a value; the last of them: */
    const struct sp_line_condition *open;
    const char *lacks; /* the first key that any of them depends on, or NULL */
};

static struct claim weigh_claim(struct sp_deduction *deduction, const struct sp_line *line)
{
    struct claim claim = {.is_ruled_out = false};
    for (const struct sp_line_condition *condition = line->condition; condition; condition = condition->outer) {
        const struct shapeproof_value value = sp_condition_value(deduction->solver, condition);
        if (value.type == SHAPEPROOF_VALUE_UNKNOWN) {
            if (!claim.lacks && *value.string) claim.lacks = value.string;
            claim.open = condition;
            claim.unknown++;
        } else if (!sp_value_is_true(value)) claim.is_ruled_out = true;
    }
    return claim;
}

/* A tensor whose name fits several lines of the table belongs to one of them. If the conditions of all but one are
 * known to be false, the condition of that one must hold (unit propagation): of "w if a" and "w if b", where a is known
 * to be false, b is true. `lacks`: the first key that a condition without a value depends on, or NULL. */
static enum sp_answer ask_claimed(struct sp_deduction *deduction, const struct sp_constraint *constraint,
                                  const char **lacks)
{
    const struct sp_occurrences *occurrences = &deduction->occurrences;
    size_t claims = 0, last = SIZE_MAX; /* the lines that may have it: how many, and one of them */
    bool has_one_open_condition = true; /* of `last`; and every number in its name is known */
    *lacks = NULL;
    for (size_t i = constraint->line; i != SIZE_MAX; i = deduction->namesake[i]) {
        const struct sp_occurrence *occurrence = &occurrences->of[i];
        if (!has_tensor(occurrence, constraint->named)) continue;
        sp_occurrence_enter(occurrences, occurrence, constraint->named);
        const struct claim claim = weigh_claim(deduction, occurrence->line);
        sp_loop_leave(occurrence->line->loop);
        if (claim.is_ruled_out) continue;
        if (!claim.unknown) return SP_HOLDS;
        if (!*lacks) *lacks = claim.lacks;
        has_one_open_condition = claim.unknown == 1 && occurrence->unknown == SIZE_MAX;
        last = i;
        claims++;
    }
    if (!claims) return SP_CONTRADICTS;
    if (claims > 1 || !has_one_open_condition) return SP_OPEN;
    const struct sp_occurrence *occurrence = &occurrences->of[last];
    sp_occurrence_enter(occurrences, occurrence, constraint->named);
    const struct claim claim = weigh_claim(deduction, occurrence->line); /* again: for its `open` */
    const enum sp_answer answer = sp_invert_bool(deduction->solver, claim.open->env, claim.open->expr, true);
    sp_loop_leave(occurrence->line->loop);
    return answer;
}

/* ---- the expression that a constraint is about, and what it is to be ---- */

/* The first tensor of the file that has the storage of this one: itself, unless another one comes before it. */
static size_t first_with_storage(const struct shapeproof_inventory *inventory, size_t tensor)
{
    const size_t same = shapeproof_inventory_tensor(inventory, tensor)->same_as;
    return same == SHAPEPROOF_NONE ? tensor : same;
}

/* Whether the tensor shares its storage with another one of the file. */
static bool is_shared_tensor(const struct shapeproof_inventory *inventory, size_t tensor)
{
    const size_t first = first_with_storage(inventory, tensor);
    if (first != tensor) return true;
    for (size_t i = tensor + 1; i < shapeproof_inventory_count(inventory); i++)
        if (shapeproof_inventory_tensor(inventory, i)->same_as == tensor) return true;
    return false;
}

/* Whether the tensor shares its storage with the one that the line ties it to, or, if the file has no tensor of that
 * name, with any. In a file with a second copy of the model, lm_head.weight and model_ema.lm_head.weight may be one
 * storage: that is no tie of lm_head.weight to embed_tokens.weight. */
static bool is_tied(const struct sp_shapes *shapes, size_t tensor, const struct sp_line *line)
{
    const struct shapeproof_inventory *inventory = shapes->inventory;
    const size_t target = line->tie ? sp_shapes_find(shapes, line->tie) : SHAPEPROOF_NONE;
    if (!shapeproof_inventory_tensor(inventory, tensor)->storage) return false;
    if (target == SHAPEPROOF_NONE) return is_shared_tensor(inventory, tensor);
    for (size_t i = shapes->first[target]; i < shapes->first[target + 1]; i++)
        if (first_with_storage(inventory, shapes->named[i].tensor) == first_with_storage(inventory, tensor))
            return true;
    return false;
}

/* What the expression of a constraint (expression_of) must be. */
static struct sp_want want_of(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    const struct sp_shapes *shapes = deduction->occurrences.shapes;
    const struct sp_named *named = &shapes->named[constraint->named];
    switch (constraint->kind) {
    case SP_CONSTRAINT_DIMENSION:
        return sp_want_value(sp_value_int(
            (int64_t)shapeproof_inventory_tensor(shapes->inventory, named->tensor)->shape[constraint->place]));
    case SP_CONSTRAINT_NUMBER:
        return sp_want_value(sp_value_int((int64_t)named->place.indices.value[constraint->place]));
    case SP_CONSTRAINT_TIED:
        return sp_want_value(
            sp_value_bool(is_tied(shapes, named->tensor, &deduction->outline->lines[constraint->line])));
    case SP_CONSTRAINT_FIRST:
    case SP_CONSTRAINT_LAST:
        return sp_want_value(sp_value_int(constraint->iteration));
    default:
        return sp_want_value(sp_value_bool(true));
    }
}

/* The expression of the table that a constraint speaks of, and the environment to evaluate it in: the dimension,
 * the condition of the row or the tie, a number in its name, a bound of the loop. NULL for constraints of several
 * expressions. */
static const struct sp_expr *expression_of(struct sp_deduction *deduction, const struct sp_constraint *constraint,
                                           struct sp_env *env)
{
    const struct sp_line *line = &deduction->outline->lines[constraint->line];
    switch (constraint->kind) {
    case SP_CONSTRAINT_DIMENSION:
        *env = *line->env;
        return line->row->shape[constraint->place];
    case SP_CONSTRAINT_PRESENT:
        *env = *constraint->condition->env;
        return constraint->condition->expr;
    case SP_CONSTRAINT_TIED:
        *env = *line->env;
        return line->row->tie_condition;
    case SP_CONSTRAINT_NUMBER:
        *env = *line->holes[constraint->place].env;
        return line->holes[constraint->place].expr;
    case SP_CONSTRAINT_FIRST:
    case SP_CONSTRAINT_LAST:
        *env = *constraint->loop->env;
        return constraint->kind == SP_CONSTRAINT_FIRST ? constraint->loop->clause->first
                                                       : constraint->loop->clause->last;
    case SP_CONSTRAINT_REQUIRED:
    case SP_CONSTRAINT_CLAIMED:
    case SP_CONSTRAINT_MISSING:
    case SP_CONSTRAINT_PRODUCT:
        break;
    }
    return NULL;
}

/* Sets the reason for what the constraint makes known. */
static void set_reason(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    static const enum sp_reason_kind kinds[] = {
        [SP_CONSTRAINT_REQUIRED] = SP_REASON_REQUIRED, [SP_CONSTRAINT_DIMENSION] = SP_REASON_DIMENSION,
        [SP_CONSTRAINT_PRODUCT] = SP_REASON_PRODUCT,   [SP_CONSTRAINT_PRESENT] = SP_REASON_PRESENT,
        [SP_CONSTRAINT_MISSING] = SP_REASON_MISSING,   [SP_CONSTRAINT_TIED] = SP_REASON_TIE,
        [SP_CONSTRAINT_NUMBER] = SP_REASON_INDICES,    [SP_CONSTRAINT_FIRST] = SP_REASON_INDICES,
        [SP_CONSTRAINT_LAST] = SP_REASON_INDICES,      [SP_CONSTRAINT_CLAIMED] = SP_REASON_PRESENT,
    };
    struct sp_reason reason = {
        .kind = kinds[constraint->kind], .name = "", .dimension = constraint->place, .line = constraint->line};
    if (constraint->kind != SP_CONSTRAINT_MISSING && constraint->kind != SP_CONSTRAINT_REQUIRED)
        reason.name = sp_occurrence_tensor(&deduction->occurrences, constraint->named)->name;
    if (constraint->open_ended) reason.kind = SP_REASON_LAST;
    if (constraint->kind == SP_CONSTRAINT_TIED && !want_of(deduction, constraint).value.boolean)
        reason.kind = SP_REASON_PRESENT;
    deduction->solver->known.reason = reason;
}

/* Whether the part that has the requirement is used: SP_HOLDS when all conditions of the use are true, SP_CONTRADICTS
 * when one is false; otherwise SP_OPEN, with a condition's unknown value in `open`. */
static enum sp_answer is_part_used(struct sp_deduction *deduction, const struct sp_placed_requirement *requirement,
                                   struct shapeproof_value *open)
{
    enum sp_answer answer = SP_HOLDS;
    for (const struct sp_line_condition *condition = requirement->condition; condition; condition = condition->outer) {
        const struct shapeproof_value value = sp_condition_value(deduction->solver, condition);
        if (is_false_answer(value)) return SP_CONTRADICTS;
        if (is_truth_value(value)) continue;
        answer = SP_OPEN;
        *open = value;
    }
    return answer;
}

static enum sp_answer ask_required(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    const struct sp_placed_requirement *requirement = &deduction->outline->requirements[constraint->place];
    struct shapeproof_value open;
    switch (is_part_used(deduction, requirement, &open)) {
    case SP_HOLDS:
        return sp_invert_bool(deduction->solver, requirement->env, requirement->expr, true);
    case SP_CONTRADICTS:
        return SP_HOLDS; /* of a part that is not used nothing is required */
    default:
        return SP_OPEN;
    }
}

/* If other lines make the same names, what a tensor tells about this line's expressions depends on the guesses that
 * made it this line's tensor. Evaluating the conditions of the line notes these guesses in known.touched. */
static void touch_guesses_of_claim(struct sp_deduction *deduction, size_t line)
{
    const struct sp_line *own = &deduction->outline->lines[line];
    if (!deduction->has_namesake[line]) return;
    for (const struct sp_line_condition *condition = own->condition; condition; condition = condition->outer)
        sp_condition_value(deduction->solver, condition);
}

/* Solves `rows * columns = elements` for a quantised matrix of which only the number of elements shows (sp_shapes),
 * when one of both is known: the other is the quotient. `lacks`: the value of the one that is not known; of the rows if
 * neither is. */
static enum sp_answer ask_product(struct sp_deduction *deduction, const struct sp_constraint *constraint,
                                  struct shapeproof_value *lacks)
{
    const struct sp_occurrence *occurrence = occurrence_of(deduction, constraint);
    const struct sp_line *line = occurrence->line;
    const int64_t product = (int64_t)sp_occurrence_tensor(&deduction->occurrences, constraint->named)->parameters;
    enum sp_answer answer = SP_OPEN;
    sp_occurrence_enter(&deduction->occurrences, occurrence, constraint->named);
    touch_guesses_of_claim(deduction, constraint->line);
    const struct shapeproof_value sides[] = {sp_solver_value(deduction->solver, line->env, line->row->shape[0]),
                                             sp_solver_value(deduction->solver, line->env, line->row->shape[1])};
    const size_t unknown = is_unknown_answer(sides[0]) ? 0 : 1; /* or known as well: then it is checked */
    const struct shapeproof_value side = sides[1 - unknown];
    *lacks = sides[unknown];
    if (side.type == SHAPEPROOF_VALUE_INT && (side.integer <= 0 || product % side.integer)) answer = SP_CONTRADICTS;
    else if (side.type == SHAPEPROOF_VALUE_INT) {
        const struct sp_want want = sp_want_value(sp_value_int(product / side.integer));
        answer = sp_invert(deduction->solver, line->env, line->row->shape[unknown], &want);
    }
    sp_loop_leave(line->loop);
    return answer;
}

enum sp_answer sp_propagate(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    struct sp_env env;
    set_reason(deduction, constraint);
    deduction->solver->known.touched = 0; /* the guesses that are used from here on are noted in it */
    if (constraint->kind == SP_CONSTRAINT_REQUIRED) return ask_required(deduction, constraint);
    if (constraint->kind == SP_CONSTRAINT_MISSING) return ask_missing(deduction, constraint);
    const char *key; /* only sp_constraint_lacks needs it, and the next one */
    struct shapeproof_value lacks;
    if (constraint->kind == SP_CONSTRAINT_CLAIMED) return ask_claimed(deduction, constraint, &key);
    if (constraint->kind == SP_CONSTRAINT_PRODUCT) return ask_product(deduction, constraint, &lacks);
    /* The others are about one expression, whose value the tensor tells. */
    const struct sp_want want = want_of(deduction, constraint);
    const struct sp_occurrence *occurrence = occurrence_of(deduction, constraint);
    sp_occurrence_enter(&deduction->occurrences, occurrence, constraint->named);
    if (constraint->kind == SP_CONSTRAINT_DIMENSION) touch_guesses_of_claim(deduction, constraint->line);
    const struct sp_expr *expr = expression_of(deduction, constraint, &env);
    const enum sp_answer answer = sp_invert(deduction->solver, &env, expr, &want);
    sp_loop_leave(occurrence->line->loop);
    return answer;
}

/* ---- what an open constraint lacks ---- */

static const char *key_in(struct shapeproof_value value)
{
    return is_unknown_answer(value) && *value.string ? value.string : NULL;
}

static const char *missing_lacks(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    const char *lacks = excuse_for(deduction, constraint).lacks;
    if (constraint->loop) sp_loop_leave(constraint->loop);
    return lacks;
}

static const char *required_lacks(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    const struct sp_placed_requirement *requirement = &deduction->outline->requirements[constraint->place];
    struct shapeproof_value open = sp_value_absent("");
    if (is_part_used(deduction, requirement, &open) == SP_HOLDS)
        open = sp_solver_value(deduction->solver, requirement->env, requirement->expr);
    return key_in(open);
}

/* The value of the expression that the constraint is about, under what is known. */
static struct shapeproof_value value_of(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    struct sp_env env;
    const struct sp_occurrence *occurrence = occurrence_of(deduction, constraint);
    sp_occurrence_enter(&deduction->occurrences, occurrence, constraint->named);
    const struct sp_expr *expr = expression_of(deduction, constraint, &env);
    const struct shapeproof_value value = sp_solver_value(deduction->solver, &env, expr);
    sp_loop_leave(occurrence->line->loop);
    return value;
}

bool sp_constraint_difference(struct sp_deduction *deduction, const struct sp_constraint *constraint,
                              int64_t *difference)
{
    const struct sp_want want = want_of(deduction, constraint);
    const struct shapeproof_value value = value_of(deduction, constraint);
    return value.type == SHAPEPROOF_VALUE_INT && want.value.type == SHAPEPROOF_VALUE_INT &&
           !__builtin_sub_overflow(value.integer, want.value.integer, difference);
}

const char *sp_constraint_lacks(struct sp_deduction *deduction, const struct sp_constraint *constraint)
{
    if (constraint->kind == SP_CONSTRAINT_MISSING) return missing_lacks(deduction, constraint);
    if (constraint->kind == SP_CONSTRAINT_REQUIRED) return required_lacks(deduction, constraint);
    const char *claim;
    struct shapeproof_value lacks;
    if (constraint->kind == SP_CONSTRAINT_CLAIMED) {
        ask_claimed(deduction, constraint, &claim);
        return claim;
    }
    if (constraint->kind == SP_CONSTRAINT_PRODUCT) {
        ask_product(deduction, constraint, &lacks);
        return key_in(lacks);
    }
    return key_in(value_of(deduction, constraint));
}
