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
#include "base/budget.h"
#include "base/clock.h"
#include "base/fault.h"
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
    struct sp_filter filter;
    sp_child_isolate(keep, sizeof keep / sizeof *keep);
    sp_child_watch_for_crashes();
    if (!job->prepare(job->context)) _exit(errno == ENOMEM ? SP_CHILD_NO_MEMORY : SP_CHILD_UNPREPARED);
    sp_child_make_filter(&filter, SP_CONFINED_TO_READING, out);
    if (!set_limits() || !sp_system_confine(&filter)) _exit(errno == ENOMEM ? SP_CHILD_NO_MEMORY : SP_CHILD_UNCONFINED);
    job->run(job->context, out);
}

/* ---- the parent ---- */

/* Whether the child has had more processor time than its results are worth; the limit of the system comes later. */
static bool is_too_slow(const struct sp_sandbox_stream *stream)
{
    const uint64_t allowed = SP_SANDBOX_CPU_SECONDS + stream->taken / ((uint64_t)SP_SANDBOX_PROGRESS_KIB << 10);
    return !stream->child.reaped && sp_system_seconds_used(stream->child.pid) >= allowed;
}

static bool fail_slow(const struct sp_sandbox_stream *stream, struct shapeproof_error *error)
{
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%s needed more than %d s of processor time",
                   stream->job->library, SP_SANDBOX_CPU_SECONDS);
}

/* Waits for results, or for the end of the stream; *ended is set if nothing can follow. Another process of the host may
 * have inherited the pipe and keep it open, so the death of the child ends it as well, one silent poll after it was
 * noticed. False with an error when the child is too slow. */
static bool await_output(struct sp_sandbox_stream *stream, bool *ended, struct shapeproof_error *error)
{
    struct pollfd ready = {.fd = stream->child.from, .events = POLLIN};
    const int64_t begin = sp_clock_ms();
    *ended = false;
    for (bool dead = stream->child.reaped;; dead = stream->child.reaped) {
        if (is_too_slow(stream)) return fail_slow(stream, error);
        if (poll(&ready, 1, 50) > 0) return true;
        sp_budget_check_time();
        *ended = dead;
        if (dead) return true;
        sp_child_reap(&stream->child, WNOHANG);
        if (sp_clock_ms() - begin > SP_SANDBOX_WALL_SECONDS * 1000)
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "gave up on %s after %d s without a result", stream->job->library, SP_SANDBOX_WALL_SECONDS);
    }
}

/* At most `length` bytes, once there are some; *got is 0 at the end of the stream. */
static bool take_some(struct sp_sandbox_stream *stream, void *into, size_t length, size_t *got,
                      struct shapeproof_error *error)
{
    bool ended;
    ssize_t some;
    *got = 0;
    do {
        if (!await_output(stream, &ended, error)) return false;
        if (ended) return true;
        some = read(stream->child.from, into, length);
    } while (some < 0 && errno == EINTR);
    if (some < 0) {
        const int why = errno;
        sp_fault_note("read", stream->job->library, why);
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "read from the process of %s: %s",
                       stream->job->library, strerror(why));
    }
    *got = (size_t)some;
    stream->taken += *got;
    sp_budget_read(*got); /* the child has read at least so much of the file */
    return true;
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

/* An error of a child that had no memory, or whose call failed; true for any other status. */
static bool judge_faults(const char *library, int status, struct shapeproof_error *error)
{
    if (status == SP_CHILD_NO_MEMORY) {
        sp_fault_note_reason("malloc", library, "out of memory");
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "%s: out of memory, that of the system or the %d MiB that it may use", library,
                       SP_SANDBOX_MEMORY_MIB);
    }
    if (status <= SP_CHILD_FAULT || status >= SP_CHILD_FAULT + SP_CHILD_MOST_ERRNO) return true;
    sp_fault_note("read or write", library, status - SP_CHILD_FAULT);
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "the process of %s could not read or write: %s",
                   library, strerror(status - SP_CHILD_FAULT));
}

/* Whether the child ended well, or it is not known how because the host reaps children by itself. Otherwise an error
 * that says how it ended: too slow, killed, crashed, not started, not confined. */
static bool judge_child(const struct sp_sandbox_stream *stream, struct shapeproof_error *error)
{
    const char *library = stream->job->library;
    const int status = stream->child.status;
    if (stream->child.lost || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return true;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) return fail_slow(stream, error);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "%s was killed by the system: out of memory or time", library);
    if (WIFSIGNALED(status))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                       "%s crashed on this file (SIG%s): corrupt or malicious", library, crash_name(WTERMSIG(status)));
    if (!judge_faults(library, WEXITSTATUS(status), error)) return false;
    if (WEXITSTATUS(status) == SP_CHILD_UNPREPARED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s could not be started", library);
    if (WEXITSTATUS(status) == SP_CHILD_UNCONFINED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "the sandbox for %s could not be set up (%s)",
                       library, sp_system_sandbox);
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                   "%s ended with status %d on this file: corrupt or malicious", library, WEXITSTATUS(status));
}

/* All results, into memory that the caller frees. */
static bool collect_output(struct sp_sandbox_stream *stream, char **bytes, size_t *length,
                           struct shapeproof_error *error)
{
    enum { STEP = 64 * 1024 };
    size_t capacity = 0, got = 1;
    while (got) {
        if (capacity - *length < STEP) {
            capacity = capacity ? capacity * 2 : 2 * STEP;
            *bytes = sp_realloc(*bytes, capacity, 1);
        }
        if (!take_some(stream, *bytes + *length, STEP, &got, error)) return false;
        *length += got;
        if (*length > (size_t)SP_SANDBOX_OUTPUT_MIB << 20)
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "its names and attributes need more than %d MiB", SP_SANDBOX_OUTPUT_MIB);
    }
    return true;
}

bool sp_sandbox_run(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error)
{
    struct sp_sandbox_stream stream;
    *bytes = NULL;
    *length = 0;
    if (!sp_sandbox_start(&stream, job, error)) return false;
    const bool complete = collect_output(&stream, bytes, length, error);
    sp_child_finish(&stream.child, !complete);
    if (complete && judge_child(&stream, error)) return true;
    sp_free(*bytes);
    return false;
}

bool sp_sandbox_start(struct sp_sandbox_stream *stream, const struct sp_sandbox_job *job,
                      struct shapeproof_error *error)
{
    *stream = (struct sp_sandbox_stream){.job = job};
    return sp_child_start(&stream->child, run_child, job, error);
}

bool sp_sandbox_take(struct sp_sandbox_stream *stream, void *into, size_t length, struct shapeproof_error *error)
{
    size_t got;
    for (size_t done = 0; done < length; done += got) {
        if (!take_some(stream, (char *)into + done, length - done, &got, error)) return false;
        if (got) continue;
        sp_child_finish(&stream->child, false);
        stream->ended = true;
        return judge_child(stream, error) && sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                                                     "%s ended early on this file", stream->job->library);
    }
    return true;
}

void sp_sandbox_stop(struct sp_sandbox_stream *stream)
{
    if (!stream->ended) sp_child_finish(&stream->child, true);
    stream->ended = true;
}
