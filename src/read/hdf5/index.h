/* SPDX-License-Identifier: MIT
 * An HDF5 file into the inventory: runs the walk in its sandbox and checks what comes back. */
#ifndef SP_READ_HDF5_INDEX_H
#define SP_READ_HDF5_INDEX_H

#include "base/file.h"
#include "model/inventory.h"
#include "read/hdf5/source.h"

/* Offset of the HDF5 signature in the file: 0, 512, 1024, 2048, ...; UINT64_MAX when there is none. */
uint64_t sp_h5_signature(const struct sp_file *file);

/* See struct sp_reader; `source` says where in `file` the HDF5 file lies. Sets inventory->format. */
bool sp_h5_index(struct sp_h5_source *source, uint32_t file_index, struct shapeproof_inventory *inventory,
                 struct shapeproof_error *error);

#endif
