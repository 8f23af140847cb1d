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

bool sp_same_load_shape(const struct sp_load_shape *a, const struct sp_load_shape *b);

/* All that became one name. */
struct sp_gathered {
    const char *name; /* with the first target */
    const struct sp_rule *rule;
    struct sp_pieces {
        struct sp_run {
            struct sp_load_shape piece;
            size_t count; /* so many of one shape one after the other: of experts, all */
        } * items;
        size_t count, capacity;
    } of[SP_EXPRESSIONS]; /* each expression */
};

struct sp_gathering {
    struct sp_arena *arena; /* for the names */
    struct sp_map names;    /* -> index */
    struct sp_gathered *items;
    size_t count, capacity;
};

/* Returns all that became this name so far; until the next call. */
const struct sp_gathered *sp_load_gather(struct sp_gathering *gathering, struct sp_renamed renamed,
                                         const struct sp_load_shape *piece);
void sp_gathering_free(struct sp_gathering *gathering);

/* What it becomes: a tensor for each target, at most that many. 0 when the shapes do not fit each other. */
size_t sp_convert(const struct sp_gathered *gathered, struct sp_load_shape out[SP_EXPRESSIONS]);
/* The name under another target than the first. In the arena, or the name itself. */
const char *sp_target_name(struct sp_arena *arena, const struct sp_rule *rule, const char *name, size_t target);
size_t sp_target_count(const struct sp_rule *rule);
/* Whether every step is known. */
bool sp_rule_is_known(const struct sp_rule *rule);

#endif
