/* SPDX-License-Identifier: MIT
 * The wire format of protocol buffers, as far as messages are walked: fields one after another, each a number and a
 * kind, then an integer or a length. There is no schema, and none is needed to pass over a field.
 * https://protobuf.dev/programming-guides/encoding/ */
#ifndef SP_READ_PROTO_H
#define SP_READ_PROTO_H

#include "read/window.h"

enum sp_proto_kind { SP_PROTO_VARINT = 0, SP_PROTO_FIXED64 = 1, SP_PROTO_BYTES = 2, SP_PROTO_FIXED32 = 5 };

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
/* Goes to a field's bytes. */
static inline void sp_proto_enter(struct sp_window *window, const struct sp_proto_field *field)
{
    window->at = field->begin;
}

#endif
