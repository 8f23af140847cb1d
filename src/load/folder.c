/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "load/folder.h"

#include <sys/stat.h>

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

const char *sp_loader_file(const struct sp_loader *loader, const char *folder)
{
    for (const char *const *name = loader->files; *name; name++)
        if (sp_has_file(folder, *name)) return *name;
    return NULL;
}
