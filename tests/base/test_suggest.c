/* SPDX-License-Identifier: MIT
 * What was likely meant by a word that is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/suggest.h"

#define LIKE(suggest, word, ...)                                                                                       \
    suggest(word, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void a_slip_of_the_keyboard(void **state)
{
    (void)state;
    assert_string_equal(LIKE(sp_suggest, "chekc", "inspect", "check"), "check");
    assert_string_equal(LIKE(sp_suggest, "insp", "check", "inspect"), "inspect");
    assert_null(LIKE(sp_suggest, "quux", "check", "inspect"));
    assert_null(LIKE(sp_suggest, "", "check"));
    assert_null(LIKE(sp_suggest, "foo", "fmt")); /* two letters of three are another word */
    assert_null(LIKE(sp_suggest, "wombat", "format"));
}

static void a_name_of_a_table_or_a_model(void **state)
{
    (void)state;
    assert_string_equal(LIKE(sp_suggest_name, "GPT-2", "gpt1", "gpt2"), "gpt2");
    assert_string_equal(LIKE(sp_suggest_name, "mixtral_8x7b", "mixtral", "mixtral-8x7b"), "mixtral-8x7b");
    assert_string_equal(LIKE(sp_suggest_name, "llama-2", "llama", "llama-2-7b"), "llama-2-7b");
    assert_string_equal(LIKE(sp_suggest_name, "whisper_tny", "whisper", "whisper-tiny"), "whisper-tiny");
    assert_string_equal(LIKE(sp_suggest_name, "Llama_3.1_8B_Instruct", "llama-3.3-70b-instruct", "llama-3.1-8b"),
                        "llama-3.1-8b");
    assert_null(LIKE(sp_suggest_name, "gpt-4", "gpt2")); /* another digit is another name */
    assert_null(LIKE(sp_suggest_name, "opt-3", "opt-30b"));
    assert_null(LIKE(sp_suggest_name, "qwen-1", "qwen1.5-110b"));
    assert_string_equal(LIKE(sp_suggest_name, "opt-3", "opt-30b", "opt-3-b"), "opt-3-b");
    assert_null(LIKE(sp_suggest_name, "my-model", "vq_model"));
    assert_null(LIKE(sp_suggest_name, "", "gpt2"));
    assert_null(LIKE(sp_suggest_name, "-_.", "gpt2"));
    assert_null(LIKE(sp_suggest_name, "aname_that_is_longer_than_any_that_is_compared", "anam"));
    assert_true(sp_is_same_name("GPT-2", "gpt2"));
    assert_false(sp_is_same_name("gpt-2", "gpt-2-xl"));
    assert_string_equal(LIKE(sp_name_begun, "Llama-3.1-8B-Instruct", "llama", "llama-3.1-8b"), "llama-3.1-8b");
    assert_string_equal(LIKE(sp_name_begun, "gpt2--aname_that_is_longer_than_any_that_is_compared", "gpt", "gpt2"),
                        "gpt2");
    assert_null(LIKE(sp_name_begun, "gpt5", "gpt2"));
    assert_null(LIKE(sp_name_begun, "--", "gpt2"));
}

/* A name of any length is read once. */
static void a_long_name(void **state)
{
    enum { LENGTH = 4 * 1000 * 1000 };
    char *name = test_malloc(LENGTH + 1);
    (void)state;
    memset(name, '-', LENGTH);
    memcpy(name, "gpt2", 4);
    name[LENGTH] = '\0';
    assert_string_equal(LIKE(sp_name_begun, name, "gpt2"), "gpt2");
    assert_null(LIKE(sp_suggest_name, name, "bert"));
    test_free(name);
}

/* A key that need not be wrong must be very near. */
static void a_key_misspelt(void **state)
{
    (void)state;
    assert_true(sp_is_misspelt("n_layers", "n_layer"));
    assert_true(sp_is_misspelt("numKeyValueHeads", "num_key_value_heads"));
    assert_true(sp_is_misspelt("num_key_values_heads", "num_key_value_heads"));
    assert_false(sp_is_misspelt("hiden_szie", "hidden_size"));
    assert_false(sp_is_misspelt("n_layer", "n_layer"));
    assert_false(sp_is_misspelt("conv_1", "conv_2"));
    assert_false(sp_is_misspelt("d_ff", "d_kv"));
    assert_false(sp_is_misspelt("top_k", "top_p"));
}

static void a_key_of_other_words(void **state)
{
    (void)state;
    assert_string_equal(LIKE(sp_suggest_key, "layers", "n_embd", "n_layer"), "n_layer");
    assert_string_equal(LIKE(sp_suggest_key, "hidden_dim", "vocab_size", "hidden_size"), "hidden_size");
    assert_string_equal(LIKE(sp_suggest_key, "witdh", "height", "width"), "width");
    assert_null(LIKE(sp_suggest_key, "n_head", "n_embd", "n_layer"));
    assert_null(LIKE(sp_suggest_key, "intermediate_size", "vocab_size"));
    assert_null(LIKE(sp_suggest_key, "wombat_size", "vocab_size"));
    assert_string_equal(LIKE(sp_suggest_key, "vocabulary_size", "hidden_size", "vocab_size"), "vocab_size");
    assert_null(LIKE(sp_suggest_key, "scale_attn_by_inverse_layer_idx", "num_hidden_layers"));
    assert_string_equal(LIKE(sp_suggest_key, "layers", "mlp_only_layers", "num_hidden_layers"), "num_hidden_layers");
    assert_string_equal(LIKE(sp_suggest_key, "layers", "vision_feature_layer", "text_config.num_hidden_layers"),
                        "text_config.num_hidden_layers");
    assert_string_equal(LIKE(sp_suggest_key, "num_heads", "mamba_num_heads", "num_attention_heads"),
                        "num_attention_heads");
    assert_string_equal(LIKE(sp_suggest_key, "num_experts", "num_experts_per_tok", "n_routed_experts"),
                        "n_routed_experts");
    assert_string_equal(LIKE(sp_suggest_key, "vocab", "hidden_size", "vocab_size"), "vocab_size");
    assert_null(LIKE(sp_suggest_key, "layer", "num_hidden_layers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_keyboard),
        cmocka_unit_test(a_name_of_a_table_or_a_model),
        cmocka_unit_test(a_long_name),
        cmocka_unit_test(a_key_misspelt),
        cmocka_unit_test(a_key_of_other_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
