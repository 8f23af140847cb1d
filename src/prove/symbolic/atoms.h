/* SPDX-License-Identifier: MIT
 * Atoms of formulas: hyper-parameters, indices of loops, and what is computed but is no polynomial. */
#ifndef SP_PROVE_SYMBOLIC_ATOMS_H
#define SP_PROVE_SYMBOLIC_ATOMS_H

#include "prove/symbolic/symbolic.h"

/* What is known of an atom; all zero for one of which nothing was noted. Valid until another atom is asked for. */
struct sp_atom_info *sp_atom_info(struct sp_symbolic *symbolic, size_t atom);
/* The only atom of a polynomial that is nothing but an atom; SIZE_MAX for any other. */
size_t sp_atom_alone(const struct sp_poly *poly);

/* A hyper-parameter by its key, made when it is new; `name` is what the table calls it, or NULL. `depends`: the loop
 * indices in the key, as bits, where it is that of a member of a list's item. `fallback`: its default, or NULL. */
struct sp_sym sp_atom_open(struct sp_symbolic *symbolic, const char *name, const char *key, uint64_t depends,
                           const struct sp_sym *fallback);
/* Gives a default to `sym`, if that is a hyper-parameter without one: h, where "h = hidden" stands above, of "h default
 * 4". */
void sp_atom_default(struct sp_symbolic *symbolic, const struct sp_sym *sym, const struct sp_sym *fallback);
/* Notes that a hyper-parameter, or one side of a pair, is a text or a list, as its default is. False for what is no
 * hyper-parameter. */
bool sp_atom_is_text(struct sp_symbolic *symbolic, const struct sp_sym *sym);
/* Makes the atom `side`, at(x, 0) of a hyper-parameter x, a symbol of its own, one side of a pair: x[0]. */
void sp_atom_side(struct sp_symbolic *symbolic, const struct sp_sym *args, struct sp_sym side);
/* An index that no open loop has, called `name` if that is possible. SIZE_MAX when there are too many. */
size_t sp_atom_new_index(struct sp_symbolic *symbolic, const char *name);
/* What is known of the result of an operation without its value; see the same fields of struct sp_atom_info. */
struct sp_atom_properties {
    bool is_condition, is_whole, is_bounded, is_given;
    int64_t least; /* 0 where it is not bounded */
};
/* The result of an operation as an atom, which `text` stands for. The properties count when the atom is new. */
struct sp_sym sp_atom_computed(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                               const struct sp_sym *args, size_t count, struct sp_atom_properties fact,
                               const char *text);
/* The name of a definition for the atom that it computes. */
void sp_atom_name(struct sp_symbolic *symbolic, const char *name, const struct sp_sym *sym);

/* Adds the assumption that this condition, by which a loop goes backwards, does not hold (info->range) to those of the
 * formula. Always true. */
bool sp_atom_assume(struct sp_symbolic *symbolic, size_t atom);

/* A copy of an operation and its arguments, in the arena. */
const struct sp_origin *sp_origin_new(struct sp_symbolic *symbolic, const struct sp_operation *operation,
                                      const struct sp_sym *args, size_t count);
/* Whether a condition is a comparison of numbers, left < right or, *equality being true then, left == right. *gap
 * becomes right - left. False for any other atom, with *gap as it was. */
bool sp_atom_comparison(struct sp_symbolic *symbolic, size_t atom, const struct sp_poly **gap, bool *equality);
/* Whether the polynomial is sign*index + rest, where the sign is 1 or -1 and the rest does not depend on the index. */
bool sp_poly_is_linear(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t index, int *sign,
                       const struct sp_poly **rest);
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
/* Notes of all these atoms that they are sizes. */
void sp_poly_mark_sizes(struct sp_symbolic *symbolic, const struct sp_poly *poly);
/* Whether the atom `which` is among them. */
bool sp_poly_involves(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t which);

#endif
