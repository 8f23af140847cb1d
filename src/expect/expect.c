/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* AT_FDCWD */
#include "expect/expect.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "base/file.h"
#include "lang/syntax/source.h"

enum { MAX_FILE = 256 * 1024 };

/* ---- the file ---- */

/* The text of a file, of *length bytes and a NUL; NULL with an error. sp_free it. */
static char *read_file(const char *path, size_t *length, struct shapeproof_error *error)
{
    struct sp_file file;
    const bool ok = sp_file_open(&file, AT_FDCWD, path, error);
    char *text = ok ? sp_file_slurp(&file, MAX_FILE, error) : NULL;
    *length = ok ? (size_t)file.size : 0;
    sp_file_close(&file);
    if (text) return text;
    sp_error_prefix(error, path);
    error->status = SHAPEPROOF_ERR_TABLE;
    return NULL;
}

struct shapeproof_expectations *shapeproof_expectations_load(const char *path, const char *today,
                                                             struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("reading the expected differences");
    sp_error_reset(error);
    struct sp_text messages = {0};
    size_t length;
    char *text = read_file(path, &length, error);
    if (!text) return NULL;
    struct shapeproof_expectations *expectations = sp_realloc(NULL, 1, sizeof *expectations);
    *expectations = (struct shapeproof_expectations){0};
    expectations->path = sp_arena_string(&expectations->arena, path);
    if (!sp_expectations_parse(expectations, text, length, today, &messages)) {
        sp_diagnoses_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, messages.data);
        shapeproof_expectations_free(expectations);
        expectations = NULL;
    }
    sp_text_free(&messages);
    sp_free(text);
    return expectations;
}

void shapeproof_expectations_free(struct shapeproof_expectations *expectations)
{
    if (!expectations) return;
    sp_free(expectations->items);
    sp_arena_free(&expectations->arena);
    sp_free(expectations);
}

/* ---- using them ---- */

static bool is_about_id(const struct sp_expectation *expectation, const char *id, const char *cause)
{
    return strcmp(expectation->id, "*") == 0 || strcmp(expectation->id, id) == 0 ||
           (cause && strcmp(expectation->id, cause) == 0);
}

/* Whether an expectation is about a finding: by its id or its cause, and by one of its names. */
static bool covers(const struct sp_expectation *expectation, const char *id, const char *cause, const char *name,
                   const char *other)
{
    return is_about_id(expectation, id, cause) && (sp_name_pattern_matches(&expectation->pattern, name) ||
                                                   (other && sp_name_pattern_matches(&expectation->pattern, other)));
}

/* The first expectation that covers the finding and is not expired gives the reason. */
const char *sp_expected(struct sp_expecting *expecting, const char *id, const char *cause, const char *name,
                        const char *other)
{
    const struct shapeproof_expectations *all = expecting->expectations;
    const char *reason = NULL;
    if (!expecting->fulfilled) {
        expecting->fulfilled = sp_realloc(NULL, all->count, sizeof *expecting->fulfilled);
        memset(expecting->fulfilled, 0, all->count * sizeof *expecting->fulfilled);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (!covers(&all->items[i], id, cause, name, other)) continue;
        expecting->fulfilled[i] = true;
        if (!reason && !all->items[i].expired) reason = all->items[i].reason;
    }
    return reason;
}

void sp_expecting_end(struct sp_expecting *expecting, struct sp_arena *arena,
                      void (*add)(void *context, struct sp_left_over left), void *context)
{
    const struct shapeproof_expectations *all = expecting->expectations;
    for (size_t i = 0; i < all->count; i++) {
        const struct sp_expectation *item = &all->items[i];
        const bool fulfilled = expecting->fulfilled && expecting->fulfilled[i];
        if (fulfilled && !item->expired) continue;
        struct sp_left_over left = {.expired = item->expired};
        left.name = sp_arena_printf(arena, "%s %s", item->id, item->name);
        if (item->expired)
            left.message = sp_arena_printf(arena, "was expected until %s (%s:%zu: %s)", item->until, all->path,
                                           item->line, item->reason);
        else
            left.message = sp_arena_printf(arena, "is expected and was not found (%s:%zu: %s)", all->path, item->line,
                                           item->reason);
        add(context, left);
    }
    sp_free(expecting->fulfilled);
    expecting->fulfilled = NULL;
}
