/* SPDX-License-Identifier: MIT
 * A kind of discrepancy: a model that was altered, and all that a check says of it. */
#ifndef TESTS_COMPARE_KINDS_H
#define TESTS_COMPARE_KINDS_H

#include "explain/told.h"

#define BEGIN(config)                                                                                                  \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, 0)

#define END model_close(&model)

/* Writes the model, checks it, and holds the first line, the causes and the number of open findings against these. */
#define SAYS(line, ids, open)                                                                                          \
    do {                                                                                                               \
        model_check(&model);                                                                                           \
        assert_told(&model, line, ids, open);                                                                          \
    } while (0)

#endif
