/* SPDX-License-Identifier: MIT
 * Tensors that become one another: those that a conversion gives the same name are collected, and what becomes of their
 * shapes is worked out. Of names and shapes alone. */
#ifndef SP_LOAD_CONVERSION_H
#define SP_LOAD_CONVERSION_H

#include <stdint.h>

#include "base/map.h"
#include "load/renaming.h"

enum { SP_PIECE_RANK = 8 };

struct sp_load_shape {
    uint32_t rank;
    uint64_t shape[SP_PIECE_RANK + 1]; /* a rank above the limit counts as the next one */
};

/* That of a tensor. */
struct sp_load_shape sp_load_shape_of(const uint64_t *shape, uint32_t rank);
bool sp_same_load_shape(const struct sp_load_shape *a, const struct sp_load_shape *b);

/* All that became one name. */
struct sp_gathered {
    const char *name; /* with the first target */
    size_t held;      /* its place in memory, once it has one; or SIZE_MAX */
    const struct sp_rule *rule;
    struct sp_pieces {
        struct sp_run {
            struct sp_load_shape piece;
            size_t count;         /* so many of one shape one after the other: of experts, all */
            const uint64_t *last; /* where the last of them has its own: mostly where the next one has it, too */
        } * items;
        size_t count, capacity;
    } of[SP_EXPRESSIONS]; /* by the expression of the rule that fitted their names */
};

struct sp_gathering {
    struct sp_arena *arena; /* for the names */
    struct sp_map names;    /* -> index */
    struct sp_gathered *items;
    size_t count, capacity;
};

/* The index of what is gathered for what a name became, or of nothing yet. */
size_t sp_gathering_find(struct sp_gathering *gathering, struct sp_renamed renamed);
/* Adds a tensor of that shape to what is gathered under an index; `expression` is the one that fitted its name. */
void sp_gathering_add(struct sp_gathering *gathering, size_t index, size_t expression, const uint64_t *shape,
                      uint32_t rank);
void sp_gathering_free(struct sp_gathering *gathering);

/* What it becomes: a tensor for each target, at most that many. 0 when the shapes do not fit each other. */
size_t sp_convert(const struct sp_gathered *gathered, struct sp_load_shape out[SP_EXPRESSIONS]);
/* The name under another target than the first. In the arena, or the name itself. */
const char *sp_target_name(struct sp_arena *arena, const struct sp_rule *rule, const char *name, size_t target);
size_t sp_target_count(const struct sp_rule *rule);
/* Whether every step is known. */
bool sp_rule_is_known(const struct sp_rule *rule);

#endif
