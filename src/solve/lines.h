/* SPDX-License-Identifier: MIT
 * Lines of an outline held against names: which of the numbers in a name are the indices of which loops.
 *
 *   the line  h.{i}.attn.c_attn.weight  has  h.7.attn.c_attn.weight  in the iteration 7 of its loop
 */
#ifndef SP_SOLVE_LINES_H
#define SP_SOLVE_LINES_H

#include "solve/outline.h"

/* The iteration of a loop around the line that the numbers of a name stand for; -1 when they do not tell. */
int64_t sp_line_iteration(const struct sp_line *line, const struct sp_loop *loop, const uint64_t *numbers);
/* Gives all loops around the line the iterations that the numbers stand for. */
void sp_line_enter(const struct sp_line *line, const uint64_t *numbers);
/* The same; and where the numbers are expressions of iterations, `{before(s) + j}`, the first iterations are looked for
 * that make them. False when there are none, or too many to look through. */
bool sp_line_find_iterations(struct sp_solver *solver, const struct sp_line *line, const uint64_t *numbers);
/* Gives one loop a iteration. */
void sp_loop_enter(struct sp_loop *loop, int64_t iteration);
/* Indices are unknown again, of this loop and those around it. */
void sp_loop_leave(struct sp_loop *loop);
/* The outermost loop around the line, or NULL. */
struct sp_loop *sp_line_outermost(const struct sp_line *line);

/* Numbers that a line's name must have: those of the name itself, and expressions that are known by now. */
struct sp_fixed_numbers {
    uint64_t value[SP_MAX_INDICES];
    bool is_fixed[SP_MAX_INDICES];
};

/* Returns the last number that is an expression and not known yet, or SIZE_MAX. */
size_t sp_line_fix_numbers(struct sp_solver *solver, const struct sp_line *line, struct sp_fixed_numbers *fixed);
/* Whether a name of the line's pattern with these numbers can be the line's. */
bool sp_line_fits(const struct sp_line *line, const struct sp_fixed_numbers *fixed, const uint64_t *numbers);

/* Whether it depends on the index of a loop. */
bool sp_condition_varies(const struct sp_line_condition *condition);
/* Whether it depends on the index of that loop around it. */
bool sp_condition_is_about(const struct sp_line_condition *condition, const struct sp_loop *loop);
/* Its value, as sp_solver_value has it. */
struct shapeproof_value sp_condition_value(struct sp_solver *solver, const struct sp_line_condition *condition);
/* Whether one of its conditions is known not to be met. */
bool sp_line_is_ruled_out(struct sp_solver *solver, const struct sp_line *line);
/* Each of its conditions has a value that is known. */
bool sp_line_is_decided(struct sp_solver *solver, const struct sp_line *line);
/* Whether all conditions of its row are met in the iterations that its loops were given. */
bool sp_line_is_met(struct sp_solver *solver, const struct sp_line *line);
/* Whether the row is there in these iterations: they are within the bounds of the loops as well. */
bool sp_line_is_used(struct sp_solver *solver, const struct sp_line *line);
/* Whether the expression depends on the index of that loop, or, for NULL, of any. */
bool sp_depends_on(const struct sp_env *env, const struct sp_expr *expr, const struct sp_loop *loop);

/* ---- the lines of an outline by their names ---- */

struct sp_line_map {
    struct sp_outline *outline;
    struct sp_map first;    /* pattern -> a line */
    size_t *next;           /* of each line another one of the same pattern, or SIZE_MAX */
    struct sp_text pattern; /* scratch */
};

void sp_line_map_init(struct sp_line_map *map, struct sp_outline *outline);
void sp_line_map_free(struct sp_line_map *map);
/* The lines that can have a tensor of that name, whatever their conditions and bounds say; the name's numbers in
 * `indices`. Returns how many, at most `most`. */
size_t sp_lines_named(struct sp_line_map *map, const char *name, struct sp_indices *indices,
                      const struct sp_line **lines, size_t most);
/* Of all lines those whose names begin with `front` and have one component more; or, where there is a leaf, any number
 * of them, the last of which it is, with or without something behind a colon. */
size_t sp_lines_below(struct sp_line_map *map, const char *front, const char *leaf, struct sp_indices *indices,
                      const struct sp_line **lines, size_t most);

#endif
