/* SPDX-License-Identifier: MIT
 * The matrices of tokens and positions, by the names that they have in most architectures. */
#ifndef SP_MODEL_EMBEDDING_H
#define SP_MODEL_EMBEDDING_H

#include <stdbool.h>

/* "model.embed_tokens.weight", "wte.weight": a row for each token that is read. */
bool sp_is_token_embedding(const char *name);
/* "wpe.weight", "model.embed_positions.weight": a row for each position. */
bool sp_is_position_embedding(const char *name);
/* "lm_head.weight", "embed_out.weight": a row for each token that is written. */
bool sp_is_vocabulary_head(const char *name);

#endif
