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
/* Likewise for a process that ended without a result: `signal` is the one that ended it, or 0; `why` is the message. */
void sp_line_write_crash(struct sp_text *text, const char *path, int signal, const char *why);

/* How checkpoints are counted: by the verdict, or, where there is none, by the exit status (the number here). */
enum sp_line_outcome {
    SP_LINE_MATCH,
    SP_LINE_EXPLAINED,
    SP_LINE_DIFFERS,
    SP_LINE_HOLDS,         /* verdict of prove: all claims about the checkpoint hold */
    SP_LINE_FAILS,         /* verdict of prove: at least one claim does not hold */
    SP_LINE_UNKNOWN,       /* 5: the checkpoint could not be checked, in whole or in part */
    SP_LINE_MISCONFIGURED, /* 3: the configuration is wrong */
    SP_LINE_UNREADABLE,    /* 4: the file is not readable, or was not checked in time */
    SP_LINE_CRASHED,       /* 4, and the kind of the error is "crashed": the process ended without a result */
    SP_LINE_USAGE,         /* 2: the options do not fit the checkpoint */
    SP_LINE_OUTCOMES       /* how many there are */
};

/* What is read of a line. */
struct sp_fleet_line {
    char *path; /* borrowed from the text of the line */
    int status; /* the exit status of the check */
    enum sp_line_outcome outcome;
    const char *error; /* why there is no verdict, borrowed from the text; NULL if there is one */
};

/* Reads a line of `length` bytes, without its line break. The text is overwritten. False when it is no such line. */
bool sp_line_read(struct sp_fleet_line *line, char *text, size_t length);
/* Whether the line is about this path. Bytes of the path that are not UTF-8 are U+FFFD in a line, and equal that. */
bool sp_line_is_about(const struct sp_fleet_line *line, const char *path);
/* Whether these bytes, the first of a file, can be the beginning of a line that was cut. */
bool sp_line_may_begin(const char *text, size_t length);

/* Calls `say` for each of the warnings in a line. The text is overwritten. */
void sp_line_each_warning(char *text, size_t length, void (*say)(void *context, const char *warning), void *context);

/* Whether the verdict is match or explained and the status is not 0 all the same: a loader does not take the file
 * whole, or an option asks for more than the verdict. */
bool sp_line_fails(const struct sp_fleet_line *line);
/* "3 checkpoints: 2 match, 1 differs" or "3 checkpoints: all claims hold for 2, a claim fails for 1", without a line's
 * end. `failed` is the number of lines for which sp_line_fails. */
void sp_line_put_counts(struct sp_text *text, const size_t counts[SP_LINE_OUTCOMES], size_t failed);

#endif
