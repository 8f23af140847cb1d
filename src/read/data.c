/* SPDX-License-Identifier: MIT
 * Tensor data: the files of an inventory opened a second time, and each tensor's range of bytes. */
#define _GNU_SOURCE /* AT_FDCWD */
#include "shapeproof/data.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"
#include "base/fault.h"
#include "base/names.h"
#include "read/dcp/folder.h"
#include "read/folder.h"
#include "read/ranks/folder.h"
#include "read/reader.h"

struct shapeproof_data {
    const struct shapeproof_inventory *inventory;
    struct sp_arena arena;
    struct sp_folder folder; /* from which the names of the files lead */
    struct sp_file *files;   /* as many as the inventory has; fd -1 when not open */
    struct sp_data_places places;
};

/* ---- places ---- */

/* Whether its elements fill their range of bytes without holes. */
static bool is_dense(const struct shapeproof_tensor *tensor)
{
    return !(tensor->flags & SHAPEPROOF_TENSOR_EXPANDED) &&
           sp_tensor_reach(tensor) - tensor->offset == tensor->parameters;
}

/* What the inventory alone can tell. */
static const char *obstacle_in(const struct shapeproof_tensor *tensor)
{
    if (tensor->flags & (SHAPEPROOF_TENSOR_NO_DATA | SHAPEPROOF_TENSOR_NO_SHAPE))
        return "the file holds no bytes for it";
    if (tensor->piece) return "the file holds a part of it";
    if (tensor->flags & SHAPEPROOF_TENSOR_NEGATED) return "PyTorch negates or conjugates its numbers";
    if (!tensor->dtype && !tensor->bytes) return "the size of its elements is not known"; /* of blocks it is told */
    return is_dense(tensor) ? NULL : "not contiguous";
}

static void place_known(struct shapeproof_data *data)
{
    for (size_t i = 0; i < data->inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &data->inventory->tensors[i];
        data->places.items[i] = (struct sp_data_place){.begin = tensor->data_begin, .end = tensor->data_end};
    }
}

/* After the readers have had their say: nothing is read but exactly the bytes of a tensor. */
static void judge_places(struct shapeproof_data *data)
{
    for (size_t i = 0; i < data->inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &data->inventory->tensors[i];
        struct sp_data_place *place = &data->places.items[i];
        const char *obstacle = obstacle_in(tensor);
        if (obstacle || !tensor->bytes) *place = (struct sp_data_place){.obstacle = obstacle};
        else if (place->source) place->obstacle = NULL;
        else if (place->end) place->obstacle = place->end - place->begin == tensor->bytes ? NULL : "not contiguous";
        else if (!place->obstacle) place->obstacle = "without a place of its own in the file";
    }
}

/* ---- files ---- */

/* Where the names of the inventory's files lead from: see shapeproof_inventory_open. */
static bool open_folder(struct shapeproof_data *data)
{
    struct sp_folder *folder = &data->folder;
    const char *path = data->inventory->path, *slash = strrchr(path, '/');
    if (data->inventory->file_count == 1 && strcmp(data->inventory->files[0], path) == 0) return true;
    if (sp_folder_open(folder, path)) return true;
    path = slash ? sp_arena_copy(&data->arena, path, (size_t)(slash + 1 - path)) : ".";
    return sp_folder_open(folder, path);
}

/* Of what was fetched from elsewhere the headers alone are here, and holes in place of the data. */
static bool is_mirror(struct shapeproof_data *data, const char *name)
{
    const int parents = (int)(sp_base_name(name) - name);
    const char *mark = sp_arena_printf(&data->arena, "%.*s%s", parents, name, SP_MIRROR_MARK);
    return sp_path_exists(data->folder.fd, mark);
}

static bool open_file(struct shapeproof_data *data, uint32_t index, struct shapeproof_error *error)
{
    const char *name = data->inventory->files[index];
    struct sp_file *file = &data->files[index];
    bool ok = !is_mirror(data, name) || sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                                                "only its headers were fetched, and not the data");
    ok = ok && sp_file_open(file, data->folder.fd, name, error);
    const struct sp_reader *reader = ok ? sp_reader_for(file, error) : NULL;
    ok = reader && (!reader->locate || reader->locate(file, index, &data->places, error));
    return ok || sp_folder_blame(&data->folder, name, error);
}

static bool open_files(struct shapeproof_data *data, struct shapeproof_error *error)
{
    bool ok = true;
    if (!open_folder(data))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: cannot be opened again",
                       data->inventory->path);
    for (uint32_t i = 0; i < data->inventory->file_count && ok; i++) ok = open_file(data, i, error);
    if (ok && data->inventory->described.count) ok = sp_dcp_locate(&data->folder, &data->places, error);
    if (ok && data->inventory->of_ranks) ok = sp_ranks_locate(&data->folder, &data->places, error);
    return ok;
}

struct shapeproof_data *shapeproof_data_open(const struct shapeproof_inventory *inventory,
                                             struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("reading the data");
    SP_BUDGET_REUSE(inventory);
    sp_fault_begin(error);
    struct shapeproof_data *data = sp_realloc(NULL, 1, sizeof *data);
    *data = (struct shapeproof_data){
        .inventory = inventory, .folder = {.fd = AT_FDCWD, .path = ""}, .places.inventory = inventory};
    data->files = sp_arena_array(&data->arena, inventory->file_count, sizeof *data->files);
    data->places.items = sp_arena_array(&data->arena, inventory->count, sizeof *data->places.items);
    for (size_t i = 0; i < inventory->file_count; i++) data->files[i].fd = -1;
    place_known(data);
    const bool ok = open_files(data, error);
    if (!sp_fault_end(error) || !ok) {
        shapeproof_data_close(data);
        return NULL;
    }
    judge_places(data);
    return data;
}

void shapeproof_data_close(struct shapeproof_data *data)
{
    if (!data) return;
    for (size_t i = 0; i < data->places.sources.count; i++)
        data->places.sources.items[i]->close(data->places.sources.items[i]);
    sp_free(data->places.sources.items);
    if (data->folder.fd != AT_FDCWD) sp_folder_close(&data->folder);
    for (size_t i = 0; i < data->inventory->file_count; i++) sp_file_close(&data->files[i]);
    sp_arena_free(&data->arena);
    sp_free(data);
}

/* ---- reading ---- */

/* NULL, for who returns it: reading fails, or succeeds. */
static const char *rewind_source(struct sp_data_source *source)
{
    if (source && source->rewind) source->rewind(source);
    return NULL;
}

/* Whether the source has to say what keeps the tensor from being read. */
static bool asks_source(const struct sp_data_place *place)
{
    return !place->obstacle && place->source && place->source->obstacle;
}

/* Why the tensor cannot be read, or NULL. The source has been kept. */
static const char *obstacle_of(const struct sp_data_place *place, size_t tensor)
{
    return asks_source(place) ? place->source->obstacle(place->source, tensor) : place->obstacle;
}

const char *shapeproof_data_obstacle(const struct shapeproof_data *data, size_t tensor)
{
    const struct sp_data_place *place = &data->places.items[tensor];
    if (!asks_source(place)) return place->obstacle;
    SP_CALL(NULL, rewind_source(place->source));
    SP_SPENDS("reading the data");
    place->source->keep(place->source, tensor);
    return obstacle_of(place, tensor);
}

bool shapeproof_data_in_order(const struct shapeproof_data *data, size_t tensor)
{
    return data->places.items[tensor].in_order;
}

bool shapeproof_data_read(const struct shapeproof_data *data, size_t tensor, uint64_t offset, void *into, size_t length,
                          struct shapeproof_error *error)
{
    const struct sp_data_place *place = &data->places.items[tensor];
    SP_CALL(error, rewind_source(place->source) != NULL);
    SP_SPENDS("reading the data");
    if (place->source) place->source->keep(place->source, tensor);
    sp_error_reset(error);
    const struct shapeproof_tensor *read = &data->inventory->tensors[tensor];
    if (offset > read->bytes || length > read->bytes - offset || obstacle_of(place, tensor))
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                       "no bytes [%" PRIu64 ", +%zu) of tensor %s can be read", offset, length,
                       sp_quote(read->name).text);
    if (!length) return true;
    const bool ok = place->source ? place->source->read(place->source, tensor, offset, into, length, error)
                                  : sp_file_read(&data->files[read->file], place->begin + offset, into, length, error);
    if (!ok && place->source) sp_error_prefix(error, sp_quote(read->name).text);
    if (!ok) sp_error_prefix(error, data->inventory->files[read->file]);
    return ok;
}
