/* SPDX-License-Identifier: MIT
 * Names of two sides that begin otherwise and end alike. The longest end that a pattern shares with one of the other
 * side, if no other pattern has it, says how their prefixes differ:
 *
 *     a                           b                              suggests
 *     module.h.{}.fc.weight       h.{}.fc.weight                 "module." -> ""
 *     transformer.h.{}.fc.bias    model.layers.{}.fc.bias        "transformer.h.{}." -> "model.layers.{}."
 *
 * A suggestion is a guess: whoever asks counts what speaks for it. */
#ifndef SP_NAMES_PREFIX_PAIRS_H
#define SP_NAMES_PREFIX_PAIRS_H

#include "base/arena.h"
#include "base/map.h"

/* A prefix of names, and the one that they have on the other side. */
struct sp_prefix_rule {
    const char *from, *to;
};

/* Zero-initialise but for the first two. */
struct sp_prefix_pairs {
    struct sp_arena *arena;
    const char *separators; /* of components */
    SP_ARRAY(struct sp_ending) endings;
    struct sp_map places;         /* keys are the ends of the texts that were noted */
    struct sp_prefix_rule *items; /* each that was suggested, once; with texts in the arena */
    size_t count, capacity;
    struct sp_map known;
};

/* A pattern of a side, each once; `id` is for the caller. The text must live as long. */
void sp_prefix_pairs_note_a(struct sp_prefix_pairs *pairs, const char *text);
void sp_prefix_pairs_note_b(struct sp_prefix_pairs *pairs, const char *text, size_t id);

/* How a pattern of a, which was noted, begins otherwise than one of b. */
struct sp_prefix_rule_guess {
    size_t b;        /* its id; SIZE_MAX when there is none */
    size_t from, to; /* how long the prefixes are */
};

/* There is none for a pattern of more than 64 components. */
struct sp_prefix_rule_guess sp_prefix_pairs_guess(const struct sp_prefix_pairs *pairs, const char *text);
/* The index of the rule with these prefixes, which is added when it is new. */
size_t sp_prefix_pairs_add(struct sp_prefix_pairs *pairs, const char *a, size_t from, const char *b, size_t to);
void sp_prefix_pairs_free(struct sp_prefix_pairs *pairs);

#endif
