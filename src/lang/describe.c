/* SPDX-License-Identifier: MIT
 * A dimension in the words of the configuration: definitions and parameters are followed back to the keys. */
#include "lang/prediction.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"

enum { MAX_DESCRIPTION = 400, MAX_DEPTH = 40 };

/* By enum sp_op. */
static const char *const operators[] = {"+",  "-", "*",  "/",  "//",     "%",   "^",  "==",   "!=", "<",
                                        "<=", ">", ">=", "in", "not in", "and", "or", "not ", "-"};

/* The call of a function whose body is described: what its arguments are, in the words of who calls. */
struct call {
    const struct sp_expr *expr;
    const struct sp_env *env;
    const struct call *caller; /* in whose body the call stands, or NULL */
};

/* Which of the words are keys: bytes from..to of the text. "3*rope.dim + n" has two, 2..10 and 13..14. */
struct key_words {
    struct {
        size_t from, to;
    } list[MAX_DESCRIPTION]; /* each is followed by something else */
    size_t count;
};

/* Where words go, and what they may refer to. */
struct scribe {
    struct sp_text *text;
    const struct call *call; /* or NULL */
    struct key_words *keys;  /* or NULL */
    bool whole;              /* every key that could have a say, not only the one to set */
    bool settings;           /* only what somebody sets: no operand that asks for the release alone */
};

static void put_key(const struct scribe *scribe, const char *prefix, const char *key)
{
    const size_t from = scribe->text->length;
    sp_text_printf(scribe->text, "%s%s", prefix, key);
    if (scribe->keys && scribe->keys->count < MAX_DESCRIPTION) {
        scribe->keys->list[scribe->keys->count].from = from;
        scribe->keys->list[scribe->keys->count++].to = scribe->text->length;
    }
}

/* A member of a key is a key. */
static void put_member(const struct scribe *scribe, const char *member)
{
    struct key_words *keys = scribe->keys;
    const size_t end = scribe->text->length;
    sp_text_printf(scribe->text, ".%s", member);
    if (keys && keys->count && keys->list[keys->count - 1].to == end)
        keys->list[keys->count - 1].to = scribe->text->length;
}

/* What is around an expression that is written. */
enum role {
    ALONE,  /* nothing that an operator in it could bind to: it needs no parentheses */
    OPERAND /* an operation: if it is one itself, it is put into parentheses */
};

static void describe_expression(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr,
                                enum role role, int depth);

/* The value of a key, `a` or `a.b`; absent for any other expression. */
static struct shapeproof_value value_of_key(const struct sp_env *env, const struct sp_expr *expr)
{
    if (expr->kind == SP_EXPR_MEMBER) return sp_value_member(value_of_key(env, expr->args[0]), expr->name);
    if (expr->kind != SP_EXPR_NAME || sp_meaning_of(env, expr).kind != SP_MEANS_KEY) return sp_value_absent(expr->name);
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

/* `a default b`: the one that holds; as a whole, all up to the first that is set. */
static void describe_fallback(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr,
                              enum role role, int depth)
{
    const struct sp_expr *first = expr->args[0];
    if (!scribe->whole) {
        describe_expression(scribe, env, alternative(env, expr), role, depth);
        return;
    }
    describe_expression(scribe, env, first, OPERAND, depth);
    if (is_set_key(env, first)) return;
    sp_text_puts(scribe->text, " default ");
    describe_expression(scribe, env, expr->args[1], OPERAND, depth);
}

static void describe_argument(const struct scribe *scribe, const struct sp_expr *expr, enum role role, int depth)
{
    const struct call *call = scribe->call;
    struct scribe outer = *scribe;
    outer.call = call->caller;
    describe_expression(&outer, call->env, call->expr->args[expr->index], role, depth);
}

/* Writes what a name stands for: the argument that was given, the definition, or the full path of the key. */
static void describe_name(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr,
                          enum role role, int depth)
{
    const struct sp_meaning meaning = sp_meaning_at(env->frame->unit, expr);
    const struct sp_frame *frame = env->frame;
    struct scribe plain = *scribe;
    plain.call = NULL;
    if (meaning.kind == SP_MEANS_ARGUMENT && scribe->call) {
        describe_argument(scribe, expr, role, depth);
    } else if (meaning.kind == SP_MEANS_PARAM && frame->param_exprs[meaning.index] && frame->caller) {
        describe_expression(&plain, &(struct sp_env){.frame = frame->caller}, frame->param_exprs[meaning.index], role,
                            depth);
    } else if (meaning.kind == SP_MEANS_DEFINITION && !meaning.definition->is_function) {
        describe_expression(&plain, env, meaning.definition->expr, role, depth);
    } else if (meaning.kind == SP_MEANS_KEY) {
        put_key(scribe, frame->view->prefix, expr->name);
    } else { /* the values of loops are not kept */
        sp_text_puts(scribe->text, expr->name);
    }
}

/* Whether the words name keys, and only that of the release that wrote the configuration. */
static bool ask_for_release(struct sp_text *text, const struct key_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        char *behind = text->data + words->list[i].to, kept = *behind;
        *behind = '\0';
        const char *key = sp_behind_last(text->data + words->list[i].from, '.');
        const bool release = sp_is_release_key(key);
        *behind = kept;
        if (!release) return false;
    }
    return words->count > 0;
}

/* Whether an operand of `and` or `or` says nothing of settings: it is the truth value that leaves the result to the
 * other operand, `true and tie_word_embeddings`, or a question of the release alone,
 * `tie_word_embeddings or starts_with(transformers_version, "4.")`. */
static bool is_no_setting(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *operand,
                          enum sp_op op, int depth)
{
    struct sp_text text = {0};
    struct key_words words = {.count = 0};
    const struct scribe own = {.text = &text, .call = scribe->call, .keys = &words};
    describe_expression(&own, env, operand, ALONE, depth);
    const bool neutral = ask_for_release(&text, &words) || strcmp(text.data, op == SP_OP_AND ? "true" : "false") == 0;
    sp_text_free(&text);
    return neutral;
}

/* "a + b", "4*n"; with scribe->settings only the operand of `and` and `or` that is a setting. */
static void describe_binary(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr,
                            enum role role, int depth)
{
    const bool is_logical = expr->op == SP_OP_AND || expr->op == SP_OP_OR;
    for (size_t i = 0; scribe->settings && is_logical && i < 2; i++)
        if (is_no_setting(scribe, env, expr->args[i], expr->op, depth)) {
            describe_expression(scribe, env, expr->args[1 - i], role, depth);
            return;
        }
    /* without parentheses (-x)^2 would be read as -(x^2), and (not a) == b as not (a == b) */
    const bool is_sign = expr->args[0]->kind == SP_EXPR_UNARY && expr->args[0]->op == SP_OP_NEGATE;
    const bool is_not = expr->args[0]->kind == SP_EXPR_UNARY && !is_sign;
    const bool is_tighter = is_sign ? expr->op == SP_OP_POW : is_not && !is_logical;
    if (role == OPERAND) sp_text_puts(scribe->text, "(");
    if (is_tighter) sp_text_puts(scribe->text, "(");
    describe_expression(scribe, env, expr->args[0], OPERAND, depth);
    if (is_tighter) sp_text_puts(scribe->text, ")");
    const bool is_product = expr->op >= SP_OP_MUL && expr->op <= SP_OP_POW; /* these have no blanks around them: 4*n */
    sp_text_printf(scribe->text, is_product ? "%s" : " %s ", operators[expr->op]);
    describe_expression(scribe, env, expr->args[1], OPERAND, depth);
    if (role == OPERAND) sp_text_puts(scribe->text, ")");
}

static void describe_choice(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr,
                            enum role role, int depth)
{
    if (role == OPERAND) sp_text_puts(scribe->text, "(");
    describe_expression(scribe, env, expr->args[0], OPERAND, depth);
    sp_text_puts(scribe->text, " ? ");
    describe_expression(scribe, env, expr->args[1], OPERAND, depth);
    sp_text_puts(scribe->text, " : ");
    describe_expression(scribe, env, expr->args[2], OPERAND, depth);
    if (role == OPERAND) sp_text_puts(scribe->text, ")");
}

static void describe_arguments(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr,
                               int depth)
{
    for (size_t i = 0; i < expr->count; i++) {
        if (i) sp_text_puts(scribe->text, ", ");
        describe_expression(scribe, env, expr->args[i], ALONE, depth);
    }
}

/* A call of a function that the table defines: its body, with the arguments in place of its parameters. */
static void describe_own_function(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr,
                                  const struct sp_definition *function, enum role role, int depth)
{
    const struct call call = {expr, env, scribe->call};
    struct scribe body = *scribe;
    body.call = &call;
    describe_expression(&body, env, function->expr, role, depth);
}

static void describe_call(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr,
                          enum role role, int depth)
{
    const struct sp_meaning meaning = sp_meaning_at(env->frame->unit, expr);
    if (meaning.kind == SP_MEANS_DEFINITION && meaning.definition->is_function) {
        describe_own_function(scribe, env, expr, meaning.definition, role, depth);
        return;
    }
    sp_text_printf(scribe->text, "%s(", expr->name);
    describe_arguments(scribe, env, expr, depth);
    sp_text_puts(scribe->text, ")");
}

/* Writes the expression in the language of tables, with its definitions, parameters and functions replaced by what they
 * stand for: "4*n" becomes "4*hidden_size" where n = hidden_size. `depth` counts the expressions around this one; "..."
 * stands for what is too deep or too long. */
static void describe_expression(const struct scribe *scribe, const struct sp_env *env, const struct sp_expr *expr,
                                enum role role, int depth)
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
        describe_name(scribe, env, expr, role, depth);
        break;
    case SP_EXPR_DEFAULT:
        describe_fallback(scribe, env, expr, role, depth);
        break;
    case SP_EXPR_BINARY:
        describe_binary(scribe, env, expr, role, depth);
        break;
    case SP_EXPR_UNARY:
        sp_text_puts(scribe->text, operators[expr->op]);
        describe_expression(scribe, env, expr->args[0], OPERAND, depth);
        break;
    case SP_EXPR_CHOICE:
        describe_choice(scribe, env, expr, role, depth);
        break;
    case SP_EXPR_LIST:
        sp_text_puts(scribe->text, "[");
        describe_arguments(scribe, env, expr, depth);
        sp_text_puts(scribe->text, "]");
        break;
    case SP_EXPR_CALL:
        describe_call(scribe, env, expr, role, depth);
        break;
    case SP_EXPR_INDEX:
        describe_expression(scribe, env, expr->args[0], OPERAND, depth);
        sp_text_puts(scribe->text, "[");
        describe_expression(scribe, env, expr->args[1], ALONE, depth);
        sp_text_puts(scribe->text, "]");
        break;
    case SP_EXPR_MEMBER:
        describe_expression(scribe, env, expr->args[0], OPERAND, depth);
        put_member(scribe, expr->name);
        break;
    case SP_EXPR_GROUP:
    case SP_EXPR_BRACKET:
        sp_text_printf(scribe->text, "[%s]", expr->name);
        break;
    case SP_EXPR_SUM:
        sp_text_printf(scribe->text, "sum(%s in ...)", expr->name);
        break;
    case SP_EXPR_CACHE:
    case SP_EXPR_SIZING:
    case SP_EXPR_FLOPS:
    case SP_EXPR_ACTIVATIONS:
        sp_text_append(scribe->text, expr->span.source->text + expr->span.offset, expr->span.length);
        break;
    case SP_EXPR_ACTIVE:
        sp_text_printf(scribe->text, "active([%s])", expr->name);
        break;
    case SP_EXPR_STORED:
        if (strcmp(expr->name, SP_STORED_BYTES) == 0) sp_text_puts(scribe->text, "stored(bytes)");
        else sp_text_printf(scribe->text, "stored([%s])", expr->name);
        break;
    case SP_EXPR_TENSORS:
        sp_text_printf(scribe->text, "%s(%s)", expr->name, expr->value.string);
        break;
    }
}

void sp_describe(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr)
{
    const struct scribe scribe = {.text = text};
    describe_expression(&scribe, env, expr, ALONE, 0);
}

/* ---- dimensions and conditions of a prediction ---- */

static void describe_dimension(const struct shapeproof_prediction *prediction, size_t tensor, uint32_t dimension,
                               const struct scribe *scribe)
{
    const struct sp_row_origin *origin = &prediction->origins[tensor];
    const struct sp_env env = {.frame = origin->frame};
    const uint32_t lead = env.frame->replaced ? env.frame->replaced->lead_rank : 0;
    sp_text_puts(scribe->text, "");
    if (dimension < lead) sp_text_number(scribe->text, prediction->tensors[tensor].shape[dimension]);
    else if (dimension - lead < origin->row->rank)
        describe_expression(scribe, &env, origin->row->shape[dimension - lead], ALONE, 0);
}

char *shapeproof_prediction_dimension(const struct shapeproof_prediction *prediction, size_t tensor, uint32_t dimension)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    struct sp_text text = {0};
    describe_dimension(prediction, tensor, dimension, &(struct scribe){.text = &text});
    return text.data;
}

bool sp_keys_contain(struct sp_keys keys, size_t key)
{
    for (size_t i = 0; i < keys.count; i++)
        if (keys.list[i] == key) return true;
    return false;
}

/* The hyper-parameter that a piece of the text names; SHAPEPROOF_NONE when it is not set. */
static size_t key_at(const struct shapeproof_prediction *prediction, struct sp_text *text, size_t from, size_t to)
{
    const char behind = text->data[to];
    text->data[to] = '\0';
    const size_t key = sp_map_get(&prediction->hyper_names, text->data + from);
    text->data[to] = behind;
    return key;
}

/* The hyper-parameters that the words name, each once, in the arena. */
static struct sp_keys keep_keys(struct shapeproof_prediction *prediction, struct sp_text *text,
                                const struct key_words *words)
{
    size_t *list = sp_arena_array(&prediction->arena, words->count, sizeof *list);
    struct sp_keys keys = {.list = list};
    for (size_t i = 0; i < words->count; i++) {
        const size_t key = key_at(prediction, text, words->list[i].from, words->list[i].to);
        if (key != SHAPEPROOF_NONE && !sp_keys_contain(keys, key)) list[keys.count++] = key;
    }
    return keys;
}

/* The only key, if the text is its name and nothing else; SHAPEPROOF_NONE otherwise. */
static size_t key_alone(const struct sp_text *text, const struct key_words *words, struct sp_keys keys)
{
    const bool alone = words->count == 1 && keys.count && !words->list[0].from && words->list[0].to == text->length;
    return alone ? keys.list[0] : SHAPEPROOF_NONE;
}

/* The keys in the description of a dimension, with `whole` (struct scribe) all that could have a say; *alone is the one
 * that it is, or SHAPEPROOF_NONE. */
static struct sp_keys dimension_keys(struct shapeproof_prediction *prediction, size_t tensor, uint32_t dimension,
                                     bool whole, size_t *alone)
{
    struct sp_text text = {0};
    struct key_words words = {.count = 0};
    describe_dimension(prediction, tensor, dimension, &(struct scribe){.text = &text, .keys = &words, .whole = whole});
    const struct sp_keys keys = keep_keys(prediction, &text, &words);
    *alone = key_alone(&text, &words, keys);
    sp_text_free(&text);
    return keys;
}

struct sp_keys sp_prediction_dimension_keys(struct shapeproof_prediction *prediction, size_t tensor, uint32_t dimension)
{
    size_t alone;
    return dimension_keys(prediction, tensor, dimension, false, &alone);
}

struct sp_keys sp_prediction_depends_on(struct shapeproof_prediction *prediction, size_t tensor, uint32_t dimension)
{
    size_t alone;
    return dimension_keys(prediction, tensor, dimension, true, &alone);
}

size_t sp_prediction_dimension_key(struct shapeproof_prediction *prediction, size_t tensor, uint32_t dimension)
{
    size_t alone;
    dimension_keys(prediction, tensor, dimension, false, &alone);
    return alone;
}

static const struct sp_condition *add_condition(struct shapeproof_prediction *prediction, struct sp_text *text,
                                                const struct key_words *words)
{
    struct sp_condition *condition = sp_arena_alloc(&prediction->arena, sizeof *condition);
    condition->words = sp_arena_copy(&prediction->arena, text->data, text->length);
    condition->keys = keep_keys(prediction, text, words);
    condition->key = key_alone(text, words, condition->keys);
    SP_GROW(prediction->conditions, prediction->condition_count, prediction->condition_capacity);
    sp_map_add(&prediction->condition_words, condition->words, prediction->condition_count);
    return prediction->conditions[prediction->condition_count++] = condition;
}

/* What of a condition is described. */
enum extent { WHOLE_CONDITION, SETTINGS_ALONE /* scribe.settings */ };

/* The condition that is described in these words, which is added when it is new. */
static const struct sp_condition *condition_of(struct shapeproof_prediction *prediction, const struct sp_env *env,
                                               const struct sp_expr *expr, enum extent extent)
{
    struct sp_text text = {0};
    struct key_words words = {.count = 0};
    describe_expression(&(struct scribe){.text = &text, .keys = &words, .settings = extent == SETTINGS_ALONE}, env,
                        expr, ALONE, 0);
    sp_text_puts(&text, "");
    const size_t known = sp_map_get(&prediction->condition_words, text.data);
    const struct sp_condition *condition =
        known != SIZE_MAX ? prediction->conditions[known] : add_condition(prediction, &text, &words);
    sp_text_free(&text);
    return condition;
}

const struct sp_condition *sp_prediction_condition(struct shapeproof_prediction *prediction, const struct sp_env *env,
                                                   const struct sp_expr *expr)
{
    return condition_of(prediction, env, expr, WHOLE_CONDITION);
}

const struct sp_condition *sp_prediction_tie_condition(struct shapeproof_prediction *prediction, size_t tensor)
{
    const struct sp_row_origin *origin = &prediction->origins[tensor];
    const struct sp_replaced *replaced = origin->frame->replaced; /* then it is the weight that is tied */
    const struct sp_row *row = replaced ? replaced->row : origin->row;
    const struct sp_env env = {.frame = replaced ? origin->frame->caller : origin->frame};
    return row->tie_condition ? condition_of(prediction, &env, row->tie_condition, SETTINGS_ALONE) : NULL;
}
