/* SPDX-License-Identifier: MIT
 * Checkpoints that differ as a whole: of another program, quantised, of another size, of another model. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diff/lines.h"

/* ---- Keras and PyTorch ---- */

#define KERAS                                                                                                          \
    "format keras-weights\n"                                                                                           \
    "layers/batch_normalization/vars/0 F32 5\nlayers/batch_normalization/vars/1 F32 5\n"                               \
    "layers/batch_normalization/vars/2 F32 5\nlayers/batch_normalization/vars/3 F32 5\n"                               \
    "layers/conv2d/vars/0 F32 3x3x3x5\nlayers/conv2d/vars/1 F32 5\n"                                                   \
    "layers/dense/vars/0 F32 180x7\nlayers/dense/vars/1 F32 7"
#define TORCH                                                                                                          \
    "stem.weight F32 5x3x3x3\nstem.bias F32 5\nbn.weight F32 5\nbn.bias F32 5\nbn.running_mean F32 5\n"                \
    "bn.running_var F32 5\nfc.weight F32 7x180\nfc.bias F32 7"

static void layers_by_their_structure(void **state)
{
    (void)state;
    expect(KERAS, TORCH,
           "differs: in names alone: 8 tensors renamed\n"
           "layers.batch_normalization.* -> bn.* (4)\n*/* -> *.* (8)\n*vars/0 -> *weight (1)\n*vars/1 -> *bias (3)\n"
           "*vars/2 -> *running_mean (1)\n*vars/3 -> *running_var (1)\nlayers.conv2d.* -> stem.* (2)\n"
           "*vars/0 -> *weight, transposed (2)\nlayers.dense.* -> fc.* (2)");
}

/* Of two that look alike the order tells, where each has a counterpart. */
static void layers_in_their_order(void **state)
{
    (void)state;
    expect("format keras-weights\nlayers/dense/vars/0 F32 8x8\nlayers/dense/vars/1 F32 8\n"
           "layers/dense_1/vars/0 F32 8x8\nlayers/dense_1/vars/1 F32 8\n"
           "layers/dense_10/vars/0 F32 8x4\nlayers/dense_10/vars/1 F32 4",
           "format torch-zip\ninto.weight F32 8x8\ninto.bias F32 8\nback.weight F32 8x8\nback.bias F32 8\n"
           "end.weight F32 4x8\nend.bias F32 4",
           "differs: in names alone: 6 tensors renamed\nlayers.dense.* -> into.* (2)\n*/* -> *.* (6)\n"
           "*vars/0 -> *weight, transposed (3)\n*vars/1 -> *bias (3)\nlayers.dense_1.* -> back.* (2)\n"
           "layers.dense_10.* -> end.* (2)");
}

/* Where one of them is not there nobody knows which. */
static void layers_that_could_be_either(void **state)
{
    (void)state;
    expect("format keras-weights\nlayers/dense/vars/0 F32 8x8\nlayers/dense_1/vars/0 F32 8x8",
           "format torch-zip\ninto.weight F32 8x8\nend.weight F32 4x9\nodd.weight F32 3x9",
           "differs: 2 tensors removed (layers/dense/vars/0, layers/dense_1/vars/0), 3 added ({into,end,odd}.weight)");
}

static void layer_renamed_in_keras(void **state)
{
    (void)state;
    expect("format keras-hdf5\nm/emb/seq_5/emb/embeddings F32 30x12\nm/dense/seq_5/dense/kernel F32 16x5\n"
           "m/dense/seq_5/dense/bias F32 5",
           "format keras-hdf5\nm/emb/seq_6/emb/embeddings F32 30x12\nm/head/seq_6/head/kernel F32 16x5\n"
           "m/head/seq_6/head/bias F32 5",
           "differs: in names alone: 3 tensors renamed\n*.seq_5.* -> *.seq_6.* (1)\n"
           "m.dense.seq_5.dense.* -> m.head.seq_6.head.* (2)");
}

/* ---- names of other programs ---- */

static void names_of_meta(void **state)
{
    (void)state;
    expect("model.embed_tokens.weight F32 9x4\nmodel.layers.0.self_attn.q_proj.weight F32 4x4\n"
           "model.layers.0.self_attn.o_proj.weight F32 4x4\nmodel.layers.0.mlp.gate_proj.weight F32 8x4\n"
           "model.layers.0.mlp.up_proj.weight F32 8x4\nmodel.norm.weight F32 4\nlm_head.weight F32 9x4",
           "tok_embeddings.weight F32 9x4\nlayers.0.attention.wq.weight F32 4x4\nlayers.0.attention.wo.weight F32 4x4\n"
           "layers.0.feed_forward.w1.weight F32 8x4\nlayers.0.feed_forward.w3.weight F32 8x4\nnorm.weight F32 4\n"
           "output.weight F32 9x4",
           "same: all 7 tensors, 172 elements; the names of Meta's own Llama: 7 tensors differ in names alone\n"
           "names of transformers -> names of Meta's own Llama (6)\n"
           "model.* -> * (6)");
}

/* ---- quantised ---- */

#define FULL(I)                                                                                                        \
    "model.layers." #I ".norm.weight F32 256\nmodel.layers." #I ".up_proj.weight F32 512x256\n"                        \
    "model.layers." #I ".down_proj.weight F32 256x512\n"
#define GPTQ(I)                                                                                                        \
    "model.layers." #I ".norm.weight F32 256\nmodel.layers." #I ".up_proj.qweight I32 32x512\n"                        \
    "model.layers." #I ".up_proj.qzeros I32 2x64\nmodel.layers." #I ".up_proj.scales F16 2x512\n"                      \
    "model.layers." #I ".up_proj.g_idx I32 256\nmodel.layers." #I ".down_proj.qweight I32 64x256\n"                    \
    "model.layers." #I ".down_proj.qzeros I32 4x32\nmodel.layers." #I ".down_proj.scales F16 4x256\n"                  \
    "model.layers." #I ".down_proj.g_idx I32 512\n"
#define FP8(I)                                                                                                         \
    "model.layers." #I ".norm.weight F32 256\nmodel.layers." #I ".up_proj.weight F8_E4M3 512x256\n"                    \
    "model.layers." #I ".up_proj.weight_scale_inv F32 4x2\nmodel.layers." #I ".down_proj.weight F8_E4M3 256x512\n"     \
    "model.layers." #I ".down_proj.weight_scale_inv F32 2x4\n"

static void quantised_in_one(void **state)
{
    (void)state;
    expect(FULL(0) FULL(1), GPTQ(0) GPTQ(1), "differs: 4 weights quantised in B: gptq, 4 bits, groups of 128");
    expect(GPTQ(0) GPTQ(1), FULL(0) FULL(1), "differs: 4 weights quantised in A: gptq, 4 bits, groups of 128");
    expect(FULL(0) FULL(1), FP8(0) FP8(1), "differs: 4 weights quantised in B: fp8, blocks of 128 x 128");
    expect(GPTQ(0) GPTQ(1), GPTQ(0) GPTQ(1), "same: all 18 tensors, 72,192 elements");
}

static void quantised_in_both(void **state)
{
    (void)state;
    expect(GPTQ(0) GPTQ(1), FP8(0) FP8(1),
           "differs: 4 weights quantised differently: gptq, 4 bits, groups of 128 in A, fp8, blocks of 128 x 128 in "
           "B");
}

/* A matrix of another size is not the one that was quantised. */
static void quantised_of_another_model(void **state)
{
    (void)state;
    struct both both = compare("a.norm.weight F32 256\na.up_proj.weight F32 640x256\n",
                               "a.norm.weight F32 256\na.up_proj.qweight I32 32x512\na.up_proj.qzeros I32 2x64\n"
                               "a.up_proj.scales F16 2x512\n");
    assert_string_equal(shapeproof_diff_summary(both.diff),
                        "1 tensor removed (a.up_proj.weight), 3 added (a.up_proj.{qweight,qzeros,scales})");
    done(&both);
}

/* ---- sizes ---- */

#define LAYER(I, H, F)                                                                                                 \
    "h." #I ".norm.weight F32 " #H "\nh." #I ".up.weight F32 " #F "x" #H "\nh." #I ".down.weight F32 " #H "x" #F "\n"

static void sizes(void **state)
{
    (void)state;
    expect(LAYER(0, 8, 32) LAYER(1, 8, 32), LAYER(0, 16, 64) LAYER(1, 16, 64) LAYER(2, 16, 64),
           "differs: 3 tensors added (h.2.{norm,up,down}.weight), 6 of another shape (h.{0,1}.{norm,up,down}.weight); "
           "2 layers against 3, hidden 8 against 16, 32 against 64");
    expect(LAYER(0, 8, 32) LAYER(1, 8, 32), LAYER(0, 8, 32) LAYER(1, 8, 32) LAYER(2, 8, 32),
           "differs: 3 tensors added: h.2.{norm,up,down}.weight; 2 layers against 3");
}

/* Four tensors of other shapes make another model; fewer are no more than themselves. */
static void few_other_sizes(void **state)
{
    (void)state;
    expect("a F32 8\nb F32 8\nc F32 8\nd F32 8x5", "a F32 9\nb F32 9\nc F32 9\nd F32 8x5",
           "differs: 3 tensors of another shape: (8) in A, (9) in B");
    expect("a F32 8\nb F32 8\nc F32 8\nd F32 8x5", "a F32 9\nb F32 9\nc F32 9\nd F32 9x5",
           "differs: 4 tensors of another shape: a, b, c and 1 more; 8 against 9");
}

static void nothing_in_common(void **state)
{
    (void)state;
    expect("h.0.norm.weight F32 8\nh.0.up.weight F32 8x3\nhead.weight F32 9x8",
           "encoder.0.a F32 7\nencoder.0.b F32 7x9\nencoder.0.c F32 7x5\nencoder.0.d F32 1x7",
           "differs: nothing in common: 3 tensors in A alone, 4 in B alone");
}

/* ---- fused ---- */

static void fused(void **state)
{
    (void)state;
    expect("l.0.attn.q_proj.weight F32 8x8\nl.0.attn.k_proj.weight F32 4x8\nl.0.attn.v_proj.weight F32 4x8\nn F32 8",
           "l.0.attn.qkv_proj.weight F32 16x8\nn F32 8",
           "differs: l.0.attn.qkv_proj.weight is one in B and 3 in A: attn.qkv_proj = q_proj + k_proj + v_proj "
           "(order not known from shapes)");
    expect("l.0.attn.qkv_proj.weight F32 16x8\nn F32 8",
           "l.0.attn.q_proj.weight F32 8x8\nl.0.attn.k_proj.weight F32 4x8\nl.0.attn.v_proj.weight F32 4x8\nn F32 9",
           "differs: 1 tensor of another shape (n), 1 tensor split in B: attn.qkv_proj = q_proj + k_proj + v_proj "
           "(order not known from shapes)");
}

/* ---- conversions to GGUF ---- */

#define ORIGINAL                                                                                                       \
    "model.embed_tokens.weight BF16 8x4\nmodel.layers.0.input_layernorm.weight BF16 4\n"                               \
    "model.layers.0.self_attn.q_proj.weight BF16 4x4\nmodel.layers.0.self_attn.k_proj.weight BF16 4x4\n"               \
    "model.layers.0.mlp.down_proj.weight BF16 4x6\n"

static void right_conversion_is_the_same(void **state)
{
    (void)state;
    expect(
        ORIGINAL "model.layers.0.self_attn.rotary_emb.inv_freq F32 2",
        "format gguf\ntoken_embd.weight BF16 8x4\nblk.0.attn_norm.weight F32 4\nblk.0.attn_q.weight BF16 4x4\n"
        "blk.0.attn_k.weight BF16 4x4\nblk.0.ffn_down.weight BF16 4x6\nrope_freqs.weight F32 2",
        "same: all 5 tensors, 92 elements; the conversion to GGUF: 5 tensors renamed, 1 only in A, 1 only in B, 1 of "
        "another dtype\nnames of transformers -> names of llama.cpp (5)\nmodel.* -> * (5)");
}

/* A tensor that the converter does not leave out, and shapes that it does not make. */
static void wrong_conversion_differs(void **state)
{
    (void)state;
    expect(ORIGINAL "lm_head.weight BF16 8x4",
           "format gguf\ntoken_embd.weight BF16 8x4\nblk.0.attn_norm.weight F32 4\nblk.0.attn_q.weight BF16 4x4\n"
           "blk.0.attn_k.weight BF16 4x3\nblk.0.ffn_down.weight BF16 6x4",
           "differs: 1 tensor removed (lm_head.weight), 1 of another shape (model.layers.0.self_attn.k_proj.weight), 1 "
           "transposed (model.layers.0.mlp.down_proj.weight)\nnames of transformers -> names of llama.cpp (5)\n"
           "model.* -> * (5)");
}

/* Tensors that one row of findings says are named, however many they are. */
static void many_of_one_row(void **state)
{
    (void)state;
    expect(ORIGINAL "model.layers.0.block_sparse_moe.experts.0.w1.weight BF16 6x4\n"
                    "model.layers.0.block_sparse_moe.experts.1.w1.weight BF16 6x4\n"
                    "model.layers.0.block_sparse_moe.experts.2.w1.weight BF16 6x4\n"
                    "model.layers.0.block_sparse_moe.experts.3.w1.weight BF16 6x4",
           "format gguf\ntoken_embd.weight BF16 8x4\nblk.0.attn_norm.weight F32 4\nblk.0.attn_q.weight BF16 4x4\n"
           "blk.0.attn_k.weight BF16 4x4\nblk.0.ffn_down.weight BF16 4x6\nblk.0.ffn_gate_exps.wieght BF16 4x6x4",
           "differs: 4 tensors removed (model.layers.0.block_sparse_moe.experts.{0-3}.w1.weight), 1 added "
           "(blk.0.ffn_gate_exps.wieght)\nnames of transformers -> names of llama.cpp (5)\nmodel.* -> * (5)");
}

/* GPT-2 has its matrices as (in, out), StarCoder has the same names for the other order. */
static void transposed_of_linear_layers(void **state)
{
    (void)state;
    expect("transformer.wte.weight BF16 8x4\ntransformer.h.0.ln_1.weight F32 4\n"
           "transformer.h.0.attn.c_attn.weight BF16 12x4\ntransformer.h.0.mlp.c_fc.weight BF16 6x4\n"
           "transformer.h.0.mlp.c_proj.weight BF16 4x6",
           "format gguf\ntoken_embd.weight BF16 8x4\nblk.0.attn_norm.weight F32 4\nblk.0.attn_qkv.weight BF16 12x4\n"
           "blk.0.ffn_up.weight BF16 4x6\nblk.0.ffn_down.weight BF16 4x6",
           "differs: transformer.h.0.mlp.c_fc.weight (6, 4) in A, transposed (4, 6) in B\n"
           "names of transformers -> names of llama.cpp (5)\ntransformer.* -> * (5)");
}

/* One of its matrices that the converter forgot to transpose. */
static void not_transposed(void **state)
{
    (void)state;
    expect("transformer.wte.weight BF16 8x4\ntransformer.h.0.ln_1.weight F32 4\n"
           "transformer.h.0.attn.c_proj.weight BF16 4x4\ntransformer.h.0.mlp.c_fc.weight BF16 4x6\n"
           "transformer.h.0.mlp.c_proj.weight BF16 6x4",
           "format gguf\nmetadata general.architecture gpt2\nmetadata gpt2.embedding_length 4\n"
           "token_embd.weight BF16 8x4\nblk.0.attn_norm.weight F32 4\nblk.0.attn_output.weight BF16 4x4\n"
           "blk.0.ffn_up.weight BF16 6x4\nblk.0.ffn_down.weight BF16 6x4",
           "differs: transformer.h.0.mlp.c_proj.weight (6, 4) in A and in B, and the conversion to GGUF transposes it\n"
           "names of transformers -> names of llama.cpp (5)\ntransformer.* -> * (5)");
}

/* nanoGPT has the same names, but no Conv1D: its matrices lie as in the GGUF. */
static void not_to_transpose(void **state)
{
    (void)state;
    expect("transformer.wte.weight BF16 8x4\ntransformer.h.0.ln_1.weight F32 4\n"
           "transformer.h.0.attn.c_proj.weight BF16 4x4\ntransformer.h.0.mlp.c_fc.weight BF16 6x4\n"
           "transformer.h.0.mlp.c_proj.weight BF16 4x6",
           "format gguf\nmetadata general.architecture gpt2\nmetadata gpt2.embedding_length 4\n"
           "token_embd.weight BF16 8x4\nblk.0.attn_norm.weight F32 4\nblk.0.attn_output.weight BF16 4x4\n"
           "blk.0.ffn_up.weight BF16 6x4\nblk.0.ffn_down.weight BF16 4x6",
           "same: all 5 tensors, 100 elements; the conversion to GGUF: 5 tensors differ in names alone\n"
           "names of transformers -> names of llama.cpp (5)\ntransformer.* -> * (5)");
}

/* The layers of HRM's two lists are numbered as one, and their fused matrices are split. Without a part the whole is
 * named. */
#define HRM_LAYER(list)                                                                                                \
    "model." list "_module.layers.0.attn.gqkv_proj.weight BF16 16x4\n"                                                 \
    "model." list "_module.layers.0.attn.o_proj.weight BF16 4x4\n"                                                     \
    "model." list "_module.layers.0.mlp.gate_up_proj.weight BF16 12x4\n"                                               \
    "model." list "_module.layers.0.mlp.down_proj.weight BF16 4x6\n"
#define HRM_BLOCK(number)                                                                                              \
    "blk." number ".attn_gate.weight BF16 4x4\nblk." number ".attn_q.weight BF16 4x4\n"                                \
    "blk." number ".attn_k.weight BF16 4x4\nblk." number ".attn_output.weight BF16 4x4\n"                              \
    "blk." number ".ffn_gate.weight BF16 6x4\nblk." number ".ffn_up.weight BF16 6x4\n"                                 \
    "blk." number ".ffn_down.weight BF16 4x6\n"
#define HRM "model.embed_tokens.weight BF16 8x4\nmodel.z_L_init BF16 4\n" HRM_LAYER("L") HRM_LAYER("H")

static void layers_of_two_lists(void **state)
{
    (void)state;
    expect(HRM,
           "format gguf\ntoken_embd.weight BF16 8x4\nhrm.z_l_init F32 4\n" HRM_BLOCK("0")
               HRM_BLOCK("1") "blk.0.attn_v.weight BF16 4x4\nblk.1.attn_v.weight BF16 4x4",
           "same: all 10 tensors, 340 elements; the conversion to GGUF: 6 tensors renamed, 4 fused or split, 1 of "
           "another dtype\nnames of transformers -> names of llama.cpp (6)\nmodel.* -> * (6)");
    expect(HRM,
           "format gguf\ntoken_embd.weight BF16 8x4\nhrm.z_l_init F32 4\n" HRM_BLOCK("0")
               HRM_BLOCK("1") "blk.0.attn_v.weight BF16 4x4",
           "differs: 1 tensor removed (model.H_module.layers.0.attn.gqkv_proj.weight), 3 added "
           "(blk.1.{attn_gate,attn_q,attn_k}.weight)\nnames of transformers -> names of llama.cpp (6)\n"
           "model.* -> * (6)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_by_their_structure),
        cmocka_unit_test(layers_in_their_order),
        cmocka_unit_test(layers_that_could_be_either),
        cmocka_unit_test(layer_renamed_in_keras),
        cmocka_unit_test(names_of_meta),
        cmocka_unit_test(quantised_in_one),
        cmocka_unit_test(quantised_in_both),
        cmocka_unit_test(quantised_of_another_model),
        cmocka_unit_test(sizes),
        cmocka_unit_test(few_other_sizes),
        cmocka_unit_test(nothing_in_common),
        cmocka_unit_test(fused),
        cmocka_unit_test(right_conversion_is_the_same),
        cmocka_unit_test(wrong_conversion_differs),
        cmocka_unit_test(many_of_one_row),
        cmocka_unit_test(transposed_of_linear_layers),
        cmocka_unit_test(not_transposed),
        cmocka_unit_test(not_to_transpose),
        cmocka_unit_test(layers_of_two_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
