/* SPDX-License-Identifier: MIT
 * Files elsewhere: asked for side by side, then filled on demand. */
#include "net/remote.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "read/directory.h"
#include "read/reader.h"

enum { SMALL_FILE = 4 << 20, FIRST_AHEAD = 128 * 1024, MOST_AHEAD = 8 << 20, GRAIN = 4096 };

bool sp_is_document(const char *name)
{
    static const char *const documents[] = {
        "config.json",
        "model_index.json",
        "modular_model_index.json",
        "modules.json",
        "router_config.json",
        "adapter_config.json",
        "cnn_config.json",
        "lstm_config.json",
        "quantize_config.json",
        "quant_config.json",
        "added_tokens.json",
        "hf_quant_config.json",
        "tokenizer_config.json",
        "config",
        "version",
        "sentence_bert_config.json",
    };
    return SP_IS_AMONG(sp_base_name(name), documents);
}

/* Read whole, where there is nothing but text in it. */
static bool is_read_whole(const char *name) { return sp_is_document(name) || sp_ends_with(name, ".json"); }

/* Archives of zip have their directory at the end. */
static bool may_be_archive(const char *name) { return sp_file_ending_says(name) & SP_ZIPPED; }

bool sp_remote_fail(const struct sp_net_response *answer, const char *shown, struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, answer->kind ? answer->kind : SHAPEPROOF_KIND_IO, "%s",
            answer->why[0] ? answer->why : "no answer");
    if (answer->hint[0]) sp_hint(error, "%s", answer->hint);
    sp_error_prefix(error, shown);
    return false;
}

/* Readers put the name of the file before an error by themselves: it goes off one that has it already. */
void sp_remote_unname(const struct sp_asset *asset, struct shapeproof_error *error)
{
    const size_t length = strlen(asset->shown);
    if (strncmp(error->message, asset->shown, length) == 0 && strncmp(error->message + length, ": ", 2) == 0)
        memmove(error->message, error->message + length + 2, strlen(error->message + length + 2) + 1);
}

/* ---- filling ---- */

static bool fail_offline(const struct sp_asset *asset, struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "not in the cache, and --offline fetches nothing");
    sp_error_prefix(error, asset->shown);
    return false;
}

/* One range into the mirror; the file has to be the version that is there. */
static bool fetch_span(struct sp_asset *asset, struct sp_byte_range span, const char *url, struct sp_net_response *told,
                       struct shapeproof_error *error)
{
    struct shapeproof_remote *remote = asset->remote;
    struct sp_transfer transfer = {.url = url,
                                   .etag = asset->mirrored.etag[0] ? asset->mirrored.etag : NULL,
                                   .fixed = remote->fixed,
                                   .begin = span.begin,
                                   .room = span.end - span.begin};
    struct sp_round round = {.transfers = &transfer, .count = 1};
    bool ok = sp_round_run(&round, &remote->client, error);
    if (ok) {
        *told = *transfer.answer;
        ok = told->outcome == SP_GOT;
        asset->requests += told->requests;
        if (ok && told->total != asset->mirrored.size) {
            ok = sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                         "the file was changed since its beginning was read");
            sp_error_prefix(error, asset->shown);
        }
        if (ok) ok = sp_mirrored_put(&asset->mirrored, told->begin, transfer.bytes, (size_t)told->length, error);
    }
    sp_round_free(&round);
    return ok;
}

/* Where redirects led may be for a short time only: then from the beginning. */
static bool fetch_more(struct sp_asset *asset, struct sp_byte_range span, struct shapeproof_error *error)
{
    struct sp_net_response *told = sp_realloc(NULL, 1, sizeof *told);
    *told = (struct sp_net_response){0};
    bool ok = asset->direct && fetch_span(asset, span, asset->direct, told, error);
    if (!ok && error->status == SHAPEPROOF_OK) {
        asset->direct = NULL;
        ok = fetch_span(asset, span, asset->url, told, error);
        if (ok) asset->direct = sp_arena_string(&asset->remote->arena, told->url);
    }
    if (!ok && error->status == SHAPEPROOF_OK) sp_remote_fail(told, asset->shown, error);
    free(told);
    return ok && sp_mirrored_save(&asset->mirrored, &asset->remote->mirror, error);
}

/* What is around it, too: readers go forwards. */
static struct sp_byte_range widen_span(struct sp_asset *asset, uint64_t offset, uint64_t length)
{
    const uint64_t size = asset->mirrored.size;
    struct sp_byte_range span = {offset / GRAIN * GRAIN, offset + length};
    if (size <= SMALL_FILE) return (struct sp_byte_range){0, size};
    if (span.end - span.begin < asset->ahead) span.end = span.begin + asset->ahead;
    if (asset->ahead < MOST_AHEAD) asset->ahead *= 2;
    if (span.end > size) span.end = size;
    return span;
}

static bool fail_limit(const struct sp_asset *asset, struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
            "its headers lie all over the file, or have more than %d MiB: too much to fetch", SP_MAX_HEADERS >> 20);
    sp_hint(error, "download the file, and name it");
    sp_error_prefix(error, asset->shown);
    return false;
}

static bool fill_span(struct sp_asset *asset, struct sp_byte_range wanted, struct shapeproof_error *error)
{
    struct sp_byte_range span = sp_mirrored_missing(&asset->mirrored, wanted);
    if (span.begin >= span.end) return true;
    if (asset->remote->options.offline) return fail_offline(asset, error);
    if (wanted.end - wanted.begin > SP_MAX_HEADERS || ++asset->fills > SP_MOST_FILLS) return fail_limit(asset, error);
    span = sp_mirrored_missing(&asset->mirrored, widen_span(asset, span.begin, span.end - span.begin));
    return fetch_more(asset, span, error);
}

static bool fill_asset(struct sp_supply *supply, uint64_t offset, uint64_t length, struct shapeproof_error *error)
{
    struct sp_asset *asset = (struct sp_asset *)supply;
    struct shapeproof_error own = {0}; /* that of a caller may be filled already */
    if (fill_span(asset, (struct sp_byte_range){offset, offset + length}, &own)) return true;
    sp_remote_unname(asset, &own);
    if (error->status == SHAPEPROOF_OK) *error = own;
    return false;
}

/* ---- asking ---- */

struct sp_asset *sp_remote_asset(struct shapeproof_remote *remote, const char *name, struct shapeproof_error *error)
{
    for (size_t i = 0; i < remote->assets.count; i++)
        if (strcmp(remote->assets.items[i]->name, name) == 0) return remote->assets.items[i];
    if (!*name || !sp_is_safe_path(name)) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "unsafe name %s: not a plain file name",
                sp_quote(name).text);
        return NULL;
    }
    struct sp_arena *arena = &remote->arena;
    struct sp_asset *asset = sp_arena_alloc(arena, sizeof *asset);
    *asset = (struct sp_asset){.supply = {fill_asset}, .remote = remote, .ahead = FIRST_AHEAD, .mirrored.fd = -1};
    asset->name = asset->mirrored.name = sp_arena_string(arena, name);
    asset->url = sp_arena_printf(arena, "%s%s%s", remote->base, sp_url_escape(name, arena), remote->query);
    asset->shown = sp_arena_printf(arena, "%s%s", remote->name, name);
    *SP_PUSH(&remote->assets) = asset;
    return asset;
}

/* Requests of a round, and whose they are. */
struct asking {
    struct shapeproof_remote *remote;
    SP_ARRAY(struct sp_transfer) transfers;
    struct sp_asset **owners;
    size_t owner_capacity;
};

static void add_asked_range(struct asking *asking, struct sp_asset *asset, uint64_t room, bool tail)
{
    const char *etag = asset->mirrored.fd >= 0 && asset->mirrored.etag[0] ? asset->mirrored.etag : NULL;
    SP_GROW(asking->owners, asking->transfers.count, asking->owner_capacity);
    asking->owners[asking->transfers.count] = asset;
    *SP_PUSH(&asking->transfers) = (struct sp_transfer){.url = asset->url,
                                                        .etag = etag,
                                                        .if_changed = etag != NULL,
                                                        .room = room,
                                                        .tail = tail,
                                                        .fixed = asking->remote->fixed};
}

/* False when it has to be there and cannot be. */
static bool plan_asset(struct asking *asking, struct sp_asset *asset, struct shapeproof_error *error)
{
    const struct shapeproof_remote *remote = asking->remote;
    if (asset->presence != SP_NOT_ASKED) return true;
    const bool known = sp_mirrored_load(&asset->mirrored, &remote->mirror);
    if (known && (remote->fixed || remote->options.offline)) {
        asset->presence = SP_THERE;
        return true;
    }
    if (remote->options.offline) {
        if (!sp_is_document(asset->name)) return fail_offline(asset, error);
        asset->presence = SHAPEPROOF_VALUE_ABSENT;
        return true;
    }
    const bool archive = may_be_archive(asset->name);
    add_asked_range(asking, asset,
                    is_read_whole(asset->name) ? SP_MAX_DOCUMENT
                    : archive                  ? SP_ARCHIVE_BYTES
                                               : SP_FIRST_BYTES,
                    false);
    if (archive) add_asked_range(asking, asset, SP_TAIL_BYTES, true);
    return true;
}

/* Bytes that came into the mirror, a new one unless they are of the version that is there. */
static bool keep_answer(struct sp_asset *asset, const struct sp_transfer *transfer, struct shapeproof_error *error)
{
    const struct sp_net_response *answer = transfer->answer;
    struct sp_mirrored *mirrored = &asset->mirrored;
    const bool same = mirrored->fd >= 0 && mirrored->size == answer->total &&
                      (transfer->fixed || strcmp(mirrored->etag, answer->etag) == 0);
    asset->requests += answer->requests;
    if (!same && asset->presence == SP_THERE)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                       "the file was changed while it was fetched");
    if ((!same || (asset->presence != SP_THERE && !answer->etag[0])) &&
        !sp_mirrored_make(mirrored, &asset->remote->mirror, answer->total, answer->etag, error))
        return false;
    return sp_mirrored_put(mirrored, answer->begin, transfer->bytes, (size_t)answer->length, error) &&
           sp_mirrored_save(mirrored, &asset->remote->mirror, error);
}

/* What has come of an answer that broke off helps the next command. */
static void keep_part(struct sp_asset *asset, const struct sp_transfer *transfer)
{
    struct shapeproof_error ignored = {0};
    const struct sp_net_response *answer = transfer->answer;
    if (!answer->etag[0] || !answer->length || answer->total > INT64_MAX || answer->begin > answer->total) return;
    if (answer->length <= transfer->room && answer->length <= answer->total - answer->begin)
        keep_answer(asset, transfer, &ignored);
}

static bool take_answer(struct sp_asset *asset, const struct sp_transfer *transfer, struct shapeproof_error *error)
{
    const struct sp_net_response *answer = transfer->answer;
    struct shapeproof_error own = {0};
    switch (answer->outcome) {
    case SP_GOT:
        if (!keep_answer(asset, transfer, &own)) break;
        if (is_read_whole(asset->name) && answer->length < answer->total &&
            !sp_fail(&own, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%" PRIu64 " bytes, more than the limit of %d",
                     answer->total, SP_MAX_DOCUMENT))
            break;
        asset->direct = sp_arena_string(&asset->remote->arena, answer->url);
        asset->presence = SP_THERE;
        return true;
    case SP_NOT_MODIFIED:
        asset->presence = SP_THERE;
        return true;
    case SP_NOT_THERE:
        asset->presence = SHAPEPROOF_VALUE_ABSENT;
        sp_mirrored_close(&asset->mirrored);
        sp_mirror_drop(&asset->remote->mirror, asset->name);
        return true;
    default:
        /* What may not be seen beside a file need not be there: stores of objects say 403 for both. */
        if (sp_is_document(asset->name) && !asset->remote->fixed && (answer->status == 401 || answer->status == 403)) {
            asset->presence = SHAPEPROOF_VALUE_ABSENT;
            return true;
        }
        keep_part(asset, transfer);
        return sp_remote_fail(answer, asset->shown, error);
    }
    if (error->status == SHAPEPROOF_OK) *error = own;
    sp_error_prefix(error, asset->shown);
    return false;
}

bool sp_remote_ask(struct shapeproof_remote *remote, struct sp_asset *const *assets, size_t count,
                   struct shapeproof_error *error)
{
    struct asking asking = {.remote = remote};
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) ok = plan_asset(&asking, assets[i], error);
    struct sp_round round = {.transfers = asking.transfers.items, .count = asking.transfers.count};
    if (ok && round.count) {
        ok = sp_round_run(&round, &remote->client, error);
        const bool came = ok;
        for (size_t i = 0; came && i < round.count; i++) {
            struct shapeproof_error later = {0}; /* the first is told; what came of the others is kept */
            ok = take_answer(asking.owners[i], &round.transfers[i], ok ? error : &later) && ok;
        }
        if (!came) sp_error_prefix(error, remote->name);
        sp_round_free(&round);
    }
    free(asking.transfers.items);
    free(asking.owners);
    return ok;
}

/* ---- files without a version ---- */

/* Whether the server says which version a file is: a tag that is the same for the same bytes alone, or a date. */
static bool has_version(const struct sp_mirrored *mirrored)
{
    return mirrored->etag[0] && strncmp(mirrored->etag, "W/", 2) != 0;
}

/* Fetches a span of the mirror once more. *same tells whether the bytes are those that are there. */
static bool compare_span(struct sp_asset *asset, struct sp_byte_range span, bool *same, struct shapeproof_error *error)
{
    struct sp_transfer transfer = {
        .url = asset->direct ? asset->direct : asset->url, .begin = span.begin, .room = span.end - span.begin};
    struct sp_round round = {.transfers = &transfer, .count = 1};
    unsigned char *there = sp_realloc(NULL, (size_t)transfer.room, 1);
    const struct sp_file mirror = {.fd = asset->mirrored.fd, .size = asset->mirrored.size, .path = asset->name};
    bool ok = sp_round_run(&round, &asset->remote->client, error);
    if (ok && transfer.answer->outcome != SP_GOT) ok = sp_remote_fail(transfer.answer, asset->shown, error);
    ok = ok && sp_file_read(&mirror, span.begin, there, (size_t)transfer.room, error);
    *same = ok && transfer.answer->total == asset->mirrored.size && transfer.answer->begin == span.begin &&
            transfer.answer->length == transfer.room && memcmp(there, transfer.bytes, (size_t)transfer.room) == 0;
    free(there);
    sp_round_free(&round);
    return ok;
}

bool sp_remote_settle(struct shapeproof_remote *remote, struct shapeproof_error *error)
{
    for (size_t i = 0; i < remote->assets.count; i++) {
        struct sp_asset *asset = remote->assets.items[i];
        struct sp_mirrored *mirrored = &asset->mirrored;
        bool same = true;
        if (remote->fixed || mirrored->fd < 0 || asset->requests < 2 || has_version(mirrored)) continue;
        for (size_t k = 0; same && k < mirrored->spans.count; k++)
            if (!compare_span(asset, mirrored->spans.items[k], &same, error)) return false;
        if (same) continue;
        sp_mirrored_close(mirrored);
        sp_mirror_drop(&remote->mirror, asset->name);
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "the file was changed while it was fetched");
        sp_hint(error, "ask again; the server tells no version of the file (ETag, Last-Modified)");
        sp_error_prefix(error, asset->shown);
        return false;
    }
    return true;
}
