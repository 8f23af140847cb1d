/* SPDX-License-Identifier: MIT
 * The regular expressions that loaders have in their rules and quantisers in configurations, as Python's re has them:
 * characters, '.', sets, \d, \w, \s, groups of which the first that captures is told, (?:...), (?!...), (?<!...), '|',
 * '*', '+', '?', '^', '$'. What is unfinished counts as far as it goes. */
#ifndef SP_NAMES_EXPRESSION_H
#define SP_NAMES_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

/* A place in a text: [begin, end). */
struct sp_text_range {
    size_t begin, end;
};

struct sp_expression_match {
    struct sp_text_range all, group; /* `group` is empty when there is none */
};

/* The leftmost place where the first `length` characters of `expression` match. What takes too long counts as no
 * match. */
bool sp_expression_search(const char *expression, size_t length, const char *text, struct sp_expression_match *found);

/* Whether the expression matches from the start, up to wherever. What it takes is subtracted from the budget, and
 * without one nothing matches. */
bool sp_expression_begins(const char *expression, const char *text, size_t *budget);

/* Whether the set that begins with the '[' at `at` has the character, with \d and the like, or as a shell has it.
 * Returns what is behind its ']', or NULL. */
const char *sp_expression_set_has(const char *at, const char *end, bool shell, char c, bool *has);

/* Writes the longest run of characters that stand in every match as they are, with a NUL; "" when there is none. `size`
 * is that of `literal`; a longer run is cut. */
void sp_expression_literal(const char *expression, size_t length, char *literal, size_t size);

#endif
