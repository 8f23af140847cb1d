/* SPDX-License-Identifier: MIT */
#include "fleet/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/utf8.h"

#define SCHEMA "shapeproof."

static const char beginning[] = "{\"schema\": \"" SCHEMA;

/* ---- writing ---- */

/* As it can be read back from JSON: bytes that are no UTF-8 become U+FFFD. */
static struct sp_text readable_path(const char *path)
{
    struct sp_text readable = {0};
    const size_t length = strlen(path);
    sp_text_puts(&readable, "");
    for (size_t i = 0; i < length;) {
        uint32_t code;
        const size_t step = sp_utf8_decode(path + i, length - i, &code);
        if (step) sp_text_append(&readable, path + i, step);
        else sp_text_puts(&readable, "\xef\xbf\xbd");
        i += step ? step : 1;
    }
    return readable;
}

/* A document on one line: strings have no raw line breaks in them, so that each stands between two elements. */
static void put_folded(struct sp_text *text, const char *document)
{
    while (*document) {
        const size_t run = strcspn(document, "\n");
        sp_text_append(text, document, run);
        document += run;
        if (!*document) return;
        document += strspn(document, "\n ");
        if (text->data[text->length - 1] == ',') sp_text_puts(text, " ");
    }
}

enum { NO_SIGNAL = 0 };

/* The line of a checkpoint without a report. `signal` is the one that ended the process, or NO_SIGNAL. */
static void put_error_line(struct sp_text *text, const char *path, const struct shapeproof_error *error, int status,
                           int signal)
{
    struct sp_writer json = {.text = text};
    struct sp_text readable = readable_path(path);
    sp_write_open_line(&json, '{');
    sp_write_key_string(&json, "schema", SCHEMA "check/1");
    sp_write_key_string(&json, "path", readable.data);
    sp_write_key_number(&json, "status", (uint64_t)status);
    sp_write_key_string(&json, "error", error->message);
    sp_write_key_filled(&json, "kind", shapeproof_kind_name(error->kind));
    sp_write_key_filled(&json, "hint", error->hint);
    if (signal != NO_SIGNAL) sp_write_key_number(&json, "signal", (uint64_t)signal);
    sp_write_close(&json);
    sp_text_free(&readable);
}

/* A report has its schema on the first line after the brace. The path and the status go behind the schema, and all that
 * follows is put on the same line:
 *
 *   {
 *     "schema": "shapeproof.check/1",   ->   {"schema": "shapeproof.check/1", "path": "a", "status": 0, "verdict": ...}
 *     "verdict": "match"
 *   }
 *
 * Without a report that begins like this the line says the error. */
void sp_line_write(struct sp_text *text, const char *path, int status, const char *report,
                   const struct shapeproof_error *error)
{
    static const char opening[] = "{\n  \"schema\": ";
    const char *schema_end = NULL;
    if (report && strncmp(report, opening, strlen(opening)) == 0) schema_end = strchr(report + strlen(opening), '\n');
    if (!schema_end) {
        put_error_line(text, path, error, status, NO_SIGNAL);
        return;
    }
    const char *schema = report + strlen("{\n  ");
    sp_text_puts(text, "{");
    sp_text_append(text, schema, (size_t)(schema_end - schema)); /* with the comma behind it */
    struct sp_text readable = readable_path(path);
    sp_text_puts(text, " \"path\": ");
    sp_text_json(text, readable.data);
    sp_text_printf(text, ", \"status\": %d, ", status);
    sp_text_free(&readable);
    put_folded(text, schema_end + strspn(schema_end, "\n "));
    sp_text_puts(text, "\n");
}

void sp_line_write_crash(struct sp_text *text, const char *path, int signal, const char *why)
{
    struct shapeproof_error error = {0};
    sp_fail(&error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED, "%s", why);
    put_error_line(text, path, &error, SHAPEPROOF_ERR_FILE, signal);
}

/* ---- reading ---- */

static enum sp_line_outcome outcome_of_status(int status)
{
    return status == SHAPEPROOF_ERR_UNKNOWN ? SP_LINE_UNKNOWN
           : status == SHAPEPROOF_ERR_TABLE ? SP_LINE_MISCONFIGURED
           : status == SHAPEPROOF_ERR_USAGE ? SP_LINE_USAGE
                                            : SP_LINE_UNREADABLE;
}

static enum sp_line_outcome outcome_of_verdict(const char *verdict)
{
    return strcmp(verdict, "match") == 0        ? SP_LINE_MATCH
           : strcmp(verdict, "explained") == 0  ? SP_LINE_EXPLAINED
           : strcmp(verdict, "differs") == 0    ? SP_LINE_DIFFERS
           : strcmp(verdict, "holds") == 0      ? SP_LINE_HOLDS
           : strcmp(verdict, "fails") == 0      ? SP_LINE_FAILS
           : strcmp(verdict, "unreadable") == 0 ? SP_LINE_UNREADABLE
                                                : SP_LINE_UNKNOWN;
}

/* What the member after the status says: a verdict, or an error, of which the kind follows. */
static bool read_outcome(struct sp_fleet_line *line, struct sp_json *json, const char *key, bool *first)
{
    if (strcmp(key, "verdict") == 0) {
        const char *verdict = sp_json_string(json);
        if (verdict) line->outcome = outcome_of_verdict(verdict);
        return verdict != NULL;
    }
    line->outcome = outcome_of_status(line->status);
    if (strcmp(key, "error") != 0 || !(line->error = sp_json_string(json))) return false;
    key = sp_json_member(json, first);
    if (!key || strcmp(key, "kind") != 0) return sp_json_ok(json);
    const char *kind = sp_json_string(json);
    if (kind && strcmp(kind, "crashed") == 0) line->outcome = SP_LINE_CRASHED;
    return kind != NULL;
}

/* Scans only what sp_line_write puts first: the schema, the path, the status, and the verdict or the error. The rest of
 * the document is not looked at, because it can have names in it that the scanner refuses. */
bool sp_line_read(struct sp_fleet_line *line, char *text, size_t length)
{
    struct shapeproof_error error = {0};
    struct sp_json json = {.what = "line", .text = text, .length = length, .error = &error};
    bool first = true;
    uint64_t status = 0;
    const char *key;
    *line = (struct sp_fleet_line){0};
    if (length < sizeof beginning || memcmp(text, beginning, sizeof beginning - 1) != 0 || text[length - 1] != '}')
        return false;
    if (!sp_json_open(&json, '{') || !sp_json_member(&json, &first) || !sp_json_string(&json)) return false;
    if (!(key = sp_json_member(&json, &first)) || strcmp(key, "path") != 0) return false;
    if (!(line->path = sp_json_string(&json))) return false;
    if (!(key = sp_json_member(&json, &first)) || strcmp(key, "status") != 0) return false;
    if (!sp_json_u64(&json, &status) || status > SHAPEPROOF_ERR_UNKNOWN) return false;
    line->status = (int)status;
    return (key = sp_json_member(&json, &first)) != NULL && read_outcome(line, &json, key, &first);
}

void sp_line_each_warning(char *text, size_t length, void (*say)(void *context, const char *warning), void *context)
{
    struct shapeproof_error error = {0};
    struct sp_json json = {.what = "line", .text = text, .length = length, .error = &error};
    const char *key;
    size_t skipped;
    if (!sp_json_check(&json) || !sp_json_open(&json, '{')) return;
    for (bool first = true; (key = sp_json_member(&json, &first));) {
        if (strcmp(key, "warnings") != 0) {
            sp_json_skip(&json, &skipped);
            continue;
        }
        if (!sp_json_open(&json, '[')) return;
        for (bool first_item = true; sp_json_item(&json, &first_item);) {
            const char *warning = sp_json_string(&json);
            if (warning) say(context, warning);
        }
    }
}

bool sp_line_is_about(const struct sp_fleet_line *line, const char *path)
{
    struct sp_text readable = readable_path(path);
    const bool same = strcmp(line->path, readable.data) == 0;
    sp_text_free(&readable);
    return same;
}

bool sp_line_may_begin(const char *text, size_t length)
{
    const size_t most = sizeof beginning - 1;
    return memcmp(text, beginning, length < most ? length : most) == 0;
}

/* ---- counts ---- */

bool sp_line_fails(const struct sp_fleet_line *line)
{
    return line->status != SHAPEPROOF_OK && (line->outcome == SP_LINE_MATCH || line->outcome == SP_LINE_EXPLAINED);
}

void sp_line_put_counts(struct sp_text *text, const size_t counts[SP_LINE_OUTCOMES], size_t failed)
{
    static const char *const words[SP_LINE_OUTCOMES] = {
        [SP_LINE_MATCH] = "match",
        [SP_LINE_EXPLAINED] = "explained",
        [SP_LINE_DIFFERS] = "differs",
        [SP_LINE_HOLDS] = "all claims hold for",
        [SP_LINE_FAILS] = "a claim fails for",
        [SP_LINE_UNKNOWN] = "unknown",
        [SP_LINE_MISCONFIGURED] = "misconfigured",
        [SP_LINE_UNREADABLE] = "unreadable",
        [SP_LINE_CRASHED] = "crashed",
        [SP_LINE_USAGE] = "not as the options say",
    };
    size_t total = 0;
    for (size_t i = 0; i < SP_LINE_OUTCOMES; i++) total += counts[i];
    sp_text_grouped(text, total);
    sp_text_puts(text, total == 1 ? " checkpoint" : " checkpoints");
    const char *between = ": ";
    for (size_t i = 0; i < SP_LINE_OUTCOMES; i++) {
        if (!counts[i]) continue;
        sp_text_puts(text, between);
        const bool words_first = i == SP_LINE_HOLDS || i == SP_LINE_FAILS; /* "all claims hold for 2" */
        if (words_first) sp_text_printf(text, "%s ", words[i]);
        sp_text_grouped(text, counts[i]);
        if (!words_first) sp_text_printf(text, " %s", words[i]);
        between = ", ";
    }
    if (!failed) return;
    sp_text_puts(text, "; ");
    sp_text_grouped(text, failed);
    sp_text_puts(text, " match or explained with status 1");
}
