/* SPDX-License-Identifier: MIT
 * What Megatron leaves beside a distributed checkpoint: `metadata.json`, {"sharded_backend": "torch_dist", ...}. The
 * other backend, "zarr", has a folder with arrays for each tensor, and is not read. */
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/names.h"
#include "read/dcp/folder.h"

enum { MAX_BACKEND_FILE = 64 * 1024 };

/* The value of "sharded_backend", or NULL. */
static const char *scan_backend(struct sp_json *json)
{
    const char *key, *backend = NULL;
    size_t ignored;
    if (!sp_json_check(json) || !sp_json_open(json, '{')) return NULL;
    for (bool first = true; (key = sp_json_member(json, &first));) {
        const bool wanted = strcmp(key, "sharded_backend") == 0 && sp_json_peek(json) == '"';
        if (wanted) backend = sp_json_string(json);
        else if (!sp_json_skip(json, &ignored)) return NULL;
    }
    return sp_json_ok(json) ? backend : NULL;
}

const char *sp_megatron_backend(const struct sp_folder *folder, struct sp_arena *arena)
{
    struct sp_file file;
    struct shapeproof_error ignored = {0};
    struct sp_json json = {.what = "metadata.json", .error = &ignored, .numbers = SP_JSON_OF_PYTHON};
    const char *backend = NULL;
    if (!sp_file_open(&file, folder->fd, "metadata.json", &ignored)) return NULL;
    json.text = sp_file_slurp(&file, MAX_BACKEND_FILE, &ignored);
    json.length = (size_t)file.size;
    if (json.text) backend = scan_backend(&json);
    if (backend) backend = sp_arena_string(arena, backend);
    sp_free(json.text);
    sp_file_close(&file);
    return backend;
}

bool sp_megatron_refuse(const struct sp_folder *folder, const char *backend, struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
            "a distributed checkpoint of Megatron with the backend %s, which is not read", sp_quote(backend).text);
    sp_hint(error, "save it with the backend 'torch_dist'");
    sp_error_prefix(error, folder->path);
    return false;
}
