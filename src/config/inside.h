/* SPDX-License-Identifier: MIT
 * The configuration that a checkpoint holds in itself: the metadata of GGUF, the list of layers of Keras. */
#ifndef SP_CONFIG_INSIDE_H
#define SP_CONFIG_INSIDE_H

#include "config/config.h"
#include "shapeproof/inventory.h"

/* The entry {"class_name": ..., "config": ...} that a file of Keras holds of its model; false when it holds none. */
bool sp_config_keras_entry(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                           struct shapeproof_value *entry);
/* Whether the value is such an entry, as every object of Keras is. */
bool sp_config_is_keras_entry(struct shapeproof_value value);
/* gguf.c: whether the metadata say which model it is; and takes them as if they were a file. */
bool sp_config_gguf_names_model(const struct shapeproof_inventory *inventory);
void sp_config_take_gguf(struct shapeproof_config *config, const struct shapeproof_inventory *inventory);
/* Whether the metadata are those of the architecture that they name; else an error with SHAPEPROOF_ERR_TABLE. */
bool sp_config_gguf_agrees(const struct shapeproof_inventory *inventory, struct shapeproof_error *error);
/* Whether the configuration is what the metadata of the file say. */
bool sp_config_is_of_gguf(const struct shapeproof_config *config, const struct shapeproof_inventory *inventory);
/* The key of the file that becomes the hyper-parameter, "llama.attention.head_count_kv", or the one that would, when it
 * is not *there; NULL when there is no key for it. In the arena. */
const char *sp_config_gguf_key(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                               const char *becomes, bool *there);
/* The key of the file that completes a configuration beside it by the hyper-parameter, which no configuration of a
 * model has: "glm4moe.nextn_predict_layers"; NULL for any other. In the arena. */
const char *sp_config_gguf_own_key(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                                   const char *becomes);
/* Whether it is what tensors show, and no key says. */
bool sp_config_gguf_shows(const struct shapeproof_inventory *inventory, const char *becomes);
/* How long the lists of the tokenizer in a GGUF file are; all 0 without a tokenizer. */
struct sp_gguf_tokens {
    uint64_t tokens, types, scores;
};
struct sp_gguf_tokens sp_config_gguf_tokens(const struct shapeproof_inventory *inventory);
/* What a configuration that is for GGUF files by its model_type says of them; any other as it is. */
struct shapeproof_value sp_config_of_gguf(struct sp_arena *arena, struct shapeproof_value root);
/* programs.c: the configuration that a checkpoint holds as the arguments of the program that made the model. */
struct sp_program_config {
    const char *place; /* "model_args", a dotted path within shapeproof_inventory_settings */
    struct shapeproof_value root;
};
/* False when there is none that a table could read. */
bool sp_config_of_program(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                          struct sp_program_config *found);
/* Makes it the configuration; false, and nothing done, when there is none. */
bool sp_config_take_program(struct shapeproof_config *config, const struct shapeproof_inventory *inventory);
/* The configuration of a file that has such arguments at its top, timm's args.yaml; any other as it is. */
struct shapeproof_value sp_config_of_program_file(struct sp_arena *arena, struct shapeproof_value root);
/* Whether it has such arguments of that program. */
bool sp_config_is_of_program(struct sp_arena *arena, const char *id, struct shapeproof_value root);
/* Whether a text that cannot be parsed has the names of the keys by which the arguments of that program are known. */
bool sp_config_text_is_of_program(const char *text, const char *id);
/* Takes what the checkpoint at the path holds, as shapeproof_config_load does what a file of text says. */
bool sp_config_load_checkpoint(struct shapeproof_config *config, const char *path, struct shapeproof_error *error);

/* Makes it the configuration of a checkpoint in a layout of its own, which is GGUF so far. Where none was loaded, the
 * hyper-parameters are those of the file's metadata; one that was loaded, that of the model which the file was made of,
 * leads to the table for the layout, if there is one. Any other checkpoint leaves it as it is. False with an error when
 * the metadata contradict themselves. Call it once, after the file is loaded. */
bool sp_config_adopt(struct shapeproof_config *config, const struct shapeproof_tables *tables,
                     const struct shapeproof_inventory *inventory, struct shapeproof_error *error);

#endif
