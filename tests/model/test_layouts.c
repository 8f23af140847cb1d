/* SPDX-License-Identifier: MIT
 * In which order the elements of a tensor are stored: what strides say of it, and two tensors side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/inventory.h"
#include "model/layouts.h"

#define TENSOR(...)                                                                                                    \
    {                                                                                                                  \
        .rank = 3, .shape = (const uint64_t[]){2, 1, 3}, .parameters = 6, __VA_ARGS__                                  \
    }
#define STRIDES(A, B, C)                                                                                               \
    .stride = (const uint64_t[]) { A, B, C }

static const struct shapeproof_tensor no_strides = TENSOR(.stride = NULL), rows = TENSOR(STRIDES(3, 3, 1)),
                                      odd_rows = TENSOR(STRIDES(3, 7, 1)), columns = TENSOR(STRIDES(1, 1, 2)),
                                      odd_columns = TENSOR(STRIDES(1, 5, 2)), spread = TENSOR(STRIDES(1, 1, 4)),
                                      steps = TENSOR(STRIDES(6, 6, 2));

/* The stride of a dimension of 1 means nothing. */
static void test_row_major(void **state)
{
    (void)state;
    assert_true(sp_is_row_major(&no_strides));
    assert_true(sp_is_row_major(&rows));
    assert_true(sp_is_row_major(&odd_rows));
    assert_false(sp_is_row_major(&columns));
    assert_false(sp_is_row_major(&steps));
    const struct shapeproof_tensor empty = {
        .rank = 2, .shape = (const uint64_t[]){0, 3}, .stride = (const uint64_t[]){9, 9}};
    assert_true(sp_is_row_major(&empty));
}

static void assert_same_order(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b, bool same)
{
    assert_int_equal(sp_tensor_same_order(a, b), same);
    assert_int_equal(sp_tensor_same_order(b, a), same);
}

static void test_same_order(void **state)
{
    (void)state;
    assert_same_order(&no_strides, &no_strides, true);
    assert_same_order(&no_strides, &odd_rows, true);
    assert_same_order(&rows, &odd_rows, true);
    assert_same_order(&columns, &columns, true);
    assert_same_order(&columns, &odd_columns, true);
    assert_same_order(&columns, &spread, false); /* the last dimension alone differs */
    assert_same_order(&rows, &columns, false);
    assert_same_order(&rows, &steps, false);
    assert_same_order(&no_strides, &columns, false);
}

/* A tensor of that dtype: rank 2, which begins at an offset. */
static struct shapeproof_tensor part(enum shapeproof_dtype dtype, uint64_t offset, const uint64_t *shape,
                                     const uint64_t *stride)
{
    return (struct shapeproof_tensor){.dtype = dtype,
                                      .rank = 2,
                                      .shape = shape,
                                      .stride = stride,
                                      .parameters = shape[0] * shape[1],
                                      .offset = offset};
}

static void assert_overlap(struct shapeproof_tensor a, struct shapeproof_tensor b, bool overlap)
{
    assert_int_equal(sp_tensors_overlap(&a, &b), overlap);
    assert_int_equal(sp_tensors_overlap(&b, &a), overlap);
}

static void test_overlap(void **state)
{
    static const uint64_t square[] = {8, 8}, row[] = {1, 8}, none[] = {0, 8}, wide[] = {16, 1}, less[] = {15, 1},
                          turned[] = {1, 8}, second[] = {16, 2}, huge[] = {UINT64_MAX, 1};
    const enum shapeproof_dtype f32 = SHAPEPROOF_DTYPE_F32, f16 = SHAPEPROOF_DTYPE_F16;
    (void)state;
    assert_overlap(part(f32, 0, square, NULL), part(f32, 63, square, NULL), true);
    assert_overlap(part(f32, 0, square, NULL), part(f32, 64, square, NULL), false);
    assert_overlap(part(f32, 0, square, NULL), part(f32, 3, none, NULL), false);
    assert_overlap(part(f32, 0, square, wide), part(f32, 8, square, wide), false); /* columns side by side */
    assert_overlap(part(f32, 0, square, less), part(f32, 7, square, less), true);
    assert_overlap(part(f32, 0, square, wide), part(f32, 8, row, NULL), false); /* in a gap */
    assert_overlap(part(f32, 0, square, wide), part(f32, 9, row, NULL), true);
    assert_overlap(part(f32, 0, square, NULL), part(f32, 0, square, turned), true);
    assert_overlap(part(f32, 0, square, second), part(f32, 1, square, second), false); /* every second element */
    assert_overlap(part(f32, 0, square, NULL), part(f16, 127, row, NULL), true);
    assert_overlap(part(f32, 0, square, NULL), part(f16, 128, row, NULL), false);
    assert_overlap(part(f32, 0, square, NULL), part(SHAPEPROOF_DTYPE_UNKNOWN, 0, row, NULL), false);
    assert_overlap(part(f32, 0, square, huge), part(f32, 0, square, NULL), false); /* not known */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_row_major), cmocka_unit_test(test_same_order),
                                       cmocka_unit_test(test_overlap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
