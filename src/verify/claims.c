/* SPDX-License-Identifier: MIT
 * Each claim at the values of the file: once with the parameters of the table's groups, once with those that the file
 * stores. By how much one deviation makes the left side differ is found by adding that deviation alone to what the
 * table gives; where the sum of these is the whole difference, the side is linear in them, and their terms name it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "names/collapse.h"
#include "verify/verify.h"

static struct shapeproof_fraction public_fraction(struct sp_rational value)
{
    return (struct shapeproof_fraction){value.num, value.den};
}

/* ---- what the difference is made of ---- */

/* A claim under way. */
struct held {
    struct shapeproof_verification *verification;
    struct sp_located_claim located;
    struct sp_group_sums predicted;
    struct sp_claim_sides by_table; /* with the predicted parameters of each group */
    struct sp_claim_sides by_file;  /* with the stored ones */
};

static int64_t deviation_parameters(const struct sp_deviation *deviation)
{
    int64_t sum = 0;
    for (size_t i = 0; i < deviation->tensors.count; i++) sum += deviation->tensors.items[i].parameters;
    return sum;
}

/* By how much the left side changes for each parameter of one deviation: of 2*[head] + [mlp] 2 for one in the head. It
 * is evaluated with the predicted parameters, but for that deviation. 0 for one that changes no number of parameters.
 * False when the side has no value then. */
static bool weight_of_deviation(struct held *held, const struct sp_deviation *deviation, struct sp_rational *weight)
{
    struct shapeproof_verification *verification = held->verification;
    const struct sp_deviating alone = {verification, deviation};
    const int64_t more = deviation_parameters(deviation);
    struct sp_arena scratch = {0};
    struct sp_claim_sides sides;
    struct sp_rational change;
    const char *why;
    struct sp_group_sums sums = held->predicted;
    struct sp_group_sum *items = sp_arena_array(&scratch, sums.count, sizeof *items);
    if (sums.count) memcpy(items, sums.items, sums.count * sizeof *items);
    if (deviation->group != SHAPEPROOF_NONE) items[deviation->group].parameters += more;
    sums.items = items;
    sums.total += more;
    sums.rows = sp_verify_rows;
    sums.context = &alone;
    *weight = (struct sp_rational){0, 1};
    const bool known = sp_claim_sides_of(&verification->configured, held->located, &sums, &scratch, &sides, &why) &&
                       sp_rational_sub(sides.left, held->by_table.left, &change) &&
                       (!more || sp_rational_div(change, sp_rational_int(more), weight));
    sp_arena_free(&scratch);
    return known;
}

/* "is missing", "are missing", for that many tensors. */
static const char *deviation_words(enum shapeproof_deviation_kind kind, size_t count)
{
    switch (kind) {
    case SHAPEPROOF_DEVIATION_MISSING:
        return count == 1 ? "is missing" : "are missing";
    case SHAPEPROOF_DEVIATION_TIED:
        return count == 1 ? "is stored although it is tied" : "are stored although they are tied";
    case SHAPEPROOF_DEVIATION_SHAPE:
        return count == 1 ? "has another shape" : "have another shape";
    default:
        return count == 1 ? "is not predicted" : "are not predicted";
    }
}

/* Deviations of one kind that change the left side, of all groups together. */
struct change {
    const struct sp_poly *term; /* by how much; NULL: there are none */
    struct sp_deviation all;    /* their kind and tensors */
};

/* Adds a deviation, whose parameters change the left side by `weight` each. */
static void add_change(struct held *held, struct change *change, const struct sp_deviation *deviation,
                       struct sp_rational weight)
{
    struct sp_algebra *algebra = &held->verification->general.symbolic.algebra;
    const struct sp_poly *term = sp_poly_scale(algebra, deviation->term, weight);
    change->term = change->term ? sp_poly_add(algebra, change->term, term) : term;
    change->all.kind = deviation->kind;
    for (size_t i = 0; i < deviation->tensors.count; i++) *SP_PUSH(&change->all.tensors) = deviation->tensors.items[i];
}

/* Whether a formula is a sum, so that it needs brackets behind a minus. */
static bool is_sum(const char *formula)
{
    int depth = 0;
    for (; *formula; formula++) {
        if (*formula == '(') depth++;
        if (*formula == ')') depth--;
        if (!depth && (strncmp(formula, " + ", 3) == 0 || strncmp(formula, " - ", 3) == 0)) return true;
    }
    return false;
}

/* " - 3*E*N (h.{0-1}.attn.c_attn.bias are missing)"; the `first` of several has no plus, and no blanks, in front. */
static void put_change(struct held *held, struct sp_text *text, const struct change *change, bool first)
{
    struct shapeproof_verification *verification = held->verification;
    const char *formula = sp_verify_formula(verification, change->term);
    const bool less = *formula == '-';
    if (less)
        formula = sp_verify_formula(
            verification, sp_poly_scale(&verification->general.symbolic.algebra, change->term, sp_rational_int(-1)));
    if (!first) sp_text_puts(text, less ? " - " : " + ");
    else if (less) sp_text_puts(text, "-");
    sp_text_printf(text, less && is_sum(formula) ? "(%s)" : "%s", formula);
    sp_text_printf(text, " (%s %s)", sp_verify_names(verification, &change->all),
                   deviation_words(change->all.kind, change->all.tensors.count));
}

/* Appends the terms by which the left side differs between the file and the table, one for each kind of deviation: V*E
 * (wte is stored although it is tied) - 3*E*N (...). The weight of each deviation is found on its own; only if all
 * changes add up to the whole difference is the side linear in the groups, and the terms are what it is made of. False
 * when they do not, and nothing is written then. */
static bool put_terms(struct held *held, struct sp_text *text)
{
    const struct sp_deviations *all = &held->verification->deviations;
    struct change changes[SP_DEVIATION_KINDS] = {{NULL, {.group = 0}}};
    struct sp_rational sum = {0, 1}, weight, part, whole;
    static const enum shapeproof_deviation_kind order[SP_DEVIATION_KINDS] = {
        SHAPEPROOF_DEVIATION_TIED, SHAPEPROOF_DEVIATION_UNPREDICTED, SHAPEPROOF_DEVIATION_SHAPE,
        SHAPEPROOF_DEVIATION_MISSING};
    bool first = true, good = sp_rational_sub(held->by_file.left, held->by_table.left, &whole);
    for (size_t i = 0; i < all->count && good; i++) {
        const struct sp_deviation *deviation = &all->items[i];
        good = weight_of_deviation(held, deviation, &weight) &&
               sp_rational_mul(weight, sp_rational_int(deviation_parameters(deviation)), &part) &&
               sp_rational_add(sum, part, &sum);
        if (good && !sp_rational_is_zero(part)) add_change(held, &changes[deviation->kind], deviation, weight);
    }
    good = good && sp_rational_compare(sum, whole) == 0;
    for (size_t i = 0; i < SP_DEVIATION_KINDS; i++) {
        struct change *change = &changes[order[i]];
        if (good && change->term) put_change(held, text, change, first);
        first = first && !change->term;
        sp_free(change->all.tensors.items);
    }
    return good;
}

/* The absolute value: "1,536", "1/2". */
static void put_amount(struct sp_text *text, struct sp_rational value)
{
    if (value.den != 1) sp_text_printf(text, "%" PRId64 "/%" PRId64, value.num < 0 ? -value.num : value.num, value.den);
    else sp_text_grouped(text, (uint64_t)(value.num < 0 ? -value.num : value.num));
}

/* "928 more", "96 less" */
static void put_difference(struct sp_text *text, struct sp_rational difference)
{
    put_amount(text, difference);
    sp_text_puts(text, difference.num < 0 ? " less" : " more");
}

const char *sp_verify_amount(struct shapeproof_verification *verification, struct sp_claim_sides sides)
{
    struct sp_rational difference;
    struct sp_text text = {0};
    if (!sp_rational_sub(sides.left, sides.right, &difference) || sp_rational_is_zero(difference)) return NULL;
    put_difference(&text, difference);
    return sp_text_keep(&text, &verification->arena);
}

/* By how much the left side of a claim that fails exceeds the right one:
 *
 *     928 more = V*E (...) - 3*E*N (...)                          the file differs from the table
 *     96 more = V*E (...) - 13 (the formula has, and ...)         and the table from the formula
 *     96 more than the formula gives, as the table predicts       the file does not, as far as the left side shows
 *     96 more than the formula gives                              there is no file
 *     96 more                                                     no terms are found, or the right side differs too
 *
 * NULL when there is no difference, and for a claim about a rounded figure. */
static const char *difference_words(struct held *held)
{
    struct sp_rational all, of_table;
    struct sp_text text = {0};
    const bool compared = held->located.claim->kind != SP_CLAIM_ROUNDS &&
                          sp_rational_sub(held->by_file.left, held->by_file.right, &all) &&
                          sp_rational_sub(held->by_table.left, held->by_table.right, &of_table);
    if (!compared || sp_rational_is_zero(all)) return NULL;
    put_difference(&text, all);
    const size_t before = text.length;
    const bool same_right = sp_rational_compare(held->by_file.right, held->by_table.right) == 0;
    if (sp_rational_compare(held->by_file.left, held->by_table.left) != 0 && same_right) {
        sp_text_puts(&text, " = ");
        if (!put_terms(held, &text)) text.length = before, text.data[before] = '\0';
        else if (!sp_rational_is_zero(of_table)) {
            sp_text_puts(&text, of_table.num < 0 ? " - " : " + ");
            put_amount(&text, of_table);
            sp_text_puts(&text, of_table.num < 0 ? " (the formula has, and the table has not)"
                                                 : " (the table has, and the formula has not)");
        }
    } else if (same_right)
        sp_text_puts(&text, held->verification->inventory ? " than the formula gives, as the table predicts"
                                                          : " than the formula gives");
    return sp_text_keep(&text, &held->verification->arena);
}

/* ---- a claim ---- */

/* Puts what a refuted claim differs by at the flags of this file in the place of what it differs by at those of the
 * counter-example. */
static void describe_here(struct held *held, struct shapeproof_verified_claim *claim)
{
    struct sp_arena *arena = &held->verification->arena;
    const char *difference = sp_claim_difference(&held->verification->configured, held->located, arena);
    if (!difference) return;
    struct shapeproof_proof *proof = sp_arena_alloc(arena, sizeof *proof);
    *proof = *claim->proof;
    proof->difference = difference;
    claim->proof = proof;
}

/* Evaluates one claim at the values of this file: the formula, and its left side as the table predicts it and as the
 * file stores it. The answer is `other` when `when` does not apply here, `unknown` when a side has no value here, both
 * with the reason in claim->why. An exact claim that is not proved gets the premises under which it is. */
static void evaluate_claim(struct held *held, struct shapeproof_verified_claim *claim)
{
    struct shapeproof_verification *verification = held->verification;
    const struct shapeproof_config *config = verification->config;
    const enum shapeproof_verdict_on_claim verdict = claim->proof->verdict;
    claim->answer = SHAPEPROOF_CLAIM_OTHER;
    if (!sp_claim_applies(&verification->configured, config, held->located, &verification->arena, &claim->why)) return;
    claim->answer = SHAPEPROOF_CLAIM_UNKNOWN;
    if (!sp_claim_sides_of(&verification->configured, held->located, &held->predicted, &verification->arena,
                           &held->by_table, &claim->why) ||
        !sp_claim_sides_of(&verification->configured, held->located, &verification->sums, &verification->arena,
                           &held->by_file, &claim->why))
        return;
    const bool holds = sp_claim_accepts(held->located.claim, held->by_file);
    claim->answer = holds ? SHAPEPROOF_CLAIM_HOLDS : SHAPEPROOF_CLAIM_FAILS;
    if (held->located.claim->kind != SP_CLAIM_ROUNDS) claim->formula = public_fraction(held->by_file.right);
    claim->predicted = public_fraction(held->by_table.left);
    if (verification->inventory) claim->stored = public_fraction(held->by_file.left);
    if (!holds) claim->difference = difference_words(held);
    const bool is_general = !held->located.claim->is_example && held->located.claim->kind == SP_CLAIM_EXACT;
    if (verdict != SHAPEPROOF_PROVED && is_general)
        claim->premises = sp_claim_premises(&verification->configured, config, held->located, &verification->arena);
    if (verdict == SHAPEPROOF_REFUTED && is_general && !claim->premises) describe_here(held, claim);
}

void sp_verify_claims(struct shapeproof_verification *verification)
{
    const struct sp_group_sums predicted = sp_verify_predicted_sums(&verification->arena, verification->prediction);
    for (size_t i = 0; i < shapeproof_proofs_count(verification->proofs); i++) {
        struct held held = {
            .verification = verification, .located = sp_proofs_claim(verification->proofs, i), .predicted = predicted};
        struct shapeproof_verified_claim claim = {.proof = shapeproof_proofs_get(verification->proofs, i)};
        evaluate_claim(&held, &claim);
        *SP_PUSH(&verification->claims) = claim;
    }
}
