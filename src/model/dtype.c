/* SPDX-License-Identifier: MIT */
#include "shapeproof/dtype.h"

#include "base/chars.h"

static const struct {
    const char *name;
    unsigned bits;
    bool real;
} table[] = {[SHAPEPROOF_DTYPE_UNKNOWN] = {"?", 0, false},
#define ROW(id, value, text, size, is_real) [SHAPEPROOF_DTYPE_##id] = {text, size, is_real},
             SHAPEPROOF_DTYPES(ROW)
#undef ROW
};

const char *shapeproof_dtype_name(enum shapeproof_dtype dtype) { return table[dtype].name; }

unsigned shapeproof_dtype_bits(enum shapeproof_dtype dtype) { return table[dtype].bits; }

bool shapeproof_dtype_is_float(enum shapeproof_dtype dtype) { return table[dtype].real; }

enum shapeproof_dtype shapeproof_dtype_from_name(const char *name, uint64_t length)
{
#define ROW(id, value, text, size, is_real)                                                                            \
    if (SP_IS(name, length, text)) return SHAPEPROOF_DTYPE_##id;
    SHAPEPROOF_DTYPES(ROW)
#undef ROW
    return SHAPEPROOF_DTYPE_UNKNOWN;
}
