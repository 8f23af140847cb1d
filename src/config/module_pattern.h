/* SPDX-License-Identifier: MIT */
#ifndef SP_CONFIG_MODULE_PATTERN_H
#define SP_CONFIG_MODULE_PATTERN_H

#include <stdbool.h>

/* Whether a pattern of a quantiser's configuration means the module, or one that it is within: a name with '*' for
 * anything, or "re:" and a regular expression (letters, '.', sets, groups, '|', '*', '+', '?'), which has to match from
 * the start. Time is bounded by the product of the lengths. */
bool sp_module_matches(const char *pattern, const char *module);

#endif
