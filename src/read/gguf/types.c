/* SPDX-License-Identifier: MIT */
#include "read/gguf/types.h"

#include <stddef.h>

/* clang-format off */
#define PLAIN(number, name, bytes) {number, #name, SHAPEPROOF_DTYPE_##name, 1, bytes, false}
#define BLOCK(number, name, elements, bytes) {number, #name, SHAPEPROOF_DTYPE_UNKNOWN, elements, bytes, false}
#define REMOVED(number, name, elements, bytes) {number, #name, SHAPEPROOF_DTYPE_UNKNOWN, elements, bytes, true}
/* clang-format on */

/* By number. Those that were removed are older than the format, or layouts of Q4_0 and IQ4_NL for single processors. */
static const struct sp_ggml_type types[] = {
    PLAIN(0, F32, 4),
    PLAIN(1, F16, 2),
    BLOCK(2, Q4_0, 32, 18),
    BLOCK(3, Q4_1, 32, 20),
    REMOVED(4, Q4_2, 16, 10),
    REMOVED(5, Q4_3, 16, 12),
    BLOCK(6, Q5_0, 32, 22),
    BLOCK(7, Q5_1, 32, 24),
    BLOCK(8, Q8_0, 32, 34),
    BLOCK(9, Q8_1, 32, 40),
    BLOCK(10, Q2_K, 256, 84),
    BLOCK(11, Q3_K, 256, 110),
    BLOCK(12, Q4_K, 256, 144),
    BLOCK(13, Q5_K, 256, 176),
    BLOCK(14, Q6_K, 256, 210),
    BLOCK(15, Q8_K, 256, 292),
    BLOCK(16, IQ2_XXS, 256, 66),
    BLOCK(17, IQ2_XS, 256, 74),
    BLOCK(18, IQ3_XXS, 256, 98),
    BLOCK(19, IQ1_S, 256, 50),
    BLOCK(20, IQ4_NL, 32, 18),
    BLOCK(21, IQ3_S, 256, 110),
    BLOCK(22, IQ2_S, 256, 82),
    BLOCK(23, IQ4_XS, 256, 136),
    PLAIN(24, I8, 1),
    PLAIN(25, I16, 2),
    PLAIN(26, I32, 4),
    PLAIN(27, I64, 8),
    PLAIN(28, F64, 8),
    BLOCK(29, IQ1_M, 256, 56),
    PLAIN(30, BF16, 2),
    REMOVED(31, Q4_0_4_4, 32, 18),
    REMOVED(32, Q4_0_4_8, 32, 18),
    REMOVED(33, Q4_0_8_8, 32, 18),
    BLOCK(34, TQ1_0, 256, 54),
    BLOCK(35, TQ2_0, 256, 66),
    REMOVED(36, IQ4_NL_4_4, 32, 18),
    REMOVED(37, IQ4_NL_4_8, 32, 18),
    REMOVED(38, IQ4_NL_8_8, 32, 18),
    BLOCK(39, MXFP4, 32, 17),
    BLOCK(40, NVFP4, 64, 36),
    BLOCK(41, Q1_0, 128, 18),
    BLOCK(42, Q2_0, 64, 18),
};

const struct sp_ggml_type *sp_ggml_type(uint32_t number)
{
    return number < sizeof types / sizeof *types ? &types[number] : NULL; /* every number up to the last has a row */
}
