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

enum sp_loading_answer {
    SP_LOADING_WHOLE,   /* nothing new, nothing lost, nothing of another shape */
    SP_LOADING_IN_PART, /* it loads, but parameters are newly initialised, or some of the file are dropped */
    SP_LOADING_REFUSED,
    SP_LOADING_UNKNOWN /* what the loader does is not known well enough */
};

struct sp_loading {
    const char *loader; /* its id: "transformers" */
    const char *name;   /* "transformers 5" */
    enum sp_loading_answer answer;
    size_t expected;     /* tensors that the model has in memory, as the loader counts them */
    size_t fresh;        /* of those, newly initialised; when it is refused, missing */
    size_t ignored;      /* of the file, not taken */
    size_t lost;         /* of those, what is no buffer, copy or state of a trainer */
    size_t reshaped;     /* of the model, there in another shape */
    const char *message; /* a sentence that begins with the loader: "transformers 5 loads it: nothing new, 2 ignored" */
    const char *remedy;  /* the change after which it is taken whole: "strip 'module.'"; or NULL */
    bool decides;        /* the loader takes this very file of its directory, beside a config.json, and not all that is
                          * wrong with it is expected: `shapeproof check` ends with 0 only if it is taken whole */
};

struct sp_loadings; /* opaque */

/* `loaders`: ids with commas between them, or "all", or "none"; NULL for the one that the file is meant for, if that
 * can be told: then there may be none. SP_ERR_USAGE when there is no loader of that id. A file of the checkpoint's
 * folder that a loader would take in place of the one that was checked is read. `check` must outlive the result. */
SP_API struct sp_loadings *sp_loadings_new(const struct sp_check *check, const char *loaders, struct sp_error *error);
SP_API void sp_loadings_free(struct sp_loadings *loadings);

/* All borrowed until sp_loadings_free. */
SP_API size_t sp_loading_count(const struct sp_loadings *loadings);
SP_API const struct sp_loading *sp_loading(const struct sp_loadings *loadings, size_t index);
/* The first that decides and does not take the file whole; NULL when there is none. */
SP_API const struct sp_loading *sp_loading_failed(const struct sp_loadings *loadings);
SP_API const char *sp_loading_answer_name(enum sp_loading_answer answer); /* "whole", "in part", "refused", "unknown" */

#ifdef __cplusplus
}
#endif
#endif
