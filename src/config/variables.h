/* SPDX-License-Identifier: MIT
 * How a Keras file calls the variables of layers. A table has the names that Keras gives them, "layers/dense/kernel";
 * what a file has is that, or
 *
 *   layers/dense/vars/0                            numbered: by their place among the variables of the layer
 *   model_weights/dense/sequential/dense/kernel:0  with scopes around the layer: the file is asked which */
#ifndef SP_CONFIG_VARIABLES_H
#define SP_CONFIG_VARIABLES_H

#include "base/map.h"
#include "lang/prediction.h"

/* The tensors of the file that belong to a layer of the model, in its order. */
struct sp_variable_group {
    const char *name;  /* of the prediction's group */
    const char *front; /* of all names of the layer: "model_weights/dense/" */
    SP_ARRAY(const char *) files;
};

/* A layer whose weights are not predicted. */
struct sp_unpredicted {
    const char *layer, *class_name;
    const char *why;
    const char *front;  /* of the names of its tensors */
    const char *within; /* a component of them besides, or NULL */
    const char *except; /* what other names begin with, or NULL */
    bool has_weights;   /* as far as is known */
    bool is_model;
    bool is_quiet; /* nothing is said when it has none */
};

struct sp_variables {
    bool numbered;
    const char *front;                         /* of all names: "model_weights/" */
    const char *suffix;                        /* ":0" */
    const char *list;                          /* where they are numbered: what a model calls its layers, "layers" */
    bool hidden;                               /* and the projections of an attention begin with "_" */
    SP_ARRAY(struct sp_variable_group) groups; /* empty: the names are as the table has them, or numbered */
    struct sp_map group_names;
    SP_ARRAY(struct sp_unpredicted) unpredicted;
};

/* Renames what is predicted to what the file has. */
void sp_variables_rename(const struct sp_variables *variables, struct shapeproof_prediction *prediction);
/* Splits the name of a tensor of the file into its place among the names of the table, which is appended to `front`,
 * and the rest. False, and nothing is appended, when it belongs to no layer of the model. numbered:
 * "layers/dense/vars/0"           -> front "layers/dense/", *leaf NULL: the number is no name with scopes:
 * "model_weights/d/s/d/kernel:0"  -> front "d/", the layer; *leaf "kernel:0" */
bool sp_variables_place(const struct sp_variables *variables, const char *name, struct sp_text *front,
                        const char **leaf);
/* The layer that a tensor of the file belongs to and that is not predicted, or SHAPEPROOF_NONE. */
size_t sp_variables_unpredicted(const struct sp_variables *variables, const char *name);
void sp_variables_free(struct sp_variables *variables);

#endif
