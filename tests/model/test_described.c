/* SPDX-License-Identifier: MIT
 * Inventories of tensors that are in no file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shapeproof/shapeproof.h"

static const uint64_t matrix[] = {8, 4}, matrix_turned[] = {1, 8}, vector[] = {8};

static struct shapeproof_inventory *describe(const struct shapeproof_tensor_description *tensors, size_t count)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("Model", tensors, count, &error);
    if (!inventory) fail_msg("%s", error.message);
    return inventory;
}

static void assert_refused(const struct shapeproof_tensor_description *tensors, size_t count,
                           enum shapeproof_status status, const char *message)
{
    struct shapeproof_error error;
    assert_null(shapeproof_inventory_describe("Model", tensors, count, &error));
    assert_int_equal(error.status, status);
    assert_string_equal(error.message, message);
}

static void describes_tensors(void **state)
{
    const struct shapeproof_tensor_description tensors[] = {
        {.name = "wte", .shape = matrix, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "step", .dtype = SHAPEPROOF_DTYPE_I64},
        {.name = "odd", .shape = vector, .rank = 1, .dtype_name = "torch.weird"},
    };
    (void)state;
    struct shapeproof_inventory *inventory = describe(tensors, 3);
    assert_string_equal(shapeproof_inventory_path(inventory), "Model");
    assert_string_equal(shapeproof_inventory_format(inventory), "memory");
    assert_int_equal(shapeproof_inventory_count(inventory), 3);
    const struct shapeproof_tensor *first = shapeproof_inventory_tensor(inventory, 0);
    assert_string_equal(first->name, "wte");
    assert_ptr_not_equal(first->shape, matrix); /* copied */
    assert_int_equal(first->shape[1], 4);
    assert_int_equal(first->bytes, 8 * 4 * 4);
    assert_int_equal(shapeproof_inventory_tensor(inventory, 1)->parameters, 1);
    assert_string_equal(shapeproof_inventory_tensor(inventory, 2)->dtype_name, "torch.weird");
    assert_int_equal(shapeproof_inventory_totals(inventory)->unique_parameters, 8 * 4 + 1 + 8);
    assert_int_equal(shapeproof_inventory_file_bytes(inventory)->size, 0);
    shapeproof_inventory_close(inventory);
}

/* Tied tensors share a storage at the same place and in the same order; views of other places, or turned, are not. */
static void finds_ties(void **state)
{
    const struct shapeproof_tensor_description tensors[] = {
        {.name = "wte", .shape = matrix, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32, .storage = "0"},
        {.name = "head", .shape = matrix, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32, .storage = "0"},
        {.name = "next", .shape = matrix, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32, .storage = "0", .offset = 32},
        {.name = "other", .shape = matrix, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32, .storage = "1"},
        {.name = "turned",
         .shape = matrix,
         .stride = matrix_turned,
         .rank = 2,
         .dtype = SHAPEPROOF_DTYPE_F32,
         .storage = "1"},
    };
    (void)state;
    struct shapeproof_inventory *inventory = describe(tensors, 5);
    assert_int_equal(shapeproof_inventory_tensor(inventory, 0)->same_as, SHAPEPROOF_NONE);
    assert_int_equal(shapeproof_inventory_tensor(inventory, 1)->same_as, 0);
    assert_int_equal(shapeproof_inventory_tensor(inventory, 2)->same_as, SHAPEPROOF_NONE);
    assert_int_equal(shapeproof_inventory_tensor(inventory, 4)->same_as, SHAPEPROOF_NONE);
    shapeproof_inventory_close(inventory);
}

static void holds_nothing(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = describe(NULL, 0);
    assert_int_equal(shapeproof_inventory_count(inventory), 0);
    shapeproof_inventory_close(inventory);
}

static void refuses_what_is_none(void **state)
{
    static const uint64_t huge[] = {UINT64_MAX, UINT64_MAX}, many[65] = {1};
    const struct shapeproof_tensor_description twice[] = {{.name = "a", .dtype = SHAPEPROOF_DTYPE_F32},
                                                          {.name = "a", .dtype = SHAPEPROOF_DTYPE_F32}},
                                               large = {.name = "a", .shape = huge, .rank = 2},
                                               deep = {.name = "a", .shape = many, .rank = 65},
                                               latin = {.name = "caf\xe9"},
                                               odd = {.name = "a\xed\xb2\x80", .dtype = SHAPEPROOF_DTYPE_F32},
                                               later = {.name = "a", .reserved = {0, 1}};
    (void)state;
    assert_refused(twice, 2, SHAPEPROOF_ERR_FILE, "Model: tensor name 'a' appears twice");
    assert_refused(&large, 1, SHAPEPROOF_ERR_FILE,
                   "Model: the size of tensor 'a' is no whole number of bytes below 2^64");
    assert_refused(&deep, 1, SHAPEPROOF_ERR_FILE, "Model: tensor 'a' has more than 64 dimensions");
    assert_refused(&latin, 1, SHAPEPROOF_ERR_FILE, "Model: the name of tensor 'caf\\xe9' is not UTF-8");
    shapeproof_inventory_close(describe(&odd, 1)); /* a lone surrogate, as Python has them */
    assert_refused(&later, 1, SHAPEPROOF_ERR_USAGE, "Model: the options are those of a later version of this library");
}

/* A model in memory is checked as a file is. */
static void is_checked(void **state)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *file = shapeproof_inventory_open("fixtures/models/tiny-gpt2", &error);
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_config *config = shapeproof_config_new();
    struct shapeproof_tensor_description tensors[64] = {{0}};
    const size_t count = shapeproof_inventory_count(file);
    (void)state;
    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(file, i);
        tensors[i] = (struct shapeproof_tensor_description){
            .name = tensor->name, .shape = tensor->shape, .rank = tensor->rank, .dtype = tensor->dtype};
    }
    assert_int_equal(shapeproof_config_load(config, "fixtures/models/tiny-gpt2/config.json", &error), SHAPEPROOF_OK);
    for (size_t missing = 0; missing < 2; missing++) {
        struct shapeproof_inventory *inventory = describe(tensors, count - missing);
        struct shapeproof_check *check = shapeproof_check_new(inventory, tables, config, NULL, &error);
        assert_non_null(check);
        assert_int_equal(shapeproof_check_verdict(check),
                         missing ? SHAPEPROOF_VERDICT_DIFFERS : SHAPEPROOF_VERDICT_MATCH);
        shapeproof_check_free(check);
        shapeproof_inventory_close(inventory);
    }
    shapeproof_config_free(config);
    shapeproof_tables_free(tables);
    shapeproof_inventory_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_tensors),    cmocka_unit_test(finds_ties), cmocka_unit_test(holds_nothing),
        cmocka_unit_test(refuses_what_is_none), cmocka_unit_test(is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
