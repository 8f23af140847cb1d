/* SPDX-License-Identifier: MIT
 * What names are taken apart by. Of ASCII, whatever the locale. */
#ifndef SP_BASE_CHARS_H
#define SP_BASE_CHARS_H

#include <stdbool.h>
#include <string.h>

static inline bool sp_is_digit(char c) { return c >= '0' && c <= '9'; }

static inline bool sp_ends_with(const char *text, const char *tail)
{
    const size_t length = strlen(text), size = strlen(tail);
    return length >= size && strcmp(text + length - size, tail) == 0;
}

#endif
