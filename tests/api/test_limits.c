/* SPDX-License-Identifier: MIT
 * Limits of a thread: a call that exceeds its memory fails, names the limit, and leaves everything as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/call.h"
#include "shapeproof/shapeproof.h"

#define MODEL "fixtures/models/tiny-llama"

static void limit_memory(uint64_t bytes)
{
    struct shapeproof_error error = {0};
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.memory = bytes}, &error));
}

static int default_limits(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    return shapeproof_set_limits(NULL, &error) ? 0 : -1;
}

static void assert_exceeded(const struct shapeproof_error *error, const char *text)
{
    assert_int_equal(error->status, SHAPEPROOF_ERR_FILE);
    assert_int_equal(error->kind, SHAPEPROOF_KIND_LIMIT);
    if (!strstr(error->message, text)) assert_string_equal(error->message, text);
}

static void a_call_that_exceeds_its_memory_fails(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    limit_memory(10000);
    assert_null(shapeproof_inventory_open(MODEL, &error));
    assert_exceeded(&error,
                    "reading it takes more than 10000 bytes of memory; a larger --limit memory=SIZE allows more");
    assert_true(shapeproof_ran_out_of_memory());
    default_limits(NULL);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(MODEL, &error);
    assert_non_null(inventory);
    assert_true(shapeproof_inventory_bytes_read(inventory) > 0);
    limit_memory(1000);
    assert_null(shapeproof_diff_new(inventory, inventory, NULL, &error));
    assert_exceeded(&error, MODEL ": comparing it takes more than 1000 bytes of memory");
    assert_null(shapeproof_report_inspect(inventory, NULL, NULL)); /* which takes no error */
    assert_true(shapeproof_ran_out_of_memory());
    assert_int_equal(shapeproof_inventory_count(inventory), 21);
    shapeproof_inventory_close(inventory);
}

static bool hold_memory(size_t size, size_t times, bool frees, struct shapeproof_error *error)
{
    SP_CALL(error, false);
    for (size_t i = 0; i < times; i++) {
        char *memory = sp_realloc(NULL, size, 1);
        memory = sp_realloc(memory, 2 * size, 1);
        memory = sp_realloc(memory, size, 1);
        if (frees) sp_free(memory);
    }
    return false; /* at the end of the test the memory is lost if it was not freed */
}

static void freed_memory_can_be_used_again(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    limit_memory(100000);
    hold_memory(40000, 1000, true, &error);
    assert_int_equal(error.status, SHAPEPROOF_OK);
    hold_memory(40000, 3, false, &error);
    assert_exceeded(&error, "this takes more than");
}

/* What is read raises the limit, but not beyond the size of the files, however often it is read. */
static uint64_t limit_after_reading(uint64_t size, uint64_t read)
{
    struct shapeproof_error error = {0};
    SP_CALL(&error, 0);
    sp_budget_open("x", size);
    for (int i = 0; i < 100; i++) sp_budget_read(read);
    return sp_budget_memory();
}

static void the_limit_grows_with_what_is_read(void **state)
{
    (void)state;
    const uint64_t least = SP_BUDGET_MEMORY;
    assert_int_equal(limit_after_reading(1000, 0), least);
    assert_int_equal(limit_after_reading(1000000, 10), least + UINT64_C(1000) * SP_BUDGET_FACTOR);
    assert_int_equal(limit_after_reading(1000, 500), least + UINT64_C(1000) * SP_BUDGET_FACTOR);
    assert_int_equal(limit_after_reading(UINT64_MAX, UINT64_MAX), UINT64_MAX);
    limit_memory(5);
    assert_int_equal(limit_after_reading(1000, 500), 5);
}

/* Steps, and tensors that are compared with a file. */
static void other_limits(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    struct shapeproof_check_path_options options = {.config = NULL};
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.tensors = 20}, &error));
    assert_null(shapeproof_check_path(MODEL, &options, &error));
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
    assert_non_null(strstr(error.message, "more than 20 tensors, the limit; --limit tensors=N allows more"));
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.steps = 100}, &error));
    assert_null(shapeproof_check_path(MODEL, &options, &error));
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
    assert_non_null(strstr(error.message, "more than 100 steps; --limit steps=N allows more"));
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.steps = 1000000, .tensors = 100}, &error));
    struct shapeproof_check *check = shapeproof_check_path(MODEL, &options, &error);
    assert_non_null(check);
    shapeproof_check_free(check);
}

static void a_later_limit_is_refused(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    assert_false(shapeproof_set_limits(&(struct shapeproof_limits){.reserved = {1}}, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_call_that_exceeds_its_memory_fails, default_limits),
        cmocka_unit_test_teardown(freed_memory_can_be_used_again, default_limits),
        cmocka_unit_test_teardown(the_limit_grows_with_what_is_read, default_limits),
        cmocka_unit_test_teardown(other_limits, default_limits),
        cmocka_unit_test_teardown(a_later_limit_is_refused, default_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
