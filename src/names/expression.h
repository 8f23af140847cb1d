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

/* How a set is written. */
enum sp_set_dialect {
    SP_SET_PYTHON, /* [^a-z\d] */
    SP_SET_SHELL   /* [!a-z], also [^a-z]; \d is the character d */
};

/* Reads the set that begins with the '[' at `at`; *has: whether it has the character. A ']' that comes first, "[]ab]",
 * is a character of the set. Returns what is behind its closing ']'; NULL when there is none before `end`. */
const char *sp_expression_set_has(const char *at, const char *end, enum sp_set_dialect dialect, char c, bool *has);

/* Writes the longest run of characters that stands in every match, as far as that is easily seen, with a NUL: "_proj"
 * for "(q|k)_proj[0-9]*". "" when there is none, or when the expression has alternatives outside of groups. What is
 * inside a group or has a '*', '+' or '?' behind it is in no run. `size` is that of `literal`; a longer run is cut. */
void sp_expression_literal(const char *expression, size_t length, char *literal, size_t size);

#endif
