/* SPDX-License-Identifier: MIT
 * See transfer.h. The parent: memory that both see, the child, and a look at what it left. */
#define _GNU_SOURCE
#include "net/transfer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/clock.h"
#include "base/process/child.h"
#include "base/system/system.h"
#include "net/child.h"
#include "net/confine.h"

enum { BATCH_SECONDS = 900, LOOK_MS = 100, PAGE = 4096 };

/* ---- memory ---- */

static uint64_t round_to_pages(uint64_t size) { return (size + PAGE - 1) / PAGE * PAGE; }

static void unmap_batch(void *freed)
{
    struct sp_batch *batch = freed;
    munmap(batch->shared, batch->shared_size);
    batch->shared = NULL;
}

/* Allocates the memory that parent and child share: counters, one answer for each transfer, then the room for the
 * bytes of each, from the start of a page. Pages are used only when bytes arrive. */
static bool share_memory(struct sp_batch *batch, struct sp_counters **counters, struct shapeproof_error *error)
{
    const uint64_t heads = round_to_pages(sizeof **counters + batch->count * sizeof(struct sp_net_response));
    uint64_t size = heads;
    for (size_t i = 0; i < batch->count; i++) size += round_to_pages(batch->transfers[i].room);
    void *shared = MAP_FAILED;
    if (size < SIZE_MAX / 2)
        shared = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "no memory for what is fetched");
    batch->shared = shared;
    batch->shared_size = (size_t)size;
    sp_hold(batch, unmap_batch);
    *counters = shared;
    struct sp_net_response *answers = (struct sp_net_response *)((char *)shared + sizeof **counters);
    unsigned char *bytes = (unsigned char *)shared + heads;
    for (size_t i = 0; i < batch->count; i++) {
        batch->transfers[i].answer = &answers[i];
        batch->transfers[i].bytes = bytes;
        bytes += round_to_pages(batch->transfers[i].room);
    }
    return true;
}

void sp_batch_free(struct sp_batch *batch)
{
    if (batch->shared) sp_let_go(batch, unmap_batch);
}

/* ---- the child ---- */

static void run_child(const void *context, int alive)
{
    struct sp_curl curl;
    sp_confine_begin(alive);
    sp_child_watch_for_crashes();
    if (!sp_curl_load(&curl)) _exit(errno == ENOMEM ? SP_CHILD_NO_MEMORY : SP_CHILD_UNPREPARED);
    if (!sp_confine_finish()) _exit(SP_CHILD_UNCONFINED);
    sp_child_work(context, &curl);
}

/* ---- the parent ---- */

static void tell_progress(struct sp_client *client, const struct sp_work *work)
{
    const struct shapeproof_progress progress = {
        .files = work->count,
        .files_done = work->counters->done < work->count ? (size_t)work->counters->done : work->count,
        .bytes = client->total.bytes + work->counters->bytes,
        .requests = client->total.requests + work->counters->requests,
    };
    if (!client->options->progress) return;
    struct sp_call *paused = sp_call_pause();
    client->options->progress(client->options->context, &progress);
    sp_call_resume(paused);
}

/* Tells progress until the child has closed its end of the pipe `in`, which it does by ending. False when its time is
 * over before. */
static bool watch_child(struct sp_client *client, const struct sp_work *work, int in)
{
    struct pollfd ready = {.fd = in, .events = POLLIN};
    const int64_t end = sp_clock_ms() + BATCH_SECONDS * 1000;
    for (;;) {
        const int events = poll(&ready, 1, LOOK_MS);
        tell_progress(client, work);
        if (events > 0) return true;
        sp_budget_check_time();
        if (sp_clock_ms() > end) return false;
    }
}

/* Whether the child ended well, by its status as waitpid has it; otherwise an error that says how it ended. */
static bool judge_status(int status, struct shapeproof_error *error)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == SP_CHILD_UNPREPARED) {
#ifdef SP_STATIC /* a program that is linked statically loads no library */
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO,
                "this static build has no libcurl, so it fetches nothing");
        sp_hint(error, "download the file and name it");
#else
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "libcurl, which fetches, could not be loaded");
        sp_hint(error, "install it (Debian: apt-get install libcurl4), or download the file and name it");
#endif
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == SP_CHILD_NO_MEMORY)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "the process that fetches: out of memory");
    if (WIFEXITED(status) && WEXITSTATUS(status) > SP_CHILD_FAULT)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO,
                       "the sandbox for libcurl could not be set up: open or write: %s",
                       strerror(WEXITSTATUS(status) - SP_CHILD_FAULT));
    if (WIFEXITED(status) && WEXITSTATUS(status) == SP_CHILD_UNCONFINED)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO,
                       "the sandbox for libcurl could not be set up (%s)", sp_system_sandbox);
    if (WIFSIGNALED(status))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                       "the process that fetches died of signal %d", WTERMSIG(status));
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED, "the process that fetches ended in an odd way");
}

static bool run_work(const struct sp_work *work, struct sp_client *client, struct shapeproof_error *error)
{
    struct sp_child child;
    if (!sp_child_start(&child, run_child, work, error)) return false;
    const bool ended = watch_child(client, work, child.from);
    sp_child_finish(&child, !ended);
    if (!ended)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "not all could be fetched within %d s",
                       BATCH_SECONDS);
    return child.lost || judge_status(child.status, error);
}

/* Ended within its array, and of printable characters: it goes into messages, state files, later requests. */
static bool is_plain_text(const char *text, size_t size)
{
    size_t length = 0;
    while (length < size && text[length] >= ' ' && text[length] <= '~') length++;
    return length < size && !text[length];
}

bool sp_answer_is_sound(const struct sp_transfer *transfer)
{
    const struct sp_net_response *answer = transfer->answer;
    if (!is_plain_text(answer->etag, sizeof answer->etag) || !is_plain_text(answer->url, sizeof answer->url) ||
        !is_plain_text(answer->why, sizeof answer->why) || !is_plain_text(answer->hint, sizeof answer->hint) ||
        (unsigned)answer->kind > SHAPEPROOF_KIND_CRASHED)
        return false;
    switch (answer->outcome) {
    case SP_GOT:
        if (answer->total > INT64_MAX || answer->begin > answer->total ||
            answer->length > answer->total - answer->begin)
            return false;
        return answer->length <= transfer->room &&
               (transfer->tail || answer->length == 0 || answer->begin == transfer->begin);
    case SP_NOT_MODIFIED:
        return transfer->if_changed;
    case SP_NOT_THERE:
    case SP_NO_ANSWER:
        return true;
    default:
        return false;
    }
}

bool sp_batch_run(struct sp_batch *batch, struct sp_client *client, struct shapeproof_error *error)
{
    struct sp_work work = {.client = client, .transfers = batch->transfers, .count = batch->count};
    if (!batch->count) return true;
    if (batch->count > SP_MOST_TRANSFERS)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "%zu files to fetch at once, at most %d",
                       batch->count, SP_MOST_TRANSFERS);
    if (!share_memory(batch, &work.counters, error) || !run_work(&work, client, error)) return false;
    client->total.bytes += work.counters->bytes;
    client->total.requests += work.counters->requests;
    for (size_t i = 0; i < batch->count; i++)
        if (!sp_answer_is_sound(&batch->transfers[i]))
            return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                           "the process that fetches left no answer that makes sense");
    return true;
}
