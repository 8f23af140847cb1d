/* SPDX-License-Identifier: MIT
 * Tensors that are missing under one name and there under another. All of a pattern must be renamed alike: as many
 * tensors, with the same indices and the same shapes, under names that have at least half of their letters in common.
 * When two candidates fit equally well nothing is claimed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare/check.h"

enum { MAX_CLASS = 64 }; /* patterns of one content; with more of them shapes say nothing */

struct member {
    size_t pattern, finding;
    struct sp_indices indices;
};

/* The open findings of one kind and pattern. Sides of one class have the same content: as many tensors, with the same
 * indices and shapes. */
struct side {
    const struct member *members;
    size_t count, class;
    struct side *other; /* what it is renamed to, or from */
};

/* One kind of findings: all missing ones, or all unexpected ones. */
struct sides {
    struct member *members;
    struct side *items;
    size_t count, capacity;
};

/* ---- sides ---- */

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->pattern != b->pattern) return a->pattern < b->pattern ? -1 : 1;
    for (size_t i = 0; i < a->indices.count; i++)
        if (a->indices.value[i] != b->indices.value[i]) return a->indices.value[i] < b->indices.value[i] ? -1 : 1;
    return a->finding < b->finding ? -1 : a->finding > b->finding;
}

static void collect(struct sp_check *check, const char *id, struct sides *sides)
{
    size_t count = 0;
    sides->members = sp_realloc(NULL, check->finding_count, sizeof *sides->members);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (!sp_finding_is_open(finding) || strcmp(finding->id, id) != 0) continue;
        struct member *member = &sides->members[count++];
        member->finding = i;
        member->pattern = sp_pattern_of(&check->patterns, finding->name, &member->indices);
    }
    if (count) qsort(sides->members, count, sizeof *sides->members, compare_members);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && sides->members[to].pattern == sides->members[from].pattern;) to++;
        SP_GROW(sides->items, sides->count, sides->capacity);
        sides->items[sides->count++] = (struct side){.members = sides->members + from, .count = to - from};
    }
}

/* Numbers equal contents alike. */
static void classify(struct sp_check *check, struct sides *sides, struct sp_map *classes, struct sp_arena *scratch)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < sides->count; i++) {
        struct side *side = &sides->items[i];
        text.length = 0;
        for (size_t k = 0; k < side->count; k++) {
            const struct member *member = &side->members[k];
            const struct sp_finding *finding = &check->findings[member->finding];
            for (size_t n = 0; n < member->indices.count; n++)
                sp_text_printf(&text, "%" PRIu64 ".", member->indices.value[n]);
            sp_text_puts(&text, finding->expected ? finding->expected : finding->found);
        }
        side->class = sp_map_get(classes, text.data);
        if (side->class != SIZE_MAX) continue;
        side->class = classes->count;
        sp_map_add(classes, sp_arena_copy(scratch, text.data, text.length), side->class);
    }
    sp_text_free(&text);
}

/* ---- pairs ---- */

static const char *pattern_of(const struct sp_check *check, const struct side *side)
{
    return sp_pattern_text(&check->patterns, side->members->pattern);
}

/* Letters in common at both ends; 0 when they are less than half of the longer name. */
static size_t similarity(const char *a, const char *b)
{
    const size_t a_length = strlen(a), b_length = strlen(b), longer = a_length > b_length ? a_length : b_length;
    size_t front = 0, back = 0;
    while (a[front] && a[front] == b[front]) front++;
    while (back < a_length - front && back < b_length - front && a[a_length - 1 - back] == b[b_length - 1 - back])
        back++;
    return (front + back) * 2 >= longer ? front + back : 0;
}

/* The one that is more similar than every other; NULL when there is none. */
static struct side *most_similar(const struct sp_check *check, const struct side *side, struct side *among,
                                 size_t count)
{
    struct side *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t alike = similarity(pattern_of(check, side), pattern_of(check, &among[i]));
        if (alike == most) best = NULL;
        if (alike <= most) continue;
        most = alike;
        best = &among[i];
    }
    return best;
}

static void pair_class(const struct sp_check *check, struct side *missing, size_t missing_count, struct side *strangers,
                       size_t stranger_count)
{
    if (missing_count > MAX_CLASS || stranger_count > MAX_CLASS) return;
    for (size_t i = 0; i < stranger_count; i++) {
        struct side *lost = most_similar(check, &strangers[i], missing, missing_count);
        if (!lost || most_similar(check, lost, strangers, stranger_count) != &strangers[i]) continue;
        lost->other = &strangers[i];
        strangers[i].other = lost;
    }
}

static int compare_classes(const void *left, const void *right)
{
    const struct side *a = left, *b = right;
    if (a->class != b->class) return a->class < b->class ? -1 : 1;
    return a->members->pattern < b->members->pattern ? -1 : a->members->pattern > b->members->pattern;
}

/* The end of the class that begins at `from` in sorted sides. */
static size_t class_end(const struct sides *sides, size_t from, size_t class)
{
    while (from < sides->count && sides->items[from].class == class) from++;
    return from;
}

static void pair_sides(const struct sp_check *check, struct sides *missing, struct sides *strangers)
{
    size_t m = 0, s = 0;
    qsort(missing->items, missing->count, sizeof *missing->items, compare_classes);
    qsort(strangers->items, strangers->count, sizeof *strangers->items, compare_classes);
    while (m < missing->count && s < strangers->count) {
        const size_t a = missing->items[m].class, b = strangers->items[s].class;
        const size_t m_end = a <= b ? class_end(missing, m, a) : m, s_end = b <= a ? class_end(strangers, s, b) : s;
        if (a == b) pair_class(check, missing->items + m, m_end - m, strangers->items + s, s_end - s);
        m = m_end;
        s = s_end;
    }
}

/* ---- saying it ---- */

/* When the names differ in one component alone: its text in both, "'layers' is called 'blocks'"; otherwise NULL. */
static const char *one_component(struct sp_check *check, const char *a, const char *b)
{
    const char *from = NULL, *to = NULL;
    size_t from_length = 0, to_length = 0;
    for (;;) {
        const size_t a_length = strcspn(a, "."), b_length = strcspn(b, ".");
        if (a_length != b_length || memcmp(a, b, a_length) != 0) {
            if (from) return NULL;
            from = a, from_length = a_length;
            to = b, to_length = b_length;
        }
        if (!a[a_length] != !b[b_length]) return NULL;
        if (!a[a_length]) break;
        a += a_length + 1;
        b += b_length + 1;
    }
    if (!from || memchr(from, SP_INDEX_MARK, from_length) || memchr(to, SP_INDEX_MARK, to_length)) return NULL;
    return sp_arena_printf(&check->arena, "'%.*s' is called '%.*s'", (int)from_length, from, (int)to_length, to);
}

static const char *whole_names(struct sp_check *check, const struct side *side)
{
    const struct side *other = side->other;
    if (side->count == 1)
        return sp_arena_printf(&check->arena, "%s is called %s", check->findings[side->members->finding].name,
                               check->findings[other->members->finding].name);
    return sp_arena_printf(&check->arena, "%s is called %s", sp_pattern_shown(&check->arena, pattern_of(check, side)),
                           sp_pattern_shown(&check->arena, pattern_of(check, other)));
}

/* Pairs that are said in the same words. */
struct phrase {
    const char *says;
    const struct side *first;
    size_t pairs, tensors;
};

static size_t make_phrases(struct sp_check *check, const struct sides *missing, struct phrase *phrases)
{
    struct sp_map known = {0};
    size_t count = 0;
    for (size_t i = 0; i < missing->count; i++) {
        const struct side *side = &missing->items[i];
        if (!side->other) continue;
        const char *says = one_component(check, pattern_of(check, side), pattern_of(check, side->other));
        if (!says) says = whole_names(check, side);
        size_t place = sp_map_get(&known, says);
        if (place == SIZE_MAX) {
            place = count++;
            phrases[place] = (struct phrase){.says = says, .first = side};
            sp_map_add(&known, says, place);
        }
        phrases[place].pairs++;
        phrases[place].tensors += side->count;
    }
    sp_map_free(&known);
    return count;
}

static const char *describe(struct sp_check *check, const struct sides *missing)
{
    enum { SHOWN = 3 };
    struct phrase *phrases = sp_realloc(NULL, missing->count, sizeof *phrases);
    struct sp_text text = {0};
    const size_t count = make_phrases(check, missing, phrases);
    sp_text_puts(&text, "renamed: ");
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const struct phrase *phrase = &phrases[i];
        if (i) sp_text_puts(&text, ", ");
        sp_text_puts(&text, phrase->pairs > 1 ? phrase->says : whole_names(check, phrase->first));
        if (phrase->tensors > 1) sp_text_printf(&text, " (%zu tensors)", phrase->tensors);
    }
    if (count > SHOWN) sp_text_printf(&text, " and %zu more", count - SHOWN);
    sp_text_puts(&text, " in the file");
    const char *kept = sp_arena_copy(&check->arena, text.data, text.length);
    sp_text_free(&text);
    free(phrases);
    return kept;
}

static void explain_side(struct sp_check *check, const struct side *side, size_t cause)
{
    for (size_t i = 0; i < side->count; i++) sp_check_explain(check, side->members[i].finding, cause);
}

static void explain_pairs(struct sp_check *check, const struct sides *missing)
{
    size_t cause = SP_NONE;
    for (size_t i = 0; i < missing->count; i++) {
        const struct side *side = &missing->items[i];
        if (!side->other) continue;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(check, (struct sp_cause){.id = "renamed", .severity = SP_SEVERITY_ERROR});
        explain_side(check, side, cause);
        explain_side(check, side->other, cause);
    }
    if (cause != SP_NONE) check->causes[cause].message = describe(check, missing);
}

void sp_explain_renamed(struct sp_check *check)
{
    struct sides missing = {0}, strangers = {0};
    struct sp_map classes = {0};
    struct sp_arena scratch = {0};
    collect(check, "missing", &missing);
    collect(check, "unexpected", &strangers);
    if (missing.count && strangers.count) {
        classify(check, &missing, &classes, &scratch);
        classify(check, &strangers, &classes, &scratch);
        pair_sides(check, &missing, &strangers);
        explain_pairs(check, &missing);
    }
    free(missing.members);
    free(missing.items);
    free(strangers.members);
    free(strangers.items);
    sp_map_free(&classes);
    sp_arena_free(&scratch);
}
