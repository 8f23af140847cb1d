/* SPDX-License-Identifier: MIT
 * A dimension in the words of the configuration: definitions and parameters are followed back to the keys. */
#include "lang/prediction.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DESCRIPTION = 400, MAX_DEPTH = 40 };

static const char *const operators[] = {"+",  "-", "*",  "/",  "//",     "%",   "^",  "==",   "!=", "<",
                                        "<=", ">", ">=", "in", "not in", "and", "or", "not ", "-"};

static void describe(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr, bool nested,
                     int depth);

/* The value of a key, `a` or `a.b`; absent for any other expression. */
static struct sp_value value_of_key(const struct sp_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_MEMBER) return sp_value_member(value_of_key(env, expr->args[0]), expr->name);
    if (expr->kind != SP_EXPR_NAME || sp_meaning_of(env, expr->name).kind != SP_MEANS_KEY)
        return sp_value_absent(expr->name);
    return sp_view_get(env->frame->view, expr->name);
}

/* The alternative of `a default b default c` that holds: the first key that is set; else the first key, which is
 * the one to set; else the last. */
static const struct sp_expr *alternative(const struct sp_env *env, const struct sp_expr *expr)
{
    const struct sp_expr *first = NULL;
    for (; expr->kind == SP_EXPR_DEFAULT; expr = expr->args[1]) {
        const struct sp_expr *key = expr->args[0];
        if (sp_value_is_set(value_of_key(env, key))) return key;
        if (!first) first = key;
    }
    return first ? first : expr;
}

/* The loops' values are not kept, only their names. */
static bool is_index(const struct sp_section *section, const char *word)
{
    for (size_t i = 0; section && i < section->clause_count; i++)
        if (section->clauses[i].kind != SP_CLAUSE_IF && section->clauses[i].name == word) return true;
    return false;
}

static void name(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr, bool nested, int depth)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr->name);
    const struct sp_frame *frame = env->frame;
    struct sp_env inner = {.frame = frame};
    if (is_index(env->section, expr->name)) {
        sp_text_puts(text, expr->name);
    } else if (meaning.kind == SP_MEANS_PARAM && frame->param_exprs[meaning.index] && frame->caller) {
        inner.frame = frame->caller;
        inner.section = frame->caller_section;
        describe(text, &inner, frame->param_exprs[meaning.index], nested, depth);
    } else if (meaning.kind == SP_MEANS_DEFINITION && !meaning.definition->is_function) {
        inner.section = meaning.local ? env->section : NULL;
        inner.defining = meaning.definition;
        describe(text, &inner, meaning.definition->expr, nested, depth);
    } else {
        sp_text_printf(text, "%s%s", meaning.kind == SP_MEANS_KEY ? frame->view->prefix : "", expr->name);
    }
}

static void binary(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr, bool nested, int depth)
{
    if (nested) sp_text_puts(text, "(");
    describe(text, env, expr->args[0], true, depth);
    const bool tight = expr->op >= SP_OP_MUL && expr->op <= SP_OP_POW;
    sp_text_printf(text, tight ? "%s" : " %s ", operators[expr->op]);
    describe(text, env, expr->args[1], true, depth);
    if (nested) sp_text_puts(text, ")");
}

static void choice(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr, bool nested, int depth)
{
    if (nested) sp_text_puts(text, "(");
    describe(text, env, expr->args[0], true, depth);
    sp_text_puts(text, " ? ");
    describe(text, env, expr->args[1], true, depth);
    sp_text_puts(text, " : ");
    describe(text, env, expr->args[2], true, depth);
    if (nested) sp_text_puts(text, ")");
}

static void arguments(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr, int depth)
{
    for (size_t i = 0; i < expr->count; i++) {
        if (i) sp_text_puts(text, ", ");
        describe(text, env, expr->args[i], false, depth);
    }
}

static void describe(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr, bool nested, int depth)
{
    if (depth > MAX_DEPTH || text->length > MAX_DESCRIPTION) {
        sp_text_puts(text, "...");
        return;
    }
    depth++;
    switch (expr->kind) {
    case SP_EXPR_LITERAL:
        sp_value_json(text, expr->value);
        break;
    case SP_EXPR_NAME:
        name(text, env, expr, nested, depth);
        break;
    case SP_EXPR_DEFAULT:
        describe(text, env, alternative(env, expr), nested, depth);
        break;
    case SP_EXPR_BINARY:
        binary(text, env, expr, nested, depth);
        break;
    case SP_EXPR_UNARY:
        sp_text_puts(text, operators[expr->op]);
        describe(text, env, expr->args[0], true, depth);
        break;
    case SP_EXPR_CHOICE:
        choice(text, env, expr, nested, depth);
        break;
    case SP_EXPR_LIST:
        sp_text_puts(text, "[");
        arguments(text, env, expr, depth);
        sp_text_puts(text, "]");
        break;
    case SP_EXPR_CALL:
        sp_text_printf(text, "%s(", expr->name);
        arguments(text, env, expr, depth);
        sp_text_puts(text, ")");
        break;
    case SP_EXPR_INDEX:
        describe(text, env, expr->args[0], true, depth);
        sp_text_puts(text, "[");
        describe(text, env, expr->args[1], false, depth);
        sp_text_puts(text, "]");
        break;
    case SP_EXPR_MEMBER:
        describe(text, env, expr->args[0], true, depth);
        sp_text_printf(text, ".%s", expr->name);
        break;
    case SP_EXPR_GROUP:
        sp_text_printf(text, "[%s]", expr->name);
        break;
    }
}

void sp_describe(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr)
{
    describe(text, env, expr, false, 0);
}

char *sp_prediction_dimension(const struct sp_prediction *prediction, size_t tensor, uint32_t dimension)
{
    const struct sp_origin *origin = &prediction->origins[tensor];
    const struct sp_env env = {.frame = origin->frame, .section = origin->section};
    const uint32_t lead = env.frame->packed ? env.frame->packed->lead_rank : 0;
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    if (dimension < lead) sp_text_number(&text, prediction->tensors[tensor].shape[dimension]);
    else if (dimension - lead < origin->row->rank) sp_describe(&text, &env, origin->row->shape[dimension - lead]);
    return text.data;
}
