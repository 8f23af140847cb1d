/* SPDX-License-Identifier: MIT
 * Names of one pattern are tuples of indices. A set of tuples is covered by products of ranges: values of the first
 * index whose remaining tuples are covered alike are joined, and so on inwards. */
#include "compare/collapse.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"

enum { MAX_INDICES = 6 };

struct entry {
    const char *pattern;
    uint64_t index[MAX_INDICES];
    size_t indices, input, key;
};

/* A product of index sets: one text "{0-4,7}" or "3" for each position, joined by blanks. */
struct cover {
    const char *text;
    size_t count, first;
};

struct covers {
    struct cover *items;
    size_t count, capacity;
};

/* A component that is a plain decimal number: no sign, no leading zero, at most 18 digits. */
static size_t index_length(const char *component)
{
    const size_t length = strspn(component, "0123456789");
    if (!length || length > 18 || (length > 1 && component[0] == '0')) return 0;
    return component[length] == '.' || component[length] == '/' || !component[length] ? length : 0;
}

/* Walks the components; calls for each index and copies all else, with {} for an index, into `pattern`. */
static void split(const char *name, struct sp_text *pattern, struct entry *entry)
{
    sp_text_puts(pattern, "");
    for (bool start = true; *name;) {
        const size_t length = start && entry->indices < MAX_INDICES ? index_length(name) : 0;
        if (length) {
            entry->index[entry->indices++] = strtoull(name, NULL, 10);
            sp_text_puts(pattern, "{}");
            name += length;
            start = false;
            continue;
        }
        start = *name == '.' || *name == '/';
        sp_text_append(pattern, name++, 1);
    }
}

const char *sp_name_pattern(struct sp_arena *arena, const char *name)
{
    struct sp_text pattern = {0};
    struct entry entry = {0};
    split(name, &pattern, &entry);
    const char *kept = sp_arena_copy(arena, pattern.data, pattern.length);
    sp_text_free(&pattern);
    return kept;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->indices != b->indices) return a->indices < b->indices ? -1 : 1;
    const int pattern = strcmp(a->pattern, b->pattern);
    if (pattern) return pattern;
    for (size_t i = 0; i < a->indices && i < b->indices; i++)
        if (a->index[i] != b->index[i]) return a->index[i] < b->index[i] ? -1 : 1;
    return a->input < b->input ? -1 : a->input > b->input;
}

static bool same_pattern(const struct entry *a, const struct entry *b)
{
    return a->key == b->key && a->indices == b->indices && strcmp(a->pattern, b->pattern) == 0;
}

static int compare_groups(const void *left, const void *right)
{
    const struct sp_collapsed *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* "{0-4,20-31}", or "7" for a single value. */
static void ranges(struct sp_text *text, const uint64_t *values, size_t count)
{
    if (count > 1) sp_text_puts(text, "{");
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && values[last + 1] == values[last] + 1) last++;
        if (i) sp_text_puts(text, ",");
        sp_text_printf(text, "%" PRIu64, values[i]);
        if (last > i) sp_text_printf(text, last == i + 1 ? ",%" PRIu64 : "-%" PRIu64, values[last]);
        i = last + 1;
    }
    if (count > 1) sp_text_puts(text, "}");
}

static void add_cover(struct covers *covers, struct cover cover)
{
    SP_GROW(covers->items, covers->count, covers->capacity);
    covers->items[covers->count++] = cover;
}

/* Values of one position that share what follows. */
struct family {
    struct covers covers;
    uint64_t *values;
    size_t count, capacity;
};

static const char *signature(struct sp_arena *arena, const struct covers *covers)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < covers->count; i++) sp_text_printf(&text, "%s;", covers->items[i].text);
    const char *kept = sp_arena_copy(arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

static void emit_family(struct sp_arena *arena, const struct family *family, struct covers *out)
{
    struct sp_text text = {0};
    ranges(&text, family->values, family->count);
    for (size_t i = 0; i < family->covers.count; i++) {
        const struct cover *rest = &family->covers.items[i];
        add_cover(out, (struct cover){sp_arena_printf(arena, "%s %s", text.data, rest->text),
                                      rest->count * family->count, rest->first});
    }
    sp_text_free(&text);
}

/* Covers entries[0..count), sorted, from index position `depth` on. The depth is bounded by MAX_INDICES. */
static void cover(struct sp_arena *arena, const struct entry *entries, size_t count, size_t depth, struct covers *out)
{
    struct family *families = NULL;
    size_t family_count = 0, family_capacity = 0;
    struct sp_map known = {0};
    if (depth == entries->indices) {
        add_cover(out, (struct cover){"", count, entries->input});
        return;
    }
    for (size_t from = 0, to; from < count; from = to) {
        struct covers rest = {0};
        for (to = from; to < count && entries[to].index[depth] == entries[from].index[depth];) to++;
        cover(arena, entries + from, to - from, depth + 1, &rest);
        const char *text = signature(arena, &rest);
        size_t place = sp_map_get(&known, text);
        if (place == SIZE_MAX) {
            place = family_count;
            SP_GROW(families, family_count, family_capacity);
            families[family_count++] = (struct family){.covers = rest};
            sp_map_add(&known, text, place);
        } else free(rest.items);
        SP_GROW(families[place].values, families[place].count, families[place].capacity);
        families[place].values[families[place].count++] = entries[from].index[depth];
    }
    for (size_t i = 0; i < family_count; i++) {
        emit_family(arena, &families[i], out);
        free(families[i].covers.items);
        free(families[i].values);
    }
    free(families);
    sp_map_free(&known);
}

/* Puts the texts of a cover into the holes of the pattern. */
static const char *fill(struct sp_arena *arena, const char *pattern, const char *parts)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (const char *p = pattern; *p;) {
        if (strncmp(p, "{}", 2) != 0) {
            sp_text_append(&text, p++, 1);
            continue;
        }
        const size_t length = strcspn(parts, " ");
        sp_text_append(&text, parts, length);
        parts += length + (parts[length] == ' ');
        p += 2;
    }
    const char *kept = sp_arena_copy(arena, text.data, text.length);
    sp_text_free(&text);
    return kept;
}

size_t sp_collapse(struct sp_arena *arena, const struct sp_collapse_input *input, size_t count,
                   struct sp_collapsed **out)
{
    struct entry *entries = sp_realloc(NULL, count + 1, sizeof *entries);
    struct sp_collapsed *groups = NULL;
    size_t group_count = 0, capacity = 0;
    for (size_t i = 0; i < count; i++) {
        struct sp_text pattern = {0};
        entries[i] = (struct entry){.input = i, .key = input[i].key};
        split(input[i].name, &pattern, &entries[i]);
        entries[i].pattern = sp_arena_copy(arena, pattern.data, pattern.length);
        sp_text_free(&pattern);
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t from = 0, to; from < count; from = to) {
        struct covers covers = {0};
        for (to = from; to < count && same_pattern(&entries[from], &entries[to]);) to++;
        cover(arena, entries + from, to - from, 0, &covers);
        for (size_t i = 0; i < covers.count; i++) {
            SP_GROW(groups, group_count, capacity);
            groups[group_count++] =
                (struct sp_collapsed){fill(arena, entries[from].pattern, covers.items[i].text), covers.items[i].count,
                                      covers.items[i].first, entries[from].key};
        }
        free(covers.items);
    }
    if (group_count) qsort(groups, group_count, sizeof *groups, compare_groups);
    *out = sp_arena_array(arena, group_count, sizeof **out);
    if (group_count) memcpy(*out, groups, group_count * sizeof *groups);
    free(groups);
    free(entries);
    return group_count;
}
