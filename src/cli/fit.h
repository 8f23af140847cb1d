/* SPDX-License-Identifier: MIT
 * Whether a model fits in a memory, for `fit` and `check --fit`. */
#ifndef SP_CLI_FIT_H
#define SP_CLI_FIT_H

#include "cli/subject.h"

/* Rows that both commands have. */
#define CLI_OPTION_BATCH .name = "batch", .argument = "N", .help = "the number of sequences; default: 1"
#define CLI_OPTION_SOURCE_TOKENS                                                                                       \
    .name = "source-tokens", .argument = "LENGTH",                                                                     \
    .help = "the number of tokens that the encoder of an encoder-decoder, such as T5, reads for each sequence"
/* The dtypes whose elements have a size, by their short names; the names of safetensors and PyTorch are values, too. */
#define CLI_DTYPES "f32|bf16|f16|fp8|int8|int4|nf4|fp4"
#define CLI_OPTION_CACHE_DTYPE                                                                                         \
    .name = "cache-dtype", .argument = CLI_DTYPES, .is_open = true, .help = "of the cache; default: bf16"

extern const struct cli_unit cli_units_of_tokens[];    /* 8192, 128k */
extern const struct cli_unit cli_units_of_sequences[]; /* whole numbers */
/* The value of an option into *value, which stays as it is without the option. Exit status. */
int cli_take_size(const struct cli_args *args, const char *name, const struct cli_unit *units, const char *example,
                  uint64_t *value);

/* Compares the size that the option `memory` gives with the model of the subject. `stored` is the number of bytes that
 * a checkpoint stores, and NULL without one. Returns CLI_OK with *fit, which shapeproof_fit_free frees, or complains
 * and returns the exit status. */
int cli_fit_subject(const struct cli_args *args, const char *memory, const struct cli_subject *subject,
                    const uint64_t *stored, struct shapeproof_fit **fit);
/* CLI_OK, CLI_DIFFERS if it does not fit, CLI_UNKNOWN if that is not known. */
int cli_fit_status(const struct shapeproof_fit *fit);

#endif
