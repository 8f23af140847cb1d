/* SPDX-License-Identifier: MIT
 * The bytes as a model of ONNX. */
#include "reader.h"

static void fuzz_input(const unsigned char *data, size_t size) { fuzz_reader(&sp_reader_onnx, data, size); }
