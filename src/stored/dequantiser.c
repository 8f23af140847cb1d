/* SPDX-License-Identifier: MIT
 * As the libraries that write the files restore them: transformers (fp8, mxfp4), GPTQModel and AutoAWQ, bitsandbytes,
 * compressed-tensors, MLX, HQQ, torchao. All of them multiply in F32, or in F16 or BF16 whose product F32 has exactly,
 * so that a value here, rounded to the dtype that the library returns, has the bits that it returns. */
#include "stored/dequantiser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/chars.h"
#include "base/cursor.h"
#include "base/order.h"
#include "model/layouts.h"
#include "model/values.h"

enum {
    CODES = 256,           /* of 8 bits */
    WORD = 32,             /* bits, in which codes are packed; so many codes always begin and end with a word */
    TILE = 1 << 18,        /* elements */
    ROWS = 512,            /* of a band at most */
    BAND_BLOCKS = 1 << 16, /* scales of a band, where so few can be */
    FOUR = 4,              /* rows of CODES_IN_FOURS, and */
    TURN = 64              /* columns of each of them */
};

/* Of each code its value, and between which numbers a quantiser chooses it; in units of the scale. */
struct code_table {
    float value[CODES], low[CODES], high[CODES];
};

/* How codes follow one another in their tensor. */
enum code_layout {
    CODES_IN_ROWS,  /* a row of the matrix is a row of the tensor */
    CODES_DOWN,     /* a word has codes of several columns, and the words of a row are below one another: GPTQ */
    CODES_ACROSS,   /* a row of the tensor is a column of the matrix, a word has codes of several rows: AWQ */
    CODES_IN_PARTS, /* the rows are divided into parts one behind the other, and a word of the tensor has a code of each
                     * part, those of the first in its highest bits: HQQ */
    CODES_IN_PARTS_ACROSS, /* the same of the columns; a row of the tensor has a column of each part */
    CODES_IN_FOURS /* a row of the tensor has four of the matrix, 64 columns of each in turn: gemv_fast of AWQ */
};

struct codes {
    size_t tensor;
    enum code_layout layout;
    unsigned bits;
    bool high_first; /* of two codes in a byte the first has the high bits: bitsandbytes */
    bool mixed;      /* the eight codes of a word are in the order of AWQ */
    uint64_t part;   /* in parts: rows (columns) of each */
    unsigned word;   /* in parts: bytes of a word */
};

/* Numbers of which each is for a block of the matrix. */
struct numbers {
    size_t tensor;
    const struct shapeproof_tensor *in; /* NULL: there are none */
    uint64_t row_blocks, rows;          /* how many blocks of how many rows */
    uint64_t column_blocks;
    bool across;         /* the tensor is (column blocks, rows), not (row blocks, column blocks) */
    uint64_t row_length; /* numbers (packed: words) of a row of a tensor that is filled up with zeros; 0: it is not */
    unsigned
        bits;    /* packed: the codes of several rows are in a word, beside or (not across) below one another; 0: not */
    bool in_row; /* packed: the codes of the blocks of one row are in a word instead */
    bool mixed;  /* as of struct codes */
    bool less_one; /* packed: each is stored as one less, with 0 as all bits */
    bool are_e4m3; /* stored as bytes, which are floats and no exponents */
};

/* Scales that bitsandbytes has quantised in turn: scale k is map[code k] * scales[k / block] + offset. */
struct nested_scales {
    float *map, *scales; /* NULL: the scales are stored as numbers */
    uint64_t block;
    float offset;
};

struct sp_dequantiser {
    const struct sp_packed_module *module;
    const struct shapeproof_inventory *file;
    const struct shapeproof_data *data;
    struct shapeproof_error *error; /* while the module is opened: of a file that cannot be read */
    struct sp_restored_matrix matrix;
    struct code_table table;
    struct codes codes;
    struct numbers scales, zeros;
    struct nested_scales nested;
    float factor;            /* by which the product is multiplied at last */
    float zero;              /* the zero point where none is stored */
    bool zeros_added;        /* what is stored as zero points is added to the product of code and scale: MLX */
    float zero_error;        /* relative: as scale_error has it, of the zero points */
    float outer_scale;       /* by which all scales are multiplied, or */
    bool is_divisor;         /* divided: NVFP4 */
    bool computed_as_stored; /* the codes were computed in the dtype of the scales, and rounded three times */
    float scale_error;       /* relative: of scales that were rounded after the codes were chosen */
    uint64_t block_columns;
    int32_t *block_of; /* for each column, where a file says it (g_idx); else NULL */
    /* ---- the band ---- */
    uint64_t first_matrix, first_row, band_rows, first_block, row_blocks;
    float *band_scales, *band_zeros, *band_errors;
    size_t *tile_blocks;  /* the block of each column of the tile */
    uint64_t tile_column; /* its first */
    uint64_t code_length; /* of codes in rows (fours): bytes from one row (four rows) of the tile to the next */
    unsigned char *raw;   /* what is read */
    size_t raw_size;
};

/* ---- the tensors of the module ---- */

/* The tensor whose name ends with the suffix behind that of the module, or SHAPEPROOF_NONE. */
static size_t member_called(const struct sp_dequantiser *d, const char *suffix)
{
    const char *name = d->module->name;
    const size_t length = strlen(name) - (sp_ends_with(name, ".weight") ? strlen("weight") : 0);
    for (size_t i = 0; i < d->module->count; i++) {
        const char *own = shapeproof_inventory_tensor(d->file, d->module->tensors[i])->name;
        if (strncmp(own, name, length) == 0 && strcmp(own + length, suffix) == 0) return d->module->tensors[i];
    }
    return SHAPEPROOF_NONE;
}

static const struct shapeproof_tensor *tensor_of(const struct sp_dequantiser *d, size_t tensor)
{
    return tensor == SHAPEPROOF_NONE ? NULL : shapeproof_inventory_tensor(d->file, tensor);
}

static bool has_dtype(const struct sp_dequantiser *d, size_t tensor, enum shapeproof_dtype dtype)
{
    return tensor != SHAPEPROOF_NONE && tensor_of(d, tensor)->dtype == dtype;
}

/* Whether the tensor has so many bytes, of `lead` matrices with so many rows of so many bits. */
static bool has_room(const struct sp_dequantiser *d, size_t tensor, uint64_t rows, uint64_t bits_of_row)
{
    uint64_t bytes = 0;
    return !__builtin_mul_overflow(rows, (bits_of_row + 7) / 8, &bytes) &&
           !__builtin_mul_overflow(bytes, d->matrix.lead, &bytes) && tensor_of(d, tensor)->bytes == bytes;
}

/* After an error nothing is read, so that the error stays. */
static bool read_tensor(struct sp_dequantiser *d, size_t tensor, uint64_t offset, void *into, uint64_t length)
{
    return d->error->status == SHAPEPROOF_OK &&
           shapeproof_data_read(d->data, tensor, offset, into, (size_t)length, d->error);
}

/* ---- tables of codes ---- */

/* Codes that stand for the values of a list: a quantiser takes the nearest. `beyond`: how far a number may be outside
 * of all of them. */
static void list_codes(struct code_table *table, const float *values, size_t count, float beyond)
{
    for (size_t i = 0; i < count; i++) {
        float below = -INFINITY, above = INFINITY;
        for (size_t k = 0; k < count; k++) {
            if (values[k] < values[i] && values[k] > below) below = values[k];
            if (values[k] > values[i] && values[k] < above) above = values[k];
        }
        table->value[i] = values[i];
        table->low[i] = isfinite(below) ? (values[i] + below) / 2 : values[i] - beyond;
        table->high[i] = isfinite(above) ? (values[i] + above) / 2 : values[i] + beyond;
    }
}

/* Whole numbers, of which a quantiser takes the nearest or (`margin`, in steps) one not far from it. `is_signed`: the
 * code is a number of two's complement. */
static void count_codes(struct code_table *table, unsigned bits, bool is_signed, float margin, float beyond)
{
    const int count = 1 << bits, least = is_signed ? -count / 2 : 0;
    for (int i = 0; i < count; i++) {
        const int number = is_signed && i >= count / 2 ? i - count : i;
        table->value[i] = (float)number;
        table->low[i] = (float)number - margin - (number == least ? beyond : 0);
        table->high[i] = (float)number + margin + (number == least + count - 1 ? beyond : 0);
    }
}

/* The value of a float of 8 bits without infinities if `infinite` is false, E4M3 of OCP, and with them, E5M2. */
static float small_float(unsigned code, int exponent_bits, int bias, bool infinite)
{
    const int fraction_bits = 7 - exponent_bits, most = (1 << exponent_bits) - 1;
    const int exponent = (int)(code >> fraction_bits) & most, fraction = (int)code & ((1 << fraction_bits) - 1);
    const bool is_special = infinite ? exponent == most : exponent == most && fraction == (1 << fraction_bits) - 1;
    float value = exponent ? ldexpf((float)(fraction + (1 << fraction_bits)), exponent - bias - fraction_bits)
                           : ldexpf((float)fraction, 1 - bias - fraction_bits);
    if (is_special) value = infinite && !fraction ? INFINITY : NAN;
    return code & 128 ? -value : value;
}

static float e4m3_value(unsigned code) { return small_float(code, 4, 7, false); }

/* Floats of 8 bits. Where the scale is a power of two, the largest number may be beyond the largest code. */
static bool list_small_floats(struct code_table *table, enum shapeproof_dtype dtype)
{
    float values[CODES];
    if (dtype != SHAPEPROOF_DTYPE_F8_E4M3 && dtype != SHAPEPROOF_DTYPE_F8_E5M2) return false;
    const bool is_e4m3 = dtype == SHAPEPROOF_DTYPE_F8_E4M3;
    for (unsigned i = 0; i < CODES; i++) values[i] = is_e4m3 ? e4m3_value(i) : small_float(i, 5, 15, true);
    list_codes(table, values, CODES, is_e4m3 ? 512 - 448 : 65536 - 57344);
    return true;
}

/* E2M1: the scale is a power of two for which the largest number is below 8. */
static void list_e2m1(struct code_table *table)
{
    static const float values[16] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -0.5F, -1, -1.5F, -2, -3, -4, -6};
    list_codes(table, values, 16, 8 - 6);
}

/* ---- numbers of blocks ---- */

/* Into blocks of how many rows (or columns) so many are divided, if there are `blocks` of them: a power of two if that
 * can be, which all quantisers take that do not divide evenly. 0 when there is none. */
static uint64_t size_of_block(uint64_t size, uint64_t blocks)
{
    if (blocks == 1) return size;
    if (!blocks || blocks > size) return 0;
    for (uint64_t block = 1; block < size; block *= 2)
        if ((size + block - 1) / block == blocks) return block;
    return size % blocks ? 0 : size / blocks;
}

/* Sets how many blocks there are. `rows` and `columns` may be 1, for all of them. */
static bool set_blocks(struct sp_dequantiser *d, struct numbers *numbers, uint64_t rows, uint64_t columns)
{
    numbers->row_blocks = rows;
    numbers->column_blocks = columns;
    numbers->rows = size_of_block(d->matrix.rows, rows);
    const uint64_t block = size_of_block(d->matrix.columns, columns);
    if (!numbers->rows || !block) return false;
    if (numbers == &d->scales) {
        d->block_columns = block;
        d->matrix.blocks = columns;
    }
    return numbers == &d->scales || columns == d->matrix.blocks;
}

/* E2M1 under scales that are no powers of two, so that the largest number is the largest code. */
static void list_e2m1_to_six(struct code_table *table)
{
    list_e2m1(table);
    table->high[7] = 6.25F;
    table->low[15] = -6.25F;
}

static bool is_number(enum shapeproof_dtype dtype)
{
    return sp_is_float(dtype) || dtype == SHAPEPROOF_DTYPE_U8 || dtype == SHAPEPROOF_DTYPE_I8 ||
           dtype == SHAPEPROOF_DTYPE_F8_E8M0 || dtype == SHAPEPROOF_DTYPE_F8_E4M3;
}

/* Scales that have the shape (), (1), (rows), or (row blocks, column blocks) with dimensions of 1 between them. */
static bool set_scales(struct sp_dequantiser *d, size_t tensor)
{
    const struct shapeproof_tensor *in = tensor_of(d, tensor);
    uint64_t sizes[2] = {1, 1}, all = d->matrix.lead;
    if (!in || !is_number(in->dtype)) return false;
    uint32_t count = 0, first = d->module->matrix.lead ? 1 : 0;
    if (first && (!in->rank || in->shape[0] != d->matrix.lead)) return false;
    for (uint32_t i = first; i < in->rank; i++) {
        if (in->shape[i] == 1 && count) continue;
        if (count == 2) return false;
        sizes[count++] = in->shape[i];
    }
    if (count == 2 || in->rank == first + 2 || sizes[0] == 1 || sizes[0] == d->matrix.rows) {
        d->scales = (struct numbers){.tensor = tensor, .in = in};
        return set_blocks(d, &d->scales, sizes[0], sizes[1]) && !__builtin_mul_overflow(all, sizes[0], &all) &&
               !__builtin_mul_overflow(all, sizes[1], &all) && all == in->parameters;
    }
    return false;
}

/* Numbers of a tensor with that many rows, each of that many numbers. */
static bool set_numbers(struct sp_dequantiser *d, struct numbers *numbers, size_t tensor, bool across, unsigned bits,
                        uint64_t column_blocks)
{
    const uint64_t rows = d->matrix.rows;
    const struct shapeproof_tensor *in = tensor_of(d, tensor);
    if (!in || (bits ? in->dtype != SHAPEPROOF_DTYPE_I32 : !is_number(in->dtype)) || in->rank != 2) return false;
    *numbers = (struct numbers){.tensor = tensor, .in = in, .across = across, .bits = bits};
    const uint64_t stored = bits ? (rows + WORD / bits - 1) / (WORD / bits) : rows; /* along the rows */
    const uint64_t words = bits == 3 ? rows / 32 * 3 : stored;
    if (in->shape[across ? 1 : 0] != words || in->shape[across ? 0 : 1] != column_blocks) return false;
    return set_blocks(d, numbers, rows, column_blocks) && d->scales.row_blocks == rows;
}

/* ---- methods ---- */

static bool set_codes(struct sp_dequantiser *d, size_t tensor, enum code_layout layout, unsigned bits)
{
    const struct sp_restored_matrix *matrix = &d->matrix;
    uint64_t row;
    d->codes = (struct codes){.tensor = tensor, .layout = layout, .bits = bits};
    if (tensor == SHAPEPROOF_NONE) return false;
    const uint64_t along = layout == CODES_ACROSS ? matrix->rows : matrix->columns;
    if (__builtin_mul_overflow(along, (uint64_t)bits, &row)) return false;
    const unsigned word = shapeproof_dtype_bits(tensor_of(d, tensor)->dtype);
    if (row > UINT64_MAX - word || !word) return false;
    row = (row + word - 1) / word * word;
    return has_room(d, tensor, layout == CODES_ACROSS ? matrix->columns : matrix->rows, row);
}

/* Floats of 8 bits, or whole numbers, one for each element, with scales of any kind. */
static bool open_bytes(struct sp_dequantiser *d)
{
    const bool stacked = member_called(d, "") != SHAPEPROOF_NONE;
    const size_t weight = stacked ? member_called(d, "") : member_called(d, "weight");
    const size_t outer = member_called(d, "SCB"), zeros = member_called(d, "weight_zero_point");
    size_t scale = stacked ? member_called(d, "_scale_inv") : member_called(d, "weight_scale_inv");
    if (scale == SHAPEPROOF_NONE) scale = member_called(d, "weight_scale");
    if (outer != SHAPEPROOF_NONE) scale = outer;
    if (weight == SHAPEPROOF_NONE || !set_codes(d, weight, CODES_IN_ROWS, 8)) return false;
    const struct shapeproof_tensor *tensor = tensor_of(d, weight);
    if (tensor->rank < 2 || tensor->shape[tensor->rank - 1] != d->matrix.columns) return false;
    if (member_called(d, "weight_scale_2") != SHAPEPROOF_NONE || member_called(d, "pre_quant_scale") != SHAPEPROOF_NONE)
        return false;
    if (!list_small_floats(&d->table, tensor->dtype)) {
        if (!has_dtype(d, weight, SHAPEPROOF_DTYPE_I8)) return false;
        const bool is_nearest = outer != SHAPEPROOF_NONE;
        d->matrix.rounding = is_nearest ? SP_ROUNDED_NEAREST : SP_ROUNDED_TOGETHER;
        d->matrix.may_be_scaled = !is_nearest;
        count_codes(&d->table, 8, true, is_nearest ? 0.5F : 8, is_nearest ? 0 : CODES);
        if (is_nearest) d->factor = 1 / 127.0F; /* the scale is the largest number of the row */
    }
    if (!set_scales(d, scale)) return false;
    if (zeros == SHAPEPROOF_NONE) return true;
    const struct shapeproof_tensor *in = tensor_of(d, zeros);
    d->zeros = d->scales;
    d->zeros.tensor = zeros;
    d->zeros.in = in;
    return in->dtype == SHAPEPROOF_DTYPE_I8 && in->parameters == d->scales.in->parameters;
}

static unsigned bits_of(struct shapeproof_value form)
{
    const struct shapeproof_value groups = sp_value_member(form, "config_groups");
    struct shapeproof_value bits = sp_value_member(form, "bits");
    if (groups.type == SHAPEPROOF_VALUE_OBJECT && groups.count)
        bits = sp_value_member(sp_value_member(groups.members[0].value, "weights"), "num_bits");
    return bits.type == SHAPEPROOF_VALUE_INT && bits.integer > 0 && bits.integer <= 8 ? (unsigned)bits.integer : 0;
}

static uint64_t count_in(struct shapeproof_value object, const char *key, uint64_t otherwise)
{
    const uint64_t count = sp_value_count(sp_value_member(object, key));
    return count ? count : otherwise;
}

/* The block of each column, from the tensor of that name if there is one. */
static bool read_block_of_columns(struct sp_dequantiser *d, size_t tensor, const char **why)
{
    if (tensor == SHAPEPROOF_NONE) return true;
    const uint64_t columns = d->matrix.columns;
    if (!has_dtype(d, tensor, SHAPEPROOF_DTYPE_I32) || tensor_of(d, tensor)->parameters != columns) return false;
    d->block_of = sp_realloc(NULL, (size_t)columns, sizeof *d->block_of);
    if (!read_tensor(d, tensor, 0, d->block_of, columns * sizeof *d->block_of)) return false;
    for (uint64_t i = 0; i < columns; i++)
        if (d->block_of[i] < 0 || (uint64_t)d->block_of[i] >= d->matrix.blocks) {
            *why = "has a column in a group that has no scale (g_idx)";
            return false;
        }
    return true;
}

/* Scales or zero points of AWQ in a tensor of which each row (or, across, column) is filled up with zeros. */
static bool set_filled(struct sp_dequantiser *d, struct numbers *numbers, size_t tensor, bool across, unsigned bits,
                       uint64_t groups)
{
    const struct shapeproof_tensor *in = tensor_of(d, tensor);
    if (!in || in->rank != 2 || in->dtype != (bits ? SHAPEPROOF_DTYPE_I32 : SHAPEPROOF_DTYPE_F16)) return false;
    const uint64_t length = in->shape[across ? 0 : 1], codes = bits ? WORD / bits : 1;
    if (in->shape[across ? 1 : 0] != d->matrix.rows || length < (groups + codes - 1) / codes) return false;
    *numbers = (struct numbers){.tensor = tensor,
                                .in = in,
                                .across = across,
                                .row_length = across ? d->matrix.rows : length,
                                .bits = bits,
                                .in_row = bits != 0};
    return set_blocks(d, numbers, d->matrix.rows, groups);
}

/* AWQ in the layouts gemv, whose rows are those of the matrix, and gemv_fast, with four of them in a row. The latter
 * has minus the products of scales and zero points instead of the zero points. */
static bool open_awq_rows(struct sp_dequantiser *d, struct shapeproof_value form, bool is_fast)
{
    enum { BITS = 4 };
    const size_t codes = member_called(d, "qweight");
    const uint64_t group = count_in(form, "group_size", d->matrix.columns);
    const uint64_t groups = (d->matrix.columns - 1) / group + 1;
    const enum shapeproof_dtype dtype = is_fast ? SHAPEPROOF_DTYPE_I16 : SHAPEPROOF_DTYPE_I32;
    if (!has_dtype(d, codes, dtype) || d->matrix.rows % WORD || d->matrix.columns % (is_fast ? TURN : WORD))
        return false;
    if (!set_codes(d, codes, is_fast ? CODES_IN_FOURS : CODES_IN_ROWS, BITS)) return false;
    if (tensor_of(d, codes)->shape[0] != d->matrix.rows / (is_fast ? FOUR : 1)) return false;
    d->matrix.rounding = SP_ROUNDED_TOGETHER;
    d->matrix.may_be_scaled = true;
    d->zeros_added = is_fast;
    count_codes(&d->table, BITS, false, 8, 1U << BITS);
    return set_filled(d, &d->scales, member_called(d, "scales"), is_fast, 0, groups) &&
           set_filled(d, &d->zeros, member_called(d, "qzeros"), is_fast, is_fast ? 0 : BITS, groups);
}

static bool is_version(struct shapeproof_value form, const char *name)
{
    const struct shapeproof_value version = sp_value_member(form, "version");
    return version.type == SHAPEPROOF_VALUE_STRING && strcmp(version.string, name) == 0;
}

/* GPTQ and AWQ: words of codes, and zero points packed in the same way along the outputs. */
static bool open_words(struct sp_dequantiser *d, struct shapeproof_value form, const char **why)
{
    const size_t codes = member_called(d, "qweight"), zeros = member_called(d, "qzeros");
    const struct shapeproof_value method = sp_value_member(form, "quant_method");
    const bool is_awq = method.type == SHAPEPROOF_VALUE_STRING && strcmp(method.string, "awq") == 0;
    const unsigned bits = bits_of(form);
    if (is_version(form, "gemv") || is_version(form, "gemv_fast"))
        return open_awq_rows(d, form, is_version(form, "gemv_fast"));
    if (!bits || !has_dtype(d, codes, SHAPEPROOF_DTYPE_I32) || (is_awq && bits != 4) || WORD % bits % 2) return false;
    if (!is_awq && bits != 3 && bits != 4 && bits != 8) return false; /* the noise of 2 bits hides all */
    const struct shapeproof_tensor *scales = tensor_of(d, member_called(d, "scales"));
    if (!scales || scales->rank != 2 || d->matrix.rows % WORD || d->matrix.columns % WORD) return false;
    if (!set_codes(d, codes, is_awq ? CODES_ACROSS : CODES_DOWN, bits)) return false;
    if (tensor_of(d, codes)->shape[1] != (is_awq ? d->matrix.rows / (WORD / bits) : d->matrix.rows)) return false;
    d->codes.mixed = is_awq;
    d->matrix.rounding = SP_ROUNDED_TOGETHER;
    d->matrix.has_zeros_of_gptq = !is_awq;
    d->matrix.may_be_scaled = is_awq;
    count_codes(&d->table, bits, false, 8, (float)(1U << bits));
    if (!set_numbers(d, &d->scales, member_called(d, "scales"), true, 0, scales->shape[0]) ||
        !set_numbers(d, &d->zeros, zeros, true, bits, scales->shape[0]))
        return false;
    d->zeros.mixed = is_awq;
    return read_block_of_columns(d, member_called(d, "g_idx"), why);
}

/* compressed-tensors: words of codes in rows. */
static bool open_packed(struct sp_dequantiser *d, struct shapeproof_value form, const char **why)
{
    const size_t codes = member_called(d, "weight_packed"), zeros = member_called(d, "weight_zero_point");
    const unsigned bits = bits_of(form);
    if (has_dtype(d, codes, SHAPEPROOF_DTYPE_U8) &&
        has_dtype(d, member_called(d, "weight_scale"), SHAPEPROOF_DTYPE_U8)) {
        list_e2m1(&d->table);
        return set_codes(d, codes, CODES_IN_ROWS, 4) && set_scales(d, member_called(d, "weight_scale"));
    }
    if (bits < 3 || !has_dtype(d, codes, SHAPEPROOF_DTYPE_I32) || !set_codes(d, codes, CODES_IN_ROWS, bits))
        return false;
    d->matrix.rounding = SP_ROUNDED_TOGETHER;
    d->matrix.may_be_scaled = true;
    count_codes(&d->table, bits, false, 8, (float)(1U << bits));
    if (!set_scales(d, member_called(d, "weight_scale"))) return false;
    if (zeros == SHAPEPROOF_NONE) d->zero = (float)(1U << (bits - 1));
    else if (WORD % bits || !set_numbers(d, &d->zeros, zeros, false, bits, d->matrix.blocks)) return false;
    return read_block_of_columns(d, member_called(d, "weight_g_idx"), why);
}

/* The one number of a tensor of F32, above 0; or 0. */
static float read_one(struct sp_dequantiser *d, size_t tensor)
{
    float number = 0;
    if (!has_dtype(d, tensor, SHAPEPROOF_DTYPE_F32) || tensor_of(d, tensor)->parameters != 1) return 0;
    if (!read_tensor(d, tensor, 0, &number, sizeof number)) return 0;
    return number > 0 && isfinite(number) ? number : 0;
}

/* NVFP4: codes of E2M1, a scale of E4M3 for each 16, and one for all, by which ModelOpt multiplies and
 * compressed-tensors divides. */
static bool open_nvfp4(struct sp_dequantiser *d, size_t codes, size_t outer, bool is_divisor)
{
    const size_t scales = member_called(d, "weight_scale");
    if (!has_dtype(d, codes, SHAPEPROOF_DTYPE_U8) || !has_dtype(d, scales, SHAPEPROOF_DTYPE_F8_E4M3)) return false;
    if (member_called(d, "pre_quant_scale") != SHAPEPROOF_NONE) return false;
    list_e2m1_to_six(&d->table);
    d->outer_scale = read_one(d, outer);
    d->is_divisor = is_divisor;
    return d->outer_scale > 0 && set_codes(d, codes, CODES_IN_ROWS, 4) && set_scales(d, scales);
}

/* Zero points that are stored as the scales are. */
static bool set_zeros_as_scales(struct sp_dequantiser *d, size_t zeros)
{
    const struct shapeproof_tensor *in = tensor_of(d, zeros);
    if (!in || in->parameters != d->scales.in->parameters) return false;
    d->zeros = d->scales;
    d->zeros.tensor = zeros;
    d->zeros.in = in;
    return sp_is_float(in->dtype) || in->dtype == SHAPEPROOF_DTYPE_I8;
}

/* MLX: rows of codes in words, the lowest bits first, and for each group a scale and what is added. The scale is made
 * so that the end of the group that is farther from 0 is a code; the other end may then be outside by a step. The
 * scales of 8 bits are made of the largest number by rounding. */
static bool open_mlx(struct sp_dequantiser *d, struct shapeproof_value form)
{
    const size_t codes = member_called(d, "weight"), scales = member_called(d, "scales");
    const size_t added = member_called(d, "biases");
    const struct shapeproof_value mode = sp_value_member(form, "mode");
    const char *kind = mode.type == SHAPEPROOF_VALUE_STRING ? mode.string : "affine";
    if (!has_dtype(d, codes, SHAPEPROOF_DTYPE_U32) || scales == SHAPEPROOF_NONE) return false;
    if (added != SHAPEPROOF_NONE) {
        const unsigned bits = bits_of(form);
        if (bits < 2) return false;
        d->zeros_added = true;
        count_codes(&d->table, bits, false, 0.5F, 1);
        return set_codes(d, codes, CODES_IN_ROWS, bits) && set_scales(d, scales) && set_zeros_as_scales(d, added);
    }
    if (!has_dtype(d, scales, SHAPEPROOF_DTYPE_U8) || !set_scales(d, scales)) return false;
    d->scales.are_e4m3 = strcmp(kind, "nvfp4") == 0;
    if (strcmp(kind, "nvfp4") == 0) list_e2m1_to_six(&d->table);
    else if (strcmp(kind, "mxfp4") == 0) list_e2m1(&d->table);
    else if (strcmp(kind, "mxfp8") == 0) list_small_floats(&d->table, SHAPEPROOF_DTYPE_F8_E4M3);
    else return false;
    return set_codes(d, codes, CODES_IN_ROWS, strcmp(kind, "mxfp8") == 0 ? 8 : 4);
}

/* torchao: a code in a byte, with scales, and zero points if they are not all 0. */
static bool open_torchao(struct sp_dequantiser *d)
{
    const size_t codes = member_called(d, "_weight_qdata"), zeros = member_called(d, "_weight_zero_point");
    if (member_called(d, "_weight_act_pre_scale") != SHAPEPROOF_NONE || !set_codes(d, codes, CODES_IN_ROWS, 8))
        return false;
    if (has_dtype(d, codes, SHAPEPROOF_DTYPE_I8)) count_codes(&d->table, 8, true, 0.5F, 0.5F);
    else if (!list_small_floats(&d->table, tensor_of(d, codes)->dtype)) return false;
    if (!set_scales(d, member_called(d, "_weight_scale"))) return false;
    d->computed_as_stored = true;
    return zeros == SHAPEPROOF_NONE || set_zeros_as_scales(d, zeros);
}

static const char other_shape[] = "is quantised from a matrix of another shape";

/* Whether the module of HQQ is one of a matrix of another shape: it has its own as a tensor. */
static bool hqq_has_other_shape(struct sp_dequantiser *d, const struct shapeproof_tensor *full)
{
    const size_t shape = member_called(d, "shape");
    unsigned char own[2 * sizeof(uint64_t)];
    if (!has_dtype(d, shape, SHAPEPROOF_DTYPE_I64) || tensor_of(d, shape)->bytes != sizeof own || full->rank != 2)
        return false;
    if (!read_tensor(d, shape, 0, own, sizeof own)) return false;
    struct sp_cursor cursor = sp_cursor_of(own, sizeof own);
    const uint64_t rows = sp_cursor_le(&cursor, sizeof rows), columns = sp_cursor_le(&cursor, sizeof columns);
    return rows != full->shape[0] || columns != full->shape[1];
}

/* HQQ: the matrix as a list is divided into groups. A group is a row of the codes if the scales are a column, (groups,
 * 1), and a column of them if the scales are a row, (1, groups). The rows of the codes are in parts, of which each word
 * has a code. HQQ moves the zero points so that large numbers may be outside of all codes. */
static bool open_hqq(struct sp_dequantiser *d, const struct shapeproof_tensor *full, const char **why)
{
    enum { PARTS_OF_3_BITS = 10 }; /* in 32 bits */
    struct sp_restored_matrix *matrix = &d->matrix;
    const size_t codes = member_called(d, "W_q"), scales = member_called(d, "scale"), zeros = member_called(d, "zero");
    const struct shapeproof_tensor *in = tensor_of(d, codes), *of = tensor_of(d, scales);
    const uint64_t all = full->parameters, width = full->rank == 2 ? full->shape[1] : 0;
    if (!of || in->rank != 2 || of->rank != 2 || !sp_is_float(of->dtype) || (of->shape[0] != 1 && of->shape[1] != 1))
        return false;
    if (hqq_has_other_shape(d, full)) {
        *why = other_shape;
        return false;
    }
    const bool across = of->shape[1] != 1;
    const uint64_t groups = of->parameters, group = groups && all % groups == 0 ? all / groups : 0;
    const uint64_t along = across ? group : groups; /* rows of the codes before they are packed */
    if (!group || !in->shape[0] || in->shape[1] != (across ? groups : group)) return false;
    const uint64_t parts = (along + in->shape[0] - 1) / in->shape[0];
    const bool is_word = in->dtype == SHAPEPROOF_DTYPE_I32;
    if (!is_word && in->dtype != SHAPEPROOF_DTYPE_U8) return false;
    if (is_word ? parts > PARTS_OF_3_BITS : parts > 8 || 8 % parts || along % parts) return false;
    if (is_word && in->shape[0] != (along + PARTS_OF_3_BITS - 1) / PARTS_OF_3_BITS) return false;
    matrix->is_list = across || width % group;
    matrix->groups_in_row = !across && width % group == 0 ? width / group : 0;
    matrix->rows = groups;
    matrix->columns = group;
    matrix->transposed = across;
    d->codes = (struct codes){.tensor = codes,
                              .layout = across ? CODES_IN_PARTS_ACROSS : CODES_IN_PARTS,
                              .bits = is_word ? 3 : 8 / (unsigned)parts,
                              .part = in->shape[0],
                              .word = is_word ? 4 : 1};
    count_codes(&d->table, d->codes.bits, false, 0.5F, (float)(1U << d->codes.bits) / 2);
    d->scales = (struct numbers){.tensor = scales, .in = of};
    return set_blocks(d, &d->scales, groups, 1) && set_zeros_as_scales(d, zeros) && sp_is_float(d->zeros.in->dtype);
}

/* MXFP4 of gpt-oss: 16 bytes and an exponent for each 32 columns. */
static bool open_mxfp4(struct sp_dequantiser *d)
{
    struct sp_restored_matrix *matrix = &d->matrix;
    const uint64_t rows = matrix->rows;
    matrix->rows = matrix->columns; /* the packed matrix is transposed */
    matrix->columns = rows;
    matrix->transposed = true;
    list_e2m1(&d->table);
    return set_codes(d, member_called(d, "_blocks"), CODES_IN_ROWS, 4) && set_scales(d, member_called(d, "_scales"));
}

/* The numbers of a tensor of F32, or NULL. */
static float *read_floats(struct sp_dequantiser *d, size_t tensor, uint64_t count)
{
    if (!has_dtype(d, tensor, SHAPEPROOF_DTYPE_F32) || tensor_of(d, tensor)->parameters != count) return NULL;
    float *floats = sp_realloc(NULL, (size_t)count, sizeof *floats);
    if (read_tensor(d, tensor, 0, floats, count * sizeof *floats)) return floats;
    sp_free(floats);
    return NULL;
}

/* What bitsandbytes says of a weight in JSON; an empty object when it says nothing. In the arena. */
static struct shapeproof_value read_quant_state(struct sp_dequantiser *d, struct sp_arena *arena)
{
    enum { MOST = 1 << 16 }; /* bytes; it has about 200 */
    struct shapeproof_value state = {.type = SHAPEPROOF_VALUE_OBJECT};
    struct shapeproof_error error = {0};
    for (size_t i = 0; i < d->module->count; i++) {
        const struct shapeproof_tensor *tensor = tensor_of(d, d->module->tensors[i]);
        if (!strstr(tensor->name, ".quant_state.bitsandbytes__") || tensor->bytes > MOST || !tensor->bytes) continue;
        char *text = sp_arena_array(arena, (size_t)tensor->bytes, 1);
        if (!read_tensor(d, d->module->tensors[i], 0, text, tensor->bytes) ||
            !sp_value_parse_json(arena, text, (size_t)tensor->bytes, &state, &error))
            state = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT};
    }
    return state;
}

/* Whether bitsandbytes says of the weight that it is a matrix of another shape. */
static bool state_has_other_shape(struct shapeproof_value state, const struct shapeproof_tensor *full)
{
    const struct shapeproof_value shape = sp_value_member(state, "shape");
    bool differs = false;
    if (shape.type != SHAPEPROOF_VALUE_LIST || shape.count != full->rank) return false;
    for (size_t i = 0; i < shape.count; i++) differs |= sp_value_count(shape.items[i]) != full->shape[i];
    return differs;
}

/* bitsandbytes with 4 bits: the matrix is one list of blocks. */
static bool open_blocks_of_list(struct sp_dequantiser *d, const struct shapeproof_tensor *full, const char **why)
{
    const size_t codes = member_called(d, "weight"), scales = member_called(d, "weight.absmax");
    struct sp_arena arena = {0};
    const struct shapeproof_value state = read_quant_state(d, &arena), offset = sp_value_member(state, "nested_offset");
    const uint64_t block = count_in(state, "blocksize", 64);
    d->nested.block = count_in(state, "nested_blocksize", 256);
    d->nested.offset = offset.type == SHAPEPROOF_VALUE_REAL  ? (float)offset.real
                       : offset.type == SHAPEPROOF_VALUE_INT ? (float)offset.integer
                                                             : NAN;
    if (state_has_other_shape(state, full)) *why = other_shape;
    sp_arena_free(&arena);
    if (*why) return false;
    if (codes == SHAPEPROOF_NONE || scales == SHAPEPROOF_NONE) return false;
    const bool in_rows = full->shape[1] % block == 0; /* blocks do not go on in the next row */
    d->matrix.is_list = !in_rows;
    d->matrix.rows = in_rows ? full->shape[0] : full->parameters % block ? 1 : full->parameters / block;
    d->matrix.columns = full->parameters / d->matrix.rows;
    const uint64_t blocks = (d->matrix.columns + block - 1) / block;
    float *values = read_floats(d, member_called(d, "weight.quant_map"), 16);
    if (values) list_codes(&d->table, values, 16, 0);
    sp_free(values);
    if (!values || !set_codes(d, codes, CODES_IN_ROWS, 4)) return false;
    d->codes.high_first = true;
    d->scales = (struct numbers){.tensor = scales, .in = tensor_of(d, scales)};
    if (d->scales.in->parameters != d->matrix.rows * blocks) return false;
    if (!set_blocks(d, &d->scales, d->matrix.rows, blocks)) return false;
    d->block_columns = block;
    if (d->scales.in->dtype == SHAPEPROOF_DTYPE_F32) return true;
    if (d->scales.in->dtype != SHAPEPROOF_DTYPE_U8 || !isfinite(d->nested.offset)) return false;
    d->nested.map = read_floats(d, member_called(d, "weight.nested_quant_map"), CODES);
    d->nested.scales = read_floats(d, member_called(d, "weight.nested_absmax"),
                                   (d->scales.in->parameters + d->nested.block - 1) / d->nested.block);
    return d->nested.map && d->nested.scales;
}

static const char *obstacle_to_module(const struct sp_dequantiser *d)
{
    for (size_t i = 0; i < d->module->count; i++) {
        const struct shapeproof_tensor *tensor = tensor_of(d, d->module->tensors[i]);
        const char *why = shapeproof_data_obstacle(d->data, d->module->tensors[i]);
        if (why) return why;
        if (shapeproof_data_in_order(d->data, d->module->tensors[i])) return "bytes that can only be read in order";
        if (tensor->flags & SHAPEPROOF_TENSOR_BIG_ENDIAN || !sp_is_row_major(tensor))
            return "elements in another order";
    }
    return NULL;
}

/* Finds how the module is stored by the tensors that it has. */
static bool open_method(struct sp_dequantiser *d, struct shapeproof_value form, const struct shapeproof_tensor *full,
                        const char **why)
{
    const size_t weight = member_called(d, "weight"), packed = member_called(d, "weight_packed");
    const size_t multiplied = member_called(d, "weight_scale_2"), divided = member_called(d, "weight_global_scale");
    if (member_called(d, "_blocks") != SHAPEPROOF_NONE) return open_mxfp4(d);
    if (member_called(d, "W_q") != SHAPEPROOF_NONE) return open_hqq(d, full, why);
    if (member_called(d, "_weight_qdata") != SHAPEPROOF_NONE) return open_torchao(d);
    if (member_called(d, "scales") != SHAPEPROOF_NONE && has_dtype(d, weight, SHAPEPROOF_DTYPE_U32))
        return open_mlx(d, form);
    if (multiplied != SHAPEPROOF_NONE && has_dtype(d, weight, SHAPEPROOF_DTYPE_U8))
        return open_nvfp4(d, weight, multiplied, false);
    if (divided != SHAPEPROOF_NONE && packed != SHAPEPROOF_NONE) return open_nvfp4(d, packed, divided, true);
    if (d->module->matrix.elements) return full->rank == 2 && open_blocks_of_list(d, full, why);
    if (member_called(d, "qweight") != SHAPEPROOF_NONE) return d->matrix.lead == 1 && open_words(d, form, why);
    if (member_called(d, "weight_packed") != SHAPEPROOF_NONE) return d->matrix.lead == 1 && open_packed(d, form, why);
    return open_bytes(d);
}

/* Whether the scales of a band of the fewest rows, and what callers note of each block and column, are a few MB. */
static bool fits_in_memory(const struct sp_restored_matrix *matrix)
{
    enum { BLOCKS = 1 << 15, COLUMNS = 1 << 21 }; /* 32 times 48 bytes, and 16 bytes */
    return matrix->blocks <= (matrix->rows < WORD ? WORD * BLOCKS / matrix->rows : BLOCKS) &&
           matrix->columns <= COLUMNS;
}

/* By which fraction numbers may be off that were rounded to the dtype. */
static float rounding_of(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_BF16 ? 0x1p-8F : dtype == SHAPEPROOF_DTYPE_F16 ? 0x1p-11F : 0;
}

struct sp_dequantiser *sp_dequantiser_open(const struct sp_packed_module *module, struct shapeproof_value form,
                                           const struct shapeproof_inventory *file, const struct shapeproof_data *data,
                                           const struct shapeproof_tensor *full, const char **why,
                                           struct shapeproof_error *error)
{
    struct sp_dequantiser *d = sp_realloc(NULL, 1, sizeof *d);
    const struct sp_matrix *matrix = &module->matrix;
    *d = (struct sp_dequantiser){.module = module, .file = file, .data = data, .error = error, .factor = 1};
    d->matrix = (struct sp_restored_matrix){
        .lead = matrix->lead ? matrix->lead : 1, .rows = matrix->rows, .columns = matrix->columns};
    *why = NULL;
    const bool is_known =
        full->parameters && !obstacle_to_module(d) && open_method(d, form, full, why) && fits_in_memory(&d->matrix);
    if (is_known && error->status == SHAPEPROOF_OK) {
        const enum shapeproof_dtype dtype = d->scales.in->dtype;
        d->scale_error = rounding_of(dtype) * (d->computed_as_stored ? 3 : 1);
        if (d->zeros.in) d->zero_error = rounding_of(d->zeros.in->dtype);
        return d;
    }
    sp_dequantiser_close(d);
    return NULL;
}

void sp_dequantiser_close(struct sp_dequantiser *d)
{
    if (!d) return;
    sp_free(d->nested.map);
    sp_free(d->nested.scales);
    sp_free(d->block_of);
    sp_free(d->band_scales);
    sp_free(d->band_zeros);
    sp_free(d->band_errors);
    sp_free(d->tile_blocks);
    sp_free(d->raw);
    sp_free(d);
}

struct sp_restored_matrix sp_dequantiser_matrix(const struct sp_dequantiser *d) { return d->matrix; }

void sp_dequantiser_set_zeros(struct sp_dequantiser *d, enum sp_zero_points zeros)
{
    d->zeros.less_one = d->matrix.has_zeros_of_gptq && zeros == SP_ZEROS_LESS_ONE;
}

/* ---- bits ---- */

/* Where AWQ has the code of a row among the eight of its word. */
static uint64_t place_in_word(uint64_t row)
{
    static const unsigned char places[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    return row / 8 * 8 + places[row % 8];
}

/* The code at a place of a list of codes, the lowest bits first; of two in a byte the high ones first if asked for. The
 * buffers have a byte more than what is read. */
static unsigned code_at(const unsigned char *bytes, uint64_t place, unsigned bits, bool high_first)
{
    if (bits == 8) return bytes[place];
    const uint64_t bit = (high_first ? place ^ 1 : place) * bits;
    const unsigned two = (unsigned)bytes[bit / 8] | (unsigned)bytes[bit / 8 + 1] << 8;
    return two >> (bit % 8) & ((1U << bits) - 1);
}

/* The code at a place of a list whose words of 32 bits are so many words apart. */
static unsigned code_in_words(const unsigned char *bytes, uint64_t apart, uint64_t place, unsigned bits)
{
    const uint64_t bit = place * bits, byte = bit / 8;
    const uint64_t next = byte + 1; /* may be in the next word, which is read as well if the code reaches into it */
    const unsigned low = bytes[byte / 4 * apart * 4 + byte % 4];
    const unsigned high = bit % 8 + bits > 8 ? bytes[next / 4 * apart * 4 + next % 4] : 0;
    return (low | high << 8) >> (bit % 8) & ((1U << bits) - 1);
}

static unsigned char *raw_of(struct sp_dequantiser *d, uint64_t bytes)
{
    if (bytes + 1 > d->raw_size) {
        d->raw_size = (size_t)bytes + 1;
        sp_free(d->raw);
        d->raw = sp_realloc(NULL, d->raw_size, 1);
    }
    d->raw[bytes] = 0;
    return d->raw;
}

/* Reads `count` pieces of `length` bytes that are `apart` bytes from one another. */
static bool read_pieces(struct sp_dequantiser *d, size_t tensor, uint64_t offset, uint64_t apart, uint64_t count,
                        uint64_t length, struct shapeproof_error *error)
{
    unsigned char *raw = raw_of(d, count * length);
    if (apart == length) return shapeproof_data_read(d->data, tensor, offset, raw, (size_t)(count * length), error);
    for (uint64_t i = 0; i < count; i++)
        if (!shapeproof_data_read(d->data, tensor, offset + i * apart, raw + i * length, (size_t)length, error))
            return false;
    return true;
}

/* ---- a band ---- */

uint64_t sp_dequantiser_band_rows(const struct sp_dequantiser *d)
{
    const bool in_rows = (d->codes.layout == CODES_IN_ROWS && !d->matrix.transposed) ||
                         d->codes.layout == CODES_IN_PARTS ||
                         d->codes.layout == CODES_IN_FOURS; /* whole rows are read at once */
    uint64_t rows = in_rows ? TILE / d->matrix.columns / WORD * WORD : ROWS;
    if (rows > ROWS) rows = ROWS;
    while (rows > WORD && rows * d->matrix.blocks > BAND_BLOCKS) rows = rows / 2 / WORD * WORD;
    return rows < WORD ? WORD : rows;
}

uint64_t sp_dequantiser_tile_columns(const struct sp_dequantiser *d, uint64_t rows)
{
    const uint64_t columns = TILE / rows / WORD * WORD;
    return columns > d->matrix.columns ? d->matrix.columns : columns;
}

static float number_at(enum shapeproof_dtype dtype, const unsigned char *bytes)
{
    if (dtype == SHAPEPROOF_DTYPE_I8) return (float)(signed char)*bytes;
    if (dtype == SHAPEPROOF_DTYPE_F8_E4M3) return e4m3_value(*bytes);
    if (dtype == SHAPEPROOF_DTYPE_U8 || dtype == SHAPEPROOF_DTYPE_F8_E8M0) /* an exponent */
        return *bytes == 255 ? (float)NAN : ldexpf(1, *bytes - 127);
    return (float)sp_value_of(dtype, bytes);
}

/* Adds one to each code of the words, as GPTQModel does: to a word as a whole, because it has subtracted with borrows.
 * Codes of 3 bits, which go on in the next word, are added to one by one. */
static void add_one_to_codes(unsigned char *words, uint64_t count, unsigned bits)
{
    const uint32_t ones = UINT32_MAX / ((1U << bits) - 1); /* a one in each code */
    for (uint64_t i = 0; i < count && WORD % bits == 0; i++) {
        uint32_t word;
        memcpy(&word, words + i * 4, sizeof word);
        word += ones;
        memcpy(words + i * 4, &word, sizeof word);
    }
}

/* Reads the numbers of the band into `into`, those of a row behind one another. */
static bool read_numbers(struct sp_dequantiser *d, const struct numbers *numbers, float *into,
                         struct shapeproof_error *error)
{
    const uint64_t count = d->row_blocks, blocks = numbers->column_blocks, first = d->first_block;
    const uint64_t size = numbers->bits ? 0 : shapeproof_dtype_bits(numbers->in->dtype) / 8;
    const uint64_t words = numbers->bits ? ((numbers->in_row ? blocks : count) * numbers->bits + WORD - 1) / WORD : 0;
    const uint64_t before = first * numbers->bits / WORD; /* words; a band begins with one */
    const uint64_t all = numbers->row_length
                             ? numbers->row_length
                             : numbers->in->parameters / (blocks * d->matrix.lead); /* along the rows, as stored */
    const uint64_t length = numbers->row_length ? numbers->row_length : blocks;     /* of a row, if not across */
    bool ok;
    if (numbers->in_row) ok = read_pieces(d, numbers->tensor, first * length * 4, length * 4, count, words * 4, error);
    else if (numbers->across)
        ok = read_pieces(d, numbers->tensor, numbers->bits ? before * 4 : first * size,
                         all * (numbers->bits ? 4 : size), blocks, numbers->bits ? words * 4 : count * size, error);
    else if (numbers->bits)
        ok = read_pieces(d, numbers->tensor, before * blocks * 4, blocks * 4, words, blocks * 4, error);
    else
        ok = read_pieces(d, numbers->tensor, (d->first_matrix * numbers->row_blocks + first) * length * size,
                         length * size, count, blocks * size, error);
    if (!ok) return false;
    const unsigned later = numbers->less_one && numbers->bits == 3 ? 1 : 0;
    if (numbers->less_one) add_one_to_codes(d->raw, words * blocks, numbers->bits);
    for (uint64_t row = 0; row < count; row++)
        for (uint64_t k = 0; k < blocks; k++) {
            const uint64_t place = numbers->across ? k * count + row : row * blocks + k;
            float *number = &into[row * blocks + k];
            if (!numbers->bits)
                *number =
                    number_at(numbers->are_e4m3 ? SHAPEPROOF_DTYPE_F8_E4M3 : numbers->in->dtype, d->raw + place * size);
            else if (numbers->in_row) *number = (float)code_at(d->raw + row * words * 4, k, numbers->bits, false);
            else if (numbers->across)
                *number = (float)((code_at(d->raw + k * words * 4, numbers->mixed ? place_in_word(row) : row,
                                           numbers->bits, false) +
                                   later) &
                                  ((1U << numbers->bits) - 1));
            else *number = (float)code_in_words(d->raw + k * 4, blocks, row, numbers->bits);
        }
    return true;
}

/* Reads scales that are codes themselves. The largest gap between the values of that code is less than a hundredth of
 * the scale of all of them, so that a scale is off by half of that at most. */
static bool read_nested_scales(struct sp_dequantiser *d, struct shapeproof_error *error)
{
    const float gap = 0.01F;
    const uint64_t blocks = d->matrix.blocks, first = d->first_block * blocks, count = d->row_blocks * blocks;
    if (!read_pieces(d, d->scales.tensor, first, count, 1, count, error)) return false;
    for (uint64_t i = 0; i < count; i++) {
        const float outer = d->nested.scales[(first + i) / d->nested.block];
        d->band_scales[i] = d->nested.map[d->raw[i]] * outer + d->nested.offset;
        d->band_errors[i] = outer * gap;
    }
    return true;
}

/* Half of the distance from a number of E4M3 to the next. 0 has the step of the subnormal numbers. */
static float half_step_of_e4m3(float number)
{
    const int least = -6 + 1; /* of numbers that are not subnormal, as those in [0.5, 1) have 0 */
    int exponent = least;
    if (fpclassify(number) != FP_ZERO) frexpf(number, &exponent);
    return ldexpf(1, (exponent > least ? exponent : least) - 1 - 3 - 1);
}

/* Notes by how much scales of 8 bits may be off that were rounded after the codes were chosen, and multiplies the
 * scales of the band by the scale of all. */
static void finish_scales(struct sp_dequantiser *d, size_t count)
{
    const bool are_e4m3 = d->scales.are_e4m3 || d->scales.in->dtype == SHAPEPROOF_DTYPE_F8_E4M3;
    if (are_e4m3) d->band_errors = sp_realloc(d->band_errors, count, sizeof *d->band_errors);
    for (size_t i = 0; i < count && are_e4m3; i++) d->band_errors[i] = half_step_of_e4m3(d->band_scales[i]);
    for (size_t i = 0; i < count && d->outer_scale > 0; i++) {
        const float scale = d->outer_scale;
        d->band_scales[i] = d->is_divisor ? d->band_scales[i] / scale : d->band_scales[i] * scale;
        if (are_e4m3) d->band_errors[i] = d->is_divisor ? d->band_errors[i] / scale : d->band_errors[i] * scale;
    }
}

bool sp_dequantiser_begin_band(struct sp_dequantiser *d, uint64_t matrix, uint64_t row, uint64_t rows,
                               struct shapeproof_error *error)
{
    d->first_matrix = matrix;
    d->first_row = row;
    d->band_rows = rows;
    d->first_block = row / d->scales.rows;
    d->row_blocks = (row + rows - 1) / d->scales.rows - d->first_block + 1;
    const size_t count = (size_t)(d->row_blocks * d->matrix.blocks);
    d->band_scales = sp_realloc(d->band_scales, count, sizeof *d->band_scales);
    if (d->nested.map) {
        d->band_errors = sp_realloc(d->band_errors, count, sizeof *d->band_errors);
        return read_nested_scales(d, error);
    }
    if (!read_numbers(d, &d->scales, d->band_scales, error)) return false;
    finish_scales(d, count);
    if (!d->zeros.in) return true;
    d->band_zeros = sp_realloc(d->band_zeros, count, sizeof *d->band_zeros);
    return read_numbers(d, &d->zeros, d->band_zeros, error);
}

/* Where the scales of a row of the band begin. */
static size_t place_of_row(const struct sp_dequantiser *d, uint64_t row_of_band)
{
    return (size_t)(((d->first_row + row_of_band) / d->scales.rows - d->first_block) * d->matrix.blocks);
}

float sp_dequantiser_scale(const struct sp_dequantiser *d, uint64_t row_of_band, uint64_t block)
{
    return d->band_scales[place_of_row(d, row_of_band) + block] * d->factor;
}

/* ---- a tile ---- */

/* Reads codes in parts: rows of the tensor, each once for every row (column) of the matrix that has codes in it. Those
 * that follow one another are read at once. */
static bool read_parts(struct sp_dequantiser *d, uint64_t column, uint64_t columns, struct shapeproof_error *error)
{
    const struct codes *codes = &d->codes;
    const bool across = codes->layout == CODES_IN_PARTS_ACROSS;
    const uint64_t width = (across ? d->matrix.rows : d->matrix.columns) * codes->word; /* bytes of a row */
    const uint64_t first = across ? column : d->first_row, count = across ? columns : d->band_rows;
    const uint64_t offset = (across ? d->first_row : column) * codes->word;
    const uint64_t length = (across ? d->band_rows : columns) * codes->word;
    unsigned char *raw = raw_of(d, count * length);
    for (uint64_t i = 0, run; i < count; i += run) {
        const uint64_t row = (first + i) % codes->part, left = codes->part - row;
        run = length < width ? 1 : left < count - i ? left : count - i;
        if (!shapeproof_data_read(d->data, codes->tensor, row * width + offset, raw + i * length,
                                  (size_t)(run * length), error))
            return false;
    }
    return true;
}

static bool read_codes(struct sp_dequantiser *d, uint64_t column, uint64_t columns, struct shapeproof_error *error)
{
    const struct codes *codes = &d->codes;
    const struct sp_restored_matrix *matrix = &d->matrix;
    const uint64_t rows = d->band_rows, bits = codes->bits;
    if (codes->layout == CODES_IN_ROWS) {
        const uint64_t stored = tensor_of(d, codes->tensor)->bytes / (matrix->lead * matrix->rows); /* of a row */
        const uint64_t first = d->first_matrix * matrix->rows + d->first_row;
        d->code_length = columns == matrix->columns ? stored : (columns * bits + 7) / 8;
        return read_pieces(d, codes->tensor, first * stored + column * bits / 8, stored, rows, d->code_length, error);
    }
    if (codes->layout == CODES_IN_PARTS || codes->layout == CODES_IN_PARTS_ACROSS)
        return read_parts(d, column, columns, error);
    if (codes->layout == CODES_IN_FOURS) {
        const uint64_t first = column / TURN * TURN, end = (column + columns + TURN - 1) / TURN * TURN;
        const uint64_t bytes = FOUR * bits; /* of eight columns */
        d->code_length = (end - first) / 8 * bytes;
        return read_pieces(d, codes->tensor, (d->first_row / FOUR * matrix->columns + first) / 8 * bytes,
                           matrix->columns / 8 * bytes, rows / FOUR, d->code_length, error);
    }
    if (codes->layout == CODES_DOWN)
        return read_pieces(d, codes->tensor, (column * bits / WORD * matrix->rows + d->first_row) * 4, matrix->rows * 4,
                           columns * bits / WORD, rows * 4, error);
    return read_pieces(d, codes->tensor, (column * matrix->rows + d->first_row) * bits / 8, matrix->rows * bits / 8,
                       columns, rows * bits / 8, error);
}

/* The same of codes in parts; `columns`: of the tile. */
static unsigned code_in_parts(const struct sp_dequantiser *d, uint64_t row, uint64_t column, uint64_t columns)
{
    const struct codes *codes = &d->codes;
    const bool across = codes->layout == CODES_IN_PARTS_ACROSS;
    const uint64_t part = (across ? d->tile_column + column : d->first_row + row) / codes->part;
    const uint64_t place = across ? column * d->band_rows + row : row * columns + column;
    const unsigned first = codes->word == 1 ? 8 - codes->bits : 27; /* of 32 bits, ten codes of 3 take 30 */
    uint32_t word = d->raw[place * codes->word];
    if (codes->word == sizeof word) memcpy(&word, d->raw + place * sizeof word, sizeof word);
    return word >> (first - codes->bits * part) & ((1U << codes->bits) - 1);
}

/* Where gemv_fast of AWQ has the code of an element in the row of its tensor. Of 32 columns 8*a + 2*b + c it has the
 * order 8*b + 4*c + a, with which a kernel can multiply eight at once. */
static uint64_t place_in_fours(uint64_t row, uint64_t column)
{
    const uint64_t a = column / 8 % 4, b = column / 2 % 4, c = column % 2;
    return (column / TURN * FOUR + row % FOUR) * TURN + column % TURN / WORD * WORD + 8 * b + 4 * c + a;
}

/* The code of an element of the tile that is read. */
static unsigned code_of(const struct sp_dequantiser *d, uint64_t row, uint64_t column, uint64_t columns)
{
    const struct codes *codes = &d->codes;
    const uint64_t rows = d->band_rows;
    switch (codes->layout) {
    case CODES_DOWN:
        return code_in_words(d->raw + row * 4, rows, column, codes->bits);
    case CODES_ACROSS:
        return code_at(d->raw + column * (rows * codes->bits / 8), codes->mixed ? place_in_word(row) : row, codes->bits,
                       false);
    case CODES_IN_PARTS:
    case CODES_IN_PARTS_ACROSS:
        return code_in_parts(d, row, column, columns);
    case CODES_IN_FOURS:
        return code_at(d->raw + row / FOUR * d->code_length, place_in_fours(row, d->tile_column % TURN + column),
                       codes->bits, false);
    case CODES_IN_ROWS:
        break;
    }
    return code_at(d->raw + row * d->code_length, column, codes->bits, codes->high_first);
}

bool sp_dequantiser_read_tile(struct sp_dequantiser *d, uint64_t column, uint64_t columns, struct sp_restored *into,
                              struct shapeproof_error *error)
{
    if (!read_codes(d, column, columns, error)) return false;
    d->tile_column = column;
    d->tile_blocks = sp_realloc(d->tile_blocks, (size_t)columns, sizeof *d->tile_blocks);
    for (uint64_t i = 0; i < columns; i++)
        d->tile_blocks[i] = (size_t)(d->block_of ? (uint64_t)d->block_of[column + i] : (column + i) / d->block_columns);
    for (uint64_t row = 0; row < d->band_rows; row++) {
        const size_t first = place_of_row(d, row);
        for (uint64_t i = 0; i < columns; i++) {
            const size_t place = first + d->tile_blocks[i];
            const unsigned code = code_of(d, row, i, columns);
            const float scale = d->band_scales[place], stored = d->zeros.in ? d->band_zeros[place] : d->zero;
            const float zero = d->zeros_added ? 0 : stored, added = d->zeros_added ? stored : 0;
            const float value = scale * (d->table.value[code] - zero) * d->factor + added;
            const float one = scale * (d->table.low[code] - zero) * d->factor + added,
                        other = scale * (d->table.high[code] - zero) * d->factor + added;
            float margin = fmaxf(fabsf(one - added), fabsf(other - added)) * d->scale_error +
                           fabsf(d->zeros_added ? added : scale * zero * d->factor) * d->zero_error;
            if (d->band_errors)
                margin += fmaxf(fabsf(d->table.low[code]), fabsf(d->table.high[code])) * d->band_errors[place];
            *into++ =
                (struct sp_restored){value, (one < other ? one : other) - margin, (one < other ? other : one) + margin};
        }
    }
    return true;
}

const size_t *sp_dequantiser_tile_blocks(const struct sp_dequantiser *d) { return d->tile_blocks; }
