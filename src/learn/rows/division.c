/* SPDX-License-Identifier: MIT */
#include "learn/rows/division.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

enum { LONGEST_PERIOD = 12, LONGEST_END = 12, MOST_ROWS = 64 };

/* ---- what is at a number ---- */

/* A row that is there, by its place among the rows of the stem. */
struct seen {
    struct sp_point outer;
    uint64_t number;
    size_t row;
};

/* All rows at one number, as bits. */
struct iteration {
    struct sp_point outer;
    uint64_t number, rows;
};

/* Everything below one outer point, in the order of the numbers. */
struct sequence {
    const struct iteration *iterations;
    size_t count;
};

struct census {
    SP_ARRAY(struct iteration) iterations;
    SP_ARRAY(struct sequence) sequences;
};

static int compare_seen(const void *left, const void *right)
{
    const struct seen *a = left, *b = right;
    const int order = sp_compare_points(&a->outer, &b->outer);
    return order ? order : sp_order(a->number, b->number);
}

static void list_iterations_of_rows(struct census *census, struct seen *seen, size_t count)
{
    if (count) qsort(seen, count, sizeof *seen, compare_seen);
    for (size_t i = 0; i < count; i++) {
        if (!i || compare_seen(&seen[i - 1], &seen[i]) != 0)
            *SP_PUSH(&census->iterations) = (struct iteration){seen[i].outer, seen[i].number, 0};
        census->iterations.items[census->iterations.count - 1].rows |= (uint64_t)1 << seen[i].row;
    }
    for (size_t i = 0; i < census->iterations.count; i++) {
        const struct iteration *iteration = &census->iterations.items[i];
        if (!i || sp_compare_points(&iteration[-1].outer, &iteration->outer) != 0)
            *SP_PUSH(&census->sequences) = (struct sequence){iteration, 0};
        census->sequences.items[census->sequences.count - 1].count++;
    }
}

/* False when there are too many rows to tell. */
static bool take_census(const struct sp_layout *layout, size_t stem, struct census *census)
{
    const size_t depth = layout->stems.items[stem].depth;
    SP_ARRAY(struct seen) seen = {0};
    size_t rows = 0;
    for (size_t r = 0; r < layout->rows.count && rows < MOST_ROWS; r++) {
        const struct sp_tensor_row *row = &layout->rows.items[r];
        if (row->index_count <= depth || row->stems[depth] != stem) continue;
        for (size_t i = 0; i < row->places.count; i++) {
            const struct sp_point *point = &row->places.items[i].point;
            struct seen one = {.outer = {.example = point->example}, .number = point->index[depth], .row = rows};
            memcpy(one.outer.index, point->index, depth * sizeof *one.outer.index);
            *SP_PUSH(&seen) = one;
        }
        rows++;
    }
    list_iterations_of_rows(census, seen.items, seen.count);
    free(seen.items);
    return rows < MOST_ROWS && census->sequences.count > 0;
}

/* ---- what repeats ---- */

static uint64_t rows_at(const struct sequence *sequence, uint64_t number)
{
    size_t low = 0, high = sequence->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (sequence->iterations[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low < sequence->count && sequence->iterations[low].number == number ? sequence->iterations[low].rows : 0;
}

static bool is_period_at(const struct sequence *sequence, const struct sequence *model, uint64_t from, uint64_t period)
{
    uint64_t any = 0;
    for (uint64_t i = 0; i < period; i++) {
        if (rows_at(sequence, from + i) != rows_at(model, i)) return false;
        any |= rows_at(sequence, from + i);
    }
    return any != 0;
}

static uint64_t count_periods(const struct sequence *sequence, const struct sequence *model, uint64_t period)
{
    uint64_t iterations = 0;
    while (is_period_at(sequence, model, iterations * period, period)) iterations++;
    return iterations;
}

/* What is behind both bodies is the same. */
static bool ends_are_alike(const struct sequence *a, uint64_t a_from, const struct sequence *b, uint64_t b_from)
{
    const uint64_t last_a = a->iterations[a->count - 1].number, last_b = b->iterations[b->count - 1].number;
    const uint64_t length_a = last_a < a_from ? 0 : last_a - a_from + 1;
    const uint64_t length_b = last_b < b_from ? 0 : last_b - b_from + 1;
    if (length_a != length_b || length_a > LONGEST_END) return false;
    for (uint64_t i = 0; i < length_a; i++)
        if (rows_at(a, a_from + i) != rows_at(b, b_from + i)) return false;
    return true;
}

static bool are_places_apart(const struct sequence *model, uint64_t period)
{
    uint64_t before = 0;
    for (uint64_t i = 0; i < period; i++) {
        if (rows_at(model, i) & before) return false;
        before |= rows_at(model, i);
    }
    return true;
}

static const struct sequence *longest_sequence(const struct census *census)
{
    const struct sequence *longest = &census->sequences.items[0];
    for (size_t i = 1; i < census->sequences.count; i++)
        if (census->sequences.items[i].count > longest->count) longest = &census->sequences.items[i];
    return longest;
}

static bool divide_into_periods(const struct sp_layout *layout, const struct census *census, uint64_t period,
                                struct sp_division *division)
{
    const struct sequence *model = longest_sequence(census);
    const uint64_t most = count_periods(model, model, period);
    if (most < 2) return false;
    struct sp_body *bodies = sp_arena_array(layout->evidence->arena, census->sequences.count, sizeof *bodies);
    for (size_t i = 0; i < census->sequences.count; i++) {
        const struct sequence *sequence = &census->sequences.items[i];
        const uint64_t iterations = count_periods(sequence, model, period);
        if (!iterations || !ends_are_alike(sequence, iterations * period, model, most * period)) return false;
        bodies[i] = (struct sp_body){sequence->iterations[0].outer, iterations};
    }
    *division = (struct sp_division){period, bodies, census->sequences.count};
    return true;
}

bool sp_division_find(const struct sp_layout *layout, size_t stem, bool apart, struct sp_division *division)
{
    struct census census = {0};
    bool found = false;
    if (take_census(layout, stem, &census))
        for (uint64_t period = 2; period <= LONGEST_PERIOD && !found; period++)
            found = (!apart || are_places_apart(longest_sequence(&census), period)) &&
                    divide_into_periods(layout, &census, period, division);
    free(census.iterations.items);
    free(census.sequences.items);
    return found;
}

static int compare_bodies(const void *left, const void *right)
{
    return sp_compare_points(&((const struct sp_body *)left)->outer, &((const struct sp_body *)right)->outer);
}

uint64_t sp_division_place(const struct sp_division *division, const struct sp_point *outer, uint64_t number)
{
    const struct sp_body wanted = {.outer = *outer};
    const struct sp_body *body = bsearch(&wanted, division->bodies, division->count, sizeof wanted, compare_bodies);
    const uint64_t length = body ? body->iterations * division->period : 0;
    return number < length ? number % division->period : division->period + (number - length);
}
