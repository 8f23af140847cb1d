/* SPDX-License-Identifier: MIT */
#include "prove/reduce.h"

#include <stdlib.h>

enum { MAX_ROUNDS = 32 };

void sp_values_add(struct sp_values *values, size_t atom, const struct sp_poly *value)
{
    SP_GROW(values->atoms, values->count, values->capacity);
    if (values->value_capacity < values->capacity) {
        values->value_capacity = values->capacity;
        values->values = sp_realloc(values->values, values->capacity, sizeof *values->values);
    }
    values->atoms[values->count] = atom;
    values->values[values->count++] = value;
}

void sp_values_free(struct sp_values *values)
{
    free(values->atoms);
    free(values->values);
    *values = (struct sp_values){0};
}

/* Comparisons whose two sides have values now become 0 or 1. */
static const struct sp_poly *decide(struct sp_count *count, const struct sp_poly *poly, const struct sp_values *values,
                                    bool *changed)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    for (size_t i = 0; poly && i < count->symbolic.comparison_count; i++) {
        const struct sp_comparison comparison = count->symbolic.comparisons[i];
        struct sp_rational value;
        if (!sp_poly_uses(poly, comparison.atom)) continue;
        const struct sp_poly *gap = sp_reduce(count, comparison.gap, values);
        if (!gap || !sp_poly_is_constant(gap, &value)) continue;
        const bool holds = comparison.equality ? value.num == 0 : value.num > 0;
        poly = sp_poly_substitute(algebra, poly, comparison.atom, sp_poly_int(algebra, holds));
        *changed = true;
    }
    return poly;
}

const struct sp_poly *sp_reduce(struct sp_count *count, const struct sp_poly *poly, const struct sp_values *values)
{
    for (int round = 0; round < MAX_ROUNDS; round++) {
        bool changed = false;
        for (size_t i = 0; i < values->count; i++) {
            if (!sp_poly_uses(poly, values->atoms[i])) continue;
            poly = sp_poly_substitute(&count->symbolic.algebra, poly, values->atoms[i], values->values[i]);
            if (!poly) return NULL;
            changed = true;
        }
        poly = decide(count, poly, values, &changed);
        if (!poly || !changed) break;
    }
    return poly;
}

static bool has_value(const struct sp_values *values, size_t atom)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->atoms[i] == atom) return true;
    return false;
}

void sp_values_add_defaults(struct sp_count *count, struct sp_values *values, bool conditions_only)
{
    const struct sp_symbolic *symbolic = &count->symbolic;
    for (size_t i = 0; i < symbolic->symbol_count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols[i];
        if (!symbol->fallback || has_value(values, symbol->atom)) continue;
        if (conditions_only && !symbolic->algebra.atoms[symbol->atom].is_condition) continue;
        sp_values_add(values, symbol->atom, symbol->fallback);
    }
}

bool sp_holds_by_default(struct sp_count *count, size_t condition)
{
    struct sp_values defaults = {0};
    struct sp_rational value;
    sp_values_add_defaults(count, &defaults, false);
    const struct sp_poly *truth = sp_reduce(count, sp_poly_atom(&count->symbolic.algebra, condition), &defaults);
    sp_values_free(&defaults);
    return truth && sp_poly_is_constant(truth, &value) && value.num != 0;
}

const struct sp_symbol_info *sp_symbol_of(const struct sp_count *count, size_t atom)
{
    for (size_t i = 0; i < count->symbolic.symbol_count; i++)
        if (count->symbolic.symbols[i].atom == atom) return &count->symbolic.symbols[i];
    return NULL;
}

bool sp_is_transparent(const struct sp_count *count, const struct sp_poly *poly)
{
    for (size_t i = 0; i < poly->count; i++)
        for (size_t k = 0; k < poly->terms[i].count; k++)
            if (!sp_symbol_of(count, poly->terms[i].factors[k].atom)) return false;
    return true;
}
