/* SPDX-License-Identifier: MIT
 * A small table for targets whose inputs are formulas or tensors: a table of a real model takes longer to count than
 * they do, and a search among the built-in tables longer than all else. So these targets have no built-in table. */
#ifndef TESTS_FUZZ_SMALL_TABLE_H
#define TESTS_FUZZ_SMALL_TABLE_H

#include "fuzz.h"

#include "infer/tables/index.h"
#include "lang/builtin.h"

/* In place of what the Makefile generates: the linker takes from the library only what is not defined here. */
const char sp_builtin_text[] = "", sp_builtin_names[] = "", sp_builtin_index_text[] = "";
const uint32_t sp_builtin_words[1] = {0};
const size_t sp_builtin_word_count = 0, sp_builtin_file_count = 0, sp_builtin_unit_count = 0,
             sp_builtin_index_count = 0;
const struct sp_builtin_file sp_builtin_files[1] = {{0, 0, 0}};
const struct sp_builtin_unit sp_builtin_units[1] = {{.words = 0}};
const struct sp_indexed_row sp_builtin_index_rows[1];
const struct sp_indexed_unit sp_builtin_index_units[1];

static inline void add_small_table(struct shapeproof_tables *tables)
{
    static const char text[] = "table small\n"
                               "measures active\n\n"
                               "V    = vocab_size default 50\n"
                               "E    = n_embd default 8\n"
                               "N    = n_layer default 3\n"
                               "H    = n_inner default 4*E\n"
                               "tied = tie_word_embeddings default true\n\n"
                               "[embedding]\n"
                               "wte   (V, E)   lookup\n\n"
                               "[attention] for i in 0..N-1\n"
                               "h.{i}.attn   (E, 3*E)\n\n"
                               "[feed-forward] for i in 0..N-1\n"
                               "h.{i}.fc   (E, H)\n\n"
                               "[head]\n"
                               "lm_head   (V, E)   same as wte when tied\n";
    struct shapeproof_error error = {0};
    fuzz_must(shapeproof_tables_add_text(tables, "small.shapes", text, strlen(text), &error) == SHAPEPROOF_OK);
}

#endif
