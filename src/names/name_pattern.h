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
#include <stdint.h>

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
/* How many characters the pattern begins with that stand for themselves: 2 of "h.*.w". A pattern without wildcards has
 * its whole length. */
size_t sp_name_pattern_prefix(const struct sp_name_pattern *pattern);
/* A set of characters: character c is bit c mod 64, so that one may stand for another. Of a name it has all its
 * characters, and of a pattern those that each name has that it matches: of "h.{0,1}*" those of "h.". So
 * sp_pattern_characters(p) & ~sp_name_characters(n) is 0 if p matches n. */
uint64_t sp_name_characters(const char *name);
uint64_t sp_pattern_characters(const struct sp_name_pattern *pattern);
/* In time of the product of both lengths, which the steps of the call count. */
bool sp_name_pattern_matches(const struct sp_name_pattern *pattern, const char *name);

/* Whether a pattern of modules means this one, or one that it is within. What is unfinished counts as far as it goes.
 * What it takes is subtracted from the budget. When nothing is left of that, the call fails as with too many steps. */
bool sp_module_matches(const char *pattern, const char *module, size_t *budget);

#endif
