/* SPDX-License-Identifier: MIT */
#include "names/patterns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/order.h"

enum { MAX_DIGITS = 18 }; /* what surely fits in 64 bits */

/* Whether an index may begin or end beside that character. */
static bool is_edge(char c, enum sp_index_rule rule)
{
    if (rule == SP_INDEX_ANYWHERE) return !sp_is_digit(c);
    return c == '.' || c == '/' || !c || (c == '_' && rule == SP_INDEX_APART);
}

static size_t index_digits(const char *name, size_t place, enum sp_index_rule rule, uint64_t *value)
{
    const char *digits = name + place;
    size_t length = 0;
    *value = 0;
    if (place && !is_edge(digits[-1], rule)) return 0;
    for (; sp_is_digit(digits[length]); length++) {
        if (length == MAX_DIGITS) return 0;
        *value = *value * 10 + sp_digit(digits[length]);
    }
    if (length > 1 && digits[0] == '0') return 0;
    return is_edge(digits[length], rule) ? length : 0;
}

size_t sp_index_at(const char *name, size_t place, uint64_t *value)
{
    return index_digits(name, place, SP_INDEX_APART, value);
}

void sp_name_split(struct sp_text *pattern, const char *name, enum sp_index_rule rule, struct sp_indices *indices)
{
    sp_text_reserve(pattern, strlen(name)); /* which a pattern is no longer than */
    char *end = pattern->data + pattern->length;
    for (size_t i = 0, digits; name[i]; i += digits ? digits : 1) {
        const bool may_be = sp_is_digit(name[i]) && indices->count < SP_MAX_INDICES;
        digits = may_be ? index_digits(name, i, rule, &indices->value[indices->count]) : 0;
        *end++ = digits ? SP_INDEX_MARK : name[i];
        indices->count += digits > 0;
    }
    *end = '\0';
    pattern->length = (size_t)(end - pattern->data);
}

size_t sp_pattern_find(const struct sp_patterns *patterns, const char *text)
{
    return sp_map_get(&patterns->map, text);
}

size_t sp_pattern_of(struct sp_patterns *patterns, const char *name, struct sp_indices *indices)
{
    struct sp_indices unwanted;
    if (!indices) indices = &unwanted;
    patterns->scratch.length = indices->count = 0;
    sp_name_split(&patterns->scratch, name, patterns->rule, indices);
    size_t pattern = sp_pattern_find(patterns, patterns->scratch.data);
    if (pattern != SIZE_MAX) return pattern;
    pattern = patterns->count;
    *SP_PUSH(patterns) = sp_arena_copy(&patterns->arena, patterns->scratch.data, patterns->scratch.length);
    sp_map_add(&patterns->map, patterns->items[pattern], pattern);
    return pattern;
}

const char *sp_pattern_text(const struct sp_patterns *patterns, size_t pattern) { return patterns->items[pattern]; }

const char *sp_pattern_shown(struct sp_arena *arena, const char *pattern)
{
    struct sp_text text = {0};
    for (; *pattern; pattern++) {
        if (*pattern == SP_INDEX_MARK) sp_text_puts(&text, "{}");
        else sp_text_append(&text, pattern, 1);
    }
    return sp_text_keep(&text, arena);
}

void sp_pattern_fill(struct sp_text *text, const char *pattern, const struct sp_indices *indices)
{
    sp_text_puts(text, "");
    for (size_t next = 0; *pattern; pattern++) {
        if (*pattern == SP_INDEX_MARK && next < indices->count) sp_text_number(text, indices->value[next++]);
        else sp_text_append(text, pattern, 1);
    }
}

int sp_compare_indices(const struct sp_indices *a, const struct sp_indices *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (a->value[i] != b->value[i]) return sp_order(a->value[i], b->value[i]);
    return sp_order(a->count, b->count);
}

int sp_compare_places(const struct sp_place *a, const struct sp_place *b)
{
    return a->pattern == b->pattern ? sp_compare_indices(&a->indices, &b->indices) : sp_order(a->pattern, b->pattern);
}

void sp_patterns_free(struct sp_patterns *patterns)
{
    sp_free(patterns->items);
    sp_map_free(&patterns->map);
    sp_text_free(&patterns->scratch);
    sp_arena_free(&patterns->arena);
    *patterns = (struct sp_patterns){0};
}
