/* SPDX-License-Identifier: MIT
 * The data of HDF5 datasets that do not lie in one piece: chunked, compressed, or in the header of the object. */
#ifndef SP_READ_HDF5_DATA_H
#define SP_READ_HDF5_DATA_H

#include "read/hdf5/source.h"
#include "read/reader.h"

/* Makes a source of the datasets of the file that have no place in it, which lies as `where` says. */
void sp_h5_locate(const struct sp_h5_source *where, uint32_t file_index, struct sp_data_places *places);

#endif
