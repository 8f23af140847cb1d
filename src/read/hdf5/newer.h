/* SPDX-License-Identifier: MIT
 * Datasets that are newer than the library: HDF5 2.0 numbers its datatypes and layouts anew even where they mean the
 * same, and libhdf5 1.10 opens none of them. What is asked of a dataset here, its shape and its type, stands in its
 * object header, which has not changed since 1.8: it is read without the library, in the child. */
#ifndef SP_READ_HDF5_NEWER_H
#define SP_READ_HDF5_NEWER_H

#include "read/hdf5/source.h"
#include "read/hdf5/types.h"
#include "read/hdf5/wire.h"

/* Fills dtype, shape and flags of the dataset whose object header is at `address`; `type` is what dtype_name is
 * borrowed from. False when it is no dataset, or one that cannot be understood either. */
bool sp_h5_read_newer(struct sp_h5_source *source, hid_t file, uint64_t address, struct sp_wire_tensor *tensor,
                      struct sp_h5_type *type);

#endif
