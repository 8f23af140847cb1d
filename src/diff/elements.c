/* SPDX-License-Identifier: MIT
 * B is read row by row, and from A what is in its place: a row, or of a transposed matrix a column. */
#include "diff/elements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { PART = 1 << 16, MOST_TRANSPOSED = 256 << 20 }; /* elements at once; bytes of a matrix that is kept in memory */

static bool is_float(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_F16 || dtype == SHAPEPROOF_DTYPE_BF16 || dtype == SHAPEPROOF_DTYPE_F32 ||
           dtype == SHAPEPROOF_DTYPE_F64;
}

bool sp_elements_are_comparable(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    return (a->dtype == b->dtype && shapeproof_dtype_bits(a->dtype) && shapeproof_dtype_bits(a->dtype) % 8 == 0) ||
           (is_float(a->dtype) && is_float(b->dtype));
}

/* ---- values ---- */

static double half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double value = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                         : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                        : ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

static double value_of(enum shapeproof_dtype dtype, const unsigned char *bytes)
{
    uint32_t bits = 0;
    float single;
    double value;
    if (dtype == SHAPEPROOF_DTYPE_F64) {
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    if (dtype == SHAPEPROOF_DTYPE_F16) return half_value((uint16_t)(bytes[0] | bytes[1] << 8));
    if (dtype == SHAPEPROOF_DTYPE_BF16) bits = (uint32_t)(bytes[0] | bytes[1] << 8) << 16;
    else memcpy(&bits, bytes, sizeof bits);
    memcpy(&single, &bits, sizeof single);
    return (double)single;
}

/* The nearest value of the dtype, of two as near the even one. */
static double rounded_to(enum shapeproof_dtype dtype, double value)
{
    const int bits = dtype == SHAPEPROOF_DTYPE_BF16 ? 8 : dtype == SHAPEPROOF_DTYPE_F16 ? 11 : 24;
    const int lowest = dtype == SHAPEPROOF_DTYPE_F16 ? -13 : -125; /* the exponent of the smallest normal number */
    const double most = dtype == SHAPEPROOF_DTYPE_F16    ? 65504
                        : dtype == SHAPEPROOF_DTYPE_BF16 ? ldexp(255, 120)
                                                         : ldexp(16777215, 104);
    int exponent;
    if (dtype == SHAPEPROOF_DTYPE_F64 || !isfinite(value) || fpclassify(value) == FP_ZERO) return value;
    frexp(value, &exponent);
    if (exponent < lowest) exponent = lowest;
    const double nearest = ldexp(rint(ldexp(value, bits - exponent)), exponent - bits);
    return fabs(nearest) > most ? copysign((double)INFINITY, value) : nearest;
}

/* Bit by bit, but that every NaN is the same. */
static bool is_same_value(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a <= b && a >= b && !signbit(a) == !signbit(b));
}

/* ---- rows ---- */

struct rows {
    struct sp_element_comparison *comparison;
    uint64_t rows, columns;
    size_t size_a, size_b; /* of an element */
    unsigned char *a, *b;  /* a part of a row; of a transposed matrix all of A */
    bool is_exact, is_rounded;
};

static uint64_t row_in_a(const struct rows *r, uint64_t row)
{
    if (r->comparison->order != SP_ORDER_ROTARY) return row;
    const uint64_t size = r->rows / r->comparison->heads, own = row % size;
    return row - own + own % 2 * (size / 2) + own / 2;
}

static void compare_elements(struct rows *r, uint64_t first, size_t count, const unsigned char *a, size_t step)
{
    const enum shapeproof_dtype in_a = r->comparison->in_a->dtype, in_b = r->comparison->in_b->dtype;
    const enum shapeproof_dtype narrow = shapeproof_dtype_bits(in_a) < shapeproof_dtype_bits(in_b) ? in_a : in_b;
    for (size_t i = 0; i < count && (r->is_exact || r->is_rounded); i++, a += step) {
        const unsigned char *b = r->b + i * r->size_b;
        if (in_a == in_b ? memcmp(a, b, r->size_b) == 0 : is_same_value(value_of(in_a, a), value_of(in_b, b))) continue;
        if (r->is_exact) r->comparison->at = first + i;
        r->is_exact = false;
        r->is_rounded = r->is_rounded && in_a != in_b &&
                        is_same_value(rounded_to(narrow, value_of(in_a, a)), rounded_to(narrow, value_of(in_b, b)));
    }
}

static bool compare_row(struct rows *r, uint64_t row, struct shapeproof_error *error)
{
    const struct sp_element_comparison *c = r->comparison;
    for (uint64_t done = 0; done < r->columns && (r->is_exact || r->is_rounded); done += PART) {
        const size_t count = r->columns - done < PART ? (size_t)(r->columns - done) : PART;
        const uint64_t at_a = row_in_a(r, row) * r->columns + done, at_b = row * r->columns + done;
        if (!shapeproof_data_read(c->b.data, c->b.tensor, at_b * r->size_b, r->b, count * r->size_b, error))
            return false;
        if (c->order == SP_ORDER_TRANSPOSED) {
            compare_elements(r, at_b, count, r->a + (done * r->rows + row) * r->size_a, r->rows * r->size_a);
            continue;
        }
        if (!shapeproof_data_read(c->a.data, c->a.tensor, at_a * r->size_a, r->a, count * r->size_a, error))
            return false;
        compare_elements(r, at_b, count, r->a, r->size_a);
    }
    return true;
}

/* Rows of which order matters, or else one row of all elements. */
static void find_rows(struct rows *r)
{
    const struct shapeproof_tensor *b = r->comparison->in_b;
    const bool whole = r->comparison->order == SP_ORDER_SAME;
    r->columns = whole ? b->parameters : b->rank > 1 ? b->shape[1] : 1;
    r->rows = whole ? 1 : b->shape[0];
}

bool sp_elements_compare(struct sp_element_comparison *c, struct shapeproof_error *error)
{
    struct rows r = {.comparison = c, .is_exact = true, .is_rounded = true};
    const bool transposed = c->order == SP_ORDER_TRANSPOSED;
    bool ok = true;
    r.size_a = shapeproof_dtype_bits(c->in_a->dtype) / 8;
    r.size_b = shapeproof_dtype_bits(c->in_b->dtype) / 8;
    find_rows(&r);
    c->result = SP_ELEMENTS_DIFFERENT;
    c->at = 0;
    if (transposed && c->in_a->bytes > MOST_TRANSPOSED) return true;
    r.a = sp_realloc(NULL, transposed ? (size_t)c->in_a->bytes + 1 : PART * sizeof(double) * 2, 1);
    r.b = sp_realloc(NULL, PART, sizeof(double) * 2);
    if (transposed) ok = shapeproof_data_read(c->a.data, c->a.tensor, 0, r.a, (size_t)c->in_a->bytes, error);
    for (uint64_t row = 0; row < r.rows && ok && (r.is_exact || r.is_rounded); row++) ok = compare_row(&r, row, error);
    free(r.a);
    free(r.b);
    c->result = r.is_exact ? SP_ELEMENTS_EQUAL : r.is_rounded ? SP_ELEMENTS_ROUNDED : SP_ELEMENTS_DIFFERENT;
    return ok;
}
