/* SPDX-License-Identifier: MIT
 * The bytes as a checkpoint: recognised and indexed by whichever reader wants them, as `inspect` would. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shapeproof/shapeproof.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    char path[32];
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory && (error.status != SHAPEPROOF_ERR_FILE || !error.message[0]))
        abort(); /* a refusal gives its reason */
    shapeproof_inventory_close(inventory);
    close(fd);
    return 0;
}
