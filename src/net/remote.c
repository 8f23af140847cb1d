/* SPDX-License-Identifier: MIT
 * What is fetched, and in which order: see docs/network.md. */
#define _GNU_SOURCE
#include "net/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/names.h"
#include "base/shard_name.h"
#include "read/directory.h"
#include "read/reader.h"

/* A folder elsewhere, as readers see it. */
struct far_folder {
    struct sp_far far; /* first */
    struct shapeproof_remote *remote;
    const char *below; /* the base: "" or "unet/" */
};

static struct sp_remote_file *find_remote_file(const struct far_folder *folder, const char *name,
                                               struct shapeproof_error *error)
{
    struct shapeproof_remote *remote = folder->remote;
    return sp_remote_find(remote, sp_arena_printf(&remote->arena, "%s%s", folder->below, name), error);
}

/* What struct sp_far asks for: fetches the beginnings of all shards side by side. */
static bool expect_shards(struct sp_far *far, const struct sp_shard *shards, size_t count,
                          struct shapeproof_error *error)
{
    const struct far_folder *folder = (const struct far_folder *)far;
    struct sp_remote_file **remote_files = sp_realloc(NULL, count, sizeof *remote_files);
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        remote_files[i] = find_remote_file(folder, shards[i].name, error);
        ok = remote_files[i] != NULL;
    }
    ok = ok && sp_remote_ask(folder->remote, remote_files, count, error);
    sp_free(remote_files);
    return ok;
}

/* Likewise: opens the file in the sparse cache, with a byte source that fetches what is missing when it is read. */
static bool open_remote_file(struct sp_far *far, const char *name, struct sp_file *file, struct shapeproof_error *error)
{
    const struct far_folder *folder = (const struct far_folder *)far;
    struct sp_remote_file *remote_file = find_remote_file(folder, name, error);
    if (!remote_file) return false;
    if (!sp_remote_ask(folder->remote, &remote_file, 1, error)) {
        sp_remote_unname(remote_file, error);
        return false;
    }
    if (remote_file->presence == SP_NOT_FOUND)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "it is not there (HTTP status 404)");
    if (!sp_file_open(file, folder->remote->sparse.files, remote_file->name, error)) return false;
    file->source = &remote_file->source;
    return true;
}

/* Runs the ordinary reading code over the sparse cache, which fetches what it looks at; what it finds is not kept.
 * Reads the file `name` of the folder `below`, or, when that is NULL, the folder. */
static bool read_through(struct shapeproof_remote *remote, const char *below, const char *name,
                         struct shapeproof_error *error)
{
    struct far_folder far = {.far = {expect_shards, open_remote_file}, .remote = remote, .below = below};
    struct sp_folder folder;
    const char *path = sp_arena_printf(&remote->arena, "%s/%s", remote->sparse.path, below);
    if (!sp_folder_open(&folder, path))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: open: %s", path, strerror(errno));
    folder.path = sp_arena_printf(&remote->arena, "%s%s", remote->name, below);
    folder.far = &far.far;
    struct shapeproof_inventory *inventory = sp_inventory_new(folder.path);
    const bool ok =
        name ? sp_directory_read_file(&folder, name, inventory, error) : sp_directory_read(&folder, inventory, error);
    shapeproof_inventory_close(inventory);
    sp_folder_close(&folder);
    return ok;
}

bool sp_remote_read_folder(struct shapeproof_remote *remote, const char *folder, struct shapeproof_error *error)
{
    const char *slash = *folder ? "/" : "";
    return read_through(remote, sp_arena_printf(&remote->arena, "%s%s", folder, slash), NULL, error);
}

/* The name of one piece of a model of GGUF tells those of the others: makes an empty file for each, so that the reading
 * code finds them. */
static bool name_pieces(struct shapeproof_remote *remote, const char *name, struct shapeproof_error *error)
{
    struct sp_shard_name piece;
    const char *base = sp_base_name(name);
    if (!(sp_file_ending_says(base) & SP_IN_PIECES) || !sp_shard_name_read(base, &piece) || piece.of > 1000)
        return true;
    for (uint32_t i = 1; i <= piece.of; i++) {
        const char *other = sp_arena_printf(&remote->arena, "%.*s%0*u%s", (int)((size_t)(base - name) + piece.stem),
                                            name, (int)piece.digits, i, base + piece.stem + piece.digits);
        if (!sp_sparse_cache_name(&remote->sparse, other, error)) return false;
    }
    return true;
}

bool sp_remote_read_file(struct shapeproof_remote *remote, const char *name, struct shapeproof_error *error)
{
    const char *base = sp_base_name(name);
    const char *below = sp_arena_copy(&remote->arena, name, (size_t)(base - name));
    struct sp_remote_file *remote_file = sp_remote_find(remote, name, error);
    if (!remote_file || !sp_sparse_cache_name(&remote->sparse, name, error) || !name_pieces(remote, name, error))
        return false;
    return read_through(remote, below, base, error);
}

/* ---- https:// ---- */

/* FNV-1a, twice over: what a folder of the cache is called after. */
static const char *hash_url(const char *text, struct sp_arena *arena)
{
    uint64_t a = 0xcbf29ce484222325U, b = 0x84222325cbf29ce4U;
    for (; *text; text++) {
        a = (a ^ (unsigned char)*text) * 0x100000001b3U;
        b = (b ^ (unsigned char)*text ^ (a >> 32)) * 0x100000001b3U;
    }
    return sp_arena_printf(arena, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b);
}

const char *sp_cache_word(const char *text, struct sp_arena *arena)
{
    char *word = sp_arena_string(arena, text);
    for (char *c = word; *c; c++)
        if (!sp_is_word(*c) && !strchr(".-", *c)) *c = '_';
    return word;
}

/* Asks for some by their names; `weights` becomes true when one that is no document is there. */
static bool try_names(struct shapeproof_remote *remote, const char *const *names, size_t count, bool *weights,
                      struct shapeproof_error *error)
{
    struct sp_remote_file *remote_files[8];
    for (size_t i = 0; i < count; i++)
        if (!(remote_files[i] = sp_remote_find(remote, names[i], error))) return false;
    if (!sp_remote_ask(remote, remote_files, count, error)) return false;
    for (size_t i = 0; i < count; i++)
        *weights = *weights || (remote_files[i]->presence == SP_FOUND && !sp_is_document(remote_files[i]->name));
    return true;
}

/* A directory on the web has no list of its files: these are tried. */
static bool fetch_directory(struct shapeproof_remote *remote, struct shapeproof_error *error)
{
    static const char *const usual[] = {"config.json", "model.safetensors.index.json", "model.safetensors"};
    static const char *const others[] = {"diffusion_pytorch_model.safetensors", "adapter_config.json",
                                         "adapter_model.safetensors", "pytorch_model.bin.index.json",
                                         "pytorch_model.bin"};
    bool weights = false;
    if (!try_names(remote, usual, sizeof usual / sizeof *usual, &weights, error)) return false;
    if (!weights && !try_names(remote, others, sizeof others / sizeof *others, &weights, error)) return false;
    return sp_remote_read_folder(remote, "", error);
}

/* The configuration is beside the file, when there is one; a signature in the query is for the file alone. */
static bool fetch_beside(struct shapeproof_remote *remote, const char *name, struct shapeproof_error *error)
{
    struct sp_remote_file *remote_files[2] = {sp_remote_find(remote, name, error), NULL};
    if (!remote_files[0]) return false;
    if (!*remote->query) {
        remote_files[1] = sp_remote_find(remote, "config.json", error);
        if (!sp_remote_ask(remote, remote_files, 2, error)) return false;
    }
    return sp_remote_read_file(remote, name, error);
}

/* Fetches from a plain web server: a folder when the URL ends with a slash, otherwise a file with its companions.
 *
 *   https://host/dir/a.safetensors?sig=1   ->   base "https://host/dir/", name "a.safetensors", query "?sig=1"
 *
 * The name is also that of the file in the cache, and is escaped again for a request: one with a %XX in it is refused.
 * The key of the cache is of the base and the query, as a query can decide what is there. */
static bool fetch_web(struct shapeproof_remote *remote, const char *text, struct shapeproof_error *error)
{
    struct sp_arena *arena = &remote->arena;
    struct sp_url url;
    if (!sp_url_parse(text, arena, &url, error)) return false;
    const char *host = strstr(url.shown, "://") + strlen("://");
    const char *path = strchr(host, '/');
    const char *name = path ? strrchr(path, '/') + 1 : "";
    if (strchr(name, '%') || !sp_is_safe_path(name))
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_REFUSED, "%s: the name of the file is not plain",
                       sp_quote(url.shown).text);
    remote->base =
        path ? sp_arena_copy(arena, url.shown, (size_t)(name - url.shown)) : sp_arena_printf(arena, "%s/", url.shown);
    remote->name = remote->base;
    remote->query = url.text + strlen(url.shown);
    const char *key = sp_arena_printf(arena, "web/%s/%s", sp_cache_word(strstr(url.origin, "//") + 2, arena),
                                      hash_url(sp_arena_printf(arena, "%s %s", remote->base, remote->query), arena));
    if (!sp_sparse_cache_open(&remote->sparse, remote->options.cache, key, arena, error)) return false;
    if (!*name) {
        remote->path = remote->sparse.path;
        return fetch_directory(remote, error);
    }
    remote->path = sp_arena_printf(arena, "%s/%s", remote->sparse.path, name);
    return fetch_beside(remote, name, error);
}

/* ---- in public ---- */

bool shapeproof_is_remote(const char *text)
{
    size_t length = 0;
    while (sp_is_word(text[length]) || (length && strchr("+-.", text[length]) && text[length])) length++;
    return length > 1 && strncmp(text + length, "://", 3) == 0;
}

static bool is_token_text(const char *token)
{
    for (; *token; token++)
        if (*token <= ' ' || *token > '~') return false;
    return true;
}

/* Checks the endpoint, the token and the cache folder before anything is sent. The token is sent to the endpoint's
 * own host only. */
static bool prepare_client(struct shapeproof_remote *remote, struct shapeproof_error *error)
{
    struct shapeproof_remote_options *options = &remote->options;
    struct sp_url endpoint;
    if (!options->endpoint || !*options->endpoint) options->endpoint = "https://huggingface.co";
    size_t length = strlen(options->endpoint);
    while (length && options->endpoint[length - 1] == '/') length--;
    options->endpoint = sp_arena_copy(&remote->arena, options->endpoint, length);
    if (!sp_url_parse(options->endpoint, &remote->arena, &endpoint, error)) {
        sp_error_prefix(error, "the endpoint (HF_ENDPOINT)");
        return false;
    }
    if (options->token && !is_token_text(options->token))
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_REFUSED,
                       "the token (HF_TOKEN, or its file) is not one line of text");
    if (!options->cache || !*options->cache)
        return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "no folder for the cache is known");
    remote->client = (struct sp_client){.options = options, .token_origin = endpoint.origin};
    return true;
}

static bool fetch_scheme(struct shapeproof_remote *remote, const char *url, struct shapeproof_error *error)
{
    if (strncmp(url, "hf://", 5) == 0) return sp_hub_fetch(remote, url, error);
    if (strncmp(url, "s3://", 5) == 0) {
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_REFUSED, "s3:// is not fetched by itself");
        sp_hint(error, "sign an address, and name that: aws s3 presign s3://BUCKET/KEY");
        return false;
    }
    return fetch_web(remote, url, error);
}

struct shapeproof_remote *shapeproof_remote_fetch(const char *url, const struct shapeproof_remote_options *options,
                                                  struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("fetching it");
    sp_error_reset(error);
    static const struct shapeproof_remote_options defaults = {0};
    if (!options) options = &defaults;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    struct shapeproof_remote *remote = sp_realloc(NULL, 1, sizeof *remote);
    *remote =
        (struct shapeproof_remote){.options = *options, .sparse = {.files = -1, .state = -1, .lock = -1}, .query = ""};
    if (prepare_client(remote, error) && fetch_scheme(remote, url, error) && sp_remote_settle(remote, error)) {
        sp_sparse_cache_unlock(&remote->sparse); /* a second place of the same command may be the same */
        return remote;
    }
    shapeproof_remote_free(remote);
    return NULL;
}

const char *shapeproof_remote_path(const struct shapeproof_remote *remote) { return remote->path; }
const char *shapeproof_remote_folder(const struct shapeproof_remote *remote) { return remote->sparse.path; }
const char *shapeproof_remote_name(const struct shapeproof_remote *remote) { return remote->name; }

bool shapeproof_remote_confirm(const struct shapeproof_remote *remote, struct shapeproof_error *error)
{
    SP_CALL(error, false);
    SP_SPENDS("fetching it");
    sp_error_reset(error);
    for (size_t i = 0; i < remote->remote_files.count; i++) {
        const struct sp_remote_file *remote_file = remote->remote_files.items[i];
        if (remote_file->cached.fd < 0) continue;
        if (sp_cached_file_confirm(&remote_file->cached, &remote->sparse, error)) continue;
        sp_error_prefix(error, remote_file->shown);
        return false;
    }
    return true;
}

void shapeproof_remote_free(struct shapeproof_remote *remote)
{
    if (!remote) return;
    for (size_t i = 0; i < remote->remote_files.count; i++)
        sp_cached_file_close(&remote->remote_files.items[i]->cached);
    sp_free(remote->remote_files.items);
    sp_sparse_cache_close(&remote->sparse);
    sp_arena_free(&remote->arena);
    sp_free(remote);
}
