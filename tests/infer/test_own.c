/* SPDX-License-Identifier: MIT
 * Each built-in table is found from what it predicts itself: under a configuration that a framework saved with its
 * models, or, where there is none, under its own defaults. */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "corpus.h"
#include "infer/finding.h"
#include "lang/tables.h"
#include "load/value_kinds.h"

/* Of either kind so many tables are found, in percent, and in place of so many another one is; transformers refuses the
 * types of the values in so many of the configurations that are written. Of the rest it is said that no table explains
 * them, or what is left of them. */
struct bounds {
    size_t found, taken, refused;
};
static const struct bounds saved_bounds = {99, 0, 1}, default_bounds = {99, 0, 1};

struct tally {
    struct shapeproof_tables *tables;
    struct sp_map done; /* by name */
    size_t tried, found, taken, refused;
};

/* Another table is said to explain the file as a whole, and this one not to. */
static bool is_taken(const struct finding *finding) { return finding->inference && explains_all(finding); }

/* transformers refuses a value of the configuration that is written of the file, or of a part of it: 4 for 4.0. */
static bool is_refused(const struct shapeproof_inference *inference, const char *table)
{
    struct sp_arena arena = {0};
    struct shapeproof_error error = {0};
    const char *text = shapeproof_inference_config(inference), *why = "";
    struct shapeproof_config *config = shapeproof_config_new();
    assert_int_equal(shapeproof_config_load_text(config, "inferred", text, strlen(text), &error), SHAPEPROOF_OK);
    const struct shapeproof_value root = sp_config_hyper(config)->root;
    for (size_t i = 0; !*why && i <= root.count; i++) { /* the whole comes last */
        const struct shapeproof_value object = i < root.count ? root.members[i].value : root;
        const struct shapeproof_value type = sp_value_member(object, "model_type");
        if (type.type == SHAPEPROOF_VALUE_STRING)
            why = sp_refused_kind(&arena, type.string, i < root.count ? root.members[i].key : "", object);
    }
    if (*why) print_message("%s: %s\n", table, why);
    const bool is = *why;
    sp_arena_free(&arena);
    shapeproof_config_free(config);
    return is;
}

static void judge(struct model *model, const char *table, struct tally *tally)
{
    struct finding finding = find(model, NULL);
    const bool found = is_found(&finding, table) && explains_all(&finding);
    tally->tried++;
    tally->found += found;
    tally->taken += !found && is_taken(&finding);
    tally->refused += finding.inference && is_refused(finding.inference, table);
    if (!found)
        print_message("%s: %s%s\n", table, finding.inference ? shapeproof_inference_table(finding.inference) : "none",
                      is_taken(&finding) ? ", taken for it" : "");
    finding_close(&finding);
}

/* The table that the configuration leads to, once. */
static void try_config(struct model *model, struct tally *tally)
{
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(model->tables, model->config, NULL, &error);
    if (prediction && shapeproof_prediction_count(prediction) &&
        sp_map_get(&tally->done, shapeproof_prediction_table(prediction)) == SIZE_MAX) {
        char table[200];
        snprintf(table, sizeof table, "%s", shapeproof_prediction_table(prediction));
        const struct sp_unit *unit = sp_tables_unit(tally->tables, table);
        sp_map_add(&tally->done, unit->name, 1);
        if (tally->done.count % sample() == 0) {
            model_predict(model, 0);
            judge(model, table, tally);
        }
    }
    shapeproof_prediction_free(prediction);
}

static void begin_model(struct model *model, const struct tally *tally)
{
    *model = (struct model){.tables = tally->tables, .config = shapeproof_config_new()};
    scratch_make(&model->scratch);
}

static void end_model(struct model *model)
{
    model->tables = NULL; /* for the next one */
    model_close(model);
}

/* Of each table the first configuration. */
static void try_saved(void *context, const char *name, struct shapeproof_config *config,
                      struct shapeproof_inventory *inventory)
{
    const struct tally *tally = context;
    struct model model = {.tables = tally->tables, .config = config};
    (void)name;
    shapeproof_inventory_close(inventory);
    scratch_make(&model.scratch);
    try_config(&model, context);
    end_model(&model);
}

/* Those that no configuration led to, as their defaults have them; of a table without defaults nothing is predicted.
 * But for names of llama.cpp, which belong to the table of the model as well. */
static void try_defaults(struct tally *tally)
{
    size_t count;
    const size_t *list = sp_tables_list(tally->tables, &count);
    for (size_t i = 0; i < count; i++) {
        const struct sp_unit *unit = sp_tables_at(tally->tables, list[i]);
        struct model model;
        if (!unit || strncmp(unit->name, "gguf_", 5) == 0) continue;
        struct shapeproof_value class = sp_value_absent("");
        if (unit->architecture_count) class = sp_value_string(unit->architectures[0]);
        if (!unit->model_type_count || sp_map_get(&tally->done, unit->name) != SIZE_MAX) continue;
        begin_model(&model, tally);
        sp_config_set_value(model.config, "model_type", sp_value_string(unit->model_types[0]), "test");
        if (unit->architecture_count)
            sp_config_set_value(model.config, "architectures",
                                (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = &class},
                                "test");
        try_config(&model, tally);
        end_model(&model);
    }
}

/* Of a sample only that none is a fault: a few of it say little of all. */
static void check_tally(const struct tally *tally, const char *what, struct bounds bounds)
{
    print_message("%s: %zu of %zu tables found; others taken for them: %zu\n", what, tally->found, tally->tried,
                  tally->taken);
    if (sample() > 1) return;
    assert_true(tally->refused * 100 <= tally->tried * bounds.refused);
    assert_true(tally->found * 100 >= tally->tried * bounds.found);
    assert_true(tally->taken * 100 <= tally->tried * bounds.taken);
}

static void found_by_own_prediction(void **state)
{
    static const char *const records[] = {"fixtures/catalogue/transformers.txt", "fixtures/catalogue/diffusers.txt",
                                          "fixtures/catalogue/timm.txt", "fixtures/catalogue/torchvision.txt"};
    struct shapeproof_error error = {0};
    struct tally saved = {.tables = shapeproof_tables_new(&error)};
    (void)state;
    assert_non_null(saved.tables);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) corpus_read_record(records[i], try_saved, &saved);
    corpus_read_folder("saved/configs", try_saved, &saved);
    struct tally defaults = {.tables = saved.tables, .done = saved.done};
    try_defaults(&defaults);
    sp_map_free(&defaults.done);
    shapeproof_tables_free(saved.tables);
    check_tally(&saved, "saved", saved_bounds);
    check_tally(&defaults, "defaults", default_bounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(found_by_own_prediction)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
