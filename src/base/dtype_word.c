/* SPDX-License-Identifier: MIT */
#include "base/dtype_word.h"

#include <stddef.h>
#include <strings.h>

#define DTYPE(id) SHAPEPROOF_DTYPE_##id
static const struct {
    const char *word;
    unsigned bits;
    enum shapeproof_dtype dtype;
} words[] = {
#define ROW(id, value, text, size, is_real) {text, size, DTYPE(id)},
    SHAPEPROOF_DTYPES(ROW)
#undef ROW
        {"fp64", 64, DTYPE(F64)},
    {"float64", 64, DTYPE(F64)},
    {"double", 64, DTYPE(F64)},
    {"fp32", 32, DTYPE(F32)},
    {"float32", 32, DTYPE(F32)},
    {"float", 32, DTYPE(F32)},
    {"bfloat16", 16, DTYPE(BF16)},
    {"fp16", 16, DTYPE(F16)},
    {"float16", 16, DTYPE(F16)},
    {"half", 16, DTYPE(F16)},
    {"fp8", 8, DTYPE(F8_E4M3)},
    {"f8", 8, DTYPE(F8_E4M3)},
    {"float8", 8, DTYPE(F8_E4M3)},
    {"float8_e4m3", 8, DTYPE(F8_E4M3)},
    {"float8_e4m3fn", 8, DTYPE(F8_E4M3)},
    {"float8_e5m2", 8, DTYPE(F8_E5M2)},
    {"int8", 8, DTYPE(I8)},
    {"uint8", 8, DTYPE(U8)},
    {"fp4", 4, DTYPE(UNKNOWN)},
    {"nf4", 4, DTYPE(UNKNOWN)},
    {"int4", 4, DTYPE(UNKNOWN)},
    {"i4", 4, DTYPE(UNKNOWN)},
};
#undef DTYPE

struct sp_dtype_word sp_dtype_of_word(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i].word, word) == 0) return (struct sp_dtype_word){words[i].bits, words[i].dtype};
    return (struct sp_dtype_word){0, SHAPEPROOF_DTYPE_UNKNOWN};
}

unsigned sp_weight_bits_of_word(const char *word)
{
    enum { MOST_OF_INTEGER = 8 };
    const struct sp_dtype_word meant = sp_dtype_of_word(word);
    const bool is_integer = meant.bits <= MOST_OF_INTEGER && meant.dtype != SHAPEPROOF_DTYPE_BOOL;
    return is_integer || shapeproof_dtype_is_float(meant.dtype) ? meant.bits : 0;
}
