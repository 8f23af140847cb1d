/* SPDX-License-Identifier: MIT
 * Atoms of formulas: hyper-parameters, indices of loops, and what is computed but is no polynomial. */
#ifndef SP_PROVE_SYMBOLIC_ATOMS_H
#define SP_PROVE_SYMBOLIC_ATOMS_H

#include "prove/symbolic/symbolic.h"

struct sp_atom_info *sp_atom_info(struct sp_symbolic *symbolic, size_t atom);
/* The only atom of a polynomial that is nothing but an atom; SIZE_MAX for any other. */
size_t sp_atom_alone(const struct sp_poly *poly);

/* A hyper-parameter by its key, made when it is new; `name` is what the table calls it, or NULL. */
struct sp_sym sp_atom_open(struct sp_symbolic *symbolic, const char *name, const char *key, uint64_t depends,
                           const struct sp_sym *fallback);
/* The default of what has none yet: of a hyper-parameter that stands in front of `default` under another name. */
void sp_atom_default(struct sp_symbolic *symbolic, const struct sp_sym *sym, const struct sp_sym *fallback);
/* A hyper-parameter (or one side of a pair) whose default is a text or a list is one. False for what is no symbol. */
bool sp_atom_is_text(struct sp_symbolic *symbolic, const struct sp_sym *sym);
/* at(x, 0) of a hyper-parameter is a symbol of its own, one side of a pair: x[0]. */
void sp_atom_side(struct sp_symbolic *symbolic, const struct sp_sym *args, struct sp_sym side);
/* An index that no open loop has, called `name` if that is possible. SIZE_MAX when there are too many. */
size_t sp_atom_new_index(struct sp_symbolic *symbolic, const char *name);
/* What is known of the result of an operation, which is an atom of that text. */
struct sp_atom_properties {
    bool is_condition, is_whole, is_bounded, is_given;
    int64_t least;
};
struct sp_sym sp_atom_computed(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                               const struct sp_sym *args, size_t count, struct sp_atom_properties fact,
                               const char *text);
/* The name of a definition for the atom that it computes. */
void sp_atom_name(struct sp_symbolic *symbolic, const char *name, const struct sp_sym *sym);

/* Notes that the formula holds where no loop goes backwards, as this condition (info->range) says. Always true. */
bool sp_atom_assume(struct sp_symbolic *symbolic, size_t atom);

const struct sp_origin *sp_origin_new(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                                      const struct sp_sym *args, size_t count);
/* The gap of the comparison that a condition is, left < right or left == right: right - left. False for any other. */
bool sp_atom_comparison(struct sp_symbolic *symbolic, size_t atom, const struct sp_poly **gap, bool *equality);
/* Which loop indices are in it, as bits. */
uint64_t sp_poly_depends(struct sp_symbolic *symbolic, const struct sp_poly *poly);
uint64_t sp_sym_depends(struct sp_symbolic *symbolic, struct sp_sym sym);
/* Whether it has the value of a whole number wherever the table makes sense. */
bool sp_poly_is_whole(struct sp_symbolic *symbolic, const struct sp_poly *poly);
/* Whether it is 0 or more for all hyper-parameters, and all iterations of the open loops. False when that is not seen.
 * With symbolic->premises.sizes hyper-parameters are from 1 up, else from 0 up. */
bool sp_poly_never_negative(struct sp_symbolic *symbolic, const struct sp_poly *poly);
/* Whether it is seen to be never below that, as sp_poly_never_negative has it. */
bool sp_poly_is_at_least(struct sp_symbolic *symbolic, const struct sp_poly *poly, int64_t least);
/* Marks every atom that is in the polynomial, or in what an atom of it is computed from. */
void sp_poly_reach(struct sp_symbolic *symbolic, const struct sp_poly *poly, char *seen);
/* Notes of all these that they are sizes. */
void sp_poly_mark_sizes(struct sp_symbolic *symbolic, const struct sp_poly *poly);
bool sp_poly_involves(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t which);

#endif
