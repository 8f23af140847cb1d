/* SPDX-License-Identifier: MIT
 * What the hub says of a revision: {"sha": "...", "siblings": [{"rfilename": "config.json"}, ...], ...} */
#ifndef SP_NET_LISTING_H
#define SP_NET_LISTING_H

#include "base/arena.h"
#include "base/error.h"

struct sp_listing {
    const char *commit; /* hexadecimal digits */
    const char **items; /* the names of its files, all below where they begin; sp_free the array */
    size_t count, capacity;
};

/* Reads one into an empty listing or over another; `text` is written to, commit and names are the arena's. */
bool sp_listing_read(struct sp_listing *listing, char *text, size_t length, struct sp_arena *arena,
                     struct shapeproof_error *error);

#endif
