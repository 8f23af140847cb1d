/* SPDX-License-Identifier: MIT
 * Numbers with a unit in the words of the user. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

const struct cli_unit cli_units_of_bytes[] = {
    {"", 1},
    {"B", 1},
    {"kB", UINT64_C(1000)},
    {"MB", UINT64_C(1000000)},
    {"GB", UINT64_C(1000000000)},
    {"TB", UINT64_C(1000000000000)},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {NULL, 0},
};

uint64_t cli_read_size(const char *text, const struct cli_unit *units)
{
    char *end;
    uint64_t size;
    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    while (units->name && strcmp(units->name, end) != 0) units++;
    return units->name && !errno && !__builtin_mul_overflow(number, units->size, &size) ? size : 0;
}
