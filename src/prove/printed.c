/* SPDX-License-Identifier: MIT */
#include "prove/printed.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* The digits as a number, the point left out; *fraction is 10 to the number of digits behind it. */
static const char *read_digits(const char *text, int64_t *value, int64_t *fraction)
{
    bool point = false, any = false;
    *value = 0;
    *fraction = 1;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (*value > INT64_MAX / 100 || *fraction > 1000000000) return NULL;
        *value = *value * 10 + (*text - '0');
        if (point) *fraction *= 10;
        any = true;
    }
    return any ? text : NULL;
}

/* What one unit of the last digit is worth, or 0. */
static int64_t unit_of_suffix(const char *suffix, int64_t fraction)
{
    static const struct {
        char letter;
        int64_t factor;
    } suffixes[] = {{'\0', 1}, {'K', 1000}, {'M', 1000000}, {'B', 1000000000}, {'T', 1000000000000}};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (suffixes[i].letter == *suffix && (!*suffix || !suffix[1]) && suffixes[i].factor % fraction == 0)
            return suffixes[i].factor / fraction;
    return 0;
}

bool sp_printed_read(const char *text, struct sp_printed *printed)
{
    int64_t digits, fraction, figure;
    const char *suffix = read_digits(text, &digits, &fraction);
    const int64_t unit = suffix ? unit_of_suffix(suffix, fraction) : 0;
    if (!unit || __builtin_mul_overflow(digits, unit, &figure)) return false;
    printed->least = figure - unit / 2;
    return !__builtin_add_overflow(figure, unit / 2 - (unit > 1), &printed->most);
}

const char *sp_printed_like(struct sp_arena *arena, const char *figure, uint64_t number)
{
    struct sp_printed printed;
    if (!sp_printed_read(figure, &printed)) return "";
    const size_t length = strlen(figure);
    const bool has_suffix = figure[length - 1] >= 'A';
    const char *point = strchr(figure, '.');
    const int decimals = point ? (int)(figure + length - has_suffix - point) - 1 : 0;
    const uint64_t unit = (uint64_t)(printed.most - printed.least) + 1;
    const uint64_t digits = number / unit + (number % unit >= unit - unit / 2);
    uint64_t power = 1;
    for (int i = 0; i < decimals; i++) power *= 10;
    if (!digits) return sp_arena_printf(arena, "%" PRIu64, number); /* the unit is too large for it */
    if (!decimals) return sp_arena_printf(arena, "%" PRIu64 "%s", digits, has_suffix ? figure + length - 1 : "");
    return sp_arena_printf(arena, "%" PRIu64 ".%0*" PRIu64 "%s", digits / power, decimals, digits % power,
                           has_suffix ? figure + length - 1 : "");
}
