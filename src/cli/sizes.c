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

/* The unit that a number ends with; NULL if it is none of them. */
static const struct cli_unit *unit_called(const char *name, const struct cli_unit *units)
{
    while (units->name && strcmp(units->name, name) != 0) units++;
    return units->name ? units : NULL;
}

uint64_t cli_read_size(const char *text, const struct cli_unit *units)
{
    char *end;
    uint64_t size;
    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    const struct cli_unit *unit = unit_called(end, units);
    return unit && !errno && !__builtin_mul_overflow(number, unit->size, &size) ? size : 0;
}

const char *cli_why_no_size(const char *text, const struct cli_unit *units)
{
    const size_t digits = strspn(text, "0123456789");
    if (!digits) return "does not begin with a whole number";
    if (!unit_called(text + digits, units)) return "has an unknown unit";
    return strspn(text, "0") == digits ? "is not above 0" : "is too large";
}
