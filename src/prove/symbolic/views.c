/* SPDX-License-Identifier: MIT
 * Sub-configurations: what `from` names, and the path in front of the keys in it. */
#include "prove/symbolic/meaning.h"

#include "prove/symbolic/atoms.h"
#include "prove/symbolic/operate.h"

/* The sub-configuration that a name with a definition stands for. */
static bool view_of_name(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         struct sp_sym_frame *view)
{
    const struct sp_meaning meaning = sp_sym_meaning_of(env, expr);
    const struct sp_definition *definition = meaning.definition;
    if (!definition || definition->is_function || symbolic->depth >= SP_SYM_MAX_DEPTH)
        return sp_sym_fail(symbolic, expr->span, "this sub-configuration has no name");
    const struct sp_sym_env own = sp_sym_name_env(env, meaning.is_local);
    symbolic->depth++;
    const bool good = sp_sym_view_of(symbolic, &own, definition->expr, view);
    symbolic->depth--;
    return good;
}

/* An item of a list of objects, configs[i]. Where the list and the index are known it is the object there, else an
 * unknown one. Its keys depend on the loop indices in `i`. */
static bool view_of_item(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                         struct sp_sym_frame *view)
{
    struct sp_sym place;
    struct shapeproof_value index;
    if (!sp_sym_view_of(symbolic, env, expr->args[0], view) || !sp_sym_eval(symbolic, env, expr->args[1], &place))
        return false;
    const struct shapeproof_value list = view->object;
    const bool known = sp_sym_literal(place, &index) && index.type == SHAPEPROOF_VALUE_INT &&
                       list.type == SHAPEPROOF_VALUE_LIST && index.integer >= 0 && (uint64_t)index.integer < list.count;
    view->object = known ? list.items[index.integer] : sp_value_absent("");
    view->depends |= sp_sym_depends(symbolic, place);
    view->path = sp_arena_printf(&symbolic->algebra.arena, "%s[%s]", view->path, sp_sym_words(symbolic, place));
    return true;
}

/* a default b: the one that is set, or `a` when neither is. */
static bool view_of_default(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                            struct sp_sym_frame *view)
{
    struct sp_sym_frame other = *view;
    if (!sp_sym_view_of(symbolic, env, expr->args[0], view)) return false;
    if (sp_value_is_set(view->object)) return true;
    if (sp_sym_view_of(symbolic, env, expr->args[1], &other) && sp_value_is_set(other.object)) *view = other;
    return true;
}

/* A key: its setting, or what `with` gives instead of it, which has no known members when it is no known object. */
static void view_of_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                        struct sp_sym_frame *view)
{
    const struct sp_sym *given = sp_sym_key_given(env->frame, expr);
    view->path = sp_sym_key_path(symbolic, env, expr);
    view->depends = env->frame->depends;
    view->object = sp_sym_key_setting(env, expr);
    sp_sym_key_mark(symbolic, view->path);
    if (given) view->object = given->kind == SP_SYM_VALUE ? given->value : sp_value_absent("");
    if (given && given->name) view->path = given->name;
}

/* Of text_config it is { path "text_config", its object }; of text_config.vision, configs[i], a default b and names of
 * these what the functions above say. False after a message for any other expression. */
bool sp_sym_view_of(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                    struct sp_sym_frame *view)
{
    if (sp_sym_name_is_key(env, expr)) {
        view_of_key(symbolic, env, expr, view);
        return true;
    }
    switch (expr->kind) {
    case SP_EXPR_NAME:
        return view_of_name(symbolic, env, expr, view);
    case SP_EXPR_DEFAULT:
        return view_of_default(symbolic, env, expr, view);
    case SP_EXPR_INDEX:
        return view_of_item(symbolic, env, expr, view);
    case SP_EXPR_MEMBER:
        if (!sp_sym_view_of(symbolic, env, expr->args[0], view)) return false;
        view->object = sp_value_member(view->object, expr->name);
        view->path = sp_arena_printf(&symbolic->algebra.arena, "%s.%s", view->path, expr->name);
        return true;
    default:
        return sp_sym_fail(symbolic, expr->span, "this sub-configuration has no name");
    }
}

bool sp_sym_open_view(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *from,
                      struct sp_sym_frame *frame)
{
    if (!sp_sym_view_of(symbolic, env, from, frame)) return false;
    if (sp_value_is_set(frame->object) && frame->object.type != SHAPEPROOF_VALUE_OBJECT)
        return sp_sym_fail(symbolic, from->span, "expected a sub-configuration, found %s",
                           sp_value_kind(frame->object.type));
    frame->path = sp_arena_printf(&symbolic->algebra.arena, "%s.", frame->path);
    return true;
}
