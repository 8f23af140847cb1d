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

struct sp_hyper {
    struct sp_value root; /* an object */
    const char *from;     /* "config.json": where all else comes from */
    const struct sp_override *overrides;
    size_t override_count;
};

#endif
