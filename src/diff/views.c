/* SPDX-License-Identifier: MIT
 * Views are compared tile by tile. A tile is what the last dimensions of a view index; it lies within one range of
 * bytes of each tensor, which are read whole. */
#include "diff/views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/values.h"

enum {
    USUAL = 4 << 20,  /* bytes of a tile of either tensor, if a tile of this size wastes little */
    MOST = 64 << 20,  /* bytes of a tile of either tensor */
    WASTE = 4,        /* elements that are read for one that is compared, at most */
    CHUNK = 64 << 10, /* elements of a row that are compared at once, if the row is longer than a tile */
};

struct tiles {
    const struct sp_view_pair *pair;
    uint32_t first;        /* the dimensions from this one on are in the tile */
    uint64_t chunk;        /* elements of the last dimension in a tile */
    size_t size_a, size_b; /* bytes of an element */
    unsigned char *a, *b;
    enum shapeproof_dtype narrow; /* to which elements may be rounded */
    uint64_t done;                /* elements compared */
    bool is_exact, is_rounded;
    struct sp_view_differences *measured; /* or NULL */
};

/* ---- values ---- */

static double cut_to_bf16(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    bits &= 0xffff0000U;
    memcpy(&single, &bits, sizeof single);
    return (double)single;
}

static double change_value(enum sp_change change, double value)
{
    switch (change) {
    case SP_CHANGE_PLUS_ONE:
        return value + 1;
    case SP_CHANGE_PLUS_TWO:
        return value + 2;
    case SP_CHANGE_MINUS_ONE:
        return value - 1;
    case SP_CHANGE_MINUS_EXP:
        return -exp(value);
    case SP_CHANGE_EXP:
        return exp(value);
    case SP_CHANGE_NEGATED:
        return -value;
    case SP_CHANGE_ROUNDED_BF16:
        return sp_rounded_to(SHAPEPROOF_DTYPE_BF16, value);
    case SP_CHANGE_ROUNDED_F16:
        return sp_rounded_to(SHAPEPROOF_DTYPE_F16, value);
    case SP_CHANGE_CUT_BF16:
        return cut_to_bf16(value);
    case SP_CHANGE_NONE:
        break;
    }
    return value;
}

/* Whether a changed value of A is the one of B: frameworks compute the change in F32 at most, and their exp() may be
 * off by a few of its last bits. */
static bool is_changed_value(enum sp_change change, enum shapeproof_dtype dtype, double expected, double value)
{
    const double last_bits = ldexp(1, -21);
    const enum shapeproof_dtype stored = dtype == SHAPEPROOF_DTYPE_F64 ? SHAPEPROOF_DTYPE_F32 : dtype;
    const bool is_exp = change == SP_CHANGE_MINUS_EXP || change == SP_CHANGE_EXP;
    if (sp_is_same_value(sp_rounded_to(stored, expected), sp_rounded_to(stored, value))) return true;
    if (!is_exp || !isfinite(expected) || !isfinite(value)) return false;
    const double least = sp_rounded_to(stored, expected * (1 - last_bits)),
                 most = sp_rounded_to(stored, expected * (1 + last_bits));
    return fabs(value) >= fabs(least) && fabs(value) <= fabs(most) && !signbit(value) == !signbit(expected);
}

/* Whether an element is equal, rounded or different. */
static enum sp_elements compare_element(const struct tiles *tiles, const unsigned char *a, const unsigned char *b)
{
    const enum sp_change change = tiles->pair->change;
    const enum shapeproof_dtype in_a = tiles->pair->a.tensor->dtype, in_b = tiles->pair->b.tensor->dtype;
    if (change == SP_CHANGE_NONE) {
        struct sp_element_run run = {in_a, in_b, tiles->narrow, true};
        if (!sp_elements_run(&run, a, b, 1)) return SP_ELEMENTS_DIFFERENT;
        return run.is_exact ? SP_ELEMENTS_EQUAL : SP_ELEMENTS_ROUNDED;
    }
    const double one = sp_value_of(in_a, a), other = sp_value_of(in_b, b), expected = change_value(change, one);
    if (isfinite(one) && !isfinite(expected)) return SP_ELEMENTS_DIFFERENT; /* what a change must not do */
    if (is_changed_value(change, in_b, expected, other)) return SP_ELEMENTS_EQUAL;
    return sp_is_same_value(sp_rounded_to(in_a, expected), other) ? SP_ELEMENTS_ROUNDED : SP_ELEMENTS_DIFFERENT;
}

static void measure_element(const struct tiles *tiles, const unsigned char *a, const unsigned char *b, bool differs)
{
    struct sp_view_differences *measured = tiles->measured;
    if (differs && !measured->different++) measured->first = tiles->done;
    measured->all++;
    if (!sp_is_float(tiles->pair->a.tensor->dtype) || !sp_is_float(tiles->pair->b.tensor->dtype)) return;
    const double one = change_value(tiles->pair->change, sp_value_of(tiles->pair->a.tensor->dtype, a));
    const double other = sp_value_of(tiles->pair->b.tensor->dtype, b);
    measured->not_finite_a += !isfinite(one) && isfinite(other);
    measured->not_finite_b += isfinite(one) && !isfinite(other);
    if (!isfinite(one) || !isfinite(other)) return;
    measured->squares_a += one * one;
    if (!differs) return;
    measured->squares += (other - one) * (other - one);
    if (fabs(other - one) > measured->most) measured->most = fabs(other - one);
}

/* ---- tiles ---- */

/* How many elements of the tensor there are from the first to the last of the view's dimensions from `first` on. */
static uint64_t span_of(const struct sp_view_pair *pair, const struct sp_element_view *view, uint32_t first)
{
    uint64_t span = 1;
    for (uint32_t i = first; i < pair->rank; i++) span += (pair->size[i] - 1) * view->step[i];
    return span;
}

static uint64_t elements_from(const struct sp_view_pair *pair, uint32_t first)
{
    uint64_t count = 1;
    for (uint32_t i = first; i < pair->rank; i++) count *= pair->size[i]; /* at most the elements of a tensor */
    return count;
}

static bool is_good_tile(const struct tiles *tiles, uint32_t first, uint64_t most)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint64_t a = span_of(pair, &pair->a, first), b = span_of(pair, &pair->b, first);
    const uint64_t count = elements_from(pair, first);
    return a <= most / tiles->size_a && b <= most / tiles->size_b && a / WASTE <= count && b / WASTE <= count;
}

/* Finds the largest tile that fits and wastes little; else chunks of the last dimension, if it lies in one piece. False
 * when there is none, and for elements of less than a byte. */
static bool find_tile(struct tiles *tiles)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint32_t last = pair->rank - 1;
    tiles->size_a = shapeproof_dtype_bits(pair->a.tensor->dtype) / 8;
    tiles->size_b = shapeproof_dtype_bits(pair->b.tensor->dtype) / 8;
    tiles->chunk = pair->size[last];
    if (!tiles->size_a || !tiles->size_b) return false;
    for (uint64_t most = USUAL; most <= MOST; most *= MOST / USUAL)
        for (tiles->first = 0; tiles->first < pair->rank; tiles->first++)
            if (is_good_tile(tiles, tiles->first, most)) return true;
    tiles->first = last;
    tiles->chunk = CHUNK;
    return pair->a.step[last] == 1 && pair->b.step[last] == 1;
}

/* Compares a tile whose elements begin at the buffers' beginning; `length` of them along the last dimension. */
static void compare_tile(struct tiles *tiles, uint64_t length)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint32_t last = pair->rank - 1;
    const size_t step_a = (size_t)pair->a.step[last] * tiles->size_a,
                 step_b = (size_t)pair->b.step[last] * tiles->size_b;
    const enum shapeproof_dtype in_a = pair->a.tensor->dtype, in_b = pair->b.tensor->dtype;
    struct sp_element_run run = {in_a, in_b, tiles->narrow, tiles->is_exact};
    const bool is_run = pair->change == SP_CHANGE_NONE && !tiles->measured && pair->a.step[last] == 1 &&
                        pair->b.step[last] == 1; /* which is many times as fast */
    uint64_t index[SP_VIEW_RANK] = {0};
    for (;;) {
        uint64_t at_a = 0, at_b = 0;
        for (uint32_t i = tiles->first; i < last; i++) {
            at_a += index[i] * pair->a.step[i];
            at_b += index[i] * pair->b.step[i];
        }
        const unsigned char *a = tiles->a + at_a * tiles->size_a, *b = tiles->b + at_b * tiles->size_b;
        if (is_run) {
            tiles->is_rounded = sp_elements_run(&run, a, b, (size_t)length) == length;
            tiles->is_exact = tiles->is_exact && tiles->is_rounded && run.is_exact;
            if (!tiles->is_rounded) return;
        }
        for (uint64_t i = 0; i < length && !is_run; i++, a += step_a, b += step_b, tiles->done++) {
            const enum sp_elements same = compare_element(tiles, a, b);
            if (tiles->measured) measure_element(tiles, a, b, same == SP_ELEMENTS_DIFFERENT);
            tiles->is_exact = tiles->is_exact && same == SP_ELEMENTS_EQUAL;
            tiles->is_rounded = tiles->is_rounded && same != SP_ELEMENTS_DIFFERENT;
            if (!tiles->is_rounded && !tiles->measured) return;
        }
        uint32_t next = last;
        while (next > tiles->first && ++index[next - 1] == pair->size[next - 1]) index[--next] = 0;
        if (next == tiles->first) return;
    }
}

/* Reads and compares the tile at these elements. */
static bool read_tile(struct tiles *tiles, uint64_t at_a, uint64_t at_b, uint64_t length,
                      struct shapeproof_error *error)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint64_t cut = pair->size[pair->rank - 1] - length;
    const uint64_t a = span_of(pair, &pair->a, tiles->first) - cut * pair->a.step[pair->rank - 1];
    const uint64_t b = span_of(pair, &pair->b, tiles->first) - cut * pair->b.step[pair->rank - 1];
    if (!shapeproof_data_read(pair->a.bytes.data, pair->a.bytes.tensor, at_a * tiles->size_a, tiles->a,
                              (size_t)a * tiles->size_a, error) ||
        !shapeproof_data_read(pair->b.bytes.data, pair->b.bytes.tensor, at_b * tiles->size_b, tiles->b,
                              (size_t)b * tiles->size_b, error))
        return false;
    compare_tile(tiles, length);
    return true;
}

/* Walks over all tiles. */
static bool walk_tiles(struct tiles *tiles, struct shapeproof_error *error)
{
    const struct sp_view_pair *pair = tiles->pair;
    const uint64_t row = pair->size[pair->rank - 1];
    uint64_t index[SP_VIEW_RANK] = {0};
    for (;;) {
        uint64_t at_a = pair->a.start, at_b = pair->b.start;
        for (uint32_t i = 0; i < tiles->first; i++) {
            at_a += index[i] * pair->a.step[i];
            at_b += index[i] * pair->b.step[i];
        }
        for (uint64_t done = 0; done < row; done += tiles->chunk) {
            const uint64_t length = row - done < tiles->chunk ? row - done : tiles->chunk;
            if (!read_tile(tiles, at_a + done, at_b + done, length, error)) return false;
            if (!tiles->is_rounded && !tiles->measured) return true;
        }
        uint32_t next = tiles->first;
        while (next && ++index[next - 1] == pair->size[next - 1]) index[--next] = 0;
        if (!next) return true;
    }
}

static bool walk_views(struct tiles *tiles, struct shapeproof_error *error)
{
    const struct sp_view_pair *pair = tiles->pair;
    tiles->is_exact = tiles->is_rounded = !elements_from(pair, 0) || find_tile(tiles);
    if (!elements_from(pair, 0) || !tiles->is_exact) return true;
    const bool chunks = tiles->chunk < pair->size[pair->rank - 1];
    const uint64_t a = chunks ? CHUNK : span_of(pair, &pair->a, tiles->first);
    const uint64_t b = chunks ? CHUNK : span_of(pair, &pair->b, tiles->first);
    tiles->a = sp_realloc(NULL, (size_t)a, tiles->size_a);
    tiles->b = sp_realloc(NULL, (size_t)b, tiles->size_b);
    const bool ok = walk_tiles(tiles, error);
    free(tiles->a);
    free(tiles->b);
    return ok;
}

/* ---- for others ---- */

struct sp_view_pair sp_view_pair_flat(const struct sp_element_view *a, const struct sp_element_view *b)
{
    struct sp_view_pair pair = {.rank = 1, .size = {a->tensor->parameters}, .a = *a, .b = *b};
    pair.a.step[0] = pair.b.step[0] = 1;
    return pair;
}

void sp_view_pair_add(struct sp_view_pair *pair, uint64_t size, uint64_t step_a, uint64_t step_b)
{
    pair->size[pair->rank] = size;
    pair->a.step[pair->rank] = step_a;
    pair->b.step[pair->rank++] = step_b;
}

bool sp_views_fit(const struct sp_view_pair *pair)
{
    struct tiles tiles = {.pair = pair};
    return !elements_from(pair, 0) || find_tile(&tiles);
}

/* Whether A is B transposed, each as a whole and without a change. */
static bool is_whole_transposed(const struct sp_view_pair *pair)
{
    const struct shapeproof_tensor *a = pair->a.tensor, *b = pair->b.tensor;
    return pair->rank == 2 && pair->change == SP_CHANGE_NONE && !pair->a.start && !pair->b.start && a->rank == 2 &&
           b->rank == 2 && pair->size[0] == b->shape[0] && pair->size[1] == b->shape[1] && a->shape[0] == b->shape[1] &&
           a->shape[1] == b->shape[0] && pair->a.step[0] == 1 && pair->a.step[1] == a->shape[1] &&
           pair->b.step[0] == b->shape[1] && pair->b.step[1] == 1;
}

static enum shapeproof_dtype narrow_of(const struct sp_view_pair *pair)
{
    return sp_elements_narrow(pair->a.tensor->dtype, pair->b.tensor->dtype);
}

/* Compares with `narrow` as the dtype to which elements may be rounded. */
static bool compare_as(const struct sp_view_pair *pair, enum shapeproof_dtype narrow, enum sp_elements *result,
                       struct shapeproof_error *error)
{
    struct tiles tiles = {.pair = pair, .narrow = narrow};
    const bool ok = walk_views(&tiles, error);
    *result = tiles.is_exact ? SP_ELEMENTS_EQUAL : tiles.is_rounded ? SP_ELEMENTS_ROUNDED : SP_ELEMENTS_DIFFERENT;
    return ok;
}

bool sp_views_compare(const struct sp_view_pair *pair, enum sp_elements *result, struct shapeproof_error *error)
{
    const enum shapeproof_dtype a = pair->a.tensor->dtype, b = pair->b.tensor->dtype;
    if (is_whole_transposed(pair)) { /* for which there is a faster way */
        struct sp_element_comparison whole = {.a = pair->a.bytes,
                                              .b = pair->b.bytes,
                                              .in_a = pair->a.tensor,
                                              .in_b = pair->b.tensor,
                                              .order = SP_ORDER_TRANSPOSED};
        const bool read = sp_elements_compare(&whole, error);
        *result = whole.result;
        return read;
    }
    if (!compare_as(pair, narrow_of(pair), result, error)) return false;
    if (*result != SP_ELEMENTS_DIFFERENT || pair->change != SP_CHANGE_NONE || !sp_elements_either_is_narrow(a, b))
        return true;
    return compare_as(pair, a, result, error);
}

bool sp_views_measure(const struct sp_view_pair *pair, struct sp_view_differences *differences,
                      struct shapeproof_error *error)
{
    struct tiles tiles = {.pair = pair, .narrow = narrow_of(pair), .measured = differences};
    *differences = (struct sp_view_differences){0};
    return walk_views(&tiles, error);
}

/* The first values of a view along its last dimension. */
static size_t sample_view(const struct sp_view_pair *pair, const struct sp_element_view *view, double *values,
                          size_t count)
{
    const uint32_t last = pair->rank - 1;
    const size_t size = shapeproof_dtype_bits(view->tensor->dtype) / 8;
    struct shapeproof_error error = {0};
    if (pair->size[last] < count) count = (size_t)pair->size[last];
    for (size_t i = 0; i < count; i++) {
        unsigned char element[sizeof(uint64_t) * 2] = {0}; /* complex numbers have 16 bytes */
        uint64_t bits;
        if (!shapeproof_data_read(view->bytes.data, view->bytes.tensor, (view->start + i * view->step[last]) * size,
                                  element, size, &error))
            return 0;
        memcpy(&bits, element, sizeof bits);
        values[i] = sp_is_float(view->tensor->dtype) ? sp_value_of(view->tensor->dtype, element) : (double)bits;
    }
    return count;
}

size_t sp_views_sample_a(const struct sp_view_pair *pair, double *values, size_t count)
{
    count = sample_view(pair, &pair->a, values, count);
    for (size_t i = 0; i < count; i++) values[i] = change_value(pair->change, values[i]);
    return count;
}

size_t sp_views_sample_b(const struct sp_view_pair *pair, double *values, size_t count)
{
    return sample_view(pair, &pair->b, values, count);
}

bool sp_is_near(double a, double b)
{
    const double rounding = ldexp(1, -7), least = ldexp(1, -25);
    if (!isfinite(a) || !isfinite(b)) return isfinite(a) == isfinite(b);
    return fabs(a - b) <= rounding * fabs(a) + least;
}

bool sp_views_begin_alike(const struct sp_view_pair *pair)
{
    enum { FEW = 4 }; /* elements: one read of each tensor for each of them */
    double a[FEW], b[FEW];
    const size_t count = sp_views_sample_a(pair, a, FEW);
    if (!count || sp_views_sample_b(pair, b, FEW) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!sp_is_near(a[i], b[i])) return false;
    return true;
}
