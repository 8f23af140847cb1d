/* SPDX-License-Identifier: MIT */
#include "names/wrappers.h"

#include <string.h>

#include "names/components.h"

/* Modules that frameworks wrap around others; each is a component of its own, anywhere in the name. */
static const char *const wrappers[] = {"_orig_mod",  "_fsdp_wrapped_module", "_checkpoint_wrapped_module",
                                       "base_layer", "original_module",      "token_adapter"};

/* Those of PEFT, around what an adapter changes. */
static const char *const adapter_wrappers[] = {"base_layer", "original_module", "token_adapter"};

/* What programs put in front of a whole model. Only these may be taken away while something else is put there:
 * any other replacement is a renaming, not a prefix. */
static const char *const holders[] = {"module", "model", "state_dict", "model_state_dict", "net", "network"};

static const char *among_components(const char *const *list, size_t count, const char *component, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (sp_is_component(component, length, list[i])) return list[i];
    return NULL;
}

#define AMONG(list, component, length) among_components(list, sizeof(list) / sizeof *(list), component, length)

bool sp_is_wrapper(const char *component, size_t length) { return AMONG(wrappers, component, length) != NULL; }

bool sp_is_adapter_wrapper(const char *wrapper) { return AMONG(adapter_wrappers, wrapper, strlen(wrapper)) != NULL; }

const char *sp_wrapper_in(const char *name)
{
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");) {
        const char *wrapper = strchr("_bot", *part.text) ? AMONG(wrappers, part.text, part.length) : NULL;
        if (wrapper) return wrapper;
    }
    return NULL;
}

bool sp_is_holder(const char *component, size_t length) { return AMONG(holders, component, length) != NULL; }

void sp_unwrap(struct sp_text *text, const char *name)
{
    text->length = 0;
    sp_text_puts(text, "");
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");)
        if (!sp_is_wrapper(part.text, part.length)) sp_text_append(text, part.text, (size_t)(part.rest - part.text));
}

bool sp_is_all_holders(const char *prefix)
{
    for (struct sp_component_walk part = {.rest = prefix}; sp_component_next(&part, ".");)
        if (!sp_is_holder(part.text, part.length)) return false;
    return true;
}

bool sp_is_average(const char *component, size_t length)
{
    static const char *const words[] = {"ema", "shadow", "swa", "average", "averaged", "averaging"};
    static const char current[] = "current_model_state"; /* of WeightAveraging of Lightning: the raw weights */
    for (size_t at = 0; at < length;) {
        const char *word = component + at;
        size_t end = at;
        while (end < length && component[end] != '_') end++;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (end - at == strlen(words[i]) && memcmp(word, words[i], end - at) == 0) return true;
        at = end + 1;
    }
    return length == strlen(current) && memcmp(component, current, length) == 0;
}

bool sp_is_of_average(const char *prefix)
{
    for (struct sp_component_walk part = {.rest = prefix}; sp_component_next(&part, ".");)
        if (sp_is_average(part.text, part.length)) return true;
    return false;
}
