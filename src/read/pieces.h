/* SPDX-License-Identifier: MIT
 * Tensors in pieces that lie in several files: a source of their data (struct sp_data_source). */
#ifndef SP_READ_PIECES_H
#define SP_READ_PIECES_H

#include "read/folder.h"
#include "read/reader.h"

/* A part of a tensor, whose elements are in row-major order. */
struct sp_tensor_piece {
    const uint64_t *offsets, *sizes; /* where it begins in the tensor, and how far it reaches, for each dimension */
    uint64_t begin, end;             /* of its bytes in the file */
    uint32_t file;                   /* the number of the file, in the order in which files are added */
};

enum { SP_MOST_PIECES = 1 << 14 }; /* of a tensor: as many ranks have it; more would make reading slow */

struct sp_pieces; /* owned by the places */

/* Adds a source to the places. `packed`: each piece is an archive of torch.save, not a range of elements. The folder
 * must outlive the places. */
struct sp_pieces *sp_pieces_new(struct sp_data_places *places, const struct sp_folder *folder, bool packed);
/* Adds a file of the folder. */
void sp_pieces_add_file(struct sp_pieces *pieces, const char *name);
/* Sets the pieces of a tensor, whose elements are whole bytes. Each has elements and lies within the tensor; together
 * they have each element once. At most SP_MOST_PIECES. */
void sp_pieces_set(struct sp_pieces *pieces, size_t tensor, const struct sp_tensor_piece *boxes, size_t count);
/* Sets why the data of a tensor cannot be put together; static. */
void sp_pieces_refuse(struct sp_pieces *pieces, size_t tensor, const char *obstacle);

#endif
