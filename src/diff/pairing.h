/* SPDX-License-Identifier: MIT
 * Pairing the tensors of two checkpoints: what the steps share. */
#ifndef SP_DIFF_PAIRING_H
#define SP_DIFF_PAIRING_H

#include "diff/diff.h"
#include "names/sides.h"

struct sp_pairing {
    struct shapeproof_diff *diff;
    struct sp_arena arena;
    struct sp_patterns patterns; /* of common spellings, in both */
    struct sp_sides a, b;        /* what has no counterpart yet, in the order of its patterns */
};

/* Whether one could be the other: the same shape, or that of the other framework. */
bool sp_pairing_fits(const struct sp_pairing *pairing, size_t a, size_t b);
/* Which members of two sides may be one another. */
enum sp_pairing_shapes {
    SP_PAIR_SAME_SHAPES, /* or those of the other framework: sp_pairing_fits */
    SP_PAIR_ANY_SHAPES   /* others as well, as long as the last component is the same */
};

/* Pairs the members of two sides that have the same indices, each once on both sides. */
void sp_pairing_join(struct sp_pairing *pairing, const struct sp_side *a, const struct sp_side *b, size_t translation,
                     enum sp_pairing_shapes shapes);
const char *sp_pairing_text(const struct sp_pairing *pairing, const struct sp_side *side);
/* The side of that pattern, or NULL. */
const struct sp_side *sp_pairing_side(const struct sp_sides *sides, size_t pattern);
/* Keeps how a pattern, or its beginning, of A becomes one of B: in short when one component differs, "*.h.*", else
 * whole, with `rest` behind it. Returns its number. */
size_t sp_pairing_translation(struct sp_pairing *pairing, const char *a, const char *b, const char *rest);

void sp_pairing_fronts(struct sp_pairing *pairing);         /* fronts.c */
bool sp_pairing_graph(struct sp_pairing *pairing);          /* graph.c: likewise */
void sp_pairing_shared(struct sp_pairing *pairing);         /* graph.c: once what it translated is paired */
void sp_pairing_copies(struct sp_pairing *pairing);         /* graph.c: once all names are paired */
bool sp_pairing_in_memory(struct sp_pairing *pairing);      /* in_memory.c: likewise */
bool sp_pairing_naming_schemes(struct sp_pairing *pairing); /* naming_schemes.c: true when names were translated */
void sp_pairing_structure(struct sp_pairing *pairing);      /* structure.c */

#endif
