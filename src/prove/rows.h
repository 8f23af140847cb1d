/* SPDX-License-Identifier: MIT
 * Rows of a table as claims name them: elements(h.{i}.attn.c_attn.weight), count(h.{i}.ln_1.*), dim(wte.weight, 1). */
#ifndef SP_PROVE_ROWS_H
#define SP_PROVE_ROWS_H

#include "prove/symbolic/count.h"

/* The pattern of names (names/name_pattern.h) that a name of a claim means: a word in braces stands for any number, so
 * that h.{i}.ln_1.weight is h.{}.ln_1.weight. In the arena. */
const char *sp_pattern_of_claimed_name(struct sp_arena *arena, const char *name);
/* Whether the pattern means the row, by its name or by what is behind the prefix. A placeholder stands for a number. */
bool sp_row_matches(struct sp_arena *arena, const char *pattern, const struct sp_row_count *row);
/* What dim(NAME, index), count(NAME) or elements(NAME) is for the rows that NAME means, of which optional ones and
 * buffers are none; a tied tensor does not count. NULL with *why when no row is meant, or a dimension is not the same
 * in all. */
const struct sp_poly *sp_count_of_rows(struct sp_count *count, const struct sp_expr *expr, int64_t index,
                                       const char **why);

#endif
