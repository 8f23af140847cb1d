/* SPDX-License-Identifier: MIT */
#include "learn/phrases/shelf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024, MOST_EQUALS = 16 };

void sp_shelf_init(struct sp_shelf *shelf, struct sp_arena *arena, const struct sp_domain *domain, size_t most,
                   uint64_t *spent)
{
    *shelf =
        (struct sp_shelf){.arena = arena, .domain = domain, .slot_count = FIRST_SLOTS, .most = most, .spent = spent};
    shelf->slots = sp_realloc(NULL, FIRST_SLOTS, sizeof *shelf->slots);
    memset(shelf->slots, 0, FIRST_SLOTS * sizeof *shelf->slots);
    shelf->scratch = sp_realloc(NULL, domain->count + 1, sizeof *shelf->scratch);
}

void sp_shelf_free(struct sp_shelf *shelf)
{
    free(shelf->items);
    free(shelf->values);
    free(shelf->slots);
    free(shelf->scratch);
}

const double *sp_shelf_values(const struct sp_shelf *shelf, size_t item)
{
    return shelf->values + item * shelf->domain->count;
}

static size_t hash_of_values(const double *values, size_t count)
{
    uint64_t hash = 1469598103934665603U;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = (hash ^ bits ^ (bits >> 29)) * 1099511628211U;
        hash ^= hash >> 31;
    }
    return (size_t)hash;
}

static size_t *slot_of_values(const struct sp_shelf *shelf, const double *values)
{
    return &shelf->slots[hash_of_values(values, shelf->domain->count) & (shelf->slot_count - 1)];
}

size_t sp_shelf_look(const struct sp_shelf *shelf, const double *values)
{
    const size_t size = shelf->domain->count * sizeof *values;
    for (size_t i = *slot_of_values(shelf, values); i; i = shelf->items[i - 1].next)
        if (memcmp(sp_shelf_values(shelf, i - 1), values, size) == 0) return i - 1;
    return SIZE_MAX;
}

static void enlarge_shelf(struct sp_shelf *shelf)
{
    shelf->slot_count *= 2;
    shelf->slots = sp_realloc(shelf->slots, shelf->slot_count, sizeof *shelf->slots);
    memset(shelf->slots, 0, shelf->slot_count * sizeof *shelf->slots);
    for (size_t i = 0; i < shelf->count; i++) {
        size_t *slot = slot_of_values(shelf, sp_shelf_values(shelf, i));
        shelf->items[i].next = *slot;
        *slot = i + 1;
    }
}

static void append_values(struct sp_shelf *shelf)
{
    const size_t needed = (shelf->count + 1) * shelf->domain->count;
    if (needed > shelf->value_capacity) {
        shelf->value_capacity = needed * 2;
        shelf->values = sp_realloc(shelf->values, shelf->value_capacity, sizeof *shelf->values);
    }
    memcpy(shelf->values + shelf->count * shelf->domain->count, shelf->scratch,
           shelf->domain->count * sizeof *shelf->values);
}

static void add_item(struct sp_shelf *shelf, const struct sp_phrase *term)
{
    append_values(shelf);
    size_t *slot = slot_of_values(shelf, shelf->scratch);
    const struct sp_shelved item = {.term = term, .next = *slot};
    *SP_PUSH(shelf) = item;
    *slot = shelf->count;
    if (shelf->count > shelf->slot_count) enlarge_shelf(shelf);
}

static void add_equal(struct sp_shelf *shelf, struct sp_shelved *item, const struct sp_phrase *term)
{
    if (sp_phrases_equal(item->term, term)) return;
    if (!item->equals) item->equals = sp_arena_array(shelf->arena, MOST_EQUALS, sizeof *item->equals);
    if (term->cost < item->term->cost) {
        const struct sp_phrase *dearer = item->term;
        item->term = term;
        term = dearer;
    }
    if (item->equal_count < MOST_EQUALS) item->equals[item->equal_count++] = term;
}

/* False when it has no value at some point; `partial` tells whether it has one at another. */
static bool value_everywhere(struct sp_shelf *shelf, const struct sp_phrase *term, bool *partial)
{
    size_t without = 0;
    *shelf->spent += shelf->domain->count;
    for (size_t i = 0; i < shelf->domain->count; i++) {
        shelf->scratch[i] = sp_phrase_value(term, &shelf->domain->points[i]) + 0.0; /* no negative zero */
        without += isnan(shelf->scratch[i]) || isinf(shelf->scratch[i]);
    }
    if (partial) *partial = without > 0 && without < shelf->domain->count;
    return without == 0;
}

/* With the values that are in the scratch. */
static bool add_valued(struct sp_shelf *shelf, const struct sp_phrase *term)
{
    const size_t known = sp_shelf_look(shelf, shelf->scratch);
    if (known != SIZE_MAX) add_equal(shelf, &shelf->items[known], term);
    else if (shelf->count < shelf->most) add_item(shelf, term);
    return known == SIZE_MAX;
}

bool sp_shelf_add(struct sp_shelf *shelf, const struct sp_phrase *term, bool *partial)
{
    return value_everywhere(shelf, term, partial) && add_valued(shelf, term);
}

void sp_shelf_combine(struct sp_shelf *shelf, enum sp_phrase_op op, struct sp_phrase_side a, struct sp_phrase_side b)
{
    *shelf->spent += shelf->domain->count;
    if (sp_phrase_values(op, a, b, shelf->domain->count, shelf->scratch))
        add_valued(shelf, sp_phrase_of(shelf->arena, op, a.term, b.term, NULL));
}
