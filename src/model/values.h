/* SPDX-License-Identifier: MIT
 * The values of elements: of F16, BF16, F32 and F64, little-endian. */
#ifndef SP_MODEL_VALUES_H
#define SP_MODEL_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/dtype.h"

/* Whether the dtype is one of these four. */
bool sp_is_float(enum shapeproof_dtype dtype);
bool sp_is_complex(enum shapeproof_dtype dtype);
double sp_value_of(enum shapeproof_dtype dtype, const unsigned char *bytes);
/* The value of the dtype that is nearest; of two that are as near, the even one; infinite beyond the largest. */
double sp_rounded_to(enum shapeproof_dtype dtype, double value);
/* Whether both are equal with their signs (0.0 is not -0.0), or both are NaN. */
bool sp_is_same_value(double a, double b);

/* ---- many at once ---- */

/* Elements that the functions below take in one call. As the count is constant, and a multiple of any vector's width,
 * compilers turn the loops into vector instructions at -O2. */
enum { SP_VALUES = 512 };

/* Writes SP_VALUES elements of F16, BF16 or F32 as F32, which is exact. False for another dtype, and if one of F16 is
 * infinite or NaN. */
bool sp_values_widen(enum shapeproof_dtype dtype, const unsigned char *from, float *into);
/* Whether SP_VALUES elements of `wide` have the bits of F32 that sp_values_widen writes for `narrow`. False does not
 * mean that the values differ: NaN has many bits. */
bool sp_values_are_equal(enum shapeproof_dtype narrow, const unsigned char *from, const float *wide);
/* Whether SP_VALUES elements of `wide`, rounded to F16 or BF16, have the bits of `narrow`, and all are finite. False
 * for another dtype. */
bool sp_values_are_rounded(enum shapeproof_dtype narrow, const unsigned char *from, const float *wide);
/* Writes any number of elements as F32; those of F64 are rounded. */
void sp_values_read(enum shapeproof_dtype dtype, const unsigned char *from, float *into, size_t count);

#endif
