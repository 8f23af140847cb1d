/* SPDX-License-Identifier: MIT
 * What a call may use. By default, memory, steps and output are limited in proportion to what the call reads, so that a
 * small file cannot exhaust the machine. A call that would use more fails with SHAPEPROOF_KIND_LIMIT, and changes
 * nothing. */
#ifndef SHAPEPROOF_LIMITS_H
#define SHAPEPROOF_LIMITS_H

#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: the defaults. */
struct shapeproof_limits {
    uint64_t memory;      /* bytes that a call may hold; 0: 256 MiB, and 64 for each byte that it reads */
    uint64_t steps;       /* evaluations, rows, iterations, terms of formulas, of one prediction; 0: 64,000,000. A call
                           * may take 8 times as many and never less than 512,000,000, and 4,096 for each byte that it
                           * reads */
    uint64_t tensors;     /* of a prediction that is compared with a file, at most 4,000,000; 0: 163,840, and 16 for
                           * each tensor of the file */
    uint64_t time;        /* milliseconds that a call may take, without its callbacks; 0: any number */
    uint64_t output;      /* bytes that a call may write to a sink; 0: 16 MiB, and 64 for each byte that it reads */
    uint64_t reserved[3]; /* zero: room for later versions */
};

/* The limits of all calls that this thread makes from now on; NULL: the defaults. They are of the thread and not among
 * the options of each function, because one job is several calls: it opens, checks and reports. False with an error if
 * the struct has a limit that this version does not know. */
SHAPEPROOF_API bool shapeproof_set_limits(const struct shapeproof_limits *limits, struct shapeproof_error *error);

#ifdef __cplusplus
}
#endif
#endif
