/* SPDX-License-Identifier: MIT
 * A library for LD_PRELOAD that lets one call of a program fail: `drive.c` says which, and plan.h how. Calls are
 * counted from the start of `main` over a process and all its children. What the C library calls inside itself is not
 * seen: fopen counts as an open, readdir as a read, but the write of a stream is beyond reach (exits.sh fills it). */
#define _GNU_SOURCE
#include "plan.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct plan *plan; /* shared with the driver and with the children; NULL before the start and without a driver */

/* Whether this call is to fail; errno is set then. */
static int is_faulty(enum fault fault)
{
    if (!plan || plan->fault != (int)fault) return 0;
    if (atomic_fetch_add(&plan->calls, 1) + 1 != plan->at) return 0;
    atomic_store(&plan->fired, 1);
    errno = plan->error;
    return 1;
}

/* ---- memory: glibc has its own functions under a second name, which needs no look-up that allocates ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) { return is_faulty(FAULT_MEMORY) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return is_faulty(FAULT_MEMORY) ? NULL : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return is_faulty(FAULT_MEMORY) ? NULL : __libc_realloc(memory, size); }

/* ---- system calls ---- */

/* The function of that name in the C library. */
static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

/* Defines the function NAME, which fails with FAILED when it is its turn. */
#define FAILING(fault, type, failed, name, parameters, arguments)                                                      \
    type name parameters                                                                                               \
    {                                                                                                                  \
        static type(*original) parameters;                                                                             \
        if (is_faulty(fault)) return failed;                                                                           \
        if (!original) *(void **)&original = next(#name);                                                              \
        return original arguments;                                                                                     \
    }

FAILING(FAULT_READ, ssize_t, -1, read, (int fd, void *into, size_t size), (fd, into, size))
FAILING(FAULT_READ, ssize_t, -1, pread, (int fd, void *into, size_t size, off_t at), (fd, into, size, at))
FAILING(FAULT_READ, ssize_t, -1, pread64, (int fd, void *into, size_t size, off64_t at), (fd, into, size, at))
FAILING(FAULT_READ, struct dirent *, NULL, readdir, (DIR * folder), (folder))
FAILING(FAULT_READ, struct dirent64 *, NULL, readdir64, (DIR * folder), (folder))

FAILING(FAULT_STAT, int, -1, stat, (const char *path, struct stat *into), (path, into))
FAILING(FAULT_STAT, int, -1, fstat, (int fd, struct stat *into), (fd, into))
FAILING(FAULT_STAT, int, -1, lstat, (const char *path, struct stat *into), (path, into))
FAILING(FAULT_STAT, int, -1, fstatat, (int fd, const char *path, struct stat *into, int how), (fd, path, into, how))
FAILING(FAULT_STAT, int, -1, stat64, (const char *path, struct stat64 *into), (path, into))
FAILING(FAULT_STAT, int, -1, fstat64, (int fd, struct stat64 *into), (fd, into))
FAILING(FAULT_STAT, int, -1, access, (const char *path, int mode), (path, mode))
FAILING(FAULT_STAT, int, -1, faccessat, (int fd, const char *path, int mode, int how), (fd, path, mode, how))

FAILING(FAULT_OPEN, FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
FAILING(FAULT_OPEN, DIR *, NULL, opendir, (const char *path), (path))
FAILING(FAULT_OPEN, DIR *, NULL, fdopendir, (int fd), (fd))

/* The third argument is there only with O_CREAT and O_TMPFILE; read in any case, as the C library does. */
#define OPENING(name, parameters, last, arguments)                                                                     \
    int name parameters                                                                                                \
    {                                                                                                                  \
        static int(*original) parameters;                                                                              \
        va_list rest;                                                                                                  \
        va_start(rest, last);                                                                                          \
        const mode_t mode = va_arg(rest, mode_t);                                                                      \
        va_end(rest);                                                                                                  \
        if (is_faulty(FAULT_OPEN)) return -1;                                                                          \
        if (!original) *(void **)&original = next(#name);                                                              \
        return original arguments;                                                                                     \
    }

OPENING(open, (const char *path, int flags, ...), flags, (path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), flags, (path, flags, mode))
OPENING(openat, (int fd, const char *path, int flags, ...), flags, (fd, path, flags, mode))
OPENING(openat64, (int fd, const char *path, int flags, ...), flags, (fd, path, flags, mode))

FAILING(FAULT_FORK, pid_t, -1, fork, (void), ())
FAILING(FAULT_PIPE, int, -1, pipe, (int ends[2]), (ends))
FAILING(FAULT_PIPE, int, -1, pipe2, (int ends[2], int flags), (ends, flags))
FAILING(FAULT_POLL, int, -1, poll, (struct pollfd * polled, nfds_t count, int timeout), (polled, count, timeout))
FAILING(FAULT_WAIT, pid_t, -1, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
FAILING(FAULT_WRITE, ssize_t, -1, write, (int fd, const void *from, size_t size), (fd, from, size))
FAILING(FAULT_WRITE, int, -1, ftruncate, (int fd, off_t size), (fd, size))

/* The driver leaves the plan open as a descriptor. The variable is removed, so that a program run by the command is not
 * counted: what a pager does is its own affair. */
__attribute__((constructor)) static void start(void)
{
    const char *fd = getenv(PLAN_FD);
    if (!fd) return;
    void *shared = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
    if (shared == MAP_FAILED) return;
    close(atoi(fd));
    unsetenv(PLAN_FD);
    plan = shared;
}
