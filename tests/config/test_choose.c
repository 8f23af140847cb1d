/* SPDX-License-Identifier: MIT
 * Which table a configuration gets: by name, by model_type and class, or none, but never a guess. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

static const char birds[] = "table any_bird\nmodel_type \"zz-bird\", \"zz_bird2\"\nx (1)\n"
                            "table singing_bird\nmodel_type \"zz-bird\"\narchitectures \"ZZBirdForSinging\"\nx (2)\n"
                            "table only_flying\nmodel_type \"zz_fish\"\narchitectures \"ZZFishForFlying\"\nx (3)\n"
                            "table feather\narchitectures \"ZZFeather\", \"ZZDown\"\nx (5)\n"
                            "table nest\narchitectures \"zznest18\", \"zznest34\"\nx (6)\n"
                            "part some_part\nx (4)\n";

static void assert_choice(const char *name, const char *settings, enum shapeproof_status status, const char *expected)
{
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_config *config = shapeproof_config_new();
    apply_settings(config, settings);
    assert_int_equal(shapeproof_tables_add_text(tables, "birds.shapes", birds, strlen(birds), &error), SHAPEPROOF_OK);
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = name}, &error);
    assert_int_equal(error.status, status);
    assert_string_equal(prediction ? shapeproof_prediction_table(prediction) : error.message, expected);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    shapeproof_tables_free(tables);
}

static void by_name(void **state)
{
    (void)state;
    assert_choice("any_bird", "", SHAPEPROOF_OK, "any_bird");
    assert_choice("any_bird", "model_type=gpt2", SHAPEPROOF_OK, "any_bird");
    assert_choice("nothing", "model_type=gpt2", SHAPEPROOF_ERR_USAGE, "there is no table 'nothing'");
    assert_choice("some_part", "", SHAPEPROOF_ERR_USAGE, "there is no table 'some_part'");
}

static void by_model_type(void **state)
{
    (void)state;
    assert_choice(NULL, "model_type=zz-bird", SHAPEPROOF_OK, "any_bird");
    assert_choice(NULL, "model_type=zz_bird2 architectures=[\"Whatever\"]", SHAPEPROOF_OK, "any_bird");
    assert_choice(NULL, "model_type=nothing", SHAPEPROOF_ERR_UNKNOWN, "no table for model_type 'nothing'");
    assert_choice(NULL, "model_type=nothing architectures=[\"ZZBirdModel\"]", SHAPEPROOF_ERR_UNKNOWN,
                  "no table for model_type 'nothing' (ZZBirdModel)");
}

static void by_class(void **state)
{
    (void)state;
    assert_choice(NULL, "model_type=zz-bird architectures=[\"ZZBirdForSinging\"]", SHAPEPROOF_OK, "singing_bird");
    assert_choice(NULL, "model_type=zz-bird architectures=[\"ZZBirdModel\"]", SHAPEPROOF_OK, "any_bird");
    assert_choice(NULL, "model_type=zz_fish architectures=[\"ZZFishForFlying\"]", SHAPEPROOF_OK, "only_flying");
    assert_choice(NULL, "model_type=zz_fish architectures=[\"ZZFishModel\"]", SHAPEPROOF_ERR_UNKNOWN,
                  "no table for model_type 'zz_fish' (ZZFishModel)");
    assert_choice(NULL, "model_type=zz_fish", SHAPEPROOF_ERR_UNKNOWN, "no table for model_type 'zz_fish'");
}

/* Files of 2019 have a class and no model_type. */
static void by_class_alone(void **state)
{
    (void)state;
    assert_choice(NULL, "architectures=[\"ZZBirdForSinging\"]", SHAPEPROOF_OK, "singing_bird");
    assert_choice(NULL, "architectures=[\"ZZBirdModel\"]", SHAPEPROOF_OK, "any_bird");
    assert_choice(NULL, "architectures=[\"ZzBird2Model\"]", SHAPEPROOF_OK, "any_bird");
    assert_choice(NULL, "architectures=\"ZZBirdModel\"", SHAPEPROOF_OK, "any_bird");
    assert_choice(NULL, "model_type=null architectures=[\"ZZBirdModel\"]", SHAPEPROOF_OK, "any_bird");
    /* Another model whose name merely begins alike. */
    assert_choice(NULL, "architectures=[\"ZZBirdsongModel\"]", SHAPEPROOF_ERR_UNKNOWN,
                  "no table for the architecture 'ZZBirdsongModel'");
    assert_choice(NULL, "architectures=[\"ZZBirdXForSinging\"]", SHAPEPROOF_ERR_UNKNOWN,
                  "no table for the architecture 'ZZBirdXForSinging'");
    assert_choice(NULL, "", SHAPEPROOF_ERR_UNKNOWN, "the configuration names neither model_type nor architectures");
    assert_choice(NULL, "architectures=[] model_type=3", SHAPEPROOF_ERR_UNKNOWN,
                  "the configuration names neither model_type nor architectures");
}

/* A configuration that names the class by which it is made. */
static void by_class_that_makes_it(void **state)
{
    (void)state;
    assert_choice(NULL, "_class_name=ZZFeather", SHAPEPROOF_OK, "feather");
    assert_choice(NULL, "_class_name=ZZDown model_type=zz-bird", SHAPEPROOF_OK, "feather");
    assert_choice(NULL, "architectures=[\"ZZDown\"]", SHAPEPROOF_OK, "feather");
    assert_choice(NULL, "model_type=zz-bird architectures=[\"ZZDown\"]", SHAPEPROOF_OK, "any_bird");
    /* Its name promises no model_type. */
    assert_choice(NULL, "_class_name=ZZBirdModel", SHAPEPROOF_ERR_UNKNOWN, "no table for the class 'ZZBirdModel'");
    assert_choice(NULL, "_class_name=ZZBirdForSinging", SHAPEPROOF_ERR_UNKNOWN,
                  "no table for the class 'ZZBirdForSinging'");
    assert_choice(NULL, "_class_name=3", SHAPEPROOF_ERR_UNKNOWN,
                  "the configuration names neither model_type nor architectures");
}

/* A name that stands for all settings, and a tag behind it that says where the weights are from. */
static void by_architecture(void **state)
{
    (void)state;
    assert_choice(NULL, "architecture=zznest18", SHAPEPROOF_OK, "nest");
    assert_choice(NULL, "architecture=zznest34.made_of_twigs", SHAPEPROOF_OK, "nest");
    assert_choice(NULL, "architecture=zznest34 model_type=zz-bird", SHAPEPROOF_OK, "any_bird");
    assert_choice(NULL, "architecture=zznest3", SHAPEPROOF_ERR_UNKNOWN, "no table for the architecture 'zznest3'");
    assert_choice(NULL, "architecture=zznest", SHAPEPROOF_ERR_UNKNOWN, "no table for the architecture 'zznest'");
}

static void a_hidden_table_serves_nobody(void **state)
{
    (void)state;
    struct run run = predict("table gpt2\nx (1)\n", "model_type=gpt2");
    struct shapeproof_error error = {0};
    assert_null(shapeproof_predict(run.tables, run.config, NULL, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_UNKNOWN);
    run_free(&run);
}

/* Misspelt keys are found in large objects as in small ones. */
static void misspelt_keys(void **state)
{
    (void)state;
    for (unsigned others = 0; others <= 40; others += 40) {
        char settings[2048] = "hiden_units=4 layers.hiden_units=5 layers.vocab_size=6";
        for (unsigned i = 0; i < others; i++) {
            const size_t length = strlen(settings);
            snprintf(settings + length, sizeof settings - length, " k%u=1 layers.k%u=1", i, i);
        }
        struct run run = predict("table t\nN = layers.hidden_units default 3\nM = hidden_units default 2\n"
                                 "V = layers.vocab_size\nX = other.hidden_units default 1\nx (N, M, V, X)\n",
                                 settings);
        struct shapeproof_misspelt found;
        size_t position = 0;
        assert_true(shapeproof_prediction_misspelt(run.prediction, run.config, &position, &found));
        assert_string_equal(found.key, "hiden_units");
        assert_string_equal(found.meant, "layers.hidden_units");
        assert_true(shapeproof_prediction_misspelt(run.prediction, run.config, &position, &found));
        assert_string_equal(found.key, "hiden_units");
        assert_string_equal(found.meant, "hidden_units");
        assert_false(shapeproof_prediction_misspelt(run.prediction, run.config, &position, &found));
        run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),         cmocka_unit_test(misspelt_keys),
        cmocka_unit_test(by_model_type),   cmocka_unit_test(by_class),
        cmocka_unit_test(by_class_alone),  cmocka_unit_test(by_class_that_makes_it),
        cmocka_unit_test(by_architecture), cmocka_unit_test(a_hidden_table_serves_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
