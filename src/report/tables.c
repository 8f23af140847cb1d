/* SPDX-License-Identifier: MIT
 * Which tables there are. */
#include "report/common.h"
#include "report/json.h"
#include "report/table.h"
#include "shapeproof/report.h"

static void tables_json(const struct sp_tables *tables, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.tables/1");
    sp_write_key_open(&json, "tables", '[');
    for (size_t i = 0; i < sp_tables_count(tables); i++) {
        const struct sp_table_info info = sp_tables_info(tables, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", info.name);
        sp_write_key_string(&json, "title", info.title);
        sp_write_key_string(&json, "file", info.file);
        sp_write_key_number(&json, "line", info.line);
        sp_write_key_open(&json, "model_types", '[');
        for (size_t k = 0; k < info.model_type_count; k++) sp_write_string(&json, info.model_types[k]);
        sp_write_close(&json);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_close(&json);
}

/* Name, model_type values, title. */
static void tables_text(const struct sp_tables *tables, struct sp_text *text, const struct sp_report_options *options)
{
    static const struct sp_column columns[] = {{"table", false}, {"model_type", false}, {"what it is", false}};
    struct sp_table table = {.columns = columns, .column_count = 3};
    for (size_t i = 0; i < sp_tables_count(tables); i++) {
        const struct sp_table_info info = sp_tables_info(tables, i);
        sp_put_visible(sp_table_cell(&table), info.name);
        struct sp_text *types = sp_table_cell(&table);
        for (size_t k = 0; k < info.model_type_count; k++) {
            if (k) sp_text_puts(types, " ");
            sp_put_visible(types, info.model_types[k]);
        }
        sp_put_visible(sp_table_cell(&table), info.title);
    }
    sp_table_render(&table, text, options);
    sp_table_free(&table);
}

char *sp_report_tables(const struct sp_tables *tables, const struct sp_report_options *options, size_t *length)
{
    static const struct sp_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SP_REPORT_JSON) tables_json(tables, &text);
    else tables_text(tables, &text, options);
    return sp_text_take(&text, length);
}
