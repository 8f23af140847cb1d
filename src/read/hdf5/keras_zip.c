/* SPDX-License-Identifier: MIT
 * A .keras file (Keras 3): a zip archive with config.json (the architecture), metadata.json (keras_version, date_saved)
 * and model.weights.h5, an HDF5 file that Keras stores without compression and that is then read where it lies.
 * Large ones are in shards, model_00000.weights.h5 and so on, with an index, model.weights.json.
 * An archive may have model.weights.npz instead, whose arrays are listed as those of any such file; Keras itself puts
 * those of a layer into one array of Python objects, a pickle, whose tensors are listed. Assets are not read. Nothing
 * in config.json is evaluated. */
#include "read/hdf5/keras_zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "base/names.h"
#include "base/utf8.h"
#include "base/value.h"
#include "model/format.h"
#include "read/bundle.h"
#include "read/hdf5/attributes.h"
#include "read/hdf5/index.h"
#include "read/nested.h"

static const struct sp_format keras_zip_format = {"keras-zip", SP_BY_KERAS | SP_NUMBERED | SP_ARCHIVED};

#define WEIGHTS "model.weights.h5"
#define NPZ "model.weights.npz"
#define INDEX "model.weights.json"

enum { MAX_SHARDS = 10000, MAX_METADATA = 64 * 1024, MAX_INFLATED = 512 * 1024 * 1024, STORED = 0 };

bool sp_keras_zip_is(const struct sp_zip *zip)
{
    return sp_zip_find(zip, WEIGHTS) != SIZE_MAX ||
           (sp_zip_find(zip, "config.json") != SIZE_MAX && sp_zip_find(zip, "metadata.json") != SIZE_MAX);
}

static bool find_weights(const struct sp_zip *zip, size_t *index, struct shapeproof_error *error)
{
    *index = sp_zip_find(zip, WEIGHTS);
    if (*index != SIZE_MAX) return true;
    return sp_malformed(error, "a Keras archive without " WEIGHTS);
}

/* ---- config.json and metadata.json ---- */

/* Keras gives the bytes of these members to json.loads, which skips a byte-order mark in bytes, though not in a str. */
static const char *after_mark(const char *text, size_t *length)
{
    if (*length < 3 || memcmp(text, "\xef\xbb\xbf", 3) != 0) return text;
    *length -= 3;
    return text + 3;
}

static void add_config(struct sp_zip *zip, struct shapeproof_inventory *inventory)
{
    const size_t index = sp_zip_find(zip, "config.json");
    struct shapeproof_error error = {0};
    size_t length = 0;
    if (index == SIZE_MAX) {
        sp_inventory_warn(inventory, "no config.json in the archive");
        return;
    }
    char *text = sp_zip_read(zip, index, SP_H5_MAX_JSON, &length, &error);
    if (!text) sp_inventory_warn(inventory, "config.json is not read: %s", error.message);
    else if (memchr(text, '\0', length) || sp_utf8_check(text, length) != length)
        sp_inventory_warn(inventory, "config.json is not read: it is not UTF-8 text");
    else {
        const char *json = after_mark(text, &length);
        sp_inventory_add_metadata(inventory, "model_config", json);
        sp_inventory_judge_keras(inventory, json, length);
    }
    sp_free(text);
}

static void add_string(struct shapeproof_inventory *inventory, struct shapeproof_value object, const char *key)
{
    const struct shapeproof_value item = sp_value_member(object, key);
    if (item.type == SHAPEPROOF_VALUE_STRING) sp_inventory_add_metadata(inventory, key, item.string);
}

/* The object that a member of the archive holds; false when it holds something else. */
static bool parse_object(struct sp_arena *arena, const char *text, size_t length, struct shapeproof_value *object)
{
    struct shapeproof_error ignored = {0};
    const char *json = text ? after_mark(text, &length) : NULL;
    return json && sp_value_parse_json(arena, json, length, object, &ignored) &&
           object->type == SHAPEPROOF_VALUE_OBJECT;
}

static void add_metadata(struct sp_zip *zip, struct shapeproof_inventory *inventory)
{
    const size_t index = sp_zip_find(zip, "metadata.json");
    struct shapeproof_error error = {0};
    size_t length = 0;
    if (index == SIZE_MAX) return;
    char *text = sp_zip_read(zip, index, MAX_METADATA, &length, &error);
    struct sp_arena arena = {0};
    struct shapeproof_value object;
    if (parse_object(&arena, text, length, &object)) {
        add_string(inventory, object, "keras_version");
        add_string(inventory, object, "date_saved");
    } else sp_inventory_warn(inventory, "metadata.json is not read: it is no small JSON object");
    sp_arena_free(&arena);
    sp_free(text);
}

/* ---- the weights ---- */

/* A stored member is an HDF5 file at an offset of this one. */
static bool index_stored(struct sp_zip *zip, size_t index, size_t part, const struct sp_file *file, uint32_t file_index,
                         struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const struct sp_zip_entry *entry = sp_zip_entry(zip, index);
    uint64_t begin;
    if (!sp_zip_data_offset(zip, index, &begin, error)) return false;
    if (!sp_file_need(file, begin, entry->size, error)) return false; /* the child has the descriptor alone */
    struct sp_h5_source source = {
        .fd = file->fd, .base = file->base + begin, .origin = file->base, .size = entry->size, .part = part};
    return sp_h5_index(&source, file_index, inventory, error);
}

/* A deflated one has to be inflated, weights and all, since HDF5 needs to seek in it. */
static bool index_deflated(struct sp_zip *zip, size_t index, size_t part, uint32_t file_index,
                           struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    size_t length = 0;
    char *bytes = sp_zip_read(zip, index, MAX_INFLATED, &length, error);
    if (!bytes) return false;
    struct sp_h5_source source = {.fd = -1, .memory = (const unsigned char *)bytes, .size = length, .part = part};
    const bool ok = sp_h5_index(&source, file_index, inventory, error);
    sp_free(bytes);
    return ok;
}

/* Reads the HDF5 file that the member is. `part`: which of several shards it is, from 0. */
static bool index_weights(struct sp_zip *zip, size_t index, size_t part, const struct sp_file *file,
                          uint32_t file_index, struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const struct sp_zip_entry *entry = sp_zip_entry(zip, index);
    if (!sp_zip_check_method(entry, error)) return false;
    const bool ok = entry->method == STORED ? index_stored(zip, index, part, file, file_index, inventory, error)
                                            : index_deflated(zip, index, part, file_index, inventory, error);
    if (!ok) sp_error_prefix(error, entry->name);
    return ok;
}

/* ---- weights in shards ---- */

struct zipped_shards {
    struct sp_map names; /* name of a shard -> its number in `list` */
    const char **list;
};

static bool add_zipped_shard(struct zipped_shards *shards, struct shapeproof_value shard,
                             struct shapeproof_error *error)
{
    if (shard.type != SHAPEPROOF_VALUE_STRING) return sp_malformed(error, INDEX ": a shard that is not a string");
    if (shards->names.count == MAX_SHARDS)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, INDEX ": more than %d shards", MAX_SHARDS);
    if (sp_map_add(&shards->names, shard.string, shards->names.count))
        shards->list[shards->names.count - 1] = shard.string;
    return true;
}

/* The shards of a weight map of groups, each once, in the order of their first group. A group has a list of them, or
 * one by itself. */
static bool list_zipped_shards(struct shapeproof_value root, struct zipped_shards *shards,
                               struct shapeproof_error *error)
{
    const struct shapeproof_value map = sp_value_member(root, "weight_map");
    for (size_t i = 0; map.type == SHAPEPROOF_VALUE_OBJECT && i < map.count; i++) {
        const struct shapeproof_value group = map.members[i].value;
        if (group.type != SHAPEPROOF_VALUE_LIST && !add_zipped_shard(shards, group, error)) return false;
        for (size_t k = 0; group.type == SHAPEPROOF_VALUE_LIST && k < group.count; k++)
            if (!add_zipped_shard(shards, group.items[k], error)) return false;
    }
    return shards->names.count || sp_malformed(error, INDEX ": names no shard");
}

/* Reads the shards of a .keras archive that its index names. Absent ones are warnings; none at all is an error. */
static bool index_zipped_shards(struct sp_zip *zip, struct shapeproof_value root, const struct sp_file *file,
                                uint32_t file_index, struct shapeproof_inventory *inventory,
                                struct shapeproof_error *error)
{
    struct zipped_shards shards = {.list = sp_realloc(NULL, MAX_SHARDS, sizeof *shards.list)};
    size_t read = 0;
    bool ok = list_zipped_shards(root, &shards, error);
    for (size_t i = 0; ok && i < shards.names.count; i++) {
        const char *name = shards.list[i];
        const size_t index = sp_zip_find(zip, name);
        if (index != SIZE_MAX) {
            ok = index_weights(zip, index, i, file, file_index, inventory, error);
            read++;
            continue;
        }
        sp_inventory_warn(inventory, "shard %s, which " INDEX " names, is not in the archive", sp_quote(name).text);
        sp_inventory_promise_shard(inventory, name);
    }
    if (ok && !read) ok = sp_malformed(error, "none of the shards that " INDEX " names is in the archive");
    sp_map_free(&shards.names);
    sp_free(shards.list);
    return ok;
}

static bool index_sharded(struct sp_zip *zip, size_t index, const struct sp_file *file, uint32_t file_index,
                          struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    size_t length = 0;
    char *text = sp_zip_read(zip, index, SP_H5_MAX_JSON, &length, error);
    if (!text) return false;
    struct sp_arena arena = {0};
    struct shapeproof_value root;
    const bool ok = parse_object(&arena, text, length, &root)
                        ? index_zipped_shards(zip, root, file, file_index, inventory, error)
                        : sp_malformed(error, INDEX " is no JSON object");
    sp_arena_free(&arena);
    sp_free(text);
    return ok;
}

/* ---- weights in a .npz file ---- */

/* What the store of a layer is called in a pickle: an array without dimensions of a list of one dictionary, which is
 * the fifth item of its state, and in that "0", "1" and so on, the values of objects. */
#define STORE "4.0."

/* "layers/dense:4.0.1._value" -> "layers/dense/vars/1", as it is called in an HDF5 file; NULL when it is no such name,
 * or there already. Of a variable there may be several parts, and then only the first is it. */
static const char *variable_of_object(struct sp_arena *arena, struct sp_map *names, const char *name, size_t layer)
{
    const char *key = name + layer + 1;
    if (strncmp(key, STORE, strlen(STORE)) != 0) return NULL;
    key += strlen(STORE);
    const size_t digits = strspn(key, "0123456789");
    const size_t length = digits && key[digits] == '.' ? digits : strlen(key);
    const bool named = layer >= 5 && memcmp(name + layer - 5, "/vars", 5) == 0; /* before Keras 3.9 */
    const char *own = sp_arena_printf(arena, "%.*s%s/%.*s", (int)layer, name, named ? "" : "/vars", (int)length, key);
    return sp_map_add(names, own, 0) ? own : NULL;
}

/* Where the pickle of an array of objects begins in its member, behind the header: 93 "NUMPY", the version in two
 * bytes, and how long the rest of the header is, in two bytes or, since version 2, in four. */
static bool find_pickle(struct sp_zip *arrays, const char *member, const char *name, struct sp_file *pickle,
                        struct shapeproof_error *why)
{
    enum { VERSION_AT = 6, LENGTH_AT = 8 };
    unsigned char head[12];
    uint64_t begin;
    const size_t index = sp_zip_find(arrays, member);
    if (index == SIZE_MAX || sp_zip_entry(arrays, index)->method != STORED)
        return sp_fail(why, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                       "the weights of a layer in a pickle that is deflated");
    if (sp_zip_entry(arrays, index)->size < sizeof head) return sp_malformed(why, "ends within its header");
    if (!sp_zip_data_offset(arrays, index, &begin, why) || !sp_zip_read_head(arrays, index, head, sizeof head, why))
        return false;
    uint64_t length = head[LENGTH_AT] + ((uint64_t)head[LENGTH_AT + 1] << 8) + LENGTH_AT + 2;
    if (head[VERSION_AT] > 1)
        length += ((uint64_t)head[LENGTH_AT + 2] << 16) + ((uint64_t)head[LENGTH_AT + 3] << 24) + 2;
    if (length > sp_zip_entry(arrays, index)->size) return sp_malformed(why, "ends within its header");
    pickle->path = name;
    pickle->base += begin + length;
    pickle->size = sp_zip_entry(arrays, index)->size - length;
    return true;
}

/* The weights of one layer. */
static bool index_objects(struct sp_zip *arrays, const struct sp_file *npz, const char *name, uint32_t file_index,
                          const struct sp_file *file, struct shapeproof_inventory *inventory,
                          struct shapeproof_error *why)
{
    struct sp_file pickle = *npz;
    const size_t first = inventory->count, layer = strlen(name);
    struct sp_map names = {0};
    if (!find_pickle(arrays, sp_arena_printf(&inventory->arena, "%s.npy", name), name, &pickle, why)) return false;
    const char *prefix = sp_arena_printf(&inventory->arena, "%s:", name);
    const bool ok = sp_nested_index(file, &pickle, prefix, file_index, inventory, why);
    for (size_t i = first; ok && i < inventory->count; i++) {
        struct shapeproof_tensor *tensor = &inventory->tensors[i];
        const char *own = variable_of_object(&inventory->arena, &names, tensor->name, layer);
        if (own) tensor->name = own;
        if (strncmp(name, "optimizer", 9) == 0) tensor->flags |= SHAPEPROOF_TENSOR_STATE;
    }
    sp_map_free(&names);
    return ok;
}

/* The arrays as a file: a range of the archive. NULL when the member is deflated: then nothing in it has a place. */
static struct sp_zip *open_arrays(struct sp_zip *zip, size_t index, const struct sp_file *file, struct sp_file *npz)
{
    const struct sp_zip_entry *entry = sp_zip_entry(zip, index);
    struct shapeproof_error error = {0};
    uint64_t begin;
    if (entry->method != STORED || !sp_zip_data_offset(zip, index, &begin, &error)) return NULL;
    *npz = *file;
    npz->path = entry->name;
    npz->base += begin;
    npz->size = entry->size;
    return sp_zip_open(npz, &error);
}

/* An array of dtype object stands for a layer: the weights of the layer are in its pickle. Replaces each such array, of
 * those that are listed from `first` on, by the tensors in it; other arrays stay. "layers/dense" becomes
 * "layers/dense/vars/0" and "layers/dense/vars/1". Without `arrays`, when these are deflated, the layers are noted as
 * unread. */
static bool unpack_objects(struct sp_zip *arrays, const struct sp_file *npz, const struct sp_file *file,
                           uint32_t file_index, size_t first, struct shapeproof_inventory *inventory,
                           struct shapeproof_error *error)
{
    const size_t count = inventory->count - first;
    struct shapeproof_tensor *listed = sp_realloc(NULL, count + 1, sizeof *listed);
    bool ok = true;
    if (count) memcpy(listed, inventory->tensors + first, count * sizeof *listed);
    inventory->count = first;
    for (size_t i = 0; ok && i < count; i++) {
        const size_t before = inventory->count;
        struct shapeproof_error why = {0};
        if (strcmp(listed[i].dtype_name, "object") != 0) {
            struct shapeproof_tensor *kept = sp_inventory_add(inventory, error);
            if (kept) *kept = listed[i];
            ok = kept != NULL;
        } else if (!arrays) {
            sp_fail(&why, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                    "the weights of a layer in a pickle that is deflated");
        } else if (!index_objects(arrays, npz, listed[i].name, file_index, file, inventory, &why)) {
            inventory->count = before;
        }
        if (why.status) ok = sp_inventory_unread(inventory, listed[i].name, &why, error);
    }
    sp_free(listed);
    return ok;
}

/* What was said of pickles when they were taken for arrays, or alone. */
static void forget_moot_warnings(struct shapeproof_inventory *inventory, size_t first)
{
    static const char *const moot[] = {"arrays of Python objects: ", "a pickle without a tensor "};
    size_t kept = first;
    for (size_t i = first; i < inventory->warning_count; i++) {
        bool is_moot = false;
        for (size_t k = 0; k < sizeof moot / sizeof *moot; k++)
            is_moot = is_moot || strncmp(inventory->warnings[i], moot[k], strlen(moot[k])) == 0;
        if (!is_moot) inventory->warnings[kept++] = inventory->warnings[i];
    }
    inventory->warning_count = kept;
}

static bool index_arrays(struct sp_zip *zip, size_t index, const struct sp_file *file, uint32_t file_index,
                         struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const size_t first = inventory->count, warnings = inventory->warning_count;
    struct sp_file npz;
    if (!sp_bundle_index_member(zip, index, file, file_index, inventory, error)) return false;
    struct sp_zip *arrays = open_arrays(zip, index, file, &npz);
    const bool ok = unpack_objects(arrays, &npz, file, file_index, first, inventory, error);
    if (arrays) forget_moot_warnings(inventory, warnings);
    sp_zip_close(arrays);
    return ok;
}

/* A deflated HDF5 file is data of tensors as a whole; one that is stored has claimed its own. */
static void claim_members(struct sp_zip *zip, uint32_t file_index, struct shapeproof_inventory *inventory)
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
                        struct shapeproof_inventory *inventory, struct shapeproof_error *error)
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
    inventory->format = &keras_zip_format;
    return true;
}
