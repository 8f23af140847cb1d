/* SPDX-License-Identifier: MIT
 * hf://[ORG/]NAME[@REVISION][/PATH]: the hub is asked once for the commit that a revision is and the names of its
 * files; what is fetched of a commit never changes. The answer is kept, so that no request is needed for a commit that
 * was asked for before, nor, with --offline, for any revision that was. */
#include "net/listing.h"
#include "net/remote.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "read/directory.h"
#include "shapeproof/components.h"

enum {
    MAX_LISTING = 32 << 20, /* bytes */
    MOST_DOCUMENTS = 200    /* that are fetched at once */
};

#define SCHEME "hf://"

struct hub {
    struct shapeproof_remote *remote;
    const char *id, *revision, *path; /* as they were named; "main" and "" when they were not */
    struct sp_listing listing;
};

/* ---- the name ---- */

static bool refuse_name(const char *url, struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_REFUSED, "%s: expected hf://ORG/NAME[@REVISION][/PATH]",
            sp_quote(url).text);
    return false;
}

/* Whether it can be the name of an organisation or a model: letters, digits and "_-.", at most 96 of them. */
static bool is_hub_word(const char *text, size_t length)
{
    if (!length || length > 96 || text[0] == '.' || text[0] == '-') return false;
    for (size_t i = 0; i < length; i++)
        if (!sp_is_word(text[i]) && !strchr("-.", text[i])) return false;
    return true;
}

/* A revision has slashes where it is a reference: refs/pr/1. */
static size_t revision_length(const char *text)
{
    size_t length = strcspn(text, "/");
    if (!SP_IS(text, length, "refs")) return length;
    for (int parts = 0; parts < 2 && text[length] == '/'; parts++) length += 1 + strcspn(text + length + 1, "/");
    return length;
}

/* Reads "hf://ORG/NAME@REVISION/PATH": "ORG/NAME" becomes hub->id. Without an organisation the id is "NAME", without a
 * revision it is "main", and without a path that is "". False with an error for anything else. */
static bool read_hub_name(struct hub *hub, const char *url, struct shapeproof_error *error)
{
    struct sp_arena *arena = &hub->remote->arena;
    const char *text = url + strlen(SCHEME), *slash = strchr(text, '/'), *at = strchr(text, '@');
    const size_t first = strcspn(text, "/@");
    if (!is_hub_word(text, first)) return refuse_name(url, error);
    size_t length = first;
    if (slash && (!at || slash < at)) {
        const size_t second = strcspn(slash + 1, "/@");
        if (!is_hub_word(slash + 1, second)) return refuse_name(url, error);
        length += 1 + second;
    }
    hub->id = sp_arena_copy(arena, text, length);
    hub->revision = "main";
    const char *rest = text + length;
    if (*rest == '@') {
        const size_t revision = revision_length(++rest);
        hub->revision = sp_arena_copy(arena, rest, revision);
        rest += revision;
        if (!revision || !sp_is_safe_path(hub->revision)) return refuse_name(url, error);
    }
    while (*rest == '/') rest++;
    hub->path = sp_arena_string(arena, rest);
    const size_t end = strlen(hub->path);
    if (end && hub->path[end - 1] == '/') hub->path = sp_arena_copy(arena, hub->path, end - 1);
    return sp_is_safe_path(hub->path) || refuse_name(url, error);
}

/* ---- the listing ---- */

static const char *escape_revision(struct hub *hub)
{
    struct sp_text text = {0};
    for (const char *c = sp_url_escape(hub->revision, &hub->remote->arena); *c; c++) {
        if (*c == '/') sp_text_puts(&text, "%2F");
        else sp_text_append(&text, c, 1);
    }
    return sp_text_keep(&text, &hub->remote->arena);
}

/* The folder of the cache for the model, or for a commit of it. */
static bool open_sparse_cache(struct hub *hub, const char *commit, struct sp_sparse_cache *sparse,
                              struct shapeproof_error *error)
{
    struct shapeproof_remote *remote = hub->remote;
    const char *host = sp_cache_word(strstr(remote->client.token_origin, "//") + 2, &remote->arena);
    char *id = sp_arena_string(&remote->arena, hub->id);
    if (strchr(id, '/')) *strchr(id, '/') = '%'; /* which is in no name */
    const char *key = sp_arena_printf(&remote->arena, "hub/%s/%s/%s", host, id, commit);
    return sp_sparse_cache_open(sparse, remote->options.cache, key, &remote->arena, error);
}

/* Asks the hub for the commit and the file names of the revision, and stores the answer in the cache as `note`. */
static bool fetch_listing(struct hub *hub, const struct sp_sparse_cache *notes, const char *note,
                          struct shapeproof_error *error)
{
    struct shapeproof_remote *remote = hub->remote;
    const char *url = sp_arena_printf(&remote->arena, "%s/api/models/%s/revision/%s", remote->options.endpoint, hub->id,
                                      escape_revision(hub));
    struct sp_transfer transfer = {.url = url, .room = MAX_LISTING};
    struct sp_batch batch = {.transfers = &transfer, .count = 1};
    bool ok = sp_batch_run(&batch, &remote->client, error);
    if (ok && transfer.answer->outcome != SP_GOT) {
        if (transfer.answer->outcome == SP_NOT_THERE)
            sp_hint(error, "see that the name and the revision are right; a private model needs HF_TOKEN");
        ok = sp_remote_fail(transfer.answer, remote->name, error);
    }
    const size_t length = ok ? (size_t)transfer.answer->length : 0;
    if (ok && length < transfer.answer->total)
        ok = sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%s: a listing of more than %d MiB",
                     remote->name, MAX_LISTING >> 20);
    char *text = sp_realloc(NULL, length + 1, 1);
    if (ok) memcpy(text, transfer.bytes, length);
    text[length] = '\0';
    sp_batch_free(&batch);
    ok = ok && sp_sparse_cache_note(notes, note, text, length, error);
    if (ok && !sp_listing_read(&hub->listing, text, length, &hub->remote->arena, error)) {
        sp_error_prefix(error, remote->name);
        ok = false;
    }
    sp_free(text);
    return ok;
}

/* Whether the revision is a commit, which never changes. */
static bool is_commit(const char *revision)
{
    return strlen(revision) == 40 && strspn(revision, "0123456789abcdef") == 40;
}

/* The listing of the revision: from the cache for a commit, which never changes, and when offline; otherwise from
 * the hub. */
static bool find_listing(struct hub *hub, struct shapeproof_error *error)
{
    struct shapeproof_remote *remote = hub->remote;
    struct sp_sparse_cache notes;
    struct shapeproof_error ignored = {0};
    const char *note = sp_arena_printf(&remote->arena, "%s.json", escape_revision(hub));
    if (!open_sparse_cache(hub, "revisions", &notes, error)) return false;
    char *known =
        remote->options.offline || is_commit(hub->revision) ? sp_sparse_cache_noted(&notes, note, MAX_LISTING) : NULL;
    bool ok = known && sp_listing_read(&hub->listing, known, strlen(known), &remote->arena, &ignored);
    sp_free(known);
    if (!ok && remote->options.offline) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "not in the cache, and --offline fetches nothing");
        sp_error_prefix(error, remote->name);
    } else if (!ok) {
        ok = fetch_listing(hub, &notes, note, error);
    }
    sp_sparse_cache_close(&notes);
    return ok;
}

/* ---- what is read ---- */

static size_t depth_of(const char *name)
{
    size_t depth = 0;
    for (; *name; name++) depth += *name == '/';
    return depth;
}

/* Whether it lies in the folder `path`, or is what `path` names. */
static bool is_listed_below(const char *name, const char *path)
{
    const size_t length = strlen(path);
    return !length || (strncmp(name, path, length) == 0 && (name[length] == '/' || !name[length]));
}

/* Makes an empty file for each one that may be a checkpoint or Python code, so that the sparse cache is listed as the
 * model is.
 * Fetches the small files that the path may need, and an index, at once. Files far below the path are left out. */
static bool name_files(struct hub *hub, struct shapeproof_error *error)
{
    struct shapeproof_remote *remote = hub->remote;
    struct sp_remote_file *remote_files[MOST_DOCUMENTS];
    size_t count = 0;
    const char *slash = strrchr(hub->path, '/');
    const char *folder = sp_arena_copy(&remote->arena, hub->path, slash ? (size_t)(slash - hub->path) : 0);
    for (size_t i = 0; i < hub->listing.count; i++) {
        const char *name = hub->listing.items[i], *base = sp_base_name(name);
        if (depth_of(name) > depth_of(hub->path) + 2) continue;
        const bool is_shown = sp_may_be_checkpoint(base) || sp_ends_with(base, ".py");
        if (is_shown && !sp_sparse_cache_name(&remote->sparse, name, error)) return false;
        const bool wanted = (sp_is_document(base) || strcmp(base, "model.safetensors.index.json") == 0) &&
                            (is_listed_below(name, hub->path) || is_listed_below(name, folder));
        if (!wanted || count == MOST_DOCUMENTS || depth_of(name) > depth_of(hub->path) + 1) continue;
        remote_files[count] = sp_remote_find(remote, name, error);
        if (!remote_files[count++]) return false;
    }
    return sp_remote_ask(remote, remote_files, count, error);
}

/* Each component on its own; which can be read, and which should be there, is for the command to say. */
static bool read_components(struct hub *hub, const struct shapeproof_components *components,
                            struct shapeproof_error *error)
{
    const size_t count = shapeproof_component_count(components);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        struct shapeproof_error own = {0};
        if (component->state != SHAPEPROOF_COMPONENT_MODEL) continue;
        const char *slash = *hub->path && strcmp(component->name, ".") ? "/" : "";
        const char *below = sp_arena_printf(&hub->remote->arena, "%s%s%s", hub->path, slash,
                                            strcmp(component->name, ".") == 0 ? "" : component->name);
        if (sp_remote_read_folder(hub->remote, below, &own) || own.kind == SHAPEPROOF_KIND_UNRECOGNISED ||
            own.kind == SHAPEPROOF_KIND_MALFORMED)
            continue;
        *error = own;
        return false;
    }
    return true;
}

/* What lies there and is not fetched, where nothing else can be read. */
static void hint_at_distributed(const struct hub *hub, struct shapeproof_error *error)
{
    for (size_t i = 0; i < hub->listing.count && error->kind == SHAPEPROOF_KIND_UNRECOGNISED; i++)
        if (sp_ends_with(hub->listing.items[i], ".distcp") && is_listed_below(hub->listing.items[i], hub->path))
            sp_hint(error, "a distributed checkpoint (*.distcp) is read where it is on this machine: download it");
}

/* Fetches what the path names: a file with its companions, or a folder, which may be a pipeline of several models. A
 * listing names files alone: one that is called as the path is the file, and one below the path makes it a folder.
 * Which models a folder has is read in the cache, where name_files has put the documents, and an empty file for each
 * checkpoint. */
static bool read_place(struct hub *hub, struct shapeproof_error *error)
{
    struct shapeproof_remote *remote = hub->remote;
    bool folder = !*hub->path, file = false;
    for (size_t i = 0; i < hub->listing.count; i++) {
        if (strcmp(hub->listing.items[i], hub->path) == 0) file = true;
        else if (is_listed_below(hub->listing.items[i], hub->path)) folder = true;
    }
    if (!folder && !file) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s%s: it is not among the %zu files of this revision",
                remote->name, hub->path, hub->listing.count);
        return false;
    }
    remote->path =
        *hub->path ? sp_arena_printf(&remote->arena, "%s/%s", remote->sparse.path, hub->path) : remote->sparse.path;
    if (file) return sp_remote_read_file(remote, hub->path, error);
    struct shapeproof_components *components = shapeproof_components_open(remote->path, error);
    if (!components) return false;
    const bool ok = shapeproof_component_count(components) ? read_components(hub, components, error)
                                                           : sp_remote_read_folder(remote, hub->path, error);
    shapeproof_components_free(components);
    if (!ok) hint_at_distributed(hub, error);
    return ok;
}

static bool fetch_commit(struct hub *hub, struct shapeproof_error *error)
{
    struct shapeproof_remote *remote = hub->remote;
    remote->base =
        sp_arena_printf(&remote->arena, "%s/%s/resolve/%s/", remote->options.endpoint, hub->id, hub->listing.commit);
    remote->fixed = true;
    return open_sparse_cache(hub, hub->listing.commit, &remote->sparse, error) && name_files(hub, error) &&
           read_place(hub, error);
}

bool sp_hub_fetch(struct shapeproof_remote *remote, const char *url, struct shapeproof_error *error)
{
    struct hub hub = {.remote = remote};
    bool ok = read_hub_name(&hub, url, error);
    if (ok) {
        const bool named = strchr(url + strlen(SCHEME), '@') != NULL;
        remote->name =
            sp_arena_printf(&remote->arena, "hf://%s%s%s/", hub.id, named ? "@" : "", named ? hub.revision : "");
        ok = find_listing(&hub, error) && fetch_commit(&hub, error);
    }
    sp_free(hub.listing.items);
    return ok;
}
