/* SPDX-License-Identifier: MIT
 * Many names in one line, for messages: "a.{0-3}.b, c.{x,y} and 2 more". */
#ifndef SP_NAMES_SOME_H
#define SP_NAMES_SOME_H

#include "names/collapse.h"

/* In the arena; "" for no names. */
const char *sp_some_names(struct sp_arena *arena, const char *const *names, size_t count);
/* Of the names that are left when they are collapsed so many. */
const char *sp_few_names(struct sp_arena *arena, const char *const *names, size_t count, size_t few);
/* The same of names that were taken apart already: see sp_collapse. */
const char *sp_some_inputs(struct sp_arena *arena, const struct sp_patterns *known,
                           const struct sp_collapse_input *input, size_t count);

#endif
