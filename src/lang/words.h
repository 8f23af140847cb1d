/* SPDX-License-Identifier: MIT */
#ifndef SP_LANG_WORDS_H
#define SP_LANG_WORDS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/value.h"
#include "lang/syntax/ast.h"

/* Adds the keys that the table or part can read, without the objects that they are in: "vocab_size" of
 * "text_config.vocab_size". The words live as long as the tables. */
void sp_unit_words(const struct sp_unit *unit, struct sp_map *words);
/* Whether a measure of the table depends on the key, ffn_config.moe_top_k by the last part of its path: what one unit
 * of work uses, or what is kept at run time. No tensor needs to depend on it. Nothing depends on num_hidden_layers of
 * `n_layer default num_hidden_layers` where n_layer is set in `root`, the configuration. */
bool sp_unit_is_measured_by(const struct sp_unit *unit, struct shapeproof_value root, const char *key);
/* Whether operations depend on the key, which is an argument of a measure: in the rows of the unit itself. */
bool sp_unit_multiplies_by(const struct sp_unit *unit, const char *key);
/* The key that a definition of the unit is the value of, num_hidden_layers of "L" in
 * `L = num_hidden_layers default 12`; NULL when the unit defines no such name. */
const char *sp_unit_key_of_name(const struct sp_unit *unit, const char *name);
/* The key of the object that is most likely meant to be that one, which is not set in it: spelt nearly so, and nothing
 * that the unit can read. NULL when there is none. */
const char *sp_unit_misspelt(const struct sp_unit *unit, struct shapeproof_value object, const char *meant);
/* "text_config.hidden_size", of a name or a member of one as it is written; NULL of anything else. A longer one than a
 * name is in the arena. */
const char *sp_expr_key(struct sp_arena *arena, const struct sp_expr *expr);

#endif
