/* SPDX-License-Identifier: MIT
 * What a line of a table file is, which shows at its start: a heading '[', a directive word, a definition (NAME = or
 * NAME(a) =), and else a row that begins with a tensor name. */
#ifndef SP_LANG_SYNTAX_LINE_KIND_H
#define SP_LANG_SYNTAX_LINE_KIND_H

enum sp_line_kind {
    SP_LINE_ROW,
    SP_LINE_DEFINITION,
    SP_LINE_HEADING,
    SP_LINE_UNIT, /* table, part, claims: the directives are the last ones */
    SP_LINE_MODEL_TYPE,
    SP_LINE_ARCHITECTURES,
    SP_LINE_REQUIRE,
    SP_LINE_CLAIM
};

/* Of the line that begins at `p` with what is no blank; NUL-terminated somewhere behind it. */
enum sp_line_kind sp_line_kind_at(const char *p);

#endif
