/* SPDX-License-Identifier: MIT
 * How the layers of Megatron-LM, Megatron-DeepSpeed and GPT-NeoX are divided among tensor-parallel ranks. A layer that
 * makes more of its input is cut by its outputs, dimension 0, with its bias; the one behind it by its inputs, dimension
 * 1, and its bias is added once, whole. Embeddings and heads are cut by the vocabulary. All else is in each rank.
 *
 * A rule is the end of a name; "*" stands for anything within its last but one component. The first that fits counts.
 */
#include <string.h>

#include "base/chars.h"
#include "read/ranks/ranks.h"

static const struct {
    const char *end;
    enum sp_cut cut;
} rules[] = {
    /* what is in each rank */
    {"*norm.weight", SP_CUT_NOT},
    {"*norm.bias", SP_CUT_NOT},
    {"*norm.scale", SP_CUT_NOT},
    {"layer_norm_weight", SP_CUT_NOT},
    {"layer_norm_bias", SP_CUT_NOT},
    {"position_embeddings.weight", SP_CUT_NOT},
    {"tokentype_embeddings.weight", SP_CUT_NOT},
    {"inv_freq", SP_CUT_NOT},
    {"pooler.dense.weight", SP_CUT_NOT},
    {"pooler.dense.bias", SP_CUT_NOT},
    {"lm_head.dense.weight", SP_CUT_NOT},
    {"lm_head.dense.bias", SP_CUT_NOT},
    {"binary_head.weight", SP_CUT_NOT},
    {"binary_head.bias", SP_CUT_NOT},
    {"router.weight", SP_CUT_NOT},
    {"router.expert_bias", SP_CUT_NOT},
    /* by the vocabulary */
    {"word_embeddings.weight", SP_CUT_COLUMNS},
    {"word_embeddings_for_head.weight", SP_CUT_COLUMNS},
    {"output_layer.weight", SP_CUT_COLUMNS},
    {"output_layer.bias", SP_CUT_COLUMNS},
    {"final_linear.weight", SP_CUT_COLUMNS},
    {"lm_head.bias", SP_CUT_COLUMNS},
    /* attention */
    {"query_key_value.weight", SP_CUT_COLUMNS},
    {"query_key_value.bias", SP_CUT_COLUMNS},
    {"attention.query.weight", SP_CUT_COLUMNS},
    {"attention.query.bias", SP_CUT_COLUMNS},
    {"attention.key_value.weight", SP_CUT_COLUMNS},
    {"attention.key_value.bias", SP_CUT_COLUMNS},
    {"linear_qkv.weight", SP_CUT_COLUMNS},
    {"linear_qkv.bias", SP_CUT_COLUMNS},
    {"linear_q.weight", SP_CUT_COLUMNS},
    {"linear_q.bias", SP_CUT_COLUMNS},
    {"linear_kv.weight", SP_CUT_COLUMNS},
    {"linear_kv.bias", SP_CUT_COLUMNS},
    {"attention.dense.weight", SP_CUT_ROWS},
    {"attention.dense.bias", SP_CUT_NOT},
    {"linear_proj.weight", SP_CUT_ROWS},
    {"linear_proj.bias", SP_CUT_NOT},
    /* feed-forward, experts as well */
    {"dense_h_to_4h.weight", SP_CUT_COLUMNS},
    {"dense_h_to_4h.bias", SP_CUT_COLUMNS},
    {"linear_fc1.weight", SP_CUT_COLUMNS},
    {"linear_fc1.bias", SP_CUT_COLUMNS},
    {"dense_4h_to_h.weight", SP_CUT_ROWS},
    {"dense_4h_to_h.bias", SP_CUT_NOT},
    {"linear_fc2.weight", SP_CUT_ROWS},
    {"linear_fc2.bias", SP_CUT_NOT},
};

/* Whether the name ends so, at the beginning of a component ("*": anywhere in one). "self_attention.dense.weight" ends
 * with "attention.dense.weight". */
static bool fits_rule(const char *name, const char *end)
{
    const bool anywhere = *end == '*' || strncmp(end, "attention.", 10) == 0;
    const char *text = *end == '*' ? end + 1 : end;
    if (!sp_ends_with(name, text)) return false;
    const char *at = name + strlen(name) - strlen(text);
    return anywhere || at == name || at[-1] == '.';
}

enum sp_cut sp_rank_cut(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (fits_rule(name, rules[i].end)) return rules[i].cut;
    return SP_CUT_UNKNOWN;
}

bool sp_is_grouped_cut(const char *name) { return strstr(name, "query_key_value.") || strstr(name, "linear_qkv."); }

bool sp_may_be_interleaved(const char *name)
{
    return strstr(name, "dense_h_to_4h.") || strstr(name, "linear_fc1.") || strstr(name, "query_key_value.");
}
