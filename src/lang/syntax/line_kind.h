/* SPDX-License-Identifier: MIT
 * What a line of a table file is, which shows at its start: a heading '[', a directive word, a definition (NAME = or
 * NAME(a) =), and else a row that begins with a tensor name. */
#ifndef SP_LANG_SYNTAX_LINE_KIND_H
#define SP_LANG_SYNTAX_LINE_KIND_H

enum sp_line_kind {
    SP_LINE_ROW,
    SP_LINE_DEFINITION,
    SP_LINE_HEADING,
    /* From here on the directives, which begin with a word of their own. */
    SP_LINE_UNIT, /* table, part, claims */
    SP_LINE_MODEL_TYPE,
    SP_LINE_ARCHITECTURES,
    SP_LINE_REQUIRE,
    /* From here to SP_LINE_UNADAPTED statements about measures, which only a table makes. */
    SP_LINE_MEASURES,
    SP_LINE_UNIT_OF_WORK, /* unit token, unit image */
    SP_LINE_PIPELINE,     /* pipeline i of L */
    SP_LINE_UNADAPTED,    /* unadapted "out_proj", "..." */
    SP_LINE_CLAIM         /* claim, erratum, approx, example */
};

/* The kind of the line whose first character that is no blank is at `p`, in a text that ends with a NUL. "table gpt2"
 * is SP_LINE_UNIT, "table (n)" a row: a tensor may be called "table". */
enum sp_line_kind sp_line_kind_at(const char *p);

#endif
