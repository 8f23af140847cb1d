/* SPDX-License-Identifier: MIT
 * What is wrong with a setting of the command line. */
#ifndef SP_CONFIG_SETTINGS_H
#define SP_CONFIG_SETTINGS_H

#include <stdbool.h>

#include "shapeproof/config.h"
#include "shapeproof/prediction.h"
#include "shapeproof/table.h"

/* Whether a call that reads the table under the configuration, such as shapeproof_predict, succeeds. */
typedef bool sp_config_works(const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                             const struct shapeproof_predict_options *options);
sp_config_works sp_config_predicts;
/* When that call has failed with SHAPEPROOF_ERR_TABLE and `message`: which setting is to blame, if one is of another
 * kind than the table can use: "--set n_layer=abc: expected an integer, found a string"; or NULL. Free with
 * shapeproof_free. */
char *sp_mistyped_setting(const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                          const struct shapeproof_predict_options *options, sp_config_works *works,
                          const char *message);
/* Whether there is reason to set a key that the prediction has not read: the table would read it if others had other
 * values, other tables know it and it is no slip for one of this one, something else than the table reads it, or the
 * file has it as well. */
bool sp_prediction_could_read(const struct shapeproof_prediction *prediction, const struct shapeproof_tables *tables,
                              const struct shapeproof_config *config, const char *key);
/* The first of the settings that was not read and for which there is no such reason; NULL when there is none. */
const char *sp_prediction_unknown_setting(const struct shapeproof_prediction *prediction,
                                          const struct shapeproof_tables *tables,
                                          const struct shapeproof_config *config);
/* Whether the prediction asked for the key, or for something in the object under it. */
bool sp_prediction_has_asked(const struct shapeproof_prediction *prediction, const char *key);
/* The key that the table gives this name, as L to num_hidden_layers, or that was read and is spelt most like this one;
 * or NULL. */
const char *sp_prediction_key_like(const struct shapeproof_prediction *prediction, const char *key);

#endif
