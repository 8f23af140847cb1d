/* SPDX-License-Identifier: MIT
 * What a table has in place of a key that is not set. A key without which there is no prediction is likely that:
 *
 *   outs = backbone_config.out_indices default presumed
 *   require not absent(backbone_config.out_indices)        -> [2, 3, 4], what `presumed` is */
#include <stdlib.h>
#include <string.h>

#include "infer/guess/guess.h"
#include "infer/limits.h"

static bool is_of_key(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr, const char *key)
{
    const char *own = sp_solver_key(solver, env, expr);
    return own && strcmp(own, key) == 0;
}

/* What stands there for the key; of further keys between, of which nothing is known, none is set. */
static bool value_behind(struct sp_solver *solver, const struct sp_env *env, const struct sp_expr *expr,
                         struct shapeproof_value *value)
{
    for (; sp_solver_eval(solver, env, expr, value); expr = expr->args[1]) {
        if (sp_value_is_set(*value)) return true;
        if (value->type != SHAPEPROOF_VALUE_UNKNOWN || expr->kind != SP_EXPR_DEFAULT) return false;
    }
    return false;
}

/* Of the definitions of one table or part, as it is used in that frame. */
static bool default_in(struct sp_solver *solver, const struct sp_frame *frame, const char *key,
                       struct shapeproof_value *value)
{
    const struct sp_env env = {.frame = frame};
    for (size_t i = 0; i < frame->unit->definition_count; i++) {
        const struct sp_expr *expr = frame->unit->definitions[i].expr;
        for (; expr && expr->kind == SP_EXPR_DEFAULT; expr = expr->args[1])
            if (is_of_key(solver, &env, expr->args[0], key) && value_behind(solver, &env, expr->args[1], value))
                return true;
    }
    return false;
}

/* Looked through one after the other, each once. */
struct frames {
    const struct sp_frame *seen[SP_MOST_FRAMES];
    size_t count;
};

static bool default_in_new(struct sp_solver *solver, struct frames *frames, const struct sp_frame *frame,
                           const char *key, struct shapeproof_value *value)
{
    for (size_t i = 0; i < frames->count; i++)
        if (frames->seen[i] == frame) return false;
    if (frames->count == SP_MOST_FRAMES) return false;
    frames->seen[frames->count++] = frame;
    return default_in(solver, frame, key, value);
}

/* Of the row that the line is of, and of all around it. */
static bool default_around(struct sp_solver *solver, struct frames *frames, const struct sp_line *line, const char *key,
                           struct shapeproof_value *value)
{
    bool found = default_in_new(solver, frames, line->env->frame, key, value);
    for (const struct sp_loop *loop = line->loop; loop && !found; loop = loop->outer)
        found = default_in_new(solver, frames, loop->env->frame, key, value);
    for (const struct sp_line_condition *condition = line->condition; condition && !found; condition = condition->outer)
        found = default_in_new(solver, frames, condition->env->frame, key, value);
    return found;
}

static bool default_of_key(struct sp_deduction *deduction, const char *key, struct shapeproof_value *value)
{
    struct frames frames = {.count = 0};
    bool found = default_in_new(deduction->solver, &frames, deduction->solver->frame, key, value);
    for (size_t i = 0; i < deduction->outline->count && !found && frames.count < SP_MOST_FRAMES; i++) {
        const struct sp_line *line = &deduction->outline->lines[i];
        if (!sp_line_is_ruled_out(deduction->solver, line))
            found = default_around(deduction->solver, &frames, line, key, value);
    }
    return found;
}

bool sp_default_in_table(struct sp_solver *solver, const char *key, struct shapeproof_value *value)
{
    return default_in(solver, solver->frame, key, value);
}

bool sp_default_of(struct sp_deduction *deduction, const char *key, struct shapeproof_value *value)
{
    const char *bracket = strrchr(key, '[');
    if (!bracket || bracket[strlen(bracket) - 1] != ']') return default_of_key(deduction, key, value);
    const size_t index = strtoul(bracket + 1, NULL, 10);
    struct shapeproof_value list;
    const char *outer = sp_arena_copy(deduction->solver->known.arena, key, (size_t)(bracket - key));
    if (!sp_default_of(deduction, outer, &list) || list.type != SHAPEPROOF_VALUE_LIST || !list.count) return false;
    *value = list.items[index < list.count ? index : list.count - 1];
    return sp_value_is_set(*value);
}

size_t sp_count_unmet(struct sp_deduction *deduction)
{
    size_t unmet = 0;
    for (size_t i = 0; i < deduction->outline->requirement_count; i++) {
        const struct sp_placed_requirement *requirement = &deduction->outline->requirements[i];
        bool is_used = true;
        for (const struct sp_line_condition *condition = requirement->condition; condition;
             condition = condition->outer)
            is_used = is_used && sp_value_is_true(sp_condition_value(deduction->solver, condition));
        const struct shapeproof_value value = sp_solver_value(deduction->solver, requirement->env, requirement->expr);
        unmet += is_used && value.type == SHAPEPROOF_VALUE_BOOL && !value.boolean;
    }
    return unmet;
}
