/* SPDX-License-Identifier: MIT
 * The library of published models: every model is predicted, and held against what its framework counts and what its
 * authors say. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

#include <inttypes.h>

#include "shapeproof/models.h"
#include "world.h"

/* The number of parameters that is predicted for a model, without those that are tied. */
static uint64_t predicted(const struct world *world, const struct shapeproof_model *model)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    shapeproof_config_take_model(config, model);
    struct shapeproof_prediction *prediction = shapeproof_predict(world->tables, config, NULL, &error);
    if (!prediction) fail_msg("%s: %s", model->name, error.message);
    const uint64_t parameters = shapeproof_prediction_totals(prediction)->unique_parameters;
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    return parameters;
}

/* 1558M, 7B, 1.4T, 11689512. */
static double number_of(const char *figure)
{
    char *end;
    const double number = strtod(figure, &end);
    switch (*end) {
    case 'M':
        return number * 1e6;
    case 'B':
        return number * 1e9;
    case 'T':
        return number * 1e12;
    default:
        return number;
    }
}

/* Each against one of the two at least. Figures in names leave out embeddings, or are rounded to one digit: a figure
 * that is off by more than a factor of two is a slip. */
static void all_are_as_published(void **state)
{
    const struct world *world = *state;
    const size_t count = shapeproof_models_count(world->models);
    size_t wrong = 0, counted = 0;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_model *model = shapeproof_models_get(world->models, i);
        const uint64_t number = predicted(world, model);
        const double figure = model->published ? number_of(model->published) : (double)number;
        const bool is_same = !model->parameters || model->parameters == number;
        const bool is_near = figure > (double)number / 2 && figure < (double)number * 2;
        const bool is_held = model->parameters || model->published;
        counted += model->parameters != 0;
        if (is_same && is_near && is_held) continue;
        print_error("%s: predicted %" PRIu64 ", counted %" PRIu64 ", published %s\n", model->name, number,
                    model->parameters, model->published ? model->published : "nothing");
        wrong++;
    }
    assert_int_equal(wrong, 0);
    assert_true(count >= 300);
    assert_true(counted >= 290);
}

/* fixtures/published/timm.tsv: the parameters of timm's architectures, in millions, as its table of results prints
 * them. */
static void timm_is_as_published(void **state)
{
    const struct world *world = *state;
    char line[128], name[96], figure[16], setting[128];
    size_t count = 0, wrong = 0;
    FILE *file = fopen("fixtures/published/timm.tsv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct shapeproof_error error = {0};
        assert_int_equal(sscanf(line, "%95s %15s", name, figure), 2);
        struct shapeproof_config *config = shapeproof_config_new();
        snprintf(setting, sizeof setting, "architecture=%s", name);
        assert_int_equal(shapeproof_config_set(config, setting, &error), SHAPEPROOF_OK);
        struct shapeproof_prediction *prediction = shapeproof_predict(world->tables, config, NULL, &error);
        if (!prediction) fail_msg("%s: %s", name, error.message);
        const double number = (double)shapeproof_prediction_totals(prediction)->unique_parameters;
        const double difference = number - number_of(figure);
        const bool is_right = difference <= 5000 && difference >= -5000; /* half a step of the last digit */
        if (!is_right) print_error("%s: predicted %.0f, published %s\n", name, number, figure);
        count++;
        wrong += !is_right;
        shapeproof_prediction_free(prediction);
        shapeproof_config_free(config);
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_int_equal(count, 900);
}

static void names_are_unique(void **state)
{
    const struct world *world = *state;
    for (size_t i = 0; i < shapeproof_models_count(world->models); i++) {
        const struct shapeproof_model *model = shapeproof_models_get(world->models, i);
        assert_ptr_equal(shapeproof_models_find(world->models, model->name), model);
        if (model->hub) assert_ptr_equal(shapeproof_models_find(world->models, model->hub), model);
        assert_true(*model->source);
    }
}

static const char *found(const struct world *world, const char *name)
{
    const struct shapeproof_model *model = shapeproof_models_find(world->models, name);
    return model ? model->name : "none";
}

static void finds_by_all_names(void **state)
{
    const struct world *world = *state;
    assert_string_equal(found(world, "gpt2-xl"), "gpt2-xl");
    assert_string_equal(found(world, "GPT2-XL"), "gpt2-xl");
    assert_string_equal(found(world, "openai-community/gpt2-xl"), "gpt2-xl");
    assert_string_equal(found(world, "Llama-2-7b-hf"), "llama-2-7b");
    assert_string_equal(found(world, "resnet50"), "torchvision/resnet50");
    assert_string_equal(found(world, "gpt2"), "gpt2-small"); /* the hub calls it so */
    assert_string_equal(found(world, "gpt2-x"), "none");
    assert_string_equal(found(world, ""), "none");
}

static void suggests_a_name(void **state)
{
    const struct world *world = *state;
    assert_string_equal(shapeproof_models_like(world->models, "gpt2-xll")->name, "gpt2-xl");
    assert_string_equal(shapeproof_models_like(world->models, "resnett50")->name, "torchvision/resnet50");
    assert_null(shapeproof_models_like(world->models, "zzzzzzzzzz"));
}

static size_t count_fitting(const struct world *world, const char *text)
{
    size_t fitting = 0;
    for (size_t i = 0; i < shapeproof_models_count(world->models); i++)
        fitting += shapeproof_models_fits(world->models, i, text);
    return fitting;
}

static void filters(void **state)
{
    const struct world *world = *state;
    assert_int_equal(count_fitting(world, NULL), shapeproof_models_count(world->models));
    assert_int_equal(count_fitting(world, "gpt2-"), 5); /* four sizes and vit-gpt2 */
    assert_int_equal(count_fitting(world, "GPT2-XL"), 1);
    assert_int_equal(count_fitting(world, "openai-community"), 4);
    assert_int_equal(count_fitting(world, "gpt_neox"), 11); /* by the type */
    assert_int_equal(count_fitting(world, "bloom-7b"), 1);
    assert_int_equal(count_fitting(world, "no such model"), 0);
}

/* An alias is the name of one release, and no model has the name of another one. */
static void finds_an_alias(void **state)
{
    const struct world *world = *state;
    for (size_t i = 0; i < shapeproof_models_count(world->models); i++) {
        const struct shapeproof_model *model = shapeproof_models_get(world->models, i);
        if (model->alias) assert_ptr_equal(shapeproof_models_find(world->models, model->alias), model);
    }
    assert_string_equal(shapeproof_models_find(world->models, "Mistral-7B")->name, "mistral-7b-v0.1");
}

/* A setting wins over the model, and a model takes the place of a file. */
static void takes_a_model(void **state)
{
    const struct world *world = *state;
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    assert_int_equal(shapeproof_config_load(config, "fixtures/models/tiny-llama/config.json", &error), SHAPEPROOF_OK);
    assert_int_equal(shapeproof_config_set(config, "n_layer=2", &error), SHAPEPROOF_OK);
    shapeproof_config_take_model(config, shapeproof_models_find(world->models, "gpt2-small"));
    assert_string_equal(shapeproof_config_path(config), "");
    assert_string_equal(shapeproof_config_model(config), "gpt2-small");
    struct shapeproof_prediction *prediction = shapeproof_predict(world->tables, config, NULL, &error);
    if (!prediction) fail_msg("%s", error.message);
    assert_string_equal(shapeproof_prediction_table(prediction), "gpt2");
    assert_int_equal(shapeproof_prediction_totals(prediction)->unique_parameters, 124439808 - 10 * 7087872);
    shapeproof_prediction_free(prediction);
    assert_int_equal(shapeproof_config_load(config, "fixtures/models/tiny-llama/config.json", &error), SHAPEPROOF_OK);
    assert_string_equal(shapeproof_config_model(config), "");
    shapeproof_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_as_published), cmocka_unit_test(timm_is_as_published),
        cmocka_unit_test(names_are_unique),     cmocka_unit_test(finds_by_all_names),
        cmocka_unit_test(suggests_a_name),      cmocka_unit_test(filters),
        cmocka_unit_test(finds_an_alias),       cmocka_unit_test(takes_a_model),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
