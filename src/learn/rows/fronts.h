/* SPDX-License-Identifier: MIT
 * What names begin with, where that differs between the examples: the same layers are "h.0." in one and
 * "transformer.h.0." in another, because the class is another one. */
#ifndef SP_LEARN_FRONTS_H
#define SP_LEARN_FRONTS_H

#include "base/map.h"
#include "learn/phrases/evidence.h"

/* Stands for the front in the text of a pattern. No name has this byte: it is not UTF-8. */
#define SP_FRONT_MARK '\xfe'

struct sp_fronts {
    const char *text;    /* "transformer.", or "" when all examples have the same */
    bool *has;           /* for each example: its names begin so */
    struct sp_map names; /* names without their numbers that have a front, taken away */
};

void sp_fronts_find(struct sp_fronts *fronts, const struct sp_evidence *evidence);
/* The name without its front if it has one, or would have: then *marked. */
const char *sp_front_taken(const struct sp_fronts *fronts, size_t example, const char *name, bool *marked);
void sp_fronts_free(struct sp_fronts *fronts);

#endif
