/* SPDX-License-Identifier: MIT
 * Child processes: starting one with a pipe, waiting for its end, and, of one that is to run a library on hostile
 * bytes, taking away what it has of the host. What system calls it may make: base/system/system.h. */
#ifndef SP_BASE_PROCESS_CHILD_H
#define SP_BASE_PROCESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/system/system.h"
#include "shapeproof/error.h"

/* ---- the parent ---- */

/* A child under way. */
struct sp_child {
    pid_t pid;
    int from;    /* where the parent reads what the child writes; the end of it is the child's end */
    bool reaped; /* it has ended */
    bool lost;   /* and how is not known: the host reaps children by itself */
    int status;  /* as waitpid has it */
};

/* Forks, with a pipe: `end` is where the child writes and the parent reads. When the system has no process or pipe
 * left, -1 with errno and the name of the system call in *call. */
pid_t sp_child_fork(int *end, const char **call);
/* As waitpid, whatever interrupts it; of a host that reaps children by itself it is -1. */
pid_t sp_child_wait(pid_t pid, int *status, int options);

/* Starts a child that does `run`, which writes into `to`, and then ends with status 0. False with an error when there
 * is no process left. */
bool sp_child_start(struct sp_child *child, void (*run)(const void *context, int to), const void *context,
                    struct shapeproof_error *error);
/* Notes its end; `options` as for waitpid. */
void sp_child_reap(struct sp_child *child, int options);
/* Closes the pipe and waits for the end of a child that has closed its own, but no longer than a second: then, or with
 * `now` at once, it is killed. */
void sp_child_finish(struct sp_child *child, bool now);

/* ---- the child ---- */

/* What it ends with when it cannot do its work; if a read or a write failed, SP_CHILD_FAULT + errno. */
enum {
    SP_CHILD_UNPREPARED = 71,
    SP_CHILD_UNCONFINED = 72,
    SP_CHILD_NO_MEMORY = 73,
    SP_CHILD_FAULT = 100,
    SP_CHILD_MOST_ERRNO = 150 /* more than any errno of Linux or macOS */
};

/* The signals of the host, its crash reporter and its descriptors are the child's no longer, but for those in `keep`
 * (-1: none); it does not outlive the host, and ends with SP_CHILD_NO_MEMORY when it gets no memory. */
void sp_child_isolate(const int *keep, size_t count);
/* From now on the child ends with SP_CHILD_NO_MEMORY when a library crashes or exits because it got no memory: malloc
 * has then set errno, which this sets to 0. */
void sp_child_watch_for_crashes(void);
/* Makes the filter for sp_system_confine, before the limits are set, or ends the child with SP_CHILD_NO_MEMORY,
 * SP_CHILD_UNCONFINED or, if a file in memory cannot be made, SP_CHILD_FAULT + errno. */
void sp_child_make_filter(struct sp_filter *filter, enum sp_confinement confinement, int out);
/* Of a resource of setrlimit, or as much as the host has of it, if that is less. */
bool sp_child_limit(int resource, uint64_t soft, uint64_t hard);

#endif
