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
#include "shapeproof/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A checkpoint and the hyper-parameters that it was made with; `config` may be NULL. */
struct shapeproof_learn_example {
    const struct shapeproof_inventory *inventory;
    const struct shapeproof_config *config;
};

/* A place where the examples allow more than one answer. */
struct shapeproof_undecided {
    const char *chosen;       /* "hidden_size" */
    const char *alternatives; /* "4*num_attention_heads, n_positions"; "" for a number, or a long expression */
    const char *experiment;   /* "a checkpoint whose hidden_size is not 4*num_attention_heads" */
    size_t places;            /* dimensions, ends of loops and conditions that it would decide */
};

/* Where it was chosen. */
struct shapeproof_undecided_place {
    const char *row; /* "h.{}.up.weight"; of a loop what its names begin with, and a star: "h.{}*" */
    int dimension;   /* of the shape; -1: whether there are such tensors, or how many; -2: whether they are buffers */
};

struct shapeproof_learning; /* opaque */

/* Half a minute, about. A model of 3,000 tensors takes a thousandth of that. */
#define SHAPEPROOF_LEARN_MOST_VALUES UINT64_C(2000000000)

struct shapeproof_learn_options {
    const char *name;     /* of the table; NULL: the model_type, or "learned" */
    const char *like;     /* a table that is extended, where it fits, or whose letters are taken first; NULL: none */
    uint64_t most_values; /* that the search may compute, before it gives up; 0: SHAPEPROOF_LEARN_MOST_VALUES */
    const struct shapeproof_watch *watch; /* for progress, the end before its time, and a trace; NULL: none */
    uint64_t reserved[3];                 /* zero: room for later versions */
};

/* The table that explains `count` examples, one at least. `tables` are those whose parts may be used, whose letters are
 * taken for keys that they know, and of which one that has most of every example is extended. `options` may be NULL.
 * NULL with SHAPEPROOF_ERR_USAGE when there is no example, or no table called `like`. What is given must outlive the
 * result. Deterministic; never reads tensor data. */
SHAPEPROOF_API struct shapeproof_learning *shapeproof_learn(const struct shapeproof_learn_example *examples,
                                                            size_t count, const struct shapeproof_tables *tables,
                                                            const struct shapeproof_learn_options *options,
                                                            struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_learning_free(struct shapeproof_learning *learning);

/* All borrowed until shapeproof_learning_free. */

/* The text of the table. Where not all is explained it holds the rest as comments. */
SHAPEPROOF_API const char *shapeproof_learning_text(const struct shapeproof_learning *learning);
SHAPEPROOF_API const char *shapeproof_learning_name(const struct shapeproof_learning *learning);
/* The table that the learnt one extends, or NULL. */
SHAPEPROOF_API const char *shapeproof_learning_base(const struct shapeproof_learning *learning);
/* The table that predicts each example as it is, so that there was nothing to learn, or NULL. */
SHAPEPROOF_API const char *shapeproof_learning_known(const struct shapeproof_learning *learning);
/* Expanded under the configuration of each example the table is what its file holds. */
SHAPEPROOF_API bool shapeproof_learning_is_proved(const struct shapeproof_learning *learning);
SHAPEPROOF_API size_t shapeproof_learning_examples(const struct shapeproof_learning *learning);
/* Tensors of all examples, and those that the table says. */
SHAPEPROOF_API size_t shapeproof_learning_tensors(const struct shapeproof_learning *learning);
SHAPEPROOF_API size_t shapeproof_learning_explained(const struct shapeproof_learning *learning);
/* What no expression explains, a sentence each. */
SHAPEPROOF_API size_t shapeproof_learning_rest_count(const struct shapeproof_learning *learning);
SHAPEPROOF_API const char *shapeproof_learning_rest(const struct shapeproof_learning *learning, size_t index);
/* What the examples do not decide, that which decides most first. */
SHAPEPROOF_API size_t shapeproof_learning_undecided_count(const struct shapeproof_learning *learning);
SHAPEPROOF_API const struct shapeproof_undecided *
shapeproof_learning_undecided(const struct shapeproof_learning *learning, size_t index);
/* `place` is less than its `places`. */
SHAPEPROOF_API const struct shapeproof_undecided_place *
shapeproof_learning_undecided_place(const struct shapeproof_learning *learning, size_t index, size_t place);
/* Keys that have one value in all examples, or flags of ties that nothing asks, so that these cannot show what they
 * change: "a, b, c"; or "". */
SHAPEPROOF_API const char *shapeproof_learning_unvaried(const struct shapeproof_learning *learning);

#ifdef __cplusplus
}
#endif
#endif
