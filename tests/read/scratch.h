/* SPDX-License-Identifier: MIT
 * A directory of its own for a test, and files in it. */
#ifndef TESTS_READ_SCRATCH_H
#define TESTS_READ_SCRATCH_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct scratch {
    char path[64];
    char joined[512];
};

static inline void scratch_make(struct scratch *scratch)
{
    strcpy(scratch->path, "/tmp/shapeproof-test-XXXXXX");
    if (!mkdtemp(scratch->path)) abort();
}

/* The path of a file in the directory; good until the next call. */
static inline const char *scratch_path(struct scratch *scratch, const char *name)
{
    snprintf(scratch->joined, sizeof scratch->joined, "%s/%s", scratch->path, name);
    return scratch->joined;
}

static inline const char *scratch_write(struct scratch *scratch, const char *name, const void *data, size_t length)
{
    FILE *file = fopen(scratch_path(scratch, name), "wb");
    if (!file || fwrite(data, 1, length, file) != length || fclose(file)) abort();
    return scratch->joined;
}

/* Removes the files in the directory (it has no subdirectories). */
static inline void scratch_empty(struct scratch *scratch)
{
    DIR *stream = opendir(scratch->path);
    for (struct dirent *entry; stream && (entry = readdir(stream));) unlink(scratch_path(scratch, entry->d_name));
    if (stream) closedir(stream);
}

static inline void scratch_remove(struct scratch *scratch)
{
    scratch_empty(scratch);
    rmdir(scratch->path);
}

/* A safetensors file: the length, the header, `data` zero bytes. */
static inline const char *scratch_safetensors(struct scratch *scratch, const char *name, const char *header,
                                              size_t header_length, size_t data)
{
    unsigned char *bytes = calloc(1, 8 + header_length + data);
    if (!bytes) abort();
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)header_length >> (8 * i));
    memcpy(bytes + 8, header, header_length);
    scratch_write(scratch, name, bytes, 8 + header_length + data);
    free(bytes);
    return scratch->joined;
}

#endif
