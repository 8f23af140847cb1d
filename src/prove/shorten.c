/* SPDX-License-Identifier: MIT
 * Common subexpressions, by value numbering. A part is a piece of text that can stand in a product as it is: a bracket
 * (a + b), a condition [a < b], a call f(a)[1], or the name of a hyper-parameter. Equal texts are one part, whose own
 * text is divided only once, so that what is inside a part that repeats does not seem to repeat. For f(g(a)*b) +
 * f(g(a)*b) the formula has the part f(g(a)*b) twice, and that has g(a) once: only f(g(a)*b) gets a name. */
#include "prove/shorten.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/text.h"
#include "lang/functions.h"
#include "lang/syntax/lexer.h"
#include "prove/symbolic/meaning.h"

enum {
    LINE = 100,     /* characters; formulas that all are at most so long need no names */
    LONG_KEY = 10,  /* characters of a hyper-parameter's name from which on a shorter one helps */
    LONG_PART = 12, /* characters of a part; a shorter one is read faster than looked up */
    MAX_DEPTH = 100 /* of parts in parts; what is deeper is left as it is */
};

/* A piece of the text of a formula or a part: text to copy, or a part. */
struct piece {
    const char *text;
    size_t length;
    size_t part; /* SIZE_MAX for text */
};

struct pieces {
    struct piece *items; /* heap */
    size_t count, capacity;
};

struct sp_shorten_part {
    const char *text;
    struct pieces body;
    const char *name;  /* that was chosen, or NULL */
    size_t uses;       /* in how many places it stands */
    bool is_key;       /* the name of a hyper-parameter */
    const char *index; /* of a sum that is around it, of which it speaks: it has a value only there; or NULL */
    bool has_more;     /* it speaks of several such indices */
    bool is_visited;   /* it was looked at, whether it needs a name */
};

/* ---- tokens ---- */

struct tokens {
    struct sp_token *items; /* heap */
    size_t count, capacity;
    const char *text;
};

/* The tokens of a text, the end left out. */
static struct tokens read_tokens(struct sp_shortening *shortening, const char *text)
{
    const struct sp_source_text source = {.name = "", .text = text, .length = strlen(text)};
    struct sp_lexer lexer = {.source = &source, .arena = &shortening->arena};
    struct tokens tokens = {.text = text};
    for (sp_lexer_next(&lexer); lexer.token.kind != SP_TOKEN_END; sp_lexer_next(&lexer))
        *SP_PUSH(&tokens) = lexer.token;
    return tokens;
}

static bool is_text(const struct tokens *tokens, size_t at, const char *text)
{
    const size_t length = strlen(text);
    return at < tokens->count && tokens->items[at].span.length == length &&
           memcmp(tokens->text + tokens->items[at].span.offset, text, length) == 0;
}

static bool is_open(const struct tokens *tokens, size_t at)
{
    return is_text(tokens, at, "(") || is_text(tokens, at, "[");
}
static bool is_close(const struct tokens *tokens, size_t at)
{
    return is_text(tokens, at, ")") || is_text(tokens, at, "]");
}

/* A name, and no word of the language. */
static bool is_name(const struct tokens *tokens, size_t at)
{
    if (at >= tokens->count || tokens->items[at].kind != SP_TOKEN_NAME) return false;
    const struct sp_span span = tokens->items[at].span;
    return !sp_is_reserved(tokens->text + span.offset, span.length);
}

/* The text from the token `first` to the token `last`. */
static const char *token_text(struct sp_shortening *shortening, const struct tokens *tokens, size_t first, size_t last)
{
    const struct sp_span end = tokens->items[last].span;
    const size_t offset = tokens->items[first].span.offset;
    return sp_arena_copy(&shortening->arena, tokens->text + offset, end.offset + end.length - offset);
}

/* Behind the bracket that closes the one at `at`; the number of tokens where none does. */
static size_t behind_bracket(const struct tokens *tokens, size_t at)
{
    size_t depth = 0;
    for (; at < tokens->count; at++) {
        depth += is_open(tokens, at);
        if (is_close(tokens, at) && --depth == 0) return at + 1;
    }
    return at;
}

/* Whether the token is the index of a sum: the i of sum(i in 0..L - 1: ...). */
static bool is_index(const struct tokens *tokens, size_t at)
{
    return at >= 2 && is_name(tokens, at) && is_text(tokens, at + 1, "in") && is_text(tokens, at - 1, "(") &&
           is_name(tokens, at - 2);
}

/* ---- parts ---- */

/* Appends the text between two offsets, if there is any. */
static void put_text(struct sp_shortening *shortening, struct pieces *pieces, const char *text, size_t begin,
                     size_t end)
{
    if (end <= begin) return;
    *SP_PUSH(pieces) =
        (struct piece){sp_arena_copy(&shortening->arena, text + begin, end - begin), end - begin, SIZE_MAX};
}

/* Behind the longest name of a hyper-parameter that begins at the token: text_config.sizes[0]; `at` if none does. */
static size_t behind_key(struct sp_shortening *shortening, const struct tokens *tokens, size_t at)
{
    size_t end = at, longest = at;
    if (at && is_text(tokens, at - 1, ".")) return at; /* in the middle of a name */
    while (end < tokens->count) {
        if (end == at || (is_text(tokens, end, ".") && is_name(tokens, end + 1))) end += end == at ? 1 : 2;
        else if (is_text(tokens, end, "[") && end + 2 < tokens->count && tokens->items[end + 1].kind == SP_TOKEN_INT)
            end += 3;
        else break;
        if (sp_map_get(&shortening->keys, token_text(shortening, tokens, at, end - 1)) != SIZE_MAX) longest = end;
    }
    return longest;
}

/* Behind the part that begins at the token; `at` if none does. */
static size_t behind_part(const struct tokens *tokens, size_t at)
{
    if (at && (is_text(tokens, at - 1, ".") ||
               ((is_name(tokens, at - 1) || is_close(tokens, at - 1)) && is_open(tokens, at))))
        return at;
    if (!is_name(tokens, at) && !is_open(tokens, at)) return at;
    size_t end = is_name(tokens, at) ? at + 1 : behind_bracket(tokens, at);
    bool is_bracketed = end > at + 1;
    for (;;) {
        if (is_open(tokens, end)) {
            const bool is_item = is_text(tokens, end, "[") && end + 2 < tokens->count &&
                                 tokens->items[end + 1].kind == SP_TOKEN_INT; /* sizes[0] is read as a name is */
            end = behind_bracket(tokens, end);
            is_bracketed = is_bracketed || !is_item;
        } else if (is_text(tokens, end, ".") && is_name(tokens, end + 1)) end += 2;
        else break;
    }
    return is_bracketed ? end : at;
}

static void divide(struct sp_shortening *shortening, const struct tokens *tokens, size_t first, size_t end,
                   struct pieces *pieces, unsigned depth);

/* Whether the tokens have a sum over that index. */
static bool has_sum_over(struct sp_shortening *shortening, const struct tokens *tokens, size_t first, size_t end,
                         const char *index)
{
    for (size_t at = first + 2; at < end; at++)
        if (is_index(tokens, at) && strcmp(token_text(shortening, tokens, at, at), index) == 0) return true;
    return false;
}

/* Notes of which indices of sums around it the part speaks. */
static void note_indices(struct sp_shortening *shortening, struct sp_shorten_part *part, const struct tokens *tokens,
                         size_t first, size_t end)
{
    for (size_t at = first; shortening->indices.count && at < end; at++) {
        if (!is_name(tokens, at)) continue;
        const char *name = token_text(shortening, tokens, at, at);
        if (sp_map_get(&shortening->indices, name) == SIZE_MAX) continue;
        if (has_sum_over(shortening, tokens, first, end, name)) continue;
        part->has_more = part->has_more || (part->index && strcmp(part->index, name) != 0);
        part->index = name;
    }
}

/* The part that the tokens are, divided when it is new. */
static size_t part_of(struct sp_shortening *shortening, const struct tokens *tokens, size_t first, size_t end,
                      bool is_key, unsigned depth)
{
    const char *text = token_text(shortening, tokens, first, end - 1);
    size_t number = sp_map_get(&shortening->part_numbers, text);
    if (number == SIZE_MAX) {
        struct sp_shorten_part part = {.text = text, .is_key = is_key};
        note_indices(shortening, &part, tokens, first, end);
        if (is_key) put_text(shortening, &part.body, text, 0, strlen(text));
        else divide(shortening, tokens, first, end, &part.body, depth + 1);
        number = shortening->parts.count;
        *SP_PUSH(&shortening->parts) = part;
        sp_map_add(&shortening->part_numbers, text, number);
    }
    shortening->parts.items[number].uses++;
    return number;
}

/* Appends what the tokens from `first` to before `end` are made of: parts, and text between them. The tokens as a whole
 * are not taken for a part. */
static void divide(struct sp_shortening *shortening, const struct tokens *tokens, size_t first, size_t end,
                   struct pieces *pieces, unsigned depth)
{
    size_t begin = first < end ? tokens->items[first].span.offset : 0; /* of the text that is not yet appended */
    for (size_t at = first; at < end;) {
        const size_t key_end = behind_key(shortening, tokens, at);
        const size_t part_end = depth < MAX_DEPTH ? behind_part(tokens, at) : at;
        const bool is_whole = at == first && part_end == end;
        size_t next = part_end > at && !is_whole ? part_end : key_end;
        if (next > end || next == at) {
            at++;
            continue;
        }
        put_text(shortening, pieces, tokens->text, begin, tokens->items[at].span.offset);
        const size_t part = part_of(shortening, tokens, at, next, next == key_end, depth);
        *SP_PUSH(pieces) = (struct piece){.part = part};
        begin = tokens->items[next - 1].span.offset + tokens->items[next - 1].span.length;
        at = next;
    }
    const struct sp_span last = end > first ? tokens->items[end - 1].span : (struct sp_span){0};
    put_text(shortening, pieces, tokens->text, begin, last.offset + last.length);
}

/* ---- names ---- */

static void put_pieces(const struct sp_shortening *shortening, const struct pieces *pieces, struct sp_text *text)
{
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->items[i];
        const struct sp_shorten_part *part = piece->part == SIZE_MAX ? NULL : &shortening->parts.items[piece->part];
        if (!part) sp_text_append(text, piece->text, piece->length);
        else if (part->name) sp_text_puts(text, part->name);
        else put_pieces(shortening, &part->body, text);
    }
}

/* The text of a part, without brackets around the whole. */
static const char *meaning_of(struct sp_shortening *shortening, const struct sp_shorten_part *part)
{
    struct sp_text text = {0};
    put_pieces(shortening, &part->body, &text);
    const char *whole = sp_text_keep(&text, &shortening->arena);
    struct tokens tokens = read_tokens(shortening, whole);
    const bool is_bracket = is_text(&tokens, 0, "(") && behind_bracket(&tokens, 0) == tokens.count;
    sp_free(tokens.items);
    return is_bracket ? sp_arena_copy(&shortening->arena, whole + 1, strlen(whole) - 2) : whole;
}

static bool is_free(const struct sp_shortening *shortening, const char *name)
{
    return sp_map_get(&shortening->taken, name) == SIZE_MAX && !sp_is_reserved(name, strlen(name)) &&
           !sp_function_find(name);
}

/* A name for the part that is in use nowhere: x_1, or x_1(i) where it speaks of the index i; of a hyper-parameter its
 * initials, numbered from the second on. */
static const char *new_name(struct sp_shortening *shortening, const struct sp_shorten_part *part)
{
    const char *stem = part->is_key ? sp_key_initials(&shortening->arena, part->text) : "x";
    const char *name = part->is_key ? stem : NULL;
    size_t number = part->is_key ? 1 : shortening->numbered;
    while (!name || !is_free(shortening, name)) name = sp_arena_printf(&shortening->arena, "%s_%zu", stem, ++number);
    if (!part->is_key) shortening->numbered = number;
    sp_map_add(&shortening->taken, name, 0);
    return part->index ? sp_arena_printf(&shortening->arena, "%s(%s)", name, part->index) : name;
}

static void name_parts(struct sp_shortening *shortening, const struct pieces *pieces);

/* Gives the part a name if it is a hyper-parameter, or repeats and is long; after the parts in it. */
static void name_part(struct sp_shortening *shortening, size_t number)
{
    if (shortening->parts.items[number].is_visited) return;
    shortening->parts.items[number].is_visited = true;
    name_parts(shortening, &shortening->parts.items[number].body);
    struct sp_shorten_part *part = &shortening->parts.items[number];
    if (!part->is_key && (part->uses < 2 || part->has_more)) return;
    const char *meaning = meaning_of(shortening, part);
    if (!part->is_key && strlen(meaning) < LONG_PART) return;
    part->name = new_name(shortening, part);
    *SP_PUSH(&shortening->names) = (struct sp_short_name){part->name, meaning, part->is_key};
}

static void name_parts(struct sp_shortening *shortening, const struct pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++)
        if (pieces->items[i].part != SIZE_MAX) name_part(shortening, pieces->items[i].part);
}

/* Divides the formula into pieces. */
static struct pieces divide_formula(struct sp_shortening *shortening, const char *formula)
{
    struct tokens tokens = read_tokens(shortening, formula);
    struct pieces pieces = {0};
    divide(shortening, &tokens, 0, tokens.count, &pieces, 0);
    sp_free(tokens.items);
    return pieces;
}

/* Notes the names that the formula uses, and the indices of its sums. */
static void note_names(struct sp_shortening *shortening, const char *formula)
{
    struct tokens tokens = read_tokens(shortening, formula);
    for (size_t at = 0; at < tokens.count; at++) {
        if (!is_name(&tokens, at)) continue;
        const char *name = token_text(shortening, &tokens, at, at);
        sp_map_add(&shortening->taken, name, 0);
        if (is_index(&tokens, at)) sp_map_add(&shortening->indices, name, 0);
    }
    sp_free(tokens.items);
}

void sp_shorten_reserve(struct sp_shortening *shortening, const char *name)
{
    sp_map_add(&shortening->taken, sp_arena_string(&shortening->arena, name), 0);
}

void sp_shorten_reserve_table(struct sp_shortening *shortening, const struct sp_unit *table)
{
    for (size_t i = 0; i < table->definition_count; i++) sp_shorten_reserve(shortening, table->definitions[i].name);
}

void sp_shorten_key(struct sp_shortening *shortening, const char *name)
{
    sp_shorten_reserve(shortening, name);
    if (strlen(name) >= LONG_KEY) sp_map_add(&shortening->keys, sp_arena_string(&shortening->arena, name), 0);
}

void sp_shorten_add(struct sp_shortening *shortening, const char *formula)
{
    *SP_PUSH(&shortening->formulas) = formula;
}

void sp_shorten_choose(struct sp_shortening *shortening)
{
    size_t longest = 0;
    for (size_t i = 0; i < shortening->formulas.count; i++) {
        const size_t length = strlen(shortening->formulas.items[i]);
        if (length > longest) longest = length;
    }
    if (longest <= LINE) return;
    struct pieces *divided = sp_realloc(NULL, shortening->formulas.count, sizeof *divided);
    for (size_t i = 0; i < shortening->formulas.count; i++) note_names(shortening, shortening->formulas.items[i]);
    for (size_t i = 0; i < shortening->formulas.count; i++)
        divided[i] = divide_formula(shortening, shortening->formulas.items[i]);
    for (size_t i = 0; i < shortening->formulas.count; i++) {
        name_parts(shortening, &divided[i]);
        sp_free(divided[i].items);
    }
    sp_free(divided);
}

const char *sp_shorten_text(struct sp_shortening *shortening, const char *text)
{
    if (!shortening->names.count) return text;
    struct pieces pieces = divide_formula(shortening, text);
    struct sp_text result = {0};
    put_pieces(shortening, &pieces, &result);
    sp_free(pieces.items);
    return sp_text_keep(&result, &shortening->arena);
}

void sp_shorten_free(struct sp_shortening *shortening)
{
    for (size_t i = 0; i < shortening->parts.count; i++) sp_free(shortening->parts.items[i].body.items);
    sp_free(shortening->parts.items);
    sp_free(shortening->formulas.items);
    sp_free(shortening->names.items);
    sp_map_free(&shortening->taken);
    sp_map_free(&shortening->keys);
    sp_map_free(&shortening->indices);
    sp_map_free(&shortening->part_numbers);
    sp_arena_free(&shortening->arena);
}
