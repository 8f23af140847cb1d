/* SPDX-License-Identifier: MIT
 * Which hyper-parameters give a total: each with the value, or the values, that it would need; or several together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/call.h"
#include "base/json_write.h"
#include "base/real.h"
#include "report/common.h"
#include "report/markdown.h"
#include "report/table.h"
#include "shapeproof/report.h"

/* "value" of an exact total, the first value where a range gives it, whose "last" is null when it has no end; "first"
 * and "last" of a rounded one, without "last" when there is no end. */
static void json_solution(struct sp_writer *json, const struct shapeproof_solution *solution, bool rounded)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "name", solution->name);
    sp_write_key_string(json, "key", solution->key);
    const bool flag = solution->configured.type == SHAPEPROOF_VALUE_BOOL;
    if (flag) sp_write_key_bool(json, "value", solution->value != 0);
    else sp_write_key_number(json, rounded ? "first" : "value", (uint64_t)solution->value);
    const bool is_range = !flag && (rounded || solution->last != solution->value);
    if (is_range && solution->last != INT64_MAX) sp_write_key_number(json, "last", (uint64_t)solution->last);
    else if (is_range && !rounded) {
        sp_write_key(json, "last");
        sp_write_raw(json, "null");
    }
    char *configured = shapeproof_value_text(solution->configured);
    if (flag || solution->configured.type == SHAPEPROOF_VALUE_INT) sp_write_key_string(json, "configured", configured);
    sp_free(configured);
    sp_write_close(json);
}

/* "total": 124439808, with "within": 2 if it is meant by 2 %; or "rounds_to": "1.5B". "at_most" stands in the place of
 * "total" where smaller numbers are wanted, too. */
static void json_asked(struct sp_writer *json, const char *asked, bool is_rounded, double within, bool at_most)
{
    if (at_most) {
        sp_write_key_number(json, "at_most", strtoull(asked, NULL, 10));
        return;
    }
    if (is_rounded && within <= 0) {
        sp_write_key_string(json, "rounds_to", asked);
        return;
    }
    sp_write_key_number(json, "total", strtoull(asked, NULL, 10));
    if (within <= 0) return;
    sp_write_key(json, "within");
    sp_write_raw(json, sp_real_text(within, 6).text);
}

/* The document of `solve --json`: what was asked, the solutions, the keys that were skipped. */
static void solve_json(const struct shapeproof_solutions *solutions, struct sp_text *text)
{
    const bool rounded = shapeproof_solutions_rounded(solutions);
    struct sp_writer json = sp_write_document(text, "shapeproof.solve/1");
    sp_write_key_string(&json, "table", shapeproof_solutions_table(solutions));
    if (shapeproof_solutions_expression(solutions))
        sp_write_key_string(&json, "measure", shapeproof_solutions_expression(solutions));
    json_asked(&json, shapeproof_solutions_asked(solutions), rounded, shapeproof_solutions_within(solutions),
               shapeproof_solutions_at_most(solutions));
    sp_write_key_bool(&json, "as_given", shapeproof_solutions_as_given(solutions));
    sp_write_key_open(&json, "solutions", '[');
    for (size_t i = 0; i < shapeproof_solutions_count(solutions); i++) {
        const struct shapeproof_solution solution = *shapeproof_solutions_get(solutions, i);
        json_solution(&json, &solution, rounded);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "skipped", '[');
    for (size_t i = 0; i < shapeproof_solutions_skipped_count(solutions); i++)
        sp_write_string(&json, shapeproof_solutions_skipped(solutions, i));
    sp_write_close(&json);
    sp_write_close(&json);
}

/* "1024", "41004..41208", or "false" */
static void put_solved_values(struct sp_text *text, const struct shapeproof_solution *solution)
{
    if (solution->configured.type == SHAPEPROOF_VALUE_BOOL) {
        sp_text_puts(text, solution->value ? "true" : "false");
        return;
    }
    sp_text_printf(text, "%" PRId64, solution->value);
    if (solution->last == INT64_MAX) sp_text_puts(text, "..");
    else if (solution->last != solution->value) sp_text_printf(text, "..%" PRId64, solution->last);
}

/* The table of solutions, the most plausible first: what the value would be, and what it is. */
static void put_solutions(const struct shapeproof_solutions *solutions, struct sp_text *text,
                          const struct shapeproof_report_options *options)
{
    static const struct sp_column exact[] = {
        {"symbol", SP_LEFT}, {"hyper-parameter", SP_LEFT}, {"value", SP_RIGHT}, {"instead of", SP_RIGHT}};
    static const struct sp_column rounded[] = {
        {"symbol", SP_LEFT}, {"hyper-parameter", SP_LEFT}, {"values", SP_RIGHT}, {"now", SP_RIGHT}};
    struct sp_table table = {.columns = shapeproof_solutions_rounded(solutions) ? rounded : exact, .column_count = 4};
    for (size_t i = 0; i < shapeproof_solutions_count(solutions); i++) {
        const struct shapeproof_solution solution = *shapeproof_solutions_get(solutions, i);
        sp_put_visible(sp_table_cell(&table), solution.name);
        sp_put_visible(sp_table_cell(&table), solution.key);
        put_solved_values(sp_table_cell(&table), &solution);
        struct sp_text *cell = sp_table_cell(&table);
        if (solution.configured.type == SHAPEPROOF_VALUE_INT || solution.configured.type == SHAPEPROOF_VALUE_BOOL)
            sp_value_json(cell, solution.configured);
    }
    sp_table_render(&table, text, options);
}

/* "1.5B parameters", "at most 17179869184 for cache(tokens=8192, dtype=bf16)". */
static void put_asked(const struct shapeproof_solutions *solutions, struct sp_text *text)
{
    const char *expression = shapeproof_solutions_expression(solutions);
    if (shapeproof_solutions_at_most(solutions)) sp_text_puts(text, "at most ");
    sp_put_visible(text, shapeproof_solutions_asked(solutions));
    sp_text_puts(text, expression ? " for " : " parameters");
    if (expression) sp_put_visible(text, expression);
}

/* Makes a line that was appended since `begin`, if any was, a paragraph of Markdown. */
static void end_line(struct sp_text *text, size_t begin, const struct shapeproof_report_options *options)
{
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN && text->length > begin) sp_markdown_line(text, begin);
}

/* Whether anything gives the total; what would; what could not be tried. */
static void solve_text(const struct shapeproof_solutions *solutions, struct sp_text *text,
                       const struct shapeproof_report_options *options)
{
    const bool as_given = shapeproof_solutions_as_given(solutions), found = shapeproof_solutions_count(solutions) > 0;
    const size_t skipped = shapeproof_solutions_skipped_count(solutions);
    if (as_given || !found) {
        const size_t begin = text->length;
        sp_text_puts(text, as_given ? "the hyper-parameters give " : "no single hyper-parameter gives ");
        put_asked(solutions, text);
        sp_text_puts(text, as_given ? " as they are\n" : "\n");
        end_line(text, begin, options);
    }
    if (as_given && found) sp_text_puts(text, "\n");
    if (found) put_solutions(solutions, text, options);
    if (skipped && options->format == SHAPEPROOF_REPORT_MARKDOWN) sp_text_puts(text, "\n");
    const size_t begin = text->length;
    for (size_t i = 0; i < skipped; i++)
        sp_text_printf(text, "%s%s%s",
                       i ? ", " : "not all values could be tried: ", shapeproof_solutions_skipped(solutions, i),
                       i + 1 == skipped ? "\n" : "");
    end_line(text, begin, options);
}

char *shapeproof_report_solve(const struct shapeproof_solutions *solutions,
                              const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) solve_json(solutions, &text);
    else solve_text(solutions, &text, options);
    return sp_text_take(&text, length);
}

/* ---- several together ---- */

enum { MOST_ROWS = 20 }; /* of the text; people look at the first few */

/* The document of `solve --free --json`: the keys, then each combination as an object of their values. */
static void solve_together_json(const struct shapeproof_combinations *found, struct sp_text *text)
{
    const size_t keys = shapeproof_combinations_key_count(found);
    struct sp_writer json = sp_write_document(text, "shapeproof.solve_together/1");
    sp_write_key_string(&json, "table", shapeproof_combinations_table(found));
    json_asked(&json, shapeproof_combinations_asked(found), shapeproof_combinations_rounded(found),
               shapeproof_combinations_within(found), false);
    sp_write_key_open(&json, "keys", '[');
    for (size_t i = 0; i < keys; i++) {
        const struct shapeproof_solved_key *key = shapeproof_combinations_key(found, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", key->name);
        sp_write_key_string(&json, "key", key->key);
        if (key->configured.type == SHAPEPROOF_VALUE_INT) {
            char *configured = shapeproof_value_text(key->configured);
            sp_write_key_string(&json, "configured", configured);
            sp_free(configured);
        }
        sp_write_key_bool(&json, "kept", key->is_kept);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "combinations", '[');
    for (size_t i = 0; i < shapeproof_combinations_count(found); i++) {
        const struct shapeproof_combination *combination = shapeproof_combinations_get(found, i);
        sp_write_open_line(&json, '{');
        for (size_t k = 0; k < keys; k++)
            sp_write_key_number(&json, shapeproof_combinations_key(found, k)->key, (uint64_t)combination->values[k]);
        sp_write_key_number(&json, "parameters", combination->parameters);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_key_bool(&json, "complete", !shapeproof_combinations_is_cut(found));
    sp_write_close(&json);
}

/* Rows of values under the names of the keys; under the best ones, how many more there are. */
static void solve_together_text(const struct shapeproof_combinations *found, struct sp_text *text,
                                const struct shapeproof_report_options *options)
{
    const size_t keys = shapeproof_combinations_key_count(found), count = shapeproof_combinations_count(found);
    const size_t rows = count < MOST_ROWS ? count : MOST_ROWS;
    struct sp_column columns[SP_TABLE_COLUMNS] = {{.title = ""}};
    struct sp_table table = {.columns = columns, .column_count = keys + 1};
    for (size_t i = 0; i < keys; i++)
        columns[i] = (struct sp_column){shapeproof_combinations_key(found, i)->key, SP_RIGHT};
    columns[keys] = (struct sp_column){"parameters", SP_RIGHT};
    size_t begin = text->length;
    if (!count) {
        sp_text_puts(text, "no combination of these hyper-parameters gives ");
        sp_put_visible(text, shapeproof_combinations_asked(found));
        sp_text_puts(text, " parameters\n");
    }
    for (size_t i = 0; i < rows; i++) {
        const struct shapeproof_combination *combination = shapeproof_combinations_get(found, i);
        for (size_t k = 0; k < keys; k++) sp_text_printf(sp_table_cell(&table), "%" PRId64, combination->values[k]);
        sp_text_grouped(sp_table_cell(&table), combination->parameters);
    }
    end_line(text, begin, options);
    if (count) sp_table_render(&table, text, options);
    const bool has_rest = count > rows || shapeproof_combinations_is_cut(found);
    if (has_rest && options->format == SHAPEPROOF_REPORT_MARKDOWN) sp_text_puts(text, "\n");
    begin = text->length;
    if (count > rows) {
        sp_text_printf(text, "and %zu more", count - rows);
        sp_text_puts(text, "; --json lists them\n");
    }
    if (shapeproof_combinations_is_cut(found))
        sp_text_puts(text, "there may be more: a limit of the search was reached\n");
    end_line(text, begin, options);
}

char *shapeproof_report_solve_together(const struct shapeproof_combinations *combinations,
                                       const struct shapeproof_report_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) solve_together_json(combinations, &text);
    else solve_together_text(combinations, &text, options);
    return sp_text_take(&text, length);
}
