/* SPDX-License-Identifier: MIT */
#include "read/proto.h"

#include <inttypes.h>

enum { LONG_BYTES = 10, SHORT_BYTES = 5 }; /* of an integer of 64 bits, of a tag or a length */

/* An integer in groups of seven bits, in at most `most` bytes; `what` is it in the message. */
static uint64_t take_varint(struct sp_window *window, unsigned most, const char *what)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < most && window->ok; i++) {
        const uint64_t byte = sp_window_le(window, 1);
        value |= (byte & 0x7f) << 7 * i;
        if (!(byte & 0x80)) return value;
    }
    if (window->ok) window->ok = sp_malformed(window->error, "%s: %s", window->what, what);
    return 0;
}

uint64_t sp_proto_varint(struct sp_window *window)
{
    return take_varint(window, LONG_BYTES, "an integer of more than 64 bits");
}

static bool fail_field(struct sp_window *window, uint64_t at, const char *why)
{
    window->ok = sp_malformed(window->error, "%s: the field at byte %" PRIu64 " %s", window->what, at, why);
    return false;
}

/* The tag of a field, and its integer or the place of its bytes; the window stands before the bytes. */
static bool take_head(struct sp_window *window, uint64_t end, struct sp_proto_field *field)
{
    const uint64_t at = window->at;
    const uint64_t tag = take_varint(window, SHORT_BYTES, "a tag or a length of more than five bytes"), kind = tag & 7;
    *field = (struct sp_proto_field){.number = tag >> 3, .kind = (enum sp_proto_kind)kind};
    if (window->ok && tag > UINT32_MAX) return fail_field(window, at, "has a number of more than 29 bits");
    if (window->ok && (!field->number || kind > SP_PROTO_FIXED32)) return fail_field(window, at, "is of no known kind");
    uint64_t length = kind == SP_PROTO_FIXED64 ? 8 : kind == SP_PROTO_FIXED32 ? 4 : 0;
    if (kind == SP_PROTO_VARINT) field->value = sp_proto_varint(window);
    if (kind == SP_PROTO_BYTES) length = take_varint(window, SHORT_BYTES, "a tag or a length of more than five bytes");
    if (!window->ok) return false;
    if (window->at > end || length > end - window->at) return fail_field(window, at, "passes the end of its message");
    field->begin = window->at;
    field->end = window->at + length;
    return true;
}

/* Passes over the group `number`, whose first tag is at byte `at`: the fields and groups up to the tag that ends it. */
static bool skip_group(struct sp_window *window, uint64_t at, uint64_t end, uint64_t number)
{
    uint64_t open[SP_PROTO_MAX_GROUPS] = {number};
    struct sp_proto_field inner;
    for (unsigned depth = 1; depth;) {
        if (window->at >= end) return fail_field(window, at, "is a group without an end");
        if (!take_head(window, end, &inner) || !sp_window_skip(window, inner.end - inner.begin)) return false;
        if (inner.kind == SP_PROTO_GROUP_END && open[--depth] != inner.number)
            return fail_field(window, at, "is a group that ends as another one");
        if (inner.kind != SP_PROTO_GROUP) continue;
        if (depth == SP_PROTO_MAX_GROUPS) return fail_field(window, at, "has groups nested more than 100 deep");
        open[depth++] = inner.number;
    }
    return true;
}

bool sp_proto_next(struct sp_window *window, uint64_t end, struct sp_proto_field *field)
{
    const uint64_t at = window->at;
    if (!window->ok || at >= end || !take_head(window, end, field)) return false;
    if (field->kind == SP_PROTO_GROUP_END) return fail_field(window, at, "ends a group that has not begun");
    if (field->kind != SP_PROTO_GROUP) return sp_window_skip(window, field->end - field->begin);
    const bool ok = skip_group(window, at, end, field->number);
    field->end = window->at;
    return ok;
}
