/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/fault.h"

/* Fails with the reason why a file cannot be opened. If it is a symbolic link whose target does not exist, the file was
 * likely not downloaded: caches and git-annex leave such links. Always false. */
static bool refuse_open(int directory_fd, const char *path, int why, struct shapeproof_error *error)
{
    char target[256];
    if (sp_fault_note("open", path, why))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "open: %s", strerror(why));
    const ssize_t length = why == ENOENT ? readlinkat(directory_fd, path, target, sizeof target - 1) : -1;
    if (length < 0) return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "open: %s", strerror(why));
    target[length] = '\0';
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "a link to '%s', which is not there: it was not downloaded",
            target);
    if (strstr(target, ".git/annex/")) sp_hint(error, "run 'git annex get' on it");
    return false;
}

bool sp_file_open(struct sp_file *file, int directory_fd, const char *path, struct shapeproof_error *error)
{
    struct stat info;
    *file = (struct sp_file){.fd = -1, .path = path};
    const int fd = openat(directory_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return refuse_open(directory_fd, path, errno, error);
    if (fstat(fd, &info) != 0) {
        const int why = errno;
        close(fd);
        sp_fault_note("fstat", path, why);
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "fstat: %s", strerror(why));
    }
    if (!S_ISREG(info.st_mode)) {
        close(fd);
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "not a regular file");
    }
    char byte;
    if (info.st_size == 0 && pread(fd, &byte, 1, 0) > 0) {
        close(fd);
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO,
                "its size is 0, but it has content, as files of /proc do");
        sp_hint(error, "copy it to a regular file first");
        return false;
    }
    file->fd = sp_hold_fd(fd);
    file->size = (uint64_t)info.st_size;
    sp_budget_open(path, file->size);
    return true;
}

bool sp_file_need(const struct sp_file *file, uint64_t offset, uint64_t length, struct shapeproof_error *error)
{
    if (!file->source || offset >= file->size) return true;
    const uint64_t left = file->size - offset;
    return file->source->fill(file->source, file->base + offset, length < left ? length : left, error);
}

/* As sp_file_read, but the bytes do not count as input. */
static bool read_bytes(const struct sp_file *file, uint64_t offset, void *into, size_t length,
                       struct shapeproof_error *error)
{
    const uint64_t wanted = length;
    size_t done = 0;
    /* base + offset + length, without an overflow on the way: pread takes a signed offset. */
    const bool is_end_in_range =
        wanted <= INT64_MAX && offset <= INT64_MAX - wanted && file->base <= INT64_MAX - wanted - offset;
    if (!is_end_in_range) return sp_malformed(error, "offset %" PRIu64 " is past any file", offset);
    if (!sp_file_need(file, offset, length, error)) return false;
    while (done < length) {
        const ssize_t got = pread(file->fd, (char *)into + done, length - done, (off_t)(file->base + offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const int why = errno;
            sp_fault_note("read", file->path, why);
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "read at byte %" PRIu64 ": %s",
                           offset + done, strerror(why));
        }
        if (got == 0)
            return sp_malformed(error, "ends at byte %" PRIu64 ", expected %zu bytes at %" PRIu64, offset + done,
                                length, offset);
        done += (size_t)got;
    }
    return true;
}

bool sp_file_read(const struct sp_file *file, uint64_t offset, void *into, size_t length,
                  struct shapeproof_error *error)
{
    if (!read_bytes(file, offset, into, length, error)) return false;
    sp_budget_read(length);
    return true;
}

char *sp_file_slurp(const struct sp_file *file, size_t limit, struct shapeproof_error *error)
{
    if (file->size > limit) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%" PRIu64 " bytes, more than the limit of %zu",
                file->size, limit);
        return NULL;
    }
    const size_t length = (size_t)file->size;
    sp_budget_read(length); /* before the memory for it is taken */
    char *text = sp_realloc(NULL, length + 1, 1);
    if (!read_bytes(file, 0, text, length, error)) {
        sp_free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

void sp_file_close(struct sp_file *file)
{
    if (file->fd >= 0) sp_close(file->fd);
    file->fd = -1;
    sp_free(file->in_memory);
    file->in_memory = NULL;
}

bool sp_write_all(int fd, const void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        const ssize_t put = write(fd, (const char *)bytes + done, length - done);
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) done += (size_t)put;
    }
    return true;
}
