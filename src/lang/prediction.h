/* SPDX-License-Identifier: MIT */
#ifndef SP_LANG_PREDICTION_H
#define SP_LANG_PREDICTION_H

#include "lang/eval.h"
#include "lang/tables.h"
#include "shapeproof/prediction.h"

/* Where a predicted tensor comes from, to say later what its dimensions mean. */
struct sp_origin {
    const struct sp_row *row;
    const struct sp_section *section;
    const struct sp_frame *frame;
};

struct sp_prediction {
    struct sp_arena arena;
    const struct sp_unit *table;
    struct sp_predicted *tensors;
    struct sp_origin *origins; /* parallel to tensors */
    size_t count, capacity, origin_capacity;
    struct sp_group *groups;
    size_t group_count, group_capacity;
    struct sp_hyperparameter *hypers;
    size_t hyper_count;
    const char **unused;
    size_t unused_count;
    struct sp_map names;
    struct sp_predicted_totals totals;
};

/* Expands `table` into a new prediction. NULL with SP_ERR_TABLE or SP_ERR_UNKNOWN. */
struct sp_prediction *sp_expand(const struct sp_unit *table, const struct sp_hyper *hyper, struct sp_error *error);
/* Appends an expression of the frame in terms of hyper-parameters. */
void sp_describe(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr);
/* As sp_prediction_dimension, with every hyper-parameter that could have a say in it: those as well that are asked only
 * because another is not set. */
char *sp_prediction_depends_on(const struct sp_prediction *prediction, size_t tensor, uint32_t dimension);

#endif
