/* SPDX-License-Identifier: MIT
 * The table files of src/tables, built into the binary by the Makefile, and an index of what they hold: what is needed
 * to choose a table and to list them all, so that only those are parsed that are used. */
#ifndef SP_LANG_BUILTIN_H
#define SP_LANG_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All texts, and all names, titles and such, each with a NUL behind it. Here are offsets, and no pointer: those would
 * be relocated at every start. */
extern const char sp_builtin_text[], sp_builtin_names[];
extern const uint32_t sp_builtin_words[]; /* offsets of names */
extern const size_t sp_builtin_word_count;

static inline const char *sp_builtin_word(size_t index) { return sp_builtin_names + sp_builtin_words[index]; }

struct sp_builtin_file {
    uint32_t words;        /* its name, "gpt2.shapes", and then its kind, the folder: "text" */
    uint32_t text, length; /* of sp_builtin_text */
};

extern const struct sp_builtin_file sp_builtin_files[];
extern const size_t sp_builtin_file_count;

/* What a table, a part or a set of claims says of itself. */
struct sp_entry {
    const char *name;
    const char *title; /* the first comment line above it, or "" */
    const char *about; /* the table that claims are about; else NULL */
    const char *const *model_types;
    size_t model_type_count;
    const char *const *architectures;
    size_t architecture_count;
    bool is_table;
    bool has_claims;  /* in its own text */
    const char *file; /* that it stands in */
};

struct sp_builtin_unit {
    uint32_t words; /* its name, "claims for NAME" if it is that, then its title, its model_types and architectures */
    uint16_t model_types, architectures; /* so many */
    bool is_table, is_claims, has_claims;
    uint16_t file;       /* index of sp_builtin_files */
    uint32_t begin, end; /* its text there, with the comment above it */
    uint32_t line;       /* of its name */
};

/* In order of reading. */
extern const struct sp_builtin_unit sp_builtin_units[];
extern const size_t sp_builtin_unit_count;

#endif
