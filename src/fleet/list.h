/* SPDX-License-Identifier: MIT
 * A list of checkpoints: a path a line, as it is given to every other command. Empty lines, and lines that begin with
 * '#', do not count; a path that begins with '#' is written "./#...". What is listed twice counts once. */
#ifndef SP_FLEET_LIST_H
#define SP_FLEET_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "shapeproof/error.h"

struct sp_list {
    char *text; /* what the paths point into */
    const char **paths;
    size_t count;
    size_t repeated; /* lines that name a path again, and are not in `paths` */
};

/* Reads the list from the open descriptor `from`, a pipe or a file, to its end; `name` is for messages. False with an
 * error when it cannot be read or has a NUL byte. Free it with sp_list_free, also after an error. */
bool sp_list_read(struct sp_list *list, int from, const char *name, struct shapeproof_error *error);
void sp_list_free(struct sp_list *list);

#endif
