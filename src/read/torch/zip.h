/* SPDX-License-Identifier: MIT
 * A file of torch.save or a TorchScript archive: a zip around one pickle and the storages that it names. */
#ifndef SP_READ_TORCH_ZIP_H
#define SP_READ_TORCH_ZIP_H

#include "read/reader.h"
#include "read/zip/archive.h"

/* The index of the only member that is called "<folder>/data.pkl", SIZE_MAX when there is none; false with an error
 * when there are two. */
bool sp_torch_zip_find(const struct sp_zip *zip, size_t *pickle, struct shapeproof_error *error);
/* Fills the inventory (format "torch-zip" or "torchscript"); see struct sp_reader for the contract. */
bool sp_torch_zip_index(struct sp_zip *zip, size_t pickle, uint32_t file_index, struct shapeproof_inventory *inventory,
                        struct shapeproof_error *error);
/* Where the storages of its tensors lie, of all archives that are told here; see struct sp_reader. *is_ours is whether
 * it is one of these. */
bool sp_torch_zip_locate(struct sp_zip *zip, uint32_t file_index, struct sp_data_places *places, bool *is_ours,
                         struct shapeproof_error *error);

/* An archive of torch.package: the length of the folder that all its paths begin with, one of which is *path; 0 for any
 * other archive. */
size_t sp_torch_package_prefix(const struct sp_zip *zip, const char **path);
/* Fills the inventory (format "torch-package"). */
bool sp_torch_package_index(struct sp_zip *zip, uint32_t file_index, struct shapeproof_inventory *inventory,
                            struct shapeproof_error *error);

/* An archive of torch.export, or of TorchScript before 1.2; and the folder that is in front of its paths. */
bool sp_torch_described_is(const struct sp_zip *zip);
const char *sp_torch_described_folder(const struct sp_zip *zip, struct sp_arena *arena);
/* Fills the inventory (format "pt2" or "torchscript"). */
bool sp_torch_described_index(struct sp_zip *zip, const struct sp_file *file, uint32_t file_index,
                              struct shapeproof_inventory *inventory, struct shapeproof_error *error);

/* Reports in the inventory what each program in the archive would run: models/MODEL.json, and
 * serialized_exported_program.json of torch before 2.8. A warning names the member, also if it cannot be read. */
void sp_torch_judge_programs(struct sp_zip *zip, struct shapeproof_inventory *inventory);

/* The same for the source code of TorchScript in the archive: operators that open a file, and operators of other
 * libraries if loading runs code. */
void sp_torch_judge_scripts(struct sp_zip *zip, struct shapeproof_inventory *inventory);
/* Judges the members that torch.load does not read: those besides the data.pkl with the number `pickle`, the bytes of
 * storages, and source. Of a file that is elsewhere nothing is read, as each member would be a request. */
void sp_torch_zip_judge_others(struct sp_zip *zip, size_t pickle, const struct sp_file *file,
                               struct shapeproof_inventory *inventory);

#endif
