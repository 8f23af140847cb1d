/* SPDX-License-Identifier: MIT
 * The search for the naming under which most names of a file agree with those that are wanted. */
#ifndef SP_MATCH_SEARCH_H
#define SP_MATCH_SEARCH_H

#include "match/match.h"
#include "names/prefixes.h"

/* A search over namings: which prefix to remove and to add. */
struct sp_naming_search {
    struct sp_prefixes strips; /* candidates to remove from names of the file */
    struct sp_prefixes adds;   /* candidates to add */
    size_t (*score)(const void *context, const struct sp_naming *naming); /* how many names the naming explains */
    const void *context;                                                  /* of `score` */
    struct sp_naming best;                                                /* so far */
    size_t hits;                                                          /* its score */
};

enum sp_name_style {
    SP_NAMES_AS_STORED,
    SP_NAMES_OF_TENSORFLOW /* slashes and "kernel" are read as dots and "weight" (names/spelling.h) */
};

/* Offers candidates to strip: the prefixes that names from all over the file have in common, without wrappers and
 * trainer state. */
void sp_naming_offer(struct sp_prefixes *strips, const struct shapeproof_inventory *inventory,
                     enum sp_name_style style);
/* Whether a name has a wrapper component, such as _orig_mod. */
bool sp_has_wrappers(const struct shapeproof_inventory *inventory);
/* The naming of a scheme, with the prefix stripped (or none) behind which the scheme translates the most names. Its
 * `scheme` is NULL when that is less than one name in eight. */
struct sp_naming sp_naming_of_scheme(const struct sp_naming_scheme *scheme, const struct sp_prefixes *strips,
                                     bool drop_wrappers, const struct shapeproof_inventory *inventory);
/* Scores `naming` as it is, and with each candidate prefix removed, added, and both; the best goes to search->best. */
void sp_naming_try(struct sp_naming_search *search, struct sp_naming naming);

#endif
