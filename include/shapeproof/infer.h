/* SPDX-License-Identifier: MIT
 * The lost configuration: which table explains a checkpoint, under which hyper-parameters. */
#ifndef SHAPEPROOF_INFER_H
#define SHAPEPROOF_INFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/config.h"
#include "shapeproof/inventory.h"
#include "shapeproof/prediction.h"
#include "shapeproof/table.h"
#include "shapeproof/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_inferred {
    const char *name; /* "vocab_size", "text_config.hidden_size" */
    struct shapeproof_value value;
    bool determined;     /* with any other value the table would not explain the file */
    const char *because; /* what told it, or why nothing could: "wte.weight, dimension 0" */
};

/* A table that was compared with the file. */
struct shapeproof_inference_candidate {
    const char *table;
    size_t explained; /* tensors of the file */
    size_t missing;   /* tensors that it predicts and the file lacks */
    bool same;        /* it says of this file what the chosen table says */
};

/* Something about how the file stores the model, or that its metadata contradict its tensors. */
struct shapeproof_inference_note {
    const char *id;      /* "names", "quantised", "incomplete", "joined", "transposed", "turned", "buffers",
                            "absent-buffers", "absent-shards", "parametrised", "beside", "metadata", "steps" */
    const char *message; /* a sentence without its end */
    const char *brief;   /* the same behind "explains all 30 tensors, ", or NULL */
};

struct shapeproof_inference; /* opaque */

struct shapeproof_infer_options {
    const char *table;                    /* the name of the one table to look at; NULL for all */
    const struct shapeproof_watch *watch; /* for progress, the end before its time, and a trace; NULL: none */
    uint64_t reserved[3];                 /* zero: room for later versions */
};

/* The table and hyper-parameters that explain most of a file. `options` may be NULL. NULL with SHAPEPROOF_ERR_UNKNOWN
 * when the file is evidence for none (the message names the nearest), SHAPEPROOF_ERR_USAGE when there is no table of
 * that name. The inventory and the tables must outlive the result. Deterministic; never reads tensor data. */
SHAPEPROOF_API struct shapeproof_inference *shapeproof_infer(const struct shapeproof_inventory *inventory,
                                                             const struct shapeproof_tables *tables,
                                                             const struct shapeproof_infer_options *options,
                                                             struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_inference_free(struct shapeproof_inference *inference);

/* All borrowed until shapeproof_inference_free. */

/* As it was given to shapeproof_infer. */
SHAPEPROOF_API const struct shapeproof_inventory *
shapeproof_inference_inventory(const struct shapeproof_inference *inference);
/* The name of the table that explains the file best. */
SHAPEPROOF_API const char *shapeproof_inference_table(const struct shapeproof_inference *inference);
/* The class that is written into the configuration, or "" when the table has no use for it. */
SHAPEPROOF_API const char *shapeproof_inference_class(const struct shapeproof_inference *inference);
/* What that table predicts under the hyper-parameters below. */
SHAPEPROOF_API const struct shapeproof_prediction *
shapeproof_inference_prediction(const struct shapeproof_inference *inference);
/* The hyper-parameters that the table reads, in its order. */
SHAPEPROOF_API size_t shapeproof_inference_count(const struct shapeproof_inference *inference);
SHAPEPROOF_API const struct shapeproof_inferred *shapeproof_inference_get(const struct shapeproof_inference *inference,
                                                                          size_t index);
/* The tensors of the file that are as predicted, and those that are not (as indices of the inventory). Trainer state is
 * in neither. */
SHAPEPROOF_API size_t shapeproof_inference_explained(const struct shapeproof_inference *inference);
SHAPEPROOF_API size_t shapeproof_inference_unexplained_count(const struct shapeproof_inference *inference);
SHAPEPROOF_API size_t shapeproof_inference_unexplained(const struct shapeproof_inference *inference, size_t index);
/* The predicted tensors that the file lacks (as indices of the prediction). */
SHAPEPROOF_API size_t shapeproof_inference_missing_count(const struct shapeproof_inference *inference);
SHAPEPROOF_API size_t shapeproof_inference_missing(const struct shapeproof_inference *inference, size_t index);
/* The tables that came close, the chosen one first. */
SHAPEPROOF_API size_t shapeproof_inference_candidate_count(const struct shapeproof_inference *inference);
SHAPEPROOF_API const struct shapeproof_inference_candidate *
shapeproof_inference_candidate(const struct shapeproof_inference *inference, size_t index);
/* What else is to be said: under which names, how quantised. */
SHAPEPROOF_API size_t shapeproof_inference_note_count(const struct shapeproof_inference *inference);
SHAPEPROOF_API const struct shapeproof_inference_note *
shapeproof_inference_note(const struct shapeproof_inference *inference, size_t index);
/* Nothing is unexplained or missing, stored the other way round, or incomplete, and the metadata of the file do not
 * contradict its tensors. */
SHAPEPROOF_API bool shapeproof_inference_explains_all(const struct shapeproof_inference *inference);
/* The keys of the configuration below whose values the file does not decide. */
SHAPEPROOF_API size_t shapeproof_inference_undetermined_count(const struct shapeproof_inference *inference);
SHAPEPROOF_API const char *shapeproof_inference_undetermined(const struct shapeproof_inference *inference,
                                                             size_t index);
/* The text of a config.json that predicts the same: model_type, architectures and the hyper-parameters; and
 * "shapeproof_undetermined", the list of the keys above, unless it is empty. */
SHAPEPROOF_API const char *shapeproof_inference_config(const struct shapeproof_inference *inference);
/* Sets the same in a configuration, as values that are "inferred". */
SHAPEPROOF_API void shapeproof_inference_configure(const struct shapeproof_inference *inference,
                                                   struct shapeproof_config *config);

#ifdef __cplusplus
}
#endif
#endif
