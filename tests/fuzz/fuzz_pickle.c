/* SPDX-License-Identifier: MIT
 * The bytes as a pickle of arrays or tensors. */
#include "reader.h"

#include "mutate_pickle.h"

static void fuzz_input(const unsigned char *data, size_t size) { fuzz_reader(&sp_reader_pickle, data, size); }

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    uint64_t state = seed;
    return pickle_mutate(data, size, most, &state);
}
