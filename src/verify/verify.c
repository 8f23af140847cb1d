/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/error.h"
#include "names/collapse.h"

const char *shapeproof_claim_answer_name(enum shapeproof_claim_answer answer)
{
    static const char *const names[] = {"holds", "fails", "other", "unknown"};
    return names[answer];
}

const char *shapeproof_deviation_name(enum shapeproof_deviation_kind kind)
{
    static const char *const names[] = {"missing", "tied", "shape", "unpredicted"};
    return names[kind];
}

const char *sp_verify_formula(struct shapeproof_verification *verification, const struct sp_poly *poly)
{
    struct sp_text text = {0};
    sp_poly_put_factored(&text, &verification->general.symbolic.algebra, poly);
    return sp_text_keep(&text, &verification->arena);
}

const char *sp_verify_names(struct shapeproof_verification *verification, const struct sp_deviation *deviation)
{
    const struct shapeproof_check *check = verification->check;
    const char **names = sp_realloc(NULL, deviation->tensors.count, sizeof *names);
    for (size_t i = 0; i < deviation->tensors.count; i++) {
        const struct sp_deviant *deviant = &deviation->tensors.items[i];
        names[i] = deviant->tensor == SHAPEPROOF_NONE
                       ? shapeproof_prediction_tensor(check->prediction, deviant->predicted)->name
                       : shapeproof_inventory_tensor(check->inventory, deviant->tensor)->name;
    }
    const char *words = sp_some_names(&verification->arena, names, deviation->tensors.count);
    sp_free(names);
    return words;
}

/* ---- what is handed out ---- */

/* Hands the deviations of one group (or SHAPEPROOF_NONE, what is not predicted) over. */
static void give_deviations(struct shapeproof_verification *verification, size_t group,
                            struct shapeproof_stored_group *into)
{
    const struct sp_deviations *all = &verification->deviations;
    struct shapeproof_deviation *list = sp_arena_array(&verification->arena, all->count, sizeof *list);
    into->deviations = list;
    for (size_t i = 0; i < all->count; i++) {
        const struct sp_deviation *deviation = &all->items[i];
        struct shapeproof_deviation *given = &list[into->deviation_count];
        if (deviation->group != group) continue;
        *given = (struct shapeproof_deviation){.kind = deviation->kind,
                                               .term = sp_verify_formula(verification, deviation->term),
                                               .names = sp_verify_names(verification, deviation)};
        for (size_t k = 0; k < deviation->tensors.count; k++)
            given->parameters += deviation->tensors.items[k].parameters;
        into->deviation_count++;
    }
}

/* The groups with their formula, predicted and stored parameters, and deviations. What no row predicts is a last
 * group without a name. Groups that are empty on both sides are left out. */
static void give_groups(struct shapeproof_verification *verification)
{
    const struct shapeproof_prediction *prediction = verification->prediction;
    const size_t count = shapeproof_prediction_group_count(prediction);
    int64_t rest = verification->sums.total;
    verification->groups = sp_arena_array(&verification->arena, count + 1, sizeof *verification->groups);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_group *group = shapeproof_prediction_group(prediction, i);
        const int64_t stored = verification->sums.items[i].parameters;
        struct shapeproof_stored_group *given = &verification->groups[verification->group_count];
        const struct sp_poly *form = sp_configured_group(&verification->configured, group->name, group->parameters);
        rest -= stored;
        if (!group->parameters && !stored) continue;
        verification->group_count++;
        *given = (struct shapeproof_stored_group){
            .name = group->name, .predicted = group->parameters, .stored = (uint64_t)stored};
        if (form) given->formula = sp_verify_formula(verification, form);
        give_deviations(verification, i, given);
    }
    if (!rest) return;
    struct shapeproof_stored_group *given = &verification->groups[verification->group_count++];
    *given = (struct shapeproof_stored_group){.stored = (uint64_t)rest};
    give_deviations(verification, SHAPEPROOF_NONE, given);
}

/* The hyper-parameters that the formula of the total names. */
static void give_values(struct shapeproof_verification *verification)
{
    struct sp_symbolic *symbolic = &verification->general.symbolic;
    const size_t count = symbolic->symbols.count;
    const struct sp_poly *total = sp_configured_form(&verification->configured, verification->general.total);
    if (!total) total = verification->general.total;
    verification->values = sp_arena_array(&verification->arena, count, sizeof *verification->values);
    for (size_t i = 0; i < count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        struct sp_rational value;
        if (!sp_configured_depends(&verification->configured, total, symbol->atom) || symbol->is_list ||
            symbol->is_text || symbol->unset_key)
            continue;
        if (!sp_configured_value(&verification->configured, sp_poly_atom(&symbolic->algebra, symbol->atom), &value))
            continue;
        verification->values[verification->value_count++] = (struct shapeproof_named_value){
            symbol->name, symbol->is_computed ? "" : symbol->key, {value.num, value.den}};
    }
}

/* Judges the claims about the table and the class of the configuration, in the files that the options name. False with
 * the error. */
static bool prove_claims(struct shapeproof_verification *verification, const struct shapeproof_tables *tables,
                         const struct shapeproof_verify_options *options, struct shapeproof_error *error)
{
    const char *name = verification->general.table->name;
    const struct shapeproof_prove_options what = {
        .tables = &name, .table_count = 1, .files = options->files, .file_count = options->file_count};
    const struct shapeproof_value class = sp_value_at(sp_config_hyper(verification->config)->root, "architectures");
    verification->proofs = sp_prove_class(tables, &what, &class, error);
    return verification->proofs != NULL;
}

/* Finds verification->sums: what the file stores of each group; without a file, what is predicted. False with the
 * error. */
static bool find_sums(struct shapeproof_verification *verification, struct shapeproof_error *error)
{
    if (verification->check) return sp_verify_groups(verification, error);
    if (shapeproof_prediction_totals(verification->prediction)->parameters > (uint64_t)INT64_MAX)
        return sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_LIMIT,
                       "more than 2^63 - 1 parameters are predicted");
    verification->sums = sp_verify_predicted_sums(&verification->arena, verification->prediction);
    return true;
}

/* Counts, proves and evaluates all claims about the table of the prediction, and those about the checkpoint alone.
 * Without a checkpoint there are no deviations, hence no terms. False with the error. */
static bool hold_all(struct shapeproof_verification *verification, const struct shapeproof_tables *tables,
                     const struct shapeproof_verify_options *options, struct shapeproof_error *error)
{
    const struct sp_unit *table = sp_tables_unit(tables, shapeproof_prediction_table(verification->prediction));
    if (!table)
        return sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE,
                       "claims need a table, and this model is predicted from its own layers");
    if (!sp_configured_open(&verification->configured, &verification->general, tables, table, verification->config,
                            error) ||
        !find_sums(verification, error) || !prove_claims(verification, tables, options, error))
        return false;
    if (verification->check) {
        verification->configured.stored = &verification->sums;
        sp_verify_terms(verification);
    }
    give_groups(verification);
    give_values(verification);
    sp_verify_claims(verification);
    if (verification->inventory) sp_verify_alone(verification, tables, options);
    return true;
}

/* Verifies the claims against what `given` has: a check of a checkpoint, or a prediction and a configuration alone.
 * NULL with the error. */
static struct shapeproof_verification *verify(struct shapeproof_verification given,
                                              const struct shapeproof_tables *tables,
                                              const struct shapeproof_verify_options *options,
                                              struct shapeproof_error *error)
{
    static const struct shapeproof_verify_options defaults;
    if (!options) options = &defaults;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    struct shapeproof_verification *verification = sp_realloc(NULL, 1, sizeof *verification);
    *verification = given;
    if (hold_all(verification, tables, options, error)) return verification;
    shapeproof_verification_free(verification);
    return NULL;
}

struct shapeproof_verification *shapeproof_verify(const struct shapeproof_check *check,
                                                  const struct shapeproof_tables *tables,
                                                  const struct shapeproof_verify_options *options,
                                                  struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("evaluating the claims");
    sp_error_reset(error);
    assert(check && tables);
    SP_BUDGET_REUSE(check->inventory);
    const struct shapeproof_verification given = {
        .check = check, .inventory = check->inventory, .config = check->config, .prediction = check->prediction};
    return verify(given, tables, options, error);
}

struct shapeproof_verification *shapeproof_verify_values(const struct shapeproof_prediction *prediction,
                                                         const struct shapeproof_config *config,
                                                         const struct shapeproof_tables *tables,
                                                         const struct shapeproof_verify_options *options,
                                                         struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("evaluating the expressions");
    sp_error_reset(error);
    assert(prediction && config && tables);
    const struct shapeproof_verification given = {.config = config, .prediction = prediction};
    return verify(given, tables, options, error);
}

struct shapeproof_verification *shapeproof_verify_alone(const struct shapeproof_inventory *inventory,
                                                        const struct shapeproof_tables *tables,
                                                        const struct shapeproof_verify_options *options,
                                                        struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("evaluating the claims");
    static const struct shapeproof_verify_options defaults;
    sp_error_reset(error);
    assert(inventory && tables);
    SP_BUDGET_REUSE(inventory);
    if (!options) options = &defaults;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    struct shapeproof_verification *verification = sp_realloc(NULL, 1, sizeof *verification);
    *verification = (struct shapeproof_verification){.inventory = inventory};
    sp_verify_alone(verification, tables, options);
    return verification;
}

void shapeproof_verification_free(struct shapeproof_verification *verification)
{
    if (!verification) return;
    shapeproof_proofs_free(verification->proofs);
    for (size_t i = 0; i < verification->deviations.count; i++)
        sp_free(verification->deviations.items[i].tensors.items);
    sp_free(verification->deviations.items);
    sp_free(verification->claims.items);
    sp_configured_free(&verification->configured);
    sp_count_free(&verification->general);
    sp_arena_free(&verification->arena);
    sp_free(verification);
}

/* `fails` if one claim fails, else `holds` if one holds and none is unknown. Errata do not count. */
enum shapeproof_claim_answer shapeproof_verification_answer(const struct shapeproof_verification *verification)
{
    size_t counts[SHAPEPROOF_CLAIM_UNKNOWN + 1] = {0};
    for (size_t i = 0; i < verification->claims.count; i++)
        if (!verification->claims.items[i].proof->erratum) counts[verification->claims.items[i].answer]++;
    if (counts[SHAPEPROOF_CLAIM_FAILS]) return SHAPEPROOF_CLAIM_FAILS;
    return counts[SHAPEPROOF_CLAIM_HOLDS] && !counts[SHAPEPROOF_CLAIM_UNKNOWN] ? SHAPEPROOF_CLAIM_HOLDS
                                                                               : SHAPEPROOF_CLAIM_UNKNOWN;
}

const struct shapeproof_inventory *shapeproof_verification_inventory(const struct shapeproof_verification *verification)
{
    return verification->inventory;
}
const struct shapeproof_check *shapeproof_verification_check(const struct shapeproof_verification *verification)
{
    return verification->check;
}

const struct shapeproof_prediction *
shapeproof_verification_prediction(const struct shapeproof_verification *verification)
{
    return verification->prediction;
}
size_t shapeproof_verification_value_count(const struct shapeproof_verification *verification)
{
    return verification->value_count;
}
const struct shapeproof_named_value *shapeproof_verification_value(const struct shapeproof_verification *verification,
                                                                   size_t index)
{
    return &verification->values[index];
}
size_t shapeproof_verification_group_count(const struct shapeproof_verification *verification)
{
    return verification->group_count;
}
const struct shapeproof_stored_group *shapeproof_verification_group(const struct shapeproof_verification *verification,
                                                                    size_t index)
{
    return &verification->groups[index];
}
size_t shapeproof_verification_uncounted_count(const struct shapeproof_verification *verification)
{
    return verification->uncounted_count;
}
const struct shapeproof_uncounted *shapeproof_verification_uncounted(const struct shapeproof_verification *verification,
                                                                     size_t index)
{
    return &verification->uncounted[index];
}
size_t shapeproof_verification_claim_count(const struct shapeproof_verification *verification)
{
    return verification->claims.count;
}
const struct shapeproof_verified_claim *
shapeproof_verification_claim(const struct shapeproof_verification *verification, size_t index)
{
    return &verification->claims.items[index];
}
