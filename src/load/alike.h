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
struct sp_numbers {
    struct {
        const char *begin;
        size_t length, first;
    } items[SP_ALIKE_INDICES];
    size_t count;
};

struct sp_alike {
    const struct sp_renaming_rules *rules;
    bool ruled_out; /* a rule has an index of its own */
    struct sp_map known;
    struct {
        struct sp_alike_kind {
            struct sp_renamed renamed; /* what the one that stands for them becomes; no name: each has to be renamed */
            bool same;                 /* it stays as it is */
            struct sp_numbers digits;  /* in the name of the renamed one: which number comes there, from '1' */
        } * items;
        size_t count, capacity;
    } kinds;
    struct sp_text scratch, result;
};

/* The rules must live as long. */
void sp_alike_init(struct sp_alike *alike, const struct sp_renaming_rules *rules);
void sp_alike_free(struct sp_alike *alike);

/* As sp_rename, with the same result, of which the name lives until the next call (or is the name itself). */
struct sp_renamed sp_alike_rename(struct sp_alike *alike, const char *name);

#endif
