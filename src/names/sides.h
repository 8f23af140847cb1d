/* SPDX-License-Identifier: MIT
 * Which names of one side are called otherwise on the other. All of a pattern must be renamed alike: as many names,
 * with the same indices and the same content (their shapes), under names that have at least half of their letters in
 * common. When two candidates fit equally well nothing is claimed.
 *
 *     side of A "h.{}.mlp.up_proj"          side of B "h.{}.mlp.up_lin"
 *         h.0.mlp.up_proj  (8, 4)  <--------->  h.0.mlp.up_lin  (8, 4)
 *         h.1.mlp.up_proj  (8, 4)  <--------->  h.1.mlp.up_lin  (8, 4)        one class: "0.(8, 4)1.(8, 4)" */
#ifndef SP_NAMES_SIDES_H
#define SP_NAMES_SIDES_H

#include "names/patterns.h"

/* A name that has no equal on the other side. */
struct sp_stray {
    size_t pattern, item; /* the caller's number for it */
    struct sp_indices indices;
    const char *content;
};

/* The strays of one pattern. Sides of one class have the same content: as many names, with the same indices and
 * contents, so that members of the same place belong together. */
struct sp_side {
    const struct sp_stray *members; /* in the order of their indices */
    size_t count, class;
    struct sp_side *other; /* what it is renamed to, or from; or NULL */
};

struct sp_sides {
    SP_ARRAY(struct sp_stray) members;
    struct sp_side *items;
    size_t count, capacity;
};

/* Both sides must use the same patterns. `content` is borrowed. */
void sp_sides_add(struct sp_sides *sides, struct sp_patterns *patterns, const char *name, const char *content,
                  size_t item);
/* Once all are added: forms the sides, in the order of their patterns. */
void sp_sides_form(struct sp_sides *sides);
/* Sets `other` where a counterpart is clear; the order of the sides changes. */
void sp_sides_pair(const struct sp_patterns *patterns, struct sp_sides *a, struct sp_sides *b);
void sp_sides_free(struct sp_sides *sides);

/* Letters in common at both ends; 0 when they are less than half of the longer name. */
size_t sp_similarity(const char *a, const char *b);
/* When two patterns differ in one component alone, which is no index: where it is in both. */
struct sp_differing_component {
    const char *a, *b;
    size_t a_length, b_length;
};
bool sp_one_component(const char *a, const char *b, struct sp_differing_component *component);

#endif
