/* SPDX-License-Identifier: MIT */
#ifndef SP_BASE_ERROR_H
#define SP_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "shapeproof/error.h"

/* Makes `error` say that nothing is wrong. Every public function that takes an error begins with it, so that what an
 * earlier call said, or nobody ever set, is not taken for its own; nothing else calls it. */
void sp_error_reset(struct shapeproof_error *error);
/* Fill `error` unless it already holds one (the lowest level knows best). Always returns false, so that
 * a check reads `return sp_fail(error, ...)`. The message is made printable: no control characters, and no line break,
 * wherever in it the text of a file is. */
bool sp_fail(struct shapeproof_error *error, enum shapeproof_status status, enum shapeproof_kind kind,
             const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same with a message of several lines, which sp_diagnose has made printable one by one; for nothing else. */
bool sp_fail_lines(struct shapeproof_error *error, enum shapeproof_status status, enum shapeproof_kind kind,
                   const char *lines);
/* The common case: SHAPEPROOF_ERR_FILE and SHAPEPROOF_KIND_MALFORMED. */
bool sp_malformed(struct shapeproof_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Set the hint of an error that has none. */
void sp_hint(struct shapeproof_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A message about a place in a text begins with the place, and shows the line of the text below:
 *
 *     "t.shapes:77:61: there is no item 2\n  77 | x (a[2])\n     |   ^~~~"
 *
 * sp_first_line is the length of its first line. sp_behind_place is what follows the first ": ", or the whole message
 * if there is no ": ". */
static inline size_t sp_first_line(const char *message) { return strcspn(message, "\n"); }
static inline const char *sp_behind_place(const char *message)
{
    const char *colon = strstr(message, ": ");
    return colon ? colon + 2 : message;
}
/* Put "prefix: " in front of the message: the file in which it was found. */
void sp_error_prefix(struct shapeproof_error *error, const char *prefix);

/* Whether `reserved`, the last member of a struct of options, is zero. If it is not, the caller was compiled for a
 * later version and asks for what this one does not know: fails with SHAPEPROOF_ERR_USAGE. */
#define sp_options_are_known(reserved, error) sp_words_are_zero((reserved), sizeof(reserved), (error))
/* Of that many bytes. */
bool sp_words_are_zero(const uint64_t *words, size_t size, struct shapeproof_error *error);

#endif
