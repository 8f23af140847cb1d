/* SPDX-License-Identifier: MIT
 * The file that the lines of a list go to. A run that was ended finds there what is done: each whole line counts, and a
 * last one that was not written to its end is cut off. A file that holds anything else is left alone. */
#ifndef SP_FLEET_RESULTS_H
#define SP_FLEET_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/map.h"
#include "fleet/lines.h"
#include "fleet/pool.h"

struct sp_results {
    int to; /* the descriptor that lines are written to */
    bool own;
    const char *name;                /* borrowed: for messages */
    size_t counts[SP_LINE_OUTCOMES]; /* of all lines, those of earlier runs too */
    size_t failed;                   /* of these, match or explained with another status than 0 */
    int status;                      /* the worst one of them */
    struct sp_map done;
    struct sp_arena arena;
};

/* The exit statuses have an order: 2, 4, 3, 1, 5, 0. */
int sp_worse_status(int one, int other);

/* Opens a file to go on with, or makes it, and locks it. Close it with sp_results_close, also after an error. */
bool sp_results_open(struct sp_results *results, const char *path, struct shapeproof_error *error);
/* Lines go to an open descriptor, or for -1 are only counted; nothing is done before. */
void sp_results_use(struct sp_results *results, int to, const char *name);
bool sp_results_has(const struct sp_results *results, const char *path);
/* Writes and counts the line of a checkpoint that its process wrote; where that is no whole line about it, one that the
 * process crashed, or had no time left. False when it could not be written. */
bool sp_results_add(struct sp_results *results, const char *path, const struct sp_pool_end *end,
                    struct shapeproof_error *error);
/* Appends the line of a checkpoint, as sp_results_add writes it. */
void sp_results_put_line(struct sp_text *text, const char *path, const struct sp_pool_end *end);
/* Why there is no line of a process: it took too long, was killed, or ended without one. */
void sp_results_explain(const struct sp_pool_end *end, struct shapeproof_error *error);
void sp_results_close(struct sp_results *results);

#endif
