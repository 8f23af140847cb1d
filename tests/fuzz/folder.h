/* SPDX-License-Identifier: MIT
 * A folder for inputs that are several files, in memory where the system has such a file system. It is removed when the
 * process ends well.
 *
 * A target has files of fixed names (folder_file, folder_write), or its input names them (folder_fill): then it is
 * texts with lines "====" between them (fuzz_split), of which each begins with a line that has the path of a file.
 * folder_empty removes these files. */
#ifndef TESTS_FUZZ_FOLDER_H
#define TESTS_FUZZ_FOLDER_H

#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    FOLDER_FILES = 24,    /* of an input; all that follows the last one is part of it */
    FOLDER_PATH = 160,    /* bytes of the longest path */
    FOLDER_DATA = 1 << 16 /* bytes of the longest data of a safetensors file */
};

static char folder_path[64]; /* ends with '/' */

static void folder_remove(void)
{
    char path[sizeof folder_path + 256];
    DIR *names = opendir(folder_path);
    for (const struct dirent *name; names && (name = readdir(names));) {
        snprintf(path, sizeof path, "%s%s", folder_path, name->d_name);
        unlink(path); /* of "." and ".." it fails */
    }
    if (names) closedir(names);
    rmdir(folder_path);
}

static inline void folder_make(void)
{
    if (*folder_path) return;
    snprintf(folder_path, sizeof folder_path, "%s/fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    fuzz_must(mkdtemp(folder_path) != NULL);
    strcat(folder_path, "/");
    atexit(folder_remove);
}

/* A new file of the folder, open for folder_write. */
static inline int folder_file(const char *name)
{
    char path[sizeof folder_path + 256];
    folder_make();
    snprintf(path, sizeof path, "%s%s", folder_path, name);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    fuzz_must(fd >= 0);
    return fd;
}

static inline void folder_write(int fd, const void *bytes, size_t size)
{
    fuzz_must(!ftruncate(fd, 0) && pwrite(fd, bytes, size, 0) == (ssize_t)size);
}

/* Where the last tensor ends: the greatest second number of "data_offsets": [0, 8], at most FOLDER_DATA. */
static inline size_t folder_data_end(const char *header, size_t length)
{
    static const char key[] = "\"data_offsets\"";
    size_t end = 0;
    for (const char *at = header, *stop = header + length;
         (at = memmem(at, (size_t)(stop - at), key, sizeof key - 1));) {
        uint64_t numbers[2] = {0};
        at += sizeof key - 1;
        for (size_t i = 0; i < 2; i++) {
            while (at < stop && strchr(": [,\t\r\n", *at)) at++;
            for (; at < stop && *at >= '0' && *at <= '9' && numbers[i] <= FOLDER_DATA; at++)
                numbers[i] = 10 * numbers[i] + (uint64_t)(*at - '0');
        }
        if (numbers[1] > end) end = numbers[1] < FOLDER_DATA ? (size_t)numbers[1] : FOLDER_DATA;
    }
    return end;
}

/* A safetensors file of that header, whose length comes before it; the data behind it are zeros. */
static inline void folder_write_safetensors(int fd, const char *header, size_t length)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)length >> 8 * i);
    folder_write(fd, bytes, sizeof bytes);
    fuzz_must(pwrite(fd, header, length, sizeof bytes) == (ssize_t)length);
    fuzz_must(!ftruncate(fd, (off_t)(sizeof bytes + length + folder_data_end(header, length))));
}

/* ---- files that the input names ---- */

/* What was made for the input, folders before what is in them. */
static struct folder_made {
    char path[FOLDER_PATH];
    bool is_folder;
} folder_made[4 * FOLDER_FILES];
static size_t folder_made_count;
static int folder_fd = -1;

static inline bool folder_has_ending(const char *path, size_t length, const char *ending)
{
    const size_t most = strlen(ending);
    return length >= most && memcmp(path + length - most, ending, most) == 0;
}

/* Whether it is names with slashes between them, which lead to no other folder. */
static inline bool folder_is_safe(const char *path)
{
    if (strlen(path) >= FOLDER_PATH) return false;
    for (const char *name = path;; name++) {
        const size_t length = strcspn(name, "/");
        if (!length || (length <= 2 && strspn(name, ".") >= length)) return false;
        name += length;
        if (!*name) return true;
    }
}

static inline void folder_note(const char *path, size_t length, bool is_folder)
{
    fuzz_must(folder_made_count < sizeof folder_made / sizeof *folder_made);
    struct folder_made *made = &folder_made[folder_made_count++];
    snprintf(made->path, sizeof made->path, "%.*s", (int)length, path);
    made->is_folder = is_folder;
}

/* Makes the folders of the path; false where a file is in the way, or there are too many. */
static inline bool folder_make_above(const char *path)
{
    char folder[FOLDER_PATH];
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (folder_made_count + 1 >= sizeof folder_made / sizeof *folder_made) return false;
        if (mkdirat(folder_fd, folder, 0700) == 0) folder_note(folder, strlen(folder), true);
        else if (errno != EEXIST) return false;
    }
    return true;
}

/* A text whose path is of a safetensors file is its header. */
static inline void folder_add(const char *path, const char *content, size_t length)
{
    if (!folder_is_safe(path) || !folder_make_above(path)) return;
    const int fd = openat(folder_fd, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return; /* it was named before, or is a folder, or its name is too long */
    folder_note(path, strlen(path), false);
    if (folder_has_ending(path, strlen(path), ".safetensors")) folder_write_safetensors(fd, content, length);
    else folder_write(fd, content, length);
    close(fd);
}

static inline void folder_fill(const unsigned char *data, size_t size)
{
    const char *texts[FOLDER_FILES];
    size_t lengths[FOLDER_FILES];
    char *copy = fuzz_split(data, size, texts, lengths, FOLDER_FILES);
    folder_make();
    if (folder_fd < 0) folder_fd = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fuzz_must(folder_fd >= 0);
    for (size_t i = 0; i < FOLDER_FILES; i++) {
        char *line = memchr(texts[i], '\n', lengths[i]);
        if (!line) continue;
        *line = '\0';
        folder_add(texts[i], line + 1, lengths[i] - (size_t)(line + 1 - texts[i]));
    }
    free(copy);
}

static inline void folder_empty(void)
{
    while (folder_made_count) {
        const struct folder_made *made = &folder_made[--folder_made_count];
        fuzz_must(unlinkat(folder_fd, made->path, made->is_folder ? AT_REMOVEDIR : 0) == 0);
    }
}

#endif
