/* SPDX-License-Identifier: MIT
 * Giving values to symbols: by the claim, by a configuration, or by the table's defaults. */
#ifndef SP_PROVE_REDUCE_H
#define SP_PROVE_REDUCE_H

#include "prove/count.h"

/* Symbols with a value; for a condition the value is 0 or 1. */
struct sp_values {
    size_t *atoms;                 /* heap */
    const struct sp_poly **values; /* heap; in terms of other symbols */
    size_t count, capacity, value_capacity;
};

void sp_values_add(struct sp_values *values, size_t atom, const struct sp_poly *value);
void sp_values_free(struct sp_values *values);
/* Puts the values into the polynomial, again and again while they bring symbols that have values too. NULL when a
 * negative power of a sum would be needed. */
const struct sp_poly *sp_reduce(struct sp_count *count, const struct sp_poly *poly, const struct sp_values *values);
/* Adds the default of every symbol that has none yet and that has a default; of conditions alone, or of all. */
void sp_values_add_defaults(struct sp_count *count, struct sp_values *values, bool conditions_only);
/* Whether a condition is true when every symbol has its default. */
bool sp_holds_by_default(struct sp_count *count, size_t condition);
/* The symbol of an atom, or NULL: an atom that is no symbol is opaque. */
const struct sp_symbol_info *sp_symbol_of(const struct sp_count *count, size_t atom);
/* True when the polynomial has only symbols and conditions in it, nothing opaque. */
bool sp_is_transparent(const struct sp_count *count, const struct sp_poly *poly);

#endif
