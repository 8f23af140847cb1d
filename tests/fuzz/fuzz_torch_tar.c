/* SPDX-License-Identifier: MIT
 * The bytes as a tar archive of PyTorch before 0.2. */
#include "reader.h"

static void fuzz_input(const unsigned char *data, size_t size) { fuzz_reader(&sp_reader_torch_tar, data, size); }
