/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fleet/results.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/process/child.h"

/* Bytes: of one read, and of the longest line that a process may write (pool.c). */
enum { STEP = 1 << 16, MOST_LINE = 1 << 28 };

int sp_worse_status(int one, int other)
{
    static const int worst_first[] = {SHAPEPROOF_ERR_USAGE, SHAPEPROOF_ERR_FILE, SHAPEPROOF_ERR_TABLE, 1,
                                      SHAPEPROOF_ERR_UNKNOWN};
    for (size_t i = 0; i < sizeof worst_first / sizeof *worst_first; i++)
        if (one == worst_first[i] || other == worst_first[i]) return worst_first[i];
    return SHAPEPROOF_OK;
}

static void count_line(struct sp_results *results, const struct sp_fleet_line *line)
{
    results->counts[line->outcome]++;
    results->failed += sp_line_fails(line);
    results->status = sp_worse_status(results->status, line->status);
}

/* ---- what is there ---- */

static bool fail_io(const struct sp_results *results, const char *call, struct shapeproof_error *error)
{
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: %s: %s", results->name, call, strerror(errno));
}

static bool refuse_results(const struct sp_results *results, uint64_t number, struct shapeproof_error *error)
{
    sp_hint(error, "give a file that 'shapeproof check --list' wrote, or one that is not there yet");
    return sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                   "%s:%" PRIu64 ": not a result of a list: the file is left alone", results->name, number);
}

/* A path that has two lines, as of two runs, counts once. */
static bool note_result(struct sp_results *results, char *text, size_t length, uint64_t number,
                        struct shapeproof_error *error)
{
    struct sp_fleet_line line;
    if (!sp_line_read(&line, text, length)) return refuse_results(results, number, error);
    if (sp_map_add(&results->done, sp_arena_string(&results->arena, line.path), 0)) count_line(results, &line);
    return true;
}

/* Notes the whole lines in `text`, and removes them from it: what follows the last of them moves to the front. */
static bool note_results(struct sp_results *results, struct sp_text *text, uint64_t *number,
                         struct shapeproof_error *error)
{
    size_t start = 0;
    for (char *stop; (stop = memchr(text->data + start, '\n', text->length - start)) != NULL;) {
        const size_t length = (size_t)(stop - text->data) - start;
        if (!note_result(results, text->data + start, length, ++*number, error)) return false;
        start += length + 1;
    }
    text->length -= start;
    memmove(text->data, text->data + start, text->length);
    return true;
}

/* Whether what was read behind the last whole line can be the beginning of another one. The last `fresh` bytes of it
 * are new. A line is JSON, and has no NUL, of which a sparse file is full. */
static bool may_go_on(const struct sp_text *text, size_t fresh)
{
    const size_t looked = fresh < text->length ? text->length - fresh : 0;
    return !text->length || (text->length <= MOST_LINE && sp_line_may_begin(text->data, text->length) &&
                             !memchr(text->data + looked, '\0', text->length - looked));
}

/* Reads the file to its end and notes its lines, which *number counts. A last line that was cut is left in `text`. */
static bool note_all_results(struct sp_results *results, struct sp_text *text, uint64_t *number,
                             struct shapeproof_error *error)
{
    for (;;) {
        sp_text_reserve(text, STEP);
        const ssize_t got = read(results->to, text->data + text->length, STEP);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_io(results, "read", error);
        if (got == 0) return true;
        text->length += (size_t)got;
        if (!note_results(results, text, number, error)) return false;
        if (!may_go_on(text, (size_t)got)) return refuse_results(results, *number + 1, error);
    }
}

/* Cuts a last line that was not written to its end, `rest`, off the file, so that the next line takes its place. False
 * with an error when it is not the beginning of a line. */
static bool cut_file(struct sp_results *results, const struct sp_text *rest, uint64_t number,
                     struct shapeproof_error *error)
{
    const off_t end = lseek(results->to, 0, SEEK_END);
    if (!rest->length) return true;
    if (!sp_line_may_begin(rest->data, rest->length)) return refuse_results(results, number + 1, error);
    if (end < (off_t)rest->length || ftruncate(results->to, end - (off_t)rest->length) != 0)
        return fail_io(results, "ftruncate", error);
    return true;
}

static bool check_is_file(struct sp_results *results, struct shapeproof_error *error)
{
    struct stat info;
    if (fstat(results->to, &info) != 0) return fail_io(results, "fstat", error);
    if (S_ISREG(info.st_mode)) return true;
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: not a regular file", results->name);
}

static bool lock_file(struct sp_results *results, struct shapeproof_error *error)
{
    if (flock(results->to, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true; /* not every system has it */
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: another run is writing to it", results->name);
}

bool sp_results_open(struct sp_results *results, const char *path, struct shapeproof_error *error)
{
    struct sp_text text = {0};
    uint64_t number = 0;
    *results = (struct sp_results){.name = path};
    results->to = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    results->own = results->to >= 0;
    if (!results->own) return fail_io(results, "open", error);
    const bool ready = check_is_file(results, error) && lock_file(results, error) &&
                       note_all_results(results, &text, &number, error) && cut_file(results, &text, number, error);
    sp_text_free(&text);
    return ready;
}

void sp_results_use(struct sp_results *results, int to, const char *name)
{
    *results = (struct sp_results){.to = to, .name = name};
}

bool sp_results_has(const struct sp_results *results, const char *path)
{
    return sp_map_get(&results->done, path) != SIZE_MAX;
}

/* ---- what is new ---- */

static bool write_result(struct sp_results *results, const char *line, size_t length, struct shapeproof_error *error)
{
    if (results->to < 0 || sp_write_all(results->to, line, length)) return true;
    return fail_io(results, "write", error);
}

/* Whether the output of a process is one whole line about this path, with the exit status of the process. `copy` is of
 * the output, and is overwritten by reading the line. */
static bool is_sound(struct sp_fleet_line *line, struct sp_text *copy, const char *path, int status)
{
    if (!copy->length || memchr(copy->data, '\n', copy->length) != copy->data + copy->length - 1) return false;
    if (!sp_line_read(line, copy->data, copy->length - 1) || line->status != status) return false;
    return sp_line_is_about(line, path);
}

enum { MOST_REASON = 400 }; /* bytes that are printed of why a task could not begin */

void sp_results_explain(const struct sp_pool_end *end, struct shapeproof_error *error)
{
    *error = (struct shapeproof_error){0};
    if (end->late) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "it was not done within %u s", end->late);
        sp_hint(error, "--timeout gives each of the list more time");
        return;
    }
    if (end->unread) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "the result of its process: read: %s",
                strerror(end->unread));
        return;
    }
    if (end->status == SP_CHILD_NO_MEMORY) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "out of memory");
        return;
    }
    if (end->status == SP_POOL_NOT_BEGUN && end->length && end->length <= MOST_REASON) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "the process that checks it: %.*s", (int)end->length,
                end->output);
        return;
    }
    char why[128] = "the process that checked it ended without a result";
    if (end->signal) snprintf(why, sizeof why, "the process that checked it was ended by signal %d", end->signal);
    if (end->too_long) snprintf(why, sizeof why, "its result is longer than the limit");
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED, "%s", why);
}

/* The line of a process that wrote none. */
static void put_end(struct sp_text *text, const char *path, const struct sp_pool_end *end)
{
    struct shapeproof_error error;
    sp_results_explain(end, &error);
    if (error.kind != SHAPEPROOF_KIND_CRASHED) sp_line_write(text, path, SHAPEPROOF_ERR_FILE, NULL, &error);
    else sp_line_write_crash(text, path, end->signal, error.message);
}

void sp_results_put_line(struct sp_text *text, const char *path, const struct sp_pool_end *end)
{
    struct sp_text copy = {0};
    struct sp_fleet_line line;
    if (end->length) sp_text_append(&copy, end->output, end->length);
    if (is_sound(&line, &copy, path, end->status)) sp_text_append(text, end->output, end->length);
    else put_end(text, path, end);
    sp_text_free(&copy);
}

static bool is_crash(const struct sp_pool_end *end)
{
    struct shapeproof_error error;
    sp_results_explain(end, &error);
    return error.kind == SHAPEPROOF_KIND_CRASHED;
}

bool sp_results_add(struct sp_results *results, const char *path, const struct sp_pool_end *end,
                    struct shapeproof_error *error)
{
    struct sp_text copy = {0};
    struct sp_fleet_line line;
    const char *bytes = end->output;
    size_t length = end->length;
    if (length) sp_text_append(&copy, bytes, length);
    if (!is_sound(&line, &copy, path, end->status)) {
        sp_text_free(&copy);
        line = (struct sp_fleet_line){.status = SHAPEPROOF_ERR_FILE,
                                      .outcome = is_crash(end) ? SP_LINE_CRASHED : SP_LINE_UNREADABLE};
        put_end(&copy, path, end);
        bytes = copy.data, length = copy.length;
    }
    count_line(results, &line);
    const bool written = write_result(results, bytes, length, error);
    sp_text_free(&copy);
    return written;
}

void sp_results_close(struct sp_results *results)
{
    if (results->own) close(results->to);
    sp_map_free(&results->done);
    sp_arena_free(&results->arena);
}
