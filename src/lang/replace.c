/* SPDX-License-Identifier: MIT
 * A row whose tensor is stored as a part of the language, which an overlay names: as quantised weights are. The part is
 * used in its place, as if the row said so:
 *
 *     model.layers.{i}.up_proj.weight (F, E)
 *     model.layers.{i}.up_proj.* quantised_gptq(F, E, "model.layers.0.up_proj") from quantization_config
 */
#include "lang/expander.h"

#include <string.h>

/* The last two dimensions as the row has them, and the module. */
static struct sp_expr *const *arguments_for(struct sp_expander *x, const struct sp_row *row,
                                            const struct sp_replacement *replacement)
{
    const size_t count = replacement->part->param_count;
    struct sp_expr **arguments = sp_arena_array(x->eval.arena, count, sizeof *arguments);
    struct sp_expr *module = sp_arena_alloc(x->eval.arena, sizeof *module);
    *module =
        (struct sp_expr){.kind = SP_EXPR_LITERAL, .span = row->span, .value = sp_value_string(replacement->module)};
    for (size_t i = 0; i < count; i++) arguments[i] = i < 2 ? row->shape[row->rank - 2 + i] : i == 2 ? module : NULL;
    return arguments;
}

/* The prefix of the tensors that these are the same as. What is stored in another way than the matrix that it is tied
 * to is one of its own. False after a mistake. */
static bool tie_prefix(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row, const char **tied_to)
{
    const struct sp_overlay *overlay = x->eval.hyper->overlay;
    struct sp_replacement other;
    bool tied = row->has_tie;
    *tied_to = NULL;
    if (tied && row->tie_condition && !sp_eval_bool(&x->eval, env, row->tie_condition, &tied)) return false;
    if (!tied || row->tie_rows) return true;
    const char *target = sp_expander_name(x, env, &row->tie);
    if (target && overlay->replace(overlay, x->eval.arena, target, row->rank, &other)) *tied_to = other.prefix;
    return target != NULL;
}

static struct sp_view *view_for(struct sp_expander *x, const struct sp_replacement *replacement)
{
    struct sp_view *view = sp_arena_alloc(x->eval.arena, sizeof *view);
    *view = (struct sp_view){
        .object = replacement->object, .given = replacement->given, .given_count = replacement->given_count};
    view->prefix = sp_arena_printf(x->eval.arena, "%s.", replacement->path);
    return view;
}

static struct sp_frame *frame_for(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row,
                                  const struct shapeproof_predicted *tensor, const struct sp_replacement *replacement,
                                  const char *tied_to)
{
    struct sp_replaced *replaced = sp_arena_alloc(x->eval.arena, sizeof *replaced);
    struct sp_frame *frame = sp_arena_alloc(x->eval.arena, sizeof *frame);
    *replaced =
        (struct sp_replaced){tensor->name, tensor->shape, tensor->rank - 2, tensor->parameters, tied_to, false, row};
    *frame = (struct sp_frame){.unit = replacement->part,
                               .view = view_for(x, replacement),
                               .param_exprs = arguments_for(x, row, replacement),
                               .caller = env->frame,
                               .group = env->group,
                               .optional = tensor->optional,
                               .replaced = replaced};
    return frame;
}

/* Whether the frame of another matrix of the row would do for this one. What a part makes of the module's name, which
 * it may take as its third argument, is for that name alone. */
static bool is_replaced_alike(const struct sp_frame *frame, const struct shapeproof_predicted *tensor,
                              const struct sp_replacement *replacement)
{
    const struct sp_replaced *replaced = frame->replaced;
    const size_t length = strlen(replacement->path);
    return frame->unit == replacement->part && replacement->part->param_count < 3 &&
           frame->view->object.members == replacement->object.members &&
           strncmp(frame->view->prefix, replacement->path, length) == 0 &&
           strcmp(frame->view->prefix + length, ".") == 0 && replaced->parameters == tensor->parameters &&
           replaced->lead_rank == tensor->rank - 2 &&
           memcmp(replaced->lead, tensor->shape, replaced->lead_rank * sizeof *replaced->lead) == 0;
}

/* As a use, a row in a loop is most often replaced by the same as before. */
static void replace_again(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row,
                          const struct shapeproof_predicted *tensor, const struct sp_replacement *replacement)
{
    struct sp_usage *usage = sp_usage_of(x, env, row);
    if (!usage->frame || !is_replaced_alike(usage->frame, tensor, replacement))
        *usage = (struct sp_usage){.frame = frame_for(x, env, row, tensor, replacement, NULL)};
    usage->frame->replaced->name = tensor->name;
    usage->frame->replaced->counted = false;
    sp_expander_use(x, env, usage->frame, usage, replacement->prefix);
}

bool sp_expander_replace(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row,
                         const struct shapeproof_predicted *tensor)
{
    const struct sp_overlay *overlay = x->eval.hyper->overlay;
    struct sp_replacement replacement;
    const char *tied_to;
    if (!overlay || env->frame->replaced || tensor->rank < 2 || tensor->buffer) return false;
    if (!overlay->replace(overlay, x->eval.arena, tensor->name, tensor->rank, &replacement)) return false;
    if (!tie_prefix(x, env, row, &tied_to)) return true;
    if (tied_to || replacement.given_count)
        sp_expander_use(x, env, frame_for(x, env, row, tensor, &replacement, tied_to), NULL, replacement.prefix);
    else replace_again(x, env, row, tensor, &replacement);
    return true;
}

/* Of the tensors that are stored in place of a matrix the first stands for its parameters; if the matrix is the same as
 * another one, so are they, each by itself. */
void sp_expander_note_stored_tensor(struct sp_expander *x, const struct sp_env *env,
                                    struct shapeproof_predicted *tensor)
{
    struct sp_replaced *replaced = env->frame->replaced;
    tensor->logical = tensor->parameters;
    if (!replaced) return;
    tensor->stands_for = replaced->name;
    tensor->logical = replaced->counted ? 0 : replaced->parameters;
    replaced->counted = true;
    if (!replaced->tied_to) return;
    const char *own = tensor->name + strlen(env->frame->prefix);
    sp_expander_tie(x, sp_arena_printf(x->eval.arena, "%s%s", replaced->tied_to, own), env->frame->unit->span);
}
