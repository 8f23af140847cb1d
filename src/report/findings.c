/* SPDX-License-Identifier: MIT */
#include "report/findings.h"

#include <string.h>

#include "report/html/html.h"
#include "report/inventory.h"
#include "report/markdown.h"
#include "report/wrap.h"

/* Where what is said begins, behind the severity. */
enum { ITEM_COLUMN = 11 };

/* Red, yellow, dim. */
static enum sp_color severity_color(enum shapeproof_severity severity)
{
    return severity == SHAPEPROOF_SEVERITY_ERROR     ? SP_COLOR_RED
           : severity == SHAPEPROOF_SEVERITY_WARNING ? SP_COLOR_YELLOW
                                                     : SP_COLOR_DIM;
}

struct sp_table sp_label_table(void)
{
    static const struct sp_column columns[] = {{NULL, SP_LEFT}, {NULL, SP_LEFT}};
    return (struct sp_table){.columns = columns, .column_count = 2, .prose = true};
}

struct sp_text *sp_labelled(struct sp_table *table, const char *label)
{
    sp_text_puts(sp_table_cell(table), label);
    return sp_table_cell(table);
}

void sp_put_doubt_rows(struct sp_table *table, const char *of, const struct shapeproof_inventory *inventory)
{
    struct sp_text *cell;
    if (shapeproof_inventory_unread_count(inventory)) {
        sp_text_puts(cell = sp_labelled(table, "unread"), of);
        sp_put_unread(cell, inventory);
    }
    if (shapeproof_inventory_suspect_count(inventory)) {
        sp_text_puts(cell = sp_labelled(table, "suspicious"), of);
        sp_put_suspects(cell, inventory);
    }
}

void sp_put_heading(struct sp_text *text, const struct shapeproof_report_options *options, const char *heading)
{
    if (options->format == SHAPEPROOF_REPORT_HTML) {
        sp_html_section(text, heading);
        return;
    }
    sp_text_puts(text, "\n");
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        sp_markdown_heading(text, heading);
        return;
    }
    sp_color_puts(text, options->color, SP_COLOR_BOLD, heading);
    sp_text_puts(text, "\n");
}

void sp_put_severity(struct sp_text *text, const struct shapeproof_report_options *options,
                     enum shapeproof_severity severity)
{
    const char *name = shapeproof_severity_name(severity);
    sp_text_puts(text, "  ");
    sp_color_puts(text, options->color, severity_color(severity), name);
    sp_text_pad(text, ITEM_COLUMN - strlen("  ") - strlen(name));
}

void sp_begin_hint(struct sp_text *text)
{
    sp_text_pad(text, ITEM_COLUMN);
    sp_text_puts(text, "hint: ");
}

void sp_end_item(struct sp_text *text, size_t begin)
{
    sp_wrap(text, begin, ITEM_COLUMN + SP_HANGING);
    sp_text_puts(text, "\n");
}

void sp_put_reason(struct sp_text *text, const char *reason)
{
    if (!reason) return;
    sp_text_puts(text, " (expected: ");
    sp_put_visible(text, reason);
    sp_text_puts(text, ")");
}
