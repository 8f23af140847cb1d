/* SPDX-License-Identifier: MIT
 * The bytes as the index of a checkpoint of TensorFlow. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    fuzz_reader(&sp_reader_tensorflow, data, size);
    return 0;
}
