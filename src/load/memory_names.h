/* SPDX-License-Identifier: MIT
 * What transformers calls the tensors of a file once they are in memory. PEFT names the modules of an adapter like
 * that:
 *
 *     file      vit.encoder.layer.0.attention.attention.query.weight
 *     memory    vit.layers.0.attention.q_proj.weight */
#ifndef SP_LOAD_MEMORY_NAMES_H
#define SP_LOAD_MEMORY_NAMES_H

#include "load/judge.h"

/* Parts whose sizes are not known: queries, keys and values where the heads of these are fewer. */
#define SP_CUTS_UNKNOWN SIZE_MAX

/* A tensor in memory, as far as it comes from one that is predicted. Mostly it is that one under another name; or one
 * of the equal parts that its rows are cut into; or several of a file are its rows, one behind the other. */
struct sp_memory_name {
    const char *name;
    size_t predicted;  /* the tensor that it comes from */
    size_t cuts;       /* so many equal parts are cut from that: 3 of a "qkv"; otherwise 1; SP_CUTS_UNKNOWN */
    size_t row_block;  /* where it stands among those that become one, and */
    size_t row_blocks; /* how many these are; otherwise 0 and 1 */
};

/* Calls `found` for each tensor of the prediction that has another name in memory, with the rules of transformers 5 for
 * the class of the configuration. What is stacked or transposed on the way is left out. */
void sp_memory_names(const struct sp_load_subject *subject, const struct shapeproof_prediction *prediction,
                     void (*found)(void *context, const struct sp_memory_name *name), void *context);

/* Whether transformers 5 saved the configuration, by its transformers_version. */
bool sp_memory_is_own_release(const struct sp_load_subject *subject);
/* How many tensors of the inventory transformers 5 renames or converts when it loads them, with its rules for the class
 * of the configuration; *first is the first of them. 0 if the configuration was not saved by transformers 5: other
 * releases have other names in memory. */
size_t sp_memory_converted(const struct sp_load_subject *subject, size_t *first);

#endif
