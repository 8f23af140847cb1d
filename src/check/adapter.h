/* SPDX-License-Identifier: MIT
 * Low-rank adapters (LoRA): for a matrix W two small ones, A and B, whose product is added to it. */
#ifndef SP_CHECK_ADAPTER_H
#define SP_CHECK_ADAPTER_H

#include "base/arena.h"
#include "base/map.h"
#include "base/value.h"
#include "check/adapter_names.h"
#include "shapeproof/inventory.h"

/* The two of one module. Their dimensions are read as (rank, in) and (out, rank), or as (in, rank) and (rank, out). */
struct sp_pair {
    const char *module; /* "base_model.model.model.layers.0.self_attn.q_proj" */
    const char *kind;   /* "lora_A", "lora_a", "lora_embedding_A" */
    const char *label;  /* the adapter's name between that and "weight": "default", or "" */
    size_t a, b;        /* tensors; one of them may be SHAPEPROOF_NONE */
    size_t mid, alpha;  /* the core of a convolution in three parts, and the scale; SHAPEPROOF_NONE without one */
    const struct sp_adapter_ending *ending;
};

struct sp_adapter {
    const struct shapeproof_inventory *inventory;
    struct sp_arena *arena;
    struct sp_pair *pairs; /* heap */
    size_t count, capacity;
    struct sp_map modules;
    struct shapeproof_value config; /* adapter_config.json beside the file; absent without one */
};

/* Whether the file has any pair. Free in either case with sp_adapter_free. Strings are in the arena. */
bool sp_adapter_read(struct sp_adapter *adapter, struct sp_arena *arena, const struct shapeproof_inventory *inventory);
void sp_adapter_free(struct sp_adapter *adapter);
/* The pair of the module, with that kind and label, or NULL. */
const struct sp_pair *sp_adapter_pair(const struct sp_adapter *adapter, const char *module, const char *kind,
                                      const char *label);

/* The folder that the file lies in, "" or a path that ends in "/": of a directory that one. In the arena. */
const char *sp_adapter_folder(struct sp_arena *arena, const struct shapeproof_inventory *inventory);
/* adapter_config.json beside the file; absent without one, or when it cannot be read. In the arena. */
struct shapeproof_value sp_adapter_config(struct sp_arena *arena, const struct shapeproof_inventory *inventory);

/* The path of the configuration of the base that adapter_config.json names, in a folder or in `hub`, the cache of the
 * Hugging Face hub, which may be NULL. NULL where there is none; to be freed. */
char *sp_adapter_base_config(const struct shapeproof_inventory *inventory, const char *hub);

/* Whether the file is a prompt, as PEFT saves it. Beside that may stand the head of a classifier, whose names begin
 * with sp_prompt_front: PEFT puts nothing else between itself and the model. */
bool sp_has_prompt(const struct shapeproof_inventory *inventory);
extern const char sp_prompt_front[]; /* "base_model." */

/* Whether the file is an adapter alone: at least half of a sample of its tensors belong to one, apart from biases of
 * the base that were trained with it. The model is in another file then, and this one does not tell whether it is
 * quantised. */
bool sp_is_adapter(const struct shapeproof_inventory *inventory);

/* Whether pairs have magnitudes beside them, which makes them DoRA's. */
bool sp_has_magnitudes(const struct shapeproof_inventory *inventory);

/* The name of the module whose scale the tensor is, "x" of "x.alpha", in the arena; NULL for any other tensor. */
const char *sp_adapter_scaled(struct sp_arena *arena, const char *name);

/* What the pair multiplies to: `out` x `in` of that rank; false when A and B do not fit each other. Where both readings
 * are possible it is the one of the lower rank. */
struct sp_product {
    uint64_t out, in, rank;
};
bool sp_pair_product(const struct sp_adapter *adapter, const struct sp_pair *pair, struct sp_product *product);
/* Whether a pair with both matrices has those of several modules, one behind the other: NeMo, and no other program,
 * saves the layers of a model so, (layers, rank, in) and (layers, out, rank). The product is that of one of them. */
bool sp_pair_is_stacked(const struct sp_adapter *adapter, const struct sp_pair *pair);

#endif
