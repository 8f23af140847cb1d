/* SPDX-License-Identifier: MIT
 * A small table for targets whose inputs are formulas: a table of a real model takes longer to count than they do. */
#ifndef TESTS_FUZZ_SMALL_TABLE_H
#define TESTS_FUZZ_SMALL_TABLE_H

#include "fuzz.h"

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
