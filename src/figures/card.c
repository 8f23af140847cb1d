/* SPDX-License-Identifier: MIT */
#include "shapeproof/card.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "figures/readme.h"
#include "model/embedding.h"

struct shapeproof_card {
    struct sp_arena arena;
    struct shapeproof_card_totals totals;
    SP_ARRAY(struct shapeproof_group) groups;
    SP_ARRAY(struct shapeproof_card_dtype) dtypes;
    struct sp_readme_statements statements;
};

/* What the model consists of, by the tensors of the file. */
static struct sp_figure_parts parts_of_file(const struct shapeproof_inventory *inventory)
{
    struct sp_figure_parts parts = {.total = 0};
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        const bool is_tied = tensor->same_as != SHAPEPROOF_NONE, is_head = sp_is_vocabulary_head(tensor->name);
        if (is_tied) parts.tied += tensor->parameters;
        else parts.total += tensor->parameters;
        if (tensor->rank != 2) continue;
        if (is_tied && is_head) parts.tied_head += tensor->parameters;
        else if (is_tied) continue;
        else if (sp_is_token_embedding(tensor->name)) parts.tokens += tensor->parameters;
        else if (is_head) parts.head += tensor->parameters;
        else if (sp_is_position_embedding(tensor->name)) parts.positions += tensor->parameters;
    }
    return parts;
}

/* A file may name each dtype as it likes. The last of the dtypes stands for all that are more than these: those of
 * shapeproof/dtype.h and as many others, as inspect shows them (src/report/inspect/text.c). */
enum { MOST_DTYPES = 64 };

static struct shapeproof_card_dtype *dtype_named(struct shapeproof_card *card, const char *name)
{
    const size_t last = MOST_DTYPES - 1;
    size_t i = 0;
    while (i < card->dtypes.count && i < last && strcmp(card->dtypes.items[i].name, name) != 0) i++;
    if (i == card->dtypes.count)
        *SP_PUSH(&card->dtypes) = (struct shapeproof_card_dtype){.name = i == last ? "other" : name};
    return &card->dtypes.items[i];
}

static void count_dtypes(struct shapeproof_card *card, const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        if (tensor->same_as != SHAPEPROOF_NONE) continue;
        struct shapeproof_card_dtype *dtype = dtype_named(card, tensor->dtype_name);
        dtype->tensors++;
        dtype->elements += tensor->parameters;
        dtype->bytes += tensor->bytes;
    }
}

static void copy_groups(struct shapeproof_card *card, const struct shapeproof_prediction *prediction)
{
    for (size_t i = 0; prediction && i < shapeproof_prediction_group_count(prediction); i++) {
        struct shapeproof_group group = *shapeproof_prediction_group(prediction, i);
        if (!group.parameters) continue;
        group.name = sp_arena_string(&card->arena, group.name);
        *SP_PUSH(&card->groups) = group;
    }
}

struct shapeproof_card *shapeproof_card_new(const struct shapeproof_inventory *inventory,
                                            const struct shapeproof_prediction *prediction, const char *readme,
                                            size_t length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("comparing the card");
    SP_BUDGET_REUSE(inventory);
    struct shapeproof_card *card = sp_realloc(NULL, 1, sizeof *card);
    assert(inventory);
    *card = (struct shapeproof_card){.arena = {0}};
    const struct sp_figure_parts parts = prediction ? sp_figure_parts_of(prediction) : parts_of_file(inventory);
    const struct shapeproof_totals *stored = shapeproof_inventory_totals(inventory);
    card->totals = (struct shapeproof_card_totals){.predicted = prediction != NULL,
                                                   .parameters = parts.total,
                                                   .tied = parts.tied,
                                                   .buffers = parts.buffers,
                                                   .tokens = parts.tokens,
                                                   .head = parts.head,
                                                   .positions = parts.positions,
                                                   .stored = stored->unique_parameters,
                                                   .bytes = stored->bytes};
    copy_groups(card, prediction);
    count_dtypes(card, inventory);
    if (readme) sp_read_statements(&card->arena, readme, length, &parts, prediction != NULL, &card->statements);
    return card;
}

void shapeproof_card_free(struct shapeproof_card *card)
{
    if (!card) return;
    sp_free(card->groups.items);
    sp_free(card->dtypes.items);
    sp_free(card->statements.items);
    sp_arena_free(&card->arena);
    sp_free(card);
}

const struct shapeproof_card_totals *shapeproof_card_totals(const struct shapeproof_card *card)
{
    return &card->totals;
}

size_t shapeproof_card_group_count(const struct shapeproof_card *card) { return card->groups.count; }

const struct shapeproof_group *shapeproof_card_group(const struct shapeproof_card *card, size_t index)
{
    assert(index < card->groups.count);
    return &card->groups.items[index];
}

size_t shapeproof_card_dtype_count(const struct shapeproof_card *card) { return card->dtypes.count; }

const struct shapeproof_card_dtype *shapeproof_card_dtype(const struct shapeproof_card *card, size_t index)
{
    assert(index < card->dtypes.count);
    return &card->dtypes.items[index];
}

size_t shapeproof_card_statement_count(const struct shapeproof_card *card) { return card->statements.count; }

const struct shapeproof_statement *shapeproof_card_statement(const struct shapeproof_card *card, size_t index)
{
    assert(index < card->statements.count);
    return &card->statements.items[index];
}
