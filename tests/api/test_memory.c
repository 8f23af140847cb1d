/* SPDX-License-Identifier: MIT
 * A public function that runs out of memory is an error, or finishes; it leaks nothing, and the same call succeeds
 * afterwards. malloc and its like are replaced by functions that count, and let the k-th allocation fail; what is freed
 * is overwritten, so that a use of it is seen.
 *
 * With AddressSanitizer, the linker replaces the calls of the library (WRAPPED, --wrap=malloc): the sanitizer sees uses
 * of what is freed, and looks for leaks after each function. That takes time, so only one function in SAMPLED is
 * called.
 *
 * Of the allocations of a call, MOST are tried, spread evenly. With FAULTS=N in the environment it is N, and every
 * function is called. With ONLY=TEXT only functions are called that have it in their names.
 *
 * The headers and the sources tell which functions there are, so that one that is missing here is a failure. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/server.h"
#include "shapeproof/shapeproof.h"

#if defined(WRAPPED) || (defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__))
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
static bool is_to_fail(void)
{
    if (!is_counted || ++allocations != failing) return false;
    errno = ENOMEM;
    return true;
}
#endif

#ifdef WRAPPED
#include <sanitizer/lsan_interface.h>

enum { SAMPLED = 8 };

extern void *__real_malloc(size_t size);
extern void *__real_calloc(size_t count, size_t size);
extern void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size) { return is_to_fail() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return is_to_fail() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *memory, size_t size) { return is_to_fail() ? NULL : __real_realloc(memory, size); }
static bool leaks(void) { return __lsan_do_recoverable_leak_check() != 0; }
#else
enum { SAMPLED = 1 };
static bool leaks(void) { return false; } /* `live` tells */
#endif

#if CAN_REPLACE && !defined(WRAPPED)
#include <malloc.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

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
    struct shapeproof_fit *fit;
    struct shapeproof_data *data;
    struct shapeproof_remote *remote;
    char *text, *letters;
    char cache[32]; /* the folder of a cache, or "" */
};

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void free_world(struct world *w)
{
    shapeproof_free(w->text);
    shapeproof_free(w->letters);
    shapeproof_remote_free(w->remote);
    if (*w->cache) nftw(w->cache, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    shapeproof_data_close(w->data);
    shapeproof_fit_free(w->fit);
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
static const struct shapeproof_report_options as_csv = {.format = SHAPEPROOF_REPORT_CSV};

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

static bool calls_tables_add_claims(struct world *w)
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

static bool calls_inventory_file_bytes(struct world *w)
{
    return shapeproof_inventory_file_bytes(w->inventory) != NULL;
}

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

static bool calls_quantised_model_new(struct world *w)
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

/* ---- calls on what other calls have made ---- */

/* Prepares by a call that is in the list itself. */
#define AFTER(before, function)                                                                                        \
    static void after_##function(struct world *w)                                                                      \
    {                                                                                                                  \
        before(w);                                                                                                     \
        assert_true(calls_##function(w));                                                                              \
    }

static bool calls_config_load_text(struct world *w)
{
    static const char text[] = "{\"n_layer\": 3}";
    return shapeproof_config_load_text(w->config, "config.json", text, sizeof text - 1, &w->error) == SHAPEPROOF_OK;
}

static void load_sockeye(struct world *w)
{
    open_config(w);
    assert_int_equal(shapeproof_config_load(w->config, "fixtures/sockeye/small.hpm", &w->error), SHAPEPROOF_OK);
}

static bool calls_config_count_vocabulary(struct world *w)
{
    return shapeproof_config_count_vocabulary(w->config, SHAPEPROOF_VOCABULARY_SOCKEYE, true, &w->error) ==
           SHAPEPROOF_OK;
}

static bool calls_config_quantisation_is_known(struct world *w)
{
    return shapeproof_config_quantisation_is_known(w->config, w->tables, &w->error) == SHAPEPROOF_OK;
}

static bool calls_config_name_class(struct world *w)
{
    shapeproof_config_name_class(w->config, "GPT2LMHeadModel", "model_index.json");
    return true;
}

static bool calls_config_is_inside(struct world *w) { return shapeproof_config_is_inside(w->inventory, NULL); }
static bool calls_tables_kind(struct world *w) { return shapeproof_tables_kind(w->tables, 3) != NULL; }

static bool calls_tables_fits(struct world *w)
{
    const struct shapeproof_tables_filter filter = {.measure = "active"};
    (void)shapeproof_tables_fits(w->tables, 3, &filter);
    return true;
}

static bool calls_tables_next_part(struct world *w)
{
    size_t position = 0;
    struct shapeproof_table_info part;
    return shapeproof_tables_next_part(w->tables, &position, &part);
}

static bool calls_models_like(struct world *w) { return shapeproof_models_like(w->models, "gpt2-xk") != NULL; }

static bool calls_checkpoint_path(struct world *w) { return (w->text = shapeproof_checkpoint_path(w->path)) != NULL; }

static bool calls_inventory_describe(struct world *w)
{
    const struct shapeproof_tensor_description tensor = {.name = "step", .dtype = SHAPEPROOF_DTYPE_I64};
    return (w->inventory = shapeproof_inventory_describe("model", &tensor, 1, &w->error)) != NULL;
}

static bool calls_inventory_unused_count(struct world *w)
{
    w->sum = shapeproof_inventory_unused_count(w->inventory);
    return true;
}

static bool calls_inventory_unused(struct world *w)
{
    const struct shapeproof_unused *unused = shapeproof_inventory_unused(w->inventory, 0);
    w->sum = unused ? unused->bytes : 0;
    return unused != NULL;
}

static bool calls_data_open(struct world *w)
{
    return (w->data = shapeproof_data_open(w->inventory, &w->error)) != NULL;
}

AFTER(open_model, data_open)

static bool calls_data_obstacle(struct world *w)
{
    for (size_t i = 0; i < shapeproof_inventory_count(w->inventory); i++) (void)shapeproof_data_obstacle(w->data, i);
    return true;
}

static bool calls_adapter_describe(struct world *w)
{
    bool consistent;
    return (w->text = shapeproof_adapter_describe(w->inventory, &consistent)) != NULL;
}

static bool calls_adapter_is_for(struct world *w) { return shapeproof_adapter_is_for(w->inventory, "unet"); }

static void describe_embedding(struct world *w)
{
    static const uint64_t shape[] = {3, 2};
    const struct shapeproof_tensor_description tensor = {
        .name = "embedding.weight", .dtype = SHAPEPROOF_DTYPE_F32, .rank = 2, .shape = shape};
    w->inventory = shapeproof_inventory_describe("static", &tensor, 1, &w->error);
}

static bool calls_embedding_describe(struct world *w)
{
    return (w->text = shapeproof_embedding_describe(w->inventory)) != NULL;
}

/* A configuration that does not say of which class it is. */
static void open_classless(struct world *w)
{
    static const char text[] = "{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 16, \"n_head\": 2, "
                               "\"vocab_size\": 67, \"n_positions\": 19}";
    open_tables(w);
    open_config(w);
    assert_int_equal(shapeproof_config_load_text(w->config, "config.json", text, sizeof text - 1, &w->error),
                     SHAPEPROOF_OK);
    w->inventory = shapeproof_inventory_open(MODEL, &w->error);
}

static bool calls_unknown_class_describe(struct world *w)
{
    w->text = shapeproof_unknown_class_describe(w->inventory, w->tables, w->config);
    return true;
}

static bool calls_keras_names_new(struct world *w)
{
    return (w->keras_names = shapeproof_keras_names_new(w->inventory, NULL)) != NULL;
}

static bool calls_prediction_dimension(struct world *w)
{
    return (w->text = shapeproof_prediction_dimension(w->prediction, 0, 0)) != NULL;
}

static void predict_misspelt(struct world *w)
{
    static const char text[] = "{\"model_type\": \"gpt2\", \"n_layers\": 1}";
    open_tables(w);
    open_config(w);
    assert_int_equal(shapeproof_config_load_text(w->config, "config.json", text, sizeof text - 1, &w->error),
                     SHAPEPROOF_OK);
    w->prediction = shapeproof_predict(w->tables, w->config, NULL, &w->error);
}

static bool calls_prediction_misspelt(struct world *w)
{
    size_t position = 0;
    struct shapeproof_misspelt found;
    return shapeproof_prediction_misspelt(w->prediction, w->config, &position, &found);
}

static bool calls_provenance_text(struct world *w)
{
    const struct shapeproof_provenance from = {SHAPEPROOF_SOURCE_DEFAULT, "gpt2.shapes", 9};
    return (w->text = shapeproof_provenance_text(from)) != NULL;
}

static bool calls_value_text(struct world *w)
{
    const struct shapeproof_value value = {.type = SHAPEPROOF_VALUE_STRING, .string = "gelu"};
    return (w->text = shapeproof_value_text(value)) != NULL;
}

static bool calls_set_limits(struct world *w) { return shapeproof_set_limits(NULL, &w->error); }

static bool calls_redaction_new(struct world *w) { return (w->redaction = shapeproof_redaction_new()) != NULL; }

static bool calls_redact_message(struct world *w)
{
    w->text = shapeproof_redact_message(w->redaction, "/home/mallory/model.bin: open: Permission denied");
    return w->text != NULL;
}

/* A server of its own process, which is no child of this one and ends with it. It serves one file; its port. */
static int serve_elsewhere(void)
{
    static const char array[] =
        "\x3c\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}       ";
    static int port;
    int told[2], alive[2];
    if (port) return port;
    assert_true(pipe(told) == 0 && pipe(alive) == 0);
    const pid_t child = fork();
    if (child == 0) {
        if (fork() != 0) _exit(0);
        char byte;
        struct server *server = calloc(1, sizeof *server);
        if (!server) abort();
        close(alive[1]);
        server_start(server);
        serve_file(server, "a.safetensors", array, sizeof array, sizeof array);
        if (write(told[1], &server->port, sizeof server->port) != sizeof server->port) _exit(1);
        while (read(alive[0], &byte, 1) < 0) continue;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    assert_int_equal(read(told[0], &port, sizeof port), sizeof port);
    close(told[0]);
    close(told[1]);
    close(alive[0]);
    return port;
}

static void make_cache(struct world *w)
{
    strcpy(w->cache, "/tmp/shapeproof.XXXXXX");
    assert_non_null(mkdtemp(w->cache));
    serve_elsewhere();
}

static bool calls_remote_fetch(struct world *w)
{
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/ok/a.safetensors", serve_elsewhere());
    w->remote = shapeproof_remote_fetch(url, &(struct shapeproof_remote_options){.cache = w->cache}, &w->error);
    return w->remote != NULL;
}

AFTER(make_cache, remote_fetch)
static bool calls_remote_confirm(struct world *w) { return shapeproof_remote_confirm(w->remote, &w->error); }

static bool calls_fit_new(struct world *w)
{
    const struct shapeproof_fit_options options = {.table = "gpt2"};
    return (w->fit = shapeproof_fit_new(w->tables, w->config, 1 << 20, &options, &w->error)) != NULL;
}

static bool calls_card_new(struct world *w)
{
    static const char readme[] = "The model has 7,872 parameters.\n";
    w->card = shapeproof_card_new(w->inventory, w->prediction, readme, sizeof readme - 1);
    return w->card != NULL;
}

static bool calls_solve_rounded(struct world *w)
{
    return (w->solutions = shapeproof_solve_rounded(w->tables, w->config, "8K", NULL, &w->error)) != NULL;
}

static bool calls_solve_together_rounded(struct world *w)
{
    static const char *const layers = "n_layer";
    const struct shapeproof_solve_together_options options = {.table = "gpt2", .free = &layers, .free_count = 1};
    w->combinations = shapeproof_solve_together_rounded(w->tables, w->config, "8K", &options, &w->error);
    return w->combinations != NULL;
}

static bool calls_verify_values(struct world *w)
{
    w->verification = shapeproof_verify_values(w->prediction, w->config, w->tables, NULL, &w->error);
    return w->verification != NULL;
}

AFTER(open_model, infer)

static void infer_for_new(struct world *w)
{
    after_infer(w);
    shapeproof_config_free(w->config);
    open_config(w);
}

static bool calls_inference_configure(struct world *w)
{
    shapeproof_inference_configure(w->inference, w->config);
    return true;
}

/* ---- reports ---- */

AFTER(open_model, breakdown_new)
AFTER(predict_model, card_new)
AFTER(open_tables, derive)
AFTER(open_expressions, evaluate)
AFTER(open_model, fit_new)
AFTER(open_model, learn)
AFTER(open_tables, prove)
AFTER(open_model, solve)
AFTER(open_model, solve_together)
AFTER(open_model, verify_alone)
AFTER(open_tables, resume_new)
AFTER(nothing, components_open)
AFTER(nothing, run_open)

static void prove_book(struct world *w)
{
    open_models(w);
    assert_true(calls_prove(w) && calls_figures_new(w));
}

#define REPORT(function, ...)                                                                                          \
    static bool calls_report_##function(struct world *w)                                                               \
    {                                                                                                                  \
        return (w->text = shapeproof_report_##function(__VA_ARGS__)) != NULL;                                          \
    }
enum { MOST_PARTS = 16 }; /* components or models of the fixtures */
static const struct shapeproof_component_result no_results[MOST_PARTS];
static const struct shapeproof_totals no_totals[MOST_PARTS];
static const struct shapeproof_run_result matches[MOST_PARTS] = {
    {.verdict = "match", .reason = "all is as predicted"},
    {.verdict = "match", .reason = "all is as predicted"},
    {.verdict = "match", .reason = "all is as predicted"},
    {.verdict = "match", .reason = "all is as predicted"},
};

REPORT(book, w->proofs, w->figures, NULL, NULL)
REPORT(breakdown, w->breakdown, NULL, NULL)
REPORT(card, w->card, NULL, NULL)
REPORT(component_totals, w->components, no_totals, NULL, NULL)
REPORT(components, w->components, no_results, NULL, NULL)
REPORT(derive, w->derivation, NULL, NULL)
REPORT(evaluate, &(struct shapeproof_evaluated_point){.evaluation = w->evaluation}, 1, NULL, NULL)
REPORT(fit, w->fit, NULL, NULL)
REPORT(infer, w->inference, NULL, NULL)
REPORT(learn, w->learning, NULL, NULL)
REPORT(models, w->models, "gpt2", NULL, NULL, NULL)
REPORT(prove, w->proofs, NULL, NULL)
REPORT(resume, w->resume, NULL, NULL)
REPORT(run, w->run, matches, NULL, NULL)
REPORT(solve, w->solutions, NULL, NULL)
REPORT(solve_together, w->combinations, NULL, NULL)
REPORT(verify, w->verification, NULL, NULL)
REPORT(visible, "a\x1b[31m")

static const struct shapeproof_report_options as_sarif = {.format = SHAPEPROOF_REPORT_SARIF};

static bool calls_report_checked(struct world *w)
{
    const struct shapeproof_checked checked = {.path = MODEL, .check = w->check};
    return (w->text = shapeproof_report_checked(&checked, &as_sarif, NULL)) != NULL;
}

static void report_part(struct world *w)
{
    check_model(w);
    w->letters =
        shapeproof_report_checked(&(struct shapeproof_checked){.path = MODEL, .check = w->check}, &as_sarif, NULL);
}

static bool calls_report_document(struct world *w)
{
    const char *const part = w->letters;
    return (w->text = shapeproof_report_document(&part, 1, &as_sarif, NULL)) != NULL;
}

static bool calls_report_error(struct world *w)
{
    const struct shapeproof_error error = {.status = SHAPEPROOF_ERR_FILE, .message = "open: No such file"};
    const struct shapeproof_checked failed = {.path = MODEL, .status = SHAPEPROOF_ERR_FILE, .error = &error};
    return (w->text = shapeproof_report_error(&failed, NULL)) != NULL;
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
    if (w->tables) take(&all, shapeproof_report_tables(w->tables, &as_csv, NULL));
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
    if (w->keras_names) {
        const char *const *names = shapeproof_keras_names_list(w->keras_names);
        for (size_t i = 0; i < shapeproof_inventory_count(w->inventory); i++)
            take(&all, shapeproof_report_visible(names[i] ? names[i] : "-"));
    }
    if (w->remote) take(&all, shapeproof_report_visible(shapeproof_remote_name(w->remote)));
    if (w->fit) take(&all, shapeproof_report_fit(w->fit, NULL, NULL));
    if (w->card) take(&all, shapeproof_report_card(w->card, NULL, NULL));
    if (w->verification) take(&all, shapeproof_report_verify(w->verification, NULL, NULL));
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
    CALL(open_tables, tables_add_claims),
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
    CALL(open_file, inventory_file_bytes, .path = "fixtures/containers/ok/old.pt"),
    CALL(open_file, quantised_model_new, .path = "fixtures/dequantised/gptq.safetensors"),
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
    CALL(open_config, config_load_text),
    CALL(load_sockeye, config_count_vocabulary),
    CALL(open_model, config_quantisation_is_known),
    CALL(open_config, config_name_class),
    CALL(open_file, config_is_inside, .path = "fixtures/keras/ok/fitted.keras"),
    CALL(open_tables, tables_kind),
    CALL(open_tables, tables_fits),
    CALL(open_tables, tables_next_part),
    CALL(open_models, models_like),
    CALL(nothing, checkpoint_path, .path = "fixtures/resume/zero"),
    CALL(nothing, inventory_describe),
    CALL(open_file, inventory_unused_count, .path = "fixtures/torch/ok/module.pt"),
    CALL(open_file, inventory_unused, .path = "fixtures/torch/ok/module.pt"),
    CALL(open_model, data_open),
    CALL(after_data_open, data_obstacle),
    CALL(open_file, adapter_describe, .path = "fixtures/adapters/unet_kohya.safetensors"),
    CALL(open_file, adapter_is_for, .path = "fixtures/adapters/unet_kohya.safetensors"),
    CALL(describe_embedding, embedding_describe),
    CALL(open_classless, unknown_class_describe),
    CALL(open_file, keras_names_new, .path = "fixtures/keras/ok/fitted.keras"),
    CALL(predict_model, prediction_dimension),
    CALL(predict_misspelt, prediction_misspelt),
    CALL(nothing, provenance_text),
    CALL(nothing, value_text),
    CALL(nothing, set_limits),
    CALL(nothing, redaction_new),
    CALL(open_redaction, redact_message),
    CALL(make_cache, remote_fetch),
    CALL(after_remote_fetch, remote_confirm),
    CALL(open_model, fit_new),
    CALL(predict_model, card_new),
    CALL(open_model, solve_rounded),
    CALL(open_model, solve_together_rounded),
    CALL(predict_model, verify_values),
    CALL(infer_for_new, inference_configure),
    CALL(prove_book, report_book),
    CALL(after_breakdown_new, report_breakdown),
    CALL(after_card_new, report_card),
    CALL(check_model, report_checked),
    CALL(after_components_open, report_component_totals, .path = "fixtures/adapters/pipeline"),
    CALL(after_components_open, report_components, .path = "fixtures/adapters/pipeline"),
    CALL(after_derive, report_derive),
    CALL(report_part, report_document),
    CALL(nothing, report_error),
    CALL(after_evaluate, report_evaluate),
    CALL(after_fit_new, report_fit),
    CALL(after_infer, report_infer),
    CALL(after_learn, report_learn),
    CALL(open_models, report_models),
    CALL(after_prove, report_prove),
    CALL(after_resume_new, report_resume, .path = "fixtures/resume/trainer/checkpoint-4"),
    CALL(after_run_open, report_run, .path = "fixtures/resume/trainer"),
    CALL(after_solve, report_solve),
    CALL(after_solve_together, report_solve_together),
    CALL(after_verify_alone, report_verify),
    CALL(nothing, report_visible),
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

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

/* Without a failure; how many allocations there are. */
static size_t run_operation(const struct operation *operation, struct world *w)
{
    if (!run_counted(operation, w, 0))
        fail_msg("%s %s: %s", operation->name, operation->path ? operation->path : "", w->error.message);
    return allocations;
}

static void try_operation(const struct operation *operation, size_t most)
{
    unsigned counts[2] = {0};
    size_t count = 0, blocks = 0;
    struct expected expected = {.before = NULL};
    struct world first = {.path = operation->path}, again = first;
    operation->prepare(&first);
    expected.before = describe_world(&first);
    free_world(&first);
    operation->prepare(&again);
    count = run_operation(operation, &again); /* the first time, libraries keep something for good */
    expected.after = describe_world(&again);
    free_world(&again);
    blocks = live;
    const size_t runs = count < most ? count : most;
    for (size_t i = 0; i < runs; i++) fail_once(operation, 1 + i * count / runs, &expected, counts);
    if (live != blocks) fail_msg("%s: %zd blocks are left", operation->name, (ssize_t)(live - blocks));
    if (leaks()) fail_msg("%s: memory is left", operation->name);
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
    for (size_t i = 0; i < OPERATIONS; i += only || most ? 1 : SAMPLED)
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

/* ---- the functions that there are ---- */

enum { MOST_FUNCTIONS = 512, LONGEST_NAME = 64 };

struct functions {
    char names[MOST_FUNCTIONS][LONGEST_NAME];
    bool must_be_called[MOST_FUNCTIONS];
    size_t count;
};

/* All of a file; free() it. */
static char *read_file(const char *path)
{
    enum { LARGEST = 1 << 20 };
    FILE *file = fopen(path, "r");
    char *text = malloc(LARGEST);
    assert_true(file && text);
    const size_t length = fread(text, 1, LARGEST, file);
    fclose(file);
    assert_true(length < LARGEST);
    text[length] = '\0';
    return text;
}

/* The name in front of that bracket; what precedes it, from `from` on, is left of *name. */
static size_t name_before(const char *from, const char *bracket, const char **name)
{
    *name = bracket;
    while (*name > from && ((*name)[-1] == '_' || ((*name)[-1] >= 'a' && (*name)[-1] <= 'z') ||
                            ((*name)[-1] >= '0' && (*name)[-1] <= '9')))
        (*name)--;
    return (size_t)(bracket - *name);
}

static size_t find_function(const struct functions *functions, const char *name, size_t length)
{
    size_t i = 0;
    while (i < functions->count &&
           (strlen(functions->names[i]) != length || memcmp(functions->names[i], name, length) != 0))
        i++;
    return i;
}

/* Adds what a header declares. A function must be called here if it can report an error, or returns what its caller
 * owns: it allocates. */
static void add_declared(struct functions *functions, char *text)
{
    for (char *at = strstr(text, "SHAPEPROOF_API "); at; at = strstr(at, "SHAPEPROOF_API ")) {
        char *end = strchr(at, ';'), *bracket = strchr(at, '(');
        const char *name;
        if (!end || !bracket) break;
        *end = '\0';
        const size_t length = name_before(at, bracket, &name), i = functions->count++;
        assert_true(length > 0 && length < LONGEST_NAME && functions->count <= MOST_FUNCTIONS);
        memcpy(functions->names[i], name, length);
        const char *star = strchr(at, '*'), *constant = strstr(at, "const ");
        const bool owned = star && star < name && !(constant && constant < star);
        functions->must_be_called[i] = owned || strstr(at, "struct shapeproof_error *");
        at = end + 1;
    }
}

/* Marks the functions that begin with SP_CALL: they fail when there is no memory. */
static void mark_calling(struct functions *functions, const char *text)
{
    for (const char *call = strstr(text, "\n    SP_CALL("); call; call = strstr(call + 1, "\n    SP_CALL(")) {
        const char *brace = call;
        while (brace > text && strncmp(brace, "\n{", 2) != 0) brace--;
        const char *line = brace;
        const char *name = text;
        size_t length = 0;
        /* The head of the function takes one line or several; the first one begins without a blank. */
        do
            for (line--; line > text && *line != '\n';) line--;
        while (line > text && line[1] == ' ');
        const char *bracket = strchr(line, '(');
        if (bracket && bracket < brace) length = name_before(line, bracket, &name);
        const size_t i = find_function(functions, name, length);
        if (i < functions->count) functions->must_be_called[i] = true;
    }
}

static struct functions *reading;

static int read_source(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    const size_t length = strlen(path);
    (void)info, (void)walk;
    if (type != FTW_F || length < 2 || strcmp(path + length - 2, ".c") != 0) return 0;
    char *text = read_file(path);
    mark_calling(reading, text);
    free(text);
    return 0;
}

static void every_function_that_allocates_is_called_here(void **state)
{
    struct functions *functions = reading = calloc(1, sizeof *functions);
    glob_t headers;
    (void)state;
    assert_non_null(functions);
    assert_int_equal(glob("include/shapeproof/*.h", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        char *text = read_file(headers.gl_pathv[i]);
        add_declared(functions, text);
        free(text);
    }
    globfree(&headers);
    assert_int_equal(nftw("src", read_source, 16, FTW_PHYS), 0);
    size_t called = 0;
    for (size_t i = 0; i < functions->count; i++) {
        if (!functions->must_be_called[i]) continue;
        called++;
        size_t at = 0;
        while (at < OPERATIONS && strcmp(operations[at].name, functions->names[i] + strlen("shapeproof_")) != 0) at++;
        if (at == OPERATIONS) fail_msg("%s allocates, and is not called in this test", functions->names[i]);
    }
    assert_true(called > 100); /* the headers and sources were read as meant */
    free(functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_that_allocates_is_called_here),
        cmocka_unit_test(each_call_fails_whole),
        cmocka_unit_test(a_callback_fails_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
