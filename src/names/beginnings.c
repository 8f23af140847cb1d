/* SPDX-License-Identifier: MIT */
#include "names/beginnings.h"

#include <stdlib.h>
#include <string.h>

#include "names/components.h"

/* An end of patterns, and how many patterns of each side have it. */
struct sp_ending {
    size_t in_a, in_b;
    size_t b, length; /* the last that has it, and how long that is */
};

static struct sp_ending *ending_of(struct sp_beginnings *fronts, const char *text)
{
    size_t place = sp_map_get(&fronts->places, text);
    if (place == SIZE_MAX) {
        place = fronts->endings.count;
        *SP_PUSH(&fronts->endings) = (struct sp_ending){0};
        sp_map_add(&fronts->places, text, place);
    }
    return &fronts->endings.items[place];
}

void sp_beginnings_note_a(struct sp_beginnings *fronts, const char *text)
{
    for (const char *end = text; end; end = sp_behind_component(end, fronts->separators))
        ending_of(fronts, end)->in_a++;
}

void sp_beginnings_note_b(struct sp_beginnings *fronts, const char *text, size_t id)
{
    const size_t length = strlen(text);
    for (const char *end = text; end; end = sp_behind_component(end, fronts->separators)) {
        struct sp_ending *ending = ending_of(fronts, end);
        ending->in_b++;
        ending->b = id;
        ending->length = length;
    }
}

struct sp_front_guess sp_beginnings_guess(const struct sp_beginnings *fronts, const char *text)
{
    const struct sp_front_guess none = {.b = SIZE_MAX};
    for (const char *end = text; end; end = sp_behind_component(end, fronts->separators)) {
        const struct sp_ending *ending = &fronts->endings.items[sp_map_get(&fronts->places, end)];
        if (!ending->in_b) continue;
        if (ending->in_a > 1 || ending->in_b > 1) return none;
        return (struct sp_front_guess){ending->b, (size_t)(end - text), ending->length - strlen(end)};
    }
    return none;
}

size_t sp_beginnings_add(struct sp_beginnings *fronts, const char *a, size_t from, const char *b, size_t to)
{
    const char *key = sp_arena_printf(fronts->arena, "%.*s %.*s", (int)from, a, (int)to, b);
    const size_t known = sp_map_get(&fronts->known, key);
    if (known != SIZE_MAX) return known;
    sp_map_add(&fronts->known, key, fronts->count);
    *SP_PUSH(fronts) = (struct sp_front){sp_arena_copy(fronts->arena, a, from), sp_arena_copy(fronts->arena, b, to)};
    return fronts->count - 1;
}

void sp_beginnings_free(struct sp_beginnings *fronts)
{
    free(fronts->endings.items);
    free(fronts->items);
    sp_map_free(&fronts->places);
    sp_map_free(&fronts->known);
}
