/* SPDX-License-Identifier: MIT
 * What quantization_config may be, for those who have a file and no configuration that says it. */
#ifndef SP_STORED_SCHEMES_H
#define SP_STORED_SCHEMES_H

#include "base/value.h"

struct shapeproof_tables;
struct sp_unit;

/* Methods, some of them more than once; of each the numbers are to be tried. */
size_t sp_scheme_count(void);
/* The part that says what the method stores, or NULL. */
const struct sp_unit *sp_scheme_part(const struct shapeproof_tables *tables, size_t method);
/* Each form of the method, one for each bits and group size, in the arena. */
void sp_scheme_visit_all(struct sp_arena *arena, size_t method,
                         void (*take)(void *context, struct shapeproof_value form), void *context);
/* The key of a configuration that has the form, and what is there: MLX has a key of its own, and names no method. */
struct shapeproof_member sp_scheme_setting(struct shapeproof_value form);

#endif
