/* SPDX-License-Identifier: MIT
 * Claims against a checkpoint: what a formula gives at its hyper-parameters, what the table predicts, and what the file
 * stores; and by which tensors, and which terms, these numbers differ. */
#ifndef SHAPEPROOF_VERIFY_H
#define SHAPEPROOF_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/check.h"
#include "shapeproof/prove.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number of parameters, or what a claim computes from such. */
struct shapeproof_fraction {
    int64_t numerator, denominator; /* in lowest terms; a denominator of 0: there is no number */
};

/* Why a file stores more or less than is predicted. */
enum shapeproof_deviation_kind {
    SHAPEPROOF_DEVIATION_MISSING = 0,    /* predicted, and not in the file */
    SHAPEPROOF_DEVIATION_TIED = 1,       /* stored by itself, although it is tied to another tensor */
    SHAPEPROOF_DEVIATION_SHAPE = 2,      /* stored in another shape */
    SHAPEPROOF_DEVIATION_UNPREDICTED = 3 /* stored, and not predicted */
};

/* The tensors of one group that deviate in one way. */
struct shapeproof_deviation {
    enum shapeproof_deviation_kind kind;
    int64_t parameters; /* stored less predicted */
    const char *term;   /* the same in hyper-parameters: "-3*E*N"; a number where they do not tell it */
    const char *names;  /* "h.{0-1}.attn.c_attn.bias" */
};

/* A group of the table, and what the file stores of it. The last one may be of no table: it has what is not predicted,
 * and its name is NULL. */
struct shapeproof_stored_group {
    const char *name;
    const char *formula; /* "E*(V + P)"; NULL where none gives what is predicted */
    uint64_t predicted;  /* parameters: without optional tensors, buffers and those that are tied */
    uint64_t stored;     /* likewise, but with those that are tied and stored by themselves; without a checkpoint as
                            predicted */
    const struct shapeproof_deviation *deviations;
    size_t deviation_count;
};

enum shapeproof_claim_answer {
    SHAPEPROOF_CLAIM_HOLDS = 0,  /* the file stores what the formula gives */
    SHAPEPROOF_CLAIM_FAILS = 1,  /* it does not */
    SHAPEPROOF_CLAIM_OTHER = 2,  /* the claim is about other hyper-parameters: `why` says which */
    SHAPEPROOF_CLAIM_UNKNOWN = 3 /* the claim cannot be evaluated: `why` says why */
};

struct shapeproof_verified_claim {
    const struct shapeproof_proof *proof; /* what holds of it for the table in general; undecided without a table */
    const char *premises;                 /* what the values of this file have to it, where it is not proved in general:
                                             "H = 4*E"; NULL where it is, or where they do not prove it */
    enum shapeproof_claim_answer answer;
    const char *why;                    /* or NULL */
    struct shapeproof_fraction formula; /* the right side at the values of this file; of one that names a group, with
                                           what is stored */
    struct shapeproof_fraction predicted, stored; /* the left side, by the table (if there is one) and by the file */
    /* What is stored less what the formula gives: "928 more = V*E (lm_head.weight is stored although it is tied) -
     * 3*E*N (h.{0-1}.attn.c_attn.bias is missing)"; NULL where there is no difference. */
    const char *difference;
};

/* A hyper-parameter that the formulas name. */
struct shapeproof_named_value {
    const char *name; /* "E" */
    const char *key;  /* "n_embd" */
    struct shapeproof_fraction value;
};

/* Tensors of the file that no claim counts. */
struct shapeproof_uncounted {
    const char *what; /* "optional", "buffers", "trainer state" */
    uint64_t tensors, elements;
};

struct shapeproof_verification; /* opaque */

struct shapeproof_verify_options {
    const char *const *files; /* where the claims stand: names under which files were added to the tables */
    size_t file_count;        /* 0 for all files */
    uint64_t reserved[4];     /* zero: room for later versions */
};

/* Holds the claims about the table of a check against its checkpoint. `options` may be NULL. NULL with an error when
 * the table cannot be counted. The check, the tables and what they need must outlive the verification. */
SHAPEPROOF_API struct shapeproof_verification *shapeproof_verify(const struct shapeproof_check *check,
                                                                 const struct shapeproof_tables *tables,
                                                                 const struct shapeproof_verify_options *options,
                                                                 struct shapeproof_error *error);
/* Likewise at the hyper-parameters of a configuration alone, without a checkpoint: what a formula gives there, and what
 * the table predicts. `prediction` is the one made of the configuration. */
SHAPEPROOF_API struct shapeproof_verification *shapeproof_verify_values(const struct shapeproof_prediction *prediction,
                                                                        const struct shapeproof_config *config,
                                                                        const struct shapeproof_tables *tables,
                                                                        const struct shapeproof_verify_options *options,
                                                                        struct shapeproof_error *error);
/* Likewise the claims that need no table, `claims for checkpoint`: their formulas take sizes and counts from the
 * tensors of the file. shapeproof_verify holds these too. */
SHAPEPROOF_API struct shapeproof_verification *shapeproof_verify_alone(const struct shapeproof_inventory *inventory,
                                                                       const struct shapeproof_tables *tables,
                                                                       const struct shapeproof_verify_options *options,
                                                                       struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_verification_free(struct shapeproof_verification *verification);

/* All borrowed until shapeproof_verification_free. */

/* Of all claims but errata: SHAPEPROOF_CLAIM_FAILS when one fails, else SHAPEPROOF_CLAIM_UNKNOWN when one is unknown or
 * none is about these hyper-parameters, else SHAPEPROOF_CLAIM_HOLDS. */
SHAPEPROOF_API enum shapeproof_claim_answer
shapeproof_verification_answer(const struct shapeproof_verification *verification);
/* What the claims are held against; NULL for shapeproof_verify_values. */
SHAPEPROOF_API const struct shapeproof_inventory *
shapeproof_verification_inventory(const struct shapeproof_verification *verification);
/* The check that was given; NULL where there is none. */
SHAPEPROOF_API const struct shapeproof_check *
shapeproof_verification_check(const struct shapeproof_verification *verification);
/* What is predicted; NULL where there is no table. */
SHAPEPROOF_API const struct shapeproof_prediction *
shapeproof_verification_prediction(const struct shapeproof_verification *verification);
/* The hyper-parameters that the formulas of the groups name, and their values. */
SHAPEPROOF_API size_t shapeproof_verification_value_count(const struct shapeproof_verification *verification);
SHAPEPROOF_API const struct shapeproof_named_value *
shapeproof_verification_value(const struct shapeproof_verification *verification, size_t index);
/* The groups of the table in its order, but for those that have nothing on either side; then what is not predicted. */
SHAPEPROOF_API size_t shapeproof_verification_group_count(const struct shapeproof_verification *verification);
SHAPEPROOF_API const struct shapeproof_stored_group *
shapeproof_verification_group(const struct shapeproof_verification *verification, size_t index);
/* The group in whose sum the parameters of a tensor of the file count: index into the groups of the prediction, or
 * SHAPEPROOF_NONE for a tensor that is not predicted. For tensors that share a storage it is that of the tensor which
 * the table ties the others to, whichever of them the file lists first. */
SHAPEPROOF_API size_t shapeproof_stored_group_of(const struct shapeproof_check *check, size_t tensor);
SHAPEPROOF_API size_t shapeproof_verification_uncounted_count(const struct shapeproof_verification *verification);
SHAPEPROOF_API const struct shapeproof_uncounted *
shapeproof_verification_uncounted(const struct shapeproof_verification *verification, size_t index);
/* The claims in the order of their files. */
SHAPEPROOF_API size_t shapeproof_verification_claim_count(const struct shapeproof_verification *verification);
SHAPEPROOF_API const struct shapeproof_verified_claim *
shapeproof_verification_claim(const struct shapeproof_verification *verification, size_t index);
SHAPEPROOF_API const char *
shapeproof_claim_answer_name(enum shapeproof_claim_answer answer); /* "holds", "fails", "other", "unknown" */
SHAPEPROOF_API const char *
shapeproof_deviation_name(enum shapeproof_deviation_kind kind); /* "missing", "tied", "shape", "unpredicted" */

#ifdef __cplusplus
}
#endif
#endif
