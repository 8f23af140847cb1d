/* SPDX-License-Identifier: MIT
 * The bytes put before one reader, whether or not its probe wants them. */
#ifndef TESTS_FUZZ_READER_H
#define TESTS_FUZZ_READER_H

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read/reader.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static inline void fuzz_reader(const struct sp_reader *reader, const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = sp_inventory_new("input");
    struct sp_file file = {.fd = memfd_create("input", MFD_CLOEXEC), .size = size, .path = "input"};
    if (file.fd < 0 || write(file.fd, data, size) != (ssize_t)size) abort();
    const uint32_t index = sp_inventory_add_file(inventory, "input");
    const bool ok = reader->index(&file, index, inventory, &error) && sp_inventory_finish(inventory, &error);
    if (!ok && (error.status != SHAPEPROOF_ERR_FILE || !error.message[0])) abort(); /* a refusal gives its reason */
    shapeproof_inventory_close(inventory);
    close(file.fd);
}

#endif
