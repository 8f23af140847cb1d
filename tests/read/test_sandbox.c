/* SPDX-License-Identifier: MIT
 * How a confined process may end, and what is said then: here the test says what the clocks show and how the process
 * answers. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>

#include "base/system/system.h"

static uint64_t seconds_used(pid_t child);
static int64_t clock_of_test(void);
static bool confine(const struct sp_filter *filter);

#define sp_system_seconds_used seconds_used
#define sp_clock_ms clock_of_test
#define sp_system_confine confine
#include "read/hdf5/sandbox.c"
#undef sp_system_confine

#include "read/hdf5/data.c"

static uint64_t used;     /* seconds of processor time */
static int64_t time_step; /* milliseconds between two looks at the clock */
static bool cannot_confine;

static uint64_t seconds_used(pid_t child)
{
    (void)child;
    return used;
}

static int64_t clock_of_test(void)
{
    static int64_t now;
    return now += time_step;
}

static bool confine(const struct sp_filter *filter) { return !cannot_confine && sp_system_confine(filter); }

static bool prepare_nothing(void *context)
{
    (void)context;
    return true;
}

static void run_nothing(void *context, int out) { (void)context, (void)out; }

static void run_forever(void *context, int out)
{
    (void)context, (void)out;
    for (;;) sched_yield();
}

static void run_stopped(void *context, int out)
{
    (void)context, (void)out;
    raise(SIGSTOP);
}

static void run_without_reading(void *context, int out)
{
    (void)context, (void)out;
    _exit(SP_CHILD_FAULT + EIO);
}

static void run_without_memory(void *context, int out)
{
    (void)context, (void)out;
    _exit(SP_CHILD_NO_MEMORY);
}

#ifndef __SANITIZE_ADDRESS__ /* which ends a process without stack by itself */
/* Calls itself `times` times, with 4 KiB of stack each time. */
static int use_stack(int times)
{
    volatile char frame[4096];
    frame[0] = (char)times;
    return times ? use_stack(times - 1) + frame[0] : 0;
}

/* What libhdf5 does without memory for its first object. */
static void run_out_of_stack(void *context, int out)
{
    (void)context;
    errno = ENOMEM;
    _exit(use_stack(1 << 20) + out); /* 4 GiB */
}
#endif

static void run_wrong_status(void *context, int out)
{
    (void)context, (void)out;
    _exit(1);
}

static void send_unknown_answer(void *context, int out)
{
    (void)context;
    if (write(out, "\xff", 1) != 1) _exit(1);
}

static const struct {
    void (*run)(void *context, int out);
    uint64_t used;
    int64_t time_step;
    bool cannot_confine;
    enum shapeproof_kind kind;
    const char *message;
} ends[] = {
    {run_forever, 5, 0, false, SHAPEPROOF_KIND_LIMIT, "the test needed more than 5 s of processor time"},
    {run_forever, 0, 60001, false, SHAPEPROOF_KIND_LIMIT, "gave up on the test after 60 s without a result"},
    {run_stopped, 0, 60001, false, SHAPEPROOF_KIND_LIMIT, "gave up on the test after 60 s without a result"},
    {run_without_reading, 0, 0, false, SHAPEPROOF_KIND_IO,
     "the process of the test could not read or write: Input/output error"},
    {run_without_memory, 0, 0, false, SHAPEPROOF_KIND_LIMIT,
     "the test: out of memory, that of the system or the 2048 MiB that it may use"},
#ifndef __SANITIZE_ADDRESS__
    {run_out_of_stack, 0, 0, false, SHAPEPROOF_KIND_LIMIT,
     "the test: out of memory, that of the system or the 2048 MiB that it may use"},
#endif
    {run_wrong_status, 0, 0, false, SHAPEPROOF_KIND_CRASHED,
     "the test ended with status 1 on this file: corrupt or malicious"},
    {run_nothing, 0, 0, true, SHAPEPROOF_KIND_IO, "the sandbox for the test could not be set up (seccomp, rlimits)"},
};

static void each_end_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct sp_sandbox_job job = {"the test", -1, NULL, prepare_nothing, ends[i].run};
        struct shapeproof_error error = {0};
        char *bytes;
        size_t length;
        used = ends[i].used;
        time_step = ends[i].time_step;
        cannot_confine = ends[i].cannot_confine;
        assert_false(sp_sandbox_run(&job, &bytes, &length, &error));
        assert_string_equal(error.message, ends[i].message);
        assert_int_equal(error.kind, ends[i].kind);
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    }
    used = 0;
    time_step = 0;
    cannot_confine = false;
}

/* The system kills a process without a word when it runs out of memory. */
static void a_killed_process_is_said(void **state)
{
    const struct sp_sandbox_job job = {"the test", -1, NULL, prepare_nothing, run_forever};
    struct sp_sandbox_stream stream;
    struct shapeproof_error error = {0};
    char byte;
    (void)state;
    assert_true(sp_sandbox_start(&stream, &job, &error));
    kill(stream.child.pid, SIGKILL);
    assert_false(sp_sandbox_take(&stream, &byte, 1, &error));
    assert_string_equal(error.message, "the test was killed by the system: out of memory or time");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
    sp_sandbox_stop(&stream);
}

static void a_broken_pipe_is_said(void **state)
{
    const struct sp_sandbox_job job = {"the test", -1, NULL, prepare_nothing, run_forever};
    struct sp_sandbox_stream stream;
    struct shapeproof_error error = {0};
    char byte;
    int other[2];
    (void)state;
    assert_true(sp_sandbox_start(&stream, &job, &error));
    assert_int_equal(pipe(other), 0);
    assert_int_equal(dup2(other[1], stream.child.from), stream.child.from); /* the end for writing cannot be read */
    assert_int_equal(close(other[0]), 0);
    assert_false(sp_sandbox_take(&stream, &byte, 1, &error));
    assert_string_equal(error.message, "read from the process of the test: Bad file descriptor");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_IO);
    close(other[1]);
    sp_sandbox_stop(&stream);
}

/* The first byte of a dataset says whether its data follow. */
static void an_unknown_answer_is_refused(void **state)
{
    const struct sp_sandbox_job job = {"the test", -1, NULL, prepare_nothing, send_unknown_answer};
    struct dataset_stream stream = {.sandbox = job, .started = true};
    struct shapeproof_error error = {0};
    const char *obstacle = NULL;
    (void)state;
    assert_true(sp_sandbox_start(&stream.child, &stream.sandbox, &error));
    assert_false(take_answer(&stream, &obstacle, &error));
    assert_string_equal(error.message, "the HDF5 library failed on this file: it is corrupt or malicious");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_CRASHED);
    end_dataset(&stream.stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end_is_said),
        cmocka_unit_test(a_killed_process_is_said),
        cmocka_unit_test(a_broken_pipe_is_said),
        cmocka_unit_test(an_unknown_answer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
