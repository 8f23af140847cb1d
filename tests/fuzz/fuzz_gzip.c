/* SPDX-License-Identifier: MIT
 * The bytes as gzip data. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    fuzz_reader(&sp_reader_gzip, data, size);
    return 0;
}
