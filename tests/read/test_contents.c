/* SPDX-License-Identifier: MIT
 * Files of torch.save as values: dictionaries, numbers, tensors; files that are cut short. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read/torch/contents.h"
#include "scratch.h"

#define TRAINER "fixtures/resume/trainer/checkpoint-4"

static struct sp_contents *open_contents(const char *folder, const char *name, struct shapeproof_error *error)
{
    struct sp_folder there;
    assert_true(sp_folder_open(&there, folder));
    struct sp_contents *contents = sp_contents_open(&there, name, error);
    sp_folder_close(&there);
    return contents;
}

/* The moments of parameter 0 have the shape of the embedding, and its step is read from the data. */
static void test_optimizer_values(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct sp_contents_tensor tensor;
    double step = 0;
    struct sp_contents *contents = open_contents(TRAINER, "optimizer.pt", &error);
    assert_non_null(contents);
    const struct sp_pickle_value *root = sp_contents_root(contents);
    const struct sp_pickle_value *moments = sp_contents_pairs(sp_contents_get(root, "state"))->as.items[1];
    assert_true(sp_contents_tensor(contents, sp_contents_get(moments, "exp_avg"), &tensor));
    assert_string_equal(tensor.dtype, "F32");
    assert_int_equal(tensor.rank, 2);
    assert_int_equal(tensor.shape[0], 16);
    assert_int_equal(tensor.shape[1], 4);
    assert_int_equal(tensor.bytes, 256);
    assert_true(sp_contents_number(contents, sp_contents_get(moments, "step"), &step));
    assert_int_equal((int)step, 4);
    assert_false(sp_contents_number(contents, sp_contents_get(moments, "exp_avg"), &step));
    assert_false(sp_contents_tensor(contents, sp_contents_get(root, "param_groups"), &tensor));
    assert_null(sp_contents_get(root, "no such key"));
    assert_null(sp_contents_damaged(contents));
    sp_contents_close(contents);
}

/* The old stream of torch.save gives the same values as the zip archive. */
static void test_old_stream(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct sp_contents_tensor tensor;
    struct sp_contents *contents = open_contents("fixtures/torch/ok", "legacy.pt", &error);
    assert_non_null(contents);
    const struct sp_pickle_value *pairs = sp_contents_pairs(sp_contents_root(contents));
    assert_non_null(pairs);
    assert_true(sp_contents_tensor(contents, pairs->as.items[1], &tensor));
    sp_contents_close(contents);
}

/* A file that was cut anywhere is an error, and never read as less. */
static void test_cut_short(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_make(&scratch);
    static char bytes[1 << 16];
    FILE *file = fopen(TRAINER "/optimizer.pt", "rb");
    const size_t length = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    assert_true(length > 1000 && length < sizeof bytes);
    fclose(file);
    for (size_t kept = 0; kept < length; kept += length / 50) {
        struct shapeproof_error error = {0};
        scratch_write(&scratch, "optimizer.pt", bytes, kept);
        assert_null(open_contents(scratch.path, "optimizer.pt", &error));
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    }
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimizer_values),
        cmocka_unit_test(test_old_stream),
        cmocka_unit_test(test_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
