/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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

void sp_child_forget_signals(void)
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

void sp_child_close_all_but(const int *keep, size_t count)
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

bool sp_child_limit(int resource, uint64_t soft, uint64_t hard)
{
    struct rlimit old;
    if (getrlimit((__rlimit_resource_t)resource, &old) != 0) return false;
    const struct rlimit now = {soft < old.rlim_max ? soft : old.rlim_max, hard < old.rlim_max ? hard : old.rlim_max};
    return setrlimit((__rlimit_resource_t)resource, &now) == 0;
}
