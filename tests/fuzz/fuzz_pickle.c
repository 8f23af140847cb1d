/* SPDX-License-Identifier: MIT
 * The bytes as a pickle of arrays or tensors. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    fuzz_reader(&sp_reader_pickle, data, size);
    return 0;
}
