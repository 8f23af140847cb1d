/* SPDX-License-Identifier: MIT
 * The bytes as the index of a checkpoint of TensorFlow. */
#include "reader.h"

static void fuzz_input(const unsigned char *data, size_t size) { fuzz_reader(&sp_reader_tensorflow, data, size); }
