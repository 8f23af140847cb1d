/* SPDX-License-Identifier: MIT */
#include "compare/patterns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 18 }; /* what surely fits in 64 bits */

static bool ends_component(char c) { return c == '.' || c == '/' || !c; }

/* The digits of a component that is an index: no sign, no leading zero; 0 for any other. */
static size_t index_length(const char *component, uint64_t *value)
{
    size_t length = 0;
    *value = 0;
    for (; component[length] >= '0' && component[length] <= '9'; length++) {
        if (length == MAX_DIGITS) return 0;
        *value = *value * 10 + (uint64_t)(component[length] - '0');
    }
    if (length > 1 && component[0] == '0') return 0;
    return ends_component(component[length]) ? length : 0;
}

/* Leaves the pattern in `text`. */
static void split(const char *name, struct sp_text *text, struct sp_indices *indices)
{
    const char mark = SP_INDEX_MARK, *kept = name; /* what is not yet in the text begins here */
    text->length = 0;
    indices->count = 0;
    for (const char *p = name; *p; p++) {
        uint64_t value;
        if (*p < '0' || *p > '9' || (p > name && !ends_component(p[-1]))) continue;
        const size_t length = indices->count < SP_MAX_INDICES ? index_length(p, &value) : 0;
        if (!length) continue;
        indices->value[indices->count++] = value;
        sp_text_append(text, kept, (size_t)(p - kept));
        sp_text_append(text, &mark, 1);
        p += length - 1;
        kept = p + 1;
    }
    sp_text_puts(text, kept);
}

size_t sp_pattern_of(struct sp_patterns *patterns, const char *name, struct sp_indices *indices)
{
    struct sp_indices unwanted;
    split(name, &patterns->scratch, indices ? indices : &unwanted);
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
