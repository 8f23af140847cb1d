/* SPDX-License-Identifier: MIT
 * What a child that was just forked, to run a library on hostile bytes, leaves behind of its host. */
#ifndef SP_BASE_PROCESS_CHILD_H
#define SP_BASE_PROCESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A crash must be seen as one, and not by the host's own crash reporter. */
void sp_child_forget_signals(void);
/* Closes every descriptor that is not in `keep` (-1: none). */
void sp_child_close_all_but(const int *keep, size_t count);
/* Of a resource of setrlimit, or as much as the host has of it, if that is less. */
bool sp_child_limit(int resource, uint64_t soft, uint64_t hard);

#endif
