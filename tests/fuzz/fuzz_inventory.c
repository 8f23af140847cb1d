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
    struct sp_error error = {0};
    char path[32];
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct sp_inventory *inventory = sp_inventory_open(path, &error);
    if (!inventory && (error.status != SP_ERR_FILE || !error.message[0])) abort(); /* a refusal gives its reason */
    sp_inventory_close(inventory);
    close(fd);
    return 0;
}
