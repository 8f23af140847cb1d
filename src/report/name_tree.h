/* SPDX-License-Identifier: MIT
 * The tensors of a checkpoint nested by the components of their names, which '.' or (in HDF5) '/' separate, with
 * sub-totals. Siblings whose names are numbers and whose sub-trees are equal (names, dtypes, shapes, flags, kinds) can
 * be folded into one: layers.{0-11}. Siblings that differ stay apart, and a hole in the numbering shows: {0-3,20-31}.
 *
 *     h.0.w  h.1.w  h.2.v  ln.w    h { 0 { w }, 1 { w }, 2 { v } }, ln { w }    folded: h { {0-1} { w }, 2 { v } }, ...
 */
#ifndef SP_REPORT_NAME_TREE_H
#define SP_REPORT_NAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "shapeproof/inventory.h"

/* What becomes a leaf. */
struct sp_name_entry {
    const struct shapeproof_tensor *tensor;
    uint64_t tensors, parameters, bytes; /* what it adds to the sums of the nodes above it */
    size_t kind;                         /* of different kinds no two are folded */
};

struct sp_name_node {
    const char *name;                  /* full name of the first tensor below */
    size_t begin, end;                 /* this component within the name, without separators */
    size_t index;                      /* in the tree's nodes */
    struct sp_name_node *parent;       /* the root at the top */
    struct sp_name_node *child, *next; /* in the order of the tree; those that are folded into another too */
    struct sp_name_node *first_made, *next_made, *last_made; /* children and siblings in the order of their bytes */
    const struct shapeproof_tensor *tensor;                  /* of a leaf, or NULL */
    size_t position;                                         /* of its first tensor among the entries */
    size_t rank;                                             /* position, but the same for all numbered siblings */
    uint64_t tensors, parameters, bytes;
    bool numbered;
    uint64_t number;
    size_t structure;            /* equal for equal sub-trees */
    struct sp_name_node *leader; /* the sibling that it is folded into; itself when there is none */
    struct sp_name_node *more;   /* the next sibling that is folded into the same */
    uint64_t folded;             /* how many siblings this one stands for; 0 when it is folded into another */
};

struct sp_name_tree {
    struct sp_arena arena;
    struct sp_name_node root;
    struct sp_name_node **nodes; /* in the order in which they were made: parents first */
    size_t count, capacity;
};

enum sp_name_order {
    SP_NAMES_BY_POSITION, /* as the entries are, numbered siblings by number */
    SP_NAMES_BY_COMPONENT,
    SP_NAMES_BY_BYTES, /* the largest first, of folded ones all together; so are those below */
    SP_NAMES_BY_PARAMETERS,
    SP_NAMES_BY_TENSORS
};

/* Each node by itself, in no order yet: sp_name_tree_arrange brings them into one. The entries and their tensors are
 * borrowed. Close it with sp_name_tree_close. */
void sp_name_tree_open(struct sp_name_tree *tree, const struct sp_name_entry *entries, size_t count);
/* May be called again, with another order. */
void sp_name_tree_arrange(struct sp_name_tree *tree, bool folded, enum sp_name_order order);
void sp_name_tree_close(struct sp_name_tree *tree);

/* The child whose line the node takes as well, since it is the only one that is shown: "layers.{0-31}" below "model" in
 * "model.layers.{0-31}"; NULL when it takes none. A folded node keeps its own line, for its count. */
const struct sp_name_node *sp_name_node_joined(const struct sp_name_node *node);
/* Appends the name of a node, or the numbers of those that it stands for: {0-3,20-31}. */
void sp_put_name_node(struct sp_text *text, const struct sp_name_node *node);
/* The parameters of all tensors were added up without overflow; the bytes of tied ones were not. */
uint64_t sp_times_folded(uint64_t bytes, const struct sp_name_node *node);

#endif
