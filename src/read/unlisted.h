/* SPDX-License-Identifier: MIT
 * Files beside a checkpoint, and members of an archive, of which no tensor is listed. Their first bytes, not their
 * names, tell which of them a program would unpickle. */
#ifndef SP_READ_UNLISTED_H
#define SP_READ_UNLISTED_H

#include "read/folder.h"

enum { SP_UNLISTED_HEAD = 64 << 10 /* bytes that are looked at first */ };

/* Whether what begins with these bytes, at most SP_UNLISTED_HEAD, is a pickle, or may have one in it: an archive, a
 * compressed file or an array of NumPy. */
bool sp_unlisted_may_run(const char *head, size_t length);
/* Reports in the inventory what loading the file would run, each warning with `what` in front. If the file is of one of
 * these kinds and cannot be read, a warning says so. A file of another kind gets no warning. */
void sp_unlisted_judge(const struct sp_file *file, const char *what, struct shapeproof_inventory *inventory);
/* The same for a file of the folder, if it can be opened. */
void sp_unlisted_judge_named(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory);

#endif
