/* SPDX-License-Identifier: MIT
 * A file of torch.save or a TorchScript archive: a zip around one pickle and the storages that it names. */
#ifndef SP_READ_TORCH_ZIP_H
#define SP_READ_TORCH_ZIP_H

#include "read/reader.h"
#include "read/zip/archive.h"

/* The index of the only member that is called "<folder>/data.pkl", SIZE_MAX when there is none; false with an error
 * when there are two. */
bool sp_torch_zip_find(const struct sp_zip *zip, size_t *pickle, struct sp_error *error);
/* Fills the inventory (format "torch-zip" or "torchscript"); see struct sp_reader for the contract. */
bool sp_torch_zip_index(struct sp_zip *zip, size_t pickle, uint32_t file_index, struct sp_inventory *inventory,
                        struct sp_error *error);
/* Where the storages of its tensors lie; see struct sp_reader. */
bool sp_torch_zip_locate(struct sp_zip *zip, size_t pickle, uint32_t file_index, const struct sp_inventory *inventory,
                         struct sp_place *places, struct sp_error *error);

#endif
