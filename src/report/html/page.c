/* SPDX-License-Identifier: MIT
 * What all HTML reports have: head, verdict, sections, tables; and how text from outside gets into them. */
#include "report/html/html.h"

#include <string.h>

#include "shapeproof/shapeproof.h"

/* Printable text as the content of an element or of a quoted attribute. */
static void put_escaped(struct sp_text *html, const char *text, size_t length)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    if (!length) return;
    for (const char *end = text + length; text < end;) {
        size_t plain = 0;
        while (text + plain < end && !strchr("&<>\"'", text[plain])) plain++;
        sp_text_append(html, text, plain);
        if ((text += plain) == end) return;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (*text == entities[i].character) sp_text_puts(html, entities[i].entity);
        text++;
    }
}

void sp_html_text(struct sp_text *html, const char *string)
{
    struct sp_text visible = {0};
    sp_put_visible(&visible, string);
    put_escaped(html, visible.data, visible.length);
    sp_text_free(&visible);
}

void sp_html_code(struct sp_text *html, const char *string)
{
    sp_text_puts(html, "<code>");
    sp_html_text(html, *string ? string : "\"\"");
    sp_text_puts(html, "</code>");
}

void sp_html_name(struct sp_text *html, const char *name)
{
    sp_text_puts(html, "<code>");
    if (!*name) sp_text_puts(html, "\"\"");
    while (*name) {
        size_t length = strcspn(name, "./");
        length += name[length] != '\0';
        struct sp_text component = {0};
        sp_text_append(&component, name, length);
        sp_html_text(html, component.data);
        sp_text_free(&component);
        name += length;
        if (*name) sp_text_puts(html, "<wbr>");
    }
    sp_text_puts(html, "</code>");
}

bool sp_html_has_room(const struct sp_text *html, size_t begin, size_t rows)
{
    enum { MOST_ROWS = 2000, MOST_BYTES = 400 * 1000 }; /* of the two tables that can be so long, and of the data */
    return rows < MOST_ROWS && html->length - begin < MOST_BYTES;
}

const char *sp_html_class_of_color(enum sp_color color)
{
    static const char *const classes[] = {
        [SP_COLOR_NONE] = "",     [SP_COLOR_BOLD] = "strong", [SP_COLOR_DIM] = "dim",
        [SP_COLOR_RED] = "error", [SP_COLOR_GREEN] = "good",  [SP_COLOR_YELLOW] = "warning"};
    return classes[color];
}

void sp_html_verdict(struct sp_text *html, const struct sp_html_title *title)
{
    if (!title->verdict) return;
    sp_text_printf(html, "<p class=\"verdict %s\"><b>%s</b> ", sp_html_class_of_color(title->color), title->verdict);
    sp_html_text(html, title->line);
    sp_text_puts(html, "</p>\n");
}

void sp_html_begin(struct sp_text *html, const struct sp_html_title *title)
{
    sp_text_printf(html,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-%s'; "
                   "style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s ",
                   sp_html_script_hash, sp_html_style_hash, title->command);
    sp_html_text(html, title->subject);
    sp_text_puts(html, "</title>\n<style>");
    sp_text_puts(html, sp_html_style);
    sp_text_puts(html, "</style>\n</head>\n<body>\n<header>\n<p class=\"command\">shapeproof ");
    sp_text_printf(html, "%s</p>\n<h1>", title->command);
    sp_html_text(html, title->subject);
    sp_text_puts(html, "</h1>\n");
    sp_html_verdict(html, title);
    sp_text_puts(html, "</header>\n<main>\n<section>\n");
}

void sp_html_end(struct sp_text *html)
{
    sp_text_printf(html, "</section>\n</main>\n<footer>shapeproof %s</footer>\n<script>", shapeproof_version());
    sp_text_puts(html, sp_html_script);
    sp_text_puts(html, "</script>\n</body>\n</html>\n");
}

void sp_html_section(struct sp_text *html, const char *heading)
{
    sp_text_printf(html, "</section>\n<section>\n<h2>%s</h2>\n", heading);
}

void sp_html_fold_begin(struct sp_text *html, const char *summary, bool open)
{
    sp_text_printf(html, "<details%s>\n<summary>%s</summary>\n", open ? " open" : "", summary);
}

void sp_html_fold_end(struct sp_text *html) { sp_text_puts(html, "</details>\n"); }

/* <th scope="col" class="number">, <td class="number error"> */
static void put_cell_tag(struct sp_text *html, const char *tag, enum sp_alignment alignment, const char *class)
{
    const char *number = alignment == SP_RIGHT ? "number" : "";
    sp_text_printf(html, "<%s", tag);
    if (*number || *class) sp_text_printf(html, " class=\"%s%s%s\"", number, *number && *class ? " " : "", class);
    sp_text_puts(html, ">");
}

/* A column without any text is left out, as in text. */
void sp_html_table(struct sp_table *table, struct sp_text *html)
{
    bool shown[SP_TABLE_COLUMNS] = {false};
    const bool has_titles = table->columns[0].title != NULL;
    size_t length;
    enum sp_color color;
    for (size_t i = 0; i < table->count; i++) {
        sp_table_cell_text(table, i, &length, &color);
        shown[i % table->column_count] |= length > 0;
    }
    sp_text_printf(html, "<div class=\"wide\"><table%s>\n", has_titles ? "" : " class=\"facts\"");
    if (has_titles) {
        sp_text_puts(html, "<thead><tr>");
        for (size_t i = 0; i < table->column_count; i++) {
            if (!shown[i]) continue;
            const bool empty = !table->columns[i].title[0];
            put_cell_tag(html, empty ? "td" : "th scope=\"col\"", table->columns[i].alignment, "");
            sp_text_puts(html, table->columns[i].title);
            sp_text_puts(html, empty ? "</td>" : "</th>");
        }
        sp_text_puts(html, "</tr></thead>\n");
    }
    sp_text_puts(html, "<tbody>\n");
    for (size_t i = 0; i < table->count; i++) {
        const size_t column = i % table->column_count;
        const char *cell = sp_table_cell_text(table, i, &length, &color);
        const bool is_label = !column && length;
        if (!column) sp_text_puts(html, "<tr>");
        if (shown[column]) {
            put_cell_tag(html, is_label ? "th scope=\"row\"" : "td", table->columns[column].alignment,
                         sp_html_class_of_color(color));
            put_escaped(html, cell, length);
            sp_text_puts(html, is_label ? "</th>" : "</td>");
        }
        if (column + 1 == table->column_count) sp_text_puts(html, "</tr>\n");
    }
    sp_text_puts(html, "</tbody>\n</table></div>\n");
    sp_table_free(table);
}

void sp_html_warnings(struct sp_text *html, const char *heading, const struct shapeproof_inventory *inventory,
                      const struct shapeproof_prediction *prediction)
{
    const size_t warnings = shapeproof_inventory_warning_count(inventory),
                 remarks = prediction ? shapeproof_prediction_remark_count(prediction) : 0;
    if (!warnings && !remarks) return;
    sp_html_section(html, heading);
    sp_text_puts(html, "<ul class=\"remarks\">\n");
    for (size_t i = 0; i < warnings + remarks; i++) {
        sp_text_puts(html, "<li>");
        sp_html_severity(html, SHAPEPROOF_SEVERITY_WARNING);
        sp_text_puts(html, " ");
        sp_html_text(html, i < warnings ? shapeproof_inventory_warning(inventory, i)
                                        : shapeproof_prediction_remark(prediction, i - warnings));
        sp_text_puts(html, "</li>\n");
    }
    sp_text_puts(html, "</ul>\n");
}

void sp_html_severity(struct sp_text *html, enum shapeproof_severity severity)
{
    const char *name = shapeproof_severity_name(severity);
    sp_text_printf(html, "<span class=\"severity %s\">%s</span>", name, name);
}
