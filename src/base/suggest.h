/* SPDX-License-Identifier: MIT
 * What was likely meant: shapeproof_suggest, which shapeproof/error.h declares, finds the best of many for a word that
 * is wrong. */
#ifndef SP_BASE_SUGGEST_H
#define SP_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "shapeproof/error.h"

/* Whether a word that need not be wrong is most likely the other one misspelt: one letter is, two in a long word, or
 * only capitals, "_" and "-" differ. Words with other digits are other words. */
bool sp_is_misspelt(const char *word, const char *meant);
/* Of the candidates the one that was most likely meant by a key: misspelt, or with a word in common; or NULL. */
const char *sp_suggest_key(const char *key, const char *const *candidates, size_t count);

#endif
