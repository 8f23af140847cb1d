/* SPDX-License-Identifier: MIT
 * A list of modules, and the search for what its numbers are worked out of. */
#ifndef SP_INFER_MODULES_H
#define SP_INFER_MODULES_H

#include <string.h>

#include "infer/limits.h"
#include "infer/numbers/stages.h"

struct sp_choice {
    const char *key;
    struct sp_want want;
};

/* A loop whose end was not known, and that went as far as the names do. */
struct sp_end {
    const struct sp_loop *loop;
    int64_t last;
};

struct sp_modules {
    struct sp_deduction *deduction;
    size_t *lines;
    size_t count;
    size_t *stamps; /* of each tensor of the file: when a iteration had it */
    size_t stamp, tensors, found;
    size_t front;            /* numbers in front of that which tells the modules apart */
    const uint64_t *numbers; /* of a tensor of the list: these are what they are */
    uint64_t most;           /* the highest that tells modules apart */
    struct sp_stages stages; /* of these */
    size_t guesses;          /* that were made before the list was looked at */
    size_t *left;            /* tensors that may still be looked at, and values tried */
    size_t steps;            /* tensors that were found, and keys that were lacked */
    const char *lacks;       /* the key that the last pass lacked, or NULL */
    struct sp_loop *stage;   /* of the line that is walked: sp_stage_loop */
    bool open_ended;         /* in that pass, of the line: an end that only the names tell */
    struct sp_choice choices[SP_MOST_CHOICES];
    size_t depth;
    bool is_solved;
    struct sp_choice solution[SP_MOST_CHOICES]; /* the first one */
    size_t solution_depth, common;              /* all solutions begin with so many of its choices */
    struct sp_end ends[SP_MOST_LOOP_ENDS];      /* of the last pass */
    size_t end_count;
    bool *is_asked; /* of each line: it was one of a list before */
};

/* All lines from the one at `from` on, in all their iterations. SP_OPEN: the one that is now at `from` takes a key,
 * `lacks`; what those behind it find does not count, but that something contradicts does. */
enum sp_answer sp_modules_pass(struct sp_modules *modules, size_t *from);
/* Whether all is known, and each tensor that of a iteration. */
bool sp_modules_are_whole(struct sp_modules *modules);

/* Tries values of the keys that the lines from `from` on lack, until these agree with the file. */
void sp_modules_search(struct sp_modules *modules, size_t from);
/* The item of a list is told as one of it. */
enum sp_answer sp_choice_tell(struct sp_known *known, const struct sp_choice *choice);

struct sp_reason sp_modules_reason(const struct sp_modules *modules, size_t named);
/* Sets the keys that all solutions begin with, with the tensor `named` as the reason; if these are set already, the
 * rest of the first solution as a guess. The length of a list follows from its items while there is anything else to
 * set; a list that is an item itself may have no others. False when nothing is new. */
bool sp_modules_tell(struct sp_modules *modules, size_t named);
/* The same by stages: a guess with all that follows from it in these modules; but not how long lists are that others
 * have items of as well. */
bool sp_modules_tell_staged(struct sp_modules *modules, size_t named);
/* Where nothing else is lacked: what went as far as the names do ends there. */
bool sp_modules_tell_ends(struct sp_modules *modules, size_t named);

#endif
