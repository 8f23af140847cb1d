/* SPDX-License-Identifier: MIT
 * `"n" in key` may be about a list or about a text. It is a text where a text stands for it by default. */
#include "infer/guess/members.h"

#include <string.h>

#include "lang/functions.h"
#include "solve/literals.h"

/* ---- texts ---- */

static bool agrees(const struct sp_fact *fact, const char *text)
{
    const struct shapeproof_value value = sp_value_string(text);
    for (const struct sp_told_member *member = fact->members; member; member = member->next) {
        const struct sp_want want = {.kind = SP_WANT_MEMBER, .value = member->item, .lacks = member->lacks};
        if (sp_value_satisfies(value, &want) != SP_HOLDS) return false;
    }
    return true;
}

/* What was told to be in it, one after the other. */
static const char *joined(struct sp_arena *arena, const struct sp_fact *fact)
{
    const char *text = "";
    for (const struct sp_told_member *member = fact->members; member; member = member->next)
        if (!member->lacks && member->item.type == SHAPEPROOF_VALUE_STRING)
            text = sp_arena_printf(arena, "%s%s", text, member->item.string);
    return text;
}

/* The default, another text of the table, or one made up; NULL when it is no text. */
static const char *text_with(struct sp_solver *solver, const struct sp_fact *fact)
{
    struct sp_literals texts = {0};
    const char *found = NULL;
    sp_literals_about(&texts, solver->table, fact->path);
    if (texts.fallback && agrees(fact, texts.fallback)) found = texts.fallback;
    for (size_t i = 0; i < texts.count && texts.fallback && !found; i++)
        if (agrees(fact, texts.list[i])) found = texts.list[i];
    const char *made_up = texts.fallback && !found ? joined(&solver->arena, fact) : NULL;
    if (made_up && agrees(fact, made_up)) found = made_up;
    sp_literals_free(&texts);
    return found;
}

/* ---- lists ---- */

static bool comes_before(struct shapeproof_value a, struct shapeproof_value b)
{
    if (a.type == SHAPEPROOF_VALUE_STRING && b.type == SHAPEPROOF_VALUE_STRING) return strcmp(a.string, b.string) < 0;
    return sp_value_is_number(a) && sp_value_is_number(b) && sp_values_order(a, b) < 0;
}

/* A list of which only members were told, in the order of their values. */
static struct shapeproof_value member_list(struct sp_arena *arena, const struct sp_fact *fact)
{
    size_t count = 0;
    for (const struct sp_told_member *member = fact->members; member; member = member->next) count += !member->lacks;
    struct shapeproof_value *items = sp_arena_array(arena, count, sizeof *items);
    size_t kept = 0;
    for (const struct sp_told_member *member = fact->members; member; member = member->next) {
        size_t place = kept;
        if (member->lacks) continue;
        for (; place && comes_before(member->item, items[place - 1]); place--) items[place] = items[place - 1];
        items[place] = member->item;
        kept++;
    }
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
}

/* ---- both ---- */

bool sp_members_close(struct sp_solver *solver)
{
    struct sp_known *known = &solver->known;
    const size_t before = known->changes;
    for (size_t i = 0; i < known->count; i++) {
        const struct sp_fact *open = &known->facts[i];
        if (open->value.type != SHAPEPROOF_VALUE_UNKNOWN || open->length != SIZE_MAX || !open->members) continue;
        struct sp_fact *fact = sp_known_change(known, i);
        const char *text = text_with(solver, fact);
        fact->value = text ? sp_value_string(text) : member_list(&solver->arena, fact);
        if (!text) {
            sp_known_guess(known, fact->path); /* that there are no others */
            fact->guess = known->guesses;
        }
        sp_known_note_change(known, fact);
    }
    return known->changes != before;
}
