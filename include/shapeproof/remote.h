/* SPDX-License-Identifier: MIT
 * Checkpoints that are not on this machine: https://..., and hf://ORG/NAME[@REVISION][/PATH] of the Hugging Face hub.
 * Only headers travel. What came stands in a folder of the cache, in which each file has its full size and holes where
 * nothing was fetched: a mirror. The path of a mirror is given to shapeproof_inventory_open, shapeproof_config_beside
 * and their like, as that of any other checkpoint; only shapeproof_data_open refuses it. docs/network.md has the rules.
 */
#ifndef SHAPEPROOF_REMOTE_H
#define SHAPEPROOF_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a fetch has come, for who shows it. */
struct shapeproof_progress {
    size_t files, files_done; /* that are fetched side by side at the moment */
    uint64_t bytes;           /* of bodies that have come so far, in all */
    uint64_t requests;
};

struct shapeproof_remote_options {
    const char *cache;    /* the folder of the cache, made when it is not there; it is needed */
    const char *endpoint; /* of the hub; NULL: https://huggingface.co */
    const char *token;    /* sent to the endpoint, and to no other host; NULL or "": none */
    bool offline;         /* the cache alone, no network */
    uint32_t pause_ms;    /* before a request is tried again, doubled each time; 0: 500 */
    uint32_t stall_ms;    /* the time within which some KiB have to come; 0: 20 000 */
    void (*progress)(void *context, const struct shapeproof_progress *progress); /* NULL: nobody looks */
    void *context;
    uint64_t reserved[8]; /* zero */
};

struct shapeproof_remote; /* opaque: owns what the functions below return */

/* Whether the text names something elsewhere: it begins with a scheme, "https://" or any other. */
SHAPEPROOF_API bool shapeproof_is_remote(const char *text);

/* Fetches the headers of a checkpoint, and the configurations beside it. `options` is needed for its cache. NULL with
 * SHAPEPROOF_ERR_FILE when it cannot be fetched or read, with SHAPEPROOF_ERR_USAGE when it is nothing that can be
 * fetched. It forks a child for each round of requests, which alone calls libcurl. Free with shapeproof_remote_free. */
SHAPEPROOF_API struct shapeproof_remote *shapeproof_remote_fetch(const char *url,
                                                                 const struct shapeproof_remote_options *options,
                                                                 struct shapeproof_error *error);
/* The file or folder of the mirror that stands for it, until shapeproof_remote_free. */
SHAPEPROOF_API const char *shapeproof_remote_path(const struct shapeproof_remote *remote);
/* The folder that the mirror's files are in, and what it is called in messages: the URL without a query. */
SHAPEPROOF_API const char *shapeproof_remote_folder(const struct shapeproof_remote *remote);
SHAPEPROOF_API const char *shapeproof_remote_name(const struct shapeproof_remote *remote);
/* To be called once all was read: false with SHAPEPROOF_ERR_FILE when another command has meanwhile fetched a newer
 * version of a file that was fetched here, so that what was read may be of both. */
SHAPEPROOF_API bool shapeproof_remote_confirm(const struct shapeproof_remote *remote, struct shapeproof_error *error);
SHAPEPROOF_API void shapeproof_remote_free(struct shapeproof_remote *remote);

#ifdef __cplusplus
}
#endif
#endif
