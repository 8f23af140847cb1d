/* SPDX-License-Identifier: MIT
 * A quantised matrix is restored (stored/dequantiser.h) and compared with the matrix in full precision. What is judged
 * is a cell: the elements of a row that share a scale. A quantiser that takes the nearest code leaves each number near
 * its code. One that corrects errors together, as GPTQ does, may move a single number by several steps; but over a cell
 * the restored numbers d are those of the matrix w with noise, so that both of these hold:
 *
 *     sum(d w) / sum(w w)  is near 1            or the scale is another one
 *     mean(d - w) / scale  is near 0 steps      or the zero point is another one
 */
#include "diff/packed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/real.h"
#include "diff/dequantised.h"
#include "diff/diff.h"
#include "model/layouts.h"
#include "model/values.h"
#include "stored/dequantiser.h"

struct cell {
    uint64_t elements, outside; /* outside of what the codes can stand for, or not finite */
    double squares;             /* of the differences */
    double whole;               /* squares of the numbers in full precision */
    double product, shift;      /* sums of the products, and of the differences */
};

/* What a column shows of the factor by which it was multiplied: sum of the products, and of the squares in full
 * precision. */
struct column {
    double product, whole;
};

/* Where the first cell is that has other data, and what its data show. */
struct fault {
    uint64_t matrix, row, block;
    double scale; /* how many times as large its scale is as the data show; 0: they do not */
    double steps; /* likewise, by how many steps its zero point is off */
};

/* What the comparison of a weight has found. */
struct result {
    struct sp_diff_packed *pair;
    struct sp_restored_matrix matrix;
    struct sp_quantisation_error found;
    struct fault fault; /* if found.outside */
    bool looks_scaled;  /* its columns may have been multiplied: what it is cannot be told */
};

struct comparing {
    struct shapeproof_diff *diff;
    const struct shapeproof_data *a, *b;
    struct sp_data_progress *progress;
    struct sp_packed_totals *totals;
    struct shapeproof_error *error;
    bool knows_zeros[2]; /* of the files A and B */
    enum sp_zero_points zeros[2];
    size_t scalable;                   /* weights whose columns may have been multiplied */
    SP_ARRAY(struct result) undecided; /* of these the ones that look as if they were */
};

/* The comparison of one weight. */
struct walk {
    struct comparing *comparing;
    struct sp_dequantiser *dequantiser;
    const struct shapeproof_tensor *full;
    const struct shapeproof_data *full_data;
    struct cell *cells;     /* of the band, row by row */
    struct column *columns; /* of the matrix, if they may have been multiplied; else NULL */
    struct sp_restored *restored;
    unsigned char *raw; /* the tile in full precision, as the file has it */
    float *values;
    struct result result;
};

/* ---- cells ---- */

static void add_to_cell(struct cell *cell, const struct sp_restored *restored, double value)
{
    const double difference = (double)restored->value - value;
    cell->elements++;
    cell->outside += !sp_is_within_error(restored, value);
    if (!isfinite(difference)) return;
    cell->squares += difference * difference;
    cell->whole += value * value;
    cell->product += (double)restored->value * value;
    cell->shift += difference;
}

/* How many times as large as the numbers in full precision the restored ones are; 0 when they are not proportional. */
static double ratio_of(const struct cell *cell)
{
    const double restored = cell->squares + 2 * cell->product - cell->whole; /* squares of the restored numbers */
    if (!(cell->whole > 0) || cell->product * cell->product < 0.8 * cell->whole * restored) return 0;
    return cell->product / cell->whole;
}

/* Judges a cell of a quantiser that corrects errors together, by what its data show. The limits are far above the noise
 * of such quantisers, and below a scale that is twice or half as large, and a zero point that is off by one. */
static bool has_other_scale(const struct cell *cell, double step, struct fault *fault)
{
    enum { FEW = 16 }; /* elements, of which sums tell nothing */
    const double count = (double)cell->elements;
    if (cell->elements < FEW || !(cell->whole > 0) || !(step > 0)) return false;
    const double ratio = cell->product / cell->whole, noise_of_ratio = sqrt(cell->squares / cell->whole / count);
    const double steps = cell->shift / count / step, noise_of_steps = sqrt(cell->squares / count) / step / sqrt(count);
    if (fabs(steps) > 0.5 + 1.5 * noise_of_steps) {
        fault->steps = -steps;
        return true;
    }
    return fabs(ratio - 1) > 0.2 + 2 * noise_of_ratio;
}

/* Adds what was found in a cell. If the differences are larger than the numbers, all of the cell are outside, as
 * sp_dequantised_compare has it. */
static void add_cell(struct result *result, const struct cell *cell, struct fault fault, double step)
{
    struct sp_quantisation_error *found = &result->found;
    const double larger = 1.1 * 1.1, lost = 0x1p-13 * 0x1p-13 * (double)cell->elements;
    const bool together = result->matrix.rounding == SP_ROUNDED_TOGETHER;
    const bool is_other =
        (together && has_other_scale(cell, step, &fault)) || cell->squares > larger * cell->whole + lost;
    const uint64_t outside = is_other ? cell->elements : cell->outside;
    if (outside && !found->outside) {
        const double ratio = ratio_of(cell);
        if (!(fabs(fault.steps) > 0) && fabs(ratio - 1) > 0.2) fault.scale = ratio;
        result->fault = fault;
    }
    found->outside += outside;
    found->elements += cell->elements;
    found->squares += cell->squares;
    found->whole += cell->whole;
}

/* Sums of the factors by which columns are multiplied. */
struct factors {
    double sum, squares, count;
};

static struct factors sum_factors(const struct column *columns, uint64_t begin, uint64_t end)
{
    struct factors factors = {0};
    for (uint64_t i = begin; i < end; i++) {
        if (!(columns[i].whole > 0)) continue;
        const double factor = columns[i].product / columns[i].whole;
        factors.sum += factor;
        factors.squares += factor * factor;
        factors.count++;
    }
    return factors;
}

/* Whether the matrix is the one in full precision with its columns multiplied by factors: those that the columns of a
 * block show differ by more than their noise. The columns of another matrix show none, and a wrong scale is one factor
 * for all columns of its block. */
static bool looks_scaled(const struct result *result, const struct column *columns)
{
    const struct sp_restored_matrix *m = &result->matrix;
    const double rows = (double)(m->lead * m->rows), noise = sp_relative_error(&result->found) / sqrt(rows);
    const uint64_t width = (m->columns + m->blocks - 1) / m->blocks;
    double sum = 0, count = 0, deviation = 0; /* from the means of the blocks, squared */
    for (uint64_t begin = 0; begin < m->columns; begin += width) {
        const struct factors block =
            sum_factors(columns, begin, m->columns - begin < width ? m->columns : begin + width);
        if (!(block.count > 0)) continue;
        sum += block.sum;
        count += block.count;
        deviation += fmax(block.squares - block.sum * block.sum / block.count, 0);
    }
    if (!(sum > 0)) return false;
    const double mean = sum / count, spread = sqrt(deviation / count);
    return mean > 0.25 && spread > 0.1 * mean + 3 * noise;
}

/* ---- one weight ---- */

/* Reads a tile of the matrix in full precision; *row_step and *column_step are from one element to the next. */
static bool read_full(struct walk *walk, uint64_t matrix, uint64_t row, uint64_t rows, uint64_t column,
                      uint64_t columns)
{
    const struct sp_restored_matrix *m = &walk->result.matrix;
    const size_t size = shapeproof_dtype_bits(walk->full->dtype) / 8;
    const uint64_t strips = m->transposed ? columns : rows, length = m->transposed ? rows : columns;
    const uint64_t width = m->transposed ? m->rows : m->columns;
    const uint64_t first =
        matrix * m->rows * m->columns + (m->transposed ? column * width + row : row * width + column);
    const bool whole = length == width;
    for (uint64_t i = 0; i < (whole ? 1 : strips); i++)
        if (!shapeproof_data_read(walk->full_data, walk->result.pair->full, (first + i * width) * size,
                                  walk->raw + i * length * size, (size_t)(whole ? strips * length : length) * size,
                                  walk->comparing->error))
            return false;
    sp_values_read(walk->full->dtype, walk->raw, walk->values, (size_t)(rows * columns));
    return true;
}

static bool compare_tile(struct walk *walk, uint64_t matrix, uint64_t row, uint64_t rows, uint64_t column,
                         uint64_t columns)
{
    const uint64_t row_step = walk->result.matrix.transposed ? 1 : columns,
                   column_step = walk->result.matrix.transposed ? rows : 1;
    const struct sp_restored *restored = walk->restored;
    if (!sp_dequantiser_read_tile(walk->dequantiser, column, columns, walk->restored, walk->comparing->error) ||
        !read_full(walk, matrix, row, rows, column, columns))
        return false;
    const size_t *blocks = sp_dequantiser_tile_blocks(walk->dequantiser);
    for (uint64_t r = 0; r < rows; r++) {
        struct cell *cells = &walk->cells[r * walk->result.matrix.blocks];
        for (uint64_t c = 0; c < columns; c++, restored++) {
            const double value = (double)walk->values[r * row_step + c * column_step];
            const double difference = fabs((double)restored->value - value);
            add_to_cell(&cells[blocks[c]], restored, value);
            if (!isfinite(difference)) continue;
            if (difference > walk->result.found.most) walk->result.found.most = difference;
            if (!walk->columns) continue;
            walk->columns[column + c].product += (double)restored->value * value;
            walk->columns[column + c].whole += value * value;
        }
    }
    return true;
}

static bool compare_band(struct walk *walk, uint64_t matrix, uint64_t row, uint64_t rows)
{
    const struct sp_restored_matrix *m = &walk->result.matrix;
    const uint64_t width = sp_dequantiser_tile_columns(walk->dequantiser, rows);
    memset(walk->cells, 0, (size_t)(rows * m->blocks) * sizeof *walk->cells);
    if (!sp_dequantiser_begin_band(walk->dequantiser, matrix, row, rows, walk->comparing->error)) return false;
    for (uint64_t column = 0; column < m->columns; column += width) {
        const uint64_t columns = m->columns - column < width ? m->columns - column : width;
        if (!compare_tile(walk, matrix, row, rows, column, columns)) return false;
    }
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t block = 0; block < m->blocks; block++)
            add_cell(&walk->result, &walk->cells[r * m->blocks + block], (struct fault){matrix, row + r, block, 0, 0},
                     fabs((double)sp_dequantiser_scale(walk->dequantiser, r, block)));
    return true;
}

/* The bytes of A that a weight has. */
static uint64_t bytes_in_a(const struct sp_diff_packed *pair)
{
    uint64_t bytes = 0; /* of ranges in files: no overflow */
    if (pair->full_side->side == SHAPEPROOF_DIFF_A)
        return shapeproof_inventory_tensor(pair->full_side->inventory, pair->full)->bytes;
    for (size_t i = 0; i < pair->module->count; i++)
        bytes += shapeproof_inventory_tensor(pair->packed_side->inventory, pair->module->tensors[i])->bytes;
    return bytes;
}

/* Compares all bands. False with an error when a file cannot be read. */
static bool compare_matrix(struct walk *walk)
{
    const struct sp_restored_matrix *m = &walk->result.matrix;
    const uint64_t most = sp_dequantiser_band_rows(walk->dequantiser), height = m->rows < most ? m->rows : most;
    const uint64_t width = sp_dequantiser_tile_columns(walk->dequantiser, height);
    const uint64_t low = m->rows % height ? m->rows % height : height; /* the last band, which may have wider tiles */
    const uint64_t last = sp_dequantiser_tile_columns(walk->dequantiser, low) * low;
    const size_t tile = (size_t)(last > height * width ? last : height * width);
    walk->result.found = (struct sp_quantisation_error){0};
    walk->cells = sp_realloc(NULL, (size_t)(height * m->blocks), sizeof *walk->cells);
    walk->restored = sp_realloc(NULL, tile, sizeof *walk->restored);
    walk->raw = sp_realloc(NULL, tile, sizeof(double));
    walk->values = sp_realloc(NULL, tile, sizeof *walk->values);
    walk->columns = m->may_be_scaled ? sp_realloc(NULL, (size_t)m->columns, sizeof *walk->columns) : NULL;
    if (walk->columns) memset(walk->columns, 0, (size_t)m->columns * sizeof *walk->columns);
    const uint64_t bands = m->lead * ((m->rows + height - 1) / height), bytes = bytes_in_a(walk->result.pair);
    bool ok = true;
    for (uint64_t matrix = 0; matrix < m->lead && ok; matrix++)
        for (uint64_t row = 0; row < m->rows && ok; row += height) {
            ok = compare_band(walk, matrix, row, m->rows - row < height ? m->rows - row : height) &&
                 sp_data_goes_on(walk->comparing->progress, bytes / bands, walk->comparing->error);
        }
    walk->result.looks_scaled = ok && walk->columns && looks_scaled(&walk->result, walk->columns);
    sp_free(walk->columns);
    sp_free(walk->cells);
    sp_free(walk->restored);
    sp_free(walk->raw);
    sp_free(walk->values);
    return ok;
}

/* Compares a weight; of GPTQ with the zero points as its file has them, which the first weight shows that is the same
 * under one of the two. */
static bool compare_weight(struct walk *walk)
{
    struct comparing *comparing = walk->comparing;
    const size_t side = walk->result.pair->packed_side->side == SHAPEPROOF_DIFF_A ? 0 : 1;
    if (walk->result.matrix.has_zeros_of_gptq)
        sp_dequantiser_set_zeros(walk->dequantiser,
                                 comparing->knows_zeros[side] ? comparing->zeros[side] : SP_ZEROS_LESS_ONE);
    if (!compare_matrix(walk)) return false;
    if (!walk->result.matrix.has_zeros_of_gptq || comparing->knows_zeros[side]) return true;
    const struct result first = walk->result;
    sp_dequantiser_set_zeros(walk->dequantiser, SP_ZEROS_AS_STORED);
    if (!compare_matrix(walk)) return false;
    const bool is_as_stored = walk->result.found.squares < first.found.squares;
    if (!is_as_stored) walk->result = first;
    comparing->knows_zeros[side] = !walk->result.found.outside;
    comparing->zeros[side] = is_as_stored ? SP_ZEROS_AS_STORED : SP_ZEROS_LESS_ONE;
    return true;
}

/* ---- what is said ---- */

/* "row 3, group 2": where the first cell is. */
static void put_place(const struct result *result, struct sp_text *text)
{
    const struct fault *fault = &result->fault;
    if (result->matrix.lead > 1) sp_text_printf(text, "matrix %" PRIu64 ", ", fault->matrix);
    const uint64_t groups = result->matrix.groups_in_row; /* rows of the matrix here are groups of the real one */
    const uint64_t group = groups ? fault->row % groups : 0;
    sp_text_puts(text, result->matrix.is_list ? "block " : "row ");
    sp_text_printf(text, "%" PRIu64, groups ? fault->row / groups : fault->row);
    if (groups > 1) sp_text_printf(text, ", group %" PRIu64, group);
    if (result->matrix.blocks > 1) sp_text_printf(text, ", group %" PRIu64, fault->block);
    if (fault->scale > 0)
        sp_text_printf(text, ", whose scale is %s times what the data show", sp_real_text(fault->scale, 2).text);
    if (fabs(fault->steps) > 0)
        sp_text_printf(text, ", whose zero point is off by about %s", sp_real_text(fault->steps, 2).text);
}

static void add_finding(struct comparing *comparing, const struct sp_diff_packed *pair, const char *message,
                        const char *detail)
{
    const bool full_is_a = pair->full_side->side == SHAPEPROOF_DIFF_A;
    sp_diff_add_about(
        comparing->diff, full_is_a ? pair->full : SHAPEPROOF_NONE, full_is_a ? SHAPEPROOF_NONE : pair->full,
        (struct shapeproof_diff_finding){.kind = SHAPEPROOF_DIFF_FINDING_DATA, .message = message, .detail = detail});
    comparing->totals->different++;
}

/* The tensors of A that a weight has. */
static size_t count_in_a(const struct sp_diff_packed *pair)
{
    return pair->full_side->side == SHAPEPROOF_DIFF_A ? 1 : pair->module->count;
}

static void count_compared(struct comparing *comparing, struct sp_diff_packed *pair)
{
    pair->is_counted = true;
    comparing->totals->compared += count_in_a(pair);
    comparing->totals->bytes += bytes_in_a(pair);
}

/* Counts a weight that is the same within the error of its quantisation, or reports that it is not. */
static void report_result(struct comparing *comparing, const struct result *result)
{
    const struct sp_quantisation_error *found = &result->found;
    struct sp_packed_totals *totals = comparing->totals;
    struct sp_text text = {0};
    const double relative = sp_relative_error(found);
    count_compared(comparing, result->pair);
    if (!found->outside) {
        totals->same++;
        if (relative > totals->relative_error) totals->relative_error = relative;
        return;
    }
    sp_text_printf(&text, "in %" PRIu64 " of %" PRIu64 " elements, the first in ", found->outside, found->elements);
    put_place(result, &text);
    sp_text_printf(&text, "; greatest difference %s, relative error %s", sp_real_text(found->most, 3).text,
                   sp_real_text(relative, 2).text);
    add_finding(comparing, result->pair, "differs by more than the quantisation error",
                sp_text_keep(&text, &comparing->diff->arena));
}

/* Quantisers that multiply columns do so in most weights: a few that look so are faults. Of many it cannot be told. */
static void report_undecided(struct comparing *comparing)
{
    const bool few = comparing->undecided.count < (comparing->scalable + 3) / 4;
    for (size_t i = 0; i < comparing->undecided.count; i++) {
        const struct result *result = &comparing->undecided.items[i];
        if (few) report_result(comparing, result);
        if (few) continue;
        result->pair->is_counted = true;
        comparing->totals->scaled += count_in_a(result->pair);
        comparing->totals->bytes_scaled += bytes_in_a(result->pair);
    }
}

/* ---- all of them ---- */

/* Compares a weight if it can be. */
static bool compare_pair(struct comparing *comparing, struct sp_diff_packed *pair)
{
    const bool full_is_a = pair->full_side->side == SHAPEPROOF_DIFF_A;
    const struct shapeproof_data *packed = full_is_a ? comparing->b : comparing->a;
    struct walk walk = {.comparing = comparing,
                        .full = shapeproof_inventory_tensor(pair->full_side->inventory, pair->full),
                        .full_data = full_is_a ? comparing->a : comparing->b,
                        .result = {.pair = pair}};
    const char *why = NULL;
    if (!sp_is_float(walk.full->dtype) || sp_elements_obstacle(walk.full_data, pair->full_side->inventory, pair->full))
        return true;
    walk.dequantiser = sp_dequantiser_open(pair->module, pair->form, pair->packed_side->inventory, packed, walk.full,
                                           &why, comparing->error);
    if (!walk.dequantiser) {
        if (comparing->error->status != SHAPEPROOF_OK) return false;
        if (!why) return true;
        count_compared(comparing, pair);
        add_finding(comparing, pair, why, NULL);
        return true;
    }
    walk.result.matrix = sp_dequantiser_matrix(walk.dequantiser);
    comparing->scalable += walk.result.matrix.may_be_scaled;
    const bool ok = compare_weight(&walk);
    sp_dequantiser_close(walk.dequantiser);
    if (ok && walk.result.looks_scaled) *SP_PUSH(&comparing->undecided) = walk.result;
    else if (ok) report_result(comparing, &walk.result);
    return ok;
}

bool sp_packed_compare(struct shapeproof_diff *diff, const struct shapeproof_data *a, const struct shapeproof_data *b,
                       struct sp_data_progress *progress, struct sp_packed_totals *totals,
                       struct shapeproof_error *error)
{
    struct comparing comparing = {.diff = diff, .a = a, .b = b, .progress = progress, .totals = totals, .error = error};
    *totals = (struct sp_packed_totals){0};
    bool ok = true;
    for (size_t i = 0; i < diff->packed.count && ok; i++) ok = compare_pair(&comparing, &diff->packed.items[i]);
    if (ok) report_undecided(&comparing);
    sp_free(comparing.undecided.items);
    return ok;
}
