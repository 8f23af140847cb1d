/* SPDX-License-Identifier: MIT
 * A Keras configuration as a graph of layers, and what is made of it:
 *
 *   {"class_name": "Functional", "config": {"layers": [...]}}          the configuration
 *      | parse.c
 *   model  layers, each with its calls (nodes), each call with what it is given (references)
 *      | shapes.c: the shape of each reference, its dimensions as expressions: "dense.units", "_1", "784"
 *      | write.c
 *   [dense]                                                            the source of a table
 *   layers/dense/.. keras_dense from dense with inputs = in.batch_shape[1]
 *   {"in": {...}, "dense": {"units": 10, ...}}                         the configuration that it reads
 *      | compose.c: both are put in place; names.c: how the file calls the variables
 *
 * So a trial of another number of units changes what follows in the layers behind as well. */
#ifndef SP_KERAS_MODEL_H
#define SP_KERAS_MODEL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "base/value.h"
#include "config/config.h"
#include "config/variables.h"

enum { SP_KERAS_MAX_RANK = 8, SP_KERAS_MAX_DEPTH = 500, SP_KERAS_MAX_NESTED = 16 };

enum sp_keras_rule {
    SP_KERAS_INPUT,
    SP_KERAS_UNCHANGED,
    SP_KERAS_UNITS,
    SP_KERAS_EINSUM,
    SP_KERAS_EMBEDDING,
    SP_KERAS_CONV,
    SP_KERAS_REVERSE,
    SP_KERAS_DEPTHWISE,
    SP_KERAS_RECURRENT,
    SP_KERAS_CONV_RECURRENT,
    SP_KERAS_BIDIRECTIONAL,
    SP_KERAS_TIME_DISTRIBUTED,
    SP_KERAS_WRAPPED,
    SP_KERAS_MULTI_HEAD_ATTENTION,
    SP_KERAS_ATTENTION,
    SP_KERAS_FLATTEN,
    SP_KERAS_RESHAPE,
    SP_KERAS_PERMUTE,
    SP_KERAS_REPEAT,
    SP_KERAS_POOL,
    SP_KERAS_GLOBAL_POOL,
    SP_KERAS_UPSAMPLE,
    SP_KERAS_PAD,
    SP_KERAS_CROP,
    SP_KERAS_MERGE,
    SP_KERAS_OPERATION,
    SP_KERAS_OUTPUT_SHAPE,
    SP_KERAS_CONCATENATE,
    SP_KERAS_OUTPUT_SIZE,
    SP_KERAS_IMAGE_SIZE,
    SP_KERAS_CATEGORY,
    SP_KERAS_TEXT,
    SP_KERAS_DOT,
    SP_KERAS_MEL_SPECTROGRAM,
    SP_KERAS_PIPELINE,
    SP_KERAS_MODEL,
    SP_KERAS_OTHER /* it cannot be told: what the configuration notes of the shape is used, where it does */
};

enum sp_keras_takes {
    SP_KERAS_TAKES_NOTHING,   /* Embedding: its configuration says all */
    SP_KERAS_TAKES_INPUTS,    /* Dense: the last axis of its input */
    SP_KERAS_TAKES_CHANNELS,  /* Conv2D: the axis of the channels, the first or the last one */
    SP_KERAS_TAKES_AXIS,      /* BatchNormalization: the axis that its configuration names */
    SP_KERAS_TAKES_AXES,      /* LayerNormalization: the axes that its configuration names */
    SP_KERAS_TAKES_KEPT_AXES, /* Normalization: the axes that it keeps apart */
    SP_KERAS_TAKES_SLOPES,    /* PReLU: a slope for each element, but along the shared axes */
    SP_KERAS_TAKES_EINSUM,    /* EinsumDense: the axes of its equation */
    SP_KERAS_TAKES_ATTENTION, /* MultiHeadAttention: the widths of query, value and key */
    SP_KERAS_TAKES_CELL,      /* LSTM: the last axis; its weights belong to a cell within it */
    SP_KERAS_TAKES_CELLS,     /* RNN: cells one behind the other */
    SP_KERAS_TAKES_BOTH,      /* Bidirectional: a layer forwards, and one backwards */
    SP_KERAS_TAKES_LAYER,     /* TimeDistributed: a layer, for one step of time */
    SP_KERAS_TAKES_SPECTRAL,  /* SpectralNormalization: a layer, and a vector beside its kernel */
    SP_KERAS_TAKES_PLACES,    /* LocallyConnected2D: a kernel for each place of the window */
    SP_KERAS_TAKES_DATA,      /* Discretization: bins that are computed from data */
    SP_KERAS_TAKES_MODEL      /* a model used as a layer */
};

struct sp_keras_class {
    const char *name, *part;
    enum sp_keras_rule rule;
    enum sp_keras_takes takes;
    unsigned axes;
    const char *cell;
};

/* Without the batch. A dimension is an expression without operators, or NULL: it is not known. */
struct sp_keras_shape {
    bool known;
    size_t rank;
    const char *dims[SP_KERAS_MAX_RANK];
};

struct sp_keras_layer;

/* One tensor that a call is given. */
struct sp_keras_ref {
    struct sp_keras_layer *layer; /* that makes it; NULL: none of the model */
    size_t node, tensor;
    struct shapeproof_value recorded; /* the shape that the configuration notes, with the batch */
    const char *word;                 /* of a keyword: "value"; or NULL */
};

struct sp_keras_node {
    struct sp_keras_ref *refs;
    size_t count;
    bool reverse; /* of an embedding: from vectors to words */
    bool busy, done;
    struct sp_keras_shape output, second; /* of the first tensor that it makes, and of the others */
};

/* What a layer is, wherever it stands: in a model, or in another layer that wraps it. */
struct sp_keras_kind {
    const char *class_name, *name;
    const struct sp_keras_class *class; /* NULL: it is not known */
    bool is_foreign;                    /* somebody's own class, whatever it is called */
    struct shapeproof_value config;
    const char *key;                /* the path of the configuration in that of the table: "inner.dense" */
    struct sp_keras_model *wrapped; /* the model that it is around, or that a layer within it is; or NULL */
};

struct sp_keras_layer {
    struct sp_keras_kind kind;
    bool is_operation; /* no layer: a function of keras.ops */
    struct shapeproof_value build;
    struct sp_keras_model *inner; /* it is a model itself */
    struct sp_keras_model *owner;
    struct sp_keras_node *nodes;
    size_t node_count;
};

struct sp_keras_model {
    struct sp_keras_layer *layers;
    size_t count;
    struct sp_map names;
    bool is_sequential;
    struct sp_keras_layer *outer;  /* that it is the inside of, or NULL */
    struct shapeproof_value built; /* the shape that a sequential model notes of its input */
    struct shapeproof_value outputs;
    struct shapeproof_value root; /* the configurations of its layers by key */
};

/* What a table is written into. */
struct sp_keras_writer {
    struct sp_arena *arena;
    bool objects;      /* the file has names of objects: layers/dense_1/vars/0 */
    bool names_alone;  /* sizes do not matter: what is not known is 1 */
    bool is_both_ways; /* what is written is within a Bidirectional */
    SP_ARRAY(const char *) definitions;
    struct sp_text lines;
    struct sp_variables *variables;
};

/* The row of a class, or NULL. */
const struct sp_keras_class *sp_keras_class(const char *name);
/* "BatchNormalization" -> "batch_normalization", as Keras does. In the arena. */
const char *sp_keras_snake(struct sp_arena *arena, const char *name);

/* ---- parse.c ---- */

/* Whether a configuration is that of a model of layers. */
bool sp_keras_is_model(struct shapeproof_value entry);
/* NULL with an error. All in the arena, but the maps, which sp_keras_forget frees. */
struct sp_keras_model *sp_keras_parse(struct sp_arena *arena, struct shapeproof_value entry,
                                      struct shapeproof_error *error);
void sp_keras_forget(struct sp_keras_model *model);
/* What {"class_name": ..., "config": ...} within a configuration is; `key` is the path of that object. */
struct sp_keras_kind sp_keras_kind(struct sp_arena *arena, struct shapeproof_value entry, const char *key);
/* What stands under a key of the configuration of a layer that is around another. */
struct sp_keras_kind sp_keras_within(struct sp_arena *arena, const struct sp_keras_kind *kind, const char *key);

/* ---- shapes.c ---- */

/* What a layer is given by a call of it: the tensor of that number or keyword. */
struct sp_keras_shape sp_keras_input(struct sp_keras_writer *writer, struct sp_keras_layer *layer, size_t node,
                                     size_t number, unsigned depth);
/* What comes out of a kind of layer. `inputs` may be more than one. */
struct sp_keras_shape sp_keras_output(struct sp_keras_writer *writer, const struct sp_keras_kind *kind,
                                      const struct sp_keras_shape *inputs, size_t count);
/* Without the first axis: what a layer for each step of time is given. */
struct sp_keras_shape sp_keras_slice(const struct sp_keras_shape *shape);
/* The dimension at an axis of Keras, which counts the batch; NULL when it is not known. */
const char *sp_keras_dim_at(const struct sp_keras_shape *shape, int64_t axis);
bool sp_keras_channels_first(struct shapeproof_value config);
/* Item `index` of a list in the configuration, or the number that stands for all; NULL when there is none. */
const char *sp_keras_item(struct sp_arena *arena, const struct sp_keras_kind *kind, const char *key, size_t index);
/* The width of what a recurrent layer or cell makes; NULL when it is not known. */
const char *sp_keras_width(struct sp_keras_writer *writer, const struct sp_keras_kind *kind);
/* ---- einsum.c ---- */

/* An equation of EinsumDense: the dimensions of kernel and bias, and what comes out. Where it is quantised: those of
 * the scales of int8, and what the rows and columns of int4 are products of. */
struct sp_keras_einsum {
    struct sp_keras_shape kernel, bias, output, scale, rows, columns;
};
struct sp_keras_einsum sp_keras_einsum(struct sp_arena *arena, const struct sp_keras_kind *kind,
                                       const struct sp_keras_shape *input);

/* ---- write.c ---- */

void sp_keras_write(struct sp_keras_writer *writer, struct sp_keras_model *model, const struct sp_keras_kind *kind);

/* ---- compose.c ---- */

/* As sp_keras_compose, for the names alone where that is said: sizes that are not known are 1. */
enum shapeproof_status sp_keras_compose_for(bool names_alone, struct shapeproof_tables *tables,
                                            struct shapeproof_config *config,
                                            const struct shapeproof_inventory *inventory,
                                            struct shapeproof_error *error);

/* ---- names.c ---- */

/* How the file calls the variables of the model. `inventory` may be NULL. */
struct sp_variables *sp_keras_name_variables(struct sp_arena *arena, const struct sp_keras_model *model,
                                             const struct shapeproof_inventory *inventory);

/* When `config` was read from the configuration of a Keras model, or from no file at all and the checkpoint holds one:
 * adds the table keras_model to `tables`, with a line for each layer, and makes `config` that of the table, in which
 * the arguments of a layer stand under its name: "dense_1.units". Does nothing to any other configuration. `inventory`
 * says how the file calls the variables; NULL: as Keras does. Settings stay. SHAPEPROOF_ERR_UNKNOWN when the model is
 * no list of layers (a subclass, which only its own code knows), SHAPEPROOF_ERR_TABLE when the configuration cannot be
 * read. */
enum shapeproof_status sp_keras_compose(struct shapeproof_tables *tables, struct shapeproof_config *config,
                                        const struct shapeproof_inventory *inventory, struct shapeproof_error *error);

#endif
