/* SPDX-License-Identifier: MIT
 * Hyper-parameters: out of config.json, a Sockeye `config`, a .hpm file (nparam, sockeye-recipes), single settings. */
#ifndef SHAPEPROOF_CONFIG_H
#define SHAPEPROOF_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "shapeproof/api.h"
#include "shapeproof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_config; /* opaque */

/* Without any hyper-parameter. Never NULL. */
SHAPEPROOF_API struct shapeproof_config *shapeproof_config_new(void);
/* Reads a file: `key=value` lines when its name ends in .hpm; YAML when it ends in .yaml or .yml, or is `config` (which
 * Sockeye writes) and no JSON object; else JSON. Of a checkpoint what it has in itself: the metadata of GGUF, the
 * layers of a Keras model, the arguments that a program has saved beside the tensors. Replaces what an earlier file
 * said. Nothing in a .hpm file is executed, nothing that a YAML tag names constructed. Returns SHAPEPROOF_OK, or
 * SHAPEPROOF_ERR_TABLE when the file is wrong or missing. */
SHAPEPROOF_API enum shapeproof_status shapeproof_config_load(struct shapeproof_config *config, const char *path,
                                                             struct shapeproof_error *error);
/* Likewise from a text in memory. `name` stands for the path in messages, and its ending tells the format. No file is
 * read, also not those that shapeproof_config_load reads beside a configuration. Both are copied. */
SHAPEPROOF_API enum shapeproof_status shapeproof_config_load_text(struct shapeproof_config *config, const char *name,
                                                                  const char *text, size_t length,
                                                                  struct shapeproof_error *error);
/* What is odd about that file and no reason to refuse it, a sentence each: a key that is there twice, code in the
 * configuration of a Keras model. Borrowed until another file is loaded or the config freed. */
SHAPEPROOF_API size_t shapeproof_config_remark_count(const struct shapeproof_config *config);
SHAPEPROOF_API const char *shapeproof_config_remark(const struct shapeproof_config *config, size_t index);
/* One "key=value"; the value is JSON, or text when it is not. A dotted key reaches into a sub-configuration:
 * "text_config.vocab_size=32000". Wins over every file. SHAPEPROOF_ERR_USAGE when there is no '='. */
SHAPEPROOF_API enum shapeproof_status shapeproof_config_set(struct shapeproof_config *config, const char *setting,
                                                            struct shapeproof_error *error);
struct shapeproof_inventory;
struct shapeproof_tables;
/* Whether the checkpoint has the configuration of its model in itself: the metadata of a GGUF file, the layers that a
 * Keras model lists (config.json in a .keras archive, the attribute model_config of an .h5). `table` is the one that
 * was named, or NULL: the layers make a table of their own, and are none for another. */
SHAPEPROOF_API bool shapeproof_config_is_inside(const struct shapeproof_inventory *inventory, const char *table);
/* Makes it, loaded or not, what the table for the checkpoint reads: where none was loaded, what the checkpoint has in
 * itself. With the configuration of the model that a GGUF file was made of, it leads to the table for GGUF, if there is
 * one. `table` is the one that was named, or NULL; without a checkpoint (NULL) a configuration is fitted to what its
 * model is saved as. Call it once, after the file is loaded. SHAPEPROOF_OK, also where there is nothing to do;
 * SHAPEPROOF_ERR_UNKNOWN when a Keras model is no list of layers (a subclass, which only its own code knows),
 * SHAPEPROOF_ERR_TABLE when its configuration cannot be read. */
SHAPEPROOF_API enum shapeproof_status shapeproof_config_fit(struct shapeproof_config *config,
                                                            struct shapeproof_tables *tables, const char *table,
                                                            const struct shapeproof_inventory *inventory,
                                                            struct shapeproof_error *error);
/* The class of the model, for a configuration that does not say which model it is of: another file does, which `from`
 * names in reports. Call it after the file is loaded, which it is forgotten with. */
SHAPEPROOF_API void shapeproof_config_name_class(struct shapeproof_config *config, const char *class_name,
                                                 const char *from);
/* How large a vocabulary becomes of the words in a training text. */
enum shapeproof_vocabulary {
    SHAPEPROOF_VOCABULARY_NONE = 0,    /* nothing is counted */
    SHAPEPROOF_VOCABULARY_SOCKEYE = 1, /* what Sockeye makes of them: word_min_count, num_words, four special symbols */
    SHAPEPROOF_VOCABULARY_NPARAM = 2   /* what nparam --exact makes of them */
};

/* Counts what the configuration leaves out, vocab_size_src and vocab_size_trg, in the training texts that it names:
 * train_bpe_src and train_bpe_trg of a .hpm file, from its folder. Call it after the settings are made. A text that is
 * not there leaves the size out, unless it is `needed`. Returns SHAPEPROOF_OK or SHAPEPROOF_ERR_TABLE. */
SHAPEPROOF_API enum shapeproof_status shapeproof_config_count_vocabulary(struct shapeproof_config *config,
                                                                         enum shapeproof_vocabulary rule, bool needed,
                                                                         struct shapeproof_error *error);
/* Whether it is known how the quantisation method that the configuration names stores a matrix: SHAPEPROOF_OK, also
 * where it names none; else SHAPEPROOF_ERR_UNKNOWN, and the message names the key and what it says. */
SHAPEPROOF_API enum shapeproof_status shapeproof_config_quantisation_is_known(const struct shapeproof_config *config,
                                                                              const struct shapeproof_tables *tables,
                                                                              struct shapeproof_error *error);
/* The file that was loaded, or "". Borrowed. */
SHAPEPROOF_API const char *shapeproof_config_path(const struct shapeproof_config *config);
SHAPEPROOF_API void shapeproof_config_free(struct shapeproof_config *config);

/* What in the file at shapeproof_config_path the values are from: "model_args", a key of a checkpoint that its program
 * has saved them under; "" when it is all of the file. Borrowed. */
SHAPEPROOF_API const char *shapeproof_config_place(const struct shapeproof_config *config);

/* The path of the configuration that belongs to a checkpoint: config.json, or else config, or huggingface/config.json,
 * in the directory or beside the file. A step of a training ("run/checkpoints/step-20") without one has the config.json
 * of the first folder above it that has one. The last place is the config.yaml that detectron2 writes beside its
 * checkpoints; a config.yaml without the keys of detectron2 does not count. free() it with shapeproof_free. NULL if no
 * configuration is found, or if the search fails: then `error` is not SHAPEPROOF_OK. It is SHAPEPROOF_ERR_UNKNOWN if
 * nothing was found but a place could not be searched for want of permission; the message names the place. Other errors
 * name the call of the system that failed. */
SHAPEPROOF_API char *shapeproof_config_beside(const char *checkpoint_path, struct shapeproof_error *error);

#ifdef __cplusplus
}
#endif
#endif
