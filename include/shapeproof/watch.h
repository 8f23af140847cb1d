/* SPDX-License-Identifier: MIT
 * What a call that may take longer than a second tells on its way, and how it is ended before its time. */
#ifndef SHAPEPROOF_WATCH_H
#define SHAPEPROOF_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "shapeproof/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Given to a call as an option, it must live until the call returns. Either function may be NULL. Both are called by
 * the thread that made the call, and must not use the objects that it works on. */
struct shapeproof_watch {
    /* Between two steps of the call: `step` says what is counted ("attempts", "trials", "expressions", "claims",
     * "bytes"), `done` how many of them are done, and `total` how many there are; 0 if that is not known before. False
     * ends the call as soon as it can, with SHAPEPROOF_ERR_CANCELLED. */
    bool (*progress)(void *context, const char *step, uint64_t done, uint64_t total);
    /* One line for each thing that was tried: with what result, and why something else was taken. For people: the
     * wording may change with any version. The line ends with no line feed; its control characters are escaped. */
    void (*trace)(void *context, const char *line);
    void *context; /* given to both */
};

#ifdef __cplusplus
}
#endif
#endif
