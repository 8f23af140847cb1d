/* SPDX-License-Identifier: MIT
 * The part of the cache that stands for one place: a folder with files of their full sizes, which have holes where
 * nothing was fetched, and beside it what is known of each: its version, and which bytes of it are there.
 *
 *   CACHE/KEY/files/model.safetensors    5 GB long, of which 120 KiB take place on the disk
 *   CACHE/KEY/state/model.safetensors    "shapeproof-mirror 1", "etag ...", "size N", "has BEGIN END" lines
 *
 *   CACHE/KEY/lock                       held by the process that fetches: what it writes of bytes and state fits
 *                                        together, and another that wants the same waits and finds it there
 *
 * A file of another version takes the place of the old one and is a new file: who has the old one open keeps it. */
#ifndef SP_NET_SPARSE_CACHE_H
#define SP_NET_SPARSE_CACHE_H

#include "base/arena.h"
#include "base/error.h"
#include "net/transfer.h"

struct sp_sparse_cache {
    const char *path; /* of the files, good while the sparse cache is open */
    int files, state; /* the two folders */
    int lock;         /* held from sp_sparse_cache_open to sp_sparse_cache_unlock or sp_sparse_cache_close; -1: not */
};

struct sp_byte_range {
    uint64_t begin, end;
};

struct sp_cached_file {
    const char *name; /* with slashes */
    int fd;           /* to write; -1: there is no sparse cache of it yet */
    uint64_t size;
    char etag[SP_ETAG_BYTES];
    SP_ARRAY(struct sp_byte_range) spans; /* that are there, in order, none next to another */
};

/* Makes the folders CACHE/KEY/files and CACHE/KEY/state where they are not there, and opens them; `key` may have
 * slashes in it. Waits for any other process that fetches from the same place. False with an error, and nothing open.
 */
bool sp_sparse_cache_open(struct sp_sparse_cache *sparse, const char *cache, const char *key, struct sp_arena *arena,
                          struct shapeproof_error *error);
/* For others to fetch; what is there can still be read. */
void sp_sparse_cache_unlock(struct sp_sparse_cache *sparse);
void sp_sparse_cache_close(struct sp_sparse_cache *sparse);
/* Makes an empty file of that name, unless there is a file: so that it is found when the folder is listed. */
bool sp_sparse_cache_name(const struct sp_sparse_cache *sparse, const char *name, struct shapeproof_error *error);
/* Forgets a file that is there no more. */
void sp_sparse_cache_drop(const struct sp_sparse_cache *sparse, const char *name);
/* Stores a short text of our own among the states, in place of an older one; sp_sparse_cache_noted reads it again, with
 * a NUL at its end. That is NULL when it is not there, or longer than `limit`; sp_free it. */
bool sp_sparse_cache_note(const struct sp_sparse_cache *sparse, const char *name, const void *bytes, size_t length,
                          struct shapeproof_error *error);
char *sp_sparse_cache_noted(const struct sp_sparse_cache *sparse, const char *name, size_t limit);

/* What earlier commands left of the file; false when that is nothing that can be used. */
bool sp_cached_file_load(struct sp_cached_file *file, const struct sp_sparse_cache *sparse);
/* A new, empty sparse cache of a file. */
bool sp_cached_file_make(struct sp_cached_file *file, const struct sp_sparse_cache *sparse, uint64_t size,
                         const char *etag, struct shapeproof_error *error);
/* Writes bytes that were fetched, and notes that they are there. */
bool sp_cached_file_put(struct sp_cached_file *file, uint64_t begin, const void *bytes, size_t length,
                        struct shapeproof_error *error);
/* The part of `wanted` that is not there, without what is there at its ends; empty when all is. */
struct sp_byte_range sp_cached_file_missing(const struct sp_cached_file *file, struct sp_byte_range wanted);
/* Remembers what is there, once the disk has it. */
bool sp_cached_file_save(const struct sp_cached_file *file, const struct sp_sparse_cache *sparse,
                         struct shapeproof_error *error);
/* Whether the file under its name is still this one; an error when it is one of another version, or cannot be told. */
bool sp_cached_file_confirm(const struct sp_cached_file *file, const struct sp_sparse_cache *sparse,
                            struct shapeproof_error *error);
void sp_cached_file_close(struct sp_cached_file *file);

#endif
