/* SPDX-License-Identifier: MIT
 * Hyper-parameters: out of config.json, a Sockeye `config`, a .hpm file (nparam, sockeye-recipes), single settings. */
#ifndef SHAPEPROOF_CONFIG_H
#define SHAPEPROOF_CONFIG_H

#include <stdbool.h>

#include "shapeproof/api.h"
#include "shapeproof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sp_config; /* opaque */

/* Without any hyper-parameter. Never NULL. */
SP_API struct sp_config *sp_config_new(void);
/* Reads a file: `key=value` lines when its name ends in .hpm; YAML when it ends in .yaml or .yml, or is `config` (which
 * Sockeye writes) and no JSON object; else JSON. Of a GGUF file or a Keras model what it has in itself. Replaces what
 * an earlier file said. Nothing in a .hpm file is executed, nothing that a YAML tag names constructed. Returns SP_OK,
 * or SP_ERR_TABLE when the file is wrong or missing. */
SP_API enum sp_status sp_config_load(struct sp_config *config, const char *path, struct sp_error *error);
/* What is odd about that file and no reason to refuse it, a sentence each: a key that is there twice, code in the
 * configuration of a Keras model. Borrowed until another file is loaded or the config freed. */
SP_API size_t sp_config_remark_count(const struct sp_config *config);
SP_API const char *sp_config_remark(const struct sp_config *config, size_t index);
/* One "key=value"; the value is JSON, or text when it is not. A dotted key reaches into a sub-configuration:
 * "text_config.vocab_size=32000". Wins over every file. SP_ERR_USAGE when there is no '='. */
SP_API enum sp_status sp_config_set(struct sp_config *config, const char *setting, struct sp_error *error);
struct sp_inventory;
struct sp_tables;
/* Whether the checkpoint has the configuration of its model in itself: the metadata of a GGUF file, the layers that a
 * Keras model lists (config.json in a .keras archive, the attribute model_config of an .h5). `table` is the one that
 * was named, or NULL: the layers make a table of their own, and are none for another. */
SP_API bool sp_config_is_inside(const struct sp_inventory *inventory, const char *table);
/* Makes it, loaded or not, what the table for the checkpoint reads: where none was loaded, what the checkpoint has in
 * itself. With the configuration of the model that a GGUF file was made of, it leads to the table for GGUF, if there is
 * one. `table` is the one that was named, or NULL; without a checkpoint (NULL) a configuration is fitted to what its
 * model is saved as. Call it once, after the file is loaded. SP_OK, also where there is nothing to do, or what
 * sp_keras_compose returns. */
SP_API enum sp_status sp_config_fit(struct sp_config *config, struct sp_tables *tables, const char *table,
                                    const struct sp_inventory *inventory, struct sp_error *error);
/* The class of the model, for a configuration that does not say which model it is of: another file does, which `from`
 * names in reports. Call it after the file is loaded, which it is forgotten with. */
SP_API void sp_config_name_class(struct sp_config *config, const char *class_name, const char *from);
/* How large a vocabulary becomes of the words in a training text. */
enum sp_vocabulary {
    SP_VOCABULARY_NONE,    /* nothing is counted */
    SP_VOCABULARY_SOCKEYE, /* what Sockeye makes of them: word_min_count, num_words, four special symbols */
    SP_VOCABULARY_NPARAM   /* what nparam --exact makes of them */
};

/* Counts what the configuration leaves out, vocab_size_src and vocab_size_trg, in the training texts that it names:
 * train_bpe_src and train_bpe_trg of a .hpm file, from its folder. Call it after the settings are made. A text that is
 * not there leaves the size out, unless it is `needed`. Returns SP_OK or SP_ERR_TABLE. */
SP_API enum sp_status sp_config_count_vocabulary(struct sp_config *config, enum sp_vocabulary rule, bool needed,
                                                 struct sp_error *error);
/* Whether it is known how the quantisation method that the configuration names stores a matrix: SP_OK, also where it
 * names none; else SP_ERR_UNKNOWN, and the message names the key and what it says. */
SP_API enum sp_status sp_config_quantisation_is_known(const struct sp_config *config, const struct sp_tables *tables,
                                                      struct sp_error *error);
/* The file that was loaded, or "". Borrowed. */
SP_API const char *sp_config_path(const struct sp_config *config);
SP_API void sp_config_free(struct sp_config *config);

/* The path of the configuration that belongs to a checkpoint: config.json, or else config, in the directory or beside
 * the file; of a step of a training by DeepSpeed or Megatron also config.json one folder up. NULL when there is none.
 * free() it with sp_free. */
SP_API char *sp_config_beside(const char *checkpoint_path);

#ifdef __cplusplus
}
#endif
#endif
