/* SPDX-License-Identifier: MIT
 * The comparison of views, of matrices of several tiles: equal, rounded, with one element that differs, which is found
 * wherever it is; and the end that the caller wants. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "diff/views.h"
#include "model/values.h"

/* One of the two tensors: a file of a matrix "w". */
struct side {
    char path[40];
    struct shapeproof_inventory *inventory;
    struct shapeproof_data *data;
};

static uint32_t bits_of(uint64_t place)
{
    const uint64_t x = (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(x >> 32 & 0x807fffff) | (uint32_t)(110 + (x >> 20 & 15)) << 23; /* of 2^-17 to 1 */
}

enum order { SAME, TRANSPOSED };

/* The element of A that is at this place of B. */
static uint64_t place_in_a(enum order order, uint64_t rows, uint64_t columns, uint64_t place)
{
    return order == TRANSPOSED ? place % columns * rows + place / columns : place;
}

/* An element as the file has it: BF16 is rounded, by the way that keeps the fewest lines here. */
static size_t put_element(unsigned char *bytes, enum shapeproof_dtype dtype, uint32_t bits)
{
    float single;
    memcpy(&single, &bits, sizeof single);
    const double wide = (double)single;
    if (dtype == SHAPEPROOF_DTYPE_F64) memcpy(bytes, &wide, sizeof wide);
    if (dtype == SHAPEPROOF_DTYPE_F32) memcpy(bytes, &bits, sizeof bits);
    if (dtype == SHAPEPROOF_DTYPE_BF16) {
        single = (float)sp_rounded_to(dtype, wide);
        memcpy(bytes, (unsigned char *)&single + 2, 2);
    }
    return shapeproof_dtype_bits(dtype) / 8;
}

struct pair {
    enum shapeproof_dtype in_a, in_b;
    enum order order;
    uint64_t rows, columns; /* of B */
    bool rounded;           /* the elements are those of F32, otherwise of BF16 */
    uint64_t changed[2];    /* elements of B that are other ones; UINT64_MAX: none */
};

/* Writes A, or B with its changed elements. */
static void open_side(struct side *side, const struct pair *pair, bool is_b)
{
    const enum shapeproof_dtype dtype = is_b ? pair->in_b : pair->in_a;
    const bool turned = !is_b && pair->order == TRANSPOSED;
    const uint64_t count = pair->rows * pair->columns, bytes = count * (shapeproof_dtype_bits(dtype) / 8);
    unsigned char *data = sp_realloc(NULL, bytes, 1), *end = data;
    char header[256];
    struct shapeproof_error error = {0};
    strcpy(side->path, "/tmp/shapeproof-elements-XXXXXX");
    FILE *file = fdopen(mkstemp(side->path), "wb");
    for (uint64_t i = 0; i < count; i++) {
        const bool changed = is_b && (i == pair->changed[0] || i == pair->changed[1]);
        uint32_t bits = bits_of(is_b ? place_in_a(pair->order, pair->rows, pair->columns, i) : i);
        if (!pair->rounded) bits &= 0xffff0000;
        end += put_element(end, dtype, changed ? bits ^ 0x400000 : bits);
    }
    const uint64_t length = (uint64_t)snprintf(
        header, sizeof header,
        "{\"w\":{\"dtype\":\"%s\",\"shape\":[%" PRIu64 ",%" PRIu64 "],\"data_offsets\":[0,%" PRIu64 "]}}",
        shapeproof_dtype_name(dtype), turned ? pair->columns : pair->rows, turned ? pair->rows : pair->columns, bytes);
    fwrite(&length, sizeof length, 1, file);
    fwrite(header, 1, length, file);
    fwrite(data, 1, bytes, file);
    assert_int_equal(fclose(file), 0);
    free(data);
    side->inventory = shapeproof_inventory_open(side->path, &error);
    if (!side->inventory) fail_msg("%s", error.message);
    side->data = shapeproof_data_open(side->inventory, &error);
    assert_non_null(side->data);
}

static void close_side(struct side *side)
{
    shapeproof_data_close(side->data);
    shapeproof_inventory_close(side->inventory);
    unlink(side->path);
}

/* B is A, as it is or transposed. */
static struct sp_view_pair view_of(const struct side *a, const struct side *b, const struct pair *pair)
{
    const struct sp_element_view in_a = {.bytes = {a->data, 0}, .tensor = shapeproof_inventory_tensor(a->inventory, 0)};
    const struct sp_element_view in_b = {.bytes = {b->data, 0}, .tensor = shapeproof_inventory_tensor(b->inventory, 0)};
    struct sp_view_pair view = sp_view_pair_flat(&in_a, &in_b);
    if (pair->order == SAME) return view;
    view.rank = 0;
    sp_view_pair_add(&view, pair->rows, 1, pair->columns);
    sp_view_pair_add(&view, pair->columns, pair->rows, 1);
    return view;
}

static void expect_comparison(const struct pair *pair, enum sp_elements result)
{
    struct side a, b;
    struct shapeproof_error error = {0};
    struct sp_view_differences measured;
    enum sp_elements found;
    open_side(&a, pair, false);
    open_side(&b, pair, true);
    const struct sp_view_pair view = view_of(&a, &b, pair);
    const size_t changed = (size_t)(pair->changed[0] != UINT64_MAX) + (size_t)(pair->changed[1] != UINT64_MAX);
    assert_true(sp_views_fit(&view));
    assert_true(sp_views_compare(&view, NULL, &found, &error));
    assert_int_equal(found, result);
    if (changed) {
        assert_true(sp_views_measure(&view, NULL, &measured, &error));
        assert_int_equal(measured.first, pair->changed[0]);
        assert_int_equal(measured.different, changed);
        assert_int_equal(measured.all, pair->rows * pair->columns);
    }
    close_side(&a);
    close_side(&b);
}

#define NONE                                                                                                           \
    {                                                                                                                  \
        UINT64_MAX, UINT64_MAX                                                                                         \
    }

/* Widened, rounded and the same dtype, in each order; 1104 x 1050 elements are several tiles of a transposed matrix. */
static void orders_and_dtypes(void **state)
{
    static const struct {
        enum shapeproof_dtype in_a, in_b;
        bool rounded;
        enum sp_elements result;
    } dtypes[] = {{SHAPEPROOF_DTYPE_BF16, SHAPEPROOF_DTYPE_BF16, false, SP_ELEMENTS_EQUAL},
                  {SHAPEPROOF_DTYPE_BF16, SHAPEPROOF_DTYPE_F32, false, SP_ELEMENTS_EQUAL},
                  {SHAPEPROOF_DTYPE_F64, SHAPEPROOF_DTYPE_F32, true, SP_ELEMENTS_EQUAL},
                  {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_BF16, true, SP_ELEMENTS_ROUNDED},
                  {SHAPEPROOF_DTYPE_BF16, SHAPEPROOF_DTYPE_F32, true, SP_ELEMENTS_ROUNDED}};
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (int order = SAME; order <= TRANSPOSED; order++)
            expect_comparison(
                &(struct pair){dtypes[i].in_a, dtypes[i].in_b, (enum order)order, 1104, 1050, dtypes[i].rounded, NONE},
                dtypes[i].result);
}

/* Of two elements that differ the first in the order of B is told, though its tile comes later; also in the last
 * element, and in matrices with few rows or columns. */
static void first_difference(void **state)
{
    static const struct pair pairs[] = {
        {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_F32, TRANSPOSED, 1104, 1050, false, {1049, 2100}},
        {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_F32, TRANSPOSED, 1104, 1050, false, {1159199, UINT64_MAX}},
        {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_BF16, TRANSPOSED, 1104, 1050, true, {1000000, 1100000}},
        {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_BF16, SAME, 1104, 1050, true, {700001, 1159199}},
        {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_F32, TRANSPOSED, 2, 400000, false, {400000, 799999}},
        {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_BF16, TRANSPOSED, 400000, 3, false, {1199999, UINT64_MAX}},
        {SHAPEPROOF_DTYPE_BF16, SHAPEPROOF_DTYPE_F32, SAME, 1, 1, false, {0, UINT64_MAX}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        expect_comparison(&pairs[i], SP_ELEMENTS_DIFFERENT);
        struct pair equal = pairs[i];
        equal.changed[0] = equal.changed[1] = UINT64_MAX;
        expect_comparison(&equal, equal.rounded ? SP_ELEMENTS_ROUNDED : SP_ELEMENTS_EQUAL);
    }
}

/* F16 has more digits and BF16 smaller numbers: whichever of the two was made of the other. */
static void either_is_rounded(void **state)
{
    struct pair pair = {SHAPEPROOF_DTYPE_BF16, SHAPEPROOF_DTYPE_BF16, SAME, 1, 2, false, NONE};
    static const uint16_t halves[] = {0x3c01, 0x0001};       /* 1.0009765625, 2^-24 */
    static const uint16_t rounded[][2] = {{0x3f80, 0x3380},  /* of the two above */
                                          {0x3f80, 0x3381}}; /* 1, which has no fraction to round, and not 2^-24 */
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++)
        for (int small = 0; small < 2; small++) {
            struct side a, b;
            struct shapeproof_error error = {0};
            open_side(&a, &pair, false);
            open_side(&b, &pair, true);
            struct sp_view_pair view = view_of(&a, &b, &pair);
            struct shapeproof_tensor half = *view.a.tensor;
            enum sp_elements found;
            half.dtype = SHAPEPROOF_DTYPE_F16;
            const uint16_t own[] = {small ? 0x3c00 : halves[0], halves[1]};
            FILE *file = fopen(swapped ? b.path : a.path, "r+b");
            fseek(file, -4, SEEK_END);
            fwrite(own, 1, sizeof own, file);
            fclose(file);
            file = fopen(swapped ? a.path : b.path, "r+b");
            fseek(file, -4, SEEK_END);
            fwrite(rounded[small], 1, sizeof rounded[small], file);
            fclose(file);
            *(swapped ? &view.b.tensor : &view.a.tensor) = &half;
            assert_true(sp_views_compare(&view, NULL, &found, &error));
            assert_int_equal(found, SP_ELEMENTS_ROUNDED);
            close_side(&a);
            close_side(&b);
        }
}

static bool stop_after_half(void *context, const char *step, uint64_t done, uint64_t total)
{
    (void)context;
    assert_string_equal(step, "bytes");
    return done * 2 < total;
}

static void ended_by_the_caller(void **state)
{
    static const struct pair pair = {SHAPEPROOF_DTYPE_F32, SHAPEPROOF_DTYPE_BF16, SAME, 1104, 1050, true, NONE};
    const struct shapeproof_watch watch = {.progress = stop_after_half};
    struct sp_data_progress progress = {.watch = &watch, .total = 1104 * 1050 * 4, .element = 4};
    enum sp_elements found;
    struct shapeproof_error error = {0};
    struct side a, b;
    (void)state;
    open_side(&a, &pair, false);
    open_side(&b, &pair, true);
    const struct sp_view_pair view = view_of(&a, &b, &pair);
    assert_false(sp_views_compare(&view, &progress, &found, &error));
    assert_true(progress.done * 2 >= progress.total && progress.done < progress.total);
    close_side(&a);
    close_side(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders_and_dtypes), cmocka_unit_test(first_difference),
                                       cmocka_unit_test(either_is_rounded), cmocka_unit_test(ended_by_the_caller)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
