/* SPDX-License-Identifier: MIT
 * The caller's watch over a long call. */
#ifndef SP_BASE_WATCH_H
#define SP_BASE_WATCH_H

#include "shapeproof/error.h"
#include "shapeproof/watch.h"

/* Whether anybody wants to know what is tried; `watch` may be NULL here and below. */
static inline bool sp_is_traced(const struct shapeproof_watch *watch) { return watch && watch->trace; }
/* Tells one line, made printable. */
void sp_trace(const struct shapeproof_watch *watch, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Tells how far the call is, `total` being 0 if that is not known; false when the caller wants it to end. */
bool sp_goes_on(const struct shapeproof_watch *watch, const char *step, uint64_t done, uint64_t total);
/* What a call fails with that was ended. Always false. */
bool sp_fail_cancelled(struct shapeproof_error *error);

#endif
