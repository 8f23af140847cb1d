/* SPDX-License-Identifier: MIT
 * What loaders make of a checkpoint: which of the model's parameters they take from it, which stay newly initialised.
 * That is another question than whether it is the model that the configuration promises. */
#ifndef SHAPEPROOF_LOAD_H
#define SHAPEPROOF_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "shapeproof/api.h"
#include "shapeproof/check.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shapeproof_loading_answer {
    SHAPEPROOF_LOADING_WHOLE = 0, /* nothing new, nothing lost, nothing of another shape */
    SHAPEPROOF_LOADING_IN_PART =
        1, /* it loads, but parameters are newly initialised, or some of the file are dropped */
    SHAPEPROOF_LOADING_REFUSED = 2,
    SHAPEPROOF_LOADING_UNKNOWN = 3 /* what the loader does is not known well enough */
};

struct shapeproof_loading {
    const char *loader; /* its id: "transformers" */
    const char *name;   /* "transformers 5" */
    enum shapeproof_loading_answer answer;
    size_t expected;     /* tensors that the model has in memory, as the loader counts them */
    size_t fresh;        /* of those, newly initialised; when it is refused, missing */
    size_t ignored;      /* that the loader makes from the file, and does not use */
    size_t lost;         /* of those, what is no buffer, copy or state of a trainer */
    size_t reshaped;     /* of the model, there in another shape */
    const char *message; /* a sentence that begins with the loader: "transformers 5 loads it: nothing new, 2 ignored" */
    const char *remedy;  /* the change after which it is taken whole: "strip 'module.'"; or NULL */
    bool decides;        /* the loader, given the directory, chooses this file by its name, beside a config.json; and
                          * not every difference is expected, or the loader refuses the configuration itself. Unless
                          * loaders are named, `shapeproof check` then ends with 0 only if the file is taken whole */
};

struct shapeproof_loadings; /* opaque */

/* `loaders`: ids with commas between them, or "all", or "none"; NULL for the one that the file is meant for, if that
 * can be told: then there may be none. SHAPEPROOF_ERR_USAGE when there is no loader of that id. A file of the
 * checkpoint's folder that a loader would take in place of the one that was checked is read. `check` must outlive the
 * result. */
SHAPEPROOF_API struct shapeproof_loadings *shapeproof_loadings_new(const struct shapeproof_check *check,
                                                                   const char *loaders, struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_loadings_free(struct shapeproof_loadings *loadings);

/* All borrowed until shapeproof_loadings_free. */
SHAPEPROOF_API size_t shapeproof_loading_count(const struct shapeproof_loadings *loadings);
SHAPEPROOF_API const struct shapeproof_loading *shapeproof_loading(const struct shapeproof_loadings *loadings,
                                                                   size_t index);
/* The first that decides and does not take the file whole; NULL when there is none. */
SHAPEPROOF_API const struct shapeproof_loading *shapeproof_loading_failed(const struct shapeproof_loadings *loadings);
/* Why the loader of the library that the configuration is of makes no model of it, whatever is in the file:
 * "transformers 5 refuses it: hidden_size 4096 is no multiple of num_attention_heads 33". Keys that the configuration
 * leaves out have the defaults of `table`, the name of a table or NULL, as in struct shapeproof_predict_options;
 * `prediction` is made of both. malloc'ed: free with shapeproof_free. NULL if no reason is known, or with the error. */
SHAPEPROOF_API char *shapeproof_loading_objection(const struct shapeproof_tables *tables,
                                                  const struct shapeproof_config *config, const char *table,
                                                  const struct shapeproof_prediction *prediction,
                                                  struct shapeproof_error *error);
SHAPEPROOF_API const char *
shapeproof_loading_answer_name(enum shapeproof_loading_answer answer); /* "whole", "in part", "refused", "unknown" */

#ifdef __cplusplus
}
#endif
#endif
