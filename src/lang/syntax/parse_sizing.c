/* SPDX-License-Identifier: MIT
 * The questions of claims about sizes: bytes, optimizer, lora and shard. Their arguments are numbers, which are
 * expressions, and words, which are read from the text because some are no names of the language: 8bit, all-linear,
 * attn.0.
 *
 *     sizing     =  "bytes" "(" [ "dtype" "=" ] ( WORD | "as" "stored" ) ")"
 *                |  "lora" "(" lora { "," lora } ")"
 *                |  "optimizer" "(" WORD { "," training } ")"
 *                |  "shard" "(" sharding { "," sharding } ")" ;
 *     lora       =  "rank" "=" expr | "targets" "=" ( WORD | "[" WORD { "," WORD } "]" ) ;
 *     training   =  "ranks" "=" expr | "zero" "=" INTEGER | ( "precision" | "gradients" | "part" ) "=" WORD ;
 *     sharding   =  ( "tp" | "pp" | "ep" | "etp" ) "=" INTEGER | "dtype" "=" WORD
 *                |  "whole" "=" "[" group-name { "," group-name } "]" ; */
#include "base/dtype_word.h"
#include "lang/syntax/parser.h"

#include <string.h>

/* A word and what it means. */
struct word {
    const char *text;
    int meaning;
};

static const struct word optimizers[] = {{"adam", SP_OPTIMIZER_ADAM},
                                         {"adamw", SP_OPTIMIZER_ADAM},
                                         {"8bit", SP_OPTIMIZER_ADAM_8BIT},
                                         {"adam8bit", SP_OPTIMIZER_ADAM_8BIT},
                                         {"adamw8bit", SP_OPTIMIZER_ADAM_8BIT},
                                         {"sgd", SP_OPTIMIZER_SGD},
                                         {"momentum", SP_OPTIMIZER_MOMENTUM},
                                         {"lion", SP_OPTIMIZER_MOMENTUM},
                                         {"adafactor", SP_OPTIMIZER_ADAFACTOR},
                                         {"muon", SP_OPTIMIZER_MUON},
                                         {NULL, 0}};
static const struct word precisions[] = {
    {"mixed", SP_PRECISION_MIXED}, {"bf16", SP_PRECISION_BF16}, {"f32", SP_PRECISION_F32}, {NULL, 0}};
static const struct word gradients[] = {{"bf16", 2}, {"f16", 2}, {"f32", 4}, {NULL, 0}};
static const struct word parts[] = {
    {"weights", SP_TRAINED_WEIGHTS}, {"gradients", SP_TRAINED_GRADIENTS}, {"states", SP_TRAINED_STATES}, {NULL, 0}};

static bool is_word_char(char c) { return sp_is_name_char(c) || c == '-' || c == '.'; }

/* The word at the current token; NULL after a mistake.
 *
 *     WORD = wordchar { wordchar } ; */
static const char *read_word(struct sp_parser *parser, const char *what)
{
    const struct sp_span at = parser->lexer.token.span;
    const char *text = sp_parse_text(parser, at.offset);
    size_t length = 0;
    while (is_word_char(text[length])) length++;
    if (!length) {
        sp_parse_fail(parser, at, "expected %s", what);
        return NULL;
    }
    parser->lexer.offset = at.offset + length;
    sp_lexer_next(&parser->lexer);
    return sp_parse_intern(parser, text, length);
}

/* Reads one of the words, and sets *meaning. After a mistake the words are listed. */
static bool read_choice(struct sp_parser *parser, const struct word *words, const char *what, int *meaning)
{
    const struct sp_span at = parser->lexer.token.span;
    struct sp_text list = {0};
    const char *text = read_word(parser, what);
    if (!text) return false;
    for (const struct word *word = words; word->text; word++)
        if (strcmp(word->text, text) == 0) {
            *meaning = word->meaning;
            return true;
        }
    for (const struct word *word = words; word->text; word++)
        sp_text_printf(&list, "%s%s", list.length ? ", " : "", word->text);
    sp_parse_fail(parser, at, "there is no %s '%s', only %s", what, text, list.data);
    sp_text_free(&list);
    return false;
}

/* Reads a dtype, and sets *bits to those of an element. */
static bool read_dtype(struct sp_parser *parser, unsigned *bits)
{
    const struct sp_span at = parser->lexer.token.span;
    const char *word = read_word(parser, "dtype");
    if (!word) return false;
    *bits = sp_weight_bits_of_word(word);
    return *bits || sp_parse_fail(parser, at, "weights and caches have no dtype '%s', only " SP_WEIGHT_DTYPES, word);
}

/* targets = all-linear | [q_proj, v_proj] */
static bool read_targets(struct sp_parser *parser, struct sp_sizing *sizing)
{
    const struct sp_span open = parser->lexer.token.span;
    if (!sp_parse_accept(parser, "[")) {
        const char *word = read_word(parser, "[q_proj, v_proj] or all-linear");
        sizing->is_all_linear = word && strcmp(word, "all-linear") == 0;
        if (word && !sizing->is_all_linear)
            return sp_parse_fail(parser, open, "expected a list, such as [q_proj, v_proj], or all-linear");
        return word != NULL;
    }
    do {
        const char *word = read_word(parser, "the name of a module, such as q_proj");
        if (!word) return false;
        *SP_PARSE_APPEND(parser, sizing->targets, sizing->target_count) = word;
    } while (sp_parse_accept(parser, ","));
    return sp_parse_close(parser, "]", open, "',' or ']'");
}

/* zero = 0..3 */
static bool read_stage(struct sp_parser *parser, struct sp_sizing *sizing)
{
    const struct sp_token *token = &parser->lexer.token;
    if (token->kind != SP_TOKEN_INT || token->value.integer < 0 || token->value.integer > 3)
        return sp_parse_fail(parser, token->span, "the stage of ZeRO is 0, 1, 2 or 3");
    sizing->zero = (unsigned)token->value.integer;
    sp_lexer_next(&parser->lexer);
    return true;
}

/* The value of the argument of that name. The numbers of ranks and the rank of an adapter go into `number`. */
static bool read_value(struct sp_parser *parser, struct sp_sizing *sizing, const char *name, struct sp_expr **number)
{
    const bool is_lora = sizing->kind == SP_SIZING_LORA, is_optimizer = sizing->kind == SP_SIZING_OPTIMIZER;
    int meaning = 0;
    if (strcmp(name, is_lora ? "rank" : "ranks") == 0) return (*number = sp_parse_expression(parser)) != NULL;
    if (is_lora && strcmp(name, "targets") == 0) return read_targets(parser, sizing);
    if (is_optimizer && strcmp(name, "zero") == 0) return read_stage(parser, sizing);
    if (is_optimizer && strcmp(name, "precision") == 0) {
        if (!read_choice(parser, precisions, "precision", &meaning)) return false;
        sizing->precision = (enum sp_precision)meaning;
    } else if (is_optimizer && strcmp(name, "gradients") == 0) {
        if (!read_choice(parser, gradients, "dtype of gradients", &meaning)) return false;
        sizing->gradient_bytes = (unsigned)meaning;
    } else {
        if (!read_choice(parser, parts, "part", &meaning)) return false;
        sizing->part = (enum sp_trained)meaning;
    }
    return true;
}

/* The arguments up to the closing bracket, each at most once. */
static bool read_arguments(struct sp_parser *parser, struct sp_sizing *sizing, struct sp_expr **number)
{
    enum { ZERO = 1U << 0, RANKS = 1U << 1 }; /* of an optimizer, in `seen` */
    static const char *const of_lora[] = {"rank", "targets", NULL}, *const of_optimizer[] = {"zero",      "ranks",
                                                                                             "precision", "gradients",
                                                                                             "part",      NULL};
    const char *const *names = sizing->kind == SP_SIZING_LORA ? of_lora : of_optimizer;
    const char *expected =
        names == of_lora ? "'rank' or 'targets'" : "'zero', 'ranks', 'precision', 'gradients' or 'part'";
    unsigned seen = 0;
    do {
        const size_t i = sp_parse_argument_name(parser, names, expected, &seen);
        if (i == SIZE_MAX || !read_value(parser, sizing, names[i], number)) return false;
    } while (sp_parse_accept(parser, ","));
    if (names != of_optimizer || !(seen & RANKS) || seen & ZERO) return true;
    return sp_parse_fail(parser, (*number)->span,
                         "a number of processes changes nothing without the stage of ZeRO: zero=1, 2 or 3");
}

static bool read_bytes(struct sp_parser *parser, struct sp_sizing *sizing)
{
    if (sp_parse_accept(parser, "dtype") && !sp_parse_expect(parser, "=", "in front of the dtype")) return false;
    sizing->is_as_stored = sp_parse_accept(parser, "as");
    if (sizing->is_as_stored) return sp_parse_expect(parser, "stored", "behind 'as'");
    return read_dtype(parser, &sizing->bits);
}

static bool read_lora(struct sp_parser *parser, struct sp_sizing *sizing, struct sp_span span, struct sp_expr **number)
{
    if (!read_arguments(parser, sizing, number)) return false;
    if (*number && (sizing->is_all_linear || sizing->target_count)) return true;
    return sp_parse_fail(parser, span, "expected lora(rank=..., targets=[...])");
}

static bool read_optimizer(struct sp_parser *parser, struct sp_sizing *sizing, struct sp_span span,
                           struct sp_expr **number)
{
    int meaning = 0;
    if (!read_choice(parser, optimizers, "optimizer", &meaning)) return false;
    sizing->optimizer = (enum sp_optimizer)meaning;
    if (sp_parse_accept(parser, ",") && !read_arguments(parser, sizing, number)) return false;
    if (!sizing->zero || *number) return true;
    return sp_parse_fail(parser, span, "zero=%u needs the number of processes: ranks=...", sizing->zero);
}

bool sp_parse_ranks(struct sp_parser *parser, unsigned *ranks)
{
    enum { MOST_RANKS = 1 << 20 };
    const struct sp_token *token = &parser->lexer.token;
    if (token->kind != SP_TOKEN_INT || token->value.integer < 1 || token->value.integer > MOST_RANKS)
        return sp_parse_fail(parser, token->span, "the number of ranks is a whole number from 1 to %d", MOST_RANKS);
    *ranks = (unsigned)token->value.integer;
    sp_lexer_next(&parser->lexer);
    return true;
}

/* whole = [embedding, final norm]: the names of groups, which may have blanks, up to a comma or the bracket. */
static bool read_groups(struct sp_parser *parser, struct sp_sizing *sizing)
{
    const struct sp_span open = parser->lexer.token.span;
    if (!sp_token_is(&parser->lexer, "["))
        return sp_parse_fail(parser, open, "expected a list of groups, such as [embedding, attention]");
    for (size_t from = open.offset + 1;;) {
        while (sp_parse_is_blank(*sp_parse_text(parser, from))) from++;
        const size_t end = from + strcspn(sp_parse_text(parser, from), ",]\n");
        size_t to = end;
        while (to > from && sp_parse_is_blank(*sp_parse_text(parser, to - 1))) to--;
        const char stop = *sp_parse_text(parser, end);
        if (to == from || (stop != ',' && stop != ']'))
            return sp_parse_fail(parser, open, "expected a list of groups, such as [embedding, attention]");
        *SP_PARSE_APPEND(parser, sizing->whole, sizing->whole_count) =
            sp_parse_intern(parser, sp_parse_text(parser, from), to - from);
        from = end + 1;
        if (stop == ',') continue;
        parser->lexer.offset = from;
        parser->lexer.nesting--; /* the token "[" has counted as an open bracket */
        sp_lexer_next(&parser->lexer);
        return true;
    }
}

static bool read_shard(struct sp_parser *parser, struct sp_sizing *sizing)
{
    enum { TP, PP, EP, ETP, DTYPE, WHOLE };
    static const char *const names[] = {"tp", "pp", "ep", "etp", "dtype", "whole", NULL};
    unsigned *const ranks[] = {&sizing->ranks.tp, &sizing->ranks.pp, &sizing->ranks.ep, &sizing->ranks.etp};
    unsigned seen = 0;
    sizing->bits = 0;
    sizing->ranks = (struct sp_parallelism){1, 1, 1, 0};
    do {
        const size_t i = sp_parse_argument_name(parser, names, "'tp', 'pp', 'ep', 'etp', 'dtype' or 'whole'", &seen);
        if (i == SIZE_MAX) return false;
        if (i <= ETP && !sp_parse_ranks(parser, ranks[i])) return false;
        if (i == DTYPE && !read_dtype(parser, &sizing->bits)) return false;
        if (i == WHOLE && !read_groups(parser, sizing)) return false;
    } while (sp_parse_accept(parser, ","));
    if (!sizing->ranks.etp) sizing->ranks.etp = sizing->ranks.tp;
    return true;
}

static enum sp_sizing_kind kind_of(const char *name)
{
    if (strcmp(name, "bytes") == 0) return SP_SIZING_BYTES;
    if (strcmp(name, "lora") == 0) return SP_SIZING_LORA;
    return strcmp(name, "shard") == 0 ? SP_SIZING_SHARD : SP_SIZING_OPTIMIZER;
}

static bool read_sizing(struct sp_parser *parser, struct sp_sizing *sizing, struct sp_span span,
                        struct sp_expr **number)
{
    switch (sizing->kind) {
    case SP_SIZING_BYTES:
        return read_bytes(parser, sizing);
    case SP_SIZING_LORA:
        return read_lora(parser, sizing, span, number);
    case SP_SIZING_SHARD:
        return read_shard(parser, sizing);
    default: /* SP_SIZING_OPTIMIZER */
        return read_optimizer(parser, sizing, span, number);
    }
}

bool sp_parse_sizing(struct sp_parser *parser, struct sp_expr *expr)
{
    struct sp_sizing *sizing = sp_arena_alloc(parser->arena, sizeof *sizing);
    const struct sp_span open = parser->lexer.token.span;
    *sizing = (struct sp_sizing){.kind = kind_of(expr->name)};
    struct sp_expr *number = NULL;
    sp_lexer_next(&parser->lexer);
    if (!read_sizing(parser, sizing, expr->span, &number)) return false;
    expr->kind = SP_EXPR_SIZING;
    expr->sizing = sizing;
    if (number) {
        expr->args = sp_arena_array(parser->arena, 1, sizeof *expr->args);
        expr->args[expr->count++] = number;
    }
    const struct sp_span close = parser->lexer.token.span;
    expr->span.length = close.offset + close.length - expr->span.offset;
    return sp_parse_close(parser, ")", open, "',' or ')'");
}
