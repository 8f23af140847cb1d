/* SPDX-License-Identifier: MIT
 * The parts of a prediction that several JSON documents hold. */
#ifndef SP_REPORT_PREDICTION_H
#define SP_REPORT_PREDICTION_H

#include "base/json_write.h"
#include "shapeproof/prove.h"

/* With the symbols and formulas of `forms`, if that is not NULL. */
void sp_json_hyperparameters(struct sp_writer *json, const struct shapeproof_prediction *prediction,
                             const struct shapeproof_derivation *forms);
void sp_json_predicted_totals(struct sp_writer *json, const char *key, const struct shapeproof_prediction *prediction);

#endif
