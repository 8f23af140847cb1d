/* SPDX-License-Identifier: MIT
 * The inventory: sizes, ties, views, totals, names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/inventory.h"

static struct shapeproof_inventory *new_inventory(void)
{
    struct shapeproof_inventory *inventory = sp_inventory_new("path");
    sp_inventory_add_file(inventory, "one");
    sp_inventory_add_file(inventory, "two");
    return inventory;
}

/* An F32 tensor of up to two dimensions (0: not there), at `offset` in `storage`. */
static void add(struct shapeproof_inventory *inventory, const char *name, const char *storage, uint64_t offset,
                uint64_t rows, uint64_t columns)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
    uint64_t *shape = sp_arena_array(&inventory->arena, 2, sizeof *shape);
    shape[0] = rows;
    shape[1] = columns;
    tensor->name = name;
    tensor->dtype = SHAPEPROOF_DTYPE_F32;
    tensor->shape = shape;
    tensor->rank = columns ? 2 : 1;
    tensor->storage = storage;
    tensor->offset = offset;
    assert_true(sp_tensor_measure(tensor));
}

static struct shapeproof_tensor *last(struct shapeproof_inventory *inventory)
{
    return &inventory->tensors[inventory->count - 1];
}

static void finish(struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    if (!sp_inventory_finish(inventory, &error)) fail_msg("%s", error.message);
}

/* ---- sizes ---- */

static bool measure(enum shapeproof_dtype dtype, uint32_t rank, const uint64_t *shape, struct shapeproof_tensor *tensor)
{
    *tensor = (struct shapeproof_tensor){.dtype = dtype, .rank = rank, .shape = shape, .parameters = 77, .bytes = 77};
    return sp_tensor_measure(tensor);
}

static void test_measure(void **state)
{
    (void)state;
    struct shapeproof_tensor tensor;
    assert_true(measure(SHAPEPROOF_DTYPE_F32, 0, NULL, &tensor));
    assert_int_equal(tensor.parameters, 1);
    assert_int_equal(tensor.bytes, 4);
    assert_true(measure(SHAPEPROOF_DTYPE_BF16, 3, (uint64_t[]){2, 3, 4}, &tensor));
    assert_int_equal(tensor.parameters, 24);
    assert_int_equal(tensor.bytes, 48);
    assert_true(measure(SHAPEPROOF_DTYPE_F4, 1, (uint64_t[]){6}, &tensor));
    assert_int_equal(tensor.bytes, 3);
    assert_true(measure(SHAPEPROOF_DTYPE_F6_E3M2, 1, (uint64_t[]){4}, &tensor));
    assert_int_equal(tensor.bytes, 3);
    assert_true(measure(SHAPEPROOF_DTYPE_UNKNOWN, 1, (uint64_t[]){5}, &tensor));
    assert_int_equal(tensor.parameters, 5);
    assert_int_equal(tensor.bytes, 0);
    assert_true(measure(SHAPEPROOF_DTYPE_F32, 3, (uint64_t[]){0, 1ULL << 60, 1ULL << 60}, &tensor));
    assert_int_equal(tensor.parameters, 0);
    assert_true(measure(SHAPEPROOF_DTYPE_U8, 1, (uint64_t[]){UINT64_MAX / 8}, &tensor));
    assert_int_equal(tensor.bytes, UINT64_MAX / 8);
}

static void test_measure_refuses(void **state)
{
    (void)state;
    struct shapeproof_tensor tensor;
    assert_false(measure(SHAPEPROOF_DTYPE_F32, 2, (uint64_t[]){1ULL << 32, 1ULL << 32}, &tensor));
    assert_false(measure(SHAPEPROOF_DTYPE_F32, 3, (uint64_t[]){1ULL << 60, 1ULL << 60, 0}, &tensor));
    assert_false(measure(SHAPEPROOF_DTYPE_F16, 1, (uint64_t[]){UINT64_MAX / 2 + 1}, &tensor)); /* bytes */
    assert_false(measure(SHAPEPROOF_DTYPE_F4, 1, (uint64_t[]){3}, &tensor));
    assert_false(measure(SHAPEPROOF_DTYPE_F6_E2M3, 1, (uint64_t[]){2}, &tensor));
    assert_int_equal(tensor.parameters, 77); /* nothing set */
    assert_int_equal(tensor.bytes, 77);
}

static void test_no_shape(void **state)
{
    (void)state;
    struct shapeproof_tensor tensor = {
        .dtype = SHAPEPROOF_DTYPE_F32, .flags = SHAPEPROOF_TENSOR_NO_SHAPE, .parameters = 77};
    assert_true(sp_tensor_measure(&tensor));
    assert_int_equal(tensor.parameters, 0);
}

static void test_dtypes(void **state)
{
    (void)state;
    for (int i = 1; i < SP_DTYPE_COUNT; i++) {
        const char *name = shapeproof_dtype_name((enum shapeproof_dtype)i);
        assert_int_equal(shapeproof_dtype_from_name(name, strlen(name)), i);
        assert_int_not_equal(shapeproof_dtype_bits((enum shapeproof_dtype)i), 0);
    }
    assert_int_equal(shapeproof_dtype_from_name("F32x", 4), SHAPEPROOF_DTYPE_UNKNOWN);
    assert_int_equal(shapeproof_dtype_from_name("F32x", 3), SHAPEPROOF_DTYPE_F32);
    assert_int_equal(shapeproof_dtype_from_name("f32", 3), SHAPEPROOF_DTYPE_UNKNOWN);
    assert_int_equal(shapeproof_dtype_from_name("", 0), SHAPEPROOF_DTYPE_UNKNOWN);
    assert_int_equal(shapeproof_dtype_from_name("?", 1), SHAPEPROOF_DTYPE_UNKNOWN);
    assert_true(shapeproof_dtype_is_float(SHAPEPROOF_DTYPE_F8_E8M0));
    assert_false(shapeproof_dtype_is_float(SHAPEPROOF_DTYPE_C64));
}

/* ---- ties and views ---- */

static void test_ties(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = new_inventory();
    add(inventory, "head", "s1", 0, 4, 3); /* named out of order: the first in the file is the one pointed to */
    add(inventory, "alone", "s2", 0, 4, 3);
    add(inventory, "wte", "s1", 0, 4, 3);
    add(inventory, "third", "s1", 0, 4, 3);
    add(inventory, "no storage", NULL, 0, 4, 3);
    add(inventory, "none either", NULL, 0, 4, 3);
    finish(inventory);
    assert_int_equal(inventory->tensors[0].same_as, SHAPEPROOF_NONE);
    assert_int_equal(inventory->tensors[1].same_as, SHAPEPROOF_NONE);
    assert_int_equal(inventory->tensors[2].same_as, 0);
    assert_int_equal(inventory->tensors[3].same_as, 0);
    assert_int_equal(inventory->tensors[4].same_as, SHAPEPROOF_NONE);
    assert_int_equal(inventory->tensors[5].same_as, SHAPEPROOF_NONE);
    const struct shapeproof_totals *totals = shapeproof_inventory_totals(inventory);
    assert_int_equal(totals->tensors, 6);
    assert_int_equal(totals->parameters, 72);
    assert_int_equal(totals->unique_parameters, 48);
    assert_int_equal(totals->bytes, 192);
    shapeproof_inventory_close(inventory);
}

static void test_same_storage_name_in_two_files(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = new_inventory();
    add(inventory, "a", "0", 0, 4, 0);
    add(inventory, "b", "0", 0, 4, 0);
    last(inventory)->file = 1;
    finish(inventory);
    assert_int_equal(inventory->tensors[1].same_as, SHAPEPROOF_NONE);
    assert_int_equal(inventory->tensors[1].flags, 0);
    shapeproof_inventory_close(inventory);
}

static void test_views(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = new_inventory();
    add(inventory, "whole", "s", 0, 6, 4);
    add(inventory, "q", "s", 0, 2, 4); /* the beginning of "whole" */
    add(inventory, "k", "s", 8, 2, 4);
    add(inventory, "after", "s", 24, 2, 0);
    add(inventory, "empty", "s", 4, 0, 4);
    finish(inventory);
    assert_false(inventory->tensors[0].flags &
                 SHAPEPROOF_TENSOR_VIEW); /* the parts are views of the whole, not it of them */
    assert_true(inventory->tensors[1].flags & SHAPEPROOF_TENSOR_VIEW);
    assert_true(inventory->tensors[2].flags & SHAPEPROOF_TENSOR_VIEW);
    assert_false(inventory->tensors[3].flags & SHAPEPROOF_TENSOR_VIEW);
    assert_false(inventory->tensors[4].flags & SHAPEPROOF_TENSOR_VIEW);
    for (size_t i = 0; i < 5; i++) assert_int_equal(inventory->tensors[i].same_as, SHAPEPROOF_NONE);
    shapeproof_inventory_close(inventory);
}

/* Columns of one matrix: each reaches far, by its strides. */
static void test_strided_views(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = new_inventory();
    static const uint64_t stride[] = {10}, huge[] = {UINT64_MAX};
    add(inventory, "column 0", "s", 0, 3, 0);
    last(inventory)->stride = stride;
    add(inventory, "column 1", "s", 1, 3, 0);
    last(inventory)->stride = stride;
    add(inventory, "behind", "s", 22, 3, 0);
    add(inventory, "overflow", "t", 5, 3, 0);
    last(inventory)->stride = huge;
    add(inventory, "in it", "t", 6, 1, 0);
    finish(inventory);
    assert_int_equal(inventory->tensors[0].flags, 0);
    assert_int_equal(inventory->tensors[1].flags, SHAPEPROOF_TENSOR_VIEW);
    assert_int_equal(inventory->tensors[2].flags, 0); /* the columns end at 21 */
    assert_int_equal(inventory->tensors[4].flags, SHAPEPROOF_TENSOR_VIEW);
    shapeproof_inventory_close(inventory);
}

/* A transposed view has the place and the shape of a square matrix, and is another one; strides that say what is so
 * without them, or that are of dimensions of one element, make no difference. */
static void test_order_of_ties(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = new_inventory();
    static const uint64_t plain[] = {4, 1}, turned[] = {1, 4}, odd[] = {7, 1};
    add(inventory, "turned", "s", 0, 4, 4);
    last(inventory)->stride = turned;
    add(inventory, "w", "s", 0, 4, 4);
    add(inventory, "strided", "s", 0, 4, 4);
    last(inventory)->stride = plain;
    add(inventory, "turned as well", "s", 0, 4, 4);
    last(inventory)->stride = turned;
    add(inventory, "row", "t", 0, 1, 4);
    add(inventory, "same row", "t", 0, 1, 4);
    last(inventory)->stride = odd;
    finish(inventory);
    assert_int_equal(inventory->tensors[0].same_as, SHAPEPROOF_NONE);
    assert_int_equal(inventory->tensors[1].same_as, SHAPEPROOF_NONE);
    assert_int_equal(inventory->tensors[2].same_as, 1);
    assert_int_equal(inventory->tensors[3].same_as, 0);
    assert_int_equal(inventory->tensors[5].same_as, 4);
    assert_true(inventory->tensors[0].flags & SHAPEPROOF_TENSOR_VIEW);
    assert_false(inventory->tensors[1].flags & SHAPEPROOF_TENSOR_VIEW);
    shapeproof_inventory_close(inventory);
}

/* ---- names, totals, metadata, warnings ---- */

static void test_names(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = new_inventory();
    struct shapeproof_error error = {0};
    add(inventory, "a", NULL, 0, 1, 0);
    add(inventory, "", NULL, 0, 1, 0);
    finish(inventory);
    assert_int_equal(shapeproof_inventory_find(inventory, "a"), 0);
    assert_int_equal(shapeproof_inventory_find(inventory, ""), 1);
    assert_int_equal(shapeproof_inventory_find(inventory, "b"), SHAPEPROOF_NONE);
    shapeproof_inventory_close(inventory);
    inventory = new_inventory();
    add(inventory, "a", NULL, 0, 1, 0);
    add(inventory, "a", NULL, 0, 1, 0);
    assert_false(sp_inventory_finish(inventory, &error));
    assert_string_equal(error.message, "tensor name 'a' appears twice");
    shapeproof_inventory_close(inventory);
    shapeproof_inventory_close(NULL);
}

static void test_total_overflow(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = new_inventory();
    struct shapeproof_error error = {0};
    static char names[9][2];
    for (int i = 0; i < 9; i++) {
        names[i][0] = (char)('a' + i);
        add(inventory, names[i], NULL, 0, 1ULL << 58, 0); /* 2^60 bytes each: 8 fit, 16 would not */
        add(inventory, sp_arena_printf(&inventory->arena, "%s'", names[i]), NULL, 0, 1ULL << 58, 0);
    }
    assert_false(sp_inventory_finish(inventory, &error));
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
    assert_string_equal(error.message, "the total number of bytes overflows 64 bits");
    shapeproof_inventory_close(inventory);
}

static void test_metadata(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = new_inventory();
    sp_inventory_add_metadata(inventory, "format", "pt");
    sp_inventory_add_metadata(inventory, "format", "pt");
    assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
    sp_inventory_add_metadata(inventory, "format", "tf");
    assert_int_equal(shapeproof_inventory_metadata_count(inventory), 1);
    assert_string_equal(shapeproof_inventory_metadata(inventory, 0)->value, "pt");
    assert_string_equal(shapeproof_inventory_warning(inventory, 0),
                        "metadata 'format' is 'pt' and then 'tf': the first is kept");
    shapeproof_inventory_close(inventory);
}

static void test_warnings_are_bounded(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = new_inventory();
    for (int i = 0; i < 5000; i++) sp_inventory_warn(inventory, "number %d", i);
    assert_int_equal(shapeproof_inventory_warning_count(inventory), SP_MAX_WARNINGS + 1);
    assert_string_equal(shapeproof_inventory_warning(inventory, SP_MAX_WARNINGS - 1), "number 999");
    assert_string_equal(shapeproof_inventory_warning(inventory, SP_MAX_WARNINGS), "further warnings are not listed");
    shapeproof_inventory_close(inventory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measure),
        cmocka_unit_test(test_measure_refuses),
        cmocka_unit_test(test_no_shape),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_same_storage_name_in_two_files),
        cmocka_unit_test(test_order_of_ties),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_strided_views),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_total_overflow),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_warnings_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
