/* SPDX-License-Identifier: MIT
 * A strict JSON scanner (RFC 8259) for texts of a known shape, such as a safetensors header. It walks the text once,
 * builds no tree and allocates nothing, so that memory stays flat whatever the text holds; integers are exact.
 * Refused on purpose, beyond what is not JSON: a byte-order mark, NUL in a string, lone surrogates, more than
 * SP_JSON_DEPTH levels.
 *
 * Strings are decoded in place: the text is overwritten as it is scanned, and decoded strings live as long as it.
 * Failure is sticky: after the first error every call returns false (or NULL) and moves nothing. A walk over an
 * object or array ends with false too, so test sp_json_ok after the loop:
 *
 *     if (!sp_json_open(json, '{')) return false;
 *     for (bool first = true; (key = sp_json_member(json, &first));) ...
 *     return sp_json_ok(json);
 */
#ifndef SP_BASE_JSON_SCAN_H
#define SP_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SP_JSON_DEPTH = 127 }; /* as serde_json, which reads the header of safetensors, allows */

/* Which numbers the program that reads the file refuses, although they are JSON. */
enum sp_json_numbers {
    SP_JSON_ALL_NUMBERS,
    SP_JSON_OF_PYTHON, /* integers of more than SP_PYTHON_DIGITS digits are refused */
    SP_JSON_OF_SERDE   /* numbers that are larger than every double are refused */
};

enum { SP_PYTHON_DIGITS = 4300 }; /* sys.int_info.default_max_str_digits, from CPython 3.11 on */

struct sp_json {
    const char *what; /* "header", "index": begins each message */
    char *text;
    size_t length, offset;
    uint64_t origin; /* where the text begins in its file: messages count from there */
    enum sp_json_numbers numbers;
    unsigned levels; /* that are open around what sp_json_skip skips: they count for SP_JSON_DEPTH */
    struct shapeproof_error *error;
    size_t string_length; /* of the key or string that was returned last */
};

/* Refuses a byte-order mark and text that is not strict UTF-8. Call it first. */
bool sp_json_check(struct sp_json *json);
bool sp_json_ok(const struct sp_json *json);

/* The next byte that is not whitespace, without moving past it; '\0' at the end of the text. */
char sp_json_peek(struct sp_json *json);
/* Insists on `bracket`, '{' or '['. */
bool sp_json_open(struct sp_json *json, char bracket);
/* The key of the next member, its ':' taken; NULL once the '}' is taken. `first` starts out true. */
char *sp_json_member(struct sp_json *json, bool *first);
/* True when another item follows; false once the ']' is taken. */
bool sp_json_item(struct sp_json *json, bool *first);

/* A string, decoded, without NUL inside and NUL-terminated. */
char *sp_json_string(struct sp_json *json);
/* An integer from 0 to 2^64-1, written as digits alone. */
bool sp_json_u64(struct sp_json *json, uint64_t *value);
/* An array of such integers. Of more than `room` only so many are read, and `count` is room + 1. */
bool sp_json_u64s(struct sp_json *json, uint64_t *values, size_t room, size_t *count);
/* True, and moved past, when the next value is null. */
bool sp_json_null(struct sp_json *json);
/* Moves past any value; its text, exactly as written, is `length` bytes at the returned pointer. */
const char *sp_json_skip(struct sp_json *json, size_t *length);
/* Whether a number begins here that is an integer of more than SP_PYTHON_DIGITS digits. */
bool sp_json_is_long_integer(const char *text, size_t left);
/* Whether the escape of a surrogate begins here, \ud800 to \udfff. */
bool sp_json_is_surrogate(const char *text, size_t left);
/* Insists that only whitespace follows. */
bool sp_json_end(struct sp_json *json);

#endif
