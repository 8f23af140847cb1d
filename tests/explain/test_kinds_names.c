/* SPDX-License-Identifier: MIT
 * Wrappers and prefixes: in front of everything, of one component, nested, in either order; a base that is added, left
 * out or moved; names that are misspelt for good. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/kinds.h"

static const char gpt2[] =
    "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 50257, "
    "\"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, \"n_positions\": 1024}";
static const char llama[] = "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], "
                            "\"vocab_size\": 32000, \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
                            "\"num_attention_heads\": 32, \"intermediate_size\": 11008, "
                            "\"tie_word_embeddings\": false}";
static const char llava[] = "{\"model_type\": \"llava\", \"architectures\": [\"LlavaForConditionalGeneration\"], "
                            "\"text_config\": {\"model_type\": \"llama\", \"vocab_size\": 32064}, "
                            "\"vision_config\": {\"model_type\": \"clip_vision_model\", \"hidden_size\": 1024, "
                            "\"intermediate_size\": 4096, \"num_hidden_layers\": 24, \"image_size\": 336, "
                            "\"patch_size\": 14}}";
static const char mamba[] = "{\"model_type\": \"mamba\", \"architectures\": [\"MambaForCausalLM\"], "
                            "\"vocab_size\": 50280, \"hidden_size\": 768, \"num_hidden_layers\": 24}";
static const char bert[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertModel\"], \"vocab_size\": 30522, "
                           "\"hidden_size\": 768, \"num_hidden_layers\": 12, \"intermediate_size\": 3072}";

static const char clipseg[] =
    "{\"model_type\": \"clipseg\", \"architectures\": [\"CLIPSegForImageSegmentation\"], \"projection_dim\": 24, "
    "\"extract_layers\": [0, 1], \"text_config\": {\"hidden_size\": 48, \"num_hidden_layers\": 2, "
    "\"intermediate_size\": 96, \"vocab_size\": 120}, \"vision_config\": {\"hidden_size\": 40, "
    "\"num_hidden_layers\": 2, \"intermediate_size\": 80, \"image_size\": 32, \"patch_size\": 8}}";

/* ---- in front of everything ---- */

/* Data-parallel training, then compilation, or the other way round. */
static void wrappers_in_either_order(void **state)
{
    static const char *const orders[] = {"_orig_mod.module.", "module._orig_mod."};
    for (size_t i = 0; i < 2; i++) {
        char line[128];
        BEGIN(gpt2);
        model_prefix(&model, orders[i]);
        snprintf(line, sizeof line, "explained: every name in the file begins with '%s'; nothing else differs",
                 orders[i]);
        SAYS(line, "wrapper", 0);
        END;
    }
}

/* Sharded training wraps the whole, each layer, and parts of layers. */
static void wrappers_at_several_depths(void **state)
{
    BEGIN(llama);
    model_rename(&model, "*.self_attn.*", "self_attn.", "self_attn._fsdp_wrapped_module.");
    model_rename(&model, "model.layers.?.*", ".mlp.", ".mlp._checkpoint_wrapped_module.");
    model_prefix(&model, "_fsdp_wrapped_module.");
    SAYS("explained: the wrappers '_fsdp_wrapped_module', '_checkpoint_wrapped_module' stand in 291 of "
         "291 names in the file; nothing else differs",
         "wrapper", 0);
    END;
}

/* Few of the names have it: they are unwrapped all the same. */
static void one_layer_wrapped(void **state)
{
    BEGIN(llama);
    model_rename(&model, "model.layers.7.mlp.*", ".mlp.", ".mlp._checkpoint_wrapped_module.");
    SAYS("explained: the wrapper '_checkpoint_wrapped_module' stands in 3 of 291 names in the file; "
         "nothing else differs",
         "wrapper", 0);
    END;
}

/* A library for adapters puts its own model around. */
static void base_model(void **state)
{
    BEGIN(llama);
    model_prefix(&model, "base_model.model.");
    SAYS("explained: every name in the file begins with 'base_model.model.'; nothing else differs", "prefix", 0);
    END;
}

/* ---- by component ---- */

/* The image encoder alone was moved below "model". */
static void the_vision_tower_moved(void **state)
{
    BEGIN(llava);
    model_rename(&model, "vision_tower.*", "vision_tower", "model.vision_tower");
    SAYS("explained: 391 of 686 names in the file begin with 'model.'; nothing else differs", "prefix", 0);
    END;
}

/* transformers 5 leaves the image encoder's own prefix out, and reads it with and without; 4 needs it. */
static void the_inner_prefix_left_out(void **state)
{
    static char newer[sizeof llava + 64];
    snprintf(newer, sizeof newer, "{\"transformers_version\": \"5.23.0\", %s", llava + 1);
    BEGIN(newer);
    SAYS("match: all 686 tensors, 7,063,427,072 elements", "", 0);
    model_rename(&model, "vision_tower.*", "vision_tower.", "vision_tower.vision_model.");
    SAYS("explained: names in the file begin with 'vision_tower.vision_model.' for 'vision_tower.' (391); nothing else "
         "differs",
         "prefix", 0);
    model_rename(&model, "vision_tower.*", "vision_tower.", "model.vision_tower.");
    SAYS("explained: names in the file begin with 'model.vision_tower.vision_model.' for 'vision_tower.' (391); "
         "nothing else differs",
         "prefix", 0);
    END;
    struct model older;
    model_open(&older, llava);
    model_predict(&older, 0);
    model_rename(&older, "vision_tower.*", "vision_tower.vision_model.", "vision_tower.");
    model_check(&older);
    assert_told(&older,
                "explained: names in the file begin with 'vision_tower.' for 'vision_tower.vision_model.' (391); "
                "nothing else differs",
                "prefix", 0);
    model_close(&older);
}

/* A conversion that puts the prefix there each time it runs. */
static void language_model_three_times(void **state)
{
    BEGIN(llava);
    model_rename(&model, "language_model.*", "language_model", "language_model.language_model.language_model");
    SAYS("explained: 291 of 686 names in the file begin with 'language_model.language_model.'; nothing "
         "else differs",
         "prefix", 0);
    END;
}

/* Each component in its own way: the base was moved in front. */
static void every_component_otherwise(void **state)
{
    BEGIN(llava);
    model_rename(&model, "language_model.model.*", "language_model.model.", "model.language_model.");
    model_rename(&model, "language_model.lm_head.*", "language_model.", "");
    model_rename(&model, "vision_tower.*", "", "model.");
    model_rename(&model, "multi_modal_projector.*", "", "model.");
    SAYS("explained: names in the file begin with 'model.' (395), with 'model.language_model.' for "
         "'language_model.model.' (290), without 'language_model.' (1); nothing else differs",
         "prefix", 0);
    model_prefix(&model, "module.");
    SAYS("explained: names in the file begin with 'module.model.' (395), with "
         "'module.model.language_model.' for 'language_model.model.' (290), with 'module.' for "
         "'language_model.' (1); nothing else differs",
         "prefix", 0);
    END;
}

static void each_component_in_its_own_wrapper(void **state)
{
    BEGIN(llava);
    model_rename(&model, "language_model.*", "language_model.", "language_model.module.");
    model_rename(&model, "vision_tower.*", "vision_tower.", "vision_tower._orig_mod.");
    SAYS("explained: the wrapper '_orig_mod' stands in 391 of 686 names in the file; names in the file "
         "begin with 'language_model.module.' for 'language_model.' (291)",
         "wrapper prefix", 0);
    END;
}

/* One tensor of a component is missing: that is said, and nothing else. */
static void a_component_otherwise_and_one_missing(void **state)
{
    BEGIN(llava);
    model_rename(&model, "language_model.model.*", "language_model.model.", "model.language_model.");
    model_drop(&model, "*.layers.3.mlp.up_proj.weight");
    SAYS("differs: language_model.model.layers.3.mlp.up_proj.weight is missing", "prefix", 1);
    END;
}

/* Another name for a component is a renaming, not a prefix. */
static void another_component(void **state)
{
    BEGIN(llava);
    model_rename(&model, "vision_tower.*", "vision_tower", "image_encoder");
    SAYS("differs: renamed: 'vision_tower' is called 'image_encoder' (391 tensors) in the file", "renamed", 0);
    END;
}

/* The prefix is no excuse for the shapes. */
static void a_component_otherwise_and_reshaped(void **state)
{
    BEGIN(llava);
    model_rename(&model, "multi_modal_projector.*", "", "model.");
    model_resize(&model, "model.multi_modal_projector.*", 4096, 4097);
    SAYS("differs: 4 tensors have another shape: model.multi_modal_projector.linear_{1,2}.{weight,bias}", "prefix", 4);
    END;
}

/* ---- bases ---- */

/* A weight and a bias of other shapes are another layer, and not the first of three in a wrapper. */
static void one_layer_for_three(void **state)
{
    BEGIN(clipseg);
    model_set(&model, "use_complex_transposed_convolution=true");
    SAYS("differs: use_complex_transposed_convolution is true on the command line, but the file has "
         "decoder.transposed_convolution.{weight,bias} and lacks decoder.transposed_convolution.{0,2,4}.{weight,bias}",
         "hyperparameter", 0);
    END;
}

/* ---- a component under another name, and something else ---- */

static void renamed_and_one_layer_more(void **state)
{
    BEGIN(llama);
    model_copy(&model, "model.layers.31.*", ".31.", ".32.");
    model_rename(&model, "model.layers.*", "layers", "blocks");
    SAYS("differs: renamed: 'layers' is called 'blocks' (288 tensors) in the file; 9 findings without a known cause",
         "renamed", 9);
    END;
}

/* Of the layer that is missing, no weight is called as the biases of the others are. */
static void renamed_and_one_layer_less(void **state)
{
    BEGIN(bert);
    model_drop(&model, "encoder.layer.3.*");
    model_rename(&model, "*.bias", "bias", "offset");
    model_check(&model);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->id, "renamed");
    assert_string_equal(shapeproof_check_cause(model.check, 1)->message,
                        "encoder.layer.3 is missing altogether (16 tensors)");
    assert_int_equal(shapeproof_check_cause_count(model.check), 2);
    assert_int_equal(sp_check_open(model.check), 0);
    END;
}

/* What is tied need not be there, but it is. */
static void renamed_and_tied(void **state)
{
    BEGIN(llama);
    model_rename(&model, "model.*", "model", "decoder");
    model_set(&model, "tie_word_embeddings=true");
    SAYS("differs: renamed: 'model' is called 'decoder' (290 tensors) in the file", "renamed", 0);
    END;
}

/* A file of which every tensor is renamed is no file of something else. */
static void renamed_and_one_missing(void **state)
{
    BEGIN(llama);
    model_drop(&model, "model.layers.7.mlp.up_proj.weight");
    model_rename(&model, "*", "weight", "kernel");
    SAYS("differs: renamed: 'weight' is called 'kernel' (290 tensors) in the file; 1 finding without a known cause",
         "renamed", 1);
    END;
}

static void base_left_out(void **state)
{
    BEGIN(gpt2);
    model_rename(&model, "*", "transformer.", "");
    SAYS("explained: the file leaves out 'transformer.' in front of 148 names; nothing else differs", "base-prefix", 0);
    END;
}

/* The head keeps its name, as it always stood beside the base. */
static void base_left_out_beside_a_head(void **state)
{
    BEGIN(llama);
    model_rename(&model, "model.*", "model.", "");
    SAYS("explained: the file leaves out 'model.' in front of 290 names; nothing else differs", "base-prefix", 0);
    END;
}

/* What hears, sees and writes was saved beside what speaks, and its name left out. */
static void outer_model_dropped(void **state)
{
    BEGIN("{\"model_type\": \"qwen2_5_omni\", \"architectures\": [\"Qwen2_5OmniModel\"], "
          "\"talker_config\": {\"hidden_size\": 896, \"intermediate_size\": 4864, \"num_hidden_layers\": 24, "
          "\"num_attention_heads\": 12}}");
    model_rename(&model, "thinker.*", "thinker.", "");
    SAYS("explained: the file leaves out 'thinker.' in front of 1346 names; nothing else differs", "base-prefix", 0);
    END;
}

/* ---- other names ---- */

/* The embedding of a state-space model, which some releases call by its plural. */
static void embedding_for_embeddings(void **state)
{
    BEGIN(mamba);
    model_rename(&model, "*", "backbone.embeddings", "backbone.embedding");
    SAYS("explained: 1 tensor has a name of another version: backbone.embedding.weight; nothing else "
         "differs",
         "old-names", 0);
    END;
}

/* A misspelling that was kept: two tensors, one letter. */
static void kept_misspelling(void **state)
{
    static const char table[] = "table pair\nmodel_type \"pair\"\n[all] for i in 0..3\n"
                                "assign.{i}.left_weight (64, 32)\nassign.{i}.right_weight (64, 32)\n";
    struct model model;
    struct shapeproof_error error = {0};
    (void)state;
    model_open(&model, "{\"model_type\": \"pair\"}");
    assert_int_equal(shapeproof_tables_add_text(model.tables, "pair.shapes", table, strlen(table), &error),
                     SHAPEPROOF_OK);
    model_predict(&model, 0);
    model_rename(&model, "*.right_weight", "right_weight", "right_wight");
    SAYS("differs: renamed: assign.{}.right_weight is called assign.{}.right_wight (4 tensors) in the "
         "file",
         "renamed", 0);
    END;
}

/* ---- TensorFlow ---- */

static void slashes_from(char *name)
{
    for (; *name; name++) {
        if (strncmp(name, "_._", 3) == 0) name += 2;
        else if (*name == '.') *name = '/';
    }
}

/* The names that transformers gave to the tensors of a model in TensorFlow, and its kernels. */
static void as_tensorflow(struct model *model)
{
    model_rename(model, "*LayerNorm.weight", "weight", "gamma");
    model_rename(model, "*LayerNorm.bias", "bias", "beta");
    model_rename(model, "*.position_embeddings.weight", "weight", "embeddings");
    model_transpose(model, "*dense.weight");
    model_transpose(model, "*.self.*.weight");
    model_rename(model, "*dense.weight", "weight", "kernel");
    model_rename(model, "*.self.*.weight", "weight", "kernel");
    model_rename(model, "*", "layer.", "layer_._");
    for (size_t i = 0; i < model->count; i++) {
        struct part *part = &model->parts[i];
        slashes_from(part->name);
        replace_in(part, "", "bert/tf_bert_model/bert/");
        const size_t length = strlen(part->name);
        char *name = malloc(length + 3);
        if (!name) abort();
        snprintf(name, length + 3, "%s:0", part->name);
        free(part->name);
        part->name = name;
    }
}

static void tensorflow(void **state)
{
    BEGIN(bert);
    as_tensorflow(&model);
    SAYS("explained: names of TensorFlow: bert/tf_bert_model/bert/embeddings/word_embeddings/weight:0 "
         "for embeddings.word_embeddings.weight (199 tensors); kernels are transposed, as TensorFlow has "
         "them (24 tensors)",
         "other-names kernels", 0);
    END;
}

/* What is called weight is not transposed by a converter. */
static void tensorflow_and_one_transposed(void **state)
{
    BEGIN(bert);
    as_tensorflow(&model);
    model_transpose(&model, "*/word_embeddings/weight:0");
    SAYS("differs: bert/tf_bert_model/bert/embeddings/word_embeddings/weight:0 is stored transposed: "
         "(768, 30522), expected (30522, 768), from vocab_size, hidden_size",
         "transposed other-names kernels", 0);
    END;
}

static void tensorflow_and_one_missing(void **state)
{
    BEGIN(bert);
    as_tensorflow(&model);
    model_drop(&model, "*layer_._2/attention/self/query/kernel:0");
    SAYS("differs: encoder.layer.2.attention.self.query.weight is missing", "other-names kernels", 1);
    END;
}

/* ---- what transformers 5 calls in memory what it saves under the names of old ---- */

static const char vit[] = "{\"model_type\": \"vit\", \"architectures\": [\"ViTForImageClassification\"], "
                          "\"num_hidden_layers\": 2, \"image_size\": 32}";

static void in_memory_of_an_image_encoder(void **state)
{
    BEGIN(vit);
    model_rename(&model, "*.encoder.layer.*", "encoder.layer.", "layers.");
    model_rename(&model, "*.attention.attention.query.*", "attention.query", "q_proj");
    model_rename(&model, "*.attention.attention.key.*", "attention.key", "k_proj");
    model_rename(&model, "*.attention.attention.value.*", "attention.value", "v_proj");
    model_rename(&model, "*.attention.output.dense.*", "output.dense", "o_proj");
    model_rename(&model, "*.intermediate.dense.*", "intermediate.dense", "mlp.fc1");
    model_rename(&model, "*.output.dense.*", "output.dense", "mlp.fc2");
    SAYS("explained: names of transformers 5: vit.layers.0.layernorm_before.weight for "
         "vit.encoder.layer.0.layernorm_before.weight (32 tensors); nothing else differs",
         "other-names", 0);
    for (size_t i = 0; i < model.count; i += 2) replace_in(&model.parts[i], "", "module.");
    SAYS("differs: 20 of 40 names in the file begin with 'module.', the others do not, such as "
         "vit.embeddings.position_embeddings",
         "prefix", 0);
    END;
}

static const char classifier[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertForSequenceClassification\"], "
                                 "\"num_hidden_layers\": 2}";

/* Two files put together: the parts of the model at the top begin in two ways. */
static void top_begins_in_two_ways(void **state)
{
    BEGIN(classifier);
    model_rename(&model, "bert.*", "bert.", "module.bert.");
    SAYS("differs: 39 of 41 names in the file begin with 'module.', the others do not, such as classifier.weight",
         "prefix", 0);
    model_rename(&model, "classifier.*", "classifier.", "module.classifier.");
    SAYS("explained: every name in the file begins with 'module.'; nothing else differs", "prefix", 0);
    model_rename(&model, "module.bert.*", "module.bert.", "bert.");
    SAYS("differs: 2 of 41 names in the file begin with 'module.', the others do not, such as "
         "bert.embeddings.word_embeddings.weight",
         "prefix", 0);
    END;
}

static const char granite[] = "{\"model_type\": \"granitemoe\", \"architectures\": [\"GraniteMoeForCausalLM\"], "
                              "\"vocab_size\": 100, \"hidden_size\": 64, \"num_hidden_layers\": 2, "
                              "\"num_attention_heads\": 4, \"intermediate_size\": 96, \"num_local_experts\": 4}";

static void in_memory_of_experts(void **state)
{
    BEGIN(granite);
    model_rename(&model, "*.router.layer.weight", "router.layer.weight", "router.weight");
    model_rename(&model, "*.input_linear.weight", "input_linear.weight", "experts.gate_up_proj");
    model_rename(&model, "*.output_linear.weight", "output_linear.weight", "experts.down_proj");
    SAYS("explained: names of transformers 5: model.layers.0.block_sparse_moe.router.weight for "
         "model.layers.0.block_sparse_moe.router.layer.weight (6 tensors); nothing else differs",
         "other-names", 0);
    END;
}

/* The state of an optimizer is most of the file: the names of the model are recognised all the same. */
static void in_memory_beside_state(void **state)
{
    BEGIN(granite);
    model_rename(&model, "*.router.layer.weight", "router.layer.weight", "router.weight");
    model_rename(&model, "*.input_linear.weight", "input_linear.weight", "experts.gate_up_proj");
    model_rename(&model, "*.output_linear.weight", "output_linear.weight", "experts.down_proj");
    for (size_t i = 0; i < 63; i++) {
        char name[64];
        snprintf(name, sizeof name, "optimizer.state.%zu.exp_avg", i);
        model_add_shape(&model, name, SHAPE(3))->flags = SHAPEPROOF_TENSOR_STATE;
    }
    assert_string_equal(model_check_memory(&model),
                        "explained: names of transformers 5: model.layers.0.block_sparse_moe.router.weight for "
                        "model.layers.0.block_sparse_moe.router.layer.weight (6 tensors); nothing else differs");
    END;
}

/* The head of a reward model: one matrix is missing, and one of its shape is there. */
static void a_head_of_another_name(void **state)
{
    BEGIN("{\"model_type\": \"llama\", \"architectures\": [\"LlamaForSequenceClassification\"], \"vocab_size\": 100, "
          "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"intermediate_size\": 96, "
          "\"num_labels\": 1}");
    model_rename(&model, "score.weight", "score", "value_head");
    SAYS("differs: renamed: score.weight is missing, and value_head.weight has its shape", "renamed", 0);
    model_resize(&model, "value_head.weight", 1, 2);
    model_check(&model);
    assert_null(model_cause(&model, "renamed"));
    END;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_of_another_name),
        cmocka_unit_test(in_memory_of_an_image_encoder),
        cmocka_unit_test(top_begins_in_two_ways),
        cmocka_unit_test(in_memory_of_experts),
        cmocka_unit_test(in_memory_beside_state),
        cmocka_unit_test(wrappers_in_either_order),
        cmocka_unit_test(wrappers_at_several_depths),
        cmocka_unit_test(one_layer_wrapped),
        cmocka_unit_test(base_model),
        cmocka_unit_test(the_vision_tower_moved),
        cmocka_unit_test(the_inner_prefix_left_out),
        cmocka_unit_test(language_model_three_times),
        cmocka_unit_test(every_component_otherwise),
        cmocka_unit_test(each_component_in_its_own_wrapper),
        cmocka_unit_test(a_component_otherwise_and_one_missing),
        cmocka_unit_test(another_component),
        cmocka_unit_test(a_component_otherwise_and_reshaped),
        cmocka_unit_test(one_layer_for_three),
        cmocka_unit_test(renamed_and_one_layer_more),
        cmocka_unit_test(renamed_and_one_layer_less),
        cmocka_unit_test(renamed_and_tied),
        cmocka_unit_test(renamed_and_one_missing),
        cmocka_unit_test(base_left_out),
        cmocka_unit_test(base_left_out_beside_a_head),
        cmocka_unit_test(outer_model_dropped),
        cmocka_unit_test(embedding_for_embeddings),
        cmocka_unit_test(kept_misspelling),
        cmocka_unit_test(tensorflow),
        cmocka_unit_test(tensorflow_and_one_transposed),
        cmocka_unit_test(tensorflow_and_one_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
