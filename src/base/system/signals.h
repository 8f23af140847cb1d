/* SPDX-License-Identifier: MIT
 * Waiting for signals and descriptors at once. As for system.h, each system has its own definitions. */
#ifndef SP_BASE_SYSTEM_SIGNALS_H
#define SP_BASE_SYSTEM_SIGNALS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* Signals that are blocked, and are waited for together with descriptors. */
struct sp_signals {
    int numbers[4];
    size_t count; /* of the numbers */
    int fd;       /* which linux.c reads them from */
};
/* The caller has set the numbers, and has blocked these signals. False with errno. */
bool sp_signals_open(struct sp_signals *signals);
void sp_signals_close(const struct sp_signals *signals);
/* As poll(2), but returns too when one of the signals is pending: takes it, and sets `*number` to its number, else
 * to 0. `polled` has room for one more behind its `count`. */
int sp_signals_poll(struct sp_signals *signals, struct pollfd *polled, nfds_t count, int milliseconds, int *number);

#endif
