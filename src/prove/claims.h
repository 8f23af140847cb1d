/* SPDX-License-Identifier: MIT
 * Claims beside the verdicts on them: what they say at the values of one configuration, and what has to be assumed of
 * these values for a proof. */
#ifndef SP_PROVE_CLAIMS_H
#define SP_PROVE_CLAIMS_H

#include "prove/configured.h"
#include "prove/trial.h"
#include "shapeproof/prove.h"

struct shapeproof_expressions {
    const struct shapeproof_tables *tables;
    const struct sp_unit *table;
    const struct sp_unit *unit; /* has the expressions as its claims */
};

/* A claim, and where it stands. */
struct sp_located_claim {
    const struct sp_unit *unit;
    const struct sp_claim *claim;
};

/* What a proof says of a claim before anything is decided: the claim itself, and where it stands. */
struct shapeproof_proof sp_proof_begin(struct sp_arena *arena, const char *table, struct sp_located_claim located);
/* The claim that a proof is about. */
struct sp_located_claim sp_proofs_claim(const struct shapeproof_proofs *proofs, size_t index);

/* ---- claim_lines.c ---- */

enum sp_line_kind {
    SP_LINES_OF_CLAIMS,     /* total = 12*L*d^2 */
    SP_LINES_OF_EXPRESSIONS /* 12*L*d^2 */
};

/* As shapeproof_tables_add_claims, for lines of either kind; lines that define a name, d = n_embd, stand among both. */
enum shapeproof_status sp_tables_add_lines(struct shapeproof_tables *tables, const char *table,
                                           const struct shapeproof_claim_lines *lines, enum sp_line_kind kind,
                                           char **letters, struct shapeproof_error *error);

/* ---- claims.c ---- */

/* shapeproof_prove about the models of a class: the value of `architectures`, or NULL for the class by default. */
struct shapeproof_proofs *sp_prove_class(const struct shapeproof_tables *tables,
                                         const struct shapeproof_prove_options *options,
                                         const struct shapeproof_value *class, struct shapeproof_error *error);

/* Whether the claim is proved about the table of `count`, which is counted for all hyper-parameters or under `settings`
 * (or NULL), when all the premises hold. */
bool sp_claim_is_proved(struct sp_count *count, const struct shapeproof_config *settings,
                        struct sp_located_claim located, const struct sp_premise *premises, size_t premise_count);

/* ---- claim_values.c: at the values of a configuration; texts are in the arena ---- */

struct sp_claim_sides {
    struct sp_rational left, right;
};

/* Whether what the claim gives in `when` is so under that configuration; NULL for a checkpoint alone, which has no
 * flags. *why says what is not: "it is about H = 4*E, and H is 100". */
bool sp_claim_applies(struct sp_configured *configured, const struct shapeproof_config *config,
                      struct sp_located_claim located, struct sp_arena *arena, const char **why);
/* The values of both sides, with `sums` (or NULL) in place of the parameters of the table's groups. False with *why
 * when they have none. */
bool sp_claim_sides_of(struct sp_configured *configured, struct sp_located_claim located,
                       const struct sp_group_sums *sums, struct sp_arena *arena, struct sp_claim_sides *sides,
                       const char **why);
/* By how much the claim differs from the table for all numbers, with flags, strings and lists as configured: "short by
 * V*H: [head]". The sign is that at the configured numbers; where the sides are equal there, it "differs by" an amount.
 * NULL when that is no formula. */
const char *sp_claim_difference(struct sp_configured *configured, struct sp_located_claim located,
                                struct sp_arena *arena);
/* Whether sides of these values make the claim true: equal, close enough, or rounded as printed. */
bool sp_claim_accepts(const struct sp_claim *claim, struct sp_claim_sides sides);

/* The value of an expression, SP_CLAIM_VALUE. */
struct sp_expression_value {
    const char *text;         /* exact, as the language writes it; NULL: it has no value */
    struct sp_rational exact; /* of a fraction; else its denominator is 0 */
    double number;            /* NAN for what is no number */
    const char *why;          /* it has no value: why */
    bool is_active;           /* it is `active` or active([group]) alone */
    bool is_bytes;            /* it is cache(...), bytes(...), optimizer(...) or shard(...) with a dtype, alone */
    const char *convention;   /* of bytes, of a shard: what is counted, "" where that needs no words; else NULL */
};
/* Evaluates the expression of the trial, whose table is counted with all settled. `varied` gives the parameters of a
 * group with other settings, [embedding](vocab_size = 128000), as in struct sp_sym_env; its context is the trial. Texts
 * are in the trial's arena. */
struct sp_expression_value sp_expression_evaluate(struct sp_trial *trial,
                                                  const struct sp_poly *(*varied)(void *trial, const char *group,
                                                                                  const struct sp_sym_setting *settings,
                                                                                  size_t count, const char **why));

/* ---- premises.c ---- */

/* Under which of the configured values a claim is proved that is not proved for all: "H = 4*E, not tied", each of them
 * needed. NULL when that is no proof either. */
const char *sp_claim_premises(struct sp_configured *configured, const struct shapeproof_config *config,
                              struct sp_located_claim located, struct sp_arena *arena);

/* How hyper-parameters to which the table gives no name are called in long formulas. */
enum sp_key_names {
    SP_KEYS_SHORT, /* v_hs for vision_config.hidden_size, with a definition that says so */
    SP_KEYS_IN_FULL
};

/* Counts the table, and appends the formulas of its groups and its total for all cases as a file of claims. False with
 * the error. In either case free the count with sp_count_free. In derive_claims.c. */
bool sp_derive_claims(struct sp_count *count, const struct shapeproof_tables *tables, const struct sp_unit *table,
                      enum sp_key_names keys, struct sp_text *text, struct shapeproof_error *error);

#endif
