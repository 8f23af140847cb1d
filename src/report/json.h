/* SPDX-License-Identifier: MIT
 * Writing JSON: commas, line breaks and indentation by themselves. Containers opened with sp_json_open put each element
 * on its own line; inside one opened with sp_json_open_line everything stays on one line, so that a list of records has
 * one record per line and diffs of two reports are readable.
 *
 *     struct sp_json json = {.text = &text};
 *     sp_json_open(&json, '{');
 *     sp_json_key(&json, "schema");
 *     sp_json_string(&json, "shapeproof.inspect/1");
 *     sp_json_close(&json);                            the last one ends the line
 */
#ifndef SP_REPORT_JSON_H
#define SP_REPORT_JSON_H

#include "base/text.h"

enum { SP_JSON_DEPTH = 16 }; /* of our own documents; more is a programming error */

struct sp_json {
    struct sp_text *text;
    char closing[SP_JSON_DEPTH]; /* the bracket that ends each open container */
    unsigned depth;
    unsigned line_depth; /* the depth from which on all is on one line, 0 for none */
    bool filled;         /* the open container has an element already */
    bool after_key;
};

void sp_json_open(struct sp_json *json, char bracket);      /* '{' or '[' */
void sp_json_open_line(struct sp_json *json, char bracket); /* the same, on one line */
void sp_json_close(struct sp_json *json);
void sp_json_key(struct sp_json *json, const char *key);
void sp_json_string(struct sp_json *json, const char *value); /* NULL is written as null */
void sp_json_number(struct sp_json *json, uint64_t value);
void sp_json_bool(struct sp_json *json, bool value);
void sp_json_null(struct sp_json *json);
/* A value that is JSON text already: a negative number, a fraction, a list. */
void sp_json_raw(struct sp_json *json, const char *value);
/* [50257, 768] */
void sp_json_numbers(struct sp_json *json, const uint64_t *values, size_t count);

#endif
