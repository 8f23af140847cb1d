/* SPDX-License-Identifier: MIT
 * The kinds of values that transformers 5 takes for each key of a configuration: an integer for hidden_size, a real
 * number for layer_norm_eps, which 1 is not. */
#ifndef SP_LOAD_VALUE_KINDS_H
#define SP_LOAD_VALUE_KINDS_H

#include "base/arena.h"
#include "base/value.h"

/* Why the type refuses a value of the object: "mlp_ratio is an integer, not a real number". `front` stands before the
 * key. "" when it refuses none, or is not known. In the arena. */
const char *sp_refused_kind(struct sp_arena *arena, const char *model_type, const char *front,
                            struct shapeproof_value object);
/* The value as the type takes it: 4.0 for 4 where it takes no integer, 1 for true where it takes no truth value; of a
 * list, its items. The same value where there is no such change, or where the type takes it as it is. In the arena. */
struct shapeproof_value sp_value_as_taken(struct sp_arena *arena, const char *model_type, const char *key,
                                          struct shapeproof_value value);

#endif
