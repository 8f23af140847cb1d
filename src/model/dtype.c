/* SPDX-License-Identifier: MIT */
#include "shapeproof/dtype.h"

#include "base/chars.h"

static const struct {
    const char *name;
    unsigned bits;
    bool real;
} table[SP_DTYPE_COUNT] = {[SP_DTYPE_UNKNOWN] = {"?", 0, false},
#define ROW(id, text, size, is_real) [SP_DTYPE_##id] = {text, size, is_real},
                           SP_DTYPES(ROW)
#undef ROW
};

const char *sp_dtype_name(enum sp_dtype dtype) { return table[dtype].name; }

unsigned sp_dtype_bits(enum sp_dtype dtype) { return table[dtype].bits; }

bool sp_dtype_is_float(enum sp_dtype dtype) { return table[dtype].real; }

enum sp_dtype sp_dtype_from_name(const char *name, uint64_t length)
{
#define ROW(id, text, size, is_real)                                                                                   \
    if (SP_IS(name, length, text)) return SP_DTYPE_##id;
    SP_DTYPES(ROW)
#undef ROW
    return SP_DTYPE_UNKNOWN;
}
