/* SPDX-License-Identifier: MIT
 * Numbers in names that each rank counts from 0: those of layers among the stages of a pipeline, and of experts among
 * their ranks. What a rank has is told by its highest number; the next one goes on from there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "read/ranks/numbers.h"
#include "read/ranks/ranks.h"

enum { MAX_LAYER_NUMBER = 100 * 1000 * 1000 };

/* Where the number behind `marker` begins, and its value; false without one. */
static bool number_behind(const char *name, const char *marker, size_t *begin, size_t *end, uint64_t *value)
{
    const char *at = strstr(name, marker);
    if (!at) return false;
    at += strlen(marker);
    const size_t digits = strspn(at, "0123456789");
    if (!digits || digits > 8 || at[digits] != '.') return false;
    *begin = (size_t)(at - name);
    *end = *begin + digits;
    *value = strtoul(at, NULL, 10);
    return true;
}

enum { ALL_RANKS = -1 };

/* The key of a range: "LEVEL:text in front of the number#RANK", with ALL_RANKS "LEVEL:text in front of the number". */
static const char *spell_range(struct sp_rank_numbers *numbers, const char *name, size_t length, uint32_t level,
                               int64_t rank)
{
    numbers->key.length = 0;
    sp_text_printf(&numbers->key, "%" PRIu32 ":", level);
    sp_text_append(&numbers->key, name, length);
    if (rank != ALL_RANKS) sp_text_printf(&numbers->key, "#%" PRId64, rank);
    return numbers->key.data;
}

void sp_numbers_note(struct sp_rank_numbers *numbers, const char *name, uint32_t level, uint32_t rank)
{
    size_t begin, end;
    uint64_t value;
    if (!number_behind(name, numbers->marker, &begin, &end, &value)) return;
    const size_t known = sp_map_get(&numbers->ranges, spell_range(numbers, name, begin, level, rank));
    if (known != SIZE_MAX) {
        struct sp_number_range *range = &numbers->list.items[known];
        if (value < range->lowest) range->lowest = value;
        if (value > range->highest) range->highest = value;
        return;
    }
    const size_t added = numbers->list.count;
    sp_map_add(&numbers->ranges, sp_arena_string(&numbers->arena, numbers->key.data), added);
    struct sp_number_range range = {.lowest = value, .highest = value, .rank = rank};
    const char *all = spell_range(numbers, name, begin, level, ALL_RANKS);
    const size_t before = sp_map_get(&numbers->last, all); /* ranks are noted in rising order */
    range.before = before == SIZE_MAX ? SHAPEPROOF_NONE : before;
    sp_map_set(&numbers->last, before == SIZE_MAX ? sp_arena_string(&numbers->arena, all) : all, added);
    *SP_PUSH(&numbers->list) = range;
}

void sp_numbers_settle(struct sp_rank_numbers *numbers)
{
    for (size_t i = 0; i < numbers->list.count; i++) { /* the range before is in front, so that it is settled */
        struct sp_number_range *range = &numbers->list.items[i];
        if (range->before == SHAPEPROOF_NONE) continue;
        const struct sp_number_range *before = &numbers->list.items[range->before];
        range->offset = (before->global ? 0 : before->offset) + before->highest + 1;
        range->global = range->lowest && range->lowest == range->offset;
        range->odd = before->odd || (range->lowest && !range->global) || range->offset > MAX_LAYER_NUMBER;
    }
}

const char *sp_numbers_rename(struct sp_rank_numbers *numbers, const char *name, uint32_t level, uint32_t rank,
                              bool *odd)
{
    size_t begin, end;
    uint64_t value;
    if (!number_behind(name, numbers->marker, &begin, &end, &value)) return name;
    const size_t known = sp_map_get(&numbers->ranges, spell_range(numbers, name, begin, level, rank));
    if (known == SIZE_MAX) return name;
    const struct sp_number_range *range = &numbers->list.items[known];
    if (range->odd) {
        *odd = true;
        return name;
    }
    if (!range->offset || range->global) return name;
    return sp_arena_printf(&numbers->arena, "%.*s%" PRIu64 "%s", (int)begin, name, value + range->offset, name + end);
}

void sp_numbers_free(struct sp_rank_numbers *numbers)
{
    sp_free(numbers->list.items);
    sp_map_free(&numbers->ranges);
    sp_map_free(&numbers->last);
    sp_text_free(&numbers->key);
    sp_arena_free(&numbers->arena);
}
