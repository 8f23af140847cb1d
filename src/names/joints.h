/* SPDX-License-Identifier: MIT
 * Several tensors on one side that are one on the other: q, k and v in one projection, the experts of a layer in one
 * tensor, the layers of a model in one. Read off names and shapes: the parts are called alike but for one component,
 * and put together they have exactly the shape of the whole. Where several choices of parts would do, and the whole's
 * name does not say which, nothing is claimed.
 *
 *     layers.0.attn.q_proj.weight  (8, 8)  \
 *     layers.0.attn.k_proj.weight  (4, 8)   >  layers.0.attn.qkv_proj.weight  (16, 8)     side by side
 *     layers.0.attn.v_proj.weight  (4, 8)  /
 *
 *     layers.0.experts.{0-7}.up.weight  (6, 8)  -->  layers.0.experts.up.weight  (8, 6, 8) or (48, 8)
 *     layers.{0-11}.norm.weight         (8)     -->  layers.norm.weight          (12, 8)
 *
 *     attn.k_b_proj.weight  (4, 32, 16)  \
 *     attn.v_b_proj.weight  (4, 24, 32)  /  -->  attn.kv_b_proj.weight  (4 * (16 + 24), 32)     head by head */
#ifndef SP_NAMES_JOINTS_H
#define SP_NAMES_JOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"

/* A tensor that may be a whole, or a part of one. */
struct sp_joint_piece {
    size_t item; /* the caller's number for it, of both sides together */
    const uint64_t *shape;
    uint32_t rank;
};

enum sp_joining {
    SP_SIDE_BY_SIDE, /* q, k, v */
    SP_OVER_LAST,    /* over the last index of the names: experts */
    SP_OVER_FIRST    /* over the first one: layers */
};

struct sp_joint {
    struct sp_joint_piece whole;
    enum sp_joining joining;
    bool transposed;          /* the whole is the transpose of its parts put together */
    bool mixed;               /* of several components, whose order no shape tells */
    bool by_heads;            /* the parts have each head apart, and one of them is transposed */
    bool is_ordered;          /* the components are known to be in `order` */
    const char *says;         /* "self_attn.qkv_proj = q_proj + k_proj + v_proj"; in the arena */
    const char *head, *tail;  /* what `says` has before and behind the components: "experts.up = 2 x (", ")" */
    const char *const *names; /* of the components: "q_proj", "k_proj", "v_proj"; in the arena */
    const size_t *parts;      /* items: of each component those by index, components as they were added; in the arena */
    size_t part_count;
    const size_t *order; /* of each component, in the order in which the name of the whole has them, its place in
                          * `parts` among the components: q, k, v of "qkv"; in the arena */
    size_t component_count;
};

/* Zero-initialise. */
struct sp_joints {
    struct sp_arena arena;
    struct sp_map nests, components;
    struct sp_map said; /* how matrices were joined */
    SP_ARRAY(const char *) component_names;
    SP_ARRAY(struct sp_joint_part) parts;
    SP_ARRAY(struct sp_joint_whole) wholes;
    bool *taken; /* for each item */
    size_t tries;
    struct sp_text scratch, key;
    struct sp_joint *items;
    size_t count, capacity;
};

/* A nest is where a whole or its parts stand, "layers.0.self_attn" (joints.c). One side is added first. */
enum sp_joint_side {
    SP_JOINT_FIRST_SIDE, /* opens the nests of its names */
    SP_JOINT_OTHER_SIDE  /* a name whose nest the first side has not opened is left out */
};

/* A side has either wholes or parts. A piece may be added under several names, the spellings of its own. */
void sp_joints_add_whole(struct sp_joints *joints, const char *name, struct sp_joint_piece piece,
                         enum sp_joint_side side);
void sp_joints_add_part(struct sp_joints *joints, const char *name, struct sp_joint_piece piece,
                        enum sp_joint_side side);
/* Once all are added: fills `items`. No piece is in two of them. */
void sp_joints_find(struct sp_joints *joints);
void sp_joints_free(struct sp_joints *joints);

#endif
