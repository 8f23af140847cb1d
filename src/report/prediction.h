/* SPDX-License-Identifier: MIT
 * The parts of a prediction that several JSON documents hold. */
#ifndef SP_REPORT_PREDICTION_H
#define SP_REPORT_PREDICTION_H

#include "report/json.h"
#include "shapeproof/prediction.h"

void sp_json_hyperparameters(struct sp_writer *json, const struct sp_prediction *prediction);
void sp_json_predicted_totals(struct sp_writer *json, const char *key, const struct sp_prediction *prediction);

#endif
