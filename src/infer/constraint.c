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

/* The conditions of a tensor that is not there: at least one of them is not met. */
struct excuse {
    bool holds;        /* one is known not to be met */
    bool broken;       /* one cannot be worked out */
    bool by_iteration; /* a condition on the iteration of a loop that may have none is among them */
    bool by_loop;      /* a loop that may have no iterations is among them */
    bool by_tie;       /* so is that it is tied to another one */
    size_t unknown;    /* how many of them might be the one; of these the last: */
    const struct sp_expr *expr;
    const struct sp_env *env;
    struct sp_want want;
    const char *lacks; /* a key that they need, or NULL */
};

static void may_be(struct excuse *excuse, const struct sp_env *env, const struct sp_expr *expr,
                   struct shapeproof_value want, struct shapeproof_value value)
{
    if (!excuse->lacks && *value.string) excuse->lacks = value.string;
    excuse->unknown++;
    excuse->expr = expr;
    excuse->env = env;
    excuse->want = sp_want_value(want);
}

/* Whether it is about the iterations of a loop of which it is not known that it has any. */
static bool is_about_iterations(struct sp_deduction *deduction, const struct sp_line *line,
                                const struct sp_line_condition *condition)
{
    for (struct sp_loop *loop = line->loop; loop && sp_condition_varies(condition); loop = loop->outer)
        if (is_unknown_answer(loop->binding.value) && sp_condition_is_about(condition, loop) &&
            is_unknown_answer(sp_solver_value(deduction->solver, loop->env, loop->clause->last)))
            return true;
    return false;
}

/* Whether it is put as a condition on iterations, be it that the table has the same for all. */
static bool mentions_iteration(const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_NAME) return expr->reach == SP_REACH_LOOP;
    for (size_t i = 0; i < expr->count; i++)
        if (mentions_iteration(expr->args[i])) return true;
    return false;
}

/* A condition on inner loops, in the iterations of these. */
struct iterations_of_condition {
    const struct sp_line_condition *condition;
    bool is_met;  /* in one of them */
    bool is_open; /* in another one it is not known */
};

static bool visit_condition(struct sp_iterations *iterations)
{
    struct iterations_of_condition *of = iterations->context;
    const struct shapeproof_value value = sp_condition_value(iterations->solver, of->condition);
    of->is_met = sp_value_is_true(value);
    of->is_open |= is_unknown_answer(value);
    return !of->is_met;
}

/* What lacks nothing but the iterations of inner loops, of which all are known: true when it is met in one of them. */
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

/* With `none`, whichever of its names is the right one, the tensor is not there. */
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
        if (is_unknown_answer(value)) may_be(excuse, condition->env, condition->expr, sp_value_bool(false), value);
        else if (is_false_answer(value)) excuse->holds = true;
        else if (!is_truth_value(value)) excuse->broken = true;
    }
}

/* What is tied to a tensor that is there need not be stored. */
static void excuse_by_tie(struct sp_deduction *deduction, const struct sp_line *line, struct excuse *excuse)
{
    if (!line->tie || sp_shapes_find(deduction->occurrences.shapes, line->tie) == SHAPEPROOF_NONE) return;
    if (!line->row->tie_condition) {
        excuse->holds = true;
        return;
    }
    const struct shapeproof_value value = sp_solver_value(deduction->solver, line->env, line->row->tie_condition);
    if (is_unknown_answer(value)) may_be(excuse, line->env, line->row->tie_condition, sp_value_bool(true), value);
    else if (!is_truth_value(value)) excuse->broken = true;
    else if (!is_false_answer(value)) excuse->holds = true;
}

/* A loop may have no iterations. */
static void excuse_by_loops(struct sp_deduction *deduction, const struct sp_line *line, struct excuse *excuse)
{
    for (struct sp_loop *loop = line->loop; loop; loop = loop->outer) {
        const struct shapeproof_value first = sp_solver_value(deduction->solver, loop->env, loop->clause->first);
        const struct shapeproof_value last = sp_solver_value(deduction->solver, loop->env, loop->clause->last);
        if (first.type == SHAPEPROOF_VALUE_INT && last.type == SHAPEPROOF_VALUE_INT && last.integer < first.integer)
            excuse->holds = true;
        if (first.type != SHAPEPROOF_VALUE_INT || !is_unknown_answer(last)) continue;
        may_be(excuse, loop->env, loop->clause->last, sp_value_int(first.integer - 1), last);
        excuse->by_loop = true;
    }
}

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
    /* The loop comes first, as a guess. */
    const bool by_tie = excuse.holds > before.holds || excuse.unknown > before.unknown;
    excuse = before;
    excuse.by_tie = by_tie;
    return excuse;
}

/* Of two reasons the one that is told. */
static enum sp_answer tell_excuse(struct sp_deduction *deduction, const struct excuse *excuse)
{
    struct sp_known *known = &deduction->solver->known;
    const size_t told = known->told, guesses = known->guesses;
    if (excuse->by_tie) sp_known_guess(known, excuse->lacks ? excuse->lacks : "");
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

/* What one line's conditions say of its claim. */
struct claim {
    bool is_ruled_out;
    size_t unknown; /* conditions that are not known; of these the last: */
    const struct sp_line_condition *open;
    const char *lacks; /* a key that they need, or NULL */
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
 * known to be false, the condition of that one must hold: of "w if tied" and "w if not tied" with a tensor w and not
 * tied, the second. `lacks`: a key that an open condition needs, or NULL. */
static enum sp_answer ask_claimed(struct sp_deduction *deduction, const struct sp_constraint *constraint,
                                  const char **lacks)
{
    const struct sp_occurrences *occurrences = &deduction->occurrences;
    size_t claims = 0, last = SIZE_MAX;
    bool is_clear =
        true; /* the last line that is left has just one open condition, and it belongs to no other tensor */
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
        is_clear = claim.unknown == 1 && occurrence->unknown == SIZE_MAX;
        last = i;
        claims++;
    }
    if (!claims) return SP_CONTRADICTS;
    if (claims > 1 || !is_clear) return SP_OPEN;
    const struct sp_occurrence *occurrence = &occurrences->of[last];
    sp_occurrence_enter(occurrences, occurrence, constraint->named);
    const struct claim claim = weigh_claim(deduction, occurrence->line); /* again, with the indices of this tensor */
    const enum sp_answer answer = sp_invert_bool(deduction->solver, claim.open->env, claim.open->expr, true);
    sp_loop_leave(occurrence->line->loop);
    return answer;
}

/* ---- the expression that a constraint is about, and what it is to be ---- */

static bool is_shared_tensor(const struct shapeproof_inventory *inventory, size_t tensor)
{
    if (!shapeproof_inventory_tensor(inventory, tensor)->storage) return false;
    if (shapeproof_inventory_tensor(inventory, tensor)->same_as != SHAPEPROOF_NONE) return true;
    for (size_t i = tensor + 1; i < shapeproof_inventory_count(inventory); i++)
        if (shapeproof_inventory_tensor(inventory, i)->same_as == tensor) return true;
    return false;
}

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
        return sp_want_value(sp_value_bool(is_shared_tensor(shapes->inventory, named->tensor)));
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

/* What a part requires matters where it is used: SP_CONTRADICTS when it is not. `open`: what is not known of that. */
static enum sp_answer is_asked_for(struct sp_deduction *deduction, const struct sp_placed_requirement *requirement,
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
    switch (is_asked_for(deduction, requirement, &open)) {
    case SP_HOLDS:
        return sp_invert_bool(deduction->solver, requirement->env, requirement->expr, true);
    case SP_CONTRADICTS:
        return SP_HOLDS;
    default:
        return SP_OPEN;
    }
}

/* What a tensor tells that other lines could have as well follows from why this one has it. */
static void touch_claim(struct sp_deduction *deduction, size_t line)
{
    const struct sp_line *own = &deduction->outline->lines[line];
    for (const struct sp_line_condition *condition = own->condition; condition && deduction->has_namesake[line];
         condition = condition->outer)
        sp_condition_value(deduction->solver, condition);
}

/* Of a matrix of rank 2. When one dimension is known the other follows; `lacks` is what the first unknown one lacks. */
static enum sp_answer ask_product(struct sp_deduction *deduction, const struct sp_constraint *constraint,
                                  struct shapeproof_value *lacks)
{
    const struct sp_occurrence *occurrence = occurrence_of(deduction, constraint);
    const struct sp_line *line = occurrence->line;
    const int64_t product = (int64_t)sp_occurrence_tensor(&deduction->occurrences, constraint->named)->parameters;
    enum sp_answer answer = SP_OPEN;
    sp_occurrence_enter(&deduction->occurrences, occurrence, constraint->named);
    touch_claim(deduction, constraint->line);
    const struct shapeproof_value sides[] = {sp_solver_value(deduction->solver, line->env, line->row->shape[0]),
                                             sp_solver_value(deduction->solver, line->env, line->row->shape[1])};
    const size_t unknown = is_unknown_answer(sides[0]) ? 0 : 1;
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
    deduction->solver->known.touched = 0;
    if (constraint->kind == SP_CONSTRAINT_REQUIRED) return ask_required(deduction, constraint);
    if (constraint->kind == SP_CONSTRAINT_MISSING) return ask_missing(deduction, constraint);
    const char *claim;
    if (constraint->kind == SP_CONSTRAINT_CLAIMED) return ask_claimed(deduction, constraint, &claim);
    struct shapeproof_value lacks;
    if (constraint->kind == SP_CONSTRAINT_PRODUCT) return ask_product(deduction, constraint, &lacks);
    const struct sp_want want = want_of(deduction, constraint);
    const struct sp_occurrence *occurrence = occurrence_of(deduction, constraint);
    sp_occurrence_enter(&deduction->occurrences, occurrence, constraint->named);
    if (constraint->kind == SP_CONSTRAINT_DIMENSION) touch_claim(deduction, constraint->line);
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
    if (is_asked_for(deduction, requirement, &open) == SP_HOLDS)
        open = sp_solver_value(deduction->solver, requirement->env, requirement->expr);
    return key_in(open);
}

/* Of the expression that the constraint is about. */
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
