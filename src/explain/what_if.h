/* SPDX-License-Identifier: MIT
 * What if a hyper-parameter had another value: predict again with that one change, and compare again. */
#ifndef SP_EXPLAIN_WHAT_IF_H
#define SP_EXPLAIN_WHAT_IF_H

#include "check/check.h"

/* One change of a hyper-parameter, with others that go with it. */
struct sp_change {
    const char *key;
    struct shapeproof_value value;      /* that it gets */
    struct shapeproof_value configured; /* that it has */
    struct shapeproof_provenance from;  /* who says so */
    const char *instead_of;       /* a key that says the same and is read first, so that it is taken away; or NULL */
    const struct sp_change *also; /* the next key that changes with it, of a linked list; or NULL */
};

/* The prediction under changed hyper-parameters, matched with the same file. Zero-initialise. */
struct sp_variant {
    struct shapeproof_config *config;
    struct shapeproof_prediction *prediction;
    struct sp_match match;
    size_t errors;
};

/* Fills the variant with the prediction under a configuration, which it takes over, within the scope (NULL: all of it).
 * False when there is no prediction; then the variant need not be freed. */
bool sp_variant_under(const struct shapeproof_check *check, struct shapeproof_config *config,
                      const struct sp_scope *scope, struct sp_variant *variant);
/* The same for `base` with that change. */
bool sp_variant_try(const struct shapeproof_check *check, const struct shapeproof_config *base,
                    const struct sp_change *change, struct sp_variant *variant);
void sp_variant_free(struct sp_variant *variant);
/* Whether the finding would be one under the variant as well. */
bool sp_variant_has(const struct shapeproof_check *check, const struct sp_variant *variant,
                    const struct shapeproof_finding *finding);

/* A small part of the model, chosen so that it shows the open findings: it tells cheaply which changes are worth a
 * whole prediction. */
struct sp_sample {
    const struct shapeproof_check *check;
    int64_t *indices; /* that its loops visit */
    struct sp_scope scope;
    struct shapeproof_prediction *base;     /* under the changes accepted so far */
    const struct shapeproof_tensor **found; /* for each tensor of `base` the one of the file, or NULL */
    bool *wrong;                            /* for each tensor of `base`: it is missing, or has another shape */
    bool renamed;                           /* some names of the file differ from the predicted ones */
    struct sp_map tensors;                  /* then: predicted names -> tensor of the file */
    struct sp_arena arena;
};

void sp_sample_init(struct sp_sample *sample, const struct shapeproof_check *check);
/* From now on gains are measured against the prediction under `base`. */
void sp_sample_rebase(struct sp_sample *sample, const struct shapeproof_config *base);
/* How many errors of the sample vanish under the change, less those that it brings; 0 without a prediction. */
int64_t sp_sample_gain(const struct sp_sample *sample, const struct shapeproof_config *base,
                       const struct sp_change *change);
/* The same part of the model under the change, not matched; false when there is no prediction. */
bool sp_sample_try(const struct sp_sample *sample, const struct shapeproof_config *base, const struct sp_change *change,
                   struct sp_variant *variant);
/* The first tensor of such a prediction whose shape is right under the base and wrong under the change; *found is that
 * of the file. SHAPEPROOF_NONE when there is none. */
size_t sp_sample_breaks(const struct sp_sample *sample, const struct shapeproof_prediction *variant,
                        const struct shapeproof_tensor **found);
void sp_sample_free(struct sp_sample *sample);

#endif
