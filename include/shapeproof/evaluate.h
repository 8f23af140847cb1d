/* SPDX-License-Identifier: MIT
 * The value of expressions in the language of claims at the hyper-parameters of one configuration: numbers of
 * parameters of groups, shares of a total, differences between two configurations. */
#ifndef SHAPEPROOF_EVALUATE_H
#define SHAPEPROOF_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/config.h"
#include "shapeproof/prove.h"
#include "shapeproof/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_expressions; /* opaque: parsed once, evaluated for any number of configurations */

/* Reads expressions about the table of that name. Each line is one, or a definition for the others ("d = n_embd"):
 *
 *     [embedding] / total                    groups, the total, names and keys of the table
 *     total(vocab_size = 128000) - total     the total and groups with other hyper-parameters
 *     stored([head])                         what a checkpoint stores, if one is given
 *     active, active([experts])              the parameters that a token uses, if the table says so
 *     cache(tokens = 4096, dtype = bf16)     the bytes that are kept of earlier tokens, likewise
 *     bytes(bf16), bytes(as stored)          the bytes of the weights
 *     lora(rank = 16, targets = [q_proj])    the parameters of low-rank adapters
 *     optimizer(adam, zero = 3, ranks = 8)   the bytes that training keeps in each process
 *     flops(tokens = 4096, batch = 1)        the operations of a pass over sequences of tokens, likewise
 *     shard(tp = 8, pp = 4, dtype = bf16)    the bytes of the largest of several ranks, likewise
 *
 * *letters is as shapeproof_tables_add_claims has it. NULL with an error: SHAPEPROOF_ERR_USAGE when there is no such
 * table, SHAPEPROOF_ERR_TABLE when an expression is malformed. The tables must outlive the expressions. */
SHAPEPROOF_API struct shapeproof_expressions *
shapeproof_expressions_new(struct shapeproof_tables *tables, const char *table,
                           const struct shapeproof_claim_lines *lines, char **letters, struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_expressions_free(struct shapeproof_expressions *expressions);

struct shapeproof_measures_options {
    uint64_t tokens;   /* of a sequence; 0: 1 */
    uint64_t batch;    /* sequences, or images; 0: 1 */
    const char *dtype; /* of weights and cache, as bytes(...) has it: "bf16"; NULL: f32 */
    uint64_t images;   /* of a sequence, for a model of text and images; 0: 1 */
    uint64_t patches;  /* of an image, for a model that reads images of any size; 0: not given */
    /* The model that this one is compared with, or NULL. If only one of the two reads images, `images` and `patches`
     * are arguments of that one alone; so is `source_tokens`, if only one of the two has an encoder that reads it. */
    const struct shapeproof_prediction *against;
    /* What an encoder reads for each sequence: tokens, steps of a spectrogram or samples of a sound. 0: as many as
     * `tokens` for the cache, and not given for flops. */
    uint64_t source_tokens;
};

/* The measures of a predicted model with these arguments, as expressions to evaluate with this prediction: total,
 * active, flops, cache, bytes, optimizer and activations. `options` may be NULL. A measure that the table does not
 * carry has the reason when it is evaluated. NULL with SHAPEPROOF_ERR_USAGE for another dtype. The tables must outlive
 * the expressions. */
SHAPEPROOF_API struct shapeproof_expressions *shapeproof_measures_new(struct shapeproof_tables *tables,
                                                                      const struct shapeproof_prediction *prediction,
                                                                      const struct shapeproof_measures_options *options,
                                                                      struct shapeproof_error *error);

struct shapeproof_evaluate_options {
    const struct shapeproof_verification *checkpoint; /* what `stored` asks; NULL: there is none */
    /* What shapeproof_predict made of the table and this configuration before; NULL: it is predicted here. */
    const struct shapeproof_prediction *prediction;
    uint64_t reserved[3]; /* zero: room for later versions */
};

/* One expression at one configuration. */
struct shapeproof_evaluated {
    const char *expression;           /* as it was given */
    const char *text;                 /* exact: "124439808", "3/7", "true", "\"gelu\"", "[1, 2]"; NULL: no value */
    struct shapeproof_fraction value; /* of a number that is a fraction; else its denominator is 0 */
    double number;                    /* the nearest to it; NAN for what is no number */
    const char *why;                  /* it has no value: why; else NULL */
    /* Of a measure alone, such as `active`, cache(...) or optimizer(...); else NULL, 0 and NULL. lora(...) has none. */
    const char *unit; /* "parameters", "bytes" or "operations" */
    uint64_t whole;   /* what it is a part of: the parameters of the table, or of the group; 0 of what is no part */
    const char
        *convention; /* what is counted: "with the input embedding; 2 of 8 experts"; "" when that is everything */
};

struct shapeproof_evaluation; /* opaque */

/* Evaluates all expressions at the hyper-parameters of `config`, with the table's defaults for what it does not give.
 * `options` may be NULL. NULL with an error when the table cannot be predicted there, as shapeproof_predict has it. An
 * expression without a value is no error: its `why` says the reason. */
SHAPEPROOF_API struct shapeproof_evaluation *shapeproof_evaluate(const struct shapeproof_expressions *expressions,
                                                                 const struct shapeproof_config *config,
                                                                 const struct shapeproof_evaluate_options *options,
                                                                 struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_evaluation_free(struct shapeproof_evaluation *evaluation);

/* Both borrowed until shapeproof_evaluation_free; the values are in the order of the expressions. */
SHAPEPROOF_API size_t shapeproof_evaluation_count(const struct shapeproof_evaluation *evaluation);
SHAPEPROOF_API const struct shapeproof_evaluated *
shapeproof_evaluation_get(const struct shapeproof_evaluation *evaluation, size_t index);

#ifdef __cplusplus
}
#endif

#endif
