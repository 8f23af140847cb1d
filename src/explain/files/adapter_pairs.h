/* SPDX-License-Identifier: MIT
 * An adapter with its pairs judged against the base. */
#ifndef SP_EXPLAIN_FILES_ADAPTER_PAIRS_H
#define SP_EXPLAIN_FILES_ADAPTER_PAIRS_H

#include "check/adapter.h"
#include "explain/files/adapter_base.h"

/* How a pair fits the model. */
enum sp_fit {
    SP_FITS,           /* the product has the shape of the weight, and a loader finds the module by its name */
    SP_FIT_ELSEWHERE,  /* the shape fits, but loaders do not find the module by this name */
    SP_UNFIT,          /* the product has another shape, or A and B do not fit each other */
    SP_FIT_NO_BASE,    /* the model has no such module */
    SP_FIT_UNTOLD,     /* for several weights at once, such as all experts: no shape tells whether it fits */
    SP_FIT_LONELY,     /* A or B is missing */
    SP_FIT_OTHER_RANK, /* the shape fits, but adapter_config.json promises another rank */
    SP_FIT_FOREIGN,    /* for another model of the pipeline */
    SP_FIT_COUNT
};

struct sp_judged {
    struct shapeproof_check *check;
    struct sp_adapter adapter;
    struct sp_adapter_base base;
    enum sp_fit *fits;              /* for each pair */
    struct sp_adapter_found *bases; /* for each pair: the predicted weights */
    size_t counts[SP_FIT_COUNT];
    uint64_t least, most; /* ranks of those that fit */
    bool another;         /* the adapter was made for another model: most pairs are unfit or have no base */
};

/* Whether a key of rank_pattern, or a target module, means the module: the end of its name, from a component on. */
bool sp_adapter_is_meant(const char *module, const char *key);
/* Whether such a key is a regular expression, beyond a name with dots. */
bool sp_adapter_is_expression(const char *key);
/* What an adapter changes, by pairs or by parts of another method. */
struct sp_adapted {
    struct shapeproof_check *check;
    struct shapeproof_value config; /* adapter_config.json */
    const char *const *modules;     /* as the adapter names them */
    size_t count;
    struct sp_map weights; /* the names of the predicted tensors */
};

/* Entries of target_modules without any tensor, and matrices that are changed in other layers (adapter_promises.c). */
void sp_adapter_hold_to_targets(const struct sp_adapted *adapted);
/* Tensors of the head of a classifier that the adapter lacks; `config` is adapter_config.json (adapter_promises.c). */
void sp_adapter_hold_to_head(struct shapeproof_check *check, struct shapeproof_value config);
/* What adapter_config.json promises, and what one module has and another has not (adapter_promises.c). */
void sp_adapter_hold_to_promises(const struct sp_judged *judged);

#endif
