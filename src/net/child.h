/* SPDX-License-Identifier: MIT
 * What the child process does: the requests of a batch, with libcurl, until each has its answer. */
#ifndef SP_NET_CHILD_H
#define SP_NET_CHILD_H

#include "net/library.h"
#include "net/transfer.h"

/* Counters that the parent watches while the child works. */
struct sp_counters {
    uint64_t bytes, requests;
    uint64_t done; /* transfers */
};

struct sp_work {
    const struct sp_client *client;
    struct sp_transfer *transfers; /* whose bytes and answers are in shared memory */
    size_t count;
    struct sp_counters *counters;
};

/* Gives each transfer its answer. Where libcurl cannot be used at all they stay SP_UNANSWERED. */
void sp_child_work(const struct sp_work *work, const struct sp_curl *curl);

#endif
