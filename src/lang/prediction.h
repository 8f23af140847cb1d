/* SPDX-License-Identifier: MIT */
#ifndef SP_LANG_PREDICTION_H
#define SP_LANG_PREDICTION_H

#include "lang/eval.h"
#include "lang/tables.h"
#include "shapeproof/prediction.h"

/* Where a predicted tensor comes from, to say later what its dimensions mean. */
struct sp_row_origin {
    const struct sp_row *row;
    const struct sp_frame *frame;
};

/* Two tensors that the table ties, of shapes that cannot be. */
struct sp_odd_tie {
    size_t tensor, target;
};

struct shapeproof_prediction {
    struct sp_arena arena;
    const struct sp_unit *table;
    struct shapeproof_predicted *tensors;
    struct sp_row_origin *origins; /* parallel to tensors */
    size_t count, capacity, origin_capacity;
    const char **own_names; /* parallel to tensors: as the table has them, where files have others; or NULL */
    struct shapeproof_group *groups;
    size_t group_count, group_capacity;
    struct shapeproof_hyperparameter *hypers;
    size_t hyper_count;
    struct sp_map hyper_names; /* -> index of the hyper-parameter; SHAPEPROOF_NONE: it was looked at, and not set */
    struct sp_condition **conditions; /* those that were asked for */
    size_t condition_count, condition_capacity;
    struct sp_map condition_words;
    const char *const *remarks; /* on the configuration, and on files beside it */
    size_t remark_count;
    const char **unused;
    size_t unused_count;
    const char **asked; /* each key that was looked at, whether it was set or not, in that order */
    size_t asked_count;
    struct sp_map names;
    struct shapeproof_predicted_totals totals;
    struct sp_odd_tie *odd_ties; /* only where hyper-parameters may contradict themselves (sp_hyper.loose) */
    size_t odd_tie_count, odd_tie_capacity;
};

/* The name of a tensor as the table has it. */
static inline const char *sp_prediction_own_name(const struct shapeproof_prediction *prediction, size_t tensor)
{
    return prediction->own_names ? prediction->own_names[tensor] : prediction->tensors[tensor].name;
}

/* The dtypes that a file may have for a tensor, as bits: those that its row gives. A row of a part that stands in for a
 * quantised weight has a floating dtype if it gives none. 0: any. */
uint64_t sp_prediction_dtypes(const struct shapeproof_prediction *prediction, size_t tensor);
bool sp_prediction_allows_dtype(const struct shapeproof_prediction *prediction, size_t tensor,
                                enum shapeproof_dtype dtype);

/* Whether the configuration chooses a table that its own uses, which then says little of its tensors by itself. */
bool sp_prediction_is_chosen(const struct shapeproof_prediction *prediction);

/* Expands `table` into a new prediction. NULL with SHAPEPROOF_ERR_TABLE or SHAPEPROOF_ERR_UNKNOWN. */
struct shapeproof_prediction *sp_expand(const struct sp_unit *table, const struct sp_hyper *hyper,
                                        struct shapeproof_error *error);
/* Appends an expression of the frame in terms of hyper-parameters. */
void sp_describe(struct sp_text *text, const struct sp_env *env, const struct sp_expr *expr);

/* ---- what depends on which hyper-parameters; all in the arena of the prediction ---- */

/* Hyper-parameters as indices, each once, in the order in which an expression has them. */
struct sp_keys {
    const size_t *list;
    size_t count;
};

bool sp_keys_contain(struct sp_keys keys, size_t key);
/* Those in a dimension: "vocab_size" in "vocab_size + 1". */
struct sp_keys sp_prediction_dimension_keys(struct shapeproof_prediction *prediction, size_t tensor,
                                            uint32_t dimension);
/* Every one that could have a say in it: those as well that are asked only because another is not set. */
struct sp_keys sp_prediction_depends_on(struct shapeproof_prediction *prediction, size_t tensor, uint32_t dimension);
/* The hyper-parameter that a dimension is, without anything around it; or SHAPEPROOF_NONE. */
size_t sp_prediction_dimension_key(struct shapeproof_prediction *prediction, size_t tensor, uint32_t dimension);

/* A condition in a table. Those that say the same in terms of hyper-parameters are one: compare them by address. */
struct sp_condition {
    const char *words; /* "attention_bias and not use_mup" */
    struct sp_keys keys;
    size_t key; /* the hyper-parameter that it is, without anything around it; or SHAPEPROOF_NONE */
};

/* That of an expression in its environment. */
const struct sp_condition *sp_prediction_condition(struct shapeproof_prediction *prediction, const struct sp_env *env,
                                                   const struct sp_expr *expr);
/* Under which the tensor, or the weight in whose place it is stored, is tied; NULL when there is none. */
const struct sp_condition *sp_prediction_tie_condition(struct shapeproof_prediction *prediction, size_t tensor);

/* Adds a remark, which is copied: a warning of the check. */
void sp_prediction_remark(struct shapeproof_prediction *prediction, const char *remark);

#endif
