/* SPDX-License-Identifier: MIT
 * What a conversion to GGUF changes in every model: names and dtypes, dimensions of 1, parts that become one tensor,
 * buffers that are left out. When one of the two files is GGUF and the other is not, such findings become notes, so
 * that a right conversion is the same.
 *
 *     BF16 (64) -> F32 (64)       output_norm.weight           note: the converter writes norms as F32
 *     BF16 (64, 32) -> (64, 16)   blk.0.ffn_down.weight        error
 *
 * The lists are those of llama.cpp's conversion/ (modify_tensors and filter_tensors). */
#include <string.h>

#include "diff/diff.h"
#include "model/layouts.h"

/* ---- what the converter leaves out, adds and transposes ---- */

/* Ends of names of the original that have no counterpart in GGUF: buffers, and the heads of BERT's pretraining. */
static const char *const left_out[] = {
    "attn.bias",           "attn.masked_bias",        "attention.bias",          "attention.masked_bias",
    "rotary_emb.inv_freq", "rotary_pos_emb.inv_freq", "embeddings.position_ids", "pooler.dense.weight",
    "pooler.dense.bias",
};

/* Tensors of GGUF that are computed from the configuration. */
static const char *const computed[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};

/* Ends of names whose matrices the original has in the order (in, out). */
static const char *const transposed[] = {
    "c_attn.weight", "c_proj.weight", "c_fc.weight", "experts.gate_up_proj", "experts.down_proj",
};

/* Whether a name is one of them, or ends with one behind a dot. */
static bool ends_with_one_of(const char *name, const char *const *ends, size_t count)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < count; i++) {
        const size_t end = strlen(ends[i]);
        if (length < end || strcmp(name + length - end, ends[i]) != 0) continue;
        if (length == end || name[length - end - 1] == '.') return true;
    }
    return false;
}

#define ENDS_WITH_ONE_OF(name, list) ends_with_one_of(name, list, sizeof(list) / sizeof *(list))

/* ---- which findings are the converter's ---- */

/* The tensor of the original that a finding is about, or NULL. */
static const struct shapeproof_tensor *original_of(const struct shapeproof_diff *diff,
                                                   const struct shapeproof_diff_finding *finding)
{
    const bool is_a = !sp_format_has(diff->a.inventory, SP_BY_LLAMA_CPP);
    const size_t tensor = is_a ? finding->a : finding->b;
    return tensor == SHAPEPROOF_NONE ? NULL : is_a ? sp_diff_a(diff, tensor) : sp_diff_b(diff, tensor);
}

static bool differs_in_ones(const struct shapeproof_diff *diff, const struct shapeproof_diff_finding *finding)
{
    const struct shapeproof_tensor *a = sp_diff_a(diff, finding->a), *b = sp_diff_b(diff, finding->b);
    return sp_differs_in_ones(a->shape, a->rank, b->shape, b->rank);
}

static bool is_by_converter(const struct shapeproof_diff *diff, const struct shapeproof_diff_finding *finding)
{
    const struct shapeproof_tensor *original = original_of(diff, finding);
    switch (finding->kind) {
    case SHAPEPROOF_DIFF_FINDING_RENAMED:
    case SHAPEPROOF_DIFF_FINDING_DTYPE:
    case SHAPEPROOF_DIFF_FINDING_JOINED:
    case SHAPEPROOF_DIFF_FINDING_QUANTISED:
        return true;
    case SHAPEPROOF_DIFF_FINDING_SHAPE:
        return differs_in_ones(diff, finding);
    case SHAPEPROOF_DIFF_FINDING_TRANSPOSED:
        return original && ENDS_WITH_ONE_OF(original->name, transposed);
    case SHAPEPROOF_DIFF_FINDING_REMOVED:
    case SHAPEPROOF_DIFF_FINDING_ADDED:
        return original ? ENDS_WITH_ONE_OF(original->name, left_out) : ENDS_WITH_ONE_OF(finding->name, computed);
    default:
        return false;
    }
}

bool sp_diff_is_conversion(const struct shapeproof_diff *diff)
{
    return sp_format_has(diff->a.inventory, SP_BY_LLAMA_CPP) != sp_format_has(diff->b.inventory, SP_BY_LLAMA_CPP);
}

void sp_diff_judge_conversion(struct shapeproof_diff *diff)
{
    if (!sp_diff_is_conversion(diff)) return;
    for (size_t i = 0; i < diff->finding_count; i++) {
        struct shapeproof_diff_finding *finding = &diff->findings[i];
        if (is_by_converter(diff, finding)) finding->severity = SHAPEPROOF_SEVERITY_NOTE;
    }
}
