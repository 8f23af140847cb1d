/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "load/folder.h"

#include <string.h>
#include <sys/stat.h>

#include "base/chars.h"
#include "base/names.h"
#include "base/text.h"

bool sp_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool sp_has_file(const char *folder, const char *name)
{
    struct stat info;
    struct sp_text path = {0};
    sp_text_printf(&path, "%s/%s", folder, name);
    const bool found = stat(path.data, &info) == 0 && S_ISREG(info.st_mode);
    sp_text_free(&path);
    return found;
}

const char *sp_loader_variant(struct sp_arena *arena, const struct sp_loader *loader, const char *file)
{
    file = sp_base_name(file);
    for (const char *const *name = loader->files; *name; name++) {
        const size_t stem = strcspn(*name, ".") + 1;
        if (sp_ends_with(*name, ".index.json") || strncmp(file, *name, stem) != 0) continue;
        const size_t length = strcspn(file + stem, ".-");
        if (length && sp_ends_with(file + stem + length, *name + stem - 1))
            return sp_arena_copy(arena, file + stem, length);
    }
    return NULL;
}

const char *sp_loader_file(const struct sp_loader *loader, const char *folder)
{
    for (const char *const *name = loader->files; *name; name++)
        if (sp_has_file(folder, *name)) return *name;
    return NULL;
}
