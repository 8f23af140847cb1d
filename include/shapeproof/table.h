/* SPDX-License-Identifier: MIT
 * Shape tables: what checkpoints of an architecture should hold, as a function of hyper-parameters.
 * docs/language.md describes the language they are written in. */
#ifndef SHAPEPROOF_TABLE_H
#define SHAPEPROOF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_tables; /* opaque: a set of tables, the built-in ones to begin with */

struct shapeproof_table_info {
    const char *name;
    const char *title; /* one line: what it is and where it comes from; may be "" */
    const char *file;  /* "gpt2.shapes", or the path of a user's file */
    size_t line;
    const char *const *model_types; /* the model_type values of config.json that it serves */
    size_t model_type_count;
    const char *source; /* its text in the file, with the comment above it; not NUL-terminated */
    size_t source_length;
};

/* The built-in tables, each of which is read when it is first asked for. Never fails, so far. */
SHAPEPROOF_API struct shapeproof_tables *shapeproof_tables_new(struct shapeproof_error *error);
/* Adds a user's table file, whose tables and parts hide earlier ones of the same name. On a mistake returns non-zero
 * (SHAPEPROOF_ERR_TABLE, or SHAPEPROOF_ERR_FILE when unreadable) and shapeproof_tables_messages has the mistakes, each
 * with its place. If there are more than 100, it has the first ones, and its last line says so. */
SHAPEPROOF_API enum shapeproof_status shapeproof_tables_add_file(struct shapeproof_tables *tables, const char *path,
                                                                 struct shapeproof_error *error);
/* Likewise from text; `name` stands for the file in messages. Both are copied. */
SHAPEPROOF_API enum shapeproof_status shapeproof_tables_add_text(struct shapeproof_tables *tables, const char *name,
                                                                 const char *text, size_t length,
                                                                 struct shapeproof_error *error);
/* The mistakes found so far: FILE:LINE:COLUMN, the source line, a caret. "" when none. Borrowed. */
SHAPEPROOF_API const char *shapeproof_tables_messages(const struct shapeproof_tables *tables);
/* What is odd in the files that were added and no mistake, a line each: "paper.shapes: 'N' is defined, and no claim
 * uses it". "" for nothing. Borrowed until the next file is added. */
SHAPEPROOF_API const char *shapeproof_tables_remarks(const struct shapeproof_tables *tables);
SHAPEPROOF_API void shapeproof_tables_free(struct shapeproof_tables *tables);

/* The tables that are in force, in order of their names; NULL beyond the last one. Borrowed until
 * shapeproof_tables_free, but an index may mean another table once one is added. */
SHAPEPROOF_API size_t shapeproof_tables_count(const struct shapeproof_tables *tables);
SHAPEPROOF_API const struct shapeproof_table_info *shapeproof_tables_info(const struct shapeproof_tables *tables,
                                                                          size_t index);
/* What a built-in table is about: "text", "vision", "audio", ...; "own" of a user's. Static. */
SHAPEPROOF_API const char *shapeproof_tables_kind(const struct shapeproof_tables *tables, size_t index);

/* The parts of the table language that are in force and that a table may use, one at a call, in the order of the files:
 * start with *position = 0. False behind the last one. What is in *part is borrowed until shapeproof_tables_free. */
SHAPEPROOF_API bool shapeproof_tables_next_part(const struct shapeproof_tables *tables, size_t *position,
                                                struct shapeproof_table_info *part);

/* Which tables: all that both say. */
struct shapeproof_tables_filter {
    /* What the name, the kind or a model_type holds, in capitals or not; or a shell pattern (`*`, `?`, `[...]`) that
     * one of them matches as a whole. NULL: any. */
    const char *text;
    const char *kind; /* this one, or NULL */
    /* "active", "cache", "flops", "shard" or "activations": the tables that have this measure. NULL: any. A table must
     * be parsed to tell, so that this takes longer than the others. */
    const char *measure;
    uint64_t reserved[3]; /* zero: room for later versions */
};

/* `filter` may be NULL: then all of them fit. */
SHAPEPROOF_API bool shapeproof_tables_fits(const struct shapeproof_tables *tables, size_t index,
                                           const struct shapeproof_tables_filter *filter);

/* A text of tables in the layout of the built-in ones, with its comments: it says the same, and formatted again it
 * stays as it is. `name` stands for the file in messages; `formatted` is the length and may be NULL. NULL with the
 * mistakes (SHAPEPROOF_ERR_TABLE) when it cannot be read. malloc'ed: free with shapeproof_free. */
SHAPEPROOF_API char *shapeproof_table_format(const char *name, const char *text, size_t length, size_t *formatted,
                                             struct shapeproof_error *error);

#ifdef __cplusplus
}
#endif
#endif
