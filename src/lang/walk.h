/* SPDX-License-Identifier: MIT
 * The way through a section: its clauses from left to right, and behind the last of them its rows, once for each
 * iteration of the loops. For
 *
 *     [blocks] for i in 0..1 if big
 *     a.{i} (n)
 *     b.{i} (n)
 *
 * an expansion is called as follows; others, which know no values, as often as they go on from a clause:
 *
 *     range 0 ─┬─ i = 0 ── condition 1 ── row a, row b
 *              └─ i = 1 ── condition 1 ── row a, row b
 *
 * What a loop, a condition and the use of a part come to is for the walker: iterations, terms of a sum, or provisos. */
#ifndef SP_LANG_WALK_H
#define SP_LANG_WALK_H

#include "base/arena.h"
#include "lang/syntax/ast.h"

/* `at` is where the walker is: what it knows of the loops around. Each returns false to give up the iteration. */
struct sp_walker {
    /* Goes on with sp_walk(walker, section, clause + 1, inner): for each index or item, if the condition holds. */
    bool (*range)(const void *at, size_t clause);
    bool (*each)(const void *at, size_t clause);
    bool (*condition)(const void *at, size_t clause);
    bool (*row)(const void *at, const struct sp_row *row);
};

/* From a clause of the section on; false when a callback returned that. */
bool sp_walk(const struct sp_walker *walker, const struct sp_section *section, size_t clause, const void *at);

/* The number of iterations of a loop `for i in 0..N-1`: the expression N. NULL for a loop with other bounds. */
const struct sp_expr *sp_loop_count(const struct sp_clause *loop);

/* The group of the tensors of a section of `unit`, which group `outer` uses (NULL or "": none does). A part's tensors
 * belong to the group that uses it, or, outside of any group, to the part's own; a sub-table's groups are named after
 * both. */
const char *sp_group_name(struct sp_arena *arena, const struct sp_unit *unit, const struct sp_section *section,
                          const char *outer);
/* Whether [asked] counts the group: it is that group, or one of a table that it uses, if it has no tensors of its own.
 * [vision] counts "vision: attention" and "vision: feed-forward". */
bool sp_group_is_in(const struct sp_unit *table, const char *group, const char *asked);

#endif
