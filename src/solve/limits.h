/* SPDX-License-Identifier: MIT
 * The limits of the solver: how deep and how far it looks, and what happens beyond. Tables of users may nest as they
 * like, so each recursion has one. */
#ifndef SP_SOLVE_LIMITS_H
#define SP_SOLVE_LIMITS_H

enum {
    /* ---- depths ---- */

    SP_MOST_NAMES_IN_TURN = 64,   /* definitions that stand for one another; what they end in is then not known */
    SP_DEEPEST_INVERSION = 64,    /* operators that are inverted one within the other; then nothing is told */
    SP_DEEPEST_ALTERNATIVES = 24, /* conditions that choose one within the other; then the value stays open */
    SP_DEEPEST_DEPENDENCE = 40,   /* operators and definitions above what depends on a loop; deeper, and it does not */
    SP_DEEPEST_LITERALS = 16,     /* definitions between an expression and the texts that it may be */
    SP_DEEPEST_USE = 64,          /* uses of parts one within the other; deeper ones have no row templates */

    /* ---- counts ---- */

    SP_MOST_ROW_TEMPLATES = 20000, /* row templates of a table; further rows are not laid out */
    SP_MOST_LITERALS = 200,        /* texts that a table mentions; further ones are not tried */
    SP_MOST_WALKED = 1000,         /* iterations of a line that are compared with a name */
    SP_MOST_ITEMS_TOLD = 10000,    /* of a list; an index beyond contradicts, since no model has so many layers */
    SP_MOST_MEMBERS_TOLD = 500,    /* of a list, each of which is compared with all others */

    /* ---- values of one key that are tried (key.c) ---- */

    SP_NEIGHBOURS = 8,     /* on either side of a value that a proportion gives */
    SP_MOST_HALVINGS = 60, /* of an interval: as many as a number has bits */
    SP_FARTHEST = 1 << 16  /* from the configured value, where nothing bounds the interval */
};

#endif
