/* SPDX-License-Identifier: MIT
 * Lets one call of a program fail: drive.c says which, and plan.h how. Calls are counted from the start of `main` over
 * a process and all its children. It is made in one of two ways:
 *
 *   a library for LD_PRELOAD     All calls of the program and of its libraries are counted. What the C library calls
 *                                inside itself is not seen: fopen counts as an open, readdir as a read, but the write
 *                                of a stream is beyond reach (tests/cli/failures.test writes to /dev/full).
 *   with WRAPPED, linked into    The linker replaces the calls (--wrap=NAME, for each NAME in the list below) of the
 *   the program                  objects and archives that it links. Those of shared libraries do not fail. This
 *                                works with AddressSanitizer, whose own malloc must be the first of all libraries. */
#define _GNU_SOURCE
#include "plan.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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
static int is_faulty(enum fault fault, const char *call)
{
    if (!plan || plan->fault != (int)fault) return 0;
    if (atomic_fetch_add(&plan->calls, 1) + 1 != plan->at) return 0;
    strncpy(plan->call, call, sizeof plan->call - 1);
    atomic_store(&plan->fired, 1);
    errno = plan->error;
    return 1;
}

#ifdef WRAPPED
#define OURS(name) __wrap_##name
#define ORIGINAL(type, name, parameters)                                                                               \
    extern type __real_##name parameters;                                                                              \
    static type(*const original) parameters = __real_##name;
#else
#define OURS(name) name
#define ORIGINAL(type, name, parameters)                                                                               \
    static type(*original) parameters;                                                                                 \
    if (!original) *(void **)&original = next(#name);

/* The function of that name in the C library. */
static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}
#endif

/* Defines the function NAME, which fails with FAILED when it is its turn. The Makefile reads the names off the lines
 * that begin with FAILING and OPENING. */
#define FAILING(fault, type, failed, name, parameters, arguments)                                                      \
    type OURS(name) parameters;                                                                                        \
    type OURS(name) parameters                                                                                         \
    {                                                                                                                  \
        ORIGINAL(type, name, parameters)                                                                               \
        if (is_faulty(fault, #name)) return failed;                                                                    \
        return original arguments;                                                                                     \
    }

/* ---- memory ---- */

#ifdef WRAPPED
FAILING(FAULT_MEMORY, void *, NULL, malloc, (size_t size), (size))
FAILING(FAULT_MEMORY, void *, NULL, calloc, (size_t count, size_t size), (count, size))
FAILING(FAULT_MEMORY, void *, NULL, realloc, (void *memory, size_t size), (memory, size))
FAILING(FAULT_MEMORY, char *, NULL, strdup, (const char *text), (text))
FAILING(FAULT_MEMORY, char *, NULL, strndup, (const char *text, size_t length), (text, length))
FAILING(FAULT_MEMORY, int, -1, vasprintf, (char **into, const char *format, va_list all), (into, format, all))
FAILING(FAULT_MEMORY, FILE *, NULL, open_memstream, (char **into, size_t *size), (into, size))
#else
/* glibc has its own functions under a second name, which needs no look-up that allocates. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) { return is_faulty(FAULT_MEMORY, "malloc") ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size)
{
    return is_faulty(FAULT_MEMORY, "calloc") ? NULL : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size)
{
    return is_faulty(FAULT_MEMORY, "realloc") ? NULL : __libc_realloc(memory, size);
}
#endif

/* ---- system calls ---- */

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

FAILING(FAULT_STAT, char *, NULL, realpath, (const char *path, char *into), (path, into))

#ifdef WRAPPED
/* Not files of /proc: a child limits its memory by what it has mapped (/proc/self/statm), and if it does not know that,
 * the limit leaves no room for what AddressSanitizer has mapped. */
#define is_faulty(fault, name) (strncmp(path, "/proc/", 6) != 0 && is_faulty(fault, name))
FAILING(FAULT_OPEN, FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
#undef is_faulty
#else
FAILING(FAULT_OPEN, FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
#endif
FAILING(FAULT_OPEN, DIR *, NULL, opendir, (const char *path), (path))
FAILING(FAULT_OPEN, DIR *, NULL, fdopendir, (int fd), (fd))
FAILING(FAULT_OPEN, FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode))
FAILING(FAULT_OPEN, FILE *, NULL, tmpfile, (void), ())
FAILING(FAULT_OPEN, int, -1, mkostemp, (char *path, int flags), (path, flags))
FAILING(FAULT_OPEN, int, -1, dup2, (int from, int to), (from, to))

/* The third argument is there only with O_CREAT and O_TMPFILE; read in any case, as the C library does. */
#define OPENING(name, parameters, last, arguments)                                                                     \
    int OURS(name) parameters;                                                                                         \
    int OURS(name) parameters                                                                                          \
    {                                                                                                                  \
        ORIGINAL(int, name, parameters)                                                                                \
        va_list rest;                                                                                                  \
        va_start(rest, last);                                                                                          \
        const mode_t mode = va_arg(rest, mode_t);                                                                      \
        va_end(rest);                                                                                                  \
        if (is_faulty(FAULT_OPEN, #name)) return -1;                                                                   \
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
FAILING(FAULT_POLL, int, -1, ppoll,
        (struct pollfd * polled, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
        (polled, count, timeout, mask))
FAILING(FAULT_WAIT, pid_t, -1, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
FAILING(FAULT_WAIT, int, -1, waitid, (idtype_t kind, id_t id, siginfo_t *info, int options), (kind, id, info, options))
FAILING(FAULT_WRITE, ssize_t, -1, write, (int fd, const void *from, size_t size), (fd, from, size))
FAILING(FAULT_WRITE, ssize_t, -1, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
FAILING(FAULT_WRITE, ssize_t, -1, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
FAILING(FAULT_WRITE, int, -1, ftruncate, (int fd, off_t size), (fd, size))
FAILING(FAULT_WRITE, int, -1, fsync, (int fd), (fd))
FAILING(FAULT_WRITE, int, -1, rename, (const char *from, const char *to), (from, to))
FAILING(FAULT_WRITE, int, -1, renameat, (int fd, const char *from, int to_fd, const char *to), (fd, from, to_fd, to))
FAILING(FAULT_WRITE, int, -1, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))

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
