/* SPDX-License-Identifier: MIT
 * Tensors whose names differ in indices alone are siblings: what one of them has beside it, all should have, such as
 * the scale of a quantised weight, or a matrix of an adapter. */
#ifndef SP_EXPLAIN_SIBLINGS_H
#define SP_EXPLAIN_SIBLINGS_H

#include "names/patterns.h"

struct sp_sibling {
    const char *name;
    size_t pattern;
    bool has;
};

/* Zero-initialise. */
struct sp_siblings {
    struct sp_patterns patterns;
    struct sp_sibling *items;
    size_t count, capacity;
};

/* One more, and whether it has the thing. Siblings are those whose `kin` differs in indices alone; mostly that is the
 * name itself, which is borrowed. */
void sp_siblings_add(struct sp_siblings *siblings, const char *kin, const char *name, bool has);
/* Leaves those that lack what a sibling has, and returns how many there are. */
size_t sp_siblings_lacking(struct sp_siblings *siblings);
/* Their names in one line, in the arena. */
const char *sp_siblings_names(const struct sp_siblings *siblings, struct sp_arena *arena);
void sp_siblings_free(struct sp_siblings *siblings);

#endif
