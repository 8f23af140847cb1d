/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "report/wrap.h"

enum { GAP = 2, NARROWEST_FIRST_COLUMN = 24, WIDEST_COUNTED = 512, LAST_INDENT = 40 };

struct sp_cell {
    size_t begin; /* in the table's text; the next cell's begin is its end */
    size_t width; /* known once it is measured */
    enum sp_color color;
};

struct layout {
    size_t width[SP_TABLE_COLUMNS], start[SP_TABLE_COLUMNS];
    bool shown[SP_TABLE_COLUMNS];
    bool wraps; /* behind a first cell that is too long the row goes on in the next line, not in the same */
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
    free(table->cells);
    *table = (struct sp_table){0};
}

/* What was appended since the cell was started. */
static const char *cell_text(const struct sp_table *table, size_t index, size_t *length)
{
    const size_t end = index + 1 < table->count ? table->cells[index + 1].begin : table->text.length;
    *length = end - table->cells[index].begin;
    return *length ? table->text.data + table->cells[index].begin : "";
}

/* The width of each cell, and of each column as the widest of its cells and its title. */
static void measure(struct sp_table *table, struct layout *layout)
{
    for (size_t i = 0; i < table->count; i++) {
        size_t length;
        const char *text = cell_text(table, i, &length);
        const size_t column = i % table->column_count, width = sp_text_columns(text, length);
        table->cells[i].width = width;
        if (length) layout->shown[column] = true;
        if (width > layout->width[column]) layout->width[column] = width;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        const char *title = table->columns[i].title;
        const size_t width = title && layout->shown[i] ? strlen(title) : 0;
        if (width > layout->width[i]) layout->width[i] = width;
    }
}

/* A few names that are far longer than the others must not push all the rest out of sight: the first column is as wide
 * as nine tenths of its cells need. */
static void ignore_outliers(const struct sp_table *table, struct layout *layout)
{
    size_t cells_of_width[WIDEST_COUNTED] = {0}, allowed = table->count / table->column_count / 10;
    if (layout->width[0] >= WIDEST_COUNTED) layout->width[0] = WIDEST_COUNTED - 1;
    for (size_t i = 0; i < table->count; i += table->column_count)
        cells_of_width[table->cells[i].width < WIDEST_COUNTED ? table->cells[i].width : WIDEST_COUNTED - 1]++;
    size_t width = layout->width[0];
    for (; width && cells_of_width[width] <= allowed; width--) allowed -= cells_of_width[width];
    if (layout->width[0] > width + NARROWEST_FIRST_COLUMN) layout->width[0] = width;
}

/* The last column does not count when it is aligned to the left: text that nothing follows may wrap. */
static void narrow(const struct sp_table *table, struct layout *layout, size_t limit)
{
    size_t others = 0;
    for (size_t i = 1; i < table->column_count; i++)
        if (layout->shown[i] && (i + 1 < table->column_count || table->columns[i].right))
            others += layout->width[i] + GAP;
    layout->wraps = limit != 0;
    if (!limit || layout->width[0] + others <= limit) return;
    const size_t left = limit > others ? limit - others : 0;
    const size_t least = left > NARROWEST_FIRST_COLUMN ? left : NARROWEST_FIRST_COLUMN;
    if (least < layout->width[0]) layout->width[0] = least;
}

/* Where each column that is shown begins. */
static void place(const struct sp_table *table, struct layout *layout)
{
    size_t at = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!layout->shown[i]) continue;
        layout->start[i] = at;
        at += layout->width[i] + GAP;
    }
}

/* `width` is in columns, `length` in bytes. */
static void write_cell(struct line *line, size_t column, const char *text, size_t length, size_t width,
                       enum sp_color color)
{
    sp_text_pad(line->out, column - line->column);
    sp_color_begin(line->out, line->color, color);
    sp_text_append(line->out, text, length);
    sp_color_end(line->out, line->color, color);
    line->column = column + width;
}

/* Where a text of that width begins in column `i`. */
static size_t start_of(const struct sp_table *table, const struct layout *layout, size_t i, size_t width)
{
    const bool right = table->columns[i].right && width < layout->width[i];
    return layout->start[i] + (right ? layout->width[i] - width : 0);
}

/* Above the table; nothing for one without titles. */
static void write_titles(const struct sp_table *table, const struct layout *layout, struct line line)
{
    if (!table->columns[0].title) return;
    for (size_t i = 0; i < table->column_count; i++) {
        const char *title = table->columns[i].title;
        if (!layout->shown[i] || !title || !*title) continue;
        const size_t width = strlen(title);
        write_cell(&line, start_of(table, layout, i, width), title, width, width, SP_COLOR_DIM);
    }
    sp_text_puts(line.out, "\n");
}

/* Behind a first cell that is too wide, the rest moves to the right, or goes on in the next line. */
static void write_row(const struct sp_table *table, const struct layout *layout, size_t first, struct line line)
{
    const size_t width = table->cells[first].width;
    size_t excess = width > layout->width[0] ? width - layout->width[0] : 0;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct sp_cell *cell = &table->cells[first + i];
        size_t length;
        const char *text = cell_text(table, first + i, &length);
        if (!length) continue;
        if (i && excess && layout->wraps) {
            sp_text_puts(line.out, "\n");
            line.column = excess = 0;
        }
        const size_t column = start_of(table, layout, i, cell->width) + (i ? excess : 0);
        write_cell(&line, column, text, length, cell->width, cell->color);
        if (table->prose && i + 1 == table->column_count)
            sp_wrap(line.out, line.out->length - length, column < LAST_INDENT ? column : LAST_INDENT);
    }
    sp_text_puts(line.out, "\n");
}

void sp_table_render(struct sp_table *table, struct sp_text *out, const struct sp_report_options *options)
{
    assert(table->column_count && table->column_count <= SP_TABLE_COLUMNS && table->count % table->column_count == 0);
    struct layout layout = {0};
    measure(table, &layout);
    ignore_outliers(table, &layout);
    narrow(table, &layout, options->width);
    place(table, &layout);
    const struct line line = {out, 0, options->color};
    if (table->count) write_titles(table, &layout, line);
    for (size_t i = 0; i < table->count; i += table->column_count) write_row(table, &layout, i, line);
}
