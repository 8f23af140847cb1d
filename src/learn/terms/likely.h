/* SPDX-License-Identifier: MIT
 * What is likely, when several terms have the same values: which keys go with which tensors. It ranks, and excludes
 * nothing: terms that it ranks lower are reported as alternatives. */
#ifndef SP_LEARN_LIKELY_H
#define SP_LEARN_LIKELY_H

#include "learn/terms/terms.h"

/* How well the term goes with the name of a tensor, in units of cost: the affinity of the key that goes best with it; 0
 * for none. "intermediate_size" goes with "h.{}.mlp.up.weight". */
unsigned sp_search_term_affinity(const struct sp_search_term *term, const char *name);
/* The same without words that say which part of a model it is: `vision_config.projection_dim` is near to no patch. */
unsigned sp_search_term_proper_affinity(const struct sp_search_term *term, const char *name);
/* By how much the term costs more, because one of its keys is about something else: positions for a projection. */
unsigned sp_search_term_strangeness(const struct sp_search_term *term, const char *name);

#endif
