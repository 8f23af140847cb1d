/* SPDX-License-Identifier: MIT
 * Fuzzes what is read of servers: a URL, the header lines of an answer, the listing of a model. */
#include "fuzz.h"

#include "net/listing.h"
#include "net/response.h"

static void read_lines(const char *text, size_t length)
{
    struct sp_response response = {0};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        const size_t line = end ? (size_t)(end - text) - at + 1 : length - at;
        sp_response_line(&response, text + at, line);
        at += line;
    }
    if (response.ranged && !response.fault && response.end < response.begin) abort();
    if (strlen(sp_response_validator(&response)) >= SP_ETAG_BYTES) abort();
}

static void read_url(const char *text, struct sp_arena *arena)
{
    struct sp_url url, again;
    struct shapeproof_error error = {0};
    if (!sp_url_parse(text, arena, &url, &error)) return;
    if (!sp_url_parse(url.text, arena, &again, &error) || strcmp(url.origin, again.origin) != 0) abort();
    if (strchr(url.shown, '?') || strchr(url.origin, '@')) abort();
}

static void read_names(char *text, size_t length, struct sp_arena *arena)
{
    struct sp_listing listing = {0};
    struct shapeproof_error error = {0};
    if (sp_listing_read(&listing, text, length, arena, &error))
        for (size_t i = 0; i < listing.count; i++)
            if (!sp_is_safe_path(listing.items[i])) abort();
    free(listing.items);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct sp_arena arena = {0};
    char *text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = '\0';
    read_lines(text, size);
    read_url(text, &arena);
    read_names(text, size, &arena);
    free(text);
    sp_arena_free(&arena);
}
