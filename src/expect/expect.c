/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* AT_FDCWD */
#include "expect/expect.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/error.h"
#include "base/file.h"
#include "base/order.h"
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

/* By prefix, one that is the beginning of another before it; those of one prefix as in the file. */
static int compare_prefixes(const void *left, const void *right)
{
    const struct sp_expectation *a = *(struct sp_expectation *const *)left, *b = *(struct sp_expectation *const *)right;
    const int order = memcmp(a->name, b->name, a->prefix < b->prefix ? a->prefix : b->prefix);
    if (order) return order;
    return a->prefix != b->prefix ? sp_order(a->prefix, b->prefix) : sp_order(a->line, b->line);
}

static void sort_by_prefix(struct shapeproof_expectations *all)
{
    all->sorted = sp_realloc(NULL, all->count, sizeof *all->sorted);
    for (size_t i = 0; i < all->count; i++) all->sorted[i] = &all->items[i];
    if (all->count) qsort(all->sorted, all->count, sizeof *all->sorted, compare_prefixes);
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
    expectations->bytes = length;
    if (!sp_expectations_parse(expectations, text, length, today, &messages)) {
        sp_diagnoses_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, messages.data);
        shapeproof_expectations_free(expectations);
        expectations = NULL;
    } else sort_by_prefix(expectations);
    sp_text_free(&messages);
    sp_free(text);
    return expectations;
}

void shapeproof_expectations_free(struct shapeproof_expectations *expectations)
{
    if (!expectations) return;
    sp_free(expectations->items);
    sp_free(expectations->sorted);
    sp_arena_free(&expectations->arena);
    sp_free(expectations);
}

/* ---- using them ---- */

static bool is_about_id(const struct sp_expectation *expectation, const char *id, const char *cause)
{
    return strcmp(expectation->id, "*") == 0 || strcmp(expectation->id, id) == 0 ||
           (cause && strcmp(expectation->id, cause) == 0);
}

/* A finding, as expectations are about it, and those that cover it. */
struct covering {
    struct sp_expecting *expecting;
    const char *id, *cause; /* `cause` may be NULL */
    size_t reason;          /* the first expectation that covers it and is not expired; SIZE_MAX: none */
};

/* Tries an expectation whose prefix the name has. `is_whole`: it has nothing but the prefix. */
static void try_expectation(struct covering *covering, const struct sp_expectation *item, const char *name,
                            uint64_t characters, bool is_whole)
{
    const bool has_wildcard = item->prefix < item->pattern.length;
    sp_budget_spend(1);
    if ((!has_wildcard && !is_whole) || (item->characters & ~characters)) return;
    if (!is_about_id(item, covering->id, covering->cause)) return;
    if (has_wildcard && !sp_name_pattern_matches(&item->pattern, name)) return;
    const size_t place = (size_t)(item - covering->expecting->expectations->items);
    covering->expecting->fulfilled[place] = true;
    if (!item->expired && place < covering->reason) covering->reason = place;
}

/* The first of sorted[low] to sorted[high - 1] whose prefix has a character at `place` that is not less than `c`. All
 * of them have the same characters before it, and one there. */
static size_t first_from(struct sp_expectation *const *sorted, size_t low, size_t high, size_t place, unsigned c)
{
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((unsigned char)sorted[middle]->name[place] < c) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Tries the expectations whose prefix is a beginning of the name. In the order of prefixes those that share the first
 * characters of the name stand together, the shortest first; each character of the name narrows them down. */
static void try_name(struct covering *covering, const char *name)
{
    const struct shapeproof_expectations *all = covering->expecting->expectations;
    const uint64_t characters = sp_name_characters(name);
    size_t low = 0, high = all->count;
    for (size_t place = 0; low < high; place++) {
        const unsigned c = (unsigned char)name[place];
        for (; low < high && all->sorted[low]->prefix == place; low++)
            try_expectation(covering, all->sorted[low], name, characters, !c);
        if (!c) return;
        low = first_from(all->sorted, low, high, place, c);
        high = first_from(all->sorted, low, high, place, c + 1);
    }
}

/* The first expectation that covers the finding and is not expired gives the reason. */
const char *sp_expected(struct sp_expecting *expecting, const char *id, const char *cause, const char *name,
                        const char *other)
{
    const struct shapeproof_expectations *all = expecting->expectations;
    struct covering covering = {.expecting = expecting, .id = id, .cause = cause, .reason = SIZE_MAX};
    if (!expecting->fulfilled) {
        sp_budget_reuse(all, "", all->bytes);
        expecting->fulfilled = sp_realloc(NULL, all->count, sizeof *expecting->fulfilled);
        memset(expecting->fulfilled, 0, all->count * sizeof *expecting->fulfilled);
    }
    try_name(&covering, name);
    if (other) try_name(&covering, other);
    return covering.reason == SIZE_MAX ? NULL : all->items[covering.reason].reason;
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
