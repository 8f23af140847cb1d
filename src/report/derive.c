/* SPDX-License-Identifier: MIT
 * The closed forms of a table: the formulas of its groups and of the total, then what their symbols stand for. */
#include <string.h>

#include "base/call.h"
#include "base/json_write.h"
#include "report/common.h"
#include "report/markdown.h"
#include "report/table.h"
#include "shapeproof/report.h"

/* The document of `derive --json`: formulas, symbols, assumptions. */
static void derive_json(const struct shapeproof_derivation *derivation, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.derive/1");
    sp_write_key_string(&json, "table", shapeproof_derivation_table(derivation));
    sp_write_key_open(&json, "formulas", '[');
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derivation); i++) {
        const struct shapeproof_formula formula = *shapeproof_derivation_formula(derivation, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "group", formula.group);
        sp_write_key_filled(&json, "when", formula.when);
        sp_write_key_string(&json, "formula", formula.text);
        sp_write_key_string(&json, "expanded", formula.expanded);
        if (formula.is_measure) sp_write_key_bool(&json, "measure", true);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "where", '[');
    for (size_t i = 0; i < shapeproof_derivation_part_count(derivation); i++) {
        const struct shapeproof_part *part = shapeproof_derivation_part(derivation, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", part->name);
        sp_write_key_string(&json, "formula", part->formula);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "symbols", '[');
    for (size_t i = 0; i < shapeproof_derivation_symbol_count(derivation); i++) {
        const struct shapeproof_symbol *symbol = shapeproof_derivation_symbol(derivation, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", symbol->name);
        sp_write_key_filled(&json, "key", symbol->key);
        sp_write_key_filled(&json, "default", symbol->fallback);
        sp_write_key_filled(&json, "formula", symbol->formula);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "assuming", '[');
    for (size_t i = 0; i < shapeproof_derivation_assumption_count(derivation); i++)
        sp_write_string(&json, shapeproof_derivation_assumption(derivation, i));
    sp_write_close(&json);
    sp_write_close(&json);
}

/* [attention], as the table has it. */
static void put_group_name(struct sp_text *text, const char *group)
{
    sp_text_puts(text, "[");
    sp_put_visible(text, group);
    sp_text_puts(text, "]");
}

/* A row for each group and the total; below it a row for each condition that changes it: "  if not tied  + E*V". */
static void put_formulas(const struct shapeproof_derivation *derivation, struct sp_text *text,
                         const struct shapeproof_report_derive_options *options)
{
    static const struct sp_column columns[] = {{NULL, SP_LEFT}, {NULL, SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 2};
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derivation); i++) {
        const struct shapeproof_formula *formula = shapeproof_derivation_formula(derivation, i);
        struct sp_text *cell = sp_table_cell(&table);
        if (*formula->when) {
            sp_text_puts(cell, "  if ");
            sp_put_visible(cell, formula->when);
        } else if (formula->is_measure || strcmp(formula->group, "total") == 0) sp_put_visible(cell, formula->group);
        else put_group_name(cell, formula->group);
        cell = sp_table_cell(&table);
        const char *shown = options->expanded ? formula->expanded : formula->text;
        if (*formula->when && *shown != '-') sp_text_puts(cell, "+ ");
        sp_put_visible(cell, shown);
    }
    sp_table_render(&table, text, &options->report);
}

/* A row for each part that has a name, "x_1  = H // A", the first behind "where". */
static void put_parts(const struct shapeproof_derivation *derivation, struct sp_text *text,
                      const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{NULL, SP_LEFT}, {NULL, SP_LEFT}, {NULL, SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 3};
    for (size_t i = 0; i < shapeproof_derivation_part_count(derivation); i++) {
        const struct shapeproof_part *part = shapeproof_derivation_part(derivation, i);
        sp_text_puts(sp_table_cell(&table), i ? "" : "where");
        sp_put_visible(sp_table_cell(&table), part->name);
        struct sp_text *cell = sp_table_cell(&table);
        sp_text_puts(cell, "= ");
        sp_put_visible(cell, part->formula);
    }
    sp_table_render(&table, text, options);
}

/* What stands for which hyper-parameter, with its default; or what is computed, and how. */
static void put_symbols(const struct shapeproof_derivation *derivation, struct sp_text *text,
                        const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{"symbol", SP_LEFT}, {"hyper-parameter", SP_LEFT}, {"default", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 3};
    for (size_t i = 0; i < shapeproof_derivation_symbol_count(derivation); i++) {
        const struct shapeproof_symbol *symbol = shapeproof_derivation_symbol(derivation, i);
        sp_put_visible(sp_table_cell(&table), symbol->name);
        struct sp_text *cell = sp_table_cell(&table);
        sp_text_puts(cell, *symbol->formula ? "= " : "");
        sp_put_visible(cell, *symbol->formula ? symbol->formula : symbol->key);
        sp_put_visible(sp_table_cell(&table), symbol->fallback);
    }
    sp_table_render(&table, text, options);
}

/* given one sequence, F <= L and E >= 1 */
static void put_assumptions(const struct shapeproof_derivation *derivation, struct sp_text *text)
{
    const size_t count = shapeproof_derivation_assumption_count(derivation);
    for (size_t i = 0; i < count; i++) {
        sp_text_puts(text, i == 0 ? "given " : i + 1 < count ? ", " : " and ");
        sp_put_visible(text, shapeproof_derivation_assumption(derivation, i));
    }
    if (count) sp_text_puts(text, "\n");
}

/* ---- Markdown ---- */

/* A text in a cell of a table, where "|" would end the cell. */
static void put_escaped(struct sp_text *text, const char *content)
{
    for (; *content; content++) {
        if (*content == '|') sp_text_puts(text, "\\");
        sp_text_append(text, content, 1);
    }
}

/* `E*(V + P)`, or in LaTeX $E \left(V + P\right)$. */
static void put_markdown_formula(struct sp_text *text, const char *formula, bool latex)
{
    if (!latex) {
        sp_markdown_cell_code(text, formula);
        return;
    }
    sp_text_puts(text, "$");
    put_escaped(text, formula);
    sp_text_puts(text, "$");
}

/* A row for each formula of a group, with conditions as in put_formulas. */
static void put_markdown_formulas(const struct shapeproof_derivation *derivation, struct sp_text *text,
                                  const struct shapeproof_report_derive_options *options)
{
    sp_text_puts(text, "| group | parameters |\n|---|---|\n");
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derivation); i++) {
        const struct shapeproof_formula *formula = shapeproof_derivation_formula(derivation, i);
        const char *shown = options->expanded ? formula->expanded : formula->text;
        sp_text_puts(text, "| ");
        put_escaped(text, formula->group);
        if (*formula->when) {
            sp_text_puts(text, ", if ");
            sp_markdown_cell_code(text, formula->when);
        }
        sp_text_puts(text, *formula->when && *shown != '-' ? " | + " : " | ");
        put_markdown_formula(text, shown, options->latex);
        sp_text_puts(text, " |\n");
    }
}

/* A row for each part that has a name; no table where there is none. */
static void put_markdown_parts(const struct shapeproof_derivation *derivation, struct sp_text *text, bool latex)
{
    const size_t count = shapeproof_derivation_part_count(derivation);
    if (count) sp_text_puts(text, "| where | |\n|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_part *part = shapeproof_derivation_part(derivation, i);
        sp_text_puts(text, "| ");
        put_markdown_formula(text, part->name, latex);
        sp_text_puts(text, " | = ");
        put_markdown_formula(text, part->formula, latex);
        sp_text_puts(text, " |\n");
    }
    if (count) sp_text_puts(text, "\n");
}

static void put_markdown_symbols(const struct shapeproof_derivation *derivation, struct sp_text *text)
{
    sp_text_puts(text, "| symbol | hyper-parameter | default |\n|---|---|---|\n");
    for (size_t i = 0; i < shapeproof_derivation_symbol_count(derivation); i++) {
        const struct shapeproof_symbol *symbol = shapeproof_derivation_symbol(derivation, i);
        sp_text_puts(text, "| ");
        sp_markdown_cell_code(text, symbol->name);
        sp_text_puts(text, *symbol->formula ? " | = " : " | ");
        sp_markdown_cell_code(text, *symbol->formula ? symbol->formula : symbol->key);
        sp_text_puts(text, " | ");
        if (*symbol->fallback) sp_markdown_cell_code(text, symbol->fallback);
        sp_text_puts(text, " |\n");
    }
}

/* Tables of Markdown: the formulas, the parts of them that have a name, the symbols. */
static void derive_markdown(const struct shapeproof_derivation *derivation, struct sp_text *text,
                            const struct shapeproof_report_derive_options *options)
{
    put_markdown_formulas(derivation, text, options);
    sp_text_puts(text, "\n");
    put_assumptions(derivation, text);
    if (shapeproof_derivation_assumption_count(derivation)) sp_text_puts(text, "\n");
    put_markdown_parts(derivation, text, options->latex);
    put_markdown_symbols(derivation, text);
}

char *shapeproof_report_derive(const struct shapeproof_derivation *derivation,
                               const struct shapeproof_report_derive_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_derive_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->report.format == SHAPEPROOF_REPORT_JSON) {
        derive_json(derivation, &text);
        return sp_text_take(&text, length);
    }
    if (options->report.format == SHAPEPROOF_REPORT_MARKDOWN) {
        derive_markdown(derivation, &text, options);
        return sp_text_take(&text, length);
    }
    put_formulas(derivation, &text, options);
    put_parts(derivation, &text, &options->report);
    put_assumptions(derivation, &text);
    sp_text_puts(&text, "\n");
    put_symbols(derivation, &text, &options->report);
    return sp_text_take(&text, length);
}
