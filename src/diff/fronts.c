/* SPDX-License-Identifier: MIT
 * Names that begin otherwise, many in the same way: "module." taken away, "transformer.h." for "model.layers.". The
 * longest end that a pattern shares with one of the other side, and with no other, says how their beginnings differ;
 * patterns vote for such changes, and those with the most tensors are applied first. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "diff/pairing.h"
#include "names/components.h"

/* An end of patterns, and how many patterns of each side have it. */
struct ending {
    size_t in_a, in_b;
    const struct sp_side *b; /* the last that has it */
};

struct endings {
    struct ending *items;
    size_t count, capacity;
    struct sp_map map; /* keys are the ends of the patterns' own texts */
};

/* A change of beginnings, and what speaks for it. */
struct front {
    const char *from, *to;
    size_t patterns, tensors, place;
    bool alike; /* the names as a whole are similar */
};

struct fronts {
    struct front *items;
    size_t count, capacity;
    struct sp_map map;
};

static struct ending *ending_of(struct endings *endings, const char *text)
{
    size_t place = sp_map_get(&endings->map, text);
    if (place == SIZE_MAX) {
        place = endings->count;
        *SP_PUSH(endings) = (struct ending){0};
        sp_map_add(&endings->map, text, place);
    }
    return &endings->items[place];
}

static void note_endings(const struct sp_pairing *p, struct endings *endings)
{
    for (size_t i = 0; i < p->a.count; i++)
        for (const char *end = sp_pairing_text(p, &p->a.items[i]); end; end = sp_behind_component(end, "."))
            ending_of(endings, end)->in_a++;
    for (size_t i = 0; i < p->b.count; i++)
        for (const char *end = sp_pairing_text(p, &p->b.items[i]); end; end = sp_behind_component(end, ".")) {
            struct ending *ending = ending_of(endings, end);
            ending->in_b++;
            ending->b = &p->b.items[i];
        }
}

static size_t count_marks(const char *text, size_t length)
{
    size_t marks = 0;
    for (size_t i = 0; i < length; i++) marks += text[i] == SP_INDEX_MARK;
    return marks;
}

/* How many members have the same indices and fit. */
static size_t count_fitting(const struct sp_pairing *p, const struct sp_side *a, const struct sp_side *b)
{
    size_t fitting = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const int order = sp_compare_indices(&a->members[i].indices, &b->members[k].indices);
        if (order == 0) fitting += sp_pairing_fits(p, a->members[i].item, b->members[k].item);
        if (order <= 0) i++;
        if (order >= 0) k++;
    }
    return fitting;
}

static void vote(struct sp_pairing *p, const struct sp_side *a, size_t a_length, const struct sp_side *b,
                 size_t b_length, struct fronts *fronts)
{
    const char *in_a = sp_pairing_text(p, a), *in_b = sp_pairing_text(p, b);
    const size_t fitting = count_fitting(p, a, b), fewer = a->count < b->count ? a->count : b->count;
    if (fitting * 2 < fewer || count_marks(in_a, a_length) != count_marks(in_b, b_length)) return;
    const char *key = sp_arena_printf(&p->arena, "%.*s %.*s", (int)a_length, in_a, (int)b_length, in_b);
    size_t place = sp_map_get(&fronts->map, key);
    if (place == SIZE_MAX) {
        place = fronts->count;
        *SP_PUSH(fronts) = (struct front){.from = sp_arena_copy(&p->arena, in_a, a_length),
                                          .to = sp_arena_copy(&p->arena, in_b, b_length),
                                          .place = place};
        sp_map_add(&fronts->map, key, place);
    }
    struct front *front = &fronts->items[place];
    front->patterns++;
    front->tensors += fitting;
    front->alike = front->alike || sp_similarity(in_a, in_b);
}

/* The longest end that it shares with a pattern of B says how the beginnings differ, if no other pattern has it. */
static void vote_for(struct sp_pairing *p, const struct sp_side *a, const struct endings *endings,
                     struct fronts *fronts)
{
    const char *text = sp_pairing_text(p, a);
    for (const char *end = text; end; end = sp_behind_component(end, ".")) {
        const struct ending *ending = &endings->items[sp_map_get(&endings->map, end)];
        if (!ending->in_b) continue;
        if (ending->in_a == 1 && ending->in_b == 1)
            vote(p, a, (size_t)(end - text), ending->b, strlen(sp_pairing_text(p, ending->b)) - strlen(end), fronts);
        return;
    }
}

static int compare_fronts(const void *left, const void *right)
{
    const struct front *a = left, *b = right;
    return a->tensors != b->tensors ? sp_order(b->tensors, a->tensors) : sp_order(a->place, b->place);
}

/* Enough of them agree that a tensor may have another shape as well. */
static bool is_firm(const struct front *front)
{
    const bool is_prefix = !*front->from || !*front->to;
    return front->patterns > 1 || (is_prefix && front->tensors > 1);
}

static void apply(struct sp_pairing *p, const struct front *front)
{
    const size_t length = strlen(front->from);
    struct sp_arena scratch = {0};
    const size_t translation = sp_pairing_translation(p, front->from, front->to, "*");
    for (size_t i = 0; i < p->a.count; i++) {
        const char *text = sp_pairing_text(p, &p->a.items[i]);
        if (strncmp(text, front->from, length) != 0) continue;
        const char *wanted = sp_arena_printf(&scratch, "%s%s", front->to, text + length);
        const struct sp_side *b = sp_pairing_side(&p->b, sp_pattern_of(&p->patterns, wanted, NULL));
        if (b) sp_pairing_join(p, &p->a.items[i], b, translation, is_firm(front));
    }
    sp_arena_free(&scratch);
}

/* One pattern alone is little evidence: then the names must be alike. */
void sp_pairing_fronts(struct sp_pairing *p)
{
    struct endings endings = {0};
    struct fronts fronts = {0};
    note_endings(p, &endings);
    for (size_t i = 0; i < p->a.count; i++) vote_for(p, &p->a.items[i], &endings, &fronts);
    if (fronts.count) qsort(fronts.items, fronts.count, sizeof *fronts.items, compare_fronts);
    for (size_t i = 0; i < fronts.count; i++)
        if (fronts.items[i].patterns > 1 || fronts.items[i].alike) apply(p, &fronts.items[i]);
    free(endings.items);
    free(fronts.items);
    sp_map_free(&endings.map);
    sp_map_free(&fronts.map);
}
