/* SPDX-License-Identifier: MIT
 * Many names that differ in their indices alone, said as one: "layers.{0-4,20-31}.mlp.up_proj.weight". Exact: the
 * collapsed form stands for these names and no other, so a hole in a range stays visible. */
#ifndef SP_NAMES_COLLAPSE_H
#define SP_NAMES_COLLAPSE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "names/patterns.h"

struct sp_collapse_input {
    const char *name;
    size_t key;                   /* names with different keys are never merged */
    const struct sp_place *place; /* in known patterns; else NULL */
};

struct sp_collapsed {
    const char *name; /* in the arena */
    size_t count;     /* of the names that it stands for */
    size_t first;     /* index of its first name in the input */
    size_t key;       /* of all these names */
};

/* Collapses the names of one pattern and one key: h.0.w, h.1.w, h.2.w and e.w are the groups "h.{0-2}.w" and "e.w".
 * Returns the number of groups, in the order in which each first stands in the input; *out is in the arena. `known` are
 * the patterns of the places that the input has; NULL when it has none: then the names are taken apart here. */
size_t sp_collapse(struct sp_arena *arena, const struct sp_patterns *known, const struct sp_collapse_input *input,
                   size_t count, struct sp_collapsed **out);

/* In one line, for messages: "a.{0-3}.b, c.{x,y} and 2 more", where 2 is the number of names that are not listed. In
 * the arena; "" for no names. */
const char *sp_some_names(struct sp_arena *arena, const char *const *names, size_t count);
/* The same with another number of collapsed names, `few`, before "and 2 more". */
const char *sp_few_names(struct sp_arena *arena, const char *const *names, size_t count, size_t few);
/* The same of names that were taken apart already: see sp_collapse. */
const char *sp_some_inputs(struct sp_arena *arena, const struct sp_patterns *known,
                           const struct sp_collapse_input *input, size_t count);

/* Keys for texts: equal texts get the same. Zero-initialise. */
struct sp_kinds {
    struct sp_arena arena;
    struct sp_map known;
};

size_t sp_kind_of(struct sp_kinds *kinds, const struct sp_text *text);
void sp_kinds_free(struct sp_kinds *kinds);

#endif
