/* SPDX-License-Identifier: MIT
 * The wire format of protocol buffers, as far as messages are walked: fields one after another, each a number and a
 * kind, then an integer or a length. There is no schema, and none is needed to pass over a field. A field of a known
 * number but another kind than the schema has is unknown to the libraries, which ignore it: readers compare both.
 * https://protobuf.dev/programming-guides/encoding/ */
#ifndef SP_READ_PROTO_H
#define SP_READ_PROTO_H

#include "read/window.h"

enum sp_proto_kind {
    SP_PROTO_VARINT = 0,
    SP_PROTO_FIXED64 = 1,
    SP_PROTO_BYTES = 2,
    SP_PROTO_GROUP = 3, /* fields up to the end of the group; no schema that is read here has one */
    SP_PROTO_GROUP_END = 4,
    SP_PROTO_FIXED32 = 5
};

enum { SP_PROTO_MAX_GROUPS = 100 }; /* groups within each other; the libraries refuse more */

struct sp_proto_field {
    uint64_t number;
    enum sp_proto_kind kind;
    uint64_t value; /* of a varint */
    uint64_t begin; /* bytes: where they begin and end in the file; fixed: its bytes */
    uint64_t end;
};

/* An integer of up to 64 bits in groups of seven. */
uint64_t sp_proto_varint(struct sp_window *window);
/* The next field before `end`, where the window stands, and moves behind it: what is within bytes is looked at by
 * moving back to field->begin. False at the end, and with window->ok = false on a fault. */
bool sp_proto_next(struct sp_window *window, uint64_t end, struct sp_proto_field *field);
static inline bool sp_proto_is(const struct sp_proto_field *field, uint64_t number, enum sp_proto_kind kind)
{
    return field->number == number && field->kind == kind;
}
/* The value of a field of 32 bits, an enumeration or an int32: the libraries drop the higher bits. */
static inline int64_t sp_proto_int32(const struct sp_proto_field *field)
{
    const int64_t low = (int64_t)(field->value & UINT32_MAX);
    return low > INT32_MAX ? low - UINT32_MAX - 1 : low;
}
/* Goes to a field's bytes. */
static inline void sp_proto_enter(struct sp_window *window, const struct sp_proto_field *field)
{
    window->at = field->begin;
}

#endif
