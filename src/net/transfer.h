/* SPDX-License-Identifier: MIT
 * Batches of requests. A batch is a list of ranges of files, fetched side by side by one child process, which alone
 * calls libcurl and is confined (confine.h). What the child finds out it leaves in memory that it shares with its
 * parent, who looks at it once the child is dead, and distrusts it.
 *
 * A request is answered when its bytes are there, or the server said that there are none; it may take redirects, each
 * followed by our own rules, and several attempts, the later of which ask only for what is still missing. */
#ifndef SP_NET_TRANSFER_H
#define SP_NET_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "net/url.h"
#include "shapeproof/remote.h"

enum {
    SP_ETAG_BYTES = 256,
    SP_MOST_TRANSFERS = 4096, /* of a batch */
};

/* What holds for all requests. */
struct sp_client {
    const struct shapeproof_remote_options *options;
    const char *token_origin;         /* where the token may be sent */
    struct shapeproof_progress total; /* over all batches */
};

enum sp_outcome {
    SP_UNANSWERED,
    SP_GOT,          /* bytes */
    SP_NOT_MODIFIED, /* what has `etag` is still the newest */
    SP_NOT_THERE,    /* 404 or 410 */
    SP_NO_ANSWER     /* anything else: see `why` */
};

struct sp_net_response {
    enum sp_outcome outcome;
    enum shapeproof_kind kind;  /* of SP_NO_ANSWER, with `why` and `hint` */
    int status;                 /* the last that was seen, or 0 */
    uint64_t begin;             /* of the bytes in the file */
    uint64_t length;            /* how many have come, at most `room`; also of SP_NO_ANSWER some may have */
    uint64_t total;             /* bytes of the whole file, where some have come */
    uint32_t requests;          /* that it took */
    char etag[SP_ETAG_BYTES];   /* of the file, or its date, or "" */
    char url[SP_URL_BYTES + 1]; /* where the bytes came from, after redirects */
    char why[400], hint[200];
};

struct sp_transfer {
    /* asked */
    const char *url;
    const char *etag; /* of what there is already, or NULL */
    bool if_changed;  /* nothing need come when the file still has `etag`; otherwise it has to have it */
    bool fixed;       /* what is there cannot change: each server may have a tag of its own for it */
    bool tail;        /* the last `room` bytes of the file, in place of those from `begin` */
    uint64_t begin;
    uint64_t room; /* bytes, at least 1 */
    /* answered */
    struct sp_net_response *answer;
    const unsigned char *bytes;
};

/* Fetches all; false when nothing could be tried, or the answers make no sense. What a single request met stands in
 * its answer. The transfers are filled in; sp_batch_free releases what they were given. */
struct sp_batch {
    struct sp_transfer *transfers;
    size_t count;
    void *shared;
    size_t shared_size;
};
bool sp_batch_run(struct sp_batch *batch, struct sp_client *client, struct shapeproof_error *error);
void sp_batch_free(struct sp_batch *batch);
/* Whether the answer that the child left can be one to this transfer. A server may have taken over the child by a fault
 * of libcurl, so that any bytes may be there. */
bool sp_answer_is_sound(const struct sp_transfer *transfer);

#endif
