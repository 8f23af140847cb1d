/* SPDX-License-Identifier: MIT
 * How weights are quantised, for people: "gptq, 4 bits, groups of 128". */
#ifndef SP_STORED_DESCRIPTIONS_H
#define SP_STORED_DESCRIPTIONS_H

#include "base/value.h"

/* `ask` has the keys of quantization_config. In the arena. */
const char *sp_describe_storage(struct sp_arena *arena, const char *method,
                                struct shapeproof_value (*ask)(const void *context, const char *key),
                                const void *context);
/* The same of a form (forms.h). */
const char *sp_describe_scheme(struct sp_arena *arena, struct shapeproof_value form);

#endif
