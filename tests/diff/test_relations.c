/* SPDX-License-Identifier: MIT
 * Pairs of small files, of which B has the elements of A in another order, with other values, or in another tensor: the
 * first line names the relation. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "shapeproof/shapeproof.h"

/* A tensor of F32 in a file of safetensors. */
struct made {
    const char *name;
    unsigned rows, columns; /* columns 0: a vector */
    float values[64];
};

static void write_tensors(char *path, const struct made *tensors, size_t count)
{
    struct sp_text header = {0};
    const int file = mkstemp(path);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct made *made = &tensors[i];
        const size_t size = made->rows * (made->columns ? made->columns : 1) * sizeof(float);
        sp_text_printf(&header, "%s\"%s\": {\"dtype\": \"F32\", \"shape\": [%u", i ? ", " : "{", made->name,
                       made->rows);
        if (made->columns) sp_text_printf(&header, ", %u", made->columns);
        sp_text_printf(&header, "], \"data_offsets\": [%zu, %zu]}", bytes, bytes + size);
        bytes += size;
    }
    sp_text_puts(&header, "}");
    const uint64_t length = header.length;
    assert_int_equal(write(file, &length, sizeof length), sizeof length);
    assert_int_equal(write(file, header.data, header.length), (ssize_t)header.length);
    for (size_t i = 0; i < count; i++) {
        const size_t size = tensors[i].rows * (tensors[i].columns ? tensors[i].columns : 1) * sizeof(float);
        assert_int_equal(write(file, tensors[i].values, size), (ssize_t)size);
    }
    close(file);
    sp_text_free(&header);
}

/* The first line about the data of two files. */
static void expect_relation(const struct made *a, const struct made *b, size_t count, const char *summary)
{
    char path_a[] = "/tmp/shapeproof-diff-XXXXXX", path_b[] = "/tmp/shapeproof-diff-XXXXXX";
    struct shapeproof_error error = {0};
    write_tensors(path_a, a, count);
    write_tensors(path_b, b, count);
    struct shapeproof_inventory *in_a = shapeproof_inventory_open(path_a, &error);
    struct shapeproof_inventory *in_b = shapeproof_inventory_open(path_b, &error);
    struct shapeproof_diff *diff =
        shapeproof_diff_new(in_a, in_b, &(struct shapeproof_diff_options){.data = true}, &error);
    assert_non_null(diff);
    assert_string_equal(shapeproof_diff_summary(diff), summary);
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(in_a);
    shapeproof_inventory_close(in_b);
    unlink(path_a);
    unlink(path_b);
}

/* 64 different values, of either sign, none of which BF16 has. */
static struct made numbers(const char *name, unsigned rows, unsigned columns, float from)
{
    struct made made = {.name = name, .rows = rows, .columns = columns};
    for (int i = 0; i < 64; i++) made.values[i] = (i % 3 ? from : -from) + (float)i * 0.0137F;
    return made;
}

/* ---- the order of rows ---- */

enum { HEAD = 16 }; /* rows: of 8, twice would be the same as back */

/* The rows of each head in pairs: row 2 r + s is row s * 8 + r. */
static struct made paired(const struct made *made)
{
    struct made result = *made;
    for (unsigned i = 0; i < made->rows; i++) {
        const unsigned own = i % HEAD, from = i - own + own % 2 * (HEAD / 2) + own / 2;
        memcpy(result.values + (size_t)i * made->columns, made->values + (size_t)from * made->columns,
               made->columns * sizeof(float));
    }
    return result;
}

static void rows_for_rotary_positions(void **state)
{
    const struct made q = numbers("h.0.q_proj.weight", 16, 4, 1);
    const struct made once = paired(&q), twice = paired(&once);
    (void)state;
    expect_relation(&q, &once, 1, "h.0.q_proj.weight has its rows permuted for rotary positions");
    expect_relation(&once, &q, 1, "h.0.q_proj.weight has its rows permuted back from the order for rotary positions");
    expect_relation(&q, &twice, 1, "h.0.q_proj.weight has its rows permuted twice for rotary positions");
}

/* The same rows of what has no rotary positions are other data. */
static void rows_of_others(void **state)
{
    const struct made v = numbers("h.0.v_proj.weight", 16, 4, 1), once = paired(&v);
    (void)state;
    expect_relation(&v, &once, 1,
                    "h.0.v_proj.weight has other data, 56 of 64 elements differ by at most 2.38 (relative error 0.93), "
                    "first at element 4");
}

static void transposed_squares(void **state)
{
    const struct made w = numbers("h.0.o.weight", 8, 8, 1);
    struct made b = w;
    (void)state;
    for (size_t i = 0; i < 64; i++) b.values[i] = w.values[i % 8 * 8 + i / 8];
    expect_relation(&w, &b, 1, "h.0.o.weight is transposed");
}

/* ---- values ---- */

static void changed_values(void **state)
{
    const struct made norm = numbers("h.0.norm.weight", 8, 0, 0.5F), log = numbers("h.0.A_log", 8, 0, 0.5F);
    struct made b = norm;
    (void)state;
    for (int i = 0; i < 8; i++) b.values[i] = norm.values[i] + 1;
    expect_relation(&norm, &b, 1, "h.0.norm.weight has 1 added to each element");
    for (int i = 0; i < 8; i++) b.values[i] = norm.values[i] + 2;
    expect_relation(&norm, &b, 1, "h.0.norm.weight has 2 added to each element: 1 was added twice");
    for (int i = 0; i < 8; i++) b.values[i] = -norm.values[i];
    expect_relation(&norm, &b, 1, "h.0.norm.weight has the opposite sign");
    b = log;
    for (int i = 0; i < 8; i++) b.values[i] = -expf(log.values[i]);
    expect_relation(&log, &b, 1, "h.0.A_log is -exp of each element");
    for (int i = 0; i < 8; i++) {
        uint32_t bits;
        memcpy(&bits, &norm.values[i], sizeof bits);
        bits &= 0xffff0000U;
        memcpy(&b.values[i], &bits, sizeof bits);
    }
    b.name = norm.name;
    expect_relation(&norm, &b, 1, "h.0.norm.weight has its elements cut off to BF16, not rounded");
    for (int i = 0; i < 8; i++) {
        uint32_t bits;
        memcpy(&bits, &norm.values[i], sizeof bits);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000U;
        memcpy(&b.values[i], &bits, sizeof bits);
    }
    expect_relation(&norm, &b, 1, "h.0.norm.weight has its elements rounded to BF16");
}

/* What differs in a single element has no relation. */
static void single_values(void **state)
{
    const struct made norm = numbers("h.0.norm.weight", 8, 0, 1);
    struct made b = norm;
    (void)state;
    for (int i = 0; i < 8; i++) b.values[i] = norm.values[i] + 1;
    b.values[5] += 0.5F;
    expect_relation(&norm, &b, 1,
                    "h.0.norm.weight has other data, all 8 elements differ by at most 1.5 (relative error 1.1)");
    b = norm;
    b.values[5] = NAN;
    b.values[6] = 2;
    expect_relation(
        &norm, &b, 1,
        "h.0.norm.weight has other data, 2 of 8 elements differ by at most 2.92 (relative error 1.1), first at "
        "element 5; 1 NaN or infinite in B alone");
}

/* ---- the data of other tensors ---- */

static void data_of_others(void **state)
{
    struct made a[6], b[6];
    static const char *const names[] = {"h.0.gate.weight", "h.0.up.weight",   "h.1.gate.weight",
                                        "h.1.up.weight",   "h.2.gate.weight", "h.2.up.weight"};
    (void)state;
    for (unsigned i = 0; i < 6; i++) a[i] = numbers(names[i], 4, 4, (float)i + 1);
    memcpy(b, a, sizeof b);
    memcpy(b[0].values, a[1].values, sizeof b[0].values);
    memcpy(b[1].values, a[0].values, sizeof b[0].values);
    expect_relation(a, b, 6,
                    "2 tensors with other data: h.0.{gate,up}.weight: each has the data of the other one: the two are "
                    "exchanged");
    for (unsigned i = 0; i < 6; i++) memcpy(b[i].values, a[(i + 4) % 6].values, sizeof b[i].values);
    expect_relation(
        a, b, 6, "6 tensors with other data: h.{0-2}.{gate,up}.weight; 4 of them: has the data of the layer before it");
    for (unsigned i = 0; i < 6; i++) memcpy(b[i].values, a[i < 4 ? i ^ 2 : i].values, sizeof b[i].values);
    expect_relation(
        a, b, 6,
        "4 tensors with other data: h.{0,1}.{gate,up}.weight: each has the data of the other layer: layers 0 "
        "and 1 are exchanged");
    for (unsigned i = 0; i < 6; i++)
        memcpy(a[i].values, a[i ? 1 : 0].values, sizeof b[i].values); /* all but the first */
    memcpy(b, a, sizeof b);
    memcpy(b[0].values, a[1].values, sizeof b[0].values);
    expect_relation(a, b, 6,
                    "h.0.gate.weight has other data, all 16 elements differ by at most 1 (relative error 0.97)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_for_rotary_positions),
        cmocka_unit_test(rows_of_others),
        cmocka_unit_test(transposed_squares),
        cmocka_unit_test(changed_values),
        cmocka_unit_test(single_values),
        cmocka_unit_test(data_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
