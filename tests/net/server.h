/* SPDX-License-Identifier: MIT
 * A web server for tests, in threads of the test: it serves files that are made up as they are asked for, counts what
 * goes over the wire, and misbehaves as the path asks it to:
 *
 *   /MODE/NAME        the file NAME, in a way that MODE says; see serve_mode
 *
 * Only loopback is listened to. */
#ifndef TESTS_NET_SERVER_H
#define TESTS_NET_SERVER_H

#include <arpa/inet.h>
#include <assert.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_BYTES = 16 * 1024, MOST_FILES = 400, MOST_CONNECTIONS = 48 };

/* A file: `head` at its beginning, `tail` at its end, zeros between. */
struct served {
    char name[128];
    char *head, *tail;
    size_t head_length, tail_length;
    uint64_t size;
    char etag[256];
    atomic_int asked;
};

struct server {
    int listener, port;
    atomic_bool stop;
    pthread_t threads[MOST_CONNECTIONS];
    atomic_int ready; /* threads that have begun */
    pthread_mutex_t lock;
    struct served files[MOST_FILES];
    size_t file_count;
    char elsewhere[64]; /* the origin that redirects lead to */
    char listing[64 * 1024];
    const char *want_token; /* of the mode "private" */
    /* counted */
    atomic_uint_fast64_t requests, sent, received, tokens, conditional, partial, tunnels;
    char last[REQUEST_BYTES];
};

struct connection {
    struct server *server;
    int fd;
};

struct asked_range {
    bool given, suffix;
    uint64_t begin, end;
};

static inline struct served *serve_file(struct server *server, const char *name, const void *head, size_t head_length,
                                        uint64_t size)
{
    assert(server->file_count < MOST_FILES);
    struct served *file = &server->files[server->file_count++];
    snprintf(file->name, sizeof file->name, "%s", name);
    file->head = malloc(head_length + 1);
    assert(file->head);
    memcpy(file->head, head, head_length);
    file->head_length = head_length;
    file->size = size;
    snprintf(file->etag, sizeof file->etag, "\"%.200s\"", name);
    return file;
}

static inline void serve_text(struct server *server, const char *name, const char *text)
{
    serve_file(server, name, text, strlen(text), strlen(text));
}

static inline void serve_tail(struct served *file, const void *tail, size_t length)
{
    file->tail = malloc(length + 1);
    assert(file->tail);
    memcpy(file->tail, tail, length);
    file->tail_length = length;
}

static inline struct served *find_served(struct server *server, const char *name)
{
    for (size_t i = 0; i < server->file_count; i++)
        if (strcmp(server->files[i].name, name) == 0) return &server->files[i];
    return NULL;
}

static inline bool send_bytes(struct connection *connection, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length) {
        const ssize_t put = send(connection->fd, at, length, MSG_NOSIGNAL);
        if (put <= 0) return false;
        connection->server->sent += (uint64_t)put;
        at += put;
        length -= (size_t)put;
    }
    return true;
}

static inline bool send_text(struct connection *connection, const char *text)
{
    return send_bytes(connection, text, strlen(text));
}

/* Bytes [begin, end) of the file. */
static inline bool send_file(struct connection *connection, const struct served *file, uint64_t begin, uint64_t end)
{
    char block[8192];
    while (begin < end) {
        const uint64_t left = end - begin;
        const size_t length = left < sizeof block ? (size_t)left : sizeof block;
        for (size_t i = 0; i < length; i++) {
            const uint64_t at = begin + i, tail = file->size - file->tail_length;
            block[i] = (char)(at < file->head_length            ? file->head[at]
                              : file->tail_length && at >= tail ? file->tail[at - tail]
                                                                : 0);
        }
        if (!send_bytes(connection, block, length)) return false;
        begin += length;
    }
    return true;
}

static inline struct asked_range read_asked(const char *request, uint64_t size)
{
    struct asked_range range = {.end = size};
    const char *line = strstr(request, "\r\nRange: bytes=");
    if (!line) return range;
    line += strlen("\r\nRange: bytes=");
    char *end = NULL;
    range.given = true;
    if (*line == '-') {
        const uint64_t length = strtoull(line + 1, NULL, 10);
        range.suffix = true;
        range.begin = length < size ? size - length : 0;
        return range;
    }
    range.begin = strtoull(line, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9') range.end = strtoull(end + 1, NULL, 10) + 1;
    if (range.end > size) range.end = size;
    return range;
}

static inline bool answer_status(struct connection *connection, int status, const char *headers)
{
    char head[8192];
    snprintf(head, sizeof head, "HTTP/1.1 %d Status\r\n%sContent-Length: 0\r\n\r\n", status, headers);
    return send_text(connection, head);
}

static inline bool answer_redirect(struct connection *connection, const char *origin, const char *path)
{
    char headers[900];
    snprintf(headers, sizeof headers, "Location: %s%s\r\n", origin, path);
    return answer_status(connection, 302, headers);
}

/* How an answer differs from a good one. */
struct manner {
    const char *etag;    /* NULL: the file's own; "": none */
    const char *headers; /* more of them */
    uint64_t shift;      /* of what Content-Range says */
    uint64_t more;       /* bytes than were asked for */
    uint64_t cut;        /* the connection breaks after so many bytes of the body; 0: it does not */
    uint32_t drip_ms;    /* between bytes */
    uint32_t late_s;     /* seconds, in front of the body */
    bool whole;          /* no ranges */
    bool no_length;
    bool own_range; /* the headers have one */
    bool chunked;   /* and longer than its length says */
    bool says_less; /* the length of the body is larger than it says */
};

static inline void start_head(char *head, size_t size, const struct served *file, struct asked_range range,
                              struct manner manner)
{
    const char *etag = manner.etag ? manner.etag : file->etag;
    const uint64_t end = range.end + manner.more;
    size_t at = (size_t)snprintf(head, size, "HTTP/1.1 %s\r\n", range.given ? "206 Partial Content" : "200 OK");
    if (*etag) at += (size_t)snprintf(head + at, size - at, "ETag: %s\r\n", etag);
    if (range.given && !manner.own_range)
        at += (size_t)snprintf(head + at, size - at, "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n",
                               range.begin + manner.shift, end - 1 + manner.shift, file->size + manner.shift);
    if (!manner.no_length)
        at += (size_t)snprintf(head + at, size - at, "Content-Length: %" PRIu64 "\r\n",
                               end - range.begin - manner.says_less);
    snprintf(head + at, size - at, "%s\r\n", manner.headers ? manner.headers : "");
}

/* Returns whether the connection goes on. */
static inline bool send_slowly(struct connection *connection, const struct served *file, struct asked_range range,
                               uint32_t pause_ms)
{
    const struct timespec pause = {.tv_nsec = (long)pause_ms * 1000000};
    for (uint64_t i = range.begin; i < range.end; i++) {
        if (connection->server->stop || !send_file(connection, file, i, i + 1)) return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Chunks, until the other end has enough of them. */
static inline bool send_endless(struct connection *connection)
{
    while (!connection->server->stop && send_text(connection, "10\r\n0123456789abcdef\r\n")) continue;
    return false;
}

static inline bool answer_file(struct connection *connection, const struct served *file, const char *request,
                               struct manner manner)
{
    char head[4096];
    struct asked_range range = read_asked(request, file->size);
    const char *etag = manner.etag ? manner.etag : file->etag, *known = strstr(request, "\r\nIf-None-Match: ");
    if (known) connection->server->conditional++;
    if (known && *etag && strncmp(known + strlen("\r\nIf-None-Match: "), etag, strlen(etag)) == 0)
        return answer_status(connection, 304, "");
    if (manner.whole) range = (struct asked_range){.end = file->size};
    if (range.given && range.begin >= file->size) {
        snprintf(head, sizeof head, "Content-Range: bytes */%" PRIu64 "\r\n", file->size);
        return answer_status(connection, 416, head);
    }
    start_head(head, sizeof head, file, range, manner);
    if (manner.chunked) return send_text(connection, head) && send_endless(connection);
    if (!send_text(connection, head)) return false;
    connection->server->partial += range.given;
    if (manner.late_s) sleep(manner.late_s);
    if (manner.drip_ms) return send_slowly(connection, file, range, manner.drip_ms);
    const bool broken = manner.cut && manner.cut < range.end - range.begin;
    const uint64_t end = broken ? range.begin + manner.cut : range.end + manner.more;
    return send_file(connection, file, range.begin, end) && !broken && !manner.no_length;
}

/* ---- modes ---- */

static inline bool serve_status(struct connection *connection, struct served *file, const char *request, int status)
{
    switch (status) {
    case 429: /* the first time */
        return file->asked > 1 ? answer_file(connection, file, request, (struct manner){0})
                               : answer_status(connection, status, "Retry-After: 1\r\n");
    case 430:
        return answer_status(connection, 429, "Retry-After: 3600\r\n");
    case 503: /* twice */
        return file->asked > 2 ? answer_file(connection, file, request, (struct manner){0})
                               : answer_status(connection, status, "");
    case 504:
        return answer_status(connection, status, "");
    case 403:
        return answer_status(connection, status, "X-Error-Code: GatedRepo\r\n");
    default:
        return answer_status(connection, status, "");
    }
}

static inline bool serve_large_head(struct connection *connection)
{
    char line[1024];
    memset(line, 'a', sizeof line);
    memcpy(line, "X-A: ", 5);
    memcpy(line + sizeof line - 3, "\r\n", 3);
    if (!send_text(connection, "HTTP/1.1 206 Partial Content\r\n")) return false;
    for (int i = 0; i < 200; i++)
        if (!send_text(connection, line)) return false;
    return false;
}

/* The file in the manner that `mode` names. */
static inline bool serve_mode(struct connection *connection, const char *mode, struct served *file, const char *path,
                              const char *request)
{
    struct server *server = connection->server;
    struct manner manner = {0};
    char etag[32];
    if (strncmp(mode, "status-", 7) == 0) return serve_status(connection, file, request, atoi(mode + 7));
    if (strcmp(mode, "private") == 0 && !strstr(request, server->want_token)) return answer_status(connection, 401, "");
    if (strcmp(mode, "elsewhere") == 0) {
        char to[300];
        /* nodes of a network of servers that have tags of their own for the same file */
        const char *there = strncmp(file->name, "moving", 6) == 0 ? "changing" : "ok";
        snprintf(to, sizeof to, "/%s/%s?signed=secret", there, file->name);
        return answer_redirect(connection, server->elsewhere, to);
    }
    if (strcmp(mode, "loop") == 0) return answer_redirect(connection, "", path);
    if (strcmp(mode, "to-ftp") == 0) return answer_redirect(connection, "ftp://127.0.0.1", path);
    if (strcmp(mode, "to-plain") == 0) return answer_redirect(connection, "http://example.org", path);
    if (strcmp(mode, "to-file") == 0) return answer_redirect(connection, "file:///etc/passwd", "");
    if (strcmp(mode, "large-head") == 0) return serve_large_head(connection);
    if (strcmp(mode, "no-http") == 0) return send_text(connection, "220 ready\r\n\r\n") && false;
    if (strcmp(mode, "close") == 0) return false;
    if (strcmp(mode, "whole") == 0) manner.whole = true;
    else if (strcmp(mode, "whole-no-length") == 0) manner.whole = manner.no_length = true;
    else if (strcmp(mode, "cut") == 0) manner.cut = 5000;
    else if (strcmp(mode, "cut-first") == 0) manner.cut = file->asked == 1 ? 5000 : 0;
    else if (strcmp(mode, "cut-five") == 0) manner.cut = file->asked <= 5 ? 5000 : 0;
    else if (strcmp(mode, "drip") == 0) manner.drip_ms = 5;
    else if (strcmp(mode, "late") == 0) manner.late_s = 2;
    else if (strcmp(mode, "shifted") == 0) manner.shift = 8;
    else if (strcmp(mode, "more") == 0) manner.more = 10;
    else if (strcmp(mode, "says-less") == 0) manner.says_less = true;
    else if (strcmp(mode, "gzip") == 0) manner.headers = "Content-Encoding: gzip\r\n";
    else if (strcmp(mode, "two-lengths") == 0) manner.headers = "Content-Length: 7\r\n";
    else if (strcmp(mode, "two-ranges") == 0) manner.headers = "Content-Range: bytes */7\r\n";
    else if (strcmp(mode, "endless") == 0) {
        manner.whole = manner.chunked = true;
        manner.headers = "Transfer-Encoding: chunked\r\n";
    } else if (strcmp(mode, "odd-range") == 0) {
        manner.own_range = true;
        manner.headers = "Content-Range: bytes 5-1/0\r\n";
    } else if (strcmp(mode, "changing") == 0) {
        snprintf(etag, sizeof etag, "\"v%d\"", (int)file->asked);
        manner.etag = etag;
    } else if (strcmp(mode, "no-etag") == 0) manner.etag = "";
    else if (strcmp(mode, "weak") == 0) manner.etag = "W/\"same\"";
    else if (strcmp(mode, "replaced") == 0 || strcmp(mode, "weak-replaced") == 0) {
        /* The same size and tag, and other bytes from the second request on. */
        manner.etag = *mode == 'w' ? "W/\"same\"" : "";
        for (size_t i = 0; file->asked == 2 && i + 6 < file->head_length; i++)
            if (memcmp(file->head + i, "\"BF16\"", 6) == 0) memcpy(file->head + i, "\"F16\" ", 6);
    }
    return answer_file(connection, file, request, manner);
}

/* ---- requests ---- */

/* hf://: the API, and what it names, which is elsewhere. */
static inline bool serve_hub(struct connection *connection, const char *path, const char *request)
{
    struct server *server = connection->server;
    if (strncmp(path, "/api/", 5) == 0) {
        char head[256];
        if (strstr(path, "/absent/")) return answer_status(connection, 404, "X-Error-Code: RepoNotFound\r\n");
        if (strstr(path, "/gated/") && !strstr(request, server->want_token))
            return answer_status(connection, 401, "X-Error-Code: GatedRepo\r\n");
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", strlen(server->listing));
        return send_text(connection, head) && send_text(connection, server->listing);
    }
    char *name = strstr(path, "/resolve/");
    name = name ? strchr(name + strlen("/resolve/"), '/') : NULL;
    struct served *file = name ? find_served(server, name + 1) : NULL;
    if (!file) return answer_status(connection, 404, "X-Error-Code: EntryNotFound\r\n");
    file->asked++;
    const bool here = strstr(file->name, ".json") || !server->elsewhere[0];
    return serve_mode(connection, here ? "ok" : "elsewhere", file, path, request);
}

static inline bool serve_request(struct connection *connection, const char *request)
{
    struct server *server = connection->server;
    char path[1024] = "", mode[64] = "", name[512] = "";
    server->requests++;
    if (strstr(request, "\r\nAuthorization: ")) server->tokens++;
    if (strncmp(request, "CONNECT ", 8) == 0) {
        server->tunnels++;
        send_text(connection, "HTTP/1.1 200 OK\r\nETag: \"proxy\"\r\nContent-Length: 0\r\n\r\n");
        return false;
    }
    if (sscanf(request, "GET %1023s", path) != 1) return false;
    pthread_mutex_lock(&server->lock);
    snprintf(server->last, sizeof server->last, "%s", request);
    pthread_mutex_unlock(&server->lock);
    if (strncmp(path, "/api/", 5) == 0 || strstr(path, "/resolve/")) return serve_hub(connection, path, request);
    sscanf(path, "/%63[^/]/%511[^?]", mode, name);
    struct served *file = find_served(server, name);
    if (!file) return answer_status(connection, 404, "");
    file->asked++;
    return serve_mode(connection, mode, file, path, request);
}

static inline void serve_connection(struct connection *connection)
{
    struct server *server = connection->server;
    char request[REQUEST_BYTES] = "";
    size_t length = 0;
    for (bool open = true; open;) {
        struct pollfd ready = {.fd = connection->fd, .events = POLLIN};
        if (poll(&ready, 1, 20) == 0) {
            if (server->stop) break;
            continue;
        }
        const ssize_t got = recv(connection->fd, request + length, sizeof request - 1 - length, 0);
        if (got <= 0) break;
        server->received += (uint64_t)got;
        length += (size_t)got;
        request[length] = '\0';
        for (char *end; open && (end = strstr(request, "\r\n\r\n"));) {
            end[2] = '\0';
            open = serve_request(connection, request);
            length -= (size_t)(end + 4 - request);
            memmove(request, end + 4, length + 1);
        }
    }
}

/* A thread: one connection after the other, until the server stops. The threads neither allocate nor end before that:
 * the library forks beside them, and a lock of the allocator that one of them held then would stay locked for ever in
 * the child, where a sanitizer does not know how to release it. */
static inline void *serve_connections(void *context)
{
    struct server *server = context;
    server->ready++;
    while (!server->stop) {
        struct connection connection = {server, accept(server->listener, NULL, NULL)};
        if (connection.fd < 0) continue;
        serve_connection(&connection);
        close(connection.fd);
    }
    return NULL;
}

static inline void server_start(struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pthread_mutex_init(&server->lock, NULL);
    if (bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(server->listener, 64) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &length) != 0)
        abort();
    server->port = ntohs(address.sin_port);
    server->want_token = "\r\nAuthorization: Bearer hf_secret\r\n";
    for (int i = 0; i < MOST_CONNECTIONS; i++)
        if (pthread_create(&server->threads[i], NULL, serve_connections, server) != 0) abort();
    while (server->ready < MOST_CONNECTIONS) poll(NULL, 0, 1); /* a thread that begins allocates */
}

static inline void server_stop(struct server *server)
{
    server->stop = true;
    shutdown(server->listener, SHUT_RDWR); /* ends each accept */
    for (int i = 0; i < MOST_CONNECTIONS; i++) pthread_join(server->threads[i], NULL);
    close(server->listener);
    for (size_t i = 0; i < server->file_count; i++) {
        free(server->files[i].head);
        free(server->files[i].tail);
    }
    free(server);
}

static inline void server_origin(const struct server *server, char *origin, size_t size)
{
    snprintf(origin, size, "http://127.0.0.1:%d", server->port);
}

#endif
