/* SPDX-License-Identifier: MIT
 * The object header of a group or dataset, read without the library. Version 1:
 *   version (8 bits), 0 (8), number of messages (16), links (32), size of the first chunk (32), 0 (32), messages
 * with the messages as
 *   type (16), size (16), flags (8), 0 (24), data
 * Version 2:
 *   "OHDR" version flags [times: 16] [attribute limits: 4] size of the first chunk, messages, checksum
 * with the messages as
 *   type (8), size (16), flags (8), [order: 16], data
 * A message of type 16 leads on to a further chunk; in version 2 that is "OCHK", messages, checksum. */
#ifndef SP_READ_HDF5_HEADER_H
#define SP_READ_HDF5_HEADER_H

#include "base/cursor.h"
#include "read/hdf5/source.h"

enum { SP_H5_MAX_CHUNKS = 64 };

struct sp_h5_message {
    unsigned type, flags;
    struct sp_cursor data;
};

enum { SP_H5_SHARED = 2 }; /* flag of a message: its data are somewhere else */

struct sp_h5_header {
    struct sp_h5_source *source;
    uint64_t base; /* of the addresses in the file (sp_h5_header_base) */
    void (*take)(void *context, const struct sp_h5_message *message);
    void *context; /* of `take` */
    /* filled: */
    unsigned version;
    uint64_t declared; /* version 1: number of messages by its prefix */
    uint64_t in_first; /* messages in the first chunk */
    bool ordered;      /* messages have their order of creation */
    unsigned chunks;
    unsigned char *chunk[SP_H5_MAX_CHUNKS];
};

/* Where addresses count from. False unless addresses and lengths have the usual 8 bytes. */
bool sp_h5_header_base(hid_t file, uint64_t *base);
/* Calls `take` for each message of the header at `address`. False when the header cannot be read to its end. */
bool sp_h5_header_read(struct sp_h5_header *header, uint64_t address);
/* The data of the messages are gone then. */
void sp_h5_header_free(struct sp_h5_header *header);

/* Why HDF5 2.0 refuses the object whose header is at `address`, although older releases read it; NULL: it does not, or
 * the header cannot be read. */
const char *sp_h5_header_refusal(struct sp_h5_source *source, uint64_t base, uint64_t address);

#endif
