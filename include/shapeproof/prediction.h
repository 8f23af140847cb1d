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

struct sp_predicted {
    const char *name;
    const uint64_t *shape; /* `rank` dimensions, outermost first */
    uint32_t rank;
    bool optional;          /* a file may lack it */
    bool buffer;            /* stored beside the parameters: statistics, masks, positions */
    bool rows_only;         /* same_as: the first rows of that tensor, not all of it */
    enum sp_dtype dtype;    /* SP_DTYPE_UNKNOWN when the table does not say */
    uint64_t parameters;    /* the product of the shape */
    uint64_t logical;       /* parameters of the model that it stands for: none for scales of a quantised weight */
    const char *stands_for; /* the quantised weight in whose place it is stored, or NULL */
    size_t group;           /* index into the groups */
    size_t same_as;         /* index of the tensor that it is tied to, or SP_NONE */
    const char *const *old_names; /* names that older files use for it */
    size_t old_name_count;
};

struct sp_group {
    const char *name;
    uint64_t parameters; /* of the model, in tensors that are neither optional nor buffers nor tied to another */
};

/* Who says what value a hyper-parameter has. */
enum sp_source {
    SP_SOURCE_NONE,    /* nobody: it is not set */
    SP_SOURCE_CONFIG,  /* the configuration: "config.json" */
    SP_SOURCE_SETTING, /* sp_config_set: the command line */
    SP_SOURCE_DEFAULT, /* the table, for want of a value: the name of its file, and the line */
    SP_SOURCE_TABLE,   /* a table that uses this one (`with`): the table's name */
    SP_SOURCE_OTHER    /* what belongs to the configuration or to the checkpoint: "hf_quant_config.json", "the file" */
};

struct sp_provenance {
    enum sp_source source;
    const char *name; /* of the file or table; NULL for SP_SOURCE_NONE and SP_SOURCE_SETTING */
    size_t line;      /* of SP_SOURCE_DEFAULT */
};

/* "config.json", "command line", "default (gpt2.shapes:9)", "table llava". malloc'ed: free with sp_free. */
SP_API char *sp_provenance_text(struct sp_provenance from);

struct sp_hyperparameter {
    const char *name; /* as in the file: "vocab_size", "text_config.hidden_size" */
    struct sp_value value;
    struct sp_provenance from;
};

struct sp_predicted_totals {
    uint64_t tensors;           /* that are not optional */
    uint64_t parameters;        /* of the model, in those, without buffers */
    uint64_t unique_parameters; /* without those that are tied to another */
    uint64_t buffers;           /* elements of the buffers that are not optional */
    uint64_t bytes; /* that a file has of all these, those that are tied once; 0: not every dtype is known */
};

struct sp_prediction; /* opaque; keeps the tables and the config alive only by the caller's promise */

struct sp_predict_options {
    const char *table; /* the name of the table; NULL: the one that model_type and architectures[0] choose */
    /* In place of the weights that quantization_config in the configuration quantises, what is stored for them. What
     * the table leaves open has the dtype that the configuration says, if it says one. */
    bool stored;
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* Chooses a table and expands it. `options` may be NULL. NULL with an error: SP_ERR_UNKNOWN when no table serves the
 * architecture, SP_ERR_TABLE when a hyper-parameter is missing or makes no sense (the message has each place in the
 * table file), SP_ERR_USAGE when there is no table of that name. `tables` and `config` must outlive the prediction. */
SP_API struct sp_prediction *sp_predict(const struct sp_tables *tables, const struct sp_config *config,
                                        const struct sp_predict_options *options, struct sp_error *error);
/* When sp_predict has failed with SP_ERR_TABLE and `message`: which setting is to blame, if one is of another kind than
 * the table can use: "--set n_layer=abc: expected an integer, found a text"; or NULL. malloc'ed: free with sp_free. */
SP_API char *sp_mistyped_setting(const struct sp_tables *tables, const struct sp_config *config,
                                 const struct sp_predict_options *options, const char *message);
SP_API void sp_prediction_free(struct sp_prediction *prediction);

/* All borrowed until sp_prediction_free. */

/* The name of the table that was chosen. */
SP_API const char *sp_prediction_table(const struct sp_prediction *prediction);
/* The path of the user's file that the table is from; NULL for a built-in table, or one made of a Keras model. */
SP_API const char *sp_prediction_table_file(const struct sp_prediction *prediction);
/* The tensors in the order of the table, each under a name of its own. */
SP_API size_t sp_prediction_count(const struct sp_prediction *prediction);
SP_API const struct sp_predicted *sp_prediction_tensor(const struct sp_prediction *prediction, size_t index);
/* Index of the tensor with that exact name, or SP_NONE. Old names do not count. */
SP_API size_t sp_prediction_find(const struct sp_prediction *prediction, const char *name);
/* The groups in the order of the table; what stands above the first heading is the group "". */
SP_API size_t sp_prediction_group_count(const struct sp_prediction *prediction);
SP_API struct sp_group sp_prediction_group(const struct sp_prediction *prediction, size_t index);
/* The hyper-parameters that the table looked at, in that order. */
SP_API size_t sp_prediction_hyperparameter_count(const struct sp_prediction *prediction);
SP_API struct sp_hyperparameter sp_prediction_hyperparameter(const struct sp_prediction *prediction, size_t index);
SP_API struct sp_predicted_totals sp_prediction_totals(const struct sp_prediction *prediction);
/* Settings from the command line that the table never looked at. */
/* What is odd about the configuration that was read, as sp_config_remark says it. */
SP_API size_t sp_prediction_remark_count(const struct sp_prediction *prediction);
SP_API const char *sp_prediction_remark(const struct sp_prediction *prediction, size_t index);
SP_API size_t sp_prediction_unused_count(const struct sp_prediction *prediction);
SP_API const char *sp_prediction_unused(const struct sp_prediction *prediction, size_t index);
/* Whether there is reason to set such a key: the table would look at it if others had other values, other tables know
 * it and it is no slip for one of this one, something else than the table looks at it, or the file has it as well. */
SP_API bool sp_prediction_could_read(const struct sp_prediction *prediction, const struct sp_tables *tables,
                                     const struct sp_config *config, const char *key);
/* The key that was looked at and is spelt most like this one, or NULL. */
SP_API const char *sp_prediction_key_like(const struct sp_prediction *prediction, const char *key);

/* A key of the configuration that nothing reads, and one that the table looked for and did not find. */
struct sp_misspelt {
    const char *key;   /* without the object that it is in */
    const char *meant; /* the whole of it */
};

/* Each in turn: start with *position = 0; false behind the last. */
SP_API bool sp_prediction_misspelt(const struct sp_prediction *prediction, const struct sp_config *config,
                                   size_t *position, struct sp_misspelt *found);
/* A dimension in terms of hyper-parameters: "vocab_size", "3*n_embd". malloc'ed: free with sp_free. */
SP_API char *sp_prediction_dimension(const struct sp_prediction *prediction, size_t tensor, uint32_t dimension);

#ifdef __cplusplus
}
#endif
#endif
