/* SPDX-License-Identifier: MIT
 * The tables of single layers, of GPT-1 and of the Transformer of the paper, against what PyTorch, Hugging Face
 * transformers and tensor2tensor make of the same hyper-parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "lang/tables_fixture.h"
#include "shapeproof/prediction.h"

/* The tensors as "name (2, 3)", one a line; with `total`, only the number of parameters. */
static void expect(const char *table, const char *const *settings, const char *listing, uint64_t total)
{
    struct shapeproof_error error = {0};
    struct sp_text text = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    for (; *settings; settings++) assert_int_equal(shapeproof_config_set(config, *settings, &error), SHAPEPROOF_OK);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = table}, &error);
    if (!prediction) fail_msg("%s: %s", table, error.message);
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (tensor->optional) continue;
        sp_text_printf(&text, "%s (", tensor->name);
        for (uint32_t k = 0; k < tensor->rank; k++)
            sp_text_printf(&text, "%s%llu", k ? ", " : "", (unsigned long long)tensor->shape[k]);
        sp_text_puts(&text, ")\n");
    }
    if (listing) assert_string_equal(text.data, listing);
    assert_int_equal(shapeproof_prediction_totals(prediction)->unique_parameters, total);
    sp_text_free(&text);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
}
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void layers(void **state)
{
    (void)state;
    expect("conv2d", SETTINGS("in_channels=3", "out_channels=64", "kernel_size=3"), "weight (64, 3, 3, 3)\nbias (64)\n",
           1792);
    expect("conv2d", SETTINGS("in_channels=4", "out_channels=6", "kernel_size=[1,3]", "groups=2", "bias=false"),
           "weight (6, 2, 1, 3)\n", 36);
    expect("linear_layer", SETTINGS("in_features=64", "out_features=10"), "weight (10, 64)\nbias (10)\n", 650);
    expect("transformer_encoder_layer", SETTINGS("d_model=8", "dim_feedforward=20"),
           "self_attn.in_proj_weight (24, 8)\nself_attn.in_proj_bias (24)\n"
           "self_attn.out_proj.weight (8, 8)\nself_attn.out_proj.bias (8)\n"
           "linear1.weight (20, 8)\nlinear1.bias (20)\nlinear2.weight (8, 20)\nlinear2.bias (8)\n"
           "norm1.weight (8)\nnorm1.bias (8)\nnorm2.weight (8)\nnorm2.bias (8)\n",
           668);
    expect("transformer_encoder_layer", SETTINGS("d_model=512"), NULL, 3152384);
    expect("transformer_decoder_layer", SETTINGS("d_model=512"), NULL, 4204032);
}

static void gpt1(void **state)
{
    (void)state;
    const char *const *small = SETTINGS("n_layer=1", "n_embd=8", "vocab_size=11", "n_positions=6");
    expect("gpt1", small,
           "transformer.tokens_embed.weight (11, 8)\ntransformer.positions_embed.weight (6, 8)\n"
           "transformer.h.0.attn.c_attn.weight (8, 24)\ntransformer.h.0.attn.c_attn.bias (24)\n"
           "transformer.h.0.attn.c_proj.weight (8, 8)\ntransformer.h.0.attn.c_proj.bias (8)\n"
           "transformer.h.0.ln_1.weight (8)\ntransformer.h.0.ln_1.bias (8)\n"
           "transformer.h.0.mlp.c_fc.weight (8, 32)\ntransformer.h.0.mlp.c_fc.bias (32)\n"
           "transformer.h.0.mlp.c_proj.weight (32, 8)\ntransformer.h.0.mlp.c_proj.bias (8)\n"
           "transformer.h.0.ln_2.weight (8)\ntransformer.h.0.ln_2.bias (8)\nlm_head.weight (11, 8)\n",
           1008);
    expect("gpt1", SETTINGS("n_layer=12"), NULL, 116534784);
    expect("gpt1", SETTINGS("n_layer=12", "architectures=[\"OpenAIGPTModel\"]"), NULL, 116534784);
    expect("gpt1", SETTINGS("n_layer=12", "architectures=[\"OpenAIGPTDoubleHeadsModel\"]"), NULL, 116534784 + 769);
}

static void attention_is_all_you_need(void **state)
{
    (void)state;
    const char *const table = "attention_is_all_you_need";
    expect(table, SETTINGS("vocab_size=37000"), NULL, 63045632);
    expect(table, SETTINGS("vocab_size=37000", "symbol_modality_num_shards=16"), NULL, 63045632);
    expect(table, SETTINGS("vocab_size=37000", "layer_preprocess_sequence=n"), NULL, 63045632 + 2048);
    expect(
        table,
        SETTINGS("vocab_size=7", "hidden_size=4", "num_hidden_layers=0", "symbol_modality_num_shards=3", "num_heads=2"),
        "transformer/symbol_modality_7_4/shared/weights_0 (3, 4)\n"
        "transformer/symbol_modality_7_4/shared/weights_1 (2, 4)\n"
        "transformer/symbol_modality_7_4/shared/weights_2 (2, 4)\n",
        28);
    expect(table, SETTINGS("vocab_size=37000", "num_heads=8", "d_k=16", "d_v=64"), NULL,
           63045632 - 18 * 2 * 512 * 8 * 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers), cmocka_unit_test(gpt1),
                                       cmocka_unit_test(attention_is_all_you_need)};
    return cmocka_run_group_tests(tests, open_tables, close_tables);
}
