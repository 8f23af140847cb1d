/* SPDX-License-Identifier: MIT
 * Children, and what one that is to run a library on hostile bytes leaves behind of its host. */
#ifndef SP_BASE_PROCESS_CHILD_H
#define SP_BASE_PROCESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Forks, with a pipe: `end` is where the child writes and the parent reads. -1 with errno when the system has no
 * process or pipe left. */
pid_t sp_child_fork(int *end);
/* As waitpid, whatever interrupts it; of a host that reaps children by itself it is -1. */
pid_t sp_child_wait(pid_t pid, int *status, int options);

/* A crash must be seen as one, and not by the host's own crash reporter. */
void sp_child_forget_signals(void);
/* Closes every descriptor that is not in `keep` (-1: none). */
void sp_child_close_all_but(const int *keep, size_t count);
/* Of a resource of setrlimit, or as much as the host has of it, if that is less. */
bool sp_child_limit(int resource, uint64_t soft, uint64_t hard);

#endif
