/* SPDX-License-Identifier: MIT
 * The walk over an HDF5 file, in the child: the two functions of a sandbox job whose context is a struct sp_h5_source.
 */
#ifndef SP_READ_HDF5_WALK_H
#define SP_READ_HDF5_WALK_H

#include <stdbool.h>

enum {
    SP_H5_MAX_OBJECTS = 2 * 1000 * 1000, /* links, in all groups */
    SP_H5_MAX_DEPTH = 128                /* of groups */
};

/* Starts the library: no plug-ins, no environment, no messages, no external links. */
bool sp_h5_prepare(void *source);
/* Sends the records of wire.h. */
void sp_h5_walk(void *source, int out);

#endif
