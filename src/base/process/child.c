/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

/* ---- the parent ---- */

pid_t sp_child_fork(int *end)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    const pid_t pid = fork();
    const int why = errno;
    *end = ends[pid == 0];
    close(ends[pid != 0]);
    if (pid < 0) close(*end);
    errno = why;
    return pid;
}

pid_t sp_child_wait(pid_t pid, int *status, int options)
{
    pid_t got;
    do got = waitpid(pid, status, options);
    while (got < 0 && errno == EINTR);
    return got;
}

bool sp_child_start(struct sp_child *child, void (*run)(const void *context, int to), const void *context,
                    struct shapeproof_error *error)
{
    int end;
    const pid_t pid = sp_child_fork(&end);
    if (pid < 0)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "no process can be started: %s",
                       strerror(errno));
    if (pid == 0) {
        run(context, end);
        _exit(0); /* without closing anything: libraries crash on that, too */
    }
    *child = (struct sp_child){.pid = pid, .from = end};
    return true;
}

void sp_child_reap(struct sp_child *child, int options)
{
    if (child->reaped) return;
    const pid_t got = sp_child_wait(child->pid, &child->status, options);
    child->lost = got < 0;
    child->reaped = got != 0;
}

void sp_child_finish(struct sp_child *child, bool now)
{
    enum { LOOKS = 5000 }; /* of a fifth of a millisecond each: a second */
    const struct timespec pause = {.tv_nsec = 1000000000 / LOOKS};
    close(child->from);
    for (int i = 0; !child->reaped && !now && i < LOOKS; i++) {
        sp_child_reap(child, WNOHANG);
        if (!child->reaped) nanosleep(&pause, NULL);
    }
    if (child->reaped) return;
    kill(child->pid, SIGKILL);
    sp_child_reap(child, 0);
}

int64_t sp_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- the child: what is not its own ---- */

/* A crash must be seen as one, and not by the host's own crash reporter. */
static void forget_signals(void)
{
    sigset_t none;
    for (int signal_number = 1; signal_number < NSIG; signal_number++) signal(signal_number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_range_of(unsigned first, unsigned last)
{
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
    const long limit = sysconf(_SC_OPEN_MAX); /* a kernel before 5.9 */
    for (unsigned fd = first; fd <= last && fd < (unsigned long)limit; fd++) close((int)fd);
}

static void close_all_but(const int *keep, size_t count)
{
    for (unsigned next = 0;;) {
        unsigned kept = ~0U;
        for (size_t i = 0; i < count; i++)
            if (keep[i] >= 0 && (unsigned)keep[i] >= next && (unsigned)keep[i] < kept) kept = (unsigned)keep[i];
        if (kept == ~0U) {
            close_range_of(next, ~0U);
            return;
        }
        if (kept > next) close_range_of(next, kept - 1);
        next = kept + 1;
    }
}

void sp_child_isolate(const int *keep, size_t count)
{
    forget_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0); /* RLIMIT_CORE does not hold for a core_pattern that is a pipe */
    close_all_but(keep, count);
}

/* ---- the child: what it may do ---- */

/* What getrlimit takes for a number: an enum in glibc, an int elsewhere. */
#ifdef __GLIBC__
typedef __rlimit_resource_t rlimit_number;
#else
typedef int rlimit_number;
#endif

bool sp_child_limit(int resource, uint64_t soft, uint64_t hard)
{
    struct rlimit old;
    if (getrlimit((rlimit_number)resource, &old) != 0) return false;
    const struct rlimit now = {soft < old.rlim_max ? soft : old.rlim_max, hard < old.rlim_max ? hard : old.rlim_max};
    return setrlimit((rlimit_number)resource, &now) == 0;
}

/* Whatever their arguments: memory, locks, reading what is already open, dying. */
static const int harmless[] = {
    SCMP_SYS(read),          SCMP_SYS(pread64),      SCMP_SYS(lseek),   SCMP_SYS(fstat),      SCMP_SYS(brk),
    SCMP_SYS(munmap),        SCMP_SYS(mremap),       SCMP_SYS(madvise), SCMP_SYS(futex),      SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(sigaltstack),   SCMP_SYS(rt_sigreturn), SCMP_SYS(getpid),  SCMP_SYS(gettid),     SCMP_SYS(sched_yield),
    SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(exit),    SCMP_SYS(exit_group), SCMP_SYS(close),
};

static bool allow_calls(scmp_filter_ctx filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) != 0) return false;
    return true;
}

/* Memory that is never executed, and signals to itself, which abort() sends. */
static bool allow_needed(scmp_filter_ctx filter)
{
    return allow_calls(filter, harmless, sizeof harmless / sizeof *harmless) &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                            SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) ==
               0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) ==
               0;
}

static bool allow_output(scmp_filter_ctx filter, int out)
{
    return out < 0 || seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1,
                                       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)out, 0)) == 0;
}

bool sp_child_confine(const struct sp_system_calls *allowed)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter) return false;
    const bool ok = allow_needed(filter) && allow_calls(filter, allowed->calls, allowed->count) &&
                    allow_output(filter, allowed->out) && (!allowed->allow || allowed->allow(filter)) &&
                    seccomp_load(filter) == 0;
    seccomp_release(filter);
    return ok;
}
