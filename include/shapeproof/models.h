/* SPDX-License-Identifier: MIT
 * The library of published models: their names and hyper-parameters, the source of these, and the number of parameters
 * that was published. */
#ifndef SHAPEPROOF_MODELS_H
#define SHAPEPROOF_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/config.h"
#include "shapeproof/error.h"
#include "shapeproof/value.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_model {
    const char *name;               /* "gpt2-xl" */
    const char *hub;                /* its name on the Hugging Face hub, "openai-community/gpt2-xl"; or NULL */
    const char *published;          /* the number of parameters that its authors give, "1558M"; or NULL */
    uint64_t parameters;            /* the number that its own framework counts; 0 where nobody has counted it so */
    const char *source;             /* where the hyper-parameters were read */
    const char *type;               /* its model_type, or the name of its architecture; or "" */
    const char *file;               /* of the library: "gpt2.json" */
    struct shapeproof_value config; /* its hyper-parameters as config.json has them: an object */
    const char *alias;              /* a shorter name that people write, "mistral-7b"; or NULL */
};

struct shapeproof_models; /* opaque */

/* Reads the library, which is built in. NULL with an error when a file of it is wrong. */
SHAPEPROOF_API struct shapeproof_models *shapeproof_models_new(struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_models_free(struct shapeproof_models *models);

/* All borrowed until shapeproof_models_free. */

/* In the order of the files, and within a file as they stand there. */
SHAPEPROOF_API size_t shapeproof_models_count(const struct shapeproof_models *models);
SHAPEPROOF_API const struct shapeproof_model *shapeproof_models_get(const struct shapeproof_models *models,
                                                                    size_t index);
/* By its name, its alias or its name on the hub, or what is behind the slash of a name; capitals do not matter. NULL
 * when there is none. */
SHAPEPROOF_API const struct shapeproof_model *shapeproof_models_find(const struct shapeproof_models *models,
                                                                     const char *name);
/* The model that is called nearly so, or NULL. */
SHAPEPROOF_API const struct shapeproof_model *shapeproof_models_like(const struct shapeproof_models *models,
                                                                     const char *name);
/* Whether it has the text in its name, alias, name on the hub or type; NULL: always. Capitals do not matter. */
SHAPEPROOF_API bool shapeproof_models_fits(const struct shapeproof_models *models, size_t index, const char *text);
/* Makes the configuration that of the model, in place of what a file said; settings win over it, as over a file.
 * Reports name the model where they would name the file. The model may be freed afterwards. */
SHAPEPROOF_API void shapeproof_config_take_model(struct shapeproof_config *config,
                                                 const struct shapeproof_model *model);
/* The name of that model, or "" where the values are not those of one. Borrowed from the configuration. */
SHAPEPROOF_API const char *shapeproof_config_model(const struct shapeproof_config *config);

#ifdef __cplusplus
}
#endif
#endif
