/* SPDX-License-Identifier: MIT */
#include "infer/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"

enum { MAX_DIGITS = 18 }; /* what surely fits in 64 bits */

void sp_names_split(struct sp_text *pattern, const char *name, uint64_t *numbers, size_t *count)
{
    const char mark = SP_NUMBER_MARK;
    while (*name) {
        size_t length = 0;
        uint64_t number = 0;
        while (name[length] && !sp_is_digit(name[length])) length++;
        sp_text_append(pattern, name, length);
        name += length;
        for (length = 0; sp_is_digit(name[length]); length++)
            if (length < MAX_DIGITS) number = number * 10 + (uint64_t)(name[length] - '0');
        if (length && length <= MAX_DIGITS && *count < SP_MAX_NUMBERS) {
            numbers[(*count)++] = number;
            sp_text_append(pattern, &mark, 1);
        } else sp_text_append(pattern, name, length);
        name += length;
    }
}

static size_t pattern_of(struct sp_shapes *shapes, const struct sp_text *text)
{
    const size_t known = sp_map_get(&shapes->map, text->data);
    if (known != SIZE_MAX) return known;
    SP_GROW(shapes->patterns, shapes->pattern_count, shapes->pattern_capacity);
    shapes->patterns[shapes->pattern_count] = sp_arena_copy(&shapes->arena, text->data, text->length);
    sp_map_add(&shapes->map, shapes->patterns[shapes->pattern_count], shapes->pattern_count);
    return shapes->pattern_count++;
}

static int compare_named(const void *left, const void *right)
{
    const struct sp_named *a = left, *b = right;
    if (a->pattern != b->pattern) return a->pattern < b->pattern ? -1 : 1;
    for (size_t i = 0; i < SP_MAX_NUMBERS; i++)
        if (a->numbers[i] != b->numbers[i]) return a->numbers[i] < b->numbers[i] ? -1 : 1;
    return a->tensor < b->tensor ? -1 : a->tensor > b->tensor;
}

static void index_patterns(struct sp_shapes *shapes)
{
    size_t next = 0;
    shapes->first = sp_realloc(NULL, shapes->pattern_count + 1, sizeof *shapes->first);
    for (size_t p = 0; p <= shapes->pattern_count; p++) {
        while (next < shapes->count && shapes->named[next].pattern < p) next++;
        shapes->first[p] = next;
    }
}

void sp_shapes_init(struct sp_shapes *shapes, const struct sp_inventory *inventory, const struct sp_naming *naming,
                    size_t step)
{
    const size_t total = sp_inventory_count(inventory);
    struct sp_text name = {0}, pattern = {0};
    *shapes = (struct sp_shapes){.inventory = inventory};
    shapes->named = sp_realloc(NULL, total, sizeof *shapes->named);
    for (size_t i = 0; i < total; i += step) {
        const struct sp_tensor *tensor = sp_inventory_tensor(inventory, i);
        struct sp_named *named = &shapes->named[shapes->count];
        size_t numbers = 0;
        if (tensor->flags & SP_TENSOR_STATE) continue;
        *named = (struct sp_named){.tensor = i};
        pattern.length = 0;
        name.length = 0;
        sp_naming_apply(naming, tensor->name, &name);
        sp_text_puts(&pattern, "");
        sp_names_split(&pattern, name.data, named->numbers, &numbers);
        named->pattern = pattern_of(shapes, &pattern);
        shapes->count++;
    }
    sp_text_free(&name);
    sp_text_free(&pattern);
    if (shapes->count) qsort(shapes->named, shapes->count, sizeof *shapes->named, compare_named);
    index_patterns(shapes);
}

size_t sp_shapes_find(const struct sp_shapes *shapes, const char *pattern) { return sp_map_get(&shapes->map, pattern); }

void sp_shapes_free(struct sp_shapes *shapes)
{
    free(shapes->patterns);
    free(shapes->named);
    free(shapes->first);
    sp_map_free(&shapes->map);
    sp_arena_free(&shapes->arena);
    *shapes = (struct sp_shapes){0};
}
