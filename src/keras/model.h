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

/* How the shape of what a layer makes follows from the shape of its input. */
enum sp_keras_rule {
    SP_KERAS_INPUT,                /* InputLayer: the shape in its configuration */
    SP_KERAS_UNCHANGED,            /* Dropout: the shape of the input */
    SP_KERAS_UNITS,                /* Dense: the last axis becomes its units */
    SP_KERAS_EINSUM,               /* EinsumDense: the right side of its equation */
    SP_KERAS_EMBEDDING,            /* Embedding: one axis more */
    SP_KERAS_CONV,                 /* Conv2D: a window slides over the image, the channels become its filters */
    SP_KERAS_REVERSE,              /* Conv2DTranspose: a convolution the other way round */
    SP_KERAS_DEPTHWISE,            /* DepthwiseConv2D: the channels are multiplied */
    SP_KERAS_RECURRENT,            /* LSTM: its units, of the last step or of each */
    SP_KERAS_CONV_RECURRENT,       /* ConvLSTM2D: a convolution of each step */
    SP_KERAS_BIDIRECTIONAL,        /* that of the layer within, twice as wide if both are concatenated */
    SP_KERAS_TIME_DISTRIBUTED,     /* that of the layer within, for each step of time */
    SP_KERAS_WRAPPED,              /* SpectralNormalization: that of the layer within */
    SP_KERAS_MULTI_HEAD_ATTENTION, /* the shape of the query, or its output_shape in place of the last axis */
    SP_KERAS_ATTENTION,            /* the shape of the query with the width of the value */
    SP_KERAS_FLATTEN,              /* one axis, the product of all */
    SP_KERAS_RESHAPE,              /* its target_shape */
    SP_KERAS_PERMUTE,              /* the axes in another order */
    SP_KERAS_REPEAT,               /* RepeatVector: one axis more in front */
    SP_KERAS_POOL,                 /* MaxPooling2D: a window slides over the image, the channels stay */
    SP_KERAS_GLOBAL_POOL,          /* GlobalMaxPooling2D: the channels alone */
    SP_KERAS_UPSAMPLE,             /* UpSampling2D: the image is multiplied */
    SP_KERAS_PAD,                  /* ZeroPadding2D: something is added to the image */
    SP_KERAS_CROP,                 /* Cropping2D: something is taken from it */
    SP_KERAS_MERGE,                /* Add: the inputs are broadcast */
    SP_KERAS_OPERATION,            /* TFOpLambda: as Add for the functions that work element by element */
    SP_KERAS_OUTPUT_SHAPE,         /* Lambda: the output_shape in its configuration, if it has one */
    SP_KERAS_CONCATENATE,          /* Concatenate: the sum along one axis */
    SP_KERAS_OUTPUT_SIZE,          /* AdaptiveMaxPooling2D: its output_size */
    SP_KERAS_IMAGE_SIZE,           /* Resizing: its height and width */
    SP_KERAS_CATEGORY,             /* CategoryEncoding: an axis of the categories, or the index of one */
    SP_KERAS_TEXT,                 /* TextVectorization: the words of a text */
    SP_KERAS_DOT,                  /* Dot: the axes of both inputs without those that are summed over */
    SP_KERAS_MEL_SPECTROGRAM,      /* bins and steps of time, from samples */
    SP_KERAS_PIPELINE,             /* one layer of its list after the other */
    SP_KERAS_MODEL,                /* that of the model within */
    SP_KERAS_OTHER /* it cannot be told: what the configuration notes of the shape is used, where it does */
};

/* What of its input the weights of a layer depend on. */
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

/* A row of classes.def. */
struct sp_keras_class {
    const char *name;
    const char
        *part; /* of src/tables/keras, which has its weights; NULL: it has none, or they are those of layers within */
    enum sp_keras_rule rule;
    enum sp_keras_takes takes;
    unsigned axes;    /* of the image: 2 of Conv2D; 0 of what knows no image */
    const char *cell; /* of SP_KERAS_TAKES_CELL: what Keras calls the cell, "lstm_cell"; else NULL */
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
    struct sp_keras_layer *layer;     /* that makes it; NULL: none of the model */
    size_t node, tensor;              /* by which of its calls, and as which of the tensors that the call makes */
    struct shapeproof_value recorded; /* the shape that the configuration notes, with the batch */
    const char *word;                 /* of a keyword: "value"; or NULL */
};

/* One call of a layer. */
struct sp_keras_node {
    struct sp_keras_ref *refs; /* what it is given */
    size_t count;
    bool reverse;                         /* of an embedding: from vectors to words */
    bool busy, done;                      /* the shapes below are being worked out, or are known */
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
    bool is_operation;             /* no layer: a function of keras.ops */
    struct shapeproof_value build; /* its build_config, which notes the shape of its input */
    struct sp_keras_model *inner;  /* it is a model itself */
    struct sp_keras_model *owner;
    struct sp_keras_node *nodes;
    size_t node_count;
};

struct sp_keras_model {
    struct sp_keras_layer *layers;
    size_t count;
    struct sp_map names; /* of layers -> their index */
    bool is_sequential;  /* each layer is called with the output of the one before; otherwise each lists its calls */
    struct sp_keras_layer *outer;    /* that it is the inside of, or NULL */
    struct shapeproof_value built;   /* the shape that a sequential model notes of its input */
    struct shapeproof_value outputs; /* output_layers of a functional model */
    struct shapeproof_value root;    /* the configurations of its layers by key */
};

/* What a table is written into. */
struct sp_keras_writer {
    struct sp_arena *arena;
    bool objects;                       /* the file has names of objects: layers/dense_1/vars/0 */
    bool names_alone;                   /* sizes do not matter: what is not known is 1 */
    bool is_both_ways;                  /* what is written is within a Bidirectional */
    SP_ARRAY(const char *) definitions; /* expressions: the first is that of _1 */
    struct sp_text lines;               /* the sections of the table */
    struct sp_variables *variables;     /* how the file calls them; what is left out is added to its `unpredicted` */
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

/* The shape of argument `number` of call number `node` of a layer, found by way of the calls before it. `depth` is 0
 * for who asks; it bounds the recursion. */
struct sp_keras_shape sp_keras_input(struct sp_keras_writer *writer, struct sp_keras_layer *layer, size_t node,
                                     size_t number, unsigned depth);
/* The shape of what a kind of layer makes of `count` inputs; unknown where its configuration does not tell. */
struct sp_keras_shape sp_keras_output(struct sp_keras_writer *writer, const struct sp_keras_kind *kind,
                                      const struct sp_keras_shape *inputs, size_t count);
/* The shape without its first axis: what a layer for each step of time is given. */
struct sp_keras_shape sp_keras_slice(const struct sp_keras_shape *shape);
/* The dimension at an axis as Keras counts: 0 is the batch, 1 the first axis of the shape, -1 the last. NULL when it is
 * not known. */
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

/* Writes the sections of the table for a model; `kind` is the model itself. */
void sp_keras_write(struct sp_keras_writer *writer, struct sp_keras_model *model, const struct sp_keras_kind *kind);

/* ---- compose.c ---- */

/* What a table is composed for. */
enum sp_keras_purpose {
    SP_KERAS_NAMES_AND_SIZES, /* a layer whose input is not known is left out */
    SP_KERAS_NAMES_ALONE      /* sizes that are not known are 1 */
};

/* As sp_keras_compose, which is for names and sizes. */
enum shapeproof_status sp_keras_compose_for(enum sp_keras_purpose purpose, struct shapeproof_tables *tables,
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
 * no list of layers (a subclass, whose code alone defines them), SHAPEPROOF_ERR_TABLE when the configuration cannot be
 * read. */
enum shapeproof_status sp_keras_compose(struct shapeproof_tables *tables, struct shapeproof_config *config,
                                        const struct shapeproof_inventory *inventory, struct shapeproof_error *error);

#endif
