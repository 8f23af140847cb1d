/* SPDX-License-Identifier: MIT */
#include "base/shard_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"

/* One to nine digits; NULL when there are none, or more. */
static const char *read_shard_number(const char *p, uint32_t *number)
{
    const size_t digits = strspn(p, "0123456789");
    if (digits < 1 || digits > 9) return NULL;
    *number = (uint32_t)strtoul(p, NULL, 10);
    return p + digits;
}

bool sp_shard_name_read(const char *name, struct sp_shard_name *shard)
{
    uint32_t number;
    const char *of = NULL;
    for (const char *p = name; (p = strstr(p, "-of-")); p++) of = p;
    if (!of || !(shard->suffix = read_shard_number(of + 4, &shard->of)) || *shard->suffix != '.') return false;
    if (sp_ends_with(name, ".index.json")) return false;
    const char *digits = of;
    while (digits > name && sp_is_digit(digits[-1])) digits--;
    if (digits == name || !strchr("-_", digits[-1]) || read_shard_number(digits, &number) != of) return false;
    shard->stem = (size_t)(digits - name);
    shard->digits = (size_t)(of - digits);
    shard->number = number;
    return true;
}
