/* SPDX-License-Identifier: MIT */
#include "names/sides.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/order.h"
#include "names/components.h"

enum { MAX_CLASS = 64 }; /* patterns of one content; with more of them shapes say nothing */

/* ---- forming them ---- */

void sp_sides_add(struct sp_sides *sides, struct sp_patterns *patterns, const char *name, const char *content,
                  size_t item)
{
    struct sp_stray *stray = SP_PUSH(&sides->members);
    *stray = (struct sp_stray){.item = item, .content = content};
    stray->pattern = sp_pattern_of(patterns, name, &stray->indices);
}

static int compare_strays(const void *left, const void *right)
{
    const struct sp_stray *a = left, *b = right;
    if (a->pattern != b->pattern) return sp_order(a->pattern, b->pattern);
    const int indices = sp_compare_indices(&a->indices, &b->indices);
    return indices ? indices : sp_order(a->item, b->item);
}

void sp_sides_form(struct sp_sides *sides)
{
    const size_t count = sides->members.count;
    struct sp_stray *members = sides->members.items;
    if (count) qsort(members, count, sizeof *members, compare_strays);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && members[to].pattern == members[from].pattern;) to++;
        *SP_PUSH(sides) = (struct sp_side){.members = members + from, .count = to - from};
    }
}

void sp_sides_free(struct sp_sides *sides)
{
    sp_free(sides->members.items);
    sp_free(sides->items);
    *sides = (struct sp_sides){0};
}

/* ---- classes ---- */

/* Numbers equal contents alike. */
static void classify_sides(struct sp_sides *sides, struct sp_map *classes, struct sp_arena *scratch)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < sides->count; i++) {
        struct sp_side *side = &sides->items[i];
        text.length = 0;
        for (size_t k = 0; k < side->count; k++) {
            const struct sp_stray *member = &side->members[k];
            for (size_t n = 0; n < member->indices.count; n++)
                sp_text_printf(&text, "%" PRIu64 ".", member->indices.value[n]);
            sp_text_puts(&text, member->content);
        }
        side->class = sp_map_get(classes, text.data);
        if (side->class != SIZE_MAX) continue;
        side->class = classes->count;
        sp_map_add(classes, sp_arena_copy(scratch, text.data, text.length), side->class);
    }
    sp_text_free(&text);
}

static int compare_classes(const void *left, const void *right)
{
    const struct sp_side *a = left, *b = right;
    return a->class != b->class ? sp_order(a->class, b->class) : sp_order(a->members->pattern, b->members->pattern);
}

/* The end of the class that begins at `from` in sorted sides. */
static size_t class_end(const struct sp_sides *sides, size_t from, size_t class)
{
    while (from < sides->count && sides->items[from].class == class) from++;
    return from;
}

/* ---- pairs ---- */

static size_t common_letters(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t front = 0, back = 0;
    while (front < a_length && front < b_length && a[front] == b[front]) front++;
    while (back < a_length - front && back < b_length - front && a[a_length - 1 - back] == b[b_length - 1 - back])
        back++;
    return front + back;
}

size_t sp_similarity(const char *a, const char *b)
{
    const size_t a_length = strlen(a), b_length = strlen(b), longer = a_length > b_length ? a_length : b_length;
    const size_t common = common_letters(a, a_length, b, b_length);
    return common * 2 >= longer ? common : 0;
}

/* The letters that only one of two similar texts has; SIZE_MAX when they are not similar. */
static size_t distance_of_names(const char *a, const char *b)
{
    const size_t alike = sp_similarity(a, b);
    return alike ? strlen(a) + strlen(b) - 2 * alike : SIZE_MAX;
}

/* Whether both candidates would rename the same component, and the first is not clearly more like it. */
static bool are_rivals(const char *name, const char *first, const char *second)
{
    struct sp_differing_component a, b;
    if (!sp_one_component(name, first, &a) || !sp_one_component(name, second, &b) || a.a != b.a) return false;
    return common_letters(a.a, a.a_length, a.b, a.b_length) < common_letters(b.a, b.a_length, b.b, b.b_length) + 2;
}

/* The one that is nearer than every other, and without a rival; NULL when there is none. */
static struct sp_side *nearest(const struct sp_patterns *patterns, const struct sp_side *side, struct sp_side *among,
                               size_t count)
{
    const char *name = sp_pattern_text(patterns, side->members->pattern);
    struct sp_side *best = NULL;
    size_t least = SIZE_MAX, rivals = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t far = distance_of_names(name, sp_pattern_text(patterns, among[i].members->pattern));
        if (far == least) best = NULL;
        if (far >= least) continue;
        least = far;
        best = &among[i];
    }
    for (size_t i = 0; best && i < count; i++)
        rivals += &among[i] != best && are_rivals(name, sp_pattern_text(patterns, best->members->pattern),
                                                  sp_pattern_text(patterns, among[i].members->pattern));
    return rivals ? NULL : best;
}

static void pair_class(const struct sp_patterns *patterns, struct sp_side *a, size_t a_count, struct sp_side *b,
                       size_t b_count)
{
    if (a_count > MAX_CLASS || b_count > MAX_CLASS) return;
    for (size_t i = 0; i < b_count; i++) {
        struct sp_side *likely = nearest(patterns, &b[i], a, a_count);
        if (!likely || nearest(patterns, likely, b, b_count) != &b[i]) continue;
        likely->other = &b[i];
        b[i].other = likely;
    }
}

static void pair_sorted(const struct sp_patterns *patterns, struct sp_sides *a, struct sp_sides *b)
{
    size_t i = 0, k = 0;
    while (i < a->count && k < b->count) {
        const size_t first = a->items[i].class, second = b->items[k].class;
        const size_t i_end = first <= second ? class_end(a, i, first) : i;
        const size_t k_end = second <= first ? class_end(b, k, second) : k;
        if (first == second) pair_class(patterns, a->items + i, i_end - i, b->items + k, k_end - k);
        i = i_end;
        k = k_end;
    }
}

void sp_sides_pair(const struct sp_patterns *patterns, struct sp_sides *a, struct sp_sides *b)
{
    struct sp_map classes = {0};
    struct sp_arena scratch = {0};
    if (!a->count || !b->count) return;
    classify_sides(a, &classes, &scratch);
    classify_sides(b, &classes, &scratch);
    qsort(a->items, a->count, sizeof *a->items, compare_classes);
    qsort(b->items, b->count, sizeof *b->items, compare_classes);
    pair_sorted(patterns, a, b);
    sp_map_free(&classes);
    sp_arena_free(&scratch);
}

/* ---- what differs ---- */

bool sp_one_component(const char *a, const char *b, struct sp_differing_component *component)
{
    struct sp_differing_component found = {0};
    struct sp_component_walk in_a = {.rest = a}, in_b = {.rest = b};
    for (;;) {
        const bool more = sp_component_next(&in_a, ".");
        if (sp_component_next(&in_b, ".") != more) return false;
        if (!more) break;
        if (in_a.length == in_b.length && memcmp(in_a.text, in_b.text, in_a.length) == 0) continue;
        if (found.a) return false;
        found = (struct sp_differing_component){in_a.text, in_b.text, in_a.length, in_b.length};
    }
    if (!found.a || memchr(found.a, (unsigned char)SP_INDEX_MARK, found.a_length) ||
        memchr(found.b, (unsigned char)SP_INDEX_MARK, found.b_length))
        return false;
    *component = found;
    return true;
}
