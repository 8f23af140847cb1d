/* SPDX-License-Identifier: MIT
 * A dimension in the words of the configuration: definitions and parameters are followed back to the keys. */
#include "lang/prediction.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DESCRIPTION = 400, MAX_DEPTH = 40 };

static const char *const operators[] = {"+",  "-", "*",  "/",  "//",     "%",   "^",  "==",   "!=", "<",
                                        "<=", ">", ">=", "in", "not in", "and", "or", "not ", "-"};

/* What a parameter of a function stands for, in the words of who calls it. */
struct given {
    const char *name;
    const struct sp_expr *expr;
    const struct sp_env *env;
    const struct given *given; /* to the caller */
    const struct given *next;
};

/* Where words go, and what they may refer to. */
struct scribe {
    struct sp_text *text;
    const struct given *given;
    bool whole; /* every key that could have a say, not only the one to set */
};

static void describe(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr, bool nested,
                     int depth);

/* The value of a key, `a` or `a.b`; absent for any other expression. */
static struct sp_value value_of_key(const struct sp_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_MEMBER) return sp_value_member(value_of_key(env, expr->args[0]), expr->name);
    if (expr->kind != SP_EXPR_NAME || sp_meaning_of(env, expr->name).kind != SP_MEANS_KEY)
        return sp_value_absent(expr->name);
    return sp_view_get(env->frame->view, expr->name);
}

static bool is_set_key(const struct sp_env *env, const struct sp_expr *expr)
{
    return sp_value_is_set(value_of_key(env, expr));
}

/* The alternative of `a default b default c` that holds: the first key that is set; else the first key, which is
 * the one to set; else the last. */
static const struct sp_expr *alternative(const struct sp_env *env, const struct sp_expr *expr)
{
    const struct sp_expr *first = NULL;
    for (; expr->kind == SP_EXPR_DEFAULT; expr = expr->args[1]) {
        if (is_set_key(env, expr->args[0])) return expr->args[0];
        if (!first) first = expr->args[0];
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

/* `a default b`: the one that holds; as a whole, all up to the first that is set. */
static void fallback(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr, bool nested,
                     int depth)
{
    const struct sp_expr *first = expr->args[0];
    if (!scribe->whole) {
        describe(scribe, env, alternative(env, expr), nested, depth);
        return;
    }
    describe(scribe, env, first, true, depth);
    if (is_set_key(env, first)) return;
    sp_text_puts(scribe->text, " default ");
    describe(scribe, env, expr->args[1], true, depth);
}

static const struct given *given_to(const struct scribe *scribe, const char *name)
{
    for (const struct given *given = scribe->given; given; given = given->next)
        if (given->name == name) return given;
    return NULL;
}

static void name(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr, bool nested,
                 int depth)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr->name);
    const struct sp_frame *frame = env->frame;
    struct sp_env inner = {.frame = frame};
    const struct scribe plain = {.text = scribe->text, .whole = scribe->whole}; /* elsewhere nothing is given */
    const struct given *given = given_to(scribe, expr->name);
    if (given) {
        const struct scribe outer = {scribe->text, given->given, scribe->whole};
        describe(&outer, given->env, given->expr, nested, depth);
    } else if (is_index(env->section, expr->name)) {
        sp_text_puts(scribe->text, expr->name);
    } else if (meaning.kind == SP_MEANS_PARAM && frame->param_exprs[meaning.index] && frame->caller) {
        inner.frame = frame->caller;
        inner.section = frame->caller_section;
        describe(&plain, &inner, frame->param_exprs[meaning.index], nested, depth);
    } else if (meaning.kind == SP_MEANS_DEFINITION && !meaning.definition->is_function) {
        inner.section = meaning.local ? env->section : NULL;
        inner.defining = meaning.definition;
        describe(&plain, &inner, meaning.definition->expr, nested, depth);
    } else {
        sp_text_printf(scribe->text, "%s%s", meaning.kind == SP_MEANS_KEY ? frame->view->prefix : "", expr->name);
    }
}

static void binary(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr, bool nested,
                   int depth)
{
    if (nested) sp_text_puts(scribe->text, "(");
    describe(scribe, env, expr->args[0], true, depth);
    const bool tight = expr->op >= SP_OP_MUL && expr->op <= SP_OP_POW;
    sp_text_printf(scribe->text, tight ? "%s" : " %s ", operators[expr->op]);
    describe(scribe, env, expr->args[1], true, depth);
    if (nested) sp_text_puts(scribe->text, ")");
}

static void choice(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr, bool nested,
                   int depth)
{
    if (nested) sp_text_puts(scribe->text, "(");
    describe(scribe, env, expr->args[0], true, depth);
    sp_text_puts(scribe->text, " ? ");
    describe(scribe, env, expr->args[1], true, depth);
    sp_text_puts(scribe->text, " : ");
    describe(scribe, env, expr->args[2], true, depth);
    if (nested) sp_text_puts(scribe->text, ")");
}

static void arguments(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr, int depth)
{
    for (size_t i = 0; i < expr->count; i++) {
        if (i) sp_text_puts(scribe->text, ", ");
        describe(scribe, env, expr->args[i], false, depth);
    }
}

static void own_function(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr, bool nested,
                         int depth)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr->name);
    const struct sp_definition *definition = meaning.definition;
    const struct sp_env inner = {
        .frame = env->frame, .section = meaning.local ? env->section : NULL, .defining = definition};
    struct given given[SP_MAX_PARAMS] = {{0}};
    struct scribe body = {.text = scribe->text, .whole = scribe->whole};
    for (size_t i = 0; i < definition->param_count; i++) {
        given[i] = (struct given){definition->params[i], expr->args[i], env, scribe->given, body.given};
        body.given = &given[i];
    }
    describe(&body, &inner, definition->expr, nested, depth);
}

static void call(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr, bool nested,
                 int depth)
{
    const struct sp_meaning meaning = sp_meaning_of(env, expr->name);
    if (meaning.kind == SP_MEANS_DEFINITION && meaning.definition->is_function) {
        own_function(scribe, env, expr, nested, depth);
        return;
    }
    sp_text_printf(scribe->text, "%s(", expr->name);
    arguments(scribe, env, expr, depth);
    sp_text_puts(scribe->text, ")");
}

static void describe(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr, bool nested,
                     int depth)
{
    if (depth > MAX_DEPTH || scribe->text->length > MAX_DESCRIPTION) {
        sp_text_puts(scribe->text, "...");
        return;
    }
    depth++;
    switch (expr->kind) {
    case SP_EXPR_LITERAL:
        sp_value_json(scribe->text, expr->value);
        break;
    case SP_EXPR_NAME:
        name(scribe, env, expr, nested, depth);
        break;
    case SP_EXPR_DEFAULT:
        fallback(scribe, env, expr, nested, depth);
        break;
    case SP_EXPR_BINARY:
        binary(scribe, env, expr, nested, depth);
        break;
    case SP_EXPR_UNARY:
        sp_text_puts(scribe->text, operators[expr->op]);
        describe(scribe, env, expr->args[0], true, depth);
        break;
    case SP_EXPR_CHOICE:
        choice(scribe, env, expr, nested, depth);
        break;
    case SP_EXPR_LIST:
        sp_text_puts(scribe->text, "[");
        arguments(scribe, env, expr, depth);
        sp_text_puts(scribe->text, "]");
        break;
    case SP_EXPR_CALL:
        call(scribe, env, expr, nested, depth);
        break;
    case SP_EXPR_INDEX:
        describe(scribe, env, expr->args[0], true, depth);
        sp_text_puts(scribe->text, "[");
        describe(scribe, env, expr->args[1], false, depth);
        sp_text_puts(scribe->text, "]");
        break;
    case SP_EXPR_MEMBER:
        describe(scribe, env, expr->args[0], true, depth);
        sp_text_printf(scribe->text, ".%s", expr->name);
        break;
    case SP_EXPR_GROUP:
        sp_text_printf(scribe->text, "[%s]", expr->name);
        break;
    }
}

void sp_describe(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr)
{
    const struct scribe scribe = {.text = text};
    describe(&scribe, env, expr, false, 0);
}

static char *dimension_words(const struct sp_prediction *prediction, size_t tensor, uint32_t dimension, bool whole)
{
    const struct sp_origin *origin = &prediction->origins[tensor];
    const struct sp_env env = {.frame = origin->frame, .section = origin->section};
    const uint32_t lead = env.frame->packed ? env.frame->packed->lead_rank : 0;
    struct sp_text text = {0};
    const struct scribe scribe = {.text = &text, .whole = whole};
    sp_text_puts(&text, "");
    if (dimension < lead) sp_text_number(&text, prediction->tensors[tensor].shape[dimension]);
    else if (dimension - lead < origin->row->rank)
        describe(&scribe, &env, origin->row->shape[dimension - lead], false, 0);
    return text.data;
}

char *sp_prediction_dimension(const struct sp_prediction *prediction, size_t tensor, uint32_t dimension)
{
    return dimension_words(prediction, tensor, dimension, false);
}

char *sp_prediction_depends_on(const struct sp_prediction *prediction, size_t tensor, uint32_t dimension)
{
    return dimension_words(prediction, tensor, dimension, true);
}
