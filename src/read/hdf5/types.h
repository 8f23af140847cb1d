/* SPDX-License-Identifier: MIT
 * From an HDF5 datatype to a dtype, in the child. */
#ifndef SP_READ_HDF5_TYPES_H
#define SP_READ_HDF5_TYPES_H

#include <stdbool.h>

#include "read/hdf5/library.h"
#include "shapeproof/dtype.h"

struct sp_h5_type {
    enum shapeproof_dtype dtype;
    char name[32]; /* when the dtype is unknown: "string", "compound", "opaque16", "custom float24", ... */
    bool big_endian;
    bool beyond; /* an integer that has bits outside of its bytes: HDF5 2.0 refuses it */
    bool custom; /* a float whose fields are those of no dtype */
};

/* `meaning` is the text of the dataset's attribute "dtype" ("bfloat16" over two opaque bytes), or "". */
struct sp_h5_type sp_h5_type_of(hid_t type, const char *meaning);

#endif
