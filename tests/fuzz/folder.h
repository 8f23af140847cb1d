/* SPDX-License-Identifier: MIT
 * A folder for inputs that are several files, in memory where the system has such a file system. It is removed when the
 * process ends well. */
#ifndef TESTS_FUZZ_FOLDER_H
#define TESTS_FUZZ_FOLDER_H

#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>

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

/* A new file of the folder, open for folder_write. */
static inline int folder_file(const char *name)
{
    char path[sizeof folder_path + 256];
    if (!*folder_path) {
        snprintf(folder_path, sizeof folder_path, "%s/fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
        fuzz_must(mkdtemp(folder_path) != NULL);
        strcat(folder_path, "/");
        atexit(folder_remove);
    }
    snprintf(path, sizeof path, "%s%s", folder_path, name);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    fuzz_must(fd >= 0);
    return fd;
}

static inline void folder_write(int fd, const void *bytes, size_t size)
{
    fuzz_must(!ftruncate(fd, 0) && pwrite(fd, bytes, size, 0) == (ssize_t)size);
}

#endif
