/* SPDX-License-Identifier: MIT
 * Whether the modules that certain tensors belong to are there: "a.b" of "a.b.bias", or, when nothing else is in that,
 * "a". */
#ifndef SP_MATCH_PRESENT_MODULES_H
#define SP_MATCH_PRESENT_MODULES_H

#include "match/match.h"

/* What is known of one module. */
struct sp_module_presence {
    bool any, there; /* another tensor is predicted or stored; is stored and predicted */
};

/* Zero-initialise. */
struct sp_present_modules {
    struct sp_arena arena;
    struct sp_map tensors, modules; /* modules -> place in items */
    struct sp_module_presence *items;
    size_t count, capacity;
};

/* One that will be asked for. The name is borrowed. */
void sp_present_modules_add(struct sp_present_modules *present, const char *name);
/* Once all are added: reads what else there is. */
void sp_present_modules_read(struct sp_present_modules *present, const struct sp_match *match);
/* True as well when there is nothing else at all. */
bool sp_module_is_present(const struct sp_present_modules *present, const char *name);
void sp_present_modules_free(struct sp_present_modules *present);

#endif
