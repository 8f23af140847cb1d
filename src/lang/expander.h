/* SPDX-License-Identifier: MIT
 * One expansion under way, shared by expand.c and repeat.c. */
#ifndef SP_LANG_EXPANDER_H
#define SP_LANG_EXPANDER_H

#include "lang/prediction.h"

enum { SP_MAX_PREDICTED = 4 * 1000 * 1000 };

struct sp_pending_tie {
    size_t tensor;
    const char *target;
    struct sp_span span;
};

struct sp_expander {
    struct sp_eval eval;
    struct sp_prediction *out;
    struct sp_pending_tie *ties;
    size_t tie_count, tie_capacity;
    struct sp_map group_names;
    const char *last_group; /* most often the next tensor's as well */
    size_t last_group_index;
    unsigned use_depth;
    size_t turns;     /* of loops, so far */
    bool unsupported; /* a 'require' said no */
};

/* A row's use of a part in one frame, and what came of it. When it is reached again, in the next turn of a loop, the
 * part has most often the same arguments: then it makes the same tensors, behind another prefix. */
struct sp_usage {
    struct sp_frame *frame;  /* the same each time; NULL: none yet */
    struct sp_value *values; /* the arguments that the rest is about; NULL: it cannot be repeated */
    size_t prefix_length;
    size_t tensor, tie; /* the first ones that it made */
    size_t tensor_count, tie_count;
    size_t steps, turns, mistakes;
};

/* That of a row of env->section. */
struct sp_usage *sp_usage_of(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row);
/* Makes what the part made before, if that is the same in the frame as it is now; false when it may not be. */
bool sp_usage_repeat(struct sp_expander *x, const struct sp_usage *usage, const struct sp_frame *frame,
                     const char *prefix);
/* How far the expansion is, for sp_usage_keep after the part was expanded. */
struct sp_usage sp_usage_start(const struct sp_expander *x);
void sp_usage_keep(struct sp_expander *x, struct sp_usage *usage, const struct sp_usage *start,
                   const struct sp_frame *frame);

/* The most tensors that there may be. */
size_t sp_expander_most(const struct sp_expander *x);
/* Adds a tensor, which has all but its index, to the prediction. */
void sp_expander_add(struct sp_expander *x, const struct sp_origin *origin, const struct sp_predicted *tensor);
void sp_expander_tie(struct sp_expander *x, const char *target, struct sp_span span);

#endif
