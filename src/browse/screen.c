/* SPDX-License-Identifier: MIT */
#include "browse/screen.h"

#include <stdlib.h>
#include <string.h>

#include "report/table.h"

/* Lines above and below the rows of the tree. */
enum { HEAD = 3, FOOT = 1 };

/* ---- texts ---- */

/* Where the text ends, in bytes, if it is cut to that many columns. */
static size_t end_of_columns(const char *text, size_t length, size_t columns)
{
    size_t i = 0;
    for (size_t seen = 0; i < length; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80 && seen++ == columns) break;
    return i;
}

/* Puts a text on the screen, and empties it: cut with "..." if it has more columns than there is room for, and with
 * blanks in front of it if it is to end at the right. */
static void put_span(struct sp_browse_frame *frame, size_t line, size_t column, size_t columns,
                     enum sp_alignment alignment, unsigned style, struct sp_text *text)
{
    static const char dots[] = "...";
    if (text->length && columns) {
        if (!frame->unicode) sp_make_ascii(text);
        const size_t width = sp_text_columns(text->data, text->length);
        const size_t room = width > columns ? columns - (columns > strlen(dots) ? strlen(dots) : 0) : columns;
        const size_t begin = frame->text.length;
        if (alignment == SP_RIGHT && width < columns) sp_text_pad(&frame->text, columns - width);
        sp_text_append(&frame->text, text->data, end_of_columns(text->data, text->length, room));
        if (width > columns && columns > strlen(dots)) sp_text_puts(&frame->text, dots);
        sp_text_append(&frame->text, "", 1); /* its NUL */
        *SP_PUSH(&frame->spans) =
            (struct sp_browse_span){.line = line, .column = column, .columns = columns, .style = style, .begin = begin};
    }
    text->length = 0;
}

/* The whole line, in that style to its end. */
static void put_line(struct sp_browse_frame *frame, size_t line, unsigned style, struct sp_text *text)
{
    sp_text_puts(text, "");
    const size_t width = sp_text_columns(text->data, text->length);
    if (style & SP_STYLE_REVERSE && width < frame->columns) sp_text_pad(text, frame->columns - width);
    put_span(frame, line, 0, frame->columns, SP_LEFT, style, text);
}

/* ---- the head ---- */

static const char *order_name(enum sp_name_order order)
{
    static const char *const names[] = {[SP_NAMES_BY_POSITION] = "as in the file",
                                        [SP_NAMES_BY_COMPONENT] = "by name",
                                        [SP_NAMES_BY_BYTES] = "by bytes",
                                        [SP_NAMES_BY_PARAMETERS] = "by parameters",
                                        [SP_NAMES_BY_TENSORS] = "by tensors"};
    return names[order];
}

/* What stands at the right of the title: how the lines are in order, as far as there is room for it. */
static void put_order(const struct sp_browser *browser, size_t columns, struct sp_text *text)
{
    static const char help[] = "  ?: help ", merged[] = ", equal layers merged";
    sp_text_puts(text, order_name(browser->order));
    if (browser->is_merged && text->length + strlen(merged) + strlen(help) <= columns) sp_text_puts(text, merged);
    if (text->length + strlen(help) > columns) text->length = 0;
    sp_text_puts(text, help);
}

/* "model/: safetensors, 2 shards" */
static void put_title(const struct sp_browser *browser, struct sp_browse_frame *frame)
{
    const size_t files = shapeproof_inventory_file_count(browser->inventory);
    struct sp_text left = {0}, right = {0};
    sp_text_puts(&left, " ");
    sp_put_visible(&left, shapeproof_inventory_path(browser->inventory));
    sp_text_printf(&left, ": %s", shapeproof_inventory_format(browser->inventory));
    if (files > 1) {
        sp_text_puts(&left, ", ");
        sp_put_count(&left, files, "shard", "shards");
    }
    const size_t width = sp_text_columns(left.data, left.length);
    put_order(browser, width < frame->columns ? frame->columns - width : 0, &right);
    const size_t room = frame->columns - right.length; /* which is ASCII, and shorter than the narrowest screen */
    if (width < room) sp_text_pad(&left, room - width);
    put_span(frame, 0, 0, room, SP_LEFT, SP_COLOR_BOLD | SP_STYLE_REVERSE, &left);
    put_span(frame, 0, room, right.length, SP_LEFT, SP_STYLE_REVERSE, &right);
    sp_text_free(&left);
    sp_text_free(&right);
}

/* "differs: ...", or why there is no verdict. */
static unsigned put_verdict(const struct sp_browser *browser, struct sp_text *text)
{
    static const enum sp_color colors[] = {[SHAPEPROOF_VERDICT_MATCH] = SP_COLOR_GREEN,
                                           [SHAPEPROOF_VERDICT_EXPLAINED] = SP_COLOR_GREEN,
                                           [SHAPEPROOF_VERDICT_DIFFERS] = SP_COLOR_RED,
                                           [SHAPEPROOF_VERDICT_UNKNOWN] = SP_COLOR_YELLOW};
    if (!browser->check) {
        sp_text_puts(text, "not checked: ");
        sp_put_visible(text, browser->no_check);
        return SP_COLOR_DIM;
    }
    const enum shapeproof_verdict verdict = shapeproof_check_verdict(browser->check);
    sp_text_printf(text, "%s: ", shapeproof_verdict_name(verdict));
    sp_put_visible(text, shapeproof_check_headline(browser->check));
    return colors[verdict];
}

/* ---- the rows ---- */

/* Which columns a screen has room for: the name gets what they leave. 0 for a column that is left out. Each but the
 * first has a blank in front of it. */
struct columns {
    size_t mark, name, tensors, dtype, shape, parameters, bytes, bar, share;
};

static struct columns columns_of(size_t columns)
{
    struct columns of = {.mark = 2, .parameters = 9, .bytes = 11};
    if (columns >= 54) of.share = 7;
    if (columns >= 60) of.bar = 6;
    if (columns >= 76) of.tensors = 8;
    if (columns >= 80) of.dtype = 9;
    if (columns >= 100) of.bar = 11;
    if (columns >= 120) of.shape = 17;
    if (columns >= 160) of.bar = 21;
    of.name = columns - of.mark - of.tensors - of.dtype - of.shape - of.parameters - of.bytes - of.bar - of.share;
    return of;
}

/* Puts a cell behind the blank of its column, and moves on; a column that is left out drops the text. */
static void put_cell(struct sp_browse_frame *frame, size_t line, size_t *column, size_t columns,
                     enum sp_alignment alignment, unsigned style, struct sp_text *text)
{
    if (columns) put_span(frame, line, *column + 1, columns - 1, alignment, style, text);
    text->length = 0;
    *column += columns;
}

static void put_headings(const struct sp_browser *browser, struct sp_browse_frame *frame)
{
    const struct columns of = columns_of(frame->columns);
    const bool by_parameters = browser->order == SP_NAMES_BY_PARAMETERS;
    const size_t widths[] = {of.tensors, of.dtype, of.shape, of.parameters, of.bytes, of.bar + of.share};
    static const char *const titles[] = {"tensors", "dtype", "shape", "params", "bytes"};
    struct sp_text text = {0};
    size_t column = of.mark;
    sp_text_puts(&text, "name");
    put_span(frame, HEAD - 1, column, of.name, SP_LEFT, SP_COLOR_DIM, &text);
    column += of.name;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const bool is_text = widths + i == &widths[1] || widths + i == &widths[2];
        if (i < sizeof titles / sizeof *titles) sp_text_puts(&text, titles[i]);
        else if (of.bar + of.share >= 18) sp_text_puts(&text, by_parameters ? "share of params" : "share of bytes");
        else sp_text_puts(&text, "share");
        put_cell(frame, HEAD - 1, &column, widths[i], is_text ? SP_LEFT : SP_RIGHT, SP_COLOR_DIM, &text);
    }
    sp_text_free(&text);
}

/* The worst of the findings in a node: its letter and colour. */
static unsigned put_mark(const struct sp_browse_node *node, struct sp_text *text)
{
    static const struct {
        const char *letter;
        enum sp_color color;
    } marks[] = {[SHAPEPROOF_SEVERITY_NOTE] = {"n", SP_COLOR_DIM},
                 [SHAPEPROOF_SEVERITY_WARNING] = {"W", SP_COLOR_YELLOW},
                 [SHAPEPROOF_SEVERITY_ERROR] = {"E", SP_COLOR_RED}};
    for (size_t i = SHAPEPROOF_SEVERITY_ERROR + 1; i-- > 0;)
        if (node->findings[i]) {
            sp_text_puts(text, marks[i].letter);
            return marks[i].color;
        }
    return SP_COLOR_NONE;
}

static void put_dtypes(const struct sp_browser *browser, const struct sp_browse_node *node, struct sp_text *text)
{
    const char *comma = "";
    for (size_t i = 0; i < browser->dtype_count; i++)
        if (node->dtypes >> i & 1) {
            sp_text_puts(text, comma);
            sp_put_visible(text, browser->dtype_names[i]);
            comma = ",";
        }
}

static void put_shape(const struct shapeproof_tensor *tensor, struct sp_text *text)
{
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) sp_text_puts(text, "none");
    else sp_put_shape(text, tensor->shape, tensor->rank);
}

/* "12.5%" */
static void put_percent(struct sp_text *text, uint64_t part, uint64_t whole)
{
    const unsigned tenths = whole ? (unsigned)((double)part / (double)whole * 1000 + 0.5) : 0;
    sp_text_printf(text, "%u.%u%%", tenths / 10, tenths % 10);
}

/* "  v model.layers.{0-31}" */
static void put_row_name(const struct sp_browser *browser, const struct sp_browse_frame *frame,
                         const struct sp_browse_item *item, struct sp_text *text)
{
    enum { DEEPEST = 20 }; /* more indentation would leave no room for the name */
    const bool is_open = browser->nodes[item->node->index].is_open;
    sp_text_pad(text, 2 * (item->depth < DEEPEST ? item->depth : DEEPEST));
    if (item->node->tensor) sp_text_puts(text, "  ");
    else if (frame->unicode) sp_text_puts(text, is_open ? "\u25be " : "\u25b8 ");
    else sp_text_puts(text, is_open ? "- " : "+ ");
    const size_t begin = text->length;
    for (const struct sp_name_node *node = item->first; node; node = sp_name_node_joined(node)) {
        sp_put_name_node(text, node);
        if (node != item->node) sp_text_append(text, node->name + node->end, 1);
    }
    if (text->length == begin) sp_text_puts(text, "\"\"");
}

static void put_row(const struct sp_browser *browser, struct sp_browse_frame *frame, size_t row, size_t line)
{
    const struct sp_browse_item *item = &browser->items[browser->rows[row]];
    const struct sp_name_node *node = item->node;
    const struct shapeproof_tensor *tensor = node->tensor;
    const struct sp_browse_node *known = &browser->nodes[node->index];
    const struct columns of = columns_of(frame->columns);
    const bool is_selected = row == browser->cursor;
    const bool by_parameters = browser->order == SP_NAMES_BY_PARAMETERS;
    const uint64_t times = node->folded;
    const struct sp_name_node *root = &browser->tree.root;
    const uint64_t part = by_parameters ? node->parameters * times : sp_times_folded(node->bytes, node),
                   whole = by_parameters ? root->parameters : root->bytes;
    const unsigned reverse = is_selected ? SP_STYLE_REVERSE : 0, plain = (node->tensors ? 0 : SP_COLOR_DIM) | reverse;
    struct sp_text text = {0};
    size_t column = of.mark;
    if (is_selected) put_line(frame, line, reverse, &text); /* under the cells: the whole line is in reverse */
    const unsigned mark = put_mark(known, &text);
    put_span(frame, line, 0, 1, SP_LEFT, mark | reverse, &text);
    put_row_name(browser, frame, item, &text);
    put_span(frame, line, column, of.name, SP_LEFT,
             (item->is_match ? SP_COLOR_YELLOW
              : tensor       ? (mark == SP_COLOR_DIM ? 0 : mark)
                             : SP_COLOR_BOLD) |
                 reverse,
             &text);
    column += of.name;
    if (!tensor || times > 1) sp_text_grouped(&text, node->tensors * times);
    put_cell(frame, line, &column, of.tensors, SP_RIGHT, plain, &text);
    put_dtypes(browser, known, &text);
    put_cell(frame, line, &column, of.dtype, SP_LEFT, plain, &text);
    if (tensor) put_shape(tensor, &text);
    put_cell(frame, line, &column, of.shape, SP_LEFT, plain, &text);
    sp_put_short(&text, (tensor ? tensor->parameters : node->parameters) * times);
    put_cell(frame, line, &column, of.parameters, SP_RIGHT, plain, &text);
    if (!node->tensors) sp_text_puts(&text, "not stored");
    else if (tensor && !tensor->bytes && !shapeproof_dtype_bits(tensor->dtype)) sp_text_puts(&text, "?");
    else sp_put_bytes(&text, sp_times_folded(tensor ? tensor->bytes : node->bytes, node));
    put_cell(frame, line, &column, of.bytes, SP_RIGHT, plain, &text);
    if (of.bar) sp_put_bar(&text, part, whole, of.bar - 1, frame->unicode);
    put_cell(frame, line, &column, of.bar, SP_LEFT, SP_COLOR_GREEN | reverse, &text);
    put_percent(&text, part, whole);
    put_cell(frame, line, &column, of.share, SP_RIGHT, plain, &text);
    sp_text_free(&text);
}

/* ---- the foot ---- */

/* "21 tensors, 2,024 parameters, 7.9 KiB  |  9 errors, 1 note" */
static void put_totals(const struct sp_browser *browser, struct sp_text *text)
{
    const struct shapeproof_totals *totals = shapeproof_inventory_totals(browser->inventory);
    size_t counts[SHAPEPROOF_SEVERITY_ERROR + 1] = {0};
    const char *between = "  |  ";
    sp_put_count(text, totals->tensors, "tensor, ", "tensors, ");
    sp_put_count(text, totals->unique_parameters, "parameter, ", "parameters, ");
    sp_put_bytes(text, totals->bytes);
    for (size_t i = 0; browser->check && i < shapeproof_check_finding_count(browser->check); i++)
        counts[shapeproof_check_finding(browser->check, i)->severity]++;
    for (size_t i = SHAPEPROOF_SEVERITY_ERROR + 1; i-- > 0;) {
        if (!counts[i]) continue;
        const char *name = shapeproof_severity_name((enum shapeproof_severity)i);
        sp_text_puts(text, between);
        sp_text_grouped(text, counts[i]);
        sp_text_printf(text, " %s%s", name, counts[i] == 1 ? "" : "s");
        between = ", ";
    }
}

static void put_foot(const struct sp_browser *browser, struct sp_browse_frame *frame)
{
    struct sp_text text = {0};
    frame->has_cursor = browser->is_typing;
    if (browser->is_typing) {
        sp_text_puts(&text, "/");
        if (browser->query.length) sp_text_visible(&text, browser->query.data, browser->query.length);
        const size_t columns = sp_text_columns(text.data, text.length);
        frame->cursor_column = columns < frame->columns ? columns : frame->columns - 1;
    } else if (browser->page) sp_text_puts(&text, " q: back  arrows, space: scroll");
    else if (browser->message.length) sp_text_printf(&text, " %s", browser->message.data);
    else {
        sp_text_puts(&text, " ");
        put_totals(browser, &text);
    }
    put_line(frame, frame->lines - 1, SP_STYLE_REVERSE, &text);
    sp_text_free(&text);
}

/* ---- texts of several lines ---- */

/* Shows lines of a text, from the one of that number on, on at most `most` lines of the screen; returns how many lines
 * the text has, of which each that is too long for the screen counts as several. */
static size_t put_lines(struct sp_browse_frame *frame, const struct sp_text *lines, size_t from, size_t line,
                        size_t most)
{
    struct sp_text text = {0};
    size_t count = 0;
    for (size_t i = 0; i < lines->length; count++) {
        const size_t length = strcspn(lines->data + i, "\n"),
                     shown = end_of_columns(lines->data + i, length, frame->columns);
        if (count >= from && count - from < most) {
            sp_text_append(&text, lines->data + i, shown);
            put_span(frame, line + count - from, 0, frame->columns, SP_LEFT, SP_COLOR_NONE, &text);
        }
        i += shown + (shown == length);
    }
    sp_text_free(&text);
    return count;
}

/* Below the rows: the name of what is selected, and as much of what is known of it as there is room for. */
static void put_details(const struct sp_browser *browser, struct sp_browse_frame *frame, size_t line, size_t most)
{
    const struct sp_browse_item *item = sp_browser_selected(browser);
    struct sp_text text = {0};
    if (!most) return;
    sp_text_puts(&text, " ");
    if (item) sp_browser_put_name(&text, item->node);
    put_line(frame, line, SP_COLOR_BOLD | SP_STYLE_REVERSE, &text);
    if (item) sp_browser_put_details(browser, &text, frame->columns, frame->unicode);
    if (put_lines(frame, &text, 0, line + 1, most - 1) > most - 1 && item->node->tensor) {
        text.length = 0;
        sp_text_puts(&text, " Enter: more ");
        put_span(frame, line, frame->columns - text.length, text.length, SP_LEFT, SP_STYLE_REVERSE, &text);
    }
    sp_text_free(&text);
}

/* A page takes the place of verdict, rows and details. It is scrolled back if its end is above that of the screen. */
static void put_page(struct sp_browser *browser, struct sp_browse_frame *frame)
{
    const size_t most = frame->lines - FOOT - 1;
    struct sp_text text = {0};
    sp_browser_put_page(browser, &text, frame->columns, frame->unicode);
    const size_t count = put_lines(frame, &text, SIZE_MAX, 0, 0);
    const size_t last_top = count > most ? count - most : 0;
    if (browser->page_top > last_top) browser->page_top = last_top;
    put_lines(frame, &text, browser->page_top, 1, most);
    sp_text_free(&text);
}

/* ---- the whole ---- */

/* Lines of the details on a screen of that height: they leave most of it to the rows. */
static size_t lines_of_details(size_t lines) { return lines >= 30 ? 9 : lines >= 22 ? 6 : lines >= 14 ? 4 : 0; }

static void put_tree(struct sp_browser *browser, struct sp_browse_frame *frame)
{
    const size_t details = lines_of_details(frame->lines), height = frame->lines - HEAD - details - FOOT;
    struct sp_text text = {0};
    sp_browser_resize(browser, height);
    const unsigned style = put_verdict(browser, &text);
    put_line(frame, 1, style, &text);
    put_headings(browser, frame);
    for (size_t i = 0; i < height && browser->top + i < browser->row_count; i++)
        put_row(browser, frame, browser->top + i, HEAD + i);
    if (!browser->row_count) {
        sp_text_puts(&text, "  the file has no tensors");
        put_line(frame, HEAD, SP_COLOR_DIM, &text);
    }
    put_details(browser, frame, HEAD + height, details);
    sp_text_free(&text);
}

void sp_browser_draw(struct sp_browser *browser, struct sp_browse_frame *frame)
{
    struct sp_text text = {0};
    frame->text.length = frame->spans.count = 0;
    frame->has_cursor = false;
    if (frame->columns < SP_BROWSE_COLUMNS || frame->lines < SP_BROWSE_LINES) {
        sp_text_printf(&text, "needs %d x %d", SP_BROWSE_COLUMNS, SP_BROWSE_LINES);
        if (frame->lines) put_line(frame, 0, SP_COLOR_NONE, &text);
        sp_text_free(&text);
        return;
    }
    put_title(browser, frame);
    if (browser->page) put_page(browser, frame);
    else put_tree(browser, frame);
    put_foot(browser, frame);
}

void sp_browse_frame_free(struct sp_browse_frame *frame)
{
    sp_text_free(&frame->text);
    sp_free(frame->spans.items);
}
