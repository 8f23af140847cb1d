/* SPDX-License-Identifier: MIT
 * The bytes as an HDF5 file, or as a file that contains one. libhdf5 runs in a process of its own: this target is slow.
 * fuzz_hdf5_wire.c is for what that process sends. */
#define FUZZ_MEMORY_FLOOR FUZZ_MEMORY_INFLATED
#include "fuzz.h"

#include "mutate_hdf5.h"

static void fuzz_input(const unsigned char *data, size_t size)
{
    if (fuzz_is_hdf5(data, size)) shapeproof_inventory_close(fuzz_open(data, size));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    uint64_t state = seed;
    return hdf5_mutate(data, size, most, &state);
}
