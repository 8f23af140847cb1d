/* SPDX-License-Identifier: MIT
 * The addresses that are followed: https://HOST[:PORT]/PATH[?QUERY] of plain characters, and http:// for the loopback
 * addresses 127.0.0.1 and [::1] alone. What is odd in any other way, a user name, a control character, a backslash, is
 * refused, so that no two parsers can take it for two things. */
#ifndef SP_NET_URL_H
#define SP_NET_URL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

enum { SP_URL_BYTES = 8 * 1024 };

struct sp_url {
    const char *text;   /* without a fragment */
    const char *shown;  /* without the query, which may be a signature: for messages */
    const char *origin; /* "https://host:port", lower case, the port always there */
    bool loopback;      /* plain http */
};

/* Checks a URL and takes it apart; the texts are in the arena. False with an error for one that is not followed. */
bool sp_url_parse(const char *text, struct sp_arena *arena, struct sp_url *url, struct shapeproof_error *error);
/* `text` with everything that is no plain character of a path as %XX. */
char *sp_url_escape(const char *text, struct sp_arena *arena);
/* Whether it is "" or names with slashes between them that lead to no other place than below where they begin. */
bool sp_is_safe_path(const char *path);

#endif
