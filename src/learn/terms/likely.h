/* SPDX-License-Identifier: MIT
 * What is likely, when several expressions have the same values: which keys go with which tensors. It ranks, and
 * decides nothing: what it ranks below is told as undecided. */
#ifndef SP_LEARN_LIKELY_H
#define SP_LEARN_LIKELY_H

#include "learn/terms/terms.h"

/* By how much the keys of the term are nearer to the name of a tensor than any others. */
unsigned sp_search_term_affinity(const struct sp_search_term *term, const char *name);
/* The same without words that say which part of a model it is: `vision_config.projection_dim` is near to no patch. */
unsigned sp_search_term_proper_affinity(const struct sp_search_term *term, const char *name);
/* By how much it is less likely, because a key of it is of something else: positions, of a projection. */
unsigned sp_search_term_strangeness(const struct sp_search_term *term, const char *name);

#endif
