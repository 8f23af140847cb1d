/* SPDX-License-Identifier: MIT
 * For the tests of the HDF5 reader: a file through one reader, and an inventory as text that a table can pin. */
#ifndef TESTS_READ_HDF5_OPEN_H
#define TESTS_READ_HDF5_OPEN_H

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "read/reader.h"

typedef bool index_function(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                            struct shapeproof_error *error);

/* NULL with an error when the file cannot be read. */
static inline struct shapeproof_inventory *open_with(index_function *index, const char *path,
                                                     struct shapeproof_error *error)
{
    struct sp_file file;
    *error = (struct shapeproof_error){0};
    if (!sp_file_open(&file, AT_FDCWD, path, error)) return NULL;
    struct shapeproof_inventory *inventory = sp_inventory_new(path);
    const bool ok =
        index(&file, sp_inventory_add_file(inventory, path), inventory, error) && sp_inventory_finish(inventory, error);
    sp_file_close(&file);
    if (ok) return inventory;
    shapeproof_inventory_close(inventory);
    return NULL;
}

static inline void describe_tensor(struct sp_text *text, const struct shapeproof_inventory *inventory,
                                   const struct shapeproof_tensor *tensor)
{
    sp_text_printf(text, "%s %s", tensor->name, tensor->dtype_name);
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) sp_text_puts(text, " null");
    else sp_text_puts(text, " (");
    for (uint32_t i = 0; i < tensor->rank; i++) sp_text_printf(text, "%s%" PRIu64, i ? "," : "", tensor->shape[i]);
    if (!(tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE)) sp_text_puts(text, ")");
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_DATA) sp_text_puts(text, " nodata");
    if (tensor->flags & SHAPEPROOF_TENSOR_STATE) sp_text_puts(text, " state");
    if (tensor->same_as != SHAPEPROOF_NONE) sp_text_printf(text, " = %s", inventory->tensors[tensor->same_as].name);
    sp_text_puts(text, "\n");
}

/* One line per tensor, then one per warning, "! " before it. free() it. */
static inline char *describe(const struct shapeproof_inventory *inventory)
{
    struct sp_text text = {0};
    sp_text_printf(&text, "%s\n", inventory->format->name);
    for (size_t i = 0; i < inventory->count; i++) describe_tensor(&text, inventory, &inventory->tensors[i]);
    for (size_t i = 0; i < inventory->warning_count; i++) sp_text_printf(&text, "! %s\n", inventory->warnings[i]);
    return text.data;
}

static inline void expect_text(index_function *index, const char *path, const char *expected)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = open_with(index, path, &error);
    if (!inventory) fail_msg("%s: %s", path, error.message);
    char *found = describe(inventory);
    if (strcmp(found, expected)) fail_msg("%s: expected\n%s\nfound\n%s", path, expected, found);
    free(found);
    shapeproof_inventory_close(inventory);
}

static inline void expect_error(index_function *index, const char *path, enum shapeproof_kind kind, const char *message)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = open_with(index, path, &error);
    if (inventory) fail_msg("%s: was read", path);
    if (error.status != SHAPEPROOF_ERR_FILE || error.kind != kind || strcmp(error.message, message))
        fail_msg("%s: expected %s: %s\nfound %s: %s", path, shapeproof_kind_name(kind), message,
                 shapeproof_kind_name(error.kind), error.message);
}

static inline const char *metadata_of(const struct shapeproof_inventory *inventory, const char *key)
{
    for (size_t i = 0; i < inventory->metadata_count; i++)
        if (!strcmp(inventory->metadata[i].key, key)) return inventory->metadata[i].value;
    return NULL;
}

/* ---- files made by a test ---- */

struct temporary {
    char path[64];
    int fd;
};

static inline struct temporary temporary_file(void)
{
    struct temporary file = {.path = "/tmp/shapeproof-test-XXXXXX"};
    file.fd = mkstemp(file.path);
    assert_true(file.fd >= 0);
    return file;
}

static inline void remove_temporary(struct temporary *file)
{
    close(file->fd);
    unlink(file->path);
}

/* A file that `write` makes and then exits, in a child, so that this process stays without libhdf5. */
static inline struct temporary written_by_child(void (*write)(const char *path))
{
    struct temporary file = temporary_file();
    int status;
    const pid_t pid = fork();
    if (pid == 0) write(file.path);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return file;
}

#endif
