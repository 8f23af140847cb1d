/* SPDX-License-Identifier: MIT
 * Vocabularies: how one has become another, embeddings and heads that disagree, tokens without a row. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "config/tokenizer.h"
#include "explain/vocabulary.h"
#include "lang/prediction.h"

bool sp_is_vocabulary(const char *words) { return strstr(words, "vocab") != NULL; }

/* ---- from one size to another ---- */

/* The multiple that `from` was rounded up to, the usual ones first; 0 when it is none. */
static uint64_t padding(uint64_t from, uint64_t to)
{
    static const uint64_t multiples[] = {64, 128, 256, 512, 1024, 2048, 4096, 8, 16, 32};
    for (size_t i = 0; i < sizeof multiples / sizeof *multiples; i++)
        if (to > from && from && to % multiples[i] == 0 && to - from < multiples[i]) return multiples[i];
    return 0;
}

/* "a multiple of 256 to 1024: 128 for each of 2 to 8 tensor-parallel ranks": which power of two it was cannot be told
 * when `to` is a multiple of several. */
static const char *multiple_words(struct sp_check *check, uint64_t multiple, uint64_t to)
{
    enum { EACH = 128, MOST = 64 * EACH };
    uint64_t largest = multiple;
    while (largest < MOST && to % (2 * largest) == 0) largest *= 2;
    if (multiple <= EACH) return sp_arena_printf(&check->arena, "a multiple of %" PRIu64, multiple);
    if (largest == multiple)
        return sp_arena_printf(&check->arena,
                               "a multiple of %" PRIu64 ": %d for each of %" PRIu64 " tensor-parallel ranks", multiple,
                               EACH, multiple / EACH);
    return sp_arena_printf(&check->arena,
                           "a multiple of %" PRIu64 " to %" PRIu64 ": %d for each of %" PRIu64 " to %" PRIu64
                           " tensor-parallel ranks",
                           multiple, largest, EACH, multiple / EACH, largest / EACH);
}

/* The number of ranks that `found` is one part of, or 0. Padding for all of them is but a small part of the whole. */
static uint64_t ranks_of(uint64_t configured, uint64_t found)
{
    for (uint64_t ranks = 2; ranks <= 64 && found && found <= UINT64_MAX / ranks; ranks *= 2) {
        const uint64_t whole = found * ranks;
        if (whole == configured) return ranks;
        if (padding(configured, whole) && whole - configured <= configured / 32) return ranks;
    }
    return 0;
}

/* With the help of the tokenizer beside the configuration. */
static const char *tokenizer_change(struct sp_check *check, uint64_t found)
{
    const struct sp_tokenizer tokenizer = sp_tokenizer_beside(&check->arena, check->config, true);
    if (!tokenizer.size) return "";
    if (tokenizer.size == found)
        return sp_arena_printf(&check->arena, " (as many as the tokenizer has, says %s)", tokenizer.file);
    const uint64_t multiple = padding(tokenizer.size, found);
    if (!multiple) return "";
    return sp_arena_printf(&check->arena, " (the tokenizer's %" PRIu64 ", says %s, rounded up to %s)", tokenizer.size,
                           tokenizer.file, multiple_words(check, multiple, found));
}

const char *sp_vocabulary_change(struct sp_check *check, uint64_t configured, uint64_t found)
{
    const char *told = tokenizer_change(check, found);
    const uint64_t up = padding(configured, found), down = padding(found, configured);
    const uint64_t ranks = ranks_of(configured, found);
    if (*told) return told;
    if (up) return sp_arena_printf(&check->arena, " (rounded up to %s)", multiple_words(check, up, found));
    if (down)
        return sp_arena_printf(&check->arena, " (of which %" PRIu64 " is %s)", configured,
                               sp_arena_printf(&check->arena, "the next multiple of %" PRIu64, down));
    if (ranks)
        return sp_arena_printf(&check->arena, " (1/%" PRIu64 ", as one of %" PRIu64 " tensor-parallel ranks has)",
                               ranks, ranks);
    return "";
}

/* ---- embeddings and heads that disagree ---- */

/* The first dimension that differs and is about the vocabulary; false when the tensor differs in another as well. */
static bool vocabulary_dimension(const struct sp_check *check, const struct sp_finding *finding, uint32_t *dimension)
{
    if (!sp_finding_is_open_as(finding, SP_FINDING_SHAPE)) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const struct sp_predicted *expected = sp_prediction_tensor(check->prediction, finding->predicted);
    size_t differing = 0;
    for (uint32_t d = 0; d < expected->rank && tensor->rank == expected->rank; d++)
        if (tensor->shape[d] != expected->shape[d] && ++differing) *dimension = d;
    if (differing != 1) return false;
    const size_t key = sp_prediction_dimension_key(check->prediction, finding->predicted, *dimension);
    return key != SP_NONE && sp_is_vocabulary(sp_prediction_hyperparameter(check->prediction, key).name);
}

/* A matched tensor of that many rows of the same hyper-parameter, in its expected shape; SP_NONE without one. */
static size_t counterpart(const struct sp_check *check, size_t key, uint64_t rows)
{
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) {
        const struct sp_predicted *predicted = sp_prediction_tensor(check->prediction, i);
        const size_t tensor = check->match.tensor_of[i];
        if (tensor == SP_NONE || !predicted->rank || predicted->shape[0] != rows) continue;
        if (!sp_same_shape(sp_inventory_tensor(check->inventory, tensor), predicted)) continue;
        if (sp_prediction_dimension_key(check->prediction, i, 0) == key) return tensor;
    }
    return SP_NONE;
}

static void describe_disagreement(struct sp_check *check, size_t cause, const struct sp_finding *finding,
                                  uint32_t dimension)
{
    const uint64_t found = sp_inventory_tensor(check->inventory, finding->tensor)->shape[dimension];
    const uint64_t expected = sp_prediction_tensor(check->prediction, finding->predicted)->shape[dimension];
    const size_t key = sp_prediction_dimension_key(check->prediction, finding->predicted, dimension);
    const size_t other = counterpart(check, key, expected);
    const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(check->prediction, key);
    const char *beside = "";
    if (other != SP_NONE)
        beside = sp_arena_printf(&check->arena, ", %s %" PRIu64, sp_inventory_tensor(check->inventory, other)->name,
                                 expected);
    check->causes[cause].message =
        sp_arena_printf(&check->arena, "%s has %" PRIu64 " rows%s%s: %s", finding->name, found,
                        sp_vocabulary_change(check, expected, found), beside, sp_said(check, hyper));
    check->causes[cause].hint = "no single vocabulary size fits both: resize one of them";
}

/* What one size of the vocabulary cannot explain: sp_explain_hyperparameters has tried. */
void sp_explain_vocabulary(struct sp_check *check)
{
    enum { MOST = 4 }; /* an embedding, a head, its bias: more would be something else */
    size_t count = 0;
    for (size_t i = 0; i < check->finding_count && count < MOST; i++) {
        uint32_t dimension;
        if (!vocabulary_dimension(check, &check->findings[i], &dimension)) continue;
        const size_t cause =
            sp_check_add_cause(check, (struct sp_cause){.id = "vocabulary", .severity = SP_SEVERITY_ERROR});
        describe_disagreement(check, cause, &check->findings[i], dimension);
        sp_check_explain(check, i, cause);
        count++;
    }
}

/* ---- tokens without a row ---- */

static bool counts_tokens(struct sp_hyperparameter hyper)
{
    return strcmp(hyper.name, "vocab_size") == 0 || strcmp(hyper.name, "text_config.vocab_size") == 0;
}

/* How many rows the file has: the vocabulary size, as configured or as a cause has found it. */
static bool vocabulary_rows(const struct sp_check *check, uint64_t *rows)
{
    for (size_t i = 0; i < sp_prediction_hyperparameter_count(check->prediction); i++) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(check->prediction, i);
        struct sp_value value = hyper.value;
        for (size_t c = 0; c < check->cause_count; c++)
            if (check->causes[c].hyperparameter && strcmp(check->causes[c].hyperparameter, hyper.name) == 0 &&
                check->causes[c].found.type != SP_ABSENT)
                value = check->causes[c].found;
        if (!counts_tokens(hyper) || value.type != SP_INT || value.integer <= 0) continue;
        *rows = (uint64_t)value.integer;
        return true;
    }
    return false;
}

void sp_explain_tokenizer(struct sp_check *check)
{
    uint64_t rows;
    if (!vocabulary_rows(check, &rows)) return;
    const struct sp_tokenizer tokenizer = sp_tokenizer_beside(&check->arena, check->config, false);
    if (tokenizer.size <= rows) return;
    const uint64_t without = tokenizer.size - rows;
    const char *last = sp_arena_string(&check->arena, sp_quote(tokenizer.last).text);
    sp_check_add_cause(
        check,
        (struct sp_cause){
            .id = "tokenizer",
            .severity = SP_SEVERITY_WARNING,
            .explains = 1,
            .message = sp_arena_printf(
                &check->arena, "%s has tokens up to number %" PRIu64 ", the embedding has %" PRIu64 " rows: %s",
                tokenizer.file, tokenizer.size - 1, rows,
                without == 1 ? sp_arena_printf(&check->arena, "%s has none", last)
                             : sp_arena_printf(&check->arena, "%" PRIu64 " tokens, the last of them %s, have none",
                                               without, last)),
            .hint = "take the tokenizer that the model was trained with, or add the rows"});
}
