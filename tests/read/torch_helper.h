/* SPDX-License-Identifier: MIT
 * What the tests of zip archives and PyTorch files share. Included first. */
#ifndef SP_TESTS_READ_TORCH_HELPER_H
#define SP_TESTS_READ_TORCH_HELPER_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* AT_FDCWD: include this first */
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "read/reader.h"

/* Indexes an open file with the reader that its first bytes ask for, among the two that are tested here. */
static inline struct shapeproof_inventory *index_open_file(const struct sp_file *file, struct shapeproof_error *error)
{
    unsigned char head[64];
    const size_t length = file->size < sizeof head ? (size_t)file->size : sizeof head;
    struct shapeproof_inventory *inventory = sp_inventory_new(file->path);
    assert_true(sp_file_read(file, 0, head, length, error));
    const struct sp_probe probe = {file, head, length, true};
    const bool legacy = sp_reader_torch_legacy.probe(&probe) > 0;
    const struct sp_reader *reader = legacy ? &sp_reader_torch_legacy : &sp_reader_archive;
    const uint32_t index = sp_inventory_add_file(inventory, file->path);
    if (reader->index(file, index, inventory, error) && sp_inventory_finish(inventory, error)) return inventory;
    shapeproof_inventory_close(inventory);
    return NULL;
}

static inline struct shapeproof_inventory *index_path(const char *path, struct shapeproof_error *error)
{
    struct sp_file file;
    if (!sp_file_open(&file, AT_FDCWD, path, error)) return NULL;
    struct shapeproof_inventory *inventory = index_open_file(&file, error);
    sp_file_close(&file);
    return inventory;
}

/* What cannot be read, with the whole message. */
struct refusal {
    const char *file;
    enum shapeproof_kind kind;
    const char *message;
};

static inline void assert_refusals(const char *folder, const struct refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[256];
        struct shapeproof_error error = {0};
        snprintf(path, sizeof path, "%s%s", folder, refusals[i].file);
        assert_null(index_path(path, &error));
        assert_string_equal(error.message, refusals[i].message);
        assert_int_equal(error.kind, refusals[i].kind);
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    }
}

/* A small generator, so that a failing seed can be repeated anywhere. */
static inline uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 33);
}

/* A few bytes overwritten, inserted zeros, or a cut: damage of the kinds that files suffer. */
static inline size_t damage(unsigned char *bytes, size_t length, uint64_t *state)
{
    const uint32_t changes = 1 + next_random(state) % 4;
    for (uint32_t i = 0; i < changes; i++) {
        const size_t at = next_random(state) % length;
        switch (next_random(state) % 4) {
        case 0:
            bytes[at] = (unsigned char)next_random(state);
            break;
        case 1:
            bytes[at] ^= (unsigned char)(1U << next_random(state) % 8);
            break;
        case 2:
            bytes[at] = 0xff;
            break;
        default:
            memmove(bytes + at, bytes + at / 2, length - at);
            break;
        }
    }
    return next_random(state) % 16 ? length : 1 + next_random(state) % length;
}

#endif
