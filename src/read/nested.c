/* SPDX-License-Identifier: MIT */
#include "read/nested.h"

#include <inttypes.h>
#include <string.h>

#include "model/format.h"
#include "read/gzip/gzip.h"

static const struct sp_format pickled_format = {"pickle", 0};

enum { MAX_FILES_WITHIN = 3, MAX_LISTED_BYTES = 1 << 30 /* of names and shapes, in all */ };

/* ---- one file within another ---- */

static const char *prefixed(struct sp_arena *arena, const char *prefix, const char *name)
{
    return *prefix ? sp_arena_printf(arena, "%s%s", prefix, name) : name;
}

/* Makes the tensors from `first` on, which were read from an inner file, tensors of the outer one: puts the prefix in
 * front of their names and storages, and adds `base`, where the inner file begins, to their places. Without `in_place`
 * the inner file is no range of the outer one, and they have no place. */
static void adopt_tensors(struct shapeproof_inventory *inventory, size_t first, const char *prefix, bool in_place,
                          uint64_t base)
{
    for (size_t i = first; i < inventory->count; i++) {
        struct shapeproof_tensor *tensor = &inventory->tensors[i];
        tensor->name = prefixed(&inventory->arena, prefix, tensor->name);
        if (tensor->storage) tensor->storage = prefixed(&inventory->arena, prefix, tensor->storage);
        if (!in_place) tensor->data_begin = tensor->data_end = 0;
        else if (tensor->data_end) {
            tensor->data_begin += base;
            tensor->data_end += base;
        }
    }
}

/* The same for the claims from `first` on. Without `in_place` they are dropped: who inflated the bytes claims them as a
 * whole. */
static void adopt_claims(struct shapeproof_inventory *inventory, size_t first, const char *prefix, bool in_place,
                         uint64_t base)
{
    struct sp_account *account = &inventory->account;
    for (size_t i = first; in_place && i < account->claims.count; i++) {
        struct sp_byte_claim *claim = &account->claims.items[i];
        claim->begin += base;
        claim->end += base;
        if (claim->storage) claim->storage = prefixed(&inventory->arena, prefix, claim->storage);
        if (claim->record) claim->record = prefixed(&inventory->arena, prefix, claim->record);
    }
    if (!in_place) account->claims.count = first;
}

/* The state of an inventory before a file within a file is read. */
struct before {
    size_t tensors, claims;
    uint64_t name_bytes;
};

/* How many texts of tensors and claims the prefix is put in front of. */
static uint64_t count_prefixes(const struct shapeproof_inventory *inventory, const struct before *before, bool in_place)
{
    const struct sp_account *account = &inventory->account;
    uint64_t count = inventory->count - before->tensors;
    for (size_t i = before->tensors; i < inventory->count; i++) count += inventory->tensors[i].storage != NULL;
    for (size_t i = before->claims; in_place && i < account->claims.count; i++) {
        count += account->claims.items[i].storage != NULL;
        count += account->claims.items[i].record != NULL;
    }
    return count;
}

/* Spends the names of the tensors from `before` on: all that the reader has not spent itself, since an inner file may
 * be inflated, or share its bytes with another. Then the prefix, which the outer file has once, for each name. */
static bool spend_nested_names(struct shapeproof_inventory *inventory, const struct before *before, const char *prefix,
                               bool in_place, struct shapeproof_error *error)
{
    const size_t length = strlen(prefix), count = inventory->count - before->tensors;
    const uint64_t spent = inventory->name_bytes - before->name_bytes;
    uint64_t names = 0;
    for (size_t i = before->tensors; i < inventory->count; i++) names += strlen(inventory->tensors[i].name);
    if (names > spent && !sp_inventory_spend_names(inventory, names - spent, error)) return false;
    struct shapeproof_error ignored = {0};
    const uint64_t prefixes = length * count_prefixes(inventory, before, in_place);
    if (length <= SP_MAX_NAME / 2 && sp_inventory_spend_names(inventory, prefixes, &ignored)) return true;
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                   "its name has %zu bytes, in front of the names of %zu tensors; at most %d, and all names together "
                   "%d for each byte of the file, and %d MiB besides",
                   length, count, SP_MAX_NAME / 2, SP_NAMES_BUDGET_FACTOR, SP_NAMES_BUDGET_BASE >> 20);
}

bool sp_nested_check(const struct sp_file *file, struct shapeproof_error *error)
{
    if (file->nesting <= MAX_FILES_WITHIN) return true;
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "files within files, more than %d deep",
                   MAX_FILES_WITHIN);
}

bool sp_nested_index(const struct sp_file *outer, const struct sp_file *inner, const char *prefix, uint32_t file_index,
                     struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct sp_file file = *inner;
    const struct before before = {inventory->count, inventory->account.claims.count, inventory->name_bytes};
    const bool in_place = file.fd == outer->fd; /* otherwise it was inflated into a file of its own */
    file.nesting = outer->nesting + 1;
    if (!file.inflated_from) file.inflated_from = outer->inflated_from;
    if (!sp_nested_check(&file, error)) return false;
    if (inventory->arena.used > MAX_LISTED_BYTES)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "names and shapes of more than %d bytes",
                       MAX_LISTED_BYTES);
    const struct sp_reader *reader = sp_reader_for(&file, error);
    const bool ok = reader && sp_reader_index(reader, &file, file_index, inventory, error) &&
                    spend_nested_names(inventory, &before, prefix, in_place, error);
    const uint64_t base = in_place ? file.base - outer->base : 0;
    adopt_claims(inventory, before.claims, prefix, ok && in_place, base);
    if (ok) adopt_tensors(inventory, before.tensors, prefix, in_place, base);
    return ok;
}

/* ---- gzip ---- */

static unsigned probe_gzip(const struct sp_probe *probe)
{
    return probe->head_length >= 3 && !memcmp(probe->head, "\x1f\x8b\x08", 3) ? 24 : 0;
}

static bool index_gzip(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error)
{
    struct sp_file inflated;
    uint64_t used;
    if (!sp_gzip_inflate(file, &inflated, &used, error)) return false;
    const bool ok = sp_nested_index(file, &inflated, "", file_index, inventory, error);
    if (ok) sp_inventory_claim(inventory, file_index, 0, used, SP_USE_TENSOR);
    if (ok && used < file->size)
        sp_inventory_warn(inventory, "%" PRIu64 " bytes after the gzip data", file->size - used);
    /* torch.load opens no such file: like a pickle, it is opened with gzip first. */
    if (ok && sp_format_has(inventory, SP_BY_TORCH) && !sp_format_has(inventory, SP_WITH_CODE))
        inventory->format = &pickled_format;
    if (ok) sp_inventory_add_metadata(inventory, "compression", "gzip");
    sp_file_close(&inflated);
    return ok;
}

static const struct sp_file_ending endings[] = {{".ckpt.gz", SP_IN_ARCHIVES}, {NULL, 0}};

const struct sp_reader sp_reader_gzip = {.name = "gzip", .endings = endings, .probe = probe_gzip, .index = index_gzip};
