/* SPDX-License-Identifier: MIT
 * Where libhdf5 gets its bytes: a read-only virtual file driver over one descriptor (from a base offset, for a member
 * that a zip archive stores as it is) or over memory (for one that had to be inflated). It can be opened once, so that
 * no other file can be reached through it, and it stops after a budget of bytes, which turns a B-tree that runs in
 * circles into a clean failure. */
#ifndef SP_READ_HDF5_SOURCE_H
#define SP_READ_HDF5_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "read/hdf5/library.h"

struct sp_h5_source {
    int fd;                      /* or -1: `memory` */
    const unsigned char *memory; /* borrowed */
    uint64_t base;               /* where the HDF5 file begins within fd */
    uint64_t origin;             /* where the file begins within fd, from which places are counted */
    uint64_t size;               /* its bytes */
    uint64_t names_left;         /* bytes that all paths may have (sp_inventory_names_left) */
    size_t part;                 /* of several HDF5 files within `fd`, which: an address is of its own in each */
    /* of the driver, in the child */
    bool opened;
    uint64_t budget; /* bytes that may still be read */
    bool exhausted;
    int why; /* errno of a read that failed; 0: none has */
};

/* Bytes of the file, counted against the budget; false past its end, or when they cannot be read. */
bool sp_h5_source_read(struct sp_h5_source *source, uint64_t at, void *into, size_t length);
enum sp_h5_cache { SP_H5_SMALL_CACHE, SP_H5_LARGE_CACHE };

/* Sets the size of the cache of metadata. The links of a large group are read in no order, so that all that holds them
 * has to stay; the objects behind them are looked at once each, for which a small one does. False when HDF5 fails. */
bool sp_h5_source_cache(hid_t file, enum sp_h5_cache cache);
/* The file, opened read-only; negative with the reason on HDF5's error stack. */
hid_t sp_h5_source_open(struct sp_h5_source *source);

#endif
