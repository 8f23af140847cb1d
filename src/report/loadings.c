/* SPDX-License-Identifier: MIT
 * What loaders make of a checkpoint. */
#include "report/loadings.h"

#include "report/findings.h"

static size_t count_loadings(const struct shapeproof_loadings *loadings)
{
    return loadings ? shapeproof_loading_count(loadings) : 0;
}

void sp_put_loading_row(struct sp_table *table, const struct shapeproof_loadings *loadings)
{
    if (count_loadings(loadings) == 1)
        sp_put_visible(sp_labelled(table, "loading"), shapeproof_loading(loadings, 0)->message);
}

/* Green for whole, red for refused. */
static enum sp_color answer_color(enum shapeproof_loading_answer answer)
{
    return answer == SHAPEPROOF_LOADING_WHOLE     ? SP_COLOR_GREEN
           : answer == SHAPEPROOF_LOADING_REFUSED ? SP_COLOR_RED
                                                  : SP_COLOR_YELLOW;
}

void sp_put_loading_table(const struct shapeproof_loadings *loadings, struct sp_text *text,
                          const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {
        {"loading", false}, {"", false}, {"new", true}, {"ignored", true}, {"", false}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns, .prose = true};
    const size_t count = count_loadings(loadings);
    if (count < 2) return;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_loading *loading = shapeproof_loading(loadings, i);
        sp_text_puts(sp_table_cell(&table), loading->loader);
        sp_text_puts(sp_table_cell(&table), shapeproof_loading_answer_name(loading->answer));
        sp_table_color(&table, answer_color(loading->answer));
        sp_text_grouped(sp_table_cell(&table), loading->fresh);
        sp_text_grouped(sp_table_cell(&table), loading->ignored);
        sp_put_visible(sp_table_cell(&table), loading->message);
    }
    sp_text_puts(text, "\n");
    sp_table_render(&table, text, options);
}

void sp_json_loadings(struct sp_writer *json, const struct shapeproof_loadings *loadings)
{
    sp_write_key_open(json, "loads", '[');
    for (size_t i = 0; i < count_loadings(loadings); i++) {
        const struct shapeproof_loading *loading = shapeproof_loading(loadings, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "loader", loading->loader);
        sp_write_key_string(json, "answer", shapeproof_loading_answer_name(loading->answer));
        sp_write_key_number(json, "new", loading->fresh);
        sp_write_key_number(json, "ignored", loading->ignored);
        sp_write_key_number(json, "lost", loading->lost);
        sp_write_key_number(json, "reshaped", loading->reshaped);
        sp_write_key_number(json, "expected", loading->expected);
        sp_write_key_string(json, "message", loading->message);
        sp_write_key_optional(json, "remedy", loading->remedy);
        sp_write_key_bool(json, "decides", loading->decides);
        sp_write_close(json);
    }
    sp_write_close(json);
}
