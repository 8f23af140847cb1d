/* SPDX-License-Identifier: MIT
 * What else a hyper-parameter could be, when under its value shapes differ from those of the file. */
#ifndef SP_INFER_VALUES_H
#define SP_INFER_VALUES_H

#include "lang/hyper.h"
#include "solve/literals.h"

enum { SP_MAX_CANDIDATES = 400, SP_MAX_RATIOS = 12 };

/* What a dimension is, and what it was predicted to be: in that proportion something may have to change. */
struct sp_ratio {
    uint64_t is, was;
};

/* What points to other values. */
struct sp_hints {
    struct sp_arena *arena; /* of the values that are made */
    struct sp_ratio ratios[SP_MAX_RATIOS];
    size_t ratio_count;
    size_t usual_length; /* of lists in the same configuration; 0 when there are none */
    bool no_zero;        /* a number that is not 0 is to stay so */
};

struct sp_value_candidates {
    struct shapeproof_value list[SP_MAX_CANDIDATES];
    size_t count;
};

/* The values to try in place of that one, likeliest first; `texts` are those that the table has about the key. */
void sp_find_value_candidates(struct sp_value_candidates *candidates, const struct sp_hints *hints,
                              const struct sp_literals *texts, struct shapeproof_value value);

#endif
