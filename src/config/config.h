/* SPDX-License-Identifier: MIT */
#ifndef SP_CONFIG_CONFIG_H
#define SP_CONFIG_CONFIG_H

#include "lang/hyper.h"
#include "shapeproof/config.h"

struct sp_storage;
struct sp_variables;

struct sp_setting {
    const char *path;
    struct shapeproof_value value;
    bool derived; /* from a file that belongs to the configuration: gone when another is loaded */
};

enum { SP_CONFIG_MAX_REMARKS = 8 };

struct shapeproof_config {
    struct sp_arena arena;
    const char *path;                  /* of the file, or "" */
    struct shapeproof_value file_root; /* what the file said */
    struct shapeproof_value original;  /* the same of the model that a GGUF file was made of; file_root has less */
    struct sp_setting *settings;
    struct sp_override *overrides; /* parallel to settings */
    size_t setting_count, setting_capacity, override_capacity;
    const struct sp_scope *scope;     /* sp_config_limit; NULL: none */
    const struct sp_storage *storage; /* sp_config_store; NULL: predictions are of the model, not of what is stored */
    bool loose;                       /* sp_config_loosen */
    const char *place;                /* shapeproof_config_place */
    const char *label;                /* what the configuration is called in place of its file; NULL: as the file */
    const char *model;                /* the published model that the values are of; NULL: of none */
    struct sp_variables *variables;   /* how the file calls the variables of a Keras model; NULL: it is none */
    bool owns_variables;
    const char *remarks[SP_CONFIG_MAX_REMARKS]; /* what is odd about the file, a sentence each, in the arena */
    size_t remark_count;
    struct sp_hyper hyper; /* file_root with the settings in it */
    uint64_t input;        /* bytes of the texts and settings that were given; 0: of a variant */
};

/* The call that is under way works on it (base/budget.h). */
void sp_config_reuse(const struct shapeproof_config *config);

/* The hyper-parameters in force. Borrowed; good until the config changes. */
const struct sp_hyper *sp_config_hyper(const struct shapeproof_config *config);
/* All of it is restored when the call fails: for public functions that change it. */
void sp_config_keep(struct shapeproof_config *config);
/* A copy to which one more setting can be made, for "what if" questions; the values are shared with `config`, which
 * must outlive it. Free with shapeproof_config_free. */
struct shapeproof_config *sp_config_variant(const struct shapeproof_config *config);
/* The same without the setting of that index; SHAPEPROOF_NONE: with all of them. */
struct shapeproof_config *sp_config_without(const struct shapeproof_config *config, size_t left_out);
/* shapeproof_config_beside without an error: faults are noted for the search that it is a part of (base/fault.h). */
char *sp_config_beside(const char *checkpoint_path);
/* The path of config.json in the folder of the checkpoint if it is there, but is no regular file: a link that leads
 * nowhere, a folder, a FIFO. Loading it fails with the reason. NULL if there is nothing of that name. To be freed. */
char *sp_config_unreadable_beside(const char *checkpoint_path);
/* Sets a value by its dotted path, as shapeproof_config_set does. The value and `from`, which says where it is from for
 * SHAPEPROOF_SOURCE_OTHER, must outlive the config. */
void sp_config_set_value(struct shapeproof_config *config, const char *path, struct shapeproof_value value,
                         const char *from);
/* Takes the values of `root`, an object that must outlive the config, in place of a file's. */
void sp_config_set_root(struct shapeproof_config *config, struct shapeproof_value root);
/* The same for a published model of that name: forgets the file that was loaded. */
void sp_config_set_model(struct shapeproof_config *config, struct shapeproof_value root, const char *name);
/* Takes the values of `root` in place of a file's. Of a Keras model, whose configuration was composed from its layers,
 * also how the values are called in reports, and how the file calls the variables, which the config frees; otherwise
 * both are NULL. */
void sp_config_compose(struct shapeproof_config *config, struct shapeproof_value root, const char *label,
                       struct sp_variables *variables);

/* Limits what predictions from this config expand. The scope is borrowed. */
void sp_config_limit(struct shapeproof_config *config, const struct sp_scope *scope);

/* Predictions from this config list what is stored where weights are quantised, and not the weights. The storage (see
 * quantised.h) is borrowed; NULL: the weights. */
void sp_config_store(struct shapeproof_config *config, const struct sp_storage *storage);

/* Predictions from this config leave tensors untied that are tied and of different shapes. */
void sp_config_loosen(struct shapeproof_config *config);

/* Likewise for what another file says about this configuration: gone when another one is loaded. `from` is copied. */
void sp_config_derive(struct shapeproof_config *config, const char *path, struct shapeproof_value value,
                      const char *from);

/* The first keys of the file that neither the prediction read nor a tool beside it does, at most `most`; returns how
 * many. Borrowed from the config. */
size_t sp_prediction_unread(const struct shapeproof_prediction *prediction, const struct shapeproof_config *config,
                            const char **keys, size_t most);

/* The dtype that a configuration says of the weights, "torch_dtype": "bfloat16", and the key that says it;
 * SHAPEPROOF_DTYPE_UNKNOWN when it says none, or one that is not PyTorch's for weights. */
enum shapeproof_dtype sp_configured_dtype(const struct sp_hyper *hyper, const char **key);

/* The lines of a .hpm file as an object (see hpm.c). */
bool sp_hpm_parse(struct sp_arena *arena, const char *text, struct shapeproof_value *root,
                  struct shapeproof_error *error);

#endif
