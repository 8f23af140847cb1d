/* SPDX-License-Identifier: MIT
 * One expansion under way, shared by expand.c (sections and rows), repeat.c (uses that were made before), replace.c
 * (tensors that are stored as others) and finish.c (the end).
 *
 *     table t             frame t        env [blocks], i = 0
 *     [blocks] for i          |              |
 *     h.{i}.* mlp(E)      frame mlp      env [], prefix "h.0."
 *     part mlp(n)
 *     up.weight (4*n, n)      -> sp_expander_add: "h.0.up.weight" (16, 4), origin: row, frame mlp
 *
 * At i = 1 the row's usage has the same frame and the same n, and its tensors are copied behind "h.1.". */
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
    struct shapeproof_prediction *out;
    struct sp_pending_tie *ties;
    size_t tie_count, tie_capacity;
    struct sp_map group_names;
    const char *last_group; /* most often the next tensor's as well */
    size_t last_group_index;
    const struct sp_section *last_looped; /* an inner loop asks in each iteration of the outer one, */
    const struct sp_frame *last_frame;    /* in that frame */
    size_t last_least;                    /* how many tensors its rows add at least */
    unsigned use_depth;
    size_t iterations; /* of loops, so far */
    bool unsupported;  /* a 'require' said no */
};

/* A row's use of a part in one frame, and what came of it. When it is reached again, in the next iteration of a loop,
 * the part has most often the same arguments: then it makes the same tensors, behind another prefix. */
struct sp_usage {
    struct sp_frame *frame;          /* the same each time; NULL: none yet */
    struct shapeproof_value *values; /* the arguments that the rest is about; NULL: it cannot be repeated */
    size_t prefix_length;
    size_t tensor, tie; /* the first ones that it made: indices into the prediction and into sp_expander.ties */
    size_t tensor_count, tie_count;
    size_t steps, iterations, mistakes; /* that it took */
};

/* The usage of a row of env->section, which is empty at first. */
struct sp_usage *sp_usage_of(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row);
/* Copies the tensors and ties that the part made at its last use, with the new prefix in front of their names. False,
 * and nothing is made, when the arguments have changed, when nothing was kept, or when a limit could be reached on the
 * way: then the part has to be expanded. */
bool sp_usage_repeat(struct sp_expander *x, const struct sp_usage *usage, const struct sp_frame *frame,
                     const char *prefix);
/* How far the expansion is, before a part is expanded. */
struct sp_usage sp_usage_start(const struct sp_expander *x);
/* Keeps in `usage` what was made since `start`, if it can be repeated: not after a mistake, and not what has loops or
 * tensors that an overlay may replace. */
void sp_usage_keep(struct sp_expander *x, struct sp_usage *usage, const struct sp_usage *start,
                   const struct sp_frame *frame);

/* The whole name that a template makes, in the arena; NULL after a mistake. */
const char *sp_expander_name(struct sp_expander *x, const struct sp_env *env, const struct sp_template *name);
/* Expands a unit in its frame, which has all but the values: those are gone afterwards. `usage` (or NULL) is what is
 * kept of it for the next time. */
void sp_expander_use(struct sp_expander *x, const struct sp_env *env, struct sp_frame *frame, struct sp_usage *usage,
                     const char *prefix);
/* Expands the part that is stored in place of the row's tensor, if there is an overlay that says so. */
bool sp_expander_replace(struct sp_expander *x, const struct sp_env *env, const struct sp_row *row,
                         const struct shapeproof_predicted *tensor);
/* Says what a tensor stands for: for itself, or for the one in whose place it is stored. */
void sp_expander_note_stored_tensor(struct sp_expander *x, const struct sp_env *env,
                                    struct shapeproof_predicted *tensor);
/* Ties, totals, and what was read of the configuration; or the error. */
void sp_expander_finish(struct sp_expander *x, struct shapeproof_error *error);

/* The most tensors that there may be. */
size_t sp_expander_most(const struct sp_expander *x);
/* Adds a tensor, which has all but its index, to the prediction. */
void sp_expander_add(struct sp_expander *x, const struct sp_row_origin *origin,
                     const struct shapeproof_predicted *tensor);
void sp_expander_tie(struct sp_expander *x, const char *target, struct sp_span span);

#endif
