/* SPDX-License-Identifier: MIT
 * Names of one pattern are tuples of indices. A set of tuples is covered by products of sets, recursively: the tuples
 * behind each value of the first index are covered, and values whose remaining tuples have the same cover are joined.
 *
 *     (0,0) (0,1) (1,0) (1,1) (2,0)     behind 0: {0,1}, behind 1: {0,1}, behind 2: 0
 *                                       -> {0,1} x {0,1} and 2 x 0 */
#include "names/collapse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "names/patterns.h"
#include "names/sides.h"

struct entry {
    size_t input, key; /* index of the name in the input, and its key */
    struct sp_place place;
};

/* A product of index sets: one text "{0-4,7}" or "3" for each position, joined by blanks. */
struct cover {
    const char *text;
    size_t count, first; /* how many names, and the first of them in the input */
};

struct covers {
    struct cover *items;
    size_t count, capacity;
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->key != b->key) return sp_order(a->key, b->key);
    const int order = sp_compare_places(&a->place, &b->place);
    return order ? order : sp_order(a->input, b->input);
}

static bool same_pattern(const struct entry *a, const struct entry *b)
{
    return a->key == b->key && a->place.pattern == b->place.pattern;
}

static int compare_groups(const void *left, const void *right)
{
    return sp_order(((const struct sp_collapsed *)left)->first, ((const struct sp_collapsed *)right)->first);
}

/* "{0-4,20-31}", or "7" for a single value. */
static void ranges(struct sp_text *text, const uint64_t *values, size_t count)
{
    if (count > 1) sp_text_puts(text, "{");
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && values[last + 1] == values[last] + 1) last++;
        if (i) sp_text_puts(text, ",");
        sp_text_number(text, values[i]);
        if (last > i) {
            sp_text_puts(text, last == i + 1 ? "," : "-");
            sp_text_number(text, values[last]);
        }
        i = last + 1;
    }
    if (count > 1) sp_text_puts(text, "}");
}

/* Values of one position that have the same cover behind them. */
struct family {
    struct covers covers;
    SP_ARRAY(uint64_t) values;
};

struct families {
    struct family *items;
    size_t count, capacity;
    struct sp_map by_cover; /* signature -> index of the family */
};

/* Equal for covers that stand for the same tuples. */
static const char *signature(struct sp_arena *scratch, const struct covers *covers)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < covers->count; i++) sp_text_printf(&text, "%s;", covers->items[i].text);
    return sp_text_keep(&text, scratch);
}

/* Puts a value into the family with the cover `rest` behind it, which is taken over. */
static void add_cover_value(struct sp_arena *scratch, struct families *families, uint64_t value, struct covers rest)
{
    const char *text = signature(scratch, &rest);
    size_t place = sp_map_get(&families->by_cover, text);
    if (place == SIZE_MAX) {
        place = families->count;
        *SP_PUSH(families) = (struct family){.covers = rest};
        sp_map_add(&families->by_cover, text, place);
    } else {
        const struct covers *known = &families->items[place].covers;
        for (size_t i = 0; i < rest.count; i++)
            if (rest.items[i].first < known->items[i].first) known->items[i].first = rest.items[i].first;
        sp_free(rest.items);
    }
    *SP_PUSH(&families->items[place].values) = value;
}

/* Appends the covers of a family: the set of its values in front of each cover behind them. */
static void emit_family(struct sp_arena *scratch, const struct family *family, struct covers *out)
{
    struct sp_text text = {0};
    ranges(&text, family->values.items, family->values.count);
    for (size_t i = 0; i < family->covers.count; i++) {
        const struct cover *rest = &family->covers.items[i];
        *SP_PUSH(out) = (struct cover){sp_arena_printf(scratch, "%s %s", text.data, rest->text),
                                       rest->count * family->values.count, rest->first};
    }
    sp_text_free(&text);
}

static void free_family(struct family *family)
{
    sp_free(family->covers.items);
    sp_free(family->values.items);
}

/* The same at the last position, where all values form one family: there is nothing behind them. */
static void cover_last(struct sp_arena *scratch, const struct entry *entries, size_t count, struct covers *out)
{
    const size_t depth = entries->place.indices.count - 1;
    struct family family = {0};
    size_t first = entries->input;
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = entries[i].place.indices.value[depth];
        if (entries[i].input < first) first = entries[i].input;
        if (!family.values.count || family.values.items[family.values.count - 1] != value)
            *SP_PUSH(&family.values) = value;
    }
    *SP_PUSH(&family.covers) = (struct cover){"", 1, first};
    emit_family(scratch, &family, out);
    free_family(&family);
}

/* Appends a cover of entries[0..count) from index position `depth` on. The entries are of one pattern, sorted, and
 * equal in the positions before. The depth of the recursion is bounded by SP_MAX_INDICES. */
static void cover_indices(struct sp_arena *scratch, const struct entry *entries, size_t count, size_t depth,
                          struct covers *out)
{
    struct families families = {0};
    if (!entries->place.indices.count) { /* the pattern has no index: the same name, several times */
        *SP_PUSH(out) = (struct cover){"", 1, entries->input};
        return;
    }
    if (depth + 1 == entries->place.indices.count) {
        cover_last(scratch, entries, count, out);
        return;
    }
    for (size_t from = 0, to; from < count; from = to) {
        const uint64_t value = entries[from].place.indices.value[depth];
        struct covers rest = {0};
        for (to = from; to < count && entries[to].place.indices.value[depth] == value;) to++;
        cover_indices(scratch, entries + from, to - from, depth + 1, &rest);
        add_cover_value(scratch, &families, value, rest);
    }
    for (size_t i = 0; i < families.count; i++) {
        emit_family(scratch, &families.items[i], out);
        free_family(&families.items[i]);
    }
    sp_free(families.items);
    sp_map_free(&families.by_cover);
}

/* Puts the texts of a cover into the holes of the pattern. */
static const char *fill_cover(struct sp_arena *arena, const char *pattern, const char *parts)
{
    struct sp_text text = {0};
    for (; *pattern; pattern++) {
        if (*pattern != SP_INDEX_MARK) {
            sp_text_append(&text, pattern, 1);
            continue;
        }
        const size_t length = strcspn(parts, " ");
        sp_text_append(&text, parts, length);
        parts += length + (parts[length] == ' ');
    }
    return sp_text_keep(&text, arena);
}

struct groups {
    struct sp_collapsed *items;
    size_t count, capacity;
};

/* The groups of entries[0..count), which have one pattern and one key. */
static void collapse_pattern(struct sp_arena *arena, const struct entry *entries, size_t count, const char *pattern,
                             struct groups *out)
{
    struct sp_arena scratch = {0};
    struct covers covers = {0};
    cover_indices(&scratch, entries, count, 0, &covers);
    for (size_t i = 0; i < covers.count; i++)
        *SP_PUSH(out) = (struct sp_collapsed){fill_cover(arena, pattern, covers.items[i].text), covers.items[i].count,
                                              covers.items[i].first, entries->key};
    sp_free(covers.items);
    sp_arena_free(&scratch);
}

static struct entry *make_entries(const struct sp_collapse_input *input, size_t count, struct sp_patterns *patterns)
{
    struct entry *entries = sp_realloc(NULL, count, sizeof *entries);
    for (size_t i = 0; i < count; i++) {
        entries[i].input = i;
        entries[i].key = input[i].key;
        if (input[i].place) entries[i].place = *input[i].place;
        else entries[i].place.pattern = sp_pattern_of(patterns, input[i].name, &entries[i].place.indices);
    }
    return entries;
}

size_t sp_collapse(struct sp_arena *arena, const struct sp_patterns *known, const struct sp_collapse_input *input,
                   size_t count, struct sp_collapsed **out)
{
    struct sp_patterns own = {0};
    struct groups groups = {0};
    struct entry *entries = make_entries(input, count, &own);
    const struct sp_patterns *patterns = known ? known : &own;
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t from = 0, to; from < count; from = to) {
        const char *name = input[entries[from].input].name;
        for (to = from; to < count && same_pattern(&entries[from], &entries[to]);) to++;
        if (to - from == 1)
            *SP_PUSH(&groups) =
                (struct sp_collapsed){sp_arena_string(arena, name), 1, entries[from].input, entries[from].key};
        else
            collapse_pattern(arena, entries + from, to - from, sp_pattern_text(patterns, entries[from].place.pattern),
                             &groups);
    }
    if (groups.count) qsort(groups.items, groups.count, sizeof *groups.items, compare_groups);
    *out = sp_arena_array(arena, groups.count, sizeof **out);
    if (groups.count) memcpy(*out, groups.items, groups.count * sizeof *groups.items);
    sp_free(groups.items);
    sp_free(entries);
    sp_patterns_free(&own);
    return groups.count;
}

/* ---- keys ---- */

size_t sp_kind_of(struct sp_kinds *kinds, const struct sp_text *text)
{
    size_t kind = sp_map_get(&kinds->known, text->data);
    if (kind != SIZE_MAX) return kind;
    kind = kinds->known.count;
    sp_map_add(&kinds->known, sp_arena_copy(&kinds->arena, text->data, text->length), kind);
    return kind;
}

void sp_kinds_free(struct sp_kinds *kinds)
{
    sp_map_free(&kinds->known);
    sp_arena_free(&kinds->arena);
    *kinds = (struct sp_kinds){0};
}

/* ---- many names in one line: collapsed, then over one component in which they differ, and of that the first few:
 * "layers.{0-31}.self_attn.{q_proj,k_proj}.bias" ---- */

enum { SHOWN = 3, LONGEST = 160 };

/* Names that are `head`, one of several components, `tail`. */
struct fold {
    const char *name;                  /* the first */
    struct sp_differing_component one; /* in it, once there are several */
    struct sp_text components;         /* "q_proj,k_proj" */
    size_t components_count;
    size_t names_count;
};

/* The only component in which the names differ; false when they differ in more, or in an index, or have nothing else.
 */
static bool one_difference(const char *a, const char *b, struct sp_differing_component *one)
{
    if (!sp_one_component(a, b, one) || (one->a == a && !a[one->a_length])) return false;
    return !memchr(one->a, '{', one->a_length) && !memchr(one->b, '{', one->b_length);
}

/* Joins a group to a fold if it differs from it in one component, the same as the names of the fold so far. */
static bool join_component(struct fold *fold, const struct sp_collapsed *group)
{
    struct sp_differing_component one;
    if (!one_difference(fold->name, group->name, &one)) return false;
    if (fold->components_count > 1 && one.a != fold->one.a) return false;
    if (fold->components_count == 1) sp_text_append(&fold->components, one.a, one.a_length);
    sp_text_puts(&fold->components, ",");
    sp_text_append(&fold->components, one.b, one.b_length);
    fold->one = one;
    fold->components_count++;
    fold->names_count += group->count;
    return true;
}

/* Appends "layers.{0-3}.{q_proj,k_proj}.bias", cut at LONGEST bytes. */
static void put_fold(struct sp_text *text, const struct fold *fold)
{
    struct sp_text whole = {0};
    size_t cut = LONGEST;
    if (fold->components_count == 1) sp_text_puts(&whole, fold->name);
    else
        sp_text_printf(&whole, "%.*s{%s}%s", (int)(fold->one.a - fold->name), fold->name, fold->components.data,
                       fold->one.a + fold->one.a_length);
    while (cut < whole.length && cut && ((unsigned char)whole.data[cut] & 0xc0) == 0x80) cut--; /* within a character */
    sp_text_append(text, whole.data, whole.length < cut ? whole.length : cut);
    if (whole.length > cut) sp_text_puts(text, "...");
    sp_text_free(&whole);
}

/* Neighbours that differ in one component are folded into one. */
static size_t fold_names(const struct sp_collapsed *groups, size_t count, struct fold *folds)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (!used || !join_component(&folds[used - 1], &groups[i]))
            folds[used++] =
                (struct fold){.name = groups[i].name, .components_count = 1, .names_count = groups[i].count};
    return used;
}

/* The first `few` folds of the names in a line, and how many names are left. */
static const char *first_names(struct sp_arena *arena, const struct sp_patterns *known,
                               const struct sp_collapse_input *input, size_t count, size_t few)
{
    struct sp_collapsed *groups;
    struct sp_text text = {0};
    const size_t found = sp_collapse(arena, known, input, count, &groups);
    struct fold *folds = sp_realloc(NULL, found, sizeof *folds);
    const size_t used = fold_names(groups, found, folds);
    size_t left = count;
    for (size_t i = 0; i < used && i < few; i++) {
        if (i) sp_text_puts(&text, ", ");
        put_fold(&text, &folds[i]);
        left -= folds[i].names_count;
    }
    if (left) sp_text_printf(&text, " and %zu more", left);
    for (size_t i = 0; i < used; i++) sp_text_free(&folds[i].components);
    sp_free(folds);
    return sp_text_keep(&text, arena);
}

const char *sp_some_inputs(struct sp_arena *arena, const struct sp_patterns *known,
                           const struct sp_collapse_input *input, size_t count)
{
    return first_names(arena, known, input, count, SHOWN);
}

const char *sp_few_names(struct sp_arena *arena, const char *const *names, size_t count, size_t few)
{
    struct sp_collapse_input *input = sp_realloc(NULL, count, sizeof *input);
    for (size_t i = 0; i < count; i++) input[i] = (struct sp_collapse_input){.name = names[i]};
    const char *list = first_names(arena, NULL, input, count, few);
    sp_free(input);
    return list;
}

const char *sp_some_names(struct sp_arena *arena, const char *const *names, size_t count)
{
    return sp_few_names(arena, names, count, SHOWN);
}
