/* SPDX-License-Identifier: MIT
 * A part that is used again with the same arguments, as by each expert of each layer. What it makes follows from them
 * and from its frame, and each name in it begins with the prefix: so what it made before is copied. */
#include "lang/expander.h"

#include <string.h>

#include "base/budget.h"

struct sp_usage *sp_usage_of(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row)
{
    struct sp_usage **usages = &env->frame->usages[env->section - env->frame->unit->sections];
    if (!*usages) *usages = sp_arena_array(x->eval.arena, env->section->row_count, sizeof **usages);
    return &(*usages)[row - env->section->rows];
}

struct sp_usage sp_usage_start(const struct sp_expander *x)
{
    return (struct sp_usage){.tensor = x->out->count,
                             .tie = x->tie_count,
                             .steps = x->eval.steps,
                             .iterations = x->iterations,
                             .mistakes = x->eval.mistakes};
}

/* Whether the frame is of a part whose tensors are stored in place of one tensor (sp_expander_replace), not of a part
 * within such a part. */
static bool is_replacement(const struct sp_frame *frame) { return frame->replaced && !frame->caller->replaced; }

/* A mistake ends a loop, where copying would go on: what has a loop is expanded each time. Which tensors an overlay
 * replaces, and by what, depends on their whole names, and so on the prefix. */
void sp_usage_keep(struct sp_expander *x, struct sp_usage *usage, const struct sp_usage *start,
                   const struct sp_frame *frame)
{
    const size_t count = frame->unit->param_count;
    const bool replaces = x->eval.hyper->overlay && !is_replacement(frame);
    if (x->eval.mistakes != start->mistakes || x->iterations != start->iterations || replaces) return;
    if (!usage->values) usage->values = sp_arena_array(x->eval.arena, count, sizeof *usage->values);
    if (count) memcpy(usage->values, frame->params, count * sizeof *usage->values);
    usage->prefix_length = strlen(frame->prefix);
    usage->tensor = start->tensor;
    usage->tensor_count = x->out->count - start->tensor;
    usage->tie = start->tie;
    usage->tie_count = x->tie_count - start->tie;
    usage->steps = x->eval.steps - start->steps;
}

/* Whether two values are the same, where that is quickly seen: texts and lists are compared by address alone. */
static bool is_same_argument(struct shapeproof_value a, struct shapeproof_value b)
{
    if (a.type != b.type || a.count != b.count) return false;
    if (a.type == SHAPEPROOF_VALUE_BOOL) return a.boolean == b.boolean;
    if (a.type == SHAPEPROOF_VALUE_INT) return a.integer == b.integer;
    return a.type != SHAPEPROOF_VALUE_REAL && a.items == b.items;
}

/* Whether copying can reach no limit: otherwise the part is expanded, so that the mistake is reported at its place. A
 * longer prefix could make a name too long. */
static bool fits_limits(const struct sp_expander *x, const struct sp_usage *usage, const char *prefix)
{
    return x->eval.steps + usage->steps <= sp_budget_steps() &&
           x->out->count + usage->tensor_count <= sp_expander_most(x) && strlen(prefix) <= usage->prefix_length;
}

/* A name that the part made before, with the new prefix in place of the former one. */
static const char *renamed(struct sp_expander *x, const struct sp_usage *usage, const char *prefix, const char *name)
{
    const char *own = name + usage->prefix_length;
    const size_t before = strlen(prefix), length = strlen(own);
    char *text = sp_arena_array(x->eval.arena, before + length + 1, 1);
    memcpy(text, prefix, before);
    memcpy(text + before, own, length);
    return text;
}

static const char *const *renamed_olds(struct sp_expander *x, const struct sp_usage *usage, const char *prefix,
                                       const struct shapeproof_predicted *tensor)
{
    const char **names = sp_arena_array(x->eval.arena, tensor->old_name_count, sizeof *names);
    for (size_t i = 0; i < tensor->old_name_count; i++) names[i] = renamed(x, usage, prefix, tensor->old_names[i]);
    return names;
}

bool sp_usage_repeat(struct sp_expander *x, const struct sp_usage *usage, const struct sp_frame *frame,
                     const char *prefix)
{
    if (!usage->values || !fits_limits(x, usage, prefix)) return false;
    for (size_t i = 0; i < frame->unit->param_count; i++)
        if (!is_same_argument(usage->values[i], frame->params[i])) return false;
    x->eval.steps += usage->steps;
    sp_eval_settle(&x->eval);
    size_t tie = usage->tie;
    for (size_t i = usage->tensor; i < usage->tensor + usage->tensor_count && !x->eval.stopped; i++) {
        struct shapeproof_predicted tensor = x->out->tensors[i];
        tensor.name = renamed(x, usage, prefix, tensor.name);
        if (is_replacement(frame)) tensor.stands_for = frame->replaced->name;
        if (tensor.old_name_count) tensor.old_names = renamed_olds(x, usage, prefix, &tensor);
        for (; tie < usage->tie + usage->tie_count && x->ties[tie].tensor == i; tie++)
            sp_expander_tie(x, renamed(x, usage, prefix, x->ties[tie].target), x->ties[tie].span);
        const struct sp_row_origin origin = x->out->origins[i];
        sp_expander_add(x, &origin, &tensor);
    }
    return true;
}
