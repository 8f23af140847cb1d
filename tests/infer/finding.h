/* SPDX-License-Identifier: MIT
 * Inferring what a model of tests/check/model.h was made with. */
#ifndef TESTS_INFER_FINDING_H
#define TESTS_INFER_FINDING_H

#include "check/model.h"
#include "shapeproof/infer.h"

struct finding {
    struct shapeproof_inventory *inventory;
    struct shapeproof_inference *inference;
    struct shapeproof_error error;
};

static inline struct finding find(const struct model *model, const char *table)
{
    struct finding finding = {.inventory = model_in_memory(model)};
    finding.inference = shapeproof_infer(finding.inventory, model->tables,
                                         &(struct shapeproof_infer_options){.table = table}, &finding.error);
    return finding;
}

static inline void finding_close(struct finding *finding)
{
    shapeproof_inference_free(finding->inference);
    shapeproof_inventory_close(finding->inventory);
}

/* The hyper-parameter of that name; all zero when there is none. */
static inline void assert_value(struct shapeproof_value value, const char *json)
{
    char *text = shapeproof_value_text(value);
    assert_string_equal(text, json);
    free(text);
}

static inline struct shapeproof_inferred inferred(const struct finding *finding, const char *name)
{
    for (size_t i = 0; i < shapeproof_inference_count(finding->inference); i++)
        if (strcmp(shapeproof_inference_get(finding->inference, i)->name, name) == 0)
            return *shapeproof_inference_get(finding->inference, i);
    return (struct shapeproof_inferred){.name = NULL};
}

/* Whether the table is the chosen one, or one that says the same of the file. */
static inline bool is_found(const struct finding *finding, const char *table)
{
    for (size_t i = 0; finding->inference && i < shapeproof_inference_candidate_count(finding->inference); i++) {
        const struct shapeproof_inference_candidate *candidate = shapeproof_inference_candidate(finding->inference, i);
        if (candidate->same && strcmp(candidate->table, table) == 0) return true;
    }
    return false;
}

/* Nothing unexplained, nothing missing. */
static inline bool explains_all(const struct finding *finding)
{
    return finding->inference && !shapeproof_inference_unexplained_count(finding->inference) &&
           !shapeproof_inference_missing_count(finding->inference);
}

/* The verdict of a check of the file against the configuration that was written for it. */
static inline enum shapeproof_verdict verdict_on_config(struct model *model, const struct finding *finding)
{
    const char *text = shapeproof_inference_config(finding->inference);
    struct shapeproof_config *config = shapeproof_config_new();
    struct shapeproof_error error = {0};
    if (shapeproof_config_load(config, scratch_write(&model->scratch, "inferred.json", text, strlen(text)), &error))
        die("inferred.json", error.message);
    struct shapeproof_check *check = shapeproof_check_new(finding->inventory, model->tables, config, NULL, &error);
    if (!check) die("check", error.message);
    const enum shapeproof_verdict verdict = shapeproof_check_verdict(check);
    shapeproof_check_free(check);
    shapeproof_config_free(config);
    return verdict;
}

/* The message of the note of that kind, or "". */
static inline const char *noted(const struct finding *finding, const char *id)
{
    for (size_t i = 0; i < shapeproof_inference_note_count(finding->inference); i++)
        if (strcmp(shapeproof_inference_note(finding->inference, i)->id, id) == 0)
            return shapeproof_inference_note(finding->inference, i)->message;
    return "";
}

/* A model of no tensors, and a table of one's own. */
static inline void begin_with(struct model *model, const char *table)
{
    struct shapeproof_error error = {0};
    model_open(model, "{\"model_type\": \"gpt2\"}");
    model_empty(model);
    assert_int_equal(shapeproof_tables_add_text(model->tables, "t.shapes", table, strlen(table), &error),
                     SHAPEPROOF_OK);
}

/* LIST.NUMBER.LEAF of that shape. */
static inline void add_module(struct model *model, const char *list, unsigned number, const char *leaf, uint64_t rows,
                              uint64_t columns)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%u.%s", list, number, leaf);
    model_add_shape(model, name, SHAPE(rows, columns));
}

/* ---- what a test is made of; `model` and `finding` are its variables ---- */

#define BEGIN(config)                                                                                                  \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, 0)

#define FIND() struct finding finding = find(&model, NULL)

#define END()                                                                                                          \
    do {                                                                                                               \
        finding_close(&finding);                                                                                       \
        model_close(&model);                                                                                           \
    } while (0)

#define TOLD(key, expected)                                                                                            \
    do {                                                                                                               \
        const struct shapeproof_inferred told = inferred(&finding, key);                                               \
        assert_non_null(told.name);                                                                                    \
        assert_value(told.value, expected);                                                                            \
        assert_true(told.determined);                                                                                  \
    } while (0)

#define GUESSED(key, expected)                                                                                         \
    do {                                                                                                               \
        const struct shapeproof_inferred told = inferred(&finding, key);                                               \
        assert_non_null(told.name);                                                                                    \
        assert_value(told.value, expected);                                                                            \
        assert_false(told.determined);                                                                                 \
    } while (0)

#define BECAUSE(key, expected) assert_string_equal(inferred(&finding, key).because, expected)

#define FOUND(table)                                                                                                   \
    do {                                                                                                               \
        assert_non_null(finding.inference);                                                                            \
        assert_true(is_found(&finding, table));                                                                        \
        assert_true(explains_all(&finding));                                                                           \
        assert_int_equal(verdict_on_config(&model, &finding), SHAPEPROOF_VERDICT_MATCH);                               \
    } while (0)

#endif
