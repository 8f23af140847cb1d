/* SPDX-License-Identifier: MIT
 * sp_inventory_open: a file, an index, or a directory. */
#define _GNU_SOURCE /* AT_FDCWD */
#include <fcntl.h>
#include <string.h>

#include "read/directory.h"
#include "read/index.h"

static bool open_index(const char *path, struct sp_inventory *inventory, struct sp_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *parent = sp_arena_copy(&inventory->arena, path, (size_t)(name - path));
    struct sp_folder folder;
    if (!sp_folder_open(&folder, *parent ? parent : ".")) /* let the file itself say what is wrong */
        return sp_folder_read(&(struct sp_folder){AT_FDCWD, ""}, path, inventory, error);
    folder.path = parent;
    const bool ok = sp_index_read(&folder, name, inventory, error);
    sp_folder_close(&folder);
    return ok;
}

static bool open_path(const char *path, struct sp_inventory *inventory, struct sp_error *error)
{
    struct sp_folder folder;
    if (sp_folder_open(&folder, path)) {
        const bool ok = sp_directory_read(&folder, inventory, error);
        sp_folder_close(&folder);
        return ok;
    }
    if (sp_is_index_name(path)) return open_index(path, inventory, error);
    return sp_folder_read(&(struct sp_folder){AT_FDCWD, ""}, path, inventory, error);
}

struct sp_inventory *sp_inventory_open(const char *path, struct sp_error *error)
{
    sp_error_reset(error);
    struct sp_inventory *inventory = sp_inventory_new(path);
    if (open_path(path, inventory, error)) return inventory;
    sp_inventory_close(inventory);
    return NULL;
}
