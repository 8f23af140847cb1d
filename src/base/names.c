/* SPDX-License-Identifier: MIT */
#include "base/names.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = 160 };

static size_t cut_at_code_point(const char *text, size_t length, size_t limit)
{
    if (length <= limit) return length;
    while (limit && ((unsigned char)text[limit] & 0xc0) == 0x80) limit--;
    return limit;
}

struct sp_quoted sp_quote(const char *name)
{
    struct sp_quoted quoted;
    struct sp_text visible = {0};
    const size_t length = strlen(name);
    sp_text_puts(&visible, "");
    sp_text_visible(&visible, name, cut_at_code_point(name, length, LONGEST_NAME));
    const size_t shown = cut_at_code_point(visible.data, visible.length, LONGEST_NAME);
    if (length > LONGEST_NAME || shown < visible.length)
        snprintf(quoted.text, sizeof quoted.text, "'%.*s...' (%zu bytes)", (int)shown, visible.data, length);
    else snprintf(quoted.text, sizeof quoted.text, "'%s'", visible.data);
    sp_text_free(&visible);
    return quoted;
}

void sp_names_add(struct sp_names *names, const char *name)
{
    if (names->count++ >= SP_NAMES_SHOWN) return;
    if (names->count > 1) sp_text_puts(&names->text, ", ");
    sp_text_puts(&names->text, sp_quote(name).text);
}

const char *sp_names_text(struct sp_names *names)
{
    if (names->count > SP_NAMES_SHOWN) sp_text_printf(&names->text, " and %zu more", names->count - SP_NAMES_SHOWN);
    return names->text.data ? names->text.data : "";
}

void sp_names_free(struct sp_names *names)
{
    sp_text_free(&names->text);
    *names = (struct sp_names){0};
}
