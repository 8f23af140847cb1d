/* SPDX-License-Identifier: MIT
 * Expressions, by a table of binding strengths (Pratt). From weakest to strongest:
 *   c ? a : b    default    or    and    not    == != < <= > >= in    + -    * / // %    -x    ^    f(x) x[i] x.k */
#include "base/dtype_word.h"
#include "lang/syntax/parser.h"

#include <string.h>

/* How strongly an operator binds its operands, from the weakest on. */
enum strength {
    STRENGTH_ANY, /* of no operator: asks for a whole expression */
    STRENGTH_CHOICE,
    STRENGTH_DEFAULT,
    STRENGTH_OR,
    STRENGTH_AND,
    STRENGTH_NOT, /* a prefix */
    STRENGTH_COMPARE,
    STRENGTH_SUM,
    STRENGTH_PRODUCT,
    STRENGTH_NEGATE, /* a prefix */
    STRENGTH_POWER
};

static const struct infix {
    const char *text;
    enum strength strength;
    enum { LEFT, RIGHT } grouping; /* a - b - c is (a - b) - c, a ^ b ^ c is a ^ (b ^ c) */
    enum sp_expr_kind kind;
    enum sp_op op; /* of SP_EXPR_BINARY */
} infixes[] = {
    {"?", STRENGTH_CHOICE, RIGHT, .kind = SP_EXPR_CHOICE},
    {"default", STRENGTH_DEFAULT, RIGHT, .kind = SP_EXPR_DEFAULT},
    {"or", STRENGTH_OR, LEFT, SP_EXPR_BINARY, SP_OP_OR},
    {"and", STRENGTH_AND, LEFT, SP_EXPR_BINARY, SP_OP_AND},
    {"==", STRENGTH_COMPARE, LEFT, SP_EXPR_BINARY, SP_OP_EQ},
    {"!=", STRENGTH_COMPARE, LEFT, SP_EXPR_BINARY, SP_OP_NE},
    {"<", STRENGTH_COMPARE, LEFT, SP_EXPR_BINARY, SP_OP_LT},
    {"<=", STRENGTH_COMPARE, LEFT, SP_EXPR_BINARY, SP_OP_LE},
    {">", STRENGTH_COMPARE, LEFT, SP_EXPR_BINARY, SP_OP_GT},
    {">=", STRENGTH_COMPARE, LEFT, SP_EXPR_BINARY, SP_OP_GE},
    {"in", STRENGTH_COMPARE, LEFT, SP_EXPR_BINARY, SP_OP_IN},
    {"not", STRENGTH_COMPARE, LEFT, SP_EXPR_BINARY, SP_OP_NOT_IN}, /* x not in y */
    {"+", STRENGTH_SUM, LEFT, SP_EXPR_BINARY, SP_OP_ADD},
    {"-", STRENGTH_SUM, LEFT, SP_EXPR_BINARY, SP_OP_SUB},
    {"*", STRENGTH_PRODUCT, LEFT, SP_EXPR_BINARY, SP_OP_MUL},
    {"/", STRENGTH_PRODUCT, LEFT, SP_EXPR_BINARY, SP_OP_DIV},
    {"//", STRENGTH_PRODUCT, LEFT, SP_EXPR_BINARY, SP_OP_FLOOR},
    {"%", STRENGTH_PRODUCT, LEFT, SP_EXPR_BINARY, SP_OP_MOD},
    {"^", STRENGTH_POWER, RIGHT, SP_EXPR_BINARY, SP_OP_POW},
};

static struct sp_expr *parse_strength(struct sp_parser *parser, enum strength weakest);

/* A new expression with room for `count` operands, which are NULL so far. */
static struct sp_expr *node(struct sp_parser *parser, enum sp_expr_kind kind, struct sp_span span, size_t count)
{
    struct sp_expr *expr = sp_arena_alloc(parser->arena, sizeof *expr);
    expr->kind = kind;
    expr->span = span;
    expr->count = count;
    if (count) expr->args = sp_arena_array(parser->arena, count, sizeof(struct sp_expr *));
    return expr;
}

static struct sp_span join_spans(struct sp_span from, struct sp_span to)
{
    return (struct sp_span){from.source, from.offset, to.offset + to.length - from.offset};
}

static struct sp_expr *literal(struct sp_parser *parser, struct shapeproof_value value)
{
    struct sp_expr *expr = node(parser, SP_EXPR_LITERAL, parser->lexer.token.span, 0);
    expr->value = value;
    sp_lexer_next(&parser->lexer);
    return expr;
}

/* The bracket that is the current token, comma-separated expressions, and `close`: into expr->args.
 *
 *     list = expr { "," expr } [ "," ] ; */
static bool parse_arguments(struct sp_parser *parser, struct sp_expr *expr, const char *close)
{
    struct sp_expr *items[64];
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    while (!sp_token_is(&parser->lexer, close)) {
        if (expr->count == sizeof items / sizeof *items)
            return sp_parse_fail(parser, parser->lexer.token.span, "more than 64 items");
        items[expr->count] = sp_parse_expression(parser);
        if (!items[expr->count++]) return false;
        if (!sp_parse_accept(parser, ",")) break;
    }
    expr->span = join_spans(expr->span, parser->lexer.token.span);
    if (!sp_parse_close(parser, close, open, *close == ')' ? "',' or ')'" : "',' or ']'")) return false;
    expr->args = sp_arena_array(parser->arena, expr->count, sizeof *items);
    if (expr->count) memcpy(expr->args, items, expr->count * sizeof *items);
    return true;
}

/* The length of the name of a tensor up to the comma or the bracket behind it; "h.0.{q_proj,k_proj}.weight" has a comma
 * in it. */
static size_t tensor_name_length(const char *name)
{
    size_t length = 0, depth = 0;
    for (; name[length] && name[length] != '\n'; length++) {
        if (!depth && strchr(",)", name[length])) break;
        if (name[length] == '{') depth++;
        if (name[length] == '}' && depth) depth--;
    }
    return length;
}

/* Whether the brackets behind `function`, the current token, hold the name of a tensor. In a claim about a table,
 * count(sizes, 3) counts the items of a list; with one argument, as in count(h.{i}.weight), it counts tensors. */
static bool takes_tensors(const struct sp_parser *parser, const char *function)
{
    const char *name = parser->lexer.source->text + parser->lexer.token.span.offset + 1;
    if (!parser->in_claim && !parser->is_about_checkpoint) return false;
    if (strcmp(function, "count") == 0) return parser->is_about_checkpoint || name[tensor_name_length(name)] == ')';
    if (strcmp(function, "bytes") == 0) return parser->is_about_checkpoint;
    return strcmp(function, "dim") == 0 || strcmp(function, "elements") == 0;
}

/* tensors = ( "dim" | "count" | "elements" | "bytes" ) "(" tensor-name [ "," expr ] ")" ;
 *
 * The bracket is the current token. The name of a tensor is no expression: it is read from the text, and the tokens go
 * on at the comma or the bracket behind it. */
static bool parse_tensors(struct sp_parser *parser, struct sp_expr *expr)
{
    struct sp_lexer *lexer = &parser->lexer;
    const struct sp_span open = lexer->token.span;
    const char *name = lexer->source->text + open.offset + 1;
    size_t blanks = strspn(name, " "), length = tensor_name_length(name); /* with the blanks around it */
    const struct sp_span span = {lexer->source, (uint32_t)(open.offset + 1), (uint32_t)length};
    lexer->offset = open.offset + 1 + length;
    while (length > blanks && name[length - 1] == ' ') length--;
    if (length <= blanks || !strchr(",)", name[span.length]))
        return sp_parse_fail(parser, span, "expected the name of a tensor, as in count(h.{i}.ln_1.weight)");
    expr->kind = SP_EXPR_TENSORS;
    expr->value = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_STRING,
                                            .string = sp_parse_intern(parser, name + blanks, length - blanks)};
    expr->args = sp_arena_array(parser->arena, 1, sizeof *expr->args);
    sp_lexer_next(lexer);
    if (sp_parse_accept(parser, ",") && !(expr->args[expr->count++] = sp_parse_expression(parser))) return false;
    expr->span = join_spans(expr->span, lexer->token.span);
    return sp_parse_close(parser, ")", open, "',' or ')'");
}

/* "vocab_size" or "text_config.vocab_size"; NULL when no name stands there.
 *
 * key = NAME { "." NAME } ; */
static const char *parse_key(struct sp_parser *parser)
{
    const char *path = sp_parse_name(parser, "a hyper-parameter");
    while (path && sp_parse_accept(parser, ".")) {
        const char *member = sp_parse_name(parser, "the name of a key");
        path = member ? sp_arena_printf(parser->arena, "%s.%s", path, member) : NULL;
    }
    return path;
}

/* settings = "(" key "=" expr { "," key "=" expr } ")" ; */
static bool parse_settings(struct sp_parser *parser, struct sp_expr *group)
{
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    do {
        struct sp_expr *key = node(parser, SP_EXPR_LITERAL, parser->lexer.token.span, 0);
        key->value.type = SHAPEPROOF_VALUE_STRING;
        group->args = sp_parse_grow(parser->arena, group->args, group->count, sizeof *group->args);
        group->args[group->count++] = key;
        key->value.string = parse_key(parser);
        if (!key->value.string || !sp_parse_expect(parser, "=", "between the hyper-parameter and its value"))
            return false;
        group->args = sp_parse_grow(parser->arena, group->args, group->count, sizeof *group->args);
        if (!(group->args[group->count] = sp_parse_expression(parser))) return false;
        group->count++;
    } while (sp_parse_accept(parser, ","));
    group->span = join_spans(group->span, parser->lexer.token.span);
    return sp_parse_close(parser, ")", open, "',' or ')'");
}

/* The group, with what follows it in parentheses where the source may have that: other values of hyper-parameters, as
 * in [attention](n_head = 16). NULL after a mistake. */
static struct sp_expr *with_settings(struct sp_parser *parser, struct sp_expr *group)
{
    const bool has_settings = group && parser->lexer.source->has_expressions && sp_token_is(&parser->lexer, "(");
    if (has_settings) {
        group->kind = SP_EXPR_GROUP;
        group->count = 0;
    }
    return !has_settings || parse_settings(parser, group) ? group : NULL;
}

static struct sp_expr *parse_group(struct sp_parser *parser);
static bool parse_iteration(struct sp_parser *parser, struct sp_expr *expr);
static bool begins_iteration(const struct sp_lexer *lexer);

/* stored = "stored" "(" ( "[" group-name "]" | "total" | "bytes" ) ")" ; */
static bool parse_stored(struct sp_parser *parser, struct sp_expr *expr)
{
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    if (sp_token_is(&parser->lexer, "[")) {
        const struct sp_expr *group = parse_group(parser);
        if (!group) return false;
        expr->name = group->name;
    } else if (sp_token_is(&parser->lexer, "total")) {
        expr->name = sp_parse_name(parser, "total");
    } else if (sp_token_is(&parser->lexer, "bytes")) {
        expr->name = SP_STORED_BYTES;
        sp_lexer_next(&parser->lexer);
    } else
        return sp_parse_fail(parser, parser->lexer.token.span,
                             "expected stored([group name]), stored(total) or stored(bytes)");
    expr->kind = SP_EXPR_STORED;
    expr->span = join_spans(expr->span, parser->lexer.token.span);
    return sp_parse_close(parser, ")", open, "')'");
}

/* active = "active" "(" "[" group-name "]" ")" ; */
static bool parse_active(struct sp_parser *parser, struct sp_expr *expr)
{
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    if (!sp_token_is(&parser->lexer, "["))
        return sp_parse_fail(parser, parser->lexer.token.span, "expected active([group name]), or active alone");
    const struct sp_expr *group = parse_group(parser);
    if (!group) return false;
    expr->name = group->name;
    expr->kind = SP_EXPR_ACTIVE;
    expr->span = join_spans(expr->span, parser->lexer.token.span);
    return sp_parse_close(parser, ")", open, "')'");
}

static bool parse_cache_dtype(struct sp_parser *parser, struct sp_expr *expr)
{
    enum { FEWEST_BITS = 8 }; /* of an element of a cache */
    const struct sp_token *token = &parser->lexer.token;
    const struct sp_span at = token->span;
    const bool is_word = token->kind == SP_TOKEN_NAME;
    const char *word = is_word ? sp_parse_intern(parser, sp_parse_text(parser, at.offset), at.length) : "";
    const unsigned bits = sp_weight_bits_of_word(word);
    if (bits < FEWEST_BITS) return sp_parse_fail(parser, at, "expected a dtype: f32, bf16, f16, fp8 or int8");
    expr->value = sp_value_int(bits);
    sp_lexer_next(&parser->lexer);
    return true;
}

static bool parse_cache_form(struct sp_parser *parser, struct sp_expr *expr)
{
    expr->args[SP_CACHE_EXPANDED]->value = sp_value_bool(sp_token_is(&parser->lexer, "expanded"));
    return sp_parse_accept(parser, "latent") || sp_parse_accept(parser, "expanded") ||
           sp_parse_fail(parser, parser->lexer.token.span, "expected 'latent' or 'expanded'");
}

/* tp = 8: of the ranks of tensor parallelism one has only a part. */
static bool parse_cache_ranks(struct sp_parser *parser, struct sp_expr *expr)
{
    struct sp_sizing *sizing = sp_arena_alloc(parser->arena, sizeof *sizing);
    *sizing = (struct sp_sizing){.kind = SP_SIZING_SHARD, .ranks = {1, 1, 1, 1}};
    expr->sizing = sizing;
    return sp_parse_ranks(parser, &sizing->ranks.tp);
}

/* One argument of a cache: the dtype and the form are words, the number of ranks is a number, the others expressions.
 */
static bool parse_cache_argument(struct sp_parser *parser, struct sp_expr *expr, unsigned *seen)
{
    enum { TOKENS, SOURCE_TOKENS, IMAGES, BATCH, DTYPE, FORM, TP };
    static const char *const names[] = {"tokens", "source_tokens", "images", "batch", "dtype", "form", "tp", NULL};
    static const enum sp_cache_argument arguments[] = {[TOKENS] = SP_CACHE_TOKENS,
                                                       [SOURCE_TOKENS] = SP_CACHE_SOURCE_TOKENS,
                                                       [IMAGES] = SP_CACHE_IMAGES,
                                                       [BATCH] = SP_CACHE_BATCH};
    const size_t name = sp_parse_argument_name(
        parser, names, "'tokens', 'source_tokens', 'images', 'batch', 'dtype', 'form' or 'tp'", seen);
    if (name == SIZE_MAX) return false;
    if (name == DTYPE) return parse_cache_dtype(parser, expr);
    if (name == FORM) return parse_cache_form(parser, expr);
    if (name == TP) return parse_cache_ranks(parser, expr);
    return (expr->args[arguments[name]] = sp_parse_expression(parser)) != NULL;
}

/* The value of an argument that is not given. */
static struct sp_expr *implied(struct sp_parser *parser, struct sp_span span, struct shapeproof_value value)
{
    struct sp_expr *expr = node(parser, SP_EXPR_LITERAL, span, 0);
    expr->value = value;
    return expr;
}

/* cache = "cache" "(" cached { "," cached } ")" ;
 * cached = ( "tokens" | "source_tokens" | "images" | "batch" ) "=" expr | "dtype" "=" NAME
 *        | "form" "=" ( "latent" | "expanded" ) | "tp" "=" INTEGER ; */
static bool parse_cache(struct sp_parser *parser, struct sp_expr *expr)
{
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    expr->kind = SP_EXPR_CACHE;
    expr->args = sp_arena_array(parser->arena, SP_CACHE_ARGUMENTS, sizeof *expr->args);
    expr->count = SP_CACHE_ARGUMENTS;
    expr->value = sp_value_int(0);
    expr->args[SP_CACHE_TOKENS] = NULL;
    expr->args[SP_CACHE_BATCH] = implied(parser, expr->span, sp_value_int(1));
    expr->args[SP_CACHE_EXPANDED] = implied(parser, expr->span, sp_value_bool(false));
    expr->args[SP_CACHE_SOURCE_TOKENS] = implied(parser, expr->span, sp_value_absent("source_tokens"));
    expr->args[SP_CACHE_IMAGES] = implied(parser, expr->span, sp_value_absent("images"));
    unsigned seen = 0;
    do {
        if (!parse_cache_argument(parser, expr, &seen)) return false;
    } while (sp_parse_accept(parser, ","));
    expr->span = join_spans(expr->span, parser->lexer.token.span);
    if (!expr->args[SP_CACHE_TOKENS] || !expr->value.integer)
        return sp_parse_fail(parser, expr->span, "expected cache(tokens=..., dtype=...), and batch=... if it is not 1");
    return sp_parse_close(parser, ")", open, "',' or ')'");
}

/* recompute = none | selective | full */
static bool parse_recompute(struct sp_parser *parser, struct sp_expr *expr)
{
    static const char *const words[] = {"none", "selective", "full"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sp_parse_accept(parser, words[i])) {
            expr->value = sp_value_string(words[i]);
            return true;
        }
    return sp_parse_fail(parser, parser->lexer.token.span, "expected none, selective or full");
}

static bool parse_sequence_parallel(struct sp_parser *parser, struct sp_expr *expr)
{
    expr->value = sp_value_bool(sp_token_is(&parser->lexer, "true"));
    return sp_parse_accept(parser, "true") || sp_parse_accept(parser, "false") ||
           sp_parse_fail(parser, parser->lexer.token.span, "expected true or false");
}

/* activations = "activations" "(" kept { "," kept } ")" ;
 * kept = ( "tokens" | "batch" | "tp" ) "=" expr | "recompute" "=" NAME
 *      | "sequence_parallel" "=" ( "true" | "false" ) ; */
static bool parse_activations(struct sp_parser *parser, struct sp_expr *expr)
{
    static const char *const names[] = {"tokens", "batch", "tp", "sequence_parallel", "recompute", NULL};
    const struct sp_span open = parser->lexer.token.span;
    unsigned seen = 0;
    sp_lexer_next(&parser->lexer);
    expr->kind = SP_EXPR_ACTIVATIONS;
    expr->args = sp_arena_array(parser->arena, SP_ACTIVATIONS_ARGUMENTS, sizeof *expr->args);
    expr->count = SP_ACTIVATIONS_ARGUMENTS;
    expr->args[SP_ACTIVATIONS_TOKENS] = NULL;
    expr->args[SP_ACTIVATIONS_BATCH] = implied(parser, expr->span, sp_value_int(1));
    expr->args[SP_ACTIVATIONS_TP] = implied(parser, expr->span, sp_value_int(1));
    expr->args[SP_ACTIVATIONS_SEQUENCE_PARALLEL] = implied(parser, expr->span, sp_value_bool(false));
    expr->args[SP_ACTIVATIONS_RECOMPUTE] = implied(parser, expr->span, sp_value_string("none"));
    do {
        const size_t i =
            sp_parse_argument_name(parser, names, "'tokens', 'batch', 'tp', 'sequence_parallel' or 'recompute'", &seen);
        if (i == SIZE_MAX) return false;
        if (i == SP_ACTIVATIONS_RECOMPUTE && !parse_recompute(parser, expr->args[i])) return false;
        if (i == SP_ACTIVATIONS_SEQUENCE_PARALLEL && !parse_sequence_parallel(parser, expr->args[i])) return false;
        if (i <= SP_ACTIVATIONS_TP && !(expr->args[i] = sp_parse_expression(parser))) return false;
    } while (sp_parse_accept(parser, ","));
    expr->span = join_spans(expr->span, parser->lexer.token.span);
    if (!expr->args[SP_ACTIVATIONS_TOKENS])
        return sp_parse_fail(parser, expr->span, "expected activations(tokens=...)");
    return sp_parse_close(parser, ")", open, "',' or ')'");
}

static bool is_sizing(const char *name)
{
    return strcmp(name, "bytes") == 0 || strcmp(name, "lora") == 0 || strcmp(name, "optimizer") == 0 ||
           strcmp(name, "shard") == 0;
}

/* One of the named arguments of flops(...): `attention` and `pass` have words, the others expressions. */
static bool parse_flops_argument(struct sp_parser *parser, struct sp_expr *expr, unsigned *seen)
{
    enum { ATTENTION = SP_FLOPS_ARGUMENTS, PASS }; /* behind the indexes of expr->args */
    static const char *const names[] = {"batch",         "tokens",    "images", "sounds", "patches",
                                        "source_tokens", "attention", "pass",   NULL};
    static const struct {
        size_t name;
        const char *word;
        int64_t bits;
    } words[] = {{ATTENTION, "full", 0},
                 {ATTENTION, "causal", SP_FLOPS_CAUSAL},
                 {ATTENTION, "none", SP_FLOPS_WEIGHTS_ALONE},
                 {PASS, "forward", 0},
                 {PASS, "training", SP_FLOPS_TRAINING}};
    const size_t name = sp_parse_argument_name(
        parser, names, "'tokens', 'source_tokens', 'images', 'patches', 'sounds', 'batch', 'attention' or 'pass'",
        seen);
    if (name == SIZE_MAX) return false;
    if (name < SP_FLOPS_ARGUMENTS) {
        if (expr->count <= name) expr->count = name + 1;
        return (expr->args[name] = sp_parse_expression(parser)) != NULL;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].name == name && sp_parse_accept(parser, words[i].word)) {
            expr->value.integer |= words[i].bits;
            return true;
        }
    return sp_parse_fail(parser, parser->lexer.token.span,
                         name == ATTENTION ? "expected full, causal or none" : "expected forward or training");
}

/* flops = "flops" "(" [ worked { "," worked } [ "," ] ] ")" ;
 * worked = "[" group-name "]"
 *        | ( "tokens" | "source_tokens" | "images" | "patches" | "sounds" | "batch" ) "=" expr
 *        | ( "attention" | "pass" ) "=" NAME ; */
static bool parse_flops(struct sp_parser *parser, struct sp_expr *expr)
{
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    expr->kind = SP_EXPR_FLOPS;
    expr->name = NULL;
    expr->args = sp_arena_array(parser->arena, SP_FLOPS_ARGUMENTS, sizeof *expr->args);
    expr->args[SP_FLOPS_BATCH] = implied(parser, expr->span, sp_value_int(1));
    for (size_t i = SP_FLOPS_BATCH + 1; i < SP_FLOPS_ARGUMENTS; i++) expr->args[i] = NULL;
    expr->count = 1;
    expr->value = sp_value_int(0);
    unsigned seen = 0;
    while (!sp_token_is(&parser->lexer, ")")) {
        const struct sp_expr *group = NULL;
        if (sp_token_is(&parser->lexer, "[")) {
            if (!(group = parse_group(parser))) return false;
            expr->name = group->name;
        } else if (!parse_flops_argument(parser, expr, &seen)) return false;
        if (!sp_parse_accept(parser, ",")) break;
    }
    expr->span = join_spans(expr->span, parser->lexer.token.span);
    if (expr->args[SP_FLOPS_IMAGES] && !expr->args[SP_FLOPS_TOKENS])
        return sp_parse_fail(parser, expr->span, "expected flops(tokens=..., images=...)");
    if (expr->args[SP_FLOPS_SOUNDS] && !expr->args[SP_FLOPS_TOKENS])
        return sp_parse_fail(parser, expr->span, "expected flops(tokens=..., sounds=...)");
    for (size_t i = SP_FLOPS_BATCH + 1; i < expr->count; i++) /* what is not given before another argument */
        if (!expr->args[i]) expr->args[i] = implied(parser, expr->span, sp_value_absent(""));
    return sp_parse_close(parser, ")", open, "',' or ')'");
}

/* What begins with a name: a name, a call, or one of the forms that claims have besides. */
static struct sp_expr *parse_named(struct sp_parser *parser)
{
    struct sp_expr *expr = node(parser, SP_EXPR_NAME, parser->lexer.token.span, 0);
    expr->name = sp_parse_name(parser, "a name");
    if (!expr->name) return NULL;
    if (!sp_token_is(&parser->lexer, "(")) return expr;
    const bool sums = strcmp(expr->name, "sum") == 0 || strcmp(expr->name, "count") == 0;
    if (parser->in_claim && sums && begins_iteration(&parser->lexer))
        return parse_iteration(parser, expr) ? expr : NULL;
    if (takes_tensors(parser, expr->name)) return parse_tensors(parser, expr) ? expr : NULL;
    if (parser->in_claim && strcmp(expr->name, "stored") == 0) return parse_stored(parser, expr) ? expr : NULL;
    if (parser->in_claim && strcmp(expr->name, "active") == 0) return parse_active(parser, expr) ? expr : NULL;
    if (parser->in_claim && strcmp(expr->name, "cache") == 0) return parse_cache(parser, expr) ? expr : NULL;
    if (parser->in_claim && strcmp(expr->name, "activations") == 0)
        return parse_activations(parser, expr) ? expr : NULL;
    if (parser->in_claim && is_sizing(expr->name)) return sp_parse_sizing(parser, expr) ? expr : NULL;
    if (parser->in_claim && strcmp(expr->name, "flops") == 0) return parse_flops(parser, expr) ? expr : NULL;
    if (parser->lexer.source->has_expressions && strcmp(expr->name, "total") == 0) {
        expr->kind = SP_EXPR_GROUP;
        return with_settings(parser, expr);
    }
    expr->kind = SP_EXPR_CALL;
    return parse_arguments(parser, expr, ")") ? expr : NULL;
}

static struct sp_expr *parse_unary(struct sp_parser *parser, enum sp_op op, enum strength strength)
{
    const struct sp_span span = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    struct sp_expr *operand = parse_strength(parser, strength);
    if (!operand) return NULL;
    struct sp_expr *expr = node(parser, SP_EXPR_UNARY, join_spans(span, operand->span), 1);
    expr->op = op;
    expr->args[0] = operand;
    return expr;
}

/* How the expression that was just read is divided among ranks; "by" is the current token.
 *
 *     division = "by" ( "tp" | "ep" ) [ "of" expr [ "replicated" ] ] [ TEXT ] ; */
static bool parse_division(struct sp_parser *parser, struct sp_expr *expr)
{
    struct sp_partition *division = sp_arena_alloc(parser->arena, sizeof *division);
    *division = (struct sp_partition){.span = parser->lexer.token.span};
    sp_lexer_next(&parser->lexer);
    division->axis = sp_token_is(&parser->lexer, "ep") ? SP_AXIS_EP : SP_AXIS_TP;
    if (!sp_parse_accept(parser, "tp") && !sp_parse_accept(parser, "ep"))
        return sp_parse_fail(parser, parser->lexer.token.span, "expected 'tp' or 'ep' behind 'by'");
    if (expr->division) return sp_parse_fail(parser, division->span, "a second 'by' here");
    if (sp_parse_accept(parser, "of")) {
        if (!(division->of = sp_parse_expression(parser))) return false;
        division->is_replicated = sp_parse_accept(parser, "replicated");
    }
    if (parser->lexer.token.kind == SP_TOKEN_STRING) {
        division->what = parser->lexer.token.value.string;
        sp_lexer_next(&parser->lexer);
    }
    expr->division = division;
    return true;
}

/* dimension = expr [ division ] ; */
struct sp_expr *sp_parse_dimension(struct sp_parser *parser)
{
    const bool was_in_dimension = parser->in_dimension;
    parser->in_dimension = true;
    struct sp_expr *expr = sp_parse_expression(parser);
    parser->in_dimension = was_in_dimension;
    return !expr || !sp_token_is(&parser->lexer, "by") || parse_division(parser, expr) ? expr : NULL;
}

static struct sp_expr *parse_parenthesis(struct sp_parser *parser)
{
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    struct sp_expr *expr = parser->in_dimension ? sp_parse_dimension(parser) : sp_parse_expression(parser);
    return expr && sp_parse_close(parser, ")", open, "')'") ? expr : NULL;
}

/* Where the bracket at `text` is closed on its line: the length up to its end, or 0. Brackets in texts do not count. */
static size_t bracket_length(const char *text)
{
    size_t depth = 0;
    bool in_text = false;
    for (size_t at = 0; text[at] && text[at] != '\n'; at++) {
        if (text[at] == '"') in_text = !in_text;
        if (in_text) continue;
        depth += text[at] == '[';
        if (text[at] == ']' && --depth == 0) return at + 1;
    }
    return 0;
}

/* Goes on behind a bracket that was read as a text. The token "[" has counted as an open bracket. */
static void skip_bracket(struct sp_parser *parser, size_t end)
{
    parser->lexer.offset = end;
    parser->lexer.nesting--;
    sp_lexer_next(&parser->lexer);
}

/* The condition in a bracket, [0 < n]; NULL, without a complaint, when what is in it is no expression. */
static struct sp_expr *try_condition(struct sp_parser *parser, size_t end)
{
    const struct sp_parser before = *parser;
    const size_t messages = parser->messages->length;
    sp_lexer_next(&parser->lexer);
    struct sp_expr *condition = sp_parse_expression(parser);
    const bool good =
        condition && !parser->failed && sp_token_is(&parser->lexer, "]") && parser->lexer.token.span.offset + 1 == end;
    *parser = before;
    parser->messages->length = messages;
    if (parser->messages->data) parser->messages->data[messages] = '\0';
    return good ? condition : NULL;
}

/* [feed-forward] in a claim: the name of a group is read as it stands in its heading. Of [0 < n] and [tied] the
 * condition is read as well, because only the table tells whether it has a group of that name. */
static struct sp_expr *parse_group(struct sp_parser *parser)
{
    struct sp_lexer *lexer = &parser->lexer;
    const size_t start = lexer->token.span.offset, length = bracket_length(lexer->source->text + start);
    const struct sp_span span = {lexer->source, (uint32_t)start, (uint32_t)(length ? length : 1)};
    if (length < 3) {
        sp_parse_fail(parser, span, length ? "expected '[group name]'" : "this bracket is never closed: expected ']'");
        return NULL;
    }
    struct sp_expr *condition = try_condition(parser, start + length);
    struct sp_expr *expr = node(parser, condition ? SP_EXPR_BRACKET : SP_EXPR_GROUP, span, condition ? 1 : 0);
    if (condition) expr->args[0] = condition;
    expr->name = sp_parse_intern(parser, lexer->source->text + start + 1, length - 2);
    skip_bracket(parser, start + length);
    return expr;
}

/* sum([M, H]) and sum([[a], [b]]) in a claim: what has a comma outside of inner brackets is no group but a list. */
static bool is_list(const struct sp_lexer *lexer)
{
    const char *text = lexer->source->text + lexer->token.span.offset;
    const size_t length = bracket_length(text);
    size_t depth = 0;
    bool in_text = false;
    for (size_t at = 1; at + 1 < length; at++) {
        if (text[at] == '"') in_text = !in_text;
        if (in_text) continue;
        depth += text[at] == '(' || text[at] == '[';
        depth -= (text[at] == ')' || text[at] == ']') && depth;
        if (text[at] == ',' && !depth) return true;
    }
    return false;
}

/* sum(i in 1..n: sizes[i]), and count(i in 1..n: sizes[i] == 3), which counts where the condition holds. In a claim.
 *
 * iteration = ( "sum" | "count" ) "(" NAME "in" expr ".." expr ":" expr ")" ; */
static bool parse_iteration(struct sp_parser *parser, struct sp_expr *expr)
{
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    expr->kind = SP_EXPR_SUM;
    expr->value = sp_value_bool(strcmp(expr->name, "count") == 0);
    expr->name = sp_parse_name(parser, "the name of an index");
    expr->args = sp_arena_array(parser->arena, 3, sizeof *expr->args);
    expr->count = 3;
    if (!sp_parse_expect(parser, "in", "behind the index") || !(expr->args[0] = sp_parse_expression(parser)) ||
        !sp_parse_expect(parser, "..", "between the bounds") || !(expr->args[1] = sp_parse_expression(parser)) ||
        !sp_parse_expect(parser, ":", "behind the bounds") || !(expr->args[2] = sp_parse_expression(parser)))
        return false;
    expr->span = join_spans(expr->span, parser->lexer.token.span);
    return sp_parse_close(parser, ")", open, "')'");
}

/* Whether behind the bracket that is the current token stands "NAME in": sum(i in 1..n: ...). */
static bool begins_iteration(const struct sp_lexer *lexer)
{
    const char *text = lexer->source->text + lexer->token.span.offset + 1;
    text += strspn(text, " ");
    size_t length = 0;
    while (sp_is_name_char(text[length])) length++;
    const char *behind = text + length + strspn(text + length, " ");
    return length && sp_is_name_start(*text) && strncmp(behind, "in ", 3) == 0;
}

/* Whether the token is the second character of "**", as Python writes a power. */
static bool is_second_star(const struct sp_lexer *lexer)
{
    const size_t at = lexer->token.span.offset;
    return sp_token_is(lexer, "*") && at && lexer->source->text[at - 1] == '*';
}

/* What operators bind; here also the prefixes "not" and "-", which are no primaries in the grammar:
 *
 *     primary = "[" group-name "]" [ settings ]
 *             | "[" expr "]"
 *             | iteration
 *             | tensors
 *             | stored
 *             | active
 *             | cache
 *             | activations
 *             | flops
 *             | sizing
 *             | "total" settings
 *             | INTEGER | REAL | TEXT | "true" | "false"
 *             | NAME | NAME "(" [ list ] ")" | "[" [ list ] "]" | "(" expr ")" ; */
static struct sp_expr *parse_primary(struct sp_parser *parser)
{
    struct sp_lexer *lexer = &parser->lexer;
    const enum sp_token_kind kind = lexer->token.kind;
    if (kind == SP_TOKEN_INT || kind == SP_TOKEN_REAL || kind == SP_TOKEN_STRING)
        return literal(parser, lexer->token.value);
    if (sp_token_is(lexer, "true")) return literal(parser, sp_value_bool(true));
    if (sp_token_is(lexer, "false")) return literal(parser, sp_value_bool(false));
    if (sp_token_is(lexer, "not")) return parse_unary(parser, SP_OP_NOT, STRENGTH_NOT);
    if (sp_token_is(lexer, "-")) return parse_unary(parser, SP_OP_NEGATE, STRENGTH_NEGATE);
    if (sp_token_is(lexer, "(")) return parse_parenthesis(parser);
    if (sp_token_is(lexer, "[") && parser->in_claim && !is_list(lexer))
        return with_settings(parser, parse_group(parser));
    if (sp_token_is(lexer, "[")) {
        struct sp_expr *expr = node(parser, SP_EXPR_LIST, lexer->token.span, 0);
        return parse_arguments(parser, expr, "]") ? expr : NULL;
    }
    if (kind == SP_TOKEN_NAME) return parse_named(parser);
    if (kind == SP_TOKEN_BAD) sp_parse_fail(parser, lexer->token.span, "%s", lexer->token.problem);
    else if (is_second_star(lexer)) sp_parse_fail(parser, lexer->token.span, "a power is written with '^', not '**'");
    else sp_parse_fail(parser, lexer->token.span, "expected an expression");
    return NULL;
}

static struct sp_expr *parse_index(struct sp_parser *parser, struct sp_expr *list)
{
    const struct sp_span open = parser->lexer.token.span;
    sp_lexer_next(&parser->lexer);
    struct sp_expr *place = sp_parse_expression(parser);
    if (!place) return NULL;
    struct sp_expr *expr = node(parser, SP_EXPR_INDEX, join_spans(list->span, parser->lexer.token.span), 2);
    expr->args[0] = list;
    expr->args[1] = place;
    return sp_parse_close(parser, "]", open, "']'") ? expr : NULL;
}

static struct sp_expr *parse_member(struct sp_parser *parser, struct sp_expr *object)
{
    sp_lexer_next(&parser->lexer);
    struct sp_expr *expr = node(parser, SP_EXPR_MEMBER, join_spans(object->span, parser->lexer.token.span), 1);
    expr->args[0] = object;
    expr->name = sp_parse_name(parser, "the name of a key");
    return expr->name ? expr : NULL;
}

/* Each operator makes the tree one deeper at most. */
static bool count_operator(struct sp_parser *parser)
{
    if (++parser->operators <= SP_MAX_OPERATORS) return true;
    return sp_parse_fail(parser, parser->lexer.token.span, "more than %d operators in one line", SP_MAX_OPERATORS);
}

/* postfix = primary { "[" expr "]" | "." NAME } ; */
static struct sp_expr *parse_postfix(struct sp_parser *parser)
{
    struct sp_expr *expr = parse_primary(parser);
    while (expr) {
        const bool index = sp_token_is(&parser->lexer, "[");
        if (!index && !sp_token_is(&parser->lexer, ".")) break;
        if (!count_operator(parser)) return NULL;
        expr = index ? parse_index(parser, expr) : parse_member(parser, expr);
    }
    return expr;
}

static const struct infix *infix_here(const struct sp_lexer *lexer)
{
    if (lexer->token.kind != SP_TOKEN_NAME && lexer->token.kind != SP_TOKEN_PUNCTUATION) return NULL;
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
        if (sp_token_is(lexer, infixes[i].text)) return &infixes[i];
    return NULL;
}

static struct sp_expr *parse_choice(struct sp_parser *parser, struct sp_expr *condition)
{
    struct sp_expr *yes = sp_parse_expression(parser);
    if (!yes || !sp_parse_expect(parser, ":", "between the two values of a choice")) return NULL;
    struct sp_expr *no = parse_strength(parser, STRENGTH_CHOICE);
    if (!no) return NULL;
    struct sp_expr *expr = node(parser, SP_EXPR_CHOICE, join_spans(condition->span, no->span), 3);
    expr->args[0] = condition;
    expr->args[1] = yes;
    expr->args[2] = no;
    return expr;
}

/* The operator `how`, which is the current token, between `left` and what follows; NULL after a mistake. */
static struct sp_expr *parse_infix(struct sp_parser *parser, struct sp_expr *left, const struct infix *how)
{
    sp_lexer_next(&parser->lexer);
    if (how->kind == SP_EXPR_CHOICE) return parse_choice(parser, left);
    if (how->op == SP_OP_NOT_IN && !sp_parse_expect(parser, "in", "after 'not'")) return NULL;
    const bool in_claim = parser->in_claim;
    parser->in_claim = in_claim && how->op != SP_OP_IN && how->op != SP_OP_NOT_IN; /* there a bracket is a list */
    struct sp_expr *right = parse_strength(parser, how->grouping == RIGHT ? how->strength : how->strength + 1);
    parser->in_claim = in_claim;
    if (!right) return NULL;
    struct sp_expr *expr = node(parser, how->kind, join_spans(left->span, right->span), 2);
    expr->op = how->op;
    expr->args[0] = left;
    expr->args[1] = right;
    return expr;
}

/* An expression whose operators are all at least as strong as `weakest`; NULL after a mistake. This is one level of
 * precedence climbing: the right operand of an operator is read with the strength of that operator, or the next one.
 *
 *     expr = or-default [ "?" expr ":" expr ] ;
 *     or-default = disjunction [ "default" or-default ] ;
 *     disjunction = conjunction { "or" conjunction } ;
 *     conjunction = negation { "and" negation } ;
 *     negation = "not" negation | comparison ;
 *     comparison = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in" ) sum ] ;
 *     sum = product { ( "+" | "-" ) product } ;
 *     product = signed { ( "*" | "/" | "//" | "%" ) signed } ;
 *     signed = "-" signed | power ;
 *     power = postfix [ "^" ( power | signed ) ] ; */
static struct sp_expr *parse_strength(struct sp_parser *parser, enum strength weakest)
{
    if (++parser->depth > SP_MAX_EXPR_DEPTH) {
        sp_parse_fail(parser, parser->lexer.token.span, "nested more than %d deep", SP_MAX_EXPR_DEPTH);
        parser->depth--;
        return NULL;
    }
    struct sp_expr *left = parse_postfix(parser);
    bool compared = false; /* `left` is a comparison: a < b < c would compare a truth value with c */
    while (left) {
        const struct infix *how = infix_here(&parser->lexer);
        if (!how || how->strength < weakest) break;
        const bool compares = how->strength == STRENGTH_COMPARE;
        if (compares && compared) {
            sp_parse_fail(parser, parser->lexer.token.span, "comparisons do not chain: join two with 'and'");
            left = NULL;
        } else left = count_operator(parser) ? parse_infix(parser, left, how) : NULL;
        compared = compares;
    }
    parser->depth--;
    return left;
}

struct sp_expr *sp_parse_expression(struct sp_parser *parser) { return parse_strength(parser, STRENGTH_ANY); }
