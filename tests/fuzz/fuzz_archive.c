/* SPDX-License-Identifier: MIT
 * The bytes as a zip archive of any kind. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    fuzz_reader(&sp_reader_archive, data, size);
    return 0;
}
