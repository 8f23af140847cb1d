/* SPDX-License-Identifier: MIT
 * Tokens of the tokenizer beside the configuration that the embedding has no rows for. */
#include <inttypes.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "config/tokenizer.h"
#include "explain/gather.h"
#include "lang/prediction.h"

static bool counts_tokens(struct shapeproof_hyperparameter hyper)
{
    static const char *const parts[] = {"text_config.vocab_size", "llm_config.vocab_size",
                                        "language_config.vocab_size"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (sp_ends_with(hyper.name, parts[i])) return true;
    return strcmp(hyper.name, "vocab_size") == 0;
}

/* How many rows the file has: the vocabulary size, as configured or as a cause has found it. */
static bool vocabulary_rows(const struct shapeproof_check *check, uint64_t *rows)
{
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(check->prediction); i++) {
        const struct shapeproof_hyperparameter hyper = *shapeproof_prediction_hyperparameter(check->prediction, i);
        struct shapeproof_value value = hyper.value;
        for (size_t c = 0; c < check->cause_count; c++)
            if (check->causes[c].hyperparameter && strcmp(check->causes[c].hyperparameter, hyper.name) == 0 &&
                check->causes[c].found.type != SHAPEPROOF_VALUE_ABSENT)
                value = check->causes[c].found;
        if (!counts_tokens(hyper) || value.type != SHAPEPROOF_VALUE_INT || value.integer <= 0) continue;
        *rows = (uint64_t)value.integer;
        return true;
    }
    return false;
}

void sp_explain_tokenizer(struct shapeproof_check *check)
{
    uint64_t rows;
    if (!vocabulary_rows(check, &rows)) return;
    const struct sp_tokenizer tokenizer = sp_tokenizer_beside(&check->arena, check->config);
    if (tokenizer.unread)
        sp_prediction_remark(check->prediction, sp_arena_printf(&check->arena,
                                                                "the tokens were not counted: the tokenizer beside the "
                                                                "configuration cannot be read: %s",
                                                                tokenizer.unread));
    if (tokenizer.size <= rows) return;
    const uint64_t without = tokenizer.size - rows;
    const char *last = sp_arena_string(&check->arena, sp_quote(tokenizer.last).text);
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_TOKENIZER);
    cause->explains = 1;
    cause->message = sp_arena_printf(
        &check->arena, "%s has tokens up to number %" PRIu64 ", but the embedding has %" PRIu64 " rows: %s",
        tokenizer.file, tokenizer.size - 1, rows,
        without == 1
            ? sp_arena_printf(&check->arena, "%s has no row", last)
            : sp_arena_printf(&check->arena, "%" PRIu64 " tokens have no row, the last of them %s", without, last));
    cause->hint = "take the tokenizer that the model was trained with, or add the rows";
}
