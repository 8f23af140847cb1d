/* SPDX-License-Identifier: MIT
 * The zip container of torch.save since 1.6 and of torch.jit.save. Below one folder P:
 *   P/data.pkl            the object, storages as persistent ids
 *   P/data/K              the bytes of storage K
 *   P/version             (or P/.data/version) the version of the container
 *   P/constants.pkl       in TorchScript archives alone; its storages are P/constants/K
 * Of the records only data.pkl, constants.pkl and version are read; the sizes of the others are in the directory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/names.h"
#include "base/utf8.h"
#include "model/format.h"
#include "read/bundle.h"
#include "read/torch/torch.h"
#include "read/torch/zip.h"

static const struct sp_format torch_zip_format = {"torch-zip", SP_BY_TORCH | SP_IN_ORDER};
static const struct sp_format torchscript_format = {"torchscript", SP_BY_TORCH | SP_IN_ORDER | SP_WITH_CODE};

enum { HIGHEST_VERSION = 10, MAX_VERSION_TEXT = 32, MAX_SMALL_RECORD = 4096 };

static const uint64_t MAX_STORED = (uint64_t)512 << 20, MAX_INFLATED = (uint64_t)256 << 20;

/* The record of a storage must hold as many bytes as its id declares; more do no harm. Its local header is looked at as
 * torch.load does, but for a file that is elsewhere, where that would be a request for each storage. */
bool sp_torch_zip_locate_storage(struct sp_torch *torch, struct sp_torch_storage *storage,
                                 struct shapeproof_error *error)
{
    char *name =
        sp_arena_printf(&torch->arena, "%s%s%s", torch->folder, storage->key, torch->suffix ? torch->suffix : "");
    const size_t index = sp_zip_find(torch->zip, name);
    if (index == SIZE_MAX) return sp_malformed(error, "storage record missing: no '%s' in the archive", name);
    if (!sp_zip_check_method(sp_zip_entry(torch->zip, index), error)) return false;
    const uint64_t size = sp_zip_entry(torch->zip, index)->size;
    if (storage->element_size && size < storage->bytes)
        return sp_malformed(error, "storage record '%s' has %" PRIu64 " bytes, but %" PRIu64 " x %s need %" PRIu64,
                            name, size, storage->count, storage->dtype_name, storage->bytes);
    uint64_t begin = 0;
    if (!sp_zip_is_far(torch->zip) && !sp_zip_data_offset(torch->zip, index, &begin, error)) return false;
    const bool has_place = !sp_zip_entry(torch->zip, index)->method && storage->element_size;
    if (has_place) storage->data_begin = begin;
    torch->inventory->compressed += sp_zip_entry(torch->zip, index)->method && size;
    storage->located = true;
    storage->record = index + 1;
    return true;
}

/* Whether the name is that of a record of a storage, also of one that no pickle names. */
static bool is_record(const struct sp_torch *torch, const char *name)
{
    const size_t folder = strlen(torch->folder);
    return !strncmp(name, torch->folder, folder) && (!torch->suffix || sp_ends_with(name, torch->suffix));
}

void sp_torch_zip_claim(const struct sp_torch *torch)
{
    const struct sp_zip *zip = torch->zip;
    struct shapeproof_inventory *inventory = torch->inventory;
    const struct sp_torch_storage **of = sp_realloc(NULL, sp_zip_count(zip) + 1, sizeof *of); /* each member; or NULL */
    memset(of, 0, (sp_zip_count(zip) + 1) * sizeof *of);
    for (size_t i = 0; i < torch->storage_count; i++)
        if (torch->storages[i]->record) of[torch->storages[i]->record - 1] = torch->storages[i]->root;
    sp_zip_claim(zip, inventory, torch->file);
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const struct sp_zip_entry *entry = sp_zip_entry(zip, i);
        const bool is_compressed = entry->method != 0;
        uint64_t begin, end;
        sp_zip_span(zip, i, &begin, &end);
        if (of[i] && of[i]->parts) sp_inventory_claim(inventory, torch->file, begin, end, SP_USE_TENSOR);
        else if (of[i] || is_record(torch, entry->name))
            sp_inventory_claim_storage(inventory, torch->file, begin, end, of[i] ? of[i]->key : NULL,
                                       sp_arena_string(&inventory->arena, entry->name), is_compressed);
        else sp_inventory_claim(inventory, torch->file, begin, end, SP_USE_STRUCTURE);
    }
    sp_free(of);
}

char *sp_torch_zip_read_pickle(struct sp_zip *zip, size_t index, size_t *length, struct shapeproof_inventory *inventory,
                               struct shapeproof_error *error)
{
    const struct sp_zip_entry *entry = sp_zip_entry(zip, index);
    char *bytes = sp_zip_read(zip, index, entry->method ? MAX_INFLATED : MAX_STORED, length, error);
    if (!bytes || !entry->damaged) return bytes;
    sp_inventory_warn(inventory, "%s does not match its CRC", entry->name);
    if (!inventory->damaged) inventory->damaged = sp_arena_string(&inventory->arena, entry->name);
    return bytes;
}

/* Why torch, which reads the storage of each persistent id, cannot read this one; false with that error. */
static bool check_named_record(struct sp_torch *torch, const struct sp_pickle_value *persid,
                               struct shapeproof_error *error)
{
    const struct sp_pickle_value *key = sp_pickle_item(persid->as.id, 2);
    uint64_t ignored;
    if (!sp_torch_is_storage(persid)) return sp_malformed(error, "a persistent id does not name a storage");
    if (!sp_torch_check_id_length(torch, persid->as.id, error)) return false;
    if (persid->tag || !sp_pickle_is(key, SP_PICKLE_STR) || memchr(key->as.text, 0, key->length)) return true;
    const char *name = sp_arena_printf(&torch->arena, "%s%.*s", torch->folder, (int)key->length, key->as.text);
    const size_t record = sp_zip_find(torch->zip, name);
    if (record == SIZE_MAX) return sp_malformed(error, "storage record missing: no '%s' in the archive", name);
    return sp_zip_check_method(sp_zip_entry(torch->zip, record), error) &&
           (sp_zip_is_far(torch->zip) || sp_zip_data_offset(torch->zip, record, &ignored, error));
}

/* Looks at the persistent ids of which no tensor is listed. Says the first thing that torch refuses in them, where
 * nothing has been said of a tensor. */
static void warn_of_named_records(struct sp_torch *torch, const struct sp_pickle *pickle)
{
    struct shapeproof_error why = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < pickle->persid_count; i++) ok = check_named_record(torch, pickle->persids[i], &why);
    if (!ok) sp_inventory_warn(torch->inventory, "torch refuses it: %s", why.message);
}

/* One pickle of the archive, read and walked. `name` is without its folder. */
static bool index_pickle(struct sp_torch *torch, size_t record, const char *name, struct shapeproof_error *error)
{
    size_t length;
    struct sp_pickle pickle;
    char *bytes = sp_torch_zip_read_pickle(torch->zip, record, &length, torch->inventory, error);
    if (!bytes) return false;
    bool ok = sp_torch_read_pickle(torch, &pickle, name, bytes, length, error);
    if (ok && pickle.end < length)
        sp_inventory_warn(torch->inventory, "%s: %zu bytes after its end", name, length - pickle.end);
    ok = ok && sp_torch_walk(torch, pickle.root, error);
    if (ok && !torch->inventory->unread) warn_of_named_records(torch, &pickle);
    sp_free(bytes);
    return ok;
}

/* Constants of a TorchScript archive have numbers, not names, and are in nobody's state dict. */
static bool count_constants(struct sp_zip *zip, const char *prefix, size_t record, uint32_t file,
                            struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct sp_torch torch = {
        .inventory = inventory, .file = file, .key_prefix = "", .locate = sp_torch_zip_locate_storage, .zip = zip};
    torch.folder = sp_arena_printf(&torch.arena, "%sconstants/", prefix);
    torch.count_only = true;
    const bool ok = index_pickle(&torch, record, "constants.pkl", error);
    if (ok && torch.counted)
        sp_inventory_warn(inventory, "constants.pkl holds %zu more tensors, which have no names and are not listed",
                          torch.counted);
    sp_torch_free(&torch);
    return ok;
}

/* Warns of an archive without a version record, or with a newer version than the known ones. */
static bool check_version(struct sp_zip *zip, const char *prefix, struct shapeproof_inventory *inventory,
                          struct shapeproof_error *error)
{
    struct sp_arena arena = {0};
    size_t index = sp_zip_find(zip, sp_arena_printf(&arena, "%sversion", prefix)), length;
    if (index == SIZE_MAX) index = sp_zip_find(zip, sp_arena_printf(&arena, "%s.data/version", prefix));
    sp_arena_free(&arena);
    if (index == SIZE_MAX) {
        sp_inventory_warn(inventory, "the archive has no version record");
        return true;
    }
    char *text = sp_zip_read(zip, index, MAX_VERSION_TEXT, &length, error);
    if (!text) return false;
    const long version = strtol(text, NULL, 10);
    if (version < 1 || version > HIGHEST_VERSION)
        sp_inventory_warn(inventory, "container version %ld, newer than the known ones (1 to %d)", version,
                          HIGHEST_VERSION);
    sp_free(text);
    return true;
}

/* "archive/" for "archive/data.pkl". */
static const char *folder_of(struct sp_arena *arena, const struct sp_zip *zip, size_t pickle)
{
    const char *name = sp_zip_entry(zip, pickle)->name;
    return sp_arena_copy(arena, name, (size_t)(strchr(name, '/') + 1 - name));
}

/* "folder/data.pkl", one folder deep. */
static bool is_torch_pickle(const char *name)
{
    const char *slash = strchr(name, '/');
    return slash && slash > name && !strcmp(slash, "/data.pkl");
}

bool sp_torch_zip_find(const struct sp_zip *zip, size_t *pickle, struct shapeproof_error *error)
{
    *pickle = SIZE_MAX;
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const char *name = sp_zip_entry(zip, i)->name;
        if (!is_torch_pickle(name)) continue;
        if (*pickle != SIZE_MAX)
            return sp_malformed(error, "ambiguous archive: '%s' and '%s'", sp_zip_entry(zip, *pickle)->name, name);
        *pickle = i;
    }
    return true;
}

/* Of the folders only what has the name of a pickle is looked at: the bytes of storages may look like anything. */
static bool is_read_by_torch(const struct sp_zip *zip, size_t pickle, size_t member)
{
    static const char *const folders[] = {"data/", "constants/", "code/", ".data/"};
    const char *name = sp_zip_entry(zip, member)->name, *archive = sp_zip_entry(zip, pickle)->name;
    const size_t length = (size_t)(strchr(archive, '/') + 1 - archive);
    if (member == pickle) return true;
    if (strncmp(name, archive, length) != 0) return false;
    if (strcmp(name + length, "constants.pkl") == 0) return true;
    return SP_BEGINS_WITH_ANY(name + length, folders) && !sp_ends_with(name, ".pkl");
}

void sp_torch_zip_judge_others(struct sp_zip *zip, size_t pickle, const struct sp_file *file,
                               struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < sp_zip_count(zip) && !sp_zip_is_far(zip); i++)
        if (!is_read_by_torch(zip, pickle, i)) sp_bundle_judge_member(zip, i, file, inventory);
}

void sp_torch_zip_warn_outside(const struct sp_zip *zip, const char *prefix, struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const char *name = sp_zip_entry(zip, i)->name;
        if (strncmp(name, prefix, strlen(prefix)) == 0) continue;
        sp_inventory_warn(inventory, "torch refuses it: the %s, %s, is not in the folder %s",
                          i ? "member" : "first member", sp_quote(name).text, sp_quote(prefix).text);
        return;
    }
}

/* Whether torch can read the number, as int() of Python does: digits, with single underscores between them, a sign
 * before and blanks around them. The text has a NUL behind it. */
static bool is_number(const char *text, size_t length)
{
    static const char blanks[] = " \t\n\v\f\r";
    const char *at = text + strspn(text, blanks);
    if (*at == '+' || *at == '-') at++;
    if (!sp_is_digit(*at)) return false;
    while (sp_is_digit(*at) || (*at == '_' && sp_is_digit(at[1]))) at++;
    return at + strspn(at, blanks) == text + length;
}

/* Whether the bytes of a record, which may have a NUL among them, are the word. */
static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool is_byte_order(const char *text, size_t length)
{
    return is_word(text, length, "little") || is_word(text, length, "big");
}

static bool is_utf8(const char *text, size_t length) { return sp_utf8_check(text, length) == length; }

/* The small records that torch.load reads beside the pickle, and what it accepts in them. Without a record it does not
 * ask. */
static const struct small_record {
    const char *name, *expected;
    bool (*is_expected)(const char *text, size_t length); /* the text has a NUL behind it */
} small_records[] = {
    {"byteorder", "'little' or 'big'", is_byte_order},
    {".format_version", "a number", is_number},
    {".storage_alignment", "a number", is_number},
    {".data/serialization_id", "UTF-8", is_utf8},
};

/* Reads a small record into `*text`, which is NULL if the archive has none. False if it cannot be read. */
static bool read_small_record(struct sp_zip *zip, struct sp_arena *arena, const char *prefix, const char *name,
                              char **text, size_t *length, struct shapeproof_error *error)
{
    const size_t index = sp_zip_find(zip, sp_arena_printf(arena, "%s%s", prefix, name));
    *text = index == SIZE_MAX ? NULL : sp_zip_read(zip, index, MAX_SMALL_RECORD, length, error);
    return index == SIZE_MAX || *text;
}

/* Of a file that is elsewhere each record would be a request. */
static void warn_of_small_records(struct sp_zip *zip, const char *prefix, struct shapeproof_inventory *inventory)
{
    struct sp_arena arena = {0};
    for (size_t i = 0; i < sizeof small_records / sizeof *small_records && !sp_zip_is_far(zip); i++) {
        const struct small_record *record = &small_records[i];
        struct shapeproof_error why = {0};
        size_t length;
        char *text;
        if (!read_small_record(zip, &arena, prefix, record->name, &text, &length, &why))
            sp_inventory_warn(inventory, "torch refuses it: %s", why.message);
        if (text && !record->is_expected(text, length))
            sp_inventory_warn(inventory, "torch refuses it: %s is %s, %s is expected", record->name,
                              sp_quote(text).text, record->expected);
        sp_free(text);
    }
    sp_arena_free(&arena);
}

bool sp_torch_zip_index(struct sp_zip *zip, size_t pickle, uint32_t file_index, struct shapeproof_inventory *inventory,
                        struct shapeproof_error *error)
{
    struct sp_torch torch = {.inventory = inventory,
                             .file = file_index,
                             .key_prefix = "",
                             .locate = sp_torch_zip_locate_storage,
                             .zip = zip};
    const char *prefix = folder_of(&torch.arena, zip, pickle);
    const size_t constants = sp_zip_find(zip, sp_arena_printf(&torch.arena, "%sconstants.pkl", prefix));
    torch.folder = sp_arena_printf(&torch.arena, "%sdata/", prefix);
    inventory->format = constants == SIZE_MAX ? &torch_zip_format : &torchscript_format;
    sp_torch_zip_warn_outside(zip, prefix, inventory);
    if (sp_zip_lacks_volume(zip))
        sp_inventory_warn(inventory, "torch refuses it: the numbers of its volumes are not those of one volume");
    warn_of_small_records(zip, prefix, inventory);
    bool ok = check_version(zip, prefix, inventory, error) && index_pickle(&torch, pickle, "data.pkl", error);
    inventory->wrapped += torch.wrappers;
    if (ok && torch.wrappers)
        sp_inventory_warn(inventory,
                          "%zu tensors are of subclasses that wrap others: only the outer shapes are listed; the "
                          "tensors in them have %" PRIu64 " bytes",
                          torch.wrappers, torch.wrapped_bytes);
    if (ok && constants != SIZE_MAX) ok = count_constants(zip, prefix, constants, file_index, inventory, error);
    if (ok) sp_torch_zip_claim(&torch);
    sp_torch_free(&torch);
    return ok;
}

/* ---- where the data lie ---- */

/* The records of storages, each looked up once. */
struct records {
    struct sp_zip *zip;
    const char *folder; /* "archive/data/" */
    const char *suffix;
    struct sp_map known; /* key of a storage -> record */
    uint64_t *begin;     /* of each record's data in the file; 0 when not yet known */
    struct sp_text name;
};

static size_t record_of(struct records *records, const char *key)
{
    size_t record = sp_map_get(&records->known, key);
    if (record != SIZE_MAX) return record;
    records->name.length = 0;
    sp_text_printf(&records->name, "%s%s%s", records->folder, key, records->suffix);
    record = sp_zip_find(records->zip, records->name.data);
    if (record != SIZE_MAX) sp_map_add(&records->known, key, record);
    return record;
}

/* Finds the bytes of a tensor in the archive. `obstacle` says why there are none to point to; false with an error
 * when the record is too short. */
static bool locate_tensor(struct records *records, const struct shapeproof_tensor *tensor, struct sp_data_place *place,
                          struct shapeproof_error *error)
{
    const unsigned bits = shapeproof_dtype_bits(tensor->dtype);
    const size_t record = tensor->storage ? record_of(records, tensor->storage) : SIZE_MAX;
    uint64_t end;
    place->obstacle = "without a place of its own in the archive";
    if (record == SIZE_MAX || !bits || bits % 8) return true;
    const struct sp_zip_entry *entry = sp_zip_entry(records->zip, record);
    if (entry->method) {
        place->obstacle = "compressed in the archive";
        return true;
    }
    if (!records->begin[record] && !sp_zip_data_offset(records->zip, record, &records->begin[record], error))
        return false;
    if (!sp_mul_u64(sp_tensor_reach(tensor), bits / 8, &end) || end > entry->compressed_size)
        return sp_malformed(error, "record '%s' is shorter than its tensors", entry->name);
    place->begin = records->begin[record] + tensor->offset * (bits / 8);
    place->end = records->begin[record] + end;
    return true;
}

/* Written since torch 2.1; before, files of big-endian machines cannot be told. */
static bool is_big_endian(struct sp_zip *zip, const char *prefix, struct sp_arena *arena, bool *big,
                          struct shapeproof_error *error)
{
    size_t length;
    char *text;
    const bool good = read_small_record(zip, arena, prefix, "byteorder", &text, &length, error);
    *big = text && is_word(text, length, "big");
    sp_free(text);
    return good;
}

/* Where the records of a file's tensors lie. */
static bool locate_records(struct records *records, bool big, uint32_t file_index, struct sp_data_places *places,
                           struct shapeproof_error *error)
{
    const struct shapeproof_inventory *inventory = places->inventory;
    bool ok = true;
    for (size_t i = 0; i < inventory->count && ok; i++) {
        struct sp_data_place *place = &places->items[i];
        if (inventory->tensors[i].file != file_index) continue;
        if (big) *place = (struct sp_data_place){.obstacle = "big-endian"};
        else if (!place->end) ok = locate_tensor(records, &inventory->tensors[i], place, error);
    }
    return ok;
}

bool sp_torch_zip_locate(struct sp_zip *zip, uint32_t file_index, struct sp_data_places *places, bool *is_ours,
                         struct shapeproof_error *error)
{
    struct sp_arena arena = {0};
    struct records records = {.zip = zip, .folder = "", .suffix = ""};
    size_t pickle;
    const char *path = NULL;
    bool big = false, ok = sp_torch_zip_find(zip, &pickle, error);
    *is_ours = true;
    records.begin = sp_arena_array(&arena, sp_zip_count(zip), sizeof *records.begin);
    const size_t package = ok && pickle == SIZE_MAX ? sp_torch_package_prefix(zip, &path) : 0;
    if (ok && pickle != SIZE_MAX) {
        const char *prefix = folder_of(&arena, zip, pickle);
        records.folder = sp_arena_printf(&arena, "%sdata/", prefix);
        ok = is_big_endian(zip, prefix, &arena, &big, error);
    } else if (package) {
        records.folder = sp_arena_printf(&arena, "%.*s.data/", (int)package, path);
        records.suffix = ".storage";
    } else if (ok && sp_torch_described_is(zip)) records.folder = sp_torch_described_folder(zip, &arena);
    else *is_ours = false; /* an archive of another kind, whose tensors stay without a place */
    if (ok && *is_ours) ok = locate_records(&records, big, file_index, places, error);
    sp_map_free(&records.known);
    sp_text_free(&records.name);
    sp_arena_free(&arena);
    return ok;
}
