/* SPDX-License-Identifier: MIT
 * The tensors that only quantised weights have, by their names and dtypes. */
#ifndef SP_STORED_SUFFIXES_H
#define SP_STORED_SUFFIXES_H

#include "base/map.h"
#include "base/text.h"
#include "model/inventory.h"

struct sp_unit;

enum { SP_MAX_PART_MEMBERS = 32 };

/* The names that only a quantised weight has, behind the module: "qweight", "scales". */
struct sp_part_suffixes {
    const char *name[SP_MAX_PART_MEMBERS];
    size_t count;
    bool stacked; /* "_blocks" follows the module without a dot: the part says "stacked = true" */
};

void sp_part_suffixes_of(struct sp_part_suffixes *members, const struct sp_unit *part);
/* Puts the name without the member into `module`; `dot` is what stands between the two, "" or ".". False when the name
 * does not end so. */
bool sp_strip_suffix(struct sp_text *module, const char *name, const char *dot, const char *member);
/* The last components of the names of a file. */
void sp_note_tails(const struct shapeproof_inventory *file, struct sp_map *tails);
/* Whether the file has any of the names that such a quantised weight has. `tails` are those of its names. */
bool sp_part_shows(const struct sp_unit *part, const struct sp_map *tails);

/* A tensor that cannot be a plain weight: of integers, or of bytes. */
bool sp_looks_packed(const struct shapeproof_tensor *tensor);
bool sp_any_looks_packed(const struct shapeproof_inventory *inventory);

#endif
