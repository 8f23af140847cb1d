/* SPDX-License-Identifier: MIT
 * A place that checkpoints are fetched from, its sparse cache, and the files of it that were asked for. See
 * docs/network.md. Files are asked for in lists, so that they come side by side; each brings its beginning, and readers
 * that need more fetch it through the byte source of the file, a range at a time. */
#ifndef SP_NET_REMOTE_H
#define SP_NET_REMOTE_H

#include "base/file.h"
#include "net/sparse_cache.h"
#include "net/transfer.h"

enum {
    SP_FIRST_BYTES =
        120 * 1024, /* of a checkpoint: the headers of most shards of 5 GB, and within 130 KB with HTTP's own */
    SP_ARCHIVE_BYTES = 48 * 1024, /* of the beginning of what may be a zip archive, */
    SP_TAIL_BYTES = 66 * 1024,    /* and of its end, where its directory is looked for: as far as a comment can reach */
    SP_MAX_DOCUMENT = 64 << 20,   /* of JSON */
    SP_MAX_HEADERS = 256 << 20,   /* of one file */
    SP_MOST_FILLS = 200           /* requests for more of one file */
};

/* What is known of a file. */
enum sp_presence {
    SP_NOT_ASKED,
    SP_FOUND,    /* its beginning, at least, is in the cache */
    SP_NOT_FOUND /* the server has no such file; or it is a document that the server refuses or that --offline lacks */
};

struct shapeproof_remote;

/* One file elsewhere. */
struct sp_remote_file {
    struct sp_byte_source source; /* first: a pointer to it is one to the remote file */
    struct shapeproof_remote *remote;
    const char *name; /* below the base */
    const char *url, *shown;
    const char *direct; /* where redirects led to, or NULL */
    enum sp_presence presence;
    struct sp_cached_file cached;
    uint64_t ahead;    /* bytes that the next range brings at least; it grows with each */
    unsigned fills;    /* ranges that readers needed besides the first */
    unsigned requests; /* for it in this command, answered or not */
};

struct shapeproof_remote {
    struct sp_arena arena;
    struct shapeproof_remote_options options;
    struct sp_client client;
    struct sp_sparse_cache sparse;
    const char *base, *query; /* of the URLs: base, name, query */
    const char *name;         /* what the base is called in messages, ends with a slash */
    const char *path;         /* of the sparse cache, or in it */
    bool fixed;               /* of one commit: what was fetched once does not change */
    SP_ARRAY(struct sp_remote_file *) remote_files;
};

/* The file of that name, which may not have been asked for; NULL with an error for a name that is not safe. */
struct sp_remote_file *sp_remote_find(struct shapeproof_remote *remote, const char *name,
                                      struct shapeproof_error *error);
/* Asks for all that were not asked for yet. One that is not there is SP_NOT_FOUND and no error. */
bool sp_remote_ask(struct shapeproof_remote *remote, struct sp_remote_file *const *remote_files, size_t count,
                   struct shapeproof_error *error);
/* Of files that came in several ranges from a server that tells no version of them: what is there is fetched once more
 * and has to be the same, since else it may be of two versions. */
bool sp_remote_settle(struct shapeproof_remote *remote, struct shapeproof_error *error);
/* Reads the checkpoint that the folder or the file below the base is, so that all that readers need is in the sparse
 * cache.
 */
bool sp_remote_read_folder(struct shapeproof_remote *remote, const char *folder, struct shapeproof_error *error);
bool sp_remote_read_file(struct shapeproof_remote *remote, const char *name, struct shapeproof_error *error);
/* What a transfer met, as an error about `shown`. Returns false. */
bool sp_remote_fail(const struct sp_net_response *answer, const char *shown, struct shapeproof_error *error);
/* Takes the name of the file off the beginning of an error, for callers that put it there by themselves. */
void sp_remote_unname(const struct sp_remote_file *remote_file, struct shapeproof_error *error);
/* Whether this is the name, with or without folders, of a small file beside a checkpoint that the reading code may look
 * at, such as config.json: it is fetched whole, and need not be there. */
bool sp_is_document(const char *name);

/* Of the text what may stand in the name of a folder. */
const char *sp_cache_word(const char *text, struct sp_arena *arena);

/* hub.c: hf://... */
bool sp_hub_fetch(struct shapeproof_remote *remote, const char *url, struct shapeproof_error *error);

#endif
