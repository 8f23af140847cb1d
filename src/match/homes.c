/* SPDX-License-Identifier: MIT */
#include "match/homes.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { LEVELS = 2 };

/* Makes "a.b.c" "a.b"; false when the name has but one component. */
static bool cut(char *name)
{
    char *dot = strrchr(name, '.');
    if (dot) *dot = 0;
    return dot != NULL;
}

void sp_homes_add(struct sp_homes *homes, const char *name)
{
    char *module = sp_arena_string(&homes->arena, name);
    sp_map_add(&homes->tensors, name, 0);
    for (int level = 0; level < LEVELS && cut(module); level++) {
        if (sp_map_get(&homes->modules, module) != SIZE_MAX) continue;
        sp_map_add(&homes->modules, sp_arena_string(&homes->arena, module), homes->count);
        *SP_PUSH(homes) = (struct sp_home){.any = false};
    }
}

static void note_module(struct sp_homes *homes, struct sp_text *scratch, const char *name, bool there)
{
    if (sp_map_get(&homes->tensors, name) != SIZE_MAX) return;
    scratch->length = 0;
    sp_text_puts(scratch, name);
    for (int level = 0; level < LEVELS && cut(scratch->data); level++) {
        const size_t place = sp_map_get(&homes->modules, scratch->data);
        if (place == SIZE_MAX) continue;
        homes->items[place].any = true;
        homes->items[place].there = homes->items[place].there || there;
    }
}

void sp_homes_read(struct sp_homes *homes, const struct sp_match *match)
{
    struct sp_text scratch = {0};
    for (size_t i = 0; i < sp_prediction_count(match->prediction); i++) {
        const enum sp_difference difference = sp_match_predicted(match, i);
        if (difference != SP_LEFT_OUT)
            note_module(homes, &scratch, sp_prediction_tensor(match->prediction, i)->name, difference != SP_MISSING);
    }
    for (size_t i = 0; i < sp_inventory_count(match->inventory); i++) {
        const enum sp_difference difference = sp_match_tensor(match, i);
        if (difference != SP_STATE)
            note_module(homes, &scratch, sp_inventory_tensor(match->inventory, i)->name, difference != SP_UNEXPECTED);
    }
    sp_text_free(&scratch);
}

bool sp_homes_there(const struct sp_homes *homes, const char *name)
{
    struct sp_text scratch = {0};
    const struct sp_home *home = NULL;
    sp_text_puts(&scratch, name);
    for (int level = 0; level < LEVELS && cut(scratch.data); level++) {
        home = &homes->items[sp_map_get(&homes->modules, scratch.data)];
        if (home->any) break;
    }
    sp_text_free(&scratch);
    return !home || !home->any || home->there;
}

void sp_homes_free(struct sp_homes *homes)
{
    sp_map_free(&homes->tensors);
    sp_map_free(&homes->modules);
    free(homes->items);
    sp_arena_free(&homes->arena);
}
