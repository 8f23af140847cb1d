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

#endif
