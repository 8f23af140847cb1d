/* SPDX-License-Identifier: MIT
 * How parts lie in a whole, no shape tells: the rows of q, k and v one behind the other, or head by head; gate before
 * up, or the other way round, or row by row. An arrangement is an order of the components and a number of groups:
 *
 *     1 group     q q q q k k v v          rows of the whole
 *     2 groups    q q k v q q k v          the first half of each component, then the second half
 *
 * All arrangements of a whole are tried, and the one under which most parts have its data is its own. The wholes of one
 * kind, such as the gate_up_proj of each layer, are expected to have the arrangement of most of them; a part that is
 * not the same under it has other data. A whole of another size has as many groups, or groups as large: a layer with
 * fewer heads has fewer groups. */
#include "diff/parts.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "diff/elements.h"
#include "diff/stacks.h"
#include "model/layouts.h"

enum {
    COMPONENTS = 4,  /* of a whole whose arrangements are tried: 24 orders */
    GROUPS = 1 << 12 /* at most: heads, or rows of an expert */
};

struct arrangement {
    size_t order[COMPONENTS]; /* components, the first one first */
    uint64_t groups;
    bool transposed; /* the last two dimensions of the whole are exchanged */
};

/* A whole and its parts whose data can be compared. */
struct fusion {
    const struct sp_diff_joint *joint;
    size_t kind;   /* a number for the wholes of one kind */
    size_t depth;  /* how many parts a component has */
    uint32_t axis; /* the dimension of the parts along which the components are joined */
    struct sp_element_view whole;
    struct arrangement best;
    size_t matched;              /* parts, under `best` */
    bool *same, *best_same;      /* for each part, under the arrangement that was tried last, and under `best` */
    struct arrangement expected; /* that of its kind; no groups: its size does not allow it */
};

/* An arrangement that wholes of a kind have. */
struct candidate {
    const struct fusion *fusion; /* the first with it, or the last whose order is that of the names */
    size_t votes;                /* parts that are the same under it, of all wholes */
};

/* What is known of the wholes of one kind. */
struct kind {
    SP_ARRAY(struct candidate) candidates;
    struct arrangement expected;
    uint64_t group;           /* elements of a whole along the axis that a group of it has */
    size_t votes;             /* parts that are the same under it */
    bool trusted[COMPONENTS]; /* a part of this component is the same in some whole */
    uint32_t refuted; /* a bit for each order, as next_order counts them: fewer parts of some whole are the same under
                       * it than under `expected` */
};

struct comparing {
    struct shapeproof_diff *diff;
    struct sp_relations *relations;
    const struct shapeproof_data *a, *b;
    struct sp_data_progress *progress;
    struct sp_parts_totals *totals;
    struct shapeproof_error *error;
    SP_ARRAY(struct fusion) fusions;
    SP_ARRAY(struct kind) kinds;
    struct sp_map kind_names;
};

/* ---- views of parts ---- */

static struct sp_element_view view_of(const struct comparing *comparing, const struct sp_diff_half *half, size_t tensor)
{
    const bool is_a = half->side == SHAPEPROOF_DIFF_A;
    return (struct sp_element_view){.bytes = {is_a ? comparing->a : comparing->b, tensor},
                                    .tensor = shapeproof_inventory_tensor(half->inventory, tensor)};
}

static const struct shapeproof_tensor *part_of(const struct fusion *fusion, size_t component, size_t index)
{
    const struct sp_diff_joint *joint = fusion->joint;
    return shapeproof_inventory_tensor(joint->parts_side->inventory, joint->parts[component * fusion->depth + index]);
}

/* The elements of all components of one index along the axis. */
static uint64_t length_of(const struct fusion *fusion)
{
    uint64_t length = 0;
    for (size_t i = 0; i < fusion->joint->component_count; i++) length += part_of(fusion, i, 0)->shape[fusion->axis];
    return length;
}

/* Where the part begins along the axis within a group. */
static uint64_t offset_in_group(const struct fusion *fusion, const struct arrangement *arrangement, size_t component)
{
    uint64_t offset = 0;
    for (size_t i = 0; arrangement->order[i] != component; i++)
        offset += part_of(fusion, arrangement->order[i], 0)->shape[fusion->axis];
    return offset / arrangement->groups;
}

/* Adds the dimensions of the axis: groups, and rows within a group; with `heads` the rows of each head in the order for
 * rotary positions in the part. */
static bool add_axis(struct sp_view_pair *pair, const struct arrangement *arrangement, uint64_t length, uint64_t all,
                     uint64_t step_whole, uint64_t step_part, uint64_t heads)
{
    const uint64_t groups = arrangement->groups, own = length / groups, whole = all / groups;
    if (!heads) {
        if (groups > 1) sp_view_pair_add(pair, groups, whole * step_whole, own * step_part);
        sp_view_pair_add(pair, own, step_whole, step_part);
        return true;
    }
    if (heads % groups || length % heads || length / heads % 2) return false;
    const uint64_t head = length / heads;
    if (groups > 1) sp_view_pair_add(pair, groups, whole * step_whole, own * step_part);
    if (heads > groups) sp_view_pair_add(pair, heads / groups, head * step_whole, head * step_part);
    sp_view_pair_add_rotary(pair, SP_ROTARY_PAIRED, head, step_whole, step_part);
    return true;
}

/* Keys and values of latent attention, each head apart; the one of which the last dimension is not that of the whole is
 * transposed: (A*(N + V), R) is (A, R, N) and (A, V, R). */
static bool pair_heads(const struct fusion *fusion, const struct arrangement *arrangement, size_t component,
                       struct sp_view_pair *pair)
{
    const uint64_t *whole = fusion->whole.tensor->shape, *part = part_of(fusion, component, 0)->shape;
    const uint64_t heads = part[0], rank = whole[1], rows = whole[0] / heads;
    const bool transposed = arrangement->transposed == (component == fusion->joint->order[0]);
    const uint64_t own = transposed ? part[2] : part[1];
    if ((transposed ? part[1] : part[2]) != rank) return false;
    pair->a.start = arrangement->order[0] == component ? 0 : (rows - own) * rank;
    sp_view_pair_add(pair, heads, rows * rank, own * rank);
    sp_view_pair_add(pair, own, rank, transposed ? 1 : rank);
    sp_view_pair_add(pair, rank, 1, transposed ? own : 1);
    return true;
}

/* The pair of the elements of the whole that are a part's, and the part, under an arrangement. False when the shapes do
 * not allow it. */
static bool pair_part(const struct comparing *comparing, const struct fusion *fusion,
                      const struct arrangement *arrangement, size_t component, size_t index, uint64_t heads,
                      struct sp_view_pair *pair)
{
    const struct sp_diff_joint *joint = fusion->joint;
    const struct shapeproof_tensor *part = part_of(fusion, component, index);
    const uint32_t rank = part->rank;
    const uint64_t all = joint->component_count > 1 ? length_of(fusion) : 0;
    uint64_t size[SP_VIEW_RANK], step[SP_VIEW_RANK], own = 1, elements = 1;
    *pair = (struct sp_view_pair){
        .a = fusion->whole,
        .b = view_of(comparing, joint->parts_side, joint->parts[component * fusion->depth + index])};
    if (joint->by_heads) return pair_heads(fusion, arrangement, component, pair);
    if (rank + 3 > SP_VIEW_RANK || (arrangement->transposed && rank < 2)) return false;
    for (uint32_t i = 0; i < rank; i++) size[i] = all && i == fusion->axis ? all : part->shape[i];
    for (uint32_t i = rank; i-- > 0; elements *= size[i]) step[i] = elements;
    if (arrangement->transposed) {
        step[rank - 1] = size[rank - 2];
        step[rank - 2] = 1;
    }
    pair->a.start = index * elements;
    if (all) pair->a.start += offset_in_group(fusion, arrangement, component) * step[fusion->axis];
    uint64_t steps_own[SP_VIEW_RANK];
    for (uint32_t i = rank; i-- > 0; own *= part->shape[i]) steps_own[i] = own;
    for (uint32_t i = 0; i < rank; i++) {
        if (!all || i != fusion->axis) sp_view_pair_add(pair, part->shape[i], step[i], steps_own[i]);
        else if (!add_axis(pair, arrangement, part->shape[i], all, step[i], steps_own[i], heads)) return false;
    }
    if (!rank) sp_view_pair_add(pair, 1, 1, 1);
    return true;
}

/* The original first, as relations have it. */
static void put_original_first(const struct comparing *comparing, const struct fusion *fusion,
                               struct sp_view_pair *pair)
{
    const struct sp_element_view whole = pair->a;
    const bool whole_is_a = fusion->joint->whole_side->side == SHAPEPROOF_DIFF_A;
    if (whole_is_a != sp_relations_reversed(comparing->relations)) return;
    pair->a = pair->b;
    pair->b = whole;
}

/* ---- arrangements ---- */

/* Whether a part is what the whole has of it; queries and keys for llama.cpp may have the order for rotary positions.
 */
static bool compare_part(const struct comparing *comparing, const struct fusion *fusion,
                         const struct arrangement *arrangement, size_t component, size_t index, bool *same)
{
    enum sp_elements result = SP_ELEMENTS_DIFFERENT;
    struct sp_view_pair pair;
    const uint64_t heads =
        fusion->axis ? 0 : sp_relations_part_heads(comparing->relations, part_of(fusion, component, index)->name);
    *same = false;
    for (int rotary = 0; rotary < (heads ? 2 : 1) && !*same; rotary++) {
        if (!pair_part(comparing, fusion, arrangement, component, index, rotary ? heads : 0, &pair)) break;
        put_original_first(comparing, fusion, &pair);
        if (!sp_views_fit(&pair) || !sp_views_are_alike(&pair)) continue;
        if (!sp_views_compare(&pair, comparing->progress, &result, comparing->error)) return false;
        *same = result != SP_ELEMENTS_DIFFERENT;
    }
    return true;
}

/* How many parts are the same under an arrangement; fills in `same`. */
static bool try_arrangement(const struct comparing *comparing, struct fusion *fusion,
                            const struct arrangement *arrangement, size_t *matched)
{
    *matched = 0;
    for (size_t i = 0; i < fusion->joint->part_count; i++) {
        if (!compare_part(comparing, fusion, arrangement, i / fusion->depth, i % fusion->depth, &fusion->same[i]))
            return false;
        *matched += fusion->same[i];
    }
    return true;
}

/* Tries an arrangement, and keeps it if more parts are the same under it than under those before. */
static bool keep_better(const struct comparing *comparing, struct fusion *fusion, const struct arrangement *arrangement)
{
    size_t matched;
    if (fusion->matched == fusion->joint->part_count) return true;
    if (!try_arrangement(comparing, fusion, arrangement, &matched)) return false;
    if (matched <= fusion->matched) return true;
    fusion->matched = matched;
    fusion->best = *arrangement;
    memcpy(fusion->best_same, fusion->same, fusion->joint->part_count * sizeof *fusion->same);
    return true;
}

/* Whether all components can be divided into as many groups. */
static bool divides(const struct fusion *fusion, uint64_t groups)
{
    for (size_t i = 0; i < fusion->joint->component_count; i++)
        if (part_of(fusion, i, 0)->shape[fusion->axis] % groups) return false;
    return true;
}

static bool same_order(const struct arrangement *one, const struct arrangement *other, size_t components)
{
    return one->transposed == other->transposed &&
           memcmp(one->order, other->order, components * sizeof *one->order) == 0;
}

static bool same_arrangement(const struct arrangement *one, const struct arrangement *other, size_t components)
{
    return one->groups == other->groups && same_order(one, other, components);
}

/* How many elements along the axis a group of a whole has. */
static uint64_t group_of(const struct fusion *fusion, const struct arrangement *arrangement)
{
    return arrangement->groups > 1 ? length_of(fusion) / arrangement->groups : 0; /* one group is of any size */
}

static void expect_arrangement(struct kind *kind, const struct fusion *fusion, size_t votes)
{
    kind->votes = votes;
    kind->expected = fusion->best;
    kind->group = group_of(fusion, &fusion->best);
}

/* Whether the arrangement that was found for a whole is that of its kind. */
static bool is_as_expected(const struct fusion *fusion, const struct kind *kind)
{
    return fusion->matched && same_order(&fusion->best, &kind->expected, fusion->joint->component_count) &&
           (fusion->best.groups == kind->expected.groups ||
            (kind->group && group_of(fusion, &fusion->best) == kind->group));
}

/* Finds the arrangement of the kind in a whole that may be of another size. False when there is none. */
static bool expected_in(const struct fusion *fusion, const struct kind *kind, struct arrangement *arrangement)
{
    *arrangement = kind->expected;
    if (arrangement->groups <= 1 || divides(fusion, arrangement->groups)) return true;
    arrangement->groups = length_of(fusion) / kind->group;
    return arrangement->groups && length_of(fusion) % kind->group == 0 && divides(fusion, arrangement->groups);
}

/* Tries an order of the components with each number of groups, and the whole transposed if its shape allows both. */
static bool try_order(const struct comparing *comparing, struct fusion *fusion, struct arrangement *arrangement)
{
    const struct sp_diff_joint *joint = fusion->joint;
    const struct shapeproof_tensor *whole = fusion->whole.tensor;
    const bool several = joint->component_count > 1 && !joint->by_heads;
    const bool square = whole->rank >= 2 && whole->shape[whole->rank - 1] == whole->shape[whole->rank - 2] &&
                        part_of(fusion, 0, 0)->rank >= 2;
    const uint64_t most = several ? part_of(fusion, 0, 0)->shape[fusion->axis] : 1;
    for (uint64_t groups = 1; groups <= most && groups <= GROUPS; groups++) {
        if (several && !divides(fusion, groups)) continue;
        for (int turned = 0; turned < (square || joint->by_heads ? 2 : 1); turned++) {
            arrangement->groups = groups;
            arrangement->transposed = joint->transposed != turned;
            if (!keep_better(comparing, fusion, arrangement)) return false;
        }
    }
    return true;
}

static void exchange(size_t *one, size_t *other)
{
    const size_t kept = *one;
    *one = *other;
    *other = kept;
}

/* The next order of numbers in lexicographic order (Narayana's algorithm); false behind the last one. */
static bool next_order(size_t *order, size_t count)
{
    size_t first = count - 1; /* of the numbers at the end that descend */
    while (first && order[first - 1] >= order[first]) first--;
    if (!first) return false;
    size_t greater = count - 1;
    while (order[greater] <= order[first - 1]) greater--;
    exchange(&order[first - 1], &order[greater]);
    for (size_t last = count - 1; first < last; first++, last--) exchange(&order[first], &order[last]);
    return true;
}

/* Finds the arrangement of a whole: that of its kind first, then the order of its name, then all others. */
static bool find_arrangement(struct comparing *comparing, struct fusion *fusion)
{
    const size_t count = fusion->joint->component_count;
    const struct kind *kind = &comparing->kinds.items[fusion->kind];
    struct arrangement arrangement = {.groups = 1};
    size_t places[COMPONENTS] = {0, 1, 2, 3};
    if (kind->votes && expected_in(fusion, kind, &arrangement) && !keep_better(comparing, fusion, &arrangement))
        return false;
    do {
        for (size_t i = 0; i < count; i++) arrangement.order[i] = fusion->joint->order[places[i]];
        if (!try_order(comparing, fusion, &arrangement)) return false;
    } while (fusion->matched < fusion->joint->part_count && next_order(places, count));
    return true;
}

/* ---- wholes of one kind ---- */

static bool is_in_order(const struct fusion *fusion)
{
    return memcmp(fusion->best.order, fusion->joint->order,
                  fusion->joint->component_count * sizeof *fusion->best.order) == 0;
}

/* The number of the kind of a whole: what it is made of, without the number of the layer, and its rank. The text does
 * not tell how many components there are, for " + " can be in a name. */
static size_t kind_of(struct comparing *comparing, const struct sp_diff_joint *joint, uint32_t rank)
{
    struct sp_arena *arena = &comparing->diff->arena;
    const char *says = joint->says + strspn(joint->says, "0123456789.");
    const char *name =
        sp_arena_printf(arena, "%u %zu %d %s", rank, joint->component_count, (int)joint->whole_side->side, says);
    const size_t found = sp_map_get(&comparing->kind_names, name);
    if (found != SIZE_MAX) return found;
    *SP_PUSH(&comparing->kinds) = (struct kind){0};
    sp_map_add(&comparing->kind_names, name, comparing->kinds.count - 1);
    return comparing->kinds.count - 1;
}

/* Counts for a whole the parts that are the same under its arrangement. */
static void count_votes(struct kind *kind, const struct fusion *fusion)
{
    enum { MOST = 64 }; /* arrangements of one kind: a model has one or two */
    size_t i = 0;
    while (i < kind->candidates.count &&
           !same_arrangement(&kind->candidates.items[i].fusion->best, &fusion->best, fusion->joint->component_count))
        i++;
    if (i == MOST) return;
    if (i == kind->candidates.count) *SP_PUSH(&kind->candidates) = (struct candidate){fusion, 0};
    else if (is_in_order(fusion)) kind->candidates.items[i].fusion = fusion;
    kind->candidates.items[i].votes += fusion->matched;
}

/* Finds for each kind the arrangement that most parts have; of two that as many have, that of the names. */
static void vote(struct comparing *comparing)
{
    for (size_t i = 0; i < comparing->kinds.count; i++) comparing->kinds.items[i].votes = 0;
    for (size_t i = 0; i < comparing->fusions.count; i++) {
        const struct fusion *fusion = &comparing->fusions.items[i];
        if (fusion->matched) count_votes(&comparing->kinds.items[fusion->kind], fusion);
    }
    for (size_t i = 0; i < comparing->kinds.count; i++) {
        struct kind *kind = &comparing->kinds.items[i];
        for (size_t k = 0; k < kind->candidates.count; k++) {
            const struct candidate *candidate = &kind->candidates.items[k];
            if (candidate->votes > kind->votes || (candidate->votes == kind->votes && is_in_order(candidate->fusion)))
                expect_arrangement(kind, candidate->fusion, candidate->votes);
        }
    }
}

/* ---- one whole ---- */

static bool is_readable(const struct comparing *comparing, const struct sp_diff_half *half, size_t tensor)
{
    const struct sp_element_view view = view_of(comparing, half, tensor);
    return !shapeproof_data_obstacle(view.bytes.data, tensor) && sp_is_row_major(view.tensor) &&
           !(view.tensor->flags & (SHAPEPROOF_TENSOR_BIG_ENDIAN | SHAPEPROOF_TENSOR_NO_SHAPE)) &&
           view.tensor->parameters;
}

/* Whether the whole has the shape of all components joined along the axis, as it is or with the last two dimensions
 * exchanged, and with as many of them as a component has parts. */
static bool is_axis(const struct fusion *fusion, uint32_t axis)
{
    const struct shapeproof_tensor *first = part_of(fusion, 0, 0), *whole = fusion->whole.tensor;
    const uint32_t rank = first->rank;
    uint64_t shape[SP_VIEW_RANK];
    if (rank > SP_VIEW_RANK || whole->rank < rank || whole->rank > rank + 1) return false;
    for (size_t i = 1; i < fusion->joint->component_count; i++)
        for (uint32_t d = 0; d < rank; d++)
            if (d != axis && part_of(fusion, i, 0)->shape[d] != first->shape[d]) return false;
    for (uint32_t d = 0; d < rank; d++) shape[d] = first->shape[d];
    shape[axis] = 0;
    for (size_t i = 0; i < fusion->joint->component_count; i++) shape[axis] += part_of(fusion, i, 0)->shape[axis];
    if (whole->rank == rank) shape[0] *= fusion->depth;
    const uint64_t *tail = whole->shape + (whole->rank - rank);
    if (memcmp(shape, tail, rank * sizeof *shape) == 0) return true;
    return rank >= 2 && memcmp(shape, tail, (rank - 2) * sizeof *shape) == 0 && shape[rank - 2] == tail[rank - 1] &&
           shape[rank - 1] == tail[rank - 2];
}

/* Finds the dimension along which the components are joined; false when none has the sizes of the whole. */
static bool find_axis(struct fusion *fusion)
{
    const uint32_t rank = part_of(fusion, 0, 0)->rank, axes = fusion->joint->component_count > 1 ? rank : 1;
    if (fusion->joint->by_heads || !rank) return true;
    for (fusion->axis = 0; fusion->axis < axes; fusion->axis++)
        if (is_axis(fusion, fusion->axis)) return true;
    return false;
}

/* Whether the data of a whole and its parts can be compared; fills in the fusion. */
static bool open_fusion(struct comparing *comparing, const struct sp_diff_joint *joint, struct fusion *fusion)
{
    uint64_t elements = 0;
    *fusion = (struct fusion){.joint = joint, .depth = joint->part_count / joint->component_count};
    if (joint->component_count > COMPONENTS || joint->part_count % joint->component_count) return false;
    if (!is_readable(comparing, joint->whole_side, joint->whole)) return false;
    fusion->whole = view_of(comparing, joint->whole_side, joint->whole);
    for (size_t i = 0; i < joint->part_count; i++) {
        const struct shapeproof_tensor *part =
            shapeproof_inventory_tensor(joint->parts_side->inventory, joint->parts[i]);
        if (!is_readable(comparing, joint->parts_side, joint->parts[i]) ||
            !sp_elements_are_comparable(part, fusion->whole.tensor) ||
            !sp_tensor_same_shape(part, part_of(fusion, i / fusion->depth, 0)))
            return false;
        elements += part->parameters; /* of ranges in files: no overflow */
    }
    if (elements != fusion->whole.tensor->parameters || !find_axis(fusion)) return false;
    fusion->kind = kind_of(comparing, joint, fusion->whole.tensor->rank);
    fusion->same = sp_arena_array(&comparing->diff->arena, joint->part_count, sizeof *fusion->same);
    fusion->best_same = sp_arena_array(&comparing->diff->arena, joint->part_count, sizeof *fusion->same);
    return true;
}

/* Adds a finding about a part: that it has other data, or is not compared. Returns its number. */
static size_t add_part_finding(struct comparing *comparing, const struct fusion *fusion, size_t part,
                               enum shapeproof_diff_finding_kind kind, const char *message)
{
    const struct sp_diff_joint *joint = fusion->joint;
    const bool whole_is_a = joint->whole_side->side == SHAPEPROOF_DIFF_A;
    sp_diff_add(comparing->diff,
                (struct shapeproof_diff_finding){
                    .kind = kind,
                    .name = shapeproof_inventory_tensor(joint->parts_side->inventory, joint->parts[part])->name,
                    .message = message,
                    .a = whole_is_a ? joint->whole : joint->parts[part],
                    .b = whole_is_a ? joint->parts[part] : joint->whole});
    return comparing->diff->finding_count - 1;
}

/* Whether it is certain that a part which is not the same has other data: its component is the same in another whole,
 * or nothing but the index says where it belongs. */
static bool is_certain(const struct comparing *comparing, const struct fusion *fusion, size_t component)
{
    const struct kind *kind = &comparing->kinds.items[fusion->kind];
    return fusion->joint->component_count == 1 || kind->trusted[component];
}

/* Counts what was compared of a whole and its parts: of A the parts, or the whole once. */
static void count_fusion(struct sp_parts_totals *totals, const struct fusion *fusion, const struct sp_parts_totals *own)
{
    const bool whole_is_a = fusion->joint->whole_side->side == SHAPEPROOF_DIFF_A;
    totals->compared += whole_is_a ? own->compared > 0 : own->compared;
    totals->different += whole_is_a ? own->different > 0 : own->different;
    totals->unread += whole_is_a ? own->unread > 0 : own->unread;
    totals->bytes += own->bytes;
    totals->bytes_left += own->bytes_left;
}

/* Reports and counts the parts of a whole, as find_trusted left it. */
static void judge_fusion(struct comparing *comparing, const struct fusion *fusion)
{
    const struct sp_diff_joint *joint = fusion->joint;
    const struct kind *kind = &comparing->kinds.items[fusion->kind];
    const bool whole_is_a = joint->whole_side->side == SHAPEPROOF_DIFF_A;
    const bool arranged = fusion->expected.groups;
    struct sp_parts_totals own = {0};
    for (size_t i = 0; i < joint->part_count; i++) {
        const size_t component = i / fusion->depth;
        const struct shapeproof_tensor *part = part_of(fusion, component, i % fusion->depth);
        const unsigned bits = shapeproof_dtype_bits(whole_is_a ? fusion->whole.tensor->dtype : part->dtype);
        const uint64_t bytes = part->parameters * bits / 8; /* at most those of the tensor of A */
        struct sp_view_pair pair = {0};
        const bool same = arranged && kind->votes && fusion->same[i];
        if (!arranged || !pair_part(comparing, fusion, &fusion->expected, component, i % fusion->depth, 0, &pair))
            pair.rank = 0;
        else put_original_first(comparing, fusion, &pair);
        const bool is_placed = arranged && is_certain(comparing, fusion, component);
        if (!same && (!is_placed || !pair.rank || !sp_views_fit(&pair))) {
            add_part_finding(comparing, fusion, i, SHAPEPROOF_DIFF_FINDING_NOT_COMPARED,
                             is_placed ? "data not compared: its elements have another order in the fused tensor"
                                       : "data not compared: its place in the fused tensor is not known");
            own.unread++;
            own.bytes_left += bytes;
            continue;
        }
        own.compared++;
        own.bytes += bytes;
        own.different += !same;
        sp_relations_add_part(
            comparing->relations, &pair, part->name, whole_is_a ? joint->whole : joint->parts[i],
            same ? SHAPEPROOF_NONE
                 : add_part_finding(comparing, fusion, i, SHAPEPROOF_DIFF_FINDING_DATA, SP_OTHER_DATA));
    }
    count_fusion(comparing->totals, fusion, &own);
}

/* ---- all of them ---- */

/* Tries the orders of the components that no whole of the kind has refuted, and refutes those under which fewer parts
 * of this whole are the same than under the expected one. Under equal data, such as zeros, no order is refuted. */
static bool refute_orders(const struct comparing *comparing, struct fusion *fusion)
{
    struct kind *kind = &comparing->kinds.items[fusion->kind];
    const size_t count = fusion->joint->component_count;
    struct arrangement arrangement;
    size_t places[COMPONENTS] = {0, 1, 2, 3}, expected = fusion->matched, matched;
    if (!kind->votes || count < 2 || !expected_in(fusion, kind, &arrangement)) return true;
    if (!is_as_expected(fusion, kind) && !try_arrangement(comparing, fusion, &arrangement, &expected)) return false;
    uint32_t order = 1;
    do {
        memcpy(arrangement.order, places, count * sizeof *places);
        if (kind->refuted & order || same_order(&arrangement, &kind->expected, count)) continue;
        if (!try_arrangement(comparing, fusion, &arrangement, &matched)) return false;
        if (matched < expected) kind->refuted |= order;
    } while (order <<= 1, next_order(places, count));
    return true;
}

/* Whether the data show how the components of a whole lie: every order but the expected one is refuted. */
static bool is_layout_known(const struct comparing *comparing, const struct fusion *fusion)
{
    const struct kind *kind = &comparing->kinds.items[fusion->kind];
    size_t places[COMPONENTS] = {0, 1, 2, 3}, refuted = 0, orders = 0;
    if (!kind->votes || !fusion->expected.groups) return false;
    do refuted += kind->refuted >> orders++ & 1;
    while (next_order(places, fusion->joint->component_count));
    return refuted + 1 == orders;
}

/* Reports how the components of a whole lie, as far as the data show it. */
static void show_layout(const struct comparing *comparing, const struct fusion *fusion)
{
    const struct arrangement *found = &fusion->expected;
    const struct sp_joint_layout layout = {found->order, found->groups, found->transposed};
    struct sp_diff_joint *joint = &comparing->diff->joints.items[fusion->joint - comparing->diff->joints.items];
    sp_diff_show_layout(comparing->diff, joint, is_layout_known(comparing, fusion) ? &layout : NULL);
}

/* Finds the arrangement that is expected of a whole, fills in `same` under it, and notes which components are the same
 * in some whole. */
static bool find_trusted(struct comparing *comparing, struct fusion *fusion)
{
    const struct sp_diff_joint *joint = fusion->joint;
    struct kind *kind = &comparing->kinds.items[fusion->kind];
    size_t matched;
    if (!kind->votes) {
        fusion->expected = (struct arrangement){.groups = 1, .transposed = joint->transposed};
        memcpy(fusion->expected.order, joint->order, joint->component_count * sizeof *joint->order);
        return true;
    }
    if (is_as_expected(fusion, kind)) {
        fusion->expected = fusion->best;
        memcpy(fusion->same, fusion->best_same, joint->part_count * sizeof *fusion->same);
    } else if (!expected_in(fusion, kind, &fusion->expected)) {
        fusion->expected.groups = 0;
        return true;
    } else if (!try_arrangement(comparing, fusion, &fusion->expected, &matched)) return false;
    for (size_t i = 0; i < fusion->joint->part_count; i++) kind->trusted[i / fusion->depth] |= fusion->same[i];
    return true;
}

/* The bytes of the tensors of A of a whole and its parts. */
static uint64_t bytes_of_joint(const struct shapeproof_diff *diff, const struct sp_diff_joint *joint)
{
    uint64_t bytes = 0;
    if (joint->whole_side->side == SHAPEPROOF_DIFF_A) return sp_diff_a(diff, joint->whole)->bytes;
    for (size_t i = 0; i < joint->part_count; i++) bytes += sp_diff_a(diff, joint->parts[i])->bytes;
    return bytes;
}

/* Counts the bytes of a whole whose arrangement was found, for the progress. */
static bool count_bytes(const struct comparing *comparing, const struct sp_diff_joint *joint)
{
    return sp_data_goes_on(comparing->progress, bytes_of_joint(comparing->diff, joint), comparing->error);
}

static bool compare_fusions(struct comparing *comparing)
{
    for (size_t i = 0; i < comparing->fusions.count; i++) {
        struct fusion *fusion = &comparing->fusions.items[i];
        struct kind *kind = &comparing->kinds.items[fusion->kind];
        if (!find_arrangement(comparing, fusion) || !count_bytes(comparing, fusion->joint)) return false;
        if (fusion->matched < fusion->joint->part_count) continue;
        expect_arrangement(kind, fusion, fusion->matched); /* which is tried first in the next one */
    }
    vote(comparing);
    for (size_t i = 0; i < comparing->fusions.count; i++)
        if (!refute_orders(comparing, &comparing->fusions.items[i])) return false;
    for (size_t i = 0; i < comparing->fusions.count; i++)
        if (!find_trusted(comparing, &comparing->fusions.items[i])) return false;
    for (size_t i = 0; i < comparing->fusions.count; i++) {
        show_layout(comparing, &comparing->fusions.items[i]);
        judge_fusion(comparing, &comparing->fusions.items[i]);
    }
    return true;
}

/* Counts the tensors of A of a whole and its parts that cannot be compared. */
static void count_left(const struct comparing *comparing, const struct sp_diff_joint *joint)
{
    comparing->totals->left += joint->whole_side->side == SHAPEPROOF_DIFF_A ? 1 : joint->part_count;
    comparing->totals->bytes_left += bytes_of_joint(comparing->diff, joint);
}

/* Whether a joint is a quantised stack whose bytes can be read, and again. */
static bool is_readable_stack(const struct comparing *comparing, const struct sp_diff_joint *joint)
{
    if (!sp_is_quantised_stack(joint) || !is_readable(comparing, joint->whole_side, joint->whole)) return false;
    for (size_t i = 0; i < joint->part_count; i++) {
        const struct sp_element_view view = view_of(comparing, joint->parts_side, joint->parts[i]);
        if (!is_readable(comparing, joint->parts_side, joint->parts[i]) ||
            shapeproof_data_in_order(view.bytes.data, view.bytes.tensor))
            return false;
    }
    return true;
}

bool sp_parts_compare(struct shapeproof_diff *diff, struct sp_relations *relations, const struct shapeproof_data *a,
                      const struct shapeproof_data *b, struct sp_data_progress *progress,
                      struct sp_parts_totals *totals, struct shapeproof_error *error)
{
    struct comparing comparing = {
        .diff = diff, .relations = relations, .a = a, .b = b, .progress = progress, .totals = totals, .error = error};
    *totals = (struct sp_parts_totals){0};
    progress->element = 0; /* parts are compared several times: the bytes of a whole are counted together */
    bool ok = true;
    for (size_t i = 0; i < diff->joints.count && ok; i++) {
        const struct sp_diff_joint *joint = &diff->joints.items[i];
        struct fusion fusion;
        if (is_readable_stack(&comparing, joint))
            ok = sp_quantised_stack_compare(diff, joint, a, b, progress, totals, error) &&
                 sp_data_goes_on(progress, bytes_of_joint(diff, joint), error);
        else if (open_fusion(&comparing, joint, &fusion)) *SP_PUSH(&comparing.fusions) = fusion;
        else count_left(&comparing, joint);
    }
    ok = ok && compare_fusions(&comparing);
    sp_free(comparing.fusions.items);
    for (size_t i = 0; i < comparing.kinds.count; i++) sp_free(comparing.kinds.items[i].candidates.items);
    sp_free(comparing.kinds.items);
    sp_map_free(&comparing.kind_names);
    return ok;
}
