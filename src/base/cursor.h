/* SPDX-License-Identifier: MIT
 * A bounded cursor over bytes in memory, with sticky failure: a read past the end clears `ok`, yields zeros and
 * moves nothing. A parser reads a whole structure and then tests `ok` once. */
#ifndef SP_BASE_CURSOR_H
#define SP_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_cursor {
    const unsigned char *data;
    size_t length, offset;
    bool ok;
};

static inline struct sp_cursor sp_cursor_of(const void *data, size_t length)
{
    return (struct sp_cursor){data, length, 0, true};
}

static inline size_t sp_cursor_left(const struct sp_cursor *cursor) { return cursor->length - cursor->offset; }

/* `count` bytes at the cursor, or NULL (and ok = false) when fewer are left. */
static inline const unsigned char *sp_cursor_take(struct sp_cursor *cursor, uint64_t count)
{
    if (!cursor->ok || count > sp_cursor_left(cursor)) {
        cursor->ok = false;
        return NULL;
    }
    const unsigned char *bytes = cursor->data + cursor->offset;
    cursor->offset += (size_t)count;
    return bytes;
}

/* An unsigned little-endian integer of 1 to 8 bytes. */
static inline uint64_t sp_cursor_le(struct sp_cursor *cursor, unsigned bytes)
{
    const unsigned char *p = sp_cursor_take(cursor, bytes);
    uint64_t value = 0;
    for (unsigned i = bytes; p && i-- > 0;) value = value << 8 | p[i];
    return value;
}

#endif
