/* SPDX-License-Identifier: MIT
 * An HDF5 file into the inventory: runs the walk in its sandbox and checks what comes back. */
#ifndef SP_READ_HDF5_INDEX_H
#define SP_READ_HDF5_INDEX_H

#include "base/file.h"
#include "model/inventory.h"
#include "read/hdf5/source.h"

/* See struct sp_reader; `source` says where in `file` the HDF5 file lies. Sets inventory->format. */
bool sp_h5_index(struct sp_h5_source *source, uint32_t file_index, struct shapeproof_inventory *inventory,
                 struct shapeproof_error *error);

#endif
