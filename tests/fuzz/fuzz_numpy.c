/* SPDX-License-Identifier: MIT
 * The bytes as an array of NumPy, and as an archive of them. */
#define FUZZ_MEMORY_FLOOR FUZZ_MEMORY_INFLATED
#include "reader.h"

static void fuzz_input(const unsigned char *data, size_t size)
{
    fuzz_reader(size > 1 && data[0] == 'P' ? &sp_reader_archive : &sp_reader_npy, data, size);
}
