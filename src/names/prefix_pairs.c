/* SPDX-License-Identifier: MIT */
#include "names/prefix_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "names/components.h"

/* An end of patterns, and how many patterns of each side have it. */
struct sp_ending {
    size_t in_a, in_b;
    size_t b, length; /* the last that has it, and how long that is */
};

/* Components of an end. Without this bound, a name of 30,000 components costs the square of its length. */
enum { MAX_COMPONENTS = 64 };

/* The longest end of the text that is counted. Of each text all shorter ones are, so the counts of an end are exact. */
static const char *longest_end(const struct sp_prefix_pairs *pairs, const char *text)
{
    size_t count = 0;
    for (const char *end = text; end; end = sp_behind_component(end, pairs->separators)) count++;
    for (; count > MAX_COMPONENTS; count--) text = sp_behind_component(text, pairs->separators);
    return text;
}

static struct sp_ending *ending_of(struct sp_prefix_pairs *pairs, const char *text)
{
    size_t place = sp_map_get(&pairs->places, text);
    if (place == SIZE_MAX) {
        place = pairs->endings.count;
        *SP_PUSH(&pairs->endings) = (struct sp_ending){0};
        sp_map_add(&pairs->places, text, place);
    }
    return &pairs->endings.items[place];
}

void sp_prefix_pairs_note_a(struct sp_prefix_pairs *pairs, const char *text)
{
    for (const char *end = longest_end(pairs, text); end; end = sp_behind_component(end, pairs->separators))
        ending_of(pairs, end)->in_a++;
}

void sp_prefix_pairs_note_b(struct sp_prefix_pairs *pairs, const char *text, size_t id)
{
    const size_t length = strlen(text);
    for (const char *end = longest_end(pairs, text); end; end = sp_behind_component(end, pairs->separators)) {
        struct sp_ending *ending = ending_of(pairs, end);
        ending->in_b++;
        ending->b = id;
        ending->length = length;
    }
}

struct sp_prefix_rule_guess sp_prefix_pairs_guess(const struct sp_prefix_pairs *pairs, const char *text)
{
    const struct sp_prefix_rule_guess none = {.b = SIZE_MAX};
    if (longest_end(pairs, text) != text) return none;
    for (const char *end = text; end; end = sp_behind_component(end, pairs->separators)) {
        const struct sp_ending *ending = &pairs->endings.items[sp_map_get(&pairs->places, end)];
        if (!ending->in_b) continue;
        if (ending->in_a > 1 || ending->in_b > 1) return none;
        return (struct sp_prefix_rule_guess){ending->b, (size_t)(end - text), ending->length - strlen(end)};
    }
    return none;
}

size_t sp_prefix_pairs_add(struct sp_prefix_pairs *pairs, const char *a, size_t from, const char *b, size_t to)
{
    const char *key = sp_arena_printf(pairs->arena, "%.*s %.*s", (int)from, a, (int)to, b);
    const size_t known = sp_map_get(&pairs->known, key);
    if (known != SIZE_MAX) return known;
    sp_map_add(&pairs->known, key, pairs->count);
    *SP_PUSH(pairs) = (struct sp_prefix_rule){sp_arena_copy(pairs->arena, a, from), sp_arena_copy(pairs->arena, b, to)};
    return pairs->count - 1;
}

void sp_prefix_pairs_free(struct sp_prefix_pairs *pairs)
{
    sp_free(pairs->endings.items);
    sp_free(pairs->items);
    sp_map_free(&pairs->places);
    sp_map_free(&pairs->known);
}
