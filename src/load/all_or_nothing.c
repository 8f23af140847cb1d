/* SPDX-License-Identifier: MIT
 * Modules of which some classes must have all or nothing: what is missing is made anew from what is there, and that is
 * not loaded yet. The two halves of a weight norm are like that. */
#include <string.h>

#include "load/taking.h"
#include "names/components.h"

static bool is_all_or_nothing(const struct sp_state_dict *state, const char *name)
{
    const char *words = state->loaded->all_or_nothing, *word;
    const char *last = name + sp_last_component(name, strlen(name), ".");
    for (size_t length; (length = sp_word(&words, &word));)
        if (strncmp(word, last, length) == 0 && !last[length]) return true;
    return false;
}

/* Whether something is missing below the module that the name is in. */
static bool is_among_missing(const struct sp_state_dict *state, const char *name)
{
    const size_t module = sp_last_component(name, strlen(name), ".");
    for (size_t i = 0; i < state->count; i++)
        if (!state->items[i].there && strncmp(state->items[i].name, name, module) == 0) return true;
    return false;
}

const char *sp_state_dict_broken(const struct sp_state_dict *state)
{
    for (size_t i = 0; i < state->count; i++) {
        const struct sp_state_entry *entry = &state->items[i];
        if (entry->there && is_all_or_nothing(state, entry->name) && is_among_missing(state, entry->name))
            return entry->name;
    }
    return NULL;
}
