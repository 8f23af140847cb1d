/* SPDX-License-Identifier: MIT */
#include "names/wrappers.h"

#include <string.h>

/* Modules that frameworks wrap around others; each is a component of its own, anywhere in the name. */
static const char *const wrappers[] = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"};

/* What programs put in front of a whole model. Only these may be taken away while something else is put there:
 * any other replacement is a renaming, not a prefix. */
static const char *const holders[] = {"module", "model", "state_dict", "model_state_dict", "net", "network"};

static const char *among(const char *const *list, size_t count, const char *component, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && memcmp(list[i], component, length) == 0) return list[i];
    return NULL;
}

#define AMONG(list, component, length) among(list, sizeof(list) / sizeof *(list), component, length)

bool sp_is_wrapper(const char *component, size_t length) { return AMONG(wrappers, component, length) != NULL; }

const char *sp_wrapper_in(const char *name)
{
    for (const char *wrapper; *name; name += *name == '.') {
        const size_t length = strcspn(name, ".");
        if (*name == '_' && (wrapper = AMONG(wrappers, name, length)) != NULL) return wrapper;
        name += length;
    }
    return NULL;
}

bool sp_is_holder(const char *component, size_t length) { return AMONG(holders, component, length) != NULL; }

void sp_unwrap(struct sp_text *text, const char *name)
{
    text->length = 0;
    sp_text_puts(text, "");
    while (*name) {
        const size_t length = strcspn(name, "."), step = length + (name[length] == '.');
        if (!AMONG(wrappers, name, length)) sp_text_append(text, name, step);
        name += step;
    }
}

bool sp_is_all_holders(const char *prefix)
{
    for (size_t length; *prefix; prefix += length + 1) {
        length = strcspn(prefix, ".");
        if (!AMONG(holders, prefix, length)) return false;
    }
    return true;
}
