/* SPDX-License-Identifier: MIT
 * The metadata of a GGUF file, compared with the configuration of the model that it was converted from. */
#ifndef SP_CONFIG_GGUF_ORIGIN_H
#define SP_CONFIG_GGUF_ORIGIN_H

#include "config/config.h"
#include "shapeproof/inventory.h"

/* A key of the file that has another value than the configuration gives it. All texts are in the arena. */
struct sp_gguf_difference {
    const char *key;                /* "llama.attention.head_count" */
    const char *source;             /* the keys of the configuration, "num_attention_heads"; "" for none */
    const char *message;            /* "llama.attention.head_count is 8, config.json's num_attention_heads gives 16" */
    const char *hint;               /* what to do about it; NULL: convert the model again */
    struct shapeproof_value wanted; /* what the configuration gives */
    size_t tensor;                  /* of the file, if its rows give the value; or SHAPEPROOF_NONE */
};
struct sp_gguf_differences {
    struct sp_gguf_difference *items;
    size_t count;
};

/* The differences between the metadata of the file and what llama.cpp's converter writes under the configuration, in
 * the arena. A key that the file does not have counts as what llama.cpp takes in its place. A key about which the
 * configuration says nothing is not compared, and if the file is of another architecture, only that is returned. */
struct sp_gguf_differences sp_config_gguf_differences(struct sp_arena *arena, const struct shapeproof_config *config,
                                                      const struct shapeproof_inventory *file);

#endif
