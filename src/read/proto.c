/* SPDX-License-Identifier: MIT */
#include "read/proto.h"

#include <inttypes.h>

uint64_t sp_proto_varint(struct sp_window *window)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && window->ok; shift += 7) {
        const uint64_t byte = sp_window_le(window, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    if (window->ok) window->ok = sp_malformed(window->error, "%s: an integer of more than 64 bits", window->what);
    return 0;
}

static bool fail_field(struct sp_window *window, uint64_t at, const char *why)
{
    window->ok = sp_malformed(window->error, "%s: the field at byte %" PRIu64 " %s", window->what, at, why);
    return false;
}

bool sp_proto_next(struct sp_window *window, uint64_t end, struct sp_proto_field *field)
{
    const uint64_t at = window->at;
    if (!window->ok || at >= end) return false;
    const uint64_t tag = sp_proto_varint(window), kind = tag & 7;
    *field = (struct sp_proto_field){.number = tag >> 3, .kind = (enum sp_proto_kind)kind};
    if (window->ok && (!field->number || (kind > SP_PROTO_BYTES && kind != SP_PROTO_FIXED32)))
        return fail_field(window, at, "is of no known kind");
    uint64_t length = kind == SP_PROTO_FIXED64 ? 8 : kind == SP_PROTO_FIXED32 ? 4 : 0;
    if (kind == SP_PROTO_VARINT) field->value = sp_proto_varint(window);
    if (kind == SP_PROTO_BYTES) length = sp_proto_varint(window);
    if (!window->ok) return false;
    if (window->at > end || length > end - window->at) return fail_field(window, at, "passes the end of its message");
    field->begin = window->at;
    field->end = window->at + length;
    return sp_window_skip(window, length);
}
