/* SPDX-License-Identifier: MIT
 * Zip archives, told apart by the names of their members: files of torch.save, TorchScript archives, .keras files,
 * .npz. What is in them is left to the modules of those formats. */
#include <string.h>

#include "base/chars.h"
#include "read/bundle.h"
#include "read/hdf5/keras_zip.h"
#include "read/numpy/npz.h"
#include "read/reader.h"
#include "read/torch/zip.h"

static unsigned probe_archive(const struct sp_probe *probe)
{
    return probe->head_length >= 4 && !memcmp(probe->head, "PK\3\4", 4) ? 32 : 0;
}

static const char *first_with_suffix(const struct sp_zip *zip, const char *suffix)
{
    for (size_t i = 0; i < sp_zip_count(zip); i++)
        if (sp_ends_with(sp_zip_entry(zip, i)->name, suffix)) return sp_zip_entry(zip, i)->name;
    return NULL;
}

/* A pickle of tensors whose storages are to be sought in a folder that there is not. */
static const char *stray_pickle(const struct sp_zip *zip) { return first_with_suffix(zip, "data.pkl"); }

static bool unrecognised(const struct sp_zip *zip, struct shapeproof_error *error)
{
    const char *pickle = stray_pickle(zip);
    if (!pickle)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                       "a zip archive without a checkpoint in it");
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                   "a zip archive with a pickle outside of a folder, not a file of torch.save ('%s')", pickle);
}

/* Warns of an archive that is of several kinds, all of which torch loads: it is read as one of them, and what is
 * unpickled for the others is not judged. */
static void warn_of_other_kinds(const struct sp_zip *zip, size_t pickle, struct shapeproof_inventory *inventory)
{
    const char *path;
    const bool is_saved = pickle != SIZE_MAX, is_package = sp_torch_package_prefix(zip, &path) > 0,
               is_described = sp_torch_described_is(zip);
    if (is_saved + is_package + is_described < 2) return;
    sp_inventory_warn(inventory,
                      "the archive is of more than one kind (%s%s%s): what other loaders would run is not known",
                      is_saved ? "torch.save, " : "", is_package ? "torch.package" : "",
                      is_described ? is_package ? ", torch.export" : "torch.export" : "");
}

/* Judges the members of a .keras file besides the weights. */
static void judge_beside_weights(struct sp_zip *zip, const struct sp_file *file, struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < sp_zip_count(zip) && !sp_zip_is_far(zip); i++)
        if (!sp_begins_with(sp_zip_entry(zip, i)->name, "model.weights."))
            sp_bundle_judge_member(zip, i, file, inventory);
}

/* Which format the archive is, in this order: a file of torch.save or TorchScript, .keras, torch.package, torch.export
 * or an old TorchScript, .npz, any archive with checkpoints in it. */
static bool index_archive(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                          struct shapeproof_error *error)
{
    size_t pickle;
    const char *path;
    struct sp_zip *zip = sp_zip_open(file, error);
    if (!zip) return false;
    bool ok = sp_torch_zip_find(zip, &pickle, error);
    if (ok) warn_of_other_kinds(zip, pickle, inventory);
    if (ok && pickle != SIZE_MAX) ok = sp_torch_zip_index(zip, pickle, file_index, inventory, error);
    else if (ok && sp_keras_zip_is(zip)) ok = sp_keras_zip_index(zip, file, file_index, inventory, error);
    else if (ok && sp_torch_package_prefix(zip, &path)) ok = sp_torch_package_index(zip, file_index, inventory, error);
    else if (ok && sp_torch_described_is(zip)) ok = sp_torch_described_index(zip, file, file_index, inventory, error);
    else if (ok && sp_npz_is(zip)) ok = sp_npz_index(zip, file_index, inventory, error);
    else if (ok && !stray_pickle(zip) && sp_bundle_is(zip))
        ok = sp_bundle_index(zip, file, file_index, inventory, error);
    else if (ok) {
        sp_bundle_judge(zip, file, inventory);
        ok = unrecognised(zip, error);
    }
    if (ok && pickle != SIZE_MAX && sp_torch_package_prefix(zip, &path))
        sp_inventory_warn(inventory, "it is also an archive of torch.package, whose pickles are not read");
    if (ok && pickle != SIZE_MAX) sp_torch_zip_judge_others(zip, pickle, file, inventory);
    else if (ok && sp_keras_zip_is(zip)) judge_beside_weights(zip, file, inventory);
    if (ok) sp_torch_judge_programs(zip, inventory);
    if (ok) sp_torch_judge_scripts(zip, inventory);
    sp_zip_close(zip);
    return ok;
}

static bool locate_archived(const struct sp_file *file, uint32_t file_index, struct sp_data_places *places,
                            struct shapeproof_error *error)
{
    struct sp_zip *zip = sp_zip_open(file, error);
    if (!zip) return false;
    bool is_torch;
    const bool ok = sp_torch_zip_locate(zip, file_index, places, &is_torch, error);
    if (ok && !is_torch && !sp_keras_zip_is(zip) && sp_npz_is(zip)) sp_npz_locate(zip, file_index, places);
    else sp_zip_close(zip);
    return ok;
}

static const struct sp_file_ending endings[] = {{".pt", SP_IN_DIRECTORIES | SP_IN_ARCHIVES | SP_ZIPPED},
                                                {".pth", SP_IN_DIRECTORIES | SP_IN_ARCHIVES | SP_ZIPPED},
                                                {".bin", SP_IN_DIRECTORIES | SP_IN_ARCHIVES | SP_ZIPPED},
                                                {".pth.tar", SP_IN_DIRECTORIES},
                                                {".ckpt", SP_IN_DIRECTORIES | SP_IN_ARCHIVES | SP_ZIPPED},
                                                {".th", SP_IN_DIRECTORIES | SP_IN_ARCHIVES | SP_ZIPPED},
                                                {".keras", SP_IN_DIRECTORIES | SP_IN_ARCHIVES | SP_ZIPPED},
                                                {".npz", SP_IF_ALONE | SP_IN_ARCHIVES | SP_ZIPPED},
                                                {".pt2", SP_IF_ALONE},
                                                {".nemo", SP_IF_ALONE},
                                                {".zip", SP_ZIPPED},
                                                {NULL, 0}};

const struct sp_reader sp_reader_archive = {
    .name = "zip", .endings = endings, .probe = probe_archive, .index = index_archive, .locate = locate_archived};
