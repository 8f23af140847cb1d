/* SPDX-License-Identifier: MIT */
#include "net/response.h"

#include <string.h>

#include "base/chars.h"
#include "base/checked.h"

/* Digits at *text, moved past; false when there are none, or too many. */
static bool take_digits(const char **text, const char *end, uint64_t *number)
{
    const char *begin = *text;
    for (*number = 0; *text < end && sp_is_digit(**text); ++*text)
        if (!sp_mul_u64(*number, 10, number) || !sp_add_u64(*number, sp_digit(**text), number)) return false;
    return *text > begin;
}

static bool take_literal(const char **text, const char *end, const char *expected)
{
    const size_t length = strlen(expected);
    if ((size_t)(end - *text) < length || memcmp(*text, expected, length) != 0) return false;
    *text += length;
    return true;
}

/* "HTTP/1.1 206 Partial Content", "HTTP/2 206" */
static void read_status_line(struct sp_response *response, const char *line, const char *end)
{
    const size_t bytes = response->bytes;
    uint64_t status = 0;
    *response = (struct sp_response){.bytes = bytes};
    const char *space = memchr(line, ' ', (size_t)(end - line));
    if (space) space++;
    if (space && take_digits(&space, end, &status) && status >= 100 && status < 1000) response->status = (int)status;
    else response->fault = "the server does not speak HTTP";
}

/* "bytes 0-99/1000", "bytes 0-99/" and an asterisk, or of a 416 the asterisk and the total. */
static void read_content_range(struct sp_response *response, const char *value, const char *end)
{
    uint64_t first = 0, last = 0;
    if (response->ranged || response->has_total) {
        response->fault = "it has two Content-Ranges";
    } else if (!take_literal(&value, end, "bytes ")) {
        response->fault = "its Content-Range is not in bytes";
    } else if (take_literal(&value, end, "*/")) {
        response->has_total = take_digits(&value, end, &response->total) && value == end;
    } else if (take_digits(&value, end, &first) && take_literal(&value, end, "-") && take_digits(&value, end, &last) &&
               take_literal(&value, end, "/") && first <= last && last < INT64_MAX) {
        response->ranged = true;
        response->begin = first;
        response->end = last + 1;
        response->has_total = take_digits(&value, end, &response->total) && value == end;
        if (response->has_total && (response->total > INT64_MAX || response->end > response->total))
            response->fault = "its Content-Range contradicts itself";
    } else {
        response->fault = "its Content-Range makes no sense";
    }
}

static void read_content_length(struct sp_response *response, const char *value, const char *end)
{
    uint64_t length;
    if (!take_digits(&value, end, &length) || value != end || length > INT64_MAX)
        response->fault = "its Content-Length makes no sense";
    else if (response->has_length && length != response->length) response->fault = "it has two different lengths";
    else response->has_length = true, response->length = length;
}

/* Kept when it fits and is printable; otherwise there is none. */
static void keep_header(char *into, size_t size, const char *value, const char *end)
{
    const size_t length = (size_t)(end - value);
    into[0] = '\0';
    if (length >= size) return;
    for (size_t i = 0; i < length; i++)
        if (value[i] < ' ' || value[i] > '~') return;
    memcpy(into, value, length);
    into[length] = '\0';
}

static bool is_header_named(const char *name, size_t length, const char *expected)
{
    if (strlen(expected) != length) return false;
    for (size_t i = 0; i < length; i++) {
        const char c = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
        if (c != expected[i]) return false;
    }
    return true;
}

void sp_response_line(struct sp_response *response, const char *line, size_t length)
{
    const char *end = line + length;
    while (end > line && strchr("\r\n \t", end[-1]) && end[-1]) end--;
    response->bytes += length;
    if (response->bytes > SP_HEAD_BYTES) {
        response->fault = "its headers have more than 64 KiB";
        return;
    }
    const char *http = line;
    if (take_literal(&http, end, "HTTP/")) {
        read_status_line(response, line, end);
        return;
    }
    const char *colon = memchr(line, ':', (size_t)(end - line));
    if (!colon) return;
    const size_t name = (size_t)(colon - line);
    const char *value = colon + 1;
    while (value < end && (*value == ' ' || *value == '\t')) value++;
    if (is_header_named(line, name, "content-range")) read_content_range(response, value, end);
    else if (is_header_named(line, name, "content-length")) read_content_length(response, value, end);
    else if (is_header_named(line, name, "etag")) keep_header(response->etag, sizeof response->etag, value, end);
    else if (is_header_named(line, name, "last-modified"))
        keep_header(response->modified, sizeof response->modified, value, end);
    else if (is_header_named(line, name, "x-error-code"))
        keep_header(response->code, sizeof response->code, value, end);
    else if (is_header_named(line, name, "retry-after")) take_digits(&value, end, &response->retry_after);
    else if (is_header_named(line, name, "content-encoding") && !SP_IS(value, (size_t)(end - value), "identity"))
        response->fault = "it is compressed (Content-Encoding), which was not asked for";
}

const char *sp_response_validator(const struct sp_response *response)
{
    return response->etag[0] ? response->etag : response->modified;
}
