/* SPDX-License-Identifier: MIT
 * Modules of which some classes must have all or nothing: what is missing is made anew from what is there, and that is
 * not loaded yet. The two halves of a weight norm are like that. */
#include <string.h>

#include "load/taking.h"
#include "names/components.h"

static bool is_brittle(const struct sp_model_memory *memory, const char *name)
{
    const char *words = memory->loaded->brittle, *word;
    const char *last = name + sp_last_component(name, strlen(name), ".");
    for (size_t length; (length = sp_word(&words, &word));)
        if (strncmp(word, last, length) == 0 && !last[length]) return true;
    return false;
}

/* Whether something is missing below the module that the name is in. */
static bool is_among_missing(const struct sp_model_memory *memory, const char *name)
{
    const size_t module = sp_last_component(name, strlen(name), ".");
    for (size_t i = 0; i < memory->count; i++)
        if (!memory->items[i].there && strncmp(memory->items[i].name, name, module) == 0) return true;
    return false;
}

const char *sp_memory_broken(const struct sp_model_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct sp_held *held = &memory->items[i];
        if (held->there && is_brittle(memory, held->name) && is_among_missing(memory, held->name)) return held->name;
    }
    return NULL;
}
