/* SPDX-License-Identifier: MIT
 * A .npz file: a zip archive of .npy files, one for each array, stored or deflated. */
#ifndef SP_READ_NUMPY_NPZ_H
#define SP_READ_NUMPY_NPZ_H

#include "model/inventory.h"
#include "read/reader.h"
#include "read/zip/archive.h"

/* True when there is a member *.npy. */
bool sp_npz_is(const struct sp_zip *zip);
/* Fills the inventory (format "npz"); see struct sp_reader for the contract. */
bool sp_npz_index(struct sp_zip *zip, uint32_t file_index, struct shapeproof_inventory *inventory,
                  struct shapeproof_error *error);
/* Makes a source of the arrays that are deflated, and takes the archive over. */
void sp_npz_locate(struct sp_zip *zip, uint32_t file_index, struct sp_data_places *places);

#endif
