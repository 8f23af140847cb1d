/* SPDX-License-Identifier: MIT
 * What the loaders themselves said of models and of what becomes of them: fixtures/loading, whose README.md has the
 * format. Our answers have to be the same numbers. */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/model.h"
#include "check/recorded.h"
#include "formats.h"
#include "load/judge.h"

/* A model of the record, and what was done to it. */
struct record {
    const struct sp_loader *loaders[4]; /* whose answers they are, in that order */
    size_t loader_count;
    struct model model;
    bool is_open;
    struct part *saved; /* as the record has it */
    size_t saved_count;
    char *name;
    size_t cases, wrong;
};

/* ---- changes: the words of record.py ---- */

static void put_front(struct part *part, const char *prefix)
{
    struct sp_text name = {0};
    sp_text_printf(&name, "%s%s", prefix, part->name);
    free(part->name);
    part->name = name.data;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct part *)left)->name, ((const struct part *)right)->name);
}

static void put_front_of_half(struct model *model, const char *prefix)
{
    qsort(model->parts, model->count, sizeof *model->parts, by_name);
    for (size_t i = 0; i < model->count; i += 2) put_front(&model->parts[i], prefix);
}

static struct part *part_named(struct model *model, const char *name)
{
    for (size_t i = 0; i < model->count; i++)
        if (strcmp(model->parts[i].name, name) == 0) return &model->parts[i];
    return NULL;
}

static void drop_part(struct model *model, const char *name)
{
    struct part *part = part_named(model, name);
    if (!part) die(name, "no such tensor");
    free(part->name);
    *part = model->parts[--model->count];
}

static void lose_parts(struct model *model, const char *text)
{
    for (size_t i = model->count; i-- > 0;)
        if (strstr(model->parts[i].name, text)) drop_part(model, model->parts[i].name);
}

static void strip(struct part *part, const char *prefix)
{
    if (strncmp(part->name, prefix, strlen(prefix)) == 0) replace_in(part, prefix, "");
}

static void change(struct record *record, char *words)
{
    struct model *model = &record->model;
    char *word = strtok(words, " "), *one = strtok(NULL, " "), *two = strtok(NULL, "");
    if (strcmp(word, "set") == 0) {
        char setting[512];
        snprintf(setting, sizeof setting, "%s=%s", one, two);
        model_set(model, setting);
    } else if (strcmp(word, "half") == 0) put_front_of_half(model, one);
    else if (strcmp(word, "drop") == 0) drop_part(model, one);
    else if (strcmp(word, "lose") == 0) lose_parts(model, one);
    else if (strcmp(word, "name") == 0) {
        struct part *part = part_named(model, one);
        free(part->name);
        part->name = strdup(two);
    } else if (strcmp(word, "add") == 0 || strcmp(word, "shape") == 0) {
        if (part_named(model, one)) drop_part(model, one);
        model_add_recorded(model, one, two ? two : "");
    } else
        for (size_t i = 0; i < model->count; i++) {
            if (strcmp(word, "prefix") == 0) put_front(&model->parts[i], one);
            else if (strcmp(word, "strip") == 0) strip(&model->parts[i], one);
            else if (strcmp(word, "replace") == 0) replace_in(&model->parts[i], one, two ? two : "");
            else die(word, "no such change");
        }
}

static void apply_changes(struct record *record, char *changes)
{
    for (char *next; *changes; changes = next) {
        char *end = strstr(changes, "; ");
        next = end ? end + 2 : changes + strlen(changes);
        if (end) *end = '\0';
        change(record, changes);
    }
}

/* ---- a model ---- */

static void forget_file(struct record *record)
{
    for (size_t i = 0; i < record->saved_count; i++) free(record->saved[i].name);
    free(record->saved);
    record->saved = NULL;
    record->saved_count = 0;
    free(record->name);
    record->name = NULL;
    if (record->is_open) model_empty(&record->model);
}

static void close_record_model(struct record *record)
{
    if (record->is_open) model_close(&record->model);
    record->is_open = false;
}

static void open_record_model(struct record *record, const char *config)
{
    close_record_model(record);
    model_open(&record->model, config);
    record->is_open = true;
}

/* The file as it was saved, and the configuration without the settings of the last case. */
static void restore(struct record *record)
{
    struct shapeproof_error error = {0};
    struct model *model = &record->model;
    model_empty(model);
    for (size_t i = 0; i < record->saved_count; i++)
        model_add_shape(model, record->saved[i].name, record->saved[i].rank, record->saved[i].shape);
    shapeproof_config_free(model->config);
    model->config = shapeproof_config_new();
    if (shapeproof_config_load(model->config, scratch_path(&model->scratch, "config.json"), &error))
        die("config", error.message);
}

static void keep_saved(struct record *record)
{
    if (record->saved) return;
    record->saved = sp_realloc(NULL, record->model.count, sizeof *record->saved);
    record->saved_count = record->model.count;
    for (size_t i = 0; i < record->model.count; i++) {
        record->saved[i] = record->model.parts[i];
        record->saved[i].name = strdup(record->model.parts[i].name);
    }
}

/* ---- answers ---- */

/* As the record writes them. */
static void put_answer(const struct shapeproof_loading *loading, char *text, size_t size)
{
    const bool failed =
        loading->answer == SHAPEPROOF_LOADING_REFUSED && strstr(loading->message, "cannot be put together");
    if (loading->answer == SHAPEPROOF_LOADING_UNKNOWN) snprintf(text, size, "unknown");
    else if (failed) snprintf(text, size, "refused");
    else snprintf(text, size, "%zu,%zu,%zu", loading->fresh, loading->ignored, loading->reshaped);
}

static void hold_against(struct record *record, const struct sp_loader *loader, const struct sp_load_subject *subject,
                         const char *changes, const char *truth)
{
    struct sp_arena arena = {0};
    char answer[64];
    const struct shapeproof_loading loading = sp_load(&arena, loader, subject);
    put_answer(&loading, answer, sizeof answer);
    record->cases++;
    const bool right = strcmp(truth, "refused") == 0 ? loading.answer == SHAPEPROOF_LOADING_REFUSED
                       : strcmp(truth, "taken") == 0 ? loading.answer == SHAPEPROOF_LOADING_WHOLE
                                                     : strcmp(answer, truth) == 0;
    if (!right) {
        record->wrong++;
        print_message("%s: %s: %s: %s, and not %s: %s\n", loader->id, record->name, changes, truth, answer,
                      loading.message);
    }
    sp_arena_free(&arena);
}

/* A check hands over what it knows already: the answers are the same. */
static struct sp_load_subject matched_subject(struct sp_load_subject subject, struct shapeproof_prediction **prediction,
                                              struct sp_match *match)
{
    struct shapeproof_error error = {0};
    *prediction = shapeproof_predict(subject.tables, subject.config, NULL, &error);
    if (!*prediction) return subject;
    sp_match_begin(match, subject.inventory, *prediction);
    subject.prediction = *prediction;
    subject.match = match;
    return subject;
}

static void run_case(struct record *record, char *changes, char *said)
{
    struct sp_match match = {0};
    struct shapeproof_prediction *prediction;
    char *as_written = strdup(changes);
    keep_saved(record);
    restore(record);
    apply_changes(record, changes);
    struct shapeproof_inventory *inventory = model_in_memory(&record->model);
    inventory->format = &format_safetensors;
    const struct sp_load_subject subject = {
        .inventory = inventory, .tables = record->model.tables, .config = record->model.config};
    const struct sp_load_subject matched = matched_subject(subject, &prediction, &match);
    for (size_t i = 0; i < record->loader_count; i++) {
        const char *truth = strsep(&said, "\t");
        if (strcmp(truth, "-") == 0) continue;
        hold_against(record, record->loaders[i], &subject, as_written, truth);
        hold_against(record, record->loaders[i], &matched, as_written, truth);
    }
    sp_match_free(&match);
    shapeproof_prediction_free(prediction);
    shapeproof_inventory_close(inventory);
    free(as_written);
}

static void open_loaders(struct record *record, char *ids)
{
    static const struct sp_loader *const known[] = {&sp_loader_transformers, &sp_loader_transformers4,
                                                    &sp_loader_diffusers, &sp_loader_torch, &sp_loader_mlx};
    for (const char *id; (id = strsep(&ids, "\t"));)
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(known[i]->id, id) == 0) record->loaders[record->loader_count++] = known[i];
}

static void run_line(void *context, const char *word, char *rest)
{
    struct record *record = context;
    if (strcmp(word, "loaders") == 0) open_loaders(record, rest);
    else if (strcmp(word, "base") == 0) {
        forget_file(record);
        record->name = strdup(rest);
    } else if (strcmp(word, "config") == 0) open_record_model(record, rest);
    else if (strcmp(word, "case") == 0) {
        char *said = strchr(rest, '\t');
        *said = '\0';
        run_case(record, rest, said + 1);
    } else model_add_recorded(&record->model, word, rest);
}

/* The number of answers in a file of the record. */
static size_t hold_against_file(const char *path)
{
    struct record record = {0};
    read_record(path, run_line, &record);
    forget_file(&record);
    close_record_model(&record);
    print_message("%zu of %zu answers are wrong\n", record.wrong, record.cases);
    return record.wrong ? 0 : record.cases;
}

/* Two or three loaders for each case. */
static void answers_are_those_of_transformers(void **state)
{
    (void)state;
    assert_true(hold_against_file("fixtures/loading/transformers.txt") > 10000);
}

/* One. */
static void answers_are_those_of_diffusers(void **state)
{
    (void)state;
    assert_true(hold_against_file("fixtures/loading/diffusers.txt") > 2000);
}

/* Three. */
static void answers_are_those_of_mlx(void **state)
{
    (void)state;
    assert_true(hold_against_file("fixtures/loading/mlx.txt") > 1000);
}

/* With files, those are held against instead: test_record FILE... */
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) print_message("%s: %zu answers\n", argv[i], hold_against_file(argv[i]));
    if (argc > 1) return 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_those_of_transformers),
                                       cmocka_unit_test(answers_are_those_of_diffusers),
                                       cmocka_unit_test(answers_are_those_of_mlx)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
