/* SPDX-License-Identifier: MIT */
#include "net/listing.h"

#include <string.h>

#include "base/chars.h"
#include "base/json_scan.h"
#include "net/url.h"

enum { MAX_FILES = 200 * 1000, COMMIT_BYTES = 64 };

/* [{"rfilename": "config.json"}, ...]: adds the names to the listing, but those that could lead out of its folder. */
static bool read_siblings(struct sp_listing *listing, struct sp_json *json, struct sp_arena *arena)
{
    char *key;
    size_t ignored;
    if (!sp_json_open(json, '[')) return false;
    for (bool first = true; sp_json_item(json, &first);) {
        const char *name = NULL;
        if (!sp_json_open(json, '{')) return false;
        for (bool member = true; (key = sp_json_member(json, &member));) {
            if (strcmp(key, "rfilename") == 0) name = sp_json_string(json);
            else sp_json_skip(json, &ignored);
            if (!sp_json_ok(json)) return false;
        }
        if (listing->count == MAX_FILES)
            return sp_fail(json->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d files", MAX_FILES);
        if (name && *name && sp_is_safe_path(name)) *SP_PUSH(listing) = sp_arena_string(arena, name);
    }
    return sp_json_ok(json);
}

static bool read_commit(struct sp_listing *listing, struct sp_json *json, struct sp_arena *arena)
{
    const char *commit = sp_json_string(json);
    if (!commit) return false;
    for (const char *c = commit; *c; c++)
        if (!sp_is_digit(*c) && !(*c >= 'a' && *c <= 'f')) return sp_malformed(json->error, "its commit is none");
    if (strlen(commit) < 7 || strlen(commit) > COMMIT_BYTES) return sp_malformed(json->error, "its commit is none");
    listing->commit = sp_arena_string(arena, commit);
    return true;
}

bool sp_listing_read(struct sp_listing *listing, char *text, size_t length, struct sp_arena *arena,
                     struct shapeproof_error *error)
{
    struct sp_json json = {.what = "listing", .text = text, .length = length, .error = error};
    char *key;
    size_t ignored;
    listing->commit = NULL;
    listing->count = 0;
    if (!sp_json_check(&json) || !sp_json_open(&json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&json, &first));) {
        if (strcmp(key, "sha") == 0) {
            if (!read_commit(listing, &json, arena)) return false;
        } else if (strcmp(key, "siblings") == 0) {
            if (!read_siblings(listing, &json, arena)) return false;
        } else {
            sp_json_skip(&json, &ignored);
        }
        if (!sp_json_ok(&json)) return false;
    }
    return sp_json_end(&json) && (listing->commit || sp_malformed(error, "it names no commit"));
}
