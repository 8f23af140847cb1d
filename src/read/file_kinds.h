/* SPDX-License-Identifier: MIT
 * What the files and folders of a training are, by their names: one table of patterns for files (file_kinds.def), one
 * for steps (steps.def). In a pattern '*' stands for any characters but '/', '#' for one digit or more. */
#ifndef SP_READ_FILE_KINDS_H
#define SP_READ_FILE_KINDS_H

#include "shapeproof/run.h"

/* What the name of a step says. */
struct sp_step_name {
    const char *framework; /* static; "" when several frameworks name steps so */
    uint64_t number;       /* the last one in the name, or that behind "step="; SHAPEPROOF_NONE without one */
    bool is_file;
    bool is_best, is_last; /* it is called "best", or "last" */
};

/* Whether a file or folder of that name, without folders in front, is a step of a training. */
bool sp_step_name_read(const char *name, bool is_file, struct sp_step_name *step);
/* Whether the whole text matches the pattern. */
bool sp_run_pattern_matches(const char *pattern, const char *text);

#endif
