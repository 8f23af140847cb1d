/* SPDX-License-Identifier: MIT
 * Of these files only ids and the token of the largest one are kept:
 *
 *     added_tokens.json       {"[PAD]": 32000}
 *     tokenizer_config.json   {"added_tokens_decoder": {"32000": {"content": "[PAD]"}}}
 *     tokenizer.json          {"added_tokens": [{"id": 32000, "content": "[PAD]"}], "model": {"vocab": {"a": 1}}}
 *
 * A vocabulary of tokenizer.json may also be a list of [token, score], whose ids are their places. */
#define _POSIX_C_SOURCE 200809L
#include "config/tokenizer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/json_scan.h"

enum { MAX_SMALL = 8 << 20, MAX_WHOLE = 128 << 20, MAX_TOKENS = 100 * 1000 * 1000 };

struct scan {
    struct sp_json json;
    struct shapeproof_error error;
    uint64_t size;
    char *last; /* in the text */
};

static void take_token(struct scan *scan, char *token, uint64_t id)
{
    if (id < scan->size || id >= MAX_TOKENS) return;
    scan->size = id + 1;
    scan->last = token;
}

static void skip_json_value(struct scan *scan)
{
    size_t ignored;
    sp_json_skip(&scan->json, &ignored);
}

/* {"[PAD]": 32000} */
static void scan_ids(struct scan *scan)
{
    char *token;
    uint64_t id;
    if (sp_json_peek(&scan->json) != '{') return skip_json_value(scan);
    sp_json_open(&scan->json, '{');
    for (bool first = true; (token = sp_json_member(&scan->json, &first));)
        if (sp_json_u64(&scan->json, &id)) take_token(scan, token, id);
}

/* {"id": 32000, "content": "[PAD]"}; the id may be known already. */
static void scan_token(struct scan *scan, uint64_t id)
{
    char *key, *content = "";
    if (sp_json_peek(&scan->json) != '{') return skip_json_value(scan);
    sp_json_open(&scan->json, '{');
    for (bool first = true; (key = sp_json_member(&scan->json, &first));) {
        if (strcmp(key, "content") == 0 && sp_json_peek(&scan->json) == '"') content = sp_json_string(&scan->json);
        else if (strcmp(key, "id") == 0) sp_json_u64(&scan->json, &id);
        else skip_json_value(scan);
    }
    take_token(scan, content, id);
}

/* {"32000": {"content": "[PAD]"}} */
static void scan_decoder(struct scan *scan)
{
    char *key, *end;
    if (sp_json_peek(&scan->json) != '{') return skip_json_value(scan);
    sp_json_open(&scan->json, '{');
    for (bool first = true; (key = sp_json_member(&scan->json, &first));) {
        const unsigned long long id = strtoull(key, &end, 10);
        scan_token(scan, end != key && !*end ? id : UINT64_MAX);
    }
}

static void scan_tokens(struct scan *scan)
{
    if (sp_json_peek(&scan->json) != '[') return skip_json_value(scan);
    sp_json_open(&scan->json, '[');
    for (bool first = true; sp_json_item(&scan->json, &first);) scan_token(scan, UINT64_MAX);
}

/* [["a", -1.5], ["b", -2]] */
static void scan_scores(struct scan *scan)
{
    uint64_t count = 0;
    sp_json_open(&scan->json, '[');
    for (bool first = true; sp_json_item(&scan->json, &first); count++) skip_json_value(scan);
    if (count) take_token(scan, "", count - 1);
}

static void scan_model(struct scan *scan)
{
    char *key;
    if (sp_json_peek(&scan->json) != '{') return skip_json_value(scan);
    sp_json_open(&scan->json, '{');
    for (bool first = true; (key = sp_json_member(&scan->json, &first));) {
        if (strcmp(key, "vocab") != 0) skip_json_value(scan);
        else if (sp_json_peek(&scan->json) == '[') scan_scores(scan);
        else scan_ids(scan);
    }
}

static void scan_members(struct scan *scan)
{
    char *key;
    if (sp_json_peek(&scan->json) != '{') return skip_json_value(scan);
    sp_json_open(&scan->json, '{');
    for (bool first = true; (key = sp_json_member(&scan->json, &first));) {
        if (strcmp(key, "added_tokens_decoder") == 0) scan_decoder(scan);
        else if (strcmp(key, "added_tokens") == 0) scan_tokens(scan);
        else if (strcmp(key, "model") == 0) scan_model(scan);
        else skip_json_value(scan);
    }
}

/* ---- the files ---- */

static const struct source {
    const char *name;
    void (*scan)(struct scan *scan);
    size_t limit;
} sources[] = {
    {"added_tokens.json", scan_ids, MAX_SMALL},
    {"tokenizer_config.json", scan_members, MAX_SMALL},
    {"tokenizer.json", scan_members, MAX_WHOLE},
};

/* Notes a file that is there and tells nothing because it cannot be read. */
static void note_unread(struct sp_arena *arena, const struct source *source, const struct scan *scan,
                        struct sp_tokenizer *tokenizer)
{
    if (tokenizer->unread) return;
    const char *why = scan->error.message;
    const bool is_named = sp_begins_with(why, source->name);
    tokenizer->unread = sp_arena_printf(arena, "%s%s%s", is_named ? "" : source->name, is_named ? "" : ": ", why);
}

static void look_into(struct sp_arena *arena, const char *folder, const struct source *source,
                      struct sp_tokenizer *tokenizer)
{
    struct scan scan = {.json = {.what = source->name}};
    struct sp_file file;
    scan.json.error = &scan.error;
    const char *path = sp_arena_printf(arena, "%s%s", folder, source->name);
    if (!sp_file_open(&file, AT_FDCWD, path, &scan.error)) {
        if (sp_path_is_there(AT_FDCWD, path)) note_unread(arena, source, &scan, tokenizer);
        return;
    }
    scan.json.text = sp_file_slurp(&file, source->limit, &scan.error);
    scan.json.length = (size_t)file.size;
    sp_file_close(&file);
    if (scan.json.text && sp_json_check(&scan.json)) source->scan(&scan);
    const bool is_read = scan.json.text && sp_json_ok(&scan.json);
    if (!is_read) note_unread(arena, source, &scan, tokenizer);
    else if (scan.size > tokenizer->size) {
        tokenizer->size = scan.size;
        tokenizer->last = sp_arena_string(arena, scan.last);
        tokenizer->file = source->name;
    }
    sp_free(scan.json.text);
}

struct sp_tokenizer sp_tokenizer_in(struct sp_arena *arena, const char *folder)
{
    struct sp_tokenizer tokenizer = {.last = "", .file = ""};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) look_into(arena, folder, &sources[i], &tokenizer);
    return tokenizer;
}

struct sp_tokenizer sp_tokenizer_beside(struct sp_arena *arena, const struct shapeproof_config *config)
{
    const char *path = shapeproof_config_path(config);
    if (!*path) return (struct sp_tokenizer){.last = "", .file = ""};
    return sp_tokenizer_in(arena, sp_arena_copy(arena, path, (size_t)(sp_base_name(path) - path)));
}
