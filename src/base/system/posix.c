/* SPDX-License-Identifier: MIT
 * See system.h. POSIX has no filter of system calls, so nothing confines a child but the limits of resources. */
#define _GNU_SOURCE /* MAP_ANON */
#include "base/system/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system/signals.h"

const bool sp_system_confines = false;
const char sp_system_sandbox[] = "rlimits";

bool sp_system_make_filter(struct sp_filter *filter, enum sp_confinement confinement, int out)
{
    (void)out;
    *filter = (struct sp_filter){.confinement = confinement};
    return true;
}

bool sp_system_confine(const struct sp_filter *filter)
{
    (void)filter;
    return true;
}

/* ---- what a child uses ---- */

static bool can_map_a_page(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (memory == MAP_FAILED) return false;
    munmap(memory, page);
    return true;
}

/* Nothing tells it, so it is found by doubling a limit until a page can be mapped. The limit is then as before. */
uint64_t sp_system_address_space(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0) return 0;
    const rlim_t before = limit.rlim_cur;
    bool is_enough = false;
    for (limit.rlim_cur = 1 << 24; !is_enough && limit.rlim_cur < before / 2; limit.rlim_cur *= 2)
        is_enough = setrlimit(RLIMIT_AS, &limit) != 0 || can_map_a_page();
    const uint64_t found = is_enough ? limit.rlim_cur / 2 : before;
    limit.rlim_cur = before;
    setrlimit(RLIMIT_AS, &limit);
    return found;
}

/* Only a child that has ended tells it, and then it is too late. RLIMIT_CPU holds without it. */
uint64_t sp_system_seconds_used(pid_t child)
{
    (void)child;
    return 0;
}

/* ---- processes ---- */

int sp_system_pipe(int ends[2])
{
    if (pipe(ends) != 0) return -1;
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
}

/* A child that writes to its parent ends by SIGPIPE; one that only computes, by RLIMIT_CPU. */
void sp_system_end_with_parent(void) {}

void sp_system_forbid_dumps(void) {}

/* Up to the greatest number that hosts use in practice. The limit of the system can be a thousand million. */
void sp_system_close_range(unsigned first, unsigned last)
{
    enum { MOST = 65536 };
    const long limit = sysconf(_SC_OPEN_MAX);
    const unsigned end = limit < 0 || limit > MOST ? MOST : (unsigned)limit;
    for (unsigned fd = first; fd <= last && fd < end; fd++) close((int)fd);
}

unsigned sp_system_processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (unsigned)count;
}

bool sp_signals_open(struct sp_signals *signals)
{
    signals->fd = -1;
    return true;
}

void sp_signals_close(const struct sp_signals *signals) { (void)signals; }

/* One of the signals that is pending, which it then no longer is; or 0. */
static int take_signal(const struct sp_signals *signals)
{
    sigset_t pending, one;
    if (sigpending(&pending) != 0) return 0;
    for (size_t i = 0; i < signals->count; i++) {
        int number = 0;
        if (sigismember(&pending, signals->numbers[i]) != 1) continue;
        sigemptyset(&one);
        sigaddset(&one, signals->numbers[i]);
        return sigwait(&one, &number) == 0 ? number : 0;
    }
    return 0;
}

/* poll does not return for a blocked signal, so it is called for a tenth of a second at a time. */
int sp_signals_poll(struct sp_signals *signals, struct pollfd *polled, nfds_t count, int milliseconds, int *number)
{
    enum { STEP = 100 };
    *number = 0;
    for (int left = milliseconds;;) {
        const int now = left < 0 || left > STEP ? STEP : left;
        const int events = poll(polled, count, now);
        if (events < 0) return events;
        *number = take_signal(signals);
        if (events > 0 || *number) return events;
        if (left >= 0) left -= now;
        if (left == 0) return 0;
    }
}

/* ---- memory ---- */

int sp_system_unnamed_file(const char *name)
{
    (void)name;
    FILE *stream = tmpfile(); /* removed already, or when its last descriptor is closed */
    if (!stream) return -1;
    const int fd = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0), why = errno;
    fclose(stream);
    errno = why;
    return fd;
}

void sp_system_give_back(void *memory, size_t size) { (void)memory, (void)size; }

/* POSIX has it since 2024; the systems that had it before declare it in different headers. */
int getentropy(void *buffer, size_t length);

uint64_t sp_system_random(void)
{
    uint64_t bits = 0;
    if (getentropy(&bits, sizeof bits) != 0) bits = (uint64_t)(uintptr_t)&bits; /* where the stack happens to be */
    return bits;
}
