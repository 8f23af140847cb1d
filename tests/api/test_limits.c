/* SPDX-License-Identifier: MIT
 * Limits of a thread: a call that exceeds its memory fails, names the limit, and leaves everything as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/call.h"
#include "base/clock.h"
#include "shapeproof/shapeproof.h"

#define MODEL "fixtures/models/tiny-llama"

/* The clock of the library in this program: it stands still, but for what a test adds, and for `passing` ms each time
 * that it is read. */
static int64_t now = 1, passing;

int64_t sp_clock_ms(void) { return now += passing; }

static void limit_memory(uint64_t bytes)
{
    struct shapeproof_error error = {0};
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.memory = bytes}, &error));
}

static int default_limits(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    return shapeproof_set_limits(NULL, &error) ? 0 : -1;
}

static void assert_exceeded(const struct shapeproof_error *error, const char *text)
{
    assert_int_equal(error->status, SHAPEPROOF_ERR_FILE);
    assert_int_equal(error->kind, SHAPEPROOF_KIND_LIMIT);
    if (!strstr(error->message, text)) assert_string_equal(error->message, text);
}

static void a_call_that_exceeds_its_memory_fails(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    limit_memory(10000);
    assert_null(shapeproof_inventory_open(MODEL, &error));
    assert_exceeded(&error,
                    "reading it takes more than 10000 bytes of memory; a larger --limit memory=SIZE allows more");
    assert_true(shapeproof_ran_out_of_memory());
    default_limits(NULL);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(MODEL, &error);
    assert_non_null(inventory);
    assert_true(shapeproof_inventory_bytes_read(inventory) > 0);
    limit_memory(1000);
    assert_null(shapeproof_diff_new(inventory, inventory, NULL, &error));
    assert_exceeded(&error, MODEL ": comparing it takes more than 1000 bytes of memory");
    assert_null(shapeproof_report_inspect(inventory, NULL, NULL)); /* which takes no error */
    assert_true(shapeproof_ran_out_of_memory());
    assert_int_equal(shapeproof_inventory_count(inventory), 21);
    shapeproof_inventory_close(inventory);
}

static bool hold_memory(size_t size, size_t times, bool frees, struct shapeproof_error *error)
{
    SP_CALL(error, false);
    for (size_t i = 0; i < times; i++) {
        char *memory = sp_realloc(NULL, size, 1);
        memory = sp_realloc(memory, 2 * size, 1);
        memory = sp_realloc(memory, size, 1);
        if (frees) sp_free(memory);
    }
    return false; /* at the end of the test the memory is lost if it was not freed */
}

static void freed_memory_can_be_used_again(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    limit_memory(100000);
    hold_memory(40000, 1000, true, &error);
    assert_int_equal(error.status, SHAPEPROOF_OK);
    hold_memory(40000, 3, false, &error);
    assert_exceeded(&error, "this takes more than");
}

/* What is read raises the limit, but not beyond the size of the files, however often it is read. */
static uint64_t limit_after_reading(uint64_t size, uint64_t read)
{
    struct shapeproof_error error = {0};
    SP_CALL(&error, 0);
    sp_budget_open("x", size);
    for (int i = 0; i < 100; i++) sp_budget_read(read);
    return sp_budget_memory();
}

static void the_limit_grows_with_what_is_read(void **state)
{
    (void)state;
    const uint64_t least = SP_BUDGET_MEMORY;
    assert_int_equal(limit_after_reading(1000, 0), least);
    assert_int_equal(limit_after_reading(1000000, 10), least + UINT64_C(1000) * SP_BUDGET_FACTOR);
    assert_int_equal(limit_after_reading(1000, 500), least + UINT64_C(1000) * SP_BUDGET_FACTOR);
    assert_int_equal(limit_after_reading(UINT64_MAX, UINT64_MAX), UINT64_MAX);
    limit_memory(5);
    assert_int_equal(limit_after_reading(1000, 500), 5);
}

/* Steps, and tensors that are compared with a file. */
static void other_limits(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    struct shapeproof_check_path_options options = {.config = NULL};
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.tensors = 20}, &error));
    assert_null(shapeproof_check_path(MODEL, &options, &error));
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
    assert_non_null(strstr(error.message, "more than 20 tensors, the limit; --limit tensors=N allows more"));
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.steps = 100}, &error));
    assert_null(shapeproof_check_path(MODEL, &options, &error));
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
    assert_non_null(strstr(error.message, "more than 100 steps; --limit steps=N allows more"));
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.steps = 1000000, .tensors = 100}, &error));
    struct shapeproof_check *check = shapeproof_check_path(MODEL, &options, &error);
    assert_non_null(check);
    shapeproof_check_free(check);
}

static bool take_steps(uint64_t steps, uint64_t input, struct shapeproof_error *error)
{
    SP_CALL(error, false);
    SP_SPENDS("counting");
    sp_budget_open("x", input);
    sp_budget_read(input);
    for (uint64_t i = 0; i < steps; i += 1000) sp_budget_spend(1000);
    return true;
}

/* The steps of a call grow with what it reads, too. */
static void steps_of_all_that_a_call_does(void **state)
{
    struct shapeproof_error error = {0};
    const uint64_t least = SP_BUDGET_ALL_STEPS, factor = SP_BUDGET_STEPS_FACTOR;
    (void)state;
    assert_true(take_steps(least, 0, &error));
    assert_false(take_steps(least + 100000, 0, &error));
    assert_exceeded(&error, "counting takes more than 512000000 steps, the limit for 0 bytes of input; "
                            "--limit steps=N allows more");
    assert_true(take_steps(least + 1000 * factor, 1000, &error));
    assert_false(take_steps(least + 1000 * factor + 100000, 1000, &error));
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.steps = 1000000}, &error));
    assert_true(take_steps(least, 0, &error)); /* a smaller limit of predictions does not lower it */
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.steps = 100000000}, &error));
    assert_true(take_steps(800000000, 0, &error));
    assert_false(take_steps(800100000, 0, &error));
    assert_exceeded(&error, "counting takes more than 800000000 steps; a larger --limit steps=N allows more");
}

/* Spends almost all steps of the call, and then proves claims. */
static struct shapeproof_proofs *prove_with_few_steps(const struct shapeproof_tables *tables, uint64_t steps,
                                                      struct shapeproof_error *error)
{
    static const char *const files[] = {"steps.shapes"};
    SP_CALL(error, NULL);
    sp_budget_spend(SP_BUDGET_ALL_STEPS - steps);
    return shapeproof_prove(tables, &(struct shapeproof_prove_options){.files = files, .file_count = 1}, error);
}

/* A claim that takes too many steps is undecided, and the others are judged; the tables count as input. */
static void a_claim_that_exceeds_the_steps(void **state)
{
    static const char text[] = "table t\nw (a,b,c,d)\n\nclaims for t\nclaim total = a*b*c*d\n"
                               "claim total = (a+b+c+d)^30\nclaim total = a*b\n";
    struct shapeproof_error error = {0};
    (void)state;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    assert_int_equal(shapeproof_tables_add_text(tables, "steps.shapes", text, sizeof text - 1, &error), SHAPEPROOF_OK);
    struct shapeproof_proofs *proofs = prove_with_few_steps(tables, 100000, &error);
    assert_non_null(proofs);
    assert_int_equal(shapeproof_proofs_count(proofs), 3);
    assert_int_equal(shapeproof_proofs_get(proofs, 0)->verdict, SHAPEPROOF_PROVED);
    assert_int_equal(shapeproof_proofs_get(proofs, 1)->verdict, SHAPEPROOF_UNDECIDED);
    assert_non_null(strstr(shapeproof_proofs_get(proofs, 1)->difference,
                           " steps, its part of the limit; --limit steps=N allows more"));
    assert_int_equal(shapeproof_proofs_get(proofs, 2)->verdict, SHAPEPROOF_REFUTED);
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
}

static struct shapeproof_check *check_with_few_steps(const struct shapeproof_inventory *inventory,
                                                     const struct shapeproof_tables *tables,
                                                     const struct shapeproof_config *config,
                                                     struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    const uint64_t most = SP_BUDGET_ALL_STEPS + SP_BUDGET_STEPS_FACTOR * shapeproof_inventory_bytes_read(inventory);
    sp_budget_spend(most - SP_BUDGET_STEPS);
    return shapeproof_check_new(inventory, tables, config, NULL, error);
}

/* If too few steps are left for trials, the verdict stays, and the advice says that there were no trials. */
static void trials_that_lack_steps(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(MODEL, &error);
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_config *config = shapeproof_config_new();
    assert_int_equal(shapeproof_config_load(config, MODEL "/config.json", &error), SHAPEPROOF_OK);
    assert_int_equal(shapeproof_config_set(config, "intermediate_size=40", &error), SHAPEPROOF_OK);
    struct shapeproof_check *check = check_with_few_steps(inventory, tables, config, &error);
    assert_non_null(check);
    assert_int_equal(shapeproof_check_verdict(check), SHAPEPROOF_VERDICT_DIFFERS);
    assert_non_null(strstr(shapeproof_check_advice(check), "a trial took too many steps"));
    shapeproof_check_free(check);
    shapeproof_config_free(config);
    shapeproof_tables_free(tables);
    shapeproof_inventory_close(inventory);
}

/* What a callback of the host does, and takes, is not of the call: here it takes 300 ms, and changes the limits. */
static bool call_back(struct shapeproof_error *error)
{
    SP_CALL(error, false);
    struct sp_call *paused = sp_call_pause();
    now += 300;
    shapeproof_set_limits(NULL, error);
    sp_call_resume(paused);
    sp_budget_check_time();
    assert_int_equal(sp_budget_steps(), 7);
    return true;
}

static void callbacks_take_no_time(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.time = 250, .steps = 7}, &error));
    assert_true(call_back(&error));
}

/* A loop that ends only for want of time. */
static bool wait_forever(bool allocates, struct shapeproof_error *error)
{
    SP_CALL(error, false);
    SP_SPENDS("waiting");
    for (;;) {
        if (allocates) sp_free(sp_realloc(NULL, 10, 1));
        else sp_budget_spend(0x10000);
    }
}

static void time_ends_a_call(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.time = 5, .steps = UINT64_MAX}, &error));
    passing = 1;
    assert_false(wait_forever(false, &error));
    assert_exceeded(&error, "waiting takes more than 5 ms; a larger --limit time=SECONDS allows more");
    assert_false(wait_forever(true, &error));
    assert_exceeded(&error, "waiting takes more than 5 ms; a larger --limit time=SECONDS allows more");
    passing = 0;
}

static bool write_bytes(uint64_t count, struct shapeproof_error *error)
{
    SP_CALL(error, false);
    for (uint64_t i = 0; i < count; i += 1000) sp_budget_write(1000);
    return true;
}

static void output_is_limited(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    assert_true(write_bytes(SP_BUDGET_OUTPUT - 1000, &error));
    assert_false(write_bytes(SP_BUDGET_OUTPUT + 1000, &error));
    assert_exceeded(&error,
                    "this takes more than 16 MiB of output, the limit for 0 bytes of input; --limit output=SIZE");
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.output = 1000}, &error));
    assert_true(write_bytes(1000, &error));
    assert_false(write_bytes(2000, &error));
    assert_exceeded(&error, "this takes more than 1000 bytes of output; a larger --limit output=SIZE allows more");
}

/* Such a claim is undecided, and the others are judged. */
static void a_claim_that_exceeds_the_memory(void **state)
{
    static const char text[] = "table t\nw (a,b,c,d)\n\nclaims for t\nclaim total = a*b*c*d\n"
                               "claim total = (a+b+c+d)^30\nclaim total = a*b\n";
    const char *const files[] = {"power.shapes"};
    struct shapeproof_error error = {0};
    (void)state;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    assert_int_equal(shapeproof_tables_add_text(tables, files[0], text, sizeof text - 1, &error), SHAPEPROOF_OK);
    limit_memory(20 << 20);
    struct shapeproof_proofs *proofs = shapeproof_prove(
        tables, &(struct shapeproof_prove_options){.files = files, .file_count = 1, .explain = 1}, &error);
    assert_non_null(proofs);
    assert_int_equal(shapeproof_proofs_count(proofs), 3);
    assert_int_equal(shapeproof_proofs_get(proofs, 0)->verdict, SHAPEPROOF_PROVED);
    assert_int_equal(shapeproof_proofs_get(proofs, 1)->verdict, SHAPEPROOF_UNDECIDED);
    assert_string_equal(
        shapeproof_proofs_get(proofs, 1)->difference,
        "proving the claims takes more than 20 MiB of memory; a larger --limit memory=SIZE allows more");
    assert_int_equal(shapeproof_proofs_get(proofs, 2)->verdict, SHAPEPROOF_REFUTED);
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
}

/* ---- limits that are exceeded anywhere in a call ---- */

static bool read_file(const char *path, struct shapeproof_error *error)
{
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, error);
    shapeproof_inventory_close(inventory);
    return inventory != NULL;
}

/* libhdf5 runs in a child process, which ends with the call. */
static bool read_hdf5(struct shapeproof_error *error) { return read_file("fixtures/hdf5/ok/plain.h5", error); }

/* libzip calls back for the bytes of the archive. */
static bool read_zip(struct shapeproof_error *error) { return read_file("fixtures/keras/ok/deflated.keras", error); }

/* The inventory is rewritten under the names of other programs. */
static bool infer_views(struct shapeproof_error *error)
{
    static const uint64_t shape[] = {16, 16};
    static const struct shapeproof_tensor_description tensors[] = {
        {.name = "tok_embeddings.weight", .rank = 2, .shape = shape, .dtype = SHAPEPROOF_DTYPE_F32},
        {.name = "layers.0.attention.wq.weight", .rank = 2, .shape = shape, .dtype = SHAPEPROOF_DTYPE_F32}};
    struct shapeproof_tables *tables = shapeproof_tables_new(error);
    struct shapeproof_inventory *inventory = tables ? shapeproof_inventory_describe("x", tensors, 2, error) : NULL;
    struct shapeproof_inference *inference = inventory ? shapeproof_infer(inventory, tables, NULL, error) : NULL;
    const bool ended = inference || error->status == SHAPEPROOF_ERR_UNKNOWN;
    shapeproof_inference_free(inference);
    shapeproof_inventory_close(inventory);
    shapeproof_tables_free(tables);
    return ended;
}

static void memory_is_exceeded_anywhere(void **state)
{
    static bool (*const calls[])(struct shapeproof_error *) = {read_hdf5, read_zip, infer_views};
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct shapeproof_error error = {0};
        size_t failed = 0;
        bool ended = false;
        for (uint64_t bytes = 1000; !ended; bytes += bytes / 2) {
            limit_memory(bytes);
            ended = calls[i](&error);
            if (!ended) assert_exceeded(&error, " of memory; a larger --limit memory=SIZE allows more");
            failed += !ended;
            assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
        }
        assert_true(failed > 3);
    }
}

/* Opens a file within a limit of its own that is too small, and restores the limit. */
static bool exceed_in_callback(void *context, const char *step, uint64_t done, uint64_t total)
{
    struct shapeproof_error error = {0};
    (void)step, (void)done, (void)total;
    limit_memory(1000);
    assert_null(shapeproof_inventory_open(MODEL, &error));
    assert_exceeded(&error, "reading it takes more than 1000 bytes of memory");
    default_limits(NULL);
    ++*(size_t *)context;
    return true;
}

/* A callback of the host that exceeds its limit has no effect on the call. */
static void a_callback_exceeds_its_memory(void **state)
{
    static const char *const settings[] = {"num_hidden_layers=3", NULL};
    struct shapeproof_error error = {0};
    size_t called = 0;
    const struct shapeproof_watch watch = {.progress = exceed_in_callback, .context = &called};
    (void)state;
    struct shapeproof_check *check = shapeproof_check_path(
        MODEL, &(struct shapeproof_check_path_options){.settings = settings, .check = {.watch = &watch}}, &error);
    assert_non_null(check);
    assert_true(called > 0);
    assert_int_equal(shapeproof_check_verdict(check), SHAPEPROOF_VERDICT_DIFFERS);
    shapeproof_check_free(check);
}

static void a_later_limit_is_refused(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    assert_false(shapeproof_set_limits(&(struct shapeproof_limits){.reserved = {1}}, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_call_that_exceeds_its_memory_fails, default_limits),
        cmocka_unit_test_teardown(freed_memory_can_be_used_again, default_limits),
        cmocka_unit_test_teardown(the_limit_grows_with_what_is_read, default_limits),
        cmocka_unit_test_teardown(other_limits, default_limits),
        cmocka_unit_test_teardown(steps_of_all_that_a_call_does, default_limits),
        cmocka_unit_test_teardown(time_ends_a_call, default_limits),
        cmocka_unit_test_teardown(output_is_limited, default_limits),
        cmocka_unit_test_teardown(a_claim_that_exceeds_the_memory, default_limits),
        cmocka_unit_test_teardown(a_claim_that_exceeds_the_steps, default_limits),
        cmocka_unit_test_teardown(trials_that_lack_steps, default_limits),
        cmocka_unit_test_teardown(callbacks_take_no_time, default_limits),
        cmocka_unit_test_teardown(memory_is_exceeded_anywhere, default_limits),
        cmocka_unit_test_teardown(a_callback_exceeds_its_memory, default_limits),
        cmocka_unit_test_teardown(a_later_limit_is_refused, default_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
