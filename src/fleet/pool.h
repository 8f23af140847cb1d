/* SPDX-License-Identifier: MIT
 * Tasks in processes of their own, several at once. What a task crashes with, allocates or leaves behind ends with its
 * process: each is forked for one task, and the next one begins as the first one did. The pool knows nothing of what
 * the tasks are about.
 *
 * SIGINT, SIGTERM and SIGHUP, unless they are ignored, end the run: tasks under way are killed, and what they would
 * have said is dropped. They die with the host however it ends. The handlers and the signal mask of the process are as
 * before when the run is over. */
#ifndef SP_FLEET_POOL_H
#define SP_FLEET_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "shapeproof/error.h"

enum { SP_POOL_JOBS = 256 }; /* at most */

/* The status of a task that could not begin, which no command has. Its output is then the reason, a line without its
 * end: "dup2: Too many open files". */
enum { SP_POOL_NOT_BEGUN = 125 };

/* How a task ended. */
struct sp_pool_end {
    size_t task;
    int status;         /* what the task returned, or its process gave to exit; -1 when a signal ended it */
    int signal;         /* that signal, or 0 */
    unsigned late;      /* the seconds that it had and did not end within: it was killed; 0: it did */
    bool too_long;      /* it wrote more than 256 MiB, and was killed for it: no signal of its own */
    int unread;         /* errno with which reading its output failed: it was killed then; 0: it did not */
    const char *output; /* what it wrote to stdout; not NUL-terminated */
    size_t length;
};

struct sp_pool {
    size_t count;     /* tasks 0 to count - 1 begin in this order */
    unsigned jobs;    /* at once; 1 to SP_POOL_JOBS */
    unsigned seconds; /* that a task may take; 0: as long as it does */
    /* In the process of the task, whose stdin is empty and whose stdout goes to the pool: flush what you print there.
     * The streams of the host must have nothing buffered when the run begins. */
    int (*work)(void *host, size_t task);
    /* In the host, once for each task as they end; false ends the run as a signal does. */
    bool (*done)(void *host, const struct sp_pool_end *end);
    void *host;
    int interrupted; /* out: the signal that ended the run, or 0 */
};

/* False in a build for a system without processes, in which no pool can run. */
extern const bool sp_pool_has_processes;
/* Runs them all. False when no process can be made, or `done` wants no more (the error is not filled then). */
bool sp_pool_run(struct sp_pool *pool, struct shapeproof_error *error);

/* The processors that this process may use; at least 1, at most SP_POOL_JOBS. */
unsigned sp_pool_processors(void);

#endif
