/* SPDX-License-Identifier: MIT
 * The limits of inference: how much of each thing is tried at most, and what happens with more. They bound the time of
 * one inference and the size of what is on the stack. */
#ifndef SP_INFER_LIMITS_H
#define SP_INFER_LIMITS_H

enum {
    /* ---- candidate tables (tables/) ---- */

    /* Name patterns of a file that are looked for among the names of all tables. Of a file with more the first ones
     * count; a model of 100 layers has some twenty. */
    SP_MOST_PATTERNS = 1000,
    SP_MOST_ENDS = 24, /* components of a pattern, counted from its end: no table has names of more */
    /* Tables that are laid out and compared name by name, of those that the ends of names leave. */
    SP_MOST_RANKED = 64,            /* as candidates */
    SP_MOST_RANKED_FOR_NAMING = 24, /* to find out what names begin with */
    SP_MOST_RANKED_FURTHER = 160,   /* to be named beside one that explains the file */
    SP_MOST_TABLES_FOR_NAMING = 6,  /* of which each class is laid out for it */
    SP_FIRST_FITS = 40,             /* candidates that have half of the names of the best one; then only wholes */
    SP_MOST_FITS = 48,              /* candidates of a view */
    SP_SAMPLED_NAMES = 2000,        /* tensors of a file whose names are tried behind a prefix: every nth of more */
    SP_MOST_CLASSES_OF_TABLE = 32,  /* classes of a table that are told apart; the first ones of more */

    /* ---- attempts (search.c, attempt.c) ---- */

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
    /* Constraints propagated to try out values, in all attempts together; and in one that is only made to be named. */
    SP_MOST_TRIALS = 400000,
    SP_FEW_TRIALS = 1000,
    /* Constraints propagated in all, in all attempts together: one or two seconds. Large models need up to 600,000. */
    SP_MOST_CHECKS = 1000000,
    SP_CHECKS_AT_ONCE = 4096,  /* between two looks at the watch: some milliseconds */
    SP_MOST_GUESS_ROUNDS = 40, /* guesses of one attempt, each followed by what it tells */
    SP_MOST_SUPPOSITIONS = 3,  /* texts that are supposed one within the other, each for one key */
    SP_MOST_TEXTS = 64,        /* values of such a key */
    SP_MOST_SUPPOSED = 24,     /* values of all such keys together, each of which is an attempt of its own */
    SP_FAR_MISSING = 4,        /* missing tensors for each that is explained: with more the table is far off */
    SP_MOST_NEAREST = 3,       /* tables that a message names as the nearest */

    /* ---- constraints (deduce.c, constraint.c, occurrences.c) ---- */

    SP_MOST_ROUNDS = 40,              /* passes over the open constraints; each tells something, or is the last */
    SP_MOST_ANSWERS = 1 << 16,        /* that are kept for the next round, of 128 bytes each; the first ones of more */
    SP_ANSWERS_SKIPPED = 8,           /* of constraints that are not posed again, before one that is */
    SP_MOST_OUTER_LOOPS = 3,          /* loops around a loop; the iterations of one more are taken together */
    SP_MOST_ITERATIONS = 10000,       /* of a loop: of a longer one what is missing in each is not asked */
    SP_MOST_ITERATIONS_ASKED = 1000,  /* of loops, to find where a condition holds */
    SP_MOST_MODULE_STEPS = 20000,     /* values tried for numbers that are worked out, for the whole table */
    SP_MOST_STAGED_STEPS = 150000,    /* the same when shapes tell the stages, which is tried last */
    SP_TENSORS_OF_A_STEP = 64,        /* tensors that are looked at for the price of one such value */
    SP_MOST_CHOICES = 32,             /* values on one branch of that search */
    SP_MOST_LOOP_ENDS = 8,            /* loops whose ends it notes */
    SP_MOST_MODULES_IN_STAGES = 4096, /* modules that shapes are to tell the stages of; of more none */

    /* ---- guesses (guess/) ---- */

    SP_MOST_ASKED_AT_ONCE = 400,       /* open constraints that judge a value; the first ones of more */
    SP_MOST_TRIAL_ROUNDS = 4,          /* passes over these, since one answer leads to the next */
    SP_MOST_ALTERNATIVES = 8,          /* constraints of which one branch is tried, `near ? a : b` */
    SP_MOST_LACKING_KEYS = 24,         /* keys that are guessed in one round */
    SP_MOST_VALUES = 320,              /* values of a key: 128 numbers, the divisors of a dimension, texts */
    SP_LARGEST_SMALL_NUMBER = 128,     /* that is tried where nothing suggests one: of heads the most that is known */
    SP_MOST_IDLE_VALUES = 8,           /* in a row that are no better than the best: then the next kind is tried */
    SP_MOST_OTHER_NUMBERS = 3,         /* named as just as good: "56 and 14" */
    SP_MOST_LOOP_LENGTH = 1000,        /* of a loop whose length tells how long a list is */
    SP_MOST_GUESSES_OF_DIMENSION = 20, /* keys that one dimension is left open by */
    SP_MOST_FRAMES = 64,               /* uses of parts that are searched for the default of a key */

    /* ---- repair (repair/) ---- */

    SP_MOST_REPAIR_PASSES = 12,  /* each of which explains more */
    SP_LEAST_GAIN = 64,          /* a change counts that takes away more than the 64th part of the errors */
    SP_FEW_ERRORS = 8,           /* lists are changed when less than the 8th part of the tensors is wrong */
    SP_MOST_REPAIR_VALUES = 400, /* of one key */
    SP_MOST_RATIOS = 12,         /* actual / predicted sizes by which values are scaled */
    SP_MOST_ITEMS_REPAIRED = 24, /* of a list; the first ones of more */
    SP_MOST_NESTED_LISTS = 3,    /* lists within lists */
    /* Fractions that are tried for a factor such as a width multiplier: twentieths, up to 4. */
    SP_FACTOR_STEPS = 20,
    SP_MOST_FACTOR_STEPS = 80,
    SP_MOST_FUSED_SIZES = 16, /* dimensions of fused tensors, and their halves */

    /* ---- which values the file decides (determine.c) ---- */

    SP_MOST_OTHER_VALUES = 320, /* other values of a key that are predicted */
    SP_MOST_ITEMS_CHANGED = 12, /* items of a list that are changed, one by one */
    SP_MOST_EQUAL_CLASSES = 3,  /* further classes that are named as just as good */
    /* Indices that loops visit then: the first ones and those that values point to, since one layer of a kind is
     * enough. */
    SP_MOST_SEEN_INDICES = 24,
    SP_FIRST_SEEN_INDICES = 4,
    SP_HIGHEST_SEEN_INDEX = 1000
};

#endif
