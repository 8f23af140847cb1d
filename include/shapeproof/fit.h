/* SPDX-License-Identifier: MIT
 * Whether a model fits in the memory of a device: its weights, and the cache of a batch of sequences. */
#ifndef SHAPEPROOF_FIT_H
#define SHAPEPROOF_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/config.h"
#include "shapeproof/error.h"
#include "shapeproof/table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_fit_options {
    const char *table;       /* NULL: chosen by the configuration */
    uint64_t tokens;         /* of a sequence; 0: there is no cache */
    uint64_t batch;          /* sequences; 0 means 1 */
    const char *dtype;       /* of the weights: f32, bf16, f16, fp8, int8, int4, nf4, fp4; NULL: bf16 */
    const char *cache_dtype; /* likewise; NULL: bf16 */
    uint64_t stored; /* with is_stored: the bytes of the weights as a checkpoint stores them, in place of dtype */
    bool is_stored;
    uint64_t source_tokens; /* that the encoder of an encoder-decoder reads; 0: not given. SHAPEPROOF_ERR_USAGE if
                             * `tokens` is 0, or the cache is known without them */
    uint64_t reserved[1];   /* zero: room for later versions */
};

enum shapeproof_fit_verdict {
    SHAPEPROOF_FIT_NO = 0,
    SHAPEPROOF_FIT_YES = 1,
    SHAPEPROOF_FIT_UNKNOWN = 2 /* the weights fit, and the cache is not known */
};

struct shapeproof_fit {
    const char *table;
    const char *dtype, *cache_dtype; /* of the weights NULL where they are as stored */
    uint64_t memory, tokens, batch;
    uint64_t parameters;      /* 0: there are none, or the table cannot be counted */
    uint64_t weights;         /* bytes */
    const char *why;          /* the cache is not known: why; else NULL */
    uint64_t cache;           /* bytes of all sequences */
    uint64_t batch_most;      /* sequences of `tokens` tokens that fit; 0 if the cache is unknown or empty */
    uint64_t tokens_most;     /* the greatest length at which `batch` sequences fit; UINT64_MAX: no limit; 0 with
                               * tokens_why: not known */
    uint64_t heads, kv_heads; /* of the attention; 0: not known */
    uint64_t devices; /* the smallest number that divides `heads` and `kv_heads`, and where the weights of the largest
                       * rank, or an equal part as in has_equal_parts, and its part of the cache, or an equal one as
                       * in has_equal_cache, fit in `memory`;
                       * 0: not known, or there is no such number: devices_verdict */
    enum shapeproof_fit_verdict verdict;
    unsigned cache_bits; /* of an element of the cache */
    uint64_t
        cache_expanded; /* the bytes of the cache if it kept the keys and values of all heads in place of the latent
                         * ones that `cache` counts; 0: the model has no latent ones, or that is not known */
    enum shapeproof_fit_verdict devices_verdict; /* whether it fits on any number of devices */
    const char *devices_why; /* if `devices` is 0: why it is not known, or why the model does not fit on the largest
                              * number that divides the heads; NULL if the cache is not known */
    bool has_equal_parts;  /* the table does not say how ranks divide its tensors: each has an equal part of the weights
                            */
    bool has_equal_cache;  /* the table does not say how ranks divide its cache: each has an equal part of it */
    bool has_whole_cache;  /* each device has the whole cache: latent keys and values, which all heads share */
    uint64_t device_cache; /* bytes of the cache on each of `devices`, of the largest rank or as in has_equal_cache; 0:
                            * not known, or none */
    uint64_t positions;    /* the model stores so many: it reads no longer sequence, and `tokens_most` is no larger;
                            * 0:   it stores none, or that is not known. `verdict` is about the memory alone */
    uint64_t source_tokens; /* as in the options */
    const char *tokens_why; /* the cache of `tokens` is known, and the longest sequence is not: why; else NULL */
};

/* Compares `memory`, the bytes of one device, with the bytes of the model's parameters, and of the cache as the measure
 * `cache` has it. Nothing else counts: no activations, no buffers of the program. If the table cannot be counted for
 * this configuration, the weights are known only as they are stored, and the cache is not. NULL with an error when
 * there is no table, or neither is known; SHAPEPROOF_ERR_USAGE for a dtype that there is not. */
SHAPEPROOF_API struct shapeproof_fit *shapeproof_fit_new(const struct shapeproof_tables *tables,
                                                         const struct shapeproof_config *config, uint64_t memory,
                                                         const struct shapeproof_fit_options *options,
                                                         struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_fit_free(struct shapeproof_fit *fit);

#ifdef __cplusplus
}
#endif

#endif
