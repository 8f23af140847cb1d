/* SPDX-License-Identifier: MIT
 * The elements of a matrix that is stored as several tensors (unpack.h): codes, the scales of blocks of them, and for
 * some methods the zero points.
 *
 *     element (r, c)  =  scale (r, block of c)  *  (value of code (r, c)  -  zero point (r, block of c))
 *
 * A matrix is restored in bands of rows, whose scales are in memory, and a band in tiles of columns. */
#ifndef SP_STORED_DEQUANTISER_H
#define SP_STORED_DEQUANTISER_H

#include "model/bytes.h"
#include "stored/ggml_blocks.h"
#include "stored/unpack.h"

/* How the quantiser of a method chooses its codes. */
enum sp_rounding {
    SP_ROUNDED_NEAREST, /* the code nearest to each number */
    SP_ROUNDED_TOGETHER /* GPTQ and the like: the error of a number is made good in those behind it */
};

/* What a file does not say: whether the zero points of GPTQ are stored as one less. */
enum sp_zero_points {
    SP_ZEROS_LESS_ONE, /* the format gptq */
    SP_ZEROS_AS_STORED /* gptq_v2 */
};

struct sp_dequantiser; /* opaque */

/* The matrix as it is restored, and where its elements are in the tensor in full precision. */
struct sp_restored_matrix {
    uint64_t lead, rows, columns; /* `lead` matrices, of experts */
    uint64_t blocks;              /* in which the columns are; those of a block share a scale in each row */
    bool transposed;              /* in full precision (columns, rows) */
    bool is_list;                 /* rows are blocks of the matrix as a list, and may go on in its next row */
    uint64_t groups_in_row;       /* not 0: rows are groups of the real matrix, which has so many in a row */
    enum sp_rounding rounding;
    bool may_be_scaled;     /* columns may have been multiplied before, and what comes before them divided: AWQ,
                             * SmoothQuant */
    bool has_zeros_of_gptq; /* of which sp_zero_points are to be tried */
};

/* The module of a file, as the matrix with the shape of `full`. NULL with *why when it cannot be restored here, in the
 * words of a finding; NULL without when its method is not known, or with an error when the file cannot be read. */
struct sp_dequantiser *sp_dequantiser_open(const struct sp_packed_module *module, struct shapeproof_value form,
                                           const struct shapeproof_inventory *file, const struct shapeproof_data *data,
                                           const struct shapeproof_tensor *full, const char **why,
                                           struct shapeproof_error *error);
void sp_dequantiser_close(struct sp_dequantiser *dequantiser);
struct sp_restored_matrix sp_dequantiser_matrix(const struct sp_dequantiser *dequantiser);
void sp_dequantiser_set_zeros(struct sp_dequantiser *dequantiser, enum sp_zero_points zeros);

/* How many rows a band has at most; a multiple of 32. */
uint64_t sp_dequantiser_band_rows(const struct sp_dequantiser *dequantiser);
/* Reads the scales and zero points of a band that begins with a multiple of 32. False with an error when the file
 * cannot be read. */
bool sp_dequantiser_begin_band(struct sp_dequantiser *dequantiser, uint64_t matrix, uint64_t row, uint64_t rows,
                               struct shapeproof_error *error);
/* How many columns a tile of that band has at most; a multiple of 32. */
uint64_t sp_dequantiser_tile_columns(const struct sp_dequantiser *dequantiser, uint64_t rows);
/* Restores a tile of the band, row by row; `column` is a multiple of 32. */
bool sp_dequantiser_read_tile(struct sp_dequantiser *dequantiser, uint64_t column, uint64_t columns,
                              struct sp_restored *into, struct shapeproof_error *error);
/* The block of each column of the tile that was read last. */
const size_t *sp_dequantiser_tile_blocks(const struct sp_dequantiser *dequantiser);
/* The scale of a block in a row of the band. */
float sp_dequantiser_scale(const struct sp_dequantiser *dequantiser, uint64_t row_of_band, uint64_t block);

#endif
