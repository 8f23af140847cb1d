/* SPDX-License-Identifier: MIT
 * Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef SP_BASE_UTF8_H
#define SP_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes one code point; returns its length in bytes, or 0 when the bytes are not valid UTF-8. */
size_t sp_utf8_decode(const char *bytes, size_t length, uint32_t *code);
/* What UTF-8 cannot say and names of Python may have: a NUL, as the two bytes c0 80, and a lone surrogate, as the three
 * that its number would have. The length of one of them, or 0. */
size_t sp_utf8_decode_odd(const char *bytes, size_t length, uint32_t *code);
/* Offset of the first invalid byte, or `length` when all is valid. */
size_t sp_utf8_check(const char *bytes, size_t length);

#endif
