/* SPDX-License-Identifier: MIT */
#include "net/url.h"

#include <string.h>

#include "base/chars.h"
#include "base/names.h"

/* Of a path or a query, what RFC 3986 lets stand there. */
static bool is_url_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!sp_is_word(text[i]) && !strchr("-.~!$&'()*+,;=:@/?%", text[i])) return false;
    return true;
}

static bool is_host(const char *host, size_t length)
{
    const bool numeric6 = length > 2 && host[0] == '[' && host[length - 1] == ']';
    if (!length || length > 253) return false;
    for (size_t i = numeric6; i < length - numeric6; i++) {
        const bool letter = sp_is_word(host[i]) && host[i] != '_';
        if (!letter && !strchr(numeric6 ? ":." : "-.", host[i])) return false;
    }
    return true;
}

/* 1 to 65535; "" is none. */
static bool is_port(const char *port, size_t length)
{
    unsigned value = 0;
    if (length > 5) return false;
    for (size_t i = 0; i < length; i++) {
        if (!sp_is_digit(port[i])) return false;
        value = value * 10 + sp_digit(port[i]);
    }
    return !length || (value && value < 65536);
}

static bool is_loopback(const char *host, size_t length)
{
    return SP_IS(host, length, "127.0.0.1") || SP_IS(host, length, "[::1]");
}

static char *lower_case(char *text)
{
    for (char *c = text; *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    return text;
}

static bool refuse_scheme(const char *text, struct shapeproof_error *error)
{
    const size_t length = strcspn(text, ":");
    sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_REFUSED, "%.*s:// is not fetched: https:// and hf:// are",
            (int)length, text);
    if (SP_IS(text, length, "http"))
        sp_hint(error, "a server that is asked without encryption can be anybody's: try https://");
    return false;
}

static bool refuse_url(const char *text, const char *why, struct shapeproof_error *error)
{
    struct sp_arena arena = {0};
    const char *shown = sp_arena_copy(&arena, text, strcspn(text, "?#"));
    sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_REFUSED, "%s: %s",
            sp_quote(strchr(shown, '@') ? "(a URL)" : shown).text, why);
    sp_arena_free(&arena);
    return false;
}

bool sp_url_parse(const char *text, struct sp_arena *arena, struct sp_url *url, struct shapeproof_error *error)
{
    const size_t scheme = strcspn(text, ":"), length = strcspn(text, "#"); /* a fragment is left out */
    const bool tls = SP_IS(text, scheme, "https"), plain = SP_IS(text, scheme, "http");
    if ((!tls && !plain) || strncmp(text + scheme, "://", 3) != 0) return refuse_scheme(text, error);
    const char *host = text + scheme + 3;
    const size_t authority = strcspn(host, "/?#");
    const char *path = host + authority, *bracket = host[0] == '[' ? memchr(host, ']', authority) : NULL;
    const char *colon = memchr(bracket ? bracket : host, ':', authority - (size_t)(bracket ? bracket - host : 0));
    const size_t name = colon ? (size_t)(colon - host) : authority;
    const char *port = colon ? colon + 1 : path;
    if (memchr(host, '@', authority)) return refuse_url(text, "a URL with a user or a password in it", error);
    if (length > SP_URL_BYTES) return refuse_url(text, "a URL of more than 8 KiB", error);
    if (!is_host(host, name) || !is_port(port, (size_t)(path - port)) ||
        !is_url_text(path, length - (size_t)(path - text)))
        return refuse_url(text, "not a plain URL", error);
    if (plain && !is_loopback(host, name)) return refuse_scheme(text, error);
    const bool has_port = port < path;
    const char *usual_port = tls ? "443" : "80";
    url->text = sp_arena_copy(arena, text, length);
    url->shown = sp_arena_copy(arena, text, strcspn(text, "?#"));
    url->origin = lower_case(sp_arena_printf(arena, "%.*s://%.*s:%.*s", (int)scheme, text, (int)name, host,
                                             (int)(has_port ? (size_t)(path - port) : strlen(usual_port)),
                                             has_port ? port : usual_port));
    url->loopback = plain; /* the only host that plain http is allowed for */
    return true;
}

char *sp_url_escape(const char *text, struct sp_arena *arena)
{
    static const char digits[] = "0123456789ABCDEF";
    char *escaped = sp_arena_array(arena, strlen(text) + 1, 3), *to = escaped;
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (sp_is_word(*text) || strchr("-.~/", *text)) {
            *to++ = *text;
        } else {
            *to++ = '%';
            *to++ = digits[c >> 4];
            *to++ = digits[c & 15];
        }
    }
    return escaped;
}

bool sp_is_safe_path(const char *path)
{
    for (const char *name = path; *name;) {
        const size_t length = strcspn(name, "/");
        if (!length || length > 200 || SP_IS(name, length, ".") || SP_IS(name, length, "..")) return false;
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)name[i] < ' ' || name[i] == '\\' || name[i] == 0x7f) return false;
        name += length;
        if (*name && !*++name) return false;
    }
    return strlen(path) < 1024;
}
