/* SPDX-License-Identifier: MIT
 * The bytes as the metadata of a distributed checkpoint. */
#include "reader.h"

static void fuzz_input(const unsigned char *data, size_t size) { fuzz_reader(&sp_reader_dcp, data, size); }
