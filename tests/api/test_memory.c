/* SPDX-License-Identifier: MIT
 * A public function that runs out of memory is an error, or finishes; it leaks nothing, and the same call succeeds
 * afterwards. malloc and its like are replaced by functions that count, and let the k-th allocation fail; what is freed
 * is overwritten, so that a use of it is seen.
 *
 * Of the allocations of a call, MOST are tried, spread evenly. With FAULTS=N in the environment it is N. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shapeproof/shapeproof.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_REPLACE 1
#else
#define CAN_REPLACE 0 /* another C library, or a sanitizer, which has replaced them already */
#endif

/* ---- memory that fails ---- */

enum { MOST = 1 };

/* `allocations` counts while `is_counted`; that of the number `failing` fails. */
static size_t live, allocations, failing;
static bool is_counted;

#if CAN_REPLACE
#include <malloc.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static bool is_to_fail(void)
{
    if (!is_counted || ++allocations != failing) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    void *memory = is_to_fail() ? NULL : __libc_malloc(size);
    live += memory != NULL;
    return memory;
}

void *calloc(size_t count, size_t size)
{
    void *memory = is_to_fail() ? NULL : __libc_calloc(count, size);
    live += memory != NULL;
    return memory;
}

void free(void *memory)
{
    const int why = errno;
    if (!memory) return;
    live--;
    if (is_counted) memset(memory, 0xdd, malloc_usable_size(memory));
    __libc_free(memory);
    errno = why;
}

/* Always moves, so that a pointer to the old place is seen. */
void *realloc(void *memory, size_t size)
{
    if (!memory) return malloc(size);
    void *moved = malloc(size);
    const size_t old = malloc_usable_size(memory);
    if (!moved) return NULL;
    memcpy(moved, memory, old < size ? old : size);
    free(memory);
    return moved;
}
#endif

static size_t count_descriptors(void)
{
    enum { LOOKED_AT = 256 };
    size_t count = 0;
    for (int fd = 0; fd < LOOKED_AT; fd++) count += fcntl(fd, F_GETFD) != -1;
    return count;
}

/* ---- the calls ---- */

/* What a call works on, and what it makes. */
struct world {
    const char *path; /* what it is called with: a file, a setting */
    struct shapeproof_error error;
    struct shapeproof_tables *tables;
    struct shapeproof_models *models;
    struct shapeproof_config *config;
    struct shapeproof_inventory *inventory, *other;
    uint64_t sum; /* of bytes that were read */
    struct shapeproof_prediction *prediction;
    struct shapeproof_check *check;
    struct shapeproof_loadings *loadings;
    struct shapeproof_diff *diff;
    struct shapeproof_breakdown *breakdown;
    struct shapeproof_components *components;
    struct shapeproof_run *run;
    struct shapeproof_resume *resume;
    struct shapeproof_inference *inference;
    struct shapeproof_learn_example example;
    struct shapeproof_learning *learning;
    struct shapeproof_proofs *proofs;
    struct shapeproof_derivation *derivation;
    struct shapeproof_solutions *solutions;
    struct shapeproof_combinations *combinations;
    struct shapeproof_verification *verification;
    struct shapeproof_expressions *expressions;
    struct shapeproof_evaluation *evaluation;
    struct shapeproof_expectations *expectations;
    struct shapeproof_figures *figures;
    struct shapeproof_card *card;
    struct shapeproof_keras_names *keras_names;
    struct shapeproof_quantised_model *quantised;
    struct shapeproof_redaction *redaction;
    char *text, *letters;
};

static void free_world(struct world *w)
{
    shapeproof_free(w->text);
    shapeproof_free(w->letters);
    shapeproof_redaction_free(w->redaction);
    shapeproof_quantised_model_free(w->quantised);
    shapeproof_keras_names_free(w->keras_names);
    shapeproof_card_free(w->card);
    shapeproof_figures_free(w->figures);
    shapeproof_expectations_free(w->expectations);
    shapeproof_evaluation_free(w->evaluation);
    shapeproof_expressions_free(w->expressions);
    shapeproof_verification_free(w->verification);
    shapeproof_combinations_free(w->combinations);
    shapeproof_solutions_free(w->solutions);
    shapeproof_derivation_free(w->derivation);
    shapeproof_proofs_free(w->proofs);
    shapeproof_learning_free(w->learning);
    shapeproof_inference_free(w->inference);
    shapeproof_resume_free(w->resume);
    shapeproof_run_close(w->run);
    shapeproof_components_free(w->components);
    shapeproof_breakdown_free(w->breakdown);
    shapeproof_diff_free(w->diff);
    shapeproof_loadings_free(w->loadings);
    shapeproof_check_free(w->check);
    shapeproof_prediction_free(w->prediction);
    shapeproof_inventory_close(w->other);
    shapeproof_inventory_close(w->inventory);
    shapeproof_config_free(w->config);
    shapeproof_models_free(w->models);
    shapeproof_tables_free(w->tables);
}

#define MODEL "fixtures/models/tiny-gpt2/model.safetensors"
#define CONFIG "fixtures/models/tiny-gpt2/config.json"

static const struct shapeproof_report_options as_json = {.format = SHAPEPROOF_REPORT_JSON};

/* Before the call. */
static void nothing(struct world *w) { (void)w; }
static void open_tables(struct world *w) { w->tables = shapeproof_tables_new(&w->error); }
static void open_config(struct world *w) { w->config = shapeproof_config_new(); }

static void open_model(struct world *w)
{
    open_tables(w);
    open_config(w);
    assert_int_equal(shapeproof_config_load(w->config, CONFIG, &w->error), SHAPEPROOF_OK);
    w->inventory = shapeproof_inventory_open(MODEL, &w->error);
}

static void open_file(struct world *w)
{
    open_tables(w);
    w->inventory = shapeproof_inventory_open(w->path, &w->error);
}

static void predict_model(struct world *w)
{
    open_model(w);
    w->prediction = shapeproof_predict(w->tables, w->config, NULL, &w->error);
}

/* With heads that do not divide the width, which no loader builds. */
static void predict_refused(struct world *w)
{
    open_model(w);
    assert_int_equal(shapeproof_config_set(w->config, "n_head=5", &w->error), SHAPEPROOF_OK);
    w->prediction = shapeproof_predict(w->tables, w->config, NULL, &w->error);
}

static void check_model(struct world *w)
{
    open_model(w);
    w->check = shapeproof_check_new(w->inventory, w->tables, w->config, NULL, &w->error);
}

static void load_model(struct world *w)
{
    check_model(w);
    w->loadings = shapeproof_loadings_new(w->check, "all", &w->error);
}

static void open_models(struct world *w)
{
    open_tables(w);
    open_config(w);
    w->models = shapeproof_models_new(&w->error);
}

static void open_two(struct world *w)
{
    open_model(w);
    w->other = shapeproof_inventory_open("fixtures/models/tiny-gpt2-sharded", &w->error);
}

static void diff_models(struct world *w)
{
    open_two(w);
    w->diff = shapeproof_diff_new(w->inventory, w->other, NULL, &w->error);
}

static void open_expressions(struct world *w)
{
    static const char *const total = "total";
    open_model(w);
    w->expressions = shapeproof_expressions_new(w->tables, "gpt2", &(struct shapeproof_claim_lines){"test", &total, 1},
                                                &w->letters, &w->error);
}

static void open_redaction(struct world *w)
{
    open_model(w);
    w->redaction = shapeproof_redaction_new();
}

static void open_run(struct world *w) { w->run = shapeproof_run_open(w->path, &w->error); }

/* The calls: true when they succeed. */
static bool calls_tables_new(struct world *w) { return (w->tables = shapeproof_tables_new(&w->error)) != NULL; }
static bool calls_models_new(struct world *w) { return (w->models = shapeproof_models_new(&w->error)) != NULL; }
static bool calls_config_new(struct world *w) { return (w->config = shapeproof_config_new()) != NULL; }
static bool calls_tables_count(struct world *w) { return shapeproof_tables_count(w->tables) != 0; }
static bool calls_tables_info(struct world *w) { return shapeproof_tables_info(w->tables, 3) != NULL; }

static bool calls_tables_add_text(struct world *w)
{
    static const char text[] = "table of_a_text\nweight (3, n)\nbias (n)\n";
    return shapeproof_tables_add_text(w->tables, "text.shapes", text, sizeof text - 1, &w->error) == SHAPEPROOF_OK;
}

static bool calls_tables_add_file(struct world *w)
{
    return shapeproof_tables_add_file(w->tables, w->path, &w->error) == SHAPEPROOF_OK;
}

static bool calls_table_format(struct world *w)
{
    static const char text[] = "table t\nw (3)\n";
    return (w->text = shapeproof_table_format("t.shapes", text, sizeof text - 1, NULL, &w->error)) != NULL;
}

static bool calls_add_claims(struct world *w)
{
    static const char *const lines[] = {"total = V*d + 2*d"};
    const struct shapeproof_claim_lines claims = {.name = "claims", .items = lines, .count = 1};
    return shapeproof_tables_add_claims(w->tables, "gpt2", &claims, &w->letters, &w->error) == SHAPEPROOF_OK;
}

static bool calls_config_load(struct world *w)
{
    return shapeproof_config_load(w->config, w->path, &w->error) == SHAPEPROOF_OK;
}

static bool calls_config_set(struct world *w)
{
    return shapeproof_config_set(w->config, w->path, &w->error) == SHAPEPROOF_OK;
}

static bool calls_config_set_point(struct world *w)
{
    return shapeproof_config_set_point(w->config, w->tables, "gpt2", "E = 2", &w->error) == SHAPEPROOF_OK;
}

static bool calls_config_fit(struct world *w)
{
    return shapeproof_config_fit(w->config, w->tables, NULL, w->inventory, &w->error) == SHAPEPROOF_OK;
}

static bool calls_config_beside(struct world *w)
{
    return (w->text = shapeproof_config_beside(w->path, &w->error)) != NULL;
}

static bool calls_config_search(struct world *w)
{
    bool inside;
    w->text = shapeproof_config_search(w->inventory, w->path, NULL, NULL, &inside, &w->error);
    return w->text != NULL;
}

static bool calls_config_take_model(struct world *w)
{
    shapeproof_config_take_model(w->config, shapeproof_models_find(w->models, "gpt2-xl"));
    return *shapeproof_config_model(w->config) != '\0';
}

static bool calls_inventory_open(struct world *w)
{
    return (w->inventory = shapeproof_inventory_open(w->path, &w->error)) != NULL;
}

static bool calls_inventory_bytes(struct world *w) { return shapeproof_inventory_file_bytes(w->inventory) != NULL; }

/* The first bytes of each tensor without an obstacle, and their sum. */
static bool calls_data_read(struct world *w)
{
    struct shapeproof_data *data = shapeproof_data_open(w->inventory, &w->error);
    bool ok = data != NULL;
    w->sum = 0;
    for (size_t i = 0; ok && i < shapeproof_inventory_count(w->inventory); i++) {
        unsigned char bytes[64];
        const uint64_t size = shapeproof_inventory_tensor(w->inventory, i)->bytes;
        const size_t length = size < sizeof bytes ? (size_t)size : sizeof bytes;
        if (shapeproof_data_obstacle(data, i)) continue;
        ok = shapeproof_data_read(data, i, 0, bytes, length, &w->error);
        for (size_t k = 0; ok && k < length; k++) w->sum = 31 * w->sum + bytes[k];
    }
    shapeproof_data_close(data);
    return ok;
}

static bool calls_predict(struct world *w)
{
    return (w->prediction = shapeproof_predict(w->tables, w->config, NULL, &w->error)) != NULL;
}

static bool calls_check_new(struct world *w)
{
    const struct shapeproof_check_options options = {.data = true};
    return (w->check = shapeproof_check_new(w->inventory, w->tables, w->config, &options, &w->error)) != NULL;
}

static bool calls_check_path(struct world *w)
{
    return (w->check = shapeproof_check_path(w->path, NULL, &w->error)) != NULL;
}

static bool calls_loadings_new(struct world *w)
{
    return (w->loadings = shapeproof_loadings_new(w->check, "all", &w->error)) != NULL;
}

static bool calls_loading_objection(struct world *w)
{
    w->text = shapeproof_loading_objection(w->tables, w->config, NULL, w->prediction, &w->error);
    return w->text != NULL;
}

static bool calls_diff_new(struct world *w)
{
    const struct shapeproof_diff_options options = {.data = true};
    return (w->diff = shapeproof_diff_new(w->inventory, w->other, &options, &w->error)) != NULL;
}

static bool calls_breakdown_new(struct world *w)
{
    return (w->breakdown = shapeproof_breakdown_new(w->inventory, NULL, &w->error)) != NULL;
}

static bool calls_breakdown_of_diff(struct world *w)
{
    return (w->breakdown = shapeproof_breakdown_of_diff(w->diff, NULL, &w->error)) != NULL;
}

static bool calls_components_open(struct world *w)
{
    return (w->components = shapeproof_components_open(w->path, &w->error)) != NULL;
}

static bool calls_run_open(struct world *w) { return (w->run = shapeproof_run_open(w->path, &w->error)) != NULL; }

static bool calls_run_examine(struct world *w) { return shapeproof_run_examine(w->run, &w->error); }

static bool calls_resume_new(struct world *w)
{
    return (w->resume = shapeproof_resume_new(w->path, &w->error)) != NULL;
}

static void open_resume(struct world *w)
{
    open_tables(w);
    w->resume = shapeproof_resume_new(w->path, &w->error);
}

static bool calls_resume_compare(struct world *w) { return shapeproof_resume_compare(w->resume, w->tables, &w->error); }

static bool calls_infer(struct world *w)
{
    const struct shapeproof_infer_options options = {.table = "gpt2"};
    return (w->inference = shapeproof_infer(w->inventory, w->tables, &options, &w->error)) != NULL;
}

static bool calls_learn(struct world *w)
{
    w->example = (struct shapeproof_learn_example){w->inventory, w->config};
    return (w->learning = shapeproof_learn(&w->example, 1, w->tables, NULL, &w->error)) != NULL;
}

static bool calls_prove(struct world *w)
{
    static const char *const names[] = {"conv2d"};
    const struct shapeproof_prove_options options = {.tables = names, .table_count = 1};
    return (w->proofs = shapeproof_prove(w->tables, &options, &w->error)) != NULL;
}

static bool calls_derive(struct world *w)
{
    const struct shapeproof_derive_options options = {.table = "gpt2"};
    return (w->derivation = shapeproof_derive(w->tables, NULL, &options, &w->error)) != NULL;
}

static bool calls_derive_claims(struct world *w)
{
    return (w->text = shapeproof_derive_claims(w->tables, "gpt2", NULL, &w->error)) != NULL;
}

static bool calls_derive_python(struct world *w)
{
    return (w->text = shapeproof_derive_python(w->tables, "gpt2", NULL, &w->error)) != NULL;
}

static bool calls_derive_prediction(struct world *w)
{
    return (w->derivation = shapeproof_derive_prediction(w->tables, w->prediction, w->config, &w->error)) != NULL;
}

static bool calls_solve(struct world *w)
{
    return (w->solutions = shapeproof_solve(w->tables, w->config, 7872, NULL, &w->error)) != NULL;
}

static bool calls_solve_expression(struct world *w)
{
    const struct shapeproof_solve_options options = {.table = "gpt2", .expressions = w->expressions};
    return (w->solutions = shapeproof_solve(w->tables, w->config, 7872, &options, &w->error)) != NULL;
}

static bool calls_solve_together(struct world *w)
{
    static const char *const layers = "n_layer";
    const struct shapeproof_solve_together_options options = {.table = "gpt2", .free = &layers, .free_count = 1};
    return (w->combinations = shapeproof_solve_together(w->tables, w->config, 7872, &options, &w->error)) != NULL;
}

static bool calls_verify(struct world *w)
{
    return (w->verification = shapeproof_verify(w->check, w->tables, NULL, &w->error)) != NULL;
}

static bool calls_verify_alone(struct world *w)
{
    return (w->verification = shapeproof_verify_alone(w->inventory, w->tables, NULL, &w->error)) != NULL;
}

static bool calls_expressions_new(struct world *w)
{
    static const char *const total = "total";
    w->expressions = shapeproof_expressions_new(w->tables, "gpt2", &(struct shapeproof_claim_lines){"test", &total, 1},
                                                &w->letters, &w->error);
    return w->expressions != NULL;
}

static bool calls_measures_new(struct world *w)
{
    return (w->expressions = shapeproof_measures_new(w->tables, w->prediction, NULL, &w->error)) != NULL;
}

static bool calls_evaluate(struct world *w)
{
    return (w->evaluation = shapeproof_evaluate(w->expressions, w->config, NULL, &w->error)) != NULL;
}

static bool calls_figures_new(struct world *w)
{
    const struct shapeproof_figures_options one = {.model = "gpt2-xl"};
    return (w->figures = shapeproof_figures_new(w->tables, w->models, &one, &w->error)) != NULL;
}

static bool calls_expectations_load(struct world *w)
{
    char path[] = "/tmp/shapeproof.XXXXXX";
    static const char text[] = "shape transformer.wte.weight  # a longer vocabulary\n";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    w->expectations = shapeproof_expectations_load(path, "2024-01-01", &w->error);
    close(fd);
    remove(path);
    return w->expectations != NULL;
}

static bool calls_quantised(struct world *w)
{
    w->quantised = shapeproof_quantised_model_new(w->inventory, &w->error);
    return w->quantised != NULL;
}

static bool calls_redact_inventory(struct world *w)
{
    shapeproof_redact_inventory(w->redaction, w->inventory);
    return shapeproof_inventory_is_redacted(w->inventory);
}

static bool calls_redact_path(struct world *w)
{
    return (w->text = shapeproof_redact_path(w->redaction, "/home/mallory/secret/model.bin")) != NULL;
}

static bool calls_report_inspect(struct world *w)
{
    const struct shapeproof_report_inspect_options options = {.report = as_json};
    return (w->text = shapeproof_report_inspect(w->inventory, &options, NULL)) != NULL;
}

static bool calls_report_predict(struct world *w)
{
    return (w->text = shapeproof_report_predict(w->prediction, NULL, NULL)) != NULL;
}

static bool calls_report_check(struct world *w)
{
    return (w->text = shapeproof_report_check(w->check, &as_json, NULL)) != NULL;
}

static bool calls_report_diff(struct world *w)
{
    return (w->text = shapeproof_report_diff(w->diff, NULL, NULL)) != NULL;
}

static bool calls_report_html(struct world *w)
{
    const struct shapeproof_report_options html = {.format = SHAPEPROOF_REPORT_HTML, .loadings = w->loadings};
    return (w->text = shapeproof_report_check(w->check, &html, NULL)) != NULL;
}

static bool calls_report_tables(struct world *w)
{
    return (w->text = shapeproof_report_tables(w->tables, NULL, NULL)) != NULL;
}

/* ---- what is right afterwards ---- */

/* Takes a report as a part of what is compared. */
static void take(char **all, char *report)
{
    const size_t length = *all ? strlen(*all) : 0, more = strlen(report ? report : "");
    *all = realloc(*all, length + more + 1);
    assert_non_null(*all);
    memcpy(*all + length, report ? report : "", more + 1);
    shapeproof_free(report);
}

/* All that there is, as text; free() it. */
static char *describe_world(const struct world *w)
{
    const struct shapeproof_report_inspect_options inspect = {.report = as_json};
    char *all = NULL;
    char sum[32];
    snprintf(sum, sizeof sum, "%llu\n", (unsigned long long)w->sum);
    take(&all, shapeproof_report_visible(sum));
    if (w->text) take(&all, shapeproof_report_visible(w->text));
    if (w->tables) take(&all, shapeproof_report_tables(w->tables, &as_json, NULL));
    if (w->inventory) take(&all, shapeproof_report_inspect(w->inventory, &inspect, NULL));
    if (w->config && w->tables) {
        struct shapeproof_error error;
        struct shapeproof_prediction *prediction = shapeproof_predict(w->tables, w->config, NULL, &error);
        if (!prediction) take(&all, shapeproof_report_visible(error.message));
        else take(&all, shapeproof_report_predict(prediction, NULL, NULL));
        shapeproof_prediction_free(prediction);
    }
    if (w->prediction) take(&all, shapeproof_report_predict(w->prediction, NULL, NULL));
    if (w->check) take(&all, shapeproof_report_check(w->check, &as_json, NULL));
    if (w->diff) take(&all, shapeproof_report_diff(w->diff, &as_json, NULL));
    if (w->breakdown) take(&all, shapeproof_report_breakdown(w->breakdown, NULL, NULL));
    for (size_t i = 0; w->run && i < shapeproof_run_file_count(w->run); i++) {
        const struct shapeproof_run_file *file = shapeproof_run_file(w->run, i);
        take(&all, shapeproof_report_visible(file->path));
        take(&all, shapeproof_report_visible(file->state == SHAPEPROOF_RUN_WHOLE ? " is whole\n" : " is not\n"));
    }
    if (w->resume) take(&all, shapeproof_report_resume(w->resume, NULL, NULL));
    if (w->inference) take(&all, shapeproof_report_infer(w->inference, NULL, NULL));
    if (w->learning) take(&all, shapeproof_report_learn(w->learning, NULL, NULL));
    if (w->proofs) take(&all, shapeproof_report_prove(w->proofs, NULL, NULL));
    if (w->derivation) take(&all, shapeproof_report_derive(w->derivation, NULL, NULL));
    if (w->solutions) take(&all, shapeproof_report_solve(w->solutions, NULL, NULL));
    if (w->combinations) take(&all, shapeproof_report_solve_together(w->combinations, NULL, NULL));
    return all;
}

struct operation {
    const char *name, *path;
    void (*prepare)(struct world *w);
    bool (*call)(struct world *w);
};

#define CALL(before, function, ...)                                                                                    \
    {                                                                                                                  \
        .name = #function, .prepare = before, .call = calls_##function, __VA_ARGS__                                    \
    }
static const struct operation operations[] = {
    CALL(nothing, tables_new),
    CALL(nothing, models_new),
    CALL(nothing, config_new),
    CALL(nothing, table_format),
    CALL(open_tables, tables_count),
    CALL(open_tables, tables_info),
    CALL(open_tables, tables_add_text),
    CALL(open_tables, tables_add_file, .path = "docs/examples/small_gpt2.shapes"),
    CALL(open_tables, add_claims),
    CALL(open_tables, report_tables),
    CALL(open_config, config_load, .path = CONFIG),
    CALL(open_config, config_load, .path = "fixtures/config/small.hpm"),
    CALL(open_config, config_load, .path = "fixtures/keras/ok/fitted.keras"),
    CALL(open_model, config_load, .path = "fixtures/models/tiny-llama/config.json"),
    CALL(open_config, config_set, .path = "a.b=[1, {\"c\": 2.5}]"),
    CALL(open_model, config_set, .path = "n_layer=3"),
    CALL(open_model, config_set_point),
    CALL(open_model, config_fit),
    CALL(nothing, config_beside, .path = MODEL),
    CALL(open_file, config_search, .path = "fixtures/adapters/llama"),
    CALL(open_models, config_take_model),
    CALL(nothing, inventory_open, .path = MODEL),
    CALL(nothing, inventory_open, .path = "fixtures/models/tiny-gpt2-sharded"),
    CALL(nothing, inventory_open, .path = "fixtures/models/tiny-gpt2/pytorch_model.bin"),
    CALL(nothing, inventory_open, .path = "fixtures/containers/ok/old.pt"),
    CALL(nothing, inventory_open, .path = "fixtures/containers/ok/five.tar"),
    CALL(nothing, inventory_open, .path = "fixtures/containers/ok/five_deflated.zip"),
    CALL(nothing, inventory_open, .path = "fixtures/containers/ok/five.safetensors.gz"),
    CALL(nothing, inventory_open, .path = "fixtures/containers/ok/speech.nemo"),
    CALL(nothing, inventory_open, .path = "fixtures/dcp/ok/plain"),
    CALL(nothing, inventory_open, .path = "fixtures/flax/ok/state.msgpack"),
    CALL(nothing, inventory_open, .path = "fixtures/gguf/ok/five.gguf"),
    CALL(nothing, inventory_open, .path = "fixtures/hdf5/ok/plain.h5"),
    CALL(nothing, inventory_open, .path = "fixtures/keras/ok/deflated.keras"),
    CALL(nothing, inventory_open, .path = "fixtures/mxnet/ok/v1.params"),
    CALL(nothing, inventory_open, .path = "fixtures/numpy/ok/compressed.npz"),
    CALL(nothing, inventory_open, .path = "fixtures/onnx/ok/external.onnx"),
    CALL(nothing, inventory_open, .path = "fixtures/tensorflow/ok/object.index"),
    CALL(nothing, inventory_open, .path = "fixtures/ranks/ok/tensor_2"),
    CALL(open_file, inventory_bytes, .path = "fixtures/containers/ok/old.pt"),
    CALL(open_file, quantised, .path = "fixtures/dequantised/gptq.safetensors"),
    CALL(open_file, data_read, .path = "fixtures/numpy/ok/compressed.npz"),
    CALL(open_file, data_read, .path = "fixtures/hdf5/ok/plain.h5"),
    CALL(open_file, data_read, .path = "fixtures/dcp/ok/plain"),
    CALL(open_file, data_read, .path = "fixtures/ranks/ok/tensor_2"),
    CALL(open_model, predict),
    CALL(open_model, check_new),
    CALL(nothing, check_path, .path = "fixtures/models/tiny-llama"),
    CALL(nothing, check_path, .path = "fixtures/keras/ok/fitted.keras"),
    CALL(nothing, check_path, .path = "fixtures/adapters/llama"),
    CALL(check_model, loadings_new),
    CALL(predict_refused, loading_objection),
    CALL(open_two, diff_new),
    CALL(open_model, breakdown_new),
    CALL(diff_models, breakdown_of_diff),
    CALL(nothing, components_open, .path = "fixtures/models/tiny-gpt2"),
    CALL(nothing, run_open, .path = "fixtures/resume/trainer"),
    CALL(open_run, run_examine, .path = "fixtures/resume/trainer"),
    CALL(nothing, resume_new, .path = "fixtures/resume/trainer/checkpoint-4"),
    CALL(open_resume, resume_compare, .path = "fixtures/resume/trainer/checkpoint-4"),
    CALL(open_model, infer),
    CALL(open_model, learn),
    CALL(open_tables, prove),
    CALL(open_tables, derive),
    CALL(open_tables, derive_claims),
    CALL(open_tables, derive_python),
    CALL(predict_model, derive_prediction),
    CALL(open_model, solve),
    CALL(open_expressions, solve_expression),
    CALL(open_model, solve_together),
    CALL(check_model, verify),
    CALL(open_model, verify_alone),
    CALL(open_model, expressions_new),
    CALL(predict_model, measures_new),
    CALL(open_expressions, evaluate),
    CALL(open_models, figures_new),
    CALL(nothing, expectations_load),
    CALL(open_redaction, redact_inventory),
    CALL(open_redaction, redact_path),
    CALL(open_model, report_inspect),
    CALL(predict_model, report_predict),
    CALL(check_model, report_check),
    CALL(load_model, report_html),
    CALL(diff_models, report_diff),
};

/* ---- the tests ---- */

static bool run_counted(const struct operation *operation, struct world *w, size_t at)
{
    allocations = 0;
    failing = at;
    is_counted = true;
    const bool ok = operation->call(w);
    is_counted = false;
    return ok;
}

/* What there is before the call, and after it. */
struct expected {
    char *before, *after;
};

static void fail_once(const struct operation *operation, size_t at, const struct expected *expected, unsigned counts[2])
{
    struct world w = {.path = operation->path};
    operation->prepare(&w);
    const char *path = operation->path ? operation->path : "";
    shapeproof_ran_out_of_memory();
    w.error = (struct shapeproof_error){.status = SHAPEPROOF_OK};
    const size_t blocks = live, descriptors = count_descriptors();
    const bool ok = run_counted(operation, &w, at);
    const bool is_short = shapeproof_ran_out_of_memory() || strcmp(w.error.message, "out of memory") == 0 ||
                          strstr(w.error.message, ": out of memory"); /* of a child process */
    counts[ok && !is_short]++;
    if (!ok && !is_short)
        fail_msg("%s %s, allocation %zu: another error: %s", operation->name, path, at, w.error.message);
    if (is_short) {
        if (live != blocks)
            fail_msg("%s %s, allocation %zu: %zd blocks are left", operation->name, path, at, (ssize_t)(live - blocks));
        if (count_descriptors() != descriptors)
            fail_msg("%s %s, allocation %zu: a descriptor is left", operation->name, path, at);
        if (waitpid(-1, NULL, WNOHANG) != -1)
            fail_msg("%s %s, allocation %zu: a process is left", operation->name, path, at);
        w.sum = 0;
        char *after = describe_world(&w);
        if (strcmp(expected->before, after) != 0)
            fail_msg("%s %s, allocation %zu: an object has changed: %s", operation->name, path, at, after);
        free(after);
        if (!run_counted(operation, &w, 0))
            fail_msg("%s %s, allocation %zu: fails afterwards: %s", operation->name, path, at, w.error.message);
    }
    char *now = describe_world(&w);
    if (strcmp(expected->after, now) != 0)
        fail_msg("%s %s, allocation %zu: another result: %s", operation->name, path, at, now);
    free(now);
    free_world(&w);
}

static void try_operation(const struct operation *operation, size_t most)
{
    unsigned counts[2] = {0};
    size_t count = 0, blocks = 0;
    struct expected expected = {.before = NULL};
    for (int i = 0; i < 2; i++) { /* the first time, libraries keep something for good */
        struct world w = {.path = operation->path};
        free(expected.before);
        free(expected.after);
        operation->prepare(&w);
        expected.before = describe_world(&w);
        free_world(&w);
        w = (struct world){.path = operation->path};
        operation->prepare(&w);
        if (!run_counted(operation, &w, 0))
            fail_msg("%s %s: %s", operation->name, operation->path ? operation->path : "", w.error.message);
        count = allocations;
        expected.after = describe_world(&w);
        free_world(&w);
    }
    blocks = live;
    const size_t runs = count < most ? count : most;
    for (size_t i = 0; i < runs; i++) fail_once(operation, 1 + i * count / runs, &expected, counts);
    if (live != blocks) fail_msg("%s: %zd blocks are left", operation->name, (ssize_t)(live - blocks));
    if (getenv("FAULTS"))
        printf("%-20s %-45s %6zu allocations: %4u errors, %3u right\n", operation->name,
               operation->path ? operation->path : "", count, counts[0], counts[1]);
    free(expected.before);
    free(expected.after);
}

static void each_call_fails_whole(void **state)
{
    const char *only = getenv("ONLY"), *most = getenv("FAULTS");
    (void)state;
    if (!CAN_REPLACE) skip();
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!only || strstr(operations[i].name, only))
            try_operation(&operations[i], most ? (size_t)strtoul(most, NULL, 10) : MOST);
}

/* ---- callbacks ---- */

struct nested {
    bool failed, went_on;
};

/* A callback makes a call of its own, which fails by itself. */
static bool call_within(void *context, const char *step, uint64_t done, uint64_t total)
{
    struct nested *nested = context;
    struct shapeproof_error error;
    (void)step, (void)done, (void)total;
    if (nested->failed) return nested->went_on = true;
    allocations = 0;
    failing = 3;
    is_counted = true;
    nested->failed = !shapeproof_tables_new(&error) && strcmp(error.message, "out of memory") == 0;
    is_counted = false;
    return true;
}

static void a_callback_fails_alone(void **state)
{
    struct nested nested = {.failed = false};
    const struct shapeproof_watch watch = {.progress = call_within, .context = &nested};
    const struct shapeproof_infer_options options = {.watch = &watch};
    struct world w = {.path = NULL};
    (void)state;
    if (!CAN_REPLACE) skip();
    open_model(&w);
    w.inference = shapeproof_infer(w.inventory, w.tables, &options, &w.error);
    assert_non_null(w.inference);
    assert_true(nested.failed && nested.went_on);
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_fails_whole),
        cmocka_unit_test(a_callback_fails_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
