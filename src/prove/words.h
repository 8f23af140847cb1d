/* SPDX-License-Identifier: MIT */
#ifndef SP_PROVE_WORDS_H
#define SP_PROVE_WORDS_H

#include "prove/symbolic/symbolic.h"

/* A condition that holds, or does not, as a reader would say it: "tied", "not tied", "E != H", "q_lora_rank is null".
 * In the arena. */
const char *sp_condition_words(struct sp_symbolic *symbolic, size_t condition, bool holds);
/* The same, but a flag by its key instead of its symbol in the table: "tie_word_embeddings = true". */
const char *sp_condition_by_key(struct sp_symbolic *symbolic, size_t condition, bool holds);
/* A formula without brackets around the whole: "(H // A)" is "H // A". */
const char *sp_formula_words(struct sp_symbolic *symbolic, const char *text);

#endif
