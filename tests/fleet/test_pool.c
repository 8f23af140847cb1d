/* SPDX-License-Identifier: MIT
 * Tasks that end in all the ways there are, each with its result, and none with an effect on another. */
#define _GNU_SOURCE
#include "fleet/pool.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TASKS = 40, LONG = 1 << 20 };

struct seen {
    size_t count, task[TASKS], length[TASKS];
    int status[TASKS], signal[TASKS];
    unsigned late[TASKS];
    char output[TASKS][16];
    size_t stop_after;
};

static bool note(void *host, const struct sp_pool_end *end)
{
    struct seen *seen = host;
    seen->task[seen->count++] = end->task;
    seen->status[end->task] = end->status;
    seen->signal[end->task] = end->signal;
    seen->late[end->task] = end->late;
    seen->length[end->task] = end->length;
    memcpy(seen->output[end->task], end->output, end->length < 15 ? end->length : 15);
    return seen->count != seen->stop_after;
}

static struct sp_pool pool_of(struct seen *seen, size_t count, unsigned jobs, int (*work)(void *, size_t))
{
    return (struct sp_pool){.count = count, .jobs = jobs, .work = work, .done = note, .host = seen};
}

static int say_number(void *host, size_t task)
{
    (void)host;
    printf("%zu", task);
    fflush(stdout);
    return (int)task % 6;
}

static int reported; /* a pipe */

static int report_and_hang(void *host, size_t task)
{
    (void)host, (void)task;
    if (write(reported, "x", 1) == 1) pause();
    return 0;
}

static void test_every_task_once(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 7; jobs += 3) {
        struct seen seen = {0};
        struct shapeproof_error error = {0};
        struct sp_pool pool = pool_of(&seen, TASKS, jobs, say_number);
        assert_true(sp_pool_run(&pool, &error));
        assert_int_equal(seen.count, TASKS);
        for (size_t i = 0; i < TASKS; i++) {
            char text[16];
            snprintf(text, sizeof text, "%zu", i);
            assert_string_equal(seen.output[i], text);
            assert_int_equal(seen.status[i], (int)i % 6);
            if (jobs == 1) assert_int_equal(seen.task[i], i);
        }
    }
}

static int end_somehow(void *host, size_t task)
{
    const struct rlimit none = {0};
    (void)host;
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    if (task == 0) abort();
    if (task == 1) raise(SIGSEGV);
    if (task == 2) raise(SIGKILL);
    if (task == 3) _exit(77);
    if (task == 4)
        for (size_t i = 0; i < LONG; i++) putchar('x');
    if (task == 5) printf("%zd", read(STDIN_FILENO, (char[1]){0}, 1));
    fflush(stdout);
    if (task == 6) close(STDOUT_FILENO);
    return 0;
}

static void test_ends(void **state)
{
    static const int statuses[] = {-1, -1, -1, 77, 0, 0, 0, 0}, signals[] = {SIGABRT, SIGSEGV, SIGKILL};
    struct seen seen = {0};
    struct shapeproof_error error = {0};
    struct sp_pool pool = pool_of(&seen, 8, 3, end_somehow);
    (void)state;
    assert_true(sp_pool_run(&pool, &error));
    assert_int_equal(seen.count, 8);
    for (size_t i = 0; i < 8; i++) assert_int_equal(seen.status[i], statuses[i]);
    for (size_t i = 0; i < 3; i++) assert_int_equal(seen.signal[i], signals[i]);
    assert_int_equal(seen.length[4], LONG);
    assert_string_equal(seen.output[5], "0"); /* stdin is at its end */
}

static int hang(void *host, size_t task)
{
    say_number(host, task);
    if (task % 2) pause();
    return 0;
}

static void test_late(void **state)
{
    struct seen seen = {0};
    struct shapeproof_error error = {0};
    struct sp_pool pool = pool_of(&seen, 6, 2, hang);
    (void)state;
    pool.seconds = 1;
    assert_true(sp_pool_run(&pool, &error));
    assert_int_equal(seen.count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(seen.late[i], i % 2);
        assert_int_equal(seen.status[i], i % 2 ? -1 : 0);
        assert_int_equal(seen.signal[i], 0);
    }
}

/* A host that is killed takes its tasks along: the pipe that they hold is closed. */
static void test_host_killed(void **state)
{
    struct shapeproof_error error = {0};
    struct pollfd ready = {.events = POLLIN};
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    const pid_t host = fork();
    if (host == 0) {
        struct seen seen = {0};
        struct sp_pool pool = pool_of(&seen, 4, 4, report_and_hang);
        reported = ends[1];
        close(ends[0]);
        _exit(sp_pool_run(&pool, &error));
    }
    close(ends[1]);
    for (int i = 0; i < 4; i++) assert_int_equal(read(ends[0], (char[1]){0}, 1), 1);
    assert_int_equal(kill(host, SIGKILL), 0);
    assert_int_equal(waitpid(host, NULL, 0), host);
    ready.fd = ends[0];
    assert_int_equal(poll(&ready, 1, 10 * 1000), 1);
    assert_int_equal(read(ends[0], (char[1]){0}, 1), 0);
    close(ends[0]);
}

static int interrupt_host(void *host, size_t task)
{
    (void)host;
    if (task == 3) kill(getppid(), SIGINT);
    if (task >= 3) pause();
    return 0;
}

static void test_interrupt(void **state)
{
    struct seen seen = {0};
    struct shapeproof_error error = {0};
    struct sp_pool pool = pool_of(&seen, TASKS, 2, interrupt_host);
    sigset_t before, after;
    (void)state;
    signal(SIGINT, SIG_DFL); /* who runs the test in the background ignores it, and so does a pool then */
    sigprocmask(SIG_SETMASK, NULL, &before);
    assert_false(sp_pool_run(&pool, &error));
    sigprocmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(pool.interrupted, SIGINT);
    assert_int_equal(error.status, SHAPEPROOF_OK);
    assert_true(seen.count <= 3);
    assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

static void test_host_stops(void **state)
{
    struct seen seen = {.stop_after = 5};
    struct shapeproof_error error = {0};
    struct sp_pool pool = pool_of(&seen, TASKS, 4, say_number);
    (void)state;
    assert_false(sp_pool_run(&pool, &error));
    assert_int_equal(seen.count, 5);
    assert_int_equal(pool.interrupted, 0);
}

static void test_nothing_to_do(void **state)
{
    struct seen seen = {0};
    struct shapeproof_error error = {0};
    struct sp_pool pool = pool_of(&seen, 0, 1, say_number);
    (void)state;
    assert_true(sp_pool_run(&pool, &error));
    assert_in_range(sp_pool_processors(), 1, SP_POOL_JOBS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_task_once), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_interrupt),       cmocka_unit_test(test_late),
        cmocka_unit_test(test_host_killed),     cmocka_unit_test(test_host_stops),
        cmocka_unit_test(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
