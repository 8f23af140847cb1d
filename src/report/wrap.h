/* SPDX-License-Identifier: MIT
 * Lines for people, of at most 80 columns: the same on every terminal, and in a pipe. */
#ifndef SP_REPORT_WRAP_H
#define SP_REPORT_WRAP_H

#include "base/text.h"

enum { SP_LINE_COLUMNS = 80 };

/* Where what is below `label: ` goes on, a little to the right of where it began. */
enum { SP_HANGING = 2 };

/* Breaks what was appended since the offset `begin` at blanks, so that lines end before column 80 where they can; each
 * goes on in column `indent`. No name is broken, no shape, and no JSON value, which people copy: such a one that is
 * longer than a line has one of its own. */
void sp_wrap(struct sp_text *text, size_t begin, size_t indent);

/* The same with lines of at most that many columns. */
void sp_wrap_to(struct sp_text *text, size_t begin, size_t indent, size_t columns);

/* A report has no more lines, unless all is asked for. */
enum { SP_MOST_LINES = 25 };

size_t sp_count_lines(const struct sp_text *text);
/* Takes back what was appended since it had that length. */
void sp_cut_back(struct sp_text *text, size_t length);

#endif
