/* SPDX-License-Identifier: MIT
 * What is said of the checkpoints of a list: a line of JSON for each. It is the document that `check --json` or
 * `prove --json` writes, on one line, with the path as it was listed and the exit status behind the schema; where there
 * is no document, the error:
 *
 *     {"schema": "shapeproof.check/1", "path": "a/model.safetensors", "status": 0, "verdict": "match", ...}
 *     {"schema": "shapeproof.check/1", "path": "b/model.safetensors", "status": 4, "error": "...", "kind": "io"} */
#ifndef SP_FLEET_LINES_H
#define SP_FLEET_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "shapeproof/error.h"

/* Appends the line of a checkpoint: `report` is the document of a check, or NULL where the error says why there is
 * none. */
void sp_line_write(struct sp_text *text, const char *path, int status, const char *report,
                   const struct shapeproof_error *error);
/* Likewise for a process that came to no end: `signal`, if it is not 0, ended it. */
void sp_line_write_crash(struct sp_text *text, const char *path, int signal, const char *why);

/* How checkpoints are counted: by verdict, and where there is none by what stands in its way. */
enum sp_line_outcome {
    SP_LINE_MATCH,
    SP_LINE_EXPLAINED,
    SP_LINE_DIFFERS,
    SP_LINE_HOLDS,         /* of claims: all that are about it hold */
    SP_LINE_FAILS,         /* of claims: one does not */
    SP_LINE_UNKNOWN,       /* 5: it cannot be told, in whole or in part */
    SP_LINE_MISCONFIGURED, /* 3: a configuration that is wrong */
    SP_LINE_UNREADABLE,    /* 4 */
    SP_LINE_CRASHED,       /* 4 */
    SP_LINE_USAGE,         /* 2: the options do not fit it */
    SP_LINE_OUTCOMES
};

struct sp_fleet_line {
    char *path;
    int status;
    enum sp_line_outcome outcome;
};

/* Reads the head of a line, which is `length` bytes without the line's end and is overwritten: the path lies in it.
 * False when it is no such line. */
bool sp_line_read(struct sp_fleet_line *line, char *text, size_t length);
/* Whether its path is this one, as far as it can be written: of one that is no UTF-8 the rest. */
bool sp_line_is_about(const struct sp_fleet_line *line, const char *path);
/* Whether these bytes, the first of a file, can be the beginning of a line that was cut. */
bool sp_line_may_begin(const char *text, size_t length);

/* Whether the verdict is match or explained and the status is not 0 all the same: a loader does not take the file
 * whole, or an option asks for more than the verdict. */
bool sp_line_fails(const struct sp_fleet_line *line);
/* "3 checkpoints: 2 match, 1 differs", without a line's end. `failed` is the number of lines for which sp_line_fails.
 */
void sp_line_put_counts(struct sp_text *text, const size_t counts[SP_LINE_OUTCOMES], size_t failed);

#endif
