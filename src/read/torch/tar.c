/* SPDX-License-Identifier: MIT
 * The tar archive that torch.save wrote before 0.2, with the members
 *   storages   the number of storages; for each a pickle (key, location, class), an int64 with the number of its
 *              elements and then these; at last a pickle of views [(key, key of the root, offset, size)]
 *   tensors    the number of tensors; for each a pickle (key, key of the storage, class), then in binary the number of
 *              dimensions and four bytes more, the sizes, the strides, the offset
 *   pickle     the object, in which the keys of tensors and storages are persistent ids
 * A number of tensors or storages is a pickle, too. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/names.h"
#include "model/format.h"
#include "read/reader.h"
#include "read/tar/archive.h"
#include "read/torch/torch.h"

static const struct sp_format torch_tar_format = {"torch-tar", SP_BY_TORCH | SP_IN_ORDER};

enum {
    NAME_SIZE = 100,
    TYPE_AT = 156,
    SUM_AT = 148, /* of the header's bytes, in which the sum itself counts as spaces */
    SUM_SIZE = 8,
    MAX_MEMBER_BYTES = 256 << 20,
    PICKLE_WINDOW = 4096 /* of a storage */,
    MAX_SAVED = 100 * 1000
};

struct tar {
    struct sp_torch *torch;
    const struct sp_file *file;
    struct shapeproof_error *error;
    struct sp_tar_member storages, tensors, pickle;
};

/* ---- members ---- */

/* The first member that is one; in front of it there may be its extended header, with times and owners. */
static unsigned probe_tar(const struct sp_probe *probe)
{
    static const char *const members[] = {"sys_info", "pickle", "tensors", "storages"};
    uint64_t at = 0, size;
    while (probe->head_length - at >= SP_TAR_BLOCK) {
        const unsigned char *head = probe->head + at;
        if (!sp_tar_is_header(head)) return 0;
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            if (!strncmp((const char *)head, members[i], NAME_SIZE)) return 8 * (unsigned)(8 + strlen(members[i]));
        const bool extended = head[TYPE_AT] == 'x' || head[TYPE_AT] == 'g';
        if (!extended || !sp_tar_member_size(head, &size) || size > probe->head_length) return 0;
        at += SP_TAR_BLOCK + (size + SP_TAR_BLOCK - 1) / SP_TAR_BLOCK * SP_TAR_BLOCK;
        if (at > probe->head_length) return 0;
    }
    return 0;
}

/* Whether the sum in a block is right for Python's tarfile, which asks for nothing else: bytes with or without a sign,
 * digits to the base of 8, or after 0x80 or 0xff of 256. What is no digit is left out, and NUL ends them. */
static bool sum_is_right(const unsigned char *block)
{
    const unsigned char *text = block + SUM_AT;
    const bool binary = *text == 0x80 || *text == 0xff;
    int64_t plain = SUM_SIZE * ' ', with_sign = SUM_SIZE * ' ', said = 0;
    for (size_t i = 0; i < SP_TAR_BLOCK; i++) {
        if (i >= SUM_AT && i < SUM_AT + SUM_SIZE) continue;
        plain += block[i];
        with_sign += (signed char)block[i];
    }
    for (size_t i = 1; binary && i < SUM_SIZE; i++) said = said * 256 + text[i];
    for (size_t i = 0; !binary && i < SUM_SIZE && text[i]; i++)
        if (text[i] >= '0' && text[i] <= '7') said = said * 8 + (text[i] - '0');
    if (*text == 0xff) said -= (int64_t)1 << 8 * (SUM_SIZE - 1);
    return said == plain || said == with_sign;
}

bool sp_torch_warn_of_tar(struct sp_torch *torch, const struct sp_file *file, struct shapeproof_error *error)
{
    unsigned char block[SP_TAR_BLOCK];
    if (file->size < sizeof block) return true;
    if (!sp_file_read(file, 0, block, sizeof block, error)) return false;
    if (sum_is_right(block))
        sp_inventory_warn(torch->inventory, "torch.load takes it for a tar archive, as it begins with the header of a "
                                            "member: what the archive would run is not known");
    return true;
}

/* Finds the three members of the first PyTorch format: storages, tensors and pickle. */
static bool find_parts(struct tar *tar)
{
    const struct {
        const char *name;
        struct sp_tar_member *part;
    } parts[] = {{"storages", &tar->storages}, {"tensors", &tar->tensors}, {"pickle", &tar->pickle}};
    struct sp_tar archive;
    const bool ok = sp_tar_read(&archive, tar->file, tar->error);
    for (size_t i = 0; ok && i < archive.members.count; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            if (!strcmp(archive.members.items[i].name, parts[k].name)) *parts[k].part = archive.members.items[i];
    for (size_t i = 0; ok && i < archive.members.count; i++)
        if (sp_file_ending_says(archive.members.items[i].name) & SP_IN_ARCHIVES)
            sp_inventory_warn(tar->torch->inventory,
                              "member %s is not read: torch.load reads only 'storages', "
                              "'tensors' and 'pickle'",
                              sp_quote(archive.members.items[i].name).text);
    if (ok) sp_tar_claim(&archive, tar->torch->inventory, tar->torch->file);
    for (size_t i = 0; ok && i < archive.members.count; i++)
        sp_inventory_claim(tar->torch->inventory, tar->torch->file, archive.members.items[i].begin,
                           archive.members.items[i].begin + archive.members.items[i].size, SP_USE_STRUCTURE);
    sp_tar_free(&archive);
    if (!ok) return false;
    return (tar->storages.begin && tar->tensors.begin && tar->pickle.begin) ||
           sp_malformed(tar->error, "a tar archive without the members 'storages', 'tensors' and 'pickle'");
}

static char *read_part(struct tar *tar, const struct sp_tar_member *member, const char *name)
{
    if (member->size > MAX_MEMBER_BYTES) {
        sp_fail(tar->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "member '%s' of %" PRIu64 " bytes, at most %d",
                name, member->size, MAX_MEMBER_BYTES);
        return NULL;
    }
    sp_budget_read(member->size);
    char *bytes = sp_realloc(NULL, (size_t)member->size + 1, 1);
    if (sp_file_read(tar->file, member->begin, bytes, (size_t)member->size, tar->error)) return bytes;
    sp_free(bytes);
    return NULL;
}

/* A key is a number, or its text. */
static bool spell_saved_key(const struct sp_pickle_value *key, char *text, size_t room)
{
    if (sp_pickle_is(key, SP_PICKLE_INT)) snprintf(text, room, "%" PRId64, key->as.integer);
    else if (sp_pickle_is(key, SP_PICKLE_STR) && key->length < room && !memchr(key->as.text, 0, key->length))
        snprintf(text, room, "%.*s", (int)key->length, key->as.text);
    else return false;
    return true;
}

/* ---- storages: their heads are read one after the other, and the data is skipped ---- */

/* The pickle at *at, which moves behind it. What it points to lives as long as the arena. */
static bool read_small_pickle(struct tar *tar, uint64_t *at, uint64_t end, struct sp_pickle *pickle)
{
    const uint64_t left = end - *at;
    const size_t length = left < PICKLE_WINDOW ? (size_t)left : PICKLE_WINDOW;
    char *bytes = sp_arena_alloc(&tar->torch->arena, length + 1);
    if (tar->torch->arena.used > SP_PICKLE_MAX_MEMORY)
        return sp_fail(tar->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "too many storages");
    if (!sp_file_read(tar->file, *at, bytes, length, tar->error) ||
        !sp_torch_read_pickle(tar->torch, pickle, "storages", bytes, length, tar->error))
        return false;
    *at += pickle->end;
    return true;
}

/* Reads one storage: a pickle (key, device, class), the number of elements in 8 bytes, then the data, which are
 * skipped. */
static bool read_storage_head(struct tar *tar, uint64_t *at)
{
    const uint64_t end = tar->storages.begin + tar->storages.size;
    struct sp_torch_storage storage = {0};
    struct sp_pickle pickle;
    char key[SP_TORCH_MAX_KEY];
    unsigned char raw[8];
    if (!read_small_pickle(tar, at, end, &pickle)) return false;
    const struct sp_pickle_value *class = sp_pickle_item(pickle.root, 2);
    if (!spell_saved_key(sp_pickle_item(pickle.root, 0), key, sizeof key) ||
        !sp_torch_storage_class(class, &storage.dtype, &storage.element_size, &storage.untyped) ||
        !storage.element_size)
        return sp_malformed(tar->error, "a storage at byte %" PRIu64 " without a key, or of an unknown class", *at);
    if (end - *at < sizeof raw || !sp_file_read(tar->file, *at, raw, sizeof raw, tar->error))
        return sp_malformed(tar->error, "storage '%s' ends early", key);
    struct sp_cursor cursor = sp_cursor_of(raw, sizeof raw);
    storage.count = sp_cursor_le(&cursor, 8);
    *at += sizeof raw;
    if (!sp_mul_u64(storage.count, storage.element_size, &storage.bytes) || storage.bytes > end - *at)
        return sp_malformed(tar->error,
                            "storage '%s' of %" PRIu64 " elements at byte %" PRIu64 " passes the end at %" PRIu64, key,
                            storage.count, *at, end);
    storage.key = key;
    storage.dtype_name = shapeproof_dtype_name(storage.dtype);
    storage.data_begin = *at;
    *at += storage.bytes;
    return sp_torch_add_root(tar->torch, &storage, tar->error) != NULL;
}

static bool read_tar_view(struct tar *tar, const struct sp_pickle_value *view)
{
    char key[SP_TORCH_MAX_KEY], root[SP_TORCH_MAX_KEY];
    const struct sp_pickle_value *first = sp_pickle_item(view, 2), *size = sp_pickle_item(view, 3);
    if (!spell_saved_key(sp_pickle_item(view, 0), key, sizeof key) ||
        !spell_saved_key(sp_pickle_item(view, 1), root, sizeof root) || !sp_pickle_is(first, SP_PICKLE_INT) ||
        !sp_pickle_is(size, SP_PICKLE_INT) || first->as.integer < 0 || size->as.integer < 0)
        return sp_malformed(tar->error, "a view of a storage is not (key, root, offset, size)");
    return sp_torch_add_view(tar->torch, key, root, (uint64_t)first->as.integer, (uint64_t)size->as.integer,
                             tar->error);
}

static bool read_storages(struct tar *tar)
{
    uint64_t at = tar->storages.begin;
    const uint64_t end = at + tar->storages.size;
    struct sp_pickle pickle;
    if (!read_small_pickle(tar, &at, end, &pickle)) return false;
    if (!sp_pickle_is(pickle.root, SP_PICKLE_INT)) return sp_malformed(tar->error, "no number of storages");
    for (int64_t i = 0; i < pickle.root->as.integer; i++)
        if (!read_storage_head(tar, &at)) return false;
    if (at == end) return true;
    if (!read_small_pickle(tar, &at, end, &pickle)) return false;
    for (uint32_t i = 0; sp_pickle_is(pickle.root, SP_PICKLE_LIST) && i < pickle.root->length; i++)
        if (!read_tar_view(tar, pickle.root->as.items[i])) return false;
    return true;
}

/* ---- tensors ---- */

static bool take_geometry(struct sp_cursor *cursor, struct sp_torch_tensor *tensor, struct shapeproof_error *error)
{
    tensor->rank = (uint32_t)sp_cursor_le(cursor, 4);
    sp_cursor_take(cursor, 4);
    if (!cursor->ok || tensor->rank > SP_MAX_RANK)
        return sp_malformed(error, "%" PRIu32 " dimensions, at most %d", tensor->rank, SP_MAX_RANK);
    for (uint32_t i = 0; i < tensor->rank; i++) tensor->shape[i] = sp_cursor_le(cursor, 8);
    for (uint32_t i = 0; i < tensor->rank; i++) tensor->stride[i] = sp_cursor_le(cursor, 8);
    tensor->offset = sp_cursor_le(cursor, 8);
    tensor->strided = true;
    return cursor->ok || sp_malformed(error, "it ends early");
}

/* Checked as other tensors are, when somebody asks for it: it may be broken alone. */
static void check_saved(struct sp_torch *torch, struct sp_torch_saved *saved, const char *storage)
{
    struct sp_torch_tensor *tensor = &saved->tensor;
    const size_t known = sp_map_get(&torch->storage_keys, storage);
    if (known == SIZE_MAX) {
        sp_malformed(&saved->why, "its storage '%s' is not there", storage);
        return;
    }
    tensor->storage = torch->storages[known];
    tensor->dtype = tensor->storage->dtype;
    tensor->dtype_name = tensor->storage->dtype_name;
    if (!sp_add_u64(tensor->offset, tensor->storage->first, &tensor->offset))
        sp_malformed(&saved->why, "its storage offset overflows 64 bits");
    else if (sp_torch_measure(tensor, &saved->why)) sp_torch_check_extent(tensor, &saved->why);
}

/* Reads one tensor: a pickle (key, key of the storage, class), then rank, sizes, strides and offset in binary. */
static bool read_saved_tensor(struct tar *tar, struct sp_cursor *cursor)
{
    struct sp_torch *torch = tar->torch;
    struct sp_pickle pickle;
    char key[SP_TORCH_MAX_KEY], storage[SP_TORCH_MAX_KEY];
    if (!sp_torch_read_pickle(torch, &pickle, "tensors", cursor->data + cursor->offset, sp_cursor_left(cursor),
                              tar->error))
        return false;
    sp_cursor_take(cursor, pickle.end);
    struct sp_torch_saved saved = {0};
    if (!spell_saved_key(sp_pickle_item(pickle.root, 0), key, sizeof key) ||
        !spell_saved_key(sp_pickle_item(pickle.root, 1), storage, sizeof storage))
        return sp_malformed(tar->error, "a tensor without a key, or without that of its storage");
    if (!take_geometry(cursor, &saved.tensor, tar->error)) return false;
    check_saved(torch, &saved, storage);
    if (!sp_map_add(&torch->saved_keys, sp_arena_string(&torch->arena, key), torch->saved.count))
        return sp_malformed(tar->error, "two tensors '%s'", key);
    *SP_PUSH(&torch->saved) = saved;
    return true;
}

static bool read_saved_tensors(struct tar *tar, const char *bytes)
{
    struct sp_cursor cursor = sp_cursor_of(bytes, (size_t)tar->tensors.size);
    struct sp_pickle pickle;
    if (!sp_torch_read_pickle(tar->torch, &pickle, "tensors", bytes, cursor.length, tar->error)) return false;
    if (!sp_pickle_is(pickle.root, SP_PICKLE_INT)) return sp_malformed(tar->error, "no number of tensors");
    sp_cursor_take(&cursor, pickle.end);
    if (pickle.root->as.integer > MAX_SAVED)
        return sp_fail(tar->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                       "member 'tensors': %" PRId64 " of them, at most %d", pickle.root->as.integer, MAX_SAVED);
    for (int64_t i = 0; i < pickle.root->as.integer; i++)
        if (!read_saved_tensor(tar, &cursor)) return false;
    return true;
}

const struct sp_torch_saved *sp_torch_find_saved(const struct sp_torch *torch, const struct sp_pickle_value *persid)
{
    char key[SP_TORCH_MAX_KEY];
    if (!spell_saved_key(persid->as.id, key, sizeof key)) return NULL;
    const size_t known = sp_map_get(&torch->saved_keys, key);
    return known == SIZE_MAX ? NULL : &torch->saved.items[known];
}

/* ---- the reader ---- */

static bool read_object(struct tar *tar, const char *bytes)
{
    struct sp_pickle pickle;
    return sp_torch_read_pickle(tar->torch, &pickle, "pickle", bytes, (size_t)tar->pickle.size, tar->error) &&
           sp_torch_walk(tar->torch, pickle.root, tar->error);
}

static bool index_tar(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                      struct shapeproof_error *error)
{
    struct sp_torch torch = {.inventory = inventory, .file = file_index, .key_prefix = ""};
    struct tar tar = {.torch = &torch, .file = file, .error = error};
    char *tensors = NULL, *object = NULL;
    inventory->format = &torch_tar_format;
    const bool ok = find_parts(&tar) && (tensors = read_part(&tar, &tar.tensors, "tensors")) &&
                    (object = read_part(&tar, &tar.pickle, "pickle")) && read_storages(&tar) &&
                    read_saved_tensors(&tar, tensors) && read_object(&tar, object);
    if (ok) sp_torch_claim_storages(&torch);
    sp_torch_free(&torch);
    sp_free(tensors);
    sp_free(object);
    return ok;
}

const struct sp_reader sp_reader_torch_tar = {.name = "torch-tar", .probe = probe_tar, .index = index_tar};
