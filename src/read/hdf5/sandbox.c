/* SPDX-License-Identifier: MIT
 * See sandbox.h. Top half: the child confines itself. Bottom half: the parent collects and judges. */
#define _GNU_SOURCE
#include "read/hdf5/sandbox.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/process/child.h"
#include "base/system/system.h"

/* ---- the child ---- */

/* A system that cannot confine a child may have no limit of memory either (macOS). */
static bool set_limits(void)
{
    enum { MOST_SECONDS = SP_SANDBOX_CPU_SECONDS + SP_SANDBOX_OUTPUT_MIB * 1024 / SP_SANDBOX_PROGRESS_KIB };
    const uint64_t memory = sp_system_address_space() + ((uint64_t)SP_SANDBOX_MEMORY_MIB << 20);
    return (sp_child_limit(RLIMIT_AS, memory, memory) || !sp_system_confines) &&
           sp_child_limit(RLIMIT_CPU, MOST_SECONDS, MOST_SECONDS + 1) && sp_child_limit(RLIMIT_CORE, 0, 0) &&
           sp_child_limit(RLIMIT_FSIZE, 0, 0) && sp_child_limit(RLIMIT_NOFILE, 0, 0);
}

static void run_child(const void *context, int out)
{
    const struct sp_sandbox_job *job = context;
    const int keep[] = {out, job->keep_fd};
    sp_child_isolate(keep, sizeof keep / sizeof *keep);
    if (!job->prepare(job->context)) _exit(SP_CHILD_UNPREPARED);
    if (!set_limits() || !sp_system_confine(SP_CONFINED_TO_READING, out)) _exit(SP_CHILD_UNCONFINED);
    job->run(job->context, out);
}

/* ---- the parent ---- */

struct collector {
    const struct sp_sandbox_job *job;
    struct sp_child child;
    char *bytes;
    size_t length, capacity;
};

/* One read; false at the end of the stream. */
static bool take_output(struct collector *c)
{
    enum { STEP = 64 * 1024 };
    if (c->capacity - c->length < STEP) {
        c->capacity = c->capacity ? c->capacity * 2 : 2 * STEP;
        c->bytes = sp_realloc(c->bytes, c->capacity, 1);
    }
    const ssize_t got = read(c->child.from, c->bytes + c->length, STEP);
    if (got > 0) c->length += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Whether the child has had more processor time than its results are worth; the limit of the system comes later. */
static bool is_too_slow(const struct collector *c)
{
    const uint64_t allowed = SP_SANDBOX_CPU_SECONDS + (uint64_t)(c->length / ((size_t)SP_SANDBOX_PROGRESS_KIB << 10));
    return !c->child.reaped && sp_system_seconds_used(c->child.pid) >= allowed;
}

static bool fail_slow(const struct collector *c, struct shapeproof_error *error)
{
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%s needed more than %d s of processor time",
                   c->job->library, SP_SANDBOX_CPU_SECONDS);
}

/* Reads until the end of the stream. Another process of the host may have inherited the pipe and keep it open, so the
 * death of the child ends it as well, one silent poll after it was noticed. */
static bool collect_output(struct collector *c, struct shapeproof_error *error)
{
    struct pollfd ready = {.fd = c->child.from, .events = POLLIN};
    int64_t last = sp_clock_ms();
    for (bool dead = false;; dead = c->child.reaped) {
        const int events = poll(&ready, 1, 50);
        if (events > 0 && !take_output(c)) return true;
        if (events <= 0 && dead) return true;
        if (events <= 0) sp_child_reap(&c->child, WNOHANG);
        if (events > 0) last = sp_clock_ms();
        if (c->length > (size_t)SP_SANDBOX_OUTPUT_MIB << 20)
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "its names and attributes need more than %d MiB", SP_SANDBOX_OUTPUT_MIB);
        if (is_too_slow(c)) return fail_slow(c, error);
        if (sp_clock_ms() - last > SP_SANDBOX_WALL_SECONDS * 1000)
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "gave up on %s after %d s without a result", c->job->library, SP_SANDBOX_WALL_SECONDS);
    }
}

/* The signals of a crash, without their SIG. sigabbrev_np, which names all, is only in glibc, and only in newer ones.
 */
static const char *crash_name(int number)
{
    switch (number) {
    case SIGSEGV:
        return "SEGV";
    case SIGABRT:
        return "ABRT";
    case SIGBUS:
        return "BUS";
    case SIGFPE:
        return "FPE";
    case SIGILL:
        return "ILL";
    case SIGSYS:
        return "SYS";
    case SIGTRAP:
        return "TRAP";
    default:
        return "?";
    }
}

/* Whether the child ended well, or it is not known how because the host reaps children by itself. Otherwise an error
 * that says how it ended: too slow, killed, crashed, not started, not confined. */
static bool judge_child(const struct collector *c, struct shapeproof_error *error)
{
    const char *library = c->job->library;
    if (c->child.lost || (WIFEXITED(c->child.status) && WEXITSTATUS(c->child.status) == 0)) return true;
    if (WIFSIGNALED(c->child.status) && WTERMSIG(c->child.status) == SIGXCPU) return fail_slow(c, error);
    if (WIFSIGNALED(c->child.status) && WTERMSIG(c->child.status) == SIGKILL)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "%s was killed by the system: out of memory or time", library);
    if (WIFSIGNALED(c->child.status))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                       "%s crashed on this file (SIG%s): corrupt or malicious", library,
                       crash_name(WTERMSIG(c->child.status)));
    if (WEXITSTATUS(c->child.status) == SP_CHILD_UNPREPARED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s could not be started", library);
    if (WEXITSTATUS(c->child.status) == SP_CHILD_UNCONFINED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "the sandbox for %s could not be set up (%s)",
                       library, sp_system_sandbox);
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                   "%s ended with status %d on this file: corrupt or malicious", library, WEXITSTATUS(c->child.status));
}

bool sp_sandbox_run(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error)
{
    struct collector c = {.job = job};
    if (!sp_child_start(&c.child, run_child, job, error)) return false;
    const bool complete = collect_output(&c, error);
    sp_child_finish(&c.child, !complete);
    *bytes = c.bytes;
    *length = c.length;
    if (complete && judge_child(&c, error)) return true;
    free(c.bytes);
    return false;
}
