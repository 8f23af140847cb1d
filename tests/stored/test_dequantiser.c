/* SPDX-License-Identifier: MIT
 * Matrices of 32 rows and 64 columns from the tensors of quantisers, against what their libraries make of the same
 * bytes: AutoAWQ 0.2.9 (dequantize_gemm, and what its layouts gemv and gemv_fast pack), MLX 0.32.4, GPTQModel 7.7.0
 * (TorchLinear.dequantize_weight), transformers 5.24.0 (Fp8Dequantize), compressed-tensors 0.20.1 (unpack_from_int32).
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "shapeproof/inventory.h"
#include "stored/dequantiser.h"

enum { ROWS = 32, COLUMNS = 64, TENSORS = 4 };

/* What the bytes of a tensor are. */
enum content {
    CODES = 1,    /* byte i is 73 i + 41, whose bits the number of its page of 256 bytes changes */
    ZEROS,        /* the same, plus 29 */
    HALVES,       /* F16: 1/64, 2/64, to 5/64, again and again */
    FLOATS,       /* F32: 1/8, 2/8, and so on */
    ALTERNATING,  /* I32: 0, 0, 1, 1, and so on */
    SMALL_FLOATS, /* E4M3, none of them NaN */
    EXPONENTS     /* E8M0: 2^-17 to 2^14 */
};

struct stored {
    const char *name, *dtype;
    uint64_t shape[2];
    enum content content;
};

struct stored_matrix {
    const char *form;
    struct stored tensors[TENSORS];
    enum sp_zero_points zeros;
    double first, last, weighted; /* `weighted`: the sum of each value times its place, from 1 on */
};

static const struct stored_matrix matrices[] = {
    {"{\"quant_method\":\"awq\",\"bits\":4}",
     {{"m.qweight", "I32", {64, 4}, CODES}, {"m.qzeros", "I32", {2, 4}, ZEROS}, {"m.scales", "F16", {2, 32}, HALVES}},
     SP_ZEROS_AS_STORED,
     0.046875,
     0.75,
     -45715.5},
    {"{\"quant_method\":\"gptq\",\"bits\":3}",
     {{"m.qweight", "I32", {6, 32}, CODES},
      {"m.qzeros", "I32", {2, 3}, ZEROS},
      {"m.scales", "F16", {2, 32}, HALVES},
      {"m.g_idx", "I32", {64, 1}, ALTERNATING}},
     SP_ZEROS_AS_STORED,
     -0.078125,
     0,
     -15768.734375},
    {"{\"quant_method\":\"gptq\",\"bits\":4}",
     {{"m.qweight", "I32", {8, 32}, CODES},
      {"m.qzeros", "I32", {2, 4}, ZEROS},
      {"m.scales", "F16", {2, 32}, HALVES},
      {"m.g_idx", "I32", {64, 1}, ALTERNATING}},
     SP_ZEROS_AS_STORED,
     0.046875,
     0.75,
     3327.5},
    {"{\"quant_method\":\"gptq\",\"bits\":8}",
     {{"m.qweight", "I32", {16, 32}, CODES},
      {"m.qzeros", "I32", {2, 8}, ZEROS},
      {"m.scales", "F16", {2, 32}, HALVES},
      {"m.g_idx", "I32", {64, 1}, ALTERNATING}},
     SP_ZEROS_AS_STORED,
     -0.453125,
     5.625,
     -453518.25},
    {"{\"quant_method\":\"fp8\"}",
     {{"m.weight", "F8_E4M3", {32, 64}, SMALL_FLOATS}, {"m.weight_scale_inv", "F32", {4, 2}, FLOATS}},
     SP_ZEROS_AS_STORED,
     -0.03125,
     0.0546875,
     -632879.125},
    {"{\"config_groups\":{\"g\":{\"weights\":{\"num_bits\":3}}}}",
     {{"m.weight_packed", "I32", {32, 6}, CODES}, {"m.weight_scale", "F16", {32, 2}, HALVES}},
     SP_ZEROS_AS_STORED,
     -0.046875,
     0.125,
     -48740.25},
    {"{\"config_groups\":{\"g\":{\"weights\":{\"num_bits\":6}}}}",
     {{"m.weight_packed", "I32", {32, 12}, CODES}, {"m.weight_scale", "F16", {32, 2}, HALVES}},
     SP_ZEROS_AS_STORED,
     0.140625,
     0.8125,
     -45981.90625},
    {"{\"config_groups\":{\"g\":{\"weights\":{\"num_bits\":4}}}}",
     {{"m.weight_packed", "I32", {32, 8}, CODES},
      {"m.weight_scale", "F16", {32, 2}, HALVES},
      {"m.weight_zero_point", "I32", {4, 2}, ZEROS}},
     SP_ZEROS_AS_STORED,
     0.046875,
     0.75,
     -23779.5},
    {"{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":32,\"version\":\"gemv\"}",
     {{"m.qweight", "I32", {32, 8}, CODES}, {"m.qzeros", "I32", {32, 4}, ZEROS}, {"m.scales", "F16", {32, 32}, HALVES}},
     SP_ZEROS_AS_STORED,
     0.046875,
     0.1875,
     22954.5},
    {"{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":32,\"version\":\"gemv_fast\"}",
     {{"m.qweight", "I16", {8, 64}, CODES},
      {"m.qzeros", "F16", {32, 32}, HALVES},
      {"m.scales", "F16", {32, 32}, HALVES}},
     SP_ZEROS_AS_STORED,
     0.15625,
     0.875,
     826771.75},
    {"{\"quant_method\":\"mlx\",\"mode\":\"mxfp8\"}",
     {{"m.weight", "U32", {32, 16}, SMALL_FLOATS}, {"m.scales", "U8", {32, 2}, EXPONENTS}},
     SP_ZEROS_AS_STORED,
     -0.0001220703125,
     224,
     -2485009531.263048},
};

static unsigned char code_byte(size_t i, size_t plus) { return (unsigned char)((i * 73 + 41 + plus) ^ (i / 256) * 17); }

/* Writes byte i of a tensor. */
static unsigned char byte_of(enum content content, size_t i)
{
    static const unsigned char halves[5] = {0x24, 0x28, 0x2a, 0x2c, 0x2d};
    const float number = (float)(1 + i / 4) / 8;
    unsigned char bytes[4];
    memcpy(bytes, &number, sizeof bytes);
    switch (content) {
    case CODES:
        return code_byte(i, 0);
    case ZEROS:
        return code_byte(i, 29);
    case HALVES:
        return i % 2 ? halves[i / 2 % 5] : 0;
    case FLOATS:
        return bytes[i % 4];
    case ALTERNATING:
        return i % 4 ? 0 : (unsigned char)(i / 8 % 2);
    case SMALL_FLOATS:
        return (unsigned char)((code_byte(i, 0) & 0x7e) | (code_byte(i, 87) & 0x80));
    case EXPONENTS:
        return (unsigned char)(code_byte(i, 29) % 32 + 110);
    }
    return 0;
}

static size_t size_of(const struct stored *tensor)
{
    const enum shapeproof_dtype dtype = shapeproof_dtype_from_name(tensor->dtype, strlen(tensor->dtype));
    return (size_t)(tensor->shape[0] * tensor->shape[1]) * shapeproof_dtype_bits(dtype) / 8;
}

/* Writes the tensors as a file. Returns how many there are. */
static size_t write_file(const struct stored *tensors, char *path)
{
    struct sp_text header = {0};
    size_t count = 0, offset = 0;
    FILE *file = fdopen(mkstemp(path), "wb");
    for (; count < TENSORS && tensors[count].name; count++) {
        const struct stored *t = &tensors[count];
        sp_text_printf(&header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%" PRIu64 ",%" PRIu64 "],\"data_offsets\":[%zu,",
                       count ? "," : "{", t->name, t->dtype, t->shape[0], t->shape[1], offset);
        sp_text_printf(&header, "%zu]}", offset += size_of(t));
    }
    sp_text_puts(&header, "}");
    const uint64_t length = header.length;
    fwrite(&length, sizeof length, 1, file);
    fwrite(header.data, 1, header.length, file);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < size_of(&tensors[i]); k++) fputc(byte_of(tensors[i].content, k), file);
    assert_int_equal(fclose(file), 0);
    sp_text_free(&header);
    return count;
}

/* A matrix as it was stored, open for reading. */
struct opened {
    char path[40];
    struct sp_arena arena;
    struct shapeproof_inventory *inventory;
    struct shapeproof_data *data;
    size_t tensors[TENSORS];
    struct sp_packed_module module;
    struct sp_dequantiser *dequantiser;
    const char *why;
    struct shapeproof_error error;
};

static void open_file(struct opened *opened, const struct stored_matrix *matrix)
{
    struct shapeproof_error error = {0};
    *opened = (struct opened){.path = "/tmp/shapeproof-dequantiser-XXXXXX"};
    const size_t count = write_file(matrix->tensors, opened->path);
    opened->inventory = shapeproof_inventory_open(opened->path, &error);
    assert_non_null(opened->inventory);
    opened->data = shapeproof_data_open(opened->inventory, &error);
    for (size_t i = 0; i < count; i++) opened->tensors[i] = i;
    opened->module = (struct sp_packed_module){
        .name = "m.weight", .tensors = opened->tensors, .count = count, .matrix = {.rows = ROWS, .columns = COLUMNS}};
}

static void open_module(struct opened *opened, const struct stored_matrix *matrix)
{
    const struct shapeproof_tensor full = {
        .rank = 2, .shape = (uint64_t[]){ROWS, COLUMNS}, .parameters = ROWS * COLUMNS};
    struct shapeproof_error error = {0};
    struct shapeproof_value form;
    assert_true(sp_value_parse_json(&opened->arena, matrix->form, strlen(matrix->form), &form, &error));
    opened->dequantiser = sp_dequantiser_open(&opened->module, form, opened->inventory, opened->data, &full,
                                              &opened->why, &opened->error);
}

static void open_matrix(struct opened *opened, const struct stored_matrix *matrix)
{
    open_file(opened, matrix);
    open_module(opened, matrix);
    assert_int_equal(opened->error.status, SHAPEPROOF_OK);
}

static void close_matrix(struct opened *opened)
{
    sp_dequantiser_close(opened->dequantiser);
    shapeproof_data_close(opened->data);
    shapeproof_inventory_close(opened->inventory);
    sp_arena_free(&opened->arena);
    unlink(opened->path);
}

/* In one band and two tiles. */
static void restore(struct sp_dequantiser *dequantiser, float values[ROWS][COLUMNS])
{
    struct shapeproof_error error = {0};
    struct sp_restored tile[ROWS * COLUMNS / 2];
    assert_true(sp_dequantiser_band_rows(dequantiser) >= ROWS);
    assert_true(sp_dequantiser_begin_band(dequantiser, 0, 0, ROWS, &error));
    for (size_t column = 0; column < COLUMNS; column += COLUMNS / 2) {
        assert_true(sp_dequantiser_read_tile(dequantiser, column, COLUMNS / 2, tile, &error));
        for (size_t row = 0; row < ROWS; row++)
            for (size_t i = 0; i < COLUMNS / 2; i++) {
                const struct sp_restored *restored = &tile[row * (COLUMNS / 2) + i];
                assert_true(restored->low <= restored->value && restored->value <= restored->high);
                values[row][column + i] = restored->value;
            }
    }
}

static void values_as_in_the_libraries(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        static float values[ROWS][COLUMNS];
        struct opened opened;
        double weighted = 0;
        open_matrix(&opened, &matrices[i]);
        assert_non_null(opened.dequantiser);
        sp_dequantiser_set_zeros(opened.dequantiser, matrices[i].zeros);
        restore(opened.dequantiser, values);
        for (size_t k = 0; k < ROWS * COLUMNS; k++)
            weighted += (double)values[k / COLUMNS][k % COLUMNS] * (double)(k + 1);
        if ((double)values[0][0] < matrices[i].first || (double)values[0][0] > matrices[i].first ||
            (double)values[ROWS - 1][COLUMNS - 1] < matrices[i].last ||
            (double)values[ROWS - 1][COLUMNS - 1] > matrices[i].last || weighted < matrices[i].weighted ||
            weighted > matrices[i].weighted)
            fail_msg("%s with %s: %.9g %.9g %.12g", matrices[i].tensors[0].name, matrices[i].form, (double)values[0][0],
                     (double)values[ROWS - 1][COLUMNS - 1], weighted);
        close_matrix(&opened);
    }
}

/* Files of the format gptq have each zero point less one, and subtract it from a whole word: as stored they are those
 * of the same codes as if one were added to the word. */
static void zero_points_less_one(void **state)
{
    static float less_one[ROWS][COLUMNS], as_stored[ROWS][COLUMNS];
    struct opened opened;
    (void)state;
    open_matrix(&opened, &matrices[2]);
    restore(opened.dequantiser, as_stored);
    sp_dequantiser_set_zeros(opened.dequantiser, SP_ZEROS_LESS_ONE);
    restore(opened.dequantiser, less_one);
    for (size_t row = 0; row < ROWS; row++) {
        const float step = (float)(1 + row % 5) / 64; /* of the first group */
        const float moved = (as_stored[row][0] - less_one[row][0]) / step;
        assert_true((moved > 0.9F && moved < 2.1F) || moved < -13.9F); /* 1; 2 with the carry of the code before it */
    }
    close_matrix(&opened);
}

/* Tensors of other sizes, and a group that is not there. */
static void what_cannot_be_restored(void **state)
{
    struct stored_matrix matrix = matrices[2];
    struct opened opened;
    (void)state;
    matrix.tensors[0].shape[0] = 9;
    open_matrix(&opened, &matrix);
    assert_null(opened.dequantiser);
    assert_null(opened.why);
    close_matrix(&opened);
    matrix = matrices[2];
    matrix.tensors[3].content = CODES;
    open_matrix(&opened, &matrix);
    assert_null(opened.dequantiser);
    assert_string_equal(opened.why, "has a column in a group that has no scale (g_idx)");
    close_matrix(&opened);
    matrix = matrices[4];
    matrix.tensors[1].shape[0] = 33;
    open_matrix(&opened, &matrix);
    assert_null(opened.dequantiser);
    close_matrix(&opened);
}

/* The file becomes shorter while it is open: g_idx, which is needed to open the module, cannot be read. */
static void what_cannot_be_read(void **state)
{
    struct opened opened;
    (void)state;
    open_file(&opened, &matrices[2]);
    assert_int_equal(truncate(opened.path, 16), 0);
    open_module(&opened, &matrices[2]);
    assert_null(opened.dequantiser);
    assert_null(opened.why);
    assert_int_equal(opened.error.status, SHAPEPROOF_ERR_FILE);
    close_matrix(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read), cmocka_unit_test(values_as_in_the_libraries),
        cmocka_unit_test(zero_points_less_one), cmocka_unit_test(what_cannot_be_restored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
