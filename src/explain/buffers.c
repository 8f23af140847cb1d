/* SPDX-License-Identifier: MIT
 * Tensors of the file that are no parameters: why it holds more elements than the model has, and which of them come and
 * go with the version that wrote it. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "check/check.h"
#include "match/homes.h"

/* ---- buffers that a table predicts ---- */

void sp_explain_buffers(struct sp_check *check)
{
    const size_t total = sp_inventory_count(check->inventory);
    const char **names = sp_realloc(NULL, total, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < total; i++) {
        const size_t predicted = check->match.predicted_of[i];
        if (predicted == SP_NONE || !sp_prediction_tensor(check->prediction, predicted)->buffer) continue;
        names[count++] = sp_inventory_tensor(check->inventory, i)->name;
    }
    if (count) {
        const char *message = sp_arena_printf(&check->arena, "%s %s stored, not trained",
                                              sp_some_names(&check->arena, names, count), count == 1 ? "is" : "are");
        sp_check_add_cause(check, (struct sp_cause){.id = "buffers", .severity = SP_SEVERITY_NOTE, .message = message});
    }
    free(names);
}

/* ---- buffers that every loader can compute ---- */

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

static bool is_integer(enum sp_dtype dtype) { return dtype == SP_DTYPE_I64 || dtype == SP_DTYPE_I32; }
static bool is_truth(enum sp_dtype dtype) { return dtype == SP_DTYPE_BOOL || dtype == SP_DTYPE_U8; }

static bool is_square(const uint64_t *shape, uint32_t rank)
{
    return rank >= 2 && shape[rank - 1] == shape[rank - 2] && shape[rank - 1] > 1;
}

static bool is_mask(const uint64_t *shape, uint32_t rank, enum sp_dtype dtype)
{
    if (rank > 4 || !is_square(shape, rank)) return false;
    for (uint32_t i = 0; i + 2 < rank; i++)
        if (shape[i] != 1) return false;
    return rank > 2 || is_truth(dtype);
}

static bool has_look(enum look look, const uint64_t *shape, uint32_t rank, enum sp_dtype dtype)
{
    const bool integer = is_integer(dtype), one = rank == 0 || (rank == 1 && shape[0] == 1);
    switch (look) {
    case VECTOR:
        return rank == 1 && !integer && !is_truth(dtype);
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
        return rank >= 2 && !integer && !is_truth(dtype);
    }
    return false;
}

static bool ends_with(const char *name, const char *tail)
{
    if (!sp_ends_with(name, tail)) return false;
    const size_t front = strlen(name) - strlen(tail);
    return !front || name[front - 1] == '.';
}

static bool is_known(const char *name, const uint64_t *shape, uint32_t rank, enum sp_dtype dtype)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with(name, known[i].tail) && has_look(known[i].look, shape, rank, dtype)) return true;
    return false;
}

static bool is_stray(const struct sp_check *check, const struct sp_finding *finding)
{
    if (finding->kind != SP_FINDING_UNEXPECTED) return false;
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    return !(tensor->flags & SP_TENSOR_NO_SHAPE) && is_known(finding->name, tensor->shape, tensor->rank, tensor->dtype);
}

/* What an older version did not store yet. */
static bool is_absent(const struct sp_check *check, const struct sp_finding *finding)
{
    if (finding->kind != SP_FINDING_MISSING) return false;
    const struct sp_predicted *tensor = sp_prediction_tensor(check->prediction, finding->predicted);
    return tensor->buffer && is_known(tensor->name, tensor->shape, tensor->rank, tensor->dtype);
}

typedef bool (*buffer_kind)(const struct sp_check *, const struct sp_finding *);

static void excuse(struct sp_check *check, const char *id, const char *says, buffer_kind is_kind, const bool *excused)
{
    size_t cause = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!excused[i] || !is_kind(check, &check->findings[i])) continue;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(check, (struct sp_cause){.id = id, .severity = SP_SEVERITY_NOTE});
        sp_check_explain(check, i, cause);
    }
    if (cause == SP_NONE) return;
    const size_t count = check->causes[cause].explains;
    check->causes[cause].message =
        sp_arena_printf(&check->arena, "%s: %s (%s)", says, sp_check_names(check, sp_explained_by, &cause),
                        sp_count_of(&check->arena, count, "tensor"));
}

/* Of a module that is not there at all, or that nobody expects, the buffers are no matter of their own; nor is one that
 * is there under another name. */
static void find_excused(struct sp_check *check, bool *excused)
{
    struct sp_homes homes = {0};
    for (size_t i = 0; i < check->finding_count; i++)
        if (excused[i]) sp_homes_add(&homes, check->findings[i].name);
    sp_homes_read(&homes, &check->match);
    size_t *renamed = sp_pair_renamed(check);
    for (size_t i = 0; i < check->finding_count; i++)
        excused[i] = excused[i] && renamed[i] == SP_NONE && sp_homes_there(&homes, check->findings[i].name);
    free(renamed);
    sp_homes_free(&homes);
}

void sp_explain_computed(struct sp_check *check)
{
    bool *excused = sp_realloc(NULL, check->finding_count, sizeof *excused), any = false;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct sp_finding *finding = &check->findings[i];
        excused[i] = sp_finding_is_open(finding) && (is_stray(check, finding) || is_absent(check, finding));
        any = any || excused[i];
    }
    if (any) {
        find_excused(check, excused);
        excuse(check, "stray-buffers", "the file also has buffers that loaders compute anew", is_stray, excused);
        excuse(check, "absent-buffers", "the file lacks buffers that loaders compute anew", is_absent, excused);
    }
    free(excused);
}
