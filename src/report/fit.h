/* SPDX-License-Identifier: MIT */
#ifndef SP_REPORT_FIT_H
#define SP_REPORT_FIT_H

#include "base/json_write.h"
#include "shapeproof/fit.h"
#include "shapeproof/report.h"

/* The verdict, then a row for each term. */
void sp_put_fit(struct sp_text *text, const struct shapeproof_fit *fit,
                const struct shapeproof_report_options *options);
/* The members of the JSON object of a fit, into one that is open. */
void sp_json_fit_members(struct sp_writer *json, const struct shapeproof_fit *fit);

#endif
