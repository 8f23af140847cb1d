/* SPDX-License-Identifier: MIT
 * Buffers that every loader can compute, and that come and go with the version that wrote the file. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "explain/gather.h"
#include "explain/renaming.h"
#include "match/homes.h"

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

static bool is_index_dtype(enum sp_dtype dtype) { return dtype == SP_DTYPE_I64 || dtype == SP_DTYPE_I32; }
static bool is_mask_dtype(enum sp_dtype dtype) { return dtype == SP_DTYPE_BOOL || dtype == SP_DTYPE_U8; }

static bool is_square(const uint64_t *shape, uint32_t rank)
{
    return rank >= 2 && shape[rank - 1] == shape[rank - 2] && shape[rank - 1] > 1;
}

static bool is_mask(const uint64_t *shape, uint32_t rank, enum sp_dtype dtype)
{
    if (rank > 4 || !is_square(shape, rank)) return false;
    for (uint32_t i = 0; i + 2 < rank; i++)
        if (shape[i] != 1) return false;
    return rank > 2 || is_mask_dtype(dtype);
}

static bool has_look(enum look look, const uint64_t *shape, uint32_t rank, enum sp_dtype dtype)
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

static bool is_known_buffer(const char *name, const uint64_t *shape, uint32_t rank, enum sp_dtype dtype)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with_name(name, known[i].tail) && has_look(known[i].look, shape, rank, dtype)) return true;
    return false;
}

static bool is_stray(const struct sp_check *check, const struct sp_finding *finding)
{
    if (finding->kind != SP_FINDING_UNEXPECTED) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    return !(tensor->flags & SP_TENSOR_NO_SHAPE) &&
           is_known_buffer(finding->name, tensor->shape, tensor->rank, tensor->dtype);
}

/* What an older version did not store yet. */
static bool is_absent_buffer(const struct sp_check *check, const struct sp_finding *finding)
{
    if (finding->kind != SP_FINDING_MISSING) return false;
    const struct sp_predicted *tensor = sp_prediction_tensor(check->prediction, finding->predicted);
    return tensor->buffer && is_known_buffer(tensor->name, tensor->shape, tensor->rank, tensor->dtype);
}

/* Of a module that is not there at all, or that nobody expects, the buffers are no matter of their own; nor is one that
 * is there under another name. */
static void find_excused(struct sp_check *check, bool *excused)
{
    struct sp_homes homes = {0};
    for (size_t i = 0; i < check->finding_count; i++)
        if (excused[i]) sp_homes_add(&homes, check->findings[i].name);
    sp_homes_read(&homes, &check->match);
    size_t *renamed = sp_pair_renamed(check, NULL);
    for (size_t i = 0; i < check->finding_count; i++)
        excused[i] = excused[i] && renamed[i] == SP_NONE && sp_homes_there(&homes, check->findings[i].name);
    free(renamed);
    sp_homes_free(&homes);
}

struct wanted {
    const bool *excused;
    enum sp_finding_kind kind;
};

static bool is_excused_as(const struct sp_check *check, const struct sp_finding *finding, const void *context)
{
    const struct wanted *wanted = context;
    return finding->kind == wanted->kind && sp_is_marked(check, finding, wanted->excused);
}

static void excuse(struct sp_check *check, enum sp_cause_kind kind, enum sp_finding_kind of, const char *says,
                   const bool *excused)
{
    struct sp_cause *cause = sp_gather(check, kind, is_excused_as, &(struct wanted){excused, of});
    if (cause) sp_say(check, cause, says);
}

void sp_explain_computed(struct sp_check *check)
{
    bool *excused = sp_realloc(NULL, check->finding_count, sizeof *excused), any = false;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        excused[i] = sp_finding_is_open(finding) && (is_stray(check, finding) || is_absent_buffer(check, finding));
        any = any || excused[i];
    }
    if (any) {
        find_excused(check, excused);
        excuse(check, SP_CAUSE_STRAY_BUFFERS, SP_FINDING_UNEXPECTED,
               "the file also has buffers that loaders compute anew", excused);
        excuse(check, SP_CAUSE_ABSENT_BUFFERS, SP_FINDING_MISSING, "the file lacks buffers that loaders compute anew",
               excused);
    }
    free(excused);
}
