/* SPDX-License-Identifier: MIT
 * Which findings are about biases: the weight beside one. */
#ifndef SP_EXPLAIN_BIAS_NAMES_H
#define SP_EXPLAIN_BIAS_NAMES_H

#include "base/map.h"
#include "check/check.h"

/* Of quantised weights the first tensor that is predicted in the place of each, by the weight's name. */
void sp_map_packed(const struct shapeproof_check *check, struct sp_map *packed);
/* The prediction of the weight beside a bias that the file lacks, or of the first tensor that is stored in its place;
 * or SHAPEPROOF_NONE. */
size_t sp_weight_of_lost_bias(struct shapeproof_check *check, const struct sp_map *packed, const char *bias);
/* Likewise of a bias that the file has. */
size_t sp_weight_of_stray_bias(struct shapeproof_check *check, const struct sp_map *packed, const char *bias);

#endif
