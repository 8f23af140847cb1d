/* SPDX-License-Identifier: MIT
 * The tensors of a report nested by the components of their names, which '.' or (in HDF5) '/' separate, with
 * sub-totals. Siblings whose names are numbers and whose sub-trees are equal (names, dtypes, shapes, flags) can be
 * folded into one: layers.{0-11}. Siblings that differ stay apart, and a hole in the numbering shows: {0-3,20-31}.
 * Tied tensors count once. */
#ifndef SP_REPORT_NAME_TREE_H
#define SP_REPORT_NAME_TREE_H

#include "base/arena.h"
#include "report/inspect/inspect.h"

struct sp_name_node {
    const char *name;                  /* full name of the first tensor below */
    size_t begin, end;                 /* this component within the name, without separators */
    struct sp_name_node *parent;       /* NULL at the top */
    struct sp_name_node *child, *next; /* in the order of the report; those that are folded into another too */
    struct sp_name_node *last_child;
    const struct shapeproof_tensor *tensor; /* of a leaf, or NULL */
    size_t position;                        /* of its first tensor in the report's order */
    size_t rank;                            /* position, but the same for all numbered siblings */
    uint64_t tensors, parameters, bytes;
    bool numbered;
    uint64_t number;
    size_t structure;          /* equal for equal sub-trees */
    struct sp_name_node *more; /* the next sibling that is folded into this one */
    uint64_t folded;           /* how many siblings this one stands for; 0 when it is folded into another */
};

struct sp_name_tree {
    const struct sp_inspect *inspect;
    struct sp_arena arena;
    struct sp_name_node root;
    struct sp_name_node **nodes; /* in the order in which they were made: parents first */
    size_t count, capacity;
};

void sp_name_tree_open(struct sp_name_tree *tree, const struct sp_inspect *inspect, bool folding);
void sp_name_tree_close(struct sp_name_tree *tree);

#endif
