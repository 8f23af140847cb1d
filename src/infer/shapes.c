/* SPDX-License-Identifier: MIT */
#include "infer/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

static int compare_named(const void *left, const void *right)
{
    const struct sp_named *a = left, *b = right;
    const int order = sp_compare_places(&a->place, &b->place);
    return order ? order : sp_order(a->tensor, b->tensor);
}

static void index_patterns(struct sp_shapes *shapes)
{
    size_t next = 0;
    shapes->first = sp_realloc(NULL, shapes->patterns.count + 1, sizeof *shapes->first);
    for (size_t p = 0; p <= shapes->patterns.count; p++) {
        while (next < shapes->count && shapes->named[next].place.pattern < p) next++;
        shapes->first[p] = next;
    }
}

static bool is_known(const struct sp_map *known, const char *name, struct sp_text *pattern)
{
    struct sp_indices indices = {.count = 0};
    pattern->length = 0;
    sp_name_split(pattern, name, SP_INDEX_ANYWHERE, &indices);
    return sp_map_get(known, pattern->data) != SIZE_MAX;
}

/* `pattern` is scratch. */
static void put_name(const struct sp_naming *naming, const struct sp_map *known, const char *stored,
                     struct sp_text *name, struct sp_text *pattern)
{
    name->length = 0;
    sp_naming_apply(naming, stored, name);
    if (!known || !*naming->add || is_known(known, name->data, pattern)) return;
    struct sp_naming bare = *naming;
    struct sp_text other = {0};
    bare.add = "";
    sp_naming_apply(&bare, stored, &other);
    if (is_known(known, other.data, pattern)) {
        name->length = 0;
        sp_text_puts(name, other.data);
    }
    sp_text_free(&other);
}

void sp_shapes_init(struct sp_shapes *shapes, const struct shapeproof_tables *tables,
                    const struct shapeproof_inventory *inventory, const struct sp_naming *naming,
                    const struct sp_map *known, size_t step)
{
    const size_t total = shapeproof_inventory_count(inventory);
    struct sp_text name = {0}, pattern = {0};
    *shapes = (struct sp_shapes){.inventory = inventory, .patterns = {.rule = SP_INDEX_ANYWHERE}};
    shapes->named = sp_realloc(NULL, total, sizeof *shapes->named);
    for (size_t i = 0; i < total; i += step) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        struct sp_named *named = &shapes->named[shapes->count];
        if (tensor->flags & SHAPEPROOF_TENSOR_STATE) continue;
        *named = (struct sp_named){.tensor = i};
        put_name(naming, known, tensor->name, &name, &pattern);
        named->place.pattern = sp_pattern_of(&shapes->patterns, name.data, &named->place.indices);
        shapes->count++;
    }
    sp_text_free(&name);
    sp_text_free(&pattern);
    if (shapes->count) qsort(shapes->named, shapes->count, sizeof *shapes->named, compare_named);
    index_patterns(shapes);
    shapes->prefilter = sp_prefilter_new(tables, &shapes->patterns);
}

size_t sp_shapes_find(const struct sp_shapes *shapes, const char *pattern)
{
    return sp_pattern_find(&shapes->patterns, pattern);
}

size_t sp_shapes_seek(const struct sp_shapes *shapes, size_t pattern, const uint64_t *numbers, size_t count)
{
    struct sp_place wanted = {.pattern = pattern, .indices = {.count = count}};
    size_t low = shapes->first[pattern], high = shapes->first[pattern + 1];
    for (size_t i = 0; i < count; i++) wanted.indices.value[i] = numbers[i];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sp_compare_places(&shapes->named[middle].place, &wanted) < 0) low = middle + 1;
        else high = middle;
    }
    return low < shapes->first[pattern + 1] && !sp_compare_places(&shapes->named[low].place, &wanted) ? low
                                                                                                      : SHAPEPROOF_NONE;
}

void sp_shapes_free(struct sp_shapes *shapes)
{
    free(shapes->named);
    free(shapes->first);
    sp_prefilter_free(shapes->prefilter);
    sp_patterns_free(&shapes->patterns);
    *shapes = (struct sp_shapes){0};
}
