/* SPDX-License-Identifier: MIT
 * Names of the steps of a training, by a table of patterns (steps.def): "checkpoint-500", "epoch=3-step=12.ckpt". In a
 * pattern '*' stands for any characters but '/', '#' for one digit or more, '###' for three or more. */
#ifndef SP_BASE_STEP_NAME_H
#define SP_BASE_STEP_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define SP_NO_STEP UINT64_MAX

/* What the name of a step says. */
struct sp_step_name {
    const char *framework; /* static; "" when several frameworks name steps so */
    uint64_t number;       /* of the step or the epoch; SP_NO_STEP without one */
    uint64_t updates;      /* of fairseq: saved in the middle of epoch `number`; SP_NO_STEP: at its end, or not known */
    bool is_file;
    bool is_best, is_last; /* it is called "best", or "last" */
};

/* Whether a file or folder of that name, without folders in front, is a step of a training. */
bool sp_step_name_read(const char *name, bool is_file, struct sp_step_name *step);
/* Whether the whole text matches the pattern. */
bool sp_file_pattern_matches(const char *pattern, const char *text);

/* Passes the number of a rank, which is below a million: a longer one is a date or another number. */
bool sp_rank_number_pass(const char **p, uint32_t *number);
/* "rank_0", "rank-3", "rank1": the name of a folder of one rank. */
bool sp_rank_folder_read(const char *name, uint32_t *rank);

#endif
