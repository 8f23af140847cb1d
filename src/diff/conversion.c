/* SPDX-License-Identifier: MIT
 * What a conversion to GGUF changes in every model: names and dtypes, dimensions of 1, parts that become one tensor,
 * buffers that are left out. When one of the two files is GGUF and the other is not, such findings become notes, so
 * that a right conversion is the same.
 *
 *     BF16 (64) -> F32 (64)       output_norm.weight           note: the converter writes norms as F32
 *     BF16 (64, 32) -> (64, 16)   blk.0.ffn_down.weight        error
 *
 * The lists are those of llama.cpp's conversion/ (modify_tensors and filter_tensors).
 *
 * When one of the two has the names of another program, what its names and its rules say becomes a note as well. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "base/text.h"
#include "diff/diff.h"
#include "model/graph.h"
#include "model/inventory.h"
#include "model/layouts.h"
#include "model/values.h"

/* ---- what the converter leaves out, adds and transposes ---- */

/* Ends of names of the original that have no counterpart in GGUF: buffers, and the heads of the pretraining of
 * encoders. */
static const char *const left_out[] = {
    "attn.bias",
    "attn.masked_bias",
    "attention.bias",
    "attention.masked_bias",
    "rotary_emb.inv_freq",
    "rotary_pos_emb.inv_freq",
    "embeddings.position_ids",
    "pooler.dense.weight",
    "pooler.dense.bias",
    "decoder.weight",
    "decoder.bias",
    /* of xIELU: metadata in GGUF */
    "act_fn.alpha_n",
    "act_fn.alpha_p",
    "act_fn.beta",
    "act_fn.eps",
};

/* Parts of names that are no part of the language model: they go into a file of their own, the projector. */
static const char *const beside_the_text[] = {
    "vision_", "visual.", "vision.", "vqmodel.", "audio_", "audio.", "projector.", "patch_merge",
};

/* Tensors of GGUF that are computed from the configuration. */
static const char *const computed[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};

/* Ends of names whose matrices the original has in the order (in, out). */
static const char *const transposed[] = {"experts.gate_up_proj", "experts.down_proj"};
/* The same, in architectures whose linear layers are Conv1D. */
static const char *const conv1d[] = {"c_attn.weight", "c_proj.weight", "c_fc.weight", "c_fc2.weight"};
static const char *const with_conv1d[] = {"gpt2", "jais"};

/* Ends of names of which GGUF has the elements in another shape: a norm by its groups, experts one by one. */
static const char *const reshaped[] = {
    "mixer.norm.weight", "mamba.norm.weight", "experts.mlp.v1", "experts.mlp.w1", "experts.mlp.w2",
};

/* Whether a name is one of them, or ends with one behind a dot. */
static bool ends_with_one_of(const char *name, const char *const *ends, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!sp_ends_with(name, ends[i])) continue;
        const size_t begin = strlen(name) - strlen(ends[i]);
        if (!begin || name[begin - 1] == '.') return true;
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

/* The file of GGUF. */
static const struct shapeproof_inventory *converted_file(const struct shapeproof_diff *diff)
{
    return sp_format_has(diff->a.inventory, SP_BY_LLAMA_CPP) ? diff->a.inventory : diff->b.inventory;
}

/* Whether the converter leaves out a tensor of the original. What is beside the language model is missing in a file of
 * the language model alone, not in that of the projector ("clip"). */
static bool is_left_out(const struct shapeproof_diff *diff, const char *name)
{
    const char *architecture = sp_inventory_metadata_value(converted_file(diff), "general.architecture");
    if (ENDS_WITH_ONE_OF(name, left_out)) return true;
    if (architecture && strcmp(architecture, "clip") == 0) return false;
    return SP_HAS_ANY(name, beside_the_text);
}

/* Whether the original has the matrix of that name in a Conv1D: in the order (in, out), in each model. */
static bool is_conv1d(const struct shapeproof_diff *diff, const char *name)
{
    const char *architecture = sp_inventory_metadata_value(converted_file(diff), "general.architecture");
    return architecture && SP_IS_AMONG(architecture, with_conv1d) && ENDS_WITH_ONE_OF(name, conv1d);
}

/* Whether the original may have the matrix of that name in the order (in, out). */
static bool is_of_in_out(const struct shapeproof_diff *diff, const char *name)
{
    return ENDS_WITH_ONE_OF(name, transposed) || is_conv1d(diff, name);
}

/* Whether a matrix in the GGUF lies the other way round: one that reads the vectors of the model has as many columns as
 * they have elements, and one that writes them as many rows. False when the GGUF does not say how many these are. */
static bool is_the_other_way_round(const struct shapeproof_diff *diff, const char *name,
                                   const struct shapeproof_tensor *converted)
{
    static const char *const writes[] = {"c_proj.weight"};
    const char *architecture = sp_inventory_metadata_value(converted_file(diff), "general.architecture");
    struct sp_text key = {0};
    sp_text_printf(&key, "%s.embedding_length", architecture);
    const char *width = sp_inventory_metadata_value(converted_file(diff), key.data);
    sp_text_free(&key);
    return width && converted->shape[ENDS_WITH_ONE_OF(name, writes) ? 0 : 1] != strtoull(width, NULL, 10);
}

bool sp_diff_lacks_transposing(const struct shapeproof_diff *diff, size_t a)
{
    const struct shapeproof_tensor *in_a = sp_diff_a(diff, a), *in_b = sp_diff_b(diff, diff->a.other[a]);
    const bool from_b = sp_format_has(diff->a.inventory, SP_BY_LLAMA_CPP);
    const struct shapeproof_tensor *original = from_b ? in_b : in_a, *converted = from_b ? in_a : in_b;
    return sp_diff_is_conversion(diff) && in_a->rank == 2 && sp_tensor_same_shape(in_a, in_b) &&
           in_a->shape[0] != in_a->shape[1] && is_conv1d(diff, original->name) &&
           is_the_other_way_round(diff, original->name, converted);
}

/* RoBERTa counts its positions from the number of the padding token plus 1; GGUF leaves out the rows before. */
static bool is_cut_position_embedding(const struct shapeproof_diff *diff, const struct shapeproof_tensor *original,
                                      const struct shapeproof_tensor *converted)
{
    static const char *const names[] = {"embeddings.position_embeddings.weight"};
    const char *padding = sp_inventory_metadata_value(converted_file(diff), "tokenizer.ggml.padding_token_id");
    const uint64_t usual = 1, rows = (padding ? strtoull(padding, NULL, 10) : usual) + 1;
    return ENDS_WITH_ONE_OF(original->name, names) && original->rank == 2 && converted->rank == 2 &&
           original->shape[1] == converted->shape[1] && original->shape[0] > converted->shape[0] &&
           original->shape[0] - converted->shape[0] == rows;
}

/* Whether the converter gives a tensor this other shape. */
static bool is_reshaped(const struct shapeproof_diff *diff, const struct shapeproof_diff_finding *finding)
{
    const struct shapeproof_tensor *a = sp_diff_a(diff, finding->a), *b = sp_diff_b(diff, finding->b);
    const struct shapeproof_tensor *original = original_of(diff, finding), *converted = original == a ? b : a;
    if ((a->flags | b->flags) & SHAPEPROOF_TENSOR_NO_SHAPE) return false;
    return sp_differs_in_ones(a->shape, a->rank, b->shape, b->rank) ||
           (ENDS_WITH_ONE_OF(original->name, reshaped) && a->parameters == b->parameters) ||
           is_cut_position_embedding(diff, original, converted);
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
    case SHAPEPROOF_DIFF_FINDING_PARAMETRISED: /* about the weight alone, which is that of one side */
        return finding->a != SHAPEPROOF_NONE ? !diff->a.incomplete[finding->a] : !diff->b.incomplete[finding->b];
    case SHAPEPROOF_DIFF_FINDING_SHAPE:
        return is_reshaped(diff, finding);
    case SHAPEPROOF_DIFF_FINDING_TRANSPOSED:
        return original && is_of_in_out(diff, original->name);
    case SHAPEPROOF_DIFF_FINDING_REMOVED:
    case SHAPEPROOF_DIFF_FINDING_ADDED:
        return original ? is_left_out(diff, original->name) : ENDS_WITH_ONE_OF(finding->name, computed);
    default:
        return false;
    }
}

bool sp_diff_is_conversion(const struct shapeproof_diff *diff)
{
    return sp_format_has(diff->a.inventory, SP_BY_LLAMA_CPP) != sp_format_has(diff->b.inventory, SP_BY_LLAMA_CPP);
}

/* Whether a tensor of A has another name in B by the names of the other program, but for a prefix. */
static bool is_translated(const struct shapeproof_diff *diff, size_t a)
{
    const size_t translation = diff->translation_of[a];
    const unsigned habits = diff->a.spelling[a].habits | diff->b.spelling[diff->a.other[a]].habits;
    if (translation != SHAPEPROOF_NONE && !diff->translations.items[translation].is_prefix) return false;
    return (habits & SP_HABIT_SCHEME) || translation != SHAPEPROOF_NONE;
}

/* Whether a finding is what the names of another program bring with them. */
static bool is_by_scheme(const struct shapeproof_diff *diff, const struct shapeproof_diff_finding *finding)
{
    switch (finding->kind) {
    case SHAPEPROOF_DIFF_FINDING_RENAMED:
        return is_translated(diff, finding->a);
    case SHAPEPROOF_DIFF_FINDING_TRANSPOSED:
        return diff->a.turned[finding->a] || diff->b.turned[finding->b];
    case SHAPEPROOF_DIFF_FINDING_JOINED:
        return true;
    default:
        return false;
    }
}

/* Whether a constant may be a weight that the exporter folded or looked up: a matrix of numbers with a point. */
static bool is_like_weight(const struct shapeproof_tensor *tensor)
{
    size_t sides = 0;
    for (uint32_t i = 0; i < tensor->rank; i++) sides += tensor->shape[i] > 1;
    return sp_is_float(tensor->dtype) && sides >= 2;
}

/* Whether a tensor is in that half alone. */
static bool is_any_alone(const struct shapeproof_diff *diff, enum shapeproof_diff_finding_kind alone)
{
    for (size_t i = 0; i < diff->finding_count; i++)
        if (diff->findings[i].kind == alone) return true;
    return false;
}

/* Makes notes of the constants that the exporter to ONNX computed, in a half that it wrote: positions, masks and the
 * like. What may be a weight stays a difference, as long as the other half has a weight that is not in this one. */
static void judge_constants(struct shapeproof_diff *diff, const struct sp_diff_half *half)
{
    const bool is_a = half->side == SHAPEPROOF_DIFF_A;
    const enum shapeproof_diff_finding_kind alone =
        is_a ? SHAPEPROOF_DIFF_FINDING_REMOVED : SHAPEPROOF_DIFF_FINDING_ADDED;
    const bool lacks_weights =
        is_any_alone(diff, is_a ? SHAPEPROOF_DIFF_FINDING_ADDED : SHAPEPROOF_DIFF_FINDING_REMOVED);
    struct sp_map weights = {0}; /* tensors that nodes use as the weights of layers */
    for (size_t i = 0; i < half->inventory->uses.count; i++) {
        const struct sp_tensor_use *use = &half->inventory->uses.items[i];
        if (use->is_weight) sp_map_add(&weights, use->tensor, i);
    }
    for (size_t i = 0; i < diff->finding_count; i++) {
        struct shapeproof_diff_finding *finding = &diff->findings[i];
        if (finding->kind != alone || !sp_is_graph_constant(finding->name)) continue;
        if (sp_map_get(&weights, finding->name) != SIZE_MAX) continue;
        const size_t tensor = alone == SHAPEPROOF_DIFF_FINDING_REMOVED ? finding->a : finding->b;
        if (lacks_weights && is_like_weight(&half->inventory->tensors[tensor])) continue;
        finding->severity = SHAPEPROOF_SEVERITY_NOTE;
        finding->message = sp_arena_printf(
            &diff->arena, "is a constant that the exporter to ONNX computed, in %s alone", sp_half_name(half));
    }
    sp_map_free(&weights);
}

void sp_diff_judge_conversion(struct shapeproof_diff *diff)
{
    const bool is_a_export = sp_is_torch_export(diff->a.inventory), is_b_export = sp_is_torch_export(diff->b.inventory);
    if (is_a_export != is_b_export) judge_constants(diff, is_a_export ? &diff->a : &diff->b);
    const bool is_conversion = sp_diff_is_conversion(diff);
    if (!is_conversion && !diff->scheme) return;
    for (size_t i = 0; i < diff->finding_count; i++) {
        struct shapeproof_diff_finding *finding = &diff->findings[i];
        if (is_conversion ? is_by_converter(diff, finding) : is_by_scheme(diff, finding))
            finding->severity = SHAPEPROOF_SEVERITY_NOTE;
    }
    for (size_t i = 0; i < diff->joints.count; i++)
        if (diff->joints.items[i].is_misplaced)
            diff->findings[diff->joints.items[i].finding].severity = SHAPEPROOF_SEVERITY_ERROR;
}
