/* SPDX-License-Identifier: MIT */
#include "explain/renaming.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "names/components.h"
#include "names/sides.h"

static void collect_strays(struct shapeproof_check *check, enum shapeproof_finding_kind kind, struct sp_sides *sides)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (sp_finding_is_open_as(finding, kind))
            sp_sides_add(sides, &check->patterns, finding->name, finding->expected ? finding->expected : finding->found,
                         i);
    }
    sp_sides_form(sides);
}

static const char *pattern_of(const struct shapeproof_check *check, const struct sp_side *side)
{
    return sp_pattern_text(&check->patterns, side->members->pattern);
}

/* ---- in which words ---- */

static const char *whole_names(struct shapeproof_check *check, const struct sp_side *side)
{
    const struct sp_side *other = side->other;
    if (side->count == 1)
        return sp_arena_printf(&check->arena, "%s is called %s", check->findings[side->members->item].name,
                               check->findings[other->members->item].name);
    return sp_arena_printf(&check->arena, "%s is called %s", sp_pattern_shown(&check->arena, pattern_of(check, side)),
                           sp_pattern_shown(&check->arena, pattern_of(check, other)));
}

/* Pairs that are said in the same words: "'layers' is called 'blocks'", when the names differ in that alone. */
struct phrase {
    const char *says;
    const struct sp_side *first;
    struct sp_differing_component component; /* `a` is NULL when it is about whole names */
    size_t pairs, tensors;
    size_t taken;  /* tensors besides those of pairs */
    size_t likely; /* patterns that would be a pair if there were not more of the one than of the other */
};

struct phrases {
    struct phrase *items;
    size_t count, capacity;
    struct sp_map known;
};

static bool of_component(struct shapeproof_check *check, struct phrase *phrase, const char *a, const char *b)
{
    if (!sp_one_component(a, b, &phrase->component)) return false;
    phrase->says = sp_arena_printf(&check->arena, "'%.*s' is called '%.*s'", (int)phrase->component.a_length,
                                   phrase->component.a, (int)phrase->component.b_length, phrase->component.b);
    return true;
}

/* The phrase in those words, a known one or a new one. */
static struct phrase *known_phrase(struct phrases *phrases, struct phrase phrase)
{
    const size_t place = sp_map_get(&phrases->known, phrase.says);
    if (place != SIZE_MAX) return &phrases->items[place];
    SP_GROW(phrases->items, phrases->count, phrases->capacity);
    phrases->items[phrases->count] = phrase;
    sp_map_add(&phrases->known, phrase.says, phrases->count);
    return &phrases->items[phrases->count++];
}

static void make_phrases(struct shapeproof_check *check, const struct sp_sides *missing, struct phrases *phrases)
{
    for (size_t i = 0; i < missing->count; i++) {
        const struct sp_side *side = &missing->items[i];
        struct phrase phrase = {.first = side};
        if (!side->other) continue;
        if (!of_component(check, &phrase, pattern_of(check, side), pattern_of(check, side->other)))
            phrase.says = whole_names(check, side);
        struct phrase *known = known_phrase(phrases, phrase);
        known->pairs++;
        known->tensors += side->count;
    }
}

/* Whether at least half of the smaller side is in the other one: the same indices with the same content. */
static bool overlap(const struct sp_side *a, const struct sp_side *b)
{
    const size_t smaller = a->count < b->count ? a->count : b->count;
    size_t common = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const int order = sp_compare_indices(&a->members[i].indices, &b->members[k].indices);
        common += order == 0 && strcmp(a->members[i].content, b->members[k].content) == 0;
        i += order <= 0;
        k += order >= 0;
    }
    return common && common * 2 >= smaller;
}

/* Names that differ in one component and make no pair. */
static void add_likely(struct shapeproof_check *check, const struct sp_sides *missing, const struct sp_sides *strangers,
                       struct phrases *phrases)
{
    enum { MOST = 100 }; /* patterns on either side */
    if (missing->count > MOST || strangers->count > MOST) return;
    for (size_t i = 0; i < missing->count; i++)
        for (size_t k = 0; k < strangers->count; k++) {
            const struct sp_side *a = &missing->items[i], *b = &strangers->items[k];
            struct phrase phrase = {.first = a};
            if (a->other || b->other || !sp_similarity(pattern_of(check, a), pattern_of(check, b))) continue;
            if (of_component(check, &phrase, pattern_of(check, a), pattern_of(check, b)) && overlap(a, b))
                known_phrase(phrases, phrase)->likely++;
        }
}

static bool is_renamed_component(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

/* A pair says it, or several patterns do; and no other phrase has as much to say of either component. */
static bool is_clear(const struct phrases *phrases, const struct phrase *phrase)
{
    const struct sp_differing_component *one = &phrase->component;
    if (!one->a || (!phrase->pairs && phrase->likely < 2)) return false;
    for (size_t i = 0; i < phrases->count && !phrase->pairs; i++) {
        const struct sp_differing_component *other = &phrases->items[i].component;
        if (&phrases->items[i] == phrase || !other->a || phrases->items[i].likely < 2) continue;
        if (is_renamed_component(one->a, one->a_length, other->a, other->a_length) ||
            is_renamed_component(one->b, one->b_length, other->b, other->b_length))
            return false;
    }
    return true;
}

/* ---- what a component takes along ---- */

/* Puts the name with the component called as predicted into `text`; false when the name does not have it. */
static bool call_as_predicted(struct sp_text *text, const char *name, const struct sp_differing_component *component)
{
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");) {
        if (!is_renamed_component(part.text, part.length, component->b, component->b_length)) continue;
        text->length = 0;
        sp_text_append(text, name, (size_t)(part.text - name));
        sp_text_append(text, component->a, component->a_length);
        sp_text_puts(text, part.text + part.length);
        return true;
    }
    return false;
}

/* What a stranger is when the component is called as predicted: something that is not there, of its shape; or
 * SHAPEPROOF_NONE.
 */
static size_t stands_for(const struct shapeproof_check *check, const struct shapeproof_finding *stranger,
                         struct sp_text *text, const struct sp_differing_component *component)
{
    if (!call_as_predicted(text, stranger->name, component)) return SHAPEPROOF_NONE;
    const size_t predicted = shapeproof_prediction_find(check->prediction, text->data);
    if (predicted == SHAPEPROOF_NONE || check->match.tensor_of[predicted] != SHAPEPROOF_NONE) return SHAPEPROOF_NONE;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(check->inventory, stranger->tensor);
    return sp_same_shape(tensor, shapeproof_prediction_tensor(check->prediction, predicted)) ? predicted
                                                                                             : SHAPEPROOF_NONE;
}

/* What has the component in its name but makes no pair, for there are more of its kind on one side: a layer too many,
 * or one that is tied and need not be there. */
static void take_along(const struct shapeproof_check *check, struct phrase *phrase, const size_t *missing,
                       size_t *other)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (other[i] != SHAPEPROOF_NONE || !sp_finding_is_open_as(finding, SHAPEPROOF_FINDING_UNEXPECTED)) continue;
        const size_t predicted = stands_for(check, finding, &text, &phrase->component);
        if (predicted == SHAPEPROOF_NONE) continue;
        const size_t lost = missing[predicted];
        if (lost != SHAPEPROOF_NONE && other[lost] != SHAPEPROOF_NONE) continue;
        other[i] = lost != SHAPEPROOF_NONE ? lost : i;
        if (lost != SHAPEPROOF_NONE) other[lost] = i;
        phrase->taken++;
    }
    sp_text_free(&text);
}

static void take_all_along(const struct shapeproof_check *check, struct phrases *phrases, size_t *other)
{
    enum { MOST = 4 };
    size_t *missing = sp_check_missing(check);
    for (size_t i = 0, tried = 0; i < phrases->count && tried < MOST; i++)
        if (is_clear(phrases, &phrases->items[i])) {
            take_along(check, &phrases->items[i], missing, other);
            tried++;
        }
    sp_free(missing);
}

/* ---- saying it ---- */

static const char *words_of(struct shapeproof_check *check, const struct phrase *phrase)
{
    return phrase->pairs == 1 && !phrase->taken ? whole_names(check, phrase->first) : phrase->says;
}

/* "renamed: a to b (12 tensors), c to d and 2 more in the file": the first three rules that name a tensor, and how
 * many more there are. */
static const char *say_phrases(struct shapeproof_check *check, const struct phrases *phrases)
{
    enum { SHOWN = 3 };
    struct sp_text text = {0};
    size_t shown = 0, more = 0;
    sp_text_puts(&text, "renamed: ");
    for (size_t i = 0; i < phrases->count; i++) {
        const struct phrase *phrase = &phrases->items[i];
        const size_t tensors = phrase->tensors + phrase->taken;
        if (!tensors) continue;
        if (shown == SHOWN) {
            more++;
            continue;
        }
        sp_text_printf(&text, "%s%s", shown++ ? ", " : "", words_of(check, phrase));
        if (tensors > 1) sp_text_printf(&text, " (%zu tensors)", tensors);
    }
    if (more) sp_text_printf(&text, " and %zu more", more);
    sp_text_puts(&text, " in the file");
    return sp_text_keep(&text, &check->arena);
}

/* ---- all that is renamed ---- */

struct renaming {
    struct sp_sides missing, strangers;
    struct phrases phrases;
    size_t *other; /* for each finding */
};

static void note_pairs(struct renaming *renaming)
{
    for (size_t i = 0; i < renaming->missing.count; i++) {
        const struct sp_side *side = &renaming->missing.items[i];
        for (size_t k = 0; side->other && k < side->count; k++) {
            const size_t lost = side->members[k].item, found = side->other->members[k].item;
            renaming->other[lost] = found;
            renaming->other[found] = lost;
        }
    }
}

static void find_renamed_pairs(struct shapeproof_check *check, struct renaming *renaming)
{
    *renaming = (struct renaming){.other = sp_realloc(NULL, check->finding_count, sizeof *renaming->other)};
    for (size_t i = 0; i < check->finding_count; i++) renaming->other[i] = SHAPEPROOF_NONE;
    if (!sp_check_open_both(check)) return;
    collect_strays(check, SHAPEPROOF_FINDING_MISSING, &renaming->missing);
    collect_strays(check, SHAPEPROOF_FINDING_UNEXPECTED, &renaming->strangers);
    sp_sides_pair(&check->patterns, &renaming->missing, &renaming->strangers);
    note_pairs(renaming);
    make_phrases(check, &renaming->missing, &renaming->phrases);
    add_likely(check, &renaming->missing, &renaming->strangers, &renaming->phrases);
    take_all_along(check, &renaming->phrases, renaming->other);
}

/* But for `other`. */
static void free_renaming(struct renaming *renaming)
{
    sp_sides_free(&renaming->missing);
    sp_sides_free(&renaming->strangers);
    sp_map_free(&renaming->phrases.known);
    sp_free(renaming->phrases.items);
}

size_t *sp_pair_renamed(struct shapeproof_check *check, const char **says)
{
    struct renaming renaming;
    find_renamed_pairs(check, &renaming);
    if (says) *says = say_phrases(check, &renaming.phrases);
    free_renaming(&renaming);
    return renaming.other;
}
