/* SPDX-License-Identifier: MIT */
#include "base/dtype_word.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define DTYPE(id) SHAPEPROOF_DTYPE_##id
/* As PyTorch has them in its module: torch.bfloat16. */
static const struct {
    const char *name;
    enum shapeproof_dtype dtype;
} torch_dtypes[] = {
    {"bool", DTYPE(BOOL)},
    {"uint8", DTYPE(U8)},
    {"int8", DTYPE(I8)},
    {"uint16", DTYPE(U16)},
    {"int16", DTYPE(I16)},
    {"uint32", DTYPE(U32)},
    {"int32", DTYPE(I32)},
    {"uint64", DTYPE(U64)},
    {"int64", DTYPE(I64)},
    {"float16", DTYPE(F16)},
    {"bfloat16", DTYPE(BF16)},
    {"float32", DTYPE(F32)},
    {"float64", DTYPE(F64)},
    {"complex32", DTYPE(C32)},
    {"complex64", DTYPE(C64)},
    {"complex128", DTYPE(C128)},
    {"float8_e4m3fn", DTYPE(F8_E4M3)},
    {"float8_e5m2", DTYPE(F8_E5M2)},
    {"float8_e8m0fnu", DTYPE(F8_E8M0)},
    {"float8_e4m3fnuz", DTYPE(F8_E4M3FNUZ)},
    {"float8_e5m2fnuz", DTYPE(F8_E5M2FNUZ)},
    {"qint8", DTYPE(QI8)},
    {"quint8", DTYPE(QU8)},
    {"qint32", DTYPE(QI32)},
    {"quint4x2", DTYPE(QU4X2)},
    {"quint2x4", DTYPE(QU2X4)},
};

/* Of safetensors, and short ones. */
static const struct {
    const char *word;
    unsigned bits;
    enum shapeproof_dtype dtype;
} words[] = {
#define ROW(id, value, text, size, is_real) {text, size, DTYPE(id)},
    SHAPEPROOF_DTYPES(ROW)
#undef ROW
        {"fp64", 64, DTYPE(F64)},
    {"double", 64, DTYPE(F64)},
    {"fp32", 32, DTYPE(F32)},
    {"float", 32, DTYPE(F32)},
    {"fp16", 16, DTYPE(F16)},
    {"half", 16, DTYPE(F16)},
    {"fp8", 8, DTYPE(F8_E4M3)},
    {"f8", 8, DTYPE(F8_E4M3)},
    {"float8", 8, DTYPE(F8_E4M3)},
    {"float8_e4m3", 8, DTYPE(F8_E4M3)},
    {"fp4", 4, DTYPE(UNKNOWN)},
    {"nf4", 4, DTYPE(UNKNOWN)},
    {"int4", 4, DTYPE(UNKNOWN)},
    {"i4", 4, DTYPE(UNKNOWN)},
};
#undef DTYPE

bool sp_torch_dtype_word(const char *word, enum shapeproof_dtype *dtype)
{
    for (size_t i = 0; i < sizeof torch_dtypes / sizeof *torch_dtypes; i++)
        if (strcmp(word, torch_dtypes[i].name) == 0) {
            *dtype = torch_dtypes[i].dtype;
            return true;
        }
    return false;
}

struct sp_dtype_word sp_dtype_of_word(const char *word)
{
    static const char module[] = "torch.";
    const size_t prefix = strncasecmp(word, module, strlen(module)) == 0 ? strlen(module) : 0;
    for (size_t i = 0; i < sizeof torch_dtypes / sizeof *torch_dtypes; i++) {
        const enum shapeproof_dtype dtype = torch_dtypes[i].dtype;
        if (strcasecmp(torch_dtypes[i].name, word + prefix) == 0)
            return (struct sp_dtype_word){shapeproof_dtype_bits(dtype), dtype};
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i].word, word + prefix) == 0) return (struct sp_dtype_word){words[i].bits, words[i].dtype};
    return (struct sp_dtype_word){0, SHAPEPROOF_DTYPE_UNKNOWN};
}

unsigned sp_weight_bits_of_word(const char *word)
{
    enum { MOST_OF_INTEGER = 8 };
    const struct sp_dtype_word meant = sp_dtype_of_word(word);
    const bool is_integer = meant.bits <= MOST_OF_INTEGER && meant.dtype != SHAPEPROOF_DTYPE_BOOL;
    return is_integer || shapeproof_dtype_is_float(meant.dtype) ? meant.bits : 0;
}
