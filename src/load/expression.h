/* SPDX-License-Identifier: MIT
 * The regular expressions that loaders have in their rules, searched for as Python's re does: characters, '.', sets,
 * \d, \w, groups of which the first that captures is told, (?:...), (?!...), (?<!...), '|', '*', '+', '?', '^', '$'.
 * Groups are not repeated. */
#ifndef SP_LOAD_EXPRESSION_H
#define SP_LOAD_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

/* A place in a text: [begin, end). */
struct sp_span {
    size_t begin, end;
};

struct sp_found {
    struct sp_span all, group; /* `group` is empty when there is none */
};

/* The leftmost place where the first `length` characters of `expression` match. What takes too long counts as no
 * match. */
bool sp_expression_search(const char *expression, size_t length, const char *text, struct sp_found *found);

/* Writes the longest run of characters that stand in every match as they are, with a NUL; "" when there is none. `size`
 * is that of `literal`; a longer run is cut. */
void sp_expression_literal(const char *expression, size_t length, char *literal, size_t size);

#endif
