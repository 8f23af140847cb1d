/* SPDX-License-Identifier: MIT
 * Hyper-parameters as the language sees them: one object of values, and where each came from. */
#ifndef SP_LANG_HYPER_H
#define SP_LANG_HYPER_H

#include "base/value.h"

/* A value that was set from outside the file, by its dotted path: "text_config.vocab_size". */
struct sp_override {
    const char *path;
    const char *from; /* "command line" */
};

/* How much of a table a "what if" question expands. A tie to a tensor that is not expanded is left out. */
struct sp_scope {
    const int64_t *indices; /* ascending: loops over ranges visit these indices alone; NULL: all */
    size_t index_count;
    size_t most; /* tensors; more are an error */
};

/* What is known so far of hyper-parameters that are being inferred. It is asked in place of the configuration. */
struct sp_knowledge {
    struct sp_value (*ask)(void *context, const char *path); /* SP_UNKNOWN, naming the path, when it is not */
    void *context;
};

struct sp_hyper {
    struct sp_value root; /* an object */
    const char *from;     /* "config.json": where all else comes from */
    const struct sp_override *overrides;
    size_t override_count;
    const struct sp_scope *scope;         /* NULL: the whole table */
    const struct sp_knowledge *knowledge; /* NULL: `root` is all there is */
};

#endif
