/* SPDX-License-Identifier: MIT */
#include "match/present_modules.h"

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

void sp_present_modules_add(struct sp_present_modules *present, const char *name)
{
    char *module = sp_arena_string(&present->arena, name);
    sp_map_add(&present->tensors, name, 0);
    for (int level = 0; level < LEVELS && cut(module); level++) {
        if (sp_map_get(&present->modules, module) != SIZE_MAX) continue;
        sp_map_add(&present->modules, sp_arena_string(&present->arena, module), present->count);
        *SP_PUSH(present) = (struct sp_module_presence){.any = false};
    }
}

static void note_module(struct sp_present_modules *present, struct sp_text *scratch, const char *name, bool there)
{
    if (sp_map_get(&present->tensors, name) != SIZE_MAX) return;
    scratch->length = 0;
    sp_text_puts(scratch, name);
    for (int level = 0; level < LEVELS && cut(scratch->data); level++) {
        const size_t place = sp_map_get(&present->modules, scratch->data);
        if (place == SIZE_MAX) continue;
        present->items[place].any = true;
        present->items[place].there = present->items[place].there || there;
    }
}

void sp_present_modules_read(struct sp_present_modules *present, const struct sp_match *match)
{
    struct sp_text scratch = {0};
    for (size_t i = 0; i < shapeproof_prediction_count(match->prediction); i++) {
        const enum sp_difference difference = sp_match_predicted(match, i);
        if (difference != SP_LEFT_OUT)
            note_module(present, &scratch, shapeproof_prediction_tensor(match->prediction, i)->name,
                        difference != SP_MISSING);
    }
    for (size_t i = 0; i < shapeproof_inventory_count(match->inventory); i++) {
        const enum sp_difference difference = sp_match_tensor(match, i);
        if (difference != SP_STATE)
            note_module(present, &scratch, shapeproof_inventory_tensor(match->inventory, i)->name,
                        difference != SP_UNEXPECTED);
    }
    sp_text_free(&scratch);
}

bool sp_module_is_present(const struct sp_present_modules *present, const char *name)
{
    struct sp_text scratch = {0};
    const struct sp_module_presence *home = NULL;
    sp_text_puts(&scratch, name);
    for (int level = 0; level < LEVELS && cut(scratch.data); level++) {
        home = &present->items[sp_map_get(&present->modules, scratch.data)];
        if (home->any) break;
    }
    sp_text_free(&scratch);
    return !home || !home->any || home->there;
}

void sp_present_modules_free(struct sp_present_modules *present)
{
    sp_map_free(&present->tensors);
    sp_map_free(&present->modules);
    sp_free(present->items);
    sp_arena_free(&present->arena);
}
