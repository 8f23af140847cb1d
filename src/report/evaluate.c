/* SPDX-License-Identifier: MIT
 * The values of expressions: a line for each, or a table with a row for each value of a hyper-parameter or each model.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/json_write.h"
#include "base/real.h"
#include "report/common.h"
#include "report/csv.h"
#include "report/markdown.h"
#include "report/table.h"
#include "shapeproof/report.h"

/* ---- JSON ---- */

static void json_value(struct sp_writer *json, const struct shapeproof_evaluated *evaluated)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "expression", evaluated->expression);
    sp_write_key_optional(json, "value", evaluated->text);
    if (!isnan(evaluated->number)) {
        sp_write_key(json, "number");
        sp_write_raw(json, sp_real_text(evaluated->number, 17).text);
    }
    sp_write_key_optional(json, "unit", evaluated->unit);
    if (evaluated->whole) sp_write_key_number(json, "whole", evaluated->whole);
    sp_write_key_optional(json, "convention", evaluated->convention);
    sp_write_key_optional(json, "why", evaluated->why);
    sp_write_close(json);
}

/* The document of `eval --json`: a point for each value of the hyper-parameter that is varied, or a single one. */
static void evaluate_json(const struct shapeproof_evaluated_point *points, size_t count,
                          const struct shapeproof_report_evaluate_options *options, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.eval/1");
    sp_write_key_optional(&json, "table", options->table);
    sp_write_key_optional(&json, "letters", options->letters);
    sp_write_key_optional(&json, "for", options->varied);
    sp_write_key_open(&json, "points", '[');
    for (size_t i = 0; i < count; i++) {
        const size_t values = points[i].evaluation ? shapeproof_evaluation_count(points[i].evaluation) : 0;
        sp_write_open_line(&json, '{');
        sp_write_key_optional(&json, "at", points[i].value);
        sp_write_key_optional(&json, "why", points[i].why);
        sp_write_key_open(&json, "values", '[');
        for (size_t k = 0; k < values; k++) json_value(&json, shapeproof_evaluation_get(points[i].evaluation, k));
        sp_write_close(&json);
        sp_write_close(&json);
    }
    sp_write_close(&json);
    sp_write_close(&json);
}

/* ---- text ---- */

/* How a number that is no integer is written. */
enum fractions {
    ROUNDED,  /* 0.316489 */
    AND_EXACT /* 0.316489 (51281/162031) */
};

/* "124,439,808", a number that is no integer, "true", or "unknown". */
static void put_value(struct sp_text *text, const struct shapeproof_evaluated *evaluated, enum fractions fractions)
{
    const int64_t denominator = evaluated->value.denominator;
    if (!evaluated->text) {
        sp_text_puts(text, "unknown");
    } else if (denominator == 1) {
        sp_put_fraction(text, evaluated->value);
    } else if (denominator > 1) {
        sp_text_puts(text, sp_real_text(evaluated->number, 6).text);
        if (fractions == AND_EXACT) sp_text_printf(text, " (%s)", evaluated->text);
    } else sp_put_visible(text, evaluated->text);
}

/* "parameters, of 46,702,792,704; with the input embedding; 2 of 8 experts"; nothing for what is no measure. Of a value
 * that is unknown: why. */
static void put_convention(struct sp_text *text, const struct shapeproof_evaluated *evaluated)
{
    if (!evaluated->text) sp_put_visible(text, evaluated->why);
    if (!evaluated->unit) return;
    sp_text_puts(text, evaluated->unit);
    if (evaluated->whole) {
        sp_text_puts(text, ", of ");
        sp_text_grouped(text, evaluated->whole);
    } else {
        sp_text_puts(text, " (");
        if (strcmp(evaluated->unit, "bytes") == 0) sp_put_bytes(text, (uint64_t)evaluated->value.numerator);
        else if (strcmp(evaluated->unit, "parameters") == 0) sp_put_short(text, (uint64_t)evaluated->value.numerator);
        else sp_put_operations(text, (uint64_t)evaluated->value.numerator);
        sp_text_puts(text, ")");
    }
    if (*evaluated->convention) sp_text_puts(text, "; ");
    sp_put_visible(text, evaluated->convention);
}

/* A line for each expression; of a single one its value, and what it is if that is a measure. */
static void put_values(struct sp_text *text, const struct shapeproof_evaluation *evaluation,
                       const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{NULL, SP_LEFT}, {NULL, SP_LEFT}, {NULL, SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 3};
    const size_t count = shapeproof_evaluation_count(evaluation);
    if (count == 1) {
        const struct shapeproof_evaluated *only = shapeproof_evaluation_get(evaluation, 0);
        put_value(text, only, AND_EXACT);
        if (!only->text) sp_text_puts(text, ": ");
        if (only->unit) sp_text_puts(text, "   ");
        put_convention(text, only);
        sp_text_puts(text, "\n");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_evaluated *evaluated = shapeproof_evaluation_get(evaluation, i);
        sp_put_visible(sp_table_cell(&table), evaluated->expression);
        put_value(sp_table_cell(&table), evaluated, AND_EXACT);
        put_convention(sp_table_cell(&table), evaluated);
    }
    sp_table_render(&table, text, options);
}

/* The first point that could be evaluated, whose expressions are those of all; NULL when there is none. */
static const struct shapeproof_evaluation *first_evaluation(const struct shapeproof_evaluated_point *points,
                                                            size_t count)
{
    size_t i = 0;
    while (i < count && !points[i].evaluation) i++;
    return i < count ? points[i].evaluation : NULL;
}

/* A convention consists of pieces with semicolons between them. */
static size_t length_of_piece(const char *piece)
{
    const char *end = strstr(piece, "; ");
    return end ? (size_t)(end - piece) : strlen(piece);
}

static const char *next_piece(const char *piece)
{
    piece += length_of_piece(piece);
    return *piece ? piece + strlen("; ") : piece;
}

static bool has_piece(const char *convention, const char *piece, size_t length)
{
    for (; *convention; convention = next_piece(convention))
        if (length_of_piece(convention) == length && strncmp(convention, piece, length) == 0) return true;
    return false;
}

/* The points of one report, and one of the measures that they have. */
struct measured {
    const struct shapeproof_evaluated_point *points;
    size_t count, expression;
    const char *side_by_side; /* the expression itself, where the points may have different ones; else NULL */
};

/* The length of an argument that only some models have and that does not say what the measure is about, if one begins
 * there: what an encoder reads, how many images a cache keeps, or that operations are of no image or sound. 0: none. */
static size_t input_length(const char *at, bool is_cache)
{
    static const char *const inputs[] = {", source_tokens=", ", images=", ", sounds="};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const size_t length = strlen(inputs[i]);
        if (strncmp(at, inputs[i], length) != 0) continue;
        const size_t digits = strspn(at + length, "0123456789");
        const bool is_none = digits == 1 && at[length] == '0';
        return i == 0 || is_cache || is_none ? length + digits : 0;
    }
    return 0;
}

/* Behind all such arguments. */
static const char *skip_inputs(const char *at, bool is_cache)
{
    for (size_t length; (length = input_length(at, is_cache)) > 0;) at += length;
    return at;
}

/* Whether two expressions are the same measure of different models: they are equal without such arguments.
 *
 *   cache(tokens=8, source_tokens=8, batch=1, dtype=bf16), cache(tokens=8, batch=1, dtype=bf16) -> true */
static bool is_same_measure(const char *a, const char *b)
{
    const bool is_cache = strncmp(a, "cache(", strlen("cache(")) == 0;
    for (;; a++, b++) {
        a = skip_inputs(a, is_cache);
        b = skip_inputs(b, is_cache);
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

/* The value of the expression, or else of the same measure with other arguments; NULL where there is neither. */
static const struct shapeproof_evaluated *value_of(const struct shapeproof_evaluation *evaluation,
                                                   const char *expression)
{
    const struct shapeproof_evaluated *same = NULL;
    for (size_t i = 0; i < shapeproof_evaluation_count(evaluation); i++) {
        const struct shapeproof_evaluated *value = shapeproof_evaluation_get(evaluation, i);
        if (strcmp(value->expression, expression) == 0) return value;
        if (!same && is_same_measure(value->expression, expression)) same = value;
    }
    return same;
}

/* The value of a point; NULL where it has none, as the table cannot be predicted there. */
static const struct shapeproof_evaluated *value_at(const struct measured *measured, size_t point)
{
    const struct shapeproof_evaluation *evaluation = measured->points[point].evaluation;
    if (!evaluation) return NULL;
    if (measured->side_by_side) return value_of(evaluation, measured->side_by_side);
    return shapeproof_evaluation_get(evaluation, measured->expression);
}

/* The same where it is a measure; else NULL. */
static const struct shapeproof_evaluated *measure_at(const struct measured *measured, size_t point)
{
    const struct shapeproof_evaluated *value = value_at(measured, point);
    return value && value->unit ? value : NULL;
}

/* Whether the piece is in the convention of every point that has the measure. */
static bool is_common_piece(const struct measured *measured, const char *piece)
{
    for (size_t i = 0; i < measured->count; i++) {
        const struct shapeproof_evaluated *it = measure_at(measured, i);
        if (it && !has_piece(it->convention, piece, length_of_piece(piece))) return false;
    }
    return true;
}

/* Appends the pieces of a convention that all points have, or those that not all have, each behind "; ". */
static void put_pieces(struct sp_text *text, const struct measured *measured, const char *convention, bool are_common)
{
    for (const char *piece = convention; *piece; piece = next_piece(piece))
        if (is_common_piece(measured, piece) == are_common)
            sp_text_printf(text, "; %.*s", (int)length_of_piece(piece), piece);
}

/* Writes what is of one point alone: why it has no value, unless the point before has the same reason, or, of a point
 * with a name, the pieces of its convention that others do not have, and its expression where that is another. */
static void put_remark(struct sp_text *text, const struct measured *measured, size_t point, bool is_named)
{
    const struct shapeproof_evaluated *value = value_at(measured, point), *before = NULL;
    const struct shapeproof_evaluated *measure = measure_at(measured, point);
    struct sp_text remark = {0};
    if (point) before = value_at(measured, point - 1);
    if (value && !value->text && !(before && !before->text && strcmp(before->why, value->why) == 0))
        sp_text_printf(&remark, "; unknown: %s", value->why);
    if (measure && measured->side_by_side && strcmp(measure->expression, measured->side_by_side) != 0)
        sp_text_printf(&remark, "; computed as %s", measure->expression);
    if (measure && is_named) put_pieces(&remark, measured, measure->convention, false);
    if (remark.length) {
        sp_text_puts(text, "  ");
        sp_put_visible(text, measured->points[point].value);
        sp_text_puts(text, ": ");
        sp_put_visible(text, remark.data + strlen("; "));
        sp_text_puts(text, "\n");
    }
    sp_text_free(&remark);
}

/* Writes how a measure counts: the pieces of its convention that all points have, then the remarks.
 *
 *   active: parameters; with the input embedding
 *     mixtral-8x7b: 2 of 8 experts
 *     vit: unknown: the table 'vit' does not say how much of it a token uses */
static void put_conventions(struct sp_text *text, const struct measured *measured, bool are_named)
{
    const struct shapeproof_evaluated *first = NULL, *measure = NULL;
    struct sp_text remarks = {0};
    for (size_t i = 0; i < measured->count; i++) {
        if (!first) first = value_at(measured, i);
        if (!measure) measure = measure_at(measured, i);
        put_remark(&remarks, measured, i, are_named);
    }
    if (measure || remarks.length) {
        sp_put_visible(text, first->expression);
        if (measure) sp_text_printf(text, ": %s", measure->unit);
        if (measure) put_pieces(text, measured, measure->convention, true);
        sp_text_puts(text, "\n");
        if (remarks.length) sp_text_puts(text, remarks.data);
    }
    sp_text_free(&remarks);
}

/* Whether a value is a number, and no list, name or string: "12", "-0.5", "1e-6". */
static bool is_number(const char *text)
{
    text += *text == '-';
    return sp_is_digit(*text) && !text[strspn(text, "0123456789.eE+-")];
}

/* A row for each point: the value of the hyper-parameter, then those of the expressions; and how they count. More
 * expressions than a table has columns are left to CSV and JSON. */
static void put_points(struct sp_text *text, const struct shapeproof_evaluated_point *points, size_t count,
                       const struct shapeproof_report_evaluate_options *options)
{
    const bool are_numbers = count && is_number(points->value);
    struct sp_column columns[SP_TABLE_COLUMNS] = {{options->varied, are_numbers ? SP_RIGHT : SP_LEFT}};
    const struct shapeproof_evaluation *first = first_evaluation(points, count);
    size_t values = first ? shapeproof_evaluation_count(first) : 0;
    /* beside the values there is a column for the hyper-parameter, and one for why a point has none */
    if (values > SP_TABLE_COLUMNS - 2) values = SP_TABLE_COLUMNS - 2;
    for (size_t k = 0; k < values; k++)
        columns[k + 1] = (struct sp_column){shapeproof_evaluation_get(first, k)->expression, SP_RIGHT};
    columns[values + 1] = (struct sp_column){"", SP_LEFT};
    struct sp_table table = {.columns = columns, .column_count = values + 2, .prose = true};
    for (size_t i = 0; i < count; i++) {
        sp_put_visible(sp_table_cell(&table), points[i].value);
        for (size_t k = 0; k < values; k++) {
            struct sp_text *cell = sp_table_cell(&table);
            const struct shapeproof_evaluated *value = value_at(&(struct measured){points, count, k, NULL}, i);
            if (value && value->text) put_value(cell, value, ROUNDED);
            else sp_text_puts(cell, value ? "unknown" : "-");
        }
        struct sp_text *why = sp_table_cell(&table);
        if (points[i].why) sp_put_visible(why, points[i].why);
    }
    sp_table_render(&table, text, &options->report);
    for (size_t k = 0; k < values; k++) put_conventions(text, &(struct measured){points, count, k, NULL}, !are_numbers);
}

/* ---- two points side by side ---- */

/* "+1,234 (+12.3%)", of two integers: the second less the first, also as a share of the first. */
static void put_difference(struct sp_text *text, const struct shapeproof_evaluated *a,
                           const struct shapeproof_evaluated *b)
{
    if (!a || !b || a->value.denominator != 1 || b->value.denominator != 1) return;
    const int64_t from = a->value.numerator, to = b->value.numerator;
    if (from < 0 || to < 0) return; /* no measure is: their difference fits */
    if (to > from) sp_text_puts(text, "+");
    sp_put_fraction(text, (struct shapeproof_fraction){to - from, 1});
    if (to == from || !from) return;
    sp_text_puts(text, " (");
    sp_put_percent(text, to - from, from, "+");
    sp_text_puts(text, ")");
}

/* A row for an expression, and below the table how it counts. */
static void put_pair(struct sp_table *table, struct sp_text *conventions, const struct measured *measured)
{
    const struct shapeproof_evaluated *const values[] = {value_at(measured, 0), value_at(measured, 1)};
    sp_put_visible(sp_table_cell(table), measured->side_by_side);
    for (size_t i = 0; i < 2; i++) {
        struct sp_text *cell = sp_table_cell(table);
        if (values[i]) put_value(cell, values[i], ROUNDED);
        else sp_text_puts(cell, "-");
    }
    put_difference(sp_table_cell(table), values[0], values[1]);
    put_conventions(conventions, measured, true);
}

/* The expressions of two points: those of the first, then those that only the second has. */
struct pairs {
    const struct shapeproof_evaluated_point *points;
    size_t point, index; /* of the next expression */
};

/* The next expression; NULL behind the last. */
static const char *next_expression(struct pairs *pairs)
{
    for (; pairs->point < 2; pairs->point++, pairs->index = 0)
        while (pairs->index < shapeproof_evaluation_count(pairs->points[pairs->point].evaluation)) {
            const char *expression =
                shapeproof_evaluation_get(pairs->points[pairs->point].evaluation, pairs->index++)->expression;
            if (!pairs->point || !value_of(pairs->points[0].evaluation, expression)) return expression;
        }
    return NULL;
}

static void put_side_by_side(struct sp_text *text, const struct shapeproof_evaluated_point *points,
                             const struct shapeproof_report_options *options)
{
    const struct sp_column columns[] = {
        {"measure", SP_LEFT}, {points[0].value, SP_RIGHT}, {points[1].value, SP_RIGHT}, {"difference", SP_RIGHT}};
    struct sp_table table = {.columns = columns, .column_count = 4};
    struct sp_text conventions = {0};
    struct pairs pairs = {.points = points};
    for (const char *expression; (expression = next_expression(&pairs));)
        put_pair(&table, &conventions, &(struct measured){.points = points, .count = 2, .side_by_side = expression});
    sp_table_render(&table, text, options);
    if (conventions.length) sp_text_puts(text, conventions.data);
    sp_text_free(&conventions);
}

/* ---- CSV ---- */

/* An integer in full; what is no integer with 17 significant digits, which give the same number back. A value that
 * could not be computed is empty. */
static void csv_value(struct sp_csv *csv, const struct shapeproof_evaluated *evaluated)
{
    const bool exact = !evaluated->text || evaluated->value.denominator == 1 || isnan(evaluated->number);
    sp_csv_field(csv, exact ? evaluated->text : sp_real_text(evaluated->number, 17).text);
}

/* A heading with the hyper-parameter that is varied and the expressions, then a row for each point. */
static void evaluate_csv(struct sp_text *text, const struct shapeproof_evaluated_point *points, size_t count,
                         const struct shapeproof_report_evaluate_options *options)
{
    const struct shapeproof_evaluation *first = first_evaluation(points, count);
    const size_t values = first ? shapeproof_evaluation_count(first) : 0;
    struct sp_csv csv = {.text = text};
    if (options->varied) sp_csv_field(&csv, options->varied);
    for (size_t k = 0; k < values; k++) sp_csv_field(&csv, shapeproof_evaluation_get(first, k)->expression);
    sp_csv_end_row(&csv);
    for (size_t i = 0; i < count; i++) {
        if (options->varied) sp_csv_field(&csv, points[i].value);
        for (size_t k = 0; k < values; k++) {
            if (points[i].evaluation) csv_value(&csv, shapeproof_evaluation_get(points[i].evaluation, k));
            else sp_csv_field(&csv, NULL);
        }
        sp_csv_end_row(&csv);
    }
}

/* A row for each expression of either point, with both values. */
static void pairs_csv(struct sp_text *text, const struct shapeproof_evaluated_point *points)
{
    struct sp_csv csv = {.text = text};
    struct pairs pairs = {.points = points};
    sp_csv_field(&csv, "measure");
    for (size_t i = 0; i < 2; i++) sp_csv_field(&csv, points[i].value);
    sp_csv_end_row(&csv);
    for (const char *expression; (expression = next_expression(&pairs));) {
        sp_csv_field(&csv, expression);
        for (size_t i = 0; i < 2; i++) {
            const struct shapeproof_evaluated *value = value_of(points[i].evaluation, expression);
            if (value) csv_value(&csv, value);
            else sp_csv_field(&csv, NULL);
        }
        sp_csv_end_row(&csv);
    }
}

/* ---- Markdown ---- */

/* A cell with that text, which is freed. */
static void markdown_cell(struct sp_text *text, struct sp_text *cell)
{
    sp_markdown_cell(text, cell->length ? cell->data : "");
    sp_text_free(cell);
}

/* | `active` | 12,879,925,248 | parameters, of 46,702,792,704; ... |, for each expression. */
static void markdown_values(struct sp_text *text, const struct shapeproof_evaluation *evaluation)
{
    sp_text_puts(text, "| expression | value | what it counts |\n|---|--:|---|\n");
    for (size_t i = 0; i < shapeproof_evaluation_count(evaluation); i++) {
        const struct shapeproof_evaluated *evaluated = shapeproof_evaluation_get(evaluation, i);
        struct sp_text value = {0}, counts = {0};
        put_value(&value, evaluated, AND_EXACT);
        put_convention(&counts, evaluated);
        sp_text_puts(text, "|");
        sp_markdown_code_cell(text, evaluated->expression);
        markdown_cell(text, &value);
        markdown_cell(text, &counts);
        sp_text_puts(text, "\n");
    }
}

/* Lines of text as a list, whose indented lines are below the others. Frees them. */
static void markdown_list(struct sp_text *text, struct sp_text *lines)
{
    if (lines->length) sp_text_puts(text, "\n");
    for (char *line = lines->data, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = '\0';
        const size_t indent = strspn(line, " ");
        sp_text_printf(text, "%.*s- ", (int)indent, line);
        sp_markdown_text(text, line + indent);
        sp_text_puts(text, "\n");
    }
    sp_text_free(lines);
}

/* How the expressions count, as a list. */
static void markdown_conventions(struct sp_text *text, const struct shapeproof_evaluated_point *points, size_t count,
                                 size_t values)
{
    struct sp_text lines = {0};
    for (size_t k = 0; k < values; k++)
        put_conventions(&lines, &(struct measured){points, count, k, NULL}, count && !is_number(points->value));
    markdown_list(text, &lines);
}

/* The value of a point, or that it is unknown; "-" where the table cannot be predicted. */
static void markdown_value(struct sp_text *text, const struct shapeproof_evaluated *value)
{
    struct sp_text cell = {0};
    if (value && value->text) put_value(&cell, value, ROUNDED);
    else sp_text_puts(&cell, value ? "unknown" : "-");
    markdown_cell(text, &cell);
}

static bool is_any_refused(const struct shapeproof_evaluated_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (points[i].why) return true;
    return false;
}

/* A row for each point, with the reason of one that has no values; and below the table how the expressions count. */
static void markdown_points(struct sp_text *text, const struct shapeproof_evaluated_point *points, size_t count,
                            const char *varied)
{
    const struct shapeproof_evaluation *first = first_evaluation(points, count);
    const size_t values = first ? shapeproof_evaluation_count(first) : 0;
    const bool has_reasons = is_any_refused(points, count);
    sp_text_puts(text, "|");
    sp_markdown_code_cell(text, varied);
    for (size_t k = 0; k < values; k++) sp_markdown_code_cell(text, shapeproof_evaluation_get(first, k)->expression);
    sp_text_puts(text, has_reasons ? " why not |\n|---|" : "\n|---|");
    for (size_t k = 0; k < values; k++) sp_text_puts(text, "--:|");
    sp_text_puts(text, has_reasons ? "---|\n" : "\n");
    for (size_t i = 0; i < count; i++) {
        sp_text_puts(text, "|");
        sp_markdown_cell(text, points[i].value);
        for (size_t k = 0; k < values; k++)
            markdown_value(text, value_at(&(struct measured){points, count, k, NULL}, i));
        if (has_reasons) sp_markdown_cell(text, points[i].why ? points[i].why : "");
        sp_text_puts(text, "\n");
    }
    markdown_conventions(text, points, count, values);
}

/* A row for each expression of either point, with both values; and below the table how the expressions count. */
static void markdown_pairs(struct sp_text *text, const struct shapeproof_evaluated_point *points)
{
    struct sp_text lines = {0};
    struct pairs pairs = {.points = points};
    sp_text_puts(text, "| measure |");
    for (size_t i = 0; i < 2; i++) sp_markdown_cell(text, points[i].value);
    sp_text_puts(text, "\n|---|--:|--:|\n");
    for (const char *expression; (expression = next_expression(&pairs));) {
        const struct measured measured = {.points = points, .count = 2, .side_by_side = expression};
        sp_text_puts(text, "|");
        sp_markdown_code_cell(text, expression);
        for (size_t i = 0; i < 2; i++) markdown_value(text, value_at(&measured, i));
        sp_text_puts(text, "\n");
        put_conventions(&lines, &measured, true);
    }
    markdown_list(text, &lines);
}

static void evaluate_markdown(struct sp_text *text, const struct shapeproof_evaluated_point *points, size_t count,
                              const struct shapeproof_report_evaluate_options *options)
{
    if (options->varied) markdown_points(text, points, count, options->varied);
    else if (count && points->evaluation) markdown_values(text, points->evaluation);
}

char *shapeproof_report_evaluate(const struct shapeproof_evaluated_point *points, size_t count,
                                 const struct shapeproof_report_evaluate_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_evaluate_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    const bool are_two = options->side_by_side && count == 2 && points[0].evaluation && points[1].evaluation;
    sp_text_puts(&text, "");
    switch (options->report.format) {
    case SHAPEPROOF_REPORT_JSON:
        evaluate_json(points, count, options, &text);
        break;
    case SHAPEPROOF_REPORT_CSV:
        if (are_two) pairs_csv(&text, points);
        else evaluate_csv(&text, points, count, options);
        break;
    case SHAPEPROOF_REPORT_MARKDOWN:
        if (are_two) markdown_pairs(&text, points);
        else evaluate_markdown(&text, points, count, options);
        break;
    default:
        if (are_two) put_side_by_side(&text, points, &options->report);
        else if (options->varied) put_points(&text, points, count, options);
        else if (count && points->evaluation) put_values(&text, points->evaluation, &options->report);
    }
    return sp_text_take(&text, length);
}
