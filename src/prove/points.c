/* SPDX-License-Identifier: MIT
 * Claims that are no polynomial identities, tried at random points: the table is counted there with every
 * hyper-parameter fixed, so that floors, lists and loops have values. */
#include <stdlib.h>

#include "prove/trial.h"

enum { POINTS = 60 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* Sizes that divide each other often, as real ones do. */
static int64_t random_size(uint64_t *state)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    return sizes[next_random(state) % (sizeof sizes / sizeof *sizes)];
}

static void set_point(struct sp_trial *trial, struct sp_config *config, struct sp_values *values, uint64_t *state)
{
    const struct sp_symbolic *symbolic = &trial->count->symbolic;
    for (size_t i = 0; i < symbolic->symbol_count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols[i];
        const bool condition = symbolic->algebra.atoms[symbol->atom].is_condition;
        const int64_t value = condition ? (int64_t)(next_random(state) & 1) : random_size(state);
        bool given = false;
        for (size_t k = 0; k < trial->when.count; k++) given = given || trial->when.atoms[k] == symbol->atom;
        if (given) continue;
        sp_values_add(values, symbol->atom, sp_poly_int(&trial->count->symbolic.algebra, value));
        sp_config_set_value(config, symbol->key, condition ? sp_value_bool(value != 0) : sp_value_int(value), "test");
    }
    for (size_t k = 0; k < trial->when.count; k++) {
        struct sp_rational number;
        const struct sp_symbol_info *symbol = sp_symbol_of(trial->count, trial->when.atoms[k]);
        const struct sp_poly *value = sp_reduce(trial->count, trial->when.values[k], values);
        if (symbol && value && sp_poly_is_constant(value, &number) && number.den == 1)
            sp_config_set_value(config, symbol->key, sp_value_int(number.num), "test");
    }
}

/* 1 when the sides agree at a random point, 0 when they differ, -1 when the point cannot be evaluated. */
static int try_point(struct sp_trial *trial, uint64_t *state, const char **example)
{
    struct sp_config *config = sp_config_variant(trial->settings);
    struct sp_values values = {0};
    struct sp_count there;
    struct sp_rational left, right;
    int result = -1;
    set_point(trial, config, &values, state);
    if (sp_count_table(&there, trial->count->tables, trial->count->table, sp_config_hyper(config), true)) {
        struct sp_trial local = *trial;
        local.count = &there;
        local.when = (struct sp_values){0};
        if (sp_trial_read_sides(&local) && sp_poly_is_constant(local.left, &left) &&
            sp_poly_is_constant(local.right, &right))
            result = sp_rational_compare(left, right) == 0;
    }
    if (result == 0) {
        struct sp_text text = {0};
        for (size_t i = 0; i < values.count; i++)
            if (sp_poly_uses(trial->left, values.atoms[i]) || sp_poly_uses(trial->right, values.atoms[i]))
                sp_text_printf(&text, "%s%s = %s", text.length ? ", " : "",
                               trial->count->symbolic.algebra.atoms[values.atoms[i]].text,
                               sp_sym_text(&trial->count->symbolic, values.values[i]));
        *example = sp_arena_printf(trial->arena, "%s: %s, claimed %s", text.data ? text.data : "",
                                   sp_rational_text(trial->arena, left), sp_rational_text(trial->arena, right));
        sp_text_free(&text);
    }
    sp_count_free(&there);
    sp_values_free(&values);
    sp_config_free(config);
    return result;
}

void sp_trial_try_points(struct sp_trial *trial)
{
    uint64_t state = 20241;
    for (int i = 0; i < POINTS; i++) {
        const char *example = NULL;
        const int result = try_point(trial, &state, &example);
        if (result > 0) trial->proof.points++;
        if (result != 0) continue;
        trial->proof.verdict = SP_REFUTED;
        trial->proof.counterexample = example;
        trial->proof.difference = "differs where it was tried";
        return;
    }
    trial->proof.verdict = SP_TESTED;
    if (!trial->proof.points) sp_trial_undecided(trial, "is no polynomial identity, and no point could be tried");
}
