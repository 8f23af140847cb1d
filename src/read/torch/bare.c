/* SPDX-License-Identifier: MIT
 * A pickle without a container: what pickle.dump writes of a dict of arrays or tensors, and Paddle of a state dict. The
 * data lies in the pickle, which is read whole: it cannot be told where a value begins without the values before it. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "read/reader.h"
#include "read/torch/torch.h"

static const struct sp_format paddle_format = {"paddle", 0};
static const struct sp_format pickle_format = {"pickle", 0};

enum { MAX_BARE = 1 << 30, WEAK_BITS = 12, HIGHEST = 5 };

/* "(dp0\n", "(lp1\n": protocol 0 begins a dict or a list, and puts it into its memo. */
static bool begins_in_lines(const char *head, size_t length)
{
    size_t i = 3;
    if (length < 5 || head[0] != '(' || (head[1] != 'd' && head[1] != 'l') || head[2] != 'p') return false;
    while (i < length && sp_is_digit(head[i])) i++;
    return i > 3 && i < length && head[i] == '\n';
}

/* PROTO, and what a first value may begin with. Older protocols have no such mark, and but for the above their name is
 * asked for. */
static unsigned probe_bare(const struct sp_probe *probe)
{
    static const char first[] = "}]()cXKMJ\x8c\x95N";
    static const char *const names[] = {".pkl", ".pickle", ".pdparams", ".pdopt"};
    const unsigned char *head = probe->head;
    if (probe->head_length < 4) return 0;
    if (head[0] == 0x80 && head[1] >= 2 && head[1] <= HIGHEST && head[2] && strchr(first, head[2])) return WEAK_BITS;
    if (begins_in_lines((const char *)head, probe->head_length)) return WEAK_BITS;
    if (!head[0] || !strchr("}](c", head[0])) return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sp_ends_with(probe->file->path, names[i])) return 1;
    return 0;
}

/* The key in which paddle.save of pickle protocols 2 and 3 keeps which parts, such as "w@@.0", an array of more than a
 * gigabyte is stored in. paddle.load joins them, in the shape that is given there, and drops the parts. */
static const char *const paddle_parts = "UnpackBigParamInfor@@";

/* paddle.save keeps the names of the variables beside those of the parameters. */
static bool is_paddle(const struct sp_file *file, const struct sp_pickle_value *root)
{
    return sp_pickle_get(root, "StructuredToParameterName@@") || sp_pickle_get(root, paddle_parts) ||
           sp_ends_with(file->path, ".pdparams") || sp_ends_with(file->path, ".pdopt");
}

/* A data.pkl without its archive: what its storages hold lies elsewhere. */
static bool note_absent_storage(struct sp_torch *torch, struct sp_torch_storage *storage,
                                struct shapeproof_error *error)
{
    (void)error;
    if (!torch->absent++)
        sp_inventory_warn(torch->inventory,
                          "only the pickle of a checkpoint: the storages that it names, such as "
                          "'%s', are in other files",
                          storage->key);
    storage->meta = true;
    return true;
}

/* joblib puts the bytes of an array behind the object that describes it, where the next opcode is looked for. */
static bool explain_joblib(const struct sp_pickle *pickle, struct shapeproof_error *error)
{
    static const char module[] = "joblib.numpy_pickle.";
    bool is_joblib = false;
    for (size_t i = 0; i < pickle->global_count; i++)
        is_joblib = is_joblib || strncmp(sp_pickle_name(pickle->globals[i]), module, strlen(module)) == 0;
    if (!is_joblib) return false;
    sp_error_prefix(error, "a file of joblib, with the bytes of arrays between the opcodes, which is not read");
    sp_hint(error, "save what joblib.load returns with pickle.dump, or its arrays with numpy.savez");
    return false;
}

static bool walk_bare(struct sp_torch *torch, const struct sp_file *file, const char *bytes,
                      struct shapeproof_error *error)
{
    struct shapeproof_inventory *inventory = torch->inventory;
    struct sp_pickle pickle;
    torch->arrays = true;
    torch->bytes = bytes;
    torch->length = (size_t)file->size;
    if (!sp_torch_read_pickle(torch, &pickle, "pickle", bytes, (size_t)file->size, error))
        return explain_joblib(&pickle, error);
    if (pickle.end < file->size)
        sp_inventory_warn(inventory, "%zu bytes after the end of the pickle", (size_t)file->size - pickle.end);
    if (is_paddle(file, pickle.root)) inventory->format = &paddle_format;
    if (sp_pickle_get(pickle.root, paddle_parts))
        sp_inventory_warn(inventory, "paddle.load joins arrays that are listed in parts, as '%s' says", paddle_parts);
    sp_inventory_claim(inventory, torch->file, 0, pickle.end, SP_USE_STRUCTURE);
    if (!sp_torch_walk(torch, pickle.root, error)) return false;
    sp_torch_claim_storages(torch);
    return true;
}

static bool index_bare(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error)
{
    struct sp_torch torch = {
        .inventory = inventory, .file = file_index, .key_prefix = "", .locate = note_absent_storage};
    const size_t before = inventory->count;
    inventory->format = &pickle_format;
    char *bytes = sp_file_slurp(file, MAX_BARE, error);
    bool ok = bytes && sp_torch_warn_of_tar(&torch, file, error) && walk_bare(&torch, file, bytes, error);
    if (ok && inventory->count == before)
        sp_inventory_warn(inventory, "a pickle without a tensor or an array of NumPy in it");
    sp_torch_free(&torch);
    sp_free(bytes);
    return ok;
}

static const struct sp_file_ending endings[] = {
    {".pkl", SP_IN_ARCHIVES}, {".pdparams", SP_IF_ALONE | SP_IN_ARCHIVES}, {NULL, 0}};

const struct sp_reader sp_reader_pickle = {
    .name = "pickle", .endings = endings, .probe = probe_bare, .index = index_bare};
