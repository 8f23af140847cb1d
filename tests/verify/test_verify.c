/* SPDX-License-Identifier: MIT
 * Claims against checkpoints that lost or gained something: the difference is named as a term of hyper-parameters, with
 * the tensors that it is about. The formula is that of the table, so that the file alone is wrong. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ORDERS 0 /* the order of explainers is tested elsewhere */
#include "check/model.h"
#include "shapeproof/verify.h"

/* ---- models ---- */

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"n_layer\": 3, "
                           "\"n_embd\": 48, \"n_head\": 4, \"n_positions\": 80, \"vocab_size\": 700}";
static const char llama[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"vocab_size\": 900, "
    "\"hidden_size\": 64, \"intermediate_size\": 176, \"num_hidden_layers\": 3, "
    "\"num_attention_heads\": 8, \"num_key_value_heads\": 2}";
static const char mixtral[] = "{\"model_type\": \"mixtral\", \"architectures\": [\"MixtralForCausalLM\"], "
                              "\"vocab_size\": 900, \"hidden_size\": 64, \"intermediate_size\": 176, "
                              "\"num_hidden_layers\": 3, \"num_attention_heads\": 8, \"num_key_value_heads\": 2, "
                              "\"num_local_experts\": 4}";
static const char bert[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertModel\"], \"vocab_size\": 900, "
                           "\"hidden_size\": 64, \"intermediate_size\": 200, \"num_hidden_layers\": 3, "
                           "\"num_attention_heads\": 8, \"max_position_embeddings\": 80, \"type_vocab_size\": 2}";
static const char t5[] = "{\"model_type\": \"t5\", \"architectures\": [\"T5ForConditionalGeneration\"], "
                         "\"vocab_size\": 900, \"d_model\": 64, \"d_kv\": 16, \"d_ff\": 200, \"num_layers\": 3, "
                         "\"num_heads\": 6}";
static const char opt[] = "{\"model_type\": \"opt\", \"architectures\": [\"OPTForCausalLM\"], \"vocab_size\": 900, "
                          "\"hidden_size\": 64, \"ffn_dim\": 200, \"num_hidden_layers\": 3, "
                          "\"num_attention_heads\": 8, \"max_position_embeddings\": 80, \"word_embed_proj_dim\": 64}";
static const char bloom[] = "{\"model_type\": \"bloom\", \"architectures\": [\"BloomForCausalLM\"], "
                            "\"vocab_size\": 900, \"hidden_size\": 64, \"n_layer\": 3, \"n_head\": 8}";
static const char neox[] = "{\"model_type\": \"gpt_neox\", \"architectures\": [\"GPTNeoXForCausalLM\"], "
                           "\"vocab_size\": 900, \"hidden_size\": 64, \"intermediate_size\": 200, "
                           "\"num_hidden_layers\": 3, \"num_attention_heads\": 8}";
static const char qwen2[] = "{\"model_type\": \"qwen2\", \"architectures\": [\"Qwen2ForCausalLM\"], "
                            "\"vocab_size\": 900, \"hidden_size\": 64, \"intermediate_size\": 176, "
                            "\"num_hidden_layers\": 3, \"num_attention_heads\": 8, \"num_key_value_heads\": 2}";
static const char whisper[] = "{\"model_type\": \"whisper\", \"architectures\": [\"WhisperForConditionalGeneration\"], "
                              "\"vocab_size\": 900, \"d_model\": 64, \"encoder_layers\": 3, \"decoder_layers\": 2, "
                              "\"encoder_attention_heads\": 8, \"decoder_attention_heads\": 8, "
                              "\"encoder_ffn_dim\": 200, \"decoder_ffn_dim\": 176, \"num_mel_bins\": 20, "
                              "\"max_source_positions\": 50, \"max_target_positions\": 40}";

/* ---- changes ---- */

static void lose(struct model *model, const char *names) { model_drop(model, names); }

/* Stores the head, which is tied to that embedding, by itself. */
static void store_head(struct model *model, const char *embedding)
{
    const struct part *part = model_part(model, embedding);
    const uint64_t shape[] = {part->shape[0], part->shape[1]};
    model_add_shape(model, "lm_head.weight", 2, shape);
}

static void pad(struct model *model, const char *names) { model_resize(model, names, 900, 912); }

static void add_layer(struct model *model, const char *names) { model_copy(model, names, ".2.", ".3."); }

static void add_expert(struct model *model, const char *names) { model_copy(model, names, "experts.3.", "experts.4."); }

static void add_biases(struct model *model, const char *names) { model_add_biases(model, names); }

/* ---- the formula of the table, as a claim ---- */

static char *formula_of(const struct model *model)
{
    struct shapeproof_error error = {0};
    struct sp_text text = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(model->tables, model->config, NULL, &error);
    struct shapeproof_derivation *forms =
        shapeproof_derive_prediction(model->tables, prediction, model->config, &error);
    if (!forms) fail_msg("%s", error.message);
    const size_t last = shapeproof_derivation_formula_count(forms) - 1;
    assert_string_equal(shapeproof_derivation_formula(forms, last)->group, "total");
    sp_text_printf(&text, "total = %s", shapeproof_derivation_formula(forms, last)->text);
    shapeproof_derivation_free(forms);
    shapeproof_prediction_free(prediction);
    return text.data;
}

static struct shapeproof_verification *verify(struct model *model, const char *claim)
{
    struct shapeproof_error error = {0};
    static int count; /* each in a file of its own, beside the earlier ones */
    char file[16];
    snprintf(file, sizeof file, "test%d", ++count);
    const char *const files[] = {file};
    const struct shapeproof_claim_lines lines = {.name = file, .items = &claim, .count = 1};
    const char *table = shapeproof_prediction_table(shapeproof_check_prediction(model->check));
    char *letters;
    if (shapeproof_tables_add_claims(model->tables, table, &lines, &letters, &error) != SHAPEPROOF_OK)
        fail_msg("%s: %s", claim, shapeproof_tables_messages(model->tables));
    shapeproof_free(letters);
    struct shapeproof_verification *verification = shapeproof_verify(
        model->check, model->tables, &(struct shapeproof_verify_options){.files = files, .file_count = 1}, &error);
    if (!verification) fail_msg("%s", error.message);
    return verification;
}

static const struct {
    const char *config;
    void (*change)(struct model *model, const char *names);
    const char *names, *difference;
} cases[] = {
    {gpt2, lose, "*.attn.c_attn.bias", "432 less = -3*E*N (transformer.h.{0-2}.attn.c_attn.bias are missing)"},
    {gpt2, store_head, "*wte.weight", "33,600 more = V*E (lm_head.weight is stored although it is tied)"},
    {llama, lose, "model.layers.2.*",
     "44,160 less = -H*(3*I + 2*D*(A + K) + 2) (model.layers.2.input_layernorm.weight, "
     "model.layers.2.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight, model.layers.2.post_attention_layernorm.weight "
     "and 3 more are missing)"},
    {llama, pad, "model.embed_tokens.weight", "768 more = 12*H (model.embed_tokens.weight has another shape)"},
    {llama, add_biases, "*.q_proj.weight",
     "192 more = L*A*D (model.layers.{0-2}.self_attn.q_proj.bias are not predicted)"},
    {mixtral, add_expert, "*.experts.3.*",
     "101,376 more = 9*H*I (model.layers.{0-2}.block_sparse_moe.experts.4.{w1,w2,w3}.weight are not predicted)"},
    {mixtral, lose, "*.experts.3.*",
     "101,376 less = -9*H*I (model.layers.{0-2}.block_sparse_moe.experts.3.{w1,w2,w3}.weight are missing)"},
    {mixtral, lose, "*.gate.weight", "768 less = -H*L*E (model.layers.{0-2}.block_sparse_moe.gate.weight are missing)"},
    {bert, lose, "*.attention.output.LayerNorm.bias",
     "192 less = -H*L (encoder.layer.{0-2}.attention.output.LayerNorm.bias are missing)"},
    {bert, add_layer, "*.layer.2.*",
     "42,760 more = I + H*(4*H + 2*I + 9) (encoder.layer.3.attention.self.query.{weight,bias}, "
     "encoder.layer.3.attention.self.key.{weight,bias}, encoder.layer.3.attention.self.value.{weight,bias} and 10 more "
     "are not predicted)"},
    {t5, lose, "*.EncDecAttention.*",
     "73,728 less = -4*H*N*A*d_kv (decoder.block.{0-2}.layer.1.EncDecAttention.{q,k,v,o}.weight are missing)"},
    {t5, store_head, "shared.weight", "57,600 more = V*H (lm_head.weight is stored although it is tied)"},
    {opt, lose, "*.fc1.bias", "600 less = -L*F (model.decoder.layers.{0-2}.fc1.bias are missing)"},
    {opt, pad, "*embed_tokens.weight", "768 more = 12*W (model.decoder.embed_tokens.weight has another shape)"},
    {bloom, lose, "*.1.mlp.dense_h_to_4h.weight",
     "16,384 less = -4*H^2 (transformer.h.1.mlp.dense_h_to_4h.weight is missing)"},
    {bloom, lose, "*word_embeddings_layernorm*",
     "128 less = -2*H (transformer.word_embeddings_layernorm.{weight,bias} are missing)"},
    {neox, pad, "embed_out.weight", "768 more = 12*H (embed_out.weight has another shape)"},
    {neox, lose, "gpt_neox.layers.1.*",
     "42,760 less = -(I + H*(4*H + 2*I + 9)) (gpt_neox.layers.1.input_layernorm.{weight,bias}, "
     "gpt_neox.layers.1.attention.query_key_value.{weight,bias}, gpt_neox.layers.1.attention.dense.{weight,bias} and 6 "
     "more are missing)"},
    {qwen2, lose, "*.v_proj.bias", "48 less = -L*K*D (model.layers.{0-2}.self_attn.v_proj.bias are missing)"},
    {whisper, lose, "*decoder.layers.1.*",
     "56,304 less = -(G + H*(8*H + 2*G + 13)) (model.decoder.layers.1.self_attn_layer_norm.{weight,bias}, "
     "model.decoder.layers.1.self_attn.{k_proj,v_proj}.weight, model.decoder.layers.1.self_attn.v_proj.bias and 19 "
     "more are missing)"},
    {whisper, add_biases, "*.k_proj.weight",
     "448 more = H*(L + 2*N) (model.encoder.layers.{0-2}.self_attn.k_proj.bias, "
     "model.decoder.layers.{0,1}.{self_attn,encoder_attn}.k_proj.bias are not predicted)"},
};

static void changed_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model model;
        model_open(&model, cases[i].config);
        model_predict(&model, 0);
        cases[i].change(&model, cases[i].names);
        model_check(&model);
        char *claim = formula_of(&model);
        struct shapeproof_verification *verification = verify(&model, claim);
        assert_int_equal(shapeproof_verification_claim_count(verification), 1);
        const struct shapeproof_verified_claim *held = shapeproof_verification_claim(verification, 0);
        assert_int_equal(held->answer, SHAPEPROOF_CLAIM_FAILS);
        assert_int_equal(held->formula.numerator, held->predicted.numerator);
        assert_string_equal(held->difference, cases[i].difference);
        shapeproof_verification_free(verification);
        free(claim);
        model_close(&model);
    }
}

/* ---- one claim about one file ---- */

struct answer {
    enum shapeproof_claim_answer answer;
    int64_t formula, predicted, stored; /* 0: none, or not looked at */
    const char *text;                   /* of the difference, or why; NULL for neither */
};

static void expect_claim(struct model *model, const char *claim, struct answer wanted, const char *premises)
{
    struct shapeproof_verification *verification = verify(model, claim);
    assert_int_equal(shapeproof_verification_claim_count(verification), 1);
    const struct shapeproof_verified_claim *held = shapeproof_verification_claim(verification, 0);
    const char *text = held->why ? held->why : held->difference;
    if (held->answer != wanted.answer)
        fail_msg("%s: %s: %s", claim, shapeproof_claim_answer_name(held->answer), text ? text : "");
    if (wanted.formula) assert_int_equal(held->formula.numerator, wanted.formula);
    if (wanted.predicted) assert_int_equal(held->predicted.numerator, wanted.predicted);
    if (wanted.stored) assert_int_equal(held->stored.numerator, wanted.stored);
    if (wanted.text) assert_string_equal(text && strstr(text, wanted.text) ? wanted.text : text, wanted.text);
    else if (text) fail_msg("%s: %s", claim, text);
    if (premises) assert_string_equal(held->premises ? held->premises : "none", premises);
    shapeproof_verification_free(verification);
}

/* The file is whole: 122,352 = 48*(700 + 80) + 3*(12*48^2 + 13*48) + 2*48. */
static void whole_file(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, gpt2);
    model_predict(&model, 0);
    model_check(&model);
    expect_claim(&model, "total = 12*N*E^2 + 13*N*E + V*E + P*E + 2*E",
                 (struct answer){SHAPEPROOF_CLAIM_HOLDS, 122352, 122352, 122352, NULL},
                 "H = 4*E, tie_word_embeddings = true, add_cross_attention = false");
    expect_claim(&model, "total = 12*L*d^2 + 13*L*d + V*d + P*d + 2*d",
                 (struct answer){SHAPEPROOF_CLAIM_HOLDS, 122352, 122352, 122352, NULL},
                 "H = 4*E, tie_word_embeddings = true, add_cross_attention = false");
    expect_claim(&model, "[embedding] = E*(V + P)", (struct answer){SHAPEPROOF_CLAIM_HOLDS, 37440, 37440, 37440, NULL},
                 "none"); /* it is proved as it is */
    /* wrong for the table too: the final norm is left out */
    expect_claim(&model, "total = 12*N*E^2 + 13*N*E + V*E + P*E",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 122256, 122352, 122352,
                                 "96 more than the formula gives, as the table predicts"},
                 "none");
    /* about other values, or not decided by them */
    expect_claim(&model, "total = V*E when H = 2*E",
                 (struct answer){SHAPEPROOF_CLAIM_OTHER, 0, 0, 0, "it is about H = 2*E, and H is 192"}, NULL);
    expect_claim(&model, "total = V*E when not tied",
                 (struct answer){SHAPEPROOF_CLAIM_OTHER, 0, 0, 0, "it is about not tied"}, NULL);
    expect_claim(&model, "total = V*nobody",
                 (struct answer){SHAPEPROOF_CLAIM_UNKNOWN, 0, 0, 0,
                                 "'nobody' is neither defined nor a hyper-parameter of the table"},
                 NULL);
    expect_claim(&model, "example E = 48, N = 3, V = 700, P = 80: total rounds to \"122K\"",
                 (struct answer){SHAPEPROOF_CLAIM_HOLDS, 0, 122352, 122352, NULL}, NULL);
    expect_claim(&model, "example E = 48, N = 3, V = 700, P = 80: total rounds to \"125K\"",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 0, 122352, 122352, NULL}, NULL);
    expect_claim(&model, "example E = 768: total = 124439808",
                 (struct answer){SHAPEPROOF_CLAIM_OTHER, 0, 0, 0, "it is about E = 768, and E is 48"}, NULL);
    expect_claim(&model, "approx total = 12*N*E^2 within 40%",
                 (struct answer){SHAPEPROOF_CLAIM_HOLDS, 82944, 122352, 122352, NULL}, NULL);
    expect_claim(&model, "approx total = 12*N*E^2 within 20%",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 82944, 122352, 122352,
                                 "39,408 more than the formula gives, as the table predicts"},
                 NULL);
    model_close(&model);
}

/* Formula, table and file give three numbers: the formula lacks the norm, the file a bias. Weights of groups: a side
 * that is linear in them is named, another one is not. */
static void three_numbers(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, gpt2);
    model_predict(&model, 0);
    model_drop(&model, "*.1.attn.c_attn.bias");
    model_check(&model);
    expect_claim(
        &model, "total = 12*N*E^2 + 13*N*E + V*E + P*E",
        (struct answer){SHAPEPROOF_CLAIM_FAILS, 122256, 122352, 122208,
                        "48 less = -3*E (transformer.h.1.attn.c_attn.bias is missing) + 96 (the table has, and "
                        "the formula has not)"},
        "none");
    expect_claim(&model, "2*[attention] + [embedding] = 2*(4*E^2 + 6*E)*N + V*E + P*E",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 94464, 94464, 94176,
                                 "288 less = -6*E (transformer.h.1.attn.c_attn.bias is missing)"},
                 NULL);
    expect_claim(&model, "[attention]*[attention] = ((4*E^2 + 6*E)*N)^2",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 0, 0, 0, "8,190,720 less"}, NULL);
    expect_claim(&model, "[embedding] = V*E + P*E", (struct answer){SHAPEPROOF_CLAIM_HOLDS, 37440, 37440, 37440, NULL},
                 NULL);
    model_close(&model);
}

/* Claims on rows: the table is right, the file lost a bias, has a padded embedding, a head of its own and one layer
 * norm that is not predicted. */
static void rows(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, gpt2);
    model_predict(&model, 0);
    model_drop(&model, "*.1.attn.c_attn.bias");
    model_drop(&model, "*.mlp.c_fc.bias");
    store_head(&model, "*wte.weight");
    model_resize(&model, "*wte.weight", 700, 704);
    model_copy(&model, "*.2.ln_1.weight", ".2.", ".3.");
    model_check(&model);
    expect_claim(&model, "elements(h.{i}.attn.c_attn.weight) = 3*E^2*N",
                 (struct answer){SHAPEPROOF_CLAIM_HOLDS, 20736, 20736, 20736, NULL}, "none");
    expect_claim(&model, "elements(h.{i}.attn.c_attn.bias) = 3*E*N",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 432, 432, 288,
                                 "144 less = -3*E (transformer.h.1.attn.c_attn.bias is missing)"},
                 "none");
    expect_claim(&model, "elements(transformer.h.{i}.mlp.c_fc.*) = H*(E + 1)*N",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 28224, 28224, 27648,
                                 "576 less = -N*H (transformer.h.{0-2}.mlp.c_fc.bias are missing)"},
                 "none");
    expect_claim(&model, "count(h.{i}.attn.c_attn.bias) = N",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 3, 3, 2, "1 less"}, NULL);
    expect_claim(&model, "count(h.{i}.ln_1.weight) = N", (struct answer){SHAPEPROOF_CLAIM_FAILS, 3, 3, 4, "1 more"},
                 NULL);
    expect_claim(&model, "elements(h.{i}.ln_1.weight) = E*N",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 144, 144, 192,
                                 "48 more = E (transformer.h.3.ln_1.weight is not predicted)"},
                 NULL);
    expect_claim(&model, "elements(lm_head.weight) = V*E*[not tied]",
                 (struct answer){SHAPEPROOF_CLAIM_FAILS, 0, 0, 33600,
                                 "33,600 more = V*E (lm_head.weight is stored although it is tied)"},
                 NULL);
    expect_claim(&model, "dim(wte.weight, 0) = V", (struct answer){SHAPEPROOF_CLAIM_FAILS, 700, 700, 704, "4 more"},
                 NULL);
    expect_claim(&model, "dim(wte.weight, 1) = E", (struct answer){SHAPEPROOF_CLAIM_HOLDS, 48, 48, 48, NULL}, NULL);
    expect_claim(
        &model, "dim(h.{i}.ln_1.weight, 0) = E",
        (struct answer){SHAPEPROOF_CLAIM_UNKNOWN, 0, 0, 0, "tensors of that name that the table does not have"}, NULL);
    expect_claim(&model, "elements(*) = stored(total) when tied",
                 (struct answer){SHAPEPROOF_CLAIM_HOLDS, 0, 0, 0, NULL}, NULL);
    expect_claim(&model, "stored(bytes) = 4*stored(total)", (struct answer){SHAPEPROOF_CLAIM_HOLDS, 0, 0, 0, NULL},
                 NULL);
    model_close(&model);
}

/* One of three tensors has another size: the row has no dimension that all share. */
static void one_dimension_of_several(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, gpt2);
    model_predict(&model, 0);
    model_resize(&model, "*.1.mlp.c_fc.bias", 192, 200);
    model_check(&model);
    expect_claim(&model, "dim(h.{i}.mlp.c_fc.bias, 0) = H",
                 (struct answer){SHAPEPROOF_CLAIM_UNKNOWN, 0, 0, 0, "these tensors differ in that dimension"}, NULL);
    expect_claim(&model, "dim(h.{i}.mlp.c_fc.weight, 1) = H",
                 (struct answer){SHAPEPROOF_CLAIM_HOLDS, 192, 192, 192, NULL}, NULL);
    model_close(&model);
}

/* Flags of the configuration: what is claimed of the defaults is not about an untied model. */
static void flags(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, gpt2);
    model_set(&model, "tie_word_embeddings=false");
    model_predict(&model, 0);
    model_check(&model);
    expect_claim(&model, "total = V*E when defaults",
                 (struct answer){SHAPEPROOF_CLAIM_OTHER, 0, 0, 0,
                                 "it is about the defaults of all flags, with which its left side is 122352, not "
                                 "155952"},
                 NULL);
    expect_claim(&model, "[embedding] = V*E + P*E when defaults",
                 (struct answer){SHAPEPROOF_CLAIM_HOLDS, 37440, 37440, 37440, NULL}, NULL);
    expect_claim(&model, "[head] = V*E", (struct answer){SHAPEPROOF_CLAIM_HOLDS, 33600, 33600, 33600, NULL},
                 "tie_word_embeddings = false");
    model_close(&model);
}

static const struct shapeproof_stored_group *group_named(const struct shapeproof_verification *verification,
                                                         const char *name)
{
    for (size_t i = 0; i < shapeproof_verification_group_count(verification); i++) {
        const struct shapeproof_stored_group *group = shapeproof_verification_group(verification, i);
        if (name ? group->name && strcmp(group->name, name) == 0 : !group->name) return group;
    }
    return NULL;
}

/* One storage under two names counts once, in the group of the tensor that the other is tied to: also when the file has
 * only the other name, and whichever comes first. */
static void one_storage(void **state)
{
    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        struct model model;
        model_open(&model, gpt2);
        model_predict(&model, WITH_TIED);
        model_share(&model, "lm_head.weight", "shared");
        model_share(&model, "*wte.weight", "shared");
        if (missing) model_drop(&model, "*wte.weight");
        model_check_memory(&model);
        struct shapeproof_verification *verification = verify(&model, "total = 12*N*E^2 + 13*N*E + V*E + P*E + 2*E");
        assert_int_equal(shapeproof_verification_claim(verification, 0)->answer, SHAPEPROOF_CLAIM_HOLDS);
        assert_int_equal(group_named(verification, "embedding")->stored, 37440);
        assert_null(group_named(verification, "head"));
        shapeproof_verification_free(verification);
        model_close(&model);
    }
}

/* What no claim counts is told apart: buffers, optional tensors. What is not predicted counts, in a group of its own.
 */
static void other_tensors(void **state)
{
    struct model model;
    (void)state;
    model_open(&model, gpt2);
    model_predict(&model, WITH_OPTIONAL);
    model_add_shape(&model, "stranger.weight", SHAPE(5, 7));
    model_check(&model);
    struct shapeproof_verification *verification = verify(&model, "total = total");
    const struct shapeproof_stored_group *strangers = group_named(verification, NULL);
    assert_non_null(strangers);
    assert_int_equal(strangers->stored, 35);
    assert_int_equal(strangers->deviation_count, 1);
    assert_string_equal(strangers->deviations[0].names, "stranger.weight");
    assert_string_equal(strangers->deviations[0].term, "35");
    assert_int_equal(shapeproof_verification_claim(verification, 0)->stored.numerator, 122352 + 35);
    assert_true(shapeproof_verification_uncounted_count(verification) > 0);
    const struct shapeproof_uncounted *buffers = shapeproof_verification_uncounted(verification, 0);
    assert_string_equal(buffers->what, "buffers");
    assert_int_equal(buffers->tensors, 6);
    shapeproof_verification_free(verification);
    model_close(&model);
}

/* The names of the values, and the letters of publications. */
static void names(void **state)
{
    struct model model;
    struct shapeproof_error error = {0};
    (void)state;
    model_open(&model, gpt2);
    model_predict(&model, 0);
    model_check(&model);
    struct shapeproof_verification *verification = verify(&model, "total = V*E");
    assert_int_equal(shapeproof_verification_value_count(verification), 5);
    const struct shapeproof_named_value *first = shapeproof_verification_value(verification, 0);
    assert_string_equal(first->name, "V");
    assert_string_equal(first->key, "vocab_size");
    assert_int_equal(first->value.numerator, 700);
    shapeproof_verification_free(verification);
    const char *const lines[] = {"L = 7*n_layer", "total = L*d + Q + n_ctx"};
    char *letters;
    assert_int_equal(shapeproof_tables_add_claims(
                         model.tables, "gpt2", &(struct shapeproof_claim_lines){"letters", lines, 2}, &letters, &error),
                     SHAPEPROOF_OK);
    assert_string_equal(letters, "d = E, n_ctx = P"); /* L is defined, Q usually means nothing */
    shapeproof_free(letters);
    assert_int_equal(shapeproof_tables_add_claims(model.tables, "gpt22",
                                                  &(struct shapeproof_claim_lines){"letters", lines, 2}, &letters,
                                                  &error),
                     SHAPEPROOF_ERR_USAGE);
    assert_null(letters);
    model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(changed_models),
                                       cmocka_unit_test(whole_file),
                                       cmocka_unit_test(three_numbers),
                                       cmocka_unit_test(rows),
                                       cmocka_unit_test(one_dimension_of_several),
                                       cmocka_unit_test(flags),
                                       cmocka_unit_test(one_storage),
                                       cmocka_unit_test(other_tensors),
                                       cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
