/* SPDX-License-Identifier: MIT */
#include "model/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { BUFFER = 1 << 18 }; /* bytes: two of them stay in the cache of a processor */

static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t length)
{
    size_t i = 0;
    if (memcmp(a, b, length) == 0) return length;
    while (a[i] == b[i]) i++;
    return i;
}

static bool compare_bytes(struct sp_bytes_of a, struct sp_bytes_of b, uint64_t length, uint64_t *at,
                          unsigned char *buffers, struct shapeproof_error *error)
{
    while (*at < length) {
        const size_t part = length - *at < BUFFER ? (size_t)(length - *at) : BUFFER;
        if (!shapeproof_data_read(a.data, a.tensor, *at, buffers, part, error) ||
            !shapeproof_data_read(b.data, b.tensor, *at, buffers + BUFFER, part, error))
            return false;
        const size_t equal = first_difference(buffers, buffers + BUFFER, part);
        *at += equal;
        if (equal < part) break;
    }
    return true;
}

bool sp_bytes_compare(struct sp_bytes_of a, struct sp_bytes_of b, uint64_t length, uint64_t *at,
                      struct shapeproof_error *error)
{
    unsigned char *buffers = sp_realloc(NULL, BUFFER, 2);
    const bool ok = compare_bytes(a, b, length, at, buffers, error);
    sp_free(buffers);
    return ok;
}
