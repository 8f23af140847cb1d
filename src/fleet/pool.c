/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fleet/pool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/process/child.h"
#include "base/system/signals.h"
#include "base/system/system.h"
#include "base/text.h"

const bool sp_pool_has_processes = true;

enum { STEP = 1 << 16, MOST_OUTPUT = 1 << 28 };

/* A process and what it has written so far. */
struct slot {
    pid_t pid; /* 0: the slot is free */
    int from;  /* the pipe that its stdout goes to */
    size_t task;
    int64_t end;   /* of its time, in ms of sp_clock_ms; INT64_MAX: no limit */
    bool late;     /* it was killed because its time is over */
    bool too_long; /* it was killed because it wrote more than MOST_OUTPUT bytes */
    int unread;    /* it was killed because reading its output failed with this errno; 0: it was not */
    struct sp_text output;
};

struct run {
    struct sp_pool *pool;
    struct slot slots[SP_POOL_JOBS];
    size_t busy;              /* slots that are not free */
    size_t next;              /* the task that begins next */
    pid_t host;               /* the process of the pool */
    int nothing;              /* /dev/null, the stdin of the tasks */
    struct sp_signals ending; /* the signals that end the run */
    sigset_t before;          /* the signal mask of the host before the run */
    struct shapeproof_error *error;
};

/* ---- signals ---- */

/* Those that end a run. One that is ignored, as under nohup, stays so. */
static void gather_ending_signals(struct sp_signals *ending)
{
    static const int candidates[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        struct sigaction action;
        if (sigaction(candidates[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            ending->numbers[ending->count++] = candidates[i];
    }
}

/* Blocks the signals that end the run, so that they are waited for with the tasks. So no handler is needed, and no
 * signal can come between a look at the tasks and the wait for them. */
static bool hold_signals(struct run *run)
{
    sigset_t set;
    gather_ending_signals(&run->ending);
    sigemptyset(&set);
    for (size_t i = 0; i < run->ending.count; i++) sigaddset(&set, run->ending.numbers[i]);
    sigprocmask(SIG_BLOCK, &set, &run->before);
    if (sp_signals_open(&run->ending)) return true;
    const int why = errno;
    sigprocmask(SIG_SETMASK, &run->before, NULL);
    return sp_fail(run->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "signalfd: %s", strerror(why));
}

static void release_signals(struct run *run)
{
    sp_signals_close(&run->ending);
    sigprocmask(SIG_SETMASK, &run->before, NULL);
}

/* ---- processes ---- */

/* Ends the process of a task that cannot begin, with the reason from errno in the output. */
static void give_up_task(const char *call, int to)
{
    char why[128];
    const int length = snprintf(why, sizeof why, "%s: %s", call, strerror(errno));
    _exit(write(to, why, (size_t)length) == length ? SP_POOL_NOT_BEGUN : SHAPEPROOF_ERR_FILE);
}

/* The process of a task, which never returns. It has a group of its own, so that a signal from the terminal goes to the
 * host alone, and so that the processes that it starts end with it. */
static void be_task(const struct run *run, size_t task, int to)
{
    setpgid(0, 0);
    sp_system_end_with_parent(); /* else it would hold the lock on the results of a host that was killed */
    if (getppid() != run->host) _exit(SHAPEPROOF_ERR_FILE);
    if (dup2(run->nothing, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0) give_up_task("dup2", to);
    sp_signals_close(&run->ending);
    sigprocmask(SIG_SETMASK, &run->before, NULL);
    _exit(run->pool->work(run->pool->host, task));
}

static struct slot *free_slot(struct run *run)
{
    for (size_t i = 0; i < run->pool->jobs; i++)
        if (!run->slots[i].pid) return &run->slots[i];
    return NULL;
}

/* False with errno and the name of the system call when the system has no process or pipe left. */
static bool begin_task(struct run *run, const char **call)
{
    struct slot *slot = free_slot(run);
    int end;
    const pid_t pid = sp_child_fork(&end, call);
    if (pid < 0) return false;
    if (pid == 0) be_task(run, run->next, end);
    setpgid(pid, pid); /* whichever of the two is first */
    *slot = (struct slot){.pid = pid, .from = end, .task = run->next++};
    slot->end = run->pool->seconds ? sp_clock_ms() + (int64_t)run->pool->seconds * 1000 : INT64_MAX;
    run->busy++;
    return true;
}

/* Begins tasks until `jobs` are under way or none is left. One that cannot begin waits until another has ended; false
 * with an error when there is no other. */
static bool begin_tasks(struct run *run)
{
    const char *call;
    while (run->busy < run->pool->jobs && run->next < run->pool->count) {
        if (begin_task(run, &call)) continue;
        return run->busy || sp_fail(run->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO,
                                    "no process can be started: %s: %s", call, strerror(errno));
    }
    return true;
}

/* Waits for the end of the process of the slot, and frees the slot. Returns the status as waitpid has it. */
static int end_slot(struct run *run, struct slot *slot)
{
    int status = 0;
    siginfo_t info;
    while (waitid(P_PID, (id_t)slot->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
    kill(-slot->pid, SIGKILL); /* what it started and did not wait for, while its number is still its own */
    sp_child_wait(slot->pid, &status, 0);
    close(slot->from);
    slot->pid = 0;
    run->busy--;
    return status;
}

static void kill_task(const struct slot *slot)
{
    kill(-slot->pid, SIGKILL);
    kill(slot->pid, SIGKILL); /* which may not have its group yet */
}

static void kill_all(struct run *run)
{
    for (size_t i = 0; i < run->pool->jobs; i++) {
        struct slot *slot = &run->slots[i];
        if (!slot->pid) continue;
        kill_task(slot);
        end_slot(run, slot);
        sp_text_free(&slot->output);
    }
}

/* ---- output ---- */

/* Reads some of what a task has written. False at the end of its output, also when it was killed because the output is
 * too long or cannot be read. */
static bool read_output(struct slot *slot)
{
    sp_text_reserve(&slot->output, STEP);
    const ssize_t got = read(slot->from, slot->output.data + slot->output.length, STEP);
    if (got < 0) {
        if (errno == EINTR) return true;
        slot->unread = errno;
        kill_task(slot); /* it may wait for room in the pipe */
        return false;
    }
    slot->output.length += (size_t)got;
    slot->too_long = slot->output.length > MOST_OUTPUT;
    if (slot->too_long) kill_task(slot);
    return got > 0 && !slot->too_long;
}

/* Hands the end of a task to `done`. False when that ends the run. */
static bool finish_task(struct run *run, struct slot *slot)
{
    const int status = end_slot(run, slot);
    const struct sp_pool_end end = {
        .task = slot->task,
        .status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
        .late = slot->late ? run->pool->seconds : 0,
        .signal = WIFSIGNALED(status) && !slot->too_long && !slot->late && !slot->unread ? WTERMSIG(status) : 0,
        .too_long = slot->too_long,
        .unread = slot->unread,
        .output = slot->output.data,
        .length = slot->output.length,
    };
    const bool more = run->pool->done(run->pool->host, &end);
    sp_text_free(&slot->output);
    return more;
}

/* Kills the tasks whose time is over; their output ends with them. Returns the milliseconds until the time of another
 * one is over, or -1 when none has a limit: what poll takes. */
static int end_late_tasks(struct run *run)
{
    int64_t next = INT64_MAX;
    const int64_t now = sp_clock_ms();
    for (size_t i = 0; i < run->pool->jobs; i++) {
        struct slot *slot = &run->slots[i];
        if (!slot->pid || slot->late) continue;
        slot->late = slot->end <= now;
        if (slot->late) kill_task(slot);
        else if (slot->end < next) next = slot->end;
    }
    return next == INT64_MAX ? -1 : next - now > INT_MAX ? INT_MAX : (int)(next - now);
}

/* Waits for some output or a signal; false when the run is to end. */
static bool wait_for_some(struct run *run)
{
    struct pollfd polled[SP_POOL_JOBS + 1];
    struct slot *slots[SP_POOL_JOBS + 1] = {NULL};
    nfds_t count = 0;
    for (size_t i = 0; i < run->pool->jobs; i++)
        if (run->slots[i].pid) {
            slots[count] = &run->slots[i];
            polled[count++] = (struct pollfd){.fd = run->slots[i].from, .events = POLLIN};
        }
    if (sp_signals_poll(&run->ending, polled, count, end_late_tasks(run), &run->pool->interrupted) < 0)
        return errno == EINTR ||
               sp_fail(run->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "poll: %s", strerror(errno));
    if (run->pool->interrupted) return false;
    for (nfds_t i = 0; i < count; i++)
        if (polled[i].revents && !read_output(slots[i]) && !finish_task(run, slots[i])) return false;
    return true;
}

bool sp_pool_run(struct sp_pool *pool, struct shapeproof_error *error)
{
    static const char nothing[] = "/dev/null";
    struct run run = {.pool = pool, .error = error, .host = getpid(), .nothing = open(nothing, O_RDONLY | O_CLOEXEC)};
    assert(pool->jobs >= 1 && pool->jobs <= SP_POOL_JOBS);
    pool->interrupted = 0;
    if (run.nothing < 0)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: open: %s", nothing, strerror(errno));
    bool going = hold_signals(&run);
    if (going) {
        going = begin_tasks(&run);
        while (going && run.busy) going = wait_for_some(&run) && begin_tasks(&run);
        kill_all(&run);
        release_signals(&run);
    }
    close(run.nothing);
    return going;
}

unsigned sp_pool_processors(void)
{
    const unsigned count = sp_system_processors();
    return count > SP_POOL_JOBS ? SP_POOL_JOBS : count;
}
