/* SPDX-License-Identifier: MIT
 * Conversions between floating-point formats: F16 has 5 bits of exponent and 10 of fraction, BF16 8 and 7, F32 8 and
 * 23, F64 11 and 52. A BF16 is the upper half of an F32. */
#include "model/values.h"

#include <math.h>
#include <string.h>

bool sp_is_float(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_F16 || dtype == SHAPEPROOF_DTYPE_BF16 || dtype == SHAPEPROOF_DTYPE_F32 ||
           dtype == SHAPEPROOF_DTYPE_F64;
}

bool sp_is_complex(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_C32 || dtype == SHAPEPROOF_DTYPE_C64 || dtype == SHAPEPROOF_DTYPE_C128;
}

/* ---- one value ---- */

static double half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double value = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                         : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                        : ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

double sp_value_of(enum shapeproof_dtype dtype, const unsigned char *bytes)
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

double sp_rounded_to(enum shapeproof_dtype dtype, double value)
{
    const int bits = dtype == SHAPEPROOF_DTYPE_BF16 ? 8 : 11;      /* of the fraction, with the one before the point */
    const int lowest = dtype == SHAPEPROOF_DTYPE_F16 ? -13 : -125; /* the exponent of the smallest normal number */
    const double most = dtype == SHAPEPROOF_DTYPE_F16 ? 65504 : ldexp(255, 120);
    int exponent;
    if (dtype == SHAPEPROOF_DTYPE_F32) return (double)(float)value;
    if (dtype == SHAPEPROOF_DTYPE_F64 || !isfinite(value) || fpclassify(value) == FP_ZERO) return value;
    frexp(value, &exponent);
    if (exponent < lowest) exponent = lowest;
    const double nearest = ldexp(rint(ldexp(value, bits - exponent)), exponent - bits);
    return fabs(nearest) > most ? copysign((double)INFINITY, value) : nearest;
}

bool sp_is_same_value(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a <= b && a >= b && !signbit(a) == !signbit(b));
}

/* ---- many at once ---- */

static inline uint32_t bits_of_float(const float *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return bits;
}

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t half_at(const unsigned char *bytes, size_t index)
{
    uint16_t bits;
    memcpy(&bits, bytes + index * sizeof bits, sizeof bits);
    return bits;
}

/* The bits of F32 of an F16 that is finite. Its 15 lower bits, shifted to where F32 has exponent and fraction, are the
 * number times 2^-112, since the exponents of the two are biased by 15 and 127; that holds for subnormal ones too. */
static inline uint32_t widened_half(uint32_t half)
{
    const float scaled = float_of_bits((half & 0x7fff) << 13) * 0x1p112f;
    return bits_of_float(&scaled) | (half & 0x8000) << 16;
}

static inline uint32_t widened(enum shapeproof_dtype dtype, const unsigned char *from, size_t i)
{
    return dtype == SHAPEPROOF_DTYPE_F16 ? widened_half(half_at(from, i)) : half_at(from, i) << 16;
}

static inline void widen_as(enum shapeproof_dtype dtype, const unsigned char *from, float *into)
{
    for (size_t i = 0; i < SP_VALUES; i++) into[i] = float_of_bits(widened(dtype, from, i));
}

static inline bool are_equal_as(enum shapeproof_dtype dtype, const unsigned char *from, const float *wide)
{
    uint32_t difference = 0;
    for (size_t i = 0; i < SP_VALUES; i++) difference |= widened(dtype, from, i) ^ bits_of_float(&wide[i]);
    return difference == 0;
}

/* Whether none of F16 is infinite or NaN. */
static bool halves_are_finite(const unsigned char *from)
{
    uint32_t found = 0;
    for (size_t i = 0; i < SP_VALUES; i++) found |= (half_at(from, i) & 0x7c00) == 0x7c00;
    return !found;
}

bool sp_values_widen(enum shapeproof_dtype dtype, const unsigned char *from, float *into)
{
    if (dtype == SHAPEPROOF_DTYPE_F32) memcpy(into, from, SP_VALUES * sizeof *into);
    else if (dtype == SHAPEPROOF_DTYPE_BF16) widen_as(SHAPEPROOF_DTYPE_BF16, from, into);
    else if (dtype == SHAPEPROOF_DTYPE_F16 && halves_are_finite(from)) widen_as(SHAPEPROOF_DTYPE_F16, from, into);
    else return false;
    return true;
}

bool sp_values_are_equal(enum shapeproof_dtype narrow, const unsigned char *from, const float *wide)
{
    if (narrow == SHAPEPROOF_DTYPE_F32) return memcmp(from, wide, SP_VALUES * sizeof *wide) == 0;
    if (narrow == SHAPEPROOF_DTYPE_BF16) return are_equal_as(SHAPEPROOF_DTYPE_BF16, from, wide);
    return narrow == SHAPEPROOF_DTYPE_F16 && halves_are_finite(from) && are_equal_as(SHAPEPROOF_DTYPE_F16, from, wide);
}

/* The upper half of an F32, rounded to nearest, ties to even: half of the last bit that stays is added, less one unless
 * that bit is odd. */
static inline uint32_t rounded_to_bf16(uint32_t bits) { return (bits + 0x7fff + (bits >> 16 & 1)) >> 16; }

static bool are_rounded_to_bf16(const unsigned char *from, const float *wide)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < SP_VALUES; i++) {
        const uint32_t rounded = rounded_to_bf16(bits_of_float(&wide[i]));
        bad |= (rounded ^ half_at(from, i)) | ((rounded & 0x7f80) == 0x7f80);
    }
    return !bad;
}

/* The F16 nearest to an F32 below 2^16, ties to even. What is below 2^-14, the smallest normal F16, is a multiple of
 * 2^-24 there: 0.5 is added, whose last bit is 2^-24, and so the processor rounds. What is larger is rounded as above,
 * and the bias of its exponent is changed. */
static inline uint32_t rounded_to_half(uint32_t bits)
{
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    const float shifted = float_of_bits(magnitude) + 0.5f;
    const uint32_t small = bits_of_float(&shifted) - 0x3f000000;
    const uint32_t normal = (magnitude - (UINT32_C(112) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    return sign | (magnitude < UINT32_C(113) << 23 ? small : normal);
}

static bool are_rounded_to_half(const unsigned char *from, const float *wide)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < SP_VALUES; i++) {
        const uint32_t bits = bits_of_float(&wide[i]), rounded = rounded_to_half(bits);
        bad |= (rounded ^ half_at(from, i)) | ((rounded & 0x7c00) == 0x7c00) |
               ((bits & 0x7fffffff) >= UINT32_C(143) << 23);
    }
    return !bad;
}

bool sp_values_are_rounded(enum shapeproof_dtype narrow, const unsigned char *from, const float *wide)
{
    if (narrow == SHAPEPROOF_DTYPE_BF16) return are_rounded_to_bf16(from, wide);
    return narrow == SHAPEPROOF_DTYPE_F16 && are_rounded_to_half(from, wide);
}

void sp_values_read(enum shapeproof_dtype dtype, const unsigned char *from, float *into, size_t count)
{
    const size_t size = shapeproof_dtype_bits(dtype) / 8;
    for (size_t done = 0, part; done < count; done += part) {
        part = count - done < SP_VALUES ? count - done : SP_VALUES;
        if (part == SP_VALUES && sp_values_widen(dtype, from + done * size, into + done)) continue;
        for (size_t i = done; i < done + part; i++) into[i] = (float)sp_value_of(dtype, from + i * size);
    }
}
