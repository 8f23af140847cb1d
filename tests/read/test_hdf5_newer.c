/* SPDX-License-Identifier: MIT
 * Datasets that are newer than the library, or broken, or larger than anything: none hides the others. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/listing.h"

#define OK "fixtures/hdf5/ok/"

/* "name dtype (shape)", a line each: where data lie is told only by a library that knows the file. */
static void assert_tensors(const char *path, const char *expected, size_t unread)
{
    struct shapeproof_error error;
    struct sp_text text = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) fail_msg("%s: %s", path, error.message);
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        sp_text_printf(&text, "%s %s (", tensor->name, tensor->dtype_name);
        for (uint32_t k = 0; k < tensor->rank; k++) sp_text_printf(&text, "%s%" PRIu64, k ? "," : "", tensor->shape[k]);
        sp_text_puts(&text, ")\n");
    }
    assert_string_equal(text.data, expected);
    assert_int_equal(shapeproof_inventory_unread_count(inventory), unread);
    sp_text_free(&text);
    shapeproof_inventory_close(inventory);
}

static void newer_datasets_are_listed(void **state)
{
    static const char expected[] = "chunked F64 (10,10)\ncomplex C128 (3)\ngroup/inner/attributes U16 (2,2)\n"
                                   "group/link F64 (10,10)\ngrows I16 (4,5)\nhalf F16 (1,2,3)\nnothing F32 ()\n"
                                   "pairs compound (2)\nplain F32 (2,3)\nscalar I64 ()\ntext string (2)\n"
                                   "truth BOOL (2,2)\n";
    (void)state;
    assert_tensors(OK "newer.h5", expected, 0);
    assert_tensors(OK "newer_paged.h5", expected, 0);
    assert_tensors(OK "newer_user_block.h5", expected, 0);
}

static void a_broken_one_is_counted(void **state)
{
    (void)state;
    assert_tensors(OK "one_broken.h5", "before F32 (2,2)\nlater F32 (2,2)\n", 1);
    assert_tensors(OK "huge.h5", "small F32 (3)\nsquare F32 (1073741824,1073741824)\n", 0);
}

static void damage_is_survived(void **state)
{
    (void)state;
    assert_survives_damage(OK "newer.h5", 150);
    assert_survives_damage(OK "one_broken.h5", 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newer_datasets_are_listed),
        cmocka_unit_test(a_broken_one_is_counted),
        cmocka_unit_test(damage_is_survived),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
