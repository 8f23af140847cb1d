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

/* All in bytes. */
enum {
    SMALL_FILE = 4 << 20,     /* a file up to this size is fetched whole, once more than its beginning is needed */
    FIRST_AHEAD = 128 * 1024, /* the first range that is filled brings at least so much, each next one twice as much, */
    MOST_AHEAD = 8 << 20,     /* up to this */
    GRAIN = 4096              /* ranges begin at multiples of it */
};

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
        "config",  /* of Sockeye, */
        "version", /* too */
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
void sp_remote_unname(const struct sp_remote_file *remote_file, struct shapeproof_error *error)
{
    const size_t length = strlen(remote_file->shown);
    if (strncmp(error->message, remote_file->shown, length) == 0 && strncmp(error->message + length, ": ", 2) == 0)
        memmove(error->message, error->message + length + 2, strlen(error->message + length + 2) + 1);
}

/* ---- filling ---- */

static bool fail_offline(const struct sp_remote_file *remote_file, struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "not in the cache, and --offline fetches nothing");
    sp_error_prefix(error, remote_file->shown);
    return false;
}

/* Fetches one range of the file from `url` into the sparse cache, and copies the answer of the server to *told. False
 * without an error when the server did not give the bytes, which *told has the reason for. False with an error when
 * nothing could be asked, when the file is of another size than before, or when the cache cannot be written. */
static bool fetch_span(struct sp_remote_file *remote_file, struct sp_byte_range span, const char *url,
                       struct sp_net_response *told, struct shapeproof_error *error)
{
    struct shapeproof_remote *remote = remote_file->remote;
    struct sp_transfer transfer = {.url = url,
                                   .etag = remote_file->cached.etag[0] ? remote_file->cached.etag : NULL,
                                   .fixed = remote->fixed,
                                   .begin = span.begin,
                                   .room = span.end - span.begin};
    struct sp_batch batch = {.transfers = &transfer, .count = 1};
    bool ok = sp_batch_run(&batch, &remote->client, error);
    if (ok) {
        *told = *transfer.answer;
        ok = told->outcome == SP_GOT;
        remote_file->requests += told->requests;
        if (ok && told->total != remote_file->cached.size) {
            ok = sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                         "the file was changed since its beginning was read");
            sp_error_prefix(error, remote_file->shown);
        }
        if (ok) ok = sp_cached_file_put(&remote_file->cached, told->begin, transfer.bytes, (size_t)told->length, error);
    }
    sp_batch_free(&batch);
    return ok;
}

/* Fetches one more range: from the URL that redirects led to, which may be good for a short time only, and when that
 * fails from the first URL. */
static bool fetch_more(struct sp_remote_file *remote_file, struct sp_byte_range span, struct shapeproof_error *error)
{
    struct sp_net_response *told = sp_realloc(NULL, 1, sizeof *told);
    *told = (struct sp_net_response){0};
    bool ok = remote_file->direct && fetch_span(remote_file, span, remote_file->direct, told, error);
    if (!ok && error->status == SHAPEPROOF_OK) {
        remote_file->direct = NULL;
        ok = fetch_span(remote_file, span, remote_file->url, told, error);
        if (ok) remote_file->direct = sp_arena_string(&remote_file->remote->arena, told->url);
    }
    if (!ok && error->status == SHAPEPROOF_OK) sp_remote_fail(told, remote_file->shown, error);
    sp_free(told);
    return ok && sp_cached_file_save(&remote_file->cached, &remote_file->remote->sparse, error);
}

/* The range that is fetched where `length` bytes at `offset` are needed. It begins at a multiple of GRAIN and reaches
 * further than needed, since readers go forwards; it is all of a small file. */
static struct sp_byte_range widen_span(struct sp_remote_file *remote_file, uint64_t offset, uint64_t length)
{
    const uint64_t size = remote_file->cached.size;
    struct sp_byte_range span = {offset / GRAIN * GRAIN, offset + length};
    if (size <= SMALL_FILE) return (struct sp_byte_range){0, size};
    if (span.end - span.begin < remote_file->ahead) span.end = span.begin + remote_file->ahead;
    if (remote_file->ahead < MOST_AHEAD) remote_file->ahead *= 2;
    if (span.end > size) span.end = size;
    return span;
}

static bool fail_limit(const struct sp_remote_file *remote_file, struct shapeproof_error *error)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
            "its headers lie all over the file, or have more than %d MiB: too much to fetch", SP_MAX_HEADERS >> 20);
    sp_hint(error, "download the file, and name it");
    sp_error_prefix(error, remote_file->shown);
    return false;
}

/* Makes sure that the range is in the sparse cache: fetches what is missing of it. */
static bool fill_span(struct sp_remote_file *remote_file, struct sp_byte_range wanted, struct shapeproof_error *error)
{
    struct sp_byte_range span = sp_cached_file_missing(&remote_file->cached, wanted);
    if (span.begin >= span.end) return true;
    if (remote_file->remote->options.offline) return fail_offline(remote_file, error);
    if (wanted.end - wanted.begin > SP_MAX_HEADERS || ++remote_file->fills > SP_MOST_FILLS)
        return fail_limit(remote_file, error);
    span = sp_cached_file_missing(&remote_file->cached, widen_span(remote_file, span.begin, span.end - span.begin));
    return fetch_more(remote_file, span, error);
}

static bool fill_remote_file(struct sp_byte_source *source, uint64_t offset, uint64_t length,
                             struct shapeproof_error *error)
{
    struct sp_remote_file *remote_file = (struct sp_remote_file *)source;
    struct shapeproof_error own = {0}; /* that of a caller may be filled already */
    if (fill_span(remote_file, (struct sp_byte_range){offset, offset + length}, &own)) return true;
    sp_remote_unname(remote_file, &own);
    if (error->status == SHAPEPROOF_OK) *error = own;
    return false;
}

/* ---- asking ---- */

struct sp_remote_file *sp_remote_find(struct shapeproof_remote *remote, const char *name,
                                      struct shapeproof_error *error)
{
    for (size_t i = 0; i < remote->remote_files.count; i++)
        if (strcmp(remote->remote_files.items[i]->name, name) == 0) return remote->remote_files.items[i];
    if (!*name || !sp_is_safe_path(name)) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "unsafe name %s: not a plain file name",
                sp_quote(name).text);
        return NULL;
    }
    struct sp_arena *arena = &remote->arena;
    struct sp_remote_file *remote_file = sp_arena_alloc(arena, sizeof *remote_file);
    *remote_file =
        (struct sp_remote_file){.source = {fill_remote_file}, .remote = remote, .ahead = FIRST_AHEAD, .cached.fd = -1};
    remote_file->name = remote_file->cached.name = sp_arena_string(arena, name);
    remote_file->url = sp_arena_printf(arena, "%s%s%s", remote->base, sp_url_escape(name, arena), remote->query);
    remote_file->shown = sp_arena_printf(arena, "%s%s", remote->name, name);
    *SP_PUSH(&remote->remote_files) = remote_file;
    return remote_file;
}

/* Requests of a batch, and whose they are. */
struct asking {
    struct shapeproof_remote *remote;
    SP_ARRAY(struct sp_transfer) transfers;
    struct sp_remote_file **owners; /* of each transfer */
    size_t owner_capacity;
};

enum file_end { FILE_BEGINNING, FILE_TAIL };

/* Adds a request for the first or the last `room` bytes of a file. Where the cache has a version of it, the server
 * sends nothing if that is still the newest. */
static void add_asked_range(struct asking *asking, struct sp_remote_file *remote_file, enum file_end end, uint64_t room)
{
    const char *etag = remote_file->cached.fd >= 0 && remote_file->cached.etag[0] ? remote_file->cached.etag : NULL;
    SP_GROW(asking->owners, asking->transfers.count, asking->owner_capacity);
    asking->owners[asking->transfers.count] = remote_file;
    *SP_PUSH(&asking->transfers) = (struct sp_transfer){.url = remote_file->url,
                                                        .etag = etag,
                                                        .if_changed = etag != NULL,
                                                        .room = room,
                                                        .tail = end == FILE_TAIL,
                                                        .fixed = asking->remote->fixed};
}

/* Adds what is to be requested of a file: all of a document, the beginning of a checkpoint, and the end as well of what
 * may be a zip archive. Nothing for what the cache has already, where that cannot change (one commit, or offline).
 * False with an error when offline and not in the cache. */
static bool plan_remote_file(struct asking *asking, struct sp_remote_file *remote_file, struct shapeproof_error *error)
{
    const struct shapeproof_remote *remote = asking->remote;
    if (remote_file->presence != SP_NOT_ASKED) return true;
    const bool known = sp_cached_file_load(&remote_file->cached, &remote->sparse);
    if (known && (remote->fixed || remote->options.offline)) {
        remote_file->presence = SP_FOUND;
        return true;
    }
    if (remote->options.offline) {
        if (!sp_is_document(remote_file->name)) return fail_offline(remote_file, error);
        remote_file->presence = SP_NOT_FOUND;
        return true;
    }
    const bool archive = may_be_archive(remote_file->name);
    add_asked_range(asking, remote_file, FILE_BEGINNING,
                    is_read_whole(remote_file->name) ? SP_MAX_DOCUMENT
                    : archive                        ? SP_ARCHIVE_BYTES
                                                     : SP_FIRST_BYTES);
    if (archive) add_asked_range(asking, remote_file, FILE_TAIL, SP_TAIL_BYTES);
    return true;
}

/* Puts the bytes that came into the sparse cache. A file of the cache that is of another version, or of which the
 * server tells no version, is replaced before its first bytes are put; a later change of version is an error. */
static bool keep_answer(struct sp_remote_file *remote_file, const struct sp_transfer *transfer,
                        struct shapeproof_error *error)
{
    const struct sp_net_response *answer = transfer->answer;
    struct sp_cached_file *cached = &remote_file->cached;
    const bool same = cached->fd >= 0 && cached->size == answer->total &&
                      (transfer->fixed || strcmp(cached->etag, answer->etag) == 0);
    remote_file->requests += answer->requests;
    if (!same && remote_file->presence == SP_FOUND)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED,
                       "the file was changed while it was fetched");
    if ((!same || (remote_file->presence != SP_FOUND && !answer->etag[0])) &&
        !sp_cached_file_make(cached, &remote_file->remote->sparse, answer->total, answer->etag, error))
        return false;
    return sp_cached_file_put(cached, answer->begin, transfer->bytes, (size_t)answer->length, error) &&
           sp_cached_file_save(cached, &remote_file->remote->sparse, error);
}

/* What has come of an answer that broke off helps the next command. */
static void keep_part(struct sp_remote_file *remote_file, const struct sp_transfer *transfer)
{
    struct shapeproof_error ignored = {0};
    const struct sp_net_response *answer = transfer->answer;
    if (!answer->etag[0] || !answer->length || answer->total > INT64_MAX || answer->begin > answer->total) return;
    if (answer->length <= transfer->room && answer->length <= answer->total - answer->begin)
        keep_answer(remote_file, transfer, &ignored);
}

/* Stores what came for one file: its bytes in the cache, or that it does not exist. A document that is not readable
 * (401, 403) beside a checkpoint counts as absent. False with an error. */
static bool take_answer(struct sp_remote_file *remote_file, const struct sp_transfer *transfer,
                        struct shapeproof_error *error)
{
    const struct sp_net_response *answer = transfer->answer;
    struct shapeproof_error own = {0};
    switch (answer->outcome) {
    case SP_GOT:
        if (!keep_answer(remote_file, transfer, &own)) break;
        if (is_read_whole(remote_file->name) && answer->length < answer->total) {
            sp_fail(&own, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%" PRIu64 " bytes, more than the limit of %d",
                    answer->total, SP_MAX_DOCUMENT);
            break;
        }
        remote_file->direct = sp_arena_string(&remote_file->remote->arena, answer->url);
        remote_file->presence = SP_FOUND;
        return true;
    case SP_NOT_MODIFIED:
        remote_file->presence = SP_FOUND;
        return true;
    case SP_NOT_THERE:
        remote_file->presence = SP_NOT_FOUND;
        sp_cached_file_close(&remote_file->cached);
        sp_sparse_cache_drop(&remote_file->remote->sparse, remote_file->name);
        return true;
    default:
        /* Object stores answer 403 for a file that is not there as well as for one that is private. */
        if (sp_is_document(remote_file->name) && !remote_file->remote->fixed &&
            (answer->status == 401 || answer->status == 403)) {
            remote_file->presence = SP_NOT_FOUND;
            return true;
        }
        keep_part(remote_file, transfer);
        return sp_remote_fail(answer, remote_file->shown, error);
    }
    if (error->status == SHAPEPROOF_OK) *error = own;
    sp_error_prefix(error, remote_file->shown);
    return false;
}

/* Takes the answers of all files. The first error is reported; what came of the other files is kept all the same. */
static bool take_answers(const struct asking *asking, const struct sp_batch *batch, struct shapeproof_error *error)
{
    bool good = true;
    for (size_t i = 0; i < batch->count; i++) {
        struct shapeproof_error later = {0};
        good = take_answer(asking->owners[i], &batch->transfers[i], good ? error : &later) && good;
    }
    return good;
}

bool sp_remote_ask(struct shapeproof_remote *remote, struct sp_remote_file *const *remote_files, size_t count,
                   struct shapeproof_error *error)
{
    struct asking asking = {.remote = remote};
    bool good = true;
    for (size_t i = 0; i < count && good; i++) good = plan_remote_file(&asking, remote_files[i], error);
    struct sp_batch batch = {.transfers = asking.transfers.items, .count = asking.transfers.count};
    if (good && batch.count) {
        const bool ran = sp_batch_run(&batch, &remote->client, error);
        if (!ran) sp_error_prefix(error, remote->name);
        good = ran && take_answers(&asking, &batch, error);
        sp_batch_free(&batch);
    }
    sp_free(asking.transfers.items);
    sp_free(asking.owners);
    return good;
}

/* ---- files without a version ---- */

/* Whether the server says which version a file is: a tag that is the same for the same bytes alone, or a date. */
static bool has_version(const struct sp_cached_file *cached)
{
    return cached->etag[0] && strncmp(cached->etag, "W/", 2) != 0;
}

/* Fetches a span of the sparse cache once more. *same tells whether the bytes are those that are there. */
static bool compare_span(struct sp_remote_file *remote_file, struct sp_byte_range span, bool *same,
                         struct shapeproof_error *error)
{
    struct sp_transfer transfer = {.url = remote_file->direct ? remote_file->direct : remote_file->url,
                                   .begin = span.begin,
                                   .room = span.end - span.begin};
    struct sp_batch batch = {.transfers = &transfer, .count = 1};
    unsigned char *there = sp_realloc(NULL, (size_t)transfer.room, 1);
    const struct sp_file sparse = {
        .fd = remote_file->cached.fd, .size = remote_file->cached.size, .path = remote_file->name};
    bool ok = sp_batch_run(&batch, &remote_file->remote->client, error);
    if (ok && transfer.answer->outcome != SP_GOT) ok = sp_remote_fail(transfer.answer, remote_file->shown, error);
    ok = ok && sp_file_read(&sparse, span.begin, there, (size_t)transfer.room, error);
    *same = ok && transfer.answer->total == remote_file->cached.size && transfer.answer->begin == span.begin &&
            transfer.answer->length == transfer.room && memcmp(there, transfer.bytes, (size_t)transfer.room) == 0;
    sp_free(there);
    sp_batch_free(&batch);
    return ok;
}

bool sp_remote_settle(struct shapeproof_remote *remote, struct shapeproof_error *error)
{
    for (size_t i = 0; i < remote->remote_files.count; i++) {
        struct sp_remote_file *remote_file = remote->remote_files.items[i];
        struct sp_cached_file *cached = &remote_file->cached;
        bool same = true;
        if (remote->fixed || cached->fd < 0 || remote_file->requests < 2 || has_version(cached)) continue;
        for (size_t k = 0; same && k < cached->spans.count; k++)
            if (!compare_span(remote_file, cached->spans.items[k], &same, error)) return false;
        if (same) continue;
        sp_cached_file_close(cached);
        sp_sparse_cache_drop(&remote->sparse, remote_file->name);
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "the file was changed while it was fetched");
        sp_hint(error, "ask again; the server tells no version of the file (ETag, Last-Modified)");
        sp_error_prefix(error, remote_file->shown);
        return false;
    }
    return true;
}
