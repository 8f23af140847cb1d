/* SPDX-License-Identifier: MIT */
#include "model/computed.h"

#include <string.h>

#include "base/chars.h"

enum look {
    VECTOR,    /* numbers in a row */
    ONE,       /* a single element */
    COUNTER,   /* a single integer */
    MASK,      /* (1, 1, P, P) or (1, P, P); (P, P) of truth values */
    POSITIONS, /* integers, (P) or (1, P) */
    INDEX,     /* integers, (N, N) */
    TABLE      /* a number for each position and more */
};

/* By the end of the name, which begins with a component. A parameter may be called so too: hence the look. */
static const struct {
    const char *tail;
    enum look look;
} known[] = {
    {"inv_freq", VECTOR},
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

/* Whether a tensor has the form that a rule expects: a vector of numbers, a single number, a counter, a mask,
 * positions, a square index or a table of numbers. */
static bool has_look(enum look look, const uint64_t *shape, uint32_t rank, enum shapeproof_dtype dtype)
{
    const bool integer = is_index_dtype(dtype), one = rank == 0 || (rank == 1 && shape[0] == 1);
    switch (look) {
    case VECTOR:
        return rank == 1 && !integer && !is_mask_dtype(dtype);
    case ONE:
        return one;
    case COUNTER:
        return one && integer;
    case MASK:
        return is_mask(shape, rank, dtype);
    case POSITIONS:
        return integer && (rank == 1 || (rank == 2 && shape[0] == 1));
    case INDEX:
        return integer && rank == 2 && is_square(shape, rank);
    case TABLE:
        return rank >= 2 && !integer && !is_mask_dtype(dtype);
    }
    return false;
}

static bool ends_with_name(const char *name, const char *tail)
{
    if (!sp_ends_with(name, tail)) return false;
    const size_t front = strlen(name) - strlen(tail);
    return !front || name[front - 1] == '.';
}

bool sp_is_computed(const char *name, const uint64_t *shape, uint32_t rank, enum shapeproof_dtype dtype)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with_name(name, known[i].tail) && has_look(known[i].look, shape, rank, dtype)) return true;
    return false;
}
