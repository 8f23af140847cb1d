/* SPDX-License-Identifier: MIT
 * A small table of the models that the fixtures of adapters and trainings are of, for targets without built-in tables
 * (small_table.h): the configuration chooses it. */
#ifndef TESTS_FUZZ_SMALL_DECODER_H
#define TESTS_FUZZ_SMALL_DECODER_H

#include "small_table.h"

static inline void add_small_decoder(struct shapeproof_tables *tables)
{
    static const char text[] = "table small_llama\n"
                               "model_type \"llama\"\n"
                               "measures active, cache, shard\n"
                               "pipeline i of N\n"
                               "\n"
                               "V      = vocab_size default 20\n"
                               "E      = hidden_size default 8\n"
                               "N      = num_hidden_layers default 3\n"
                               "A      = num_attention_heads default 2\n"
                               "K      = num_key_value_heads default A\n"
                               "D      = head_dim default E // A\n"
                               "H      = intermediate_size default 12\n"
                               "window = sliding_window default 0\n"
                               "kept   = window > 0 ? min(tokens, window) : tokens\n"
                               "class  = architectures[0] default \"LlamaForCausalLM\"\n"
                               "tied   = tie_word_embeddings default false\n"
                               "cross  = add_cross_attention default false\n"
                               "\n"
                               "[embedding]\n"
                               "model.embed_tokens.weight   (V by tp, E)   lookup\n"
                               "\n"
                               "[attention] for i in 0..N-1\n"
                               "model.layers.{i}.self_attn.q_proj.weight   (A*D by tp of A, E)\n"
                               "model.layers.{i}.self_attn.k_proj.weight   (K*D by tp of K replicated, E)\n"
                               "model.layers.{i}.self_attn.v_proj.weight   (K*D by tp of K replicated, E)\n"
                               "model.layers.{i}.self_attn.o_proj.weight   (E, A*D by tp of A)\n"
                               "model.layers.{i}.input_layernorm.weight   (E)\n"
                               "\n"
                               "[feed-forward] for i in 0..N-1\n"
                               "model.layers.{i}.mlp.gate_proj.weight   (H by tp of H, E)\n"
                               "model.layers.{i}.mlp.up_proj.weight   (H by tp of H, E)\n"
                               "model.layers.{i}.mlp.down_proj.weight   (E, H by tp of H)\n"
                               "model.layers.{i}.post_attention_layernorm.weight   (E)\n"
                               "\n"
                               "[head]\n"
                               "model.norm.weight   (E)\n"
                               "lm_head.weight   (V by tp, E)   same as model.embed_tokens.weight when tied\n"
                               "\n"
                               "[cache] for i in 0..N-1\n"
                               "keys.{i}   (batch, kept, K*D by tp of K replicated)   state\n"
                               "values.{i}   (batch, kept, K*D by tp of K replicated)   state\n"
                               "\n"
                               "[cross cache] for i in 0..N-1 if cross\n"
                               "read.{i}   (batch, source_tokens, E by tp of A)   state\n";
    struct shapeproof_error error = {0};
    fuzz_must(shapeproof_tables_add_text(tables, "small_llama.shapes", text, strlen(text), &error) == SHAPEPROOF_OK);
}

#endif
