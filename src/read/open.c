/* SPDX-License-Identifier: MIT
 * shapeproof_inventory_open: a file, an index, the first of several pieces, or a directory. */
#define _GNU_SOURCE /* AT_FDCWD */
#include <fcntl.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"
#include "base/fault.h"
#include "base/shard_name.h"
#include "read/dcp/folder.h"
#include "read/directory.h"
#include "read/index.h"
#include "read/reader.h"

/* "model-00001-of-00003.gguf": llama.cpp is given the first piece, and reads the others beside it. */
static bool is_first_piece(const char *path)
{
    struct sp_shard_name shard;
    const char *name = sp_base_name(path);
    return sp_file_ending_says(name) & SP_IN_PIECES && sp_shard_name_read(name, &shard) && shard.number == 1 &&
           shard.of > 1;
}

/* A part of a distributed checkpoint has no names of its own. */
static bool refuse_part(const char *path, struct shapeproof_error *error)
{
    const char *name = sp_base_name(path);
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
            "a part of a distributed checkpoint of PyTorch: the names of its tensors are in '.metadata' beside it");
    if (name == path) sp_hint(error, "read the directory that contains it");
    else sp_hint(error, "read the directory, '%.*s'", (int)(name - path < 300 ? name - path : 300), path);
    sp_error_prefix(error, path);
    return false;
}

bool sp_directory_read_file(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory,
                            struct shapeproof_error *error)
{
    if (sp_is_index_name(name)) return sp_index_read(folder, name, inventory, error);
    if (sp_is_dcp_name(name)) return sp_dcp_read(folder, &name, 1, inventory, error);
    if (is_first_piece(name)) return sp_directory_read_pieces(folder, name, inventory, error);
    return sp_folder_read(folder, name, inventory, error);
}

/* Reads a file that stands for others beside it. */
static bool open_with_others(const char *path, struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const char *name = sp_base_name(path);
    const char *parent = sp_arena_copy(&inventory->arena, path, (size_t)(name - path));
    struct sp_folder folder;
    if (!sp_folder_open(&folder, *parent ? parent : ".")) /* let the file itself say what is wrong */
        return sp_folder_read(&(struct sp_folder){.fd = AT_FDCWD, .path = ""}, path, inventory, error);
    folder.path = parent;
    const bool ok = sp_directory_read_file(&folder, name, inventory, error);
    sp_folder_close(&folder);
    return ok;
}

static bool open_path(const char *path, struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct sp_folder folder;
    if (sp_folder_open(&folder, path)) {
        const bool ok = sp_directory_read(&folder, inventory, error);
        sp_folder_close(&folder);
        return ok;
    }
    if (sp_ends_with(path, ".distcp")) return refuse_part(path, error);
    if (sp_is_index_name(path) || sp_is_dcp_name(sp_base_name(path)) || is_first_piece(path))
        return open_with_others(path, inventory, error);
    return sp_folder_read(&(struct sp_folder){.fd = AT_FDCWD, .path = ""}, path, inventory, error);
}

struct shapeproof_inventory *shapeproof_inventory_open(const char *path, struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("reading it");
    sp_fault_begin(error);
    struct shapeproof_inventory *inventory = sp_inventory_new(path);
    sp_budget_open(path, 0);
    const bool ok = open_path(path, inventory, error);
    inventory->bytes_read = sp_budget_input();
    sp_budget_spend(shapeproof_inventory_count(inventory));
    if (sp_fault_end(error) && ok) return inventory;
    shapeproof_inventory_close(inventory);
    return NULL;
}
