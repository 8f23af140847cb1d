/* SPDX-License-Identifier: MIT
 * What the modules of an adapter are in the model. Which names are right depends on the program that loads the adapter:
 * PEFT names modules as the program has them in memory, behind its own "base_model.model."; diffusers behind the name
 * of the model in a pipeline, "unet." or "transformer."; others in ways of their own (check/adapter_names.h). A name
 * that begins otherwise is found here all the same, and by no loader. */
#ifndef SP_EXPLAIN_FILES_ADAPTER_BASE_H
#define SP_EXPLAIN_FILES_ADAPTER_BASE_H

#include "check/check.h"
#include "explain/files/adapter_modules.h"
#include "names/naming_schemes.h"

enum { SP_MOST_LEFT_OUT = 2 }; /* how many components in front of a predicted name an adapter may leave out */

struct sp_adapter_base {
    struct shapeproof_check *check;
    /* left_out[i]: predicted names without their first i + 1 components -> predicted; SHAPEPROOF_NONE when several */
    struct sp_map left_out[SP_MOST_LEFT_OUT];
    bool whole;        /* the weights of the model are in the file */
    bool diffusers;    /* the base is a model of diffusers */
    bool peft;         /* adapter_config.json is beside the file: PEFT loads it */
    bool training;     /* the file is a checkpoint of a trainer, which has the adapter under keys of its own */
    bool strips;       /* its loader takes original names behind the front as well */
    const char *front; /* what its loader looks for in front of the names of the model: "base_model.model.", "unet." */
    const struct sp_naming_scheme *scheme; /* by which modules are named as another program names them, or NULL */
    struct sp_adapter_modules modules;
    size_t *finding_of; /* for each tensor of the file: the finding that it is unexpected, or SHAPEPROOF_NONE */
};

void sp_adapter_base_open(struct sp_adapter_base *base, struct shapeproof_check *check);
void sp_adapter_base_close(struct sp_adapter_base *base);

/* What a module of an adapter is in the model. */
struct sp_adapter_found {
    size_t weights[SP_MOST_FUSED]; /* predicted, whose rows stand one behind the other */
    size_t count;                  /* 0: the model has no such module */
    size_t cuts;                   /* as in struct sp_memory_name; 0 where the module is not known by such a name */
    size_t outer;                  /* the length of a trainer's keys in front of the module: "state_dict.model." */
    bool foreign;                  /* the module is of another model of the pipeline */
    bool in_place;                 /* a loader finds it by this name */
    bool behind_front;             /* its name behind the front is one that the module has, in some program */
    bool original;                 /* that is the name that its publisher gave to it */
};
/* Looks a module up by its name in the adapter; `ending` is how the names of its tensors end, or NULL. */
struct sp_adapter_found sp_adapter_base_weights(const struct sp_adapter_base *base, const char *module,
                                                const struct sp_adapter_ending *ending);
/* Both dimensions of the matrix that the weights are together, one below the other; false when they are none. The
 * kernel of a convolution belongs to `in`. Where `cuts` is known, `out` is that of one of the parts. */
bool sp_adapter_found_matrix(const struct sp_adapter_base *base, const struct sp_adapter_found *found, uint64_t *out,
                             uint64_t *in);
/* Whether the weight is a matrix (in, out), as that of Conv1D in GPT-2: its bias has `out` elements. False
 * without a bias, or for a square matrix. */
bool sp_adapter_keeps_input_first(const struct sp_adapter_base *base, size_t weight);
/* The predicted tensor `rest` of the module, such as "weight", or SHAPEPROOF_NONE. */
size_t sp_adapter_base_find(const struct sp_adapter_base *base, const char *module, const char *rest);
/* Whether the module stands for several weights, such as all experts of a layer, so that no single shape is right. */
bool sp_adapter_base_holds(const struct sp_adapter_base *base, const char *module);

/* Makes a note of the finding that a tensor is unexpected, if it is one: the tensor is as it should be in an adapter.
 */
void sp_adapter_tensor_fits(const struct sp_adapter_base *base, size_t tensor);
/* Makes notes of all findings that tensors of the model are missing, explained by the cause: the base has them. */
void sp_adapter_take_absent(struct shapeproof_check *check, const struct shapeproof_cause *cause);
/* Words the cause that modules are of other models of a pipeline. `all`: the adapter has no others, which is an error;
 * otherwise it is a note. */
void sp_adapter_say_foreign(struct shapeproof_check *check, struct shapeproof_cause *cause, const char *const *modules,
                            size_t count, bool all);
extern const char sp_adapter_merge_hint[];

#endif
