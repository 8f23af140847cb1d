/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "report/html/html.h"
#include "report/markdown.h"
#include "report/wrap.h"

enum { GAP = 2, NARROWEST_FIRST_COLUMN = 24, LAST_INDENT = 40 };

struct sp_cell {
    size_t begin; /* in the table's text; the next cell's begin is its end */
    enum sp_color color;
};

/* A line that is being written: blanks are only written in front of something. */
struct line {
    struct sp_text *out;
    size_t column;
    bool color;
};

struct sp_text *sp_table_cell(struct sp_table *table)
{
    SP_GROW(table->cells, table->count, table->capacity);
    table->cells[table->count++] = (struct sp_cell){.begin = table->text.length};
    return &table->text;
}

void sp_table_color(struct sp_table *table, enum sp_color color) { table->cells[table->count - 1].color = color; }

void sp_table_free(struct sp_table *table)
{
    sp_text_free(&table->text);
    sp_free(table->cells);
    *table = (struct sp_table){0};
}

/* What was appended since the cell was started. */
static const char *cell_text(const struct sp_table *table, size_t index, size_t *length)
{
    const size_t end = index + 1 < table->count ? table->cells[index + 1].begin : table->text.length;
    *length = end - table->cells[index].begin;
    return *length ? table->text.data + table->cells[index].begin : "";
}

const char *sp_table_cell_text(const struct sp_table *table, size_t index, size_t *length, enum sp_color *color)
{
    *color = table->cells[index].color;
    return cell_text(table, index, length);
}

static size_t cell_width(const struct sp_table *table, size_t index)
{
    size_t length;
    const char *text = cell_text(table, index, &length);
    return sp_text_columns(text, length);
}

/* Each column is as wide as the widest of its cells. */
static void widen_columns(struct sp_table *table)
{
    struct sp_table_layout *layout = &table->layout;
    for (size_t i = 0; i < table->count; i++) {
        const size_t column = i % table->column_count, width = cell_width(table, i);
        if (width) layout->shown[column] = true;
        if (width > layout->width[column]) layout->width[column] = width;
        if (column) continue;
        layout->rows++;
        layout->rows_of_width[width < SP_TABLE_WIDEST ? width : SP_TABLE_WIDEST - 1]++;
    }
}

/* And as wide as its title. */
static void fit_titles(struct sp_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const char *title = table->columns[i].title;
        const size_t width = title && table->layout.shown[i] ? strlen(title) : 0;
        if (width > table->layout.width[i]) table->layout.width[i] = width;
    }
}

/* A few names that are far longer than the others must not push all the rest out of sight: the first column is as wide
 * as nine tenths of its cells need. */
static void ignore_outliers(struct sp_table_layout *layout)
{
    size_t allowed = layout->rows / 10;
    if (layout->width[0] >= SP_TABLE_WIDEST) layout->width[0] = SP_TABLE_WIDEST - 1;
    size_t width = layout->width[0];
    for (; width && layout->rows_of_width[width] <= allowed; width--) allowed -= layout->rows_of_width[width];
    if (layout->width[0] > width + NARROWEST_FIRST_COLUMN) layout->width[0] = width;
}

/* The last column does not count when it is aligned to the left: text that nothing follows may wrap. */
static void narrow(struct sp_table *table, size_t limit)
{
    struct sp_table_layout *layout = &table->layout;
    size_t others = 0;
    for (size_t i = 1; i < table->column_count; i++)
        if (layout->shown[i] && (i + 1 < table->column_count || table->columns[i].alignment == SP_RIGHT))
            others += layout->width[i] + GAP;
    layout->wraps = limit != 0;
    if (!limit || layout->width[0] + others <= limit) return;
    const size_t left = limit > others ? limit - others : 0;
    const size_t least = left > NARROWEST_FIRST_COLUMN ? left : NARROWEST_FIRST_COLUMN;
    if (least < layout->width[0]) layout->width[0] = least;
}

/* Where each column that is shown begins. */
static void place(struct sp_table *table)
{
    struct sp_table_layout *layout = &table->layout;
    size_t at = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!layout->shown[i]) continue;
        layout->start[i] = at;
        at += layout->width[i] + GAP;
    }
}

/* `width` is in columns, `length` in bytes. A cell whose place is taken, as by a title that is wider than its column,
 * stands behind what is there. */
static void write_cell(struct line *line, size_t column, const char *text, size_t length, size_t width,
                       enum sp_color color)
{
    if (column < line->column) column = line->column + GAP;
    sp_text_pad(line->out, column - line->column);
    sp_color_begin(line->out, line->color, color);
    sp_text_append(line->out, text, length);
    sp_color_end(line->out, line->color, color);
    line->column = column + width;
}

/* Where a text of that width begins in column `i`. */
static size_t start_of(const struct sp_table *table, size_t i, size_t width)
{
    const struct sp_table_layout *layout = &table->layout;
    const bool right = table->columns[i].alignment == SP_RIGHT && width < layout->width[i];
    return layout->start[i] + (right ? layout->width[i] - width : 0);
}

/* Above the table; nothing for one without titles. */
static void write_titles(const struct sp_table *table, struct line line)
{
    if (!table->columns[0].title) return;
    for (size_t i = 0; i < table->column_count; i++) {
        const char *title = table->columns[i].title;
        if (!table->layout.shown[i] || !title || !*title) continue;
        const size_t width = strlen(title);
        write_cell(&line, start_of(table, i, width), title, width, width, SP_COLOR_DIM);
    }
    sp_text_puts(line.out, "\n");
}

/* The last cell of a row, in words. What has no room behind the others, and would be torn apart at the end of their
 * line, begins one of its own. */
static void write_words(struct line *line, size_t column, const char *text, size_t length, size_t columns)
{
    if (column > LAST_INDENT && column + columns > SP_LINE_COLUMNS) {
        sp_text_puts(line->out, "\n");
        line->column = 0;
        column = LAST_INDENT;
    }
    write_cell(line, column, text, length, columns, SP_COLOR_NONE);
    sp_wrap(line->out, line->out->length - length, column < LAST_INDENT ? column : LAST_INDENT);
}

/* Behind a first cell that is too wide, the rest moves to the right, or goes on in the next line. */
static void write_row(const struct sp_table *table, size_t first, struct line line)
{
    const struct sp_table_layout *layout = &table->layout;
    const size_t width = cell_width(table, first);
    size_t excess = width > layout->width[0] ? width - layout->width[0] : 0;
    for (size_t i = 0; i < table->column_count; i++) {
        size_t length;
        const char *text = cell_text(table, first + i, &length);
        if (!length) continue;
        if (i && excess && layout->wraps) {
            sp_text_puts(line.out, "\n");
            line.column = excess = 0;
        }
        const size_t columns = sp_text_columns(text, length), column = start_of(table, i, columns) + (i ? excess : 0);
        if (table->prose && i + 1 == table->column_count) write_words(&line, column, text, length, columns);
        else write_cell(&line, column, text, length, columns, table->cells[first + i].color);
    }
    sp_text_puts(line.out, "\n");
}

/* ---- Markdown ---- */

/* The titles, and the line below them that makes the lines a table. */
static void write_markdown_titles(const struct sp_table *table, struct sp_text *out)
{
    sp_text_puts(out, "|");
    for (size_t i = 0; i < table->column_count; i++)
        if (table->layout.shown[i]) sp_markdown_cell(out, table->columns[i].title ? table->columns[i].title : "");
    sp_text_puts(out, "\n|");
    for (size_t i = 0; i < table->column_count; i++)
        if (table->layout.shown[i]) sp_text_puts(out, table->columns[i].alignment == SP_RIGHT ? "--:|" : "---|");
    sp_text_puts(out, "\n");
}

static void write_markdown_row(const struct sp_table *table, size_t first, struct sp_text *out)
{
    sp_text_puts(out, "|");
    for (size_t i = 0; i < table->column_count; i++) {
        struct sp_text cell = {0};
        size_t length;
        const char *text = cell_text(table, first + i, &length);
        if (!table->layout.shown[i]) continue;
        sp_text_append(&cell, text, length);
        sp_markdown_cell(out, length ? cell.data : "");
        sp_text_free(&cell);
    }
    sp_text_puts(out, "\n");
}

/* ---- all of it ---- */

static void forget_rows(struct sp_table *table) { table->count = table->text.length = 0; }

void sp_table_measure(struct sp_table *table)
{
    widen_columns(table);
    forget_rows(table);
}

void sp_table_begin(struct sp_table *table, struct sp_text *out, const struct shapeproof_report_options *options)
{
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        if (table->layout.rows) write_markdown_titles(table, out);
        return;
    }
    ignore_outliers(&table->layout);
    fit_titles(table);
    narrow(table, options->width);
    place(table);
    if (table->layout.rows) write_titles(table, (struct line){out, 0, options->color});
}

void sp_table_flush(struct sp_table *table, struct sp_text *out, const struct shapeproof_report_options *options)
{
    for (size_t i = 0; i < table->count; i += table->column_count)
        if (options->format == SHAPEPROOF_REPORT_MARKDOWN) write_markdown_row(table, i, out);
        else write_row(table, i, (struct line){out, 0, options->color});
    forget_rows(table);
}

void sp_table_render(struct sp_table *table, struct sp_text *out, const struct shapeproof_report_options *options)
{
    assert(table->column_count && table->column_count <= SP_TABLE_COLUMNS && table->count % table->column_count == 0);
    if (options->format == SHAPEPROOF_REPORT_HTML) {
        sp_html_table(table, out);
        return;
    }
    widen_columns(table);
    sp_table_begin(table, out, options);
    sp_table_flush(table, out, options);
    sp_table_free(table);
}
