/* SPDX-License-Identifier: MIT
 * From the value that a trial tells to what has to be written into a configuration so that programs load it: what
 * follows from a key changes with it. */
#ifndef SP_EXPLAIN_PATCH_H
#define SP_EXPLAIN_PATCH_H

#include "check/check.h"

/* The patch, and all that has to change with it; in the arena of the check.
 *
 *     num_hidden_layers: 4                    layer_types, which has an entry for each layer
 *     feed_forward_proj: "gated"              "gated-gelu", one that programs know; and what they compute of it goes:
 *                                             is_gated_act: null, dense_act_fn: null */
struct shapeproof_value sp_patch_complete(struct shapeproof_check *check, struct shapeproof_value patch);

/* What has to change when the key, a number of layers, has that value: the lists of the configuration with an entry for
 * each layer, in their new length; absent without any. Lists that programs compute may be null. `path` is that of the
 * object with the key, "text_config.", or "". */
struct shapeproof_value sp_patch_lists(struct shapeproof_check *check, const char *path,
                                       struct shapeproof_member count);

/* The text that a flag is computed of, "feed_forward_proj" of is_gated_act, and what it must begin with (or with
 * anything else) for the flag to be set; NULL when there is none. */
const char *sp_patch_text_of_flag(const char *flag, const char **begins);

/* Whether it is known which text the key should have where it must be any but those that the table mentions. */
bool sp_patch_knows_text(const char *key);

/* Whether a key that a patch sets to null has to be taken out, since programs compute it where it is absent. */
bool sp_patch_takes_out(const char *key);

#endif
