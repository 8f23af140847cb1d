/* SPDX-License-Identifier: MIT
 * See child.h. An exchange is the way of one transfer to its answer: requests, one after the other, of which each ends
 * in bytes, in a redirect, in a pause and another attempt, or in a refusal. */
#define _GNU_SOURCE
#include "net/child.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "net/response.h"

enum {
    MOST_ACTIVE = 16,
    MOST_ATTEMPTS = 5,
    MOST_REDIRECTS = 5,
    MOST_PAUSE_SECONDS = 60,
    CONNECT_MS = 15 * 1000,
    LOOK_MS = 200,
    LEAST_PROGRESS = 1024,     /* bytes, within the time that counts as a stall */
    DISCARDED = 16 * 1024,     /* of the body of a redirect or an error: worth it for the connection */
    SKIPPED = 4 * 1024 * 1024, /* in front of what is needed, where a server knows no ranges */
};

enum stage {
    WAITING, /* for its next request, until `due` */
    ACTIVE,  /* libcurl has the request */
    DONE     /* the answer is final */
};

/* The total of a server that sends the whole file without its length: known once all of it has come. */
#define UNKNOWN_TOTAL UINT64_MAX

struct exchange {
    const struct sp_work *work;
    const struct sp_curl *curl;
    struct sp_transfer *transfer;
    struct sp_net_response *answer;
    unsigned char *bytes;
    enum stage stage;
    int64_t due;           /* of the next request, in ms of the clock */
    struct sp_arena arena; /* of the URLs */
    struct sp_url url;     /* of the next request, or of the active one */
    unsigned attempts;     /* from the first URL, with the one that is under way */
    unsigned redirects;    /* of this attempt */
    uint64_t received;     /* bytes of bodies, of all requests */
    /* of the request that is active */
    CURL *easy;
    struct curl_slist *headers;
    struct sp_response response;
    bool begun;         /* the headers were checked, and the body is what was asked for */
    bool enough;        /* all that is wanted is there, and the server would send more */
    uint64_t skip;      /* bytes of the body that are still to come before those that are wanted */
    uint64_t discarded; /* bytes of the body of a redirect or an error */
    int64_t checked;    /* when progress was last looked at, in ms of the clock */
    uint64_t come;      /* `received` at that time */
};

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- ends ---- */

static void end_exchange(struct exchange *exchange, enum sp_outcome outcome)
{
    exchange->answer->outcome = outcome;
    exchange->stage = DONE;
    exchange->work->counters->done++;
}

__attribute__((format(printf, 3, 4))) static void refuse_exchange(struct exchange *exchange, enum shapeproof_kind kind,
                                                                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(exchange->answer->why, sizeof exchange->answer->why, format, args);
    va_end(args);
    exchange->answer->kind = kind;
    end_exchange(exchange, SP_NO_ANSWER);
}

/* ---- the body ---- */

/* How many bytes are to come in all, from answer->begin on. */
static uint64_t wanted_bytes(const struct exchange *exchange)
{
    const struct sp_net_response *answer = exchange->answer;
    const uint64_t left = answer->total - answer->begin;
    return left < exchange->transfer->room ? left : exchange->transfer->room;
}

/* Compares the version in the headers with the one that bytes have come of before, and with the one that is asked for.
 * Returns why the answer cannot be used, or NULL; so do the next two functions. */
static const char *compare_version(struct exchange *exchange, uint64_t total)
{
    struct sp_net_response *answer = exchange->answer;
    const char *validator = sp_response_validator(&exchange->response), *before = exchange->transfer->etag;
    const bool compared = !exchange->transfer->fixed;
    if (answer->length && (answer->total != total || (compared && strcmp(answer->etag, validator) != 0)))
        return "the file was changed while it was fetched";
    if (before && compared && !exchange->transfer->if_changed && strcmp(before, validator) != 0)
        return "the file was changed since its beginning was read";
    memccpy(answer->etag, validator, '\0', sizeof answer->etag);
    return NULL;
}

/* Where the bytes of the file that are wanted begin, once its size is known. */
static uint64_t wanted_begin(const struct exchange *exchange, uint64_t total)
{
    const struct sp_transfer *transfer = exchange->transfer;
    if (!transfer->tail) return transfer->begin;
    return total > transfer->room ? total - transfer->room : 0;
}

/* Checks the headers of a 206: the range has to begin where bytes are missing, and not to end behind what is wanted. */
static const char *begin_range(struct exchange *exchange)
{
    const struct sp_response *response = &exchange->response;
    struct sp_net_response *answer = exchange->answer;
    if (!response->ranged) return "it has no Content-Range";
    if (!response->has_total) return "it does not tell the size of the file";
    if (response->has_length && response->length != response->end - response->begin)
        return "its Content-Length and its Content-Range differ";
    const char *changed = compare_version(exchange, response->total);
    if (changed) return changed;
    const uint64_t begin = wanted_begin(exchange, response->total);
    if (response->begin != begin + answer->length) return "it is another range than was asked for";
    answer->begin = begin;
    answer->total = response->total;
    return response->end <= begin + wanted_bytes(exchange) ? NULL : "it is more than was asked for";
}

/* Checks the headers of a 200: the server knows no ranges and sends the whole file. What is in front of the bytes that
 * are wanted is skipped, unless that is too much. */
static const char *begin_whole(struct exchange *exchange)
{
    const struct sp_response *response = &exchange->response;
    struct sp_net_response *answer = exchange->answer;
    const uint64_t total = response->has_length ? response->length : UNKNOWN_TOTAL;
    if (!response->has_length && exchange->transfer->tail) return "the server tells no lengths and knows no ranges";
    const char *changed = compare_version(exchange, total);
    if (changed) return changed;
    answer->begin = wanted_begin(exchange, total);
    answer->total = total;
    exchange->skip = answer->begin + answer->length;
    if (exchange->skip > total) return "the file is shorter than what it says of itself";
    return exchange->skip <= SKIPPED ? NULL : "the server knows no ranges, and what is needed lies far into the file";
}

static bool begin_body(struct exchange *exchange)
{
    struct sp_response *response = &exchange->response;
    if (!response->fault) response->fault = response->status == 206 ? begin_range(exchange) : begin_whole(exchange);
    exchange->begun = !response->fault;
    return exchange->begun;
}

static bool has_body(const struct exchange *exchange)
{
    return exchange->response.status == 200 || exchange->response.status == 206;
}

/* libcurl calls this with each piece of a body: `count` units of `size` bytes. Stores those that are wanted behind what
 * has come before, and passes over those in front of them. Returns the number of bytes to go on, or 0, with which
 * libcurl ends the request: after a fault, or because a server that sends the whole file has sent enough. */
static size_t take_body_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    const size_t length = size * count;
    const bool is_range = exchange->response.status == 206;
    struct sp_net_response *answer = exchange->answer;
    exchange->received += length;
    exchange->work->counters->bytes += length;
    if (!has_body(exchange)) {
        exchange->discarded += length;
        return exchange->discarded <= DISCARDED ? length : 0;
    }
    if (!exchange->begun && !begin_body(exchange)) return 0;
    const size_t skipped = length < exchange->skip ? length : (size_t)exchange->skip;
    const uint64_t left = wanted_bytes(exchange) - answer->length;
    const size_t fresh = length - skipped, taken = fresh < left ? fresh : (size_t)left;
    exchange->skip -= skipped;
    memcpy(exchange->bytes + answer->length, bytes + skipped, taken);
    answer->length += taken;
    const bool is_complete = answer->length == wanted_bytes(exchange);
    const bool is_at_end = answer->begin + answer->length == answer->total; /* of the file */
    if (fresh > taken && (is_range || is_at_end)) exchange->response.fault = "it is longer than it says";
    exchange->enough = !exchange->response.fault && is_complete && !is_range && !is_at_end;
    return exchange->response.fault || exchange->enough ? 0 : length;
}

/* Likewise with each line of the headers. */
static size_t take_header_line(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    sp_response_line(&exchange->response, bytes, size * count);
    return exchange->response.bytes <= SP_HEAD_BYTES ? size * count : 0;
}

/* ---- a request ---- */

/* Appends one header line, "Name: value", to the request. */
__attribute__((format(printf, 2, 3))) static void add_request_header(struct exchange *exchange, const char *format, ...)
{
    struct sp_text line = {0};
    va_list args;
    va_start(args, format);
    struct sp_arena arena = {0};
    sp_text_puts(&line, sp_arena_vprintf(&arena, format, args));
    va_end(args);
    exchange->headers = exchange->curl->do_slist_append(exchange->headers, line.data);
    sp_text_free(&line);
    sp_arena_free(&arena);
}

static void add_request_headers(struct exchange *exchange)
{
    const struct sp_transfer *transfer = exchange->transfer;
    const struct sp_net_response *answer = exchange->answer;
    const struct sp_client *client = exchange->work->client;
    const char *token = client->options->token;
    const uint64_t begin = (answer->length ? answer->begin : transfer->begin) + answer->length;
    if (transfer->tail && !answer->length) add_request_header(exchange, "Range: bytes=-%" PRIu64, transfer->room);
    else
        add_request_header(
            exchange, "Range: bytes=%" PRIu64 "-%" PRIu64, begin,
            (answer->length ? answer->begin + wanted_bytes(exchange) : transfer->begin + transfer->room) - 1);
    add_request_header(exchange, "Accept-Encoding: identity");
    if (transfer->if_changed && transfer->etag && !answer->length)
        add_request_header(exchange, strchr(transfer->etag, '"') ? "If-None-Match: %s" : "If-Modified-Since: %s",
                           transfer->etag);
    if (token && *token && strcmp(exchange->url.origin, client->token_origin) == 0)
        add_request_header(exchange, "Authorization: Bearer %s", token);
}

static void release_request(struct exchange *exchange, CURLM *multi)
{
    if (!exchange->easy) return;
    exchange->curl->do_multi_remove_handle(multi, exchange->easy);
    exchange->curl->do_easy_cleanup(exchange->easy);
    exchange->curl->do_slist_free_all(exchange->headers);
    exchange->easy = NULL;
    exchange->headers = NULL;
}

/* Hands the request of the exchange to libcurl. Only https is allowed, and http to this machine; redirects are not
 * followed by libcurl, since the token must not go with them to another host. */
static void start_request(struct exchange *exchange, CURLM *multi)
{
    const struct sp_curl *curl = exchange->curl;
    CURL *easy = curl->do_easy_init();
    if (!easy) {
        refuse_exchange(exchange, SHAPEPROOF_KIND_IO, "libcurl cannot begin a request");
        return;
    }
    exchange->easy = easy;
    exchange->response = (struct sp_response){0};
    exchange->begun = exchange->enough = false;
    exchange->skip = exchange->discarded = 0;
    exchange->checked = clock_ms();
    exchange->come = exchange->received;
    exchange->stage = ACTIVE;
    exchange->answer->requests++;
    exchange->work->counters->requests++;
    add_request_headers(exchange);
    curl->do_easy_setopt(easy, CURLOPT_URL, exchange->url.text);
    curl->do_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, exchange->url.loopback ? "http" : "https");
    if (exchange->url.loopback) curl->do_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl->do_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* what a proxy says is not the server's word */
    curl->do_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE); /* and it gets no token */
    curl->do_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L); /* redirects are followed here, by our rules */
    curl->do_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl->do_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl->do_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl->do_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl->do_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    curl->do_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl->do_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl->do_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl->do_easy_setopt(easy, CURLOPT_USERAGENT, "shapeproof/" SP_VERSION);
    curl->do_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    curl->do_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body_bytes);
    curl->do_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl->do_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header_line);
    curl->do_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    curl->do_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
    curl->do_multi_add_handle(multi, easy);
}

/* ---- what became of it ---- */

static void set_url(struct exchange *exchange, const char *text)
{
    struct shapeproof_error error = {0};
    struct sp_url url;
    const bool was_plain = exchange->url.loopback;
    if (!sp_url_parse(text, &exchange->arena, &url, &error))
        refuse_exchange(exchange, SHAPEPROOF_KIND_REFUSED, "redirected to what is not followed: %s", error.message);
    else if (url.loopback && !was_plain && exchange->redirects)
        refuse_exchange(exchange, SHAPEPROOF_KIND_REFUSED, "redirected to this machine itself, without encryption");
    else exchange->url = url;
}

/* Goes on to the URL of a redirect, which is checked as the first one was. */
static void follow_redirect(struct exchange *exchange)
{
    const char *to = NULL;
    exchange->curl->do_easy_getinfo(exchange->easy, CURLINFO_REDIRECT_URL, &to);
    if (!to) {
        refuse_exchange(exchange, SHAPEPROOF_KIND_IO, "HTTP status %d without a place to go on to",
                        exchange->answer->status);
        return;
    }
    if (exchange->redirects++ == MOST_REDIRECTS) {
        refuse_exchange(exchange, SHAPEPROOF_KIND_REFUSED, "more than %d redirects", MOST_REDIRECTS);
        return;
    }
    set_url(exchange, to);
    exchange->due = 0;
    if (exchange->stage != DONE) exchange->stage = WAITING;
}

/* Tries the exchange again from its first URL, after a pause: ours, which grows, or the longer one that the server asks
 * for in `seconds`. Refuses it when that is too long or this was the last attempt, with the formatted reason. */
__attribute__((format(printf, 3, 4))) static void try_again(struct exchange *exchange, uint64_t seconds,
                                                            const char *format, ...)
{
    char why[300];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    const uint32_t pause = exchange->work->client->options->pause_ms;
    if (seconds > MOST_PAUSE_SECONDS) {
        refuse_exchange(exchange, SHAPEPROOF_KIND_IO, "%s; it asks to come again in %" PRIu64 " s", why, seconds);
    } else if (exchange->attempts == MOST_ATTEMPTS) {
        refuse_exchange(exchange, SHAPEPROOF_KIND_IO, "%s, the last of %d times", why, MOST_ATTEMPTS);
    } else {
        const int64_t wait = (int64_t)(pause ? pause : 500) << (exchange->attempts - 1);
        exchange->due = clock_ms() + (wait > (int64_t)seconds * 1000 ? wait : (int64_t)seconds * 1000);
        exchange->attempts++;
        exchange->redirects = 0;
        exchange->stage = WAITING;
        exchange->url = (struct sp_url){0};
        set_url(exchange, exchange->transfer->url);
    }
}

/* After a request with a 200 or 206: ends the exchange when all that is wanted has come, or when the answer cannot be
 * used. Tries again when the connection broke, or when the body is shorter than announced. `code` is libcurl's word on
 * how the request ended; where `enough` has come it is an error, since take_body_bytes ended it. */
static void finish_body(struct exchange *exchange, CURLcode code)
{
    struct sp_net_response *answer = exchange->answer;
    struct sp_response *response = &exchange->response;
    if (!exchange->begun && !response->fault) begin_body(exchange); /* an empty body: take_body_bytes was not called */
    if (response->fault) {
        refuse_exchange(exchange, SHAPEPROOF_KIND_REFUSED, "the answer of the server is not used: %s", response->fault);
        return;
    }
    if (code == CURLE_OK && answer->total == UNKNOWN_TOTAL) answer->total = answer->begin + answer->length;
    if (answer->total == UNKNOWN_TOTAL && exchange->enough) {
        refuse_exchange(exchange, SHAPEPROOF_KIND_LIMIT, "the server tells no lengths and knows no ranges");
    } else if (answer->length == wanted_bytes(exchange)) {
        memccpy(answer->url, exchange->url.text, '\0', sizeof answer->url);
        end_exchange(exchange, SP_GOT);
    } else if (code == CURLE_OK) {
        try_again(exchange, 0, "it ended at %" PRIu64 " of %" PRIu64 " bytes", answer->length, wanted_bytes(exchange));
    } else {
        try_again(exchange, 0, "the connection broke at %" PRIu64 " of %" PRIu64 " bytes (%s)", answer->length,
                  wanted_bytes(exchange), exchange->curl->do_easy_strerror(code));
    }
}

/* Whether a later attempt may succeed. */
static bool is_passing(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_OPERATION_TIMEDOUT:
        return true;
    default:
        return false;
    }
}

static void refuse_status(struct exchange *exchange, int status)
{
    struct sp_net_response *answer = exchange->answer;
    const struct sp_response *response = &exchange->response;
    const char *open = response->code[0] ? " (" : "", *close = response->code[0] ? ")" : "";
    const bool may = status == 401 || status == 403;
    const bool token = exchange->work->client->options->token && exchange->work->client->options->token[0];
    if (may)
        snprintf(answer->hint, sizeof answer->hint, "%s",
                 token ? "see that the token may read it, and that its terms are accepted on the page of the model"
                       : "it may be private or gated, or not exist: set HF_TOKEN to a token that may read it");
    refuse_exchange(exchange, SHAPEPROOF_KIND_IO, "HTTP status %d%s%s%s%s", status,
                    status == 401   ? ", not without a token that may read it"
                    : status == 403 ? ", forbidden"
                    : status == 416 ? ", no such range"
                                    : "",
                    open, response->code, close);
}

/* What each HTTP status means for the exchange: its body is used, it is redirected, unchanged since last time, not
 * there, tried again later (overload), or refused. */
static void settle_status(struct exchange *exchange, CURLcode code)
{
    const int status = exchange->response.status;
    struct sp_net_response *answer = exchange->answer;
    switch (status) {
    case 200:
    case 206:
        finish_body(exchange, code);
        return;
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
        follow_redirect(exchange);
        return;
    case 304:
        if (exchange->transfer->if_changed) end_exchange(exchange, SP_NOT_MODIFIED);
        else refuse_status(exchange, status);
        return;
    case 404:
    case 410:
        snprintf(answer->why, sizeof answer->why, "HTTP status %d, it is not there%s%s%s", status,
                 exchange->response.code[0] ? " (" : "", exchange->response.code,
                 exchange->response.code[0] ? ")" : "");
        answer->kind = SHAPEPROOF_KIND_IO;
        end_exchange(exchange, SP_NOT_THERE);
        return;
    case 416:
        if (exchange->response.has_total && !exchange->response.total && !answer->length) {
            answer->total = answer->begin = 0; /* an empty file has no range at all */
            end_exchange(exchange, SP_GOT);
            return;
        }
        refuse_status(exchange, status);
        return;
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
        try_again(exchange, exchange->response.retry_after, "HTTP status %d%s", status,
                  status == 429   ? ", the server asks for fewer requests"
                  : status == 503 ? ", the server is not available"
                                  : "");
        return;
    default:
        refuse_status(exchange, status);
    }
}

/* Decides what follows from a request that has ended: by the HTTP status where there was one, otherwise by libcurl's
 * error. CURLE_WRITE_ERROR means that one of the functions above ended the request by itself. */
static void settle_request(struct exchange *exchange, CURLcode code)
{
    const char *text = exchange->curl->do_easy_strerror(code);
    exchange->answer->status = exchange->response.status;
    if (exchange->response.fault && !has_body(exchange))
        refuse_exchange(exchange, SHAPEPROOF_KIND_REFUSED, "the answer of the server is not used: %s",
                        exchange->response.fault);
    else if (exchange->response.status >= 200 && (code == CURLE_OK || code == CURLE_WRITE_ERROR || has_body(exchange)))
        settle_status(exchange, code);
    else if (code == CURLE_OUT_OF_MEMORY) refuse_exchange(exchange, SHAPEPROOF_KIND_LIMIT, "no answer: out of memory");
    else if (is_passing(code)) try_again(exchange, 0, "no answer (%s)", text);
    else refuse_exchange(exchange, SHAPEPROOF_KIND_IO, "no answer: %s", text);
}

/* ---- all of them ---- */

/* Starts the requests that are due, at most MOST_ACTIVE at once. Returns how many exchanges are not done yet. *next
 * becomes the time when the next request is due, if that is earlier. */
static size_t start_due(struct exchange *exchanges, size_t count, CURLM *multi, int64_t *next)
{
    size_t active = 0, open = 0;
    const int64_t now = clock_ms();
    for (size_t i = 0; i < count; i++) active += exchanges[i].stage == ACTIVE;
    for (size_t i = 0; i < count; i++) {
        struct exchange *exchange = &exchanges[i];
        if (exchange->stage == WAITING && exchange->due <= now && active < MOST_ACTIVE) {
            start_request(exchange, multi);
            active++;
        }
        if (exchange->stage == WAITING && exchange->due > now && exchange->due < *next) *next = exchange->due;
        open += exchange->stage != DONE;
    }
    return open;
}

/* Ends requests that have stalled, and tries them again: less than LEAST_PROGRESS has come since the last look, which
 * was at least `stall_ms` ago. */
static void check_stalls(struct exchange *exchanges, size_t count, CURLM *multi)
{
    const int64_t now = clock_ms();
    for (size_t i = 0; i < count; i++) {
        struct exchange *exchange = &exchanges[i];
        const uint32_t stall = exchange->work->client->options->stall_ms;
        if (exchange->stage != ACTIVE || now - exchange->checked < (int64_t)(stall ? stall : 20000)) continue;
        if (exchange->received - exchange->come < LEAST_PROGRESS) {
            release_request(exchange, multi);
            try_again(exchange, 0, "less than %d bytes came in %u ms", LEAST_PROGRESS, stall ? stall : 20000);
        }
        exchange->checked = now;
        exchange->come = exchange->received;
    }
}

/* Settles the requests that libcurl has ended. Returns whether there were any. */
static bool take_messages(const struct sp_curl *curl, CURLM *multi)
{
    int left;
    bool any = false;
    for (const CURLMsg *message; (message = curl->do_multi_info_read(multi, &left));) {
        struct exchange *exchange = NULL;
        const CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE) continue;
        curl->do_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&exchange);
        settle_request(exchange, code);
        release_request(exchange, multi);
        any = true;
    }
    return any;
}

/* The event loop of the child: starts requests that are due, lets libcurl transfer, ends those that are complete or
 * stalled, and waits. Returns when no exchange is left. Nothing is freed, because the process ends then. */
void sp_child_work(const struct sp_work *work, const struct sp_curl *curl)
{
    struct exchange *exchanges = sp_realloc(NULL, work->count, sizeof *exchanges);
    CURLM *multi = curl->do_multi_init();
    int running;
    if (!multi) return;
    curl->do_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    for (size_t i = 0; i < work->count; i++) {
        struct sp_transfer *transfer = &work->transfers[i];
        exchanges[i] = (struct exchange){.work = work,
                                         .curl = curl,
                                         .transfer = transfer,
                                         .answer = transfer->answer,
                                         .bytes = (unsigned char *)transfer->bytes,
                                         .attempts = 1};
        set_url(&exchanges[i], transfer->url);
    }
    for (;;) {
        int64_t next = clock_ms() + LOOK_MS;
        if (!start_due(exchanges, work->count, multi, &next)) break;
        curl->do_multi_perform(multi, &running);
        if (take_messages(curl, multi)) continue;
        check_stalls(exchanges, work->count, multi);
        const int64_t wait = next - clock_ms();
        if (wait > 0) curl->do_multi_poll(multi, NULL, 0, (int)wait, NULL); /* with nothing open, a pause */
    }
}
