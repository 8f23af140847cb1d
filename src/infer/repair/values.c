/* SPDX-License-Identifier: MIT */
#include "infer/repair/values.h"

#include <math.h>
#include <string.h>

#include "lang/functions.h"

enum { MAX_ITEMS = 24, MAX_NESTED = 3 };

static void add_candidate(struct sp_value_candidates *candidates, struct shapeproof_value value)
{
    if (candidates->count < SP_MAX_CANDIDATES) candidates->list[candidates->count++] = value;
}

static void add_numbers(const struct sp_hints *hints, struct sp_value_candidates *candidates, int64_t number)
{
    if (number < 0 || number > INT32_MAX) return;
    for (size_t i = 0; i < hints->ratio_count; i++) {
        const struct sp_ratio ratio = hints->ratios[i];
        const uint64_t product = (uint64_t)number * ratio.is;
        if (product % ratio.was == 0) add_candidate(candidates, sp_value_int((int64_t)(product / ratio.was)));
        const int64_t sum = number + (int64_t)ratio.is - (int64_t)ratio.was; /* when it is a part of that */
        if (sum > 0) add_candidate(candidates, sp_value_int(sum));
    }
    if (number > 2) add_candidate(candidates, sp_value_int(number / 2));
    add_candidate(candidates, sp_value_int(number + 1));
    if (number) add_candidate(candidates, sp_value_int(number - 1));
    if (number > 1 && !hints->no_zero) add_candidate(candidates, sp_value_int(0));
    if (number > 1) add_candidate(candidates, sp_value_int(2 * number));
}

/* Factors as people write them: whole numbers, then halves, tenths and twentieths. */
static void add_factors(struct sp_value_candidates *candidates)
{
    enum { MOST = 80 };
    static const int steps[] = {20, 10, 2, 1};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        for (int i = steps[k]; i <= MOST; i += steps[k])
            if (!k || i % steps[k - 1] != 0) add_candidate(candidates, sp_value_real(i / 20.0));
}

static void add_reals(const struct sp_hints *hints, struct sp_value_candidates *candidates, double real)
{
    for (size_t i = 0; i < hints->ratio_count; i++) {
        const double scaled = real * (double)hints->ratios[i].is / (double)hints->ratios[i].was;
        add_candidate(candidates, sp_value_real(round(scaled * 20) / 20)); /* as people write it */
        add_candidate(candidates, sp_value_real(scaled));
    }
    add_factors(candidates);
}

static void add_texts(struct sp_value_candidates *candidates, const struct sp_literals *texts,
                      struct shapeproof_value value)
{
    for (size_t i = 0; i < texts->count; i++)
        if (value.type != SHAPEPROOF_VALUE_STRING || strcmp(texts->list[i], value.string) != 0)
            add_candidate(candidates, sp_value_string(texts->list[i]));
    if (texts->count) add_candidate(candidates, sp_value_string("")); /* one that the table does not name */
}

/* The text for the first items, and another one for those behind them: ["Res", "Res", "Attention"]. */
static struct shapeproof_value list_of_two(struct sp_arena *arena, struct shapeproof_value text, size_t first,
                                           struct shapeproof_value other, size_t count)
{
    struct shapeproof_value *items = sp_arena_array(arena, count, sizeof *items);
    for (size_t i = 0; i < count; i++) items[i] = i < first ? text : other;
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
}

/* One text may stand for the items of a list, or the items be of two kinds. */
static void add_lists_of_two(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                             const struct sp_literals *texts, struct shapeproof_value text)
{
    const size_t count = hints->usual_length <= MAX_ITEMS ? hints->usual_length : 0;
    for (size_t k = 0; k < texts->count; k++) {
        const struct shapeproof_value other = sp_value_string(texts->list[k]);
        for (size_t first = 1; first < count && !sp_values_equal(text, other); first++) {
            add_candidate(candidates, list_of_two(hints->arena, text, first, other, count));
            add_candidate(candidates, list_of_two(hints->arena, other, first, text, count));
        }
    }
}

static void add_values(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                       const struct sp_literals *texts, struct shapeproof_value value, unsigned depth);

/* The list with one item more: one that it has, or next to it. */
static void add_longer(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                       const struct sp_literals *texts, struct shapeproof_value list)
{
    struct sp_value_candidates items = {.count = 0};
    for (size_t i = list.count; i-- > 0 && items.count < MAX_ITEMS;) {
        bool is_new = true;
        for (size_t k = 0; k < items.count; k++) is_new = is_new && !sp_values_equal(items.list[k], list.items[i]);
        if (is_new) add_candidate(&items, list.items[i]);
    }
    add_values(hints, &items, texts, list.items[list.count - 1], MAX_NESTED);
    for (size_t i = 0; i < items.count; i++)
        add_candidate(candidates, sp_value_list_with(hints->arena, list, list.count + 1, list.count, items.list[i]));
}

/* The sum of a list of numbers; 0 when it is none, or has no sum. */
static int64_t sum_of(struct shapeproof_value list)
{
    int64_t sum = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].type != SHAPEPROOF_VALUE_INT || list.items[i].integer < 0 ||
            list.items[i].integer > INT32_MAX)
            return 0;
        sum += list.items[i].integer;
    }
    return sum;
}

/* A size that all items together make, [16, 24, 24]: others that make the other size, in about the same proportions. */
static void add_parts(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                      struct shapeproof_value list)
{
    const int64_t sum = sum_of(list);
    for (size_t k = 0; k < hints->ratio_count && sum; k++) {
        const struct sp_ratio ratio = hints->ratios[k];
        int64_t rest = (int64_t)ratio.is;
        if (ratio.was != (uint64_t)sum) continue;
        struct shapeproof_value *items = sp_arena_array(hints->arena, list.count, sizeof *items);
        for (size_t i = 0; i < list.count; i++) {
            const int64_t part = list.items[i].integer * (int64_t)ratio.is / sum;
            items[i] = sp_value_int(i + 1 < list.count ? part : rest);
            rest -= part;
        }
        add_candidate(candidates,
                      (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = list.count, .items = items});
    }
}

static void add_lists(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                      const struct sp_literals *texts, struct shapeproof_value list, unsigned depth)
{
    if (!list.count) return;
    add_parts(hints, candidates, list);
    if (list.count > 1)
        add_candidate(candidates, sp_value_list_with(hints->arena, list, list.count - 1, SIZE_MAX, list));
    add_longer(hints, candidates, texts, list);
    for (size_t i = 0; i < list.count && i < MAX_ITEMS && candidates->count < SP_MAX_CANDIDATES; i++) {
        struct sp_value_candidates items = {.count = 0};
        add_values(hints, &items, texts, list.items[i], depth + 1);
        for (size_t k = 0; k < items.count && candidates->count < SP_MAX_CANDIDATES; k++)
            add_candidate(candidates, sp_value_list_with(hints->arena, list, list.count, i, items.list[k]));
    }
}

static void add_values(const struct sp_hints *hints, struct sp_value_candidates *candidates,
                       const struct sp_literals *texts, struct shapeproof_value value, unsigned depth)
{
    if (value.type == SHAPEPROOF_VALUE_BOOL) add_candidate(candidates, sp_value_bool(!value.boolean));
    if (value.type == SHAPEPROOF_VALUE_INT) add_numbers(hints, candidates, value.integer);
    if (value.type == SHAPEPROOF_VALUE_REAL) add_reals(hints, candidates, value.real);
    if (value.type == SHAPEPROOF_VALUE_STRING || value.type == SHAPEPROOF_VALUE_LIST)
        add_texts(candidates, texts, value);
    if (value.type == SHAPEPROOF_VALUE_STRING && !depth) add_lists_of_two(hints, candidates, texts, value);
    if (value.type == SHAPEPROOF_VALUE_LIST && depth < MAX_NESTED) add_lists(hints, candidates, texts, value, depth);
}

void sp_find_value_candidates(struct sp_value_candidates *candidates, const struct sp_hints *hints,
                              const struct sp_literals *texts, struct shapeproof_value value)
{
    candidates->count = 0;
    if (sp_value_is_set(value)) add_candidate(candidates, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL});
    else add_texts(candidates, texts, value);
    add_values(hints, candidates, texts, value, 0);
}
