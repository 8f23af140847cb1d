/* SPDX-License-Identifier: MIT
 * What was likely meant by a word that is wrong. */
#ifndef SP_BASE_SUGGEST_H
#define SP_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* The candidate that `word` is most likely a typing mistake for, or the first one that it abbreviates; NULL when none
 * is near. */
const char *sp_suggest(const char *word, const char *const *candidates, size_t count);
/* The candidate that was most likely meant by the name of a table or a model. Capitals, "-", "_" and "." do not count.
 * NULL when none is near. The first of these rules with which there is a candidate:
 *
 *   it has the same name                    GPT-2 -> gpt2
 *   it is abbreviated, but not within a number              llama-2 -> llama-2-7b, and not opt-3 -> opt-30b
 *   it is misspelt with the same digits                     whisper_tny -> whisper-tiny
 *   the name without its last words is its name             llama-3.1-8b-instruct -> llama-3.1-8b */
const char *sp_suggest_name(const char *name, const char *const *candidates, size_t count);
/* The candidate that a name is as a whole, or without its last words, but for capitals, "-", "_" and "."; or NULL. */
const char *sp_name_begun(const char *name, const char *const *candidates, size_t count);
/* Whether two names differ in nothing but capitals, "-", "_" and ".". */
bool sp_is_same_name(const char *a, const char *b);
/* Whether a word that need not be wrong is most likely the other one misspelt: one letter is, two in a long word, or
 * only capitals, "_" and "-" differ. Words with other digits are other words. */
bool sp_is_misspelt(const char *word, const char *meant);
/* The candidate that was most likely meant by a key: the first one that it is misspelt from, else the nearest one that
 * has a word in common with it; NULL when there is none. */
const char *sp_suggest_key(const char *key, const char *const *candidates, size_t count);

#endif
