/* SPDX-License-Identifier: MIT
 * What all fuzz targets share: the input as a file, what must hold of every refusal, and what an input may cost.
 *
 * A target defines fuzz_input. LLVMFuzzerTestOneInput, which is defined here, calls it, and aborts if the input took
 * more memory or processor time than its size allows: amplification is a finding as a crash is. A target with other
 * limits defines FUZZ_MEMORY_PER_BYTE or FUZZ_MEMORY_FLOOR before it includes this header. Memory is measured in a
 * build with a sanitizer, time only by libFuzzer (FUZZ_TIMED). */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/call.h"
#include "shapeproof/shapeproof.h"

/* A name of two bytes with its tensor, its entry in a map and its warning takes some 500 bytes. */
#ifndef FUZZ_MEMORY_PER_BYTE
#define FUZZ_MEMORY_PER_BYTE 2000
#endif
/* Buffers and windows of fixed size, the built-in tables that an input makes the library parse. */
#ifndef FUZZ_MEMORY_FLOOR
#define FUZZ_MEMORY_FLOOR ((size_t)16 << 20)
#endif
/* The floor of a target whose inputs may be compressed: what the limits of inflated bytes (docs/formats.md) come to. */
#define FUZZ_MEMORY_INFLATED ((size_t)512 << 20)
/* Under sanitizers, on a machine that does other things, too. */
#define FUZZ_SECONDS_FLOOR 5.0
#define FUZZ_SECONDS_PER_BYTE 0.0005

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
static void fuzz_input(const unsigned char *data, size_t size);

/* ---- what an input costs ---- */

/* Of the sanitizers; absent in other builds. */
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                                                    void (*freed)(const volatile void *));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *memory);

static size_t fuzz_live, fuzz_peak;

static void fuzz_allocated(const volatile void *memory, size_t size)
{
    (void)memory;
    fuzz_live += size;
    if (fuzz_live > fuzz_peak) fuzz_peak = fuzz_live;
}

static void fuzz_freed(const volatile void *memory)
{
    const size_t size = memory ? __sanitizer_get_allocated_size(memory) : 0;
    fuzz_live -= size < fuzz_live ? size : fuzz_live; /* it may be older than the hooks */
}

static inline void fuzz_judge_cost(size_t size, size_t bytes, double seconds)
{
    if (bytes > FUZZ_MEMORY_FLOOR + size * FUZZ_MEMORY_PER_BYTE) {
        fprintf(stderr, "amplification: %zu bytes of memory for an input of %zu bytes\n", bytes, size);
        abort();
    }
    if (seconds > FUZZ_SECONDS_FLOOR + (double)size * FUZZ_SECONDS_PER_BYTE) {
        fprintf(stderr, "amplification: %.1f s for an input of %zu bytes\n", seconds, size);
        abort();
    }
}

static inline double fuzz_seconds(void)
{
    struct timespec now = {0};
#ifdef FUZZ_TIMED
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
#endif
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static int hooked = -1;
    if (hooked < 0)
        hooked = __sanitizer_install_malloc_and_free_hooks &&
                 __sanitizer_install_malloc_and_free_hooks(fuzz_allocated, fuzz_freed);
    const size_t before = fuzz_peak = fuzz_live;
    const double begin = fuzz_seconds();
    fuzz_input(data, size);
    fuzz_judge_cost(size, fuzz_peak - before, fuzz_seconds() - begin);
    return 0;
}

/* ---- what must hold ---- */

static inline void fuzz_must(bool holds)
{
    if (!holds) abort();
}

/* A refusal has a status and gives its reason; one about a file in a single line. */
static inline void fuzz_must_refuse(const struct shapeproof_error *error)
{
    fuzz_must(error->status != SHAPEPROOF_OK && error->message[0]);
    if (error->status == SHAPEPROOF_ERR_FILE) fuzz_must(!strpbrk(error->message, "\n\r\033"));
}

/* The same when a call has returned NULL. */
static inline void fuzz_must_have(const void *result, const struct shapeproof_error *error)
{
    if (!result) fuzz_must_refuse(error);
}

/* ---- the input ---- */

/* A descriptor of the bytes as a file, the same for each input. */
static inline int fuzz_file(const unsigned char *data, size_t size)
{
    static int fd = -1;
    if (fd < 0) fd = memfd_create("input", MFD_CLOEXEC);
    fuzz_must(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
    return fd;
}

/* The path of the bytes as a file, the same for each input. */
static inline const char *fuzz_path(const unsigned char *data, size_t size)
{
    static char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_file(data, size));
    return path;
}

/* The bytes as a checkpoint, or NULL. */
static inline struct shapeproof_inventory *fuzz_open(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(fuzz_path(data, size), &error);
    fuzz_must_have(inventory, &error);
    if (!inventory) fuzz_must(error.status == SHAPEPROOF_ERR_FILE);
    return inventory;
}

/* libhdf5 runs in a process of its own, and each process takes longer than a hundred files of other formats.
 * fuzz_hdf5.c is for these files, and all other targets leave them out. */
static inline bool fuzz_is_hdf5(const unsigned char *data, size_t size)
{
    return memmem(data, size, "\x89HDF\r\n\x1a\n", 8) != NULL;
}

/* An input of several texts has a line "====" between two of them. Each text is NUL-terminated, "" where the input has
 * fewer; the last one has what is left. Free what is returned, which holds them all. */
static inline char *fuzz_split(const unsigned char *data, size_t size, const char **texts, size_t *lengths,
                               size_t count)
{
    static const char line[] = "\n====\n";
    char *copy = malloc(size + 1);
    fuzz_must(copy != NULL);
    if (size) memcpy(copy, data, size);
    copy[size] = '\0';
    char *text = copy, *end = copy + size;
    for (size_t i = 0; i < count; i++) {
        char *stop = i + 1 < count ? memmem(text, (size_t)(end - text), line, sizeof line - 1) : NULL;
        texts[i] = text;
        lengths[i] = (size_t)((stop ? stop : end) - text);
        text = stop ? stop + sizeof line - 1 : end;
        if (stop) *stop = '\0';
    }
    return copy;
}

/* ---- state that outlives an input ---- */

/* The built-in tables, made once. `warm` has them parse what the inputs need. */
static inline struct shapeproof_tables *fuzz_tables(void (*warm)(struct shapeproof_tables *tables))
{
    static struct shapeproof_tables *tables;
    struct shapeproof_error error = {0};
    if (tables) return tables;
    tables = shapeproof_tables_new(&error);
    fuzz_must(tables != NULL);
    if (warm) warm(tables);
    return tables;
}

/* Limits of all calls that follow, for targets whose tables predict more than an input may cost. */
static inline void fuzz_limit(const struct shapeproof_limits *limits)
{
    struct shapeproof_error error = {0};
    fuzz_must(shapeproof_set_limits(limits, &error));
}

/* Calls `work`, and then undoes it as a call that has run out of memory is undone (base/call.h). Objects that are older
 * are as before: a set of tables without those of the input. */
static inline void fuzz_undone(void (*work)(const unsigned char *data, size_t size), const unsigned char *data,
                               size_t size)
{
    SP_CALL(NULL, );
    work(data, size);
    sp_call_unwind();
    abort(); /* it has not returned */
}

#endif
