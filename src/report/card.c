/* SPDX-License-Identifier: MIT
 * The numbers for a model card, and what the README says about them. */
#include <string.h>

#include "base/call.h"
#include "base/json_write.h"
#include "report/common.h"
#include "report/markdown.h"
#include "report/table.h"
#include "shapeproof/report.h"

/* Whether a token uses only some of the parameters, and their number is known. */
static bool is_mixture(const struct shapeproof_evaluated *active)
{
    return active && active->value.denominator == 1 && active->value.numerator >= 0 &&
           (uint64_t)active->value.numerator != active->whole;
}

/* ---- JSON ---- */

static void json_statement(struct sp_writer *json, const struct shapeproof_statement *statement)
{
    sp_write_open_line(json, '{');
    sp_write_key_number(json, "line", statement->line);
    sp_write_key_string(json, "printed", statement->printed);
    sp_write_key_string(json, "verdict", shapeproof_verdict_on_claim_name(statement->verdict));
    sp_write_key_number(json, "counted", statement->counted);
    sp_write_key_filled(json, "convention", statement->convention);
    sp_write_key_filled(json, "why", statement->why);
    sp_write_key_filled(json, "right", statement->right);
    sp_write_key_string(json, "text", statement->text);
    sp_write_close(json);
}

static void put_card_json(struct sp_text *text, const struct shapeproof_card *card,
                          const struct shapeproof_report_card_options *options)
{
    const struct shapeproof_card_totals *totals = shapeproof_card_totals(card);
    struct sp_writer json = sp_write_document(text, "shapeproof.card/1");
    sp_write_key_optional(&json, "checkpoint", options->path);
    sp_write_key_optional(&json, "table", options->table);
    sp_write_key_number(&json, "parameters", totals->parameters);
    if (is_mixture(options->active)) {
        sp_write_key_number(&json, "active", (uint64_t)options->active->value.numerator);
        sp_write_key_string(&json, "active_convention", options->active->convention);
    }
    sp_write_key_number(&json, "tied", totals->tied);
    sp_write_key_number(&json, "buffers", totals->buffers);
    sp_write_key_number(&json, "token_embedding", totals->tokens);
    sp_write_key_number(&json, "head", totals->head);
    sp_write_key_number(&json, "position_embedding", totals->positions);
    sp_write_key_number(&json, "stored", totals->stored);
    sp_write_key_number(&json, "bytes", totals->bytes);
    sp_write_key_open(&json, "groups", '[');
    for (size_t i = 0; i < shapeproof_card_group_count(card); i++) {
        const struct shapeproof_group *group = shapeproof_card_group(card, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", group->name);
        sp_write_key_number(&json, "parameters", group->parameters);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "dtypes", '[');
    for (size_t i = 0; i < shapeproof_card_dtype_count(card); i++) {
        const struct shapeproof_card_dtype *dtype = shapeproof_card_dtype(card, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "dtype", dtype->name);
        sp_write_key_number(&json, "tensors", dtype->tensors);
        sp_write_key_number(&json, "elements", dtype->elements);
        sp_write_key_number(&json, "bytes", dtype->bytes);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "statements", '[');
    for (size_t i = 0; i < shapeproof_card_statement_count(card); i++)
        json_statement(&json, shapeproof_card_statement(card, i));
    sp_write_close(&json);
    sp_write_close(&json);
}

/* ---- text and Markdown ---- */

/* The rows of the card: what is counted, and the number. */
struct rows {
    struct sp_text *text;  /* of Markdown */
    struct sp_table table; /* of text */
    bool markdown;
};

/* Begins a row; returns where its value goes. `code` in backticks, as names of groups and dtypes are. */
static struct sp_text *begin_row(struct rows *rows, const char *label, bool code)
{
    if (!rows->markdown) {
        sp_put_visible(sp_table_cell(&rows->table), label);
        return sp_table_cell(&rows->table);
    }
    sp_text_puts(rows->text, "| ");
    if (code) sp_markdown_cell_code(rows->text, label);
    else sp_text_puts(rows->text, label);
    sp_text_puts(rows->text, " | ");
    return rows->text;
}

static void end_row(struct rows *rows)
{
    if (rows->markdown) sp_text_puts(rows->text, " |\n");
}

/* "124,439,808 (124.4 M)" */
static void put_grouped(struct sp_text *cell, uint64_t number)
{
    sp_text_grouped(cell, number);
    if (number < 1000) return;
    sp_text_puts(cell, " (");
    sp_put_short(cell, number);
    sp_text_puts(cell, ")");
}

/* No row for 0. */
static void put_number(struct rows *rows, const char *label, uint64_t number, bool code)
{
    if (!number) return;
    put_grouped(begin_row(rows, label, code), number);
    end_row(rows);
}

/* "12,879,925,248 (12.9 B), with the input embedding; 2 of 8 experts" */
static void put_active(struct rows *rows, const struct shapeproof_evaluated *active)
{
    if (!is_mixture(active)) return;
    struct sp_text *cell = begin_row(rows, "active parameters", false);
    put_grouped(cell, (uint64_t)active->value.numerator);
    if (*active->convention) sp_text_printf(cell, ", %s", active->convention);
    end_row(rows);
}

static void put_rows(struct rows *rows, const struct shapeproof_card *card, const struct shapeproof_evaluated *active)
{
    const struct shapeproof_card_totals *totals = shapeproof_card_totals(card);
    const uint64_t embeddings = totals->tokens + totals->positions;
    put_number(rows, "parameters", totals->parameters, false);
    put_active(rows, active);
    put_number(rows, "embeddings", embeddings, false);
    if (embeddings) put_number(rows, "without embeddings", totals->parameters - embeddings, false);
    if (totals->head)
        put_number(rows, "without embeddings and head", totals->parameters - embeddings - totals->head, false);
    put_number(rows, "tied, counted once", totals->tied, false);
    put_number(rows, "buffers", totals->buffers, false);
    for (size_t i = 0; i < shapeproof_card_group_count(card); i++) {
        const struct shapeproof_group *group = shapeproof_card_group(card, i);
        struct sp_text label = {0};
        sp_text_printf(&label, "[%s]", group->name);
        put_number(rows, label.data, group->parameters, true);
        sp_text_free(&label);
    }
    for (size_t i = 0; i < shapeproof_card_dtype_count(card); i++) {
        const struct shapeproof_card_dtype *dtype = shapeproof_card_dtype(card, i);
        struct sp_text *cell = begin_row(rows, dtype->name, true);
        sp_text_grouped(cell, dtype->elements);
        sp_text_puts(cell, " in ");
        sp_put_count(cell, dtype->tensors, "tensor", "tensors");
        sp_text_puts(cell, ", ");
        sp_put_bytes(cell, dtype->bytes);
        end_row(rows);
    }
    struct sp_text *cell = begin_row(rows, "bytes", false);
    sp_text_grouped(cell, totals->bytes);
    sp_text_puts(cell, " (");
    sp_put_bytes(cell, totals->bytes);
    sp_text_puts(cell, ")");
    end_row(rows);
}

/* "README.md:12: WRONG 117M, should be 124M: 124,439,808 parameters; 6.0% too small", and the line below it. */
static void put_statement(struct sp_text *text, const struct shapeproof_statement *statement,
                          const struct shapeproof_report_options *options)
{
    enum { LINE_COLUMNS = 100 };
    static const struct {
        const char *word;
        enum sp_color color;
    } verdicts[] = {[SHAPEPROOF_PROVED] = {"right", SP_COLOR_GREEN},
                    [SHAPEPROOF_REFUTED] = {"WRONG", SP_COLOR_RED},
                    [SHAPEPROOF_UNDECIDED] = {"unclear", SP_COLOR_YELLOW}};
    sp_text_printf(text, "README.md:%zu: ", statement->line);
    sp_color_puts(text, options->color, verdicts[statement->verdict].color, verdicts[statement->verdict].word);
    sp_text_printf(text, " %s", statement->printed);
    if (*statement->right) sp_text_printf(text, ", should be %s", statement->right);
    sp_text_puts(text, ": ");
    if (statement->verdict == SHAPEPROOF_UNDECIDED) sp_text_puts(text, statement->why);
    else {
        sp_put_count(text, statement->counted, "parameter", "parameters");
        if (*statement->convention) sp_text_printf(text, ", %s", statement->convention);
        if (*statement->why) sp_text_printf(text, "; %s", statement->why);
    }
    sp_text_puts(text, "\n    ");
    sp_put_cut(text, statement->text, LINE_COLUMNS);
    sp_text_puts(text, "\n");
}

static void put_card_text(struct sp_text *text, const struct shapeproof_card *card,
                          const struct shapeproof_report_card_options *options)
{
    static const struct sp_column columns[] = {{NULL, SP_LEFT}, {NULL, SP_LEFT}};
    const struct shapeproof_card_totals *totals = shapeproof_card_totals(card);
    struct rows rows = {.table = {.columns = columns, .column_count = 2}};
    if (options->path) {
        sp_put_visible(text, options->path);
        sp_text_puts(text, options->table ? ": table " : ": counted in the file, without a table");
        if (options->table) sp_put_visible(text, options->table);
        sp_text_puts(text, "\n");
    }
    put_rows(&rows, card, options->active);
    sp_table_render(&rows.table, text, &options->report);
    if (totals->predicted && totals->stored != totals->parameters + totals->buffers) {
        sp_text_puts(text, "the file stores ");
        sp_text_grouped(text, totals->stored);
        sp_text_puts(text, " elements; shapeproof check says why\n");
    }
    if (shapeproof_card_statement_count(card)) sp_text_puts(text, "\n");
    for (size_t i = 0; i < shapeproof_card_statement_count(card); i++)
        put_statement(text, shapeproof_card_statement(card, i), &options->report);
}

static void put_card_markdown(struct sp_text *text, const struct shapeproof_card *card,
                              const struct shapeproof_evaluated *active)
{
    struct rows rows = {.text = text, .markdown = true};
    sp_text_puts(text, "| | |\n|---|---|\n");
    put_rows(&rows, card, active);
}

char *shapeproof_report_card(const struct shapeproof_card *card, const struct shapeproof_report_card_options *options,
                             size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_card_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->report.format == SHAPEPROOF_REPORT_JSON) put_card_json(&text, card, options);
    else if (options->report.format == SHAPEPROOF_REPORT_MARKDOWN) put_card_markdown(&text, card, options->active);
    else put_card_text(&text, card, options);
    return sp_text_take(&text, length);
}
