/* SPDX-License-Identifier: MIT
 * A distributed checkpoint as one inventory. Without a coordinator each rank writes a pickle of its own,
 * `__0.metadata`, `__1.metadata`: together they are the checkpoint. */
#define _GNU_SOURCE /* memmem */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "read/dcp/dcp.h"
#include "read/dcp/folder.h"
#include "read/reader.h"
#include "read/torch/torch.h"

static const struct sp_format dcp_format = {"dcp", SP_DISTRIBUTED};

enum { MAX_METADATA_FILE = 512 << 20, HEAD = 200, NAMED_BITS = 24, UNEVEN_NAMED = 10 };

/* ---- what it looks like ---- */

static bool has_in_head(const struct sp_probe *probe, const char *text)
{
    const size_t length = probe->head_length < HEAD ? probe->head_length : HEAD;
    return memmem(probe->head, length, text, strlen(text)) != NULL;
}

/* A pickle whose first object is of the module. Megatron has had a class of its own: then the name says so, too. */
static unsigned probe_dcp(const struct sp_probe *probe)
{
    if (probe->head_length < 2 || probe->head[0] != 0x80 || probe->head[1] < 2) return 0;
    if (has_in_head(probe, "torch.distributed.") && has_in_head(probe, "checkpoint.metadata") &&
        has_in_head(probe, "Metadata"))
        return 128;
    return sp_is_dcp_name(sp_base_name(probe->file->path)) ? NAMED_BITS : 0;
}

bool sp_is_dcp_name(const char *name)
{
    if (strcmp(name, ".metadata") == 0) return true;
    if (strncmp(name, "__", 2) != 0) return false;
    const size_t digits = strspn(name + 2, "0123456789");
    return digits && strcmp(name + 2 + digits, ".metadata") == 0;
}

/* ---- the list ---- */

static bool list_entry(struct sp_dcp *dcp, const struct sp_dcp_tensor *entry, uint32_t file)
{
    struct shapeproof_inventory *inventory = dcp->inventory;
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, dcp->error);
    if (!tensor) return false;
    tensor->name = entry->name;
    tensor->dtype = entry->dtype;
    tensor->dtype_name = entry->dtype_name;
    tensor->rank = entry->shape_rank;
    tensor->shape = entry->shape;
    tensor->file = file;
    tensor->flags = (entry->state ? SHAPEPROOF_TENSOR_STATE : 0) | (entry->lacking ? SHAPEPROOF_TENSOR_NO_DATA : 0);
    if (sp_tensor_measure(tensor)) return true;
    struct shapeproof_error why = {0};
    sp_malformed(&why, "its size overflows 64 bits");
    inventory->count--;
    return sp_inventory_unread(inventory, entry->name, &why, dcp->error);
}

static const char *spell_offsets(struct sp_arena *arena, const struct sp_dcp_chunk *chunk, uint32_t rank)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "(");
    for (uint32_t d = 0; d < rank; d++) sp_text_printf(&text, "%s%" PRIu64, d ? ", " : "", chunk->offsets[d]);
    sp_text_puts(&text, ")");
    return sp_text_keep(&text, arena);
}

/* Whether chunks of the tensor overlap or leave gaps; sets tensor->gaps. Where there are too many of them to compare
 * that is not known: the tensor is counted as uncompared, and the result is false. `named`: a warning names it. */
static bool is_uneven(struct sp_dcp *dcp, struct sp_dcp_tensor *tensor, bool named)
{
    struct shapeproof_inventory *inventory = dcp->inventory;
    const struct sp_dcp_cover cover = sp_dcp_cover(tensor, &dcp->cover_steps);
    const struct sp_quoted name = sp_quote(tensor->name);
    tensor->overlapping = cover.one || cover.unknown;
    if (cover.unknown) {
        dcp->uncompared++;
        return false;
    }
    /* Where some overlap, what all of them have together is the most that they can cover. */
    tensor->gaps = cover.one ? cover.covered < tensor->elements : cover.covered != tensor->elements;
    if (cover.one && named)
        sp_inventory_warn(inventory, "tensor %s: its chunks at %s and %s overlap", name.text,
                          spell_offsets(&dcp->arena, cover.one, tensor->rank),
                          spell_offsets(&dcp->arena, cover.two, tensor->rank));
    if (tensor->gaps && named)
        sp_inventory_warn(inventory, "tensor %s: its chunks cover %s%" PRIu64 " of %" PRIu64 " elements", name.text,
                          cover.one ? "at most " : "", cover.covered, tensor->elements);
    return cover.one || tensor->gaps;
}

static void check_chunks(struct sp_dcp *dcp)
{
    size_t uneven = 0;
    for (size_t i = 0; i < dcp->tensors.count; i++)
        uneven += is_uneven(dcp, &dcp->tensors.items[i], uneven < UNEVEN_NAMED);
    if (uneven > UNEVEN_NAMED)
        sp_inventory_warn(dcp->inventory,
                          "tensors whose chunks leave gaps or overlap: %zu, of which the first %d are named", uneven,
                          UNEVEN_NAMED);
    if (dcp->uncompared)
        sp_inventory_warn(dcp->inventory, "the chunks of %zu tensors are too many to be compared", dcp->uncompared);
}

static void add_dcp_count(struct shapeproof_inventory *inventory, const char *key, uint64_t count)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, count);
    if (count) sp_inventory_add_metadata(inventory, key, text);
}

/* After the last pickle. */
static bool list_dcp_entries(struct sp_dcp *dcp, uint32_t file)
{
    check_chunks(dcp);
    sp_dcp_check_files(dcp);
    for (size_t i = 0; i < dcp->tensors.count; i++)
        if (!list_entry(dcp, &dcp->tensors.items[i], file)) return false;
    add_dcp_count(dcp->inventory, "dcp.files", dcp->files.count);
    add_dcp_count(dcp->inventory, "dcp.chunks", dcp->chunks);
    add_dcp_count(dcp->inventory, "dcp.extra_states", dcp->extra_states);
    if (dcp->object_count) sp_inventory_add_metadata(dcp->inventory, "dcp.objects", sp_names_text(dcp->objects));
    return true;
}

/* ---- reading ---- */

static bool read_metadata(struct sp_dcp *dcp, const struct sp_file *file)
{
    struct sp_torch torch = {.inventory = dcp->inventory, .key_prefix = ""};
    struct sp_pickle pickle;
    char *bytes = sp_file_slurp(file, MAX_METADATA_FILE, dcp->error);
    bool ok = bytes && sp_torch_read_pickle(&torch, &pickle, "pickle", bytes, (size_t)file->size, dcp->error);
    if (ok && pickle.end < file->size)
        sp_inventory_warn(dcp->inventory, "%zu bytes after the end of the pickle", (size_t)file->size - pickle.end);
    ok = ok && sp_dcp_metadata(dcp, &pickle);
    dcp->sources++;
    sp_torch_free(&torch);
    sp_free(bytes);
    return ok;
}

static void release_dcp(struct sp_dcp *dcp)
{
    for (size_t i = 0; i < dcp->tensors.count; i++) sp_free(dcp->tensors.items[i].chunks);
    sp_free(dcp->tensors.items);
    sp_free(dcp->files.items);
    sp_map_free(&dcp->names);
    sp_map_free(&dcp->file_names);
    sp_map_free(&dcp->object_names);
    sp_free(dcp->object_texts.items);
    sp_free(dcp->placed.items);
    sp_names_free(dcp->objects);
    sp_arena_free(&dcp->arena);
}

/* Without the folder: the files are not looked for. */
static bool index_dcp(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                      struct shapeproof_error *error)
{
    struct sp_names objects = {0};
    struct sp_dcp dcp = {.inventory = inventory, .error = error, .objects = &objects};
    inventory->format = &dcp_format;
    const bool ok = read_metadata(&dcp, file) && list_dcp_entries(&dcp, file_index);
    release_dcp(&dcp);
    return ok;
}

const struct sp_reader sp_reader_dcp = {.name = "dcp", .probe = probe_dcp, .index = index_dcp};

static bool read_named(struct sp_dcp *dcp, const char *name)
{
    struct sp_file file;
    bool ok = sp_file_open(&file, dcp->folder->fd, name, dcp->error);
    if (ok) sp_inventory_allow_names(dcp->inventory, file.size);
    ok = ok && read_metadata(dcp, &file);
    sp_file_close(&file);
    return ok || sp_folder_blame(dcp->folder, name, dcp->error);
}

/* Adds what each of the files says, the pickles or the shards, and notes that they say it. */
static bool read_all_named(struct sp_dcp *dcp, const char *const *names, size_t count, bool are_shards)
{
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = are_shards ? sp_dcp_add_shard(dcp, names[i]) : read_named(dcp, names[i]);
    return ok;
}

static void note_described(struct shapeproof_inventory *inventory, const char *const *names, size_t count)
{
    sp_inventory_add_file(inventory, names[0]); /* one stands for all: tensors have parts in several */
    for (size_t i = 0; i < count; i++) *SP_PUSH(&inventory->described) = sp_arena_string(&inventory->arena, names[i]);
}

bool sp_dcp_read(const struct sp_folder *folder, const char *const *names, size_t count,
                 struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct sp_names objects = {0};
    struct sp_dcp dcp = {.inventory = inventory, .error = error, .folder = folder, .objects = &objects};
    inventory->format = &dcp_format;
    note_described(inventory, names, count);
    bool ok = read_all_named(&dcp, names, count, false);
    if (ok) sp_dcp_judge_objects(&dcp);
    if (ok && !(list_dcp_entries(&dcp, 0) && sp_inventory_finish(inventory, error)))
        ok = sp_folder_blame(folder, names[0], error);
    release_dcp(&dcp);
    return ok;
}

/* Ranks are counted from 1. That those behind the last are absent cannot be told. */
static void warn_absent_ranks(struct sp_dcp *dcp, const char *const *names, size_t count)
{
    uint32_t rank, highest = 0, ranks = 0, last = 0;
    for (size_t i = 0; i < count; i++) { /* sorted */
        sp_is_dcp_shard(names[i], &rank);
        if (rank != last) ranks++;
        last = rank;
        if (rank > highest) highest = rank;
    }
    if (ranks < highest)
        sp_inventory_warn(dcp->inventory, "shards of %" PRIu32 " of the ranks 1 to %" PRIu32 " are missing",
                          highest - ranks, highest);
}

/* After the last shard. */
static bool settle_shards(struct sp_dcp *dcp)
{
    dcp->folder = NULL; /* sp_dcp_check_files need not look for the files, which were read */
    return sp_dcp_settle_shards(dcp);
}

bool sp_dcp_read_shards(const struct sp_folder *folder, const char *const *names, size_t count,
                        struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct sp_names objects = {0};
    struct sp_dcp dcp = {.inventory = inventory, .error = error, .folder = folder, .objects = &objects};
    inventory->format = &dcp_format;
    note_described(inventory, names, count);
    bool ok = read_all_named(&dcp, names, count, true);
    if (ok) {
        warn_absent_ranks(&dcp, names, count);
        ok = settle_shards(&dcp) && list_dcp_entries(&dcp, 0) && sp_inventory_finish(inventory, error);
        if (!ok) sp_error_prefix(error, folder->path);
    }
    release_dcp(&dcp);
    return ok;
}

bool sp_dcp_locate(const struct sp_folder *folder, struct sp_data_places *places, struct shapeproof_error *error)
{
    const char *const *names = places->inventory->described.items;
    const size_t count = places->inventory->described.count;
    struct shapeproof_inventory *again = sp_inventory_new(folder->path); /* which takes the warnings */
    struct sp_names objects = {0};
    struct sp_dcp dcp = {.inventory = again, .error = error, .folder = folder, .objects = &objects};
    uint32_t rank;
    const bool are_shards = sp_is_dcp_shard(names[0], &rank);
    bool ok = read_all_named(&dcp, names, count, are_shards) && (!are_shards || settle_shards(&dcp));
    if (ok) {
        check_chunks(&dcp);
        sp_dcp_check_files(&dcp);
        sp_dcp_list_pieces(&dcp, folder, !are_shards, places);
    }
    release_dcp(&dcp);
    shapeproof_inventory_close(again);
    return ok;
}
