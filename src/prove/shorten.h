/* SPDX-License-Identifier: MIT
 * Shorter texts of long formulas: a name for each part that repeats, and short names for hyper-parameters with long
 * ones. Of
 *
 *     vision.hidden_size*(image_size[0] // patch_size[0] + 1) + vision.depth*(image_size[0] // patch_size[0] + 1)
 *
 * it makes v_hs*x_1 + v_d*x_1, where v_hs = vision.hidden_size, is_0 = image_size[0], x_1 = is_0 // ps_0 + 1 and so on.
 * Formulas that all fit a line stay as they are. */
#ifndef SP_PROVE_SHORTEN_H
#define SP_PROVE_SHORTEN_H

#include "base/arena.h"
#include "base/map.h"
#include "lang/tables.h"

/* A name that was chosen. */
struct sp_short_name {
    const char *name;    /* "x_1"; within sums over i also "x_1(i)" */
    const char *meaning; /* "is_0 // ps_0 + 1", in which names that stand above it are used */
    bool is_key;         /* the meaning is the name of a hyper-parameter, as it was given to sp_shorten_key */
};

/* Zero-initialise. Tell it of all names and formulas, let it choose, then write each formula. */
struct sp_shortening {
    struct sp_arena arena;
    struct sp_map taken;        /* names that are in use */
    struct sp_map keys;         /* names of hyper-parameters that may be shortened */
    struct sp_map indices;      /* names of indices of sums */
    struct sp_map part_numbers; /* the index of a part by its text */
    SP_ARRAY(const char *) formulas;
    SP_ARRAY(struct sp_shorten_part) parts;
    SP_ARRAY(struct sp_short_name) names; /* in an order in which each uses only those above it */
    size_t numbered;                      /* names x_1, x_2, ... so far */
};

/* No name that is chosen is this one. */
void sp_shorten_reserve(struct sp_shortening *shortening, const char *name);
/* No name is one that the table defines. */
void sp_shorten_reserve_table(struct sp_shortening *shortening, const struct sp_unit *table);
/* A hyper-parameter to which the table gives no name, "text_config.hidden_size": if it is long it may get one. */
void sp_shorten_key(struct sp_shortening *shortening, const char *name);
/* A formula that will be written. Borrowed. */
void sp_shorten_add(struct sp_shortening *shortening, const char *formula);
/* Chooses the names for the formulas that were added. */
void sp_shorten_choose(struct sp_shortening *shortening);
/* The text, one of the formulas or another, with the names in the places of what they mean; in the arena. */
const char *sp_shorten_text(struct sp_shortening *shortening, const char *text);
void sp_shorten_free(struct sp_shortening *shortening);

#endif
