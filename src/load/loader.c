/* SPDX-License-Identifier: MIT */
#include "load/loader.h"

#include <string.h>

#include "base/chars.h"

const struct sp_mapping *sp_loader_mapping(const struct sp_loader *loader, const char *identifier, size_t length)
{
    for (size_t i = 0; i < loader->mapping_count; i++) {
        const char *name = loader->mappings[i].identifier;
        if (strncmp(name, identifier, length) == 0 && !name[length]) return &loader->mappings[i];
    }
    return NULL;
}

const struct sp_loaded *sp_loader_class(const struct sp_loader *loader, const char *model_type, const char *class)
{
    if (loader->ending && !sp_ends_with(class, loader->ending)) return NULL;
    for (size_t i = 0; i < loader->class_count; i++) {
        const struct sp_loaded *loaded = &loader->classes[i];
        if (strcmp(loaded->model_type, model_type) != 0) continue;
        if (!*loaded->class || strcmp(loaded->class, class) == 0) return loaded;
    }
    return NULL;
}
