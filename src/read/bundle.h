/* SPDX-License-Identifier: MIT
 * Archives of checkpoints, zip and tar. */
#ifndef SP_READ_BUNDLE_H
#define SP_READ_BUNDLE_H

#include "read/reader.h"
#include "read/zip/archive.h"

/* True when a member of the archive has the name of a checkpoint. */
bool sp_bundle_is(const struct sp_zip *zip);
/* Indexes each member with such a name. Where there is one, its tensors keep their names; those of several are called
 * "member:name". One that cannot be read is a warning, as long as there is another (format "zip-bundle"). */
bool sp_bundle_index(struct sp_zip *zip, const struct sp_file *file, uint32_t file_index,
                     struct shapeproof_inventory *inventory, struct shapeproof_error *error);
/* Judges the members of an archive without a checkpoint: what unpickling them would run. */
void sp_bundle_judge(struct sp_zip *zip, const struct sp_file *file, struct shapeproof_inventory *inventory);
/* Judges one member. */
void sp_bundle_judge_member(struct sp_zip *zip, size_t index, const struct sp_file *file,
                            struct shapeproof_inventory *inventory);
/* Indexes that one alone. */
bool sp_bundle_index_member(struct sp_zip *zip, size_t index, const struct sp_file *file, uint32_t file_index,
                            struct shapeproof_inventory *inventory, struct shapeproof_error *error);

#endif
