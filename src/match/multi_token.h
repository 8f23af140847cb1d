/* SPDX-License-Identifier: MIT
 * Layers for multi-token prediction that a table has behind the layers of the model: optional, and for the most part
 * like an ordinary layer. Tensors of their own tell them from one:
 *
 *     layers.61.self_attn.o_proj.weight    every layer has it
 *     layers.61.eh_proj.weight             only a layer for multi-token prediction has it */
#ifndef SP_MATCH_MULTI_TOKEN_H
#define SP_MATCH_MULTI_TOKEN_H

#include "base/arena.h"
#include "base/map.h"
#include "match/match.h"

/* Whether a section of a table, or a group of a prediction, has tensors of such layers: its name begins with
 * "multi-token". */
bool sp_is_multi_token_section(const char *name);
/* Whether a predicted tensor is in such a layer. */
bool sp_is_for_multi_token(const struct shapeproof_prediction *prediction, size_t predicted);

/* The layers for multi-token prediction that a prediction has with tensors of their own, whose names no ordinary layer
 * has, and those of them of which a file has such a tensor. */
struct sp_multi_token {
    struct sp_arena arena; /* of their names */
    struct sp_map predicted, there;
};

/* Finds them; none if the inventory is a part of a checkpoint, which cannot tell. `is_there` says whether the file has
 * a predicted tensor. */
void sp_multi_token_find(struct sp_multi_token *layers, const struct shapeproof_inventory *inventory,
                         const struct shapeproof_prediction *prediction,
                         bool (*is_there)(const void *context, size_t predicted), const void *context);
/* Whether a predicted tensor is in such a layer of which the file has none of these tensors: a tensor of that name is
 * no tensor of a layer for multi-token prediction. */
bool sp_multi_token_lacks(struct sp_multi_token *layers, const struct shapeproof_predicted *tensor);
void sp_multi_token_free(struct sp_multi_token *layers);

/* Takes back the pairs of such tensors. */
void sp_match_drop_multi_token(struct sp_match *match);

#endif
