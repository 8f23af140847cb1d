/* SPDX-License-Identifier: MIT */
#include "prove/configured.h"

#include "base/error.h"
#include "config/config.h"
#include "prove/settle.h"
#include "prove/symbolic/atoms.h"

/* The truth of every condition of the count that the values decide. */
static struct sp_values conditions_in(struct sp_count *count, const struct sp_values *values)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_values conditions = {0};
    struct sp_rational truth;
    const size_t atoms = algebra->atom_count;
    for (size_t atom = 0; atom < atoms; atom++) {
        if (!algebra->atoms[atom].is_condition) continue;
        const struct sp_poly *value = sp_reduce(count, sp_poly_atom(algebra, atom), values);
        if (value && sp_poly_is_constant(value, &truth)) sp_values_add(&conditions, atom, value);
    }
    return conditions;
}

bool sp_configured_open(struct sp_configured *configured, struct sp_count *general,
                        const struct shapeproof_tables *tables, const struct sp_unit *table,
                        const struct shapeproof_config *config, struct shapeproof_error *error)
{
    *configured = (struct sp_configured){.general = general, .open = sp_config_open(config, SP_OPEN_NUMBERS)};
    const struct sp_hyper *hyper = sp_config_hyper(configured->open);
    const bool counted = sp_count_table(general, tables, table, hyper, SP_SIDES_MAY_DIFFER) &&
                         sp_count_settled(&configured->settled, tables, table, sp_config_hyper(config));
    if (counted) {
        configured->values = sp_settle(general, &configured->settled, sp_config_hyper(config));
        configured->conditions = conditions_in(general, &configured->values);
    } else {
        const struct sp_count *failed = general->messages.data ? general : &configured->settled;
        sp_fail_lines(error, SHAPEPROOF_ERR_TABLE, sp_sym_failure(&failed->symbolic), failed->messages.data);
    }
    return counted;
}

void sp_configured_free(struct sp_configured *configured)
{
    sp_values_free(&configured->values);
    sp_values_free(&configured->conditions);
    sp_count_free(&configured->settled);
    shapeproof_config_free(configured->open);
}

const struct sp_poly *sp_configured_form(const struct sp_configured *configured, const struct sp_poly *poly)
{
    return poly ? sp_reduce(configured->general, poly, &configured->conditions) : NULL;
}

bool sp_configured_value(const struct sp_configured *configured, const struct sp_poly *poly, struct sp_rational *value)
{
    const struct sp_poly *reduced = poly ? sp_reduce(configured->general, poly, &configured->values) : NULL;
    return reduced && sp_poly_is_constant(reduced, value);
}

bool sp_configured_depends(const struct sp_configured *configured, const struct sp_poly *poly, size_t atom)
{
    return sp_poly_involves(&configured->general->symbolic, poly, atom);
}

static bool is_number(struct sp_rational value, uint64_t number)
{
    return value.den == 1 && value.num >= 0 && (uint64_t)value.num == number;
}

/* A form is checked by its own value; what is no polynomial in it has none, but the settled table has. */
const struct sp_poly *sp_configured_group(struct sp_configured *configured, const char *group, uint64_t number)
{
    struct sp_rational value;
    const struct sp_poly *form = sp_configured_form(configured, sp_count_group(configured->general, group));
    if (!form) return NULL;
    const bool known = sp_configured_value(configured, form, &value) ||
                       sp_poly_is_constant(sp_count_group(&configured->settled, group), &value);
    return known && is_number(value, number) ? form : NULL;
}
