/* SPDX-License-Identifier: MIT
 * A nest is where the parts of one whole would be: the names' components above the one that differs, and what is behind
 * it, "layers.0.self_attn" and "weight". Of each nest the parts form columns, one for each component, "q_proj"; a
 * column has one tensor, or one for each value of the index that was left out. */
#include "names/joints.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/order.h"
#include "names/components.h"
#include "names/patterns.h"

enum { MAX_COLUMNS = 8, MAX_RANK = 8, MAX_TRIES = 200000 };

struct sp_joint_part {
    size_t nest, component, order;
    enum sp_joining joining;
    uint64_t index; /* the one that was left out of its name */
    struct sp_joint_piece piece;
};

struct sp_joint_whole {
    size_t nest, component;
    const char *container; /* the last component above, "self_attn" */
    struct sp_joint_piece piece;
};

/* ---- names ---- */

/* What a name says: container, component and leaf; "in_proj_weight" is the component "in_proj" and the leaf "weight".
 */
struct place {
    const char *container, *component, *leaf;
    size_t container_length, component_length;
};

static bool ends_with_tail(const char *text, size_t length, const char *tail)
{
    const size_t tail_length = strlen(tail);
    return length > tail_length && memcmp(text + length - tail_length, tail, tail_length) == 0;
}

/* Takes a name apart; a name without "weight" or "bias" has the leaf "weight". */
static struct place place_of_joint(const char *name)
{
    size_t length = strlen(name), begin = sp_last_component(name, length, ".");
    struct place place = {.container = name, .leaf = "weight"};
    if (strcmp(name + begin, "weight") == 0 || strcmp(name + begin, "bias") == 0) {
        place.leaf = name + begin;
        length = begin ? begin - 1 : 0;
        begin = sp_last_component(name, length, ".");
    } else if (ends_with_tail(name + begin, length - begin, "_weight")) length -= strlen("_weight");
    else if (ends_with_tail(name + begin, length - begin, "_bias")) {
        place.leaf = "bias";
        length -= strlen("_bias");
    }
    place.component = name + begin;
    place.component_length = length - begin;
    place.container_length = begin ? begin - 1 : 0;
    return place;
}

/* The number of the nest of that place; SIZE_MAX when the first side has not opened it. */
static size_t nest_of(struct sp_joints *joints, const struct place *place, enum sp_joint_side side)
{
    struct sp_text *key = &joints->key;
    key->length = 0;
    sp_text_append(key, place->container, place->container_length);
    sp_text_printf(key, "\n%s", place->leaf);
    size_t nest = sp_map_get(&joints->nests, key->data);
    if (nest != SIZE_MAX || side == SP_JOINT_OTHER_SIDE) return nest;
    nest = joints->nests.count;
    sp_map_add(&joints->nests, sp_arena_copy(&joints->arena, key->data, key->length), nest);
    return nest;
}

static size_t component_of(struct sp_joints *joints, const struct place *place)
{
    struct sp_text *key = &joints->key;
    key->length = 0;
    sp_text_append(key, place->component, place->component_length);
    size_t component = sp_map_get(&joints->components, key->data);
    if (component != SIZE_MAX) return component;
    const char *name = *SP_PUSH(&joints->component_names) = sp_arena_copy(&joints->arena, key->data, key->length);
    component = joints->components.count;
    sp_map_add(&joints->components, name, component);
    return component;
}

void sp_joints_add_whole(struct sp_joints *joints, const char *name, struct sp_joint_piece piece,
                         enum sp_joint_side side)
{
    const struct place place = place_of_joint(name);
    const size_t nest = nest_of(joints, &place, side), above = sp_last_component(name, place.container_length, ".");
    if (nest == SIZE_MAX || piece.rank > MAX_RANK) return;
    *SP_PUSH(&joints->wholes) = (struct sp_joint_whole){
        .nest = nest,
        .component = component_of(joints, &place),
        .container = sp_arena_copy(&joints->arena, name + above, place.container_length - above),
        .piece = piece};
}

/* Adds a part under a name; `index` is the one that was left out of it. */
static void add_part(struct sp_joints *joints, const char *name, struct sp_joint_piece piece, enum sp_joint_side side,
                     enum sp_joining joining, uint64_t index)
{
    const struct place place = place_of_joint(name);
    const size_t nest = nest_of(joints, &place, side);
    if (nest == SIZE_MAX || piece.rank >= MAX_RANK) return;
    const struct sp_joint_part part = {.nest = nest,
                                       .component = component_of(joints, &place),
                                       .order = joints->parts.count,
                                       .joining = joining,
                                       .index = index,
                                       .piece = piece};
    *SP_PUSH(&joints->parts) = part;
}

/* Adds it without the index of `digits` digits at `place`, which has a component behind it. */
static void add_without(struct sp_joints *joints, const char *name, struct sp_joint_piece piece,
                        enum sp_joint_side side, enum sp_joining joining, size_t place)
{
    uint64_t index;
    const size_t digits = sp_index_at(name, place, &index);
    joints->scratch.length = 0;
    sp_text_append(&joints->scratch, name, place);
    sp_text_puts(&joints->scratch, name + place + digits + 1);
    add_part(joints, joints->scratch.data, piece, side, joining, index);
}

void sp_joints_add_part(struct sp_joints *joints, const char *name, struct sp_joint_piece piece,
                        enum sp_joint_side side)
{
    size_t first = SIZE_MAX, last = SIZE_MAX;
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");) {
        uint64_t index;
        const size_t place = (size_t)(part.text - name);
        if (!part.length || !*part.rest || sp_index_at(name, place, &index) != part.length) continue;
        if (first == SIZE_MAX) first = place;
        last = place;
    }
    add_part(joints, name, piece, side, SP_SIDE_BY_SIDE, 0);
    if (last != SIZE_MAX) add_without(joints, name, piece, side, SP_OVER_LAST, last);
    if (first != last) add_without(joints, name, piece, side, SP_OVER_FIRST, first);
}

/* ---- columns ---- */

struct column {
    struct sp_joint_part *parts; /* one when they are joined side by side, else one for each index */
    size_t count;
    bool taken;
};

/* The columns of one nest and one way to join. A choice of columns is a set of bits, `chosen`: bit i is columns[i]. */
struct table {
    struct sp_joints *joints;
    enum sp_joining joining;
    struct column columns[MAX_COLUMNS];
    size_t count;
};

static int compare_joint_parts(const void *left, const void *right)
{
    const struct sp_joint_part *a = left, *b = right;
    if (a->nest != b->nest) return sp_order(a->nest, b->nest);
    if (a->joining != b->joining) return sp_order(a->joining, b->joining);
    if (a->component != b->component) return sp_order(a->component, b->component);
    if (a->index != b->index) return sp_order(a->index, b->index);
    return sp_order(a->order, b->order);
}

static int compare_wholes(const void *left, const void *right)
{
    const struct sp_joint_whole *a = left, *b = right;
    if (a->nest != b->nest) return sp_order(a->nest, b->nest);
    return sp_order(a->piece.item, b->piece.item);
}

static int compare_columns(const void *left, const void *right)
{
    const struct column *a = left, *b = right;
    return sp_order(a->parts->order, b->parts->order);
}

/* One tensor for each index from 0 up, all of one shape, none of them in use. */
static bool is_regular(const struct table *table, const struct column *column)
{
    for (size_t i = 0; i < column->count; i++) {
        const struct sp_joint_part *part = &column->parts[i];
        const struct sp_joint_piece *piece = &part->piece, *first = &column->parts->piece;
        if (table->joints->taken[piece->item]) return false;
        if (!sp_same_dims(piece->shape, piece->rank, first->shape, first->rank)) return false;
        if (part->index != (table->joining == SP_SIDE_BY_SIDE ? 0 : i)) return false;
    }
    return table->joining != SP_SIDE_BY_SIDE || column->count == 1;
}

/* The regular columns of sorted parts [from, to); too many of them are none. */
static void make_table(struct table *table, size_t from, size_t to)
{
    struct sp_joint_part *parts = table->joints->parts.items;
    table->count = 0;
    table->joining = parts[from].joining;
    for (size_t end; from < to; from = end) {
        for (end = from; end < to && parts[end].component == parts[from].component;) end++;
        const struct column column = {.parts = parts + from, .count = end - from};
        if (!is_regular(table, &column)) continue;
        if (table->count == MAX_COLUMNS) {
            table->count = 0;
            return;
        }
        table->columns[table->count++] = column;
    }
    if (table->count) qsort(table->columns, table->count, sizeof *table->columns, compare_columns);
}

/* ---- shapes ---- */

/* The shape of the chosen columns put together along one dimension, of one tensor each: (8, 8), (4, 8) and (4, 8) are
 * (16, 8) along dimension 0. False when another dimension differs. */
static bool put_parts_together(const struct table *table, unsigned chosen, uint32_t axis, uint64_t *shape)
{
    const struct sp_joint_piece *first = NULL;
    for (size_t i = 0; i < table->count; i++) {
        if (!(chosen >> i & 1)) continue;
        const struct column *column = &table->columns[i];
        const struct sp_joint_piece *piece = &column->parts->piece;
        if (!first) {
            first = piece;
            for (uint32_t d = 0; d < piece->rank; d++) shape[d] = piece->shape[d];
            continue;
        }
        if (piece->rank != first->rank) return false;
        for (uint32_t d = 0; d < piece->rank; d++)
            if (d != axis && piece->shape[d] != shape[d]) return false;
        if (piece->shape[axis] > UINT64_MAX - shape[axis]) return false;
        shape[axis] += piece->shape[axis];
    }
    return true;
}

/* Whether a shape is `of`, or `of` with its last two dimensions exchanged. */
static bool is_shape(const uint64_t *shape, const uint64_t *of, uint32_t rank, bool transposed)
{
    if (!transposed) return sp_same_dims(shape, rank, of, rank);
    return rank >= 2 && sp_same_dims(shape, rank - 2, of, rank - 2) && shape[rank - 2] == of[rank - 1] &&
           shape[rank - 1] == of[rank - 2];
}

/* Keys and values of latent attention, of each head apart and the keys transposed: (A*(N + V), R) is (A, R, N) and
 * (A, V, R). */
static bool are_heads_of(const struct sp_joint_piece *whole, const struct sp_joint_piece *k,
                         const struct sp_joint_piece *v)
{
    if (whole->rank != 2 || k->rank != 3 || v->rank != 3 || k->shape[0] != v->shape[0]) return false;
    if (k->shape[1] != whole->shape[1] || v->shape[2] != whole->shape[1] || !k->shape[0]) return false;
    return whole->shape[0] % k->shape[0] == 0 && k->shape[2] < whole->shape[0] / k->shape[0] &&
           v->shape[1] == whole->shape[0] / k->shape[0] - k->shape[2];
}

/* Whether the chosen columns are two that the whole has head by head. */
static bool fits_heads(const struct table *table, unsigned chosen, const struct sp_joint_piece *whole)
{
    const struct sp_joint_piece *pieces[2];
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (!(chosen >> i & 1)) continue;
        if (count == 2) return false;
        pieces[count++] = &table->columns[i].parts->piece;
    }
    if (count < 2 || table->joining != SP_SIDE_BY_SIDE) return false;
    return are_heads_of(whole, pieces[0], pieces[1]) || are_heads_of(whole, pieces[1], pieces[0]);
}

/* Whether the whole has that shape, with the stacked dimension of `depth` in front of it or multiplied into it. */
static bool is_whole(const struct sp_joint_piece *whole, const struct table *table, uint64_t depth,
                     const uint64_t *shape, uint32_t rank, bool transposed)
{
    if (table->joining == SP_SIDE_BY_SIDE)
        return whole->rank == rank && is_shape(whole->shape, shape, rank, transposed);
    if (whole->rank == rank + 1) return whole->shape[0] == depth && is_shape(whole->shape + 1, shape, rank, transposed);
    if (whole->rank != rank || rank < 2 || transposed || depth < 2 || shape[0] > UINT64_MAX / depth) return false;
    return whole->shape[0] == shape[0] * depth && is_shape(whole->shape + 1, shape + 1, rank - 1, false);
}

/* How many columns are chosen. */
static size_t bits(unsigned chosen)
{
    size_t count = 0;
    for (; chosen; chosen &= chosen - 1) count++;
    return count;
}

/* Whether a whole can be made of the chosen columns, as far as their lengths tell: none is taken, all have as many
 * tensors, *depth, and there are several columns, or one over an index. */
static bool may_be_chosen(const struct table *table, unsigned chosen, size_t *depth)
{
    *depth = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        if (!(chosen >> i & 1)) continue;
        if (column->taken || (*depth && column->count != *depth)) return false;
        *depth = column->count;
    }
    return bits(chosen) > 1 || (table->joining != SP_SIDE_BY_SIDE && *depth);
}

/* Whether the chosen columns, put together along some dimension, have the shape of the whole, or the transposed one. */
static bool fits_joint(const struct table *table, unsigned chosen, const struct sp_joint_piece *whole, bool *transposed)
{
    uint64_t shape[MAX_RANK];
    size_t depth, lowest = 0;
    if (!may_be_chosen(table, chosen, &depth)) return false;
    *transposed = false;
    if (fits_heads(table, chosen, whole)) return true;
    while (!(chosen >> lowest & 1)) lowest++;
    const uint32_t rank = table->columns[lowest].parts->piece.rank, axes = bits(chosen) > 1 ? rank : 1;
    for (int swapped = 0; swapped < 2; swapped++)
        for (uint32_t axis = 0; axis < axes; axis++)
            if (put_parts_together(table, chosen, axis, shape) && is_whole(whole, table, depth, shape, rank, swapped)) {
                *transposed = swapped;
                return true;
            }
    return false;
}

/* ---- which columns ---- */

/* What is common to the names of many projections: suffixes, which begin with "_", and prefixes. */
static const char *const affixes[] = {"_projection", "_proj", "_linear", "_layer", "_lin", "proj_", "linear_",
                                      "lin_",        "to_",   "ff_",     "fc_",    "w_",   "W",     "w"};

/* Names of wholes that do not spell their parts. */
static const struct {
    const char *name, *parts;
} spelt_otherwise[] = {{"c_attn", "qkv"},          {"in_proj", "qkv"},        {"attn", "qkv"},
                       {"query_key_value", "qkv"}, {"W_pack", "qkv"},         {"key_value", "kv"},
                       {"fc1", "gate_up"},         {"linear_fc1", "gate_up"}, {"gate_and_up", "gate_up"},
                       {"input_linear", "gate_up"}};

/* What a component speaks of, without the affixes that many projections have: "q" of "q_proj", "query" of "query_proj".
 * Some names of wholes do not spell their parts: "qkv" of "c_attn". */
static void core_of(struct sp_text *core, const char *component)
{
    const size_t length = strlen(component);
    core->length = 0;
    sp_text_puts(core, "");
    for (size_t i = 0; i < sizeof spelt_otherwise / sizeof *spelt_otherwise; i++)
        if (strcmp(component, spelt_otherwise[i].name) == 0) {
            sp_text_puts(core, spelt_otherwise[i].parts);
            return;
        }
    for (size_t i = 0; i < sizeof affixes / sizeof *affixes; i++) {
        const size_t size = strlen(affixes[i]);
        if (size >= length) continue;
        const bool is_suffix = affixes[i][0] == '_';
        if (is_suffix && strcmp(component + length - size, affixes[i]) == 0) {
            sp_text_append(core, component, length - size);
            return;
        }
        if (!is_suffix && strncmp(component, affixes[i], size) == 0) {
            sp_text_puts(core, component + size);
            return;
        }
    }
    sp_text_puts(core, component);
}

/* The offset at which the core of the whole's name speaks of the part: "q" and "query" in "qkv", "gate" in "gate_up",
 * "1" in "13"; or SIZE_MAX. */
static size_t place_in(const char *part, const char *whole)
{
    const char *place = *part ? strstr(whole, part) : NULL;
    if (!place && *part && strlen(whole) <= 3 && strchr("qkv", part[0])) place = strchr(whole, part[0]);
    return place ? (size_t)(place - whole) : SIZE_MAX;
}

/* For each column its place in the whole's name, or SIZE_MAX; returns the columns that have one, as a choice. */
static unsigned find_places(const struct table *table, const struct sp_joint_whole *whole, size_t *places)
{
    struct sp_text in = {0}, part = {0};
    unsigned named = 0;
    core_of(&in, table->joints->component_names.items[whole->component]);
    for (size_t i = 0; i < table->count; i++) {
        core_of(&part, table->joints->component_names.items[table->columns[i].parts->component]);
        places[i] = place_in(part.data, in.data);
        if (places[i] != SIZE_MAX) named |= 1u << i;
    }
    sp_text_free(&in);
    sp_text_free(&part);
    return named;
}

/* Which of the chosen columns the whole's name has first. */
static size_t first_in_name(const struct table *table, const size_t *places, unsigned chosen)
{
    size_t first = 0;
    while (!(chosen >> first & 1)) first++;
    for (size_t i = first + 1; i < table->count; i++)
        if ((chosen >> i & 1) && places[i] < places[first]) first = i;
    return first;
}

/* "q_proj + k_proj + v_proj", in the order in which the whole's name has them. */
static void put_columns(struct sp_text *text, const struct table *table, const size_t *places, unsigned chosen)
{
    while (chosen) {
        const size_t next = first_in_name(table, places, chosen);
        chosen &= ~(1u << next);
        sp_text_puts(text, table->joints->component_names.items[table->columns[next].parts->component]);
        if (chosen) sp_text_puts(text, " + ");
    }
}

/* What is said before the components: "self_attn.qkv_proj = ", "experts.up = 8 x ", "experts.gate_up = 8 x (". */
static const char *say_head(const struct table *table, const struct sp_joint_whole *whole, unsigned chosen,
                            size_t depth)
{
    struct sp_joints *joints = table->joints;
    struct sp_text text = {0};
    if (*whole->container) sp_text_printf(&text, "%s.", whole->container);
    sp_text_printf(&text, "%s = ", joints->component_names.items[whole->component]);
    if (table->joining != SP_SIDE_BY_SIDE) sp_text_printf(&text, bits(chosen) > 1 ? "%zu x (" : "%zu x ", depth);
    return sp_text_keep(&text, &joints->arena);
}

/* What is said behind the components. */
static const char *say_tail(const struct table *table, unsigned chosen)
{
    return table->joining != SP_SIDE_BY_SIDE && bits(chosen) > 1 ? ")" : "";
}

/* "self_attn.qkv_proj = q_proj + k_proj + v_proj", "experts.up = 8 x up". */
static const char *say_joint(const struct table *table, const struct sp_joint_whole *whole, unsigned chosen,
                             size_t depth)
{
    size_t places[MAX_COLUMNS];
    struct sp_text text = {0};
    find_places(table, whole, places);
    sp_text_puts(&text, say_head(table, whole, chosen, depth));
    put_columns(&text, table, places, chosen);
    sp_text_puts(&text, say_tail(table, chosen));
    return sp_text_keep(&text, &table->joints->arena);
}

/* The only choice of columns that fits, found by trying each; 0 when there is none, a second one, or too many to try.
 */
static unsigned only_fitting(const struct table *table, const struct sp_joint_whole *whole, bool *transposed)
{
    unsigned found = 0;
    for (unsigned chosen = 1; chosen < 1u << table->count; chosen++) {
        if (table->joints->tries == MAX_TRIES) return 0;
        table->joints->tries++;
        if (!fits_joint(table, chosen, &whole->piece, transposed)) continue;
        if (found) return 0;
        found = chosen;
    }
    return found && fits_joint(table, found, &whole->piece, transposed) ? found : 0;
}

/* Whether a choice is no accident: the shapes of matrices are evidence enough, but the lengths of vectors add up by
 * chance. A vector must be joined as a matrix was, q_proj.bias as q_proj.weight. */
static bool follows(const struct table *table, const struct sp_joint_whole *whole, unsigned chosen)
{
    size_t depth;
    if (!chosen) return false;
    if (whole->piece.rank > 1) return true;
    may_be_chosen(table, chosen, &depth);
    return sp_map_get(&table->joints->said, say_joint(table, whole, chosen, depth)) != SIZE_MAX;
}

/* The columns that the name says, or the only ones that fit below the same component; 0 when that is not clear. */
static unsigned choose_joint(const struct table *table, const struct sp_joint_whole *whole, bool *transposed)
{
    size_t places[MAX_COLUMNS];
    const unsigned named = find_places(table, whole, places);
    const bool within = *whole->container;
    if (named && fits_joint(table, named, &whole->piece, transposed))
        return within || follows(table, whole, named) ? named : 0;
    if (bits(named) > 1 || !within) return 0;
    const unsigned found = only_fitting(table, whole, transposed);
    return follows(table, whole, found) ? found : 0;
}

/* ---- joints ---- */

/* The chosen columns in the order in which the whole's name has them, each as its place among the chosen ones. */
static const size_t *order_of(const struct table *table, const struct sp_joint_whole *whole, unsigned chosen)
{
    size_t places[MAX_COLUMNS], count = 0;
    size_t *order = sp_arena_array(&table->joints->arena, bits(chosen), sizeof *order);
    find_places(table, whole, places);
    for (unsigned left = chosen; left;) {
        const size_t next = first_in_name(table, places, left);
        left &= ~(1u << next);
        order[count++] = bits(chosen & ((1u << next) - 1));
    }
    return order;
}

/* Records that this whole is made of the chosen columns and marks it and its parts as used. A column has `depth` parts
 * when the whole stacks several matrices. */
static void take_joint(struct table *table, const struct sp_joint_whole *whole, unsigned chosen, bool transposed)
{
    struct sp_joints *joints = table->joints;
    struct sp_joint joint = {.whole = whole->piece, .joining = table->joining, .transposed = transposed};
    size_t depth = 0, *parts;
    const char **names;
    may_be_chosen(table, chosen, &depth); /* it may: asked for the depth */
    joint.mixed = bits(chosen) > 1;
    joint.by_heads = fits_heads(table, chosen, &whole->piece);
    joint.says = say_joint(table, whole, chosen, depth);
    joint.head = say_head(table, whole, chosen, depth);
    joint.tail = say_tail(table, chosen);
    joint.names = names = sp_arena_array(&joints->arena, bits(chosen), sizeof *names);
    joint.order = order_of(table, whole, chosen);
    joint.component_count = bits(chosen);
    if (whole->piece.rank > 1) sp_map_add(&joints->said, joint.says, 0);
    joint.parts = parts = sp_arena_array(&joints->arena, bits(chosen) * depth, sizeof *parts);
    for (size_t i = 0; i < table->count; i++) {
        struct column *column = &table->columns[i];
        if (!(chosen >> i & 1)) continue;
        column->taken = true;
        *names++ = joints->component_names.items[column->parts->component];
        for (size_t k = 0; k < depth; k++) {
            parts[joint.part_count++] = column->parts[k].piece.item;
            joints->taken[column->parts[k].piece.item] = true;
        }
    }
    joints->taken[whole->piece.item] = true;
    *SP_PUSH(joints) = joint;
}

/* Joins the wholes of a nest until nothing changes: what one takes may leave another one choice only. */
static void join_parts(struct table *table, const struct sp_joint_whole *wholes, size_t count)
{
    if (count > MAX_COLUMNS) return;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < count; i++) {
            bool transposed;
            const bool taken = table->joints->taken[wholes[i].piece.item];
            const unsigned chosen = taken ? 0 : choose_joint(table, &wholes[i], &transposed);
            if (!chosen) continue;
            take_joint(table, &wholes[i], chosen, transposed);
            again = true;
        }
    }
}

/* Makes `taken`, with room for the highest item. */
static void mark_none_taken(struct sp_joints *joints)
{
    size_t most = 0;
    for (size_t i = 0; i < joints->parts.count; i++)
        if (joints->parts.items[i].piece.item > most) most = joints->parts.items[i].piece.item;
    for (size_t i = 0; i < joints->wholes.count; i++)
        if (joints->wholes.items[i].piece.item > most) most = joints->wholes.items[i].piece.item;
    joints->taken = sp_arena_array(&joints->arena, most + 1, sizeof *joints->taken);
}

/* Walks over the parts and the wholes, both sorted by nest, side by side: each run of parts of one nest and one way to
 * join is a table, which the wholes of that nest are made of. */
static void join_nests(struct sp_joints *joints)
{
    struct table table = {.joints = joints};
    size_t whole = 0, whole_end = 0;
    for (size_t from = 0, to; from < joints->parts.count; from = to) {
        const struct sp_joint_part *part = &joints->parts.items[from];
        for (to = from; to < joints->parts.count && joints->parts.items[to].nest == part->nest &&
                        joints->parts.items[to].joining == part->joining;)
            to++;
        while (whole < joints->wholes.count && joints->wholes.items[whole].nest < part->nest) whole++;
        for (whole_end = whole; whole_end < joints->wholes.count && joints->wholes.items[whole_end].nest == part->nest;)
            whole_end++;
        if (whole == whole_end) continue;
        make_table(&table, from, to);
        join_parts(&table, joints->wholes.items + whole, whole_end - whole);
    }
}

void sp_joints_find(struct sp_joints *joints)
{
    if (!joints->parts.count || !joints->wholes.count) return;
    mark_none_taken(joints);
    qsort(joints->parts.items, joints->parts.count, sizeof *joints->parts.items, compare_joint_parts);
    qsort(joints->wholes.items, joints->wholes.count, sizeof *joints->wholes.items, compare_wholes);
    join_nests(joints);
    join_nests(joints); /* vectors in nests before those of the matrices that they follow */
}

void sp_joints_free(struct sp_joints *joints)
{
    sp_map_free(&joints->nests);
    sp_map_free(&joints->components);
    sp_map_free(&joints->said);
    sp_text_free(&joints->scratch);
    sp_text_free(&joints->key);
    sp_arena_free(&joints->arena);
    sp_free(joints->component_names.items);
    sp_free(joints->parts.items);
    sp_free(joints->wholes.items);
    sp_free(joints->items);
    *joints = (struct sp_joints){0};
}
