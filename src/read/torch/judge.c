/* SPDX-License-Identifier: MIT */
#include "read/torch/judge.h"

#include <string.h>

#include "base/names.h"
#include "read/tar/archive.h"
#include "read/torch/torch.h"
#include "read/torch/zip.h"

enum {
    MAX_JUDGED = 256 << 20, /* bytes of a pickle without a container */
    MAX_TRIED = 1 << 20     /* bytes of a file that are tried as a pickle */
};

bool sp_torch_is_saved(const struct sp_file *file)
{
    struct shapeproof_error ignored = {0};
    size_t record = SIZE_MAX;
    struct sp_zip *zip = sp_zip_open(file, &ignored);
    const bool is_ambiguous = zip && !sp_torch_zip_find(zip, &record, &ignored);
    sp_zip_close(zip);
    return is_ambiguous || record != SIZE_MAX;
}

static bool judge_archive(struct sp_torch *torch, const struct sp_file *file, struct shapeproof_error *error)
{
    struct sp_zip *zip = sp_zip_open(file, error);
    struct sp_pickle pickle;
    size_t record = SIZE_MAX, length = 0;
    char *bytes = NULL;
    if (!zip) return false;
    bool ok = sp_torch_zip_find(zip, &record, error);
    if (ok && record == SIZE_MAX) ok = sp_malformed(error, "a zip archive, but not of torch.save: it has no data.pkl");
    if (ok) bytes = sp_torch_zip_read_pickle(zip, record, &length, torch->inventory, error);
    ok = bytes && sp_torch_read_pickle(torch, &pickle, "data.pkl", bytes, length, error);
    if (ok) sp_torch_zip_judge_others(zip, record, file, torch->inventory);
    sp_free(bytes);
    sp_zip_close(zip);
    return ok;
}

static bool judge_pickle(struct sp_torch *torch, const struct sp_file *file, struct shapeproof_error *error)
{
    struct sp_pickle pickle;
    char *bytes = sp_file_slurp(file, MAX_JUDGED, error);
    const bool ok = bytes && sp_torch_read_pickle(torch, &pickle, "pickle", bytes, (size_t)file->size, error);
    sp_free(bytes);
    return ok;
}

/* Chooses how to read the file by its first bytes, as torch.load does: a zip archive, a tar archive, or a stream that
 * begins with a magic number. A tar archive can begin with that number, too. */
static bool judge_open(struct sp_torch *torch, const struct sp_file *file, struct shapeproof_error *error)
{
    unsigned char head[SP_TAR_BLOCK];
    const size_t length = file->size < sizeof head ? (size_t)file->size : sizeof head;
    if (!file->size) return true; /* nothing runs */
    if (!sp_file_read(file, 0, head, length, error)) return false;
    const struct sp_probe probe = {.file = file, .head = head, .head_length = length, .deep = false};
    if (length == sizeof head && sp_tar_is_header(head)) return sp_malformed(error, "a tar archive");
    if (length >= 4 && memcmp(head, "PK\3\4", 4) == 0) return judge_archive(torch, file, error);
    if (sp_reader_torch_legacy.probe(&probe)) return sp_reader_torch_legacy.index(file, 0, torch->inventory, error);
    return judge_pickle(torch, file, error);
}

/* Adds to the inventory what was reported in `own`, which is closed. `why`: the reading ended with this error. */
static void adopt_judgement(struct shapeproof_inventory *inventory, struct shapeproof_inventory *own, const char *what,
                            const struct shapeproof_error *why)
{
    sp_inventory_adopt_code(inventory, own, what);
    if (why->status)
        sp_inventory_warn(inventory, "%s is not read, so that it is not known what unpickling it would run: %s", what,
                          why->message);
    shapeproof_inventory_close(own);
}

void sp_torch_judge_file(const struct sp_file *file, const char *what, struct shapeproof_inventory *inventory)
{
    struct shapeproof_inventory *own = sp_inventory_new(what);
    struct sp_torch torch = {.inventory = own, .key_prefix = ""};
    struct shapeproof_error why = {0};
    sp_inventory_add_file(own, what);
    judge_open(&torch, file, &why);
    sp_torch_free(&torch);
    adopt_judgement(inventory, own, what, &why);
}

void sp_torch_judge_bytes(const char *bytes, size_t length, const char *what, struct shapeproof_inventory *inventory)
{
    struct shapeproof_inventory *own = sp_inventory_new(what);
    struct sp_torch torch = {.inventory = own, .key_prefix = ""};
    struct shapeproof_error why = {0};
    struct sp_pickle pickle;
    sp_torch_read_pickle(&torch, &pickle, "pickle", bytes, length, &why);
    sp_torch_free(&torch);
    adopt_judgement(inventory, own, what, &why);
}

/* A member is read where it lies. torch compresses none. */
void sp_torch_judge_member(struct sp_zip *zip, size_t record, const struct sp_file *file,
                           struct shapeproof_inventory *inventory)
{
    const struct sp_zip_entry *entry = sp_zip_entry(zip, record);
    const char *what = sp_arena_string(&inventory->arena, sp_quote(entry->name).text);
    struct sp_file inner = *file;
    struct shapeproof_error why = {0};
    uint64_t begin = 0;
    bool ok = sp_zip_check_method(entry, &why);
    if (ok && entry->method) ok = sp_malformed(&why, "it is compressed");
    ok = ok && sp_zip_data_offset(zip, record, &begin, &why);
    if (!ok) {
        adopt_judgement(inventory, sp_inventory_new(what), what, &why);
        return;
    }
    inner.path = entry->name;
    inner.base += begin;
    inner.size = entry->compressed_size;
    inner.nesting++;
    sp_torch_judge_file(&inner, what, inventory);
}

void sp_torch_judge_named(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory)
{
    const char *what = sp_arena_string(&inventory->arena, sp_quote(name).text);
    struct sp_file file;
    struct shapeproof_error why = {0};
    if (sp_folder_open_file(folder, name, &file, &why)) sp_torch_judge_file(&file, what, inventory);
    else adopt_judgement(inventory, sp_inventory_new(what), what, &why);
    sp_file_close(&file);
}

bool sp_torch_is_pickle(const char *bytes, size_t length, bool has_more)
{
    struct shapeproof_error ignored = {0};
    struct sp_arena arena = {0};
    struct sp_pickle pickle;
    const bool is = sp_pickle_read(&pickle, &arena, "", bytes, length, &ignored) || pickle.call_count ||
                    (pickle.truncated && has_more && (unsigned char)bytes[0] == 0x80);
    sp_arena_free(&arena);
    return is;
}

/* Whether torch.load or pickle.load would unpickle the file. */
static bool is_unpickled(const struct sp_file *file)
{
    const size_t length = file->size < MAX_TRIED ? (size_t)file->size : MAX_TRIED;
    struct shapeproof_error ignored = {0};
    if (length < 2) return false;
    char *bytes = sp_realloc(NULL, length, 1);
    bool is = sp_file_read(file, 0, bytes, length, &ignored);
    if (is && length >= 4 && memcmp(bytes, "PK\3\4", 4) == 0) is = sp_torch_is_saved(file);
    else if (is && !(length >= SP_TAR_BLOCK && sp_tar_is_header((unsigned char *)bytes)))
        is = sp_torch_is_pickle(bytes, length, length == MAX_TRIED);
    sp_free(bytes);
    return is;
}

bool sp_torch_judge_beside(const struct sp_folder *folder, const char *name, bool is_typed,
                           struct shapeproof_inventory *inventory)
{
    const char *what = sp_arena_string(&inventory->arena, sp_quote(name).text);
    struct sp_file file;
    struct shapeproof_error why = {0};
    const bool is = sp_folder_open_file(folder, name, &file, &why) && is_unpickled(&file);
    if (is) {
        struct shapeproof_inventory *own = sp_inventory_new(what);
        sp_torch_judge_file(&file, what, own);
        if (!is_typed || own->suspects.count) sp_inventory_adopt_remarks(inventory, own);
        shapeproof_inventory_close(own);
    }
    sp_file_close(&file);
    return is;
}
