/* SPDX-License-Identifier: MIT */
#include "model/computed.h"

#include <string.h>

#include "base/chars.h"

/* The dtype and the shape that such a buffer has. P: positions, N: tokens of a window. */
enum form {
    VECTOR,    /* real numbers in a row */
    ONE,       /* a single element of any dtype */
    COUNTER,   /* a single integer */
    MASK,      /* (1, 1, P, P) or (1, P, P); (P, P) of truth values */
    POSITIONS, /* integers, (P) or (1, P) */
    INDEX,     /* integers, (N, N) */
    TABLE      /* real numbers, (P, ...) */
};

/* The buffers by the last components of their names. Parameters have such names, too, but not that form. */
static const struct {
    const char *tail;
    enum form form;
} known[] = {
    {"inv_freq", VECTOR},
    {"original_inv_freq", VECTOR},
    {"rope.freqs", VECTOR},
    {"rope_freqs.weight", VECTOR},
    {"cos_cached", TABLE},
    {"sin_cached", TABLE},
    {"freqs_cos", TABLE},
    {"freqs_sin", TABLE},
    {"freqs_cis", TABLE},
    {"masked_bias", ONE},
    {"attn.bias", MASK},
    {"attention.bias", MASK},
    {"crossattention.bias", MASK},
    {"attn.mask", MASK},
    {"causal_mask", MASK},
    {"position_ids", POSITIONS},
    {"embeddings.token_type_ids", POSITIONS},
    {"relative_position_index", INDEX},
    {"num_batches_tracked", COUNTER},
    {"embed_positions._float_tensor", ONE},
    {"embed_positions.weights", TABLE},
    {"encoder.version", ONE},
    {"decoder.version", ONE},
};

static bool is_index_dtype(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_I64 || dtype == SHAPEPROOF_DTYPE_I32;
}
static bool is_mask_dtype(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_BOOL || dtype == SHAPEPROOF_DTYPE_U8;
}

/* Whether the last two dimensions are equal, and above 1. */
static bool is_square(const uint64_t *shape, uint32_t rank)
{
    return rank >= 2 && shape[rank - 1] == shape[rank - 2] && shape[rank - 1] > 1;
}

static bool is_mask(const uint64_t *shape, uint32_t rank, enum shapeproof_dtype dtype)
{
    if (rank > 4 || !is_square(shape, rank)) return false;
    for (uint32_t i = 0; i + 2 < rank; i++)
        if (shape[i] != 1) return false;
    return rank > 2 || is_mask_dtype(dtype);
}

/* Whether a tensor has the form that a rule expects. */
static bool has_form(enum form form, const uint64_t *shape, uint32_t rank, enum shapeproof_dtype dtype)
{
    const bool is_integer = is_index_dtype(dtype), is_one = rank == 0 || (rank == 1 && shape[0] == 1);
    const bool is_real = !is_integer && !is_mask_dtype(dtype);
    switch (form) {
    case VECTOR:
        return rank == 1 && is_real;
    case ONE:
        return is_one;
    case COUNTER:
        return is_one && is_integer;
    case MASK:
        return is_mask(shape, rank, dtype);
    case POSITIONS:
        return is_integer && (rank == 1 || (rank == 2 && shape[0] == 1));
    case INDEX:
        return is_integer && rank == 2 && is_square(shape, rank);
    case TABLE:
        return rank >= 2 && is_real;
    }
    return false;
}

/* Whether the last components of a name are `tail`: "h.0.attn.bias" ends with "attn.bias", "h.0.cross_attn.bias" does
 * not.
 */
static bool ends_with_name(const char *name, const char *tail)
{
    if (!sp_ends_with(name, tail)) return false;
    const size_t front = strlen(name) - strlen(tail);
    return !front || name[front - 1] == '.';
}

bool sp_is_computed(const char *name, const uint64_t *shape, uint32_t rank, enum shapeproof_dtype dtype)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with_name(name, known[i].tail) && has_form(known[i].form, shape, rank, dtype)) return true;
    return false;
}
