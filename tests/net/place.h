/* SPDX-License-Identifier: MIT
 * What tests of the network have in common: two servers, which are two origins, a cache, checkpoints that are larger
 * than anything that is on this machine, and a fetch with the reading behind it. */
#ifndef TESTS_NET_PLACE_H
#define TESTS_NET_PLACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ftw.h>
#include <sys/stat.h>

#include "net/server.h"
#include "shapeproof/shapeproof.h"

static struct server *here, *there;
static char cache[64];
static struct shapeproof_remote_options options;
static struct shapeproof_error error;

static inline int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static inline void empty_cache(void)
{
    nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    assert_int_equal(mkdir(cache, 0700), 0);
}

/* A request that stalls for so long is tried again. A server of a test that answers at all does so well before the
 * first, on a busy machine too; the second is for servers that are meant to stall. */
enum { PATIENT_STALL_MS = 20 * 1000, SHORT_STALL_MS = 300 };

static inline void set_options(void)
{
    options = (struct shapeproof_remote_options){.cache = cache, .pause_ms = 1, .stall_ms = PATIENT_STALL_MS};
}

static inline int start_servers(void **state)
{
    (void)state;
    here = calloc(1, sizeof *here);
    there = calloc(1, sizeof *there);
    if (!here || !there) abort();
    server_start(here);
    server_start(there);
    server_origin(there, here->elsewhere, sizeof here->elsewhere);
    snprintf(cache, sizeof cache, "/tmp/shapeproof-net-XXXXXX");
    if (!mkdtemp(cache)) abort();
    set_options();
    return 0;
}

static inline int stop_servers(void **state)
{
    (void)state;
    server_stop(here);
    server_stop(there);
    nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

/* The head of a safetensors file with `count` matrices, named from `first` on; its size with the data behind. */
static inline char *make_head(size_t first, size_t count, uint64_t rows, size_t *length, uint64_t *size)
{
    const size_t room = 200 * count + 64;
    char *head = malloc(room);
    size_t at = 8;
    uint64_t offset = 0;
    assert_non_null(head);
    head[at++] = '{';
    for (size_t i = 0; i < count; i++, offset += rows * 4096 * 2)
        at += (size_t)snprintf(head + at, room - at,
                               "%s\"model.layers.%zu.weight\":{\"dtype\":\"BF16\",\"shape\":[%" PRIu64
                               ",4096],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
                               i ? "," : "", first + i, rows, offset, offset + rows * 4096 * 2);
    head[at++] = '}';
    for (int i = 0; i < 8; i++) head[i] = (char)((uint64_t)(at - 8) >> (8 * i));
    *length = at;
    *size = at + offset;
    return head;
}

static inline struct served *serve_model(struct server *server, const char *name, size_t first, size_t count,
                                         uint64_t rows)
{
    size_t length;
    uint64_t size;
    char *head = make_head(first, count, rows, &length, &size);
    struct served *file = serve_file(server, name, head, length, size);
    free(head);
    return file;
}

/* The URL of a path of the server `here`; good until the next call. */
static inline const char *url_here(const char *path)
{
    static char url[600];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%s", here->port, path);
    return url;
}

/* How many tensors there are; the fetch must go well. */
static inline size_t fetch_count(const char *url)
{
    struct shapeproof_remote *remote = shapeproof_remote_fetch(url, &options, &error);
    if (!remote) fail_msg("%s: %s", url, error.message);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(shapeproof_remote_path(remote), &error);
    if (!inventory) fail_msg("%s: %s", url, error.message);
    const size_t count = shapeproof_inventory_count(inventory);
    shapeproof_inventory_close(inventory);
    shapeproof_remote_free(remote);
    return count;
}

/* The message after the URL, which must be named first. */
static inline const char *fetch_message(const char *url)
{
    struct shapeproof_remote *remote = shapeproof_remote_fetch(url, &options, &error);
    assert_null(remote);
    if (strncmp(error.message, url, strlen(url)) != 0) fail_msg("%s: not about %s", error.message, url);
    return strstr(error.message + strlen(url), ": ") + 2;
}

static inline uint64_t bytes_moved(void) { return here->sent + here->received + there->sent + there->received; }

#endif
