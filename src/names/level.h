/* SPDX-License-Identifier: MIT
 * The level of the model in the groups of an HDF5 file: layers are listed by their names, and in each is its path once
 * more, from the model on.
 *
 *     model_weights/dense/sequential_5/dense/kernel          the level is "sequential_5"
 *     bert/tf_bert_for_masked_lm/bert/encoder/layer_._0/...  the level is "tf_bert_for_masked_lm" */
#ifndef SP_NAMES_LEVEL_H
#define SP_NAMES_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

/* The first component, but for the very first, that all names have in common in one place; zero-initialise. */
struct sp_level {
    const char *first; /* of the names; borrowed */
    size_t depth;      /* the components before it; 0: there is none */
    bool beside[4];    /* of each place whether a name has something else there */
};

void sp_level_note(struct sp_level *level, const char *name);
/* Once all are noted. */
void sp_level_find(struct sp_level *level);
/* The name behind the level; the whole when there is none. */
const char *sp_behind_level(const struct sp_level *level, const char *name);

#endif
