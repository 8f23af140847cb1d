/* SPDX-License-Identifier: MIT
 * Giving values to symbols: by the claim, by a configuration, or by the table's defaults. What is computed from them is
 * computed again, so that min(F, L) is 3 once F is 3 and L is 12. */
#ifndef SP_PROVE_SYMBOLIC_REDUCE_H
#define SP_PROVE_SYMBOLIC_REDUCE_H

#include "prove/symbolic/count.h"

/* Symbols with a value; for a condition the value is 0 or 1. */
struct sp_values {
    size_t *atoms;                 /* heap */
    const struct sp_poly **values; /* heap; in terms of other symbols */
    size_t count, capacity, value_capacity;
    bool assume; /* no loop goes backwards; what that takes for granted is in symbolic->premises.assumed */
};

void sp_values_add(struct sp_values *values, size_t atom, const struct sp_poly *value);
void sp_values_free(struct sp_values *values);
/* Puts the values into the polynomial, also where they bring symbols that have values too, and computes again what is
 * computed from them. Symbols without a value are taken to be 1 or more. NULL when that has no value: where 0 would
 * stand below a fraction line, or a sum below it, or when the values go round in a circle; and when the algebra failed.
 */
const struct sp_poly *sp_reduce(struct sp_count *count, const struct sp_poly *poly, const struct sp_values *values);
enum sp_defaults { SP_DEFAULTS_OF_ALL, SP_DEFAULTS_OF_CONDITIONS };

/* Adds the default of every symbol, or of every condition, that has no value in `values` yet and has one default. */
void sp_values_add_defaults(struct sp_count *count, struct sp_values *values, enum sp_defaults which);
/* Adds the defaults that are fractions, which a table computes with in floating point: good enough for conditions. */
void sp_values_add_fractions(struct sp_count *count, struct sp_values *values);
/* Whether a condition is true when every symbol has its default. False also when the defaults leave it open. */
bool sp_holds_by_default(struct sp_count *count, size_t condition);
/* The symbol of an atom, or NULL: an atom that is no symbol is computed. */
const struct sp_symbol_info *sp_symbol_of(const struct sp_count *count, size_t atom);
/* True when the polynomial has only hyper-parameters in it, nothing computed. */
bool sp_is_transparent(const struct sp_count *count, const struct sp_poly *poly);

/* The x of a condition 0 < x, where x is an atom that is never below 0. SIZE_MAX for any other. */
size_t sp_positive_atom(struct sp_symbolic *symbolic, size_t condition);
/* One value for one atom, and nothing assumed; NULL as above. */
const struct sp_poly *sp_sym_put(struct sp_symbolic *symbolic, const struct sp_poly *poly, size_t atom,
                                 const struct sp_poly *value);
/* The polynomial with everything in it computed again, by what is known now: of the open loops and of sizes. NULL as
 * above. */
const struct sp_poly *sp_sym_compute_again(struct sp_symbolic *symbolic, const struct sp_poly *poly);

#endif
