/* SPDX-License-Identifier: MIT
 * Expressions at one configuration: their values, other settings in parentheses, what a checkpoint stores, and why an
 * expression has no value. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "shapeproof/shapeproof.h"

static const char table[] = "table small\n"
                            "E = width\n"
                            "N = layers default 2\n"
                            "H = inner default 4*E\n"
                            "act = activation default \"gelu\"\n"
                            "tied = tie default true\n"
                            "sizes = list default [1, 2]\n"
                            "require E % 2 == 0, \"the width must be even\"\n"
                            "[embedding]\n"
                            "wte (10, E)\n"
                            "[mlp] for i in 0 .. N-1\n"
                            "up.{i} (H, E)\n"
                            "[head]\n"
                            "head (10, E) same as wte when tied\n";

struct asked {
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    struct shapeproof_expressions *expressions;
    struct shapeproof_evaluation *evaluation;
    char *letters;
};

/* Evaluates the lines about the table at width 6, and what else is set (or NULL). */
static const struct shapeproof_evaluated *ask(struct asked *asked, const char *const *lines, size_t count,
                                              const char *setting)
{
    struct shapeproof_error error = {0};
    *asked = (struct asked){.tables = shapeproof_tables_new(&error), .config = shapeproof_config_new()};
    if (shapeproof_tables_add_text(asked->tables, "small.shapes", table, strlen(table), &error) != SHAPEPROOF_OK)
        fail_msg("%s", shapeproof_tables_messages(asked->tables));
    assert_int_equal(shapeproof_config_set(asked->config, "width=6", &error), SHAPEPROOF_OK);
    if (setting) assert_int_equal(shapeproof_config_set(asked->config, setting, &error), SHAPEPROOF_OK);
    asked->expressions = shapeproof_expressions_new(
        asked->tables, "small", &(struct shapeproof_claim_lines){"test", lines, count}, &asked->letters, &error);
    if (!asked->expressions) fail_msg("%s", error.message);
    asked->evaluation = shapeproof_evaluate(asked->expressions, asked->config, NULL, &error);
    if (!asked->evaluation) fail_msg("%s", error.message);
    return shapeproof_evaluation_get(asked->evaluation, 0);
}

static void answered(struct asked *asked)
{
    shapeproof_evaluation_free(asked->evaluation);
    shapeproof_expressions_free(asked->expressions);
    shapeproof_free(asked->letters);
    shapeproof_config_free(asked->config);
    shapeproof_tables_free(asked->tables);
}

static void expect_text(const char *expression, const char *setting, const char *text)
{
    struct asked asked;
    const struct shapeproof_evaluated *value = ask(&asked, &expression, 1, setting);
    if (!value->text || strcmp(value->text, text) != 0)
        fail_msg("%s is %s (%s), not %s", expression, value->text ? value->text : "unknown",
                 value->why ? value->why : "", text);
    assert_null(value->why);
    assert_string_equal(value->expression, expression);
    answered(&asked);
}

static void expect_why(const char *expression, const char *why)
{
    struct asked asked;
    const struct shapeproof_evaluated *value = ask(&asked, &expression, 1, NULL);
    assert_null(value->text);
    assert_true(isnan(value->number));
    assert_int_equal(value->value.denominator, 0);
    assert_string_equal(value->why, why);
    answered(&asked);
}

static void values(void **state)
{
    (void)state;
    expect_text("total", NULL, "348");
    expect_text("[embedding]", NULL, "60");
    expect_text("[embedding] / total", NULL, "5/29");
    expect_text("E*N", "layers=5", "30");
    expect_text("inner", NULL, "24"); /* a key that has its default */
    expect_text("H > 20", NULL, "true");
    expect_text("act", NULL, "\"gelu\"");
    expect_text("sizes", NULL, "[1, 2]");
    expect_text("sum(sizes) + len(sizes)", NULL, "5");
    expect_text("[head]", NULL, "0");
    expect_text("[head]", "tie=false", "60");
}

static void other_settings(void **state)
{
    (void)state;
    expect_text("total(tie = false) - total", NULL, "60");
    expect_text("total(E = 8)", NULL, "592"); /* by the name of the table; H is 4*E again */
    expect_text("total(width = 2*E)", NULL, "1272");
    expect_text("[mlp](layers = 3, inner = 1)", NULL, "18");
    expect_text("total(layers = 3)", "inner=1", "78"); /* with what is set besides */
    expect_text("[mlp](layers = 0)", NULL, "0");       /* a group that has no tensor then */
    expect_why("total(widht = 2)", "the table has no hyper-parameter 'widht'");
    expect_why("total(width = 3)", "small.shapes:8:1: the width must be even");
    expect_why("[tail](width = 2)", "the table has no group [tail]");
}

static void numbers(void **state)
{
    struct asked asked;
    (void)state;
    const struct shapeproof_evaluated *value = ask(&asked, (const char *const[]){"1/3"}, 1, NULL);
    assert_int_equal(value->value.numerator, 1);
    assert_int_equal(value->value.denominator, 3);
    assert_true(fabs(value->number - 1.0 / 3) < 1e-15);
    answered(&asked);
}

static void letters(void **state)
{
    static const char *const lines[] = {"k = 2*d", "k + 1", "L"};
    struct asked asked;
    (void)state;
    const struct shapeproof_evaluated *value = ask(&asked, lines, 3, NULL);
    assert_string_equal(value->why, "'d' is neither defined nor a hyper-parameter of the table");
    assert_int_equal(shapeproof_evaluation_count(asked.evaluation), 2); /* a definition is none */
    assert_null(asked.letters);
    answered(&asked);
}

static void no_values(void **state)
{
    (void)state;
    expect_why("[embeding]", "the table has no group [embeding]; did you mean [embedding]?");
    expect_why("innner", "'innner' is neither defined nor a hyper-parameter of the table; did you mean 'inner'?");
    expect_why("1/(E-6)", "division by zero");
    expect_why("stored(total)", "stored(...) needs a checkpoint: give one");
}

/* The memory of the expressions before is given back: the last value is that of the expression alone. */
static void many_large_expressions(void **state)
{
    static const char *const lines[] = {"shard(tp=1)",       "shard(tp=2)",       "shard(tp=4)",
                                        "shard(tp=8)",       "shard(tp=16)",      "shard(tp=2, ep=2)",
                                        "shard(tp=4, ep=4)", "shard(tp=8, ep=2)", "shard(tp=4, ep=4)"};
    enum { LINES = sizeof lines / sizeof *lines };
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_config *config = shapeproof_config_new(); /* the defaults: 60 experts in each of 24 layers */
    char *found;
    struct shapeproof_expressions *expressions = shapeproof_expressions_new(
        tables, "qwen2_moe", &(struct shapeproof_claim_lines){"test", lines, LINES}, &found, &error);
    struct shapeproof_evaluation *evaluation = shapeproof_evaluate(expressions, config, NULL, &error);
    (void)state;
    if (!evaluation) fail_msg("%s", error.message);
    for (size_t i = 0; i < LINES; i++) {
        const struct shapeproof_evaluated *value = shapeproof_evaluation_get(evaluation, i);
        if (!value->text) fail_msg("%s: %s", lines[i], value->why);
    }
    assert_string_equal(shapeproof_evaluation_get(evaluation, 6)->text, "1245566976");
    assert_string_equal(shapeproof_evaluation_get(evaluation, LINES - 1)->text, "1245566976");
    shapeproof_evaluation_free(evaluation);
    shapeproof_expressions_free(expressions);
    shapeproof_free(found);
    shapeproof_config_free(config);
    shapeproof_tables_free(tables);
}

static void malformed(void **state)
{
    static const char *const wrong[] = {"total /", "total(width)", "total(width = )", "stored(E)", "claim total = 1"};
    struct shapeproof_error error;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct shapeproof_tables *tables = shapeproof_tables_new(&error);
        char *found;
        assert_null(shapeproof_expressions_new(tables, "gpt2", &(struct shapeproof_claim_lines){"test", &wrong[i], 1},
                                               &found, &error));
        assert_int_equal(error.status, SHAPEPROOF_ERR_TABLE);
        shapeproof_tables_free(tables);
    }
}

/* In a claim the total has the hyper-parameters that the claim is about. */
static void claims_have_no_settings(void **state)
{
    static const char *const claim[] = {"total(n_layer = 2) = 1"};
    struct shapeproof_error error;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    char *found;
    (void)state;
    assert_int_equal(shapeproof_tables_add_claims(tables, "gpt2", &(struct shapeproof_claim_lines){"test", claim, 1},
                                                  &found, &error),
                     SHAPEPROOF_ERR_TABLE);
    shapeproof_free(found);
    shapeproof_tables_free(tables);
}

static void what_is_stored(void **state)
{
    static const char *const lines[] = {"stored(total) - total", "stored([head])", "[head]"};
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_config *config = shapeproof_config_new();
    assert_int_equal(shapeproof_config_load(config, "fixtures/models/odd-gpt2/config.json", &error), SHAPEPROOF_OK);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open("fixtures/models/odd-gpt2", &error);
    struct shapeproof_check *check = shapeproof_check_new(inventory, tables, config, NULL, &error);
    struct shapeproof_verification *verification = shapeproof_verify(check, tables, NULL, &error);
    char *found;
    struct shapeproof_expressions *expressions =
        shapeproof_expressions_new(tables, "gpt2", &(struct shapeproof_claim_lines){"test", lines, 3}, &found, &error);
    const struct shapeproof_evaluate_options options = {.checkpoint = verification};
    struct shapeproof_evaluation *evaluation = shapeproof_evaluate(expressions, config, &options, &error);
    (void)state;
    assert_non_null(evaluation);
    assert_string_equal(shapeproof_evaluation_get(evaluation, 0)->text, "928");
    assert_string_equal(shapeproof_evaluation_get(evaluation, 1)->text, "1024");
    assert_string_equal(shapeproof_evaluation_get(evaluation, 2)->text, "0");
    shapeproof_evaluation_free(evaluation);
    shapeproof_expressions_free(expressions);
    shapeproof_free(found);
    shapeproof_verification_free(verification);
    shapeproof_check_free(check);
    shapeproof_inventory_close(inventory);
    shapeproof_config_free(config);
    shapeproof_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(other_settings),
        cmocka_unit_test(numbers),
        cmocka_unit_test(letters),
        cmocka_unit_test(no_values),
        cmocka_unit_test(malformed),
        cmocka_unit_test(what_is_stored),
        cmocka_unit_test(claims_have_no_settings),
        cmocka_unit_test(many_large_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
