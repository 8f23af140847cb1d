/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/process/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/call.h"
#include "base/error.h"
#include "base/fault.h"

/* ---- the parent ---- */

pid_t sp_child_fork(int *end, const char **call)
{
    int ends[2];
    *call = "pipe";
    if (sp_system_pipe(ends) != 0) {
        sp_fault_note("pipe", "a child process", errno);
        return -1;
    }
    *call = "fork";
    const pid_t pid = fork();
    const int why = errno;
    if (pid < 0) sp_fault_note("fork", "a child process", why);
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

static void end_without_memory(void) { _exit(SP_CHILD_NO_MEMORY); }

static void kill_child(void *pid)
{
    int status;
    kill((pid_t)(intptr_t)pid, SIGKILL);
    sp_child_wait((pid_t)(intptr_t)pid, &status, 0);
}

bool sp_child_start(struct sp_child *child, void (*run)(const void *context, int to), const void *context,
                    struct shapeproof_error *error)
{
    int end;
    const char *call;
    sp_prepare_to_hold(2);
    const pid_t pid = sp_child_fork(&end, &call);
    if (pid < 0)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "no process can be started: %s: %s", call,
                       strerror(errno));
    if (pid == 0) {
        sp_call_forget();
        sp_memory_handler = end_without_memory;
        run(context, end);
        _exit(0); /* without closing anything: libraries crash on that, too */
    }
    *child = (struct sp_child){.pid = pid, .from = sp_hold_fd(end)};
    sp_hold((void *)(intptr_t)pid, kill_child);
    return true;
}

void sp_child_reap(struct sp_child *child, int options)
{
    if (child->reaped) return;
    const pid_t got = sp_child_wait(child->pid, &child->status, options);
    child->lost = got < 0;
    child->reaped = got != 0;
    if (child->reaped) sp_let_be((void *)(intptr_t)child->pid, kill_child);
}

void sp_child_finish(struct sp_child *child, bool now)
{
    enum { LOOKS = 5000 }; /* of a fifth of a millisecond each: a second */
    const struct timespec pause = {.tv_nsec = 1000000000 / LOOKS};
    sp_close(child->from);
    for (int i = 0; !child->reaped && !now && i < LOOKS; i++) {
        sp_child_reap(child, WNOHANG);
        if (!child->reaped) nanosleep(&pause, NULL);
    }
    sp_child_reap(child, WNOHANG); /* a call that failed may have forgotten that it was reaped */
    if (child->reaped) return;
    kill(child->pid, SIGKILL);
    sp_child_reap(child, 0);
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

static void close_all_but(const int *keep, size_t count)
{
    for (unsigned next = 0;;) {
        unsigned kept = ~0U;
        for (size_t i = 0; i < count; i++)
            if (keep[i] >= 0 && (unsigned)keep[i] >= next && (unsigned)keep[i] < kept) kept = (unsigned)keep[i];
        if (kept == ~0U) {
            sp_system_close_range(next, ~0U);
            return;
        }
        if (kept > next) sp_system_close_range(next, kept - 1);
        next = kept + 1;
    }
}

void sp_child_isolate(const int *keep, size_t count)
{
    forget_signals();
    sp_system_end_with_parent();
    sp_system_forbid_dumps();
    close_all_but(keep, count);
}

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

/* ---- the child: crashes without memory ---- */

static void judge_crash(int number)
{
    if (errno == ENOMEM) _exit(SP_CHILD_NO_MEMORY);
    raise(number); /* SA_RESETHAND: as if it had not been handled */
}

static void judge_exit(void)
{
    if (errno == ENOMEM) _exit(SP_CHILD_NO_MEMORY);
}

/* The handler has a stack of its own, because libhdf5 can use up the other one: without memory for its first object it
 * calls itself again to report that. */
void sp_child_watch_for_crashes(void)
{
    enum { STACK_BYTES = 64 * 1024 }; /* the state of a processor with AVX-512 or AMX takes up to 11 KiB of it */
    static char stack[STACK_BYTES];
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
    const struct sigaction action = {.sa_handler = judge_crash, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK)};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) sigaction(crashes[i], &action, NULL);
    atexit(judge_exit);
    errno = 0;
}

/* ---- the child: its filter ---- */

static void end_without_filter(int why)
{
    if (why == ENOMEM) _exit(SP_CHILD_NO_MEMORY);
    _exit(why ? SP_CHILD_FAULT + why : SP_CHILD_UNCONFINED);
}

static void end_endless_loop(int number)
{
    (void)number;
    end_without_filter(errno == ENOMEM ? ENOMEM : 0);
}

/* Making a filter takes about 0.1 ms of processor time. libseccomp may loop for ever when it gets no memory, so
 * a signal ends the child after a quarter of a second. */
void sp_child_make_filter(struct sp_filter *filter, enum sp_confinement confinement, int out)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 250000}}, never = {.it_value = {.tv_sec = 0}};
    signal(SIGXFSZ, SIG_IGN); /* so that a file-size limit is an error of writing the filter into a file in memory */
    signal(SIGPROF, end_endless_loop);
    setitimer(ITIMER_PROF, &soon, NULL);
    if (!sp_system_make_filter(filter, confinement, out)) end_without_filter(errno);
    setitimer(ITIMER_PROF, &never, NULL);
    signal(SIGPROF, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
}
