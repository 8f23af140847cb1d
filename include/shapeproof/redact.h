/* SPDX-License-Identifier: MIT
 * Redacting what a checkpoint holds, so that it can be shown in public: names keep their structure and well-known
 * words, everything else gets a placeholder. docs/inspect.md has the rules. */
#ifndef SHAPEPROOF_REDACT_H
#define SHAPEPROOF_REDACT_H

#include "shapeproof/api.h"
#include "shapeproof/inventory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which placeholder stands for which text. The same text has the same placeholder in everything that is redacted with
 * one redaction. Not to be shared between threads. */
struct shapeproof_redaction;

/* Never NULL; free with shapeproof_redaction_free, which allows NULL. */
SHAPEPROOF_API struct shapeproof_redaction *shapeproof_redaction_new(void);
SHAPEPROOF_API void shapeproof_redaction_free(struct shapeproof_redaction *redaction);

/* Replaces every text of the inventory: path, names of files, tensors and storages, dtypes that are not known,
 * metadata, warnings, suspects. Shapes, sizes, places and ties stay. What a function returned of these texts before is
 * no longer part of the inventory, and nothing can be read from the files any more. */
SHAPEPROOF_API void shapeproof_redact_inventory(struct shapeproof_redaction *redaction,
                                                struct shapeproof_inventory *inventory);

/* Whether that was done. */
SHAPEPROOF_API bool shapeproof_inventory_is_redacted(const struct shapeproof_inventory *inventory);

/* A path without its folders, and the last component redacted as a name. shapeproof_redact_message replaces the path
 * from then on. "" and "-" stay. Free with shapeproof_free. */
SHAPEPROOF_API char *shapeproof_redact_path(struct shapeproof_redaction *redaction, const char *path);

/* The text of an error, a hint or a warning: words that this library uses in its messages stay. Free with
 * shapeproof_free. */
SHAPEPROOF_API char *shapeproof_redact_message(struct shapeproof_redaction *redaction, const char *message);

#ifdef __cplusplus
}
#endif
#endif
