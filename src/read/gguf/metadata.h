/* SPDX-License-Identifier: MIT
 * The keys and values in the header of a GGUF file, as text: numbers and lists as JSON has them. Of a list that is
 * long, such as the tokens of a vocabulary, only what it is: "32000 strings". */
#ifndef SP_READ_GGUF_METADATA_H
#define SP_READ_GGUF_METADATA_H

#include "model/inventory.h"
#include "read/gguf/stream.h"

/* What the reader itself has to know. */
struct sp_gguf_facts {
    uint64_t alignment; /* of the data: a power of two */
    uint64_t pieces;    /* how many files the model is split into; 0 when it does not say */
    uint64_t tensors;   /* in all of them; 0 when it does not say */
    uint64_t piece;     /* which one this is, from 0 */
};

/* Reads `count` pairs into the inventory. */
bool sp_gguf_read_metadata(struct sp_gguf_stream *stream, uint64_t count, struct shapeproof_inventory *inventory,
                           struct sp_gguf_facts *facts);

#endif
