/* SPDX-License-Identifier: MIT
 * A table of text: cells are appended row by row, the widths are found when it is rendered.
 *
 *     struct sp_table table = {.columns = columns, .column_count = 3};
 *     for (...) {
 *         sp_put_visible(sp_table_cell(&table), name);
 *         sp_put_shape(sp_table_cell(&table), shape, rank);
 *         sp_text_grouped(sp_table_cell(&table), count);
 *     }
 *     sp_table_render(&table, text, &options);
 *
 * A column without any text is left out with its title, and no line ends with a blank.
 *
 * A table that is too long to be held puts each row twice, first with sp_table_measure behind it; then, after
 * sp_table_begin, with sp_table_flush. */
#ifndef SP_REPORT_TABLE_H
#define SP_REPORT_TABLE_H

#include "report/common.h"
#include "shapeproof/report.h"

enum { SP_TABLE_COLUMNS = 12 }; /* the most that a table can have */
enum { SP_TABLE_WIDEST = 512 }; /* first cells that are wider count as one less */

enum sp_alignment { SP_LEFT, SP_RIGHT };

struct sp_column {
    const char *title; /* may be ""; NULL in every column for a table without a heading */
    enum sp_alignment alignment;
};

/* Where the columns are. */
struct sp_table_layout {
    size_t width[SP_TABLE_COLUMNS], start[SP_TABLE_COLUMNS];
    bool shown[SP_TABLE_COLUMNS];
    bool wraps; /* behind a first cell that is too long the row goes on in the next line, not in the same */
    size_t rows, rows_of_width[SP_TABLE_WIDEST]; /* that were measured; and by the width of their first cell */
};

struct sp_table {
    const struct sp_column *columns;
    size_t column_count;
    bool prose;          /* the last column has sentences, which are wrapped (wrap.h) */
    struct sp_text text; /* all cells, one after the other */
    struct sp_cell *cells;
    size_t count, capacity;
    struct sp_table_layout layout;
};

/* Starts the next cell (and a new row after the last column) and returns where its text is to be appended. What is
 * appended must be printable: escape what comes from outside. */
struct sp_text *sp_table_cell(struct sp_table *table);
/* The colour of the cell that was started last. */
void sp_table_color(struct sp_table *table, enum sp_color color);
/* The text of a cell, of *length bytes, and its colour. */
const char *sp_table_cell_text(const struct sp_table *table, size_t index, size_t *length, enum sp_color *color);
/* Appends the table, and frees it; under SHAPEPROOF_REPORT_HTML as a table of HTML, under SHAPEPROOF_REPORT_MARKDOWN as
 * one of Markdown. In text nothing is cut: behind a text in the first column that is far longer than most others, the
 * rest of its row is moved to the right. When options->width is given, the first column is narrowed until the rows fit,
 * and the rest of a row that does not is put on the next line. */
void sp_table_render(struct sp_table *table, struct sp_text *out, const struct shapeproof_report_options *options);
/* Measures the rows since the last call, and forgets them. */
void sp_table_measure(struct sp_table *table);
/* Appends the titles of the rows that were measured. */
void sp_table_begin(struct sp_table *table, struct sp_text *out, const struct shapeproof_report_options *options);
/* Appends the rows since the last call, and forgets them. */
void sp_table_flush(struct sp_table *table, struct sp_text *out, const struct shapeproof_report_options *options);
void sp_table_free(struct sp_table *table);

#endif
