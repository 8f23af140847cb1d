/* SPDX-License-Identifier: MIT
 * Answers of loaders: which file of a folder, what would help, what is not known. test_record has the numbers. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/model.h"
#include "formats.h"
#include "shapeproof/load.h"

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_embd\": 4, "
                           "\"n_layer\": 2, \"n_head\": 2, \"n_positions\": 8, \"vocab_size\": 16, "
                           "\"tie_word_embeddings\": true}";
static const char mixtral[] =
    "{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], \"hidden_size\": 4, "
    "\"intermediate_size\": 6, \"num_hidden_layers\": 2, \"num_local_experts\": 3, \"num_attention_heads\": 2, "
    "\"num_key_value_heads\": 2, \"vocab_size\": 16, \"tie_word_embeddings\": false}";

static const char llama[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 64, "
    "\"intermediate_size\": 96, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"rms_norm_eps\": 1e-6, "
    "\"vocab_size\": 32, \"tie_word_embeddings\": false}";

static const char bert[] =
    "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], \"hidden_size\": 8, \"intermediate_size\": "
    "12, "
    "\"max_position_embeddings\": 8, \"num_attention_heads\": 2, \"num_hidden_layers\": 1, \"vocab_size\": 16, "
    "\"tie_word_embeddings\": false}";

static const char vae[] = "{\"_class_name\": \"AutoencoderKL\", \"block_out_channels\": [4, 4], \"norm_num_groups\": "
                          "2, \"layers_per_block\": 1, "
                          "\"down_block_types\": [\"DownEncoderBlock2D\", \"DownEncoderBlock2D\"], "
                          "\"up_block_types\": [\"UpDecoderBlock2D\", \"UpDecoderBlock2D\"], \"latent_channels\": 2}";

struct asked {
    struct model model;
    struct shapeproof_loadings *loadings;
    const struct shapeproof_loading *loading; /* the first */
};

/* A model as it is predicted. */
static void begin(struct asked *asked, const char *config)
{
    *asked = (struct asked){0};
    model_open(&asked->model, config);
    model_predict(&asked->model, 0);
}

static void ask_of_path(struct asked *asked, const char *path, const char *loaders)
{
    struct shapeproof_error error = {0};
    shapeproof_loadings_free(asked->loadings);
    model_check_path(&asked->model, path);
    asked->loadings = shapeproof_loadings_new(asked->model.check, loaders, &error);
    assert_non_null(asked->loadings);
    asked->loading = shapeproof_loading_count(asked->loadings) ? shapeproof_loading(asked->loadings, 0) : NULL;
}

/* The folder, with what is written so far. */
static void ask_of_folder(struct asked *asked, const char *loaders)
{
    ask_of_path(asked, asked->model.scratch.path, loaders);
}

/* The model, written as model.safetensors. */
static void ask(struct asked *asked, const char *loaders)
{
    model_write(&asked->model, "model.safetensors");
    ask_of_folder(asked, loaders);
}

static void end(struct asked *asked)
{
    shapeproof_loadings_free(asked->loadings);
    model_close(&asked->model);
}

/* The first line of the report with what the loaders say. */
static void assert_first_line(const struct asked *asked, const char *expected)
{
    const struct shapeproof_report_options options = {.loadings = asked->loadings};
    char *report = shapeproof_report_check(asked->model.check, &options, NULL);
    report[strcspn(report, "\n")] = '\0';
    assert_string_equal(report, expected);
    assert_true(strlen(report) < 160);
    shapeproof_free(report);
}

static void assert_says(const struct asked *asked, enum shapeproof_loading_answer answer, const char *message)
{
    assert_string_equal(asked->loading->message, message);
    assert_int_equal(asked->loading->answer, answer);
}

static void takes_a_model_whole(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    assert_int_equal(asked.loading->expected, 29);
    ask(&asked, "torch");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED, "torch's strict loading refuses it: 1 missing (lm_head.weight)");
    end(&asked);
}

/* Transformers 4 ties the bias of BERT's head to another one always, 5 by the flag: what one wrote lacks a tensor for
 * the other. */
static void ties_as_its_release(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, bert);
    ask(&asked, "transformers,transformers-4");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    model_drop(&asked.model, "cls.predictions.decoder.bias");
    ask(&asked, "transformers,transformers-4");
    assert_int_equal(asked.loading->fresh, 1);
    assert_int_equal(shapeproof_loading(asked.loadings, 1)->answer, SHAPEPROOF_LOADING_WHOLE);
    assert_int_equal(shapeproof_check_verdict(asked.model.check), SHAPEPROOF_VERDICT_DIFFERS);
    model_set(&asked.model, "transformers_version=\"4.57.6\"");
    ask(&asked, "transformers,transformers-4");
    assert_int_equal(asked.loading->fresh, 1);
    assert_int_equal(shapeproof_loading(asked.loadings, 1)->answer, SHAPEPROOF_LOADING_WHOLE);
    assert_int_equal(shapeproof_check_verdict(asked.model.check), SHAPEPROOF_VERDICT_MATCH);
    end(&asked);
}

/* GPT-NeoX has its head under another name in the memory of transformers 5, which loads a file with either. */
static void takes_a_head_as_in_memory(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked,
          "{\"model_type\": \"gpt_neox\", \"architectures\": [\"GPTNeoXForCausalLM\"], \"hidden_size\": 8, "
          "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"intermediate_size\": 12, \"vocab_size\": 16, "
          "\"max_position_embeddings\": 8, \"tie_word_embeddings\": false}");
    model_rename(&asked.model, "embed_out.*", "embed_out", "lm_head");
    ask(&asked, "transformers,transformers-4");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    assert_int_equal(shapeproof_loading(asked.loadings, 1)->fresh, 1);
    assert_int_equal(shapeproof_check_verdict(asked.model.check), SHAPEPROOF_VERDICT_EXPLAINED);
    end(&asked);
}

static void says_what_to_strip(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_prefix(&asked.model, "base_model.model.");
    ask(&asked, "transformers");
    assert_string_equal(asked.loading->remedy, "strip 'base_model.model.'");
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "transformers 5 leaves 29 of 29 tensors newly initialised: strip 'base_model.model.'");
    end(&asked);
}

static void says_of_half_a_prefix_what_is_new(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_rename(&asked.model, "*.h.1.*", "", "module.");
    ask(&asked, "transformers");
    assert_int_equal(asked.loading->fresh, 12);
    assert_string_equal(asked.loading->remedy, "strip 'module.'");
    end(&asked);
}

/* Either way, and for all names or some. */
static void adds_and_takes_away_the_base(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_rename(&asked.model, "transformer.h.*", "transformer.", "");
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    end(&asked);
}

static void drops_what_has_no_place(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_add_shape(&asked.model, "value_head.weight", SHAPE(1, 4));
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "transformers 5 drops 1 tensor of the file, and newly "
                "initialises none");
    end(&asked);
}

/* A mask is nothing that a model needs, though this loader knows of another name only. */
static void need_not_take_masks(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_add_shape(&asked.model, "transformer.h.0.attn.masked_bias", 0, NULL);
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new, 1 ignored");
    end(&asked);
}

static void puts_experts_together(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, mixtral);
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    model_drop(&asked.model, "model.layers.1.block_sparse_moe.experts.2.w3.weight");
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 5 refuses it: 1 that cannot be put together, 1 missing "
                "(model.layers.1.mlp.experts.gate_up_proj)");
    end(&asked);
}

/* More dimensions than any model has: they cannot be stacked. */
static void stacks_nothing_of_many_dimensions(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, mixtral);
    model_drop(&asked.model, "model.layers.1.block_sparse_moe.experts.[012].w2.weight");
    model_add_shape(&asked.model, "model.layers.1.block_sparse_moe.experts.0.w2.weight",
                    SHAPE(1, 1, 1, 1, 1, 1, 1, 4, 6));
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 5 refuses it: 1 that cannot be put together, 1 missing "
                "(model.layers.1.mlp.experts.down_proj)");
    end(&asked);
}

static void refuses_another_shape(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_resize(&asked.model, "transformer.wpe.weight", 8, 9);
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 5 refuses it: 1 of another shape (transformer.wpe.weight)");
    end(&asked);
}

/* An index of one shard, between a beginning and an end. */
static void write_index_as(struct asked *asked, const char *beginning, const char *shard, const char *end)
{
    struct sp_text index = {0};
    sp_text_puts(&index, beginning);
    for (size_t i = 0; i < asked->model.count; i++)
        sp_text_printf(&index, "%s\"%s\": \"%s\"", i ? ", " : "", asked->model.parts[i].name, shard);
    sp_text_puts(&index, end);
    scratch_write(&asked->model.scratch, "model.safetensors.index.json", index.data, index.length);
    sp_text_free(&index);
}

static void write_index(struct asked *asked, const char *shard)
{
    write_index_as(asked, "{\"metadata\": {}, \"weight_map\": {", shard, "}}");
}

static void takes_the_stray_file_before_the_index(void **state)
{
    static const char shard[] = "model-00001-of-00001.safetensors";
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_write(&asked.model, shard);
    write_index(&asked, shard);
    ask_of_folder(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    model_drop(&asked.model, "transformer.h.*");
    ask(&asked, "transformers");
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_IN_PART);
    assert_int_equal(asked.loading->fresh, 24);
    assert_non_null(strstr(asked.loading->message, "(it takes model.safetensors)"));
    end(&asked);
}

/* The index says that a tensor, which is in the first shard, is in a second one, which does not exist. */
static void opens_each_shard_of_the_index(void **state)
{
    static const char shard[] = "model-00001-of-00002.safetensors";
    struct asked asked;
    struct sp_text text = {0};
    (void)state;
    begin(&asked, gpt2);
    model_write(&asked.model, shard);
    sp_text_puts(&text, "{\"metadata\": {}, \"weight_map\": {"
                        "\"transformer.ln_f.bias\": \"model-00002-of-00002.safetensors\"");
    for (size_t i = 0; i < asked.model.count; i++)
        if (strcmp(asked.model.parts[i].name, "transformer.ln_f.bias") != 0)
            sp_text_printf(&text, ", \"%s\": \"%s\"", asked.model.parts[i].name, shard);
    sp_text_puts(&text, "}}");
    scratch_write(&asked.model.scratch, "model.safetensors.index.json", text.data, text.length);
    sp_text_free(&text);
    ask_of_folder(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED, "transformers 5 refuses it: a shard is not there");
    assert_true(asked.loading->decides);
    end(&asked);
}

/* Loaders look up both objects of an index, whatever is in them; mlx-lm looks at the files alone. */
static void needs_both_objects_of_the_index(void **state)
{
    static const char shard[] = "model-00001-of-00001.safetensors";
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    model_write(&asked.model, shard);
    write_index_as(&asked, "{\"weight_map\": {", shard, "}}");
    ask_of_folder(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED, "transformers 5 refuses it: the index has no object 'metadata'");
    assert_true(asked.loading->decides);
    ask_of_folder(&asked, "mlx");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "mlx-lm loads it: nothing new");
    write_index_as(&asked, "{\"metadata\": [], \"weight_map\": {", shard, "}}");
    ask_of_folder(&asked, "transformers-4");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED, "transformers 4 refuses it: the index has no object 'metadata'");
    write_index_as(&asked, "{", shard, "}");
    ask_of_folder(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED, "transformers 5 refuses it: the index has no object 'weight_map'");
    end(&asked);
}

static void finds_no_file_of_another_name(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_write(&asked.model, "consolidated.safetensors");
    ask_of_folder(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 5 refuses it: there is no model.safetensors, nor any other file that it takes");
    ask_of_path(&asked, scratch_path(&asked.model.scratch, "consolidated.safetensors"), "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    end(&asked);
}

static void does_not_know_quantised_weights(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_set(&asked.model, "quantization_config={\"quant_method\": \"gptq\", \"bits\": 4}");
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_UNKNOWN,
                "it is not known whether transformers 5 loads the file: the weights are quantised");
    end(&asked);
}

/* In blocks of FP8, which transformers unpacks where there is no GPU: as it says of llama, qwen2 and deepseek_v3. */
static void unpacks_blocks_of_fp8(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    model_set(&asked.model, "quantization_config={\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}");
    model_predict(&asked.model, AS_STORED);
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    model_drop(&asked.model, "model.layers.1.mlp.*_scale_inv");
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE,
                "transformers 5 loads it on a CPU, with 3 weights unscaled; on a GPU, it newly initialises the "
                "missing scales");
    assert_int_equal(shapeproof_check_verdict(asked.model.check), SHAPEPROOF_VERDICT_DIFFERS);
    model_drop(&asked.model, "model.norm.weight");
    ask(&asked, "transformers");
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_IN_PART);
    assert_int_equal(asked.loading->fresh, 1);
    model_predict(&asked.model, AS_STORED); /* a scale of another shape cannot be unpacked */
    model_resize(&asked.model, "model.layers.0.mlp.up_proj.weight_scale_inv", 1, 5);
    ask(&asked, "transformers");
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_UNKNOWN);
    end(&asked);
}

/* Integers and scales, and no configuration that says so: the loader takes the ones for weights and drops the others.
 */
static void has_no_quantiser_that_is_not_named(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    for (size_t i = asked.model.count; i-- > 0;) {
        char *name = strdup(asked.model.parts[i].name);
        if (strstr(name, "_proj.weight")) {
            model_retype(&asked.model, name, SHAPEPROOF_DTYPE_I8);
            strcpy(strstr(name, "weight"), "SCB");
            const uint64_t rows = asked.model.parts[i].shape[0]; /* the list may move when it grows */
            model_add_shape(&asked.model, name, 1, &rows);
        }
        free(name);
    }
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "transformers 5 drops 14 tensors of the file, and newly "
                "initialises none");
    model_set(&asked.model, "quantization_config={\"quant_method\": \"bitsandbytes\", \"load_in_8bit\": true}");
    ask(&asked, "transformers");
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_UNKNOWN);
    end(&asked);
}

static const char llava[] =
    "{\"model_type\": \"llava\", \"architectures\": [\"LlavaForConditionalGeneration\"], \"tie_word_embeddings\": "
    "false, "
    "\"transformers_version\": \"5.24.0\", \"vision_config\": {\"model_type\": \"clip_vision_model\", "
    "\"hidden_size\": 8, \"intermediate_size\": 12, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
    "\"image_size\": 8, \"patch_size\": 4}, \"text_config\": {\"model_type\": \"llama\", \"hidden_size\": 8, "
    "\"intermediate_size\": 12, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"vocab_size\": 16, "
    "\"tie_word_embeddings\": true}}";

/* What the part for the text says counts for the whole in some classes, in LLaVA and not in LLaVA-NeXT. */
static void ties_where_its_part_does(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llava);
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    assert_int_not_equal(shapeproof_check_verdict(asked.model.check), SHAPEPROOF_VERDICT_DIFFERS);
    model_set(&asked.model, "text_config.tie_word_embeddings=false");
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "transformers 5 leaves 1 of 39 tensors newly initialised: lm_head.weight");
    model_set(&asked.model, "tie_word_embeddings=true");
    ask(&asked, "transformers");
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_WHOLE);
    end(&asked);
}

/* Llama 4 ties where its part for the text does, whatever the whole says. The head of ImageGPT is all rows of the
 * embedding but the last, and is tied to it. ViLT makes its head of the embedding. */
static void ties_in_its_part_and_by_rows(void **state)
{
    static const char llama4[] =
        "{\"model_type\": \"llama4\", \"architectures\": [\"Llama4ForConditionalGeneration\"], "
        "\"tie_word_embeddings\": false, \"text_config\": {\"model_type\": \"llama4_text\", \"hidden_size\": 8, "
        "\"intermediate_size\": 12, \"intermediate_size_mlp\": 12, \"num_hidden_layers\": 1, "
        "\"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"head_dim\": 4, \"vocab_size\": 16, "
        "\"pad_token_id\": 0, \"num_local_experts\": 2, \"tie_word_embeddings\": true}, "
        "\"vision_config\": {\"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
        "\"intermediate_size\": 32, \"image_size\": 28, \"patch_size\": 14, \"projector_input_dim\": 8, "
        "\"projector_output_dim\": 8, \"vision_output_dim\": 8}}";
    static const char imagegpt[] =
        "{\"model_type\": \"imagegpt\", \"architectures\": [\"ImageGPTForCausalImageModeling\"], \"n_embd\": 8, "
        "\"n_layer\": 1, \"n_head\": 2, \"n_positions\": 8, \"vocab_size\": 16, \"tie_word_embeddings\": true}";
    static const char vilt[] =
        "{\"model_type\": \"vilt\", \"architectures\": [\"ViltForMaskedLM\"], \"hidden_size\": 8, "
        "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"intermediate_size\": 12, \"vocab_size\": 16, "
        "\"image_size\": 32, \"patch_size\": 16, \"pad_token_id\": 0, \"tie_word_embeddings\": false}";
    const char *const configs[] = {llama4, imagegpt, vilt};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct asked asked;
        begin(&asked, configs[i]);
        ask(&asked, "transformers");
        assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
        assert_int_not_equal(shapeproof_check_verdict(asked.model.check), SHAPEPROOF_VERDICT_DIFFERS);
        end(&asked);
    }
}

/* A language model that ties unless it says otherwise. */
static void ties_where_its_part_is_silent(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llava);
    model_set(&asked.model, "text_config={\"model_type\": \"gemma\", \"hidden_size\": 8, \"intermediate_size\": 12, "
                            "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"num_key_value_heads\": 1, "
                            "\"head_dim\": 4, \"vocab_size\": 16}");
    model_predict(&asked.model, 0);
    ask(&asked, "transformers");
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_WHOLE);
    end(&asked);
}

/* What keeps the class from making a model, in the whole or in a part. */
static void refuses_what_contradicts_itself(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    model_set(&asked.model, "pad_token_id=32");
    ask(&asked, NULL);
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 5 refuses it: pad_token_id 32 is not below vocab_size 32");
    assert_true(asked.loading->decides);
    model_set(&asked.model, "pad_token_id=31");
    model_set(&asked.model, "layer_types=[\"full_attention\"]");
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 5 refuses it: the length of layer_types is 1, and num_hidden_layers is 2");
    end(&asked);
    begin(&asked, llava);
    model_set(&asked.model, "text_config.num_attention_heads=3");
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 5 refuses it: text_config.hidden_size 8 is no multiple of "
                "text_config.num_attention_heads 3");
    end(&asked);
}

/* The reason, or NULL, for the configuration with a setting. */
static void assert_objection(const char *json, const char *setting, const char *expected)
{
    struct model model = {0};
    struct shapeproof_error error = {0};
    model_open(&model, json);
    if (*setting) model_set(&model, setting);
    struct shapeproof_prediction *prediction = shapeproof_predict(model.tables, model.config, NULL, &error);
    assert_non_null(prediction);
    char *why = shapeproof_loading_objection(model.tables, model.config, NULL, prediction, &error);
    assert_int_equal(error.status, SHAPEPROOF_OK);
    if (expected) assert_string_equal(why ? why : "", expected);
    else assert_null(why);
    shapeproof_free(why);
    shapeproof_prediction_free(prediction);
    model_close(&model);
}

/* Without a file: a prediction of what no framework builds is possible all the same. Mistral's heads leave channels
 * out. Where the configuration is silent, the class has its defaults, unless another name of the key is there. */
static void objects_to_a_configuration(void **state)
{
    static const char mistral[] =
        "{\"model_type\": \"mistral\", \"architectures\": [\"MistralForCausalLM\"], \"hidden_size\": 4096, "
        "\"intermediate_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 32, \"vocab_size\": 8}";
    static const char silent[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"]}";
    static const char renamed[] =
        "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"num_attention_heads\": 4}";
    static const char phi3[] =
        "{\"model_type\": \"phi3\", \"architectures\": [\"Phi3ForCausalLM\"], \"hidden_size\": 64, "
        "\"num_attention_heads\": 4, \"num_hidden_layers\": 1, \"vocab_size\": 64}";
    static const char clip[] = "{\"model_type\": \"clip\", \"architectures\": [\"CLIPModel\"], \"text_config\": {}}";
    static const char dory[] =
        "{\"model_type\": \"dory\", \"architectures\": [\"DoryForCausalLM\"], \"hidden_size\": 16, "
        "\"intermediate_size\": 8, \"num_attention_heads\": 2, \"vocab_size\": 8, \"num_hidden_layers\": 2, "
        "\"layer_types\": [\"full_attention\", \"mlp\"]}";
    (void)state;
    assert_objection(llama, "", NULL);
    assert_objection(llama, "num_attention_heads=3",
                     "transformers 5 refuses it: hidden_size 64 is no multiple of num_attention_heads 3");
    assert_objection(gpt2, "n_head=2", NULL);
    assert_objection(silent, "n_head=7", "transformers 5 refuses it: n_embd 768 (default) is no multiple of n_head 7");
    assert_objection(silent, "n_embd=40", "transformers 5 refuses it: n_embd 40 is no multiple of n_head 12 (default)");
    assert_objection(renamed, "n_embd=40", NULL);
    assert_objection(silent, "hidden_size=770",
                     "transformers 5 refuses it: n_embd 770 is no multiple of n_head 12 (default)");
    assert_objection(phi3, "", "transformers 5 refuses it: pad_token_id 32000 (default) is not below vocab_size 64");
    assert_objection(phi3, "pad_token_id=null", NULL);
    assert_objection(clip, "text_config.hidden_size=36",
                     "transformers 5 refuses it: text_config.hidden_size 36 is no multiple of "
                     "text_config.num_attention_heads 8 (default)");
    assert_objection(clip, "text_config.layer_types=[\"full_attention\"]",
                     "transformers 5 refuses it: the length of text_config.layer_types is 1, and "
                     "text_config.num_hidden_layers is 12 by default");
    assert_objection(clip, "", NULL);
    assert_objection(dory, "", NULL);
    assert_objection(mistral, "num_attention_heads=33", NULL);
    assert_objection(vae, "", NULL);
}

static void assert_refused(struct asked *asked, const char *setting, const char *why)
{
    char message[256];
    model_set(&asked->model, setting);
    ask(asked, "transformers");
    snprintf(message, sizeof message, "transformers 5 refuses it: %s", why);
    assert_says(asked, SHAPEPROOF_LOADING_REFUSED, message);
}

/* Names, kinds and numbers that the class does not know. */
static void refuses_what_it_does_not_know(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    assert_refused(&asked, "layer_types=[\"full_attention\", \"no_such\"]",
                   "layer_types has 'no_such', which is none of the kinds that it knows");
    assert_refused(&asked, "layer_types=[\"full_attention\", 3]", "an entry of layer_types is not a string");
    model_set(&asked.model, "layer_types=[\"mamba\", \"sliding_attention\"]");
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    assert_refused(&asked, "pad_token_id=-33", "pad_token_id -33 is below -vocab_size");
    assert_refused(&asked, "pad_token_id=1.5", "pad_token_id is a real number, not an integer or null");
    model_set(&asked.model, "pad_token_id=-1");
    assert_refused(&asked, "rms_norm_eps=true", "rms_norm_eps is a truth value, not a real number");
    model_set(&asked.model, "rms_norm_eps=1"); /* who types 1 means 1.0 */
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    model_set(&asked.model, "eos_token_id=99999999999999999999"); /* of more than 64 bits */
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    model_set(&asked.model, "rms_norm_eps=1e-6");
    assert_refused(&asked, "eos_token_id=[1, 2.5]",
                   "eos_token_id is a list of real numbers, not an integer, null or a list of integers");
    model_set(&asked.model, "eos_token_id=[1, 2]");
    model_set(&asked.model, "pad_token_id=-1");
    assert_refused(&asked, "hidden_act=\"no_such\"", "it knows no activation function 'no_such' (hidden_act)");
    model_set(&asked.model, "hidden_act=\"relu2\"");
    assert_refused(&asked, "rope_scaling={\"type\": \"no_such\"}", "it knows no rotary embedding 'no_such'");
    assert_refused(&asked, "rope_scaling={\"rope_type\": \"yarn\"}", "the rotary embedding 'yarn' has no factor");
    model_set(&asked.model, "rope_scaling={\"rope_type\": \"linear\", \"factor\": 2.0}");
    assert_refused(&asked, "dtype=\"float3\"", "it makes no model of the dtype 'float3'");
    assert_refused(&asked, "dtype=\"int8\"", "it makes no model of the dtype 'int8'");
    model_set(&asked.model, "dtype=\"half\"");
    ask(&asked, "transformers");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    end(&asked);
}

/* A key at the top of a pickle leads to the model: the loader sees the key alone. */
static void sees_the_keys_at_the_top_of_a_pickle(void **state)
{
    struct asked asked;
    struct shapeproof_inventory *inventory;
    (void)state;
    begin(&asked, llama);
    model_prefix(&asked.model, "model.");
    inventory = model_in_memory(&asked.model);
    inventory->format = &format_torch_zip;
    for (size_t i = 0; i < inventory->count; i++) inventory->tensors[i].outer = strlen("model");
    inventory->plain_keys = 1;
    model_judge(&asked.model, inventory);
    struct shapeproof_error error = {0};
    asked.loadings = shapeproof_loadings_new(asked.model.check, "transformers", &error);
    asked.loading = shapeproof_loading(asked.loadings, 0);
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "transformers 5 leaves 21 of 21 tensors newly initialised: save what its key 'model' holds by itself");
    assert_int_equal(asked.loading->ignored, 2);
    inventory->headed = true;
    shapeproof_loadings_free(asked.loadings);
    asked.loadings = shapeproof_loadings_new(asked.model.check, "transformers", &error);
    asked.loading = shapeproof_loading(asked.loadings, 0);
    assert_says(
        &asked, SHAPEPROOF_LOADING_REFUSED,
        "transformers 5 refuses it: the configuration has no dtype, and the first value in the file is no tensor");
    end(&asked);
}

/* One that it has a place for; what it has no place for, it does not copy. */
static void refuses_sparse_tensors(void **state)
{
    static const struct {
        const char *loader, *message;
        enum shapeproof_loading_answer answer;
    } answers[] = {
        {"transformers", "transformers 5 refuses it: model.norm.weight is sparse", SHAPEPROOF_LOADING_REFUSED},
        {"torch", "torch's strict loading refuses it: model.norm.weight is sparse", SHAPEPROOF_LOADING_REFUSED},
        {"transformers-4", "it is not known whether transformers 4 loads the file: model.norm.weight is sparse",
         SHAPEPROOF_LOADING_UNKNOWN}};
    struct asked asked;
    struct shapeproof_error error = {0};
    (void)state;
    begin(&asked, llama);
    model_set(&asked.model, "torch_dtype=\"float32\"");
    model_part(&asked.model, "model.norm.weight")->flags = SHAPEPROOF_TENSOR_SPARSE;
    model_judge(&asked.model, model_in_memory(&asked.model));
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        asked.loadings = shapeproof_loadings_new(asked.model.check, answers[i].loader, &error);
        asked.loading = shapeproof_loading(asked.loadings, 0);
        assert_says(&asked, answers[i].answer, answers[i].message);
        shapeproof_loadings_free(asked.loadings);
        asked.loadings = NULL;
    }
    model_part(&asked.model, "model.norm.weight")->flags = 0;
    model_add_shape(&asked.model, "extra", 1, (const uint64_t[]){2});
    model_part(&asked.model, "extra")->flags = SHAPEPROOF_TENSOR_SPARSE;
    model_judge(&asked.model, model_in_memory(&asked.model));
    asked.loadings = shapeproof_loadings_new(asked.model.check, "transformers", &error);
    asked.loading = shapeproof_loading(asked.loadings, 0);
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "transformers 5 drops 1 tensor of the file, and newly initialises none");
    end(&asked);
}

/* It maps the file into memory; torch.load alone inflates them. */
static void reads_no_compressed_storages(void **state)
{
    struct asked asked;
    struct shapeproof_error error = {0};
    (void)state;
    begin(&asked, llama);
    model_set(&asked.model, "torch_dtype=\"float32\"");
    struct shapeproof_inventory *inventory = model_in_memory(&asked.model);
    inventory->compressed = 21;
    assert_string_equal(
        model_judge(&asked.model, inventory),
        "explained: 21 storages are compressed in the archive: a program that maps the file into memory "
        "reads other numbers; nothing else differs");
    asked.loadings = shapeproof_loadings_new(asked.model.check, "transformers,torch", &error);
    asked.loading = shapeproof_loading(asked.loadings, 0);
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "transformers 5 reads wrong numbers: it does not inflate 21 storages of the archive");
    asked.loading = shapeproof_loading(asked.loadings, 1);
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "torch's strict loading loads it: nothing new");
    end(&asked);
}

static void ask_of_inventory(struct asked *asked, struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    shapeproof_loadings_free(asked->loadings);
    model_judge(&asked->model, inventory);
    asked->loadings = shapeproof_loadings_new(asked->model.check, "transformers", &error);
    asked->loading = shapeproof_loading(asked->loadings, 0);
}

/* A list, keys that are numbers, or a name that weights_only=True does not know. */
static void refuses_what_is_no_state_dict(void **state)
{
    struct asked asked;
    struct shapeproof_inventory *inventory;
    (void)state;
    begin(&asked, llama);
    inventory = model_in_memory(&asked.model);
    inventory->format = &format_torch_zip;
    ask_of_inventory(&asked, inventory);
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 5 loads it: nothing new");
    inventory = model_in_memory(&asked.model);
    inventory->format = &format_torch_zip;
    inventory->unkeyed = true;
    ask_of_inventory(&asked, inventory);
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED, "transformers 5 refuses it: what the file holds is no dictionary");
    inventory = model_in_memory(&asked.model);
    inventory->format = &format_torch_zip;
    inventory->numbered = true;
    ask_of_inventory(&asked, inventory);
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 5 refuses it: a key at the top of the file is not a string");
    inventory = model_in_memory(&asked.model);
    inventory->format = &format_torch_zip;
    sp_inventory_suspect_global(inventory, "models.Llama", true);
    ask_of_inventory(&asked, inventory);
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 5 refuses it: the file names models.Llama, which is not loaded with weights_only=True");
    end(&asked);
}

/* ---- diffusers ---- */

static void ask_of_diffusers(struct asked *asked)
{
    model_write(&asked->model, "diffusion_pytorch_model.safetensors");
    ask_of_folder(asked, NULL);
    assert_string_equal(asked->loading->loader, "diffusers");
}

static void diffusers_takes_its_own_files(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, vae);
    ask_of_diffusers(&asked);
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "diffusers loads it: nothing new");
    assert_null(shapeproof_loading_failed(asked.loadings));
    model_add_shape(&asked.model, "loss.logvar", 0, NULL);
    ask_of_diffusers(&asked);
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "diffusers drops 1 tensor of the file, and newly initialises "
                "none");
    model_drop(&asked.model, "quant_conv.weight");
    ask_of_diffusers(&asked);
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "diffusers leaves 1 of 120 tensors without values: quant_conv.weight");
    assert_ptr_equal(shapeproof_loading_failed(asked.loadings), asked.loading);
    model_resize(&asked.model, "post_quant_conv.weight", 2, 3);
    ask_of_diffusers(&asked);
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_REFUSED);
    end(&asked);
}

/* The first of a model's tensors in a shard of its own, the others in another. */
static void write_two_shards(struct asked *asked)
{
    static const char *const shards[] = {"diffusion_pytorch_model-00001-of-00002.safetensors",
                                         "diffusion_pytorch_model-00002-of-00002.safetensors"};
    struct model part = asked->model;
    struct sp_text index = {0};
    part.count = 1;
    model_write(&part, shards[0]);
    part.count = asked->model.count - 1;
    part.parts++;
    model_write(&part, shards[1]);
    sp_text_puts(&index, "{\"metadata\": {}, \"weight_map\": {");
    for (size_t i = 0; i < asked->model.count; i++)
        sp_text_printf(&index, "%s\"%s\": \"%s\"", i ? ", " : "", asked->model.parts[i].name, shards[i > 0]);
    sp_text_puts(&index, "}}");
    scratch_write(&asked->model.scratch, "diffusion_pytorch_model.safetensors.index.json", index.data, index.length);
    sp_text_free(&index);
}

/* In one file, and not in shards; an index comes first. */
static void diffusers_knows_old_names_of_attention(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, vae);
    model_rename(&asked.model, "*.to_q.*", "to_q", "query");
    model_rename(&asked.model, "*.to_out.0.*", "to_out.0", "proj_attn");
    ask_of_diffusers(&asked);
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "diffusers loads it: nothing new");
    write_two_shards(&asked);
    ask_of_folder(&asked, NULL);
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_IN_PART);
    assert_int_equal(asked.loading->fresh, 8);
    assert_int_equal(asked.loading->ignored, 8);
    assert_true(asked.loading->decides);
    end(&asked);
}

/* No file of the name that is asked for without saying which variant. The status is the verdict's. */
static void diffusers_needs_the_name_of_a_variant(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, vae);
    model_write(&asked.model, "diffusion_pytorch_model.fp16.safetensors");
    ask_of_folder(&asked, NULL);
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "diffusers refuses it: only the variant fp16 is there: from_pretrained needs variant='fp16'");
    assert_null(shapeproof_loading_failed(asked.loadings));
    end(&asked);
}

static void diffusers_finds_no_file_of_another_name(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, vae);
    model_write(&asked.model, "model-00001-of-00001.safetensors");
    ask_of_folder(&asked, NULL);
    assert_says(
        &asked, SHAPEPROOF_LOADING_REFUSED,
        "diffusers refuses it: there is no diffusion_pytorch_model.safetensors, nor any other file that it takes");
    end(&asked);
}

static void mlx_takes_what_it_quantised(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    model_set(&asked.model, "quantization={\"group_size\": 32, \"bits\": 4}");
    model_predict(&asked.model, AS_STORED);
    ask(&asked, NULL);
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "mlx-lm loads it: nothing new");
    model_drop(&asked.model, "model.layers.1.mlp.up_proj.scales");
    ask(&asked, NULL);
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED, "mlx-lm refuses it: 1 missing (model.layers.1.mlp.up_proj.scales)");
    end(&asked);
}

/* Neither the prefix of the base nor that of a wrapper goes by itself. */
static void mlx_wants_the_names_as_they_are(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    model_add_shape(&asked.model, "model.layers.0.self_attn.rotary_emb.inv_freq", SHAPE(16));
    ask(&asked, "mlx");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "mlx-lm loads it: nothing new");
    model_prefix(&asked.model, "model.");
    ask(&asked, "mlx");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED, "mlx-lm refuses it: strip 'model.'");
    end(&asked);
}

/* With an index or without. */
static void mlx_takes_all_files_of_a_beginning(void **state)
{
    static const char shard[] = "model-00001-of-00001.safetensors";
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    model_write(&asked.model, shard);
    ask_of_folder(&asked, "mlx");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "mlx-lm loads it: nothing new");
    write_index(&asked, shard);
    ask(&asked, "mlx");
    assert_says(&asked, SHAPEPROOF_LOADING_UNKNOWN,
                "it is not known whether mlx-lm loads the file: it takes the file beside the shards as well");
    end(&asked);
}

static void mlx_needs_keys_and_knows_some_classes(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, "{\"model_type\": \"qwen2\", \"architectures\": [\"Qwen2ForCausalLM\"], \"hidden_size\": 8, "
                  "\"intermediate_size\": 12, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
                  "\"num_key_value_heads\": 2, \"vocab_size\": 16}");
    ask(&asked, "mlx");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED, "mlx-lm refuses it: the configuration has no rms_norm_eps");
    model_set(&asked.model, "architectures=[\"Qwen2ForSequenceClassification\"]");
    model_predict(&asked.model, 0);
    ask(&asked, "mlx");
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_UNKNOWN);
    end(&asked);
}

/* The name of the base model is in front of some name, or else is put in front of all: a head has no place there. */
static void the_old_one_looks_at_the_file_for_the_base(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    ask(&asked, "transformers-4");
    assert_says(&asked, SHAPEPROOF_LOADING_WHOLE, "transformers 4 loads it: nothing new");
    model_rename(&asked.model, "model.*", "model.", "");
    ask(&asked, "transformers");
    assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_WHOLE);
    ask(&asked, "transformers-4");
    assert_says(&asked, SHAPEPROOF_LOADING_REFUSED,
                "transformers 4 refuses it: lm_head.weight is there, and no name begins with model");
    model_drop(&asked.model, "lm_head.weight");
    ask(&asked, "transformers-4");
    assert_says(&asked, SHAPEPROOF_LOADING_IN_PART,
                "transformers 4 leaves 1 of 21 tensors newly initialised: lm_head.weight");
    end(&asked);
}

/* Transformers 4 ties over what differs, 5 keeps both: as both did with files of these classes. What is not tied is
 * kept, as the embeddings of BART are without the flag. */
static void the_old_one_ties_over_what_differs(void **state)
{
    static const char bart[] =
        "{\"model_type\": \"bart\", \"architectures\": [\"BartModel\"], \"d_model\": 8, \"encoder_layers\": 1, "
        "\"decoder_layers\": 1, \"encoder_ffn_dim\": 12, \"decoder_ffn_dim\": 12, \"encoder_attention_heads\": 2, "
        "\"decoder_attention_heads\": 2, \"max_position_embeddings\": 8, \"vocab_size\": 16, \"pad_token_id\": 1}";
    static const struct {
        const char *config, *flag, *apart, *says;
    } cases[] = {
        {llama, "true", "lm_head.weight",
         "transformers 4 puts model.embed_tokens.weight in the place of lm_head.weight, which is lost"},
        {llama, "false", "lm_head.weight", NULL},
        {bert, "false", "cls.predictions.decoder.bias",
         "transformers 4 puts cls.predictions.bias in the place of cls.predictions.decoder.bias, which is lost"},
        {bart, "true", "*coder.embed_tokens.weight",
         "transformers 4 loses the values of 2 tensors that it ties to others: "
         "{encoder,decoder}.embed_tokens.weight"},
        {bart, "false", "*coder.embed_tokens.weight", NULL},
        {"{\"model_type\": \"roberta\", \"architectures\": [\"RobertaForMaskedLM\"], \"hidden_size\": 8, "
         "\"intermediate_size\": 12, \"max_position_embeddings\": 8, \"num_attention_heads\": 2, "
         "\"num_hidden_layers\": 1, \"vocab_size\": 16, \"pad_token_id\": 1}",
         "false", "lm_head.decoder.bias",
         "transformers 4 puts lm_head.decoder.bias in the place of lm_head.bias, which is lost"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct asked asked;
        char setting[64];
        begin(&asked, cases[i].config);
        snprintf(setting, sizeof setting, "tie_word_embeddings=%s", cases[i].flag);
        model_set(&asked.model, setting);
        model_predict(&asked.model, WITH_TIED);
        model_fill(&asked.model, cases[i].apart, 1);
        asked.model.options.data = true;
        ask(&asked, "transformers");
        assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_WHOLE);
        ask(&asked, "transformers-4");
        if (cases[i].says) assert_says(&asked, SHAPEPROOF_LOADING_IN_PART, cases[i].says);
        else assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_WHOLE);
        asked.model.options.data = false;
        ask(&asked, "transformers-4");
        assert_int_equal(asked.loading->answer, SHAPEPROOF_LOADING_WHOLE);
        end(&asked);
    }
}

/* With all loaders, a version has a line where it does something else. */
static void the_old_one_is_told_where_it_differs(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    ask(&asked, "all");
    assert_int_equal(shapeproof_loading_count(asked.loadings), 3);
    model_rename(&asked.model, "model.*", "model.", "");
    ask(&asked, "all");
    assert_int_equal(shapeproof_loading_count(asked.loadings), 4);
    assert_string_equal(shapeproof_loading(asked.loadings, 1)->loader, "transformers-4");
    end(&asked);
}

static void asks_the_loader_that_it_is_meant_for(void **state)
{
    struct shapeproof_error error = {0};
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    ask(&asked, NULL);
    assert_int_equal(shapeproof_loading_count(asked.loadings), 1);
    assert_string_equal(asked.loading->loader, "transformers");
    ask(&asked, "all");
    assert_int_equal(shapeproof_loading_count(asked.loadings), 3);
    ask(&asked, "torch,transformers");
    assert_int_equal(shapeproof_loading_count(asked.loadings), 2);
    assert_null(shapeproof_loadings_new(asked.model.check, "torch,tensorflow", &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    end(&asked);
}

/* Harmless for the verdict, fatal for the loader: both stand in the first line, what is wrong in place of comfort. */
static void says_in_the_first_line_what_is_bad(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_prefix(&asked.model, "module.");
    ask(&asked, NULL);
    assert_first_line(&asked, "explained: every name in the file begins with 'module.'; transformers 5 leaves 29 of 29 "
                              "tensors newly initialised: strip 'module.'");
    end(&asked);
}

static void says_less_where_there_is_no_room(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_prefix(&asked.model, "a_long_name.of_one_more_module.and_another_one_as_long.which_holds_the.");
    ask(&asked, NULL);
    assert_first_line(&asked, "explained: every name in the file begins with "
                              "'a_long_name.of_one_more_module.and_another_one_as_long.which_holds_the.'; "
                              "29 of 29 tensors new");
    end(&asked);
}

static void add_adapter(struct asked *asked)
{
    model_add_shape(&asked->model, "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", SHAPE(8, 64));
    model_add_shape(&asked->model, "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", SHAPE(64, 8));
}

/* It is meant for another library, but where the model is with it, that is meant for this one. */
static void asks_nobody_of_an_adapter_alone(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, llama);
    model_drop(&asked.model, "*");
    add_adapter(&asked);
    ask(&asked, NULL);
    assert_int_equal(shapeproof_loading_count(asked.loadings), 0);
    model_predict(&asked.model, 0);
    model_prefix(&asked.model, "base_model.model.");
    add_adapter(&asked);
    ask(&asked, NULL);
    assert_int_equal(shapeproof_loading_count(asked.loadings), 1);
    assert_int_equal(asked.loading->fresh, asked.loading->expected);
    end(&asked);
}

static void keeps_quiet_about_what_it_does_not_know(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked, gpt2);
    model_set(&asked.model, "quantization_config={\"quant_method\": \"gptq\", \"bits\": 4}");
    ask(&asked, NULL);
    assert_int_equal(shapeproof_loading_count(asked.loadings), 0);
    end(&asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_a_model_whole),
        cmocka_unit_test(ties_as_its_release),
        cmocka_unit_test(takes_a_head_as_in_memory),
        cmocka_unit_test(says_what_to_strip),
        cmocka_unit_test(says_of_half_a_prefix_what_is_new),
        cmocka_unit_test(adds_and_takes_away_the_base),
        cmocka_unit_test(drops_what_has_no_place),
        cmocka_unit_test(need_not_take_masks),
        cmocka_unit_test(puts_experts_together),
        cmocka_unit_test(stacks_nothing_of_many_dimensions),
        cmocka_unit_test(refuses_another_shape),
        cmocka_unit_test(takes_the_stray_file_before_the_index),
        cmocka_unit_test(opens_each_shard_of_the_index),
        cmocka_unit_test(needs_both_objects_of_the_index),
        cmocka_unit_test(finds_no_file_of_another_name),
        cmocka_unit_test(does_not_know_quantised_weights),
        cmocka_unit_test(unpacks_blocks_of_fp8),
        cmocka_unit_test(has_no_quantiser_that_is_not_named),
        cmocka_unit_test(ties_where_its_part_does),
        cmocka_unit_test(ties_in_its_part_and_by_rows),
        cmocka_unit_test(ties_where_its_part_is_silent),
        cmocka_unit_test(refuses_what_contradicts_itself),
        cmocka_unit_test(objects_to_a_configuration),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(sees_the_keys_at_the_top_of_a_pickle),
        cmocka_unit_test(refuses_sparse_tensors),
        cmocka_unit_test(reads_no_compressed_storages),
        cmocka_unit_test(refuses_what_is_no_state_dict),
        cmocka_unit_test(diffusers_takes_its_own_files),
        cmocka_unit_test(diffusers_knows_old_names_of_attention),
        cmocka_unit_test(diffusers_needs_the_name_of_a_variant),
        cmocka_unit_test(diffusers_finds_no_file_of_another_name),
        cmocka_unit_test(mlx_takes_what_it_quantised),
        cmocka_unit_test(mlx_wants_the_names_as_they_are),
        cmocka_unit_test(mlx_takes_all_files_of_a_beginning),
        cmocka_unit_test(mlx_needs_keys_and_knows_some_classes),
        cmocka_unit_test(the_old_one_looks_at_the_file_for_the_base),
        cmocka_unit_test(the_old_one_ties_over_what_differs),
        cmocka_unit_test(the_old_one_is_told_where_it_differs),
        cmocka_unit_test(asks_the_loader_that_it_is_meant_for),
        cmocka_unit_test(says_in_the_first_line_what_is_bad),
        cmocka_unit_test(says_less_where_there_is_no_room),
        cmocka_unit_test(asks_nobody_of_an_adapter_alone),
        cmocka_unit_test(keeps_quiet_about_what_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
