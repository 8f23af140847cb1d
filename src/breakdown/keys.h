/* SPDX-License-Identifier: MIT
 * What the name of a tensor says about its place in the model.
 *
 *     name                                          layer             module                                  expert
 *     model.layers.3.mlp.experts.7.up_proj.weight   model.layers.3    model.layers.{}.mlp.experts.{}.up_proj  experts.7
 *     model.layers.3.mlp.experts.down_proj          model.layers.3    model.layers.{}.mlp.experts             experts
 *     blk.3.ffn_up_exps.weight                      blk.3             blk.{}.ffn_up_exps                      exps
 *     layers/conv2d_1/vars/0                        layers/conv2d_1   layers/conv2d_1/vars                    -
 *     wte                                           -                 -                                       - */
#ifndef SP_BREAKDOWN_KEYS_H
#define SP_BREAKDOWN_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Each appends the value that the name has; false when it has none. */
bool sp_put_layer(struct sp_text *value, const char *name);
bool sp_put_expert(struct sp_text *value, const char *name);
/* At most `depth` components; 0 for all but the last. */
bool sp_put_module(struct sp_text *value, const char *name, size_t depth);

#endif
