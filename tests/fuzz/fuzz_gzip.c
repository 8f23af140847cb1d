/* SPDX-License-Identifier: MIT
 * The bytes as gzip data. */
#define FUZZ_MEMORY_FLOOR FUZZ_MEMORY_INFLATED
#include "reader.h"

static void fuzz_input(const unsigned char *data, size_t size) { fuzz_reader(&sp_reader_gzip, data, size); }
