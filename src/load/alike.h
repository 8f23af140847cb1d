/* SPDX-License-Identifier: MIT
 * Names that differ in nothing but their indices are renamed alike: it is worked out once for all of them.
 *
 *     layers.17.experts.208.w1.weight        a name
 *     layers.11.experts.222.w1.weight        what stands for it and its like: indices of the same length
 *     layers.11.experts.w13                  what that becomes
 *     layers.17.experts.w13                  so the name becomes this
 */
#ifndef SP_LOAD_ALIKE_H
#define SP_LOAD_ALIKE_H

#include "base/map.h"
#include "load/renaming.h"

enum { SP_ALIKE_INDICES = 4 };

/* The components of a name that are numbers; `first` is the first one that is the same. */
struct sp_name_numbers {
    struct {
        const char *begin;
        size_t length, first;
    } items[SP_ALIKE_INDICES];
    size_t count;
};

/* Names that are alike. */
struct sp_alike_kind {
    const char *name; /* the one that stands for them */
    size_t length;
    char *last;                     /* the one that was looked up last */
    struct sp_name_numbers numbers; /* in the first; they are where they are in all of them */
    size_t front, end;              /* where the last of them begins, and where it ends */
    bool paired;                    /* some of these are of the same length, and so may be the same */
    struct sp_renamed renamed;      /* what it becomes */
    bool known;                    /* the others become the same, but for the numbers; or else each has to be renamed */
    bool same;                     /* it stays as it is */
    struct sp_name_numbers digits; /* in the name of the renamed one: which number comes there, from '1' */
    bool follows_last;             /* the last number comes into it */
    char *result;                  /* that name, with the numbers of the last one that was asked */
    size_t note;                   /* on that: see sp_alike_rename */
    size_t next; /* of which kind the name was that came after one of this the last time, or SIZE_MAX */
};

struct sp_alike {
    const struct sp_renaming_rules *rules;
    bool ruled_out; /* a rule has an index of its own */
    struct sp_map known;
    struct {
        struct sp_alike_kind *items;
        size_t count, capacity;
    } kinds;
    size_t last;   /* of which kind the last name was, or SIZE_MAX */
    size_t unused; /* the note on a name of no kind */
    struct sp_text scratch;
};

/* The rules must live as long. */
void sp_alike_init(struct sp_alike *alike, const struct sp_renaming_rules *rules);
void sp_alike_free(struct sp_alike *alike);

/* As sp_rename, with the same result, of which the name lives until the next call (or is the name itself). `note`,
 * which may be NULL, comes back with a place for a number about that result: SIZE_MAX, or what was put there when
 * another name became the same. */
struct sp_renamed sp_alike_rename(struct sp_alike *alike, const char *name, size_t **note);

#endif
