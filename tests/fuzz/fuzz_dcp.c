/* SPDX-License-Identifier: MIT
 * The bytes as the metadata of a distributed checkpoint. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    fuzz_reader(&sp_reader_dcp, data, size);
    return 0;
}
