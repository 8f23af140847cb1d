/* SPDX-License-Identifier: MIT
 * Words in names that a list of the configuration says:
 *
 *     {"inputs": ["text", "sound"]}    encoders.text.weight  encoders.sound.weight
 *     {"inputs": ["image"]}            encoders.image.weight
 *
 *     encoders.{name}.weight   for name in inputs
 *
 * A place in names is that of a list when in every example each item of the list stands there, and no item of the list
 * of another example does; and when the lists differ, or, of several items that are the same everywhere, what is below
 * one of them is what is below all. Where the examples have one list, that it is the list is said to be undecided. */
#ifndef SP_LEARN_LISTED_H
#define SP_LEARN_LISTED_H
#include "base/map.h"
#include "learn/terms/evidence.h"

/* Stands for the front in the text of a pattern. No name has this byte: it is not UTF-8. */
#define SP_FRONT_MARK '\xfe'

/* The front: what most names begin with in some examples and not in others, as the layers are "transformer.h.0." in one
 * and "h.0." in another whose class is another one. */
struct sp_fronts {
    const char *text;    /* "transformer.", or "" when all examples have the same */
    bool *has;           /* for each example: its names begin so */
    struct sp_map names; /* what is behind the front in names that have it, without numbers */
};

void sp_fronts_find(struct sp_fronts *fronts, const struct sp_evidence *evidence);
/* The name without its front. *marked: the name has the front, or is one that has it in other examples. */
const char *sp_front_taken(const struct sp_fronts *fronts, size_t example, const char *name, bool *marked);
void sp_fronts_free(struct sp_fronts *fronts);

/* Stands for a listed word in a name. No name has this byte: it is not UTF-8. */
#define SP_WORD_MARK '\xfd'

enum { SP_MOST_WORDS = 4, SP_MOST_LISTED = 64 };

/* A place in names where words of a list stand. */
struct sp_listed_place {
    const char *before; /* what the name has in front of the word: "encoders.", with marks for numbers and words */
    const char
        *behind; /* what it has up to the next dot, likewise: "" of encoders.text.weight, "_1" of text_1.weight */
    const struct sp_terminal *terminal; /* the list */
    const struct sp_terminal *other;    /* another list that has the same items in every example, or NULL */
};

struct sp_listed {
    struct sp_listed_place *items;
    size_t count, capacity;
};

/* A name with SP_WORD_MARK in place of each word, and which items of which lists these are. */
struct sp_marked_name {
    struct sp_text text;
    struct {
        size_t place; /* of struct sp_listed */
        size_t item;  /* of the list of the example */
    } words[SP_MOST_WORDS];
    size_t count; /* of the words */
};

/* Finds the places of all lists. */
void sp_listed_find(struct sp_listed *listed, const struct sp_evidence *evidence, const struct sp_fronts *fronts);
/* Fills `marked`: "encoders.sound.weight" becomes "encoders.{}.weight" and item 1, if the list of the example is
 * ["text", "sound"]. Words beyond the fourth stay. The text of `marked` is used again if there is one, and to be freed.
 */
void sp_listed_mark(const struct sp_listed *listed, size_t example, const char *name, struct sp_marked_name *marked);
/* A word of a marked name: "sound". */
const char *sp_listed_word(const struct sp_listed *listed, size_t example, const struct sp_marked_name *marked,
                           size_t word);

#endif
