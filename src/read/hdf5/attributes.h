/* SPDX-License-Identifier: MIT
 * The few attributes in which Keras keeps its names and configurations, in the child. They are asked for by name. */
#ifndef SP_READ_HDF5_ATTRIBUTES_H
#define SP_READ_HDF5_ATTRIBUTES_H

#include <stdbool.h>

#include "read/hdf5/library.h"
#include "read/hdf5/wire.h"

enum {
    SP_H5_MAX_STRINGS = 1000 * 1000,       /* names in one attribute */
    SP_H5_MAX_VLEN_STRINGS = 100 * 1000,   /* of variable length: each may point at the same megabyte */
    SP_H5_MAX_ATTRIBUTE = 64 * 1024 * 1024 /* bytes of one attribute */
};

enum { SP_H5_MAX_JSON = 16 * 1024 * 1024 };

/* Both send what they find, and nothing when the attribute is absent; false when HDF5 failed on it. */

/* One text, such as model_config; anything but a single string becomes a note. */
bool sp_h5_send_text(struct sp_wire *wire, hid_t object, const char *path, const char *name);
/* A list of names: `name`, or else `name`0, `name`1, ... into which Keras splits what does not fit into 64 KiB. */
bool sp_h5_send_names(struct sp_wire *wire, hid_t object, const char *path, const char *name);
/* An integer, as text. */
bool sp_h5_send_integer(struct sp_wire *wire, hid_t object, const char *path, const char *name);

/* The text of a short attribute in `buffer`; "" when it is absent or something else. */
bool sp_h5_short_text(hid_t object, const char *name, char *buffer, size_t size);

#endif
