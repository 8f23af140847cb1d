/* SPDX-License-Identifier: MIT
 * What the header lines of an answer say. They are a stranger's: each is taken for what HTTP lets stand there or not at
 * all, and `fault` is set where it matters. */
#ifndef SP_NET_RESPONSE_H
#define SP_NET_RESPONSE_H

#include "net/transfer.h"

enum { SP_HEAD_BYTES = 64 * 1024 };

struct sp_response {
    int status; /* 0: no status line yet */
    size_t bytes;
    bool ranged, has_length, has_total;
    uint64_t begin, end;  /* of Content-Range, [begin, end) */
    uint64_t total;       /* of the file: of Content-Range, or Content-Length of a 200 */
    uint64_t length;      /* Content-Length */
    uint64_t retry_after; /* seconds; 0: not said */
    char etag[SP_ETAG_BYTES];
    char modified[64]; /* Last-Modified */
    char code[48];     /* the hub's word for what is wrong: "GatedRepo" */
    const char *fault; /* static: why the answer cannot be used */
};

/* One line, the status line first, with or without its end of line. After it a new status line begins anew. */
void sp_response_line(struct sp_response *response, const char *line, size_t length);
/* What tells this version of the file from others, or "". */
const char *sp_response_validator(const struct sp_response *response);

#endif
