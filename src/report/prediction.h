/* SPDX-License-Identifier: MIT
 * The report of a prediction: what several JSON documents hold, and the other formats. */
#ifndef SP_REPORT_PREDICTION_H
#define SP_REPORT_PREDICTION_H

#include "base/json_write.h"
#include "shapeproof/prove.h"

/* With the symbols and formulas of `forms`, if that is not NULL. */
void sp_json_hyperparameters(struct sp_writer *json, const struct shapeproof_prediction *prediction,
                             const struct shapeproof_derivation *forms);
void sp_json_predicted_totals(struct sp_writer *json, const char *key, const struct shapeproof_prediction *prediction);

/* The formula of the group, or of "total"; NULL when there is none, or `forms` is NULL. */
const char *sp_formula_of_group(const struct shapeproof_derivation *forms, const char *group);

/* A row for each tensor, as comma-separated values. */
void sp_csv_predict(struct sp_text *text, const struct shapeproof_prediction *prediction);
/* The totals, the hyper-parameters and the groups, with their formulas if `forms` is not NULL. */
void sp_markdown_predict(struct sp_text *text, const struct shapeproof_prediction *prediction,
                         const struct shapeproof_derivation *forms);

#endif
