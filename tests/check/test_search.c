/* SPDX-License-Identifier: MIT
 * The search for the configuration of a checkpoint, where the system does not let it look. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/scratch.h"
#include "shapeproof/shapeproof.h"

#define HEADER "{\"weight\":{\"dtype\":\"F32\",\"shape\":[2,1,3,3],\"data_offsets\":[0,72]}}"

enum { NOBODY = 65534 };

static struct shapeproof_error error;

/* As many descriptors as are open already: the next open fails with EMFILE. */
static struct rlimit forbid_descriptors(void)
{
    struct rlimit before;
    const int next = dup(STDIN_FILENO);
    assert_true(next >= 0);
    close(next);
    getrlimit(RLIMIT_NOFILE, &before);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next, before.rlim_max});
    return before;
}

static void adapter_config_cannot_be_opened(void **state)
{
    (void)state;
    bool inside = true;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open("fixtures/adapters/llama", &error);
    assert_non_null(inventory);
    const struct rlimit before = forbid_descriptors();
    char *found = shapeproof_config_search(inventory, "fixtures/adapters/llama", NULL, NULL, &inside, &error);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_null(found);
    assert_false(inside);
    assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    assert_int_equal(error.kind, SHAPEPROOF_KIND_IO);
    assert_non_null(strstr(error.message, "adapter_config.json: open: "));
    assert_non_null(strstr(error.message, strerror(EMFILE)));
    found = shapeproof_config_search(inventory, "fixtures/adapters/llama", NULL, NULL, &inside, &error);
    assert_non_null(found);
    assert_int_equal(error.status, SHAPEPROOF_OK);
    shapeproof_free(found);
    shapeproof_inventory_close(inventory);
}

/* A folder beside the file is closed to us. Root may look everywhere, so the test goes on as nobody. */
static void place_is_not_permitted(void **state)
{
    static const char *const settings[] = {"in_channels=1", "out_channels=2", "kernel_size=3", "bias=false", NULL};
    struct scratch scratch;
    char file[512], folder[512];
    const bool is_root = geteuid() == 0;
    (void)state;
    scratch_make(&scratch);
    snprintf(file, sizeof file, "%s", scratch_safetensors(&scratch, "a.safetensors", HEADER, strlen(HEADER), 72));
    snprintf(folder, sizeof folder, "%s", scratch_path(&scratch, "huggingface"));
    assert_int_equal(mkdir(folder, 0), 0);
    chmod(scratch.path, 0777);
    if (is_root) assert_int_equal(seteuid(NOBODY), 0);

    assert_null(shapeproof_config_beside(file, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_UNKNOWN);
    assert_non_null(strstr(error.message, "/huggingface/config.json: stat: "));
    assert_non_null(strstr(error.message, strerror(EACCES)));

    struct shapeproof_check_path_options options = {.settings = NULL};
    assert_null(shapeproof_check_path(file, &options, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_UNKNOWN);
    assert_non_null(strstr(error.message, strerror(EACCES)));
    options.settings = settings; /* these suffice without a configuration */
    options.check.table = "conv2d";
    struct shapeproof_check *check = shapeproof_check_path(file, &options, &error);
    assert_string_equal(error.message, "");
    assert_non_null(check);
    shapeproof_check_free(check);

    scratch_write(&scratch, "config.json", "{}", 2); /* comes before the closed folder */
    char *found = shapeproof_config_beside(file, &error);
    assert_non_null(found);
    assert_int_equal(error.status, SHAPEPROOF_OK);
    shapeproof_free(found);

    if (is_root) assert_int_equal(seteuid(0), 0);
    rmdir(folder);
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adapter_config_cannot_be_opened),
        cmocka_unit_test(place_is_not_permitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
