/* SPDX-License-Identifier: MIT
 * The law of src/prove for every table that is built in. */
#define _POSIX_C_SOURCE 200809L

#include "prove/law.h"

#include "lang/harness.h"

enum { TRIES = 25 };

static bool has_needs(const struct sp_unit *unit)
{
    for (size_t i = 0; i < unit->param_count; i++)
        if (!unit->params[i].fallback) return true;
    return false;
}

/* Points of the table under settings, "" or several with blanks between them. */
static struct tries try_table(const struct sp_tables *tables, const struct sp_unit *table, const char *settings,
                              uint64_t *seed)
{
    struct sp_count count;
    struct tries tries = {0};
    struct sp_arena arena = {0};
    struct sp_config *fixed = sp_config_new();
    apply_settings(fixed, settings);
    if (!sp_count_table(&count, tables, table, *settings ? sp_config_hyper(fixed) : NULL, false)) {
        print_message("%s\n", count.messages.data);
        tries.differences++;
    }
    for (int i = 0; i < TRIES && !tries.differences; i++) {
        struct sp_config *config = random_point(&count, fixed, &arena, seed, false);
        try_point(tables, &count, config, &tries);
        sp_config_free(config);
    }
    if (!tries.points) print_message("%s %s: nothing was tried: %s\n", table->name, settings, tries.why.message);
    sp_count_free(&count);
    sp_config_free(fixed);
    sp_arena_free(&arena);
    return tries;
}

/* Those need settings that no number can be. */
static bool needs_settings(const char *table)
{
    static const char *const tables[] = {"gemma4",    "sockeye_mixed",  "vision_encoder_decoder",
                                         "sockeye_3", "grounding_dino", "yolos"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!strcmp(table, tables[i])) return true;
    return false;
}

static void every_table_counts_what_it_expands_to(void **state)
{
    const struct sp_tables *tables = *state;
    uint64_t seed = 1;
    size_t differences = 0, points = 0;
    for (size_t i = 0; i < sp_tables_count(tables); i++) {
        const struct sp_unit *table = sp_tables_unit(tables, sp_tables_info(tables, i).name);
        if (has_needs(table) || needs_settings(table->name)) continue;
        const struct tries tries = try_table(tables, table, "", &seed);
        differences += tries.differences + !tries.points;
        points += tries.points;
    }
    print_message("%zu points of %zu tables\n", points, sp_tables_count(tables));
    assert_int_equal(differences, 0);
}

/* Texts, lists, null and objects, which random points do not have. */
static void tables_count_under_settings(void **state)
{
    static const struct {
        const char *table, *settings;
    } cases[] = {
        {"gemma4", "text_config.hidden_size_per_layer_input=0"},
        {"vision_encoder_decoder", "encoder.model_type=vit decoder.model_type=gpt2"},
        {"vision_encoder_decoder", "encoder.model_type=deit decoder.model_type=trocr"},
        {"vision_encoder_decoder", "encoder.model_type=donut-swin decoder.model_type=mbart encoder.depths=[2,3]"},
        {"sockeye_mixed", "encoder=rnn decoder=transformer"},
        {"sockeye_mixed", "encoder=transformer decoder=cnn transformer_preprocess=n transformer_postprocess=drn"},
        {"sockeye_mixed", "encoder=cnn decoder=rnn rnn_cell_type=gru version=1.10.2"},
        {"sockeye_rnn", "rnn_cell_type=gru lhuc=[\"encoder\"] num_layers=[3,5]"},
        {"sockeye_rnn", "source_factors_vocab_sizes=[10,20] source_factors_num_embed=[4,8]"},
        {"sockeye_transformer", "transformer_positional_embedding_type=learned weight_tying_type=src_trg_softmax"},
        {"sockeye_transformer", "source_factors_combine=sum transformer_preprocess=[\"rn\",\"\"]"},
        {"deepseek_v3", "q_lora_rank=null"},
        {"deepseek_v2", "first_k_dense_replace=0 q_lora_rank=null"},
        {"deepseek_v3", "num_hidden_layers=90"},
        {"llama", "num_key_value_heads=null"},
        {"gemma3_text", "num_hidden_layers=70"},
        {"gemma4_language", "num_hidden_layers=6 layer_types=[\"full_attention\",1,\"full_attention\",2,3,4]"},
        {"sockeye_3", "num_embed=8 transformer_model_size=8"},
        {"swin", "depths=[1,2,3] num_heads=[1,2,4]"},
        {"swin", "mlp_ratio=2.5 architectures=[\"SwinForImageClassification\"] id2label={\"0\":1,\"1\":2,\"2\":3}"},
        {"dinov2", "mlp_ratio=2.6667"},
        {"jamba", "attn_layer_offset=1 attn_layer_period=3 num_hidden_layers=100"},
        {"bert", "architectures=[\"BertModel\"] position_embedding_type=relative_key_query"},
        {"wav2vec2", "conv_dim=[8,8] conv_kernel=[3,3] conv_stride=[2,2] feat_extract_norm=layer"},
        {"t5", "feed_forward_proj=gated-gelu architectures=[\"T5EncoderModel\"]"},
        {"resnet", "depths=[1,1] hidden_sizes=[8,16] layer_type=basic"},
        {"falcon", "new_decoder_architecture=true"},
        {"yolos", "image_size=[96,64]"},
        {"yolos", "image_size=[100,60] architectures=[\"YolosForObjectDetection\"]"},
        {"grounding_dino", "backbone_config.out_indices=[2,3,4]"},
        {"grounding_dino", "backbone_config.out_indices=[4] architectures=[\"GroundingDinoForObjectDetection\"]"},
        {"mllama", "text_config.cross_attention_layers=[1,3] text_config.num_hidden_layers=5"},
        {"lfm2", "layer_types=[\"conv\",\"full_attention\",\"conv\"] num_hidden_layers=3"},
        {"lfm2", "full_attn_idxs=[0,2] block_ffn_dim_multiplier=1.3"},
        {"bamba", "attn_layer_indices=[1,2]"},
        {"blip", "architectures=[\"BlipForQuestionAnswering\"]"},
        {"longt5", "encoder_attention_type=transient-global"},
        {"switch_transformers", "num_sparse_encoder_layers=2 num_layers=7"},
        {"mobilenet_v2", "depth_multiplier=0.35 architectures=[\"MobileNetV2ForSemanticSegmentation\"]"},
        {"seamless_m4t_v2", "position_embeddings_type=null architectures=[\"SeamlessM4Tv2ForSpeechToText\"]"},
    };
    uint64_t seed = 2;
    size_t differences = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_unit *table = sp_tables_unit(*state, cases[i].table);
        assert_non_null(table);
        const struct tries tries = try_table(*state, table, cases[i].settings, &seed);
        differences += tries.differences + !tries.points;
    }
    assert_int_equal(differences, 0);
}

static int open_tables(void **state)
{
    struct sp_error error = {0};
    *state = sp_tables_new(&error);
    return *state ? 0 : 1;
}

static int close_tables(void **state)
{
    sp_tables_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_table_counts_what_it_expands_to),
                                       cmocka_unit_test(tables_count_under_settings)};
    return cmocka_run_group_tests(tests, open_tables, close_tables);
}
