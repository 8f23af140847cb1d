/* SPDX-License-Identifier: MIT
 * The directory that a checkpoint's files lie in, held open: files are opened relative to it, never by a path that
 * was put together. */
#ifndef SP_READ_FOLDER_H
#define SP_READ_FOLDER_H

#include "base/file.h"
#include "model/inventory.h"

struct sp_shard;

/* Whoever knows how to get at the files of a folder that is elsewhere, of which `fd` is a mirror. */
struct sp_far {
    /* Says which files are opened next, so that they are fetched side by side. One that is not there is no error. */
    bool (*expect)(struct sp_far *far, const struct sp_shard *shards, size_t count, struct shapeproof_error *error);
    bool (*open)(struct sp_far *far, const char *name, struct sp_file *file, struct shapeproof_error *error);
};

struct sp_folder {
    int fd;             /* or AT_FDCWD */
    const char *path;   /* for messages, as the user wrote it; "" for the current directory */
    struct sp_far *far; /* NULL: it is here */
};

/* Opens a directory; `path` is borrowed. False without an error when it is anything else, or cannot be opened:
 * errno says why. */
bool sp_folder_open(struct sp_folder *folder, const char *path);
void sp_folder_close(struct sp_folder *folder);
/* Opens a file in it; its name is not put into `error`. */
bool sp_folder_open_file(const struct sp_folder *folder, const char *name, struct sp_file *file,
                         struct shapeproof_error *error);
/* "path/name". */
char *sp_folder_join(const struct sp_folder *folder, const char *name, struct sp_arena *arena);
/* Adds "path/name: " in front of an error. Returns false. */
bool sp_folder_blame(const struct sp_folder *folder, const char *name, struct shapeproof_error *error);

/* Reads the one file `name` as a whole checkpoint, and finishes the inventory. */
bool sp_folder_read(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory,
                    struct shapeproof_error *error);

struct sp_shard {
    const char *name;
    size_t indexed; /* how many tensors an index places in it; 0 when there is no index */
    bool groups;    /* what it counts are groups of them */
    uint32_t file;  /* its number in the inventory, or SP_NO_FILE when it cannot be opened */
};

#define SP_NO_FILE UINT32_MAX

/* Reads all shards as one checkpoint, and finishes the inventory. A shard that cannot be opened is a warning, as long
 * as there is another; one that is malformed is an error. `owner` (the index) is blamed for what no shard is to blame
 * for; NULL for the folder itself. */
bool sp_folder_read_shards(const struct sp_folder *folder, const char *owner, struct sp_shard *shards, size_t count,
                           struct shapeproof_inventory *inventory, struct shapeproof_error *error);

#endif
