/* SPDX-License-Identifier: MIT
 * The values of elements of F16, BF16, F32 and F64, and when two of them are the same. */
#ifndef SP_DIFF_VALUES_H
#define SP_DIFF_VALUES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "shapeproof/dtype.h"

/* How the elements of two tensors compare. */
enum sp_elements {
    SP_ELEMENTS_EQUAL,   /* each of one dtype has the same value in the other */
    SP_ELEMENTS_ROUNDED, /* each of the narrower dtype is the other one, rounded to it, and as finite */
    SP_ELEMENTS_DIFFERENT
};

static inline double sp_half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double value = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                         : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                        : ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

/* The value of a little-endian element of F16, BF16, F32 or F64. */
static inline double sp_value_of(enum shapeproof_dtype dtype, const unsigned char *bytes)
{
    uint32_t bits = 0;
    float single;
    double value;
    if (dtype == SHAPEPROOF_DTYPE_F64) {
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    if (dtype == SHAPEPROOF_DTYPE_F16) return sp_half_value((uint16_t)(bytes[0] | bytes[1] << 8));
    if (dtype == SHAPEPROOF_DTYPE_BF16) bits = (uint32_t)(bytes[0] | bytes[1] << 8) << 16;
    else memcpy(&bits, bytes, sizeof bits);
    memcpy(&single, &bits, sizeof single);
    return (double)single;
}

/* The nearest value of the dtype, of two as near the even one. */
static inline double sp_rounded_to(enum shapeproof_dtype dtype, double value)
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
static inline bool sp_is_same_value(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a <= b && a >= b && !signbit(a) == !signbit(b));
}

static inline bool sp_is_float(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_F16 || dtype == SHAPEPROOF_DTYPE_BF16 || dtype == SHAPEPROOF_DTYPE_F32 ||
           dtype == SHAPEPROOF_DTYPE_F64;
}

#endif
