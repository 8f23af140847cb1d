/* SPDX-License-Identifier: MIT
 * Patterns of tensor names, as people write them and as reports print them:
 *
 *   *  ?  [abc] [a-z] [!0-9]     as in a shell; * also matches dots
 *   {q_proj,k_proj}              one of these texts
 *   {0-4,7}                      one of these numbers
 *   {}                           any number
 *   \x                           the character x itself */
#ifndef SP_NAMES_NAME_PATTERN_H
#define SP_NAMES_NAME_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct sp_name_pattern {
    struct sp_name_token *tokens; /* in the arena */
    size_t count;
};

/* What is wrong with a pattern, and where in its text. */
struct sp_pattern_mistake {
    size_t offset;
    const char *message; /* static */
};

bool sp_name_pattern_parse(struct sp_name_pattern *pattern, struct sp_arena *arena, const char *text, size_t length,
                           struct sp_pattern_mistake *mistake);
/* The whole name must match. In time of the product of both lengths. */
bool sp_name_pattern_matches(const struct sp_name_pattern *pattern, const char *name);

#endif
