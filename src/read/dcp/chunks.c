/* SPDX-License-Identifier: MIT
 * The chunks of tensors as pieces whose data are read. Each is an archive of torch.save within a file of a rank, or, in
 * shards of safetensors, a range of bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "read/dcp/dcp.h"
#include "read/pieces.h"

/* Why the chunks of a tensor cannot be put together; NULL when they can. */
static const char *why_apart(const struct sp_dcp_tensor *tensor, const struct shapeproof_tensor *listed)
{
    const unsigned bits = shapeproof_dtype_bits(tensor->dtype);
    if (!bits || bits % 8) return "in pieces of a dtype whose elements are not whole bytes";
    if (tensor->dtype != listed->dtype || tensor->rank != listed->rank ||
        (tensor->rank && memcmp(tensor->size, listed->shape, tensor->rank * sizeof *tensor->size) != 0))
        return "it was cut into pieces in another shape";
    if (tensor->chunk_count > SP_MOST_PIECES) return "in more than 16,384 pieces";
    if (tensor->lacking) return "the file holds no bytes for it";
    if (tensor->overlapping) return "its pieces overlap";
    for (size_t i = 0; i < tensor->chunk_count; i++) {
        if (tensor->chunks[i].elements && !tensor->chunks[i].placed) return "the places of its pieces are not known";
        if (tensor->chunks[i].transformed) return "its pieces are compressed";
    }
    return NULL;
}

/* Takes over the chunks that have elements. */
static void set_chunks(struct sp_pieces *pieces, const struct sp_dcp_tensor *tensor, size_t number)
{
    struct sp_tensor_piece *boxes = sp_realloc(NULL, tensor->chunk_count, sizeof *boxes);
    size_t count = 0;
    for (size_t i = 0; i < tensor->chunk_count; i++) {
        const struct sp_dcp_chunk *chunk = &tensor->chunks[i];
        if (chunk->elements)
            boxes[count++] =
                (struct sp_tensor_piece){chunk->offsets, chunk->sizes, chunk->begin, chunk->end, chunk->file};
    }
    sp_pieces_set(pieces, number, boxes, count);
    sp_free(boxes);
}

void sp_dcp_list_pieces(const struct sp_dcp *dcp, const struct sp_folder *folder, bool packed,
                        struct sp_data_places *places)
{
    struct sp_pieces *pieces = sp_pieces_new(places, folder, packed);
    for (size_t i = 0; i < dcp->files.count; i++) sp_pieces_add_file(pieces, dcp->files.items[i].name);
    for (size_t i = 0; i < dcp->tensors.count; i++) {
        const struct sp_dcp_tensor *tensor = &dcp->tensors.items[i];
        const size_t number = shapeproof_inventory_find(places->inventory, tensor->name);
        if (number == SHAPEPROOF_NONE) continue;
        const char *obstacle = why_apart(tensor, &places->inventory->tensors[number]);
        if (obstacle) sp_pieces_refuse(pieces, number, obstacle);
        else set_chunks(pieces, tensor, number);
    }
}
