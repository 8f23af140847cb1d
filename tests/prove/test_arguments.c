/* SPDX-License-Identifier: MIT
 * NULL as an argument of the public functions of shapeproof/prove.h: where it means something, what that is; anywhere
 * else an assertion. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shapeproof/prove.h"

static struct shapeproof_tables *tables;
static const struct shapeproof_derive_options gpt2 = {.table = "gpt2"};

static void no_configuration(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_derivation *derivation = shapeproof_derive(tables, NULL, &gpt2, &error);
    assert_non_null(derivation);
    shapeproof_derivation_free(derivation);
    assert_null(shapeproof_derive(tables, NULL, NULL, &error));
    assert_int_equal(error.status, SHAPEPROOF_ERR_USAGE);
    assert_string_equal(error.message, "there is neither a table nor a configuration that chooses one");
}

static void prove_no_tables(struct shapeproof_error *error) { shapeproof_prove(NULL, NULL, error); }
static void prove_no_names(struct shapeproof_error *error)
{
    const struct shapeproof_prove_options options = {.table_count = 1};
    shapeproof_prove(tables, &options, error);
}
static void prove_no_files(struct shapeproof_error *error)
{
    const struct shapeproof_prove_options options = {.file_count = 1};
    shapeproof_prove(tables, &options, error);
}
static void derive_no_tables(struct shapeproof_error *error) { shapeproof_derive(NULL, NULL, NULL, error); }
static void derive_no_prediction(struct shapeproof_error *error)
{
    shapeproof_derive_prediction(tables, NULL, NULL, error);
}
static void solve_no_config(struct shapeproof_error *error) { shapeproof_solve(tables, NULL, 124439808, NULL, error); }
static void solve_no_figure(struct shapeproof_error *error)
{
    shapeproof_solve_rounded(tables, NULL, NULL, NULL, error);
}

/* Whether it ends in an assertion, in a child whose message nobody reads. */
static bool is_asserted(void (*call)(struct shapeproof_error *))
{
    struct shapeproof_error error = {0};
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr)) _exit(2);
        call(&error);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void programming_errors(void **state)
{
    (void)state;
    void (*const calls[])(struct shapeproof_error *) = {prove_no_names,   prove_no_tables,      prove_no_files,
                                                        derive_no_tables, derive_no_prediction, solve_no_config,
                                                        solve_no_figure};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!is_asserted(calls[i])) fail_msg("call %zu", i);
}

int main(void)
{
    struct shapeproof_error error = {0};
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_configuration), cmocka_unit_test(programming_errors)};
    tables = shapeproof_tables_new(&error);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    shapeproof_tables_free(tables);
    return failed;
}
