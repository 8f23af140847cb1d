/* SPDX-License-Identifier: MIT
 * An adapter as its adapter_config.json describes it, and the faults that are found in it (adapter_config.c). */
#ifndef SP_EXPLAIN_FILES_ADAPTER_DESCRIBED_H
#define SP_EXPLAIN_FILES_ADAPTER_DESCRIBED_H

#include "base/map.h"
#include "base/value.h"
#include "explain/files/adapter_base.h"

struct sp_adapter_method {
    const char *type;   /* of peft_type: "IA3" */
    const char *begins; /* how the components of names begin that PEFT saves for it: "ia3_" */
    bool has_targets;   /* it changes the modules that target_modules lists */
};

/* A tensor of a method: "base_model.model.h.0.attn.lora_B.bias" has module "h.0.attn", component "lora_B", rest "bias".
 */
struct sp_described_item {
    const struct sp_adapter_method *method; /* the first one with such names */
    const char *full;                       /* "base_model.model.h.0.attn"; "" for none */
    const char *module; /* the same as the model has it: "h.0.attn"; NULL for a tensor of no module */
    const char *component, *rest;
    const struct shapeproof_tensor *tensor;
};

struct sp_described {
    struct shapeproof_check *check;
    struct sp_arena *arena;
    struct shapeproof_value config;         /* adapter_config.json */
    const struct sp_adapter_method *method; /* that of peft_type */
    struct sp_adapter_base base;
    struct sp_described_item *items; /* tensors of `method`, and of others */
    size_t count, capacity;
    const char **names; /* heap: of modules or tensors with the fault that is looked for */
    size_t named, names_capacity;
    struct sp_map known; /* these names */
};

/* What PEFT has in front of the names of the model. */
extern const char sp_described_front[];

/* A value of adapter_config.json. */
struct shapeproof_value sp_described_setting(const struct sp_described *described, const char *key);
bool sp_described_is_of_type(const struct sp_described *described, const char *type);
/* Whether the tensor is one of the method that peft_type names. */
bool sp_described_is_own(const struct sp_described *described, const struct sp_described_item *item);
/* The module without what PEFT itself puts into its name: "embed_tokens" of "embed_tokens.base_layer". */
const char *sp_described_bare_module(struct sp_arena *arena, const char *module);
/* The weight of the module that PEFT finds by this name, "base_model.model.model.embed_tokens"; SHAPEPROOF_NONE without
 * one. */
size_t sp_described_weight(const struct sp_described *described, const char *full);
/* Adds the name of a module or tensor with a fault, once. */
void sp_described_name(struct sp_described *described, const char *name);
/* A cause "SAYS: NAMES (3 modules)" for the names that were added, which are forgotten then. None without any. */
void sp_described_blame(struct sp_described *described, const char *says, const char *noun);

/* Which modules adapter_config.json chooses: by names, layers and parameters (adapter_choice.c). */
void sp_described_check_choice(struct sp_described *described);

#endif
