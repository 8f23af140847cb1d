/* SPDX-License-Identifier: MIT
 * Directories that hold several models, each with weights and a configuration of its own: pipelines of diffusers
 * (model_index.json) and sentence-transformers (modules.json). */
#ifndef SHAPEPROOF_COMPONENTS_H
#define SHAPEPROOF_COMPONENTS_H

#include <stddef.h>

#include "shapeproof/api.h"
#include "shapeproof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shapeproof_component_state {
    SHAPEPROOF_COMPONENT_MODEL = 0, /* there are weights, to be read at `path` */
    SHAPEPROOF_COMPONENT_PLAIN =
        1, /* there are none, and none are needed as far as is known: a tokenizer, a scheduler */
    SHAPEPROOF_COMPONENT_MISSING = 2 /* the folder is not there, or not the weights that its class has */
};

struct shapeproof_component {
    const char *name;       /* of its folder in the directory: "unet", "2_Dense"; "." for the directory itself */
    const char *library;    /* that has the class: "diffusers", "sentence_transformers" */
    const char *class_name; /* without modules: "UNet2DConditionModel", "Dense" */
    const char
        *model_class;   /* what tables call it, where its configuration does not say: "sentence_transformers.Dense" */
    const char *path;   /* of its folder, the directory included */
    const char *config; /* the path of its configuration, or NULL when there is none */
    enum shapeproof_component_state state;
    const char *note; /* why it is plain or missing: "no weights"; NULL of a model */
};

struct shapeproof_components; /* opaque: owns everything that the functions below return */

/* Reads which components the directory at `path` names. Of a pipeline of diffusers these are also the further models of
 * an entry that is several (controlnet_1 beside controlnet), and, as plain ones with a note, folders with weights that
 * its list does not name. There are none when it is a single checkpoint: a file, a
 * directory without such a list, or one whose only model lies in the directory itself. NULL with SHAPEPROOF_ERR_FILE
 * when the list is malformed, too long, or leads out of the directory. Free with shapeproof_components_free. */
SHAPEPROOF_API struct shapeproof_components *shapeproof_components_open(const char *path,
                                                                        struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_components_free(struct shapeproof_components *components);

/* All borrowed until shapeproof_components_free. */
SHAPEPROOF_API const char *
shapeproof_components_path(const struct shapeproof_components *components); /* as it was given */
/* In the order of the list. */
SHAPEPROOF_API size_t shapeproof_component_count(const struct shapeproof_components *components);
SHAPEPROOF_API const struct shapeproof_component *shapeproof_component(const struct shapeproof_components *components,
                                                                       size_t index);
/* Lets reports say of a component why there is nothing to compare, "the adapter has nothing for it". The note must
 * outlive the components. */
SHAPEPROOF_API void shapeproof_component_leave_out(struct shapeproof_components *components, size_t index,
                                                   const char *note);

#ifdef __cplusplus
}
#endif
#endif
