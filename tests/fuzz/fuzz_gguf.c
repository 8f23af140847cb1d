/* SPDX-License-Identifier: MIT
 * The bytes as what stands behind the magic number of a GGUF file, in each version and in both byte orders, so that no
 * input is spent on finding the reader. A fixture is taken without its own first eight bytes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shapeproof/shapeproof.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void open_as(const char *head, const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    char path[32];
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, head, 8) != 8 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory && (error.status != SHAPEPROOF_ERR_FILE || !error.message[0]))
        abort(); /* a refusal gives its reason */
    if (inventory && strcmp(shapeproof_inventory_format(inventory), "gguf") != 0) abort();
    shapeproof_inventory_close(inventory);
    close(fd);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const char *const heads[] = {"GGUF\1\0\0\0", "GGUF\3\0\0\0", "GGUF\0\0\0\3"};
    if (size >= 8 && memcmp(data, "GGUF", 4) == 0) data += 8, size -= 8;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) open_as(heads[i], data, size);
    return 0;
}
