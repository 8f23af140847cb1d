/* SPDX-License-Identifier: MIT
 * Lines of a list: written, read back, counted; and what a process wrote that is none. */
#define _GNU_SOURCE
#include "fleet/results.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "read/scratch.h"

static const char document[] =
    "{\n  \"schema\": \"shapeproof.check/1\",\n  \"verdict\": \"match\",\n  \"causes\": [],\n"
    "  \"found\": {\"tensors\": 1},\n  \"list\": [\n    1,\n    2\n  ]\n}\n";

static void test_write(void **state)
{
    struct sp_text text = {0};
    struct shapeproof_error error = {.status = SHAPEPROOF_ERR_FILE, .kind = SHAPEPROOF_KIND_IO, .message = "b: gone"};
    (void)state;
    sp_line_write(&text, "a/\"b\"", 0, document, &error);
    assert_string_equal(text.data,
                        "{\"schema\": \"shapeproof.check/1\", \"path\": \"a/\\\"b\\\"\", \"status\": 0, \"verdict\": "
                        "\"match\", \"causes\": [], \"found\": {\"tensors\": 1}, \"list\": [1, 2]}\n");
    text.length = 0;
    sp_line_write(&text, "b", 4, NULL, &error);
    assert_string_equal(text.data, "{\"schema\": \"shapeproof.check/1\", \"path\": \"b\", \"status\": 4, \"error\": "
                                   "\"b: gone\", \"kind\": \"io\"}\n");
    sp_text_free(&text);
}

/* In a copy, since reading overwrites it. */
static bool read_line(struct sp_fleet_line *line, const char *text)
{
    static char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    return sp_line_read(line, copy, strlen(copy));
}

#define HEAD "{\"schema\": \"shapeproof.check/1\", "

static void test_read(void **state)
{
    struct sp_fleet_line line;
    (void)state;
    assert_true(
        read_line(&line, HEAD "\"path\": \"a\\tb\", \"status\": 1, \"verdict\": \"differs\", \"x\": \"\\udc80\"}"));
    assert_string_equal(line.path, "a\tb");
    assert_int_equal(line.outcome, SP_LINE_DIFFERS);
    assert_true(read_line(&line, HEAD "\"path\": \"a\", \"status\": 5, \"error\": \"no table\"}"));
    assert_int_equal(line.outcome, SP_LINE_UNKNOWN);
    assert_true(read_line(&line, HEAD "\"path\": \"a\", \"status\": 3, \"error\": \"x\", \"hint\": \"y\"}"));
    assert_int_equal(line.outcome, SP_LINE_MISCONFIGURED);
    assert_true(read_line(&line, HEAD "\"path\": \"a\", \"status\": 4, \"error\": \"x\", \"kind\": \"io\"}"));
    assert_int_equal(line.outcome, SP_LINE_UNREADABLE);
    assert_true(read_line(&line, HEAD "\"path\": \"a\", \"status\": 4, \"error\": \"x\", \"kind\": \"crashed\"}"));
    assert_int_equal(line.outcome, SP_LINE_CRASHED);
    static const char *const bad[] = {
        "",
        "{}",
        "x",
        HEAD "}",
        HEAD "\"path\": 1, \"status\": 0, \"verdict\": \"match\"}",
        HEAD "\"status\": 0, \"path\": \"a\", \"verdict\": \"match\"}",
        HEAD "\"path\": \"a\", \"status\": 7, \"verdict\": \"match\"}",
        HEAD "\"path\": \"a\", \"status\": 0}",
        HEAD "\"path\": \"a\", \"status\": 0, \"verdict\": \"ma",
        HEAD "\"path\": \"a\", \"status\": 0, \"verdict\": nonsense}",
        "{\"schema\": \"another/1\", \"path\": \"a\", \"status\": 0, \"verdict\": \"match\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(read_line(&line, bad[i]));
}

/* What a process wrote, with how it ended; the outcome that it is counted as. */
static enum sp_line_outcome add_end(const char *path, const char *written, int status, int signal)
{
    struct sp_results results;
    struct shapeproof_error error = {0};
    const struct sp_pool_end end = {.status = status, .signal = signal, .output = written, .length = strlen(written)};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    sp_results_use(&results, ends[1], "a pipe");
    assert_true(sp_results_add(&results, path, &end, &error));
    close(ends[0]);
    close(ends[1]);
    size_t outcome = 0;
    while (outcome < SP_LINE_OUTCOMES && !results.counts[outcome]) outcome++;
    if (outcome == SP_LINE_CRASHED) assert_int_equal(results.status, SHAPEPROOF_ERR_FILE);
    sp_results_close(&results);
    return (enum sp_line_outcome)outcome;
}

/* One whose process could not begin says why; a status alone is no reason. */
static void test_not_begun(void **state)
{
    (void)state;
    struct sp_pool_end end = {
        .status = SP_POOL_NOT_BEGUN, .output = "dup2: Too many open files, and more", .length = 25};
    struct shapeproof_error error;
    sp_results_explain(&end, &error);
    assert_string_equal(error.message, "the process that checks it: dup2: Too many open files");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_IO);
    end.length = 0;
    sp_results_explain(&end, &error);
    assert_int_equal(error.kind, SHAPEPROOF_KIND_CRASHED);
    assert_int_equal(add_end("a", "dup2: Too many open files", SP_POOL_NOT_BEGUN, 0), SP_LINE_UNREADABLE);
}

/* One that was ended because it took too long is no crash. */
static void test_late_line(void **state)
{
    const struct sp_pool_end end = {.status = -1, .late = 3600, .output = "", .length = 0};
    struct sp_results results;
    struct shapeproof_error error = {0};
    char text[400] = "";
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    sp_results_use(&results, ends[1], "a pipe");
    assert_true(sp_results_add(&results, "a", &end, &error));
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    assert_string_equal(text, HEAD "\"path\": \"a\", \"status\": 4, \"error\": \"it was not done within 3600 s\", "
                                   "\"kind\": \"limit\", \"hint\": \"--timeout gives each of the list more time\"}\n");
    assert_int_equal(results.counts[SP_LINE_UNREADABLE], 1);
    assert_int_equal(results.status, SHAPEPROOF_ERR_FILE);
    sp_results_close(&results);
    close(ends[0]);
    close(ends[1]);
}

#define WHOLE HEAD "\"path\": \"a\", \"status\": 0, \"verdict\": \"match\"}"

static void test_add(void **state)
{
    (void)state;
    assert_int_equal(add_end("a", WHOLE "\n", 0, 0), SP_LINE_MATCH);
    assert_int_equal(add_end("a", "", -1, SIGSEGV), SP_LINE_CRASHED);
    assert_int_equal(add_end("a", "", 0, 0), SP_LINE_CRASHED);
    assert_int_equal(add_end("a", WHOLE "\n", -1, SIGABRT), SP_LINE_CRASHED);
    assert_int_equal(add_end("a", WHOLE "\n", 1, 0), SP_LINE_CRASHED);
    assert_int_equal(add_end("a", WHOLE, 0, 0), SP_LINE_CRASHED);
    assert_int_equal(add_end("a", WHOLE "\n" WHOLE "\n", 0, 0), SP_LINE_CRASHED);
    assert_int_equal(add_end("b", WHOLE "\n", 0, 0), SP_LINE_CRASHED);
    assert_int_equal(add_end("\xff", HEAD "\"path\": \"\xef\xbf\xbd\", \"status\": 0, \"verdict\": \"match\"}\n", 0, 0),
                     SP_LINE_MATCH);
}

/* Cut at each of its bytes, a file of two lines is as good as its whole lines. */
static void test_cut(void **state)
{
    static const char two[] = WHOLE "\n" HEAD "\"path\": \"b\", \"status\": 1, \"verdict\": \"differs\"}\n";
    struct scratch scratch;
    (void)state;
    scratch_make(&scratch);
    for (size_t length = 0; length < sizeof two; length++) {
        struct sp_results results;
        struct shapeproof_error error = {0};
        const char *path = scratch_write(&scratch, "out", two, length);
        assert_true(sp_results_open(&results, path, &error));
        assert_int_equal(sp_results_has(&results, "a"), length >= sizeof WHOLE);
        assert_int_equal(sp_results_has(&results, "b"), length == sizeof two - 1);
        assert_int_equal(lseek(results.to, 0, SEEK_END), length == sizeof two - 1 ? length
                                                         : length >= sizeof WHOLE ? sizeof WHOLE
                                                                                  : 0);
        sp_results_close(&results);
    }
    scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write),     cmocka_unit_test(test_read),      cmocka_unit_test(test_add),
        cmocka_unit_test(test_late_line), cmocka_unit_test(test_not_begun), cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
