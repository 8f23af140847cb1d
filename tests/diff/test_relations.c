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

/* Compares the data of two files: the first line, and if `note` is not NULL what is said of the data. */
static void expect_files(const struct made *a, size_t count_a, const struct made *b, size_t count_b,
                         const char *summary, const char *note)
{
    char path_a[] = "/tmp/shapeproof-diff-XXXXXX", path_b[] = "/tmp/shapeproof-diff-XXXXXX";
    struct shapeproof_error error = {0};
    write_tensors(path_a, a, count_a);
    write_tensors(path_b, b, count_b);
    struct shapeproof_inventory *in_a = shapeproof_inventory_open(path_a, &error);
    struct shapeproof_inventory *in_b = shapeproof_inventory_open(path_b, &error);
    struct shapeproof_diff *diff =
        shapeproof_diff_new(in_a, in_b, &(struct shapeproof_diff_options){.data = true}, &error);
    assert_non_null(diff);
    assert_string_equal(shapeproof_diff_summary(diff), summary);
    if (note) assert_string_equal(shapeproof_diff_data_note(diff), note);
    const char *left = note ? strstr(note, " not compared, ") : NULL; /* behind a number of one digit */
    if (note) assert_int_equal(shapeproof_diff_totals(diff)->data_unread, left ? left[-1] - '0' : 0);
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(in_a);
    shapeproof_inventory_close(in_b);
    unlink(path_a);
    unlink(path_b);
}

/* The first line about the data of two files with the same tensors. */
static void expect_relation(const struct made *a, const struct made *b, size_t count, const char *summary)
{
    expect_files(a, count, b, count, summary, NULL);
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
    for (int i = 0; i < 8; i++) b.values[i] = 2 * norm.values[i];
    expect_relation(&norm, &b, 1, "h.0.norm.weight has each element doubled");
    for (int i = 0; i < 8; i++) b.values[i] = norm.values[i] / 2;
    expect_relation(&norm, &b, 1, "h.0.norm.weight has each element halved");
    for (int i = 0; i < 8; i++) b.values[i] = 0 * norm.values[i];
    expect_relation(&norm, &b, 1, "h.0.norm.weight has only zeros");
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

/* ---- parts ---- */

/* Copies row `from` of a tensor to row `to` of another with as many columns. */
static void copy_row(struct made *into, unsigned to, const struct made *made, unsigned from)
{
    memcpy(into->values + (size_t)to * into->columns, made->values + (size_t)from * made->columns,
           into->columns * sizeof(float));
}

/* Two layers with a fused pair of 6 rows: a and b are 3 rows each. Rows of the whole are those of a (0 to 2)
 * and b (3 to 5) in the order of `rows`. */
static void make_fused(struct made *whole, struct made *parts, const unsigned (*rows)[6])
{
    static const char *const wholes[] = {"h.0.m.ab_proj.weight", "h.1.m.ab_proj.weight"};
    static const char *const names[] = {"h.0.m.a_proj.weight", "h.0.m.b_proj.weight", "h.1.m.a_proj.weight",
                                        "h.1.m.b_proj.weight"};
    for (unsigned i = 0; i < 4; i++) parts[i] = numbers(names[i], 3, 4, (float)i + 1);
    for (unsigned i = 0; i < 2; i++) {
        whole[i] = numbers(wholes[i], 6, 4, 0);
        for (unsigned k = 0; k < 6; k++) copy_row(&whole[i], k, &parts[2 * i + rows[i][k] / 3], rows[i][k] % 3);
    }
}

static void parts_in_any_order(void **state)
{
    static const unsigned behind[][6] = {{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}};
    static const unsigned before[][6] = {{3, 4, 5, 0, 1, 2}, {3, 4, 5, 0, 1, 2}};
    static const unsigned in_turn[][6] = {{0, 3, 1, 4, 2, 5}, {0, 3, 1, 4, 2, 5}};
    static const unsigned mixed[][6] = {{0, 1, 2, 3, 4, 5}, {3, 4, 5, 0, 1, 2}};
    static const unsigned none[][6] = {{0, 2, 1, 3, 5, 4}, {0, 2, 1, 3, 5, 4}};
    static const char fused[] = "2 tensors fused in B: m.ab_proj = a_proj + b_proj";
    struct made whole[2], parts[4];
    (void)state;
    make_fused(whole, parts, behind);
    expect_files(parts, 4, whole, 2, fused, "4 fused or split");
    expect_files(whole, 2, parts, 4, "2 tensors split in B: m.ab_proj = a_proj + b_proj", "2 fused or split");
    make_fused(whole, parts, before);
    expect_files(parts, 4, whole, 2, "2 tensors fused in B: m.ab_proj = b_proj + a_proj", "4 fused or split");
    make_fused(whole, parts, in_turn);
    expect_files(parts, 4, whole, 2, "2 tensors fused in B: m.ab_proj = a_proj + b_proj (in each of 3 groups)",
                 "4 fused or split");
    make_fused(whole, parts, mixed);
    expect_files(parts, 4, whole, 2,
                 "2 tensors with other data (h.1.m.{a_proj,b_proj}.weight: each has the data of the other one: the "
                 "two are exchanged), 2 tensors fused in B: m.ab_proj = a_proj + b_proj",
                 "2 fused or split");
    make_fused(whole, parts, none);
    expect_files(parts, 4, whole, 2,
                 "2 tensors fused in B: m.ab_proj = a_proj + b_proj (order not known from the data); 4 tensors not "
                 "compared",
                 "4 not compared, 192 bytes");
}

/* Values, keys and queries behind each other, of one layer: the order that the data show. Of three parts two show it;
 * the third is named if it is elsewhere. One part, or equal parts, show no order. */
static void order_of_three(void **state)
{
    static const char *const names[] = {"h.0.m.q.weight", "h.0.m.k.weight", "h.0.m.v.weight"};
    struct made whole = numbers("h.0.m.qkv.weight", 12, 4, 0), parts[3];
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        parts[i] = numbers(names[i], 4, 4, (float)i + 1);
        for (unsigned row = 0; row < 4; row++) copy_row(&whole, 8 - 4 * i + row, &parts[i], row);
    }
    expect_files(parts, 3, &whole, 1, "h.0.m.qkv.weight is one in B and 3 in A: m.qkv = v + k + q", "3 fused or split");
    parts[0].values[0] = 9;
    expect_files(parts, 3, &whole, 1, "1 tensor fused in B: m.qkv = v + k + q; 1 tensor not compared",
                 "2 fused or split; 1 not compared, 64 bytes");
    parts[1].values[0] = 9;
    expect_files(parts, 3, &whole, 1,
                 "1 tensor fused in B: m.qkv = q + k + v (order not known from the data); 2 "
                 "tensors not compared",
                 "1 fused or split; 2 not compared, 128 bytes");
    memset(whole.values, 0, sizeof whole.values);
    for (unsigned i = 0; i < 3; i++) memset(parts[i].values, 0, sizeof parts[i].values);
    expect_files(parts, 3, &whole, 1,
                 "h.0.m.qkv.weight is one in B and 3 in A: m.qkv = q + k + v (order not "
                 "known from the data)",
                 "3 fused or split");
}

/* The same under names for which transformers has a rule that says in which order the parts lie: another order is an
 * error. */
static void order_of_a_rule(void **state)
{
    static const char *const names[] = {"h.0.m.q_proj.weight", "h.0.m.k_proj.weight", "h.0.m.v_proj.weight"};
    struct made before = numbers("h.0.m.qkv_proj.weight", 12, 4, 0), behind = before, parts[3];
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        parts[i] = numbers(names[i], 4, 4, (float)i + 1);
        for (unsigned row = 0; row < 4; row++) {
            copy_row(&before, 8 - 4 * i + row, &parts[i], row);
            copy_row(&behind, 4 * i + row, &parts[i], row);
        }
    }
    expect_files(parts, 3, &behind, 1,
                 "all 3 tensors, 48 elements; the names that transformers 5 saves: 1 tensor fused or split",
                 "3 fused or split");
    expect_files(parts, 3, &before, 1,
                 "h.0.m.qkv_proj.weight is one in B and 3 in A: m.qkv_proj = v_proj + k_proj + q_proj",
                 "3 fused or split");
}

/* Three layers with a fused pair, row by row, of which the last one has half as many rows: with b before a if `turned`.
 */
static void make_fused_of_sizes(struct made *whole, struct made *parts, bool turned)
{
    static const char *const wholes[] = {"h.0.m.ab_proj.weight", "h.1.m.ab_proj.weight", "h.2.m.ab_proj.weight"};
    static const char *const names[] = {"h.0.m.a_proj.weight", "h.0.m.b_proj.weight", "h.1.m.a_proj.weight",
                                        "h.1.m.b_proj.weight", "h.2.m.a_proj.weight", "h.2.m.b_proj.weight"};
    for (unsigned i = 0; i < 3; i++) {
        const unsigned rows = i < 2 ? 8 : 4;
        whole[i] = numbers(wholes[i], 2 * rows, 4, 0);
        for (unsigned part = 0; part < 2; part++) {
            struct made *made = &parts[2 * i + part];
            *made = numbers(names[2 * i + part], rows, 4, (float)(2 * i + part) + 1);
            for (unsigned row = 0; row < rows; row++)
                copy_row(&whole[i], 2 * row + (turned && i == 2 ? !part : part), made, row);
        }
    }
}

static void parts_of_another_size(void **state)
{
    static const char fused[] = "3 tensors fused in B: m.ab_proj = a_proj + b_proj (in each of 8 groups), m.ab_proj = "
                                "a_proj + b_proj (in each of 4 groups)";
    struct made whole[3], parts[6];
    (void)state;
    make_fused_of_sizes(whole, parts, false);
    expect_files(parts, 6, whole, 3, fused, "6 fused or split");
    parts[4].values[13] = 9;
    expect_files(
        parts, 6, whole, 3,
        "1 tensor with other data (h.2.m.a_proj.weight: 1 of 16 elements differs by at most 3.82 (relative "
        "error 0.18), first at element 13), 3 tensors fused in B: m.ab_proj = a_proj + b_proj (in each of 8 groups), "
        "m.ab_proj = a_proj + b_proj (in each of 4 groups)",
        "5 fused or split");
    make_fused_of_sizes(whole, parts, true);
    expect_files(
        parts, 6, whole, 3,
        "2 tensors with other data (h.2.m.{a_proj,b_proj}.weight: each has the data of the other one: the "
        "two are exchanged), 3 tensors fused in B: m.ab_proj = a_proj + b_proj (in each of 8 groups), m.ab_proj = "
        "a_proj + b_proj (in each of 4 groups)",
        "4 fused or split");
    make_fused_of_sizes(whole, parts, false);
    parts[4].rows = 3; /* and 5 of b: no division into rows of each is possible */
    parts[5].rows = 5;
    expect_files(parts, 6, whole, 3,
                 "3 tensors fused in B: m.ab_proj = a_proj + b_proj (in each of 8 groups), m.ab_proj = a_proj + b_proj "
                 "(order not known from the data); 2 tensors not compared",
                 "4 fused or split; 2 not compared, 128 bytes");
}

/* One value of a part, of which the other layer shows where it is. */
static void value_of_a_part(void **state)
{
    static const unsigned in_turn[][6] = {{0, 3, 1, 4, 2, 5}, {0, 3, 1, 4, 2, 5}};
    struct made whole[2], parts[4];
    (void)state;
    make_fused(whole, parts, in_turn);
    whole[1].values[5] = 9; /* in the first row of b */
    expect_files(
        parts, 4, whole, 2,
        "1 tensor with other data (h.1.m.b_proj.weight: 1 of 12 elements differs by at most 4.99 (relative "
        "error 0.36), first at element 1), 2 tensors fused in B: m.ab_proj = a_proj + b_proj (in each of 3 groups)",
        "3 fused or split");
}

/* Two layers of queries, keys and values of 4 rows each, fused behind each other in the one kind of module and by two
 * heads in the other, of which one part has other data that begin like those of the first kind. */
static void parts_in_other_orders(void **state)
{
    static const char *const wholes[] = {"h.0.attn.qkv.weight", "h.1.attn.qkv.weight", "h.0.mixer.qkv.weight",
                                         "h.1.mixer.qkv.weight"};
    static const char letters[] = "qkv";
    char names[12][32];
    struct made whole[4], parts[12];
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        const unsigned p = i % 3;
        snprintf(names[i], sizeof names[i], "h.%u.%s.%c.weight", i / 3 % 2, i < 6 ? "attn" : "mixer", letters[p]);
        parts[i] = numbers(names[i], 4, 4, (float)i + 1);
        if (!p) whole[i / 3] = numbers(wholes[i / 3], 12, 4, 0);
        if (i == 2 || i == 8) memset(parts[i].values, 0, 4 * sizeof(float));
        for (unsigned row = 0; row < 4; row++)
            copy_row(&whole[i / 3], i < 6 ? 4 * p + row : row / 2 * 6 + 2 * p + row % 2, &parts[i], row);
    }
    parts[8].values[15] = 20;
    expect_files(whole, 4, parts, 12,
                 "1 tensor with other data (h.0.mixer.v.weight: 1 of 16 elements differs by at most 28.8 (relative "
                 "error 0.92), first at element 15), 4 tensors split in B: attn.qkv = q + k + v, mixer.qkv = q + k + v "
                 "(in each of 2 groups)",
                 "3 fused or split");
}

/* Experts, each (3, 4), in one tensor. */
static void stacked_parts(void **state)
{
    static const char *const names[] = {"h.0.experts.0.up.weight", "h.0.experts.1.up.weight"};
    struct made parts[2];
    struct made flat = numbers("h.0.experts.up", 6, 4, 0);
    (void)state;
    for (unsigned e = 0; e < 2; e++) {
        parts[e] = numbers(names[e], 3, 4, (float)e + 1);
        memcpy(flat.values + 12 * e, parts[e].values, 12 * sizeof(float));
    }
    expect_files(parts, 2, &flat, 1, "h.0.experts.up is one in B and 2 in A: experts.up = 2 x up", "2 fused or split");
    flat.values[13] = -3;
    expect_files(
        parts, 2, &flat, 1,
        "1 tensor with other data (h.0.experts.1.up.weight: 1 of 12 elements differs by at most 5.01 (relative "
        "error 0.71), first at element 1), 1 tensor fused in B: experts.up = 2 x up",
        "1 fused or split");
}

/* Two wholes that are said to be the same sum, of two parts and of three, for a name may have " + " in it. */
static void parts_that_read_alike(void **state)
{
    static const char *const names[] = {"k.m.a + b.weight", "k.m.c.weight", "l.m.a.weight", "l.m.b.weight",
                                        "l.m.c.weight"};
    struct made whole[2] = {numbers("k.m.f.weight", 6, 2, 1), numbers("l.m.f.weight", 6, 2, 2)};
    struct made parts[5];
    (void)state;
    for (unsigned i = 0, row = 0; i < 5; row += parts[i++].rows) {
        parts[i] = numbers(names[i], i < 2 ? 3 : 2, 2, 0);
        for (unsigned k = 0; k < parts[i].rows; k++) copy_row(&parts[i], k, &whole[i / 2 > 0], (row + k) % 6);
    }
    expect_files(whole, 2, parts, 5, "2 tensors split in B: m.f = a + b + c", "2 fused or split");
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
        cmocka_unit_test(parts_in_any_order),
        cmocka_unit_test(order_of_three),
        cmocka_unit_test(order_of_a_rule),
        cmocka_unit_test(parts_of_another_size),
        cmocka_unit_test(value_of_a_part),
        cmocka_unit_test(parts_in_other_orders),
        cmocka_unit_test(stacked_parts),
        cmocka_unit_test(parts_that_read_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
