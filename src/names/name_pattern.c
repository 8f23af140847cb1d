/* SPDX-License-Identifier: MIT
 * A pattern is a list of tokens. Matching keeps the set of places in the name that can be reached: no backtracking,
 * whatever the pattern. */
#include "names/name_pattern.h"

#include <stdlib.h>
#include <string.h>

enum token_kind { CHARACTER, ANY_CHARACTER, ANYTHING, CLASS, ALTERNATIVES, NUMBER };

enum { MAX_DIGITS = 18 }; /* what surely fits in 64 bits */

/* A text, or the numbers from `first` to `last`. */
struct alternative {
    const char *text;
    size_t length;
    bool is_range;
    uint64_t first, last;
};

struct sp_name_token {
    enum token_kind kind;
    unsigned char character;
    bool *members; /* CLASS: of each byte whether it is one */
    struct alternative *alternatives;
    size_t count;
};

/* ---- reading ---- */

struct reading {
    struct sp_arena *arena;
    const char *text;
    size_t at, length;
    struct sp_pattern_mistake *mistake;
};

static bool fail(struct reading *r, size_t offset, const char *message)
{
    *r->mistake = (struct sp_pattern_mistake){offset, message};
    return false;
}

static bool read_class(struct reading *r, struct sp_name_token *token)
{
    const size_t open = r->at++;
    const bool negated = r->at < r->length && (r->text[r->at] == '!' || r->text[r->at] == '^');
    token->kind = CLASS;
    token->members = sp_arena_array(r->arena, 256, sizeof *token->members);
    if (negated) r->at++;
    for (bool first = true; r->at < r->length && (first || r->text[r->at] != ']'); first = false) {
        if (r->text[r->at] == '\\' && r->at + 1 < r->length) r->at++;
        const unsigned char low = (unsigned char)r->text[r->at++];
        unsigned char high = low;
        if (r->at + 1 < r->length && r->text[r->at] == '-' && r->text[r->at + 1] != ']') {
            high = (unsigned char)r->text[r->at + 1];
            r->at += 2;
        }
        for (unsigned c = low; c <= high; c++) token->members[c] = true;
    }
    if (r->at >= r->length) return fail(r, open, "this '[' is not closed");
    for (unsigned c = 0; c < 256; c++) token->members[c] ^= negated;
    r->at++;
    return true;
}

/* Decimal digits without a leading zero; returns their number, 0 when there are none or too many. */
static size_t read_number(const char *text, size_t length, uint64_t *number)
{
    size_t digits = 0;
    for (*number = 0; digits < length && text[digits] >= '0' && text[digits] <= '9'; digits++) {
        if (digits == MAX_DIGITS) return 0;
        *number = *number * 10 + (uint64_t)(text[digits] - '0');
    }
    return digits > 1 && text[0] == '0' ? 0 : digits;
}

static bool read_alternative(struct reading *r, size_t begin, struct alternative *alternative)
{
    const char *text = r->text + begin;
    const size_t length = r->at - begin, digits = read_number(text, length, &alternative->first);
    alternative->text = text;
    alternative->length = length;
    if (!digits || digits + 1 >= length || text[digits] != '-') return true;
    alternative->is_range =
        read_number(text + digits + 1, length - digits - 1, &alternative->last) == length - digits - 1;
    if (alternative->is_range && alternative->last < alternative->first)
        return fail(r, begin, "the range ends before it begins");
    return true;
}

static bool read_alternatives(struct reading *r, struct sp_name_token *token)
{
    const size_t open = r->at++;
    size_t commas = 0, end = r->at;
    while (end < r->length && r->text[end] != '}') commas += r->text[end++] == ',';
    if (end == r->length) return fail(r, open, "this '{' is not closed");
    token->kind = end == r->at ? NUMBER : ALTERNATIVES;
    token->alternatives = sp_arena_array(r->arena, commas + 1, sizeof *token->alternatives);
    for (size_t begin = r->at; token->kind == ALTERNATIVES && begin <= end; begin = r->at + 1) {
        for (r->at = begin; r->at < end && r->text[r->at] != ',';) r->at++;
        if (!read_alternative(r, begin, &token->alternatives[token->count++])) return false;
    }
    r->at = end + 1;
    return true;
}

static bool read_token(struct reading *r, struct sp_name_token *token)
{
    switch (r->text[r->at]) {
    case '[':
        return read_class(r, token);
    case '{':
        return read_alternatives(r, token);
    case '*':
        token->kind = ANYTHING;
        break;
    case '?':
        token->kind = ANY_CHARACTER;
        break;
    case '\\':
        if (++r->at == r->length) return fail(r, r->at - 1, "nothing follows this '\\'");
        __attribute__((fallthrough));
    default:
        token->kind = CHARACTER;
        token->character = (unsigned char)r->text[r->at];
    }
    r->at++;
    return true;
}

bool sp_name_pattern_parse(struct sp_name_pattern *pattern, struct sp_arena *arena, const char *text, size_t length,
                           struct sp_pattern_mistake *mistake)
{
    struct reading r = {arena, text, 0, length, mistake};
    *pattern = (struct sp_name_pattern){.tokens = sp_arena_array(arena, length, sizeof *pattern->tokens)};
    while (r.at < length)
        if (!read_token(&r, &pattern->tokens[pattern->count++])) return false;
    return true;
}

/* ---- matching ---- */

/* The places in the name that can be reached: a byte for each, within [low, high]. */
struct places {
    unsigned char *reached;
    size_t low, high;
    bool any;
};

static void reach(struct places *places, size_t place)
{
    if (!places->any || place < places->low) places->low = place;
    if (!places->any || place > places->high) places->high = place;
    places->any = true;
    places->reached[place] = 1;
}

/* Every end of a number in the range that begins here: "1" and "12" for 0 to 99. */
static void reach_numbers(struct places *next, const char *name, size_t place, uint64_t first, uint64_t last)
{
    uint64_t number;
    size_t digits = 0;
    while (name[place + digits] >= '0' && name[place + digits] <= '9') digits++;
    for (size_t length = 1; length <= digits && length <= MAX_DIGITS; length++)
        if (read_number(name + place, length, &number) == length && number >= first && number <= last)
            reach(next, place + length);
}

static void reach_alternatives(struct places *next, const struct sp_name_token *token, const char *name, size_t place)
{
    for (size_t i = 0; i < token->count; i++) {
        const struct alternative *alternative = &token->alternatives[i];
        if (alternative->is_range) reach_numbers(next, name, place, alternative->first, alternative->last);
        else if (strncmp(name + place, alternative->text, alternative->length) == 0)
            reach(next, place + alternative->length);
    }
}

/* From one place, which need not be the end of the name. */
static void step(struct places *next, const struct sp_name_token *token, const char *name, size_t place)
{
    const unsigned char c = (unsigned char)name[place];
    if (token->kind == ALTERNATIVES) reach_alternatives(next, token, name, place);
    else if (token->kind == NUMBER) reach_numbers(next, name, place, 0, UINT64_MAX);
    else if (c && ((token->kind == CHARACTER && c == token->character) || token->kind == ANY_CHARACTER ||
                   (token->kind == CLASS && token->members[c])))
        reach(next, place + 1);
}

static void step_all(const struct places *now, struct places *next, const struct sp_name_token *token, const char *name,
                     size_t length)
{
    next->any = false;
    if (token->kind == ANYTHING)
        for (size_t i = now->low; i <= length; i++) reach(next, i);
    else
        for (size_t i = now->low; i <= now->high; i++)
            if (now->reached[i]) step(next, token, name, i);
}

bool sp_name_pattern_matches(const struct sp_name_pattern *pattern, const char *name)
{
    const size_t length = strlen(name);
    size_t plain = 0; /* most names differ before the first token that is not a character */
    while (plain < pattern->count && pattern->tokens[plain].kind == CHARACTER) {
        if ((unsigned char)name[plain] != pattern->tokens[plain].character) return false;
        plain++;
    }
    struct places now = {.reached = sp_realloc(NULL, length + 1, 2)};
    struct places next = {.reached = now.reached + length + 1};
    unsigned char *const memory = now.reached;
    memset(memory, 0, 2 * (length + 1));
    reach(&now, plain);
    for (size_t i = plain; i < pattern->count && now.any; i++) {
        step_all(&now, &next, &pattern->tokens[i], name, length);
        memset(now.reached + now.low, 0, now.high - now.low + 1);
        const struct places swapped = now;
        now = next;
        next = swapped;
    }
    const bool matches = now.any && now.reached[length];
    free(memory);
    return matches;
}
