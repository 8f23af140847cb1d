/* SPDX-License-Identifier: MIT
 * Weights that one checkpoint stores under a parametrisation of PyTorch (model/parametrised.h), and the other as they
 * are.
 *
 *     A: conv.weight_g (8, 1, 1), conv.weight_v (8, 4, 3)    B: conv.weight (8, 4, 3)
 *
 * For the pairing, the part with the shape of the weight has the name of the weight; what is paired so becomes one
 * finding. The data of the weight are computed from its parts:
 *
 *     weight norm      g v / |v|, with a norm for each slice: for each index of the dimension that g has
 *     mask             w mask
 *     spectral norm    w / s with s = u' w v
 *
 * Every step of training moves u and v closer to the singular vectors of the largest singular value. A weight that was
 * computed a step later is therefore divided by more than s, and by that value at most. */
#include "diff/parametrised.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/order.h"
#include "base/real.h"
#include "diff/dequantised.h"
#include "diff/diff.h"
#include "diff/singular.h"
#include "model/layouts.h"
#include "model/values.h"

enum {
    RUN = 1 << 16,   /* elements that are read at once */
    MOST = 1 << 20,  /* slices of a weight, and elements of the vectors of a spectral norm, that are in memory */
    POWER_STEPS = 20 /* towards the largest singular value, each of which reads the weight twice */
};

/* ---- pairing ---- */

/* The last component of a name: "weight_v". */
static const char *leaf_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* The last components of the names of a file. */
static void collect_leaves(const struct shapeproof_inventory *inventory, struct sp_map *leaves)
{
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        sp_map_add(leaves, leaf_of(shapeproof_inventory_tensor(inventory, i)->name), i);
}

/* Whether tensors are parts of a weight. Those of a group that is not whole may have their names for another reason, as
 * "lora_v" beside weights under weight norm: they are parts if the other file has tensors called as the weight, and
 * none called as they are. */
static bool are_parts(const struct sp_diff_half *half, const struct sp_parametrised *stored,
                      const struct sp_map *leaves)
{
    if (stored->like == SHAPEPROOF_NONE) return false;
    if (stored->is_whole) return true;
    const char *own = leaf_of(shapeproof_inventory_tensor(half->inventory, stored->like)->name);
    return sp_map_get(leaves, own) == SIZE_MAX && sp_map_get(leaves, leaf_of(stored->weight)) != SIZE_MAX;
}

/* Gives the parts of weights that have no counterpart of the same name the spelling by which they are paired: the part
 * with the shape of the weight that of the weight, and the others one that is of no other tensor. `leaves` are those of
 * the other file. */
static void spell_parts(struct shapeproof_diff *diff, struct sp_diff_half *half, const struct sp_map *leaves)
{
    half->parametrised_count = sp_parametrised_find(&diff->arena, half->inventory, &half->parametrised);
    for (size_t i = 0; i < half->parametrised_count; i++) {
        const struct sp_parametrised *stored = &half->parametrised[i];
        if (!are_parts(half, stored, leaves)) continue;
        half->is_weight_of_parts[stored->like] = true;
        for (size_t k = 0; k < stored->count; k++) {
            const size_t part = stored->parts[k];
            const char *name = sp_parametrised_part_name(&diff->arena, stored, k);
            if (half->other[part] != SHAPEPROOF_NONE) continue;
            if (part == stored->like || name)
                half->spelling[part] = sp_spell(&diff->arena, part == stored->like ? stored->weight : name);
            else half->spelling[part].text = shapeproof_inventory_tensor(half->inventory, part)->name;
        }
    }
}

void sp_diff_spell_parametrised(struct shapeproof_diff *diff)
{
    struct sp_map in_a = {0}, in_b = {0};
    collect_leaves(diff->a.inventory, &in_a);
    collect_leaves(diff->b.inventory, &in_b);
    spell_parts(diff, &diff->a, &in_b);
    spell_parts(diff, &diff->b, &in_a);
    sp_map_free(&in_a);
    sp_map_free(&in_b);
}

static void unpair(struct shapeproof_diff *diff, const struct sp_diff_half *half, size_t tensor)
{
    const struct sp_diff_half *other = half == &diff->a ? &diff->b : &diff->a;
    if (half->other[tensor] == SHAPEPROOF_NONE) return;
    other->other[half->other[tensor]] = SHAPEPROOF_NONE;
    half->other[tensor] = SHAPEPROOF_NONE;
    diff->totals.both--;
}

/* "is stored under weight norm in A", and what is wrong with its parts */
static const char *describe_stored(struct shapeproof_diff *diff, const struct sp_diff_half *half,
                                   const struct sp_parametrised *stored)
{
    const char *side = sp_half_name(half);
    if (stored->is_whole) return sp_arena_printf(&diff->arena, "is stored under %s in %s", stored->how, side);
    if (stored->lack)
        return sp_arena_printf(&diff->arena, "is stored under %s in %s, where a part is missing: %s", stored->how, side,
                               stored->lack);
    return sp_arena_printf(&diff->arena, "is stored under %s in %s, where the shapes of its parts do not agree",
                           stored->how, side);
}

/* Makes one finding of a weight and its parts, if they are paired; another one if the weight has another shape. */
static void add_parametrised(struct shapeproof_diff *diff, const struct sp_diff_half *half,
                             const struct sp_parametrised *stored)
{
    const bool in_a = half == &diff->a;
    const struct sp_diff_half *other = in_a ? &diff->b : &diff->a;
    const size_t like = stored->like, full = like == SHAPEPROOF_NONE ? SHAPEPROOF_NONE : half->other[like];
    if (full == SHAPEPROOF_NONE || !half->spelling[like].text || stored->kind == SP_PARAMETRISED_IN_NAME ||
        !half->is_weight_of_parts[like] || other->is_weight_of_parts[full])
        return;
    const struct shapeproof_tensor *weight = shapeproof_inventory_tensor(other->inventory, full);
    const struct shapeproof_tensor *own = shapeproof_inventory_tensor(half->inventory, like);
    for (size_t k = 0; k < stored->count; k++) {
        unpair(diff, half, stored->parts[k]);
        half->joined[stored->parts[k]] = true;
    }
    other->joined[full] = true;
    other->incomplete[full] = !stored->is_whole;
    sp_diff_add_about(
        diff, in_a ? SHAPEPROOF_NONE : full, in_a ? full : SHAPEPROOF_NONE,
        (struct shapeproof_diff_finding){
            .kind = SHAPEPROOF_DIFF_FINDING_PARAMETRISED,
            .message = describe_stored(diff, half, stored),
            .detail = sp_arena_printf(&diff->arena, "as %s",
                                      sp_parametrised_list_parts(&diff->arena, half->inventory, stored))});
    if (!sp_tensor_same_shape(own, weight))
        sp_diff_add_about(diff, in_a ? like : full, in_a ? full : like,
                          (struct shapeproof_diff_finding){
                              .kind = SHAPEPROOF_DIFF_FINDING_SHAPE,
                              .message = sp_arena_printf(&diff->arena, "%s in A, %s in B",
                                                         sp_found_shape(&diff->arena, in_a ? own : weight),
                                                         sp_found_shape(&diff->arena, in_a ? weight : own))});
    if (own->dtype != weight->dtype && !stored->is_quantised)
        sp_diff_add_about(
            diff, in_a ? like : full, in_a ? full : like,
            (struct shapeproof_diff_finding){.kind = SHAPEPROOF_DIFF_FINDING_DTYPE,
                                             .message = sp_arena_printf(&diff->arena, "%s in A, %s in B",
                                                                        (in_a ? own : weight)->dtype_name,
                                                                        (in_a ? weight : own)->dtype_name)});
    *SP_PUSH(&diff->parametrised) =
        (struct sp_diff_parametrised){.side = half, .full_side = other, .stored = stored, .full = full};
}

void sp_diff_parametrised(struct shapeproof_diff *diff)
{
    for (size_t i = 0; i < diff->a.parametrised_count; i++) add_parametrised(diff, &diff->a, &diff->a.parametrised[i]);
    for (size_t i = 0; i < diff->b.parametrised_count; i++) add_parametrised(diff, &diff->b, &diff->b.parametrised[i]);
}

/* ---- one weight ---- */

/* What the elements of a slice show. */
struct slice {
    double factor;                  /* by which the stored numbers are multiplied */
    double squares;                 /* of the stored numbers */
    double product, computed, full; /* sums of products, squares of the computed numbers, of those of the other file */
};

/* How the two differ. */
struct differences {
    struct sp_quantisation_error of; /* `first` is the first element outside */
    uint64_t not_finite;             /* of those outside, the ones for which the parts give NaN or infinity */
    uint64_t removed;                /* of those outside, the ones that the mask makes 0 */
};

/* The comparison of one weight. */
struct computing {
    struct shapeproof_diff *diff;
    struct sp_diff_parametrised *pair;
    const struct shapeproof_data *parts_data, *full_data;
    struct sp_data_progress *progress;
    struct shapeproof_error *error;
    const struct shapeproof_tensor *like, *full;
    size_t mask;              /* a tensor of the parts, or SHAPEPROOF_NONE */
    uint64_t count, inner;    /* slices; elements from one index of their dimension to the next */
    double tolerance;         /* by which fraction of a number the two may differ; 0: see is_same_but_rounded */
    struct slice *slices;     /* `count` of them */
    unsigned char *raw;       /* RUN elements as they are stored */
    float *narrow;            /* values of a run of F16, BF16 or F32 */
    double *own, *other, *on; /* values of a run: stored, of the other file, of the mask */
    struct differences found;
    const char *why; /* a weight that could be computed is not compared, or NULL */
};

/* Up to how much numbers are off, as a fraction, when they are rounded to the dtype. */
static double roundoff(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_BF16  ? 0x1p-8
           : dtype == SHAPEPROOF_DTYPE_F16 ? 0x1p-11
           : dtype == SHAPEPROOF_DTYPE_F32 ? 0x1p-24
                                           : 0x1p-53;
}

/* The smallest number of the dtype above 0: numbers near 0 are so far apart. */
static double smallest_step(enum shapeproof_dtype dtype)
{
    return dtype == SHAPEPROOF_DTYPE_BF16  ? 0x1p-133
           : dtype == SHAPEPROOF_DTYPE_F16 ? 0x1p-24
           : dtype == SHAPEPROOF_DTYPE_F32 ? 0x1p-149
                                           : 0x1p-1074;
}

/* The tolerance of a weight that is computed with sums of many squares or products; `part` is the narrowest of the
 * other parts. A weight is rounded up to four times: as a part, twice in its factor, as the result. The sums are of F64
 * if all is, otherwise of F32, and lose up to 8 (F64: 13) bits. */
static double tolerance_of_sums(const struct computing *c, double part)
{
    const double narrowest = fmax(part, fmax(roundoff(c->like->dtype), roundoff(c->full->dtype)));
    return fmax(4 * narrowest, narrowest <= roundoff(SHAPEPROOF_DTYPE_F64) ? 0x1p-40 : 0x1p-16);
}

static bool read_values(struct computing *c, const struct shapeproof_data *data, size_t tensor,
                        const struct shapeproof_tensor *in, uint64_t first, size_t count, double *into)
{
    const size_t size = shapeproof_dtype_bits(in->dtype) / 8;
    if (!shapeproof_data_read(data, tensor, first * size, c->raw, count * size, c->error)) return false;
    if (in->dtype == SHAPEPROOF_DTYPE_F64) memcpy(into, c->raw, count * size);
    else if (sp_is_float(in->dtype)) {
        sp_values_read(in->dtype, c->raw, c->narrow, count);
        for (size_t i = 0; i < count; i++) into[i] = (double)c->narrow[i];
    } else
        for (size_t i = 0; i < count; i++)
            into[i] = in->dtype == SHAPEPROOF_DTYPE_BOOL ? c->raw[i] != 0 : c->raw[i]; /* of a mask */
    return true;
}

static size_t length_of_run(const struct computing *c, uint64_t first)
{
    return c->like->parameters - first < RUN ? (size_t)(c->like->parameters - first) : RUN;
}

static uint64_t slice_of(const struct computing *c, uint64_t element) { return element / c->inner % c->count; }

/* The place of an element among those of its slice. */
static uint64_t place_in_slice(const struct computing *c, uint64_t element)
{
    return element / (c->inner * c->count) * c->inner + element % c->inner;
}

/* Whether two numbers are equal once one of them is rounded to the dtype of the other, as all tensors are compared. */
static bool is_same_but_rounded(const struct computing *c, double computed, double full)
{
    const double of_full = sp_rounded_to(c->full->dtype, computed), of_parts = sp_rounded_to(c->like->dtype, full);
    return (of_full <= full && of_full >= full) || (of_parts <= computed && of_parts >= computed);
}

/* Whether the number that is computed from a stored one is the one of the other file, up to rounding. */
static bool is_near_enough(const struct computing *c, double own, double factor, double full)
{
    const double computed = own * factor;
    if (isnan(computed) || isnan(full)) return isnan(computed) && isnan(full);
    if (isinf(computed) || isinf(full)) return !(computed < full) && !(full < computed);
    if (!(c->tolerance > 0)) return is_same_but_rounded(c, computed, full);
    /* Near 0 the steps count: those of the stored number, which may have been rounded to the dtype of the result
     * before, and those of the result and of a factor of its dtype. */
    const double of_own = fmax(smallest_step(c->like->dtype), smallest_step(c->full->dtype));
    const double steps = of_own * fabs(factor) + smallest_step(c->full->dtype) * (1 + fabs(own));
    return fabs(computed - full) <= c->tolerance * fabs(computed) + steps;
}

/* Compares the stored number `own` times the factor with the number of the other file. */
static void compare_element(struct computing *c, uint64_t element, double own, double factor, double full)
{
    struct slice *slice = &c->slices[slice_of(c, element)];
    const double computed = own * factor, difference = fabs(computed - full);
    struct sp_quantisation_error *found = &c->found.of;
    found->elements++;
    if (!is_near_enough(c, own, factor, full)) {
        if (!found->outside) found->first = element;
        found->outside++;
        if (!isfinite(computed)) c->found.not_finite++;
        c->found.removed += c->mask != SHAPEPROOF_NONE && !(fabs(factor) > 0) && fabs(full) > 0;
    }
    if (!isfinite(difference)) return;
    found->most = fmax(found->most, difference);
    found->squares += difference * difference;
    found->whole += full * full;
    slice->product += computed * full;
    slice->computed += computed * computed;
    slice->full += full * full;
}

/* Compares all elements of the weight, with the factors that the slices have. */
static bool compare_elements(struct computing *c)
{
    c->found = (struct differences){0};
    for (uint64_t i = 0; i < c->count; i++)
        c->slices[i] = (struct slice){.factor = c->slices[i].factor, .squares = c->slices[i].squares};
    for (uint64_t first = 0; first < c->like->parameters; first += RUN) {
        const size_t count = length_of_run(c, first);
        const size_t mask = c->mask;
        if (!read_values(c, c->parts_data, c->pair->stored->like, c->like, first, count, c->own) ||
            !read_values(c, c->full_data, c->pair->full, c->full, first, count, c->other) ||
            (mask != SHAPEPROOF_NONE &&
             !read_values(c, c->parts_data, mask, shapeproof_inventory_tensor(c->pair->side->inventory, mask), first,
                          count, c->on)))
            return false;
        for (size_t i = 0; i < count; i++) {
            const double factor = mask != SHAPEPROOF_NONE ? c->on[i] : c->slices[slice_of(c, first + i)].factor;
            compare_element(c, first + i, c->own[i], factor, c->other[i]);
        }
        if (!sp_data_goes_on(c->progress, 0, c->error)) return false;
    }
    return true;
}

/* Calls `visit` with the values of each run of the stored part. */
static bool visit_stored(struct computing *c, void (*visit)(struct computing *, uint64_t, size_t, void *),
                         void *context)
{
    for (uint64_t first = 0; first < c->like->parameters; first += RUN) {
        const size_t count = length_of_run(c, first);
        if (!read_values(c, c->parts_data, c->pair->stored->like, c->like, first, count, c->own)) return false;
        if (!sp_data_goes_on(c->progress, 0, c->error)) return false;
        visit(c, first, count, context);
    }
    return true;
}

static const char too_many[] = "it has more than 1,048,576 norms, or elements in a vector";

/* All values of a small part, or NULL with or without an error; to be freed. */
static double *read_part(struct computing *c, size_t tensor, uint64_t count)
{
    const struct shapeproof_tensor *in = shapeproof_inventory_tensor(c->pair->side->inventory, tensor);
    if (count > MOST) c->why = too_many;
    if (!sp_is_float(in->dtype)) c->why = sp_arena_printf(&c->diff->arena, "%s is %s", in->name, in->dtype_name);
    if (c->why || in->parameters != count) return NULL;
    double *values = sp_realloc(NULL, (size_t)count, sizeof *values);
    for (uint64_t first = 0; first < count; first += RUN)
        if (!read_values(c, c->parts_data, tensor, in, first, count - first < RUN ? (size_t)(count - first) : RUN,
                         values + first)) {
            sp_free(values);
            return NULL;
        }
    return values;
}

/* Divides the elements of the weight into those of each index of a dimension. */
static bool set_slices(struct computing *c, uint32_t dimension)
{
    c->count = c->like->shape[dimension];
    c->inner = 1;
    for (uint32_t d = dimension + 1; d < c->like->rank; d++) c->inner *= c->like->shape[d]; /* of a tensor */
    if (c->count > MOST) {
        c->why = too_many;
        return false;
    }
    c->slices = sp_realloc(c->slices, (size_t)c->count, sizeof *c->slices);
    for (uint64_t i = 0; i < c->count; i++) c->slices[i] = (struct slice){.factor = 1};
    return true;
}

static bool set_one_slice(struct computing *c)
{
    c->count = 1;
    c->inner = c->like->parameters;
    c->slices = sp_realloc(c->slices, 1, sizeof *c->slices);
    *c->slices = (struct slice){.factor = 1};
    return true;
}

/* ---- what is said ---- */

static void add_finding_of(struct computing *c, enum shapeproof_diff_finding_kind kind, const char *message,
                           const char *detail)
{
    const bool in_a = c->pair->full_side == &c->diff->a;
    const size_t full = c->pair->full;
    sp_diff_add_about(c->diff, in_a ? full : SHAPEPROOF_NONE, in_a ? SHAPEPROOF_NONE : full,
                      (struct shapeproof_diff_finding){.kind = kind, .message = message, .detail = detail});
}

static void add_finding(struct computing *c, const char *message, const char *detail)
{
    add_finding_of(c, SHAPEPROOF_DIFF_FINDING_DATA, message, detail);
}

static const char *name_of_part(const struct computing *c, size_t part)
{
    return shapeproof_inventory_tensor(c->pair->side->inventory, c->pair->stored->parts[part])->name;
}

/* By how much the computed numbers of the slices are larger, if they are proportional to those of the other file; 0
 * otherwise. */
static double ratio_of_slice(const struct slice *slice)
{
    const double proportional = 0.999;
    if (!(slice->full > 0) || !(slice->computed > 0) ||
        slice->product * slice->product < proportional * slice->full * slice->computed)
        return 0;
    return slice->product / slice->full;
}

/* "in 8 of 64 elements, the first in row 3; greatest difference 0.12, relative error 0.03" */
static const char *describe_differences(struct computing *c, uint32_t dimension)
{
    struct sp_text text = {0};
    const struct sp_quantisation_error *found = &c->found.of;
    const uint64_t place = slice_of(c, found->first);
    const double relative = sp_relative_error(found);
    sp_text_printf(&text, "in %" PRIu64 " of %" PRIu64 " elements", found->outside, found->elements);
    if (c->count == 1) sp_text_printf(&text, ", the first is element %" PRIu64, found->first);
    else if (dimension == 0) sp_text_printf(&text, ", the first in row %" PRIu64, place);
    else sp_text_printf(&text, ", the first at index %" PRIu64 " of dimension %" PRIu32, place, dimension);
    const double ratio = ratio_of_slice(&c->slices[place]);
    const double least = 0.0005; /* below, four digits do not show it */
    if (c->pair->stored->kind == SP_PARAMETRISED_NORM && fabs(ratio) > 0 && fabs(ratio - 1) >= least)
        sp_text_printf(&text, ", where %s is %s times what the data show", name_of_part(c, 0),
                       sp_real_text(ratio, 4).text);
    if (c->found.removed) sp_text_printf(&text, ", %" PRIu64 " of which the mask removes", c->found.removed);
    if (c->found.not_finite)
        sp_text_printf(&text, "; the parts give NaN or infinity for %" PRIu64 " of them", c->found.not_finite);
    if (c->found.not_finite < found->outside) {
        sp_text_printf(&text, "; greatest difference %s", sp_real_text(found->most, 3).text);
        if (isfinite(relative)) sp_text_printf(&text, ", relative error %s", sp_real_text(relative, 2).text);
    }
    return sp_text_keep(&text, &c->diff->arena);
}

/* By which factor the numbers of the other file are larger, as the mean over the slices, if that is more than rounding
 * can do; 0 otherwise. Rounding changes the factor of a slice by the tolerance at most, and up as often as down, so
 * that the mean of n slices is within the tolerance / sqrt(n). Slices with the factor of the one before are not
 * counted: theirs may be rounded alike. What is near 0 has other steps, and is left out. */
static double find_scale(const struct computing *c)
{
    const double bias = 0x1p-16; /* of the sums: of F32 */
    const double least = ldexp(fmax(smallest_step(c->like->dtype), smallest_step(c->full->dtype)), 12);
    const double numbers = (double)c->like->parameters / (double)c->count; /* of a slice */
    double sum = 0, before = 0;
    uint64_t count = 0;
    for (uint64_t i = 0; i < c->count; i++) {
        const struct slice *slice = &c->slices[i];
        const bool is_alike = slice->factor <= before && slice->factor >= before;
        before = slice->factor;
        if (is_alike || !(slice->computed >= least * least * numbers) || !isfinite(slice->product)) continue;
        sum += slice->product / slice->computed - 1;
        count++;
    }
    if (!count || !(fabs(sum / (double)count) > c->tolerance / sqrt((double)count) + bias)) return 0;
    return 1 + sum / (double)count;
}

/* Reports a weight that does not follow from its parts. */
static void report(struct computing *c, uint32_t dimension)
{
    const double scale = c->pair->stored->kind == SP_PARAMETRISED_NORM ? find_scale(c) : 0;
    if (!c->found.of.outside && fabs(scale) > 0)
        add_finding(c,
                    sp_arena_printf(&c->diff->arena, "differs from what its parts under %s give", c->pair->stored->how),
                    sp_arena_printf(&c->diff->arena, "it is %s times as large; each number alone could be rounded",
                                    sp_real_text(scale, 4).text));
    if (c->found.of.outside)
        add_finding(c,
                    sp_arena_printf(&c->diff->arena, "differs from what its parts under %s give", c->pair->stored->how),
                    describe_differences(c, dimension));
}

/* ---- weight norm and masks ---- */

static void add_squares(struct computing *c, uint64_t first, size_t count, void *context)
{
    (void)context;
    for (size_t i = 0; i < count; i++) c->slices[slice_of(c, first + i)].squares += c->own[i] * c->own[i];
}

/* The dimension for whose indices there are norms; the rank of the weight if there is one norm alone. */
static uint32_t dimension_of_norms(const struct shapeproof_tensor *norms)
{
    for (uint32_t d = 0; d < norms->rank; d++)
        if (norms->shape[d] != 1) return d;
    return norms->rank;
}

enum outcome { COMPARED, NOT_COMPARED, FAILED };

static enum outcome compare_norm(struct computing *c)
{
    const size_t part = c->pair->stored->parts[0];
    const struct shapeproof_tensor *norms = shapeproof_inventory_tensor(c->pair->side->inventory, part);
    const uint32_t dimension = dimension_of_norms(norms);
    c->tolerance = tolerance_of_sums(c, roundoff(norms->dtype));
    if (!(dimension < norms->rank ? set_slices(c, dimension) : set_one_slice(c))) return NOT_COMPARED;
    double *g = read_part(c, part, c->count);
    if (!g) return c->error->status == SHAPEPROOF_OK ? NOT_COMPARED : FAILED;
    const bool ok = visit_stored(c, add_squares, NULL);
    for (uint64_t i = 0; i < c->count; i++) c->slices[i].factor = g[i] / sqrt(c->slices[i].squares);
    sp_free(g);
    if (!ok || !compare_elements(c)) return FAILED;
    report(c, dimension);
    return COMPARED;
}

static enum outcome compare_masked(struct computing *c)
{
    c->mask = c->pair->stored->parts[1];
    const enum shapeproof_dtype dtype = shapeproof_inventory_tensor(c->pair->side->inventory, c->mask)->dtype;
    if (!sp_is_float(dtype) && dtype != SHAPEPROOF_DTYPE_BOOL && dtype != SHAPEPROOF_DTYPE_U8) {
        c->why =
            sp_arena_printf(&c->diff->arena, "the mask %s is %s", name_of_part(c, 1), shapeproof_dtype_name(dtype));
        return NOT_COMPARED;
    }
    set_one_slice(c);
    if (!compare_elements(c)) return FAILED;
    report(c, 0);
    return COMPARED;
}

/* ---- spectral norm ---- */

/* A product of the weight as a matrix with a vector on one of its sides. */
struct products {
    const double *u, *v; /* one of them */
    double *into;        /* along the other side */
};

static void add_products(struct computing *c, uint64_t first, size_t count, void *context)
{
    const struct products *products = context;
    for (size_t i = 0; i < count; i++) {
        const uint64_t row = slice_of(c, first + i), column = place_in_slice(c, first + i);
        if (products->u) products->into[column] += products->u[row] * c->own[i];
        else products->into[row] += products->v[column] * c->own[i];
    }
}

/* The vectors of a spectral norm; `length` is that of v. */
struct vectors {
    double *u, *v;
    uint64_t length;
};

/* Makes w v of v, in u. */
static bool multiply(struct computing *c, const struct vectors *vectors)
{
    memset(vectors->u, 0, (size_t)c->count * sizeof(double));
    return visit_stored(c, add_products, &(struct products){.v = vectors->v, .into = vectors->u});
}

/* Divides by the norm, and returns it. */
static double normalise(double *vector, uint64_t count)
{
    double squares = 0;
    for (uint64_t i = 0; i < count; i++) squares += vector[i] * vector[i];
    const double norm = sqrt(squares);
    for (uint64_t i = 0; i < count && norm > 0; i++) vector[i] /= norm;
    return norm;
}

/* A weight as a matrix with at most as many rows as columns. */
struct matrix {
    double *numbers;
    size_t rows, columns;
    bool is_transposed; /* the columns are the slices */
};

static void add_numbers(struct computing *c, uint64_t first, size_t count, void *context)
{
    const struct matrix *matrix = context;
    for (size_t i = 0; i < count; i++) {
        const size_t slice = (size_t)slice_of(c, first + i), place = (size_t)place_in_slice(c, first + i);
        matrix->numbers[matrix->is_transposed ? place * matrix->columns + slice : slice * matrix->columns + place] =
            c->own[i];
    }
}

/* Whether a divisor is at most the largest singular value. */
enum size { WITHIN, BEYOND, UNKNOWN, UNREADABLE };

/* Decides with bounds of the largest singular value (singular.h). */
static enum size compare_with_bounds(struct computing *c, double divisor)
{
    const uint64_t count = c->like->parameters, others = count / c->count;
    const uint64_t rows = c->count < others ? c->count : others;
    if (rows > SP_SINGULAR_ROWS || count > SP_SINGULAR_ELEMENTS) return UNKNOWN;
    struct matrix matrix = {.numbers = sp_realloc(NULL, (size_t)count, sizeof(double)),
                            .rows = (size_t)rows,
                            .columns = (size_t)(count / rows),
                            .is_transposed = rows != c->count};
    const double precision = c->tolerance / 4;
    enum size size = UNREADABLE;
    if (visit_stored(c, add_numbers, &matrix)) {
        const struct sp_singular_bounds bounds =
            sp_singular_largest(matrix.numbers, matrix.rows, matrix.columns, divisor / (1 + c->tolerance), precision);
        size = !isfinite(bounds.high) ? UNKNOWN : divisor <= bounds.high * (1 + c->tolerance) ? WITHIN : BEYOND;
    }
    sp_free(matrix.numbers);
    return size;
}

/* Power iteration from v, whose results are at most the largest singular value: one step gives the divisor of the next
 * step of training. Only where they do not reach the divisor, the largest one is computed. */
static enum size compare_with_largest(struct computing *c, const struct vectors *vectors, double divisor)
{
    double before = 0, reached = 0;
    normalise(vectors->v, vectors->length);
    for (int i = 0; i < POWER_STEPS && reached >= before * (1 + c->tolerance / (double)POWER_STEPS); i++) {
        before = reached;
        if (!multiply(c, vectors)) return UNREADABLE;
        normalise(vectors->u, c->count);
        memset(vectors->v, 0, (size_t)vectors->length * sizeof(double));
        if (!visit_stored(c, add_products, &(struct products){.u = vectors->u, .into = vectors->v})) return UNREADABLE;
        reached = normalise(vectors->v, vectors->length);
        if (divisor <= reached * (1 + c->tolerance)) return WITHIN;
    }
    return compare_with_bounds(c, divisor);
}

static void set_factors(struct computing *c, double factor)
{
    for (uint64_t i = 0; i < c->count; i++) c->slices[i].factor = factor;
}

/* The number by which the stored part would have to be divided, if it is proportional to the other file's; else 0. */
static bool find_divisor(struct computing *c, double stored, double *divisor)
{
    struct slice all = {0};
    for (uint64_t i = 0; i < c->count; i++) {
        all.product += c->slices[i].product;
        all.full += c->slices[i].full;
        all.computed += c->slices[i].computed;
    }
    const double ratio = all.product > 0 ? all.computed / all.product : 0; /* computed numbers to those of the file */
    *divisor = 0;
    if (!(ratio > 0)) return true;
    set_factors(c, 1 / (stored * ratio));
    if (!compare_elements(c)) return false;
    if (!c->found.of.outside) *divisor = stored * ratio;
    return true;
}

/* The divisor u' w v that the stored vectors give if the rows are those of the slices. */
static bool find_stored(struct computing *c, const struct vectors *vectors, const double *u, const double *v,
                        double *stored)
{
    memcpy(vectors->v, v, (size_t)vectors->length * sizeof *v);
    *stored = 0;
    if (!multiply(c, vectors)) return false;
    for (uint64_t i = 0; i < c->count; i++) *stored += u[i] * vectors->u[i];
    return true;
}

/* What the vectors of a spectral norm say of a weight. */
struct spectral {
    const double *u, *v;
    uint64_t rows, columns; /* elements of u and of v */
    struct vectors vectors; /* room for others */
};

/* The rows are along a dimension of the length of u; of square matrices along any. All dimensions of size 1 give the
 * same matrix of one row: the first stands for them. */
static bool are_rows(const struct computing *c, const struct spectral *spectral, uint32_t dimension)
{
    for (uint32_t d = 0; d < dimension && spectral->rows == 1; d++)
        if (c->like->shape[d] == 1) return false;
    return c->like->shape[dimension] == spectral->rows && c->like->parameters / spectral->rows == spectral->columns;
}

/* Whether the divisor is at most the largest singular value along one of the dimensions, and at least what the vectors
 * give along it; every step of training moves it upwards. `most` is the largest that the vectors give along any: where
 * they give less than half of that, the rows are not along the dimension. */
static enum size judge_divisor(struct computing *c, const struct spectral *spectral, double most, double divisor)
{
    enum size size = BEYOND;
    double stored;
    for (uint32_t d = 0; d < c->like->rank && (size == BEYOND || size == UNKNOWN); d++) {
        if (!are_rows(c, spectral, d) || !set_slices(c, d)) continue;
        if (!find_stored(c, &spectral->vectors, spectral->u, spectral->v, &stored)) return UNREADABLE;
        if (fabs(stored) < most / 2 || divisor < stored * (1 - c->tolerance)) continue;
        const enum size along = compare_with_largest(c, &spectral->vectors, divisor);
        if (along != BEYOND) size = along;
    }
    return size;
}

/* Compares a weight that is not the stored part divided by what the stored vectors give along that dimension: a step of
 * training behind them may have given the divisor. */
static enum outcome compare_later_step(struct computing *c, const struct spectral *spectral, uint32_t dimension,
                                       double stored)
{
    double divisor;
    const struct differences found = c->found;
    if (!find_divisor(c, stored, &divisor)) return FAILED;
    c->found = found;
    if (!(divisor > 0)) {
        report(c, dimension);
        return COMPARED;
    }
    switch (judge_divisor(c, spectral, fabs(stored), divisor)) {
    case WITHIN:
        return COMPARED;
    case BEYOND:
        add_finding(c,
                    sp_arena_printf(&c->diff->arena, "differs from what its parts under %s give", c->pair->stored->how),
                    sp_arena_printf(&c->diff->arena, "it is %s divided by %s, where the stored vectors give %s",
                                    name_of_part(c, 0), sp_real_text(divisor, 4).text, sp_real_text(stored, 4).text));
        return COMPARED;
    case UNKNOWN:
        c->why =
            sp_arena_printf(&c->diff->arena,
                            "it is %s divided by %s, where the stored vectors give %s; the largest singular value, "
                            "which a later step may give, is not computed for a matrix of that size",
                            name_of_part(c, 0), sp_real_text(divisor, 4).text, sp_real_text(stored, 4).text);
        return NOT_COMPARED;
    default:
        return FAILED;
    }
}

/* The dimension along which the stored vectors give the weight is right; if there is none, differences are reported
 * along the one for which they give the largest divisor, as singular vectors do. */
static enum outcome compare_along_dimensions(struct computing *c, const struct spectral *spectral)
{
    const struct vectors *vectors = &spectral->vectors;
    double most = 0, stored;
    uint32_t best = c->like->rank; /* none */
    for (uint32_t d = 0; d < c->like->rank; d++) {
        if (!are_rows(c, spectral, d) || !set_slices(c, d)) continue;
        if (!find_stored(c, vectors, spectral->u, spectral->v, &stored)) return FAILED;
        set_factors(c, 1 / stored);
        if (!compare_elements(c)) return FAILED;
        if (!c->found.of.outside) return COMPARED;
        if (best < c->like->rank && !(fabs(stored) > most)) continue; /* NaN is no larger divisor */
        most = fabs(stored);
        best = d;
    }
    if (best == c->like->rank || !set_slices(c, best)) return NOT_COMPARED;
    if (!find_stored(c, vectors, spectral->u, spectral->v, &stored)) return FAILED;
    set_factors(c, 1 / stored);
    return compare_elements(c) ? compare_later_step(c, spectral, best, stored) : FAILED;
}

static enum outcome compare_spectral(struct computing *c)
{
    const struct sp_parametrised *stored = c->pair->stored;
    const struct shapeproof_tensor *u = shapeproof_inventory_tensor(c->pair->side->inventory, stored->parts[1]);
    const struct shapeproof_tensor *v = shapeproof_inventory_tensor(c->pair->side->inventory, stored->parts[2]);
    enum outcome outcome = NOT_COMPARED;
    c->tolerance = tolerance_of_sums(c, fmax(roundoff(u->dtype), roundoff(v->dtype)));
    double *rows = read_part(c, stored->parts[1], u->parameters);
    double *columns = rows ? read_part(c, stored->parts[2], v->parameters) : NULL;
    if (columns) {
        struct spectral spectral = {.u = rows, .v = columns, .rows = u->parameters, .columns = v->parameters};
        spectral.vectors.u = sp_realloc(NULL, (size_t)spectral.rows, sizeof(double));
        spectral.vectors.v = sp_realloc(NULL, (size_t)spectral.columns, sizeof(double));
        spectral.vectors.length = spectral.columns;
        outcome = compare_along_dimensions(c, &spectral);
        sp_free(spectral.vectors.u);
        sp_free(spectral.vectors.v);
    }
    sp_free(rows);
    sp_free(columns);
    return c->error->status == SHAPEPROOF_OK ? outcome : FAILED;
}

/* ---- all of them ---- */

static bool note_obstacle(struct computing *c, const struct shapeproof_data *data, const struct sp_diff_half *half,
                          size_t tensor)
{
    const char *why = sp_elements_obstacle(data, half->inventory, tensor);
    if (why)
        c->why = sp_arena_printf(&c->diff->arena, "%s in %s: %s",
                                 shapeproof_inventory_tensor(half->inventory, tensor)->name, sp_half_name(half), why);
    return why;
}

/* Whether a weight can be computed. If not, c->why says so, or another finding does, or no weight of that kind can. */
static bool can_be_compared(struct computing *c)
{
    const struct sp_diff_parametrised *pair = c->pair;
    if (!pair->stored->is_whole || !c->like->parameters || !sp_is_float(c->like->dtype) ||
        !sp_is_float(c->full->dtype) || !sp_tensor_same_shape(c->like, c->full))
        return false;
    if (pair->stored->kind == SP_PARAMETRISED_OTHERWISE || pair->stored->kind == SP_PARAMETRISED_IN_NAME) return false;
    if (note_obstacle(c, c->full_data, pair->full_side, pair->full)) return false;
    for (size_t i = 0; i < pair->stored->count; i++)
        if (note_obstacle(c, c->parts_data, pair->side, pair->stored->parts[i])) return false;
    return true;
}

static enum outcome compare_by_kind(struct computing *c)
{
    switch (c->pair->stored->kind) {
    case SP_PARAMETRISED_NORM:
        return compare_norm(c);
    case SP_PARAMETRISED_MASK:
        return compare_masked(c);
    case SP_PARAMETRISED_SPECTRAL:
        return compare_spectral(c);
    default:
        return NOT_COMPARED;
    }
}

static enum outcome compare_weight(struct computing *c)
{
    if (!can_be_compared(c)) return NOT_COMPARED;
    c->raw = sp_realloc(NULL, RUN, sizeof(double));
    c->narrow = sp_realloc(NULL, RUN, sizeof *c->narrow);
    c->own = sp_realloc(NULL, 3 * (size_t)RUN, sizeof *c->own);
    c->other = c->own + RUN;
    c->on = c->other + RUN;
    const enum outcome outcome = compare_by_kind(c);
    sp_free(c->raw);
    sp_free(c->narrow);
    sp_free(c->own);
    sp_free(c->slices);
    return outcome;
}

/* Compares a weight if it can be computed, and counts the tensors of A. */
static bool compare_one(struct computing *c, struct sp_parametrised_totals *totals)
{
    const bool full_is_a = c->pair->full_side == &c->diff->a;
    const struct sp_parametrised *stored = c->pair->stored;
    const size_t before = c->diff->finding_count, tensors = full_is_a ? 1 : stored->count;
    c->like = shapeproof_inventory_tensor(c->pair->side->inventory, stored->like);
    c->full = shapeproof_inventory_tensor(c->pair->full_side->inventory, c->pair->full);
    uint64_t bytes = full_is_a ? c->full->bytes : 0;
    for (size_t i = 0; i < stored->count && !full_is_a; i++)
        bytes += shapeproof_inventory_tensor(c->pair->side->inventory, stored->parts[i])->bytes;
    const enum outcome outcome = compare_weight(c);
    /* counted once, however often the weight was read */
    if (outcome == FAILED || !sp_data_goes_on(c->progress, bytes, c->error)) return false;
    c->pair->is_counted = outcome == COMPARED || c->why;
    if (outcome == NOT_COMPARED && c->why) {
        add_finding_of(c, SHAPEPROOF_DIFF_FINDING_NOT_COMPARED,
                       sp_arena_printf(&c->diff->arena, "data not compared: %s", c->why), NULL);
        totals->unread += tensors;
        totals->bytes_unread += bytes;
    }
    if (outcome == NOT_COMPARED) return true;
    totals->compared += tensors;
    totals->bytes += bytes;
    const bool is_same = c->diff->finding_count == before;
    totals->same += is_same;
    totals->different += !is_same;
    return true;
}

bool sp_parametrised_compare(struct shapeproof_diff *diff, const struct shapeproof_data *a,
                             const struct shapeproof_data *b, struct sp_data_progress *progress,
                             struct sp_parametrised_totals *totals, struct shapeproof_error *error)
{
    *totals = (struct sp_parametrised_totals){0};
    for (size_t i = 0; i < diff->parametrised.count; i++) {
        struct sp_diff_parametrised *pair = &diff->parametrised.items[i];
        const bool full_is_a = pair->full_side == &diff->a;
        struct computing computing = {.diff = diff,
                                      .pair = pair,
                                      .parts_data = full_is_a ? b : a,
                                      .full_data = full_is_a ? a : b,
                                      .progress = progress,
                                      .error = error,
                                      .mask = SHAPEPROOF_NONE};
        if (!compare_one(&computing, totals)) return false;
    }
    return true;
}
