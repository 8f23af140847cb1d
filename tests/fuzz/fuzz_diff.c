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

static void compare_with_itself(const struct sp_inventory *inventory)
{
    struct sp_error error = {0};
    struct sp_diff *diff = sp_diff_new(inventory, inventory, &(struct sp_diff_options){.data = true}, &error);
    if (!diff && (error.status != SP_ERR_FILE || !error.message[0])) abort();
    for (size_t i = 0; diff && i < sp_diff_finding_count(diff); i++)
        if (strcmp(sp_diff_finding(diff, i)->id, "not-compared") != 0) abort();
    if (diff) sp_free(sp_report_diff(diff, NULL, NULL));
    sp_diff_free(diff);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct sp_error error = {0};
    char path[32];
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct sp_inventory *inventory = sp_inventory_open(path, &error);
    if (inventory) compare_with_itself(inventory);
    sp_inventory_close(inventory);
    close(fd);
    return 0;
}
