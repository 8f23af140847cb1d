/* SPDX-License-Identifier: MIT
 * Examples to learn from: what the built-in tables predict for configurations, or tensors one by one. */
#ifndef TESTS_LEARN_LESSONS_H
#define TESTS_LEARN_LESSONS_H

#include "check/model.h"
#include "shapeproof/learn.h"

enum { MOST_EXAMPLES = 25 };

struct problem {
    struct model *models[MOST_EXAMPLES];
    struct shapeproof_learn_example examples[MOST_EXAMPLES];
    size_t count;
    const char *like; /* a table, or NULL */
    struct shapeproof_learning *learning;
};

/* A new example without tensors. */
static inline void lesson_begin(struct problem *problem, const char *config)
{
    assert_true(problem->count < MOST_EXAMPLES);
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model_open(model, config);
    problem->models[problem->count++] = model;
}

/* A tensor of the last example. */
static inline void lesson_add(struct problem *problem, const char *name, uint32_t rank, const uint64_t *shape)
{
    model_add_shape(problem->models[problem->count - 1], name, rank, shape);
}

/* The same by a format: what the configuration says, what the tensor is called. */
__attribute__((format(printf, 2, 3))) static inline void lesson_beginf(struct problem *problem, const char *format, ...)
{
    char config[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(config, sizeof config, format, arguments);
    va_end(arguments);
    lesson_begin(problem, config);
}

__attribute__((format(printf, 4, 5))) static inline void lesson_addf(struct problem *problem, uint32_t rank,
                                                                     const uint64_t *shape, const char *format, ...)
{
    char name[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    lesson_add(problem, name, rank, shape);
}

static inline void lesson_learn(struct problem *problem)
{
    struct shapeproof_error error = {0};
    for (size_t i = 0; i < problem->count; i++)
        problem->examples[i] =
            (struct shapeproof_learn_example){model_in_memory(problem->models[i]), problem->models[i]->config};
    problem->learning =
        shapeproof_learn(problem->examples, problem->count, problem->models[0]->tables,
                         &(struct shapeproof_learn_options){.name = "learnt_here", .like = problem->like}, &error);
    if (!problem->learning) die("learn", error.message);
}

/* The first `count` configurations, as the built-in tables have them. */
static inline void lesson_open(struct problem *problem, const char *const *configs, size_t count)
{
    *problem = (struct problem){.count = 0};
    for (size_t i = 0; i < count; i++) {
        lesson_begin(problem, configs[i]);
        model_predict(problem->models[i], 0);
    }
    lesson_learn(problem);
}

static inline void lesson_close(struct problem *problem)
{
    shapeproof_learning_free(problem->learning);
    for (size_t i = 0; i < problem->count; i++) {
        shapeproof_inventory_close((struct shapeproof_inventory *)problem->examples[i].inventory);
        model_close(problem->models[i]);
        free(problem->models[i]);
    }
}

static inline void assert_learnt(const struct problem *problem)
{
    for (size_t i = 0; i < shapeproof_learning_rest_count(problem->learning); i++)
        print_message("%s\n", shapeproof_learning_rest(problem->learning, i));
    if (!shapeproof_learning_is_proved(problem->learning)) fail_msg("%s", shapeproof_learning_text(problem->learning));
    assert_int_equal(shapeproof_learning_explained(problem->learning), shapeproof_learning_tensors(problem->learning));
}

static inline void assert_learns(struct problem *problem)
{
    lesson_learn(problem);
    assert_learnt(problem);
}

static inline void assert_says(const struct problem *problem, const char *words)
{
    if (!strstr(shapeproof_learning_text(problem->learning), words))
        fail_msg("%s", shapeproof_learning_text(problem->learning));
}

static inline void assert_says_not(const struct problem *problem, const char *words)
{
    if (strstr(shapeproof_learning_text(problem->learning), words))
        fail_msg("%s", shapeproof_learning_text(problem->learning));
}

/* Under another configuration the learnt table predicts what the built-in one does. */
static inline void assert_right_on(const struct problem *problem, const char *config)
{
    struct shapeproof_error error = {0};
    struct model model;
    const char *text = shapeproof_learning_text(problem->learning);
    model_open(&model, config);
    model_predict(&model, 0);
    assert_int_equal(shapeproof_tables_add_text(model.tables, "learnt.shapes", text, strlen(text), &error),
                     SHAPEPROOF_OK);
    const struct shapeproof_predict_options options = {.table = "learnt_here"};
    struct shapeproof_prediction *prediction = shapeproof_predict(model.tables, model.config, &options, &error);
    if (!prediction) fail_msg("%s", error.message);
    size_t untied = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++)
        untied += shapeproof_prediction_tensor(prediction, i)->same_as == SHAPEPROOF_NONE;
    assert_int_equal(untied, model.count);
    for (size_t i = 0; i < model.count; i++) {
        const size_t there = shapeproof_prediction_find(prediction, model.parts[i].name);
        if (there == SHAPEPROOF_NONE) fail_msg("%s is not predicted", model.parts[i].name);
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, there);
        assert_int_equal(tensor->rank, model.parts[i].rank);
        if (memcmp(tensor->shape, model.parts[i].shape, tensor->rank * sizeof(uint64_t)) != 0)
            fail_msg("%s is of another shape\n%s", model.parts[i].name, text);
    }
    shapeproof_prediction_free(prediction);
    model_close(&model);
}

#endif
