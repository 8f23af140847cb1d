/* SPDX-License-Identifier: MIT
 * Writing JSON: commas, line breaks and indentation by themselves. Containers opened with sp_write_open put each
 * element on its own line; inside one opened with sp_write_open_line everything stays on one line, so that a list of
 * records has one record per line and diffs of two reports are readable.
 *
 *     struct sp_writer json = sp_write_document(&text, "shapeproof.tables/1");
 *     sp_write_key_open(&json, "tables", '[');
 *     for (...) {
 *         sp_write_open_line(&json, '{');
 *         sp_write_key_string(&json, "name", name);
 *         sp_write_close(&json);
 *     }
 *     sp_write_close(&json);
 *     sp_write_close(&json);                            the last one ends the document
 */
#ifndef SP_BASE_JSON_WRITE_H
#define SP_BASE_JSON_WRITE_H

#include "base/value.h"

enum { SP_WRITER_LEVELS = 16 }; /* of our own documents; more is a programming error */

struct sp_writer {
    struct sp_text *text;
    char closing[SP_WRITER_LEVELS]; /* the bracket that ends each open container */
    unsigned depth;
    unsigned line_depth; /* the depth from which on all is on one line, 0 for none */
    bool filled;         /* the open container has an element already */
    bool after_key;
};

/* Opens a document of ours, an object, and says in it which one it is. */
struct sp_writer sp_write_document(struct sp_text *text, const char *schema);
void sp_write_open(struct sp_writer *json, char bracket);      /* '{' or '[' */
void sp_write_open_line(struct sp_writer *json, char bracket); /* the same, on one line */
void sp_write_close(struct sp_writer *json);
void sp_write_key(struct sp_writer *json, const char *key);
void sp_write_string(struct sp_writer *json, const char *value); /* NULL is written as null */
void sp_write_number(struct sp_writer *json, uint64_t value);
void sp_write_bool(struct sp_writer *json, bool value);
void sp_write_null(struct sp_writer *json);
/* A value that is JSON text already: a negative number, a fraction, a list. */
void sp_write_raw(struct sp_writer *json, const char *value);
/* A key and its value; of a container, its opening. */
void sp_write_key_open(struct sp_writer *json, const char *key, char bracket);
void sp_write_key_open_line(struct sp_writer *json, const char *key, char bracket);
void sp_write_key_value(struct sp_writer *json, const char *key, struct shapeproof_value value);
void sp_write_key_string(struct sp_writer *json, const char *key, const char *value);
void sp_write_key_number(struct sp_writer *json, const char *key, uint64_t value);
void sp_write_key_bool(struct sp_writer *json, const char *key, bool value);
/* [50257, 768] */
void sp_write_key_numbers(struct sp_writer *json, const char *key, const uint64_t *values, size_t count);
/* Neither of them when the value is NULL. */
void sp_write_key_optional(struct sp_writer *json, const char *key, const char *value);
/* Neither of them when the value is NULL or "". */
void sp_write_key_filled(struct sp_writer *json, const char *key, const char *value);

#endif
