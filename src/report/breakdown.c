/* SPDX-License-Identifier: MIT
 * Where the parameters and bytes are, of one checkpoint or of two: a table with short figures for people and for
 * Markdown, JSON and CSV with exact ones. */
#include <inttypes.h>
#include <stdio.h>

#include "base/call.h"
#include "report/csv.h"
#include "report/inventory.h"
#include "report/markdown.h"
#include "report/table.h"
#include "shapeproof/report.h"

/* What all parts of the report need. */
struct sheet {
    const struct shapeproof_breakdown *breakdown;
    const struct shapeproof_report_breakdown_options *options;
    bool is_diff;
    uint64_t largest[2]; /* bytes of the largest row of each level: a whole bar */
};

/* A number on both sides; without a diff the second is 0. */
struct pair {
    int64_t a, b;
};

/* A sum above 2^63 counts as the largest number: no file is so long. */
static struct pair pair_of(uint64_t a, uint64_t b)
{
    return (struct pair){a < INT64_MAX ? (int64_t)a : INT64_MAX, b < INT64_MAX ? (int64_t)b : INT64_MAX};
}

static const char *key_name(const struct sheet *sheet, unsigned level)
{
    return shapeproof_by_name(shapeproof_breakdown_key(sheet->breakdown, level));
}

static unsigned level_count(const struct sheet *sheet)
{
    return shapeproof_breakdown_key(sheet->breakdown, 1) == SHAPEPROOF_BY_NONE ? 1 : 2;
}

/* "[12 others]", "[9 unchanged]"; "[no expert]", "[not predicted]" for tensors without a value. */
static void put_row_without_value(const struct sheet *sheet, const struct shapeproof_breakdown_row *row,
                                  struct sp_text *text)
{
    if (row->others) {
        sp_text_puts(text, "[");
        sp_text_grouped(text, row->others);
        sp_text_puts(text, row->unchanged ? " unchanged]" : " others]");
    } else if (shapeproof_breakdown_key(sheet->breakdown, row->level) == SHAPEPROOF_BY_GROUP) {
        sp_text_puts(text, "[not predicted]");
    } else {
        sp_text_printf(text, "[no %s]", key_name(sheet, row->level));
    }
}

static void put_row_name(const struct sheet *sheet, const struct shapeproof_breakdown_row *row, struct sp_text *text)
{
    if (!row->value) put_row_without_value(sheet, row, text);
    else if (!*row->value) sp_text_puts(text, "\"\"");
    else sp_put_visible(text, row->value);
}

/* ---- figures ---- */

static uint64_t magnitude(int64_t number) { return number < 0 ? 0 - (uint64_t)number : (uint64_t)number; }

/* "46.7 B", or all digits where exact figures are wanted. */
static void put_parameters(const struct sheet *sheet, struct sp_text *text, int64_t parameters)
{
    if (sheet->options->exact) sp_text_grouped(text, magnitude(parameters));
    else sp_put_short(text, magnitude(parameters));
}

/* "147.2 MiB", or all digits. */
static void put_bytes(const struct sheet *sheet, struct sp_text *text, int64_t bytes)
{
    if (sheet->options->exact) sp_text_grouped(text, magnitude(bytes));
    else sp_put_bytes(text, magnitude(bytes));
}

/* The number of the first side, or by how much the second is more: "+1.2 M", "-3". */
static void put_figure(const struct sheet *sheet, struct sp_text *text, struct pair pair,
                       void (*put)(const struct sheet *, struct sp_text *, int64_t))
{
    const int64_t number = sheet->is_diff ? pair.b - pair.a : pair.a;
    if (number < 0) sp_text_puts(text, "-");
    else if (sheet->is_diff && number) sp_text_puts(text, "+");
    put(sheet, text, number);
}

/* The share of the total; of two checkpoints the change, as a share of A: "+12.3%", "new", "gone". */
static void put_share(const struct sheet *sheet, struct sp_text *text, struct pair pair, struct pair total)
{
    if (!sheet->is_diff) {
        sp_put_percent(text, pair.a, total.a, "");
    } else if (pair.a == pair.b) {
        return;
    } else if (!pair.a || !pair.b) {
        sp_text_puts(text, pair.a ? "gone" : "new");
    } else {
        sp_put_percent(text, pair.b - pair.a, pair.a < 0 ? -pair.a : pair.a, "+");
    }
}

/* ---- text ---- */

/* Columns that a narrow terminal has no room for. */
struct columns {
    bool tensors, shares;
};

enum { NARROWEST_BAR = 10, WIDEST_BAR = 30, BAR_COLUMN = 6 };

static const struct sp_column titles[] = {{"", SP_LEFT},   {"tensors", SP_RIGHT}, {"parameters", SP_RIGHT},
                                          {"%", SP_RIGHT}, {"bytes", SP_RIGHT},   {"%", SP_RIGHT},
                                          {"", SP_LEFT}};
enum { COLUMN_COUNT = sizeof titles / sizeof *titles };

/* The cells of numbers. A part of the file has no parameters. */
static void put_number_cells(const struct sheet *sheet, struct sp_table *table, struct columns columns,
                             const struct shapeproof_breakdown_row *row)
{
    const struct shapeproof_breakdown_row *total = shapeproof_breakdown_total(sheet->breakdown);
    const struct pair parameters = pair_of(row->a.parameters, row->b.parameters);
    const struct pair bytes = pair_of(row->a.bytes, row->b.bytes);
    struct sp_text *cell = sp_table_cell(table);
    if (columns.tensors) put_figure(sheet, cell, pair_of(row->a.tensors, row->b.tensors), put_parameters);
    put_figure(sheet, sp_table_cell(table), parameters, put_parameters);
    cell = sp_table_cell(table);
    if (columns.shares) put_share(sheet, cell, parameters, pair_of(total->a.parameters, total->b.parameters));
    put_figure(sheet, sp_table_cell(table), bytes, put_bytes);
    cell = sp_table_cell(table);
    if (columns.shares) put_share(sheet, cell, bytes, pair_of(total->a.bytes, total->b.bytes));
}

/* Of a change of bytes: more is green, less is red, as in the diffs of other programs. */
static enum sp_color color_of(const struct sheet *sheet, struct pair bytes)
{
    if (!sheet->is_diff || bytes.a == bytes.b) return SP_COLOR_NONE;
    return bytes.b > bytes.a ? SP_COLOR_GREEN : SP_COLOR_RED;
}

static void put_row(const struct sheet *sheet, struct sp_table *table, struct columns columns, size_t bar,
                    const struct shapeproof_breakdown_row *row)
{
    struct sp_text *name = sp_table_cell(table);
    sp_text_pad(name, 2 * row->level);
    put_row_name(sheet, row, name);
    if (!row->value) sp_table_color(table, SP_COLOR_DIM);
    else if (sheet->is_diff) sp_table_color(table, color_of(sheet, pair_of(row->a.bytes, row->b.bytes)));
    put_number_cells(sheet, table, columns, row);
    struct sp_text *cell = sp_table_cell(table);
    if (bar && !row->others) sp_put_bar(cell, row->a.bytes, sheet->largest[row->level], bar, sheet->options->unicode);
    if (row->level) sp_table_color(table, SP_COLOR_DIM);
}

/* A part of the file: a name and bytes. */
static void put_part(const struct sheet *sheet, struct sp_table *table, struct columns columns,
                     const struct shapeproof_breakdown_part *part)
{
    const struct shapeproof_breakdown_row *total = shapeproof_breakdown_total(sheet->breakdown);
    const struct pair bytes = {part->a, part->b};
    sp_text_printf(sp_table_cell(table), "[%s]", part->name);
    sp_table_color(table, SP_COLOR_DIM);
    for (size_t i = 1; i <= 3; i++) sp_table_cell(table);
    put_figure(sheet, sp_table_cell(table), bytes, put_bytes);
    struct sp_text *cell = sp_table_cell(table);
    if (columns.shares) put_share(sheet, cell, bytes, pair_of(total->a.bytes, total->b.bytes));
    sp_table_cell(table);
}

static void put_total(const struct sheet *sheet, struct sp_table *table, struct columns columns)
{
    sp_text_puts(sp_table_cell(table), "total");
    sp_table_color(table, SP_COLOR_BOLD);
    put_number_cells(sheet, table, columns, shapeproof_breakdown_total(sheet->breakdown));
    sp_table_cell(table);
}

/* All rows, with bars of at most `bar` columns. */
static void fill_table(const struct sheet *sheet, struct sp_table *table, struct columns columns, size_t bar)
{
    for (size_t i = 0; i < shapeproof_breakdown_row_count(sheet->breakdown); i++)
        put_row(sheet, table, columns, bar, shapeproof_breakdown_row(sheet->breakdown, i));
    for (size_t i = 0; i < shapeproof_breakdown_part_count(sheet->breakdown); i++) {
        const struct shapeproof_breakdown_part *part = shapeproof_breakdown_part(sheet->breakdown, i);
        if (!sheet->is_diff || part->a != part->b) put_part(sheet, table, columns, part);
    }
    put_total(sheet, table, columns);
}

/* "layer" or "layer, dtype" above the first column. */
static void make_titles(const struct sheet *sheet, struct sp_column *own, char *first, size_t size)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) own[i] = titles[i];
    struct sp_text text = {0};
    sp_text_puts(&text, key_name(sheet, 0));
    if (level_count(sheet) > 1) sp_text_printf(&text, ", %s", key_name(sheet, 1));
    snprintf(first, size, "%s", text.data);
    sp_text_free(&text);
    own[0].title = first;
}

/* The columns of the terminal that the table takes without bars, when no name is cut; in *bar_start, where bars would
 * begin. */
static size_t measure(const struct sheet *sheet, const struct sp_column *own, struct columns columns, size_t *bar_start)
{
    struct shapeproof_report_options unlimited = sheet->options->report;
    struct sp_table table = {.columns = own, .column_count = COLUMN_COUNT};
    struct sp_text nowhere = {0};
    unlimited.width = 0;
    fill_table(sheet, &table, columns, 1);
    sp_table_measure(&table);
    sp_table_begin(&table, &nowhere, &unlimited);
    const size_t last = columns.shares ? BAR_COLUMN - 1 : BAR_COLUMN - 2;
    const size_t end = table.layout.start[last] + table.layout.width[last];
    *bar_start = end + 2;
    sp_table_free(&table);
    sp_text_free(&nowhere);
    return end;
}

/* As many columns as there is room for. The numbers of tensors are left out before a name is cut, and the shares when
 * even names of 24 columns leave no room for them. Bars take what is left. */
static void put_table(const struct sheet *sheet, struct sp_text *text)
{
    static const struct columns choices[] = {{true, true}, {false, true}, {false, false}};
    char first[64];
    struct sp_column own[COLUMN_COUNT];
    struct columns columns = choices[0];
    size_t bar = 0, bar_start = 0;
    const size_t width = sheet->options->report.width;
    make_titles(sheet, own, first, sizeof first);
    for (size_t i = 0; width && i < sizeof choices / sizeof *choices; i++) {
        columns = choices[i];
        if (measure(sheet, own, columns, &bar_start) <= width) break;
    }
    if (width > bar_start && width - bar_start >= NARROWEST_BAR && !sheet->is_diff)
        bar = width - bar_start < WIDEST_BAR ? width - bar_start : WIDEST_BAR;
    struct sp_table table = {.columns = own, .column_count = COLUMN_COUNT};
    fill_table(sheet, &table, columns, width ? bar : 0);
    sp_table_render(&table, text, &sheet->options->report);
}

/* "same: all 28 tensors, 7,872 elements" */
static void put_verdict(const struct sheet *sheet, struct sp_text *text)
{
    const struct shapeproof_diff *diff = shapeproof_breakdown_diff(sheet->breakdown);
    const bool same = shapeproof_diff_is_same(diff);
    sp_color_puts(text, sheet->options->report.color, same ? SP_COLOR_GREEN : SP_COLOR_RED, same ? "same" : "differs");
    sp_text_puts(text, ": ");
    sp_put_visible(text, shapeproof_diff_summary(diff));
    sp_text_puts(text, "\n\n");
}

/* "A  model.pt: 124.4 M parameters, 474.7 MiB" */
static void put_side(const struct sheet *sheet, enum shapeproof_diff_side side, struct sp_text *text)
{
    const struct shapeproof_breakdown_row *total = shapeproof_breakdown_total(sheet->breakdown);
    const struct shapeproof_sums *sums = side == SHAPEPROOF_DIFF_A ? &total->a : &total->b;
    const struct pair parameters = pair_of(sums->parameters, 0), bytes = pair_of(sums->bytes, 0);
    sp_text_puts(text, side == SHAPEPROOF_DIFF_A ? "A  " : "B  ");
    sp_put_visible(
        text, shapeproof_inventory_path(shapeproof_diff_inventory(shapeproof_breakdown_diff(sheet->breakdown), side)));
    sp_text_puts(text, ": ");
    put_parameters(sheet, text, parameters.a);
    sp_text_puts(text, " parameters, ");
    put_bytes(sheet, text, bytes.a);
    sp_text_puts(text, sheet->options->exact ? " bytes\n" : "\n");
}

static void put_text(const struct sheet *sheet, struct sp_text *text)
{
    if (sheet->is_diff) {
        put_verdict(sheet, text);
        put_side(sheet, SHAPEPROOF_DIFF_A, text);
        put_side(sheet, SHAPEPROOF_DIFF_B, text);
        sp_text_puts(text, "\n");
    } else {
        sp_put_inventory_heading(text, shapeproof_breakdown_inventory(sheet->breakdown), sheet->options->report.color);
    }
    put_table(sheet, text);
}

/* ---- Markdown ---- */

/* Cells for the keys: the value stands in that of its level. A value is code, everything else is text. */
static void put_markdown_names(const struct sheet *sheet, const struct shapeproof_breakdown_row *row,
                               struct sp_text *text)
{
    for (unsigned level = 0; level < level_count(sheet); level++) {
        if (level == row->level) {
            struct sp_text name = {0};
            put_row_name(sheet, row, &name);
            sp_text_puts(text, " ");
            if (row->value) sp_markdown_cell_code(text, row->value);
            else sp_markdown_text(text, name.data);
            sp_text_free(&name);
        }
        sp_text_puts(text, " |");
    }
}

/* " 4,320 | 54.9% | 16.9 KiB | 54.3% |" */
static void put_markdown_numbers(const struct sheet *sheet, struct pair tensors, struct pair parameters,
                                 struct pair bytes, struct sp_text *text)
{
    const struct shapeproof_breakdown_row *total = shapeproof_breakdown_total(sheet->breakdown);
    sp_text_puts(text, " ");
    put_figure(sheet, text, tensors, put_parameters);
    sp_text_puts(text, " | ");
    put_figure(sheet, text, parameters, put_parameters);
    sp_text_puts(text, " | ");
    put_share(sheet, text, parameters, pair_of(total->a.parameters, total->b.parameters));
    sp_text_puts(text, " | ");
    put_figure(sheet, text, bytes, put_bytes);
    sp_text_puts(text, " | ");
    put_share(sheet, text, bytes, pair_of(total->a.bytes, total->b.bytes));
    sp_text_puts(text, " |\n");
}

static void put_markdown_row(const struct sheet *sheet, const struct shapeproof_breakdown_row *row,
                             struct sp_text *text)
{
    put_markdown_numbers(sheet, pair_of(row->a.tensors, row->b.tensors), pair_of(row->a.parameters, row->b.parameters),
                         pair_of(row->a.bytes, row->b.bytes), text);
}

/* Above the table: whose it is. */
static void put_markdown_heading(const struct sheet *sheet, struct sp_text *text)
{
    const struct shapeproof_diff *diff = shapeproof_breakdown_diff(sheet->breakdown);
    sp_markdown_code(text, shapeproof_inventory_path(shapeproof_breakdown_inventory(sheet->breakdown)));
    if (diff) {
        sp_text_puts(text, " to ");
        sp_markdown_code(text, shapeproof_inventory_path(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B)));
        sp_text_puts(text, shapeproof_diff_is_same(diff) ? ": same, " : ": differs, ");
        sp_markdown_text(text, shapeproof_diff_summary(diff));
    }
    sp_text_puts(text, "\n\n|");
}

static void put_markdown(const struct sheet *sheet, struct sp_text *text)
{
    const unsigned levels = level_count(sheet);
    put_markdown_heading(sheet, text);
    for (unsigned level = 0; level < levels; level++) sp_text_printf(text, " %s |", key_name(sheet, level));
    sp_text_puts(text, " tensors | parameters | % | bytes | % |\n|");
    for (unsigned level = 0; level < levels; level++) sp_text_puts(text, " --- |");
    sp_text_puts(text, " ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < shapeproof_breakdown_row_count(sheet->breakdown); i++) {
        const struct shapeproof_breakdown_row *row = shapeproof_breakdown_row(sheet->breakdown, i);
        sp_text_puts(text, "|");
        put_markdown_names(sheet, row, text);
        put_markdown_row(sheet, row, text);
    }
    for (size_t i = 0; i < shapeproof_breakdown_part_count(sheet->breakdown); i++) {
        const struct shapeproof_breakdown_part *part = shapeproof_breakdown_part(sheet->breakdown, i);
        const struct pair bytes = {part->a, part->b};
        if (sheet->is_diff && part->a == part->b) continue;
        sp_text_printf(text, "| \\[%s\\] |%s | | | ", part->name, levels > 1 ? " |" : "");
        put_figure(sheet, text, bytes, put_bytes);
        sp_text_puts(text, " | ");
        put_share(sheet, text, bytes, pair_of(shapeproof_breakdown_total(sheet->breakdown)->a.bytes, 0));
        sp_text_puts(text, " |\n");
    }
    sp_text_puts(text, levels > 1 ? "| total | |" : "| total |");
    put_markdown_row(sheet, shapeproof_breakdown_total(sheet->breakdown), text);
}

/* ---- JSON: shapeproof.breakdown/1 ---- */

static void json_sums(struct sp_writer *json, const struct shapeproof_sums *sums)
{
    sp_write_key_number(json, "tensors", sums->tensors);
    sp_write_key_number(json, "parameters", sums->parameters);
    sp_write_key_number(json, "bytes", sums->bytes);
}

/* The sums of a row; of a diff those of both sides, "a" and "b". */
static void json_row_sums(const struct sheet *sheet, struct sp_writer *json, const struct shapeproof_breakdown_row *row)
{
    if (!sheet->is_diff) {
        json_sums(json, &row->a);
        return;
    }
    sp_write_key_open(json, "a", '{');
    json_sums(json, &row->a);
    sp_write_close(json);
    sp_write_key_open(json, "b", '{');
    json_sums(json, &row->b);
    sp_write_close(json);
}

/* The rows of a level from `begin` on: an array of objects, of which each may have the "rows" of the next level.
 * Returns the index behind them. */
static size_t json_rows(const struct sheet *sheet, struct sp_writer *json, size_t begin, unsigned level)
{
    const size_t count = shapeproof_breakdown_row_count(sheet->breakdown);
    size_t i = begin;
    sp_write_key_open(json, "rows", '[');
    while (i < count && shapeproof_breakdown_row(sheet->breakdown, i)->level == level) {
        const struct shapeproof_breakdown_row *row = shapeproof_breakdown_row(sheet->breakdown, i++);
        if (level) sp_write_open(json, '{');
        else sp_write_open_line(json, '{');
        sp_write_key_string(json, "value", row->value);
        if (row->others) sp_write_key_number(json, row->unchanged ? "unchanged" : "others", row->others);
        json_row_sums(sheet, json, row);
        if (i < count && shapeproof_breakdown_row(sheet->breakdown, i)->level > level)
            i = json_rows(sheet, json, i, level + 1);
        sp_write_close(json);
    }
    sp_write_close(json);
    return i;
}

static void json_signed(struct sp_writer *json, const char *key, int64_t number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    sp_write_key(json, key);
    sp_write_raw(json, digits);
}

static void json_parts(const struct sheet *sheet, struct sp_writer *json)
{
    sp_write_key_open(json, "parts", '[');
    for (size_t i = 0; i < shapeproof_breakdown_part_count(sheet->breakdown); i++) {
        const struct shapeproof_breakdown_part *part = shapeproof_breakdown_part(sheet->breakdown, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "part", part->name);
        json_signed(json, sheet->is_diff ? "bytes_a" : "bytes", part->a);
        if (sheet->is_diff) json_signed(json, "bytes_b", part->b);
        sp_write_close(json);
    }
    sp_write_close(json);
}

/* One of two checkpoints. */
static void json_side(struct sp_writer *json, const char *key, const struct shapeproof_inventory *inventory)
{
    sp_write_key_open_line(json, key, '{');
    sp_write_key_string(json, "file", shapeproof_inventory_path(inventory));
    sp_write_key_string(json, "format", shapeproof_inventory_format(inventory));
    sp_json_warnings(json, inventory, NULL);
    sp_write_close(json);
}

static void put_json(const struct sheet *sheet, struct sp_text *text)
{
    const struct shapeproof_diff *diff = shapeproof_breakdown_diff(sheet->breakdown);
    const struct shapeproof_inventory *a = shapeproof_breakdown_inventory(sheet->breakdown);
    struct sp_writer json = sp_write_document(text, diff ? "shapeproof.diff-breakdown/1" : "shapeproof.breakdown/1");
    if (diff) {
        json_side(&json, "a", a);
        json_side(&json, "b", shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B));
        sp_write_key_string(&json, "verdict", shapeproof_diff_is_same(diff) ? "same" : "differs");
        sp_write_key_string(&json, "summary", shapeproof_diff_summary(diff));
    } else {
        sp_write_key_string(&json, "file", shapeproof_inventory_path(a));
        sp_write_key_string(&json, "format", shapeproof_inventory_format(a));
    }
    sp_write_key_open_line(&json, "by", '[');
    for (unsigned level = 0; level < level_count(sheet); level++) sp_write_string(&json, key_name(sheet, level));
    sp_write_close(&json);
    json_rows(sheet, &json, 0, 0);
    json_parts(sheet, &json);
    sp_write_key_open_line(&json, "totals", '{');
    json_row_sums(sheet, &json, shapeproof_breakdown_total(sheet->breakdown));
    sp_write_close(&json);
    if (!diff) sp_json_warnings(&json, a, NULL);
    sp_write_close(&json);
}

/* ---- CSV ---- */

static void csv_signed(struct sp_csv *csv, int64_t number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    sp_csv_field(csv, digits);
}

/* The fields of the checkpoint, and those of the keys: the values of a row and of the row that it is part of. */
static void csv_names(const struct sheet *sheet, struct sp_csv *csv, const char *first, const char *second)
{
    const struct shapeproof_inventory *inventory = shapeproof_breakdown_inventory(sheet->breakdown);
    if (!sheet->is_diff) sp_csv_field(csv, shapeproof_inventory_path(inventory));
    sp_csv_field(csv, first);
    if (level_count(sheet) > 1) sp_csv_field(csv, second);
}

/* The name of a row in CSV: its value as it is, empty if the tensors have none, "[12 others]". Free it. */
static struct sp_text csv_name(const struct sheet *sheet, const struct shapeproof_breakdown_row *row)
{
    struct sp_text name = {0};
    sp_text_puts(&name, row->value ? row->value : "");
    if (row->others) put_row_without_value(sheet, row, &name);
    return name;
}

/* A row without rows of its own. */
static void csv_row(const struct sheet *sheet, struct sp_csv *csv, const struct shapeproof_breakdown_row *row,
                    const struct shapeproof_breakdown_row *parent)
{
    struct sp_text name = csv_name(sheet, row), of_parent = csv_name(sheet, parent ? parent : row);
    csv_names(sheet, csv, of_parent.data, parent ? name.data : NULL);
    sp_csv_number(csv, row->a.tensors);
    if (sheet->is_diff) sp_csv_number(csv, row->b.tensors);
    sp_csv_number(csv, row->a.parameters);
    if (sheet->is_diff) sp_csv_number(csv, row->b.parameters);
    sp_csv_number(csv, row->a.bytes);
    if (sheet->is_diff) sp_csv_number(csv, row->b.bytes);
    sp_csv_end_row(csv);
    sp_text_free(&name);
    sp_text_free(&of_parent);
}

/* "[padding]", without tensors and parameters. */
static void csv_part(const struct sheet *sheet, struct sp_csv *csv, const struct shapeproof_breakdown_part *part)
{
    char name[32];
    snprintf(name, sizeof name, "[%s]", part->name);
    csv_names(sheet, csv, name, NULL);
    for (size_t i = 0; i < (sheet->is_diff ? 4 : 2); i++) sp_csv_field(csv, NULL);
    csv_signed(csv, part->a);
    if (sheet->is_diff) csv_signed(csv, part->b);
    sp_csv_end_row(csv);
}

static void csv_titles(const struct sheet *sheet, struct sp_csv *csv)
{
    static const char *const of_one[] = {"tensors", "parameters", "bytes", NULL};
    static const char *const of_two[] = {"tensors_a", "tensors_b", "parameters_a", "parameters_b", "bytes_a",
                                         "bytes_b",   NULL};
    if (!sheet->is_diff) sp_csv_field(csv, "checkpoint");
    for (unsigned level = 0; level < level_count(sheet); level++) sp_csv_field(csv, key_name(sheet, level));
    sp_csv_heading(csv, sheet->is_diff ? of_two : of_one);
}

/* Rows whose sum is the total: of two keys those of the second. */
static void put_csv(const struct sheet *sheet, struct sp_text *text)
{
    const size_t count = shapeproof_breakdown_row_count(sheet->breakdown);
    const struct shapeproof_breakdown_row *parent = NULL;
    struct sp_csv csv = {.text = text};
    sp_text_puts(text, "");
    if (!sheet->options->no_heading) csv_titles(sheet, &csv);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_breakdown_row *row = shapeproof_breakdown_row(sheet->breakdown, i);
        const bool has_rows = i + 1 < count && shapeproof_breakdown_row(sheet->breakdown, i + 1)->level > row->level;
        if (has_rows) parent = row;
        else csv_row(sheet, &csv, row, row->level ? parent : NULL);
    }
    for (size_t i = 0; i < shapeproof_breakdown_part_count(sheet->breakdown); i++)
        csv_part(sheet, &csv, shapeproof_breakdown_part(sheet->breakdown, i));
}

/* ---- the whole ---- */

/* Bars are as long as the largest row of their level; rows that stand for others have none. */
static void find_largest(struct sheet *sheet)
{
    for (size_t i = 0; i < shapeproof_breakdown_row_count(sheet->breakdown); i++) {
        const struct shapeproof_breakdown_row *row = shapeproof_breakdown_row(sheet->breakdown, i);
        if (!row->others && row->a.bytes > sheet->largest[row->level]) sheet->largest[row->level] = row->a.bytes;
    }
}

char *shapeproof_report_breakdown(const struct shapeproof_breakdown *breakdown,
                                  const struct shapeproof_report_breakdown_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_breakdown_options plain = {0};
    struct sheet sheet = {.breakdown = breakdown, .options = options ? options : &plain};
    struct sp_text text = {0};
    sheet.is_diff = shapeproof_breakdown_diff(breakdown) != NULL;
    find_largest(&sheet);
    if (sheet.options->report.format == SHAPEPROOF_REPORT_JSON) put_json(&sheet, &text);
    else if (sheet.options->report.format == SHAPEPROOF_REPORT_CSV) put_csv(&sheet, &text);
    else if (sheet.options->report.format == SHAPEPROOF_REPORT_MARKDOWN) put_markdown(&sheet, &text);
    else put_text(&sheet, &text);
    return sp_text_take(&text, length);
}
