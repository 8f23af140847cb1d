/* SPDX-License-Identifier: MIT
 * Compares lines of an outline with names: which of the numbers in a name are the indices of which loops.
 *
 *   the line  h.{i}.attn.c_attn.weight  has  h.7.attn.c_attn.weight  in the iteration 7 of its loop
 */
#ifndef SP_SOLVE_LINES_H
#define SP_SOLVE_LINES_H

#include "solve/outline.h"

/* In all of these `numbers` are those of a name with the pattern of the line, one for each of its holes. */

/* The iteration of a loop around the line that the numbers stand for; -1 when no hole has its index alone, or the
 * number is none that the hole can have. */
int64_t sp_line_iteration(const struct sp_line *line, const struct sp_loop *loop, const uint64_t *numbers);
/* Gives all loops around the line the iterations that the numbers stand for, as far as these tell. */
void sp_line_enter(const struct sp_line *line, const uint64_t *numbers);
/* The same; and for numbers that are expressions of several indices, `{before(s) + j}`, the first iterations that make
 * them are searched for. False when there are none, or too many to search. */
bool sp_line_find_iterations(struct sp_solver *solver, const struct sp_line *line, const uint64_t *numbers);
/* Gives the index of one loop a value. */
void sp_loop_enter(struct sp_loop *loop, int64_t iteration);
/* Makes the indices of this loop (NULL: none) and of those around it unknown again. */
void sp_loop_leave(struct sp_loop *loop);
/* The outermost loop around the line, or NULL. */
struct sp_loop *sp_line_outermost(const struct sp_line *line);

/* Numbers that a line's name must have: those of the name itself, and expressions with a known value. */
struct sp_fixed_numbers {
    uint64_t value[SP_MAX_INDICES]; /* by hole */
    bool is_fixed[SP_MAX_INDICES];  /* false: the index of a loop, or not known */
};

/* Fills in `fixed`. Returns the last hole whose expression has no value yet, or SIZE_MAX. */
size_t sp_line_fix_numbers(struct sp_solver *solver, const struct sp_line *line, struct sp_fixed_numbers *fixed);
/* Whether a name of the line's pattern with these numbers can be the line's. */
bool sp_line_fits(const struct sp_line *line, const struct sp_fixed_numbers *fixed, const uint64_t *numbers);

/* Whether the condition depends on the index of a loop. */
bool sp_condition_varies(const struct sp_line_condition *condition);
/* Whether the condition depends on the index of that loop around it. */
bool sp_condition_is_about(const struct sp_line_condition *condition, const struct sp_loop *loop);
/* The value of the condition, as that of sp_solver_value. */
struct shapeproof_value sp_condition_value(struct sp_solver *solver, const struct sp_line_condition *condition);
/* Whether one of the line's conditions is known not to be met. */
bool sp_line_is_ruled_out(struct sp_solver *solver, const struct sp_line *line);
/* Whether each of the line's conditions has a known value. */
bool sp_line_is_decided(struct sp_solver *solver, const struct sp_line *line);
/* Whether all of the line's conditions are met in the iterations that its loops are in. */
bool sp_line_is_met(struct sp_solver *solver, const struct sp_line *line);
/* The same, and the iterations are within the bounds of the loops: the table has a tensor there. */
bool sp_line_is_used(struct sp_solver *solver, const struct sp_line *line);
/* Whether the expression depends on the index of that loop; NULL: of any loop that is in no iteration. */
bool sp_depends_on(const struct sp_env *env, const struct sp_expr *expr, const struct sp_loop *loop);

/* ---- the lines of an outline by their names ---- */

struct sp_line_map {
    struct sp_outline *outline;
    struct sp_map first;    /* pattern -> a line; of those whose numbers are all constants: numbers and pattern */
    size_t *next;           /* of each line another one of the same key, which comes later, or SIZE_MAX */
    struct sp_arena keys;   /* numbers and patterns, "4,layer#.weight" */
    struct sp_text pattern; /* scratch */
};

void sp_line_map_init(struct sp_line_map *map, struct sp_outline *outline);
void sp_line_map_free(struct sp_line_map *map);
/* Writes the lines that can have a tensor of that name, whatever their conditions and bounds are, to `lines`, and the
 * numbers of the name to `indices`. Returns how many lines, at most `most`. */
size_t sp_lines_named(struct sp_line_map *map, const char *name, struct sp_indices *indices,
                      const struct sp_line **lines, size_t most);
/* The same for the lines whose names are `front` and one component more; or, unless `leaf` is NULL, `front`, any number
 * of components, and the leaf, with or without something behind a colon. */
size_t sp_lines_below(struct sp_line_map *map, const char *front, const char *leaf, struct sp_indices *indices,
                      const struct sp_line **lines, size_t most);

#endif
