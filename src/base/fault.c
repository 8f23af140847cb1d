/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_DIRECTORY, O_CLOEXEC */
#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call.h"

/* ---- memory ---- */

void (*sp_memory_handler)(void);
void (*sp_budget_handler)(const struct shapeproof_error *error);

void sp_out_of_memory(void)
{
    if (sp_memory_handler) sp_memory_handler();
    sp_call_unwind();
    abort(); /* not reached from a public function */
}

/* ---- system calls ---- */

static _Thread_local struct {
    unsigned depth;    /* of public functions that have begun */
    char reason[128];  /* "Input/output error"; "": nothing has failed */
    char text[1024];   /* "PATH: CALL: REASON" */
    char denied[1024]; /* the same of the first call that was not permitted since a search began; "": all were */
} fault;

void sp_fault_begin(struct shapeproof_error *error)
{
    sp_error_reset(error);
    if (!fault.depth++) *fault.reason = '\0';
}

bool sp_fault_end(struct shapeproof_error *error)
{
    fault.depth--;
    if (!*fault.reason) return true;
    if (!strstr(error->message, fault.reason)) { /* otherwise it says so, with more context */
        sp_error_reset(error);
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s", fault.text);
    }
    return false;
}

unsigned sp_fault_depth(void) { return fault.depth; }

void sp_fault_return_to(unsigned depth) { fault.depth = depth; }

bool sp_is_fault(int why)
{
    switch (why) {
    case 0:
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENAMETOOLONG:
    case EISDIR:
    case EINVAL:
    case ENXIO:
    case ENODEV:
#ifdef ENOTCAPABLE /* WASI: outside the folders that the page shows */
    case ENOTCAPABLE:
#endif
        return false;
    default:
        return true;
    }
}

void sp_search_begin(struct shapeproof_error *error)
{
    sp_fault_begin(error);
    *fault.denied = '\0';
}

bool sp_search_end(bool found, struct shapeproof_error *error)
{
    if (!sp_fault_end(error)) return false;
    return found || !*fault.denied || sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_IO, "%s", fault.denied);
}

/* The empty path of the folder in which the process is. */
static const char *shown_path(const char *path) { return *path ? path : "."; }

bool sp_fault_note(const char *call, const char *path, int why)
{
    path = shown_path(path);
    if ((why == EACCES || why == EPERM) && !*fault.denied)
        snprintf(fault.denied, sizeof fault.denied, "%s: %s: %s", path, call, strerror(why));
    if (!sp_is_fault(why)) return false;
    sp_fault_note_reason(call, path, strerror(why));
    return true;
}

void sp_fault_note_reason(const char *call, const char *path, const char *reason)
{
    if (*fault.reason) return;
    snprintf(fault.reason, sizeof fault.reason, "%s", reason);
    snprintf(fault.text, sizeof fault.text, "%s: %s: %s", shown_path(path), call, reason);
}

bool sp_path_stat(int directory_fd, const char *path, struct stat *info)
{
    if (fstatat(directory_fd, path, info, 0) == 0) return true;
    const int why = errno;
    sp_fault_note("stat", path, why);
    errno = why;
    return false;
}

bool sp_path_exists(int directory_fd, const char *path)
{
    if (faccessat(directory_fd, path, F_OK, 0) == 0) return true;
    sp_fault_note("access", path, errno);
    return false;
}

bool sp_path_is_file(int directory_fd, const char *path)
{
    struct stat info;
    return sp_path_stat(directory_fd, path, &info) && S_ISREG(info.st_mode);
}

bool sp_path_is_folder(int directory_fd, const char *path)
{
    struct stat info;
    return sp_path_stat(directory_fd, path, &info) && S_ISDIR(info.st_mode);
}

bool sp_path_may_be_file(int directory_fd, const char *path)
{
    struct stat info;
    if (sp_path_stat(directory_fd, path, &info)) return S_ISREG(info.st_mode);
    if (!sp_is_fault(errno)) return false;
    const int fd = openat(directory_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return sp_is_fault(errno);
    close(fd);
    return true;
}

bool sp_path_is_there(int directory_fd, const char *path)
{
    struct stat info;
    return fstatat(directory_fd, path, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

bool sp_path_may_be_folder(int directory_fd, const char *path)
{
    struct stat info;
    if (sp_path_stat(directory_fd, path, &info)) return S_ISDIR(info.st_mode);
    if (!sp_is_fault(errno)) return false;
    const int fd = openat(directory_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static void close_stream(void *stream) { closedir(stream); }

DIR *sp_folder_stream(int directory_fd, const char *path)
{
    const int fd = openat(directory_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (stream) sp_hold(stream, close_stream);
    if (stream) return stream;
    const int why = errno;
    if (fd >= 0) close(fd);
    sp_fault_note("open", path, why);
    errno = why;
    return NULL;
}

const struct dirent *sp_folder_next(DIR *stream, const char *path)
{
    errno = 0;
    const struct dirent *entry = readdir(stream);
    if (!entry) sp_fault_note("readdir", path, errno);
    return entry;
}

void sp_folder_end(DIR *stream)
{
    if (stream) sp_let_go(stream, close_stream);
}
