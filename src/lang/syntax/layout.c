/* SPDX-License-Identifier: MIT
 * Cells to columns, in four steps, each of which works on neighbours: where values and shapes begin; the lines that are
 * made of them; where what is said behind a shape begins; and where comments do. */
#include "lang/syntax/layout.h"

#include <stdlib.h>
#include <string.h>

enum {
    GAP = 3,    /* blanks in front of a column */
    LINE = 120, /* columns that a line has at most, where there is a place to break it */
    FAR = 24,   /* a few lines that are so much longer than the others move no column */
    MAX_BRACKETS = 64
};

/* A statement on its way. */
struct laid {
    const struct sp_statement *statement;
    const char *code; /* its lines: as cells, but that SP_CELL_BREAK is followed by its blanks */
};

struct layout {
    struct laid *items;
    size_t count;
    struct sp_arena *arena;
    size_t *widths; /* room for one for each line */
};

static size_t columns_of(const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; i++) columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

static size_t width_of(const char *text) { return columns_of(text, strlen(text)); }

/* The last of its lines. */
static const char *last_line_of(const char *code)
{
    const char *last = strrchr(code, SP_CELL_BREAK);
    return last ? last + 1 : code;
}

static int width_by_size(const void *a, const void *b)
{
    const size_t one = *(const size_t *)a, other = *(const size_t *)b;
    return (one > other) - (one < other);
}

/* The largest of the widths, but of a few that are far larger than all others. */
static size_t common_width(size_t *widths, size_t count)
{
    if (!count) return 0;
    qsort(widths, count, sizeof *widths, width_by_size);
    for (size_t i = 1; i < count; i++)
        if (widths[i] - widths[i - 1] > FAR && (count - i) * 3 <= i) return widths[i - 1];
    return widths[count - 1];
}

/* ---- lines ---- */

struct pen {
    struct sp_text *out;
    size_t column, depth;
    size_t open[MAX_BRACKETS]; /* columns behind the brackets that are open */
};

static void put_blanks(struct pen *pen, size_t column)
{
    const size_t blanks = column > pen->column ? column - pen->column : 0;
    sp_text_pad(pen->out, blanks);
    pen->column += blanks;
}

static void break_line(struct pen *pen)
{
    const size_t depth = pen->depth < MAX_BRACKETS ? pen->depth : MAX_BRACKETS;
    sp_text_puts(pen->out, "\n");
    pen->column = 0;
    put_blanks(pen, depth ? pen->open[depth - 1] : 0);
}

static void put_character(struct pen *pen, char c)
{
    if (strchr("([{", c) && pen->depth++ < MAX_BRACKETS) pen->open[pen->depth - 1] = pen->column + 1;
    if (strchr(")]}", c) && pen->depth) pen->depth--;
    sp_text_append(pen->out, &c, 1);
    pen->column += columns_of(&c, 1);
}

/* As many characters as they are, without a look at them. */
static size_t put_verbatim(struct pen *pen, const char *p, size_t length)
{
    sp_text_append(pen->out, p, length);
    pen->column += columns_of(p, length);
    return length;
}

/* The quote that closes the one at `p`; NULL when that is part of a name: a text is on one line and has no marks. */
static const char *end_of_text(const char *p)
{
    static const char ends[] = {'"', SP_CELL_COMMA, SP_CELL_BREAK, SP_CELL_COMMENT, '\0'};
    p += 1 + strcspn(p + 1, ends);
    return *p == '"' ? p : NULL;
}

/* How much stands up to the next place for a break: of a list, all of it. */
static size_t length_of_item(const char *item)
{
    static const char ends[] = {SP_CELL_BREAK, SP_CELL_COMMENT, '\0'};
    const char *p = item;
    for (size_t depth = 0; *p && !strchr(ends, *p) && (depth || *p != SP_CELL_COMMA); p++) {
        const char *quote = *p == '"' ? end_of_text(p) : NULL;
        if (quote) p = quote;
        else if (strchr("([{", *p)) depth++;
        else if (strchr(")]}", *p) && depth) depth--;
    }
    return (size_t)(p - item);
}

/* Whether what stands behind the comma begins a line: as much as cannot be broken, and of a list all of it. */
static bool is_break_due(const struct pen *pen, const char *item)
{
    static const char ends[] = {SP_CELL_COMMA, SP_CELL_BREAK, SP_CELL_COMMENT, '\0'};
    const size_t length = *item == '[' ? length_of_item(item) : strcspn(item, ends);
    return pen->column + 1 + columns_of(item, length) > LINE;
}

/* A cell, whose lines are broken behind a comma where they would be too long. */
static void put_cell(struct pen *pen, const char *cell)
{
    for (const char *p = cell; *p;) {
        const char *quote = *p == '"' ? end_of_text(p) : NULL;
        if (*p == SP_CELL_COMMENT) p += put_verbatim(pen, p, strcspn(p, "\n"));
        else if (quote) p += put_verbatim(pen, p, (size_t)(quote - p) + 1);
        else {
            if (*p == SP_CELL_BREAK) break_line(pen);
            else if (*p != SP_CELL_COMMA) put_character(pen, *p);
            else if (p[1] && is_break_due(pen, p + 1)) break_line(pen);
            else put_character(pen, ' ');
            p++;
        }
    }
}

/* ---- the columns of values and shapes ---- */

static bool is_line(const struct laid *laid, enum sp_line_kind kind)
{
    return laid->statement->kind == SP_STATEMENT_LINE && laid->statement->line == kind;
}

/* Where the lines end that are like the one at `first` and directly below it. */
static size_t end_of_run(const struct layout *layout, size_t first)
{
    size_t end = first + 1;
    while (end < layout->count && is_line(&layout->items[first], layout->items[end].statement->line) &&
           is_line(&layout->items[end], layout->items[end].statement->line))
        end++;
    return end;
}

static size_t end_of_unit(const struct layout *layout, size_t first)
{
    size_t end = first + 1;
    while (end < layout->count && !is_line(&layout->items[end], SP_LINE_UNIT)) end++;
    return end;
}

/* Whether the row has the place it needs with its shape at that column. One that is broken already never has; of one
 * whose name is longer than the column, the shape stands behind the name, wherever the column is. */
static bool row_fits(const struct sp_statement *row, size_t column)
{
    const size_t tail = *row->cells[2] ? GAP + width_of(row->cells[2]) : 0;
    if (width_of(last_line_of(row->cells[0])) > column) return true;
    if (strchr(row->cells[1], SP_CELL_BREAK) || strchr(row->cells[2], SP_CELL_BREAK)) return false;
    return column + GAP + width_of(row->cells[1]) + tail <= LINE;
}

/* The first two cells, with the second one at that column, or at its own when that is behind it. */
static void lay_cells(struct layout *layout, struct laid *laid, size_t column, size_t gap)
{
    struct sp_text out = {0};
    struct pen pen = {.out = &out};
    put_cell(&pen, laid->statement->cells[0]);
    pen.depth = 0; /* names may hold what looks like a bracket */
    if (*laid->statement->cells[1]) {
        put_blanks(&pen, column);
        sp_text_pad(&out, gap);
        pen.column += gap;
        put_cell(&pen, laid->statement->cells[1]);
    }
    laid->code = sp_text_keep(&out, layout->arena);
}

/* Where the second cells of the lines of that kind in [from, to) begin. */
static size_t second_column(struct layout *layout, size_t from, size_t to, enum sp_line_kind kind)
{
    size_t count = 0;
    for (size_t i = from; i < to; i++)
        if (is_line(&layout->items[i], kind))
            layout->widths[count++] = width_of(last_line_of(layout->items[i].statement->cells[0]));
    return common_width(layout->widths, count);
}

/* Neighbours, of which none is too long, stand in the column of their table; others have one of their own. */
static void lay_rows(struct layout *layout, size_t from, size_t to, size_t column)
{
    for (size_t i = from; i < to; i++)
        if (!row_fits(layout->items[i].statement, column)) column = second_column(layout, from, i = to, SP_LINE_ROW);
    for (size_t i = from; i < to; i++) lay_cells(layout, &layout->items[i], column, GAP);
}

/* Rows share a column in the whole of their table or part, definitions with their neighbours. */
static void lay_unit(struct layout *layout, size_t from, size_t to)
{
    const size_t shapes = second_column(layout, from, to, SP_LINE_ROW);
    for (size_t i = from, end; i < to; i = end) {
        end = end_of_run(layout, i);
        if (is_line(&layout->items[i], SP_LINE_ROW)) {
            lay_rows(layout, i, end, shapes);
            continue;
        }
        const size_t column = second_column(layout, i, end, SP_LINE_DEFINITION);
        for (size_t k = i; k < end; k++) lay_cells(layout, &layout->items[k], column, 1);
    }
}

/* ---- what stands behind a shape ---- */

/* Whether text of that width stands at its own end, since it is too long for the column or the line is. */
static bool stands_behind(size_t end, size_t column, size_t width)
{
    return end > column || (column + GAP + width > LINE && end + GAP + width <= LINE);
}

static void lay_tail(struct layout *layout, struct laid *laid, size_t column)
{
    const char *tail = laid->statement->cells[2];
    struct sp_text out = {0};
    struct pen pen = {.out = &out, .column = width_of(last_line_of(laid->code))};
    const bool behind = stands_behind(pen.column, column, columns_of(tail, strcspn(tail, "\n")));
    sp_text_puts(&out, laid->code);
    put_blanks(&pen, behind ? 0 : column);
    sp_text_pad(&out, GAP);
    pen.column += GAP;
    put_cell(&pen, tail);
    laid->code = sp_text_keep(&out, layout->arena);
}

static void lay_tails(struct layout *layout, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t i = from; i < to; i++)
        if (*layout->items[i].statement->cells[2])
            layout->widths[count++] = width_of(last_line_of(layout->items[i].code));
    const size_t column = common_width(layout->widths, count);
    for (size_t i = from; i < to; i++)
        if (*layout->items[i].statement->cells[2]) lay_tail(layout, &layout->items[i], column);
}

/* ---- comments ---- */

/* The next line of code, which ends where a comment may begin; NULL behind the last one. */
static const char *next_line(const char *code, size_t *length, const char **comment, size_t *comment_length)
{
    static const char ends[] = {SP_CELL_BREAK, SP_CELL_COMMENT, '\0'};
    *length = strcspn(code, ends);
    *comment = code[*length] == SP_CELL_COMMENT ? code + *length + 1 : NULL;
    *comment_length = *comment ? strcspn(*comment, "\n") : 0;
    const char *end = *comment ? *comment + *comment_length : code + *length;
    return *end ? end + 1 : NULL;
}

/* Calls `use` for each line of the statements in [from, to). */
static void each_line(struct layout *layout, size_t from, size_t to, void *context,
                      void (*use)(void *context, const char *code, size_t length, const char *comment, size_t size))
{
    for (size_t i = from; i < to; i++)
        for (const char *code = layout->items[i].code, *next; code; code = next) {
            const char *comment;
            size_t length, size;
            next = next_line(code, &length, &comment, &size);
            if (!next && *layout->items[i].statement->comment) {
                comment = layout->items[i].statement->comment;
                size = strlen(comment);
            }
            use(context, code, length, comment, size);
        }
}

struct commented {
    size_t *widths;
    size_t count, column;
    struct sp_text *out;
};

static void note_width(void *context, const char *code, size_t length, const char *comment, size_t size)
{
    struct commented *lines = context;
    (void)size;
    if (comment && strspn(code, " ") < length) lines->widths[lines->count++] = columns_of(code, length);
}

static void write_line(void *context, const char *code, size_t length, const char *comment, size_t size)
{
    const struct commented *lines = context;
    const size_t width = columns_of(code, length);
    sp_text_append(lines->out, code, length);
    if (comment && strspn(code, " ") < length) {
        const bool behind = stands_behind(width, lines->column, columns_of(comment, size));
        sp_text_pad(lines->out, GAP + (behind ? 0 : lines->column - width));
    }
    if (comment) sp_text_append(lines->out, comment, size);
    sp_text_puts(lines->out, "\n");
}

static void write_run(struct layout *layout, size_t from, size_t to, struct sp_text *out)
{
    struct commented lines = {.widths = layout->widths, .out = out};
    each_line(layout, from, to, &lines, note_width);
    lines.column = common_width(lines.widths, lines.count);
    each_line(layout, from, to, &lines, write_line);
}

/* ---- all of it ---- */

/* One blank line stands for several; none at the beginning and the end. */
static void start_layout(struct layout *layout, const struct sp_statements *statements)
{
    size_t lines = 0;
    layout->items = sp_arena_array(layout->arena, statements->count, sizeof *layout->items);
    for (size_t i = 0; i < statements->count; i++) {
        const struct sp_statement *statement = &statements->items[i];
        const bool blank = statement->kind == SP_STATEMENT_BLANK;
        const size_t last = layout->count;
        if (blank && (!last || layout->items[last - 1].statement->kind == SP_STATEMENT_BLANK)) continue;
        layout->items[layout->count++].statement = statement;
        for (size_t k = 0; k < 3; k++) lines += 1 + strlen(statement->cells[k]); /* more than can be broken off */
    }
    if (layout->count && layout->items[layout->count - 1].statement->kind == SP_STATEMENT_BLANK) layout->count--;
    layout->widths = sp_realloc(NULL, lines + 1, sizeof *layout->widths);
}

void sp_layout(const struct sp_statements *statements, struct sp_arena *arena, struct sp_text *out)
{
    struct layout layout = {.arena = arena};
    start_layout(&layout, statements);
    for (size_t i = 0, end; i < layout.count; i = end) lay_unit(&layout, i, end = end_of_unit(&layout, i));
    for (size_t i = 0, end; i < layout.count; i = end) {
        end = end_of_run(&layout, i);
        lay_tails(&layout, i, end);
        write_run(&layout, i, end, out);
    }
    sp_free(layout.widths);
}
