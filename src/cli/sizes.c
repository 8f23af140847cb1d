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

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads ".5" at *text, if it is there: 5 tenths of the unit. Digits behind the 18th, which are less than 1 of any unit,
 * change nothing. */
static void read_fraction(const char **text, uint64_t *numerator, uint64_t *denominator)
{
    enum { MOST_DIGITS = 18 };
    *numerator = 0;
    *denominator = 1;
    if (**text != '.' || !is_digit((*text)[1])) return;
    ++*text;
    for (int i = 0; is_digit(**text); i++, ++*text)
        if (i < MOST_DIGITS) {
            *numerator = *numerator * 10 + (uint64_t)(**text - '0');
            *denominator *= 10;
        }
}

uint64_t cli_read_size(const char *text, const struct cli_unit *units)
{
    char *end;
    uint64_t size, numerator, denominator;
    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    const char *behind = end;
    read_fraction(&behind, &numerator, &denominator);
    const struct cli_unit *unit = unit_called(behind, units);
    if (!unit || errno || __builtin_mul_overflow(number, unit->size, &size)) return 0;
    const uint64_t part = (uint64_t)((unsigned __int128)numerator * unit->size / denominator);
    return (numerator && unit->size == 1) || __builtin_add_overflow(size, part, &size) ? 0 : size;
}

const char *cli_why_no_size(const char *text, const struct cli_unit *units)
{
    const size_t digits = strspn(text, "0123456789");
    const char *behind = text + digits;
    uint64_t numerator, denominator;
    if (!digits) return "does not begin with a number";
    read_fraction(&behind, &numerator, &denominator);
    const struct cli_unit *unit = unit_called(behind, units);
    if (!unit) return "has an unknown unit";
    if (numerator && unit->size == 1) return "is no whole number";
    if (strspn(text, "0.") == (size_t)(behind - text)) return "is not above 0";
    return strspn(text, "0") >= digits ? "is less than 1" : "is too large";
}
