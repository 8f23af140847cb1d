/* SPDX-License-Identifier: MIT
 * What to write into the configuration. Each cause has a patch of its own; the hint of all of them is the one patch
 * that makes the configuration right. */
#ifndef SP_EXPLAIN_REMEDY_H
#define SP_EXPLAIN_REMEDY_H

#include "check/check.h"

/* "write into config.json: {"n_layer": 2, "vocab_size": 64}", of one value with "; --set n_layer=2 tries it", as the
 * hint of every cause that has a patch; "give --set
 * ..." of what was set on the command line, and where the configuration is no JSON file. */
void sp_say_remedy(struct shapeproof_check *check);

#endif
