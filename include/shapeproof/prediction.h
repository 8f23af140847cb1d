/* SPDX-License-Identifier: MIT
 * A prediction: a table expanded under concrete hyper-parameters. */
#ifndef SHAPEPROOF_PREDICTION_H
#define SHAPEPROOF_PREDICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/config.h"
#include "shapeproof/dtype.h"
#include "shapeproof/inventory.h"
#include "shapeproof/table.h"
#include "shapeproof/value.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_predicted {
    const char *name;
    const uint64_t *shape; /* `rank` dimensions, outermost first */
    uint32_t rank;
    bool optional;               /* a file may lack it */
    bool buffer;                 /* stored beside the parameters: statistics, masks, positions */
    bool rows_only;              /* same_as: the first rows of that tensor, not all of it */
    enum shapeproof_dtype dtype; /* SHAPEPROOF_DTYPE_UNKNOWN when the table does not say */
    uint64_t parameters;         /* the product of the shape */
    uint64_t logical;            /* parameters of the model that it stands for: none for scales of a quantised weight */
    const char *stands_for;      /* the quantised weight in whose place it is stored, or NULL */
    size_t group;                /* index into the groups */
    size_t same_as;              /* index of the tensor that it is tied to, or SHAPEPROOF_NONE */
    const char *const *old_names; /* names that older files use for it */
    size_t old_name_count;
};

struct shapeproof_group {
    const char *name;
    uint64_t parameters; /* of the model, in tensors that are neither optional nor buffers nor tied to another */
};

/* Who says what value a hyper-parameter has. */
enum shapeproof_source {
    SHAPEPROOF_SOURCE_NONE = 0,    /* nobody: it is not set */
    SHAPEPROOF_SOURCE_CONFIG = 1,  /* the configuration: "config.json" */
    SHAPEPROOF_SOURCE_SETTING = 2, /* shapeproof_config_set: the command line */
    SHAPEPROOF_SOURCE_DEFAULT = 3, /* the table, for want of a value: the name of its file, and the line */
    SHAPEPROOF_SOURCE_TABLE = 4,   /* a table that uses this one (`with`): the table's name */
    SHAPEPROOF_SOURCE_OTHER = 5 /* what belongs to the configuration or to the checkpoint: "hf_quant_config.json", "the
                               file" */
};

struct shapeproof_provenance {
    enum shapeproof_source source;
    const char *name; /* of the file or table; NULL for SHAPEPROOF_SOURCE_NONE and SHAPEPROOF_SOURCE_SETTING */
    size_t line;      /* of SHAPEPROOF_SOURCE_DEFAULT */
};

/* "config.json", "command line", "default (gpt2.shapes:9)", "table llava". malloc'ed: free with shapeproof_free. */
SHAPEPROOF_API char *shapeproof_provenance_text(struct shapeproof_provenance from);

struct shapeproof_hyperparameter {
    const char *name; /* as in the file: "vocab_size", "text_config.hidden_size" */
    struct shapeproof_value value;
    struct shapeproof_provenance from;
};

struct shapeproof_predicted_totals {
    uint64_t tensors;           /* that are not optional */
    uint64_t parameters;        /* of the model, in those, without buffers */
    uint64_t unique_parameters; /* without those that are tied to another */
    uint64_t buffers;           /* elements of the buffers that are not optional */
    uint64_t bytes; /* that a file has of all these, those that are tied once; 0: not every dtype is known */
};

struct shapeproof_prediction; /* opaque; keeps the tables and the config alive only by the caller's promise */

struct shapeproof_predict_options {
    const char *table; /* the name of the table; NULL: the one that model_type and architectures[0] choose */
    /* In place of the weights that quantization_config in the configuration quantises, what is stored for them. What
     * the table leaves open has the dtype that the configuration says, if it says one. */
    bool stored;
    uint64_t most_tensors; /* a prediction of more is an error; 0: the usual limit, 4,000,000 */
    uint64_t reserved[3];  /* zero: room for later versions */
};

/* Chooses a table and expands it. `options` may be NULL. NULL with an error: SHAPEPROOF_ERR_UNKNOWN when no table
 * serves the architecture, SHAPEPROOF_ERR_TABLE when a hyper-parameter is missing or makes no sense (the message has
 * each place in the table file), SHAPEPROOF_ERR_USAGE when there is no table of that name. `tables` and `config` must
 * outlive the prediction. */
SHAPEPROOF_API struct shapeproof_prediction *shapeproof_predict(const struct shapeproof_tables *tables,
                                                                const struct shapeproof_config *config,
                                                                const struct shapeproof_predict_options *options,
                                                                struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_prediction_free(struct shapeproof_prediction *prediction);

/* All borrowed until shapeproof_prediction_free. */

/* The name of the table that was chosen. */
SHAPEPROOF_API const char *shapeproof_prediction_table(const struct shapeproof_prediction *prediction);
/* The path of the user's file that the table is from; NULL for a built-in table, or one made of a Keras model. */
SHAPEPROOF_API const char *shapeproof_prediction_table_file(const struct shapeproof_prediction *prediction);
/* The tensors in the order of the table, each under a name of its own. */
SHAPEPROOF_API size_t shapeproof_prediction_count(const struct shapeproof_prediction *prediction);
SHAPEPROOF_API const struct shapeproof_predicted *
shapeproof_prediction_tensor(const struct shapeproof_prediction *prediction, size_t index);
/* Index of the tensor with that exact name, or SHAPEPROOF_NONE. Old names do not count. */
SHAPEPROOF_API size_t shapeproof_prediction_find(const struct shapeproof_prediction *prediction, const char *name);
/* The groups in the order of the table; what stands above the first heading is the group "". */
SHAPEPROOF_API size_t shapeproof_prediction_group_count(const struct shapeproof_prediction *prediction);
SHAPEPROOF_API const struct shapeproof_group *
shapeproof_prediction_group(const struct shapeproof_prediction *prediction, size_t index);
/* The hyper-parameters that the table looked at, in that order. */
SHAPEPROOF_API size_t shapeproof_prediction_hyperparameter_count(const struct shapeproof_prediction *prediction);
SHAPEPROOF_API const struct shapeproof_hyperparameter *
shapeproof_prediction_hyperparameter(const struct shapeproof_prediction *prediction, size_t index);
SHAPEPROOF_API const struct shapeproof_predicted_totals *
shapeproof_prediction_totals(const struct shapeproof_prediction *prediction);
/* What the data of all predicted tensors take in a file: without optional ones, with buffers, those that are tied once.
 */
struct shapeproof_predicted_size {
    uint64_t bytes;              /* 0: the sum does not fit in 64 bits */
    enum shapeproof_dtype dtype; /* of the tensors for which the table says none; UNKNOWN: it says all */
    const char *key;             /* of the configuration, that says so: "torch_dtype"; or NULL. Static */
    bool assumed;                /* nothing says so of some tensors */
    bool scales_alone;           /* with `assumed`: these are scales of a quantiser, and `dtype` is known of others */
};

/* `dtype`: of the tensors for which the table says none; UNKNOWN: what the configuration says, or else F32 is assumed.
 */
SHAPEPROOF_API struct shapeproof_predicted_size
shapeproof_prediction_size(const struct shapeproof_prediction *prediction, const struct shapeproof_config *config,
                           enum shapeproof_dtype dtype);
/* What is odd about the configuration that was read, as shapeproof_config_remark says it. */
SHAPEPROOF_API size_t shapeproof_prediction_remark_count(const struct shapeproof_prediction *prediction);
SHAPEPROOF_API const char *shapeproof_prediction_remark(const struct shapeproof_prediction *prediction, size_t index);
/* Settings (shapeproof_config_set) that the table never looked at. */
SHAPEPROOF_API size_t shapeproof_prediction_unused_count(const struct shapeproof_prediction *prediction);
SHAPEPROOF_API const char *shapeproof_prediction_unused(const struct shapeproof_prediction *prediction, size_t index);

/* A key of the configuration that nothing reads, and one that the table looked for and did not find. */
struct shapeproof_misspelt {
    const char *key;   /* without the object that it is in */
    const char *meant; /* the whole of it */
};

/* Each in turn: start with *position = 0; false behind the last. */
SHAPEPROOF_API bool shapeproof_prediction_misspelt(const struct shapeproof_prediction *prediction,
                                                   const struct shapeproof_config *config, size_t *position,
                                                   struct shapeproof_misspelt *found);
/* A dimension in terms of hyper-parameters: "vocab_size", "3*n_embd". malloc'ed: free with shapeproof_free. */
SHAPEPROOF_API char *shapeproof_prediction_dimension(const struct shapeproof_prediction *prediction, size_t tensor,
                                                     uint32_t dimension);

#ifdef __cplusplus
}
#endif
#endif
