/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "net/sparse_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/chars.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/text.h"

enum { MAX_STATE = 1 << 20, MOST_SPANS = 10000 };

static const char magic[] = "shapeproof-mirror 1\n";

/* Fails with a file or folder of the cache, the system call that failed, and the reason from errno. */
static bool fail_cache(const char *what, const char *call, struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "the cache, %s: %s: %s", what, call, strerror(errno));
    sp_hint(error, "the cache is in $XDG_CACHE_HOME/shapeproof; name another folder there, or make room");
    return false;
}

/* ---- folders ---- */

/* Makes each folder that the path names but the last component; `path` is changed and restored. */
static bool make_parents(int at, char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool ok = mkdirat(at, path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok) return false;
    }
    return true;
}

static int open_below(const char *path) { return sp_hold_fd(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

/* Another path of the open folder, "/dev/fd/5", or `path` where the system has none. The layout of reports depends on
 * the length of the path, and must not depend on where the cache is. NULL with errno when the system call fails. */
static const char *short_path(int folder, const char *path, struct sp_arena *arena)
{
    const char *name = sp_arena_printf(arena, "/dev/fd/%d", folder);
    const int again = open_below(name);
    if (again < 0) return sp_is_fault(errno) ? NULL : path;
    sp_close(again);
    return name;
}

/* Waits until no other process has the lock, and takes it. Two processes that fetch the same would otherwise replace
 * each other's files, and a state could be that of the other's file. On a file system without locks nothing is locked.
 * flock has no time limit, and only a signal would interrupt it; but signals belong to the host. So it is tried again
 * every 50 ms, which is little beside a fetch, until the time of the call is over.
 * Returns the descriptor of the lock file, or -1 when it cannot be opened. */
static int lock_sparse_cache(const char *path)
{
    const int fd = sp_hold_fd(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    enum { LOOK_MS = 50 };
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && (errno == EINTR || errno == EWOULDBLOCK)) {
        sp_budget_check_time();
        poll(NULL, 0, LOOK_MS);
    }
    return fd;
}

void sp_sparse_cache_unlock(struct sp_sparse_cache *sparse)
{
    if (sparse->lock >= 0) sp_close(sparse->lock);
    sparse->lock = -1;
}

bool sp_sparse_cache_open(struct sp_sparse_cache *sparse, const char *cache, const char *key, struct sp_arena *arena,
                          struct shapeproof_error *error)
{
    char *files = sp_arena_printf(arena, "%s/%s/files/", cache, key); /* with a slash: make_parents makes it, too */
    char *state = sp_arena_printf(arena, "%s/%s/state/", cache, key);
    *sparse = (struct sp_sparse_cache){.path = files, .files = -1, .state = -1, .lock = -1};
    const char *call = "mkdir";
    if (make_parents(AT_FDCWD, files) && make_parents(AT_FDCWD, state)) {
        call = "open";
        sparse->files = open_below(files);
        if (sparse->files >= 0) sparse->state = open_below(state);
        if (sparse->state >= 0) sparse->lock = lock_sparse_cache(sp_arena_printf(arena, "%s/%s/lock", cache, key));
    }
    if (sparse->lock < 0) {
        fail_cache(files, call, error);
        sp_sparse_cache_close(sparse);
        return false;
    }
    files[strlen(files) - 1] = '\0';
    sparse->path = short_path(sparse->files, files, arena);
    if (sparse->path) return true;
    fail_cache(files, "open", error);
    sp_sparse_cache_close(sparse);
    return false;
}

void sp_sparse_cache_close(struct sp_sparse_cache *sparse)
{
    if (sparse->files >= 0) sp_close(sparse->files);
    if (sparse->state >= 0) sp_close(sparse->state);
    sparse->files = sparse->state = -1;
    sp_sparse_cache_unlock(sparse);
}

/* Opens a file below the folder, and makes it and its folders where they are not there; `flags` are those of open, such
 * as O_EXCL. Returns the descriptor, or -1 with errno and the name of the system call in *call. */
static int create_file(int folder, const char *name, int flags, const char **call)
{
    char path[1100];
    *call = "mkdir";
    if ((size_t)snprintf(path, sizeof path, "%s", name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!make_parents(folder, path)) return -1;
    *call = "open";
    return sp_hold_fd(openat(folder, path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
}

/* The same in the folder of the cached files, with the mark beside it that tells who reads data of its holes. */
static int create_mirrored(const struct sp_sparse_cache *sparse, const char *name, int flags, const char **call)
{
    char mark[1200];
    const int fd = create_file(sparse->files, name, flags, call);
    snprintf(mark, sizeof mark, "%.*s%s", (int)(sp_base_name(name) - name), name, SP_MIRROR_MARK);
    const int marked = fd >= 0 ? create_file(sparse->files, mark, 0, call) : -1;
    if (marked >= 0) sp_close(marked);
    if (marked >= 0 || fd < 0) return fd;
    const int why = errno;
    sp_close(fd);
    errno = why;
    return -1;
}

bool sp_sparse_cache_name(const struct sp_sparse_cache *sparse, const char *name, struct shapeproof_error *error)
{
    const char *call;
    const int fd = create_mirrored(sparse, name, 0, &call);
    if (fd < 0) return fail_cache(name, call, error);
    sp_close(fd);
    return true;
}

void sp_sparse_cache_drop(const struct sp_sparse_cache *sparse, const char *name)
{
    unlinkat(sparse->state, name, 0);
    unlinkat(sparse->files, name, 0);
}

/* ---- texts ---- */

static bool write_at(int fd, const char *bytes, size_t length, uint64_t offset)
{
    while (length) {
        const ssize_t put = pwrite(fd, bytes, length, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        offset += (uint64_t)put;
        length -= (size_t)put;
    }
    return true;
}

/* Under another name first, so that nobody reads half of it. */
bool sp_sparse_cache_note(const struct sp_sparse_cache *sparse, const char *name, const void *bytes, size_t length,
                          struct shapeproof_error *error)
{
    char draft[1100];
    snprintf(draft, sizeof draft, "%s.%ld.draft", name, (long)getpid());
    const char *call;
    const int fd = create_file(sparse->state, draft, O_TRUNC, &call);
    if (fd < 0) return fail_cache(name, call, error);
    const bool written = write_at(fd, bytes, length, 0);
    const int why = errno;
    const bool closed = sp_close(fd);
    if (!written) errno = why;
    if (!written || !closed) return fail_cache(name, written ? "close" : "pwrite", error);
    return renameat(sparse->state, draft, sparse->state, name) == 0 || fail_cache(name, "rename", error);
}

char *sp_sparse_cache_noted(const struct sp_sparse_cache *sparse, const char *name, size_t limit)
{
    struct sp_file file;
    struct shapeproof_error ignored = {0};
    if (!sp_file_open(&file, sparse->state, name, &ignored)) return NULL;
    char *text = sp_file_slurp(&file, limit, &ignored);
    sp_file_close(&file);
    return text;
}

/* ---- spans ---- */

/* Adds a range of bytes to the ranges that the cache holds; those that it touches become one with it. The list
 * stays in order. */
static void add_span(struct sp_cached_file *file, struct sp_byte_range span)
{
    size_t kept = 0;
    if (span.begin >= span.end) return;
    for (size_t i = 0; i < file->spans.count; i++) {
        const struct sp_byte_range other = file->spans.items[i];
        if (other.end < span.begin || other.begin > span.end) {
            file->spans.items[kept++] = other;
            continue;
        }
        if (other.begin < span.begin) span.begin = other.begin;
        if (other.end > span.end) span.end = other.end;
    }
    file->spans.count = kept;
    *SP_PUSH(&file->spans) = span;
    for (size_t i = file->spans.count - 1; i > 0 && file->spans.items[i - 1].begin > span.begin; i--) {
        file->spans.items[i] = file->spans.items[i - 1];
        file->spans.items[i - 1] = span;
    }
}

struct sp_byte_range sp_cached_file_missing(const struct sp_cached_file *file, struct sp_byte_range wanted)
{
    for (size_t i = 0; i < file->spans.count; i++) {
        const struct sp_byte_range span = file->spans.items[i];
        if (span.begin <= wanted.begin && span.end > wanted.begin) wanted.begin = span.end;
        if (span.begin < wanted.end && span.end >= wanted.end) wanted.end = span.begin;
        if (wanted.begin >= wanted.end) return (struct sp_byte_range){0, 0};
    }
    return wanted;
}

/* ---- a file ---- */

void sp_cached_file_close(struct sp_cached_file *file)
{
    if (file->fd >= 0) sp_close(file->fd);
    file->fd = -1;
    sp_free(file->spans.items);
    file->spans.items = NULL;
    file->spans.count = file->spans.capacity = 0;
}

/* "has 0 122880\n" at *text, moved past. */
static bool read_span_line(const char **text, struct sp_byte_range *span)
{
    char *end = NULL;
    if (strncmp(*text, "has ", 4) != 0) return false;
    span->begin = strtoull(*text + 4, &end, 10);
    if (*end != ' ') return false;
    span->end = strtoull(end + 1, &end, 10);
    *text = end + 1;
    return *end == '\n' && span->begin < span->end;
}

static bool read_mirror_state(struct sp_cached_file *file, const char *text)
{
    char *end = NULL;
    struct sp_byte_range span;
    if (strncmp(text, magic, sizeof magic - 1) != 0) return false;
    text += sizeof magic - 1;
    if (strncmp(text, "etag ", 5) != 0) return false;
    text += 5;
    const size_t length = strcspn(text, "\n");
    if (length >= sizeof file->etag || strncmp(text + length, "\nsize ", 6) != 0) return false;
    memcpy(file->etag, text, length);
    file->etag[length] = '\0';
    file->size = strtoull(text + length + 6, &end, 10);
    if (*end != '\n') return false;
    for (text = end + 1; *text; add_span(file, span))
        if (!read_span_line(&text, &span) || span.end > file->size || file->spans.count == MOST_SPANS) return false;
    return true;
}

bool sp_cached_file_load(struct sp_cached_file *file, const struct sp_sparse_cache *sparse)
{
    struct stat info;
    char *text = sp_sparse_cache_noted(sparse, file->name, MAX_STATE);
    bool ok = text && read_mirror_state(file, text);
    sp_free(text);
    if (ok) file->fd = sp_hold_fd(openat(sparse->files, file->name, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    ok = ok && file->fd >= 0 && fstat(file->fd, &info) == 0 && S_ISREG(info.st_mode) &&
         (uint64_t)info.st_size == file->size;
    if (!ok) sp_cached_file_close(file);
    return ok;
}

bool sp_cached_file_confirm(const struct sp_cached_file *file, const struct sp_sparse_cache *sparse,
                            struct shapeproof_error *error)
{
    struct stat own, named;
    if (fstat(file->fd, &own) != 0) return fail_cache(file->name, "fstat", error);
    const bool is_there = fstatat(sparse->files, file->name, &named, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_there && errno != ENOENT && errno != ENOTDIR) return fail_cache(file->name, "stat", error);
    if (is_there && own.st_dev == named.st_dev && own.st_ino == named.st_ino) return true;
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
            "another command fetched a newer version while this one read");
    sp_hint(error, "ask again: the newer one is in the cache");
    return false;
}

bool sp_cached_file_make(struct sp_cached_file *file, const struct sp_sparse_cache *sparse, uint64_t size,
                         const char *etag, struct shapeproof_error *error)
{
    sp_cached_file_close(file);
    sp_sparse_cache_drop(sparse, file->name);
    file->size = size;
    memccpy(file->etag, etag, '\0', sizeof file->etag);
    const char *call;
    file->fd = create_mirrored(sparse, file->name, O_EXCL, &call);
    if (file->fd < 0) return fail_cache(file->name, call, error);
    return ftruncate(file->fd, (off_t)size) == 0 || fail_cache(file->name, "ftruncate", error);
}

bool sp_cached_file_put(struct sp_cached_file *file, uint64_t begin, const void *bytes, size_t length,
                        struct shapeproof_error *error)
{
    if (!write_at(file->fd, bytes, length, begin)) return fail_cache(file->name, "pwrite", error);
    add_span(file, (struct sp_byte_range){begin, begin + length});
    return true;
}

bool sp_cached_file_save(const struct sp_cached_file *file, const struct sp_sparse_cache *sparse,
                         struct shapeproof_error *error)
{
    struct sp_text text = {0};
    /* Else a power cut could leave a state that says of holes that they are bytes. */
    if (fsync(file->fd) != 0) return fail_cache(file->name, "fsync", error);
    sp_text_printf(&text, "%setag %s\nsize %" PRIu64 "\n", magic, file->etag, file->size);
    for (size_t i = 0; i < file->spans.count; i++)
        sp_text_printf(&text, "has %" PRIu64 " %" PRIu64 "\n", file->spans.items[i].begin, file->spans.items[i].end);
    const bool ok = sp_sparse_cache_note(sparse, file->name, text.data, text.length, error);
    sp_text_free(&text);
    return ok;
}
