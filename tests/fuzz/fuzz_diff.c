/* SPDX-License-Identifier: MIT
 * The bytes as a checkpoint, compared with itself, data and all: nothing differs, but for data that cannot be read. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shapeproof/shapeproof.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void compare_with_itself(const struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    struct shapeproof_diff *diff =
        shapeproof_diff_new(inventory, inventory, &(struct shapeproof_diff_options){.data = true}, &error);
    if (!diff && (error.status != SHAPEPROOF_ERR_FILE || !error.message[0])) abort();
    for (size_t i = 0; diff && i < shapeproof_diff_finding_count(diff); i++)
        if (strcmp(shapeproof_diff_finding(diff, i)->id, "not-compared") != 0) abort();
    if (diff) shapeproof_free(shapeproof_report_diff(diff, NULL, NULL));
    shapeproof_diff_free(diff);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    char path[32];
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (inventory) compare_with_itself(inventory);
    shapeproof_inventory_close(inventory);
    close(fd);
    return 0;
}
