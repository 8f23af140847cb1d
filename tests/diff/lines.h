/* SPDX-License-Identifier: MIT
 * Checkpoints to compare, as a few lines of text, and what is said of them. */
#ifndef TESTS_DIFF_LINES_H
#define TESTS_DIFF_LINES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats.h"
#include "model/inventory.h"
#include "shapeproof/shapeproof.h"

/* ---- checkpoints in memory: lines of "NAME DTYPE SHAPE [STORAGE]", SHAPE being "4x3", or "-" for a
 * scalar; "format keras-hdf5" in front of them, unless it is safetensors; "metadata KEY VALUE" ---- */

static inline void set_shape(struct shapeproof_inventory *inventory, struct shapeproof_tensor *tensor, char *text)
{
    uint64_t *shape = sp_arena_array(&inventory->arena, 8, sizeof *shape);
    for (char *size = strtok(text, "x-"); size; size = strtok(NULL, "x-"))
        shape[tensor->rank++] = strtoull(size, NULL, 10);
    tensor->shape = shape;
}

static inline void add_line(struct shapeproof_inventory *inventory, const char *line)
{
    char name[256], dtype[16], shape[64], storage[64] = "";
    struct shapeproof_error error = {0};
    if (sscanf(line, "%255s %15s %63s %63s", name, dtype, shape, storage) < 3) fail_msg("'%s'", line);
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
    tensor->name = sp_arena_string(&inventory->arena, name);
    tensor->dtype = shapeproof_dtype_from_name(dtype, strlen(dtype));
    tensor->dtype_name = shapeproof_dtype_name(tensor->dtype);
    if (*storage) tensor->storage = sp_arena_string(&inventory->arena, storage);
    if (strncmp(name, "optimizer", 9) == 0) tensor->flags |= SHAPEPROOF_TENSOR_STATE;
    set_shape(inventory, tensor, shape);
    assert_true(sp_tensor_measure(tensor));
}

/* "KEY VALUE" */
static inline void add_metadata_line(struct shapeproof_inventory *inventory, char *line)
{
    char *blank = strchr(line, ' ');
    if (!blank) fail_msg("'%s'", line);
    *blank = '\0';
    sp_inventory_add_metadata(inventory, line, blank + 1);
}

static inline struct shapeproof_inventory *inventory_of(const char *lines)
{
    struct shapeproof_inventory *inventory = sp_inventory_new("memory");
    struct shapeproof_error error = {0};
    char *text = strdup(lines), *rest = text;
    sp_inventory_add_file(inventory, "memory");
    inventory->format = &format_safetensors;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (strncmp(line, "format ", 7) == 0) inventory->format = format_named(line + 7);
        else if (strncmp(line, "metadata ", 9) == 0) add_metadata_line(inventory, line + 9);
        else if (*line) add_line(inventory, line);
    free(text);
    if (!sp_inventory_finish(inventory, &error)) fail_msg("%s", error.message);
    return inventory;
}

struct both {
    struct shapeproof_inventory *a, *b;
    struct shapeproof_diff *diff;
};

static inline struct both compare(const char *a, const char *b)
{
    struct shapeproof_error error;
    struct both both = {inventory_of(a), inventory_of(b), NULL};
    both.diff = shapeproof_diff_new(both.a, both.b, NULL, &error);
    return both;
}

static inline void done(struct both *both)
{
    shapeproof_diff_free(both->diff);
    shapeproof_inventory_close(both->a);
    shapeproof_inventory_close(both->b);
}

/* The verdict with its reason, and the mappings behind it, each in a line. */
static inline void expect(const char *a, const char *b, const char *expected)
{
    struct both both = compare(a, b);
    char text[2048];
    int length = snprintf(text, sizeof text, "%s: %s", shapeproof_diff_is_same(both.diff) ? "same" : "differs",
                          shapeproof_diff_summary(both.diff));
    for (size_t i = 0; i < shapeproof_diff_mapping_count(both.diff); i++) {
        const struct shapeproof_diff_mapping *mapping = shapeproof_diff_mapping(both.diff, i);
        length += snprintf(text + length, sizeof text - (size_t)length, "\n%s -> %s%s (%zu)", mapping->from,
                           mapping->to, mapping->transposed ? ", transposed" : "", mapping->tensors);
    }
    assert_string_equal(text, expected);
    done(&both);
}

#endif
