/* SPDX-License-Identifier: MIT
 * The limits of the search: how much of each thing is tried. Each bounds the time of one inference; the largest models
 * of the corpus need less, where nothing else is said. */
#ifndef SP_INFER_LIMITS_H
#define SP_INFER_LIMITS_H

enum {
    /* Attempts of one set of candidate tables. What explains a file is among the first ten of the corpus; the others
     * are there to be named as equals. */
    SP_MOST_ATTEMPTS = 24,
    /* When so many tables explain the file alike, a further one is tried only if it has at most so many names more than
     * the leanest, which the file lacks and may lack. */
    SP_ENOUGH_EQUALS = 14,
    SP_FEW_ABSENT = 4,
    SP_MOST_CLASSES = 4,  /* further classes of one table that have the same names */
    SP_MOST_FURTHER = 64, /* tables that are only named as equals */
    /* Tensors that these may compare together, so that a file of thousands has a few. */
    SP_MOST_FURTHER_TENSORS = 20000,
    SP_MOST_REPAIRED = 4,   /* attempts for which other values are tried, the nearest first */
    SP_MOST_STAGED = 3,     /* attempts that are made once more by stages */
    SP_MOST_TRANSPOSED = 2, /* attempts that are made once more with matrices transposed */
    SP_MOST_UNPACKED = 3,   /* ways to read quantised matrices: bits and group size */

    /* Tensors that may be compared, in all trials of a step together. A million take about a second. */
    SP_COMPARED_ONCE = 1000000,    /* of a step that is taken once a file */
    SP_COMPARED_NEAR = 250000,     /* of a step of each view */
    SP_COMPARED_RELATIVES = 25000, /* for tables that are related to one that explains the file */

    /* Questions asked to try out values, in all attempts together; and in one that is only made to be named. */
    SP_MOST_TRIALS = 400000,
    SP_FEW_TRIALS = 1000,
    /* Questions of any kind, in all attempts together: one or two seconds. Large models need up to 600,000. */
    SP_MOST_QUESTIONS = 1000000,
    SP_QUESTIONS_AT_ONCE = 4096 /* between two looks at the watch: some milliseconds */
};

#endif
