/* SPDX-License-Identifier: MIT
 * A .keras file (Keras 3): a zip archive with config.json (the architecture), metadata.json (keras_version, date_saved)
 * and model.weights.h5, an HDF5 file that Keras stores without compression and that is then read where it lies.
 * Large ones are in shards, model_00000.weights.h5 and so on, with an index, model.weights.json.
 * An archive may have model.weights.npz instead, whose arrays are listed as those of any such file; Keras itself puts
 * those of a layer into one array of Python objects, which is not read. Nor are assets. Nothing in config.json is
 * evaluated. */
#include "read/hdf5/keras_zip.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/map.h"
#include "base/names.h"
#include "base/utf8.h"
#include "read/bundle.h"
#include "read/hdf5/attributes.h"
#include "read/hdf5/index.h"

#define WEIGHTS "model.weights.h5"
#define NPZ "model.weights.npz"
#define INDEX "model.weights.json"

enum { MAX_SHARDS = 10000, MAX_METADATA = 64 * 1024, MAX_INFLATED = 512 * 1024 * 1024, STORED = 0, DEFLATED = 8 };

bool sp_keras_zip_is(const struct sp_zip *zip)
{
    return sp_zip_find(zip, WEIGHTS) != SIZE_MAX ||
           (sp_zip_find(zip, "config.json") != SIZE_MAX && sp_zip_find(zip, "metadata.json") != SIZE_MAX);
}

/* The one member of that name, whatever its case: two readers might take different ones. */
static bool find_weights(const struct sp_zip *zip, size_t *index, struct sp_error *error)
{
    size_t found = 0;
    for (size_t i = 0; i < sp_zip_count(zip); i++)
        if (!strcasecmp(sp_zip_entry(zip, i)->name, WEIGHTS)) found++;
    if (found > 1) return sp_malformed(error, "ambiguous archive: %zu members are called " WEIGHTS, found);
    *index = sp_zip_find(zip, WEIGHTS);
    if (*index != SIZE_MAX) return true;
    return sp_malformed(error, "a Keras archive without " WEIGHTS);
}

/* ---- config.json and metadata.json ---- */

static void add_config(struct sp_zip *zip, struct sp_inventory *inventory)
{
    const size_t index = sp_zip_find(zip, "config.json");
    struct sp_error error = {0};
    size_t length = 0;
    if (index == SIZE_MAX) {
        sp_inventory_warn(inventory, "no config.json in the archive");
        return;
    }
    char *text = sp_zip_read(zip, index, SP_H5_MAX_JSON, &length, &error);
    if (!text) sp_inventory_warn(inventory, "config.json is not read: %s", error.message);
    else if (memchr(text, '\0', length) || sp_utf8_check(text, length) != length)
        sp_inventory_warn(inventory, "config.json is not read: it is not UTF-8 text");
    else sp_inventory_add_metadata(inventory, "model_config", text);
    free(text);
}

static void add_string(struct sp_inventory *inventory, const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsString(item) &&
        sp_utf8_check(item->valuestring, strlen(item->valuestring)) == strlen(item->valuestring))
        sp_inventory_add_metadata(inventory, key, item->valuestring);
}

static void add_metadata(struct sp_zip *zip, struct sp_inventory *inventory)
{
    const size_t index = sp_zip_find(zip, "metadata.json");
    struct sp_error error = {0};
    size_t length = 0;
    if (index == SIZE_MAX) return;
    char *text = sp_zip_read(zip, index, MAX_METADATA, &length, &error);
    cJSON *object = text ? cJSON_ParseWithLength(text, length) : NULL;
    if (!cJSON_IsObject(object)) sp_inventory_warn(inventory, "metadata.json is not read: it is no small JSON object");
    add_string(inventory, object, "keras_version");
    add_string(inventory, object, "date_saved");
    cJSON_Delete(object);
    free(text);
}

/* ---- the weights ---- */

/* A stored member is an HDF5 file at an offset of this one. */
static bool index_stored(struct sp_zip *zip, size_t index, size_t part, const struct sp_file *file, uint32_t file_index,
                         struct sp_inventory *inventory, struct sp_error *error)
{
    const struct sp_zip_entry *entry = sp_zip_entry(zip, index);
    uint64_t begin, end;
    if (entry->size != entry->compressed_size)
        return sp_malformed(error, "stored, but with %" PRIu64 " bytes in %" PRIu64, entry->size,
                            entry->compressed_size);
    if (!sp_zip_data_offset(zip, index, &begin, error)) return false;
    if (!sp_add_u64(begin, entry->size, &end) || end > file->size)
        return sp_malformed(error, "ends at byte %" PRIu64 ", past the end of the archive", begin + entry->size);
    if (!sp_file_need(file, begin, entry->size, error)) return false; /* the child has the descriptor alone */
    struct sp_h5_source source = {
        .fd = file->fd, .base = file->base + begin, .origin = file->base, .size = entry->size, .part = part};
    return sp_h5_index(&source, file_index, inventory, error);
}

/* A deflated one has to be inflated, weights and all, since HDF5 needs to seek in it. */
static bool index_deflated(struct sp_zip *zip, size_t index, size_t part, uint32_t file_index,
                           struct sp_inventory *inventory, struct sp_error *error)
{
    size_t length = 0;
    char *bytes = sp_zip_read(zip, index, MAX_INFLATED, &length, error);
    if (!bytes) return false;
    struct sp_h5_source source = {.fd = -1, .memory = (const unsigned char *)bytes, .size = length, .part = part};
    const bool ok = sp_h5_index(&source, file_index, inventory, error);
    free(bytes);
    return ok;
}

/* `part`: which of several shards it is. */
static bool index_weights(struct sp_zip *zip, size_t index, size_t part, const struct sp_file *file,
                          uint32_t file_index, struct sp_inventory *inventory, struct sp_error *error)
{
    const struct sp_zip_entry *entry = sp_zip_entry(zip, index);
    bool ok = false;
    if (entry->method == STORED) ok = index_stored(zip, index, part, file, file_index, inventory, error);
    else if (entry->method == DEFLATED) ok = index_deflated(zip, index, part, file_index, inventory, error);
    else sp_fail(error, SP_ERR_FILE, SP_KIND_REFUSED, "compressed with method %u, which is not read", entry->method);
    if (!ok) sp_error_prefix(error, entry->name);
    return ok;
}

/* ---- weights in shards ---- */

/* The shards of a weight map of groups, each once, in the order of their first group. */
static bool list_zipped_shards(const cJSON *root, struct sp_map *names, const char **list, struct sp_error *error)
{
    const cJSON *map = cJSON_GetObjectItemCaseSensitive(root, "weight_map"), *group, *shard;
    cJSON_ArrayForEach(group, map)
    {
        cJSON_ArrayForEach(shard, group)
        {
            if (!cJSON_IsString(shard)) return sp_malformed(error, INDEX ": a shard that is no text");
            if (names->count == MAX_SHARDS)
                return sp_fail(error, SP_ERR_FILE, SP_KIND_LIMIT, INDEX ": more than %d shards", MAX_SHARDS);
            if (sp_map_add(names, shard->valuestring, names->count)) list[names->count - 1] = shard->valuestring;
        }
    }
    return names->count || sp_malformed(error, INDEX ": names no shard");
}

static bool index_zipped_shards(struct sp_zip *zip, const cJSON *root, const struct sp_file *file, uint32_t file_index,
                                struct sp_inventory *inventory, struct sp_error *error)
{
    struct sp_map names = {0};
    const char **list = sp_realloc(NULL, MAX_SHARDS, sizeof *list);
    size_t read = 0;
    bool ok = list_zipped_shards(root, &names, list, error);
    for (size_t i = 0; ok && i < names.count; i++) {
        const size_t index = sp_zip_find(zip, list[i]);
        if (index != SIZE_MAX) {
            ok = index_weights(zip, index, i, file, file_index, inventory, error);
            read++;
            continue;
        }
        sp_inventory_warn(inventory, "shard %s, which " INDEX " names, is not in the archive", sp_quote(list[i]).text);
        sp_inventory_promise(inventory, NULL, list[i], true);
    }
    if (ok && !read) ok = sp_malformed(error, "none of the shards that " INDEX " names is in the archive");
    sp_map_free(&names);
    free(list);
    return ok;
}

static bool index_sharded(struct sp_zip *zip, size_t index, const struct sp_file *file, uint32_t file_index,
                          struct sp_inventory *inventory, struct sp_error *error)
{
    size_t length = 0;
    char *text = sp_zip_read(zip, index, SP_H5_MAX_JSON, &length, error);
    if (!text) return false;
    cJSON *root = cJSON_ParseWithLength(text, length);
    const bool ok = cJSON_IsObject(root) ? index_zipped_shards(zip, root, file, file_index, inventory, error)
                                         : sp_malformed(error, INDEX " is no JSON object");
    cJSON_Delete(root);
    free(text);
    return ok;
}

/* ---- weights in a .npz file ---- */

/* Arrays of objects are none of the weights: each has those of a layer in it. */
static bool index_arrays(struct sp_zip *zip, size_t index, const struct sp_file *file, uint32_t file_index,
                         struct sp_inventory *inventory, struct sp_error *error)
{
    const size_t first = inventory->count;
    size_t kept = first;
    struct sp_error why = {0};
    sp_fail(&why, SP_ERR_FILE, SP_KIND_REFUSED, "the weights of a layer in a pickle, which is not read");
    bool ok = sp_bundle_index_member(zip, index, file, file_index, inventory, error);
    for (size_t i = first; ok && i < inventory->count; i++) {
        const struct sp_tensor tensor = inventory->tensors[i];
        if (strcmp(tensor.dtype_name, "object") != 0) inventory->tensors[kept++] = tensor;
        else ok = sp_inventory_unread(inventory, tensor.name, &why, error);
    }
    if (ok) inventory->count = kept;
    return ok;
}

/* A deflated HDF5 file is data of tensors as a whole; one that is stored has claimed its own. */
static void claim_members(struct sp_zip *zip, uint32_t file_index, struct sp_inventory *inventory)
{
    sp_zip_claim(zip, inventory, file_index);
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const struct sp_zip_entry *entry = sp_zip_entry(zip, i);
        const bool weights = sp_ends_with(entry->name, ".h5");
        if (!weights || entry->method != STORED)
            sp_zip_claim_member(zip, i, inventory, file_index, weights ? SP_USE_TENSOR : SP_USE_STRUCTURE);
    }
}

bool sp_keras_zip_index(struct sp_zip *zip, const struct sp_file *file, uint32_t file_index,
                        struct sp_inventory *inventory, struct sp_error *error)
{
    const size_t shards = sp_zip_find(zip, INDEX), arrays = sp_zip_find(zip, NPZ);
    const bool whole = sp_zip_find(zip, WEIGHTS) != SIZE_MAX;
    size_t index;
    if (!whole && shards == SIZE_MAX && arrays != SIZE_MAX) {
        if (!index_arrays(zip, arrays, file, file_index, inventory, error)) return false;
    } else if (!whole && shards != SIZE_MAX) {
        if (!index_sharded(zip, shards, file, file_index, inventory, error)) return false;
    } else if (!find_weights(zip, &index, error) || !index_weights(zip, index, 0, file, file_index, inventory, error)) {
        return false;
    }
    claim_members(zip, file_index, inventory);
    add_metadata(zip, inventory);
    add_config(zip, inventory);
    inventory->format = "keras-zip";
    return true;
}
