/* SPDX-License-Identifier: MIT
 * The closed forms of a table: every group and the total for the defaults of its conditions, and then what each
 * condition, changed alone, adds or takes away. Or those of a prediction, for the conditions as it has them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "prove/settle.h"
#include "shapeproof/prove.h"

struct sp_derivation {
    struct sp_count count;
    struct sp_formula *formulas;
    size_t formula_count, formula_capacity;
    struct sp_symbol *symbols;
    size_t symbol_count;
};

static const char *formula_text(struct sp_count *count, const struct sp_poly *poly, bool factored,
                                enum sp_notation notation)
{
    struct sp_text text = {0};
    if (factored) sp_poly_put_factored(&text, &count->symbolic.algebra, poly, notation);
    else sp_poly_put_expanded(&text, &count->symbolic.algebra, poly, notation);
    const char *kept = sp_arena_copy(&count->symbolic.algebra.arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

static void add_formula(struct sp_derivation *derivation, const char *group, const char *when,
                        const struct sp_poly *poly, enum sp_notation notation)
{
    SP_GROW(derivation->formulas, derivation->formula_count, derivation->formula_capacity);
    derivation->formulas[derivation->formula_count++] =
        (struct sp_formula){group, when, formula_text(&derivation->count, poly, true, notation),
                            formula_text(&derivation->count, poly, false, notation)};
}

/* The conditions of the table as its defaults make them; one that they leave open counts as false. */
static struct sp_values usual_case(struct sp_count *count)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_values values = {0};
    const size_t atoms = algebra->atom_count;
    for (size_t atom = 0; atom < atoms; atom++)
        if (algebra->atoms[atom].is_condition)
            sp_values_add(&values, atom, sp_poly_int(algebra, sp_holds_by_default(count, atom)));
    return values;
}

static bool is_true(const struct sp_values *values, size_t i)
{
    struct sp_rational value;
    return sp_poly_is_constant(values->values[i], &value) && value.num != 0;
}

/* What the total gains when one condition is the other way round. */
static void add_changes(struct sp_derivation *derivation, struct sp_values *usual, const struct sp_poly *total,
                        enum sp_notation notation)
{
    struct sp_count *count = &derivation->count;
    struct sp_algebra *algebra = &count->symbolic.algebra;
    for (size_t i = 0; i < usual->count; i++) {
        if (!sp_poly_uses(count->total, usual->atoms[i])) continue;
        const struct sp_poly *kept = usual->values[i];
        const char *name = algebra->atoms[usual->atoms[i]].text;
        const bool was = is_true(usual, i);
        usual->values[i] = sp_poly_int(algebra, !was);
        const struct sp_poly *other = sp_reduce(count, count->total, usual);
        usual->values[i] = kept;
        const struct sp_poly *change = other ? sp_poly_sub(algebra, other, total) : NULL;
        if (change && !sp_poly_is_zero(change))
            add_formula(derivation, "total", was ? sp_arena_printf(&algebra->arena, "not %s", name) : name, change,
                        notation);
    }
}

/* The symbols of the formulas, which are all in that of the total. */
static void list_symbols(struct sp_derivation *derivation, const struct sp_poly *total)
{
    const struct sp_symbolic *symbolic = &derivation->count.symbolic;
    derivation->symbols = sp_realloc(NULL, symbolic->symbol_count, sizeof *derivation->symbols);
    for (size_t i = 0; i < symbolic->symbol_count; i++) {
        const struct sp_symbol_info *info = &symbolic->symbols[i];
        if (!sp_poly_uses(total, info->atom)) continue;
        const char *fallback = info->fallback ? sp_sym_text(&derivation->count.symbolic, info->fallback) : "";
        if (info->fallback && symbolic->algebra.atoms[info->atom].is_condition)
            fallback = sp_poly_is_zero(info->fallback) ? "false" : "true";
        derivation->symbols[derivation->symbol_count++] = (struct sp_symbol){info->name, info->key, fallback};
    }
}

static bool derive(struct sp_derivation *derivation, enum sp_notation notation)
{
    struct sp_count *count = &derivation->count;
    struct sp_values usual = usual_case(count);
    bool good = true;
    for (size_t i = 0; i < count->group_count && good; i++) {
        const struct sp_poly *poly = sp_reduce(count, count->groups[i].parameters, &usual);
        good = poly != NULL;
        if (good && !sp_poly_is_zero(poly)) add_formula(derivation, count->groups[i].name, "", poly, notation);
    }
    const struct sp_poly *total = good ? sp_reduce(count, count->total, &usual) : NULL;
    if (total) {
        add_formula(derivation, "total", "", total, notation);
        add_changes(derivation, &usual, total, notation);
    }
    sp_values_free(&usual);
    list_symbols(derivation, count->total);
    return total != NULL;
}

struct sp_derivation *sp_derive(const struct sp_tables *tables, const char *table, const struct sp_config *config,
                                enum sp_notation_of_formula notation, struct sp_error *error)
{
    const struct sp_unit *unit = sp_tables_unit(tables, table);
    if (!unit || !unit->is_table) {
        sp_fail(error, SP_ERR_USAGE, SP_KIND_NONE, "there is no table '%s'", table);
        return NULL;
    }
    struct sp_derivation *derivation = sp_realloc(NULL, 1, sizeof *derivation);
    *derivation = (struct sp_derivation){0};
    const bool counted =
        sp_count_table(&derivation->count, tables, unit, config ? sp_config_hyper(config) : NULL, false);
    if (counted && derive(derivation, notation == SP_FORMULA_LATEX ? SP_NOTATION_LATEX : SP_NOTATION_TEXT) &&
        !derivation->count.symbolic.algebra.failed)
        return derivation;
    const char *why = derivation->count.symbolic.algebra.failed;
    sp_fail(error, SP_ERR_TABLE, SP_KIND_NONE, "%s",
            counted ? (why ? why : "a default stands below a fraction line") : derivation->count.messages.data);
    sp_derivation_free(derivation);
    return NULL;
}

/* ---- of a prediction ---- */

struct prediction_forms {
    struct sp_derivation *derivation;
    struct sp_count *settled;            /* the table under the whole configuration */
    struct sp_values values, conditions; /* of all symbols; of conditions alone */
};

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

/* 1 when the polynomial has that value, 0 when it has another one, -1 when the values leave it open. */
static int gives(struct sp_count *count, const struct sp_poly *poly, const struct sp_values *values, uint64_t number)
{
    struct sp_rational value;
    const struct sp_poly *reduced = poly ? sp_reduce(count, poly, values) : NULL;
    if (!reduced || !sp_poly_is_constant(reduced, &value)) return -1;
    return value.den == 1 && value.num >= 0 && (uint64_t)value.num == number;
}

/* A formula is checked by its own value; what is no polynomial in it has none, but the settled table has. */
static void add_checked(struct prediction_forms *forms, const char *group, uint64_t number)
{
    struct sp_count *count = &forms->derivation->count, *settled = forms->settled;
    const struct sp_poly *poly = sp_count_group(count, group);
    const struct sp_poly *form = poly ? sp_reduce(count, poly, &forms->conditions) : NULL;
    int good = form ? gives(count, form, &forms->values, number) : 0;
    if (good < 0) {
        struct sp_values defaults = {0};
        sp_values_add_defaults(settled, &defaults, false);
        good = gives(settled, sp_count_group(settled, group), &defaults, number);
        sp_values_free(&defaults);
    }
    if (good > 0) add_formula(forms->derivation, group, "", form, SP_NOTATION_TEXT);
}

static void derive_prediction(struct sp_derivation *derivation, struct sp_count *settled,
                              const struct sp_prediction *prediction, const struct sp_hyper *hyper)
{
    struct prediction_forms forms = {.derivation = derivation, .settled = settled};
    forms.values = sp_settle(&derivation->count, settled, hyper);
    forms.conditions = conditions_in(&derivation->count, &forms.values);
    for (size_t i = 0; i < sp_prediction_group_count(prediction); i++) {
        const struct sp_group group = sp_prediction_group(prediction, i);
        add_checked(&forms, group.name, group.parameters);
    }
    add_checked(&forms, "total", sp_prediction_totals(prediction).unique_parameters);
    const struct sp_poly *total = sp_reduce(&derivation->count, derivation->count.total, &forms.conditions);
    list_symbols(derivation, total ? total : derivation->count.total);
    sp_values_free(&forms.values);
    sp_values_free(&forms.conditions);
}

struct sp_derivation *sp_derive_prediction(const struct sp_tables *tables, const struct sp_prediction *prediction,
                                           const struct sp_config *config, struct sp_error *error)
{
    struct sp_count settled = {0};
    const struct sp_unit *unit = sp_tables_unit(tables, sp_prediction_table(prediction));
    struct sp_config *open = sp_config_open(config, SP_OPEN_NUMBERS);
    struct sp_derivation *derivation = sp_realloc(NULL, 1, sizeof *derivation);
    *derivation = (struct sp_derivation){0};
    const bool counted = sp_count_table(&derivation->count, tables, unit, sp_config_hyper(open), false) &&
                         sp_count_table(&settled, tables, unit, sp_config_hyper(config), true);
    if (counted) derive_prediction(derivation, &settled, prediction, sp_config_hyper(config));
    else
        sp_fail(error, SP_ERR_TABLE, SP_KIND_NONE, "%s",
                derivation->count.messages.data ? derivation->count.messages.data : settled.messages.data);
    sp_count_free(&settled);
    sp_config_free(open);
    derivation->count.symbolic.settings = NULL; /* they were those of `open` */
    if (counted) return derivation;
    sp_derivation_free(derivation);
    return NULL;
}

void sp_derivation_free(struct sp_derivation *derivation)
{
    if (!derivation) return;
    free(derivation->formulas);
    free(derivation->symbols);
    sp_count_free(&derivation->count);
    free(derivation);
}

size_t sp_derivation_formula_count(const struct sp_derivation *derivation) { return derivation->formula_count; }
struct sp_formula sp_derivation_formula(const struct sp_derivation *derivation, size_t index)
{
    return derivation->formulas[index];
}
size_t sp_derivation_symbol_count(const struct sp_derivation *derivation) { return derivation->symbol_count; }
struct sp_symbol sp_derivation_symbol(const struct sp_derivation *derivation, size_t index)
{
    return derivation->symbols[index];
}
