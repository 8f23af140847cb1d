/* SPDX-License-Identifier: MIT
 * Which hyper-parameters explain a total, exact or as it is printed. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lang/tables_fixture.h"
#include "prove/printed.h"
#include "prove/settings.h"
#include "shapeproof/evaluate.h"
#include "shapeproof/prediction.h"
#include "shapeproof/prove.h"

/* The solution for a symbol, with the name NULL when there is none. */
static struct shapeproof_solution solution_of(const struct shapeproof_solutions *solutions, const char *name)
{
    for (size_t i = 0; i < shapeproof_solutions_count(solutions); i++)
        if (strcmp(shapeproof_solutions_get(solutions, i)->name, name) == 0)
            return *shapeproof_solutions_get(solutions, i);
    return (struct shapeproof_solution){.name = NULL};
}

static struct shapeproof_solution solve(const char *table, const char *const *settings, const char *figure,
                                        uint64_t total, const char *name)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = config_of(settings);
    struct shapeproof_solutions *solutions =
        figure ? shapeproof_solve_rounded(tables, config, figure, &(struct shapeproof_solve_options){.table = table},
                                          &error)
               : shapeproof_solve(tables, config, total, &(struct shapeproof_solve_options){.table = table}, &error);
    if (!solutions) fail_msg("%s", error.message);
    const struct shapeproof_solution solution = solution_of(solutions, name);
    assert_int_equal(shapeproof_solutions_rounded(solutions), figure != NULL);
    shapeproof_solutions_free(solutions);
    shapeproof_config_free(config);
    return solution;
}

static void figures(void **state)
{
    (void)state;
    struct sp_printed printed;
    assert_true(sp_printed_read("65M", &printed));
    assert_true(printed.least == 64500000 && printed.most == 65499999);
    assert_true(sp_printed_read("1.5B", &printed));
    assert_true(printed.least == 1450000000 && printed.most == 1549999999);
    assert_true(sp_printed_read("65000", &printed));
    assert_true(printed.least == 65000 && printed.most == 65000);
    assert_true(sp_printed_read("175.0B", &printed));
    assert_true(printed.least == 174950000000 && printed.most == 175049999999);
    const char *const wrong[] = {
        "", "M", ".", "65m", "65MB", "6.5.0M", "-1M", "1.2345K", "1.5", "99999999999999999999", "9999999999T"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(sp_printed_read(wrong[i], &printed));
}

/* The value 0 is tried where the table may have it, and not where a dimension would be 0. */
static void zero(void **state)
{
    (void)state;
    const char *const *settings =
        SETTINGS("vocab_size=100", "hidden_size=64", "num_hidden_layers=6", "intermediate_size=32",
                 "num_attention_heads=4", "n_routed_experts=4", "moe_intermediate_size=8", "kv_lora_rank=16");
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = config_of(settings);
    assert_int_equal(shapeproof_config_set(config, "first_k_dense_replace=0", &error), SHAPEPROOF_OK);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = "deepseek_v3"}, &error);
    assert_non_null(prediction);
    const uint64_t total = shapeproof_prediction_totals(prediction)->unique_parameters;
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    const struct shapeproof_solution dense = solve("deepseek_v3", settings, NULL, total, "F");
    assert_non_null(dense.name);
    assert_int_equal(dense.value, 0);
    assert_int_equal(dense.last, 0);
    /* Without channels a layer has its attention of 4*8*8, and two norms of 8; the embedding has 100*8. */
    const char *const *small = SETTINGS("vocab_size=100", "hidden_size=8", "num_attention_heads=2",
                                        "num_hidden_layers=1", "intermediate_size=16", "tie_word_embeddings=true");
    assert_null(solve("llama", small, NULL, 800 + 4 * 64 + 2 * 8 + 8, "I").name);
    assert_int_equal(solve("llama", small, NULL, 800 + 8, "L").value, 0);
}

/* Of the two answers that give the total of nparam's second configuration, the width comes first. */
static void exact(void **state)
{
    (void)state;
    const char *const *settings = SETTINGS("vocab_size_src=29624", "vocab_size_trg=28059", "num_layers=1",
                                           "transformer_feed_forward_num_hidden=300");
    assert_int_equal(solve("nparam_transformer", settings, NULL, 49181083, "Vt").value, 29507);
    assert_int_equal(solve("nparam_transformer", settings, NULL, 49181083, "Vt").last, 29507);
    assert_null(solve("nparam_transformer", settings, NULL, 49181084, "Vt").name);
    const char *const *gpt2 = SETTINGS("vocab_size=50000");
    assert_int_equal(solve("gpt2", gpt2, NULL, 124439808, "V").value, 50257);
}

/* The ten rows of Table 3 of "Attention is all you need" that print a number and agree with each other. */
static void table_3(void **state)
{
    (void)state;
    const struct {
        const char *settings[5];
        const char *printed;
    } rows[] = {{{"num_heads=8"}, "65M"},
                {{"d_k=16", "d_v=64"}, "58M"},
                {{"d_k=32", "d_v=64"}, "60M"},
                {{"num_hidden_layers=2"}, "36M"},
                {{"num_hidden_layers=4"}, "50M"},
                {{"num_hidden_layers=8"}, "80M"},
                {{"hidden_size=256", "d_k=32", "d_v=32"}, "28M"},
                {{"hidden_size=1024", "d_k=128", "d_v=128"}, "168M"},
                {{"filter_size=1024"}, "53M"},
                {{"filter_size=4096"}, "90M"}};
    int64_t least = 1, most = INT64_MAX;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct shapeproof_solution words =
            solve("attention_is_all_you_need", rows[i].settings, rows[i].printed, 0, "V");
        assert_non_null(words.name);
        if (words.value > least) least = words.value;
        if (words.last < most) most = words.last;
    }
    assert_int_equal(least, 41004);
    assert_int_equal(most, 41208);
    const struct shapeproof_solution big = solve(
        "attention_is_all_you_need", SETTINGS("hidden_size=1024", "filter_size=4096", "num_heads=16"), "213M", 0, "V");
    assert_true(big.last < least); /* does not agree */
    assert_int_equal(big.value, 35368);
    assert_int_equal(big.last, 36344);
}

/* Each end of a range gives the figure, and the number next to it does not. */
static void ends_of_ranges(void **state)
{
    (void)state;
    const struct shapeproof_solution width = solve("gpt1", SETTINGS("n_layer=12"), "117M", 0, "E");
    assert_int_equal(width.value, 768);
    assert_int_equal(width.last, 771);
    for (int64_t e = width.value - 1; e <= width.last + 1; e++) {
        const int64_t total = 40478 * e + 512 * e + 12 * (12 * e * e + 13 * e);
        const bool inside = e >= width.value && e <= width.last;
        assert_int_equal((total + 500000) / 1000000 == 117, inside);
        const char *const *other = SETTINGS("n_layer=12", "n_embd=100");
        assert_int_equal(solve("gpt1", other, NULL, (uint64_t)total, "E").value, e);
    }
}

/* What is there already is no answer: the total is that of the hyper-parameters as they are. */
static void as_given(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = config_of(SETTINGS("model_type=gpt2"));
    struct shapeproof_solutions *solutions = shapeproof_solve(tables, config, 124439808, NULL, &error);
    assert_non_null(solutions);
    assert_true(shapeproof_solutions_as_given(solutions));
    assert_int_equal(shapeproof_solutions_count(solutions), 0);
    assert_string_equal(shapeproof_solutions_table(solutions), "gpt2");
    shapeproof_solutions_free(solutions);
    solutions = shapeproof_solve(tables, config, 2 * 768,
                                 &(struct shapeproof_solve_options){.table = "gpt2", .group = "final norm"}, &error);
    assert_true(shapeproof_solutions_as_given(solutions));
    shapeproof_solutions_free(solutions);
    solutions = shapeproof_solve(tables, config, 2 * 769,
                                 &(struct shapeproof_solve_options){.table = "gpt2", .group = "final norm"}, &error);
    assert_false(shapeproof_solutions_as_given(solutions));
    assert_int_equal(shapeproof_solutions_get(solutions, 0)->value, 769);
    shapeproof_solutions_free(solutions);
    shapeproof_config_free(config);
}

/* Of what the table needs one hyper-parameter is missing, under the first of its names. */
static void missing(void **state)
{
    (void)state;
    const char *const *settings =
        SETTINGS("vocab_size_src=29624", "num_layers=1", "transformer_feed_forward_num_hidden=1024");
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = config_of(settings);
    struct shapeproof_solutions *solutions = shapeproof_solve(
        tables, config, 49181083, &(struct shapeproof_solve_options){.table = "sockeye_transformer"}, &error);
    assert_int_equal(shapeproof_solutions_count(solutions), 1);
    assert_string_equal(shapeproof_solutions_get(solutions, 0)->name, "Vt");
    assert_string_equal(shapeproof_solutions_get(solutions, 0)->key, "vocab_size_trg");
    assert_int_equal(shapeproof_solutions_get(solutions, 0)->configured.type, SHAPEPROOF_VALUE_ABSENT);
    assert_int_equal(shapeproof_solutions_get(solutions, 0)->value, 28059);
    shapeproof_solutions_free(solutions);
    shapeproof_config_free(config);
    const char *const *llama =
        SETTINGS("vocab_size=32000", "hidden_size=4096", "intermediate_size=11008", "num_attention_heads=32");
    assert_int_equal(solve("llama", llama, NULL, 6738415616, "L").value, 32);
}

/* Loops over layers that are not there by default, and keys with several names. */
static void sockeye(void **state)
{
    (void)state;
    const char *const *settings = SETTINGS("vocab_size_src=29624", "vocab_size_trg=28059", "num_layers=1",
                                           "transformer_feed_forward_num_hidden=300");
    assert_int_equal(solve("sockeye_transformer", settings, NULL, 49181083, "Vt").value, 29507);
    assert_int_equal(solve("sockeye_transformer", settings, NULL, 49181083, "f").value, 1024);
    const char *const *guessing =
        SETTINGS("vocab_size_src=1000", "vocab_size_trg=1000", "length_task=ratio", "length_task_layers=2");
    const uint64_t ratio = 512 * 512 + 512 + 512 + 1; /* of the source and the target */
    const uint64_t rest = 45640680;                   /* without them */
    assert_int_equal(solve("sockeye_transformer", guessing, NULL, rest + ratio + 2 * 512, "Vs").value, 1002);
    assert_int_equal(solve("sockeye_transformer", guessing, NULL, rest + ratio + 513 * 512, "guess").value, 3);
}

/* 0 when it cannot be predicted. */
static uint64_t total_with(const char *table, const char *const *settings, const char *key, int64_t value)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = config_of(settings);
    char setting[100];
    snprintf(setting, sizeof setting, "%s=%" PRId64, key, value);
    shapeproof_config_set(config, setting, &error);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = table}, &error);
    const uint64_t total = prediction ? shapeproof_prediction_totals(prediction)->unique_parameters : 0;
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return total;
}

static bool is_skipped(const struct shapeproof_solutions *solutions, const char *key)
{
    for (size_t i = 0; i < shapeproof_solutions_skipped_count(solutions); i++)
        if (strcmp(shapeproof_solutions_skipped(solutions, i), key) == 0) return true;
    return false;
}

/* The total that a table has with that value has it as a solution, and each solution has that total. */
static bool is_solved(const char *table, const char *const *settings, const char *key, int64_t value)
{
    struct shapeproof_error error = {0};
    const uint64_t total = total_with(table, settings, key, value);
    if (!total) return true;
    struct shapeproof_config *config = config_of(settings);
    struct shapeproof_solutions *solutions =
        shapeproof_solve(tables, config, total, &(struct shapeproof_solve_options){.table = table}, &error);
    bool found = shapeproof_solutions_as_given(solutions);
    for (size_t i = 0; i < shapeproof_solutions_count(solutions); i++) {
        const struct shapeproof_solution *solution = shapeproof_solutions_get(solutions, i);
        const bool own = strcmp(solution->key, key) == 0 && solution->value <= value && value <= solution->last;
        found = found || own;
        if (total_with(table, settings, solution->key, solution->value) != total)
            fail_msg("%s: %s=%" PRId64 " does not give %" PRIu64, table, solution->key, solution->value, total);
    }
    if (!found && !is_skipped(solutions, key)) fail_msg("%s: %s=%" PRId64 " is not found", table, key, value);
    const bool solved = !is_skipped(solutions, key);
    shapeproof_solutions_free(solutions);
    shapeproof_config_free(config);
    return solved;
}

/* What is solved is what is predicted, with floors and conditions in the unknown too. */
static void solutions_give_the_total(void **state)
{
    (void)state;
    const struct {
        const char *table, *settings[9], *keys[6];
    } cases[] = {
        {"llama",
         {"vocab_size=320", "hidden_size=64", "intermediate_size=110", "num_attention_heads=8", "num_hidden_layers=3"},
         {"hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size", "head_dim"}},
        {"falcon",
         {"vocab_size=100", "hidden_size=64", "num_attention_heads=8", "num_hidden_layers=2"},
         {"hidden_size", "num_attention_heads", "ffn_hidden_size"}},
        {"deepseek_v3",
         {"vocab_size=100", "hidden_size=64", "num_hidden_layers=6", "intermediate_size=32", "num_attention_heads=4",
          "n_routed_experts=4", "moe_intermediate_size=8", "kv_lora_rank=16"},
         {"first_k_dense_replace", "num_hidden_layers", "q_lora_rank", "hidden_size"}},
        {"deberta_v2",
         {"vocab_size=100", "hidden_size=64", "num_hidden_layers=6"},
         {"embedding_size", "hidden_size", "conv_kernel_size"}},
        {"electra", {"vocab_size=100", "hidden_size=64", "embedding_size=32"}, {"embedding_size", "hidden_size"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; cases[i].keys[k]; k++)
            for (int64_t value = 1; value <= 80; value += value < 12 ? 1 : 17)
                if (!is_solved(cases[i].table, cases[i].settings, cases[i].keys[k], value))
                    fail_msg("%s: %s is not tried", cases[i].table, cases[i].keys[k]);
}

static void mistakes(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    assert_null(
        shapeproof_solve_rounded(tables, config, "65X", &(struct shapeproof_solve_options){.table = "gpt2"}, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    error = (struct shapeproof_error){0};
    assert_null(shapeproof_solve_rounded(
        tables, config, "65M", &(struct shapeproof_solve_options){.table = "gpt2", .group = "nothing"}, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    error = (struct shapeproof_error){0};
    assert_null(shapeproof_solve(tables, config, 1, &(struct shapeproof_solve_options){.table = "gpt4"}, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    shapeproof_config_free(config);
}

static void options_that_exclude_each_other(void **state)
{
    struct shapeproof_error error = {0};
    const char *const total = "total", *const free_keys[] = {"n_embd"};
    char *letters;
    (void)state;
    struct shapeproof_config *config = shapeproof_config_new();
    struct shapeproof_expressions *expressions = shapeproof_expressions_new(
        tables, "gpt2", &(struct shapeproof_claim_lines){"test", &total, 1}, &letters, &error);
    assert_non_null(expressions);
    const struct {
        struct shapeproof_solve_options options;
        bool is_figure;
        const char *message;
    } refused[] = {
        {{.table = "gpt2", .expressions = expressions, .group = "head"},
         false,
         "'group' does not go with 'expressions'"},
        {{.table = "gpt2", .expressions = expressions, .measure = "active"},
         false,
         "'measure' does not go with 'expre"},
        {{.table = "gpt2", .at_most = 1, .within = 2}, false, "'within' does not go with 'at_most'"},
        {{.table = "gpt2", .within = 2}, true, "'within' does not go with a figure"},
        {{.table = "gpt2", .at_most = 1}, true, "'at_most' does not go with a figure"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_null(refused[i].is_figure ? shapeproof_solve_rounded(tables, config, "124M", &refused[i].options, &error)
                                         : shapeproof_solve(tables, config, 124439808, &refused[i].options, &error));
        assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
        if (!strstr(error.message, refused[i].message)) fail_msg("%zu: %s", i, error.message);
    }
    const struct shapeproof_solve_together_options together = {
        .table = "gpt2", .within = 2, .free = free_keys, .free_count = 1};
    assert_null(shapeproof_solve_together_rounded(tables, config, "124M", &together, &error));
    assert_non_null(strstr(error.message, "'within' does not go with a figure"));
    shapeproof_expressions_free(expressions);
    shapeproof_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures),
                                       cmocka_unit_test(exact),
                                       cmocka_unit_test(zero),
                                       cmocka_unit_test(table_3),
                                       cmocka_unit_test(ends_of_ranges),
                                       cmocka_unit_test(as_given),
                                       cmocka_unit_test(missing),
                                       cmocka_unit_test(sockeye),
                                       cmocka_unit_test(solutions_give_the_total),
                                       cmocka_unit_test(mistakes),
                                       cmocka_unit_test(options_that_exclude_each_other)};
    return cmocka_run_group_tests(tests, open_tables, close_tables);
}
