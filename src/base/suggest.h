/* SPDX-License-Identifier: MIT
 * What was likely meant by a word that is wrong. */
#ifndef SP_BASE_SUGGEST_H
#define SP_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* The candidate that `word` is most likely a typing mistake for, or the first one that it abbreviates; NULL when none
 * is near. */
const char *sp_suggest(const char *word, const char *const *candidates, size_t count);
/* Whether a word that need not be wrong is most likely the other one misspelt: one letter is, two in a long word, or
 * only capitals, "_" and "-" differ. Words with other digits are other words. */
bool sp_is_misspelt(const char *word, const char *meant);
/* The candidate that was most likely meant by a key: the first one that it is misspelt from, else the nearest one that
 * has a word in common with it; NULL when there is none. */
const char *sp_suggest_key(const char *key, const char *const *candidates, size_t count);

#endif
