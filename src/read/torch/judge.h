/* SPDX-License-Identifier: MIT
 * Pickles that a program loads although no tensor of them is listed: sample inputs of torch.export, objects in a
 * distributed checkpoint, the optimizer beside a model. */
#ifndef SP_READ_TORCH_JUDGE_H
#define SP_READ_TORCH_JUDGE_H

#include "read/folder.h"
#include "read/zip/archive.h"

/* Reports in the inventory what unpickling the file would run. Each warning has `what` in front: "optimizer.pt:
 * unpickling it would call posix.system: nothing was executed". The file is one of torch.save, or a pickle without a
 * container. A warning says if it cannot be read. */
void sp_torch_judge_file(const struct sp_file *file, const char *what, struct shapeproof_inventory *inventory);
/* The same for a member of the archive that is in `file`, by the name of the member. */
void sp_torch_judge_member(struct sp_zip *zip, size_t record, const struct sp_file *file,
                           struct shapeproof_inventory *inventory);
/* The same for a file of the folder. */
void sp_torch_judge_named(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory);
/* The same for a pickle in memory. */
void sp_torch_judge_bytes(const char *bytes, size_t length, const char *what, struct shapeproof_inventory *inventory);

/* Whether the bytes are a whole pickle, or call something before they break off, or, if the file has more bytes than
 * these, begin as a pickle of protocol 2 or later. */
bool sp_torch_is_pickle(const char *bytes, size_t length, bool has_more);
/* Whether the file is a zip archive with the pickle of torch.save in it. */
bool sp_torch_is_saved(const struct sp_file *file);
/* Judges a file of the folder that no program is known to load, as sp_torch_judge_named does. Returns false, without a
 * warning, if it is neither a pickle nor a file of torch.save. `is_typed`: the file may have classes of other packages,
 * which get no warning. */
bool sp_torch_judge_beside(const struct sp_folder *folder, const char *name, bool is_typed,
                           struct shapeproof_inventory *inventory);

#endif
