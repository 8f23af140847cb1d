/* SPDX-License-Identifier: MIT
 * Several hyper-parameters that give a total together: the answers are those that predictions of all values give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lang/tables_fixture.h"
#include "prove/settings.h"
#include "shapeproof/prediction.h"
#include "shapeproof/prove.h"

typedef struct shapeproof_solve_together_options solve_options;

#define KEYS(...) .free = (const char *const[]){__VA_ARGS__}, .free_count = sizeof((const char *[]){__VA_ARGS__}) / 8

/* The parameters with two more settings; 0 when the table cannot be predicted with them. */
static uint64_t parameters_with(const char *table, const char *const *keys, const char *const *settings, int64_t first,
                                int64_t second)
{
    char texts[2][100];
    struct shapeproof_error error = {0};
    struct shapeproof_config *own = config_of(settings);
    snprintf(texts[0], sizeof texts[0], "%s=%lld", keys[0], (long long)first);
    snprintf(texts[1], sizeof texts[1], "%s=%lld", keys[1], (long long)second);
    for (size_t i = 0; i < 2; i++) assert_int_equal(shapeproof_config_set(own, texts[i], &error), SHAPEPROOF_OK);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, own, &(struct shapeproof_predict_options){.table = table}, &error);
    const uint64_t count = prediction ? shapeproof_prediction_totals(prediction)->unique_parameters : 0;
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(own);
    return count;
}

static bool is_found(const struct shapeproof_combinations *found, int64_t first, int64_t second)
{
    for (size_t i = 0; i < shapeproof_combinations_count(found); i++) {
        const int64_t *values = shapeproof_combinations_get(found, i)->values;
        if (values[0] == first && values[1] == second) return true;
    }
    return false;
}

/* Both keys are 1 now, so that they are tried from 1 to 32: all 1,024 pairs are predicted, and those that give the
 * total of (first, second) must be the answers. */
static void compare_with_all(const char *table, const char *const *keys, const char *const *settings, int64_t first,
                             int64_t second)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = config_of(settings);
    const uint64_t total = parameters_with(table, keys, settings, first, second);
    const solve_options options = {.table = table, .free = keys, .free_count = 2, .every = 1};
    struct shapeproof_combinations *found = shapeproof_solve_together(tables, config, total, &options, &error);
    size_t expected = 0;
    if (!found) fail_msg("%s: %s", table, error.message);
    assert_true(total > 0);
    for (int64_t a = 1; a <= 32; a++)
        for (int64_t b = 1; b <= 32; b++) {
            if (parameters_with(table, keys, settings, a, b) != total) continue;
            expected++;
            if (!is_found(found, a, b))
                fail_msg("%s: %s = %lld, %s = %lld is missing", table, keys[0], (long long)a, keys[1], (long long)b);
        }
    assert_int_equal(shapeproof_combinations_count(found), expected);
    assert_false(shapeproof_combinations_is_cut(found));
    shapeproof_combinations_free(found);
    shapeproof_config_free(config);
}

/* With a width that is divided by the heads, rounded up, or tested by a condition. */
static void answers_are_those_of_all_predictions(void **state)
{
    (void)state;
    const struct {
        const char *table, *keys[2], *settings[9];
    } cases[] = {
        {"gpt2", {"n_layer", "n_embd"}, {"n_layer=1", "n_embd=1", "vocab_size=6", "n_positions=3"}},
        {"llama",
         {"hidden_size", "num_attention_heads"},
         {"hidden_size=1", "num_attention_heads=1", "vocab_size=5", "intermediate_size=3", "num_hidden_layers=2",
          "num_key_value_heads=1"}},
        {"deepseek_v3",
         {"first_k_dense_replace", "num_hidden_layers"},
         {"vocab_size=10", "hidden_size=4", "num_hidden_layers=1", "first_k_dense_replace=1", "intermediate_size=6",
          "num_attention_heads=2", "n_routed_experts=2", "moe_intermediate_size=3"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compare_with_all(cases[i].table, cases[i].keys, cases[i].settings, 4, 12);
        compare_with_all(cases[i].table, cases[i].keys, cases[i].settings, 2, 16);
    }
}

/* A count that falls as the key grows is no matter for bisection: all values are evaluated. */
static void counts_that_fall(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *own = shapeproof_tables_new(&error);
    static const char text[] = "table t\n[all]\nw (1000 - k, m)\nx (k, 3)\n";
    assert_int_equal(shapeproof_tables_add_text(own, "t.shapes", text, sizeof text - 1, &error), SHAPEPROOF_OK);
    struct shapeproof_config *config = config_of(SETTINGS("k=10", "m=5"));
    const solve_options options = {.table = "t", KEYS("k", "m"), .every = 1};
    struct shapeproof_combinations *found = shapeproof_solve_together(own, config, 900 * 7 + 300, &options, &error);
    assert_non_null(found);
    assert_true(is_found(found, 100, 7));
    shapeproof_combinations_free(found);
    shapeproof_config_free(config);
    shapeproof_tables_free(own);
}

/* A search that ends at its limit says so, also where the limit is reached within the last key. */
static void searches_at_their_limit(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *own = shapeproof_tables_new(&error);
    static const char text[] = "table t\n[all]\nw (k % 3 + 1)\nv (k == 5000000 ? 7 : 1)\n";
    assert_int_equal(shapeproof_tables_add_text(own, "t.shapes", text, sizeof text - 1, &error), SHAPEPROOF_OK);
    struct shapeproof_config *config = config_of(SETTINGS("k=200001"));
    static const char *const keys[] = {"k"};
    const solve_options options = {.table = "t", .free = keys, .free_count = 1, .every = 1};
    struct shapeproof_combinations *found = shapeproof_solve_together(own, config, 10, &options, &error);
    assert_non_null(found);
    assert_true(shapeproof_combinations_is_cut(found)); /* 5,000,000 is beyond it */
    shapeproof_combinations_free(found);
    shapeproof_config_free(config);
    shapeproof_tables_free(own);
}

/* Llama 2: from 7B to 13B with all ratios kept, the published shape comes first. Ratios are given in any order. */
static void ratios_are_kept(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config =
        config_of(SETTINGS("vocab_size=32000", "hidden_size=4096", "intermediate_size=11008", "num_hidden_layers=32",
                           "num_attention_heads=32", "num_key_value_heads=32"));
    const struct shapeproof_ratio keep[] = {{"num_attention_heads", "num_key_value_heads"},
                                            {"hidden_size", "num_attention_heads"},
                                            {"intermediate_size", "hidden_size"}};
    const solve_options options = {
        .table = "llama", KEYS("num_hidden_layers", "hidden_size"), .keep = keep, .keep_count = 3};
    struct shapeproof_combinations *found = shapeproof_solve_together_rounded(tables, config, "13B", &options, &error);
    if (!found) fail_msg("%s", error.message);
    assert_int_equal(shapeproof_combinations_key_count(found), 5);
    assert_true(shapeproof_combinations_rounded(found));
    assert_true(shapeproof_combinations_is_cut(found)); /* more than 256 */
    const int64_t *best = shapeproof_combinations_get(found, 0)->values;
    assert_true(best[0] == 40 && best[1] == 5120);
    for (size_t i = 0; i < shapeproof_combinations_count(found); i++) {
        const struct shapeproof_combination *one = shapeproof_combinations_get(found, i);
        assert_in_range(one->parameters, UINT64_C(12500000000), UINT64_C(13499999999));
        for (size_t k = 2; k < 5; k++) {
            const char *key = shapeproof_combinations_key(found, k)->key;
            assert_true(shapeproof_combinations_key(found, k)->is_kept);
            if (strcmp(key, "intermediate_size") == 0) assert_int_equal(one->values[k] * 4096, one->values[1] * 11008);
            else assert_int_equal(one->values[k] * 128, one->values[1]);
        }
    }
    shapeproof_combinations_free(found);
    shapeproof_config_free(config);
}

/* Without `every` widths above 256 are multiples of 64; the vocabulary of GPT-2 is none. */
static void usual_numbers(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = config_of(SETTINGS("vocab_size=50000"));
    solve_options options = {.table = "gpt2", KEYS("vocab_size", "n_embd")};
    for (int every = 0; every < 2; every++) {
        options.every = (uint64_t)every;
        struct shapeproof_combinations *found = shapeproof_solve_together(tables, config, 124439808, &options, &error);
        assert_non_null(found);
        assert_int_equal(is_found(found, 50257, 768), every);
        for (size_t i = 0; !every && i < shapeproof_combinations_count(found); i++)
            assert_true(shapeproof_combinations_get(found, i)->values[0] % 64 == 0);
        shapeproof_combinations_free(found);
    }
    shapeproof_config_free(config);
}

static void refuse(const solve_options *options, const char *message)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = config_of(SETTINGS("n_layer=2"));
    assert_null(shapeproof_solve_together(tables, config, 7872, options, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    assert_string_equal(error.message, message);
    shapeproof_config_free(config);
}

static void mistakes(void **state)
{
    (void)state;
    const struct shapeproof_ratio heads = {"n_embd", "n_head"}, both = {"n_embd", "n_layer"};
    refuse(&(solve_options){.table = "gpt2"}, "1 to 3 hyper-parameters can be free, not 0");
    refuse(&(solve_options){.table = "gpt2", KEYS("n_layer", "N")}, "'N' is named twice");
    refuse(&(solve_options){.table = "gpt2", KEYS("n_layr")},
           "the table has no hyper-parameter 'n_layr'; did you mean 'n_layer'?");
    refuse(&(solve_options){.table = "gpt2", KEYS("tie_word_embeddings")}, "'tie_word_embeddings' is not a number of "
                                                                           "the table");
    refuse(&(solve_options){.table = "gpt2", KEYS("n_layer", "n_embd"), .keep = &heads, .keep_count = 1},
           "'n_head' has no value now, so that there is no ratio to keep");
    refuse(&(solve_options){.table = "gpt2", KEYS("n_layer", "n_embd"), .keep = &both, .keep_count = 1},
           "'n_embd' and 'n_layer' are both free or kept already: their ratio cannot be kept");
    refuse(&(solve_options){.table = "gpt2", KEYS("n_layer"), .keep = &heads, .keep_count = 1},
           "neither 'n_embd' nor 'n_head' is free: there is nothing to keep");
    refuse(&(solve_options){.table = "gpt2", KEYS("n_layer"), .group = "nothing"}, "the table has no group [nothing]");
    refuse(&(solve_options){.table = "gpt2", KEYS("n_layer"), .group = "embedding"},
           "'n_layer' does not change the number of parameters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_all_predictions),
        cmocka_unit_test(counts_that_fall),
        cmocka_unit_test(searches_at_their_limit),
        cmocka_unit_test(ratios_are_kept),
        cmocka_unit_test(usual_numbers),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, open_tables, close_tables);
}
