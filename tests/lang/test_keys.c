/* SPDX-License-Identifier: MIT
 * Which hyper-parameters a dimension and a condition depend on, what values those have, and who says so. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

#include "lang/prediction.h"

static char *names_of(const struct shapeproof_prediction *prediction, struct sp_keys keys)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < keys.count; i++)
        sp_text_printf(&text, "%s%s", i ? " " : "",
                       shapeproof_prediction_hyperparameter(prediction, keys.list[i])->name);
    return text.data;
}

static void assert_keys(const struct shapeproof_prediction *prediction, struct sp_keys keys, const char *expected)
{
    char *names = names_of(prediction, keys);
    assert_string_equal(names, expected);
    free(names);
}

/* What is only a word of the description is no key: an index, a text, a function, a key that is not set. */
static void dimensions_name_their_keys(void **state)
{
    struct run run = predict("table t\n"
                             "D = head_dim default E // heads\n"
                             "E = text.width\n"
                             "twice(n) = 2*n\n"
                             "[a] for max in 0..1\n"
                             "{max}.a (twice(E) + E, D, kv default heads)\n"
                             "{max}.b (mode == \"heads\" ? sizes[max] : E, max, 3)\n",
                             "text.width=8 heads=2 sizes=[1,2] mode=x");
    static const struct {
        size_t tensor;
        uint32_t dimension;
        const char *keys, *depends_on;
    } expected[] = {{0, 0, "text.width", "text.width"},
                    {0, 1, "head_dim", "head_dim text.width heads"},
                    {0, 2, "", "heads"}, /* kv is the one to set, and has no value */
                    {1, 0, "mode text.width", "mode text.width"},
                    {1, 1, "", ""},
                    {1, 2, "", ""}};
    (void)state;
    assert_non_null(run.prediction);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const size_t tensor = expected[i].tensor;
        const uint32_t d = expected[i].dimension;
        assert_keys(run.prediction, sp_prediction_dimension_keys(run.prediction, tensor, d), expected[i].keys);
        assert_keys(run.prediction, sp_prediction_depends_on(run.prediction, tensor, d), expected[i].depends_on);
    }
    run_free(&run);
}

static void a_dimension_may_be_a_key(void **state)
{
    struct run run = predict("table t\nV = vocab\na (V, 2*V)\n", "vocab=5");
    (void)state;
    assert_int_equal(sp_prediction_dimension_key(run.prediction, 0, 0), 0);
    assert_int_equal(sp_prediction_dimension_key(run.prediction, 0, 1), SHAPEPROOF_NONE);
    run_free(&run);
}

static void equal_conditions_are_one(void **state)
{
    struct run run = predict("table t\n"
                             "tied = tie default true\n"
                             "a (2)\n"
                             "b (2) same as a when tied\n"
                             "c (2) same as a when tie default true\n"
                             "d (2) same as a when tied and n == 2\n"
                             "e (2) same as a\n",
                             "n=2");
    const struct sp_condition *conditions[5];
    (void)state;
    for (size_t i = 0; i < 5; i++) conditions[i] = sp_prediction_tie_condition(run.prediction, i);
    assert_null(conditions[0]);
    assert_null(conditions[4]);
    assert_ptr_equal(conditions[1], conditions[2]);
    assert_ptr_not_equal(conditions[1], conditions[3]);
    assert_string_equal(conditions[3]->words, "tie and (n == 2)");
    assert_keys(run.prediction, conditions[3]->keys, "tie n");
    assert_int_equal(conditions[3]->key, SHAPEPROOF_NONE);
    assert_string_equal(shapeproof_prediction_hyperparameter(run.prediction, conditions[1]->key)->name, "tie");
    run_free(&run);
}

static void values_are_typed(void **state)
{
    struct run run = predict("table inner\nx ([a, b, c, d] == list ? 1 : 2, n)\n"
                             "table t\na.* inner with n = 7\n",
                             "a=1 b=2.5 c=x d=true list=[1,2.5,\"x\",true]");
    static const struct {
        const char *name, *value;
        enum shapeproof_value_type type;
        enum shapeproof_source source;
        const char *from;
    } expected[] = {{"a", "1", SHAPEPROOF_VALUE_INT, SHAPEPROOF_SOURCE_SETTING, "command line"},
                    {"b", "2.5", SHAPEPROOF_VALUE_REAL, SHAPEPROOF_SOURCE_SETTING, "command line"},
                    {"c", "\"x\"", SHAPEPROOF_VALUE_STRING, SHAPEPROOF_SOURCE_SETTING, "command line"},
                    {"d", "true", SHAPEPROOF_VALUE_BOOL, SHAPEPROOF_SOURCE_SETTING, "command line"},
                    {"list", "[1, 2.5, \"x\", true]", SHAPEPROOF_VALUE_LIST, SHAPEPROOF_SOURCE_SETTING, "command line"},
                    {"n", "7", SHAPEPROOF_VALUE_INT, SHAPEPROOF_SOURCE_TABLE, "table t"}};
    (void)state;
    assert_int_equal(shapeproof_prediction_hyperparameter_count(run.prediction), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(run.prediction, i);
        char *value = shapeproof_value_text(hyper->value), *from = shapeproof_provenance_text(hyper->from);
        assert_string_equal(hyper->name, expected[i].name);
        assert_string_equal(value, expected[i].value);
        assert_string_equal(from, expected[i].from);
        assert_int_equal(hyper->value.type, expected[i].type);
        assert_int_equal(hyper->from.source, expected[i].source);
        free(value);
        free(from);
    }
    run_free(&run);
}

/* A default is reported with its line, also where the text is longer than what is looked at to tell it. */
static void defaults_have_lines(void **state)
{
    enum { ROWS = 400 };
    struct sp_text text = {0};
    (void)state;
    sp_text_puts(&text, "table t\n");
    for (int i = 0; i < ROWS; i++)
        sp_text_printf(&text, "%sw%d (key%d default 3) # %*s\n", i % 7 ? "" : "\n", i, i, i % 50, "");
    struct run run = predict(text.data, "");
    assert_int_equal(shapeproof_prediction_hyperparameter_count(run.prediction), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const struct shapeproof_provenance from = shapeproof_prediction_hyperparameter(run.prediction, i)->from;
        assert_int_equal(from.source, SHAPEPROOF_SOURCE_DEFAULT);
        assert_int_equal(from.line, 2 + i + (i + 7) / 7);
    }
    run_free(&run);
    sp_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions_name_their_keys), cmocka_unit_test(a_dimension_may_be_a_key),
        cmocka_unit_test(equal_conditions_are_one),   cmocka_unit_test(values_are_typed),
        cmocka_unit_test(defaults_have_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
