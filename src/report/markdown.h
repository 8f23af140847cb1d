/* SPDX-License-Identifier: MIT
 * Text from outside in Markdown (GitHub's, which has tables): it is shown as it is, also in a cell of a table. */
#ifndef SP_REPORT_MARKDOWN_H
#define SP_REPORT_MARKDOWN_H

#include "report/common.h"

/* Made printable; what would be markup is escaped. */
void sp_markdown_text(struct sp_text *text, const char *string);
/* `string`: between as many backticks as it needs. */
void sp_markdown_code(struct sp_text *text, const char *string);
/* The same in a cell of a table, which "|" would end even there. */
void sp_markdown_cell_code(struct sp_text *text, const char *string);
/* A cell of a row that begins with "|": " string |", and " `string` |". */
void sp_markdown_cell(struct sp_text *text, const char *string);
void sp_markdown_code_cell(struct sp_text *text, const char *string);
/* Escapes what was appended since `begin`, printable lines of a report, and makes it one line. */
void sp_markdown_line(struct sp_text *text, size_t begin);
/* The same with an empty line behind it. */
void sp_markdown_paragraph(struct sp_text *text, size_t begin);
/* Makes it an item of a list. */
void sp_markdown_item(struct sp_text *text, size_t begin);
/* "**heading**" as a paragraph. */
void sp_markdown_heading(struct sp_text *text, const char *heading);

#endif
