/* SPDX-License-Identifier: MIT
 * Whether the modules that certain tensors belong to are there: "a.b" of "a.b.bias", or, when nothing else is in that,
 * "a". */
#ifndef SP_MATCH_HOMES_H
#define SP_MATCH_HOMES_H

#include "match/match.h"

/* What is known of one module. */
struct sp_home {
    bool any, there; /* another tensor is predicted or stored; is stored and predicted */
};

/* Zero-initialise. */
struct sp_homes {
    struct sp_arena arena;
    struct sp_map tensors, modules; /* modules -> place in items */
    struct sp_home *items;
    size_t count, capacity;
};

/* One that will be asked for. The name is borrowed. */
void sp_homes_add(struct sp_homes *homes, const char *name);
/* Once all are added: reads what else there is. */
void sp_homes_read(struct sp_homes *homes, const struct sp_match *match);
/* True as well when there is nothing else at all. */
bool sp_homes_there(const struct sp_homes *homes, const char *name);
void sp_homes_free(struct sp_homes *homes);

#endif
