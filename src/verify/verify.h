/* SPDX-License-Identifier: MIT
 * Claims against a checkpoint. The flow, of a GPT-2 that lost a bias in both layers:
 *
 *     check        which tensor of the file is which predicted one
 *     groups.c     [attention]: predicted 2,240, stored 2,144; deviation: h.{0-1}.attn.c_attn.bias missing, -96
 *     terms.c      -96 is -3*E*N, by the shape that the row of the table has
 *     rows.c       elements(h.{i}.attn.c_attn.bias): predicted 96, stored 0
 *     alone.c      claims that need no table: dim(wte.weight, 1) is a number of the file
 *     claims.c     total = 12*L*d^2 + ... : formula 7,872, predicted 7,872, stored 7,776, and the deviations in between
 *
 * Without a checkpoint, at hyper-parameters alone, there is the last step with two numbers: what is predicted stands in
 * place of what is stored.
 */
#ifndef SP_VERIFY_VERIFY_H
#define SP_VERIFY_VERIFY_H

#include "check/check.h"
#include "prove/claims.h"
#include "shapeproof/evaluate.h"
#include "shapeproof/verify.h"

enum { SP_DEVIATION_KINDS = SHAPEPROOF_DEVIATION_UNPREDICTED + 1 };

/* A tensor that deviates: of the file, or one that is predicted and not there. */
struct sp_deviant {
    size_t tensor;                  /* its index in the file; SHAPEPROOF_NONE: it is missing */
    size_t predicted;               /* its index in the prediction; SHAPEPROOF_NONE: it is not predicted */
    int64_t parameters;             /* stored less predicted */
    const struct sp_row_count *row; /* of the table: that predicts it, or its siblings with other indices; or NULL */
};

/* The tensors of one group that deviate in one way. */
struct sp_deviation {
    enum shapeproof_deviation_kind kind;
    size_t group; /* of the prediction; SHAPEPROOF_NONE for tensors that are not predicted */
    struct sp_deviants {
        struct sp_deviant *items; /* heap */
        size_t count, capacity;
    } tensors;
    const struct sp_poly *term; /* their parameters in hyper-parameters, -3*E*N; in the algebra of configured.general */
};

struct sp_deviations {
    struct sp_deviation *items; /* heap */
    size_t count, capacity;
};

/* What makes numbers of rows other than predicted: all deviations of a verification, or one of them alone. */
struct sp_deviating {
    struct shapeproof_verification *verification;
    const struct sp_deviation *only; /* or NULL */
};

struct shapeproof_verification {
    struct sp_arena arena;                          /* of all texts and lists that are handed out */
    const struct shapeproof_inventory *inventory;   /* NULL: there is no checkpoint, only hyper-parameters */
    const struct shapeproof_check *check;           /* NULL: there is no checkpoint, or no table */
    const struct shapeproof_config *config;         /* with the prediction: of the check, or given */
    const struct shapeproof_prediction *prediction; /* NULL: the claims are about the checkpoint alone */
    struct sp_count general;                        /* the table, with flags, texts and lists as configured */
    struct sp_configured configured;                /* the same at the values of the configuration */
    struct sp_deviations deviations;
    struct sp_group_sums sums;        /* what the file stores; without a file what is predicted */
    struct sp_deviating deviating;    /* of the sums: all deviations */
    struct shapeproof_proofs *proofs; /* of the claims about the table, for all hyper-parameters */
    struct shapeproof_stored_group *groups;
    size_t group_count;
    struct shapeproof_uncounted uncounted[3];
    size_t uncounted_count;
    struct shapeproof_named_value *values;
    size_t value_count;
    struct sp_verified_claims {
        struct shapeproof_verified_claim *items; /* heap */
        size_t count, capacity;
    } claims;
};

/* groups.c: counts what the file stores, group by group, and collects what deviates. False when a count does not fit in
 * 63 bits. */
bool sp_verify_groups(struct shapeproof_verification *verification, struct shapeproof_error *error);
/* The parameters that are predicted of each group, and of all, in the arena. */
struct sp_group_sums sp_verify_predicted_sums(struct sp_arena *arena, const struct shapeproof_prediction *prediction);
/* terms.c: finds the term of each deviation. */
void sp_verify_terms(struct shapeproof_verification *verification);
/* rows.c: changes *value, what the table gives for elements(NAME), count(NAME) or dim(NAME, index), by what deviates;
 * `context` is a struct sp_deviating. False with *why where that cannot be told. As `rows` of struct sp_group_sums. */
bool sp_verify_rows(const void *context, const struct sp_expr *expr, int64_t index, int64_t *value, const char **why);
/* claims.c: holds each claim about the table against the sums. */
void sp_verify_claims(struct shapeproof_verification *verification);
/* alone.c: holds each claim about a checkpoint alone that stands in these files against the file. */
void sp_verify_alone(struct shapeproof_verification *verification, const struct shapeproof_tables *tables,
                     const struct shapeproof_verify_options *options);
/* evaluate.c: as shapeproof_evaluate, but [group] and `total` are those of the count, so that a model of many tensors
 * need not be predicted. For a measure of the table [group], no convention says which tables it leaves out. */
struct shapeproof_evaluation *sp_evaluate_by_count(const struct shapeproof_expressions *expressions,
                                                   const struct shapeproof_config *config,
                                                   struct shapeproof_error *error);

/* "928 more": the left side less the right side, in the arena; NULL for none. */
const char *sp_verify_amount(struct shapeproof_verification *verification, struct sp_claim_sides sides);
/* "-3*E*N", collected, in the arena. */
const char *sp_verify_formula(struct shapeproof_verification *verification, const struct sp_poly *poly);
/* "h.{0-1}.attn.c_attn.bias", in the arena. */
const char *sp_verify_names(struct shapeproof_verification *verification, const struct sp_deviation *deviation);

#endif
