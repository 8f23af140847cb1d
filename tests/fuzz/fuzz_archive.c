/* SPDX-License-Identifier: MIT
 * The bytes as a zip archive of any kind. */
#define FUZZ_MEMORY_FLOOR FUZZ_MEMORY_INFLATED
#include "reader.h"

#include "mutate_zip.h"

static void fuzz_input(const unsigned char *data, size_t size) { fuzz_reader(&sp_reader_archive, data, size); }

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    uint64_t state = seed;
    return zip_mutate(data, size, most, &state);
}
