/* SPDX-License-Identifier: MIT
 * Patterns that stand for sets of names. One machine runs them; what a text means is a matter of its dialect.
 *
 * Of names, as people write them in expectations and as reports print them. A whole name has to match:
 *
 *   *  ?  [abc] [a-z] [!0-9]     as in a shell; * also matches dots
 *   {q_proj,k_proj}              one of these texts
 *   {0-4,7}                      one of these numbers
 *   {}                           any number
 *   \x                           the character x itself
 *
 * Of modules, as quantisers write them into configurations. "model.layers.1" stands for what is within it as well:
 *
 *   *                            anything; every other character is itself
 *   re:REGEX                     of expression.h; has to match from the start but not up to the end, as re.match */
#ifndef SP_NAMES_NAME_PATTERN_H
#define SP_NAMES_NAME_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* A pattern of names without a mistake. The text is borrowed. */
struct sp_name_pattern {
    const char *text;
    size_t length;
};

/* What is wrong with a pattern, and where in its text. */
struct sp_pattern_mistake {
    size_t offset;
    const char *message; /* static */
};

bool sp_name_pattern_parse(struct sp_name_pattern *pattern, const char *text, size_t length,
                           struct sp_pattern_mistake *mistake);
/* In time of the product of both lengths. */
bool sp_name_pattern_matches(const struct sp_name_pattern *pattern, const char *name);

/* Whether a pattern of modules means this one, or one that it is within. What is unfinished counts as far as it goes.
 * What it takes is subtracted from the budget. When nothing is left of that, the call fails as with too many steps. */
bool sp_module_matches(const char *pattern, const char *module, size_t *budget);

#endif
