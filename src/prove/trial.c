/* SPDX-License-Identifier: MIT
 * Reading a claim: its two sides and what `when` says, in the words of the table it is about. */
#include "prove/trial.h"

#include <stdlib.h>
#include <string.h>

#include "lang/functions.h"

static struct sp_sym_frame *claims_frame(struct sp_trial *trial)
{
    struct sp_arena *arena = &trial->count->symbolic.algebra.arena;
    if (!trial->unit->about) return trial->count->frame;
    struct sp_sym_frame *frame = sp_arena_alloc(arena, sizeof *frame);
    *frame = (struct sp_sym_frame){.unit = trial->unit, .path = "", .prefix = ""};
    frame->cache = sp_arena_array(arena, trial->unit->definition_count, sizeof *frame->cache);
    frame->cached = sp_arena_array(arena, trial->unit->definition_count, 1);
    return frame;
}

static struct sp_sym_env claim_env(struct sp_trial *trial)
{
    struct sp_sym_env env = {.frame = claims_frame(trial), .group = sp_count_group, .context = trial->count};
    if (trial->unit->about) env.outer = trial->count->frame;
    return env;
}

bool sp_trial_undecided(struct sp_trial *trial, const char *why)
{
    trial->proof.verdict = SP_UNDECIDED;
    trial->proof.difference = sp_arena_string(trial->arena, why);
    return false;
}

static bool undecided_by_messages(struct sp_trial *trial)
{
    struct sp_text *messages = &trial->count->messages;
    char *message = messages->data;
    if (message) message[strcspn(message, "\n")] = '\0'; /* the source line is shown with the claim */
    sp_trial_undecided(trial, message ? message : "cannot be evaluated");
    sp_text_free(messages);
    trial->count->symbolic.report.mistakes = 0;
    return false;
}

/* ---- texts and lists: fixed before the table is counted ---- */

/* rnn_cell_type = "gru", depths = [2, 6] */
static bool is_setting(const struct sp_argument *when)
{
    return when->name && (when->expr->kind == SP_EXPR_LIST ||
                          (when->expr->kind == SP_EXPR_LITERAL && when->expr->value.type == SP_STRING));
}

static const struct sp_expr *defined(const struct sp_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->definition_count; i++)
        if (unit->definitions[i].name == name && !unit->definitions[i].is_function) return unit->definitions[i].expr;
    return NULL;
}

/* The key behind a name: itself, or that of the definition "cell = rnn_cell_type default ...". NULL when the
 * definition computes something. */
static const char *key_of_name(const struct sp_trial *trial, const char *name)
{
    const struct sp_unit *const units[] = {trial->unit, trial->count->table};
    for (size_t i = 0; i < 2; i++) {
        const struct sp_expr *expr = defined(units[i], name);
        if (!expr) continue;
        while (expr->kind == SP_EXPR_DEFAULT) expr = expr->args[0];
        if (expr->kind != SP_EXPR_NAME) return NULL;
        name = expr->name;
    }
    return name;
}

bool sp_trial_read_settings(struct sp_trial *trial, struct sp_config *into)
{
    const struct sp_sym_env env = claim_env(trial);
    for (size_t i = 0; i < trial->claim->when_count; i++) {
        const struct sp_argument *when = &trial->claim->when[i];
        struct sp_sym sym;
        if (!is_setting(when)) continue;
        const char *key = key_of_name(trial, when->name);
        if (key && sp_value_is_set(sp_value_member(sp_config_hyper(into)->root, key))) continue; /* the claim's own */
        if (!key) return sp_trial_undecided(trial, "'when' gives a text or a list to what is no hyper-parameter");
        if (!sp_sym_eval(&trial->count->symbolic, &env, when->expr, &sym)) return undecided_by_messages(trial);
        if (sym.kind != SP_SYM_VALUE) return sp_trial_undecided(trial, "the items of a list in 'when' must be known");
        sp_config_set_value(into, key, sym.value, "claim");
    }
    return true;
}

/* absent() and null() have no answer here, where every hyper-parameter counts as given. */
static bool asks_for_absence(const struct sp_expr *expr)
{
    bool asks = expr->kind == SP_EXPR_CALL && expr->function && expr->function->sees_absent;
    for (size_t i = 0; i < expr->count && !asks; i++) asks = asks_for_absence(expr->args[i]);
    return asks;
}

bool sp_trial_check_settings(struct sp_trial *trial)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    const struct sp_sym_env env = {.frame = trial->count->frame};
    const struct sp_unit *table = trial->count->table;
    struct sp_rational holds;
    const struct sp_poly *condition;
    for (size_t i = 0; i < table->requirement_count; i++) {
        if (asks_for_absence(table->requirements[i].condition)) continue;
        if (!sp_sym_condition(symbolic, &env, table->requirements[i].condition, &condition))
            return undecided_by_messages(trial);
        if (sp_poly_is_constant(condition, &holds) && holds.num == 0)
            return sp_trial_undecided(trial, "the table does not cover this 'when'");
    }
    const struct sp_value root = symbolic->fixed.settings->root;
    for (size_t i = 0; i < root.count && i < 64; i++)
        if (!(symbolic->fixed.settings_read >> i & 1))
            return sp_trial_undecided(
                trial, sp_arena_printf(trial->arena, "the table does not look at '%s'", root.members[i].key));
    return true;
}

/* ---- numbers and conditions: put into the polynomials ---- */

/* "not tied" gives tied the value 0; a condition that is no single one cannot be used. */
static bool condition_value(struct sp_trial *trial, const struct sp_sym_env *env, const struct sp_expr *expr)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    const struct sp_poly *condition, *other;
    if (!sp_sym_condition(&trial->count->symbolic, env, expr, &condition)) return undecided_by_messages(trial);
    other = sp_poly_sub(algebra, sp_poly_int(algebra, 1), condition);
    const struct sp_poly *single = condition->count == 1 ? condition : other;
    if (single->count != 1 || single->terms[0].count != 1)
        return sp_trial_undecided(trial, "this 'when' is neither NAME = value nor a condition of the table");
    sp_values_add(&trial->when, single->terms[0].factors[0].atom, sp_poly_int(algebra, single == condition));
    return true;
}

static bool number_value(struct sp_trial *trial, const struct sp_sym_env *env, const struct sp_argument *when)
{
    const struct sp_expr name = {.kind = SP_EXPR_NAME, .name = when->name, .span = when->span};
    const struct sp_poly *symbol, *value;
    if (!sp_sym_number(&trial->count->symbolic, env, &name, &symbol) ||
        !sp_sym_number(&trial->count->symbolic, env, when->expr, &value))
        return undecided_by_messages(trial);
    if (symbol->count != 1 || symbol->terms[0].count != 1 || symbol->terms[0].factors[0].exponent != 1)
        return sp_trial_undecided(trial, "'when' gives a value to what is no hyper-parameter");
    sp_values_add(&trial->when, symbol->terms[0].factors[0].atom, value);
    return true;
}

/* The word "defaults" stands for the table's default of every flag that is not mentioned. */
static bool is_defaults(const struct sp_argument *when)
{
    return !when->name && when->expr->kind == SP_EXPR_NAME && strcmp(when->expr->name, "defaults") == 0;
}

bool sp_trial_read_when(struct sp_trial *trial)
{
    const struct sp_sym_env env = claim_env(trial);
    for (size_t i = 0; i < trial->claim->when_count; i++) {
        const struct sp_argument *when = &trial->claim->when[i];
        if (is_setting(when) || is_defaults(when)) continue;
        if (!(when->name ? number_value(trial, &env, when) : condition_value(trial, &env, when->expr))) return false;
    }
    for (size_t i = 0; i < trial->claim->when_count; i++)
        if (is_defaults(&trial->claim->when[i])) sp_values_add_defaults(trial->count, &trial->when, true);
    return true;
}

bool sp_trial_read_sides(struct sp_trial *trial)
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    const struct sp_sym_env env = claim_env(trial);
    if (!sp_sym_number(symbolic, &env, trial->claim->left, &trial->left)) return undecided_by_messages(trial);
    trial->right = trial->left;
    if (trial->claim->right && !sp_sym_number(symbolic, &env, trial->claim->right, &trial->right))
        return undecided_by_messages(trial);
    trial->left = sp_reduce(trial->count, trial->left, &trial->when);
    trial->right = sp_reduce(trial->count, trial->right, &trial->when);
    if (!trial->left || !trial->right) return sp_trial_undecided(trial, "a value stands below a fraction line");
    trial->error = sp_poly_sub(&symbolic->algebra, trial->right, trial->left);
    if (symbolic->algebra.failed) return sp_trial_undecided(trial, symbolic->algebra.failed);
    return true;
}
