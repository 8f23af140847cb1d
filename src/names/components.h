/* SPDX-License-Identifier: MIT
 * Names as components: "layers", "3", "mlp", "weight" of "layers.3.mlp.weight". */
#ifndef SP_NAMES_COMPONENTS_H
#define SP_NAMES_COMPONENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* One component after the other, as
 *
 *     for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");)
 *
 * Behind a separator at the end there is no further one: "model." has one component, as a prefix should. */
struct sp_component_walk {
    const char *text; /* not terminated */
    size_t length;
    const char *rest; /* behind it and its separator */
};

static inline bool sp_component_next(struct sp_component_walk *part, const char *separators)
{
    if (!*part->rest) return false;
    part->text = part->rest;
    part->length = strcspn(part->text, separators);
    part->rest += part->length + (part->text[part->length] != '\0');
    return true;
}

static inline bool sp_is_component(const char *text, size_t length, const char *component)
{
    if (length && *text != *component) return false; /* most differ here: no call is needed */
    return strncmp(text, component, length) == 0 && !component[length];
}

/* Whether the component is the number of a layer or of an expert, "3", and another component is behind it. */
static inline bool sp_component_is_index(const struct sp_component_walk *part)
{
    return part->length && *part->rest && strspn(part->text, "0123456789") == part->length;
}

/* Where the last component of name[0..length) begins. */
static inline size_t sp_last_component(const char *name, size_t length, const char *separators)
{
    while (length && !strchr(separators, name[length - 1])) length--;
    return length;
}

/* What is behind the first component; NULL when there is no separator. */
static inline const char *sp_behind_component(const char *name, const char *separators)
{
    name += strcspn(name, separators);
    return *name ? name + 1 : NULL;
}

#endif
