/* SPDX-License-Identifier: MIT */
#include "names/patterns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"

enum { MAX_DIGITS = 18 }; /* what surely fits in 64 bits */

static bool is_separator(char c) { return c == '.' || c == '/' || c == '_' || !c; }

/* No sign, no leading zero: what is left out can be put back. */
size_t sp_index_at(const char *name, size_t place, uint64_t *value)
{
    const char *digits = name + place;
    size_t length = 0;
    *value = 0;
    if (place && !is_separator(digits[-1])) return 0;
    for (; digits[length] >= '0' && digits[length] <= '9'; length++) {
        if (length == MAX_DIGITS) return 0;
        *value = *value * 10 + (uint64_t)(digits[length] - '0');
    }
    if (length > 1 && digits[0] == '0') return 0;
    return is_separator(digits[length]) ? length : 0;
}

/* The index at `place` is beside an underscore. */
static bool is_part(const char *name, size_t place, size_t length)
{
    return (place && name[place - 1] == '_') || name[place + length] == '_';
}

/* The digits at `place` that are an index to be left out; 0 when there are none. */
static size_t take_index(const struct sp_patterns *patterns, const char *name, size_t place, struct sp_indices *indices)
{
    uint64_t value;
    if (indices->count == SP_MAX_INDICES) return 0;
    const size_t length = sp_index_at(name, place, &value);
    if (!length || (patterns->whole_components && is_part(name, place, length))) return 0;
    indices->value[indices->count++] = value;
    return length;
}

/* Leaves the pattern, which is no longer than the name, in the scratch. */
static void split(struct sp_patterns *patterns, const char *name, struct sp_indices *indices)
{
    struct sp_text *text = &patterns->scratch;
    text->length = indices->count = 0;
    sp_text_reserve(text, strlen(name));
    char *end = text->data;
    for (size_t i = 0, digits; name[i]; i += digits ? digits : 1) {
        digits = sp_is_digit(name[i]) ? take_index(patterns, name, i, indices) : 0;
        *end++ = digits ? SP_INDEX_MARK : name[i];
    }
    *end = '\0';
    text->length = (size_t)(end - text->data);
}

size_t sp_pattern_of(struct sp_patterns *patterns, const char *name, struct sp_indices *indices)
{
    struct sp_indices unwanted;
    split(patterns, name, indices ? indices : &unwanted);
    size_t pattern = sp_map_get(&patterns->map, patterns->scratch.data);
    if (pattern != SIZE_MAX) return pattern;
    pattern = patterns->count;
    SP_GROW(patterns->texts, patterns->count, patterns->capacity);
    patterns->texts[patterns->count++] =
        sp_arena_copy(&patterns->arena, patterns->scratch.data, patterns->scratch.length);
    sp_map_add(&patterns->map, patterns->texts[pattern], pattern);
    return pattern;
}

const char *sp_pattern_text(const struct sp_patterns *patterns, size_t pattern) { return patterns->texts[pattern]; }

const char *sp_pattern_shown(struct sp_arena *arena, const char *pattern)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (; *pattern; pattern++) {
        if (*pattern == SP_INDEX_MARK) sp_text_puts(&text, "{}");
        else sp_text_append(&text, pattern, 1);
    }
    const char *kept = sp_arena_copy(arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

void sp_pattern_fill(struct sp_text *text, const char *pattern, const struct sp_indices *indices)
{
    sp_text_puts(text, "");
    for (size_t next = 0; *pattern; pattern++) {
        if (*pattern == SP_INDEX_MARK && next < indices->count) sp_text_number(text, indices->value[next++]);
        else sp_text_append(text, pattern, 1);
    }
}

void sp_patterns_free(struct sp_patterns *patterns)
{
    free(patterns->texts);
    sp_map_free(&patterns->map);
    sp_text_free(&patterns->scratch);
    sp_arena_free(&patterns->arena);
    *patterns = (struct sp_patterns){0};
}
