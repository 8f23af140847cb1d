/* SPDX-License-Identifier: MIT
 * The texts of protocol 0, which are lines: what a line cannot hold is escaped in it. */
#ifndef SP_READ_PICKLE_ESCAPES_H
#define SP_READ_PICKLE_ESCAPES_H

#include <stdbool.h>
#include <stddef.h>

/* Both write at most twice as many bytes as they are given, and return false for an escape that Python refuses. */

/* UNICODE: bytes are characters of Latin-1, \u and \U the others. Lone surrogates become three bytes, as in the texts
 * of later protocols. */
bool sp_pickle_plain_text(const char *text, size_t length, char *out, size_t *count);
/* STRING: the bytes of Python 2, as its repr spells them. */
bool sp_pickle_plain_bytes(const char *text, size_t length, char *out, size_t *count);

#endif
