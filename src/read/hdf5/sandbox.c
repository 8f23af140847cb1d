/* SPDX-License-Identifier: MIT
 * See sandbox.h. Top half: the child confines itself. Bottom half: the parent collects and judges. */
#define _GNU_SOURCE
#include "read/hdf5/sandbox.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/process/child.h"

enum { EXIT_UNPREPARED = 71, EXIT_UNCONFINED = 72 };

/* ---- the child ---- */

/* Bytes of address space in use: a host may have mapped far more than the limit before us. */
static uint64_t address_space(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (!statm) return 0;
    if (fscanf(statm, "%lu", &pages) != 1) pages = 0;
    fclose(statm);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool set_limits(void)
{
    enum { MOST_SECONDS = SP_SANDBOX_CPU_SECONDS + SP_SANDBOX_OUTPUT_MIB * 1024 / SP_SANDBOX_PROGRESS_KIB };
    const uint64_t memory = address_space() + ((uint64_t)SP_SANDBOX_MEMORY_MIB << 20);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0); /* RLIMIT_CORE does not hold for a core_pattern that is a pipe */
    return sp_child_limit(RLIMIT_AS, memory, memory) && sp_child_limit(RLIMIT_CPU, MOST_SECONDS, MOST_SECONDS + 1) &&
           sp_child_limit(RLIMIT_CORE, 0, 0) && sp_child_limit(RLIMIT_FSIZE, 0, 0) &&
           sp_child_limit(RLIMIT_NOFILE, 0, 0);
}

/* Calls that are allowed whatever their arguments: memory, locks, reading what is already open, dying. */
static const int harmless[] = {
    SCMP_SYS(read),          SCMP_SYS(pread64),      SCMP_SYS(lseek),   SCMP_SYS(fstat),      SCMP_SYS(brk),
    SCMP_SYS(munmap),        SCMP_SYS(mremap),       SCMP_SYS(madvise), SCMP_SYS(futex),      SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(sigaltstack),   SCMP_SYS(rt_sigreturn), SCMP_SYS(getpid),  SCMP_SYS(gettid),     SCMP_SYS(sched_yield),
    SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(exit),    SCMP_SYS(exit_group), SCMP_SYS(close),
};

/* Everything else fails with EPERM, so that the library sees a refusal and can say what it wanted. */
static bool confine(int out)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter) return false;
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof harmless / sizeof *harmless; i++)
        ok = seccomp_rule_add(filter, SCMP_ACT_ALLOW, harmless[i], 0) == 0;
    ok =
        ok &&
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)out, 0)) == 0 &&
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                         SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)) == 0 && /* abort() */
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0 &&
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0;
    ok = ok && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return ok;
}

static _Noreturn void child(const struct sp_sandbox_job *job, int out)
{
    sp_child_forget_signals();
    const int keep[] = {out, job->keep_fd};
    sp_child_close_all_but(keep, sizeof keep / sizeof *keep);
    if (!job->prepare(job->context)) _exit(EXIT_UNPREPARED);
    if (!set_limits() || !confine(out)) _exit(EXIT_UNCONFINED);
    job->run(job->context, out);
    _exit(0); /* without closing anything: libraries crash on that, too */
}

/* ---- the parent ---- */

struct collector {
    const struct sp_sandbox_job *job;
    pid_t pid;
    int in;
    bool reaped, lost; /* lost: the host reaps children by itself, so that the status is not known */
    int status;
    char *bytes;
    size_t length, capacity;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void reap(struct collector *c, int options)
{
    if (c->reaped) return;
    const pid_t got = sp_child_wait(c->pid, &c->status, options);
    c->lost = got < 0;
    c->reaped = got != 0;
}

/* One read; false at the end of the stream. */
static bool take_output(struct collector *c)
{
    enum { STEP = 64 * 1024 };
    if (c->capacity - c->length < STEP) {
        c->capacity = c->capacity ? c->capacity * 2 : 2 * STEP;
        c->bytes = sp_realloc(c->bytes, c->capacity, 1);
    }
    const ssize_t got = read(c->in, c->bytes + c->length, STEP);
    if (got > 0) c->length += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Whether the child has had more processor time than its results are worth; the limit of the system comes later. */
static bool is_too_slow(const struct collector *c)
{
    clockid_t clock;
    struct timespec used;
    const uint64_t allowed = SP_SANDBOX_CPU_SECONDS + (uint64_t)(c->length / ((size_t)SP_SANDBOX_PROGRESS_KIB << 10));
    if (c->reaped || clock_getcpuclockid(c->pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return false;
    return (uint64_t)used.tv_sec >= allowed;
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
    struct pollfd ready = {.fd = c->in, .events = POLLIN};
    int64_t last = now_ms();
    for (bool dead = false;; dead = c->reaped) {
        const int events = poll(&ready, 1, 50);
        if (events > 0 && !take_output(c)) return true;
        if (events <= 0 && dead) return true;
        if (events <= 0) reap(c, WNOHANG);
        if (events > 0) last = now_ms();
        if (c->length > (size_t)SP_SANDBOX_OUTPUT_MIB << 20)
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "its names and attributes need more than %d MiB", SP_SANDBOX_OUTPUT_MIB);
        if (is_too_slow(c)) return fail_slow(c, error);
        if (now_ms() - last > SP_SANDBOX_WALL_SECONDS * 1000)
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                           "gave up on %s after %d s without a result", c->job->library, SP_SANDBOX_WALL_SECONDS);
    }
}

/* The stream has ended, so the child is dying: wait for it, but not for a hostile one that goes on. */
static void finish_child(struct collector *c, bool kill_now)
{
    const struct timespec pause = {.tv_nsec = 200 * 1000};
    for (int i = 0; !c->reaped && !kill_now && i < 5000; i++) {
        reap(c, WNOHANG);
        if (!c->reaped) nanosleep(&pause, NULL);
    }
    if (c->reaped) return;
    kill(c->pid, SIGKILL);
    reap(c, 0);
}

static bool judge_child(const struct collector *c, struct shapeproof_error *error)
{
    const char *library = c->job->library, *name = NULL;
    if (c->lost || (WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0)) return true;
    if (WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGXCPU) return fail_slow(c, error);
    if (WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGKILL)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "%s was killed by the system: out of memory or time", library);
    if (WIFSIGNALED(c->status)) name = sigabbrev_np(WTERMSIG(c->status));
    if (WIFSIGNALED(c->status))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                       "%s crashed on this file (SIG%s): corrupt or malicious", library, name ? name : "?");
    if (WEXITSTATUS(c->status) == EXIT_UNPREPARED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s could not be started", library);
    if (WEXITSTATUS(c->status) == EXIT_UNCONFINED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO,
                       "the sandbox for %s could not be set up (seccomp, rlimits)", library);
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                   "%s ended with status %d on this file: corrupt or malicious", library, WEXITSTATUS(c->status));
}

bool sp_sandbox_run(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error)
{
    int end;
    const pid_t pid = sp_child_fork(&end);
    if (pid < 0)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "no process can be started: %s",
                       strerror(errno));
    if (pid == 0) child(job, end);
    struct collector c = {.job = job, .pid = pid, .in = end};
    const bool complete = collect_output(&c, error);
    close(end);
    finish_child(&c, !complete);
    *bytes = c.bytes;
    *length = c.length;
    if (complete && judge_child(&c, error)) return true;
    free(c.bytes);
    return false;
}
