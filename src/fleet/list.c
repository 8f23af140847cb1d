/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "fleet/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/text.h"

enum {
    STEP = 1 << 16,      /* bytes read at once */
    MOST_BYTES = 1 << 28 /* of a list, 256 MiB: two million paths; a pipe may have no end */
};

/* To the end of a file or a pipe. */
static bool slurp_list(struct sp_text *text, int from, const char *name, struct shapeproof_error *error)
{
    while (text->length <= MOST_BYTES) {
        sp_text_reserve(text, STEP);
        const ssize_t got = read(from, text->data + text->length, STEP);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: %s", name, strerror(errno));
        if (memchr(text->data + text->length, '\0', (size_t)got)) {
            sp_hint(error, "a list has a path a line, as find writes it without -print0");
            return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE, "%s: a NUL byte is no part of a path",
                           name);
        }
        text->length += (size_t)got;
        text->data[text->length] = '\0';
        if (got == 0) return true;
    }
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%s: the list has more than %d MiB", name,
                   MOST_BYTES >> 20);
}

static bool is_path(const char *line) { return *line != '#' && line[strspn(line, " \t")]; }

/* The line at `*place`, ended with a NUL, or NULL; the editors of Windows end lines with \r\n. */
static char *take_line(char **place, const char *end)
{
    char *line = *place;
    if (line == end) return NULL;
    char *stop = memchr(line, '\n', (size_t)(end - line));
    *place = stop ? stop + 1 : line + (end - line);
    if (!stop) stop = line + (end - line); /* where a NUL follows the text */
    *stop = '\0';
    if (stop > line && stop[-1] == '\r') stop[-1] = '\0';
    return line;
}

static size_t count_lines(const char *text, const char *end)
{
    size_t count = 1;
    for (; text < end; text++) count += *text == '\n';
    return count;
}

bool sp_list_read(struct sp_list *list, int from, const char *name, struct shapeproof_error *error)
{
    struct sp_text text = {0};
    struct sp_map seen = {0};
    *list = (struct sp_list){0};
    const bool read = slurp_list(&text, from, name, error);
    list->text = text.data;
    if (!read) return false;
    char *place = text.data;
    if (strncmp(place, "\xef\xbb\xbf", 3) == 0) place += 3; /* the byte order mark of editors of Windows */
    const char *end = text.data + text.length;
    list->paths = sp_realloc(NULL, count_lines(text.data, end), sizeof *list->paths);
    for (char *line; (line = take_line(&place, end)) != NULL;) {
        if (!is_path(line)) continue;
        if (sp_map_add(&seen, line, list->count)) list->paths[list->count++] = line;
        else list->repeated++;
    }
    sp_map_free(&seen);
    return true;
}

void sp_list_free(struct sp_list *list)
{
    free(list->text);
    free(list->paths);
}
