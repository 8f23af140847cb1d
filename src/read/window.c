/* SPDX-License-Identifier: MIT */
#include "read/window.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

void sp_window_open(struct sp_window *window, const struct sp_file *file, uint64_t begin, uint64_t end,
                    struct shapeproof_error *error)
{
    window->file = file;
    window->error = error;
    window->what = "the file";
    window->end = end < file->size ? end : file->size;
    window->at = begin < window->end ? begin : window->end;
    window->begin = window->at;
    window->length = 0;
    window->ok = true;
}

static bool fail_past_end(struct sp_window *window, uint64_t count)
{
    window->ok = false;
    return sp_malformed(window->error,
                        "ends within %s: %" PRIu64 " more bytes are needed at byte %" PRIu64 ", there are %" PRIu64,
                        window->what, count, window->at, sp_window_left(window));
}

/* The bytes at the place of the window come into its memory. */
static bool fill_window(struct sp_window *window)
{
    const uint64_t left = sp_window_left(window);
    window->begin = window->at;
    window->length = left < SP_WINDOW_BYTES ? (size_t)left : SP_WINDOW_BYTES;
    window->ok = sp_file_read(window->file, window->begin, window->bytes, window->length, window->error);
    if (!window->ok) window->length = 0;
    return window->ok;
}

static size_t held_bytes(const struct sp_window *window)
{
    const uint64_t offset = window->at - window->begin;
    return window->at >= window->begin && offset < window->length ? window->length - (size_t)offset : 0;
}

bool sp_window_take(struct sp_window *window, void *into, size_t count)
{
    unsigned char *to = into;
    memset(into, 0, count);
    if (!window->ok) return false;
    if (count > sp_window_left(window)) return fail_past_end(window, count);
    while (count) {
        size_t held = held_bytes(window);
        if (!held && !fill_window(window)) return false;
        if (!held) held = window->length;
        if (held > count) held = count;
        memcpy(to, window->bytes + (window->at - window->begin), held);
        window->at += held;
        to += held;
        count -= held;
    }
    return true;
}

bool sp_window_skip(struct sp_window *window, uint64_t count)
{
    if (!window->ok) return false;
    if (count > sp_window_left(window)) return fail_past_end(window, count);
    window->at += count;
    return true;
}

uint64_t sp_window_le(struct sp_window *window, unsigned bytes)
{
    unsigned char raw[8];
    uint64_t value = 0;
    sp_window_take(window, raw, bytes);
    for (unsigned i = bytes; i-- > 0;) value = value << 8 | raw[i];
    return value;
}

const char *sp_printable_name(const char *bytes, size_t length, struct sp_arena *arena)
{
    if (memchr(bytes, '\0', length)) return NULL;
    if (sp_utf8_check(bytes, length) == length) return sp_arena_copy(arena, bytes, length);
    struct sp_text visible = {0};
    sp_text_visible(&visible, bytes, length);
    return sp_text_keep(&visible, arena);
}

const char *sp_window_text(struct sp_window *window, uint64_t length, size_t limit, struct sp_arena *arena)
{
    const char *name = NULL;
    if (!window->ok) return "";
    if (length > limit) {
        window->ok = sp_fail(window->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                             "%s: a name of %" PRIu64 " bytes at byte %" PRIu64 ", at most %zu", window->what, length,
                             window->at, limit);
        return "";
    }
    char *bytes = sp_realloc(NULL, (size_t)length + 1, 1);
    if (sp_window_take(window, bytes, (size_t)length)) {
        name = sp_printable_name(bytes, (size_t)length, arena);
        if (!name) window->ok = sp_malformed(window->error, "%s: a NUL in a name", window->what);
    }
    sp_free(bytes);
    return name ? name : "";
}
