/* SPDX-License-Identifier: MIT
 * The search for the naming under which most names of a file agree with those that are wanted. */
#ifndef SP_MATCH_SEARCH_H
#define SP_MATCH_SEARCH_H

#include "match/match.h"
#include "names/prefixes.h"

/* A search over namings: which prefix to remove and to add. `score` counts the names that a naming explains. */
struct sp_naming_search {
    struct sp_prefixes strips, adds; /* of names of the file, and of names that are wanted */
    size_t (*score)(const void *context, const struct sp_naming *naming);
    const void *context;
    struct sp_naming best;
    size_t hits; /* its score */
};

/* Candidates to strip: what names from all over the file begin with, without trainer state. */
void sp_naming_offer(struct sp_prefixes *strips, const struct shapeproof_inventory *inventory, bool tensorflow_names);
bool sp_has_wrappers(const struct shapeproof_inventory *inventory);
/* The scheme's names behind the prefix behind which the file has the most of them; no scheme when that is less than one
 * name in eight. */
struct sp_naming sp_naming_of_scheme(const struct sp_naming_scheme *scheme, const struct sp_prefixes *strips,
                                     bool drop_wrappers, const struct shapeproof_inventory *inventory);
/* Tries `naming` as it is, and with each candidate prefix removed, added, and both. */
void sp_naming_try(struct sp_naming_search *search, struct sp_naming naming);

#endif
