/* SPDX-License-Identifier: MIT
 * The beginnings that many names have in common: "module.", "module.layers.". */
#ifndef SP_NAMES_PREFIXES_H
#define SP_NAMES_PREFIXES_H

#include <stddef.h>

#include "base/arena.h"

enum { SP_PREFIX_NAMES = 32, SP_PREFIX_COMPONENTS = 4, SP_MAX_PREFIXES = SP_PREFIX_NAMES * SP_PREFIX_COMPONENTS };

struct sp_prefixes {
    struct sp_arena *arena;
    const char *list[SP_MAX_PREFIXES];
    size_t seen[SP_MAX_PREFIXES]; /* how many of the names begin with it */
    size_t count, names;
};

/* "a.b.c.weight" offers "a.", "a.b." and "a.b.c.", at most four of them; a pattern those before its first index. After
 * 32 names no more are looked at. */
void sp_prefixes_offer(struct sp_prefixes *prefixes, const char *name);
/* A prefix of few names is none of the whole: "layers.17." goes, "module.layers." stays. */
void sp_prefixes_keep_common(struct sp_prefixes *prefixes);
/* Adds those of another list that are not there, as long as there is room. */
void sp_prefixes_join(struct sp_prefixes *prefixes, const struct sp_prefixes *more);
/* So that every stride-th of `count` makes at most `sample`. */
static inline size_t sp_stride_for(size_t count, size_t sample) { return (count + sample - 1) / sample; }

/* Of what a tensor is whose name in a GGUF file begins as those of another model than that for text: "a vision tower"
 * (v.), "an encoder of sounds" (a.), "a projector" (mm.); else NULL. */
const char *sp_gguf_part(const char *name);

#endif
