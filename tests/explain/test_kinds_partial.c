/* SPDX-License-Identifier: MIT
 * Files that hold a part of a model, or more than the model: of one rank, of one stage, of an average beside it. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/told.h"

static const char llama[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 32000, \"hidden_size\": "
    "4096, \"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": "
    "11008, \"tie_word_embeddings\": false, \"attention_bias\": false}";

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": "
                           "50257, \"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, \"n_positions\": 1024}";

#define BEGIN(config)                                                                                                  \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, 0)

/* ---- ZeRO ---- */

static void flatten(struct model *model, const char *names, uint64_t elements)
{
    for (size_t i = 0; i < model->count; i++) {
        struct part *part = &model->parts[i];
        if (!fits(part, names)) continue;
        part->rank = 1;
        part->shape[0] = elements;
    }
}

/* All but the smallest parameters are empty. */
static void empty_placeholders(void **state)
{
    BEGIN(llama);
    flatten(&model, "*_proj.weight", 0);
    flatten(&model, "*embed_tokens.weight", 0);
    flatten(&model, "lm_head.weight", 0);
    model_check(&model);
    assert_told(&model,
                "differs: 226 tensors have shape (0) and no data, as in a file that one rank of ZeRO stage 3 saved: "
                "model.embed_tokens.weight, model.layers.{0-31}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight, "
                "model.layers.{0-31}.mlp.{gate_proj,up_proj,down_proj}.weight and 1 more",
                "zero-partition", 0);
    model_close(&model);
}

static void placeholders_of_one_element(void **state)
{
    BEGIN(gpt2);
    flatten(&model, "*", 1);
    model_check(&model);
    assert_told(&model,
                "differs: 148 tensors have shape (1), as in a file that one rank of ZeRO stage 3 saved: "
                "transformer.{wte,wpe}.weight, transformer.h.{0-11}.ln_{1,2}.{weight,bias}, "
                "transformer.h.{0-11}.attn.c_attn.{weight,bias} and 74 more",
                "zero-partition", 0);
    model_close(&model);
}

/* Ranks of FSDP have the end of one parameter, all of the next and the beginning of a third; of the rest nothing. */
static void pieces_of_one_rank(void **state)
{
    BEGIN(llama);
    flatten(&model, "*", 0);
    flatten(&model, "model.layers.3.self_attn.q_proj.weight", 1000000);
    flatten(&model, "model.layers.3.self_attn.k_proj.weight", 1024 * 4096);
    flatten(&model, "model.layers.3.self_attn.v_proj.weight", 123456);
    model_check(&model);
    assert_told(&model,
                "differs: 291 tensors are flattened, in pieces or empty, as one rank of FSDP holds them: "
                "model.embed_tokens.weight, model.layers.{0-31}.input_layernorm.weight, "
                "model.layers.{0-31}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight and 130 more",
                "flat-pieces", 0);
    model_close(&model);
}

static void one_flat_matrix(void **state)
{
    BEGIN(llama);
    flatten(&model, "model.layers.3.self_attn.q_proj.weight", 1000000);
    model_check(&model);
    assert_int_equal(shapeproof_check_cause_count(model.check), 0);
    assert_int_equal(sp_check_open(model.check), 1);
    model_close(&model);
}

/* A layer is a unit, and the rest another one. */
static void flat_parameters(void **state)
{
    BEGIN(llama);
    model_drop(&model, "model.layers.*");
    for (int i = 0; i < 32; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.layers.%d._flat_param", i);
        model_add_shape(&model, name, SHAPE(27000000));
    }
    model_check(&model);
    assert_told(&model,
                "differs: 32 flat parameters of FSDP, such as model.layers.0._flat_param, in place of 288 tensors",
                "flat-pieces", 0);
    model_empty(&model);
    model_add_shape(&model, "_fsdp_wrapped_module.flat_param", SHAPE(3000000000));
    model_check(&model);
    assert_told(&model,
                "differs: 1 flat parameter of FSDP, such as _fsdp_wrapped_module.flat_param, in place of 291 tensors",
                "flat-pieces", 0);
    model_close(&model);
}

/* What one rank has of the optimizer is no model. */
static void the_optimizer_of_one_rank(void **state)
{
    BEGIN(gpt2);
    model_empty(&model);
    model_add_shape(&model, "optimizer_state_dict.fp32_flat_groups.0", SHAPE(62219904));
    model_check(&model);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->id, "flat-pieces");
    assert_string_equal(shapeproof_check_cause(model.check, 0)->hint,
                        "run zero_to_fp32.py, which lies beside the ranks' files, and check what it writes");
    model_close(&model);
}

/* One short vector among whole matrices is a wrong vector. */
static void one_short_vector(void **state)
{
    BEGIN(llama);
    flatten(&model, "model.norm.weight", 1);
    flatten(&model, "model.layers.3.input_layernorm.weight", 1);
    model_check(&model);
    assert_told(&model,
                "differs: 2 tensors have another shape: model.layers.3.input_layernorm.weight, model.norm.weight", "",
                2);
    model_close(&model);
}

/* ---- tensor parallelism ---- */

/* Columns of what reads the residual stream, rows of what writes to it, and of the vocabulary. */
static void cut(struct model *model, uint64_t ranks)
{
    for (size_t i = 0; i < model->count; i++) {
        struct part *part = &model->parts[i];
        const bool writes = strstr(part->name, "o_proj") || strstr(part->name, "down_proj");
        if (part->rank == 2) part->shape[writes] = (part->shape[writes] + ranks - 1) / ranks;
    }
}

static void one_rank_of_eight(void **state)
{
    BEGIN(llama);
    cut(&model, 8);
    model_check(&model);
    assert_told(&model,
                "differs: this is one of 8 tensor-parallel ranks: it holds 1/8 of model.embed_tokens.weight, "
                "model.layers.{0-31}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight, "
                "model.layers.{0-31}.mlp.{gate_proj,up_proj,down_proj}.weight and 1 more (226 tensors)",
                "tensor-parallel", 0);
    model_close(&model);
}

/* A vocabulary that was padded first: 32000 + 16 tokens, in four parts of 8004. */
static void a_padded_vocabulary_in_parts(void **state)
{
    BEGIN(llama);
    cut(&model, 4);
    model_resize(&model, "*", 8000, 8004);
    model_check(&model);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->id, "tensor-parallel");
    assert_int_equal(shapeproof_check_cause(model.check, 0)->explains, 226);
    model_close(&model);
}

/* Half the feed-forward width and half the vocabulary, and queries as they should be: ranks would have divided those.
 */
static void narrower_in_two_ways(void **state)
{
    BEGIN(llama);
    model_resize(&model, "*", 11008, 5504);
    model_resize(&model, "*", 32000, 16000);
    model_check(&model);
    assert_told(&model,
                "differs: intermediate_size is 11008 in config.json, the file has 5504 (96 tensors); vocab_size is "
                "32000 in config.json, the file has 16000 (2 tensors)",
                "hyperparameter hyperparameter", 0);
    model_close(&model);
}

/* Two tables of half the rows: ranks would have divided the matrices of the layers. */
static void shorter_tables(void **state)
{
    BEGIN("{\"model_type\": \"xlm-roberta\", \"architectures\": [\"XLMRobertaForMaskedLM\"], \"vocab_size\": 1280, "
          "\"hidden_size\": 32, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"intermediate_size\": 64, "
          "\"max_position_embeddings\": 64, \"type_vocab_size\": 2}");
    model_resize(&model, "*token_type_embeddings.weight", 2, 1);
    model_check(&model);
    assert_told(&model, "differs: type_vocab_size is 2 in config.json, the file has 1 (1 tensor)", "hyperparameter", 0);
    model_resize(&model, "*word_embeddings.weight", 1280, 640);
    model_resize(&model, "lm_head.*", 1280, 640);
    model_check(&model);
    assert_told(&model,
                "differs: vocab_size is 1280 in config.json, the file has 640 (2 tensors); type_vocab_size is 2 in "
                "config.json, the file has 1 (1 tensor)",
                "hyperparameter hyperparameter", 0);
    model_resize(&model, "*position_embeddings.weight", 64, 32);
    model_check(&model);
    assert_null(model_cause(&model, "tensor-parallel"));
    model_close(&model);
}

/* A model of half the feed-forward width, or with half as many key/value heads, is just that. */
static void narrower_and_not_cut(void **state)
{
    BEGIN(llama);
    model_resize(&model, "*", 11008, 5504);
    model_check(&model);
    assert_told(&model, "differs: intermediate_size is 11008 in config.json, the file has 5504 (96 tensors)",
                "hyperparameter", 0);
    model_close(&model);
    model_open(&model, gpt2);
    model_predict(&model, 0);
    model_resize(&model, "*", 768, 384);
    model_resize(&model, "*", 2304, 1152);
    model_resize(&model, "*", 3072, 1536);
    model_check(&model);
    assert_told(&model,
                "differs: n_embd is 768 in config.json, the file has 384 (148 tensors); 6 heads of 64 are usual, 4 of "
                "96 and 12 of 32 fit as well",
                "hyperparameter", 0);
    model_close(&model);
}

/* ---- copies ---- */

static void add_copies(struct model *model, const char *names, const char *prefix)
{
    const size_t count = model->count;
    for (size_t i = 0; i < count; i++) {
        const struct part part = model->parts[i];
        char name[256];
        if (!fits(&part, names)) continue;
        snprintf(name, sizeof name, "%s%s", prefix, part.name);
        model_add_shape(model, name, part.rank, part.shape);
    }
}

/* An exponential moving average beside the weights. */
static void an_average_beside_the_weights(void **state)
{
    BEGIN(llama);
    add_copies(&model, "*", "ema.");
    model_check(&model);
    assert_told(&model, "explained: the file holds a second copy of 291 tensors below 'ema.'; nothing else differs",
                "copy", 0);
    model_close(&model);
}

/* An average of what was trained alone. */
static void an_average_of_the_layers(void **state)
{
    BEGIN(llama);
    add_copies(&model, "model.layers.*", "ema.");
    model_check(&model);
    assert_told(&model,
                "explained: the file holds a second copy of 288 tensors below 'ema.', which lacks "
                "model.embed_tokens.weight and 2 more; nothing else differs",
                "copy", 0);
    model_close(&model);
}

/* The same below an outer key, as trainers save both. */
static void an_average_below_an_outer_key(void **state)
{
    BEGIN(llama);
    add_copies(&model, "model.layers.*", "state_dict.model_ema.");
    model_check(&model);
    assert_told(&model,
                "explained: the file holds a second copy of 288 tensors below 'state_dict.model_ema.', which lacks "
                "model.embed_tokens.weight and 2 more; nothing else differs",
                "copy", 0);
    model_close(&model);
}

/* The model that lacks a tensor stays the model: the average beside it is not taken for it. */
static void a_model_that_lacks_what_its_average_has(void **state)
{
    BEGIN(llama);
    model_rename(&model, "*", "model.", "module.model.");
    model_rename(&model, "lm_head*", "lm_head", "module.lm_head");
    add_copies(&model, "*", "model_ema.");
    model_rename(&model, "model_ema.module.*", "model_ema.module.", "model_ema.");
    model_rename(&model, "module.lm_head*", "weight", "wieght");
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS);
    model_close(&model);
}

/* A tensor that the model has lost is not taken from the average either. */
static void a_model_that_lost_what_its_average_has(void **state)
{
    BEGIN(llama);
    model_set(&model, "tie_word_embeddings=false");
    model_predict(&model, 0);
    add_copies(&model, "*", "ema.");
    model_rename(&model, "model.*", "model.", "net.model.");
    model_drop(&model, "lm_head.weight");
    model_check(&model);
    assert_int_equal(shapeproof_check_verdict(model.check), SHAPEPROOF_VERDICT_DIFFERS);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->id, "renamed");
    model_close(&model);
}

/* Weights of which one was lost, that the other copy has. */
static void a_copy_that_lost_a_tensor(void **state)
{
    BEGIN(llama);
    add_copies(&model, "model.*", "weights.");
    model_check(&model);
    assert_told(&model,
                "differs: the file holds a second copy of 290 tensors below 'weights.', which lacks lm_head.weight",
                "copy", 0);
    model_close(&model);
}

/* An average of weights that had fewer rows then. It lacks a tensor, too, which is no error of an average. */
static void an_average_of_other_shapes(void **state)
{
    BEGIN(llama);
    add_copies(&model, "*", "ema.");
    model_drop(&model, "ema.lm_head.weight");
    model_resize(&model, "ema.model.embed_tokens.weight", 32000, 31999);
    model_check(&model);
    assert_told(&model,
                "differs: the file holds a second copy of 290 tensors below 'ema.', which lacks lm_head.weight, but "
                "with other shapes: ema.model.embed_tokens.weight is (31999, 4096), model.embed_tokens.weight is "
                "(32000, 4096)",
                "copy", 0);
    model_resize(&model, "ema.model.layers.0.*", 11008, 11000);
    model_check(&model);
    assert_told(&model,
                "differs: the file holds a second copy of 290 tensors below 'ema.', which lacks lm_head.weight, but "
                "with other shapes: ema.model.embed_tokens.weight is (31999, 4096), model.embed_tokens.weight is "
                "(32000, 4096) and 3 more",
                "copy", 0);
    model_close(&model);
}

/* Of a few tensors there may be copies for any reason. */
static void copies_of_a_few(void **state)
{
    BEGIN(llama);
    add_copies(&model, "model.layers.3.*", "ema.");
    model_check(&model);
    assert_int_equal(shapeproof_check_cause_count(model.check), 0);
    assert_int_equal(sp_check_open(model.check), 9);
    model_close(&model);
}

/* The last pipeline stage has a copy of the tied embedding. */
static void an_embedding_for_the_head(void **state)
{
    BEGIN(gpt2);
    model_add_shape(&model, "word_embeddings_for_head.weight", SHAPE(50257, 768));
    model_check(&model);
    assert_told(&model,
                "explained: word_embeddings_for_head.weight has the shape of transformer.wte.weight: a copy of a "
                "tied embedding, as the last pipeline stage has it; nothing else differs",
                "embedding-copy", 0);
    model_resize(&model, "word_embeddings_for_head.weight", 50257, 512);
    model_check(&model);
    assert_told(&model, "differs: word_embeddings_for_head.weight is unexpected", "", 1);
    model_close(&model);
}

/* ---- stages of a pipeline ---- */

static void stages_of_a_pipeline(void **state)
{
    BEGIN(llama);
    model_drop(&model, "model.layers.[12]?.*");
    model_drop(&model, "model.layers.3?.*");
    model_drop(&model, "model.norm.weight");
    model_drop(&model, "lm_head.weight");
    model_check(&model);
    assert_told(&model,
                "differs: the file has layers 0 to 9 of 32 (model.layers), and nothing behind them, like one stage "
                "of a pipeline: 200 tensors missing",
                "pipeline", 0);
    model_drop(&model, "model.embed_tokens.weight");
    model_drop(&model, "model.layers.[0-4].*");
    model_check(&model);
    assert_told(&model,
                "differs: the file has layers 5 to 9 of 32 (model.layers), and nothing before and after them, like "
                "one stage of a pipeline: 246 tensors missing",
                "pipeline", 0);
    model_close(&model);
}

/* The model has fewer layers, and its head is a matter of its own. */
static void fewer_layers_and_no_stage(void **state)
{
    BEGIN(llama);
    model_drop(&model, "model.layers.[12]?.*");
    model_drop(&model, "model.layers.3?.*");
    model_check(&model);
    assert_told(&model, "differs: num_hidden_layers is 32 in config.json, the file has 10 (198 tensors)",
                "hyperparameter", 0);
    model_drop(&model, "lm_head.weight");
    model_check(&model);
    assert_non_null(model_cause(&model, "hyperparameter"));
    assert_null(model_cause(&model, "pipeline"));
    model_close(&model);
}

/* ---- shards and their index ---- */

#define SHARD1 "model-00001-of-00002.safetensors"
#define SHARD2 "model-00002-of-00002.safetensors"

static bool is_in_second(const char *name) { return strstr(name, ".h.1.") || strstr(name, "ln_f"); }

/* Writes those of the model's tensors that belong to a shard. */
static void write_shard(struct model *model, const char *file, bool second)
{
    struct model half = {.scratch = model->scratch};
    for (size_t i = 0; i < model->count; i++)
        if (is_in_second(model->parts[i].name) == second)
            model_add_shape(&half, model->parts[i].name, model->parts[i].rank, model->parts[i].shape);
    model_write(&half, file);
    model_empty(&half);
    free(half.parts);
}

/* The index of the model's tensors, and of one more that no shard holds. */
static void write_index(struct model *model, const char *more, const char *total_size)
{
    struct sp_text text = {0};
    sp_text_printf(&text, "{\"metadata\": {\"total_size\": %s}, \"weight_map\": {", total_size);
    for (size_t i = 0; i < model->count; i++)
        sp_text_printf(&text, "%s\"%s\": \"%s\"", i ? ", " : "", model->parts[i].name,
                       is_in_second(model->parts[i].name) ? SHARD2 : SHARD1);
    if (more) sp_text_printf(&text, ", \"%s\": \"" SHARD1 "\"", more);
    sp_text_puts(&text, "}}");
    scratch_write(&model->scratch, "model.safetensors.index.json", text.data, text.length);
    sp_text_free(&text);
}

static const char two_layers[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], "
                                 "\"vocab_size\": 257, \"n_embd\": 64, \"n_layer\": 2, \"n_head\": 4, "
                                 "\"n_positions\": 32}";
#define SIZE "474368" /* of its 28 tensors */

#define BEGIN_SHARDS                                                                                                   \
    BEGIN(two_layers);                                                                                                 \
    write_shard(&model, SHARD1, false);                                                                                \
    write_shard(&model, SHARD2, true);                                                                                 \
    write_index(&model, NULL, SIZE)

static void check_folder(struct model *model) { model_check_path(model, model->scratch.path); }

static const char *only_warning(const struct model *model)
{
    return shapeproof_inventory_warning_count(model->inventory) == 1 ? shapeproof_inventory_warning(model->inventory, 0)
                                                                     : "none";
}

static void shards_in_order(void **state)
{
    BEGIN_SHARDS;
    check_folder(&model);
    assert_told(&model, "match: all 28 tensors, 118,592 elements", "", 0);
    assert_int_equal(shapeproof_inventory_warning_count(model.inventory), 0);
    model_close(&model);
}

static void a_shard_is_absent(void **state)
{
    BEGIN_SHARDS;
    unlink(scratch_path(&model.scratch, SHARD2));
    check_folder(&model);
    assert_told(&model,
                "differs: shard '" SHARD2 "' cannot be read, so 14 tensors of the index are missing: "
                "transformer.h.1.ln_{1,2}.{weight,bias}, transformer.h.1.attn.c_attn.{weight,bias}, "
                "transformer.h.1.attn.c_proj.{weight,bias} and 6 more",
                "shard-missing", 0);
    unlink(scratch_path(&model.scratch, "model.safetensors.index.json"));
    check_folder(&model);
    assert_told(&model,
                "differs: '" SHARD2 "': absent, although the other shards are there, so 14 tensors are "
                "missing",
                "shard-missing", 0);
    model_close(&model);
}

/* The wrapper's prefix is in the index as well. */
static void a_shard_of_prefixed_names_is_absent(void **state)
{
    BEGIN(two_layers);
    model_prefix(&model, "module.");
    write_shard(&model, SHARD1, false);
    write_index(&model, NULL, SIZE);
    check_folder(&model);
    assert_int_equal(sp_check_open(model.check), 0);
    assert_int_equal(model_cause(&model, "shard-missing")->explains, 14);
    model_close(&model);
}

static void a_shard_that_was_opened_alone(void **state)
{
    BEGIN_SHARDS;
    model_check_path(&model, scratch_path(&model.scratch, SHARD2));
    assert_told(&model, "differs: " SHARD2 " is one shard of 2: 14 tensors of the model must be in the others",
                "shard-missing", 0);
    model_close(&model);
}

/* The second one is of a model with other feed-forward layers. */
static void a_shard_of_another_model(void **state)
{
    BEGIN_SHARDS;
    model_resize(&model, "*.h.1.mlp.*", 256, 320);
    write_shard(&model, SHARD2, true);
    check_folder(&model);
    assert_told(&model,
                "differs: " SHARD2 " is of another model than the other shards: all 3 tensors of a wrong shape are in "
                "it, such as transformer.h.1.mlp.c_fc.weight",
                "other-shard declared", 0);
    model_resize(&model, "*.h.0.mlp.*", 256, 320);
    write_shard(&model, SHARD1, false);
    check_folder(&model);
    assert_string_equal(shapeproof_check_cause(model.check, 0)->id, "hyperparameter");
    model_close(&model);
}

/* A layer that is in no shard and in no index is missing for another reason. */
static void a_layer_beside_an_absent_shard(void **state)
{
    BEGIN(two_layers);
    model_drop(&model, "transformer.h.0.*");
    write_shard(&model, SHARD1, false);
    write_index(&model, NULL, SIZE);
    check_folder(&model);
    assert_told(&model,
                "differs: shard '" SHARD2 "' cannot be read, so 14 tensors of the index are missing: "
                "transformer.h.1.ln_{1,2}.{weight,bias}, transformer.h.1.attn.c_attn.{weight,bias}, "
                "transformer.h.1.attn.c_proj.{weight,bias} and 6 more; transformer.h.0 is missing altogether (12 "
                "tensors)",
                "shard-missing layers-missing", 0);
    model_close(&model);
}

/* The index of a newer version beside older shards. */
static void a_shard_lacks_what_the_index_says(void **state)
{
    BEGIN(two_layers);
    write_index(&model, NULL, SIZE);
    model_drop(&model, "transformer.ln_f.*");
    write_shard(&model, SHARD1, false);
    write_shard(&model, SHARD2, true);
    check_folder(&model);
    assert_told(&model,
                "differs: '" SHARD2 "' lacks tensors that the index lists for it: transformer.ln_f.{weight,bias} (2 "
                "tensors)",
                "index", 0);
    model_close(&model);
}

/* Layers for multi-token prediction that are in the index alone. */
static void the_index_lists_more_than_there_is(void **state)
{
    BEGIN_SHARDS;
    write_index(&model, "mtp.fc.weight", SIZE);
    check_folder(&model);
    assert_told(&model,
                "explained: the index lists mtp.fc.weight, which no shard holds and the model does not need; nothing "
                "else differs",
                "index", 0);
    model_close(&model);
}

/* It was trained by itself, and dropped when it was saved because the flag says that it is tied. */
static void the_index_lists_a_tied_head(void **state)
{
    BEGIN_SHARDS;
    write_index(&model, "lm_head.weight", "540160");
    check_folder(&model);
    assert_told(&model,
                "explained: the index lists lm_head.weight, which no shard holds: it is tied to "
                "transformer.wte.weight, or was lost when it was saved (tie_word_embeddings is true by default); "
                "nothing else differs",
                "index", 0);
    model_set(&model, "tie_word_embeddings=false");
    check_folder(&model);
    assert_told(&model, "differs: '" SHARD1 "' lacks tensors that the index lists for it: lm_head.weight (1 tensor)",
                "index", 0);
    model_close(&model);
}

/* What loads all of a shard does not care; who goes by the index does not find it. */
static void a_shard_holds_more_than_the_index_lists(void **state)
{
    BEGIN_SHARDS;
    model_drop(&model, "transformer.ln_f.bias");
    write_index(&model, NULL, SIZE);
    check_folder(&model);
    assert_told(&model, "match: all 28 tensors, 118,592 elements", "", 0);
    assert_string_equal(only_warning(&model), "tensors that the index does not list (1): 'transformer.ln_f.bias'");
    model_close(&model);
}

static void a_wrong_total(void **state)
{
    BEGIN_SHARDS;
    write_index(&model, NULL, "237184");
    check_folder(&model);
    assert_told(&model,
                "explained: the index says total_size 237184: two bytes for each parameter, but the tensors take " SIZE
                " bytes; nothing else differs",
                "declared", 0);
    assert_string_equal(only_warning(&model), "the index says total_size 237184, but the tensors take " SIZE " bytes");
    model_close(&model);
}

static void a_whole_checkpoint_beside_the_shards(void **state)
{
    BEGIN_SHARDS;
    model_write(&model, "model.safetensors");
    check_folder(&model);
    assert_told(&model,
                "explained: 'model.safetensors' lies beside the shards of the index: some loaders read this file "
                "instead of the shards, some read both; nothing else differs",
                "stray-file", 0);
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_placeholders),
        cmocka_unit_test(placeholders_of_one_element),
        cmocka_unit_test(pieces_of_one_rank),
        cmocka_unit_test(one_flat_matrix),
        cmocka_unit_test(flat_parameters),
        cmocka_unit_test(the_optimizer_of_one_rank),
        cmocka_unit_test(one_short_vector),
        cmocka_unit_test(one_rank_of_eight),
        cmocka_unit_test(a_padded_vocabulary_in_parts),
        cmocka_unit_test(narrower_in_two_ways),
        cmocka_unit_test(shorter_tables),
        cmocka_unit_test(narrower_and_not_cut),
        cmocka_unit_test(an_average_beside_the_weights),
        cmocka_unit_test(an_average_of_the_layers),
        cmocka_unit_test(an_average_below_an_outer_key),
        cmocka_unit_test(a_model_that_lacks_what_its_average_has),
        cmocka_unit_test(a_model_that_lost_what_its_average_has),
        cmocka_unit_test(a_copy_that_lost_a_tensor),
        cmocka_unit_test(an_average_of_other_shapes),
        cmocka_unit_test(copies_of_a_few),
        cmocka_unit_test(an_embedding_for_the_head),
        cmocka_unit_test(shards_in_order),
        cmocka_unit_test(a_shard_is_absent),
        cmocka_unit_test(a_shard_of_prefixed_names_is_absent),
        cmocka_unit_test(stages_of_a_pipeline),
        cmocka_unit_test(fewer_layers_and_no_stage),
        cmocka_unit_test(a_shard_that_was_opened_alone),
        cmocka_unit_test(a_shard_of_another_model),
        cmocka_unit_test(a_layer_beside_an_absent_shard),
        cmocka_unit_test(a_shard_lacks_what_the_index_says),
        cmocka_unit_test(the_index_lists_more_than_there_is),
        cmocka_unit_test(the_index_lists_a_tied_head),
        cmocka_unit_test(a_shard_holds_more_than_the_index_lists),
        cmocka_unit_test(a_wrong_total),
        cmocka_unit_test(a_whole_checkpoint_beside_the_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
