/* SPDX-License-Identifier: MIT
 * The counts of a check, and the sizes that names and indices declare, right and wrong. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/model.h"

#define LLAMA "\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", "
static const char stories[] =
    "{" LLAMA "\"hidden_size\": 512, \"intermediate_size\": 1376, \"num_attention_heads\": 8, "
    "\"num_hidden_layers\": 8, \"num_key_value_heads\": 8, \"tie_word_embeddings\": true, \"vocab_size\": 32000}";
static const char llama_3b[] =
    "{" LLAMA "\"head_dim\": 128, \"hidden_size\": 3072, \"intermediate_size\": 8192, \"num_attention_heads\": 24, "
    "\"num_hidden_layers\": 28, \"num_key_value_heads\": 8, \"tie_word_embeddings\": true, \"vocab_size\": 128256}";
static const char gemma_7b[] =
    "{\"architectures\": [\"GemmaForCausalLM\"], \"head_dim\": 256, \"hidden_size\": 3072, \"intermediate_size\": "
    "24576, "
    "\"model_type\": \"gemma\", \"num_attention_heads\": 16, \"num_hidden_layers\": 28, \"num_key_value_heads\": 16, "
    "\"vocab_size\": 256000}";
static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_layer\": 12}";

#define BEGIN(config, also)                                                                                            \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, also)

/* Writes it under that name, and checks it. */
static const char *check_as(struct model *model, const char *file)
{
    model_write(model, file);
    return model_check_path(model, scratch_path(&model->scratch, file));
}

/* With an index beside it that has this metadata. */
static const char *check_indexed(struct model *model, const char *metadata)
{
    struct sp_text index = {0};
    model_write(model, "a.safetensors");
    sp_text_printf(&index, "{\"metadata\": {%s}, \"weight_map\": {", metadata);
    for (size_t i = 0; i < model->count; i++)
        sp_text_printf(&index, "%s\"%s\": \"a.safetensors\"", i ? ", " : "", model->parts[i].name);
    sp_text_puts(&index, "}}");
    scratch_write(&model->scratch, "model.safetensors.index.json", index.data, index.length);
    sp_text_free(&index);
    return model_check_path(model, scratch_path(&model->scratch, "model.safetensors.index.json"));
}

static void assert_counts(const struct model *model, uint64_t predicted, uint64_t stored, uint64_t unique,
                          uint64_t logical)
{
    const struct shapeproof_counts *counts = shapeproof_check_counts(model->check);
    assert_int_equal(counts->predicted, predicted);
    assert_int_equal(counts->stored, stored);
    assert_int_equal(counts->unique, unique);
    assert_int_equal(counts->logical, logical);
}

/* ---- ties ---- */

/* Who adds up a state dictionary counts the tied head twice. */
static void one_storage_counted_twice(void **state)
{
    BEGIN(stories, WITH_TIED);
    model_share(&model, "lm_head.weight", "0");
    model_share(&model, "model.embed_tokens.weight", "0");
    assert_string_equal(model_check_memory(&model), "match: all 75 tensors, 41,689,600 elements");
    assert_counts(&model, 41689600, 58073600, 41689600, 41689600);
    assert_int_equal(shapeproof_check_counts(model.check)->stored_tensors, 75);
    assert_int_equal(shapeproof_check_counts(model.check)->logical_tensors, 74);
    model_close(&model);
}

static void a_copy_counted_twice(void **state)
{
    BEGIN(stories, WITH_TIED);
    assert_string_equal(check_as(&model, "stories42M.safetensors"),
                        "explained: lm_head.weight is stored although it is tied to model.embed_tokens.weight "
                        "(tie_word_embeddings is true in config.json); nothing else differs");
    assert_counts(&model, 41689600, 58073600, 58073600, 41689600);
    assert_int_equal(shapeproof_check_counts(model.check)->copies, 16384000);
    assert_int_equal(shapeproof_check_declared_count(model.check), 1);
    assert_string_equal(shapeproof_check_declared(model.check, 0)->text, "42M");
    assert_string_equal(shapeproof_check_declared(model.check, 0)->where, "the name stories42M.safetensors");
    assert_true(shapeproof_check_declared(model.check, 0)->agrees);
    model_close(&model);
}

/* A fine-tune that is not tied any more: 3.6 instead of 3.2 billion. */
static void a_fine_tune_that_is_not_tied(void **state)
{
    BEGIN(llama_3b, WITH_TIED);
    check_as(&model, "Llama-3.2-3B-Instruct-ft.safetensors");
    assert_counts(&model, 3212749824, 3606752256, 3606752256, 3212749824);
    assert_true(shapeproof_check_declared(model.check, 0)->agrees);
    model_set(&model, "tie_word_embeddings=false");
    assert_string_equal(check_as(&model, "Llama-3.2-3B-Instruct-ft.safetensors"),
                        "match: all 255 tensors, 3,606,752,256 elements");
    assert_counts(&model, 3606752256, 3606752256, 3606752256, 3606752256);
    model_close(&model);
}

/* ---- what is not a parameter ---- */

static void buffers_and_state(void **state)
{
    BEGIN(gpt2, WITH_OPTIONAL);
    model_add_shape(&model, "optimizer.state.0.exp_avg", SHAPE(10));
    model_part(&model, "optimizer.*")->flags = SHAPEPROOF_TENSOR_STATE;
    model_check_memory(&model);
    assert_ptr_equal(shapeproof_check_inventory(model.check), model.inventory);
    assert_ptr_equal(shapeproof_check_config(model.check), model.config);
    const struct shapeproof_counts *counts = shapeproof_check_counts(model.check);
    assert_int_equal(counts->logical, 124439808);
    assert_int_equal(counts->state, 10);
    assert_int_equal(counts->buffers, 12 * (1024 * 1024 + 1));
    assert_int_equal(counts->unique, counts->logical + counts->buffers + counts->state);
    model_close(&model);
}

/* ---- packed weights ---- */

/* Eight values in an element, and scales: the model in them is as large as ever. */
static void packed_weights(void **state)
{
    BEGIN("{" LLAMA "\"hidden_size\": 4096, \"intermediate_size\": 14336, \"num_attention_heads\": 32, "
          "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8, \"tie_word_embeddings\": false, "
          "\"vocab_size\": 128256, \"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4, "
          "\"group_size\": 128, \"desc_act\": false}}",
          AS_STORED);
    assert_memory_equal(check_as(&model, "Llama-3.1-8B-GPTQ.safetensors"), "match: ", 7);
    const struct shapeproof_counts *counts = shapeproof_check_counts(model.check);
    assert_int_equal(counts->predicted, 8030261248);
    assert_int_equal(counts->logical, 8030261248);
    assert_int_equal(counts->logical_tensors, counts->predicted_tensors);
    assert_true(counts->stored < 2100000000);
    assert_true(shapeproof_check_declared(model.check, 0)->agrees);
    model_close(&model);
}

/* ---- names ---- */

static void a_name_that_is_wrong(void **state)
{
    BEGIN(stories, 0);
    assert_string_equal(check_as(&model, "Llama-2-7b.safetensors"),
                        "explained: the name Llama-2-7b.safetensors says 7b, but the file holds 41,689,600 "
                        "parameters; nothing else differs");
    assert_string_equal(model_cause(&model, "declared")->message,
                        "the name Llama-2-7b.safetensors says 7b, but the file holds 41,689,600 parameters");
    assert_string_equal(check_as(&model, "TinyStories-10M.safetensors"),
                        "explained: the name TinyStories-10M.safetensors says 10M, but the file holds 41,689,600 "
                        "parameters; nothing else differs");
    model_close(&model);
}

/* Rough as names are: not all count embeddings, some round down a good deal. */
static void names_that_are_right(void **state)
{
    static const char *const names[] = {"x-33M.safetensors", "x-60M.safetensors", "x-25M.safetensors"};
    BEGIN(stories, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(check_as(&model, names[i]), "match: all 74 tensors, 41,689,600 elements");
    model_close(&model);
    model_open(&model, gemma_7b);
    model_predict(&model, 0);
    assert_string_equal(check_as(&model, "gemma-7b.safetensors"), "match: all 254 tensors, 8,537,680,896 elements");
    assert_int_equal(shapeproof_check_declared_count(model.check), 1);
    model_close(&model);
}

/* The configuration's own name counts when the path says nothing; numbers of tokens do not. */
static void the_name_in_the_configuration(void **state)
{
    BEGIN(stories, 0);
    model_set(&model, "_name_or_path=\"facebook/opt-1.3b\"");
    assert_string_equal(model_check(&model),
                        "explained: _name_or_path says 1.3b, but the file holds 41,689,600 parameters; nothing else "
                        "differs");
    assert_string_equal(check_as(&model, "stories42M.safetensors"), "match: all 74 tensors, 41,689,600 elements");
    model_set(&model, "_name_or_path=\"rp_800b\"");
    assert_string_equal(model_check(&model), "match: all 74 tensors, 41,689,600 elements");
    model_set(&model, "_name_or_path=12");
    assert_string_equal(model_check(&model), "match: all 74 tensors, 41,689,600 elements");
    model_close(&model);
}

/* What the configuration promises is declared too: a file that lacks half of it is not called something else. */
static void a_file_that_lacks_much(void **state)
{
    BEGIN(stories, 0);
    for (char layer[] = "model.layers.1.*"; layer[13] <= '7'; layer[13]++) model_drop(&model, layer);
    model_drop(&model, "model.embed_tokens.weight");
    check_as(&model, "stories42M.safetensors");
    assert_null(model_cause(&model, "declared"));
    model_close(&model);
}

/* ---- indices ---- */

static const struct {
    const char *metadata, *line; /* NULL: match */
} indices[] = {
    {"\"total_size\": 166758400", NULL},
    {"\"total_size\": 166758400.0", NULL},
    {"\"total_size\": 232294400",
     "explained: the index says total_size 232294400, but the tensors take 166758400 bytes; nothing else differs"},
    {"\"total_size\": 83379200",
     "explained: the index says total_size 83379200: two bytes for each parameter, but the tensors take 166758400 "
     "bytes; nothing else differs"},
    {"\"total_size\": 41689600", "explained: the index says total_size 41689600: the number of parameters, but the "
                                 "tensors take 166758400 bytes; nothing else differs"},
    {"\"total_size\": \"many\"", NULL},
    {"\"total_size\": 99999999999999999999999999", NULL}, /* no number that fits: the reader warns */
    {"\"total_parameters\": 41689600", NULL},
    {"\"total_parameters\": 58073600", NULL},
    {"\"total_parameters\": 7000000000", "explained: the index says total_parameters 7000000000, but the file holds "
                                         "41,689,600 parameters; nothing else differs"},
    {"\"total_parameters\": 41689600, \"total_size\": 166758400", NULL},
};

static void what_an_index_says(void **state)
{
    BEGIN(stories, 0);
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        const char *line = check_indexed(&model, indices[i].metadata);
        assert_string_equal(line, indices[i].line ? indices[i].line : "match: all 74 tensors, 41,689,600 elements");
        assert_int_equal(model_cause(&model, "declared") != NULL, indices[i].line != NULL);
    }
    check_indexed(&model, "\"total_parameters\": 58073600");
    assert_string_equal(shapeproof_check_declared(model.check, 0)->note, "with ties twice");
    model_close(&model);
}

/* That tensors are missing is said already. */
static void an_index_of_more(void **state)
{
    BEGIN(stories, 0);
    model_drop(&model, "model.norm.weight");
    assert_string_equal(check_indexed(&model, "\"total_size\": 166758400"), "differs: model.norm.weight is missing");
    model_close(&model);
    model_open(&model, stories);
    model_predict(&model, 0);
    model_drop(&model, "model.embed_tokens.weight"); /* the first of all */
    check_indexed(&model, "\"total_size\": 166758400");
    assert_null(model_cause(&model, "declared"));
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_storage_counted_twice),
        cmocka_unit_test(a_copy_counted_twice),
        cmocka_unit_test(a_fine_tune_that_is_not_tied),
        cmocka_unit_test(buffers_and_state),
        cmocka_unit_test(packed_weights),
        cmocka_unit_test(a_name_that_is_wrong),
        cmocka_unit_test(names_that_are_right),
        cmocka_unit_test(the_name_in_the_configuration),
        cmocka_unit_test(a_file_that_lacks_much),
        cmocka_unit_test(what_an_index_says),
        cmocka_unit_test(an_index_of_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
