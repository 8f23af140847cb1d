/* SPDX-License-Identifier: MIT */
#include "read/unlisted.h"

#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "read/gzip/gzip.h"
#include "read/nested.h"
#include "read/reader.h"
#include "read/tar/archive.h"
#include "read/torch/judge.h"

/* What the first bytes say. */
enum kind { OTHER, PICKLE, ZIP, TAR, GZIP, CONTAINER /* of another format: an array of NumPy, or compressed */ };

/* joblib.load opens what zlib, bzip2 and xz have compressed. */
static const struct {
    enum kind kind;
    unsigned length;
    const char *magic;
} magics[] = {
    {ZIP, 4, "PK\3\4"},
    {GZIP, 3, "\x1f\x8b\x08"},
    {CONTAINER, 6, "\x93NUMPY"},
    {CONTAINER, 3, "BZh"},
    {CONTAINER, 6, "\xfd\x37zXZ\0"},
    {CONTAINER, 4, "\x28\xb5\x2f\xfd"},
    {CONTAINER, 2, "x\x9c"},
    {CONTAINER, 2, "x\xda"},
    {CONTAINER, 2, "x\1"},
    {CONTAINER, 6, "7z\xbc\xaf\x27\x1c"},
};

static enum kind kind_of(const char *head, size_t length)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (length >= magics[i].length && !memcmp(head, magics[i].magic, magics[i].length)) return magics[i].kind;
    if (length >= SP_TAR_BLOCK && sp_tar_is_header((const unsigned char *)head)) return TAR;
    return length >= 2 && sp_torch_is_pickle(head, length, length == SP_UNLISTED_HEAD) ? PICKLE : OTHER;
}

bool sp_unlisted_may_run(const char *head, size_t length) { return kind_of(head, length) != OTHER; }

static void warn_unread(const char *what, const struct shapeproof_error *why, struct shapeproof_inventory *inventory)
{
    sp_inventory_warn(inventory, "%s is not read, so that it is not known what loading it would run: %s", what,
                      why->message);
}

/* Drops the warnings about tensors, such as their byte order: these are not listed. Those about code, and about what is
 * not read, have one of the words. */
static void keep_warnings_of_code(struct shapeproof_inventory *inventory)
{
    static const char *const words[] = {"would ", "executed", "pickle", "not read", "not known"};
    size_t kept = 0;
    for (size_t i = 0; i < inventory->warning_count; i++)
        if (SP_HAS_ANY(inventory->warnings[i], words)) inventory->warnings[kept++] = inventory->warnings[i];
    inventory->warning_count = kept;
}

/* Reads a file with whichever reader knows it, and keeps its warnings of code. An archive in which no member is a
 * checkpoint is no error: its reader has judged each member. */
static void judge_container(const struct sp_file *file, bool is_archive, const char *what,
                            struct shapeproof_inventory *inventory)
{
    struct shapeproof_inventory *own = sp_inventory_new(what);
    struct shapeproof_error why = {0};
    sp_inventory_add_file(own, what);
    const struct sp_reader *reader = sp_reader_for(file, &why);
    if (reader) sp_reader_index(reader, file, 0, own, &why);
    keep_warnings_of_code(own);
    sp_inventory_adopt_code(inventory, own, what);
    if (why.status && !(is_archive && why.kind == SHAPEPROOF_KIND_UNRECOGNISED)) warn_unread(what, &why, inventory);
    shapeproof_inventory_close(own);
}

static void judge_gzip(const struct sp_file *file, const char *what, struct shapeproof_inventory *inventory)
{
    struct shapeproof_error why = {0};
    struct sp_file inflated = {.fd = -1};
    uint64_t used;
    if (sp_gzip_inflate(file, &inflated, &used, &why)) {
        inflated.nesting = file->nesting;
        sp_unlisted_judge(&inflated, what, inventory);
        sp_file_close(&inflated);
    } else warn_unread(what, &why, inventory);
}

/* The first bytes of the file, to be freed, or NULL. */
static char *read_head(const struct sp_file *file, size_t *length)
{
    struct shapeproof_error ignored = {0};
    *length = file->size < SP_UNLISTED_HEAD ? (size_t)file->size : SP_UNLISTED_HEAD;
    char *head = sp_realloc(NULL, *length + 1, 1);
    if (sp_file_read(file, 0, head, *length, &ignored)) return head;
    sp_free(head);
    return NULL;
}

void sp_unlisted_judge(const struct sp_file *file, const char *what, struct shapeproof_inventory *inventory)
{
    struct sp_file inner = *file;
    struct shapeproof_error why = {0};
    size_t length;
    char *head = read_head(file, &length);
    const enum kind kind = head ? kind_of(head, length) : OTHER;
    sp_free(head);
    inner.nesting++;
    if (kind == OTHER) return;
    if (!sp_nested_check(&inner, &why)) warn_unread(what, &why, inventory);
    else if (kind == PICKLE || (kind == ZIP && sp_torch_is_saved(file))) sp_torch_judge_file(&inner, what, inventory);
    else if (kind == GZIP) judge_gzip(&inner, what, inventory);
    else judge_container(&inner, kind == ZIP || kind == TAR, what, inventory);
}

void sp_unlisted_judge_named(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory)
{
    const char *what = sp_arena_string(&inventory->arena, sp_quote(name).text);
    struct sp_file file;
    struct shapeproof_error ignored = {0};
    if (sp_folder_open_file(folder, name, &file, &ignored)) sp_unlisted_judge(&file, what, inventory);
    sp_file_close(&file);
}
