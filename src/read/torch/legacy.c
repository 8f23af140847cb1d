/* SPDX-License-Identifier: MIT
 * The stream that torch.save wrote before 1.6, and on request still does: five pickles, one after another,
 *   1 a magic number   2 the protocol version, 1001   3 a dict about the writing system
 *   4 the object, storages as persistent ids          5 a list of storage keys
 * and for each key, in that order, an int64 with the number of elements and then their bytes.
 * Only the pickles and the counts are read. The same stream, as bytes in memory, is what
 * torch.storage._load_from_bytes takes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cursor.h"
#include "model/format.h"
#include "read/reader.h"
#include "read/torch/torch.h"

static const struct sp_format torch_legacy_format = {"torch-legacy", SP_BY_TORCH | SP_IN_ORDER};

enum { COUNT_BYTES = 8 }; /* in front of each storage */
enum { PROTOCOL = 1001, PICKLES = 5, FIRST_WINDOW = 256 << 10, MAX_WINDOW = 512 << 20, MAX_NESTING = 2 };

/* The magic number as LONG1, and as the LONG of protocols 0 and 1; in front of it protocols from 2 on have PROTO, and
 * those from 4 on FRAME. */
static const unsigned char MAGIC[] = {0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
static const char MAGIC_TEXT[] = "L119547037146038801333356L\n";
/* What messages call the pickles. */
static const char *const names[PICKLES] = {"magic number", "protocol version", "system information", "object",
                                           "storage keys"};
enum { PROTO_SIZE = 2, FRAME_SIZE = 9 };

/* The beginning of a stream in memory; the rest of it may be in a file. */
struct stream {
    const struct sp_file *file; /* NULL: everything is in memory */
    const char *bytes;
    size_t length;
    uint64_t size;  /* of the whole stream */
    bool placed;    /* it lies in the file as it is; otherwise its storages have no place there */
    uint64_t begin; /* where, when it is placed */
    struct sp_pickle pickles[PICKLES];
    uint64_t end; /* of the last pickle: where the storages begin */
};

/* ---- the five pickles ---- */

/* How many bytes of the head are the magic number; 0 when it is another file. */
static size_t magic_length(const unsigned char *head, size_t length)
{
    size_t at = 0;
    if (length > PROTO_SIZE && head[0] == 0x80 && head[1] <= 5) at = PROTO_SIZE;
    if (length > at + FRAME_SIZE && head[at] == 0x95) at += FRAME_SIZE;
    if (length - at >= sizeof MAGIC && !memcmp(head + at, MAGIC, sizeof MAGIC)) return sizeof MAGIC;
    if (length - at < sizeof MAGIC_TEXT - 1 || memcmp(head + at, MAGIC_TEXT, sizeof MAGIC_TEXT - 1)) return 0;
    return sizeof MAGIC_TEXT - 1;
}

static bool begins_with_magic(const char *bytes, size_t length)
{
    return magic_length((const unsigned char *)bytes, length) > 0;
}

/* *truncated is set when more bytes might help. */
static bool read_pickles(struct stream *stream, struct sp_arena *arena, bool *truncated, struct shapeproof_error *error)
{
    size_t at = 0;
    for (size_t i = 0; i < PICKLES; i++) {
        struct sp_pickle *pickle = &stream->pickles[i];
        if (!sp_pickle_read(pickle, arena, names[i], stream->bytes + at, stream->length - at, error)) {
            *truncated = pickle->truncated && stream->length < stream->size;
            return false;
        }
        at += pickle->end;
    }
    stream->end = at;
    return true;
}

static bool check_pickles(const struct stream *stream, struct shapeproof_error *error)
{
    const struct sp_pickle_value *version = stream->pickles[1].root;
    if (!sp_pickle_is(version, SP_PICKLE_INT) || version->as.integer != PROTOCOL)
        return sp_malformed(error, "the protocol version is not %d", PROTOCOL);
    if (!sp_pickle_is(stream->pickles[4].root, SP_PICKLE_LIST))
        return sp_malformed(error, "the storage keys are not a list");
    return true;
}

/* Reads more and more of the file until the five pickles are in. */
static char *read_window(struct stream *stream, struct sp_arena *arena, struct shapeproof_error *error)
{
    char *bytes = NULL;
    bool truncated = true;
    for (size_t window = FIRST_WINDOW; truncated; window *= 2) {
        struct shapeproof_error attempt = {0};
        sp_arena_free(arena);
        if (window > MAX_WINDOW) {
            sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "the pickles are longer than %d bytes",
                    MAX_WINDOW);
            break;
        }
        stream->length = window < stream->size ? window : (size_t)stream->size;
        stream->bytes = bytes = sp_realloc(bytes, stream->length, 1);
        if (!sp_file_read(stream->file, 0, bytes, stream->length, error)) break;
        truncated = false;
        if (read_pickles(stream, arena, &truncated, &attempt)) return bytes;
        if (!truncated) *error = attempt;
    }
    sp_free(bytes);
    return NULL;
}

/* ---- the storages ---- */

static bool read_count(const struct stream *stream, uint64_t at, uint64_t *count, struct shapeproof_error *error)
{
    unsigned char raw[COUNT_BYTES];
    if (at > stream->size || stream->size - at < sizeof raw)
        return sp_malformed(error, "ends at byte %" PRIu64 ", before the storages are complete", stream->size);
    if (!stream->file) memcpy(raw, stream->bytes + at, sizeof raw);
    else if (!sp_file_read(stream->file, at, raw, sizeof raw, error)) return false;
    struct sp_cursor cursor = sp_cursor_of(raw, sizeof raw);
    *count = sp_cursor_le(&cursor, COUNT_BYTES);
    return true;
}

static struct sp_torch_storage *find_key(struct sp_torch *torch, const struct sp_pickle_value *key,
                                         struct shapeproof_error *error)
{
    if (!sp_pickle_is(key, SP_PICKLE_STR) || key->length > SP_TORCH_MAX_KEY || memchr(key->as.text, 0, key->length)) {
        sp_malformed(error, "a storage key is not a short string");
        return NULL;
    }
    char *name = sp_arena_printf(&torch->arena, "%s%.*s", torch->key_prefix, (int)key->length, key->as.text);
    const size_t known = sp_map_get(&torch->storage_keys, name);
    if (known == SIZE_MAX) {
        sp_malformed(error, "storage key '%s' does not occur in the object", name);
        return NULL;
    }
    if (torch->storages[known]->located) sp_malformed(error, "storage key '%s' is listed twice", name);
    return error->status ? NULL : torch->storages[known];
}

/* Sets where the storage at *at lies, and moves *at on to the next. Its count is compared with that of its id. */
static bool place_storage(const struct stream *stream, struct sp_torch_storage *storage, uint64_t *at,
                          struct shapeproof_error *error)
{
    uint64_t count = 0;
    if (!storage->element_size)
        return sp_malformed(error, "storage '%s' is of unknown class %s: what follows cannot be found", storage->key,
                            storage->dtype_name);
    if (!read_count(stream, *at, &count, error)) return false;
    if (count != storage->count)
        return sp_malformed(error, "storage '%s' at byte %" PRIu64 " has %" PRId64 " elements, its id says %" PRIu64,
                            storage->key, *at, (int64_t)count, storage->count);
    *at += COUNT_BYTES; /* which read_count has found to be there */
    if (storage->bytes > stream->size - *at)
        return sp_malformed(error, "storage '%s' of %" PRIu64 " bytes at byte %" PRIu64 " passes the end at %" PRIu64,
                            storage->key, storage->bytes, *at, stream->size);
    storage->located = true;
    if (stream->placed) storage->data_begin = stream->begin + *at;
    *at += storage->bytes;
    return true;
}

static bool place_storages(struct sp_torch *torch, const struct stream *stream, struct shapeproof_error *error)
{
    const struct sp_pickle_value *keys = stream->pickles[4].root;
    uint64_t at = stream->end;
    for (uint32_t i = 0; i < keys->length; i++) {
        struct sp_torch_storage *storage = find_key(torch, keys->as.items[i], error);
        if (!storage || !place_storage(stream, storage, &at, error)) return false;
    }
    if (at < stream->size)
        sp_inventory_warn(torch->inventory, "%" PRIu64 " bytes after the last storage", stream->size - at);
    return true;
}

/* Every storage of the object must be in the list of keys, whether or not a listed tensor uses it. */
static bool resolve(struct sp_torch *torch, const struct stream *stream, struct shapeproof_error *error)
{
    const struct sp_pickle *object = &stream->pickles[3];
    const size_t first = torch->storage_count;
    for (size_t i = 0; i < object->persid_count; i++)
        if (sp_torch_is_storage(object->persids[i]) && !sp_torch_storage(torch, object->persids[i], error))
            return false;
    if (!place_storages(torch, stream, error)) return false;
    for (size_t i = first; i < torch->storage_count; i++)
        if (!torch->storages[i]->root->located)
            return sp_malformed(error, "storage '%s' is not in the list of storage keys", torch->storages[i]->key);
    return true;
}

/* ---- a stream in memory ---- */

static struct sp_pickle_value *read_nested(struct sp_torch *torch, struct stream *stream,
                                           struct shapeproof_error *error)
{
    const char *outer = torch->key_prefix;
    bool truncated;
    torch->key_prefix = sp_arena_printf(&torch->arena, "stream %zu:", ++torch->streams);
    torch->nesting++;
    const bool ok = read_pickles(stream, &torch->arena, &truncated, error) && check_pickles(stream, error) &&
                    resolve(torch, stream, error);
    torch->key_prefix = outer;
    for (size_t i = 0; ok && i < PICKLES; i++) sp_torch_judge(torch, &stream->pickles[i], names[i]);
    torch->nesting--;
    return ok ? stream->pickles[3].root : NULL;
}

struct sp_pickle_value *sp_torch_load_from_bytes(struct sp_torch *torch, struct sp_pickle_value *call,
                                                 struct shapeproof_error *error)
{
    struct stream stream = {0};
    if (!sp_pickle_is(call, SP_PICKLE_OBJECT)) return NULL; /* its name, not called */
    if (call->tag) return torch->nested[call->tag - 1];     /* read before */
    if (torch->nesting >= MAX_NESTING || torch->arena.used > SP_PICKLE_MAX_MEMORY) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "streams nested deeper than %d, or too many of them",
                MAX_NESTING);
        return NULL;
    }
    if (!sp_torch_bytes(torch, sp_pickle_arg(call, 0), &stream.bytes, &stream.length)) return NULL;
    if (!begins_with_magic(stream.bytes, stream.length)) return NULL;
    stream.size = stream.length;
    /* Bytes that lie in the pickle itself, and were not decoded from a text, have a place in the file. */
    stream.placed = torch->bytes && stream.bytes >= torch->bytes && stream.bytes < torch->bytes + torch->length;
    if (stream.placed) stream.begin = (uint64_t)(stream.bytes - torch->bytes);
    struct sp_pickle_value *root = read_nested(torch, &stream, error);
    if (!root) return NULL;
    SP_GROW(torch->nested, torch->nested_count, torch->nested_capacity);
    torch->nested[torch->nested_count++] = root;
    call->tag = (uint32_t)torch->nested_count;
    return root;
}

/* ---- a file, without listing its tensors ---- */

struct sp_pickle_value *sp_torch_legacy_read(struct sp_torch *torch, const struct sp_file *file, char **bytes,
                                             struct shapeproof_error *error)
{
    unsigned char head[PROTO_SIZE + FRAME_SIZE + sizeof MAGIC_TEXT];
    const size_t length = file->size < sizeof head ? (size_t)file->size : sizeof head;
    struct stream stream = {.file = file, .size = file->size, .placed = true};
    if (!sp_file_read(file, 0, head, length, error)) return NULL;
    if (!magic_length(head, length)) {
        sp_malformed(error, "not a file of torch.save");
        return NULL;
    }
    torch->in_stream = true;
    *bytes = read_window(&stream, &torch->arena, error);
    const bool ok = *bytes && check_pickles(&stream, error) && resolve(torch, &stream, error);
    return ok ? stream.pickles[3].root : NULL;
}

/* ---- the reader ---- */

static unsigned probe_legacy(const struct sp_probe *probe)
{
    return 8 * (unsigned)magic_length(probe->head, probe->head_length);
}

/* Reads the format before PyTorch 1.6: a stream of pickles (magic number, protocol, sizes of the system, object,
 * keys), then the storages one after another. */
static bool index_legacy(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                         struct shapeproof_error *error)
{
    struct sp_torch torch = {.inventory = inventory, .file = file_index, .key_prefix = "", .in_stream = true};
    struct stream stream = {.file = file, .size = file->size, .placed = true};
    inventory->format = &torch_legacy_format;
    char *bytes = read_window(&stream, &torch.arena, error);
    bool ok = bytes && check_pickles(&stream, error) && resolve(&torch, &stream, error);
    for (size_t i = 0; ok && i < PICKLES; i++) sp_torch_judge(&torch, &stream.pickles[i], names[i]);
    ok = ok && sp_torch_warn_of_tar(&torch, file, error) && sp_torch_walk(&torch, stream.pickles[3].root, error);
    if (ok) {
        sp_inventory_claim(inventory, file_index, 0, stream.end, SP_USE_STRUCTURE);
        for (size_t i = 0; i < torch.storage_count; i++) {
            const uint64_t begin = torch.storages[i]->data_begin; /* 0 of a view, and of a storage within a storage */
            if (begin) sp_inventory_claim(inventory, file_index, begin - COUNT_BYTES, begin, SP_USE_STRUCTURE);
        }
        sp_torch_claim_storages(&torch);
    }
    sp_torch_free(&torch);
    sp_free(bytes);
    return ok;
}

const struct sp_reader sp_reader_torch_legacy = {.name = "torch-legacy", .probe = probe_legacy, .index = index_legacy};
