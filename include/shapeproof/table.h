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

struct sp_tables; /* opaque: a set of tables, the built-in ones to begin with */

struct sp_table_info {
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
SP_API struct sp_tables *sp_tables_new(struct sp_error *error);
/* Adds a user's table file, whose tables and parts hide earlier ones of the same name. On a mistake returns non-zero
 * (SP_ERR_TABLE, or SP_ERR_FILE when unreadable) and sp_tables_messages has all mistakes, each with its place. */
SP_API enum sp_status sp_tables_add_file(struct sp_tables *tables, const char *path, struct sp_error *error);
/* Likewise from text; `name` stands for the file in messages. Both are copied. */
SP_API enum sp_status sp_tables_add_text(struct sp_tables *tables, const char *name, const char *text, size_t length,
                                         struct sp_error *error);
/* All mistakes found so far: FILE:LINE:COLUMN, the source line, a caret. "" when none. Borrowed. */
SP_API const char *sp_tables_messages(const struct sp_tables *tables);
SP_API void sp_tables_free(struct sp_tables *tables);

/* The tables that are in force, in order of their names; strings borrowed until sp_tables_free. */
SP_API size_t sp_tables_count(const struct sp_tables *tables);
SP_API struct sp_table_info sp_tables_info(const struct sp_tables *tables, size_t index);
/* What a built-in table is about: "text", "vision", "audio", ...; "own" of a user's. Static. */
SP_API const char *sp_tables_kind(const struct sp_tables *tables, size_t index);

/* Which tables: all that both say. */
struct sp_tables_filter {
    /* What the name, the kind or a model_type holds, in capitals or not; or a shell pattern (`*`, `?`, `[...]`) that
     * one of them matches as a whole. NULL: any. */
    const char *text;
    const char *kind;     /* this one, or NULL */
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* `filter` may be NULL: then all of them fit. */
SP_API bool sp_tables_fits(const struct sp_tables *tables, size_t index, const struct sp_tables_filter *filter);

/* A text of tables in the layout of the built-in ones, with its comments: it says the same, and formatted again it
 * stays as it is. `name` stands for the file in messages; `formatted` is the length and may be NULL. NULL with the
 * mistakes (SP_ERR_TABLE) when it cannot be read. malloc'ed: free with sp_free. */
SP_API char *sp_table_format(const char *name, const char *text, size_t length, size_t *formatted,
                             struct sp_error *error);

#ifdef __cplusplus
}
#endif
#endif
