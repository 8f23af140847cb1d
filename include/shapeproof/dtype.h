/* SPDX-License-Identifier: MIT
 * Element types, spelt as safetensors spells them, for every format. */
#ifndef SHAPEPROOF_DTYPE_H
#define SHAPEPROOF_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "shapeproof/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator suffix, value, name, bits per element, floating point). The order has no meaning. */
/* clang-format off */
#define SHAPEPROOF_DTYPES(X) \
    X(BOOL, 1, "BOOL", 8, 0) \
    X(U8, 2, "U8", 8, 0) \
    X(I8, 3, "I8", 8, 0) \
    X(U16, 4, "U16", 16, 0) \
    X(I16, 5, "I16", 16, 0) \
    X(U32, 6, "U32", 32, 0) \
    X(I32, 7, "I32", 32, 0) \
    X(U64, 8, "U64", 64, 0) \
    X(I64, 9, "I64", 64, 0) \
    X(F16, 10, "F16", 16, 1) \
    X(BF16, 11, "BF16", 16, 1) \
    X(F32, 12, "F32", 32, 1) \
    X(F64, 13, "F64", 64, 1) \
    X(C32, 14, "C32", 32, 0) \
    X(C64, 15, "C64", 64, 0) \
    X(C128, 16, "C128", 128, 0) \
    X(F8_E4M3, 17, "F8_E4M3", 8, 1) \
    X(F8_E5M2, 18, "F8_E5M2", 8, 1) \
    X(F8_E8M0, 19, "F8_E8M0", 8, 1) \
    X(F8_E4M3FNUZ, 20, "F8_E4M3FNUZ", 8, 1) \
    X(F8_E5M2FNUZ, 21, "F8_E5M2FNUZ", 8, 1) \
    X(F6_E2M3, 22, "F6_E2M3", 6, 1) \
    X(F6_E3M2, 23, "F6_E3M2", 6, 1) \
    X(F4, 24, "F4", 4, 1) \
    X(QI8, 25, "QI8", 8, 0) \
    X(QU8, 26, "QU8", 8, 0) \
    X(QI32, 27, "QI32", 32, 0) \
    X(QU4X2, 28, "QU4X2", 4, 0) \
    X(QU2X4, 29, "QU2X4", 2, 0)
/* clang-format on */

enum shapeproof_dtype {
    SHAPEPROOF_DTYPE_UNKNOWN = 0, /* not numeric, or not known: the size of an element cannot be told */
#define SHAPEPROOF_DTYPE_ENUM(id, value, name, bits, real) SHAPEPROOF_DTYPE_##id = (value),
    SHAPEPROOF_DTYPES(SHAPEPROOF_DTYPE_ENUM)
#undef SHAPEPROOF_DTYPE_ENUM
};

/* "F32", "BF16", ...; "?" for SHAPEPROOF_DTYPE_UNKNOWN. Static. */
SHAPEPROOF_API const char *shapeproof_dtype_name(enum shapeproof_dtype dtype);

/* Bits of one element: 32 for F32, 4 for F4; 0 when unknown. */
SHAPEPROOF_API unsigned shapeproof_dtype_bits(enum shapeproof_dtype dtype);

/* True for the real floating-point types (F64 down to F4), false for integers and complex numbers. */
SHAPEPROOF_API bool shapeproof_dtype_is_float(enum shapeproof_dtype dtype);

/* The dtype of a case-sensitive name of `length` bytes, or SHAPEPROOF_DTYPE_UNKNOWN. */
SHAPEPROOF_API enum shapeproof_dtype shapeproof_dtype_from_name(const char *name, uint64_t length);

#ifdef __cplusplus
}
#endif
#endif
