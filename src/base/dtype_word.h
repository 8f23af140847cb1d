/* SPDX-License-Identifier: MIT
 * Dtypes as people write them, on the command line and in expressions: "bf16", "BF16" and "bfloat16" are one. */
#ifndef SP_BASE_DTYPE_WORD_H
#define SP_BASE_DTYPE_WORD_H

#include "shapeproof/dtype.h"

struct sp_dtype_word {
    unsigned bits;               /* of an element, without the scales of blocks; 0 if the word is no dtype */
    enum shapeproof_dtype dtype; /* UNKNOWN if no tensor of a file has it, such as int4, which is packed */
};

/* The names of safetensors (F8_E4M3), of PyTorch (float8_e4m3fn) and short ones (fp8); their case does not matter. */
struct sp_dtype_word sp_dtype_of_word(const char *word);

#endif
