/* SPDX-License-Identifier: MIT
 * Compares a static embedding with the tokenizer beside it: the matrix has a row for each token. sentence-transformers
 * saves it without a configuration. */
#include <inttypes.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/text.h"
#include "check/adapter.h"
#include "config/tokenizer.h"
#include "shapeproof/check.h"

/* Whether the file is one matrix with the name that StaticEmbedding gives it. */
static bool is_static_embedding(const struct shapeproof_inventory *inventory)
{
    if (shapeproof_inventory_count(inventory) != 1) return false;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, 0);
    return tensor->rank == 2 && !(tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) &&
           strcmp(tensor->name, "embedding.weight") == 0;
}

/* "tokenizer.json has 12 tokens, one for each row" */
static void put_tokens(struct sp_text *text, const struct sp_tokenizer *tokenizer, uint64_t rows)
{
    if (!tokenizer->size) {
        sp_text_puts(text, "no tokenizer beside it says how many tokens there are");
        return;
    }
    sp_text_printf(text, "%s has %" PRIu64 " token%s, ", tokenizer->file, tokenizer->size,
                   tokenizer->size == 1 ? "" : "s");
    if (tokenizer->size == rows) sp_text_puts(text, "one for each row");
    else if (tokenizer->size < rows) sp_text_printf(text, "%" PRIu64 " fewer than rows", rows - tokenizer->size);
    else sp_text_printf(text, "and %" PRIu64 " of them have no row", tokenizer->size - rows);
}

char *shapeproof_embedding_describe(const struct shapeproof_inventory *inventory)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("checking it");
    SP_BUDGET_REUSE(inventory);
    if (!is_static_embedding(inventory)) return NULL;
    struct sp_arena arena = {0};
    struct sp_text text = {0};
    const uint64_t *shape = shapeproof_inventory_tensor(inventory, 0)->shape;
    const struct sp_tokenizer tokenizer = sp_tokenizer_in(&arena, sp_adapter_folder(&arena, inventory));
    sp_text_printf(&text,
                   "embedding.weight (%" PRIu64 ", %" PRIu64 "), as StaticEmbedding of sentence-transformers has it; ",
                   shape[0], shape[1]);
    put_tokens(&text, &tokenizer, shape[0]);
    sp_arena_free(&arena);
    return text.data;
}
