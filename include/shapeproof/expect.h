/* SPDX-License-Identifier: MIT
 * Expected differences: a file that names findings one knows of, each with a reason. See docs/suppressions.md. */
#ifndef SHAPEPROOF_EXPECT_H
#define SHAPEPROOF_EXPECT_H

#include "shapeproof/api.h"
#include "shapeproof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shapeproof_expectations; /* opaque */

/* Reads the file. `today`, "YYYY-MM-DD", decides which expectations are expired. NULL with an error (status
 * SHAPEPROOF_ERR_TABLE) whose message has FILE:LINE:COLUMN for each mistake. */
SHAPEPROOF_API struct shapeproof_expectations *shapeproof_expectations_load(const char *path, const char *today,
                                                                            struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_expectations_free(struct shapeproof_expectations *expectations);

#ifdef __cplusplus
}
#endif
#endif
