/* SPDX-License-Identifier: MIT
 * Tensors of a file as pieces of joints (names/joints.h). */
#ifndef SP_MATCH_PIECES_H
#define SP_MATCH_PIECES_H

#include "match/naming.h"
#include "names/joints.h"

/* Adds a tensor of the file as a whole, or as a part, under every name that it could stand for. */
void sp_joints_add_stored(struct sp_joints *joints, const struct sp_naming *naming,
                          const struct shapeproof_tensor *tensor, size_t item, bool whole);

#endif
