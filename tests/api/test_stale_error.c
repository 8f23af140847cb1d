/* SPDX-License-Identifier: MIT
 * One struct shapeproof_error will do for a whole program: every public function resets it. Which functions those are
 * is read off the public headers, so that one that is missing here is a failure. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/server.h"
#include "read/scratch.h"
#include "shapeproof/shapeproof.h"

#define MODEL "fixtures/models/tiny-gpt2/model.safetensors"
#define CONFIG "fixtures/models/tiny-gpt2/config.json"

enum { MOST_FUNCTIONS = 100, LONGEST_NAME = 64, LONGEST_HEADER = 1 << 16 };

/* What the calls need, made with errors of its own. */
struct world {
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    struct shapeproof_inventory *inventory;
    struct shapeproof_data *data;
    struct shapeproof_prediction *prediction;
    struct scratch scratch;
};

static void make_world(struct world *world)
{
    struct shapeproof_error error = {0};
    world->tables = shapeproof_tables_new(&error);
    world->config = shapeproof_config_new();
    assert_int_equal(shapeproof_config_load(world->config, CONFIG, &error), SHAPEPROOF_OK);
    world->inventory = shapeproof_inventory_open(MODEL, &error);
    world->data = shapeproof_data_open(world->inventory, &error);
    world->prediction = shapeproof_predict(world->tables, world->config, NULL, &error);
    assert_non_null(world->prediction);
    scratch_make(&world->scratch);
}

static void free_world(struct world *world)
{
    scratch_remove(&world->scratch);
    shapeproof_prediction_free(world->prediction);
    shapeproof_data_close(world->data);
    shapeproof_inventory_close(world->inventory);
    shapeproof_config_free(world->config);
    shapeproof_tables_free(world->tables);
}

/* ---- a call of each function that must succeed ---- */

static bool calls_inventory_open(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(MODEL, error);
    (void)world;
    shapeproof_inventory_close(inventory);
    return inventory != NULL;
}

static bool calls_inventory_describe(struct world *world, struct shapeproof_error *error)
{
    const struct shapeproof_tensor_description tensor = {.name = "step", .dtype = SHAPEPROOF_DTYPE_I64};
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("model", &tensor, 1, error);
    (void)world;
    shapeproof_inventory_close(inventory);
    return inventory != NULL;
}

static bool calls_components_open(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_components *components = shapeproof_components_open("fixtures/models/tiny-gpt2", error);
    (void)world;
    shapeproof_components_free(components);
    return components != NULL;
}

static bool calls_run_examine(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_error opened = {0};
    struct shapeproof_run *run = shapeproof_run_open("fixtures/models/tiny-gpt2", &opened);
    (void)world;
    const bool ok = run && shapeproof_run_examine(run, error);
    shapeproof_run_close(run);
    return ok;
}

static bool calls_run_open(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_run *run = shapeproof_run_open("fixtures/models/tiny-gpt2", error);
    (void)world;
    shapeproof_run_close(run);
    return run != NULL;
}

static bool calls_resume_new(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_resume *resume = shapeproof_resume_new("fixtures/resume/accelerate", error);
    (void)world;
    shapeproof_resume_free(resume);
    return resume != NULL;
}

static bool calls_resume_compare(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_error none = {0};
    struct shapeproof_resume *resume = shapeproof_resume_new("fixtures/resume/trainer/checkpoint-4", &none);
    const bool ok = resume && shapeproof_resume_compare(resume, world->tables, error);
    shapeproof_resume_free(resume);
    return ok;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static bool calls_remote(struct world *world, struct shapeproof_error *fetching, struct shapeproof_error *confirming)
{
    static const char array[] =
        "\x3c\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}       ";
    struct server *server = calloc(1, sizeof *server);
    char url[100], cache[600];
    if (!server) abort();
    server_start(server);
    serve_file(server, "a.safetensors", array, sizeof array, sizeof array);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/ok/a.safetensors", server->port);
    snprintf(cache, sizeof cache, "%s", scratch_path(&world->scratch, "cache"));
    struct shapeproof_remote *remote =
        shapeproof_remote_fetch(url, &(struct shapeproof_remote_options){.cache = cache}, fetching);
    const bool good = remote && shapeproof_remote_confirm(remote, confirming);
    shapeproof_remote_free(remote);
    server_stop(server);
    nftw(cache, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return good;
}

static bool calls_remote_fetch(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_error own = {0};
    return calls_remote(world, error, &own);
}

static bool calls_remote_confirm(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_error own = {0};
    return calls_remote(world, &own, error);
}

static bool calls_data_open(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_data *data = shapeproof_data_open(world->inventory, error);
    shapeproof_data_close(data);
    return data != NULL;
}

static bool calls_data_read(struct world *world, struct shapeproof_error *error)
{
    char byte;
    return shapeproof_data_read(world->data, 0, 0, &byte, 1, error);
}

static bool calls_tables_new(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_tables *tables = shapeproof_tables_new(error);
    (void)world;
    shapeproof_tables_free(tables);
    return tables != NULL;
}

static bool calls_set_limits(struct world *world, struct shapeproof_error *error)
{
    (void)world;
    return shapeproof_set_limits(NULL, error);
}

static bool calls_models_new(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_models *models = shapeproof_models_new(error);
    (void)world;
    shapeproof_models_free(models);
    return models != NULL;
}

static bool calls_tables_add_file(struct world *world, struct shapeproof_error *error)
{
    return shapeproof_tables_add_file(world->tables, "docs/examples/small_gpt2.shapes", error) == SHAPEPROOF_OK;
}

static bool calls_tables_add_text(struct world *world, struct shapeproof_error *error)
{
    static const char text[] = "table of_a_text\nweight (3)\n";
    return shapeproof_tables_add_text(world->tables, "text.shapes", text, sizeof text - 1, error) == SHAPEPROOF_OK;
}

static bool calls_table_format(struct world *world, struct shapeproof_error *error)
{
    static const char text[] = "table t\nw (3)\n";
    char *formatted = shapeproof_table_format("text.shapes", text, sizeof text - 1, NULL, error);
    (void)world;
    shapeproof_free(formatted);
    return formatted != NULL;
}

static bool calls_config_beside(struct world *world, struct shapeproof_error *error)
{
    char *found = shapeproof_config_beside(MODEL, error);
    (void)world;
    const bool ok = found != NULL;
    shapeproof_free(found);
    return ok;
}

static bool calls_config_search(struct world *world, struct shapeproof_error *error)
{
    bool inside;
    char *found = shapeproof_config_search(world->inventory, MODEL, NULL, NULL, &inside, error);
    const bool ok = found != NULL;
    shapeproof_free(found);
    return ok;
}

static bool calls_quantised_model_new(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_quantised_model *model = shapeproof_quantised_model_new(world->inventory, error);
    return !model; /* nothing is quantised */
}

static bool calls_config_load(struct world *world, struct shapeproof_error *error)
{
    return shapeproof_config_load(world->config, CONFIG, error) == SHAPEPROOF_OK;
}

static bool calls_config_load_text(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_config *config = shapeproof_config_new();
    (void)world;
    const enum shapeproof_status status = shapeproof_config_load_text(config, "config.json", "{}", 2, error);
    shapeproof_config_free(config);
    return status == SHAPEPROOF_OK;
}

static bool calls_config_set(struct world *world, struct shapeproof_error *error)
{
    return shapeproof_config_set(world->config, "attn_pdrop=0", error) == SHAPEPROOF_OK;
}

static bool calls_config_count_vocabulary(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_config *config = shapeproof_config_new();
    struct shapeproof_error own = {0};
    (void)world;
    assert_int_equal(shapeproof_config_load(config, "fixtures/sockeye/small.hpm", &own), SHAPEPROOF_OK);
    const enum shapeproof_status status =
        shapeproof_config_count_vocabulary(config, SHAPEPROOF_VOCABULARY_SOCKEYE, true, error);
    shapeproof_config_free(config);
    return status == SHAPEPROOF_OK;
}

static bool calls_predict(struct world *world, struct shapeproof_error *error)
{
    const struct shapeproof_predict_options options = {.stored = true};
    struct shapeproof_prediction *prediction = shapeproof_predict(world->tables, world->config, &options, error);
    shapeproof_prediction_free(prediction);
    return prediction != NULL;
}

static bool calls_check_new(struct world *world, struct shapeproof_error *error)
{
    const struct shapeproof_check_options options = {.data = true};
    struct shapeproof_check *check =
        shapeproof_check_new(world->inventory, world->tables, world->config, &options, error);
    shapeproof_check_free(check);
    return check != NULL;
}

static bool calls_check_path(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_check *check = shapeproof_check_path(shapeproof_inventory_path(world->inventory), NULL, error);
    shapeproof_check_free(check);
    return check != NULL;
}

static bool calls_loadings_new(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_error none = {0};
    struct shapeproof_check *check = shapeproof_check_new(world->inventory, world->tables, world->config, NULL, &none);
    struct shapeproof_loadings *loadings = check ? shapeproof_loadings_new(check, "all", error) : NULL;
    shapeproof_loadings_free(loadings);
    shapeproof_check_free(check);
    return loadings != NULL;
}

static bool calls_loading_objection(struct world *world, struct shapeproof_error *error)
{
    shapeproof_free(shapeproof_loading_objection(world->tables, world->config, NULL, world->prediction, error));
    return error->status == SHAPEPROOF_OK;
}

static bool calls_diff_new(struct world *world, struct shapeproof_error *error)
{
    const struct shapeproof_diff_options options = {.data = true};
    struct shapeproof_diff *diff = shapeproof_diff_new(world->inventory, world->inventory, &options, error);
    shapeproof_diff_free(diff);
    return diff != NULL;
}

static bool calls_breakdown_new(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_breakdown *breakdown = shapeproof_breakdown_new(world->inventory, NULL, error);
    shapeproof_breakdown_free(breakdown);
    return breakdown != NULL;
}

static bool calls_breakdown_of_diff(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_error none = {0};
    struct shapeproof_diff *diff = shapeproof_diff_new(world->inventory, world->inventory, NULL, &none);
    struct shapeproof_breakdown *breakdown = shapeproof_breakdown_of_diff(diff, NULL, error);
    shapeproof_breakdown_free(breakdown);
    shapeproof_diff_free(diff);
    return breakdown != NULL;
}

static bool calls_expectations_load(struct world *world, struct shapeproof_error *error)
{
    static const char text[] = "# nothing is expected\n";
    const char *path = scratch_write(&world->scratch, "expected", text, sizeof text - 1);
    struct shapeproof_expectations *expectations = shapeproof_expectations_load(path, "2024-01-01", error);
    shapeproof_expectations_free(expectations);
    return expectations != NULL;
}

static bool calls_config_fit(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_config *config = shapeproof_config_new();
    const enum shapeproof_status status = shapeproof_config_fit(config, world->tables, NULL, world->inventory, error);
    shapeproof_config_free(config);
    return status == SHAPEPROOF_OK;
}

static bool calls_config_quantisation_is_known(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_config *config = shapeproof_config_new();
    const enum shapeproof_status status = shapeproof_config_quantisation_is_known(config, world->tables, error);
    shapeproof_config_free(config);
    return status == SHAPEPROOF_OK;
}

static bool calls_infer(struct world *world, struct shapeproof_error *error)
{
    const struct shapeproof_infer_options options = {.table = "gpt2"};
    struct shapeproof_inference *inference = shapeproof_infer(world->inventory, world->tables, &options, error);
    shapeproof_inference_free(inference);
    return inference != NULL;
}

static bool calls_learn(struct world *world, struct shapeproof_error *error)
{
    const struct shapeproof_learn_example example = {world->inventory, world->config};
    struct shapeproof_learning *learning = shapeproof_learn(&example, 1, world->tables, NULL, error);
    shapeproof_learning_free(learning);
    return learning != NULL;
}

static bool calls_tables_add_claims(struct world *world, struct shapeproof_error *error)
{
    static const char *const lines[] = {"total = total"};
    const struct shapeproof_claim_lines claims = {.name = "claims", .items = lines, .count = 1};
    char *letters;
    const bool good = shapeproof_tables_add_claims(world->tables, "gpt2", &claims, &letters, error) == SHAPEPROOF_OK;
    shapeproof_free(letters);
    return good;
}

static bool calls_verify(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_error none = {0};
    struct shapeproof_check *check = shapeproof_check_new(world->inventory, world->tables, world->config, NULL, &none);
    struct shapeproof_verification *verification = check ? shapeproof_verify(check, world->tables, NULL, error) : NULL;
    shapeproof_verification_free(verification);
    shapeproof_check_free(check);
    return verification != NULL;
}

static bool calls_verify_values(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_error none = {0};
    struct shapeproof_prediction *prediction = shapeproof_predict(world->tables, world->config, NULL, &none);
    struct shapeproof_verification *verification =
        prediction ? shapeproof_verify_values(prediction, world->config, world->tables, NULL, error) : NULL;
    shapeproof_verification_free(verification);
    shapeproof_prediction_free(prediction);
    return verification != NULL;
}

static bool calls_config_set_point(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_config *config = shapeproof_config_new();
    const enum shapeproof_status status = shapeproof_config_set_point(config, world->tables, "gpt2", "E = 2", error);
    shapeproof_config_free(config);
    return status == SHAPEPROOF_OK;
}

static bool calls_verify_alone(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_verification *verification =
        shapeproof_verify_alone(world->inventory, world->tables, NULL, error);
    shapeproof_verification_free(verification);
    return verification != NULL;
}

static bool calls_prove(struct world *world, struct shapeproof_error *error)
{
    static const char *const names[] = {"gpt2"};
    const struct shapeproof_prove_options options = {.tables = names, .table_count = 1};
    struct shapeproof_proofs *proofs = shapeproof_prove(world->tables, &options, error);
    shapeproof_proofs_free(proofs);
    return proofs != NULL;
}

static bool calls_derive(struct world *world, struct shapeproof_error *error)
{
    const struct shapeproof_derive_options options = {.table = "gpt2"};
    struct shapeproof_derivation *derivation = shapeproof_derive(world->tables, NULL, &options, error);
    shapeproof_derivation_free(derivation);
    return derivation != NULL;
}

static bool calls_fit_new(struct world *world, struct shapeproof_error *error)
{
    const struct shapeproof_fit_options options = {.table = "gpt2"};
    struct shapeproof_fit *fit = shapeproof_fit_new(world->tables, world->config, 1, &options, error);
    shapeproof_fit_free(fit);
    return fit != NULL;
}

static bool calls_derive_claims(struct world *world, struct shapeproof_error *error)
{
    char *claims = shapeproof_derive_claims(world->tables, "gpt2", NULL, error);
    const bool derived = claims != NULL;
    shapeproof_free(claims);
    return derived;
}

static bool calls_derive_python(struct world *world, struct shapeproof_error *error)
{
    char *claims = shapeproof_derive_python(world->tables, "gpt2", NULL, error);
    const bool derived = claims != NULL;
    shapeproof_free(claims);
    return derived;
}

static bool calls_expressions_new(struct world *world, struct shapeproof_error *error)
{
    static const char *const total = "total";
    char *letters;
    struct shapeproof_expressions *expressions = shapeproof_expressions_new(
        world->tables, "gpt2", &(struct shapeproof_claim_lines){"test", &total, 1}, &letters, error);
    shapeproof_expressions_free(expressions);
    return expressions != NULL;
}

static bool calls_measures_new(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_expressions *measures = shapeproof_measures_new(world->tables, world->prediction, NULL, error);
    shapeproof_expressions_free(measures);
    return measures != NULL;
}

static bool calls_figures_new(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_error none;
    struct shapeproof_models *models = shapeproof_models_new(&none);
    const struct shapeproof_figures_options one = {.model = "gpt2-xl"};
    struct shapeproof_figures *figures = shapeproof_figures_new(world->tables, models, &one, error);
    shapeproof_figures_free(figures);
    shapeproof_models_free(models);
    return figures != NULL;
}

static bool calls_evaluate(struct world *world, struct shapeproof_error *error)
{
    static const char *const total = "total";
    struct shapeproof_error none;
    char *letters;
    struct shapeproof_expressions *expressions = shapeproof_expressions_new(
        world->tables, "gpt2", &(struct shapeproof_claim_lines){"test", &total, 1}, &letters, &none);
    struct shapeproof_evaluation *evaluation = shapeproof_evaluate(expressions, world->config, NULL, error);
    shapeproof_evaluation_free(evaluation);
    shapeproof_expressions_free(expressions);
    return evaluation != NULL;
}

static bool calls_derive_prediction(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_derivation *derivation =
        shapeproof_derive_prediction(world->tables, world->prediction, world->config, error);
    shapeproof_derivation_free(derivation);
    return derivation != NULL;
}

static bool calls_solve(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_solutions *solutions = shapeproof_solve(world->tables, world->config, 7872, NULL, error);
    shapeproof_solutions_free(solutions);
    return solutions != NULL;
}

static bool calls_solve_rounded(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_solutions *solutions = shapeproof_solve_rounded(world->tables, world->config, "8K", NULL, error);
    shapeproof_solutions_free(solutions);
    return solutions != NULL;
}

static const char *const layers = "n_layer";
static const struct shapeproof_solve_together_options layers_alone = {
    .table = "gpt2", .free = &layers, .free_count = 1};

static bool calls_solve_together(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_combinations *found =
        shapeproof_solve_together(world->tables, world->config, 7872, &layers_alone, error);
    shapeproof_combinations_free(found);
    return found != NULL;
}

static bool calls_solve_together_rounded(struct world *world, struct shapeproof_error *error)
{
    struct shapeproof_combinations *found =
        shapeproof_solve_together_rounded(world->tables, world->config, "8K", &layers_alone, error);
    shapeproof_combinations_free(found);
    return found != NULL;
}

#define CALL(function)                                                                                                 \
    {                                                                                                                  \
        "shapeproof_" #function, calls_##function                                                                      \
    }
static const struct call {
    const char *function;
    bool (*succeeds)(struct world *world, struct shapeproof_error *error);
} calls[] = {
    CALL(inventory_open),
    CALL(inventory_describe),
    CALL(components_open),
    CALL(run_open),
    CALL(run_examine),
    CALL(resume_new),
    CALL(resume_compare),
    CALL(remote_fetch),
    CALL(remote_confirm),
    CALL(data_open),
    CALL(data_read),
    CALL(models_new),
    CALL(set_limits),
    CALL(tables_new),
    CALL(tables_add_file),
    CALL(tables_add_text),
    CALL(table_format),
    CALL(config_load),
    CALL(config_beside),
    CALL(config_search),
    CALL(quantised_model_new),
    CALL(config_load_text),
    CALL(config_set),
    CALL(config_count_vocabulary),
    CALL(predict),
    CALL(check_new),
    CALL(check_path),
    CALL(diff_new),
    CALL(breakdown_new),
    CALL(breakdown_of_diff),
    CALL(expectations_load),
    CALL(config_fit),
    CALL(config_quantisation_is_known),
    CALL(infer),
    CALL(prove),
    CALL(tables_add_claims),
    CALL(verify),
    CALL(verify_values),
    CALL(config_set_point),
    CALL(verify_alone),
    CALL(derive),
    CALL(fit_new),
    CALL(derive_claims),
    CALL(derive_python),
    CALL(expressions_new),
    CALL(measures_new),
    CALL(evaluate),
    CALL(figures_new),
    CALL(derive_prediction),
    CALL(solve),
    CALL(solve_rounded),
    CALL(solve_together),
    CALL(solve_together_rounded),
    CALL(loadings_new),
    CALL(loading_objection),
    CALL(learn),
};
enum { CALL_COUNT = sizeof calls / sizeof *calls };

/* ---- the functions that the headers declare ---- */

struct declared {
    char names[MOST_FUNCTIONS][LONGEST_NAME];
    size_t count;
};

static void read_header(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s: cannot be read", path);
    const size_t length = fread(text, 1, room, file);
    fclose(file);
    assert_true(length < room);
    text[length] = '\0';
}

/* `declaration` is one prototype: its name is what stands in front of the first bracket. */
static void declare(struct declared *declared, const char *declaration)
{
    const char *open = strchr(declaration, '('), *name = open;
    assert_non_null(open);
    while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') || (name[-1] >= '0' && name[-1] <= '9')) name--;
    assert_true(declared->count < MOST_FUNCTIONS && open - name < LONGEST_NAME);
    memcpy(declared->names[declared->count++], name, (size_t)(open - name));
}

static void read_declarations(struct declared *declared, char *text)
{
    for (char *at = strstr(text, "SHAPEPROOF_API "); at; at = strstr(at, "SHAPEPROOF_API ")) {
        char *end = strchr(at, ';');
        if (!end) break;
        *end = '\0';
        if (strstr(at, "struct shapeproof_error *")) declare(declared, at);
        at = end + 1;
    }
}

static void read_all_headers(struct declared *declared)
{
    glob_t headers;
    assert_int_equal(glob("include/shapeproof/*.h", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        char text[LONGEST_HEADER];
        read_header(headers.gl_pathv[i], text, sizeof text);
        read_declarations(declared, text);
    }
    globfree(&headers);
}

/* ---- the tests ---- */

static void every_function_is_called_here(void **state)
{
    struct declared declared = {.count = 0};
    (void)state;
    read_all_headers(&declared);
    for (size_t i = 0; i < declared.count; i++) {
        size_t at = 0;
        while (at < CALL_COUNT && strcmp(calls[at].function, declared.names[i]) != 0) at++;
        if (at == CALL_COUNT) fail_msg("%s takes an error, and is not called in this test", declared.names[i]);
    }
    assert_int_equal(declared.count, CALL_COUNT);
}

static void a_stale_error_does_no_harm(void **state)
{
    struct world world = {.tables = NULL};
    (void)state;
    make_world(&world);
    for (size_t i = 0; i < CALL_COUNT; i++) {
        struct shapeproof_error error = {0};
        assert_null(shapeproof_inventory_open("fixtures/no such file", &error));
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
        snprintf(error.hint, sizeof error.hint, "look for it elsewhere");
        if (!calls[i].succeeds(&world, &error)) fail_msg("%s failed: %s", calls[i].function, error.message);
        if (error.status != SHAPEPROOF_OK || error.kind != SHAPEPROOF_KIND_NONE || *error.message || *error.hint)
            fail_msg("%s left an error of an earlier call: %s", calls[i].function, error.message);
    }
    free_world(&world);
}

static void nor_does_one_that_was_never_set(void **state)
{
    struct world world = {.tables = NULL};
    struct shapeproof_error error;
    (void)state;
    make_world(&world);
    for (size_t i = 0; i < CALL_COUNT; i++) {
        memset(&error, 0x55, sizeof error);
        if (!calls[i].succeeds(&world, &error)) fail_msg("%s failed", calls[i].function);
        assert_int_equal(error.status, SHAPEPROOF_OK);
    }
    free_world(&world);
}

/* What a call says is of that call: neither the status nor the hint of an earlier one shines through. */
static void a_new_error_replaces_the_old_one(void **state)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    (void)state;
    assert_null(shapeproof_inventory_open("fixtures/no such file", &error));
    snprintf(error.hint, sizeof error.hint, "look for it elsewhere");
    assert_int_equal(shapeproof_config_set(config, "no value", &error), SHAPEPROOF_ERR_USAGE);
    assert_int_equal(error.kind, SHAPEPROOF_KIND_NONE);
    assert_string_equal(error.message, "'no value': expected key=value");
    assert_string_equal(error.hint, "");
    shapeproof_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_called_here),
        cmocka_unit_test(a_stale_error_does_no_harm),
        cmocka_unit_test(nor_does_one_that_was_never_set),
        cmocka_unit_test(a_new_error_replaces_the_old_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
