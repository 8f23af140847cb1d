/* SPDX-License-Identifier: MIT
 * What the process of libhdf5 sends is checked, since a file may have taken that process over: here the test sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read/hdf5/sandbox.h"

static bool send_answer(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error);

#define sp_sandbox_run send_answer
#include "read/hdf5/index.c"

static const char *answer;
static size_t answer_length;

static bool send_answer(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error)
{
    (void)job;
    (void)error;
    *bytes = sp_realloc(NULL, answer_length, 1);
    memcpy(*bytes, answer, answer_length);
    *length = answer_length;
    return true;
}

/* The record of a failure: kind, length of the reason, reason. */
static const struct {
    char record[8];
    size_t length;
    enum shapeproof_kind kind;
    const char *message;
} failures[] = {
    {{SP_WIRE_FAILURE, SHAPEPROOF_KIND_MALFORMED, 1, 0, 0, 0, 'x'}, 7, SHAPEPROOF_KIND_MALFORMED, "x"},
    {{SP_WIRE_FAILURE, SHAPEPROOF_KIND_LIMIT, 1, 0, 0, 0, 'x'}, 7, SHAPEPROOF_KIND_LIMIT, "x"},
    {{SP_WIRE_FAILURE, SHAPEPROOF_KIND_IO, 1, 0, 0, 0, 'x'}, 7, SHAPEPROOF_KIND_IO, "read: x"},
    {{SP_WIRE_FAILURE, SHAPEPROOF_KIND_REFUSED, 1, 0, 0, 0, 'x'}, 7, SHAPEPROOF_KIND_CRASHED, NULL},
    {{SP_WIRE_FAILURE, SHAPEPROOF_KIND_MALFORMED, 0, 0, 0, 0}, 6, SHAPEPROOF_KIND_CRASHED, NULL},
    {{SP_WIRE_FAILURE, SHAPEPROOF_KIND_IO, 0, 0, 0, 0}, 6, SHAPEPROOF_KIND_CRASHED, NULL},
    {{SP_WIRE_FAILURE, SHAPEPROOF_KIND_IO, 9, 0, 0, 0, 'x'}, 7, SHAPEPROOF_KIND_CRASHED, NULL},
};

/* A failure without a reason, of whatever kind, is an answer of a process that went wrong. */
static void a_failure_has_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_inventory *inventory = sp_inventory_new("input");
        struct sp_h5_source source = {.fd = -1, .size = 1 << 20};
        answer = failures[i].record;
        answer_length = failures[i].length;
        assert_false(sp_h5_index(&source, sp_inventory_add_file(inventory, "input"), inventory, &error));
        assert_int_equal(error.kind, failures[i].kind);
        assert_string_equal(error.message, failures[i].message
                                               ? failures[i].message
                                               : "the HDF5 library failed on this file: it is corrupt or malicious");
        shapeproof_inventory_close(inventory);
    }
}

/* Indexes the answer as if the process had sent it. */
static bool index_answer(const char *bytes, size_t length, struct shapeproof_error *error)
{
    struct shapeproof_inventory *inventory = sp_inventory_new("input");
    struct sp_h5_source source = {.fd = -1, .size = 1 << 20};
    answer = bytes;
    answer_length = length;
    *error = (struct shapeproof_error){0};
    const bool ok = sp_h5_index(&source, sp_inventory_add_file(inventory, "input"), inventory, error) &&
                    sp_inventory_finish(inventory, error);
    shapeproof_inventory_close(inventory);
    return ok;
}

static void an_answer_has_an_end(void **state)
{
    static const char structure[] = {SP_WIRE_STRUCTURE, 0, 0, 0, 0, 0, 0, 0, 0};
    struct shapeproof_error error;
    (void)state;
    assert_false(index_answer(structure, sizeof structure, &error));
    assert_string_equal(error.message, "the HDF5 library ended early on this file");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_CRASHED);
}

/* The link is to an object of which no tensor was sent. */
static void a_link_to_nothing_is_unread(void **state)
{
    static const char link[] = {SP_WIRE_ALIAS, 1, 0, 0, 0, 'a', 8, 0, 0, 0, 0, 0, 0, 0, SP_WIRE_END};
    struct shapeproof_error error;
    (void)state;
    assert_false(index_answer(link, sizeof link, &error));
    assert_string_equal(error.message,
                        "no tensor can be read (1 broken; the first: a hard link to a dataset that is not read)");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_has_a_reason),
        cmocka_unit_test(an_answer_has_an_end),
        cmocka_unit_test(a_link_to_nothing_is_unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
