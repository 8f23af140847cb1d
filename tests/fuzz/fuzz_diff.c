/* SPDX-License-Identifier: MIT
 * The bytes as a checkpoint, compared with itself, data and all: nothing differs, but for data that cannot be read. */
#define FUZZ_MEMORY_FLOOR FUZZ_MEMORY_INFLATED
#include "fuzz.h"

static void compare_with_itself(const struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    struct shapeproof_diff *diff =
        shapeproof_diff_new(inventory, inventory, &(struct shapeproof_diff_options){.data = true}, &error);
    if (!diff) fuzz_must(error.status == SHAPEPROOF_ERR_FILE);
    fuzz_must_have(diff, &error);
    for (size_t i = 0; diff && i < shapeproof_diff_finding_count(diff); i++)
        fuzz_must(strcmp(shapeproof_diff_finding(diff, i)->id, "not-compared") == 0);
    if (diff) shapeproof_free(shapeproof_report_diff(diff, NULL, NULL));
    shapeproof_diff_free(diff);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    if (fuzz_is_hdf5(data, size)) return;
    struct shapeproof_inventory *inventory = fuzz_open(data, size);
    if (inventory) compare_with_itself(inventory);
    shapeproof_inventory_close(inventory);
}
