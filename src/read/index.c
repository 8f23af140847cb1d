/* SPDX-License-Identifier: MIT
 * The index is JSON: {"metadata": {"total_size": 24}, "weight_map": {"tensor": "model-00001-of-00002.safetensors"}},
 * or the inner map alone. Keras 3 (model.weights.json) gives groups in place of tensors, each with its shard or a list:
 * {"weight_map": {"/layers/dense/vars": ["model_00000.weights.h5"]}}. Nobody checks it when it is written or uploaded,
 * so it is compared with what the shards hold, and differences are warnings: the shards are the truth.
 *
 * Shard names are a stranger's text: only a plain file name is followed, and only within the index's own directory.
 * Symbolic links there are followed, since download caches consist of them. */
#include "read/index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/json_scan.h"
#include "base/names.h"
#include "base/natural.h"

enum { MAX_INDEX = 256 << 20, MAX_SHARDS = 10000 };

struct placement {
    const char *tensor; /* or the group, of Keras */
    const char *shard_name;
    size_t shard; /* its number in index.shards, once these are collected */
};

struct weight_map {
    struct placement *placements;
    size_t count, capacity;
    struct sp_map tensors; /* to find one that appears twice */
};

struct index {
    struct sp_json json; /* owns the text, which every name is borrowed from */
    struct shapeproof_error *error;
    struct shapeproof_inventory *inventory;
    struct weight_map map, bare; /* "weight_map", and the strings of the outermost object */
    bool has_map;
    bool has_metadata;      /* and it is an object */
    bool groups;            /* of Keras: a name is that of a group */
    const char *total_size; /* as written, or NULL */
    struct sp_shard *shards;
    size_t shard_count, shard_capacity;
    struct sp_map shard_names;
};

/* ---- the text ---- */

static void place_in(struct weight_map *map, const char *tensor, const char *shard)
{
    SP_GROW(map->placements, map->count, map->capacity);
    map->placements[map->count++] = (struct placement){tensor, shard, 0};
}

static bool place_group(struct index *index, struct weight_map *map, const char *group)
{
    const char *shard = sp_json_string(&index->json);
    if (shard) place_in(map, group + (*group == '/'), shard);
    return shard != NULL;
}

/* The shards over which Keras has spread a group: a list, or one by itself. */
static bool add_group(struct index *index, struct weight_map *map, const char *group)
{
    index->groups = true;
    if (sp_json_peek(&index->json) == '"') return place_group(index, map, group);
    if (!sp_json_open(&index->json, '[')) return false;
    for (bool first = true; sp_json_item(&index->json, &first);)
        if (!place_group(index, map, group)) return false;
    return sp_json_ok(&index->json);
}

static bool add_placement(struct index *index, struct weight_map *map, const char *tensor)
{
    if (sp_json_peek(&index->json) == '[' || *tensor == '/') return add_group(index, map, tensor);
    const char *shard = sp_json_string(&index->json);
    if (!shard) return false;
    if (!sp_map_add(&map->tensors, tensor, map->count))
        return sp_malformed(index->error, "index: tensor %s appears twice", sp_quote(tensor).text);
    place_in(map, tensor, shard);
    return true;
}

static bool scan_weight_map(struct index *index)
{
    const char *key;
    if (index->has_map) return sp_malformed(index->error, "index: 'weight_map' appears twice");
    index->has_map = true;
    if (!sp_json_open(&index->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&index->json, &first));)
        if (!add_placement(index, &index->map, key)) return false;
    return sp_json_ok(&index->json);
}

/* The value of a metadata member as text: a string decoded, all else as written, since totals can be longer than any
 * integer type. */
static const char *metadata_value(struct index *index) /* NULL: an error */
{
    size_t length;
    if (sp_json_peek(&index->json) == '"') return sp_json_string(&index->json);
    const char *raw = sp_json_skip(&index->json, &length);
    return raw ? sp_arena_copy(&index->inventory->arena, raw, length) : NULL;
}

static bool scan_index_metadata(struct index *index)
{
    const char *key, *value;
    size_t ignored;
    if (sp_json_peek(&index->json) != '{') return sp_json_skip(&index->json, &ignored) != NULL;
    index->has_metadata = true;
    sp_json_open(&index->json, '{');
    for (bool first = true; (key = sp_json_member(&index->json, &first));) {
        if (!(value = metadata_value(index))) return false;
        if (strcmp(key, "total_size") == 0) index->total_size = value;
        sp_inventory_add_metadata(index->inventory, sp_arena_printf(&index->inventory->arena, "index.%s", key), value);
    }
    return sp_json_ok(&index->json);
}

static bool scan_index(struct index *index)
{
    const char *key;
    size_t ignored;
    if (!sp_json_check(&index->json) || !sp_json_open(&index->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&index->json, &first));) {
        bool ok;
        if (sp_json_peek(&index->json) == '"') ok = add_placement(index, &index->bare, key);
        else if (strcmp(key, "weight_map") == 0) ok = scan_weight_map(index);
        else if (strcmp(key, "metadata") == 0) ok = scan_index_metadata(index);
        else ok = sp_json_skip(&index->json, &ignored) != NULL;
        if (!ok) return false;
    }
    return sp_json_end(&index->json);
}

/* ---- the shards ---- */

bool sp_is_plain_name(const char *name)
{
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return false;
    return !strpbrk(name, "/\\") && name[1] != ':';
}

static int compare_shards(const void *left, const void *right)
{
    return sp_compare_natural(((const struct sp_shard *)left)->name, ((const struct sp_shard *)right)->name);
}

/* `number` is the place of the shard among those found so far. */
static bool add_shard(struct index *index, const char *name, size_t *number)
{
    *number = sp_map_get(&index->shard_names, name);
    if (*number != SIZE_MAX) return true;
    if (!sp_is_plain_name(name))
        return sp_fail(index->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                       "unsafe shard name %s: not a plain file name", sp_quote(name).text);
    if (index->shard_count == MAX_SHARDS)
        return sp_fail(index->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "index: more than %d shards",
                       MAX_SHARDS);
    SP_GROW(index->shards, index->shard_count, index->shard_capacity);
    *number = index->shard_count;
    sp_map_add(&index->shard_names, name, *number);
    index->shards[index->shard_count++] = (struct sp_shard){.name = name, .groups = index->groups, .file = SP_NO_FILE};
    return true;
}

static void sort_shards(struct index *index, struct weight_map *map)
{
    size_t *rank = sp_realloc(NULL, index->shard_count, sizeof *rank); /* by the number that they were found as */
    qsort(index->shards, index->shard_count, sizeof *index->shards, compare_shards);
    for (size_t i = 0; i < index->shard_count; i++) rank[sp_map_get(&index->shard_names, index->shards[i].name)] = i;
    for (size_t i = 0; i < map->count; i++) {
        map->placements[i].shard = rank[map->placements[i].shard];
        index->shards[map->placements[i].shard].indexed++;
    }
    sp_free(rank);
}

/* The distinct shards in the order of their numbers, and for each tensor which one it is in. */
static bool collect_shards(struct index *index)
{
    struct weight_map *map = index->has_map ? &index->map : &index->bare;
    for (size_t i = 0; i < map->count; i++)
        if (!add_shard(index, map->placements[i].shard_name, &map->placements[i].shard)) return false;
    if (!index->shard_count) return sp_malformed(index->error, "index: names no shard");
    sort_shards(index, map);
    return true;
}

/* ---- what the index claims, against what the shards hold ---- */

static void warn_names(struct shapeproof_inventory *inventory, const char *what, struct sp_names *names)
{
    if (names->count) sp_inventory_warn(inventory, "%s (%zu): %s", what, names->count, sp_names_text(names));
    sp_names_free(names);
}

/* Compares the index with what the shards hold, and warns of tensors that are missing, in another shard, or not
 * listed. */
static void compare_placements(const struct index *index)
{
    const struct weight_map *map = index->has_map ? &index->map : &index->bare;
    struct shapeproof_inventory *inventory = index->inventory;
    struct sp_names missing = {0}, elsewhere = {0}, unindexed = {0};
    struct sp_arena scratch = {0};
    bool *listed = sp_arena_array(&scratch, inventory->count, sizeof *listed);
    for (size_t i = 0; i < map->count; i++) {
        const struct placement *placement = &map->placements[i];
        const uint32_t file = index->shards[placement->shard].file;
        const size_t found = shapeproof_inventory_find(inventory, placement->tensor);
        if (found != SHAPEPROOF_NONE) {
            listed[found] = true;
            if (inventory->tensors[found].file != file) sp_names_add(&elsewhere, placement->tensor);
            continue;
        }
        sp_inventory_promise(inventory, placement->tensor, placement->shard_name, file == SP_NO_FILE);
        if (file != SP_NO_FILE) sp_names_add(&missing, placement->tensor);
    }
    for (size_t i = 0; i < inventory->count; i++)
        if (!listed[i]) sp_names_add(&unindexed, inventory->tensors[i].name);
    sp_arena_free(&scratch);
    warn_names(inventory, "tensors that the index lists, but that their shard does not hold", &missing);
    warn_names(inventory, "tensors that are in another shard than the index says", &elsewhere);
    warn_names(inventory, "tensors that the index does not list", &unindexed);
}

/* A group in one file: "3:layers/dense/vars" for that group in the file with number 3. */
static const char *group_key(struct sp_arena *arena, uint32_t file, const char *group, size_t length)
{
    return sp_arena_printf(arena, "%" PRIu32 ":%.*s", file, (int)length, group);
}

/* The same for an index of Keras, whose names are those of groups. A group may be spread over several shards: warns of
 * each that the index places a part of in a shard without any tensor of that group. */
static void compare_groups(const struct index *index)
{
    const struct weight_map *map = index->has_map ? &index->map : &index->bare;
    struct shapeproof_inventory *inventory = index->inventory;
    struct sp_names missing = {0};
    struct sp_arena scratch = {0};
    struct sp_map groups = {0};
    for (size_t i = 0; i < inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        const char *slash = strrchr(tensor->name, '/');
        const size_t length = slash ? (size_t)(slash - tensor->name) : 0;
        sp_map_add(&groups, group_key(&scratch, tensor->file, tensor->name, length), i);
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct placement *placement = &map->placements[i];
        const uint32_t file = index->shards[placement->shard].file;
        const char *key = group_key(&scratch, file, placement->tensor, strlen(placement->tensor));
        if (file == SP_NO_FILE) sp_inventory_promise_shard(inventory, placement->shard_name);
        else if (sp_map_get(&groups, key) == SIZE_MAX) sp_names_add(&missing, placement->tensor);
    }
    warn_names(inventory, "groups that are missing in a shard, although the index lists a part of them there",
               &missing);
    sp_map_free(&groups);
    sp_arena_free(&scratch);
}

/* "1234", or "1234.0" as some writers have it. */
static bool is_json_number(const char *text, uint64_t number)
{
    uint64_t value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++)
        if (!sp_mul_u64(value, 10, &value) || !sp_add_u64(value, (uint64_t)(*p - '0'), &value)) return false;
    if (p == text) return false;
    if (*p == '.') p += 1 + strspn(p + 1, "0");
    return !*p && value == number;
}

static void compare_total_size(const struct index *index)
{
    const uint64_t bytes = index->inventory->totals.bytes;
    for (size_t i = 0; i < index->shard_count; i++)
        if (index->shards[i].file == SP_NO_FILE) return; /* it cannot be equal, and why is said already */
    if (index->total_size && !is_json_number(index->total_size, bytes))
        sp_inventory_warn(index->inventory, "the index says total_size %.80s, but the tensors take %" PRIu64 " bytes",
                          index->total_size, bytes);
}

/* What is no difference here, and stops loaders: an object of the index that this reader does without, and a shard that
 * is absent although all tensors are there, in others than the index says. */
static void note_obstacles(const struct index *index)
{
    if (!index->has_map) index->inventory->index_lacks = "weight_map";
    else if (!index->has_metadata) index->inventory->index_lacks = "metadata";
    for (size_t i = 0; i < index->shard_count; i++)
        if (index->shards[i].file == SP_NO_FILE) index->inventory->shard_absent = true;
}

/* ---- all together ---- */

static bool load_index(struct index *index, const struct sp_folder *folder, const char *name)
{
    struct sp_file file;
    bool ok = sp_folder_open_file(folder, name, &file, index->error);
    if (ok) index->json.text = sp_file_slurp(&file, MAX_INDEX, index->error);
    index->json.length = (size_t)file.size;
    sp_file_close(&file);
    ok = index->json.text && scan_index(index) && collect_shards(index);
    return ok || sp_folder_blame(folder, name, index->error);
}

static void release_index(struct index *index)
{
    struct weight_map *maps[] = {&index->map, &index->bare};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        sp_free(maps[i]->placements);
        sp_map_free(&maps[i]->tensors);
    }
    sp_free(index->shards);
    sp_map_free(&index->shard_names);
    sp_free(index->json.text);
}

bool sp_index_read(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory,
                   struct shapeproof_error *error)
{
    struct index index = {.json = {.what = "index", .error = error, .numbers = SP_JSON_OF_PYTHON},
                          .error = error,
                          .inventory = inventory};
    const bool ok = load_index(&index, folder, name) &&
                    sp_folder_read_shards(folder, name, index.shards, index.shard_count, inventory, error);
    if (ok) {
        if (index.groups) compare_groups(&index);
        else compare_placements(&index);
        compare_total_size(&index);
        note_obstacles(&index);
    }
    release_index(&index);
    return ok;
}
