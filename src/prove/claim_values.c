/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "prove/claims.h"
#include "prove/printed.h"
#include "prove/settle.h"
#include "prove/symbolic/operate.h"
#include "prove/symbolic/shard.h"
#include "prove/symbolic/sizing.h"

/* A trial of the claim where everything has its configured value. */
static struct sp_trial trial_at(struct sp_configured *configured, struct sp_located_claim located,
                                struct sp_arena *arena)
{
    return (struct sp_trial){.arena = arena,
                             .count = &configured->settled,
                             .unit = located.unit,
                             .claim = located.claim,
                             .stored = configured->stored};
}

/* The values of the sides of a claim under a count with all settled. False when one has none; then the reason is in
 * trial->proof.difference, if there is one. */
static bool read_sides(struct sp_trial *trial, struct sp_claim_sides *sides)
{
    struct sp_algebra *algebra = &trial->count->symbolic.algebra;
    algebra->work = 0;
    const bool read = sp_trial_read_sides(trial) && sp_poly_is_constant(trial->left, &sides->left) &&
                      sp_poly_is_constant(trial->right, &sides->right);
    algebra->failed = NULL;
    return read;
}

/* Whether the left side of the claim has another value under the flags of the configuration than under the table's
 * defaults for all flags; *why says so then. */
static bool flags_matter(struct sp_configured *configured, const struct shapeproof_config *config,
                         struct sp_located_claim located, struct sp_arena *arena, const char **why)
{
    struct shapeproof_config *open = sp_config_open(config, SP_OPEN_FLAGS);
    struct sp_count usual = {0};
    struct sp_trial here = trial_at(configured, located, arena), there = here;
    struct sp_claim_sides sides, by_default;
    there.count = &usual;
    const bool differ =
        read_sides(&here, &sides) &&
        sp_count_settled(&usual, configured->settled.tables, configured->settled.table, sp_config_hyper(open)) &&
        read_sides(&there, &by_default) && sp_rational_compare(sides.left, by_default.left) != 0;
    if (differ)
        *why = sp_arena_printf(arena, "it is about the defaults of all flags, with which its left side is %s, not %s",
                               sp_rational_text(arena, by_default.left), sp_rational_text(arena, sides.left));
    sp_count_free(&usual);
    shapeproof_config_free(open);
    return differ;
}

bool sp_claim_applies(struct sp_configured *configured, const struct shapeproof_config *config,
                      struct sp_located_claim located, struct sp_arena *arena, const char **why)
{
    struct sp_trial trial = trial_at(configured, located, arena);
    if (!sp_trial_applies(&trial, why)) return false;
    const bool is_about_defaults = config && sp_claim_takes_defaults(located.claim);
    return !is_about_defaults || !flags_matter(configured, config, located, arena, why);
}

bool sp_claim_sides_of(struct sp_configured *configured, struct sp_located_claim located,
                       const struct sp_group_sums *sums, struct sp_arena *arena, struct sp_claim_sides *sides,
                       const char **why)
{
    struct sp_trial trial = trial_at(configured, located, arena);
    trial.sums = sums;
    if (read_sides(&trial, sides)) return true;
    *why = trial.proof.difference ? trial.proof.difference : "a side of it has no value here";
    return false;
}

const char *sp_claim_difference(struct sp_configured *configured, struct sp_located_claim located,
                                struct sp_arena *arena)
{
    struct sp_algebra *algebra = &configured->general->symbolic.algebra;
    struct sp_trial trial = trial_at(configured, located, arena);
    struct sp_rational value;
    const char *words = NULL;
    trial.count = configured->general;
    trial.count->counts_may_be_0 = true;
    trial.replaced = sp_arena_array(arena, located.claim->when_count, sizeof *trial.replaced);
    algebra->work = 0;
    if (sp_trial_read_when(&trial) && sp_trial_read_sides(&trial)) {
        const struct sp_poly *error = sp_configured_form(configured, trial.error);
        const bool known = error && sp_configured_value(configured, error, &value) && !algebra->failed;
        if (known && !sp_poly_is_zero(error))
            words = sp_trial_describe(&trial, &configured->conditions, error, (value.num > 0) - (value.num < 0));
    }
    sp_values_free(&trial.when);
    algebra->failed = NULL;
    return words;
}

bool sp_claim_accepts(const struct sp_claim *claim, struct sp_claim_sides sides)
{
    struct sp_printed printed;
    if (claim->kind == SP_CLAIM_ROUNDS)
        return sp_printed_read(claim->printed, &printed) && sides.left.den == 1 && sides.left.num >= printed.least &&
               sides.left.num <= printed.most;
    if (claim->kind == SP_CLAIM_EXACT) return sp_rational_compare(sides.left, sides.right) == 0;
    const double truth = (double)sides.left.num / (double)sides.left.den;
    const double claimed = (double)sides.right.num / (double)sides.right.den;
    return fabs(claimed - truth) <= claim->percent / 100 * fabs(truth);
}

/* ---- expressions ---- */

/* Writes a symbolic value as a number or a text. False when it is not known. */
static bool read_value(struct sp_arena *arena, struct sp_sym sym, struct sp_expression_value *out)
{
    struct shapeproof_value value = sym.value;
    struct sp_text text = {0};
    if (sym.kind == SP_SYM_NUMBER && sp_poly_is_constant(sym.poly, &out->exact)) {
        out->number = (double)out->exact.num / (double)out->exact.den;
        out->text = sp_rational_text(arena, out->exact);
        return true;
    }
    const bool is_unset = sym.kind == SP_SYM_VALUE && !sp_value_is_set(sym.value);
    if (!is_unset && !sp_sym_literal(sym, &value)) return false;
    if (value.type == SHAPEPROOF_VALUE_REAL) out->number = value.real;
    if (value.type == SHAPEPROOF_VALUE_ABSENT) sp_text_puts(&text, "absent");
    else sp_value_json(&text, value);
    out->text = sp_text_keep(&text, arena);
    return true;
}

/* "the table has no group [x]" of "expression:2:1: the table has no group [x]" and the lines that show the place. */
static const char *reason_of_message(struct sp_arena *arena, const char *message)
{
    const char *reason = sp_behind_place(message);
    return sp_arena_copy(arena, reason, sp_first_line(reason));
}

static bool counts_bytes(const struct sp_expr *expr)
{
    if (expr->kind != SP_EXPR_SIZING) return expr->kind == SP_EXPR_CACHE || expr->kind == SP_EXPR_ACTIVATIONS;
    return expr->sizing->kind != SP_SIZING_LORA && (expr->sizing->kind != SP_SIZING_SHARD || expr->sizing->bits);
}

static bool counts_shard(const struct sp_expr *expr)
{
    return expr->kind == SP_EXPR_SIZING && expr->sizing->kind == SP_SIZING_SHARD;
}

/* Whether the names of modules are those in a file, and may differ in memory: those of text decoders, which have the
 * line `measures active`, are the same. */
static bool has_names_of_file(const struct sp_trial *trial)
{
    return !(trial->count->table->measures & SP_MEASURE_ACTIVE);
}

/* Whether the states of Adafactor depend on how a framework stores the matrices of experts: transformers 5 fuses two of
 * them, whose columns then count once. */
static bool counts_rows_of_experts(const struct sp_trial *trial, const struct sp_expr *expr)
{
    const struct sp_sizing *sizing = expr->sizing;
    const bool has_states = sizing->part == SP_TRAINED_ALL || sizing->part == SP_TRAINED_STATES;
    return sizing->kind == SP_SIZING_OPTIMIZER && sizing->optimizer == SP_OPTIMIZER_ADAFACTOR && has_states &&
           trial->count->has_rows_of_experts;
}

/* Whether something has to be said of the modules that have adapters. */
static bool has_adapters_convention(const struct sp_trial *trial, const struct sp_expr *expr)
{
    return expr->kind == SP_EXPR_SIZING && expr->sizing->kind == SP_SIZING_LORA &&
           (trial->count->adapts_experts || has_names_of_file(trial));
}

static void put_adapters_convention(struct sp_text *text, const struct sp_trial *trial)
{
    if (trial->count->adapts_experts)
        sp_text_puts(text,
                     "with an adapter of each expert, where each is a module of its own; for experts in one tensor, "
                     "PEFT may add another number");
    if (trial->count->adapts_experts && has_names_of_file(trial)) sp_text_puts(text, "; ");
    if (has_names_of_file(trial)) sp_text_puts(text, "of modules by their names in a file");
}

/* What the value of the expression counts, which was the last one evaluated. */
static const char *convention_of(const struct sp_trial *trial, const struct sp_expr *expr)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    if (counts_shard(expr)) sp_put_shard_convention(&text, trial->count, expr->sizing);
    else if (expr->kind == SP_EXPR_CACHE && expr->sizing && expr->sizing->ranks.tp > 1)
        sp_put_cache_convention(&text, trial->count);
    else if (expr->kind == SP_EXPR_ACTIVATIONS && trial->count->table->activations_source)
        sp_text_puts(&text, trial->count->table->activations_source);
    else if (has_adapters_convention(trial, expr)) put_adapters_convention(&text, trial);
    else if (expr->kind == SP_EXPR_SIZING) {
        sp_put_sizing_convention(&text, expr->sizing);
        if (counts_rows_of_experts(trial, expr))
            sp_text_puts(&text, "; of each expert's matrices in the file, which have more rows and columns than fused "
                                "ones");
    }
    return sp_text_keep(&text, trial->arena);
}

struct sp_expression_value sp_expression_evaluate(struct sp_trial *trial,
                                                  const struct sp_poly *(*varied)(void *trial, const char *group,
                                                                                  const struct sp_sym_setting *settings,
                                                                                  size_t count, const char **why))
{
    struct sp_symbolic *symbolic = &trial->count->symbolic;
    struct sp_text *messages = &trial->count->messages;
    struct sp_expression_value value = {.number = NAN};
    struct sp_sym_env env = sp_trial_env(trial);
    struct sp_sym sym;
    env.varied = varied;
    trial->asks_active = false;
    symbolic->algebra.work = 0;
    symbolic->steps = 0; /* the expression before may have taken too many */
    const bool good = sp_sym_eval(symbolic, &env, trial->claim->left, &sym) && !symbolic->algebra.failed;
    if (good && !read_value(trial->arena, sym, &value)) value.why = "the configuration does not tell its value";
    if (!good)
        value.why = messages->data             ? reason_of_message(trial->arena, messages->data)
                    : symbolic->algebra.failed ? sp_arena_string(trial->arena, symbolic->algebra.failed)
                                               : "it takes too much to evaluate";
    const struct sp_expr *left = trial->claim->left;
    const bool is_whole = left->kind == SP_EXPR_NAME && strcmp(left->name, "active") == 0; /* and not a letter for it */
    value.is_active = value.text && trial->asks_active && (is_whole || left->kind == SP_EXPR_ACTIVE);
    value.is_bytes = value.text && counts_bytes(left);
    const bool counts_parameters = counts_shard(left) || has_adapters_convention(trial, left);
    if (value.text && (value.is_bytes || counts_parameters)) value.convention = convention_of(trial, left);
    symbolic->algebra.failed = NULL; /* so that the next expression can be evaluated */
    symbolic->report.mistakes = 0;
    sp_text_free(messages);
    return value;
}
