/* SPDX-License-Identifier: MIT */
#ifndef SP_READ_LOOKALIKE_H
#define SP_READ_LOOKALIKE_H

#include "read/reader.h"

/* True, with an error that says what it is and what to do about it, for a file that its bytes or its name show to be
 * something else than a checkpoint that is read. */
bool sp_is_lookalike(const struct sp_probe *probe, struct shapeproof_error *error);

#endif
