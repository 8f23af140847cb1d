/* SPDX-License-Identifier: MIT
 * A growing text, the output of every report. Zero-initialise, append, end with sp_text_free or
 * sp_text_keep. */
#ifndef SP_BASE_TEXT_H
#define SP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

struct sp_text {
    char *data; /* NUL-terminated once anything was appended */
    size_t length, capacity;
};

/* Room for that many bytes and a NUL behind what is there, for who writes into `data`. */
void sp_text_reserve(struct sp_text *text, size_t more);
void sp_text_append(struct sp_text *text, const char *bytes, size_t length);
static inline void sp_text_puts(struct sp_text *text, const char *string)
{
    sp_text_append(text, string, strlen(string)); /* which is known where it is written out */
}
void sp_text_printf(struct sp_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sp_text_pad(struct sp_text *text, size_t spaces);
/* 124439808, and 124,439,808. */
void sp_text_number(struct sp_text *text, uint64_t number);
void sp_text_grouped(struct sp_text *text, uint64_t number);
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD, and what a terminal must not see raw becomes
 * \uNNNN. A NUL or a lone surrogate, as sp_utf8_decode_odd takes them, is \u0000 or \udc80. */
void sp_text_json(struct sp_text *text, const char *string);
/* For people: control characters, bidi controls, invisible characters, blanks other than U+0020, private characters and
 * invalid UTF-8 as \xNN or \u{NNNN}, never raw; also the first character of what a runner of continuous integration
 * takes for a command: "::" at the beginning or after a blank, "##[", "##vso[", "##teamcity[". */
void sp_text_visible(struct sp_text *text, const char *string, size_t length);
void sp_text_free(struct sp_text *text);
/* Ends a text that was built to be kept: a copy of it in the arena, "" when nothing was appended. The text is freed,
 * and empty again. */
char *sp_text_keep(struct sp_text *text, struct sp_arena *arena);

/* The width in columns of what sp_text_visible writes (one column per code point). */
size_t sp_visible_width(const char *string);

#endif
