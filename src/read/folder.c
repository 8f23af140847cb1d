/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_DIRECTORY, O_CLOEXEC */
#include "read/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/chars.h"
#include "base/fault.h"
#include "base/names.h"
#include "read/reader.h"

bool sp_folder_open(struct sp_folder *folder, const char *path)
{
    *folder = (struct sp_folder){.path = path};
    folder->fd = sp_hold_fd(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
    if (folder->fd >= 0) return true;
    const int why = errno;
    sp_fault_note("open", path, why);
    errno = why;
    return false;
}

void sp_folder_close(struct sp_folder *folder)
{
    if (folder->fd >= 0) sp_close(folder->fd);
    folder->fd = -1;
}

bool sp_folder_open_file(const struct sp_folder *folder, const char *name, struct sp_file *file,
                         struct shapeproof_error *error)
{
    if (!folder->far) return sp_file_open(file, folder->fd, name, error);
    *file = (struct sp_file){.fd = -1, .path = name};
    return folder->far->open(folder->far, name, file, error);
}

char *sp_folder_join(const struct sp_folder *folder, const char *name, struct sp_arena *arena)
{
    const size_t length = strlen(folder->path);
    const char *slash = length && folder->path[length - 1] != '/' ? "/" : "";
    return sp_arena_printf(arena, "%s%s%s", folder->path, slash, name);
}

bool sp_folder_blame(const struct sp_folder *folder, const char *name, struct shapeproof_error *error)
{
    struct sp_arena arena = {0};
    sp_error_prefix(error, sp_folder_join(folder, name, &arena));
    sp_arena_free(&arena);
    return false;
}

/* The format that a loader expects by the name of a file, for a file of another format; NULL for any other file. */
static const char *expected_format(const char *name, const struct sp_format *format)
{
    static const char *const pickles[] = {"pytorch_model", "diffusion_pytorch_model", "adapter_model"};
    const char *file = sp_base_name(name);
    if (sp_ends_with(file, ".safetensors")) return strcmp(format->name, "safetensors") == 0 ? NULL : "safetensors";
    if (!sp_ends_with(file, ".bin") || (format->traits & SP_BY_TORCH && !(format->traits & SP_WITH_CODE))) return NULL;
    for (size_t i = 0; i < sizeof pickles / sizeof *pickles; i++)
        if (strncmp(file, pickles[i], strlen(pickles[i])) == 0) return "a file of torch.save";
    return NULL;
}

/* Appends the tensors of an open file, named `name` in the inventory. */
static bool read_open(struct sp_file *file, const struct sp_folder *folder, const char *name,
                      struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    file->path = sp_folder_join(folder, name, &inventory->arena);
    const struct sp_reader *reader = sp_reader_for(file, error);
    if (!reader) return false;
    const uint32_t index = sp_inventory_add_file(inventory, name);
    sp_inventory_set_size(inventory, file->size);
    if (!sp_reader_index(reader, file, index, inventory, error)) return false;
    const char *expected = inventory->misnamed_format ? NULL : expected_format(name, inventory->format);
    if (expected) {
        inventory->misnamed = index;
        inventory->misnamed_format = inventory->format;
        inventory->misnamed_expected = expected;
    }
    return true;
}

bool sp_folder_read(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory,
                    struct shapeproof_error *error)
{
    struct sp_file file;
    const bool ok = sp_folder_open_file(folder, name, &file, error) &&
                    read_open(&file, folder, name, inventory, error) && sp_inventory_finish(inventory, error);
    sp_file_close(&file);
    return ok || sp_folder_blame(folder, name, error);
}

static void warn_absent_shard(const struct sp_shard *shard, const char *reason, struct shapeproof_inventory *inventory)
{
    if (shard->indexed)
        sp_inventory_warn(inventory, "shard %s cannot be read (%s): the index places %zu %s in it",
                          sp_quote(shard->name).text, reason, shard->indexed, shard->groups ? "groups" : "tensors");
    else sp_inventory_warn(inventory, "shard %s cannot be read (%s)", sp_quote(shard->name).text, reason);
}

/* Reads one shard. An absent one is a warning; one of another format than the others, too. */
static bool read_shard(const struct sp_folder *folder, struct sp_shard *shard, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error)
{
    const struct sp_format *first = inventory->format;
    struct shapeproof_error absent = {0};
    struct sp_file file;
    shard->file = SP_NO_FILE;
    if (!sp_folder_open_file(folder, shard->name, &file, &absent)) {
        warn_absent_shard(shard, absent.message, inventory);
        return true;
    }
    shard->file = (uint32_t)inventory->file_count;
    const bool ok = read_open(&file, folder, shard->name, inventory, error);
    sp_file_close(&file);
    if (!ok) return sp_folder_blame(folder, shard->name, error);
    if (!*first->name || strcmp(first->name, inventory->format->name) == 0) return true;
    sp_inventory_warn(inventory, "shard %s is a %s file, others are %s", sp_quote(shard->name).text,
                      inventory->format->name, first->name);
    inventory->format = first;
    return true;
}

bool sp_folder_read_shards(const struct sp_folder *folder, const char *owner, struct sp_shard *shards, size_t count,
                           struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    size_t read = 0;
    if (folder->far && !folder->far->expect(folder->far, shards, count, error)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!read_shard(folder, &shards[i], inventory, error)) return false;
        read += shards[i].file != SP_NO_FILE;
    }
    if (read ? sp_inventory_finish(inventory, error)
             : sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO,
                       "none of its %zu shards can be read (the first is %s)", count, sp_quote(shards[0].name).text))
        return true;
    if (owner) return sp_folder_blame(folder, owner, error);
    sp_error_prefix(error, folder->path);
    return false;
}
