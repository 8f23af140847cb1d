/* SPDX-License-Identifier: MIT */
#include "learn/rows/fronts.h"

#include <string.h>

#include "learn/rows/layout.h"

/* A name without its numbers. */
static const char *bare_name(struct sp_arena *arena, const char *name)
{
    struct sp_text text = {0};
    struct sp_indices indices = {.count = 0};
    sp_name_split(&text, name, SP_INDEX_ANYWHERE, &indices);
    return sp_text_keep(&text, arena);
}

static const char *name_in_example(const struct sp_evidence *evidence, size_t example, size_t tensor)
{
    return shapeproof_inventory_tensor(evidence->examples[example].inventory, tensor)->name;
}

static size_t count_names(const struct sp_evidence *evidence, size_t example)
{
    return shapeproof_inventory_count(evidence->examples[example].inventory);
}

/* How many names of the example begin so. */
static size_t count_with_front(const struct sp_evidence *evidence, size_t example, const char *front)
{
    size_t count = 0;
    for (size_t i = 0; i < count_names(evidence, example); i++)
        count += strncmp(name_in_example(evidence, example, i), front, strlen(front)) == 0;
    return count;
}

/* The first component of most of its names, with the dot; "" when there is none. */
static const char *usual_front(const struct sp_evidence *evidence, size_t example)
{
    for (size_t i = 0; i < count_names(evidence, example); i++) {
        const char *name = name_in_example(evidence, example, i), *dot = strchr(name, '.');
        if (!dot) continue;
        const char *front = sp_arena_copy(evidence->arena, name, (size_t)(dot + 1 - name));
        if (count_with_front(evidence, example, front) * 2 > count_names(evidence, example)) return front;
    }
    return "";
}

static void gather_bare_names(const struct sp_evidence *evidence, size_t example, const char *front,
                              struct sp_map *names)
{
    for (size_t i = 0; i < count_names(evidence, example); i++) {
        const char *name = name_in_example(evidence, example, i);
        if (strncmp(name, front, strlen(front)) == 0)
            sp_map_add(names, bare_name(evidence->arena, name + strlen(front)), 0);
    }
}

/* Whether most names of an example are those, as they are. */
static bool has_bare_names(const struct sp_evidence *evidence, size_t example, const struct sp_map *names)
{
    size_t common = 0;
    for (size_t i = 0; i < count_names(evidence, example); i++)
        common += sp_map_get(names, bare_name(evidence->arena, name_in_example(evidence, example, i))) != SIZE_MAX;
    return common * 2 > count_names(evidence, example);
}

static bool differ_in_front(const struct sp_evidence *evidence, const struct sp_map *names, const char *front)
{
    for (size_t e = 0; e < evidence->count; e++)
        if (count_with_front(evidence, e, front) * 2 <= count_names(evidence, e) && has_bare_names(evidence, e, names))
            return true;
    return false;
}

static void keep_front(struct sp_fronts *fronts, const struct sp_evidence *evidence, const char *front)
{
    fronts->text = front;
    fronts->has = sp_arena_array(evidence->arena, evidence->count, sizeof *fronts->has);
    for (size_t e = 0; e < evidence->count; e++)
        fronts->has[e] = count_with_front(evidence, e, front) * 2 > count_names(evidence, e);
    for (size_t e = 0; e < evidence->count; e++)
        if (fronts->has[e]) gather_bare_names(evidence, e, front, &fronts->names);
}

void sp_fronts_find(struct sp_fronts *fronts, const struct sp_evidence *evidence)
{
    *fronts = (struct sp_fronts){.text = ""};
    for (size_t e = 0; e < evidence->count && !*fronts->text; e++) {
        struct sp_map names = {0};
        const char *front = usual_front(evidence, e);
        if (*front) gather_bare_names(evidence, e, front, &names);
        if (*front && differ_in_front(evidence, &names, front)) keep_front(fronts, evidence, front);
        sp_map_free(&names);
    }
}

static bool is_fronted(const struct sp_fronts *fronts, const char *name)
{
    struct sp_arena arena = {0};
    const bool is = sp_map_get(&fronts->names, bare_name(&arena, name)) != SIZE_MAX;
    sp_arena_free(&arena);
    return is;
}

const char *sp_front_taken(const struct sp_fronts *fronts, size_t example, const char *name, bool *marked)
{
    const size_t length = strlen(fronts->text);
    *marked = false;
    if (!length) return name;
    if (fronts->has[example]) *marked = strncmp(name, fronts->text, length) == 0;
    else *marked = is_fronted(fronts, name);
    return *marked && fronts->has[example] ? name + length : name;
}

void sp_fronts_free(struct sp_fronts *fronts) { sp_map_free(&fronts->names); }
