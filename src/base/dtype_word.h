/* SPDX-License-Identifier: MIT
 * Dtypes as people write them, on the command line and in expressions: "bf16", "BF16" and "bfloat16" are one. */
#ifndef SP_BASE_DTYPE_WORD_H
#define SP_BASE_DTYPE_WORD_H

#include <stdbool.h>

#include "shapeproof/dtype.h"

struct sp_dtype_word {
    unsigned bits;               /* of an element, without the scales of blocks; 0 if the word is no dtype */
    enum shapeproof_dtype dtype; /* UNKNOWN if no tensor of a file has it, such as int4, which is packed */
};

/* The names of safetensors (F8_E4M3), of PyTorch (float8_e4m3fn, torch.bfloat16) and short ones (fp8); their case does
 * not matter. */
struct sp_dtype_word sp_dtype_of_word(const char *word);

/* The dtype of a name in PyTorch's module, such as "bfloat16", exactly. False for none that has a common name. */
bool sp_torch_dtype_word(const char *word, enum shapeproof_dtype *dtype);

/* The bits of a dtype that weights and caches have: real numbers, and integers of at most 8 bits. 0 for other words. */
unsigned sp_weight_bits_of_word(const char *word);
#define SP_WEIGHT_DTYPES "f64, f32, bf16, f16, fp8, int8, int4, nf4, fp4 and their names in safetensors and PyTorch"

#endif
