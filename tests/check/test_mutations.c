/* SPDX-License-Identifier: MIT
 * One thing is changed in a checkpoint, or in its configuration: a check must never say that they match, what it says
 * must name the tensor or the hyper-parameter that was changed, and must blame nothing else. The changes, each at a
 * random place:
 *
 *    1  one tensor is dropped              8  the vocabulary is resized, in the whole file
 *    2  one layer is dropped               9  one number is changed in the configuration
 *    3  one kind is dropped in all layers 10  one truth value is flipped in the configuration
 *    4  one tensor is renamed             11  a stranger is added
 *    5  a component is renamed everywhere 12  the last layer is there twice
 *    6  one matrix is transposed          13  one dtype is changed
 *    7  one dimension of one tensor is resized
 *
 * and two of different kinds at once, at different places, over the configurations of the fixtures and of the corpus.
 * Some changes leave no trace (a square matrix that is transposed, a number that no shape depends on): the prediction
 * itself says so, and then nothing may be wrong. SHAPEPROOF_SEED=N chooses other places, SHAPEPROOF_MUTATIONS=all makes
 * every change in huge models, too, SHAPEPROOF_MUTATIONS=list prints what was said. */
#define _GNU_SOURCE /* GLOB_BRACE, getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>

#ifndef ORDERS
#define ORDERS 1 /* there are thousands of checks */
#endif
#include "check/answers.h"
#include "corpus.h"

enum { HUGE = 5000, DEFAULT_SEED = 20 };

struct tally {
    size_t made, traceless, refused, restored, wrong;
};

static const char *environment(const char *variable)
{
    const char *value = getenv(variable);
    return value ? value : "";
}

static bool listing(void) { return strcmp(environment("SHAPEPROOF_MUTATIONS"), "list") == 0; }

/* An unchanged model. */
struct subject {
    struct model model;
    const char *path; /* of its configuration */
    struct shapeproof_prediction *truth;
    struct sp_map usual; /* causes that are given all the same, such as notes on buffers */
    struct sp_arena arena;
};

/* ---- what is said of a change ---- */

static bool any_restored(const struct asked *asked)
{
    const struct shapeproof_check *check = asked->model->check;
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++)
        if (is_restored(&asked->trials[0], shapeproof_check_cause(check, i))) return true;
    return false;
}

/* "one tensor dropped, one truth value flipped (use_bias)". */
static const char *describe(struct asked *asked)
{
    const char *text = "";
    for (size_t i = 0; i < asked->count; i++)
        text = sp_arena_printf(&asked->arena, "%s%s%s (%s)", text, i ? ", " : "", asked->kinds[i]->name,
                               asked->trials[i].key);
    return text;
}

/* What is not told: heads that all layers share are one in the file, and that the others are not there looks like
 * layers that were lost. */
static bool is_not_told(const struct asked *asked)
{
    return asked->count == 1 && strcmp(asked->trials[0].key, "decoder_bbox_embed_share") == 0;
}

static void judge(struct asked *asked, const char *path, struct tally *tally)
{
    struct model *model = asked->model;
    struct shapeproof_prediction *prediction = predict_changed(model, model->config);
    const char *what = describe(asked);
    tally->made++;
    if (!prediction) {
        tally->refused++;
        if (listing()) print_message("    %s: refused\n", what);
        return;
    }
    model_check_memory(model);
    touch_all(asked, prediction);
    const bool traceless = is_traceless(asked, prediction);
    const enum shapeproof_verdict verdict = shapeproof_check_verdict(model->check);
    const char *wrong = traceless ? verdict == SHAPEPROOF_VERDICT_DIFFERS ? "is no match" : NULL
                        : verdict == SHAPEPROOF_VERDICT_MATCH ? "is a match"
                                                              : objection(asked);
    shapeproof_prediction_free(prediction);
    if (listing()) print_message("    %s%s: %s\n", what, traceless ? " without trace" : "", model->first_line);
    tally->traceless += traceless;
    tally->wrong += wrong && !is_not_told(asked);
    if (wrong) print_error("%s: %s: %s\n    %s\n", path, what, wrong, model->first_line);
    tally->restored += !traceless && *asked->trials[0].key && any_restored(asked);
}

/* ---- one change ---- */

static uint64_t seed_of(const char *name, size_t number)
{
    const char *chosen = environment("SHAPEPROOF_SEED");
    uint64_t seed = *chosen ? strtoull(chosen, NULL, 10) : DEFAULT_SEED;
    seed = seed * 31 + number;
    for (; *name; name++) seed = (seed ^ (unsigned char)*name) * 0x100000001b3u;
    return seed | 1;
}

/* Makes one more change; false where there is nothing of the kind. */
static bool change(struct asked *asked, size_t kind, uint64_t seed)
{
    struct trial *trial = &asked->trials[asked->count];
    *trial = (struct trial){.model = asked->model, .truth = asked->truth, .state = seed, .before = &asked->touched};
    asked->kinds[asked->count++] = &mutations[kind];
    for (int i = 0; i < 8; i++) below(trial, 2); /* seeds that are alike go apart */
    return mutations[kind].alter(trial);
}

/* The file as it should be, and a configuration to change. */
static struct asked begin(struct subject *subject)
{
    struct model *model = &subject->model;
    model_predict(model, AS_STORED);
    model->config = sp_config_variant(model->config);
    return (struct asked){.model = model, .truth = subject->truth, .usual = &subject->usual};
}

static void end(struct subject *subject, struct shapeproof_config *unchanged, struct asked *asked)
{
    model_close_check(&subject->model);
    shapeproof_config_free(subject->model.config);
    subject->model.config = unchanged;
    asked_free(asked);
}

static void try_mutation(struct subject *subject, size_t kind, struct tally *tally)
{
    struct shapeproof_config *config = subject->model.config;
    struct asked asked = begin(subject);
    if (change(&asked, kind, seed_of(subject->path, kind))) judge(&asked, subject->path, &tally[kind]);
    end(subject, config, &asked);
}

/* ---- two at once ---- */

/* Whether the two predictions differ in what was touched before. */
static bool is_same_place(const struct asked *asked, const struct shapeproof_prediction *one,
                          const struct shapeproof_prediction *other)
{
    bool same = false;
    for (size_t i = 0; i < shapeproof_prediction_count(one) && !same; i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(one, i);
        same = has_changed(tensor, other) && sp_map_get(&asked->touched, tensor->name) != SIZE_MAX;
    }
    return same;
}

/* A buffer, or what stands for a quantised weight: its dtype may be anything. */
static bool is_no_weight(const struct shapeproof_prediction *prediction, const char *name)
{
    const size_t place = shapeproof_prediction_find(prediction, name);
    const struct shapeproof_predicted *tensor =
        place == SHAPEPROOF_NONE ? NULL : shapeproof_prediction_tensor(prediction, place);
    return tensor && (tensor->buffer || tensor->stands_for);
}

/* Whether it leaves a trace, and none where there is one. */
static bool is_elsewhere(struct asked *asked, const struct shapeproof_prediction *before,
                         const struct shapeproof_prediction *after)
{
    const struct trial *last = &asked->trials[asked->count - 1];
    const size_t touched = asked->touched.count;
    if (last->retyped && is_no_weight(before, last->retyped)) return false;
    if (last->again || is_same_place(asked, before, after) || is_same_place(asked, after, before)) return false;
    touch_all(asked, after);
    return asked->touched.count > touched;
}

static bool change_elsewhere(struct asked *asked, size_t kind, uint64_t seed)
{
    struct shapeproof_prediction *before = predict_changed(asked->model, asked->model->config), *after = NULL;
    bool elsewhere = change(asked, kind, seed);
    if (elsewhere) after = predict_changed(asked->model, asked->model->config);
    elsewhere = after && is_elsewhere(asked, before, after);
    shapeproof_prediction_free(after);
    shapeproof_prediction_free(before);
    return elsewhere;
}

/* A layer that is gone and one more behind the last are what pruning leaves, layers with a gap: of the same file that
 * is said, and is as true. */
static bool is_pruning(size_t first, size_t second)
{
    return (mutations[first].alter == drop_layer && mutations[second].alter == duplicate_last_layer) ||
           (mutations[second].alter == drop_layer && mutations[first].alter == duplicate_last_layer);
}

/* Two changes of different kinds at different places. What makes the file anew comes first, then what changes the names
 * of all. */
static bool change_twice(struct asked *asked, const char *path)
{
    enum { KINDS = MUTATIONS, FIRST, SECOND };
    size_t first = (size_t)(seed_of(path, KINDS) >> 8) % MUTATIONS;
    size_t second = (first + 1 + (size_t)(seed_of(path, KINDS) >> 32) % (MUTATIONS - 1)) % MUTATIONS;
    if (mutations[second].alter == resize_vocabulary ||
        (mutations[second].alter == rename_component && mutations[first].alter != resize_vocabulary)) {
        const size_t other = first;
        first = second;
        second = other;
    }
    if (is_pruning(first, second)) return false;
    return change_elsewhere(asked, first, seed_of(path, FIRST)) &&
           change_elsewhere(asked, second, seed_of(path, SECOND));
}

static void try_pair(struct subject *subject, struct tally *tally)
{
    struct shapeproof_config *config = subject->model.config;
    struct asked asked = begin(subject);
    if (change_twice(&asked, subject->path)) judge(&asked, subject->path, tally);
    end(subject, config, &asked);
}

/* ---- all of them ---- */

/* In huge models two changes, which others than in the next one. */
static bool is_wanted(const struct subject *subject, size_t kind)
{
    if (shapeproof_prediction_count(subject->truth) < HUGE || strcmp(environment("SHAPEPROOF_MUTATIONS"), "all") == 0)
        return true;
    return (seed_of(subject->path, 0) / 2 + kind) % MUTATIONS < 2;
}

/* Whether it matches; all that may be said is that a name promises another size. */
static bool is_flawless(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++)
        if (shapeproof_check_finding(check, i)->severity != SHAPEPROOF_SEVERITY_NOTE) return false;
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++)
        if (shapeproof_check_cause(check, i)->severity != SHAPEPROOF_SEVERITY_NOTE &&
            shapeproof_check_cause(check, i)->explains)
            return false;
    return true;
}

static void check_unchanged(struct subject *subject)
{
    struct model *model = &subject->model;
    char kind[128];
    model_predict(model, AS_STORED);
    const char *line = model_check(model);
    if (listing()) print_message("%s\n    %s\n", subject->path, line);
    if (!is_flawless(model->check)) print_error("%s: %s\n", subject->path, line);
    assert_true(is_flawless(model->check));
    for (size_t i = 0; i < shapeproof_check_cause_count(model->check); i++)
        sp_map_add(
            &subject->usual,
            sp_arena_string(&subject->arena, kind_of(shapeproof_check_cause(model->check, i), kind, sizeof kind)), 0);
}

static void try_config(struct shapeproof_tables *tables, const char *name, struct shapeproof_config *config,
                       struct tally *tally)
{
    struct subject subject = {.model = {.tables = tables, .config = config}, .path = name};
    scratch_make(&subject.model.scratch);
    subject.truth = predict_changed(&subject.model, config);
    if (subject.truth) {
        check_unchanged(&subject);
        for (size_t i = 0; i < MUTATIONS; i++)
            if (is_wanted(&subject, i)) try_mutation(&subject, i, tally);
        if (shapeproof_prediction_count(subject.truth) < HUGE) try_pair(&subject, &tally[MUTATIONS]);
    }
    shapeproof_prediction_free(subject.truth);
    sp_map_free(&subject.usual);
    sp_arena_free(&subject.arena);
    subject.model.tables = NULL; /* for the next one */
    model_close(&subject.model);
}

/* One in `step` of the configurations. */
struct run {
    struct shapeproof_tables *tables;
    size_t step, seen;
    struct tally tally[MUTATIONS + 1]; /* the last one: of pairs */
};

static void try_taken(void *context, const char *name, struct shapeproof_config *config,
                      struct shapeproof_inventory *inventory)
{
    struct run *run = context;
    shapeproof_inventory_close(inventory);
    if (run->seen++ % run->step == 0) try_config(run->tables, name, config, run->tally);
    else shapeproof_config_free(config);
}

static void begin_trial(struct run *run, size_t step)
{
    struct shapeproof_error error = {0};
    *run = (struct run){.tables = shapeproof_tables_new(&error), .step = step};
    assert_non_null(run->tables);
}

static void assert_all(struct run *run)
{
    size_t wrong = 0;
    shapeproof_tables_free(run->tables);
    for (size_t i = 0; i <= MUTATIONS; i++) {
        const struct tally *tally = &run->tally[i];
        print_message("%-40s %4zu made, %4zu without trace, %4zu refused, %4zu undone by a cause, %zu wrong\n",
                      i < MUTATIONS ? mutations[i].name : "two at once", tally->made, tally->traceless, tally->refused,
                      tally->restored, tally->wrong);
        assert_true(tally->made > tally->traceless + tally->refused);
        wrong += tally->wrong;
    }
    assert_int_equal(wrong, 0);
}

static void fixtures(void **state)
{
    struct run run;
    glob_t paths;
    (void)state;
    begin_trial(&run, 1);
    assert_int_equal(glob("fixtures/{models/*/config,config/*}.json", GLOB_BRACE, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_config *config = shapeproof_config_new();
        if (shapeproof_config_load(config, paths.gl_pathv[i], &error)) shapeproof_config_free(config);
        else try_config(run.tables, paths.gl_pathv[i], config, run.tally);
    }
    globfree(&paths);
    assert_all(&run);
}

/* One of each class. */
static void series(void **state)
{
    enum { OF_A_CLASS = 5 };
    struct run run;
    (void)state;
    begin_trial(&run, OF_A_CLASS * sample());
    corpus_read_record(SERIES, try_taken, &run);
    assert_all(&run);
}

static void corpus(void **state)
{
    struct run run;
    (void)state;
    begin_trial(&run, sample());
    corpus_read_folder("architectures/real", try_taken, &run);
    corpus_read_folder("architectures/synthetic", try_taken, &run);
    if (!run.seen) {
        shapeproof_tables_free(run.tables);
        skip();
    }
    assert_all(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fixtures), cmocka_unit_test(series), cmocka_unit_test(corpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
