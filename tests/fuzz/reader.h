/* SPDX-License-Identifier: MIT
 * The bytes put before one reader, whether or not its probe wants them. */
#ifndef TESTS_FUZZ_READER_H
#define TESTS_FUZZ_READER_H

#include "fuzz.h"
#include "read/reader.h"

static inline void fuzz_reader(const struct sp_reader *reader, const unsigned char *data, size_t size)
{
    if (fuzz_is_hdf5(data, size)) return;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = sp_inventory_new("input");
    struct sp_file file = {.fd = fuzz_file(data, size), .size = size, .path = "input"};
    const uint32_t index = sp_inventory_add_file(inventory, "input");
    const bool ok = reader->index(&file, index, inventory, &error) && sp_inventory_finish(inventory, &error);
    if (!ok) fuzz_must(error.status == SHAPEPROOF_ERR_FILE);
    if (!ok) fuzz_must_refuse(&error);
    shapeproof_inventory_close(inventory);
}

#endif
