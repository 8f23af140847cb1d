/* SPDX-License-Identifier: MIT
 * Bytes of tensors that can only be had from the first to the last, such as compressed ones. What was had of a small
 * tensor is kept until another one is asked for, so that it can be read in any order. */
#ifndef SP_READ_IN_ORDER_H
#define SP_READ_IN_ORDER_H

#include "read/reader.h"

enum {
    SP_KEPT_BYTES = 16 << 20, /* of a tensor that is kept whole */
    SP_STREAMS = 4            /* of a source: codes, scales, zero points and another tensor of one file */
};

/* The bytes of one tensor at a time. */
struct sp_stream {
    /* Starts at the first byte of a tensor. *obstacle, which is NULL before, is why its bytes cannot be had (static).
     * False with an error. */
    bool (*begin)(struct sp_stream *stream, size_t tensor, const char **obstacle, struct shapeproof_error *error);
    /* The next `length` bytes, which are not more than the tensor has. */
    bool (*next)(struct sp_stream *stream, void *into, size_t length, struct shapeproof_error *error);
    /* Ends what was begun, whether that succeeded or not. */
    void (*end)(struct sp_stream *stream);
    /* Keeps what the others change (base/call.h). */
    void (*keep)(struct sp_stream *stream);
};

/* Makes a source of the tensors for which `is_own` is set; there is an entry for each tensor of the inventory. The
 * source has SP_STREAMS streams; when it is closed with the places, it closes their owner. */
void sp_in_order_add(struct sp_data_places *places, struct sp_stream *const *streams, const bool *is_own, void *owner,
                     void (*close_owner)(void *owner));

#endif
