/* SPDX-License-Identifier: MIT
 * Names inside messages: tensor names are an attacker's text of any length, and lists of them can be long. */
#ifndef SP_BASE_NAMES_H
#define SP_BASE_NAMES_H

#include <stddef.h>

#include "base/text.h"

struct sp_quoted {
    char text[256];
};

/* 'name', printable, and cut with its length when long: 'model.layers...' (70000 bytes).
 * Used in place, as an argument: sp_fail(error, ..., "tensor %s", sp_quote(name).text). */
struct sp_quoted sp_quote(const char *name);

/* A list of which only the first few are shown: 'a', 'b', 'c' and 4 more. Zero-initialise; sp_names_free. */
enum { SP_NAMES_SHOWN = 3 };

struct sp_names {
    struct sp_text text;
    size_t count; /* of all, shown or not */
};

void sp_names_add(struct sp_names *names, const char *name);
/* The finished list, borrowed until sp_names_free; called once, after the last name. */
const char *sp_names_text(struct sp_names *names);
void sp_names_free(struct sp_names *names);

#endif
