/* SPDX-License-Identifier: MIT */
#include "learn/terms/enumerator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "learn/terms/term_bank.h"

/* ---- signature tables ---- */

/* Terms by the vectors of their values: the hash table below a bank. */

enum { FIRST_SLOTS = 1024, MOST_EQUALS = 16 };

void sp_signatures_init(struct sp_signature_table *signatures, struct sp_arena *arena, const struct sp_domain *domain,
                        size_t most, uint64_t *spent)
{
    *signatures = (struct sp_signature_table){
        .arena = arena, .domain = domain, .slot_count = FIRST_SLOTS, .most = most, .spent = spent};
    signatures->slots = sp_realloc(NULL, FIRST_SLOTS, sizeof *signatures->slots);
    memset(signatures->slots, 0, FIRST_SLOTS * sizeof *signatures->slots);
    signatures->scratch = sp_realloc(NULL, domain->count + 1, sizeof *signatures->scratch);
}

void sp_signatures_free(struct sp_signature_table *signatures)
{
    sp_free(signatures->items);
    sp_free(signatures->values);
    sp_free(signatures->slots);
    sp_free(signatures->scratch);
}

const double *sp_signatures_values(const struct sp_signature_table *signatures, size_t item)
{
    return signatures->values + item * signatures->domain->count;
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

static size_t *slot_of_values(const struct sp_signature_table *signatures, const double *values)
{
    return &signatures->slots[hash_of_values(values, signatures->domain->count) & (signatures->slot_count - 1)];
}

size_t sp_signatures_look(const struct sp_signature_table *signatures, const double *values)
{
    const size_t size = signatures->domain->count * sizeof *values;
    for (size_t i = *slot_of_values(signatures, values); i; i = signatures->items[i - 1].next)
        if (memcmp(sp_signatures_values(signatures, i - 1), values, size) == 0) return i - 1;
    return SIZE_MAX;
}

static void enlarge_slots(struct sp_signature_table *signatures)
{
    signatures->slot_count *= 2;
    signatures->slots = sp_realloc(signatures->slots, signatures->slot_count, sizeof *signatures->slots);
    memset(signatures->slots, 0, signatures->slot_count * sizeof *signatures->slots);
    for (size_t i = 0; i < signatures->count; i++) {
        size_t *slot = slot_of_values(signatures, sp_signatures_values(signatures, i));
        signatures->items[i].next = *slot;
        *slot = i + 1;
    }
}

static void append_values(struct sp_signature_table *signatures)
{
    const size_t needed = (signatures->count + 1) * signatures->domain->count;
    if (needed > signatures->value_capacity) {
        signatures->value_capacity = needed * 2;
        signatures->values = sp_realloc(signatures->values, signatures->value_capacity, sizeof *signatures->values);
    }
    memcpy(signatures->values + signatures->count * signatures->domain->count, signatures->scratch,
           signatures->domain->count * sizeof *signatures->values);
}

static void add_item(struct sp_signature_table *signatures, const struct sp_search_term *term)
{
    append_values(signatures);
    size_t *slot = slot_of_values(signatures, signatures->scratch);
    const struct sp_signature_item item = {.term = term, .next = *slot};
    *SP_PUSH(signatures) = item;
    *slot = signatures->count;
    if (signatures->count > signatures->slot_count) enlarge_slots(signatures);
}

static void add_equal(struct sp_signature_table *signatures, struct sp_signature_item *item,
                      const struct sp_search_term *term)
{
    if (sp_search_terms_equal(item->term, term)) return;
    if (!item->equals) item->equals = sp_arena_array(signatures->arena, MOST_EQUALS, sizeof *item->equals);
    if (term->cost < item->term->cost) {
        const struct sp_search_term *dearer = item->term;
        item->term = term;
        term = dearer;
    }
    if (item->equal_count < MOST_EQUALS) item->equals[item->equal_count++] = term;
}

/* Fills the scratch with the values of a term. False when it has none at some point; *partial, unless NULL, then says
 * whether it has one at another point. */
static bool evaluate_into_scratch(struct sp_signature_table *signatures, const struct sp_search_term *term,
                                  bool *partial)
{
    size_t without = 0;
    *signatures->spent += signatures->domain->count;
    for (size_t i = 0; i < signatures->domain->count; i++) {
        signatures->scratch[i] =
            sp_search_term_value(term, &signatures->domain->points[i]) + 0.0; /* no negative zero */
        without += isnan(signatures->scratch[i]) || isinf(signatures->scratch[i]);
    }
    if (partial) *partial = without > 0 && without < signatures->domain->count;
    return without == 0;
}

/* Adds a term whose values are in the scratch. False when another term has the same values; then it is one of the
 * equals of that. */
static bool add_valued(struct sp_signature_table *signatures, const struct sp_search_term *term)
{
    const size_t known = sp_signatures_look(signatures, signatures->scratch);
    if (known != SIZE_MAX) add_equal(signatures, &signatures->items[known], term);
    else if (signatures->count < signatures->most) add_item(signatures, term);
    return known == SIZE_MAX;
}

/* Evaluates a term and adds it. False when it has no value somewhere (see evaluate_into_scratch for `partial`), or when
 * another term has the same values. */
static bool signatures_add(struct sp_signature_table *signatures, const struct sp_search_term *term, bool *partial)
{
    return evaluate_into_scratch(signatures, term, partial) && add_valued(signatures, term);
}

/* The same for an operator on two operands whose values are known, so that they are not computed once more. */
static void signatures_combine(struct sp_signature_table *signatures, enum sp_term_op op, struct sp_search_term_side a,
                               struct sp_search_term_side b)
{
    *signatures->spent += signatures->domain->count;
    if (sp_search_term_values(op, a, b, signatures->domain->count, signatures->scratch))
        add_valued(signatures, sp_search_term_binary(signatures->arena, op, a.term, b.term));
}

/* ---- enumerator ---- */

enum {
    MOST_FIXED_ITEMS = 8, /* of a list: list[0] to list[7] */
    MOST_WORK = 4000000,  /* values that are computed for pairs of terms */
    DEAREST_DEEP = 36,    /* the cost of two terms that are combined by a second operator */
    UNLIKELY = 20         /* from this cost on a key, such as a rate of dropout, hardly has to do with a size */
};

static const double smallest_size = 4;
static const double factors[] = {2, 3, 4, 5, 6, 8, 16};
static const double addends[] = {1, 2, 3};
static const double divisors[] = {2, 3, 4, 8, 16};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static struct sp_arena *arena_of(const struct sp_enumerator *enumerator) { return enumerator->signatures->arena; }

/* Whether a term is a key or a length whose key is absent or null wherever it has no value: only there a default
 * applies. */
static bool may_have_default(const struct sp_enumerator *enumerator, const struct sp_search_term *term)
{
    if (term->op != SP_TERM_KEY && term->op != SP_TERM_LENGTH) return false;
    for (size_t i = 0; i < enumerator->signatures->domain->count; i++) {
        const struct sp_point *point = &enumerator->signatures->domain->points[i];
        if (isnan(sp_search_term_value(term, point)) && sp_value_is_set(term->terminal->values[point->example]))
            return false;
    }
    return true;
}

void sp_enumerator_add_term(struct sp_enumerator *enumerator, const struct sp_search_term *term)
{
    bool partial = false;
    signatures_add(enumerator->signatures, term, &partial);
    if (partial && may_have_default(enumerator, term)) *SP_PUSH(&enumerator->partial) = term;
}

void sp_enumerator_add_operation(struct sp_enumerator *enumerator, enum sp_term_op op, const struct sp_search_term *a,
                                 const struct sp_search_term *b)
{
    sp_enumerator_add_term(enumerator, sp_search_term_binary(arena_of(enumerator), op, a, b));
}

/* ---- what is simple ---- */

static void enumerate_item(struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                           const struct sp_search_term *place)
{
    sp_enumerator_add_term(
        enumerator, sp_search_term_new(arena_of(enumerator),
                                       (struct sp_search_term){.op = SP_TERM_ITEM, .terminal = terminal, .a = place}));
}

/* Whether the terminal is a list with items in some example; *longest is how many it has at most, or 0. A symbol is
 * never a list: it stands for a number. */
static bool is_list_somewhere(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                              size_t *longest)
{
    *longest = 0;
    for (size_t i = 0; i < enumerator->evidence->count && !terminal->meaning; i++)
        if (terminal->values[i].type == SHAPEPROOF_VALUE_LIST && terminal->values[i].count > *longest)
            *longest = terminal->values[i].count;
    return *longest > 0;
}

/* list[i], list[i + 1], list[i - 1], the same from the end: list[len(list) - 1 - i] and those beside it; list[i // 2]
 */
static void enumerate_items_at_index(struct sp_enumerator *enumerator, const struct sp_terminal *terminal, size_t index)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *at = sp_search_term_index(arena, index), *one = sp_search_term_number(arena, 1);
    const struct sp_search_term *length = sp_search_term_terminal(arena, SP_TERM_LENGTH, terminal);
    const struct sp_search_term *last = sp_search_term_binary(arena, SP_TERM_SUBTRACT, length, one);
    enumerate_item(enumerator, terminal, at);
    enumerate_item(enumerator, terminal, sp_search_term_binary(arena, SP_TERM_ADD, at, one));
    enumerate_item(enumerator, terminal, sp_search_term_binary(arena, SP_TERM_SUBTRACT, at, one));
    enumerate_item(enumerator, terminal, sp_search_term_binary(arena, SP_TERM_SUBTRACT, last, at));
    enumerate_item(enumerator, terminal, sp_search_term_binary(arena, SP_TERM_SUBTRACT, length, at));
    const struct sp_search_term *two = sp_search_term_number(arena, 2);
    const struct sp_search_term *before = sp_search_term_binary(arena, SP_TERM_SUBTRACT, length, two);
    enumerate_item(enumerator, terminal, sp_search_term_binary(arena, SP_TERM_SUBTRACT, before, at));
    enumerate_item(enumerator, terminal,
                   sp_search_term_binary(arena, SP_TERM_SUBTRACT, at, two)); /* of a loop from 1 on */
    enumerate_item(enumerator, terminal,
                   sp_search_term_binary(arena, SP_TERM_DIVIDE, at, two)); /* of two layers for each item */
    enumerate_item(
        enumerator, terminal,
        sp_search_term_binary(arena, SP_TERM_DIVIDE, sp_search_term_binary(arena, SP_TERM_SUBTRACT, at, one), two));
}

/* Whole numbers, each larger than the one before, which are places in that list: from 0 on, or from 1 on. */
static bool is_list_of_places(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                              const struct sp_terminal *of)
{
    for (size_t e = 0; e < enumerator->evidence->count; e++) {
        const struct shapeproof_value list = terminal->values[e], target = of->values[e];
        if (list.type != SHAPEPROOF_VALUE_LIST || target.type != SHAPEPROOF_VALUE_LIST || !list.count) return false;
        for (size_t i = 0; i < list.count; i++) {
            const struct shapeproof_value item = list.items[i];
            if (item.type != SHAPEPROOF_VALUE_INT || item.integer < 0 || (uint64_t)item.integer > target.count)
                return false;
            if (i && item.integer <= list.items[i - 1].integer) return false;
        }
    }
    return terminal != of;
}

/* widths[taken[i]], widths[taken[i] - 1]: what a list says of the layers that another one names. */
static void enumerate_items_at_places(struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                                      size_t index)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *one = sp_search_term_number(arena, 1);
    for (size_t i = 0; i < enumerator->evidence->terminals.count; i++) {
        const struct sp_terminal *places = enumerator->evidence->terminals.items[i];
        if (!is_list_of_places(enumerator, places, terminal)) continue;
        const struct sp_search_term *place = sp_search_term_new(
            arena,
            (struct sp_search_term){.op = SP_TERM_ITEM, .terminal = places, .a = sp_search_term_index(arena, index)});
        enumerate_item(enumerator, terminal, place);
        enumerate_item(enumerator, terminal, sp_search_term_binary(arena, SP_TERM_SUBTRACT, place, one));
    }
}

/* Whether item `place` is the last of the list in every example that has the list. It is then added as
 * list[len(list) - 1] alone, unless it is the first or the second item. */
static bool is_last_of_three_or_more(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                                     size_t place)
{
    for (size_t i = 0; i < enumerator->evidence->count; i++)
        if (terminal->values[i].type == SHAPEPROOF_VALUE_LIST && terminal->values[i].count != place + 1) return false;
    return place > 1;
}

/* Adds terms about a list: its length, its sum, its first items, its last ones, and the items at and around each index.
 * The length of a column is that of its list, and that of `architectures`, which names the class, is no size. The sum
 * of a list whose items name members of an object would be a sum of names. */
static void enumerate_list(struct sp_enumerator *enumerator, const struct sp_terminal *terminal, size_t longest)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *length = sp_search_term_terminal(arena, SP_TERM_LENGTH, terminal);
    if (strcmp(terminal->path, "architectures") == 0) return;
    const bool is_column = terminal->list != NULL;
    if (!is_column) sp_enumerator_add_term(enumerator, length);
    if (!terminal->object) sp_enumerator_add_term(enumerator, sp_search_term_terminal(arena, SP_TERM_SUM, terminal));
    for (size_t i = 0; i < longest && i < MOST_FIXED_ITEMS; i++)
        if (!is_last_of_three_or_more(enumerator, terminal, i))
            enumerate_item(enumerator, terminal, sp_search_term_number(arena, (double)i));
    enumerate_item(enumerator, terminal,
                   sp_search_term_binary(arena, SP_TERM_SUBTRACT, length, sp_search_term_number(arena, 1)));
    if (longest > 2)
        enumerate_item(enumerator, terminal,
                       sp_search_term_binary(arena, SP_TERM_SUBTRACT, length, sp_search_term_number(arena, 2)));
    for (size_t k = 0; k < SP_MAX_INDICES; k++) {
        if (!(enumerator->signatures->domain->indices >> k & 1)) continue;
        enumerate_items_at_index(enumerator, terminal, k);
        enumerate_items_at_places(enumerator, terminal, k);
    }
}

static bool is_flag_that_varies(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    for (size_t i = 0; i < enumerator->evidence->count; i++)
        if (terminal->values[i].type != SHAPEPROOF_VALUE_BOOL) return false;
    return !terminal->meaning && !sp_terminal_is_constant(terminal, enumerator->evidence->count);
}

/* flag ? 2 : 1, for what is there twice if the flag is set, such as two directions. */
static void enumerate_twice(struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *flag =
        sp_search_term_new(arena, (struct sp_search_term){.op = SP_TERM_TRUTH, .terminal = terminal, .number = NAN});
    sp_enumerator_add_term(enumerator, sp_search_term_choice(arena, flag, sp_search_term_number(arena, 2),
                                                             sp_search_term_number(arena, 1)));
}

static bool is_number_somewhere(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    for (size_t i = 0; i < enumerator->evidence->count; i++)
        if (terminal->values[i].type == SHAPEPROOF_VALUE_INT || terminal->values[i].type == SHAPEPROOF_VALUE_REAL)
            return true;
    return false;
}

static void enumerate_at(struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                         const struct sp_search_term *place)
{
    sp_enumerator_add_term(
        enumerator, sp_search_term_new(arena_of(enumerator),
                                       (struct sp_search_term){.op = SP_TERM_AT, .terminal = terminal, .a = place}));
}

/* Adds terms about a key that is a list in one example and a number in another: the number, and at(key, i), for which
 * the number stands for every item. */
static void enumerate_list_or_number(struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                                     size_t longest)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *one = sp_search_term_number(arena, 1);
    sp_enumerator_add_term(enumerator, sp_search_term_terminal(arena, SP_TERM_KEY, terminal));
    for (size_t i = 0; i < longest && i < MOST_FIXED_ITEMS; i++)
        enumerate_at(enumerator, terminal, sp_search_term_number(arena, (double)i));
    for (size_t k = 0; k < SP_MAX_INDICES; k++) {
        if (!(enumerator->signatures->domain->indices >> k & 1)) continue;
        const struct sp_search_term *at = sp_search_term_index(arena, k);
        enumerate_at(enumerator, terminal, at);
        enumerate_at(enumerator, terminal, sp_search_term_binary(arena, SP_TERM_ADD, at, one));
        enumerate_at(enumerator, terminal, sp_search_term_binary(arena, SP_TERM_SUBTRACT, at, one));
    }
}

/* Adds the simple terms about one key. */
static void enumerate_terminal(struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    if (is_flag_that_varies(enumerator, terminal)) enumerate_twice(enumerator, terminal);
    size_t longest;
    const enum shapeproof_value_type type = terminal->meaning ? SHAPEPROOF_VALUE_INT : terminal->values[0].type;
    if (is_list_somewhere(enumerator, terminal, &longest)) {
        enumerate_list(enumerator, terminal, longest);
        if (is_number_somewhere(enumerator, terminal)) enumerate_list_or_number(enumerator, terminal, longest);
    } else if (type == SHAPEPROOF_VALUE_OBJECT || type <= SHAPEPROOF_VALUE_NULL)
        sp_enumerator_add_term(enumerator, sp_search_term_terminal(arena_of(enumerator), SP_TERM_LENGTH, terminal));
    if (!longest && type != SHAPEPROOF_VALUE_OBJECT)
        sp_enumerator_add_term(enumerator, sp_search_term_terminal(arena_of(enumerator), SP_TERM_KEY, terminal));
}

/* Whether a key says how often something is repeated, by its name. */
static bool is_repetition(const struct sp_terminal *terminal)
{
    static const char *const words[] = {"num", "n_", "per_", "layer", "block", "depth", "repeat", "times", "count"};
    return !terminal->meaning && SP_HAS_ANY(terminal->path, words);
}

/* For stages of `blocks` blocks each that are numbered in one sequence: 2^(i // blocks), widths[i // blocks], and the
 * same for the block before, i - 1. */
static void enumerate_items_of_stages(struct sp_enumerator *enumerator, const struct sp_terminal *blocks, size_t k)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *index = sp_search_term_index(arena, k),
                                *size = sp_search_term_terminal(arena, SP_TERM_KEY, blocks);
    const struct sp_search_term *before =
        sp_search_term_binary(arena, SP_TERM_SUBTRACT, index, sp_search_term_number(arena, 1));
    const struct sp_search_term *stage = sp_search_term_binary(arena, SP_TERM_DIVIDE, index, size);
    const struct sp_search_term *stage_before = sp_search_term_binary(arena, SP_TERM_DIVIDE, before, size);
    sp_enumerator_add_operation(enumerator, SP_TERM_POWER, sp_search_term_number(arena, 2), stage);
    sp_enumerator_add_operation(enumerator, SP_TERM_POWER, sp_search_term_number(arena, 2), stage_before);
    for (size_t i = 0; i < enumerator->evidence->terminals.count; i++) {
        const struct sp_terminal *terminal = enumerator->evidence->terminals.items[i];
        size_t longest;
        if (!is_list_somewhere(enumerator, terminal, &longest) || longest < 2) continue;
        enumerate_item(enumerator, terminal, stage);
        enumerate_item(enumerator, terminal, stage_before);
    }
}

/* For two nested loops that are numbered in one sequence: i // len(list) is the iteration of the outer one, i %
 * len(list) that of the inner one. */
static void enumerate_nested_iterations(struct sp_enumerator *enumerator, const struct sp_terminal *terminal, size_t k)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *index = sp_search_term_index(arena, k), *two = sp_search_term_number(arena, 2);
    const struct sp_search_term *length = sp_search_term_terminal(arena, SP_TERM_LENGTH, terminal);
    const struct sp_search_term *outer = sp_search_term_binary(arena, SP_TERM_DIVIDE, index, length);
    const struct sp_search_term *next =
        sp_search_term_binary(arena, SP_TERM_ADD, outer, sp_search_term_number(arena, 1));
    sp_enumerator_add_term(enumerator, outer);
    sp_enumerator_add_operation(enumerator, SP_TERM_POWER, two, next);
    enumerate_item(enumerator, terminal, sp_search_term_binary(arena, SP_TERM_REST, index, length));
}

static void enumerate_all_nested_iterations(struct sp_enumerator *enumerator, size_t k)
{
    for (size_t i = 0; i < enumerator->evidence->terminals.count; i++) {
        const struct sp_terminal *terminal = enumerator->evidence->terminals.items[i];
        size_t longest;
        if (is_list_somewhere(enumerator, terminal, &longest) && longest > 1 && !terminal->list)
            enumerate_nested_iterations(enumerator, terminal, k);
        else if (!longest && is_repetition(terminal)) enumerate_items_of_stages(enumerator, terminal, k);
    }
}

static void enumerate_indices(struct sp_enumerator *enumerator)
{
    struct sp_arena *arena = arena_of(enumerator);
    for (size_t k = 0; k < SP_MAX_INDICES; k++) {
        if (!(enumerator->signatures->domain->indices >> k & 1)) continue;
        const struct sp_search_term *index = sp_search_term_index(arena, k);
        sp_enumerator_add_term(enumerator, index);
        sp_enumerator_add_operation(enumerator, SP_TERM_POWER, sp_search_term_number(arena, 2), index);
        sp_enumerator_add_operation(enumerator, SP_TERM_POWER, sp_search_term_number(arena, 2),
                                    sp_search_term_binary(arena, SP_TERM_ADD, index, sp_search_term_number(arena, 1)));
        sp_enumerator_add_operation(
            enumerator, SP_TERM_POWER, sp_search_term_number(arena, 2),
            sp_search_term_binary(arena, SP_TERM_SUBTRACT, index, sp_search_term_number(arena, 1)));
        enumerate_all_nested_iterations(enumerator, k);
    }
}

/* ---- what is composed ---- */

/* Whether all values are 1 or less: as an operand they change nothing, or make all 0. */
static bool is_at_most_one(const struct sp_enumerator *enumerator, size_t item)
{
    const double *values = sp_signatures_values(enumerator->signatures, item);
    for (size_t i = 0; i < enumerator->signatures->domain->count; i++)
        if (values[i] > 1) return false;
    return true;
}

/* 2*x + 1 (sines and cosines, and the value itself), 2*x - 1 (distances to both sides). */
static void enumerate_both_sides(struct sp_enumerator *enumerator, const struct sp_search_term *term)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *one = sp_search_term_number(arena, 1);
    const struct sp_search_term *twice =
        sp_search_term_binary(arena, SP_TERM_MULTIPLY, sp_search_term_number(arena, 2), term);
    sp_enumerator_add_operation(enumerator, SP_TERM_ADD, twice, one);
    sp_enumerator_add_operation(enumerator, SP_TERM_SUBTRACT, twice, one);
}

static struct sp_search_term_side number_side(const struct sp_enumerator *enumerator, double number)
{
    return (struct sp_search_term_side){.term = sp_search_term_number(arena_of(enumerator), number)};
}

/* Adds term OP number (number OP term for products). `item` is that of the term. Its values are looked up each time,
 * because adding a term may move the array that holds them. */
static void enumerate_with_number(struct sp_enumerator *enumerator, enum sp_term_op op,
                                  const struct sp_search_term *term, size_t item, double number)
{
    const struct sp_search_term_side side = {term, sp_signatures_values(enumerator->signatures, item)},
                                     other = number_side(enumerator, number);
    if (op == SP_TERM_MULTIPLY) signatures_combine(enumerator->signatures, op, other, side);
    else signatures_combine(enumerator->signatures, op, side, other);
}

/* Adds the operators of a term and a small number: 4*x, x // 2, x + 1, x - 1, ceil_div(x, 16), x^2 ... */
static void enumerate_with_numbers(struct sp_enumerator *enumerator, size_t item)
{
    const struct sp_search_term *term = enumerator->signatures->items[item].term;
    for (size_t i = 0; i < COUNT_OF(factors); i++)
        enumerate_with_number(enumerator, SP_TERM_MULTIPLY, term, item, factors[i]);
    for (size_t i = 0; i < COUNT_OF(divisors); i++)
        enumerate_with_number(enumerator, SP_TERM_DIVIDE, term, item, divisors[i]);
    for (size_t i = 0; i < COUNT_OF(addends); i++)
        enumerate_with_number(enumerator, SP_TERM_ADD, term, item, addends[i]);
    enumerate_with_number(enumerator, SP_TERM_SUBTRACT, term, item, 1);
    if (term->op == SP_TERM_KEY) enumerate_both_sides(enumerator, term);
    enumerate_with_number(enumerator, SP_TERM_CEIL_DIV, term, item, 16);
    enumerate_with_number(enumerator, SP_TERM_POWER, term, item, 2);
}

/* Whether the two halves of a size differ, ceil_div(x, 2) and x // 2: it is odd somewhere, not the same everywhere, and
 * nowhere a small count. */
static bool has_unequal_halves(const struct sp_enumerator *enumerator, size_t item)
{
    const double *values = sp_signatures_values(enumerator->signatures, item);
    bool odd = false, differ = false;
    for (size_t i = 0; i < enumerator->signatures->domain->count; i++) {
        if (values[i] < smallest_size) return false;
        odd = odd || fmod(values[i], 2) == 1;
        differ = differ || values[i] != values[0];
    }
    return odd && differ;
}

/* n*(n + 1) // 2 and n*(n - 1) // 2: how many pairs there are of n things, with pairs of one thing with itself or
 * without. */
static void enumerate_pairs_of(struct sp_enumerator *enumerator, const struct sp_search_term *count)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *one = sp_search_term_number(arena, 1);
    static const enum sp_term_op ways[] = {SP_TERM_ADD, SP_TERM_SUBTRACT};
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        const struct sp_search_term *other = sp_search_term_binary(arena, ways[i], count, one);
        sp_enumerator_add_operation(enumerator, SP_TERM_DIVIDE,
                                    sp_search_term_binary(arena, SP_TERM_MULTIPLY, count, other),
                                    sp_search_term_number(arena, 2));
    }
}

static bool is_whole_everywhere(const struct sp_enumerator *enumerator, size_t item)
{
    const double *values = sp_signatures_values(enumerator->signatures, item);
    for (size_t i = 0; i < enumerator->signatures->domain->count; i++)
        if (values[i] != floor(values[i])) return false;
    return true;
}

bool sp_is_unit(const struct sp_search_term *term)
{
    if (!term->terminal) return false;
    return strstr(term->terminal->path, "multiple") || strstr(term->terminal->path, "pad") ||
           strstr(term->terminal->path, "divis");
}

/* Adds `a OP b`. `left` and `right` are the items of a and b, which may have got cheaper terms since. */
static void enumerate_of_two(struct sp_enumerator *enumerator, enum sp_term_op op, const struct sp_search_term *a,
                             size_t left, const struct sp_search_term *b, size_t right)
{
    signatures_combine(enumerator->signatures, op,
                       (struct sp_search_term_side){a, sp_signatures_values(enumerator->signatures, left)},
                       (struct sp_search_term_side){b, sp_signatures_values(enumerator->signatures, right)});
}

/* A key that a program may multiply a width by: any but those that only training uses, such as a rate of dropout. */
static bool is_likely_factor(const struct sp_search_term *term)
{
    return term->terminal && term->terminal->cost < UNLIKELY;
}

/* Ways in which programs make an integer of a real product, such as 2.5*d: int() and round(); and, if both factors are
 * likely, ceil(), and a multiple of 8, 16, 32 or 64: the nearest one, the next one above, and the one below; and the
 * nearest multiple and the next one above of a key that is a unit (pad_vocab_to_multiple_of). */
static void enumerate_roundings(struct sp_enumerator *enumerator, const struct sp_search_term *real)
{
    struct sp_arena *arena = arena_of(enumerator);
    static const double multiples[] = {8, 16, 32, 64};
    const struct sp_search_term *truncated = sp_search_term_unary(arena, SP_TERM_INT, real);
    sp_enumerator_add_term(enumerator, truncated);
    sp_enumerator_add_operation(enumerator, SP_TERM_ROUND, real, NULL);
    if (!is_likely_factor(real->a) || !is_likely_factor(real->b)) return;
    sp_enumerator_add_operation(enumerator, SP_TERM_CEIL, real, sp_search_term_number(arena, 1));
    for (size_t i = 0; i < COUNT_OF(multiples); i++) {
        const struct sp_search_term *multiple = sp_search_term_number(arena, multiples[i]);
        sp_enumerator_add_operation(enumerator, SP_TERM_NEAR, real, multiple);
        sp_enumerator_add_operation(enumerator, SP_TERM_ROUND_UP, truncated, multiple);
        sp_enumerator_add_operation(enumerator, SP_TERM_MULTIPLY, multiple,
                                    sp_search_term_binary(arena, SP_TERM_DIVIDE, truncated, multiple));
    }
    for (size_t i = 0; i < enumerator->evidence->terminals.count; i++) {
        const struct sp_search_term *unit =
            sp_search_term_terminal(arena, SP_TERM_KEY, enumerator->evidence->terminals.items[i]);
        if (!sp_is_unit(unit)) continue;
        sp_enumerator_add_operation(enumerator, SP_TERM_NEAR, real, unit);
        sp_enumerator_add_operation(enumerator, SP_TERM_ROUND_UP, truncated, unit);
    }
}

/* a // b, round(a/b) and -(-a // b), where a or b has fractions, if both are likely. */
static void enumerate_rounded_quotients(struct sp_enumerator *enumerator, const struct sp_search_term *a,
                                        const struct sp_search_term *b)
{
    if (!is_likely_factor(a) || !is_likely_factor(b)) return;
    sp_enumerator_add_operation(enumerator, SP_TERM_DIVIDE, a, b);
    sp_enumerator_add_operation(enumerator, SP_TERM_CEIL, a, b);
    sp_enumerator_add_operation(enumerator, SP_TERM_ROUND,
                                sp_search_term_binary(arena_of(enumerator), SP_TERM_QUOTIENT, a, b), NULL);
}

/* Adds terms of two simple terms, which are called for in both orders: products and sums for one of them, differences
 * and quotients for both. Where one operand has fractions, products and quotients are rounded, and nothing else is
 * made. */
static void enumerate_pair(struct sp_enumerator *enumerator, size_t left, size_t right)
{
    if (is_at_most_one(enumerator, left) || is_at_most_one(enumerator, right)) return;

    const struct sp_search_term *a = enumerator->signatures->items[left].term,
                                *b = enumerator->signatures->items[right].term;
    const bool is_whole = is_whole_everywhere(enumerator, left) && is_whole_everywhere(enumerator, right);
    const bool is_first_order = left <= right, is_same = left == right;
    if (is_first_order) enumerate_of_two(enumerator, SP_TERM_MULTIPLY, a, left, b, right);
    if (!is_whole) {
        if (is_first_order)
            enumerate_roundings(enumerator, sp_search_term_binary(arena_of(enumerator), SP_TERM_MULTIPLY, a, b));
        if (!is_same) enumerate_rounded_quotients(enumerator, a, b);
        return;
    }
    if (is_same) return; /* x + x is 2*x, which is made already */
    if (is_first_order) enumerate_of_two(enumerator, SP_TERM_ADD, a, left, b, right);
    enumerate_of_two(enumerator, SP_TERM_SUBTRACT, a, left, b, right);
    enumerate_of_two(enumerator, SP_TERM_DIVIDE, a, left, b, right);
    if (sp_is_unit(b)) enumerate_of_two(enumerator, SP_TERM_ROUND_UP, a, left, b, right);
}

/* Whether the values differ between points of one example; true if the domain has no indices. */
static bool varies_with_index(const struct sp_enumerator *enumerator, size_t item)
{
    const struct sp_domain *domain = enumerator->signatures->domain;
    const double *values = sp_signatures_values(enumerator->signatures, item);
    if (!domain->indices) return true;
    for (size_t i = 1; i < domain->count; i++)
        if (domain->points[i].example == domain->points[i - 1].example && values[i] != values[i - 1]) return true;
    return false;
}

/* Combines each simple term with each other one, until the limit of work is reached. Where the domain has indices, one
 * of the two must depend on one: a size that depends on an index is no term of two that do not. */
static void enumerate_pairs(struct sp_enumerator *enumerator)
{
    size_t work = MOST_WORK / (enumerator->signatures->domain->count + 1);
    for (size_t i = 0; i < enumerator->simple && work; i++)
        for (size_t k = 0; k < enumerator->simple && work; k++) {
            if (!varies_with_index(enumerator, i) && !varies_with_index(enumerator, k) &&
                enumerator->signatures->domain->indices)
                continue;
            enumerate_pair(enumerator, i, k);
            work--;
        }
}

/* ---- what a flag adds ---- */

/* Whether a word of one name begins with the first four letters of a word of the other: "conditional", "n_conditions".
 */
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

/* conditional ? inputs + conditions : inputs, for each key that is called as the flag and each other key: the one is
 * concatenated to the other if the flag is set. */
static void enumerate_flagged_sums(struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_terminals *terminals = &enumerator->evidence->terminals;
    const struct sp_search_term *flag =
        sp_search_term_new(arena, (struct sp_search_term){.op = SP_TERM_TRUTH, .terminal = terminal, .number = NAN});
    for (size_t i = 0; i < terminals->count; i++) {
        if (terminals->items[i] == terminal || !share_a_word(terminals->items[i]->path, terminal->path)) continue;
        const struct sp_search_term *more = sp_search_term_terminal(arena, SP_TERM_KEY, terminals->items[i]);
        for (size_t k = 0; k < terminals->count; k++) {
            const struct sp_search_term *size = sp_search_term_terminal(arena, SP_TERM_KEY, terminals->items[k]);
            const struct sp_search_term *both = sp_search_term_binary(arena, SP_TERM_ADD, size, more);
            if (k != i) sp_enumerator_add_term(enumerator, sp_search_term_choice(arena, flag, both, size));
        }
    }
}

/* The order decides which terms are dropped when the table is full, and which of two equally dear ones comes first. */
void sp_enumerator_numbers(struct sp_enumerator *enumerator)
{
    const struct sp_terminals *terminals = &enumerator->evidence->terminals;
    const struct sp_signature_table *signatures = enumerator->signatures;

    for (size_t i = 0; i < terminals->count; i++) enumerate_terminal(enumerator, terminals->items[i]);
    enumerate_indices(enumerator);
    sp_enumerator_doublings(enumerator);
    enumerator->simple = signatures->count;

    for (size_t i = 0; i < enumerator->simple; i++)
        if (!is_at_most_one(enumerator, i)) enumerate_with_numbers(enumerator, i);
    for (size_t i = 0; i < enumerator->simple; i++)
        if (has_unequal_halves(enumerator, i))
            sp_enumerator_add_operation(enumerator, SP_TERM_CEIL_DIV, signatures->items[i].term,
                                        sp_search_term_number(arena_of(enumerator), 2));
    for (size_t i = 0; i < enumerator->simple; i++)
        if (signatures->items[i].term->op == SP_TERM_LENGTH) enumerate_pairs_of(enumerator, signatures->items[i].term);
    enumerate_pairs(enumerator);
    sp_enumerator_areas(enumerator);
    for (size_t i = 0; i < terminals->count; i++)
        if (is_flag_that_varies(enumerator, terminals->items[i]))
            enumerate_flagged_sums(enumerator, terminals->items[i]);
    enumerator->composed = signatures->count;
}

void sp_enumerator_deeper(struct sp_enumerator *enumerator)
{
    size_t work = MOST_WORK / (enumerator->signatures->domain->count + 1);
    if (enumerator->deep) return;
    enumerator->deep = true;
    for (size_t i = enumerator->simple; i < enumerator->composed; i++)
        for (size_t k = 0; k < enumerator->simple && work; k++) {
            if (is_at_most_one(enumerator, k)) continue;
            const struct sp_search_term *a = enumerator->signatures->items[i].term,
                                        *b = enumerator->signatures->items[k].term;
            if (a->cost + b->cost > DEAREST_DEEP) continue;
            enumerate_of_two(enumerator, SP_TERM_MULTIPLY, a, i, b, k);
            enumerate_of_two(enumerator, SP_TERM_DIVIDE, a, i, b, k);
            work -= work > 1 ? 2 : 1;
        }
}

/* ---- conditions ---- */

/* Adds a condition and its negation. */
static void enumerate_condition(struct sp_enumerator *enumerator, struct sp_search_term term)
{
    const struct sp_search_term *made = sp_search_term_new(arena_of(enumerator), term);
    signatures_add(enumerator->signatures, made, NULL);
    signatures_add(enumerator->signatures, sp_search_term_unary(arena_of(enumerator), SP_TERM_NOT, made), NULL);
}

/* A truth value; where an example has none, also with the defaults true and false. */
static void enumerate_truth(struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                            const struct sp_search_term *place)
{
    const double otherwise[] = {NAN, 0, 1}; /* no default, false, true */
    bool absent = false;
    for (size_t i = 0; i < enumerator->evidence->count; i++) absent = absent || !sp_value_is_set(terminal->values[i]);
    for (size_t i = 0; i < (absent ? COUNT_OF(otherwise) : 1); i++)
        enumerate_condition(
            enumerator,
            (struct sp_search_term){.op = SP_TERM_TRUTH, .terminal = terminal, .a = place, .number = otherwise[i]});
}

static void enumerate_text(struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                           const struct sp_search_term *place, struct shapeproof_value value)
{
    if (value.type == SHAPEPROOF_VALUE_STRING)
        enumerate_condition(enumerator, (struct sp_search_term){
                                            .op = SP_TERM_IS, .terminal = terminal, .a = place, .text = value.string});
}

/* Conditions on the value of a key, or on the item of its list at `place` if that is not NULL: that it is one of the
 * strings that the examples have, and that it is true. */
static void enumerate_kinds(struct sp_enumerator *enumerator, const struct sp_terminal *terminal,
                            const struct sp_search_term *place)
{
    for (size_t i = 0; i < enumerator->evidence->count; i++) {
        const struct shapeproof_value value = terminal->values[i];
        if (!place) enumerate_text(enumerator, terminal, NULL, value);
        if (place && value.type == SHAPEPROOF_VALUE_STRING)
            enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_IS,
                                                                    .terminal = terminal,
                                                                    .a = place,
                                                                    .text = value.string,
                                                                    .number = SP_TERM_STANDS_FOR_ALL});
        for (size_t k = 0; place && value.type == SHAPEPROOF_VALUE_LIST && k < value.count; k++)
            enumerate_text(enumerator, terminal, place, value.items[k]);
    }
    enumerate_truth(enumerator, terminal, place);
}

/* x == 0, x == 1, x > 0, x > 1, and their negations. */
static void enumerate_comparisons(struct sp_enumerator *enumerator, const struct sp_search_term *term)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *zero = sp_search_term_number(arena, 0), *one = sp_search_term_number(arena, 1);
    enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_EQUAL, .a = term, .b = zero});
    enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_EQUAL, .a = term, .b = one});
    enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_LESS, .a = zero, .b = term});
    enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_LESS, .a = one, .b = term});
}

/* index % step == offset */
static void enumerate_rest(struct sp_enumerator *enumerator, const struct sp_search_term *index,
                           const struct sp_search_term *step, const struct sp_search_term *offset)
{
    struct sp_arena *arena = arena_of(enumerator);
    enumerate_condition(enumerator,
                        (struct sp_search_term){.op = SP_TERM_EQUAL,
                                                .a = sp_search_term_binary(arena, SP_TERM_REST, index, step),
                                                .b = offset});
}

/* Whether a key says that something is in one layer of so many, by its name. */
static bool is_period(const struct sp_terminal *terminal)
{
    static const char *const periods[] = {"period", "freq", "interval", "every", "step", "pattern", "per_"};
    return SP_HAS_ANY(terminal->path, periods);
}

/* i % period == offset, for each pair of keys with such names. */
static void enumerate_periods(struct sp_enumerator *enumerator, const struct sp_search_term *index)
{
    static const char *const offsets[] = {"offset", "start", "first", "shift"};
    const struct sp_terminals *terminals = &enumerator->evidence->terminals;
    struct sp_arena *arena = arena_of(enumerator);
    for (size_t i = 0; i < terminals->count; i++)
        for (size_t k = 0; k < terminals->count && is_period(terminals->items[i]); k++)
            if (SP_HAS_ANY(terminals->items[k]->path, offsets))
                enumerate_rest(enumerator, index, sp_search_term_terminal(arena, SP_TERM_KEY, terminals->items[i]),
                               sp_search_term_terminal(arena, SP_TERM_KEY, terminals->items[k]));
}

/* i >= key; for a period i % key == 0, (i + 1) % key == 0, i % key == 1; for other keys i == key, i + 1 == key */
static void enumerate_index_against(struct sp_enumerator *enumerator, const struct sp_search_term *index,
                                    const struct sp_search_term *key)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *zero = sp_search_term_number(arena, 0), *one = sp_search_term_number(arena, 1);
    const struct sp_search_term *next = sp_search_term_binary(arena, SP_TERM_ADD, index, one);
    enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_AT_LEAST, .a = index, .b = key});
    if (key->terminal && is_period(key->terminal)) {
        enumerate_rest(enumerator, index, key, zero);
        enumerate_rest(enumerator, next, key, zero);
        enumerate_rest(enumerator, index, key, one);
        return; /* i == 3 and i + 1 == 3 hardly mean anything for a period of 3 */
    }
    enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_EQUAL, .a = index, .b = key});
    enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_EQUAL, .a = next, .b = key});
}

/* Conditions about the k-th index, i:
 *
 *     i == 0, i > 1, i == 3, i % 3 == 1          small numbers and remainders
 *     i % period == offset                       pairs of keys with such names
 *     i == j, i >= j, j >= i                     outer indices: pairs, or those before
 *     i >= depth, i + 1 == depth                 keys and the lengths of lists
 *     flags[i], kinds[i] == "conv", rates[i] > 0 the item of a list
 *     i in layers, i + 1 in layers, i - 1 in layers */
static void enumerate_index_conditions(struct sp_enumerator *enumerator, size_t k)
{
    struct sp_arena *arena = arena_of(enumerator);
    const struct sp_search_term *index = sp_search_term_index(arena, k), *one = sp_search_term_number(arena, 1);
    const struct sp_search_term *next = sp_search_term_binary(arena, SP_TERM_ADD, index, one);
    const struct sp_search_term *before = sp_search_term_binary(arena, SP_TERM_SUBTRACT, index, one);
    enumerate_comparisons(enumerator, index);
    enumerate_periods(enumerator, index);
    for (size_t outer = 0; outer < k; outer++)
        if (enumerator->signatures->domain->indices >> outer & 1) {
            const struct sp_search_term *other = sp_search_term_index(arena, outer);
            enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_EQUAL, .a = index, .b = other});
            enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_AT_LEAST, .a = index, .b = other});
            enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_AT_LEAST, .a = other, .b = index});
        }
    for (double n = 2; n < 5; n++) {
        enumerate_condition(
            enumerator, (struct sp_search_term){.op = SP_TERM_EQUAL, .a = index, .b = sp_search_term_number(arena, n)});
        for (double r = 0; r < n; r++)
            enumerate_rest(enumerator, index, sp_search_term_number(arena, n), sp_search_term_number(arena, r));
    }
    for (size_t i = 0; i < enumerator->evidence->terminals.count; i++) {
        const struct sp_terminal *terminal = enumerator->evidence->terminals.items[i];
        size_t longest;
        if (!is_list_somewhere(enumerator, terminal, &longest)) {
            const enum shapeproof_value_type type = terminal->meaning ? SHAPEPROOF_VALUE_INT : terminal->values[0].type;
            if (type == SHAPEPROOF_VALUE_INT)
                enumerate_index_against(enumerator, index, sp_search_term_terminal(arena, SP_TERM_KEY, terminal));
            continue;
        }
        if (strcmp(terminal->path, "architectures") == 0) continue;
        enumerate_index_against(enumerator, index, sp_search_term_terminal(arena, SP_TERM_LENGTH, terminal));
        enumerate_kinds(enumerator, terminal, index);
        enumerate_comparisons(
            enumerator,
            sp_search_term_new(arena, (struct sp_search_term){.op = SP_TERM_ITEM, .terminal = terminal, .a = index}));
        enumerate_condition(enumerator,
                            (struct sp_search_term){.op = SP_TERM_CONTAINED, .terminal = terminal, .a = index});
        enumerate_condition(enumerator,
                            (struct sp_search_term){.op = SP_TERM_CONTAINED, .terminal = terminal, .a = next});
        enumerate_condition(enumerator,
                            (struct sp_search_term){.op = SP_TERM_CONTAINED, .terminal = terminal, .a = before});
    }
}

/* "sound" in inputs, for each string of a list that differs between the examples, if it needs no escape. */
static void enumerate_texts_in_list(struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    if (strcmp(terminal->path, "architectures") == 0 || sp_terminal_is_constant(terminal, enumerator->evidence->count))
        return;
    for (size_t e = 0; e < enumerator->evidence->count; e++) {
        const struct shapeproof_value list = terminal->values[e];
        for (size_t i = 0; list.type == SHAPEPROOF_VALUE_LIST && i < list.count && i < MOST_FIXED_ITEMS; i++)
            if (list.items[i].type == SHAPEPROOF_VALUE_STRING && !strpbrk(list.items[i].string, "\"\\\n"))
                enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_CONTAINED,
                                                                        .terminal = terminal,
                                                                        .text = list.items[i].string});
    }
}

/* Conditions about one key. */
static void enumerate_terminal_conditions(struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    struct sp_arena *arena = arena_of(enumerator);
    size_t longest;
    if (terminal->meaning) return;
    if (is_list_somewhere(enumerator, terminal, &longest)) {
        enumerate_kinds(enumerator, terminal, sp_search_term_number(arena, 0));
        enumerate_texts_in_list(enumerator, terminal);
        enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_IS_LIST, .terminal = terminal});
        return;
    }
    enumerate_kinds(enumerator, terminal, NULL);
    enumerate_comparisons(enumerator, sp_search_term_terminal(arena, SP_TERM_KEY, terminal));
    enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_ABSENT, .terminal = terminal});
    enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_NULL, .terminal = terminal});
}

static bool is_likely_size_everywhere(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    for (size_t i = 0; i < enumerator->evidence->count; i++)
        if (terminal->values[i].type != SHAPEPROOF_VALUE_INT) return false;
    return !terminal->meaning && terminal->cost < UNLIKELY;
}

/* width == inner, for each pair of keys that are whole numbers in all examples: a matrix between two widths exists
 * where they differ. */
static void enumerate_equalities(struct sp_enumerator *enumerator)
{
    const struct sp_terminals *terminals = &enumerator->evidence->terminals;
    struct sp_arena *arena = arena_of(enumerator);
    for (size_t i = 0; i < terminals->count; i++)
        for (size_t k = i + 1; k < terminals->count && is_likely_size_everywhere(enumerator, terminals->items[i]); k++)
            if (is_likely_size_everywhere(enumerator, terminals->items[k]))
                enumerate_condition(
                    enumerator,
                    (struct sp_search_term){.op = SP_TERM_EQUAL,
                                            .a = sp_search_term_terminal(arena, SP_TERM_KEY, terminals->items[i]),
                                            .b = sp_search_term_terminal(arena, SP_TERM_KEY, terminals->items[k])});
}

/* A number up to 64, or the length of a list up to that, in an example; -1 for anything else. */
static int64_t count_in_example(const struct sp_terminal *terminal, size_t example)
{
    enum { LARGEST = 64 };
    const struct shapeproof_value value = terminal->values[example];
    if (value.type == SHAPEPROOF_VALUE_INT && value.integer >= 0 && value.integer <= LARGEST) return value.integer;
    return value.type == SHAPEPROOF_VALUE_LIST && value.count <= LARGEST ? (int64_t)value.count : -1;
}

/* spatial_dims == 3, spatial_dims > 3, len(channels) == 2, len(channels) > 2: for each number that the key, or the
 * length of its list, has in some example. Only if it is such a number in all examples. */
static void enumerate_counts(struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    struct sp_arena *arena = arena_of(enumerator);
    const bool is_list = terminal->values[0].type == SHAPEPROOF_VALUE_LIST;
    const struct sp_search_term *term =
        sp_search_term_terminal(arena, is_list ? SP_TERM_LENGTH : SP_TERM_KEY, terminal);
    if (terminal->meaning || terminal->list || terminal->cost >= UNLIKELY ||
        strcmp(terminal->path, "architectures") == 0)
        return;
    for (size_t e = 0; e < enumerator->evidence->count; e++)
        if (count_in_example(terminal, e) < 0 || terminal->values[e].type != terminal->values[0].type) return;
    for (size_t e = 0; e < enumerator->evidence->count; e++) {
        const int64_t count = count_in_example(terminal, e);
        if (count < 2) continue; /* 0 and 1 are asked of every key */
        const struct sp_search_term *number = sp_search_term_number(arena, (double)count);
        enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_EQUAL, .a = term, .b = number});
        enumerate_condition(enumerator, (struct sp_search_term){.op = SP_TERM_LESS, .a = number, .b = term});
    }
}

void sp_enumerator_conditions(struct sp_enumerator *enumerator)
{
    for (size_t i = 0; i < enumerator->evidence->terminals.count; i++)
        enumerate_terminal_conditions(enumerator, enumerator->evidence->terminals.items[i]);
    for (size_t k = 0; k < SP_MAX_INDICES; k++)
        if (enumerator->signatures->domain->indices >> k & 1) enumerate_index_conditions(enumerator, k);
    enumerate_equalities(enumerator);
    for (size_t i = 0; i < enumerator->evidence->terminals.count && !enumerator->signatures->domain->indices; i++)
        enumerate_counts(enumerator, enumerator->evidence->terminals.items[i]);
    enumerator->simple = enumerator->signatures->count;
}
