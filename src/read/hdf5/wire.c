/* SPDX-License-Identifier: MIT */
#include "read/hdf5/wire.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process/child.h"
#include "base/utf8.h"
#include "model/inventory.h"

enum { FLUSH_AT = 64 * 1024 };

/* ---- writing ---- */

static void flush(struct sp_wire *wire)
{
    if (!sp_write_all(wire->fd, wire->out.data, wire->out.length)) _exit(SP_CHILD_FAULT + errno);
    wire->out.length = 0;
}

static void put_number(struct sp_wire *wire, uint64_t value, unsigned bytes)
{
    char little[8] = {0};
    for (unsigned i = 0; i < bytes; i++) little[i] = (char)(value >> 8 * i & 0xff);
    sp_text_append(&wire->out, little, bytes);
}

static void put_wire_text(struct sp_wire *wire, const char *text) { sp_wire_put_string(wire, text, strlen(text)); }

/* Records are complete when the next one begins: that is where the buffer may be emptied. */
static void begin_record(struct sp_wire *wire, enum sp_wire_kind kind)
{
    if (wire->out.length >= FLUSH_AT) flush(wire);
    put_number(wire, kind, 1);
}

void sp_wire_put_string(struct sp_wire *wire, const char *bytes, size_t length)
{
    put_number(wire, length, 4);
    if (length) sp_text_append(&wire->out, bytes, length);
    if (wire->out.length >= FLUSH_AT) flush(wire);
}

void sp_wire_put_tensor(struct sp_wire *wire, const struct sp_wire_tensor *tensor)
{
    begin_record(wire, SP_WIRE_TENSOR);
    put_wire_text(wire, tensor->path);
    put_number(wire, tensor->dtype, 1);
    put_wire_text(wire, tensor->dtype_name);
    put_number(wire, tensor->flags, 1);
    put_number(wire, tensor->rank, 1);
    for (uint32_t i = 0; i < tensor->rank; i++) put_number(wire, tensor->shape[i], 8);
    put_number(wire, tensor->address, 8);
    put_number(wire, tensor->begin, 8);
    put_number(wire, tensor->stored, 8);
}

void sp_wire_put_alias(struct sp_wire *wire, const char *path, uint64_t address)
{
    begin_record(wire, SP_WIRE_ALIAS);
    put_wire_text(wire, path);
    put_number(wire, address, 8);
}

void sp_wire_put_note(struct sp_wire *wire, enum sp_wire_note note, const char *path, const char *target)
{
    begin_record(wire, SP_WIRE_NOTE);
    put_number(wire, note, 1);
    put_wire_text(wire, path);
    put_wire_text(wire, target);
}

void sp_wire_put_attribute(struct sp_wire *wire, const char *path, const char *name, const char *value, size_t length)
{
    begin_record(wire, SP_WIRE_ATTRIBUTE);
    put_wire_text(wire, path);
    put_wire_text(wire, name);
    sp_wire_put_string(wire, value, length);
}

void sp_wire_put_names(struct sp_wire *wire, const char *path, const char *name, uint32_t count)
{
    begin_record(wire, SP_WIRE_NAMES);
    put_wire_text(wire, path);
    put_wire_text(wire, name);
    put_number(wire, count, 4);
}

void sp_wire_put_unread(struct sp_wire *wire, enum shapeproof_kind kind, const char *path, const char *message)
{
    begin_record(wire, SP_WIRE_UNREAD);
    put_number(wire, kind, 1);
    put_wire_text(wire, path);
    put_wire_text(wire, message);
}

void sp_wire_put_structure(struct sp_wire *wire, uint64_t bytes)
{
    begin_record(wire, SP_WIRE_STRUCTURE);
    put_number(wire, bytes, 8);
    flush(wire);
}

void sp_wire_put_failure(struct sp_wire *wire, enum shapeproof_kind kind, const char *message)
{
    begin_record(wire, SP_WIRE_FAILURE);
    put_number(wire, kind, 1);
    put_wire_text(wire, message);
    flush(wire);
}

void sp_wire_put_end(struct sp_wire *wire)
{
    begin_record(wire, SP_WIRE_END);
    flush(wire);
}

/* ---- reading ---- */

const char *sp_wire_get_string(struct sp_cursor *cursor, struct sp_arena *arena, size_t limit)
{
    const uint64_t length = sp_cursor_le(cursor, 4);
    const char *bytes = (const char *)sp_cursor_take(cursor, length);
    if (!bytes || length > limit || memchr(bytes, '\0', (size_t)length)) {
        cursor->ok = false;
        return "";
    }
    if (sp_utf8_check(bytes, (size_t)length) == length) return sp_arena_copy(arena, bytes, (size_t)length);
    struct sp_text visible = {0};
    sp_text_visible(&visible, bytes, (size_t)length);
    return sp_text_keep(&visible, arena);
}

bool sp_wire_get_tensor(struct sp_cursor *cursor, struct sp_arena *arena, struct sp_wire_tensor *tensor)
{
    *tensor = (struct sp_wire_tensor){.path = sp_wire_get_string(cursor, arena, SP_MAX_NAME)};
    const uint64_t dtype = sp_cursor_le(cursor, 1);
    tensor->dtype_name = sp_wire_get_string(cursor, arena, 64);
    tensor->flags = (uint32_t)sp_cursor_le(cursor, 1);
    tensor->rank = (uint32_t)sp_cursor_le(cursor, 1);
    if (dtype >= SP_DTYPE_COUNT || tensor->flags > SP_WIRE_ALL_FLAGS || tensor->rank > SP_WIRE_MAX_RANK) return false;
    tensor->dtype = (enum shapeproof_dtype)dtype;
    for (uint32_t i = 0; i < tensor->rank; i++) tensor->shape[i] = sp_cursor_le(cursor, 8);
    tensor->address = sp_cursor_le(cursor, 8);
    tensor->begin = sp_cursor_le(cursor, 8);
    tensor->stored = sp_cursor_le(cursor, 8);
    return cursor->ok;
}
