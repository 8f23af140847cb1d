/* SPDX-License-Identifier: MIT
 * How a loader's rows are written down, as those of base/rows.h. Only what defines a loader includes this. */
#ifndef SP_LOAD_ROWS_H
#define SP_LOAD_ROWS_H

#include "load/loader.h"

/* `rules` are RULEs with nothing between them; the sign in front tells an identifier from a model_type. */
#define RULE(from, to, how) from "\0" to "\0" how "\0"
#define MAPPING(identifier, rules) "=" identifier "\0" rules "\n"

#define LOADED(type, class, base, ties, spared, ignored, mappings, computed, all_or_nothing, unread)                   \
    LOADED_IF(type, class, base, ties, spared, ignored, mappings, computed, all_or_nothing, unread, "")
/* The same, of a class that needs some keys. */
#define LOADED_IF(type, class, base, ties, spared, ignored, mappings, computed, all_or_nothing, unread, needed)        \
    LOADED_BY(type, class, base, ties, spared, ignored, mappings, computed, all_or_nothing, unread, needed, "")
/* The same, of one that has defaults for these. */
#define LOADED_BY(type, class, base, ties, spared, ignored, mappings, computed, all_or_nothing, unread, needed,        \
                  defaults)                                                                                            \
    type "\0" class "\0" base "\0" ties "\0" spared "\0" ignored "\0" mappings "\0" computed "\0" all_or_nothing       \
                    "\0" unread "\0" needed "\0" defaults "\0\n"

#endif
