/* SPDX-License-Identifier: MIT
 * The steps of a proof as lines of text, for whoever wants to follow it by hand. */
#ifndef SP_PROVE_EXPLANATION_H
#define SP_PROVE_EXPLANATION_H

#include "base/arena.h"

struct sp_explanation {
    struct sp_arena *arena; /* of the lines */
    const char **lines;
    size_t count, capacity;
    size_t omitted; /* lines beyond the limit */
};

/* Appends a line, which must be in the arena. */
void sp_explanation_add(struct sp_explanation *explanation, const char *line);
/* Removes all lines, those of an attempt that led to nothing. NULL is an empty explanation. */
void sp_explanation_clear(struct sp_explanation *explanation);
/* Adds "and 12 more" if lines were left out. Returns the lines, which are in the arena, and empties the explanation. */
const char *const *sp_explanation_take(struct sp_explanation *explanation, size_t *count);

#endif
