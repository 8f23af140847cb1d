/* SPDX-License-Identifier: MIT
 * Persistent ids to storages. An id is
 *   ('storage', class, key, location, count)                 in zip archives
 *   ('storage', class, key, location, count, view or None)   in legacy streams, view = (view key, offset, size)
 * with counts in elements of the class, in bytes when it is untyped. Two ids with one key are one storage. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/names.h"
#include "read/torch/torch.h"

enum { VIEW_ITEM = 5 };

bool sp_torch_is_storage(const struct sp_pickle_value *value)
{
    return sp_pickle_is(value, SP_PICKLE_PERSID) && sp_pickle_is_text(sp_pickle_item(value->as.id, 0), "storage");
}

static bool is_element_count(const struct sp_pickle_value *value)
{
    return sp_pickle_is(value, SP_PICKLE_INT) && value->as.integer >= 0;
}

/* The key of a storage: a short string, or the number that torch.package gives it. */
static bool is_storage_key(const struct sp_pickle_value *key)
{
    if (sp_pickle_is(key, SP_PICKLE_INT)) return key->as.integer >= 0;
    return sp_pickle_is(key, SP_PICKLE_STR) && key->length <= SP_TORCH_MAX_KEY && !memchr(key->as.text, 0, key->length);
}

static void spell_key(const struct sp_torch *torch, const struct sp_pickle_value *key, char *text, size_t room)
{
    if (key->type == SP_PICKLE_INT) snprintf(text, room, "%s%" PRId64, torch->key_prefix, key->as.integer);
    else snprintf(text, room, "%s%.*s", torch->key_prefix, (int)key->length, key->as.text);
}

bool sp_torch_check_id_length(const struct sp_torch *torch, const struct sp_pickle_value *id,
                              struct shapeproof_error *error)
{
    const bool in_stream = torch->in_stream || *torch->key_prefix; /* also of a stream within a zip archive */
    const unsigned expected = in_stream ? VIEW_ITEM + 1 : VIEW_ITEM;
    return id->length == expected || sp_malformed(error, "a storage id of %u items, expected %u", id->length, expected);
}

static bool check_id(const struct sp_torch *torch, const struct sp_pickle_value *id, struct shapeproof_error *error)
{
    const struct sp_pickle_value *key = sp_pickle_item(id, 2), *count = sp_pickle_item(id, 4);
    if (!sp_pickle_is(id, SP_PICKLE_TUPLE) || !sp_pickle_is_text(sp_pickle_item(id, 0), "storage"))
        return sp_malformed(error, "a persistent id that does not name a storage");
    if (!sp_torch_check_id_length(torch, id, error)) return false;
    if (!is_storage_key(key)) return sp_malformed(error, "a storage whose key is not a short string");
    if (is_element_count(count)) return true;
    char text[SP_TORCH_MAX_KEY + 64];
    spell_key(torch, key, text, sizeof text);
    return sp_malformed(error, "storage '%s': its count is not a non-negative integer", text);
}

static struct sp_torch_storage *add_storage(struct sp_torch *torch, const struct sp_torch_storage *storage)
{
    struct sp_torch_storage *kept = sp_arena_alloc(&torch->arena, sizeof *kept);
    *kept = *storage;
    kept->index = (uint32_t)torch->storage_count;
    SP_GROW(torch->storages, torch->storage_count, torch->storage_capacity);
    return torch->storages[torch->storage_count++] = kept;
}

/* Class, count and bytes from an id that check_id has passed. */
static bool describe_storage(const struct sp_pickle_value *id, struct sp_torch_storage *storage,
                             struct shapeproof_error *error)
{
    const struct sp_pickle_value *class = sp_pickle_item(id, 1);
    if (!sp_torch_storage_class(class, &storage->dtype, &storage->element_size, &storage->untyped))
        return sp_malformed(error, "storage '%s': its class is not a name", storage->key);
    storage->dtype_name =
        storage->dtype ? shapeproof_dtype_name(storage->dtype) : strrchr(sp_pickle_name(class), '.') + 1;
    storage->meta = sp_pickle_is_text(sp_pickle_item(id, 3), "meta");
    storage->count = (uint64_t)sp_pickle_item(id, 4)->as.integer;
    if (!sp_mul_u64(storage->count, storage->element_size, &storage->bytes))
        return sp_malformed(error, "storage '%s': %" PRIu64 " elements overflow 64 bits", storage->key, storage->count);
    return true;
}

struct sp_torch_storage *sp_torch_add_root(struct sp_torch *torch, const struct sp_torch_storage *described,
                                           struct shapeproof_error *error)
{
    struct sp_torch_storage storage = *described;
    storage.key = sp_arena_string(&torch->inventory->arena, described->key);
    storage.dtype_name = sp_arena_string(&torch->inventory->arena, described->dtype_name);
    const bool elsewhere = storage.meta || *torch->key_prefix; /* a nested stream brings its storages along */
    if (torch->locate && !elsewhere && !torch->locate(torch, &storage, error)) return NULL;
    struct sp_torch_storage *kept = add_storage(torch, &storage);
    kept->root = kept;
    sp_map_add(&torch->storage_keys, kept->key, torch->storage_count - 1);
    return kept;
}

/* Whether torch without extensions knows the location: "cpu", "meta", "mps" with anything behind it, or another device,
 * which may have a number, as "cuda:1". */
static bool is_known_location(const char *text, size_t length)
{
    static const char *const devices[] = {"cuda", "privateuseone", "hpu", "xpu", "mtia"};
    if (SP_IS(text, length, "cpu") || SP_IS(text, length, "meta")) return true;
    if (length >= 3 && memcmp(text, "mps", 3) == 0) return true;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        size_t at = strlen(devices[i]);
        if (length < at || memcmp(text, devices[i], at) != 0) continue;
        if (length == at) return true;
        if (text[at++] != ':' || at == length) continue;
        while (at < length && sp_is_digit(text[at])) at++;
        if (at == length) return true;
    }
    return false;
}

/* Warns once if torch cannot tell where to put a storage. */
static void judge_location(struct sp_torch *torch, const struct sp_pickle_value *location, const char *storage)
{
    if (torch->odd_location) return;
    const bool is_text = sp_pickle_is(location, SP_PICKLE_STR) || sp_pickle_is(location, SP_PICKLE_BYTES);
    if (is_text && is_known_location(location->as.text, location->length)) return;
    torch->odd_location = true;
    if (is_text)
        sp_inventory_warn(torch->inventory,
                          "torch refuses storage '%s' without a map_location: it knows no location %s", storage,
                          sp_quote(sp_arena_copy(&torch->arena, location->as.text, location->length)).text);
    else
        sp_inventory_warn(torch->inventory,
                          "torch refuses storage '%s' without a map_location: its location is no text", storage);
}

static struct sp_torch_storage *find_root(struct sp_torch *torch, const struct sp_pickle_value *id,
                                          struct shapeproof_error *error)
{
    const struct sp_pickle_value *key = sp_pickle_item(id, 2);
    char text[SP_TORCH_MAX_KEY + 64];
    struct sp_torch_storage described = {.key = text};
    spell_key(torch, key, text, sizeof text);
    const size_t known = sp_map_get(&torch->storage_keys, text);
    if (!describe_storage(id, &described, error)) return NULL;
    if (described.untyped && (torch->in_stream || *torch->key_prefix)) {
        sp_malformed(error, "storage '%s' is untyped, which torch refuses in the format of torch before 1.6", text);
        return NULL;
    }
    judge_location(torch, sp_pickle_item(id, 3), text);
    if (known == SIZE_MAX) return sp_torch_add_root(torch, &described, error);
    struct sp_torch_storage *root = torch->storages[known];
    if ((root->count != described.count || root->dtype != described.dtype) && !torch->contradicted) {
        torch->contradicted = true; /* say it once */
        sp_inventory_warn(torch->inventory, "storage '%s' is declared twice, as %" PRIu64 " x %s and %" PRIu64 " x %s",
                          root->key, root->count, root->dtype_name, described.count, described.dtype_name);
    }
    return root;
}

/* The storage of a persistent id with a view (key, first element, size): its root, entered at the first element and
 * left before the end. Without a view, None, that is the root itself. NULL with an error. */
static struct sp_torch_storage *find_view(struct sp_torch *torch, struct sp_torch_storage *root,
                                          const struct sp_pickle_value *view, struct shapeproof_error *error)
{
    const struct sp_pickle_value *first = sp_pickle_item(view, 1), *size = sp_pickle_item(view, 2);
    struct sp_torch_storage storage = *root;
    uint64_t end = 0;
    if (sp_pickle_is(view, SP_PICKLE_NONE)) return root;
    if (!is_element_count(first) || !is_element_count(size)) {
        sp_malformed(error, "storage '%s': its view is not (key, offset, size)", root->key);
        return NULL;
    }
    if (!sp_add_u64((uint64_t)first->as.integer, (uint64_t)size->as.integer, &end) || end > root->count) {
        sp_malformed(error, "storage '%s': a view of its elements %" PRId64 " to %" PRIu64 ", but it has %" PRIu64,
                     root->key, first->as.integer, end, root->count);
        return NULL;
    }
    storage.first = (uint64_t)first->as.integer;
    storage.bytes = end * root->element_size;
    return add_storage(torch, &storage);
}

bool sp_torch_add_view(struct sp_torch *torch, const char *key, const char *root, uint64_t first, uint64_t size,
                       struct shapeproof_error *error)
{
    const size_t known = sp_map_get(&torch->storage_keys, root);
    uint64_t end = 0;
    if (known == SIZE_MAX) return sp_malformed(error, "storage '%s' is a view of '%s', which is not there", key, root);
    struct sp_torch_storage storage = *torch->storages[known];
    if (!sp_add_u64(first, size, &end) || end > storage.count || !sp_add_u64(first, storage.first, &storage.first))
        return sp_malformed(error,
                            "storage '%s': a view of its elements %" PRIu64 " to %" PRIu64 ", but it has %" PRIu64,
                            root, first, end, storage.count);
    storage.bytes = (storage.first + size) * storage.element_size; /* within those of the root: checked */
    storage.count = size;
    return sp_map_add(&torch->storage_keys, sp_arena_string(&torch->arena, key), add_storage(torch, &storage)->index) ||
           sp_malformed(error, "two storages '%s'", key);
}

struct sp_torch_storage *sp_torch_storage(struct sp_torch *torch, struct sp_pickle_value *persid,
                                          struct shapeproof_error *error)
{
    if (persid->tag) return torch->storages[persid->tag - 1];
    const struct sp_pickle_value *id = persid->as.id;
    if (!check_id(torch, id, error)) return NULL;
    if (torch->arena.used / 2 > SP_PICKLE_MAX_MEMORY) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "too many storages: %zu", torch->storage_count);
        return NULL;
    }
    struct sp_torch_storage *storage = find_root(torch, id, error);
    if (storage && id->length > VIEW_ITEM) storage = find_view(torch, storage, id->as.items[VIEW_ITEM], error);
    if (!storage) return NULL;
    persid->tag = storage->index + 1;
    return storage;
}

void sp_torch_claim_storages(const struct sp_torch *torch)
{
    for (size_t i = 0; i < torch->storage_count; i++) {
        const struct sp_torch_storage *storage = torch->storages[i];
        const uint64_t end = storage->data_begin + storage->bytes;
        if (storage->root != storage || !storage->data_begin) continue;
        if (storage->parts) sp_inventory_claim(torch->inventory, torch->file, storage->data_begin, end, SP_USE_TENSOR);
        else
            sp_inventory_claim_storage(torch->inventory, torch->file, storage->data_begin, end, storage->key,
                                       storage->key, false);
    }
}

void sp_torch_free(struct sp_torch *torch)
{
    sp_free(torch->storages);
    sp_free(torch->nested);
    sp_free(torch->saved.items);
    sp_map_free(&torch->saved_keys);
    sp_map_free(&torch->storage_keys);
    sp_arena_free(&torch->arena);
}
