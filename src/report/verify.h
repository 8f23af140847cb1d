/* SPDX-License-Identifier: MIT
 * Claims that were held against a checkpoint, within other reports. */
#ifndef SP_REPORT_VERIFY_H
#define SP_REPORT_VERIFY_H

#include "base/json_write.h"
#include "report/common.h"
#include "shapeproof/report.h"

/* "claims": [{...}] */
void sp_json_claims(struct sp_writer *json, const struct shapeproof_verification *verification);
/* How many claims hold, fail, or are not known, as a line. */
void sp_put_claim_totals(const struct shapeproof_verification *verification, struct sp_text *text);
/* Each claim that is to be shown, with its numbers, then how many there are of each answer. */
void sp_put_claims(struct sp_text *text, const struct shapeproof_verification *verification,
                   const struct shapeproof_report_options *options);

/* A claim with the verdict on it, and what there is to say about that. */
void sp_put_proof(const struct shapeproof_proof *proof, struct sp_text *text, bool color);
/* A claim with the answer to it, and its numbers. */
void sp_put_claim(struct sp_text *text, const struct shapeproof_verified_claim *claim, bool color);

/* Whether a claim is listed: those that fail or cannot be told, and those that hold; errata, and what is about other
 * models, only with `all`. */
bool sp_claim_is_shown(const struct shapeproof_verified_claim *claim, bool all);
/* Whether the verdict on the table says something of all hyper-parameters. A figure without a formula, "total rounds to
 * 350M", is judged at the defaults of the table: that it is wrong there says nothing of other values. */
bool sp_claim_is_judged_in_general(const struct shapeproof_verified_claim *claim);
enum sp_color sp_claim_color(enum shapeproof_claim_answer answer);
/* "+928", "-96" */
void sp_put_signed(struct sp_text *text, int64_t number);
/* Printable, without brackets. */
void sp_put_stored_group(struct sp_text *text, const struct shapeproof_stored_group *group);
/* "missing", as the tensors of the deviation are. */
const char *sp_deviation_words(enum shapeproof_deviation_kind kind);
/* "-3*E*N"; NULL where the term is the number of parameters itself. */
const char *sp_deviation_term(const struct shapeproof_deviation *deviation);
/* "buffers, 2 tensors with 2,048 elements": what is stored and belongs to no group. */
void sp_put_uncounted(struct sp_text *text, const struct shapeproof_uncounted *uncounted);

#endif
