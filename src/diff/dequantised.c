/* SPDX-License-Identifier: MIT
 * Both tensors are read in runs of the same elements. */
#include "diff/dequantised.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "diff/views.h"
#include "model/values.h"

enum {
    RUN = 1 << 16, /* elements that are read at once; whole groups */
    GROUP = 256    /* elements that are judged together; whole blocks of every type */
};

double sp_relative_error(const struct sp_quantisation_error *error)
{
    if (error->whole > 0) return sqrt(error->squares / error->whole);
    return error->squares > 0 ? (double)INFINITY : 0;
}

/* What a number in full precision may have lost before it was quantised: converters go through BF16 or F16. */
static double rounding_before(double value) { return fabs(value) * 0x1p-9 + 0x1p-25; }

bool sp_is_within_error(const struct sp_restored *restored, double value)
{
    const double allowed = rounding_before(value);
    /* Written so that NaN is outside. */
    return value >= (double)restored->low - allowed && value <= (double)restored->high + allowed;
}

static void compare_value(struct sp_quantisation_error *found, const struct sp_restored *restored, double value)
{
    const double difference = (double)restored->value - value;
    found->outside += !sp_is_within_error(restored, value);
    found->elements++;
    if (!isfinite(difference)) return;
    if (fabs(difference) > found->most) found->most = fabs(difference);
    found->squares += difference * difference;
    found->whole += value * value;
}

/* Adds what was found in a group. Types of two or three bits have intervals so wide that other numbers may be in them:
 * if the differences are larger than the numbers, all of the group are outside. No quantiser does that, except to
 * numbers that are lost because the scale of their block is too small for F16. */
static void add_group(struct sp_quantisation_error *found, const struct sp_quantisation_error *group)
{
    const double larger = 1.1 * 1.1, lost = 0x1p-13 * 0x1p-13 * (double)group->elements;
    const bool is_other = group->squares > larger * group->whole + lost;
    const uint64_t outside = is_other ? group->elements : group->outside;
    if (outside && !found->outside) found->first = found->elements; /* of the group */
    found->outside += outside;
    found->elements += group->elements;
    found->squares += group->squares;
    found->whole += group->whole;
    found->most = fmax(found->most, group->most);
}

struct runs {
    const struct sp_dequantised_pair *pair;
    struct sp_quantisation_error *found;
    unsigned char *packed, *full;
    float *values; /* of `full` */
};

/* Compares a run that is read. */
static void compare_blocks(struct runs *runs, size_t count)
{
    const struct sp_ggml_block *block = runs->pair->block;
    struct sp_restored restored[SP_GGML_MOST_ELEMENTS];
    struct sp_quantisation_error group = {0};
    sp_values_read(runs->pair->in_full->dtype, runs->full, runs->values, count);
    for (size_t i = 0; i < count; i += block->elements) {
        block->restore(runs->packed + i / block->elements * block->bytes, restored);
        for (size_t k = 0; k < block->elements; k++) compare_value(&group, &restored[k], (double)runs->values[i + k]);
        if (group.elements < GROUP && i + block->elements < count) continue;
        add_group(runs->found, &group);
        group = (struct sp_quantisation_error){0};
    }
}

/* Reads and compares `count` elements, from these on in each of the tensors. */
static bool visit_run(struct runs *runs, uint64_t in_packed, uint64_t in_full, size_t count,
                      struct shapeproof_error *error)
{
    const struct sp_dequantised_pair *pair = runs->pair;
    const struct sp_ggml_block *block = pair->block;
    const size_t size = shapeproof_dtype_bits(pair->in_full->dtype) / 8;
    const size_t packed = count / block->elements * block->bytes;
    if (!shapeproof_data_read(pair->packed.data, pair->packed.tensor, in_packed / block->elements * block->bytes,
                              runs->packed, packed, error) ||
        !shapeproof_data_read(pair->full.data, pair->full.tensor, in_full * size, runs->full, count * size, error))
        return false;
    compare_blocks(runs, count);
    return !pair->progress || sp_data_goes_on(pair->progress, pair->full_is_a ? count * size : packed, error);
}

static bool walk_runs(struct runs *runs, struct shapeproof_error *error)
{
    const struct sp_dequantised_pair *pair = runs->pair;
    const struct shapeproof_tensor *tensor = pair->in_full; /* of the same shape */
    const uint64_t rows = pair->heads ? tensor->shape[0] : 1, columns = tensor->parameters / rows;
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t column = 0; column < columns; column += RUN) {
            const uint64_t other = pair->heads ? sp_rotary_original(row, rows / pair->heads) : row;
            const size_t count = columns - column < RUN ? (size_t)(columns - column) : RUN;
            if (!visit_run(runs, pair->start + row * columns + column, other * columns + column, count, error))
                return false;
            if (runs->found->outside && pair->only_whether) return true;
        }
    return true;
}

bool sp_dequantised_compare(const struct sp_dequantised_pair *pair, struct sp_quantisation_error *found,
                            struct shapeproof_error *error)
{
    struct runs runs = {.pair = pair, .found = found};
    *found = (struct sp_quantisation_error){0};
    if (!pair->in_full->parameters) return true;
    runs.packed = sp_realloc(NULL, RUN / pair->block->elements, pair->block->bytes);
    runs.full = sp_realloc(NULL, RUN, sizeof(double));
    runs.values = sp_realloc(NULL, RUN, sizeof *runs.values);
    const bool ok = walk_runs(&runs, error);
    sp_free(runs.packed);
    sp_free(runs.full);
    sp_free(runs.values);
    return ok;
}
