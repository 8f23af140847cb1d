/* SPDX-License-Identifier: MIT
 * What a table predicts of a configuration within the configuration:
 *
 *     {"text_config": {"model_type": "llama", ...}, ...}     model.language_model.layers.0.input_layernorm.weight ...
 *     model.language_model.*   llama from text_config with architectures = ["LlamaModel"] */
#ifndef SP_LEARN_INNER_H
#define SP_LEARN_INNER_H

#include "base/arena.h"
#include "lang/tables.h"
#include "learn/rows/layout.h"

struct sp_inner {
    const char *key;    /* "text_config" */
    const char *table;  /* "llama" */
    const char *class;  /* "LlamaModel"; NULL: as the configuration has it */
    const char *prefix; /* "model.language_model.", as the names have it */
    size_t first_row;   /* the first of its rows */
    size_t rows;        /* how many are its own */
};

struct sp_inners {
    struct sp_inner *items;
    size_t count, capacity;
};

/* Finds the inner configurations and marks their rows as is_inner. The table called `name`, which is being learnt, is
 * not tried. */
void sp_inners_find(struct sp_inners *inners, struct sp_layout *layout, const struct shapeproof_tables *tables,
                    const char *name);
/* Forgets them: no row is is_inner any more. */
void sp_inners_forget(struct sp_inners *inners, struct sp_layout *layout);
/* Whether the path is within a configuration that a table reads. */
bool sp_inners_read(const struct sp_inners *inners, const char *path);

#endif
