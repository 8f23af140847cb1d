/* SPDX-License-Identifier: MIT
 * mlx-lm: load_model of mlx_lm/utils.py. It knows causal language models alone, each in a file below mlx_lm/models,
 * whose sanitize drops and stacks tensors; then load_weights is strict. Weights that it quantised itself are loaded as
 * they are. The rows are what the files say: the fields without a default of ModelArgs, sanitize, and whether there is
 * an lm_head. */
#include "load/rows.h"

#define STACKED(experts, part, to) RULE(experts "\\.(\\d+)\\." part "\\.", to ".", "stack0")

#define SIZES "hidden_size num_hidden_layers intermediate_size num_attention_heads"
#define USUAL SIZES " rms_norm_eps vocab_size"
#define HEADS " num_key_value_heads head_dim"
#define ROPE "self_attn\\.rotary_emb\\.inv_freq"
#define HEAD "^lm_head\\.weight$"

#define NO_BIAS "attention_bias=false"

#define MODEL(type, ties, spared, ignored, mappings, needed, unread)                                                   \
    LOADED_IF(type, "", "", ties, spared, ignored, mappings, "", "", unread, needed)

/* clang-format off */
static const char rows[] =
    MAPPING("experts",
        STACKED("mlp\\.experts", "gate_proj", "mlp.switch_mlp.gate_proj")
        STACKED("mlp\\.experts", "up_proj", "mlp.switch_mlp.up_proj")
        STACKED("mlp\\.experts", "down_proj", "mlp.switch_mlp.down_proj"))
    MAPPING("block_sparse",
        STACKED("block_sparse_moe\\.experts", "w1", "block_sparse_moe.switch_mlp.gate_proj")
        STACKED("block_sparse_moe\\.experts", "w3", "block_sparse_moe.switch_mlp.up_proj")
        STACKED("block_sparse_moe\\.experts", "w2", "block_sparse_moe.switch_mlp.down_proj"))
    MODEL("llama", "true", "", ROPE "|" HEAD, "", USUAL, "")
    MODEL("mistral", "true", "", ROPE "|" HEAD, "", USUAL, "")
    MODEL("smollm3", "true", "", ROPE "|" HEAD, "", USUAL, "")
    MODEL("qwen2", "true", "", ROPE "|" HEAD, "", USUAL " num_key_value_heads", "")
    MODEL("glm", "true", "", ROPE "|" HEAD, "", USUAL HEADS, "")
    MODEL("qwen3", "true", "", HEAD, "", USUAL HEADS " max_position_embeddings tie_word_embeddings", NO_BIAS)
    MODEL("seed_oss", "true", "", HEAD, "", USUAL HEADS, "")
    MODEL("gemma", "always", "", "", "", USUAL HEADS, NO_BIAS)
    MODEL("gemma2", "always", "", "", "", USUAL HEADS, NO_BIAS)
    MODEL("gemma3_text", "never", HEAD, "", "", "", NO_BIAS)
    MODEL("cohere", "always", "", "", "", "", "")
    MODEL("cohere2", "always", "", "", "", "", "")
    MODEL("starcoder2", "true", "", "", "", SIZES " num_key_value_heads", "use_bias=true")
    MODEL("olmo2", "true", "", ROPE, "", USUAL, "")
    MODEL("phi3", "false", "", "", "", USUAL, "")
    MODEL("stablelm", "never", "", "", "",
          SIZES " vocab_size num_key_value_heads rope_theta use_qkv_bias partial_rotary_factor layer_norm_eps", "")
    MODEL("mixtral", "false", "", HEAD, "block_sparse", "", "")
    MODEL("qwen2_moe", "never", "", "", "experts",
          USUAL " num_experts_per_tok num_experts moe_intermediate_size shared_expert_intermediate_size",
          "qkv_bias=true")
    MODEL("qwen3_moe", "true", "", HEAD, "experts",
          USUAL HEADS
          " num_experts num_experts_per_tok decoder_sparse_step mlp_only_layers moe_intermediate_size rope_theta "
          "tie_word_embeddings max_position_embeddings norm_topk_prob",
          NO_BIAS)
    MODEL("olmoe", "true", "", "", "experts", USUAL " num_experts num_experts_per_tok", "");
/* clang-format on */

static const char *const no_file[] = {NULL};
static const char *const taken_formats[] = {"safetensors", NULL};

const struct sp_loader sp_loader_mlx = {.id = "mlx",
                                        .name = "mlx-lm",
                                        .files = no_file,
                                        .beginning = "model",
                                        .formats = taken_formats,
                                        .rows = SP_ROWS(rows),
                                        .ending = "ForCausalLM",
                                        .quantisation = "mlx",
                                        .renames = true,
                                        .spares = true,
                                        .holds_once = true,
                                        .strict = true};
