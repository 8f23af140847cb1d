/* SPDX-License-Identifier: MIT
 * How rules are written down, in the files that have the loaders. */
#ifndef SP_LOAD_ROWS_H
#define SP_LOAD_ROWS_H

#include "load/loader.h"

#define SP_RULE(from, to, how)                                                                                         \
    {                                                                                                                  \
        from, to, how                                                                                                  \
    }
#define SP_MAPPING(identifier, ...)                                                                                    \
    {                                                                                                                  \
        identifier, (const struct sp_rule[]){__VA_ARGS__},                                                             \
            sizeof((const struct sp_rule[]){__VA_ARGS__}) / sizeof(struct sp_rule)                                     \
    }

#endif
