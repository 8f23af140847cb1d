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

struct sp_fronts {
    const char *text;    /* "transformer.", or "" when all examples have the same */
    bool *has;           /* for each example: its names begin so */
    struct sp_map names; /* names without their numbers that have a front, taken away */
};

void sp_fronts_find(struct sp_fronts *fronts, const struct sp_evidence *evidence);
/* The name without its front if it has one, or would have: then *marked. */
const char *sp_front_taken(const struct sp_fronts *fronts, size_t example, const char *name, bool *marked);
void sp_fronts_free(struct sp_fronts *fronts);

/* Stands for a listed word in a name. No name has this byte: it is not UTF-8. */
#define SP_WORD_MARK '\xfd'

enum { SP_MOST_WORDS = 4, SP_MOST_LISTED = 64 };

/* Where words of a list stand: "encoders." and what is left of the component, "". */
struct sp_listed_place {
    const char *before, *behind; /* with marks for numbers and words */
    const struct sp_terminal *terminal;
    const struct sp_terminal *other; /* another list that has the same items in every example, or NULL */
};

struct sp_listed {
    struct sp_listed_place *items;
    size_t count, capacity;
};

/* A name with a mark for each word, and which items of which lists these are. */
struct sp_marked_name {
    struct sp_text text;
    struct {
        size_t place, item;
    } words[SP_MOST_WORDS];
    size_t count;
};

void sp_listed_find(struct sp_listed *listed, const struct sp_evidence *evidence, const struct sp_fronts *fronts);
void sp_listed_mark(const struct sp_listed *listed, size_t example, const char *name, struct sp_marked_name *marked);
/* The word itself. */
const char *sp_listed_word(const struct sp_listed *listed, size_t example, const struct sp_marked_name *marked,
                           size_t word);

#endif
