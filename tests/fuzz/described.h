/* SPDX-License-Identifier: MIT
 * Tensors as lines of text: "NAME DIMENSION...", F32 all of them. A mutation of such a line is another tensor, and not
 * a broken file. */
#ifndef TESTS_FUZZ_DESCRIBED_H
#define TESTS_FUZZ_DESCRIBED_H

#include "fuzz.h"

enum { DESCRIBED_TENSORS = 200, DESCRIBED_RANK = 5 };

/* "a.weight 3 4": the name, which the text then ends, and the shape. False for an empty line. */
static inline bool describe_line(char *line, uint64_t *shape, struct shapeproof_tensor_description *tensor)
{
    char *rest = line + strcspn(line, " ");
    *tensor = (struct shapeproof_tensor_description){.name = line, .shape = shape, .dtype = SHAPEPROOF_DTYPE_F32};
    if (*rest) *rest++ = '\0';
    for (char *end; tensor->rank < DESCRIBED_RANK; rest = end) {
        const unsigned long long size = strtoull(rest, &end, 10);
        if (end == rest) break;
        shape[tensor->rank++] = size;
    }
    return *line;
}

/* At most DESCRIBED_TENSORS of the lines; NULL when they are no inventory. */
static inline struct shapeproof_inventory *describe_lines(const char *text)
{
    static struct shapeproof_tensor_description tensors[DESCRIBED_TENSORS];
    static uint64_t shapes[DESCRIBED_TENSORS][DESCRIBED_RANK];
    struct shapeproof_error error = {0};
    size_t count = 0;
    char *copy = strdup(text);
    fuzz_must(copy != NULL);
    char *rest = copy;
    for (char *line; count < DESCRIBED_TENSORS && (line = strsep(&rest, "\n"));)
        count += describe_line(line, shapes[count], &tensors[count]);
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("input", tensors, count, &error);
    fuzz_must_have(inventory, &error);
    free(copy);
    return inventory;
}

#endif
