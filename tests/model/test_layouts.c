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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_row_major), cmocka_unit_test(test_same_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
