/* SPDX-License-Identifier: MIT
 * What a call can end with. Every fallible function fills one explicit error object, once, where the fault was found;
 * those above it add context and never overwrite it. The library never prints or exits.
 *
 * Every public function that takes an error resets it first, whatever it held before. So one object will do for all
 * calls and need not be initialised, a failed call spoils none after it, and what it says is of the last call alone:
 * look at what a function returns before the next one is called. */
#ifndef SHAPEPROOF_ERROR_H
#define SHAPEPROOF_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "shapeproof/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The values up to 5 are the exit statuses of the command (1, "differs", is a result and not an error). */
enum shapeproof_status {
    SHAPEPROOF_OK = 0,
    SHAPEPROOF_ERR_USAGE = 2,    /* the caller asked for something that does not exist */
    SHAPEPROOF_ERR_TABLE = 3,    /* a table or a configuration is wrong */
    SHAPEPROOF_ERR_FILE = 4,     /* the checkpoint is unreadable or malformed */
    SHAPEPROOF_ERR_UNKNOWN = 5,  /* no table for this architecture */
    SHAPEPROOF_ERR_CANCELLED = 6 /* the caller's watch ended the call (watch.h) */
};

/* Why a checkpoint could not be read or checked, for programs that tell these apart. */
enum shapeproof_kind {
    SHAPEPROOF_KIND_NONE = 0,
    SHAPEPROOF_KIND_IO = 1,           /* the system refused: missing, no permission, not a regular file, EIO */
    SHAPEPROOF_KIND_UNRECOGNISED = 2, /* not a checkpoint format that this build knows */
    SHAPEPROOF_KIND_MALFORMED = 3,    /* the file breaks its own format */
    SHAPEPROOF_KIND_REFUSED = 4,      /* understood, but refused on purpose */
    SHAPEPROOF_KIND_LIMIT = 5,        /* a file or a prediction is larger or deeper than the documented limits */
    SHAPEPROOF_KIND_CRASHED = 6,      /* a foreign library died on it, in its own process */
    SHAPEPROOF_KIND_OVERFLOW = 7      /* a number of a prediction does not fit in 64 bits; nothing else is wrong */
};

/* Belongs to the caller; never NULL. After a call that succeeded it is SHAPEPROOF_OK and its texts are "". */
struct shapeproof_error {
    enum shapeproof_status status;
    enum shapeproof_kind kind;
    char message[1024]; /* one line, or several "file:line:column: ..." blocks for a table; no final newline */
    char hint[512];     /* the next thing to do, or "" */
};

/* Whether a public function that this thread has called since this was last asked has run out of memory. For functions
 * that take no error: they then return NULL, false or 0, and have changed nothing. */
SHAPEPROOF_API bool shapeproof_ran_out_of_memory(void);

/* The name of a kind: "malformed", "limit", ...; "" for SHAPEPROOF_KIND_NONE. Static. */
SHAPEPROOF_API const char *shapeproof_kind_name(enum shapeproof_kind kind);

#ifdef __cplusplus
}
#endif
#endif
