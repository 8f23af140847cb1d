/* SPDX-License-Identifier: MIT */
#include "learn/phrases/stock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "learn/phrases/bank.h"

/* ---- shelves ---- */

/* Terms by the vectors of their values: the hash table below a bank. */

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

/* False when it has no value somewhere (some of `partial`), or was known by another expression. */
static bool shelf_add(struct sp_shelf *shelf, const struct sp_phrase *term, bool *partial)
{
    return value_everywhere(shelf, term, partial) && add_valued(shelf, term);
}

/* The same of an operator on two numbers, each of which is on the shelf or a number by itself (`values` is NULL): their
 * values are not computed once more. */
static void shelf_combine(struct sp_shelf *shelf, enum sp_phrase_op op, struct sp_phrase_side a,
                          struct sp_phrase_side b)
{
    *shelf->spent += shelf->domain->count;
    if (sp_phrase_values(op, a, b, shelf->domain->count, shelf->scratch))
        add_valued(shelf, sp_phrase_of(shelf->arena, op, a.term, b.term, NULL));
}

/* ---- stock ---- */

enum { MOST_FIXED_ITEMS = 8, MOST_WORK = 4000000, DEAREST_DEEP = 30, UNLIKELY = 20 };

static const double smallest_size = 4;
static const double factors[] = {2, 3, 4, 5, 6, 8, 16};
static const double addends[] = {1, 2, 3};
static const double divisors[] = {2, 3, 4, 8, 16};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static struct sp_arena *arena_of(const struct sp_stock *stock) { return stock->shelf->arena; }

/* Where it has no value its key is absent or null: a default stands for nothing else. */
static bool may_have_default(const struct sp_stock *stock, const struct sp_phrase *term)
{
    if (term->op != SP_PHRASE_KEY && term->op != SP_PHRASE_LENGTH) return false;
    for (size_t i = 0; i < stock->shelf->domain->count; i++) {
        const struct sp_point *point = &stock->shelf->domain->points[i];
        if (isnan(sp_phrase_value(term, point)) && sp_value_is_set(term->leaf->values[point->example])) return false;
    }
    return true;
}

void sp_stock_term(struct sp_stock *stock, const struct sp_phrase *term)
{
    bool partial = false;
    shelf_add(stock->shelf, term, &partial);
    if (partial && may_have_default(stock, term)) *SP_PUSH(&stock->partial) = term;
}

void sp_stock_operation(struct sp_stock *stock, enum sp_phrase_op op, const struct sp_phrase *a,
                        const struct sp_phrase *b)
{
    sp_stock_term(stock, sp_phrase_of(arena_of(stock), op, a, b, NULL));
}

/* ---- what is simple ---- */

static void stock_item(struct sp_stock *stock, const struct sp_leaf *leaf, const struct sp_phrase *place)
{
    sp_stock_term(stock,
                  sp_phrase_about(arena_of(stock), (struct sp_phrase){.op = SP_PHRASE_ITEM, .leaf = leaf, .a = place}));
}

/* A list in some example; what stands for the length of one, with a default, is a number. */
static bool is_list_somewhere(const struct sp_stock *stock, const struct sp_leaf *leaf, size_t *longest)
{
    *longest = 0;
    for (size_t i = 0; i < stock->evidence->count && !leaf->meaning; i++)
        if (leaf->values[i].type == SHAPEPROOF_VALUE_LIST && leaf->values[i].count > *longest)
            *longest = leaf->values[i].count;
    return *longest > 0;
}

/* list[i], list[i + 1], list[i - 1], the same from the end: list[len(list) - 1 - i] and those beside it; list[i // 2]
 */
static void stock_items_at_index(struct sp_stock *stock, const struct sp_leaf *leaf, size_t index)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *at = sp_phrase_index(arena, index), *one = sp_phrase_number(arena, 1);
    const struct sp_phrase *length = sp_phrase_leaf(arena, SP_PHRASE_LENGTH, leaf);
    const struct sp_phrase *last = sp_phrase_of(arena, SP_PHRASE_SUBTRACT, length, one, NULL);
    stock_item(stock, leaf, at);
    stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_ADD, at, one, NULL));
    stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, at, one, NULL));
    stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, last, at, NULL));
    stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, length, at, NULL));
    const struct sp_phrase *two = sp_phrase_number(arena, 2);
    const struct sp_phrase *before = sp_phrase_of(arena, SP_PHRASE_SUBTRACT, length, two, NULL);
    stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, before, at, NULL));
    stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, at, two, NULL)); /* of a loop from 1 on */
    stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_DIVIDE, at, two, NULL));   /* of two layers for each item */
    stock_item(
        stock, leaf,
        sp_phrase_of(arena, SP_PHRASE_DIVIDE, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, at, one, NULL), two, NULL));
}

/* Whole numbers, each larger than the one before, which are places in that list: from 0 on, or from 1 on. */
static bool is_list_of_places(const struct sp_stock *stock, const struct sp_leaf *leaf, const struct sp_leaf *of)
{
    for (size_t e = 0; e < stock->evidence->count; e++) {
        const struct shapeproof_value list = leaf->values[e], target = of->values[e];
        if (list.type != SHAPEPROOF_VALUE_LIST || target.type != SHAPEPROOF_VALUE_LIST || !list.count) return false;
        for (size_t i = 0; i < list.count; i++) {
            const struct shapeproof_value item = list.items[i];
            if (item.type != SHAPEPROOF_VALUE_INT || item.integer < 0 || (uint64_t)item.integer > target.count)
                return false;
            if (i && item.integer <= list.items[i - 1].integer) return false;
        }
    }
    return leaf != of;
}

/* widths[taken[i]], widths[taken[i] - 1]: what a list says of the layers that another one names. */
static void stock_items_at_places(struct sp_stock *stock, const struct sp_leaf *leaf, size_t index)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *one = sp_phrase_number(arena, 1);
    for (size_t i = 0; i < stock->evidence->leaves.count; i++) {
        const struct sp_leaf *places = stock->evidence->leaves.items[i];
        if (!is_list_of_places(stock, places, leaf)) continue;
        const struct sp_phrase *place = sp_phrase_about(
            arena, (struct sp_phrase){.op = SP_PHRASE_ITEM, .leaf = places, .a = sp_phrase_index(arena, index)});
        stock_item(stock, leaf, place);
        stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, place, one, NULL));
    }
}

/* The last of more than two in every example is that, and not the third, or the fourth. */
static bool is_last_everywhere(const struct sp_stock *stock, const struct sp_leaf *leaf, size_t place)
{
    for (size_t i = 0; i < stock->evidence->count; i++)
        if (leaf->values[i].type == SHAPEPROOF_VALUE_LIST && leaf->values[i].count != place + 1) return false;
    return place > 1;
}

static void stock_list(struct sp_stock *stock, const struct sp_leaf *leaf, size_t longest)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *length = sp_phrase_leaf(arena, SP_PHRASE_LENGTH, leaf);
    if (strcmp(leaf->path, "architectures") == 0) return;
    if (!leaf->list) sp_stock_term(stock, length);
    if (!leaf->object) sp_stock_term(stock, sp_phrase_leaf(arena, SP_PHRASE_SUM, leaf));
    for (size_t i = 0; i < longest && i < MOST_FIXED_ITEMS; i++)
        if (!is_last_everywhere(stock, leaf, i)) stock_item(stock, leaf, sp_phrase_number(arena, (double)i));
    stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, length, sp_phrase_number(arena, 1), NULL));
    if (longest > 2)
        stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, length, sp_phrase_number(arena, 2), NULL));
    for (size_t k = 0; k < SP_MAX_INDICES; k++) {
        if (!(stock->shelf->domain->indices >> k & 1)) continue;
        stock_items_at_index(stock, leaf, k);
        stock_items_at_places(stock, leaf, k);
    }
}

static bool is_flag_that_varies(const struct sp_stock *stock, const struct sp_leaf *leaf)
{
    for (size_t i = 0; i < stock->evidence->count; i++)
        if (leaf->values[i].type != SHAPEPROOF_VALUE_BOOL) return false;
    return !leaf->meaning && !sp_leaf_is_constant(leaf, stock->evidence->count);
}

/* Two ways in place of one: 2 where the flag is set. */
static void stock_twice(struct sp_stock *stock, const struct sp_leaf *leaf)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *flag =
        sp_phrase_about(arena, (struct sp_phrase){.op = SP_PHRASE_TRUTH, .leaf = leaf, .number = NAN});
    sp_stock_term(stock,
                  sp_phrase_of(arena, SP_PHRASE_IF, flag, sp_phrase_number(arena, 2), sp_phrase_number(arena, 1)));
}

static bool is_number_somewhere(const struct sp_stock *stock, const struct sp_leaf *leaf)
{
    for (size_t i = 0; i < stock->evidence->count; i++)
        if (leaf->values[i].type == SHAPEPROOF_VALUE_INT || leaf->values[i].type == SHAPEPROOF_VALUE_REAL) return true;
    return false;
}

static void stock_at(struct sp_stock *stock, const struct sp_leaf *leaf, const struct sp_phrase *place)
{
    sp_stock_term(stock,
                  sp_phrase_about(arena_of(stock), (struct sp_phrase){.op = SP_PHRASE_AT, .leaf = leaf, .a = place}));
}

/* A list in one example and a number in another: the number by itself, or what stands for every item. */
static void stock_list_or_number(struct sp_stock *stock, const struct sp_leaf *leaf, size_t longest)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *one = sp_phrase_number(arena, 1);
    sp_stock_term(stock, sp_phrase_leaf(arena, SP_PHRASE_KEY, leaf));
    for (size_t i = 0; i < longest && i < MOST_FIXED_ITEMS; i++)
        stock_at(stock, leaf, sp_phrase_number(arena, (double)i));
    for (size_t k = 0; k < SP_MAX_INDICES; k++) {
        if (!(stock->shelf->domain->indices >> k & 1)) continue;
        const struct sp_phrase *at = sp_phrase_index(arena, k);
        stock_at(stock, leaf, at);
        stock_at(stock, leaf, sp_phrase_of(arena, SP_PHRASE_ADD, at, one, NULL));
        stock_at(stock, leaf, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, at, one, NULL));
    }
}

static void stock_leaf(struct sp_stock *stock, const struct sp_leaf *leaf)
{
    if (is_flag_that_varies(stock, leaf)) stock_twice(stock, leaf);
    size_t longest;
    const enum shapeproof_value_type type = leaf->meaning ? SHAPEPROOF_VALUE_INT : leaf->values[0].type;
    if (is_list_somewhere(stock, leaf, &longest)) {
        stock_list(stock, leaf, longest);
        if (is_number_somewhere(stock, leaf)) stock_list_or_number(stock, leaf, longest);
    } else if (type == SHAPEPROOF_VALUE_OBJECT || type <= SHAPEPROOF_VALUE_NULL)
        sp_stock_term(stock, sp_phrase_leaf(arena_of(stock), SP_PHRASE_LENGTH, leaf));
    if (!longest && type != SHAPEPROOF_VALUE_OBJECT)
        sp_stock_term(stock, sp_phrase_leaf(arena_of(stock), SP_PHRASE_KEY, leaf));
}

/* What is repeated so often, by its name. */
static bool is_repetition(const struct sp_leaf *leaf)
{
    static const char *const words[] = {"num", "n_", "per_", "layer", "block", "depth", "repeat", "times", "count"};
    return !leaf->meaning && SP_HAS_ANY(leaf->path, words);
}

/* So many blocks of each stage in one list: widths[i // blocks], and that of the block before. */
static void stock_items_of_stages(struct sp_stock *stock, const struct sp_leaf *blocks, size_t k)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *index = sp_phrase_index(arena, k), *size = sp_phrase_leaf(arena, SP_PHRASE_KEY, blocks);
    const struct sp_phrase *before = sp_phrase_of(arena, SP_PHRASE_SUBTRACT, index, sp_phrase_number(arena, 1), NULL);
    const struct sp_phrase *stage = sp_phrase_of(arena, SP_PHRASE_DIVIDE, index, size, NULL);
    const struct sp_phrase *stage_before = sp_phrase_of(arena, SP_PHRASE_DIVIDE, before, size, NULL);
    sp_stock_operation(stock, SP_PHRASE_POWER, sp_phrase_number(arena, 2), stage);
    sp_stock_operation(stock, SP_PHRASE_POWER, sp_phrase_number(arena, 2), stage_before);
    for (size_t i = 0; i < stock->evidence->leaves.count; i++) {
        const struct sp_leaf *leaf = stock->evidence->leaves.items[i];
        size_t longest;
        if (!is_list_somewhere(stock, leaf, &longest) || longest < 2) continue;
        stock_item(stock, leaf, stage);
        stock_item(stock, leaf, stage_before);
    }
}

/* Loops in one: i // len(list) is the iteration of the outer one, i % len(list) that of the inner one. */
static void stock_nested_iterations(struct sp_stock *stock, const struct sp_leaf *leaf, size_t k)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *index = sp_phrase_index(arena, k), *two = sp_phrase_number(arena, 2);
    const struct sp_phrase *length = sp_phrase_leaf(arena, SP_PHRASE_LENGTH, leaf);
    const struct sp_phrase *outer = sp_phrase_of(arena, SP_PHRASE_DIVIDE, index, length, NULL);
    const struct sp_phrase *next = sp_phrase_of(arena, SP_PHRASE_ADD, outer, sp_phrase_number(arena, 1), NULL);
    sp_stock_term(stock, outer);
    sp_stock_operation(stock, SP_PHRASE_POWER, two, next);
    stock_item(stock, leaf, sp_phrase_of(arena, SP_PHRASE_REST, index, length, NULL));
}

static void stock_all_nested_iterations(struct sp_stock *stock, size_t k)
{
    for (size_t i = 0; i < stock->evidence->leaves.count; i++) {
        const struct sp_leaf *leaf = stock->evidence->leaves.items[i];
        size_t longest;
        if (is_list_somewhere(stock, leaf, &longest) && longest > 1 && !leaf->list)
            stock_nested_iterations(stock, leaf, k);
        else if (!longest && is_repetition(leaf)) stock_items_of_stages(stock, leaf, k);
    }
}

static void stock_indices(struct sp_stock *stock)
{
    struct sp_arena *arena = arena_of(stock);
    for (size_t k = 0; k < SP_MAX_INDICES; k++) {
        if (!(stock->shelf->domain->indices >> k & 1)) continue;
        const struct sp_phrase *index = sp_phrase_index(arena, k);
        sp_stock_term(stock, index);
        sp_stock_operation(stock, SP_PHRASE_POWER, sp_phrase_number(arena, 2), index);
        sp_stock_operation(stock, SP_PHRASE_POWER, sp_phrase_number(arena, 2),
                           sp_phrase_of(arena, SP_PHRASE_ADD, index, sp_phrase_number(arena, 1), NULL));
        sp_stock_operation(stock, SP_PHRASE_POWER, sp_phrase_number(arena, 2),
                           sp_phrase_of(arena, SP_PHRASE_SUBTRACT, index, sp_phrase_number(arena, 1), NULL));
        stock_all_nested_iterations(stock, k);
    }
}

/* ---- what is composed ---- */

/* What is 0 or 1 wherever it is asked changes nothing, or everything. */
static bool is_idle(const struct sp_stock *stock, size_t item)
{
    const double *values = sp_shelf_values(stock->shelf, item);
    for (size_t i = 0; i < stock->shelf->domain->count; i++)
        if (values[i] > 1) return false;
    return true;
}

/* Sines and cosines beside what they are of, distances to both sides: 2*x + 1, 2*x - 1. */
static void stock_both_sides(struct sp_stock *stock, const struct sp_phrase *term)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *one = sp_phrase_number(arena, 1);
    const struct sp_phrase *twice = sp_phrase_of(arena, SP_PHRASE_MULTIPLY, sp_phrase_number(arena, 2), term, NULL);
    sp_stock_operation(stock, SP_PHRASE_ADD, twice, one);
    sp_stock_operation(stock, SP_PHRASE_SUBTRACT, twice, one);
}

static struct sp_phrase_side number_side(const struct sp_stock *stock, double number)
{
    return (struct sp_phrase_side){.term = sp_phrase_number(arena_of(stock), number)};
}

/* What is added may move the values on the shelf: the item is looked up each time. The term stays what it was. */
static void stock_with_number(struct sp_stock *stock, enum sp_phrase_op op, const struct sp_phrase *term, size_t item,
                              double number)
{
    const struct sp_phrase_side side = {term, sp_shelf_values(stock->shelf, item)}, other = number_side(stock, number);
    if (op == SP_PHRASE_MULTIPLY) shelf_combine(stock->shelf, op, other, side);
    else shelf_combine(stock->shelf, op, side, other);
}

static void stock_with_numbers(struct sp_stock *stock, size_t item)
{
    const struct sp_phrase *term = stock->shelf->items[item].term;
    for (size_t i = 0; i < COUNT_OF(factors); i++) stock_with_number(stock, SP_PHRASE_MULTIPLY, term, item, factors[i]);
    for (size_t i = 0; i < COUNT_OF(divisors); i++) stock_with_number(stock, SP_PHRASE_DIVIDE, term, item, divisors[i]);
    for (size_t i = 0; i < COUNT_OF(addends); i++) stock_with_number(stock, SP_PHRASE_ADD, term, item, addends[i]);
    stock_with_number(stock, SP_PHRASE_SUBTRACT, term, item, 1);
    if (term->op == SP_PHRASE_KEY) stock_both_sides(stock, term);
    stock_with_number(stock, SP_PHRASE_CEIL_DIV, term, item, 16);
    stock_with_number(stock, SP_PHRASE_POWER, term, item, 2);
}

/* A size, no small count, and odd somewhere: what is left of a half is not the half. */
static bool has_unequal_halves(const struct sp_stock *stock, size_t item)
{
    const double *values = sp_shelf_values(stock->shelf, item);
    bool odd = false, differ = false;
    for (size_t i = 0; i < stock->shelf->domain->count; i++) {
        if (values[i] < smallest_size) return false;
        odd = odd || fmod(values[i], 2) == 1;
        differ = differ || values[i] != values[0];
    }
    return odd && differ;
}

/* How many pairs there are of so many things, each with itself or not. */
static void stock_pairs_of(struct sp_stock *stock, const struct sp_phrase *count)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *one = sp_phrase_number(arena, 1);
    static const enum sp_phrase_op ways[] = {SP_PHRASE_ADD, SP_PHRASE_SUBTRACT};
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        const struct sp_phrase *other = sp_phrase_of(arena, ways[i], count, one, NULL);
        sp_stock_operation(stock, SP_PHRASE_DIVIDE, sp_phrase_of(arena, SP_PHRASE_MULTIPLY, count, other, NULL),
                           sp_phrase_number(arena, 2));
    }
}

static bool is_whole_everywhere(const struct sp_stock *stock, size_t item)
{
    const double *values = sp_shelf_values(stock->shelf, item);
    for (size_t i = 0; i < stock->shelf->domain->count; i++)
        if (values[i] != floor(values[i])) return false;
    return true;
}

bool sp_is_unit(const struct sp_phrase *term)
{
    if (!term->leaf) return false;
    return strstr(term->leaf->path, "multiple") || strstr(term->leaf->path, "pad") || strstr(term->leaf->path, "divis");
}

/* An operator on two that are on the shelf, which still have the terms a and b there, or by now cheaper ones. */
static void stock_of_two(struct sp_stock *stock, enum sp_phrase_op op, const struct sp_phrase *a, size_t left,
                         const struct sp_phrase *b, size_t right)
{
    shelf_combine(stock->shelf, op, (struct sp_phrase_side){a, sp_shelf_values(stock->shelf, left)},
                  (struct sp_phrase_side){b, sp_shelf_values(stock->shelf, right)});
}

/* A key that is no noise and no rate: it may be what a width is multiplied by. */
static bool may_be_ratio(const struct sp_phrase *term) { return term->leaf && term->leaf->cost < UNLIKELY; }

/* What a program makes of a width of 12.5: cut, rounded, rounded up, or taken to a multiple of 8 or of a unit. */
static void stock_roundings(struct sp_stock *stock, const struct sp_phrase *real)
{
    struct sp_arena *arena = arena_of(stock);
    static const double multiples[] = {8, 16, 32, 64};
    const struct sp_phrase *cut = sp_phrase_of(arena, SP_PHRASE_INT, real, NULL, NULL);
    sp_stock_term(stock, cut);
    sp_stock_operation(stock, SP_PHRASE_ROUND, real, NULL);
    if (!may_be_ratio(real->a) || !may_be_ratio(real->b)) return;
    sp_stock_operation(stock, SP_PHRASE_CEIL, real, sp_phrase_number(arena, 1));
    for (size_t i = 0; i < COUNT_OF(multiples); i++) {
        const struct sp_phrase *by = sp_phrase_number(arena, multiples[i]);
        sp_stock_operation(stock, SP_PHRASE_NEAR, real, by);
        sp_stock_operation(stock, SP_PHRASE_ROUND_UP, cut, by);
        sp_stock_operation(stock, SP_PHRASE_MULTIPLY, by, sp_phrase_of(arena, SP_PHRASE_DIVIDE, cut, by, NULL));
    }
    for (size_t i = 0; i < stock->evidence->leaves.count; i++) {
        const struct sp_phrase *unit = sp_phrase_leaf(arena, SP_PHRASE_KEY, stock->evidence->leaves.items[i]);
        if (!sp_is_unit(unit)) continue;
        sp_stock_operation(stock, SP_PHRASE_NEAR, real, unit);
        sp_stock_operation(stock, SP_PHRASE_ROUND_UP, cut, unit);
    }
}

/* a // b, where one of them is no whole number; the same rounded, and rounded up. */
static void stock_rounded_quotients(struct sp_stock *stock, const struct sp_phrase *a, const struct sp_phrase *b)
{
    if (!may_be_ratio(a) || !may_be_ratio(b)) return;
    sp_stock_operation(stock, SP_PHRASE_DIVIDE, a, b);
    sp_stock_operation(stock, SP_PHRASE_CEIL, a, b);
    sp_stock_operation(stock, SP_PHRASE_ROUND, sp_phrase_of(arena_of(stock), SP_PHRASE_QUOTIENT, a, b, NULL), NULL);
}

static void stock_pair(struct sp_stock *stock, size_t left, size_t right)
{
    if (is_idle(stock, left) || is_idle(stock, right)) return;

    const struct sp_phrase *a = stock->shelf->items[left].term, *b = stock->shelf->items[right].term;
    const bool whole = is_whole_everywhere(stock, left) && is_whole_everywhere(stock, right);
    if (left <= right) stock_of_two(stock, SP_PHRASE_MULTIPLY, a, left, b, right);
    if (!whole) {
        if (left <= right) stock_roundings(stock, sp_phrase_of(arena_of(stock), SP_PHRASE_MULTIPLY, a, b, NULL));
        if (left != right) stock_rounded_quotients(stock, a, b);
        return;
    }
    if (left < right) stock_of_two(stock, SP_PHRASE_ADD, a, left, b, right);
    if (left == right) return;
    stock_of_two(stock, SP_PHRASE_SUBTRACT, a, left, b, right);
    stock_of_two(stock, SP_PHRASE_DIVIDE, a, left, b, right);
    if (sp_is_unit(b)) stock_of_two(stock, SP_PHRASE_ROUND_UP, a, left, b, right);
}

/* Of points in one and the same example everything is known when the index is; else what does not depend on the
 * indices need not be combined with itself. */
static bool varies_with_index(const struct sp_stock *stock, size_t item)
{
    const struct sp_domain *domain = stock->shelf->domain;
    const double *values = sp_shelf_values(stock->shelf, item);
    if (!domain->indices) return true;
    for (size_t i = 1; i < domain->count; i++)
        if (domain->points[i].example == domain->points[i - 1].example && values[i] != values[i - 1]) return true;
    return false;
}

static void stock_pairs(struct sp_stock *stock)
{
    size_t work = MOST_WORK / (stock->shelf->domain->count + 1);
    for (size_t i = 0; i < stock->simple && work; i++)
        for (size_t k = 0; k < stock->simple && work; k++) {
            if (!varies_with_index(stock, i) && !varies_with_index(stock, k) && stock->shelf->domain->indices) continue;
            stock_pair(stock, i, k);
            work--;
        }
}

/* ---- what a flag adds ---- */

/* "conditional" and "n_conditions": a word of one begins as a word of the other. */
static bool share_a_word(const char *a, const char *b)
{
    enum { ALIKE = 4 };
    for (const char *at = a; strlen(at) >= ALIKE; at++) {
        if ((at != a && at[-1] != '_') || strcspn(at, "_.") < ALIKE) continue;
        for (const char *in = b; *in; in++)
            if ((in == b || in[-1] == '_') && strncmp(at, in, ALIKE) == 0) return true;
    }
    return false;
}

/* A size that is called as the flag stands beside another one, or not: conditional ? inputs + conditions : inputs. */
static void stock_flagged_sums(struct sp_stock *stock, const struct sp_leaf *leaf)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_leaves *leaves = &stock->evidence->leaves;
    const struct sp_phrase *flag =
        sp_phrase_about(arena, (struct sp_phrase){.op = SP_PHRASE_TRUTH, .leaf = leaf, .number = NAN});
    for (size_t i = 0; i < leaves->count; i++) {
        if (leaves->items[i] == leaf || !share_a_word(leaves->items[i]->path, leaf->path)) continue;
        const struct sp_phrase *more = sp_phrase_leaf(arena, SP_PHRASE_KEY, leaves->items[i]);
        for (size_t k = 0; k < leaves->count; k++) {
            const struct sp_phrase *size = sp_phrase_leaf(arena, SP_PHRASE_KEY, leaves->items[k]);
            const struct sp_phrase *both = sp_phrase_of(arena, SP_PHRASE_ADD, size, more, NULL);
            if (k != i) sp_stock_term(stock, sp_phrase_of(arena, SP_PHRASE_IF, flag, both, size));
        }
    }
}

void sp_stock_numbers(struct sp_stock *stock)
{
    for (size_t i = 0; i < stock->evidence->leaves.count; i++) stock_leaf(stock, stock->evidence->leaves.items[i]);
    stock_indices(stock);
    sp_stock_doublings(stock);
    stock->simple = stock->shelf->count;
    for (size_t i = 0; i < stock->simple; i++)
        if (!is_idle(stock, i)) stock_with_numbers(stock, i);
    for (size_t i = 0; i < stock->simple; i++)
        if (has_unequal_halves(stock, i))
            sp_stock_operation(stock, SP_PHRASE_CEIL_DIV, stock->shelf->items[i].term,
                               sp_phrase_number(arena_of(stock), 2));
    for (size_t i = 0; i < stock->simple; i++)
        if (stock->shelf->items[i].term->op == SP_PHRASE_LENGTH) stock_pairs_of(stock, stock->shelf->items[i].term);
    stock_pairs(stock);
    sp_stock_areas(stock);
    for (size_t i = 0; i < stock->evidence->leaves.count; i++)
        if (is_flag_that_varies(stock, stock->evidence->leaves.items[i]))
            stock_flagged_sums(stock, stock->evidence->leaves.items[i]);
    stock->composed = stock->shelf->count;
}

void sp_stock_deeper(struct sp_stock *stock)
{
    size_t work = MOST_WORK / (stock->shelf->domain->count + 1);
    if (stock->deep) return;
    stock->deep = true;
    for (size_t i = stock->simple; i < stock->composed; i++)
        for (size_t k = 0; k < stock->simple && work; k++) {
            if (is_idle(stock, k)) continue;
            const struct sp_phrase *a = stock->shelf->items[i].term, *b = stock->shelf->items[k].term;
            if (a->cost + b->cost > DEAREST_DEEP + 6) continue;
            stock_of_two(stock, SP_PHRASE_MULTIPLY, a, i, b, k);
            stock_of_two(stock, SP_PHRASE_DIVIDE, a, i, b, k);
            work -= work > 1 ? 2 : 1;
        }
}

/* ---- conditions ---- */

static void stock_condition(struct sp_stock *stock, struct sp_phrase term)
{
    const struct sp_phrase *made = sp_phrase_about(arena_of(stock), term);
    shelf_add(stock->shelf, made, NULL);
    shelf_add(stock->shelf, sp_phrase_of(arena_of(stock), SP_PHRASE_NOT, made, NULL, NULL), NULL);
}

/* As it is; or with what it stands for where it is absent. */
static void stock_truth(struct sp_stock *stock, const struct sp_leaf *leaf, const struct sp_phrase *place)
{
    const double otherwise[] = {NAN, 0, 1};
    bool absent = false;
    for (size_t i = 0; i < stock->evidence->count; i++) absent = absent || !sp_value_is_set(leaf->values[i]);
    for (size_t i = 0; i < (absent ? COUNT_OF(otherwise) : 1); i++)
        stock_condition(stock,
                        (struct sp_phrase){.op = SP_PHRASE_TRUTH, .leaf = leaf, .a = place, .number = otherwise[i]});
}

static void stock_text(struct sp_stock *stock, const struct sp_leaf *leaf, const struct sp_phrase *place,
                       struct shapeproof_value value)
{
    if (value.type == SHAPEPROOF_VALUE_STRING)
        stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_IS, .leaf = leaf, .a = place, .text = value.string});
}

/* The value, or the item that stands there, as a condition. */
static void stock_kinds(struct sp_stock *stock, const struct sp_leaf *leaf, const struct sp_phrase *place)
{
    for (size_t i = 0; i < stock->evidence->count; i++) {
        const struct shapeproof_value value = leaf->values[i];
        if (!place) stock_text(stock, leaf, NULL, value);
        if (place && value.type == SHAPEPROOF_VALUE_STRING)
            stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_IS,
                                                      .leaf = leaf,
                                                      .a = place,
                                                      .text = value.string,
                                                      .number = SP_PHRASE_STANDS_FOR_ALL});
        for (size_t k = 0; place && value.type == SHAPEPROOF_VALUE_LIST && k < value.count; k++)
            stock_text(stock, leaf, place, value.items[k]);
    }
    stock_truth(stock, leaf, place);
}

static void stock_comparisons(struct sp_stock *stock, const struct sp_phrase *term)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *zero = sp_phrase_number(arena, 0), *one = sp_phrase_number(arena, 1);
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_EQUAL, .a = term, .b = zero});
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_EQUAL, .a = term, .b = one});
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_LESS, .a = zero, .b = term});
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_LESS, .a = one, .b = term});
}

static void stock_rests(struct sp_stock *stock, const struct sp_phrase *index, const struct sp_phrase *step,
                        const struct sp_phrase *offset)
{
    struct sp_arena *arena = arena_of(stock);
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_EQUAL,
                                              .a = sp_phrase_of(arena, SP_PHRASE_REST, index, step, NULL),
                                              .b = offset});
}

/* One layer of so many. */
static bool is_period(const struct sp_leaf *leaf)
{
    static const char *const periods[] = {"period", "freq", "interval", "every", "step", "pattern", "per_"};
    return SP_HAS_ANY(leaf->path, periods);
}

/* i % period == offset, of keys that are called so. */
static void stock_periods(struct sp_stock *stock, const struct sp_phrase *index)
{
    static const char *const offsets[] = {"offset", "start", "first", "shift"};
    const struct sp_leaves *leaves = &stock->evidence->leaves;
    struct sp_arena *arena = arena_of(stock);
    for (size_t i = 0; i < leaves->count; i++)
        for (size_t k = 0; k < leaves->count && is_period(leaves->items[i]); k++)
            if (SP_HAS_ANY(leaves->items[k]->path, offsets))
                stock_rests(stock, index, sp_phrase_leaf(arena, SP_PHRASE_KEY, leaves->items[i]),
                            sp_phrase_leaf(arena, SP_PHRASE_KEY, leaves->items[k]));
}

/* i < key, i == key - 1, (i + 1) % key == 0, i % key == 1 */
static void stock_index_against(struct sp_stock *stock, const struct sp_phrase *index, const struct sp_phrase *key)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *zero = sp_phrase_number(arena, 0), *one = sp_phrase_number(arena, 1);
    const struct sp_phrase *next = sp_phrase_of(arena, SP_PHRASE_ADD, index, one, NULL);
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_AT_LEAST, .a = index, .b = key});
    if (key->leaf && is_period(key->leaf)) {
        stock_rests(stock, index, key, zero);
        stock_rests(stock, next, key, zero);
        stock_rests(stock, index, key, one);
        return; /* the third of three layers is every third */
    }
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_EQUAL, .a = index, .b = key});
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_EQUAL, .a = next, .b = key});
}

static void stock_index_conditions(struct sp_stock *stock, size_t k)
{
    struct sp_arena *arena = arena_of(stock);
    const struct sp_phrase *index = sp_phrase_index(arena, k), *one = sp_phrase_number(arena, 1);
    const struct sp_phrase *next = sp_phrase_of(arena, SP_PHRASE_ADD, index, one, NULL);
    const struct sp_phrase *before = sp_phrase_of(arena, SP_PHRASE_SUBTRACT, index, one, NULL);
    stock_comparisons(stock, index);
    stock_periods(stock, index);
    for (size_t outer = 0; outer < k; outer++) /* each with each other one, or with those in front of it */
        if (stock->shelf->domain->indices >> outer & 1) {
            const struct sp_phrase *other = sp_phrase_index(arena, outer);
            stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_EQUAL, .a = index, .b = other});
            stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_AT_LEAST, .a = index, .b = other});
            stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_AT_LEAST, .a = other, .b = index});
        }
    for (double n = 2; n < 5; n++) {
        stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_EQUAL, .a = index, .b = sp_phrase_number(arena, n)});
        for (double r = 0; r < n; r++)
            stock_rests(stock, index, sp_phrase_number(arena, n), sp_phrase_number(arena, r));
    }
    for (size_t i = 0; i < stock->evidence->leaves.count; i++) {
        const struct sp_leaf *leaf = stock->evidence->leaves.items[i];
        size_t longest;
        if (!is_list_somewhere(stock, leaf, &longest)) {
            const enum shapeproof_value_type type = leaf->meaning ? SHAPEPROOF_VALUE_INT : leaf->values[0].type;
            if (type == SHAPEPROOF_VALUE_INT)
                stock_index_against(stock, index, sp_phrase_leaf(arena, SP_PHRASE_KEY, leaf));
            continue;
        }
        if (strcmp(leaf->path, "architectures") == 0) continue;
        stock_index_against(stock, index, sp_phrase_leaf(arena, SP_PHRASE_LENGTH, leaf));
        stock_kinds(stock, leaf, index);
        stock_comparisons(stock,
                          sp_phrase_about(arena, (struct sp_phrase){.op = SP_PHRASE_ITEM, .leaf = leaf, .a = index}));
        stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_CONTAINED, .leaf = leaf, .a = index});
        stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_CONTAINED, .leaf = leaf, .a = next});
        stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_CONTAINED, .leaf = leaf, .a = before});
    }
}

/* "sound" in inputs, of a list that differs between the examples. */
static void stock_texts_in_list(struct sp_stock *stock, const struct sp_leaf *leaf)
{
    if (strcmp(leaf->path, "architectures") == 0 || sp_leaf_is_constant(leaf, stock->evidence->count)) return;
    for (size_t e = 0; e < stock->evidence->count; e++) {
        const struct shapeproof_value list = leaf->values[e];
        for (size_t i = 0; list.type == SHAPEPROOF_VALUE_LIST && i < list.count && i < MOST_FIXED_ITEMS; i++)
            if (list.items[i].type == SHAPEPROOF_VALUE_STRING && !strpbrk(list.items[i].string, "\"\\\n"))
                stock_condition(
                    stock, (struct sp_phrase){.op = SP_PHRASE_CONTAINED, .leaf = leaf, .text = list.items[i].string});
    }
}

static void stock_leaf_conditions(struct sp_stock *stock, const struct sp_leaf *leaf)
{
    struct sp_arena *arena = arena_of(stock);
    size_t longest;
    if (leaf->meaning) return;
    if (is_list_somewhere(stock, leaf, &longest)) {
        stock_kinds(stock, leaf, sp_phrase_number(arena, 0));
        stock_texts_in_list(stock, leaf);
        stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_IS_LIST, .leaf = leaf});
        return;
    }
    stock_kinds(stock, leaf, NULL);
    stock_comparisons(stock, sp_phrase_leaf(arena, SP_PHRASE_KEY, leaf));
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_ABSENT, .leaf = leaf});
    stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_NULL, .leaf = leaf});
}

static bool is_number_everywhere(const struct sp_stock *stock, const struct sp_leaf *leaf)
{
    for (size_t i = 0; i < stock->evidence->count; i++)
        if (leaf->values[i].type != SHAPEPROOF_VALUE_INT) return false;
    return !leaf->meaning && leaf->cost < UNLIKELY;
}

/* A matrix between two widths is there where they differ. */
static void stock_equalities(struct sp_stock *stock)
{
    const struct sp_leaves *leaves = &stock->evidence->leaves;
    struct sp_arena *arena = arena_of(stock);
    for (size_t i = 0; i < leaves->count; i++)
        for (size_t k = i + 1; k < leaves->count && is_number_everywhere(stock, leaves->items[i]); k++)
            if (is_number_everywhere(stock, leaves->items[k]))
                stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_EQUAL,
                                                          .a = sp_phrase_leaf(arena, SP_PHRASE_KEY, leaves->items[i]),
                                                          .b = sp_phrase_leaf(arena, SP_PHRASE_KEY, leaves->items[k])});
}

/* What counts in an example: a small number, the length of a list; -1 for anything else. */
static int64_t count_in_example(const struct sp_leaf *leaf, size_t example)
{
    enum { LARGEST = 64 };
    const struct shapeproof_value value = leaf->values[example];
    if (value.type == SHAPEPROOF_VALUE_INT && value.integer >= 0 && value.integer <= LARGEST) return value.integer;
    return value.type == SHAPEPROOF_VALUE_LIST && value.count <= LARGEST ? (int64_t)value.count : -1;
}

/* spatial_dims == 3, len(channels) > 2: what a key, or a list, counts in some example, and how it differs from there.
 */
static void stock_counts(struct sp_stock *stock, const struct sp_leaf *leaf)
{
    struct sp_arena *arena = arena_of(stock);
    const bool is_list = leaf->values[0].type == SHAPEPROOF_VALUE_LIST;
    const struct sp_phrase *term = sp_phrase_leaf(arena, is_list ? SP_PHRASE_LENGTH : SP_PHRASE_KEY, leaf);
    if (leaf->meaning || leaf->list || leaf->cost >= UNLIKELY || strcmp(leaf->path, "architectures") == 0) return;
    for (size_t e = 0; e < stock->evidence->count; e++)
        if (count_in_example(leaf, e) < 0 || leaf->values[e].type != leaf->values[0].type) return;
    for (size_t e = 0; e < stock->evidence->count; e++) {
        const int64_t count = count_in_example(leaf, e);
        if (count < 2) continue; /* 0 and 1 are asked of every key */
        const struct sp_phrase *number = sp_phrase_number(arena, (double)count);
        stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_EQUAL, .a = term, .b = number});
        stock_condition(stock, (struct sp_phrase){.op = SP_PHRASE_LESS, .a = number, .b = term});
    }
}

void sp_stock_conditions(struct sp_stock *stock)
{
    for (size_t i = 0; i < stock->evidence->leaves.count; i++)
        stock_leaf_conditions(stock, stock->evidence->leaves.items[i]);
    for (size_t k = 0; k < SP_MAX_INDICES; k++)
        if (stock->shelf->domain->indices >> k & 1) stock_index_conditions(stock, k);
    stock_equalities(stock);
    for (size_t i = 0; i < stock->evidence->leaves.count && !stock->shelf->domain->indices; i++)
        stock_counts(stock, stock->evidence->leaves.items[i]);
    stock->simple = stock->shelf->count;
}
