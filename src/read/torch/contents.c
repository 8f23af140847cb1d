/* SPDX-License-Identifier: MIT
 * The pickle of a file of torch.save without the walk that names its tensors: the graph itself is the result. */
#include "read/torch/contents.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "read/torch/torch.h"
#include "read/torch/zip.h"

struct sp_contents {
    struct sp_file file;
    bool is_open;
    struct sp_zip *zip;                     /* NULL of an older stream */
    char *bytes;                            /* of the pickle: texts of values point into it */
    struct shapeproof_inventory *inventory; /* what the functions of struct sp_torch report to; it stays empty */
    struct sp_torch torch;
    struct sp_pickle_value *root;
};

/* Every storage that the object names must be there, whole. */
static bool find_storages(struct sp_torch *torch, const struct sp_pickle *pickle, struct shapeproof_error *error)
{
    for (size_t i = 0; i < pickle->persid_count; i++)
        if (sp_torch_is_storage(pickle->persids[i]) && !sp_torch_storage(torch, pickle->persids[i], error))
            return false;
    return true;
}

static bool read_zip_contents(struct sp_contents *contents, struct shapeproof_error *error)
{
    struct sp_torch *torch = &contents->torch;
    struct sp_pickle pickle;
    size_t record, length;
    contents->zip = sp_zip_open(&contents->file, error);
    if (!contents->zip || !sp_torch_zip_find(contents->zip, &record, error)) return false;
    if (record == SIZE_MAX) return sp_malformed(error, "a zip archive, but not of torch.save: it has no data.pkl");
    torch->zip = contents->zip;
    torch->locate = sp_torch_zip_locate_storage;
    const char *name = sp_zip_entry(contents->zip, record)->name;
    torch->folder = sp_arena_printf(&torch->arena, "%.*s/data/", (int)(strchr(name, '/') - name), name);
    contents->bytes = sp_torch_zip_read_pickle(contents->zip, record, &length, contents->inventory, error);
    if (!contents->bytes || !sp_pickle_read(&pickle, &torch->arena, "data.pkl", contents->bytes, length, error))
        return false;
    contents->root = pickle.root;
    return find_storages(torch, &pickle, error);
}

struct sp_contents *sp_contents_open(const struct sp_folder *folder, const char *name, struct shapeproof_error *error)
{
    static const char zip_magic[4] = "PK\3\4";
    struct sp_contents *contents = sp_realloc(NULL, 1, sizeof *contents);
    char magic[sizeof zip_magic] = "";
    *contents = (struct sp_contents){.inventory = sp_inventory_new(name)};
    contents->torch = (struct sp_torch){.inventory = contents->inventory, .key_prefix = ""};
    bool ok = contents->is_open = sp_folder_open_file(folder, name, &contents->file, error);
    if (ok && contents->file.size == 0) ok = sp_malformed(error, "the file is empty");
    if (ok && contents->file.size >= sizeof magic) ok = sp_file_read(&contents->file, 0, magic, sizeof magic, error);
    if (ok && memcmp(magic, zip_magic, sizeof magic) == 0) ok = read_zip_contents(contents, error);
    else if (ok)
        ok =
            (contents->root = sp_torch_legacy_read(&contents->torch, &contents->file, &contents->bytes, error)) != NULL;
    if (ok) return contents;
    sp_contents_close(contents);
    return NULL;
}

void sp_contents_close(struct sp_contents *contents)
{
    if (!contents) return;
    sp_torch_free(&contents->torch);
    sp_zip_close(contents->zip);
    shapeproof_inventory_close(contents->inventory);
    if (contents->is_open) sp_file_close(&contents->file);
    sp_free(contents->bytes);
    sp_free(contents);
}

struct sp_pickle_value *sp_contents_root(const struct sp_contents *contents) { return contents->root; }

const char *sp_contents_damaged(const struct sp_contents *contents) { return contents->inventory->damaged; }

const struct sp_pickle_value *sp_contents_pairs(const struct sp_pickle_value *value)
{
    if (sp_pickle_is(value, SP_PICKLE_DICT)) return value;
    return sp_pickle_is(value, SP_PICKLE_OBJECT) ? value->as.object->pairs : NULL;
}

struct sp_pickle_value *sp_contents_get(const struct sp_pickle_value *value, const char *key)
{
    return sp_pickle_get(sp_contents_pairs(value), key);
}

/* True with the tensor in *found. What is odd about it is not reported: the caller only needs to know that there is no
 * tensor to compare. */
static bool read_tensor_value(struct sp_contents *contents, struct sp_pickle_value *value,
                              struct sp_torch_tensor *found)
{
    struct shapeproof_error ignored = {0};
    bool is_tensor = false;
    contents->torch.arrays = true;
    return value && sp_torch_tensor(&contents->torch, value, found, &is_tensor, &ignored) && is_tensor;
}

/* Notes the bytes of its storage that a tensor uses, from its first element to its last. */
static void note_place(const struct sp_torch_tensor *found, struct sp_contents_tensor *tensor)
{
    const uint64_t size = shapeproof_dtype_bits(found->dtype) / 8;
    if (!found->storage || !found->strided || found->piece || !size) return;
    uint64_t length;
    if (!sp_mul_u64(found->offset, size, &tensor->begin) || !sp_mul_u64(found->extent, size, &length) ||
        !sp_add_u64(tensor->begin, length, &tensor->end))
        return;
    if (length) tensor->storage = found->storage->root->index + 1;
}

bool sp_contents_tensor(struct sp_contents *contents, struct sp_pickle_value *value, struct sp_contents_tensor *tensor)
{
    struct sp_torch_tensor found;
    if (!read_tensor_value(contents, value, &found)) return false;
    const unsigned bits = shapeproof_dtype_bits(found.dtype);
    const uint64_t bytes = found.piece ? found.piece->bytes : found.bytes;
    *tensor = (struct sp_contents_tensor){.dtype = found.dtype_name,
                                          .type = found.dtype,
                                          .rank = found.rank,
                                          .flags = found.flags,
                                          .bytes = found.bytes,
                                          .held = bits >= 8 ? bytes / (bits / 8) : 0,
                                          .is_piece = found.piece != NULL,
                                          .is_empty = found.piece && !found.piece->bytes};
    memcpy(tensor->shape, found.shape, found.rank * sizeof *found.shape);
    note_place(&found, tensor);
    return true;
}

/* The one element of a tensor, little-endian as all machines that torch runs on write it. */
static bool read_element(struct sp_contents *contents, const struct sp_torch_tensor *tensor, double *number)
{
    struct shapeproof_error ignored = {0};
    const unsigned size = shapeproof_dtype_bits(tensor->dtype) / 8;
    unsigned char bytes[8];
    float single;
    int64_t integer;
    if (tensor->parameters != 1 || !tensor->storage || !tensor->storage->root->data_begin || !size ||
        size > sizeof bytes)
        return false;
    if (!sp_file_read(&contents->file, tensor->storage->root->data_begin + tensor->offset * size, bytes, size,
                      &ignored))
        return false;
    switch (tensor->dtype) {
    case SHAPEPROOF_DTYPE_F32:
        memcpy(&single, bytes, sizeof single);
        *number = (double)single;
        return true;
    case SHAPEPROOF_DTYPE_F64:
        memcpy(number, bytes, sizeof *number);
        return true;
    case SHAPEPROOF_DTYPE_I64:
        memcpy(&integer, bytes, sizeof integer);
        *number = (double)integer;
        return true;
    default:
        return false;
    }
}

bool sp_contents_number(struct sp_contents *contents, struct sp_pickle_value *value, double *number)
{
    struct sp_torch_tensor tensor;
    if (sp_pickle_is(value, SP_PICKLE_INT)) *number = (double)value->as.integer;
    else if (sp_pickle_is(value, SP_PICKLE_FLOAT)) *number = value->as.real;
    else return read_tensor_value(contents, value, &tensor) && read_element(contents, &tensor, number);
    return true;
}
