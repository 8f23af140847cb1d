/* SPDX-License-Identifier: MIT
 * What the child that walks an HDF5 file tells its parent: a stream of records over a pipe. The child may have been
 * taken over by the file, so the parent checks every length and every value again.
 *
 * A record is one byte of enum sp_wire_kind and its fields: little-endian integers, and strings as a 32-bit length and
 * that many bytes. The last record is SP_WIRE_END or SP_WIRE_FAILURE; a stream without it is incomplete. */
#ifndef SP_READ_HDF5_WIRE_H
#define SP_READ_HDF5_WIRE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/text.h"
#include "shapeproof/dtype.h"
#include "shapeproof/error.h"

enum sp_wire_kind {
    SP_WIRE_TENSOR = 1, /* struct sp_wire_tensor */
    SP_WIRE_ALIAS,      /* path, address: a dataset that was sent before under another name */
    SP_WIRE_NOTE,       /* enum sp_wire_note, path, target */
    SP_WIRE_NAMES,      /* path of the group, "layer_names" or "weight_names", count, names */
    SP_WIRE_ATTRIBUTE,  /* path of the group, name, value */
    SP_WIRE_UNREAD,     /* enum shapeproof_kind, path, message: an object that could not be read; the others are */
    SP_WIRE_STRUCTURE,  /* bytes of headers, trees and heaps */
    SP_WIRE_FAILURE,    /* enum shapeproof_kind, message */
    SP_WIRE_END
};

/* What is not listed, or not read, and why. */
enum sp_wire_note {
    SP_NOTE_SOFT_LINK = 0,
    SP_NOTE_EXTERNAL_LINK,
    SP_NOTE_USER_LINK,
    SP_NOTE_GROUP_ALIAS,
    SP_NOTE_VIRTUAL,
    SP_NOTE_EXTERNAL_DATA,
    SP_NOTE_TOO_LONG,      /* an attribute over its limit; target: its name and size */
    SP_NOTE_NOT_TEXT,      /* an attribute that ought to be text; target: its name */
    SP_NOTE_NEWER,         /* read without the library; target: why */
    SP_NOTE_BOTH_FORMS,    /* layer_names and layer_names0 */
    SP_NOTE_CUSTOM,        /* a float whose fields are those of no dtype; target: its name */
    SP_NOTE_NOT_UTF8,      /* the name of an object */
    SP_NOTE_REFUSED,       /* HDF5 2.0 refuses it; target: why */
    SP_NOTE_ABSENT_CHUNKS, /* a part of a dataset was never written; target: how many chunks */
    SP_NOTE_COUNT
};

enum { SP_WIRE_MAX_RANK = 32 }; /* H5S_MAX_RANK */

enum sp_wire_flag {
    SP_WIRE_NULL_SPACE = 1 << 0,   /* no shape at all */
    SP_WIRE_UNREAD_SPACE = 1 << 1, /* virtual or external: the shape was not asked for */
    SP_WIRE_BIG_ENDIAN = 1 << 2,
    SP_WIRE_UNREAD_PLACE = 1 << 3,  /* where its data are was not asked for */
    SP_WIRE_COMPACT = 1 << 4,       /* its data are in its header, neither in chunks nor compressed */
    SP_WIRE_ABSENT_CHUNKS = 1 << 5, /* some of its chunks were never written */
    SP_WIRE_ALL_FLAGS = 63
};

struct sp_wire_tensor {
    const char *path; /* without the leading '/' */
    enum shapeproof_dtype dtype;
    const char *dtype_name; /* when the dtype is unknown: "string", "opaque16", ... */
    uint32_t flags;
    uint32_t rank;
    uint64_t shape[SP_WIRE_MAX_RANK];
    uint64_t address; /* of the object header: its identity in the file */
    uint64_t begin;   /* of contiguous data, from the start of the HDF5 file; 0 when there is none */
    uint64_t stored;  /* bytes that the file holds for it */
};

/* ---- the child writes ---- */

struct sp_wire {
    int fd;
    struct sp_text out;
};

/* Each ends the process when the pipe is gone: there is nobody left to tell. */
void sp_wire_put_tensor(struct sp_wire *wire, const struct sp_wire_tensor *tensor);
void sp_wire_put_alias(struct sp_wire *wire, const char *path, uint64_t address);
void sp_wire_put_note(struct sp_wire *wire, enum sp_wire_note note, const char *path, const char *target);
void sp_wire_put_attribute(struct sp_wire *wire, const char *path, const char *name, const char *value, size_t length);
/* To be followed by `count` calls of sp_wire_put_string. */
void sp_wire_put_names(struct sp_wire *wire, const char *path, const char *name, uint32_t count);
void sp_wire_put_string(struct sp_wire *wire, const char *bytes, size_t length);
void sp_wire_put_unread(struct sp_wire *wire, enum shapeproof_kind kind, const char *path, const char *message);
void sp_wire_put_structure(struct sp_wire *wire, uint64_t bytes);
void sp_wire_put_failure(struct sp_wire *wire, enum shapeproof_kind kind, const char *message);
void sp_wire_put_end(struct sp_wire *wire);

/* ---- the parent reads; all strings are copied into the arena ---- */

/* A string without NUL of at most `limit` bytes, invalid UTF-8 made visible as \xNN; "" and ok = false otherwise. */
const char *sp_wire_get_string(struct sp_cursor *cursor, struct sp_arena *arena, size_t limit);
/* The fields that follow SP_WIRE_TENSOR; false when one of them is out of its range. */
bool sp_wire_get_tensor(struct sp_cursor *cursor, struct sp_arena *arena, struct sp_wire_tensor *tensor);

#endif
