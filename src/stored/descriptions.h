/* SPDX-License-Identifier: MIT
 * How weights are quantised, for people: "gptq, 4 bits, groups of 128". */
#ifndef SP_STORED_DESCRIPTIONS_H
#define SP_STORED_DESCRIPTIONS_H

#include "base/value.h"

/* The method, and the keys of quantization_config that are set, in a fixed order: ("gptq", {bits: 4, group_size: 128})
 * -> "gptq, 4 bits, groups of 128". `ask` returns the value of a key, absent where it is not set. In the arena. */
const char *sp_describe_storage(struct sp_arena *arena, const char *method,
                                struct shapeproof_value (*ask)(const void *context, const char *key),
                                const void *context);
/* The same of a form, which is a quantization_config as an object (schemes.h). */
const char *sp_describe_scheme(struct sp_arena *arena, struct shapeproof_value form);

#endif
