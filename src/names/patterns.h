/* SPDX-License-Identifier: MIT
 * Names without their indices: "layers.3.mlp.up_proj.weight" is the pattern "layers.{}.mlp.up_proj.weight" and the
 * index 3. An index is a plain decimal number: no sign, no leading zero, so that what was left out can be put back.
 *
 * The files of this module:
 *
 *     patterns.h         indices of a name, and the pattern that is left
 *     components.h       components of a name
 *     natural.h          the order of names: 2 before 10
 *     name_pattern.h     whether a name is one of a set that somebody wrote down
 *     collapse.h         many names in a line: ranges of indices, and the first few
 *
 *     spelling.h         a name in another framework's spelling: "dense/kernel:0"
 *     wrappers.h         components that wrappers add: "_orig_mod"
 *     naming_schemes.h   names that other programs and other releases use
 *     prefixes.h         prefixes that many names have
 *     prefix_pairs.h     of two sides: how prefixes differ
 *
 *     sides.h            of two sides: which names became which, all of a pattern alike
 *     counters.h         the same of Keras' numbered layers
 *     joints.h           of two sides: which tensors are several over there */
#ifndef SP_NAMES_PATTERNS_H
#define SP_NAMES_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"

enum { SP_MAX_INDICES = 8 }; /* further ones stay part of the pattern */

/* Stands for an index in the text of a pattern. No name has this byte: it is not UTF-8. */
#define SP_INDEX_MARK '\xff'

/* Where in a name a number is an index. */
enum sp_index_rule {
    SP_INDEX_APART,     /* between dots, slashes, underscores or the ends: of "h.0.ln_1.fc2" 0 and 1 */
    SP_INDEX_COMPONENT, /* between dots, slashes or the ends: 0 alone */
    SP_INDEX_ANYWHERE   /* between what is no digit: 0, 1 and 2. Tables may count anywhere in a name */
};

struct sp_indices {
    uint64_t value[SP_MAX_INDICES];
    size_t count;
};

/* A name taken apart. Where "layers.{}.experts.{}.w" is pattern 2, "layers.3.experts.12.w" is {2, {3, 12}}. */
struct sp_place {
    size_t pattern;
    struct sp_indices indices;
};

/* Patterns are numbered in the order in which they are met, and told apart by their texts, marks included:
 *
 *     "embed.weight"        -> 0    "embed.weight"
 *     "h.0.mlp.fc1.weight"  -> 1    "h.\xff.mlp.fc1.weight"    indices 0
 *     "h.7.mlp.fc1.weight"  -> 1                                indices 7
 *     "h.7.mlp.fc2.weight"  -> 2    "h.\xff.mlp.fc2.weight"    indices 7
 *
 * Zero-initialise but for the rule. */
struct sp_patterns {
    enum sp_index_rule rule;
    struct sp_arena arena;
    struct sp_map map;
    const char **items; /* texts, by number */
    size_t count, capacity;
    struct sp_text scratch;
};

/* The digits of an index (SP_INDEX_APART) that begins at `place` in the name, and its value; 0 when none begins there.
 */
size_t sp_index_at(const char *name, size_t place, uint64_t *value);
/* Appends the pattern of a name, or of a piece of one, and adds its indices to those that are there. */
void sp_name_split(struct sp_text *pattern, const char *name, enum sp_index_rule rule, struct sp_indices *indices);
/* The number of the name's pattern, and its indices (which may be NULL). */
size_t sp_pattern_of(struct sp_patterns *patterns, const char *name, struct sp_indices *indices);
/* The number of the pattern with that text, or SIZE_MAX. */
size_t sp_pattern_find(const struct sp_patterns *patterns, const char *text);
/* With SP_INDEX_MARK for each index. Borrowed until sp_patterns_free. */
const char *sp_pattern_text(const struct sp_patterns *patterns, size_t pattern);
/* The same for people: "layers.{}.weight". In the arena. */
const char *sp_pattern_shown(struct sp_arena *arena, const char *pattern);
/* Appends the name that a pattern and indices make. */
void sp_pattern_fill(struct sp_text *text, const char *pattern, const struct sp_indices *indices);
/* By pattern, then by indices. */
int sp_compare_places(const struct sp_place *a, const struct sp_place *b);
int sp_compare_indices(const struct sp_indices *a, const struct sp_indices *b);
void sp_patterns_free(struct sp_patterns *patterns);

#endif
