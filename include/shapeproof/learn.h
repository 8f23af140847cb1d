/* SPDX-License-Identifier: MIT
 * Tables from checkpoints: the program of the table language that says what each of some examples holds. */
#ifndef SHAPEPROOF_LEARN_H
#define SHAPEPROOF_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/config.h"
#include "shapeproof/inventory.h"
#include "shapeproof/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A checkpoint and the hyper-parameters that it was made with; `config` may be NULL. */
struct sp_learn_example {
    const struct sp_inventory *inventory;
    const struct sp_config *config;
};

/* A place where the examples allow more than one answer. */
struct sp_undecided {
    const char *chosen;       /* "hidden_size" */
    const char *alternatives; /* "4*num_attention_heads, n_positions"; "" for a number, or a long expression */
    const char *experiment;   /* "a checkpoint whose hidden_size is not 4*num_attention_heads" */
    size_t places;            /* dimensions, ends of loops and conditions that it would decide */
};

/* Where it was chosen. */
struct sp_undecided_place {
    const char *row; /* "h.{}.up.weight"; of a loop what its names begin with, and a star: "h.{}*" */
    int dimension;   /* of the shape; -1: whether there are such tensors, or how many; -2: whether they are buffers */
};

struct sp_learning; /* opaque */

/* Half a minute, about. A model of 3,000 tensors takes a thousandth of that. */
#define SP_LEARN_MOST_VALUES UINT64_C(2000000000)

struct sp_learn_options {
    const char *name;     /* of the table; NULL: the model_type, or "learned" */
    const char *like;     /* a table that is extended, where it fits, or whose letters are taken first; NULL: none */
    uint64_t most_values; /* that the search may compute, before it gives up; 0: SP_LEARN_MOST_VALUES */
    uint64_t reserved[4]; /* zero: room for later versions */
};

/* The table that explains `count` examples, one at least. `tables` are those whose parts may be used, whose letters are
 * taken for keys that they know, and of which one that has most of every example is extended. `options` may be NULL.
 * NULL with SP_ERR_USAGE when there is no example, or no table called `like`. What is given must outlive the result.
 * Deterministic; never reads tensor data. */
SP_API struct sp_learning *sp_learn(const struct sp_learn_example *examples, size_t count,
                                    const struct sp_tables *tables, const struct sp_learn_options *options,
                                    struct sp_error *error);
SP_API void sp_learning_free(struct sp_learning *learning);

/* All borrowed until sp_learning_free. */

/* The text of the table. Where not all is explained it holds the rest as comments. */
SP_API const char *sp_learning_text(const struct sp_learning *learning);
SP_API const char *sp_learning_name(const struct sp_learning *learning);
/* The table that the learnt one extends, or NULL. */
SP_API const char *sp_learning_base(const struct sp_learning *learning);
/* The table that predicts each example as it is, so that there was nothing to learn, or NULL. */
SP_API const char *sp_learning_known(const struct sp_learning *learning);
/* Expanded under the configuration of each example the table is what its file holds. */
SP_API bool sp_learning_is_proved(const struct sp_learning *learning);
SP_API size_t sp_learning_examples(const struct sp_learning *learning);
/* Tensors of all examples, and those that the table says. */
SP_API size_t sp_learning_tensors(const struct sp_learning *learning);
SP_API size_t sp_learning_explained(const struct sp_learning *learning);
/* What no expression explains, a sentence each. */
SP_API size_t sp_learning_rest_count(const struct sp_learning *learning);
SP_API const char *sp_learning_rest(const struct sp_learning *learning, size_t index);
/* What the examples do not decide, that which decides most first. */
SP_API size_t sp_learning_undecided_count(const struct sp_learning *learning);
SP_API struct sp_undecided sp_learning_undecided(const struct sp_learning *learning, size_t index);
/* `place` is less than its `places`. */
SP_API struct sp_undecided_place sp_learning_undecided_place(const struct sp_learning *learning, size_t index,
                                                             size_t place);
/* Keys that have one value in all examples, or flags of ties that nothing asks, so that these cannot show what they
 * change: "a, b, c"; or "". */
SP_API const char *sp_learning_unvaried(const struct sp_learning *learning);

#ifdef __cplusplus
}
#endif
#endif
