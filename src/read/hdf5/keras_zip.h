/* SPDX-License-Identifier: MIT
 * A .keras file: a zip around config.json, metadata.json and model.weights.h5. */
#ifndef SP_READ_HDF5_KERAS_ZIP_H
#define SP_READ_HDF5_KERAS_ZIP_H

#include "model/inventory.h"
#include "read/zip/archive.h"

/* True when the members of the archive are those of a .keras file. */
bool sp_keras_zip_is(const struct sp_zip *zip);
/* Fills the inventory (format "keras-zip"); see struct sp_reader for the contract. */
bool sp_keras_zip_index(struct sp_zip *zip, const struct sp_file *file, uint32_t file_index,
                        struct shapeproof_inventory *inventory, struct shapeproof_error *error);

#endif
