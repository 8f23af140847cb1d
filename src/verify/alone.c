/* SPDX-License-Identifier: MIT
 * Claims about a checkpoint alone, without a table: sizes and counts are taken from its tensors. Of a GPT-2:
 *
 *     claims for checkpoint
 *     E = dim(wte.weight, 1)             768
 *     L = count(h.{i}.ln_1.weight)       12
 *     claim elements(h.*) = L*(12*E^2 + 13*E) */
#include <string.h>

#include "names/name_pattern.h"
#include "prove/rows.h"
#include "verify/verify.h"

/* ---- what a claim asks of the tensors ---- */

/* A question about some tensors, and what was found so far. */
struct question {
    const char *function; /* "dim", "count" or "elements" */
    int64_t index;        /* of dim(): which dimension */
    int64_t value;        /* the answer */
    size_t found;         /* tensors so far */
    const char *why;      /* there is no answer, or NULL */
};

/* Adds one tensor to the answer: its dimension, which must be that of all others, one to the count, or its elements,
 * unless it shares its storage with an earlier tensor. */
static void ask_tensor(struct question *question, const struct shapeproof_tensor *tensor)
{
    const bool is_new = tensor->same_as == SHAPEPROOF_NONE;
    question->found++;
    if (strcmp(question->function, "count") == 0) question->value++;
    else if (strcmp(question->function, "elements") == 0) question->value += is_new ? (int64_t)tensor->parameters : 0;
    else if (strcmp(question->function, "bytes") == 0) question->value += is_new ? (int64_t)tensor->bytes : 0;
    else if (question->index < 0 || question->index >= (int64_t)tensor->rank)
        question->why = "the tensor has no such dimension: the first is 0";
    else {
        const int64_t size = (int64_t)tensor->shape[question->index];
        if (question->found > 1 && size != question->value) question->why = "these tensors differ in that dimension";
        question->value = size;
    }
}

/* dim(), count() and elements() in a claim: see `tensors` in struct sp_sym_fixed. */
static bool ask_tensors(void *context, const struct sp_expr *expr, int64_t index, int64_t *value, const char **why)
{
    const struct shapeproof_inventory *inventory = context;
    struct question question = {.function = expr->name, .index = index};
    struct sp_arena arena = {0};
    struct sp_name_pattern pattern;
    struct sp_pattern_mistake mistake;
    const char *text = sp_pattern_of_claimed_name(&arena, expr->value.string);
    const bool right = sp_name_pattern_parse(&pattern, text, strlen(text), &mistake);
    for (size_t i = 0; right && i < shapeproof_inventory_count(inventory) && !question.why; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        if (sp_name_pattern_matches(&pattern, tensor->name)) ask_tensor(&question, tensor);
    }
    sp_arena_free(&arena);
    *value = question.value;
    *why = !right ? mistake.message : question.why;
    if (!*why && !question.found && strcmp(expr->name, "count") != 0) *why = "the checkpoint has no such tensor";
    return !*why;
}

/* ---- claims ---- */

/* Evaluates one claim about a checkpoint without a table: sizes, counts and the total are those of the file. Nothing is
 * proved, so that the verdict stays undecided. The answer is `other` when `when` does not apply to the file, `unknown`
 * when a side has no value there, both with the reason in claim.why. */
static void evaluate_alone(struct shapeproof_verification *verification, struct sp_configured *configured,
                           struct sp_located_claim located)
{
    struct shapeproof_verified_claim claim = {.answer = SHAPEPROOF_CLAIM_OTHER};
    struct shapeproof_proof *proof = sp_arena_alloc(&verification->arena, sizeof *proof);
    const struct sp_group_sums sums = {
        .total = (int64_t)shapeproof_inventory_totals(verification->inventory)->unique_parameters};
    struct sp_claim_sides sides;
    *proof = sp_proof_begin(&verification->arena, SP_CHECKPOINT_ALONE, located);
    proof->verdict = SHAPEPROOF_UNDECIDED;
    proof->given = located.unit->given_text;
    claim.proof = proof;
    const struct shapeproof_config *const no_config = NULL;
    if (sp_claim_applies(configured, no_config, located, &verification->arena, &claim.why)) {
        claim.answer = SHAPEPROOF_CLAIM_UNKNOWN;
        if (sp_claim_sides_of(configured, located, &sums, &verification->arena, &sides, &claim.why)) {
            const bool holds = sp_claim_accepts(located.claim, sides);
            claim.answer = holds ? SHAPEPROOF_CLAIM_HOLDS : SHAPEPROOF_CLAIM_FAILS;
            claim.stored = (struct shapeproof_fraction){sides.left.num, sides.left.den};
            if (located.claim->kind != SP_CLAIM_ROUNDS)
                claim.formula = (struct shapeproof_fraction){sides.right.num, sides.right.den};
            if (!holds && located.claim->kind != SP_CLAIM_ROUNDS)
                claim.difference = sp_verify_amount(verification, sides);
        }
    }
    *SP_PUSH(&verification->claims) = claim;
}

/* Whether the options ask for the claims of that file: of all files when they name none. */
static bool is_judged(const struct shapeproof_verify_options *options, const char *file)
{
    for (size_t i = 0; i < options->file_count; i++)
        if (strcmp(file, options->files[i]) == 0) return true;
    return options->file_count == 0;
}

void sp_verify_alone(struct shapeproof_verification *verification, const struct shapeproof_tables *tables,
                     const struct shapeproof_verify_options *options)
{
    static const struct sp_unit no_table = {.name = SP_CHECKPOINT_ALONE, .is_table = true};
    struct shapeproof_config *config = shapeproof_config_new();
    const struct shapeproof_totals *totals = shapeproof_inventory_totals(verification->inventory);
    const struct sp_group_sums stored = {.total = (int64_t)totals->unique_parameters, .bytes = (int64_t)totals->bytes};
    struct sp_configured configured = {.general = NULL, .stored = &stored};
    sp_count_settled(&configured.settled, tables, &no_table, sp_config_hyper(config));
    configured.settled.symbolic.fixed.tensors = ask_tensors;
    configured.settled.symbolic.fixed.context = (void *)verification->inventory;
    for (size_t place = 0; place < sp_tables_place_count(tables); place++) {
        const struct sp_entry entry = sp_tables_entry(tables, place);
        if (!entry.about || strcmp(entry.about, SP_CHECKPOINT_ALONE) != 0 || !is_judged(options, entry.file)) continue;
        const struct sp_unit *unit = sp_tables_at(tables, place);
        for (size_t i = 0; unit && i < unit->claim_count; i++)
            evaluate_alone(verification, &configured, (struct sp_located_claim){unit, &unit->claims[i]});
    }
    sp_configured_free(&configured);
    shapeproof_config_free(config);
}
