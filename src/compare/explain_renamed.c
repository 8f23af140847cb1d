/* SPDX-License-Identifier: MIT
 * Tensors that are missing under one name and there under another. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare/check.h"
#include "compare/sides.h"

static void collect(struct sp_check *check, const char *id, struct sp_sides *sides)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        if (sp_finding_is_open(finding) && strcmp(finding->id, id) == 0)
            sp_sides_add(sides, &check->patterns, finding->name, finding->expected ? finding->expected : finding->found,
                         i);
    }
    sp_sides_form(sides);
}

static const char *pattern_of(const struct sp_check *check, const struct sp_side *side)
{
    return sp_pattern_text(&check->patterns, side->members->pattern);
}

/* ---- saying it ---- */

/* "'layers' is called 'blocks'", when the names differ in that alone; otherwise NULL. */
static const char *one_component(struct sp_check *check, const char *a, const char *b)
{
    struct sp_component differs;
    if (!sp_one_component(a, b, &differs)) return NULL;
    return sp_arena_printf(&check->arena, "'%.*s' is called '%.*s'", (int)differs.a_length, differs.a,
                           (int)differs.b_length, differs.b);
}

static const char *whole_names(struct sp_check *check, const struct sp_side *side)
{
    const struct sp_side *other = side->other;
    if (side->count == 1)
        return sp_arena_printf(&check->arena, "%s is called %s", check->findings[side->members->item].name,
                               check->findings[other->members->item].name);
    return sp_arena_printf(&check->arena, "%s is called %s", sp_pattern_shown(&check->arena, pattern_of(check, side)),
                           sp_pattern_shown(&check->arena, pattern_of(check, other)));
}

/* Pairs that are said in the same words. */
struct phrase {
    const char *says;
    const struct sp_side *first;
    size_t pairs, tensors;
};

static size_t make_phrases(struct sp_check *check, const struct sp_sides *missing, struct phrase *phrases)
{
    struct sp_map known = {0};
    size_t count = 0;
    for (size_t i = 0; i < missing->count; i++) {
        const struct sp_side *side = &missing->items[i];
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

static const char *describe(struct sp_check *check, const struct sp_sides *missing)
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

static void explain_side(struct sp_check *check, const struct sp_side *side, size_t cause)
{
    for (size_t i = 0; i < side->count; i++) sp_check_explain(check, side->members[i].item, cause);
}

static void explain_pairs(struct sp_check *check, const struct sp_sides *missing)
{
    size_t cause = SP_NONE;
    for (size_t i = 0; i < missing->count; i++) {
        const struct sp_side *side = &missing->items[i];
        if (!side->other) continue;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(check, (struct sp_cause){.id = "renamed", .severity = SP_SEVERITY_ERROR});
        explain_side(check, side, cause);
        explain_side(check, side->other, cause);
    }
    if (cause != SP_NONE) check->causes[cause].message = describe(check, missing);
}

void sp_find_renamed(struct sp_check *check, struct sp_sides *missing, struct sp_sides *strangers)
{
    if (!sp_check_open_both(check)) return;
    collect(check, "missing", missing);
    collect(check, "unexpected", strangers);
    sp_sides_pair(&check->patterns, missing, strangers);
}

bool *sp_note_renamed(struct sp_check *check)
{
    struct sp_sides missing = {0}, strangers = {0};
    bool *renamed = sp_realloc(NULL, check->finding_count, sizeof *renamed);
    if (check->finding_count) memset(renamed, 0, check->finding_count * sizeof *renamed);
    sp_find_renamed(check, &missing, &strangers);
    for (size_t i = 0; i < missing.count; i++) {
        const struct sp_side *side = &missing.items[i];
        for (size_t k = 0; side->other && k < side->count; k++)
            renamed[side->members[k].item] = renamed[side->other->members[k].item] = true;
    }
    sp_sides_free(&missing);
    sp_sides_free(&strangers);
    return renamed;
}

void sp_explain_renamed(struct sp_check *check)
{
    struct sp_sides missing = {0}, strangers = {0};
    sp_find_renamed(check, &missing, &strangers);
    explain_pairs(check, &missing);
    sp_sides_free(&missing);
    sp_sides_free(&strangers);
}
