/* SPDX-License-Identifier: MIT */
#include "model/embedding.h"

#include <string.h>

/* Whether the last components of the name are one of the endings: "attn_output.weight" does not end with
 * "output.weight". */
static bool ends_with_one(const char *name, const char *const *endings, size_t count)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(endings[i]);
        if (length < size || memcmp(name + length - size, endings[i], size) != 0) continue;
        if (length == size || name[length - size - 1] == '.') return true;
    }
    return false;
}

#define ENDS_WITH_ONE(name, endings) ends_with_one(name, endings, sizeof(endings) / sizeof *(endings))

bool sp_is_token_embedding(const char *name)
{
    static const char *const endings[] = {
        "embed_tokens.weight",    "wte.weight",      "word_embeddings.weight", "tok_embeddings.weight", "shared.weight",
        "token_embedding.weight", "embed_in.weight", "word_embedding.weight",  "token_embd.weight"};
    return ENDS_WITH_ONE(name, endings);
}

bool sp_is_position_embedding(const char *name)
{
    static const char *const endings[] = {"wpe.weight", "embed_positions.weight", "position_embeddings.weight",
                                          "position_embedding.weight", "position_embd.weight"};
    return ENDS_WITH_ONE(name, endings);
}

bool sp_is_vocabulary_head(const char *name)
{
    static const char *const endings[] = {"lm_head.weight", "embed_out.weight", "output.weight"};
    return ENDS_WITH_ONE(name, endings);
}
