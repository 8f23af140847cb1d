/* SPDX-License-Identifier: MIT
 * Threads that share no object work at the same time, as shapeproof.h promises: each reads files of all formats,
 * checks, predicts, infers and compares, and gets the result that it gets alone. `make tsan` runs this test under
 * ThreadSanitizer. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shapeproof/shapeproof.h"

enum { THREADS = 4, ROUNDS = 3 };
enum { STACK_BYTES = 2 << 20 }; /* as shapeproof.h says; the threads of musl have 128 KiB by default */

/* The reports of a session, one after the other; heap. */
struct session {
    const char *checkpoint, *config, *other;
    char *reports;
    size_t length;
    unsigned failures; /* calls that must succeed, and did not */
};

static const struct shapeproof_report_options as_json = {.format = SHAPEPROOF_REPORT_JSON};

static void add_report(struct session *session, char *report)
{
    if (!report) session->failures++;
    const char *text = report ? report : "";
    const size_t length = strlen(text);
    session->reports = realloc(session->reports, session->length + length + 1);
    if (!session->reports) abort();
    memcpy(session->reports + session->length, text, length + 1);
    session->length += length;
    shapeproof_free(report);
}

static void check_model(struct session *session, const struct shapeproof_inventory *inventory,
                        struct shapeproof_tables *tables)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    shapeproof_config_load(config, session->config, &error);
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, NULL, &error);
    if (prediction) add_report(session, shapeproof_report_predict(prediction, NULL, NULL));
    else session->failures++;
    struct shapeproof_check *check = shapeproof_check_new(inventory, tables, config, NULL, &error);
    if (check) add_report(session, shapeproof_report_check(check, &as_json, NULL));
    else session->failures++;
    shapeproof_check_free(check);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
}

static void compare_files(struct session *session, const struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *other = shapeproof_inventory_open(session->other, &error);
    struct shapeproof_diff *diff =
        other ? shapeproof_diff_new(inventory, other, &(struct shapeproof_diff_options){.data = true}, &error) : NULL;
    if (diff) add_report(session, shapeproof_report_diff(diff, &as_json, NULL));
    else session->failures++;
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(other);
}

static void infer_model(struct session *session, const struct shapeproof_inventory *inventory,
                        const struct shapeproof_tables *tables)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inference *inference = shapeproof_infer(inventory, tables, NULL, &error);
    if (inference) add_report(session, shapeproof_report_infer(inference, &as_json, NULL));
    else session->failures++;
    shapeproof_inference_free(inference);
}

static void *run_session(void *context)
{
    struct session *session = context;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(session->checkpoint, &error);
    if (inventory) {
        add_report(session, shapeproof_report_inspect(inventory, NULL, NULL));
        check_model(session, inventory, tables);
        compare_files(session, inventory);
        infer_model(session, inventory, tables);
    } else session->failures++;
    shapeproof_inventory_close(inventory);
    shapeproof_tables_free(tables);
    return NULL;
}

static const struct session sessions[THREADS] = {
    {.checkpoint = "fixtures/models/tiny-gpt2",
     .config = "fixtures/models/tiny-gpt2/config.json",
     .other = "fixtures/models/odd-gpt2"},
    {.checkpoint = "fixtures/models/tiny-llama",
     .config = "fixtures/models/tiny-llama/config.json",
     .other = "fixtures/torch/ok/module.pt"},
    {.checkpoint = "fixtures/models/tiny-bert",
     .config = "fixtures/models/tiny-bert/config.json",
     .other = "fixtures/hdf5/ok/plain.h5"},
    {.checkpoint = "fixtures/models/tiny-gpt2",
     .config = "fixtures/models/tiny-gpt2/config.json",
     .other = "fixtures/models/tiny-gpt2-sharded"},
};

static void threads_get_what_they_get_alone(void **state)
{
    struct session alone[THREADS];
    (void)state;
    pthread_attr_t attributes;
    memcpy(alone, sessions, sizeof alone);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_BYTES), 0);
    for (size_t i = 0; i < THREADS; i++) {
        run_session(&alone[i]);
        if (alone[i].failures) print_message("%s: %u calls failed\n", alone[i].checkpoint, alone[i].failures);
        assert_int_equal(alone[i].failures, 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct session together[THREADS];
        pthread_t threads[THREADS];
        memcpy(together, sessions, sizeof together);
        for (size_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], &attributes, run_session, &together[i]), 0);
        for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
        for (size_t i = 0; i < THREADS; i++) {
            assert_string_equal(together[i].reports, alone[i].reports);
            free(together[i].reports);
        }
    }
    pthread_attr_destroy(&attributes);
    for (size_t i = 0; i < THREADS; i++) free(alone[i].reports);
}

int main(void)
{
    /* libzip asks for the local time. glibc reads the time zone anew each time if none is set, behind a lock that
     * ThreadSanitizer does not see. */
    setenv("TZ", "UTC0", 1);
    tzset();
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_get_what_they_get_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
