/* SPDX-License-Identifier: MIT
 * The bytes as a checkpoint: recognised and indexed by whichever reader wants them, as `inspect` would. */
#define FUZZ_MEMORY_FLOOR FUZZ_MEMORY_INFLATED
#include "fuzz.h"

static void fuzz_input(const unsigned char *data, size_t size)
{
    if (!fuzz_is_hdf5(data, size)) shapeproof_inventory_close(fuzz_open(data, size));
}
