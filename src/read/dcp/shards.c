/* SPDX-License-Identifier: MIT
 * The same in safetensors, as HuggingFaceStorageWriter saves them distributed: `shard-00002-model-00001-of-00001.
 * safetensors` is of the second rank. No file lists them all; each says under DCP_SHARDING_INFO of its metadata where
 * its chunks begin, {"name": {"saved_offsets": [2, 0]}}. The shape of a whole is as far as its chunks reach. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/json_scan.h"
#include "base/names.h"
#include "read/dcp/dcp.h"
#include "read/dcp/folder.h"

/* Passes "TEXT" and digits. */
static bool pass_field(const char **p, const char *text, uint32_t *number)
{
    const size_t length = strlen(text);
    if (strncmp(*p, text, length) != 0) return false;
    const size_t digits = strspn(*p + length, "0123456789");
    if (!digits || digits > 9) return false;
    *number = (uint32_t)strtoul(*p + length, NULL, 10);
    *p += length + digits;
    return true;
}

bool sp_is_dcp_shard(const char *name, uint32_t *rank)
{
    uint32_t file, of;
    return pass_field(&name, "shard-", rank) && pass_field(&name, "-model-", &file) && pass_field(&name, "-of-", &of) &&
           strcmp(name, ".safetensors") == 0;
}

/* ---- where the chunks of a file begin ---- */

struct offsets {
    struct sp_map names; /* of a tensor -> number in both lists */
    SP_ARRAY(uint64_t *) list;
    SP_ARRAY(size_t) ranks; /* how many offsets each has */
};

/* The inner object: {"saved_offsets": [2, 0]}. */
static bool scan_offsets(struct sp_json *json, uint64_t *values, size_t *count)
{
    const char *key;
    size_t ignored;
    *count = 0;
    if (!sp_json_open(json, '{')) return false;
    for (bool first = true; (key = sp_json_member(json, &first));) {
        const bool ok = strcmp(key, "saved_offsets") == 0 ? sp_json_u64s(json, values, SP_MAX_RANK, count)
                                                          : sp_json_skip(json, &ignored) != NULL;
        if (!ok) return false;
        if (*count > SP_MAX_RANK)
            return sp_fail(json->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%s: more than %d saved_offsets",
                           json->what, SP_MAX_RANK);
    }
    return sp_json_ok(json);
}

static bool scan_info(struct sp_dcp *dcp, struct sp_json *json, struct offsets *offsets)
{
    uint64_t values[SP_MAX_RANK];
    size_t count;
    const char *name;
    if (!sp_json_check(json) || !sp_json_open(json, '{')) return false;
    for (bool first = true; (name = sp_json_member(json, &first));) {
        if (!scan_offsets(json, values, &count)) return false;
        uint64_t *kept = sp_arena_array(&dcp->arena, count, sizeof *kept);
        if (count) memcpy(kept, values, count * sizeof *kept);
        sp_map_add(&offsets->names, sp_arena_string(&dcp->arena, name), offsets->list.count);
        *SP_PUSH(&offsets->list) = kept;
        *SP_PUSH(&offsets->ranks) = count;
    }
    return sp_json_ok(json);
}

static bool read_info(struct sp_dcp *dcp, const struct shapeproof_inventory *own, struct offsets *offsets)
{
    const char *info = sp_inventory_metadata_value(own, "DCP_SHARDING_INFO");
    if (!info) return true;
    const size_t length = strlen(info);
    struct sp_json json = {.what = "DCP_SHARDING_INFO", .error = dcp->error, .length = length};
    json.text = sp_realloc(NULL, length + 1, 1);
    memcpy(json.text, info, length + 1);
    const bool ok = scan_info(dcp, &json, offsets);
    sp_free(json.text);
    return ok;
}

/* ---- the chunks ---- */

static struct sp_dcp_tensor *find_or_add(struct sp_dcp *dcp, const struct shapeproof_tensor *tensor)
{
    const size_t known = sp_map_get(&dcp->names, tensor->name);
    if (known != SIZE_MAX) return &dcp->tensors.items[known];
    struct sp_arena *arena = &dcp->inventory->arena;
    uint64_t *size = sp_arena_array(arena, tensor->rank, sizeof *size);
    struct sp_dcp_tensor added = {.name = sp_arena_string(arena, tensor->name), .dtype = tensor->dtype};
    added.dtype_name = sp_arena_string(arena, tensor->dtype_name);
    added.rank = added.shape_rank = tensor->rank;
    added.size = added.shape = added.reach = size;
    sp_map_add(&dcp->names, added.name, dcp->tensors.count);
    *SP_PUSH(&dcp->tensors) = added;
    return &dcp->tensors.items[dcp->tensors.count - 1];
}

/* Adds one tensor of a shard file as a chunk of the whole tensor, whose size grows to where its chunks end. A tensor
 * that DCP_SHARDING_INFO does not name begins at 0 in each dimension. False with an error when the chunks of one tensor
 * have different types or ranks, or when one ends beyond 64 bits. */
static bool add_chunk(struct sp_dcp *dcp, const struct shapeproof_tensor *piece, const struct offsets *offsets)
{
    const size_t info = sp_map_get(&offsets->names, piece->name);
    const bool has_offsets = info != SIZE_MAX;
    struct sp_dcp_tensor *tensor = find_or_add(dcp, piece);
    uint64_t *sizes = sp_arena_array(&dcp->arena, piece->rank, sizeof *sizes), end;
    struct sp_dcp_chunk chunk = {.sizes = sizes,
                                 .elements = piece->parameters,
                                 .source = dcp->sources,
                                 .file = (uint32_t)dcp->files.count,
                                 .begin = piece->data_begin,
                                 .end = piece->data_end,
                                 .placed = true};
    chunk.offsets = has_offsets ? offsets->list.items[info] : sp_arena_array(&dcp->arena, piece->rank, sizeof end);
    if (piece->rank) memcpy(sizes, piece->shape, piece->rank * sizeof *sizes);
    if (piece->rank != tensor->rank || piece->dtype != tensor->dtype ||
        (has_offsets && offsets->ranks.items[info] != piece->rank))
        return sp_malformed(dcp->error, "tensor %s: its chunks are of different types or dimensions",
                            sp_quote(piece->name).text);
    for (uint32_t d = 0; d < piece->rank; d++) {
        if (!sp_add_u64(chunk.offsets[d], sizes[d], &end) || end > INT64_MAX)
            return sp_malformed(dcp->error, "tensor %s: a chunk ends beyond 64 bits", sp_quote(piece->name).text);
        if (end > tensor->reach[d]) tensor->reach[d] = end;
    }
    dcp->chunks++;
    sp_dcp_add_chunk(tensor, &chunk);
    return true;
}

bool sp_dcp_add_shard(struct sp_dcp *dcp, const char *name)
{
    struct offsets offsets = {.list = {0}};
    struct shapeproof_inventory *own = sp_inventory_new(name);
    bool ok = sp_folder_read(dcp->folder, name, own, dcp->error);
    if (ok && !(ok = read_info(dcp, own, &offsets))) sp_folder_blame(dcp->folder, name, dcp->error);
    for (size_t i = 0; ok && i < own->count; i++)
        if (!(ok = add_chunk(dcp, &own->tensors[i], &offsets))) sp_folder_blame(dcp->folder, name, dcp->error);
    sp_inventory_adopt_remarks(dcp->inventory, own);
    *SP_PUSH(&dcp->files) = (struct sp_dcp_file){.name = name};
    dcp->sources++;
    shapeproof_inventory_close(own);
    sp_map_free(&offsets.names);
    sp_free(offsets.list.items);
    sp_free(offsets.ranks.items);
    return ok;
}

/* After the last: of what they reach the sizes are known. */
bool sp_dcp_settle_shards(struct sp_dcp *dcp)
{
    for (size_t i = 0; i < dcp->tensors.count; i++) {
        struct sp_dcp_tensor *tensor = &dcp->tensors.items[i];
        tensor->elements = 1;
        for (uint32_t d = 0; d < tensor->rank; d++)
            if (!sp_mul_u64(tensor->elements, tensor->size[d], &tensor->elements))
                return sp_malformed(dcp->error, "tensor %s: its size overflows 64 bits", sp_quote(tensor->name).text);
    }
    return true;
}
