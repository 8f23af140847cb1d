/* SPDX-License-Identifier: MIT
 * How many tokens the tokenizer beside a configuration, or in any folder, has. */
#ifndef SP_CONFIG_TOKENIZER_H
#define SP_CONFIG_TOKENIZER_H

#include "config/config.h"

struct sp_tokenizer {
    uint64_t size;    /* one more than the largest id; 0 when no file tells */
    const char *last; /* the token that has it */
    const char *file; /* which says so */
    /* Why the first of the files that are there cannot be read, "tokenizer.json: open: Permission denied"; or NULL */
    const char *unread;
};

/* Looks into added_tokens.json and tokenizer_config.json of the folder, "" or a path that ends in "/", which have the
 * tokens that were added, and tokenizer.json, which has all and which transformers 5 writes alone. What cannot be read
 * tells nothing, and is in `unread`. Strings are in the arena. */
struct sp_tokenizer sp_tokenizer_in(struct sp_arena *arena, const char *folder);
/* The same of the folder of the configuration; nothing where none was loaded from a file. */
struct sp_tokenizer sp_tokenizer_beside(struct sp_arena *arena, const struct shapeproof_config *config);

#endif
