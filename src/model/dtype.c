/* SPDX-License-Identifier: MIT */
#include "shapeproof/dtype.h"

#include <stddef.h>
#include <string.h>

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
    for (int i = 1; i < SP_DTYPE_COUNT; i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0) return (enum sp_dtype)i;
    return SP_DTYPE_UNKNOWN;
}
