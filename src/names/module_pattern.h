/* SPDX-License-Identifier: MIT */
#ifndef SP_NAMES_MODULE_PATTERN_H
#define SP_NAMES_MODULE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a pattern of a quantiser's configuration means the module, or one that it is within: a name with '*' for
 * anything, or "re:" and a regular expression (letters, '.', sets, groups, '|', '*', '+', '?'), which has to match from
 * the start. What it takes is subtracted from the budget; without one nothing matches. */
bool sp_module_matches(const char *pattern, const char *module, size_t *budget);

#endif
