/* SPDX-License-Identifier: MIT
 * Files that hold a low-rank adapter alone, checked against the base that it is for. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

/* meta-llama/Llama-3.2-1B: keys and values are narrower than queries. */
static const char llama[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 128256, \"hidden_size\": "
    "2048, \"num_hidden_layers\": 16, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": "
    "8192, \"head_dim\": 64, \"tie_word_embeddings\": true}";

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": "
                           "50257, \"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, \"n_positions\": 1024}";

enum { AS_PEFT, AS_MLX };

static void add_matrix(struct model *model, const char *prefix, const char *module, const char *tail, uint64_t rows,
                       uint64_t columns, int layout)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s.%s", prefix, module, tail);
    model_add_shape(model, name, 2, layout == AS_MLX ? (uint64_t[]){columns, rows} : (uint64_t[]){rows, columns});
}

/* In place of the model an adapter for those of its weights; `a` and `b` end the names. */
static void adapt(struct model *model, const char *weights, const char *prefix, const char *a, const char *b,
                  uint64_t rank, int layout)
{
    struct model adapter = {.count = 0};
    for (size_t i = 0; i < model->count; i++) {
        const struct part *part = &model->parts[i];
        char module[256];
        if (!fits(part, weights)) continue;
        snprintf(module, sizeof module, "%.*s", (int)(strlen(part->name) - strlen(".weight")), part->name);
        const bool turned = strstr(part->name, ".c_") != NULL; /* Conv1D keeps (in, out) */
        add_matrix(&adapter, prefix, module, a, rank, part->shape[!turned], layout);
        add_matrix(&adapter, prefix, module, b, part->shape[turned], rank, layout);
    }
    model_empty(model);
    free(model->parts);
    model->parts = adapter.parts;
    model->count = adapter.count;
    model->capacity = adapter.capacity;
}

#define PEFT "base_model.model."
#define QUERIES_AND_VALUES "*.[qv]_proj.weight"

static const char fitting[] = "explained: a LoRA adapter of rank 8 that fits 32 matrices of the model: "
                              "model.layers.{0-15}.self_attn.{q_proj,v_proj}.weight; nothing else differs";

static void put_config(struct model *model, const char *text)
{
    scratch_write(&model->scratch, "adapter_config.json", text, strlen(text));
}

/* As PEFT saves it. */
static void names_as_saved(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    put_config(&model, "{\"peft_type\": \"LORA\", \"base_model_name_or_path\": \"meta-llama/Llama-3.2-1B\", \"r\": 8, "
                       "\"target_modules\": [\"v_proj\", \"q_proj\"], \"rank_pattern\": {}}");
    model_check(&model);
    assert_told(&model, fitting, "adapter", 0);
    assert_int_equal(shapeproof_check_cause(model.check, 0)->explains, 64 + 146);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "load it onto its base: PeftModel.from_pretrained(base, DIRECTORY)");
    model_close(&model);
}

/* The name of the adapter is still in the names: default, or default_0. */
static void names_with_the_adapters_own(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.default.weight", "lora_B.default.weight", 8, AS_PEFT);
    model_check(&model);
    assert_told(&model, fitting, "adapter", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "the names contain the name of the adapter, 'default', which PEFT removes when it saves an "
                        "adapter");
    model_rename(&model, "*", ".default.", ".default_0.");
    model_check(&model);
    assert_told(&model, fitting, "adapter", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "the names contain the name of the adapter, 'default_0', which PEFT removes when it saves "
                        "an adapter");
    model_close(&model);
}

static void names_of_other_programs(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, "", "lora_a.weight", "lora_b.weight", 8, AS_PEFT);
    model_check(&model);
    assert_told(&model, fitting, "adapter", 0);
    model_close(&model);
    model_open(&model, llama);
    model_predict(&model, 0);
    adapt(&model, QUERIES_AND_VALUES, "", "lora_a", "lora_b", 8, AS_MLX);
    model_check(&model);
    assert_told(&model, fitting, "adapter", 0);
    model_close(&model);
}

/* Conv1D, whose weight is the other way round. */
static void weights_the_other_way_round(void **state)
{
    BEGIN(gpt2);
    adapt(&model, "*.c_attn.weight", PEFT, "lora_A.weight", "lora_B.weight", 16, AS_PEFT);
    model_check(&model);
    assert_told(&model,
                "explained: a LoRA adapter of rank 16 that fits 12 matrices of the model: "
                "transformer.h.{0-11}.attn.c_attn.weight; nothing else differs",
                "adapter", 0);
    model_close(&model);
}

/* Made for a base of the same names and another width. */
static void for_another_base(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    model_resize(&model, "*.v_proj.lora_B.weight", 512, 1024);
    model_check(&model);
    assert_told(&model,
                "differs: 16 pairs of the adapter do not fit the model: model.layers.{0-15}.self_attn.v_proj.weight, "
                "such as A (8, 2048) and B (1024, 8) for (512, 2048)",
                "adapter-shape adapter", 0);
    model_close(&model);
}

static void for_another_architecture(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    model_rename(&model, "*", "self_attn", "attention");
    model_check(&model);
    assert_told(&model,
                "differs: the adapter was made for another model: 32 pairs are for modules that the model does not "
                "have: base_model.model.model.layers.{0-15}.attention.{q_proj,v_proj}",
                "adapter-module", 0);
    model_close(&model);
}

static void one_of_two(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    model_drop(&model, "*.layers.3.*.q_proj.lora_B.weight");
    model_check(&model);
    assert_told(&model,
                "differs: the adapter has only one of the two matrices for model.layers.3.self_attn.q_proj.weight "
                "(1 pair)",
                "adapter-pair adapter", 0);
    model_close(&model);
}

static void ranks_that_differ(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    model_resize(&model, "*.layers.3.*.q_proj.lora_?.weight", 8, 4);
    put_config(&model, "{\"r\": 8, \"rank_pattern\": {}}");
    model_check(&model);
    assert_told(&model,
                "differs: adapter_config.json says r = 8, but 1 pair of the adapter has another rank: "
                "model.layers.3.self_attn.q_proj.weight",
                "adapter-rank adapter", 0);
    put_config(&model, "{\"r\": 8, \"rank_pattern\": {\"layers.3.self_attn.q_proj\": 4}}");
    model_check(&model);
    assert_told(&model,
                "explained: a LoRA adapter of ranks 4 to 8 that fits 32 matrices of the model: "
                "model.layers.{0-15}.self_attn.{q_proj,v_proj}.weight; nothing else differs",
                "adapter", 0);
    model_close(&model);
}

static void a_target_without_a_pair(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    put_config(&model, "{\"r\": 8, \"target_modules\": [\"q_proj\", \"proj\", \"self_attn.v_proj\"]}");
    model_check(&model);
    assert_string_equal(model_cause(&model, "adapter-target")->message,
                        "adapter_config.json lists 'proj' in target_modules, but the adapter has no tensor for it");
    put_config(&model, "{\"r\": 8, \"target_modules\": \".*proj\"}");
    model_check(&model);
    assert_told(&model, fitting, "adapter", 0);
    model_close(&model);
}

/* Matrices of three dimensions are for several modules where NeMo has written them, and for none of the model's
 * otherwise. */
static void of_three_dimensions(void **state)
{
    static const struct {
        const char *a, *b, *cause;
    } pairs[] = {
        {"lora_A.weight", "lora_B.weight", "adapter-module"},
        {"adapter.linear_in.weight", "adapter.linear_out.weight", "adapter"},
    };
    BEGIN(llama);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char a[128], b[128];
        snprintf(a, sizeof a, PEFT "model.layers.stranger.%s", pairs[i].a);
        snprintf(b, sizeof b, PEFT "model.layers.stranger.%s", pairs[i].b);
        model_empty(&model);
        model_add_shape(&model, a, SHAPE(16, 8, 2048));
        model_add_shape(&model, b, SHAPE(16, 2048, 8));
        model_check(&model);
        assert_string_equal(shapeproof_check_cause(model.check, 0)->id, pairs[i].cause);
    }
    model_close(&model);
}

/* An embedding that was trained as a whole stands beside the pairs; what fits nothing remains. */
static void what_was_trained_as_a_whole(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    model_add_shape(&model, PEFT "model.embed_tokens.weight", SHAPE(128256, 2048));
    model_check(&model);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->id, "adapter");
    assert_int_equal(sp_check_open(model.check), 0);
    model_add_shape(&model, PEFT "model.layers.0.stranger", SHAPE(3));
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS);
    assert_int_equal(sp_check_open(model.check), 1);
    model_close(&model);
}

/* Tokens that were added for the training are in no base. */
static void with_more_tokens(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    model_add_shape(&model, PEFT "model.embed_tokens.weight", SHAPE(128264, 2048));
    SAYS("differs: the adapter was trained with 128264 tokens, the base has 128256: "
         "base_model.model.model.embed_tokens.weight (1 tensor)",
         "adapter-shape adapter", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "call resize_token_embeddings(128264) on the base before the adapter is loaded");
    model_resize(&model, "*embed_tokens*", 2048, 1024);
    model_check(&model);
    assert_int_equal(sp_check_open(model.check), 1);
    END;
}

/* What a pattern of ranks promises holds for each module that it means; more than a name tells nothing. */
static void ranks_by_pattern(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    put_config(&model, "{\"r\": 8, \"rank_pattern\": {\"v_proj\": 4}}");
    SAYS("differs: adapter_config.json says r = 4, but 16 pairs of the adapter have another rank: "
         "model.layers.{0-15}.self_attn.v_proj.weight",
         "adapter-rank adapter", 0);
    put_config(&model, "{\"r\": 8, \"rank_pattern\": {\"layers.[0-3].*v_proj\": 4}}");
    SAYS(fitting, "adapter", 0);
    END;
}

/* ---- beside the base ---- */

#define UNMERGED                                                                                                       \
    "differs: a LoRA adapter of rank 8 is stored beside the weights of the model, not merged into 32 matrices: "       \
    "model.layers.{0-15}.self_attn.{q_proj,v_proj}.weight"

/* The model and its adapter, as PEFT has them in memory. */
static void adapt_in_memory(struct model *model)
{
    struct model base = {.count = 0};
    for (size_t i = 0; i < model->count; i++)
        model_add_shape(&base, model->parts[i].name, model->parts[i].rank, model->parts[i].shape);
    model_rename(&base, QUERIES_AND_VALUES, "_proj.", "_proj.base_layer.");
    adapt(model, QUERIES_AND_VALUES, "", "lora_A.default.weight", "lora_B.default.weight", 8, AS_PEFT);
    for (size_t i = 0; i < base.count; i++)
        model_add_shape(model, base.parts[i].name, base.parts[i].rank, base.parts[i].shape);
    model_empty(&base);
    free(base.parts);
}

static void not_merged(void **state)
{
    BEGIN(llama);
    adapt_in_memory(&model);
    SAYS(UNMERGED, "adapter-unmerged wrapper", 0);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "not merged: call merge_and_unload() on the PEFT model, and save the model that it returns");
    model_prefix(&model, PEFT);
    SAYS(UNMERGED, "adapter-unmerged prefix wrapper", 0);
    END;
}

/* As programs write it that have the matrices in the module itself. */
static void not_merged_without_wrappers(void **state)
{
    BEGIN(llama);
    adapt_in_memory(&model);
    model_rename(&model, "*", "base_layer.", "");
    model_rename(&model, "*", ".default.weight", "");
    SAYS(UNMERGED, "adapter-unmerged", 0);
    END;
}

/* A head that is trained as a whole is there twice, and the one that counts is the copy. */
static void not_merged_with_a_whole_module(void **state)
{
    BEGIN(llama);
    adapt_in_memory(&model);
    model_rename(&model, "model.embed_tokens.weight", "weight", "original_module.weight");
    model_add_shape(&model, "model.embed_tokens.modules_to_save.default.weight", SHAPE(128256, 2048));
    SAYS(UNMERGED, "adapter-unmerged wrapper", 0);
    model_resize(&model, "*modules_to_save*", 128256, 128264);
    model_check(&model);
    assert_string_equal(model_cause(&model, "adapter-shape")->message,
                        "tensors have the wrong size for the model: "
                        "model.embed_tokens.modules_to_save.default.weight (1 tensor)");
    END;
}

/* ---- names that no loader looks for ---- */

static void without_the_front_of_peft(void **state)
{
    static const char *const fronts[][2] = {
        {"", "have no prefix"},
        {"base_model.model.base_model.model.", "begin with 'base_model.model.base_model.model.'"},
        {"base_model.model.language_model.", "begin with 'base_model.model.language_model.'"},
        {"module.base_model.model.", "begin with 'module.base_model.model.'"},
        {"base_model.model._orig_mod.", "begin with 'base_model.model._orig_mod.'"},
    };
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        char line[256];
        BEGIN(llama);
        adapt(&model, QUERIES_AND_VALUES, fronts[i][0], "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
        snprintf(line, sizeof line,
                 "differs: the adapter's names %s, but those of the model begin with 'base_model.model.': the "
                 "adapter has no effect on 32 modules",
                 fronts[i][1]);
        SAYS(line, "adapter-prefix", 0);
        END;
    }
}

/* Made for the model without its head. */
static void for_the_base_alone(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    model_rename(&model, "*", PEFT "model.", PEFT);
    SAYS("differs: the adapter's names begin with 'base_model.model.', but those of the model begin with "
         "'base_model.model.model.': the adapter has no effect on 32 modules",
         "adapter-prefix", 0);
    put_config(&model, "{\"task_type\": \"FEATURE_EXTRACTION\"}");
    SAYS("explained: the adapter's names begin with 'base_model.model.', but those of the model begin with "
         "'base_model.model.model.': the adapter may have no effect on 32 modules; nothing else differs",
         "adapter-prefix", 0);
    END;
}

static const char bert[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertModel\"], \"vocab_size\": 100, "
                           "\"hidden_size\": 8, \"num_hidden_layers\": 2, \"intermediate_size\": 16, "
                           "\"num_attention_heads\": 2, \"max_position_embeddings\": 32}";

/* The base is saved without a head, and the task adds one: PEFT saves it with the adapter. */
static void for_a_task_with_a_head(void **state)
{
    BEGIN(bert);
    adapt(&model, "*.self.query.weight", PEFT "bert.", "lora_A.weight", "lora_B.weight", 2, AS_PEFT);
    model_add_shape(&model, PEFT "classifier.weight", SHAPE(5, 8));
    model_add_shape(&model, PEFT "classifier.bias", SHAPE(5));
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS); /* nothing names a task */
    put_config(&model, "{\"peft_type\": \"LORA\", \"task_type\": \"SEQ_CLS\", \"r\": 2}");
    SAYS("explained: a LoRA adapter of rank 2 that fits 2 matrices of the model: "
         "bert.encoder.layer.{0,1}.attention.self.query.weight; nothing else differs",
         "adapter", 0);
    assert_string_equal(model_cause(&model, "adapter")->hint,
                        "load its base with AutoModelForSequenceClassification and num_labels=5, then the adapter: "
                        "PeftModel.from_pretrained(base, DIRECTORY)");
    model_drop(&model, "*classifier.bias");
    SAYS("differs: task_type adds the head of 'BertForSequenceClassification' to the base, and the adapter lacks "
         "'classifier.bias' of it: it is newly initialised",
         "adapter-head adapter", 0);
    model_add_shape(&model, PEFT "classifier.bias", SHAPE(5));
    model_resize(&model, "*classifier.weight", 8, 9);
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS);
    END;
}

/* Biases of the base that were trained with the adapter, of which PEFT saves all or those of its modules. */
static void with_biases_of_the_base(void **state)
{
    static const char biased[] = "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
                                 "\"vocab_size\": 100, \"hidden_size\": 8, \"num_hidden_layers\": 2, "
                                 "\"intermediate_size\": 16, \"num_attention_heads\": 2, \"attention_bias\": true}";
    static const char fits_it[] = "explained: a LoRA adapter of rank 2 that fits 2 matrices of the model: "
                                  "model.layers.{0,1}.self_attn.q_proj.weight; nothing else differs";
    BEGIN(biased);
    adapt(&model, "*.q_proj.weight", PEFT, "lora_A.weight", "lora_B.weight", 2, AS_PEFT);
    put_config(&model, "{\"peft_type\": \"LORA\", \"r\": 2, \"bias\": \"none\"}");
    SAYS(fits_it, "adapter", 0);
    put_config(&model, "{\"peft_type\": \"LORA\", \"r\": 2, \"bias\": \"lora_only\"}");
    SAYS("differs: bias in adapter_config.json is 'lora_only', but the adapter lacks biases of the model, which were "
         "trained: PEFT leaves them as the base has them: model.layers.{0,1}.self_attn.q_proj.bias (2 tensors)",
         "adapter-config adapter", 0);
    model_add_shape(&model, PEFT "model.layers.0.self_attn.q_proj.base_layer.bias", SHAPE(8));
    model_add_shape(&model, PEFT "model.layers.1.self_attn.q_proj.base_layer.bias", SHAPE(8));
    SAYS(fits_it, "adapter", 0);
    put_config(&model, "{\"peft_type\": \"LORA\", \"r\": 2, \"bias\": \"all\"}");
    SAYS("differs: bias in adapter_config.json is 'all', but the adapter lacks biases of the model, which were "
         "trained: PEFT leaves them as the base has them: model.layers.{0,1}.self_attn.{k_proj,v_proj,o_proj}.bias "
         "(6 tensors)",
         "adapter-config adapter", 0);
    END;
}

/* The class with the head where the base names none, and where its class leaves out a part of the model_type. */
static void for_a_task_of_another_class(void **state)
{
    static const char nameless[] = "{\"model_type\": \"llama\", \"vocab_size\": 100, \"hidden_size\": 8, "
                                   "\"num_hidden_layers\": 2, \"intermediate_size\": 16, \"num_attention_heads\": 2}";
    static const char text[] = "{\"model_type\": \"gemma3_text\", \"architectures\": [\"Gemma3ForCausalLM\"], "
                               "\"vocab_size\": 100, \"hidden_size\": 8, \"num_hidden_layers\": 2, "
                               "\"intermediate_size\": 16, \"num_attention_heads\": 2, \"head_dim\": 4, "
                               "\"num_key_value_heads\": 1, \"sliding_window\": 8}";
    static const char *const bases[] = {nameless, text};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        BEGIN(bases[i]);
        adapt(&model, "*.q_proj.weight", PEFT, "lora_A.weight", "lora_B.weight", 2, AS_PEFT);
        model_add_shape(&model, PEFT "score.weight", SHAPE(5, 8));
        put_config(&model, "{\"peft_type\": \"LORA\", \"task_type\": \"SEQ_CLS\", \"r\": 2}");
        SAYS("explained: a LoRA adapter of rank 2 that fits 2 matrices of the model: "
             "model.layers.{0,1}.self_attn.q_proj.weight; nothing else differs",
             "adapter", 0);
        END;
    }
}

/* A table that has two answers, whatever the number of labels is, is given none. */
static void for_a_task_without_labels(void **state)
{
    BEGIN("{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 100, "
          "\"n_positions\": 16, \"n_embd\": 8, \"n_layer\": 2, \"n_head\": 2}");
    adapt(&model, "*.attn.c_proj.weight", PEFT, "lora_A.weight", "lora_B.weight", 2, AS_PEFT);
    model_add_shape(&model, PEFT "qa_outputs.weight", SHAPE(2, 8));
    model_add_shape(&model, PEFT "qa_outputs.bias", SHAPE(2));
    put_config(&model, "{\"peft_type\": \"LORA\", \"task_type\": \"QUESTION_ANS\", \"r\": 2}");
    SAYS("explained: a LoRA adapter of rank 2 that fits 2 matrices of the model: "
         "transformer.h.{0,1}.attn.c_proj.weight; nothing else differs",
         "adapter", 0);
    assert_int_equal(shapeproof_prediction_unused_count(shapeproof_check_prediction(model.check)), 0);
    END;
}

/* AutoModel has a class with a simpler head for questions. */
static void for_questions_of_xlnet(void **state)
{
    BEGIN("{\"model_type\": \"xlnet\", \"architectures\": [\"XLNetLMHeadModel\"], \"vocab_size\": 100, "
          "\"d_model\": 8, \"n_layer\": 2, \"n_head\": 2, \"d_inner\": 16}");
    adapt(&model, "*.ff.layer_1.weight", PEFT, "lora_A.weight", "lora_B.weight", 2, AS_PEFT);
    model_add_shape(&model, PEFT "qa_outputs.weight", SHAPE(2, 8));
    model_add_shape(&model, PEFT "qa_outputs.bias", SHAPE(2));
    put_config(&model, "{\"peft_type\": \"LORA\", \"task_type\": \"QUESTION_ANS\", \"r\": 2, "
                       "\"target_modules\": [\"layer_1\"]}");
    SAYS("explained: a LoRA adapter of rank 2 that fits 2 matrices of the model: "
         "transformer.layer.{0,1}.ff.layer_1.weight; nothing else differs",
         "adapter", 0);
    END;
}

/* The language model has another place in memory than in files. */
static void for_a_part_of_the_model(void **state)
{
    static const char llava[] =
        "{\"model_type\": \"llava\", \"architectures\": [\"LlavaForConditionalGeneration\"], \"text_config\": "
        "{\"model_type\": \"llama\", \"vocab_size\": 320, \"num_hidden_layers\": 4}, \"vision_config\": "
        "{\"model_type\": "
        "\"clip_vision_model\", \"hidden_size\": 64, \"intermediate_size\": 128, \"num_hidden_layers\": 2, "
        "\"image_size\": 32, \"patch_size\": 8}}";
    BEGIN(llava);
    adapt(&model, "*language_model.*layers.*.q_proj.weight", PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    SAYS("explained: a LoRA adapter of rank 8 that fits 4 matrices of the model: "
         "language_model.model.layers.{0-3}.self_attn.q_proj.weight; nothing else differs",
         "adapter", 0);
    model_rename(&model, "*", "language_model.model.", "model.language_model.");
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_EXPLAINED);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->id, "adapter");
    END;
}

/* ---- what one has, all have ---- */

/* The numbers of layer_1 and layer_2 are parts of words: these are two modules of each layer. */
static void one_of_two_numbered_modules(void **state)
{
    BEGIN("{\"model_type\": \"xlnet\", \"architectures\": [\"XLNetForSequenceClassification\"], \"n_layer\": 2, "
          "\"d_model\": 32, \"n_head\": 2, \"d_inner\": 48, \"vocab_size\": 100}");
    adapt(&model, "*.ff.layer_1.weight", PEFT, "lora_A.weight", "lora_B.weight", 2, AS_PEFT);
    SAYS("explained: a LoRA adapter of rank 2 that fits 2 matrices of the model: "
         "transformer.layer.{0,1}.ff.layer_1.weight; nothing else differs",
         "adapter", 0);
    END;
}

static void a_layer_without(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    model_drop(&model, "*.layers.3.*.q_proj.*");
    model_check(&model);
    assert_string_equal(model_cause(&model, "adapter-target")->message,
                        "the adapter has nothing for 1 matrix whose siblings in other layers it changes: "
                        "model.layers.3.self_attn.q_proj.weight");
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_EXPLAINED);
    put_config(&model, "{\"r\": 8, \"target_modules\": [\"q_proj\", \"v_proj\"], \"layers_to_transform\": null}");
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS);
    put_config(&model, "{\"r\": 8, \"target_modules\": [\"q_proj\", \"v_proj\"], \"layers_to_transform\": [0, 1]}");
    model_check(&model);
    assert_null(model_cause(&model, "adapter-target"));
    END;
}

/* A head that was trained as a whole, of which nothing was saved. */
static void a_module_to_save(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    put_config(&model, "{\"r\": 8, \"modules_to_save\": [\"embed_tokens\", \"classifier\"]}");
    SAYS("differs: adapter_config.json lists 'embed_tokens' in modules_to_save, but the adapter has no tensor of it: "
         "trained values are lost",
         "adapter-part adapter", 0);
    model_add_shape(&model, PEFT "model.embed_tokens.weight", SHAPE(128256, 2048));
    model_check(&model);
    assert_null(model_cause(&model, "adapter-part"));
    END;
}

/* The magnitudes of DoRA, in every module or in none, and as adapter_config.json has it. */
static void magnitudes(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    put_config(&model, "{\"r\": 8, \"use_dora\": true}");
    SAYS("differs: adapter_config.json sets use_dora, but the adapter has no magnitudes (lora_magnitude_vector): "
         "loaders "
         "initialise their own",
         "adapter-part adapter", 0);
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 2; k++) {
            char name[128];
            snprintf(name, sizeof name, PEFT "model.layers.%d.self_attn.%c_proj.lora_magnitude_vector", i, "qv"[k]);
            model_add_shape(&model, name, SHAPE(k ? 512 : 2048));
        }
    SAYS("explained: a DoRA adapter of rank 8 that fits 32 matrices of the model: "
         "model.layers.{0-15}.self_attn.{q_proj,v_proj}.weight; nothing else differs",
         "adapter", 0);
    put_config(&model, "{\"r\": 8}");
    SAYS("differs: the adapter has magnitudes of DoRA, but adapter_config.json does not set use_dora: loaders "
         "ignore the magnitudes",
         "adapter-part adapter", 0);
    put_config(&model, "{\"r\": 8, \"use_dora\": true}");
    model_drop(&model, "*.layers.7.*.v_proj.lora_magnitude_vector");
    SAYS("differs: the adapter lacks lora_magnitude_vector of 1 module, but has it for other modules: "
         "'base_model.model.model.layers.7.self_attn.v_proj'",
         "adapter-part adapter", 0);
    END;
}

/* In place of the model parts of another method for those of its weights: (rows, columns), 0 for those of the weight.
 */
static void adapt_with(struct model *model, const char *weights, const char *const *parts, const uint64_t (*shapes)[2])
{
    struct model adapter = {.count = 0};
    for (size_t i = 0; i < model->count; i++) {
        const struct part *part = &model->parts[i];
        if (!fits(part, weights)) continue;
        for (size_t k = 0; parts[k]; k++) {
            char module[256];
            snprintf(module, sizeof module, "%.*s", (int)(strlen(part->name) - strlen(".weight")), part->name);
            add_matrix(&adapter, PEFT, module, parts[k], shapes[k][0] ? shapes[k][0] : part->shape[0],
                       shapes[k][1] ? shapes[k][1] : part->shape[1], AS_PEFT);
        }
    }
    model_empty(model);
    free(model->parts);
    model->parts = adapter.parts;
    model->count = adapter.count;
    model->capacity = adapter.capacity;
}

/* The head that a task adds to the base, of a method without pairs. */
static void scales_for_a_task_with_a_head(void **state)
{
    static const char *const ia3[] = {"ia3_l", NULL};
    static const uint64_t scales[][2] = {{0, 1}};
    BEGIN(bert);
    model_rename(&model, "*", "", "bert.");
    adapt_with(&model, "*.self.query.weight", ia3, scales);
    put_config(&model, "{\"peft_type\": \"IA3\", \"task_type\": \"SEQ_CLS\"}");
    SAYS("differs: task_type adds the head of 'BertForSequenceClassification' to the base, and the adapter lacks "
         "'classifier.weight', 'classifier.bias' of it: each of them is newly initialised",
         "adapter-head adapter", 0);
    model_add_shape(&model, PEFT "classifier.weight", SHAPE(5, 8));
    model_add_shape(&model, PEFT "classifier.bias", SHAPE(5));
    SAYS("explained: an adapter (IA3) for 2 tensors of the model: "
         "bert.encoder.layer.{0,1}.attention.self.query.weight; nothing else differs",
         "adapter", 0);
    END;
}

/* A pattern gives single modules a size of their own, and the others have the usual one. */
static void sizes_of_modules(void **state)
{
    static const char *const loha[] = {"hada_w1_a", "hada_w1_b", "hada_w2_a", "hada_w2_b", NULL};
    static const uint64_t pairs[][2] = {{0, 8}, {8, 0}, {0, 8}, {8, 0}};
    static const char fits_it[] = "explained: an adapter (LoHa) for 32 tensors of the model: "
                                  "model.layers.{0-15}.self_attn.{q_proj,v_proj}.weight; nothing else differs";
    BEGIN(llama);
    adapt_with(&model, QUERIES_AND_VALUES, loha, pairs);
    put_config(&model, "{\"peft_type\": \"LOHA\", \"r\": 4, \"rank_pattern\": {\"q_proj\": 8, \"v_proj\": 8}}");
    SAYS(fits_it, "adapter", 0);
    put_config(&model, "{\"peft_type\": \"LOHA\", \"r\": 8, \"rank_pattern\": {\"v_proj\": 4}}");
    SAYS("differs: a size in rank_pattern of adapter_config.json is 4, but tensors of the adapter have another size, "
         "such as 8: base_model.model.model.layers.{0-15}.self_attn.v_proj.{hada_w1_b,hada_w2_b} (32 tensors)",
         "adapter-config adapter", 0);
    put_config(&model, "{\"peft_type\": \"LOHA\", \"r\": 6, \"rank_pattern\": {\"q_proj\": 8}}");
    SAYS("differs: r in adapter_config.json is 6, but tensors of the adapter have another size, such as 8: "
         "base_model.model.model.layers.{0-15}.self_attn.v_proj.{hada_w1_b,hada_w2_b} (32 tensors)",
         "adapter-config adapter", 0);
    put_config(&model, "{\"peft_type\": \"LOHA\", \"r\": 6, \"rank_pattern\": {\"[qv]_proj\": 8}}");
    SAYS(fits_it, "adapter", 0);
    END;
}

/* The head beside a prompt: PEFT has nothing but "base_model." in front of its names. */
static void a_prompt_for_a_task_with_a_head(void **state)
{
    BEGIN(bert);
    model_empty(&model);
    model_add_shape(&model, "prompt_embeddings", SHAPE(4, 8));
    model_add_shape(&model, "base_model.classifier.weight", SHAPE(5, 8));
    model_add_shape(&model, "base_model.classifier.bias", SHAPE(5));
    put_config(&model, "{\"peft_type\": \"PROMPT_TUNING\", \"task_type\": \"SEQ_CLS\", \"num_virtual_tokens\": 4, "
                       "\"num_transformer_submodules\": 1, \"token_dim\": 8}");
    SAYS("explained: an adapter (prompt tuning); nothing else differs", "adapter", 0);
    model_drop(&model, "*classifier.bias");
    SAYS("differs: task_type adds the head of 'BertForSequenceClassification' to the base, and the adapter lacks "
         "'classifier.bias' of it: it is newly initialised",
         "adapter-head adapter", 0);
    END;
}

static void other_methods(void **state)
{
    static const char *const ia3[] = {"ia3_l", NULL};
    static const char *const loha[] = {"hada_w1_a", "hada_w1_b", "hada_w2_a", "hada_w2_b", NULL};
    static const uint64_t scales[][2] = {{0, 1}}, pairs[][2] = {{0, 8}, {8, 0}, {0, 8}, {8, 0}};
    BEGIN(llama);
    adapt_with(&model, QUERIES_AND_VALUES, ia3, scales);
    SAYS("explained: an adapter (IA3) for 32 tensors of the model: "
         "model.layers.{0-15}.self_attn.{q_proj,v_proj}.weight; nothing else differs",
         "adapter", 0);
    put_config(&model, "{\"peft_type\": \"IA3\", \"target_modules\": [\"q_proj\", \"v_proj\"], "
                       "\"feedforward_modules\": [], \"exclude_modules\": null}");
    SAYS("explained: an adapter (IA3) for 32 tensors of the model: "
         "model.layers.{0-15}.self_attn.{q_proj,v_proj}.weight; nothing else differs",
         "adapter", 0);
    model_drop(&model, "*.layers.5.*v_proj.ia3_l");
    SAYS("differs: the adapter has nothing for 1 matrix whose siblings in other layers it changes: "
         "model.layers.5.self_attn.v_proj.weight",
         "adapter-target adapter", 0);
    model_add_shape(&model, PEFT "model.layers.5.self_attn.v_proj.ia3_l", SHAPE(512, 1));
    model_resize(&model, "*.layers.3.*v_proj.ia3_l", 512, 1024);
    SAYS("differs: tensors have the wrong size for the model: "
         "base_model.model.model.layers.3.self_attn.v_proj.ia3_l (1 tensor)",
         "adapter-shape adapter", 0);
    END;
    model_open(&model, llama);
    model_predict(&model, 0);
    adapt_with(&model, QUERIES_AND_VALUES, loha, pairs);
    SAYS("explained: an adapter (LoHa) for 32 tensors of the model: "
         "model.layers.{0-15}.self_attn.{q_proj,v_proj}.weight; nothing else differs",
         "adapter", 0);
    model_drop(&model, "*.layers.3.*v_proj.hada_w2_b");
    SAYS("differs: the adapter lacks hada_w2_b of 1 module, but has it for other modules: "
         "'base_model.model.model.layers.3.self_attn.v_proj'",
         "adapter-part adapter", 0);
    END;
}

/* BOFT: the blocks of a factor make up the inputs, 512 * 4 = 2048. As PEFT 0.21 saves it. */
static void butterflies(void **state)
{
    char name[80];
    BEGIN(llama);
    model_empty(&model);
    for (unsigned layer = 0; layer < 16; layer++) {
        snprintf(name, sizeof name, PEFT "model.layers.%u.self_attn.q_proj.boft_R", layer);
        model_add_shape(&model, name, SHAPE(1, 512, 4, 4));
        snprintf(name, sizeof name, PEFT "model.layers.%u.self_attn.q_proj.boft_s", layer);
        model_add_shape(&model, name, SHAPE(2048, 1));
    }
    SAYS("explained: an adapter (BOFT) for 16 tensors of the model: model.layers.{0-15}.self_attn.q_proj.weight; "
         "nothing else differs",
         "adapter", 0);
    put_config(&model, "{\"peft_type\": \"BOFT\", \"boft_block_size\": 4, \"boft_n_butterfly_factor\": 2}");
    SAYS("explained: an adapter (BOFT) for 16 tensors of the model: model.layers.{0-15}.self_attn.q_proj.weight; "
         "nothing else differs",
         "adapter", 0);
    model_resize(&model, "*.layers.3.*boft_R", 1, 3);
    model_check(&model);
    assert_string_equal(model_cause(&model, "adapter-config")->message,
                        "boft_n_butterfly_factor in adapter_config.json is 2, but tensors of the adapter have another "
                        "number of factors: base_model.model.model.layers.3.self_attn.q_proj.boft_R (1 tensor)");
    model_resize(&model, "*.layers.3.*boft_R", 3, 1);
    model_resize(&model, "*.layers.3.*boft_R", 512, 256);
    SAYS("differs: tensors have the wrong size for the model: "
         "base_model.model.model.layers.3.self_attn.q_proj.boft_R (1 tensor)",
         "adapter-shape adapter", 0);
    END;
}

static void prompts(void **state)
{
    BEGIN(llama);
    model_empty(&model);
    model_add_shape(&model, "prompt_embeddings", SHAPE(20, 2048));
    put_config(&model, "{\"peft_type\": \"PROMPT_TUNING\"}");
    SAYS("explained: an adapter (prompt tuning); nothing else differs", "adapter", 0);
    model_resize(&model, "prompt_embeddings", 2048, 1024);
    SAYS("differs: tensors have the wrong size for the model: prompt_embeddings (1 tensor)", "adapter-shape", 0);
    model_drop(&model, "prompt_embeddings");
    model_add_shape(&model, "prompt_embeddings", SHAPE(20, 4, 2048));
    SAYS("differs: prompt_embeddings has 3 dimensions, but PEFT makes it with 2", "adapter-config adapter", 0);
    END;
}

/* Under the key of a trainer. */
static void prompts_of_a_trainer(void **state)
{
    BEGIN(llama);
    model_empty(&model);
    model_add_shape(&model, "state_dict.prompt_embeddings", SHAPE(20, 2048));
    put_config(&model, "{\"peft_type\": \"PROMPT_TUNING\", \"num_virtual_tokens\": 21, \"token_dim\": 2048, "
                       "\"num_transformer_submodules\": 1}");
    SAYS("differs: the first dimension of state_dict.prompt_embeddings is 20, but adapter_config.json makes it 21: "
         "num_virtual_tokens is 21",
         "adapter-config adapter", 0);
    END;
}

/* More than 64 bits. */
static void prompts_of_too_many_layers(void **state)
{
    BEGIN(llama);
    model_empty(&model);
    model_add_shape(&model, "prompt_embeddings", SHAPE(20, 16384));
    put_config(&model, "{\"peft_type\": \"PREFIX_TUNING\", \"num_virtual_tokens\": 20, \"token_dim\": 512, "
                       "\"num_layers\": 4611686018427387904}");
    SAYS("differs: the second dimension of prompt_embeddings is 16384, but adapter_config.json makes it too large for "
         "any tensor: token_dim is 512, num_layers is 4611686018427387904, for keys and values",
         "adapter-config adapter", 0);
    END;
}

/* Numbers that are none: PEFT raises an error. Of a task from sequence to sequence there are two submodules. */
static void prompts_of_impossible_numbers(void **state)
{
    static const struct {
        const char *value, *said;
    } wrong[] = {{"-3", "-3"}, {"0", "0"}, {"\"20\"", "\"20\""}, {"2.5", "2.5"}, {"null", "null"}, {"[5]", "[5]"}};
    BEGIN(llama);
    model_empty(&model);
    model_add_shape(&model, "prompt_embeddings", SHAPE(20, 2048));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char config[200], said[200];
        snprintf(config, sizeof config,
                 "{\"peft_type\": \"PROMPT_TUNING\", \"num_virtual_tokens\": %s, \"token_dim\": 2048}", wrong[i].value);
        snprintf(said, sizeof said,
                 "differs: num_virtual_tokens in adapter_config.json is %s, but PEFT needs a positive integer",
                 wrong[i].said);
        put_config(&model, config);
        SAYS(said, "adapter-config adapter", 0);
    }
    put_config(&model,
               "{\"peft_type\": \"PROMPT_TUNING\", \"task_type\": \"SEQ_2_SEQ_LM\", \"num_virtual_tokens\": 10, "
               "\"token_dim\": 2048}");
    SAYS("explained: an adapter (prompt tuning); nothing else differs", "adapter", 0);
    put_config(&model, "{\"peft_type\": \"PROMPT_TUNING\", \"num_virtual_tokens\": 10, \"token_dim\": 2048}");
    SAYS("differs: the first dimension of prompt_embeddings is 20, but adapter_config.json makes it 10: "
         "num_virtual_tokens is 10",
         "adapter-config adapter", 0);
    END;
}

static void prompts_without_a_method(void **state)
{
    BEGIN(llama);
    model_empty(&model);
    model_add_shape(&model, "prompt_embeddings", SHAPE(20, 2048));
    put_config(&model, "{\"num_virtual_tokens\": 20, \"token_dim\": 2048}");
    SAYS("differs: adapter_config.json has no peft_type, without which PEFT loads no prompt: it raises an error",
         "adapter-config adapter", 0);
    END;
}

/* A prefix of 20 tokens: keys and values (2) of 8 heads of 64, in 16 layers. As PEFT 0.21 saves it. */
static void prefixes(void **state)
{
    BEGIN(llama);
    model_empty(&model);
    model_add_shape(&model, "prompt_embeddings", SHAPE(20, 16384));
    put_config(&model, "{\"peft_type\": \"PREFIX_TUNING\", \"num_virtual_tokens\": 20, \"token_dim\": 512, "
                       "\"num_layers\": 16, \"num_transformer_submodules\": 1}");
    SAYS("explained: an adapter (prefix tuning); nothing else differs", "adapter", 0);
    model_resize(&model, "prompt_embeddings", 16384, 16383);
    SAYS("differs: the second dimension of prompt_embeddings is 16383, but adapter_config.json makes it 16384: "
         "token_dim is 512, num_layers is 16, for keys and values",
         "adapter-config adapter", 0);
    model_resize(&model, "prompt_embeddings", 16383, 16384);
    model_resize(&model, "prompt_embeddings", 20, 21);
    SAYS("differs: the first dimension of prompt_embeddings is 21, but adapter_config.json makes it 20: "
         "num_virtual_tokens is 20",
         "adapter-config adapter", 0);
    END;
}

/* Multitask prompt tuning has a change of the prompt for each task: of 5 tasks and rank 2, (5, 20, 2) times
 * (5, 2, 2048). */
static void prompts_of_tasks(void **state)
{
    BEGIN(llama);
    model_empty(&model);
    model_add_shape(&model, "prompt_embeddings", SHAPE(20, 2048));
    model_add_shape(&model, "prefix_task_cols", SHAPE(5, 20, 2));
    model_add_shape(&model, "prefix_task_rows", SHAPE(5, 2, 2048));
    put_config(&model, "{\"peft_type\": \"MULTITASK_PROMPT_TUNING\", \"num_virtual_tokens\": 20, \"token_dim\": 2048, "
                       "\"num_tasks\": 5, \"num_ranks\": 2, \"num_transformer_submodules\": 1}");
    SAYS("explained: an adapter (multitask prompt tuning); nothing else differs", "adapter", 0);
    model_resize(&model, "prefix_task_rows", 2, 3);
    SAYS("differs: the second dimension of prefix_task_rows is 3, but adapter_config.json makes it 2: num_ranks is 2",
         "adapter-config adapter", 0);
    END;
}

/* AdaLoRA: lora_E has a row for each rank that is left, and PEFT prunes a module down to none. */
static void ranks_of_adalora(void **state)
{
    char name[80];
    BEGIN(llama);
    adapt(&model, "*q_proj.weight", PEFT, "lora_A", "lora_B", 3, AS_PEFT);
    model_resize(&model, "*.layers.1.*lora_[AB]", 3, 0);
    for (unsigned layer = 0; layer < 16; layer++) {
        snprintf(name, sizeof name, PEFT "model.layers.%u.self_attn.q_proj.lora_E", layer);
        model_add_shape(&model, name, SHAPE(layer == 1 ? 0 : 3, 1));
    }
    SAYS("explained: a LoRA adapter of ranks 0 to 3 that fits 16 matrices of the model: "
         "model.layers.{0-15}.self_attn.q_proj.weight; nothing else differs",
         "adapter", 0);
    model_resize(&model, "*.layers.0.*lora_E", 3, 4);
    model_check(&model);
    assert_string_equal(model_cause(&model, "adapter-shape")->message,
                        "tensors have the wrong size for the model: "
                        "base_model.model.model.layers.0.self_attn.q_proj.lora_E (1 tensor)");
    END;
}

/* A base that is quantised is elsewhere: the adapter is for the weights. */
static void for_a_quantised_base(void **state)
{
    BEGIN(llama);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    model_set(&model, "quantization_config={\"quant_method\": \"gptq\", \"bits\": 4}");
    SAYS(fitting, "adapter", 0);
    END;
}

/* Names that are alike and no pairs: nothing is claimed. */
static void no_adapter(void **state)
{
    BEGIN(llama);
    model_add_shape(&model, "lora_A.weight", SHAPE(8, 8));
    model_add_shape(&model, "model.lora_Ax.weight", SHAPE(8, 8));
    model_add_shape(&model, "model.lora_A.a.b.weight", SHAPE(8, 8));
    model_check(&model);
    assert_told(&model,
                "differs: 3 tensors are unexpected: lora_A.weight, model.lora_Ax.weight, model.lora_A.a.b.weight", "",
                3);
    model_close(&model);
}

/* ---- without a base ---- */

static void assert_described(struct model *model, bool consistent, const char *text)
{
    bool is;
    model_check(model);
    char *described = shapeproof_adapter_describe(model->inventory, &is);
    if (text) assert_string_equal(described, text);
    else assert_null(described);
    assert_int_equal(is, consistent);
    shapeproof_free(described);
}

static void without_a_base(void **state)
{
    BEGIN(llama);
    assert_described(&model, true, NULL);
    adapt(&model, QUERIES_AND_VALUES, PEFT, "lora_A.weight", "lora_B.weight", 8, AS_PEFT);
    assert_described(&model, true, "this is a LoRA adapter of rank 8 for 32 modules");
    put_config(&model, "{\"base_model_name_or_path\": \"meta-llama/Llama-3.2-1B\"}");
    assert_described(&model, true, "this is a LoRA adapter of rank 8 for 32 modules of 'meta-llama/Llama-3.2-1B'");
    model_resize(&model, "*.layers.3.*.q_proj.lora_B.weight", 8, 4);
    assert_described(&model, false,
                     "A and B of the adapter for 'base_model.model.model.layers.3.self_attn.q_proj' do not fit each "
                     "other");
    model_drop(&model, "*.layers.3.*.q_proj.lora_B.weight");
    assert_described(&model, false,
                     "the adapter has 'base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight' but not the "
                     "other matrix of the pair");
    model_empty(&model);
    model_add_shape(&model, "lora_unet_conv.lora_mid.weight", SHAPE(2, 2, 3, 3));
    assert_described(&model, false,
                     "the adapter has 'lora_unet_conv.lora_mid.weight' but not the other matrix of "
                     "the pair");
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_as_saved),
        cmocka_unit_test(names_with_the_adapters_own),
        cmocka_unit_test(names_of_other_programs),
        cmocka_unit_test(weights_the_other_way_round),
        cmocka_unit_test(for_another_base),
        cmocka_unit_test(for_another_architecture),
        cmocka_unit_test(one_of_two),
        cmocka_unit_test(ranks_that_differ),
        cmocka_unit_test(ranks_by_pattern),
        cmocka_unit_test(with_more_tokens),
        cmocka_unit_test(not_merged),
        cmocka_unit_test(not_merged_without_wrappers),
        cmocka_unit_test(not_merged_with_a_whole_module),
        cmocka_unit_test(without_the_front_of_peft),
        cmocka_unit_test(for_the_base_alone),
        cmocka_unit_test(for_a_task_with_a_head),
        cmocka_unit_test(with_biases_of_the_base),
        cmocka_unit_test(for_a_task_of_another_class),
        cmocka_unit_test(for_a_task_without_labels),
        cmocka_unit_test(for_questions_of_xlnet),
        cmocka_unit_test(for_a_part_of_the_model),
        cmocka_unit_test(one_of_two_numbered_modules),
        cmocka_unit_test(a_layer_without),
        cmocka_unit_test(a_module_to_save),
        cmocka_unit_test(magnitudes),
        cmocka_unit_test(scales_for_a_task_with_a_head),
        cmocka_unit_test(a_prompt_for_a_task_with_a_head),
        cmocka_unit_test(sizes_of_modules),
        cmocka_unit_test(other_methods),
        cmocka_unit_test(butterflies),
        cmocka_unit_test(prompts),
        cmocka_unit_test(prompts_of_a_trainer),
        cmocka_unit_test(prompts_of_too_many_layers),
        cmocka_unit_test(prompts_of_impossible_numbers),
        cmocka_unit_test(prompts_without_a_method),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(prompts_of_tasks),
        cmocka_unit_test(ranks_of_adalora),
        cmocka_unit_test(for_a_quantised_base),
        cmocka_unit_test(a_target_without_a_pair),
        cmocka_unit_test(of_three_dimensions),
        cmocka_unit_test(what_was_trained_as_a_whole),
        cmocka_unit_test(no_adapter),
        cmocka_unit_test(without_a_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
