/* SPDX-License-Identifier: MIT */
#include "base/natural.h"

#include <stddef.h>
#include <string.h>

#include "base/chars.h"

/* The run of digits without its leading zeros: of two, the longer is the greater. */
static size_t number_at(const char **text)
{
    while (**text == '0' && sp_is_digit((*text)[1])) ++*text;
    size_t digits = 0;
    while (sp_is_digit((*text)[digits])) digits++;
    return digits;
}

int sp_compare_natural(const char *a, const char *b)
{
    const char *p = a, *q = b;
    while (*p && *q) {
        if (sp_is_digit(*p) && sp_is_digit(*q)) {
            const size_t left = number_at(&p), right = number_at(&q);
            const int digits = left != right ? (left < right ? -1 : 1) : memcmp(p, q, left);
            if (digits) return digits;
            p += left;
            q += right;
        } else if (*p != *q) {
            return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
        } else {
            p++;
            q++;
        }
    }
    if (*p || *q) return *p ? 1 : -1;
    return strcmp(a, b);
}
