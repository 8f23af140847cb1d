/* SPDX-License-Identifier: MIT
 * A list of checkpoints: a path a line, as it is given to every other command. Empty lines, and lines that begin with
 * '#', do not count; a path that begins with '#' is written "./#...". What is listed twice counts once.
 *
 * A list is read once, to its end, so that what is wrong with it is found before anything is checked. Of each path its
 * place is kept, 12 bytes; the text is read again when it is needed. */
#ifndef SP_FLEET_LIST_H
#define SP_FLEET_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "shapeproof/error.h"

struct sp_list {
    const char *name;           /* borrowed: for messages */
    int from;                   /* the descriptor of the file that has the paths: borrowed */
    uint64_t base;              /* where in it the list begins */
    struct sp_list_path *paths; /* heap */
    size_t count, capacity;
    size_t repeated;     /* lines that name a path again, and are not in `paths` */
    uint64_t seed;       /* of the hashes of paths */
    struct sp_text path; /* the one that was read last, and its place in `paths` or SIZE_MAX */
    size_t path_index;
};

/* Reads the list from the descriptor `from`, to its end; `name` is for messages. The paths are written to
 * `store`, a descriptor of an empty file, and read again from there. If `store` is -1, they are read again from `from`,
 * which must be a regular file. The file that has the paths stays open as long as the list is used. False with an error
 * when the list cannot be read, has a NUL byte or a line that is longer than a path. Free it with sp_list_free, also
 * after an error. */
bool sp_list_read(struct sp_list *list, int from, int store, const char *name, struct shapeproof_error *error);
/* The path at `index`, until the next call; NULL with an error if it cannot be read or is not the same as before. */
const char *sp_list_path(struct sp_list *list, size_t index, struct shapeproof_error *error);
/* Removes the paths for which `is_done` is true, and sets *count to their number. */
bool sp_list_leave_out(struct sp_list *list, bool (*is_done)(const void *context, const char *path),
                       const void *context, size_t *count, struct shapeproof_error *error);
void sp_list_free(struct sp_list *list);

#endif
