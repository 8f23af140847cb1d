/* SPDX-License-Identifier: MIT
 * Which tables there are. */
#include <string.h>

#include "base/call.h"
#include "base/json_write.h"
#include "report/common.h"
#include "report/csv.h"
#include "report/table.h"
#include "shapeproof/report.h"

enum { LINE = 80, GAP = 2, LONGEST_NAME = 25 }; /* columns */

/* The document of `tables --json`: all tables that pass the filter. */
static void tables_json(const struct shapeproof_tables *tables, struct sp_text *text,
                        const struct shapeproof_tables_filter *filter)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.tables/1");
    sp_write_key_open(&json, "tables", '[');
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        if (!shapeproof_tables_fits(tables, i, filter)) continue;
        const struct shapeproof_table_info *info = shapeproof_tables_info(tables, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", info->name);
        sp_write_key_string(&json, "kind", shapeproof_tables_kind(tables, i));
        sp_write_key_string(&json, "title", info->title);
        sp_write_key_string(&json, "file", info->file);
        sp_write_key_number(&json, "line", info->line);
        sp_write_key_open(&json, "model_types", '[');
        for (size_t k = 0; k < info->model_type_count; k++) sp_write_string(&json, info->model_types[k]);
        sp_write_close(&json);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_close(&json);
}

/* A row for each table; its model types with a space between them. */
static void tables_csv(const struct shapeproof_tables *tables, struct sp_text *text,
                       const struct shapeproof_tables_filter *filter)
{
    static const char *const titles[] = {"table", "kind", "title", "model_types", "file", "line", NULL};
    struct sp_csv csv = {.text = text};
    sp_csv_heading(&csv, titles);
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const struct shapeproof_table_info *info = shapeproof_tables_info(tables, i);
        struct sp_text types = {0};
        if (!shapeproof_tables_fits(tables, i, filter)) continue;
        sp_text_puts(&types, "");
        for (size_t k = 0; k < info->model_type_count; k++)
            sp_text_printf(&types, "%s%s", k ? " " : "", info->model_types[k]);
        sp_csv_field(&csv, info->name);
        sp_csv_field(&csv, shapeproof_tables_kind(tables, i));
        sp_csv_field(&csv, info->title);
        sp_csv_field(&csv, types.data);
        sp_csv_field(&csv, info->file);
        sp_csv_number(&csv, info->line);
        sp_csv_end_row(&csv);
        sp_text_free(&types);
    }
}

/* What it is, and the configurations that it serves when its name does not say. */
static void describe_table(struct sp_text *words, const struct shapeproof_table_info *info)
{
    sp_put_visible(words, info->title);
    if (!info->model_type_count) sp_text_puts(words, " (no model_type)");
    if (!info->model_type_count || (info->model_type_count == 1 && strcmp(info->model_types[0], info->name) == 0))
        return;
    sp_text_puts(words, " (model_type");
    for (size_t i = 0; i < info->model_type_count; i++) {
        sp_text_puts(words, i ? ", " : " ");
        sp_put_visible(words, info->model_types[i]);
    }
    sp_text_puts(words, ")");
}

/* The same rows as in text. */
static void tables_markdown(const struct shapeproof_tables *tables, struct sp_text *text,
                            const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{"table", SP_LEFT}, {"kind", SP_LEFT}, {"what it is", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        const struct shapeproof_table_info info = *shapeproof_tables_info(tables, i);
        if (!shapeproof_tables_fits(tables, i, options->filter)) continue;
        sp_put_visible(sp_table_cell(&table), info.name);
        sp_put_visible(sp_table_cell(&table), shapeproof_tables_kind(tables, i));
        describe_table(sp_table_cell(&table), &info);
    }
    sp_table_render(&table, text, options);
}

/* ---- text ---- */

/* Where the columns begin, and the lines end. */
struct tables_layout {
    size_t kind, title, end;
};

static struct tables_layout layout_of(const struct shapeproof_tables *tables,
                                      const struct shapeproof_report_options *options)
{
    struct tables_layout layout = {.end = options->width ? options->width : LINE};
    size_t name = strlen("table"), kind = strlen("kind");
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++) {
        if (!shapeproof_tables_fits(tables, i, options->filter)) continue;
        const size_t width = sp_visible_width(shapeproof_tables_info(tables, i)->name);
        const size_t length = strlen(shapeproof_tables_kind(tables, i));
        if (width > name && width <= LONGEST_NAME) name = width;
        if (length > kind) kind = length;
    }
    layout.kind = name + GAP;
    layout.title = layout.kind + kind + GAP;
    return layout;
}

/* Goes on at that column, in the next line when it is taken. */
static void move_to(struct sp_text *text, size_t *column, size_t to)
{
    if (*column >= to) {
        sp_text_puts(text, "\n");
        *column = 0;
    }
    sp_text_pad(text, to - *column);
    *column = to;
}

/* The words, below one another where the line ends. A word that is longer than a line stands in one of its own. */
static void put_words(struct sp_text *text, const char *words, size_t *column, const struct tables_layout *layout)
{
    for (size_t length; words += strspn(words, " "), (length = strcspn(words, " ")) > 0; words += length) {
        const size_t width = sp_text_columns(words, length);
        const bool first = *column == layout->title;
        if (!first && *column + 1 + width > layout->end) move_to(text, column, layout->title);
        else if (!first) {
            sp_text_puts(text, " ");
            ++*column;
        }
        sp_text_append(text, words, length);
        *column += width;
    }
}

static void put_table(struct sp_text *text, const struct shapeproof_tables *tables, size_t index,
                      const struct tables_layout *layout)
{
    const struct shapeproof_table_info info = *shapeproof_tables_info(tables, index);
    struct sp_text words = {0};
    size_t column = sp_visible_width(info.name);
    sp_put_visible(text, info.name);
    move_to(text, &column, layout->kind);
    sp_text_puts(text, shapeproof_tables_kind(tables, index));
    column += strlen(shapeproof_tables_kind(tables, index));
    move_to(text, &column, layout->title);
    describe_table(&words, &info);
    put_words(text, words.data, &column, layout);
    sp_text_puts(text, "\n");
    sp_text_free(&words);
}

static void put_titles(struct sp_text *text, bool color, const struct tables_layout *layout)
{
    sp_color_puts(text, color, SP_COLOR_DIM, "table");
    sp_text_pad(text, layout->kind - strlen("table"));
    sp_color_puts(text, color, SP_COLOR_DIM, "kind");
    sp_text_pad(text, layout->title - layout->kind - strlen("kind"));
    sp_color_puts(text, color, SP_COLOR_DIM, "what it is");
    sp_text_puts(text, "\n");
}

char *shapeproof_report_tables(const struct shapeproof_tables *tables, const struct shapeproof_report_options *options,
                               size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) {
        tables_json(tables, &text, options->filter);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_CSV) {
        tables_csv(tables, &text, options->filter);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        tables_markdown(tables, &text, options);
        return sp_text_take(&text, length);
    }
    const struct tables_layout layout = layout_of(tables, options);
    put_titles(&text, options->color, &layout);
    for (size_t i = 0; i < shapeproof_tables_count(tables); i++)
        if (shapeproof_tables_fits(tables, i, options->filter)) put_table(&text, tables, i, &layout);
    return sp_text_take(&text, length);
}
