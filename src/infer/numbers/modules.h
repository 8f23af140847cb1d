/* SPDX-License-Identifier: MIT
 * A list of modules, and the search for what its numbers are worked out of. */
#ifndef SP_INFER_MODULES_H
#define SP_INFER_MODULES_H

#include <string.h>

#include "infer/limits.h"
#include "infer/numbers/stages.h"

/* A value that is tried for a key. */
struct sp_choice {
    const char *key;
    struct sp_want want;
};

/* A loop without a known end, and the last iteration that names of the file have. */
struct sp_end {
    const struct sp_loop *loop;
    int64_t last;
};

struct sp_modules {
    struct sp_deduction *deduction;

    /* ---- the list: h.2.mlp.experts.#, with front 1 and numbers[0] 2 ---- */

    size_t *lines;           /* of the outline, that make its names */
    size_t count;            /* of the lines */
    size_t tensors;          /* of the file, that are in the list */
    size_t front;            /* how many numbers are before the one that tells the modules apart */
    const uint64_t *numbers; /* in the name of one tensor: the first `front` are those of all */
    uint64_t most;           /* the highest number that tells modules apart */
    struct sp_stages stages; /* of the modules */
    size_t guesses;          /* how many were made before the list was looked at */

    /* ---- a pass over its lines ---- */

    size_t *stamps;        /* by tensor (in sp_shapes.named): the last pass in which an iteration had it */
    size_t stamp;          /* of this pass */
    size_t found;          /* tensors that an iteration had in it */
    const char *lacks;     /* the key that it could not go on without, or NULL */
    struct sp_loop *stage; /* of the line that is walked: sp_stage_loop */
    bool open_ended;       /* a loop of the line ends where the names do, and nothing else tells its end */
    struct sp_end ends[SP_MOST_LOOP_ENDS]; /* these loops */
    size_t end_count;

    /* ---- the search for values ---- */

    size_t *left; /* how many tensors may still be looked at and values tried */
    size_t steps; /* tensors that were found and keys that were lacked so far: progress of a choice */
    struct sp_choice choices[SP_MOST_CHOICES]; /* made on the branch under way */
    size_t depth;                              /* how many */
    bool is_solved;
    struct sp_choice solution[SP_MOST_CHOICES]; /* the choices of the first solution */
    size_t solution_depth;                      /* how many; 0: everything followed without a choice */
    size_t common;                              /* the first so many are those of all solutions */
    bool *is_asked;                             /* for each line of the outline: it was in a list before */
};

/* Walks the lines from modules->lines[*from] on. SP_HOLDS: they agree with the file, as far as their iterations go;
 * SP_OPEN: the line at the new *from lacks a key, modules->lacks, and the lines behind it contradict nothing. */
enum sp_answer sp_modules_pass(struct sp_modules *modules, size_t *from);
/* Whether all lines agree with the file, and no tensor of the list is left over. */
bool sp_modules_are_whole(struct sp_modules *modules);

/* Tries values of the keys that the lines from `from` on lack, until these agree with the file. */
void sp_modules_search(struct sp_modules *modules, size_t from);
/* Makes the choice known. A key such as depths[2] is told as an item of the list depths. */
enum sp_answer sp_choice_tell(struct sp_known *known, const struct sp_choice *choice);

/* The reason for what the list tells, with the tensor `named` as its evidence. */
struct sp_reason sp_modules_reason(const struct sp_modules *modules, size_t named);
/* Tells the choices that all solutions begin with, with the tensor `named` as the reason; if these are known already,
 * the other choices of the first solution as a guess. The length of a list is told last, since it may follow from its
 * items; a list that is an item itself may have no others. Returns whether anything was new. */
bool sp_modules_tell(struct sp_modules *modules, size_t named);
/* For solutions by stages: tells the first one as one guess, with all that follows from it in these modules; but not
 * the length of lists of which other modules have items as well. */
bool sp_modules_tell_staged(struct sp_modules *modules, size_t named);
/* Tells that the loops in `ends` end there, once nothing else is lacked. Returns whether anything was new. */
bool sp_modules_tell_ends(struct sp_modules *modules, size_t named);

#endif
