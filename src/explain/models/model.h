/* SPDX-License-Identifier: MIT
 * A model that the file may be of in place of the configured one: a table, and what the configuration would have to say
 * otherwise. Inference proposes it; it counts only when it leaves nothing open. Of the weights of a Llama-3.2-3B beside
 * the configuration of the 1B:
 *
 *   table     llama
 *   changes   hidden_size          2048 -> 3072
 *             num_hidden_layers      16 -> 28
 *             num_attention_heads    32 -> 24   free: the file tells the product with head_dim alone
 *             head_dim               64 -> 128  free */
#ifndef SP_EXPLAIN_MODELS_MODEL_H
#define SP_EXPLAIN_MODELS_MODEL_H

#include "explain/what_if.h"
#include "shapeproof/infer.h"

enum { SP_MOST_MODEL_CHANGES = 160 };

struct sp_model_change {
    struct sp_change what;
    bool free;    /* the file leaves the value open, others would do as well */
    bool dropped; /* the configured value does */
};

struct sp_model {
    struct shapeproof_check *check;
    const struct shapeproof_inference *inference; /* whose strings and values these are */
    const char *table;
    struct sp_model_change changes[SP_MOST_MODEL_CHANGES];
    size_t count;
    bool patched;  /* with the changes nothing stays open; else they say nothing, for too much is of another model */
    size_t budget; /* tensors that may still be predicted */
    bool plain;    /* the file has its names as they are predicted, with nothing in front or left out */
};

/* Asks the file what it is, under the one table or (NULL) under all. False when inference has no answer that explains
 * everything. The changes are as few as will do. */
bool sp_model_infer(struct sp_model *model, struct shapeproof_check *check, const char *table);
/* The same under the tables that have every name of the file, and lack no weight for sure: what differs is not what
 * tensors are called, nor how they are laid out. */
bool sp_model_infer_as_named(struct sp_model *model, struct shapeproof_check *check);

#endif
