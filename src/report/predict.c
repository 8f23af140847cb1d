/* SPDX-License-Identifier: MIT
 * What a table predicts: its hyper-parameters, its tensors by group, its totals. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/call.h"
#include "base/json_write.h"
#include "base/map.h"
#include "names/collapse.h"
#include "report/common.h"
#include "report/prediction.h"
#include "report/table.h"
#include "shapeproof/report.h"

/* ---- formulas, when there are any ---- */

const char *sp_formula_of_group(const struct shapeproof_derivation *forms, const char *group)
{
    for (size_t i = 0; forms && i < shapeproof_derivation_formula_count(forms); i++)
        if (strcmp(shapeproof_derivation_formula(forms, i)->group, group) == 0)
            return shapeproof_derivation_formula(forms, i)->text;
    return NULL;
}

/* What a hyper-parameter is called in them, or NULL. */
static const char *symbol_in(const struct shapeproof_derivation *forms, const char *key)
{
    for (size_t i = 0; forms && i < shapeproof_derivation_symbol_count(forms); i++)
        if (strcmp(shapeproof_derivation_symbol(forms, i)->key, key) == 0)
            return shapeproof_derivation_symbol(forms, i)->name;
    return NULL;
}

/* ---- JSON: shapeproof.predict/1 ---- */

void sp_json_hyperparameters(struct sp_writer *json, const struct shapeproof_prediction *prediction,
                             const struct shapeproof_derivation *forms)
{
    sp_write_key_open(json, "hyperparameters", '[');
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "name", hyper->name);
        sp_write_key_value(json, "value", hyper->value);
        char *from = shapeproof_provenance_text(hyper->from);
        sp_write_key_string(json, "from", from);
        sp_free(from);
        sp_write_key_optional(json, "symbol", symbol_in(forms, hyper->name));
        sp_write_close(json);
    }
    sp_write_close(json);
}

/* "dtype" is that of the tensors for which the table says none, "dtype_from" who says so. */
static void json_size(struct sp_writer *json, const struct shapeproof_predicted_size *size)
{
    if (size->bytes) sp_write_key_number(json, "bytes", size->bytes);
    if (size->dtype == SHAPEPROOF_DTYPE_UNKNOWN) return;
    sp_write_key_string(json, "dtype", shapeproof_dtype_name(size->dtype));
    sp_write_key_string(json, "dtype_from", size->assumed ? "assumed" : size->key ? size->key : "option");
}

/* The totals as an object; `size` and `forms` may be NULL. */
static void json_totals(struct sp_writer *json, const char *key, const struct shapeproof_prediction *prediction,
                        const struct shapeproof_predicted_size *size, const struct shapeproof_derivation *forms)
{
    const struct shapeproof_predicted_totals *totals = shapeproof_prediction_totals(prediction);
    sp_write_key_open_line(json, key, '{');
    sp_write_key_number(json, "tensors", totals->tensors);
    sp_write_key_number(json, "parameters", totals->parameters);
    sp_write_key_number(json, "unique_parameters", totals->unique_parameters);
    sp_write_key_number(json, "buffers", totals->buffers);
    if (size) json_size(json, size);
    else if (totals->bytes) sp_write_key_number(json, "bytes", totals->bytes);
    sp_write_key_optional(json, "formula", sp_formula_of_group(forms, "total"));
    sp_write_close(json);
}

void sp_json_predicted_totals(struct sp_writer *json, const char *key, const struct shapeproof_prediction *prediction)
{
    json_totals(json, key, prediction, NULL, NULL);
}

/* A predicted tensor, one line. */
static void json_predicted(struct sp_writer *json, const struct shapeproof_prediction *prediction,
                           const struct shapeproof_predicted *tensor)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "name", tensor->name);
    sp_write_key_numbers(json, "shape", tensor->shape, tensor->rank);
    sp_write_key_number(json, "parameters", tensor->parameters);
    sp_write_key_string(json, "group", shapeproof_prediction_group(prediction, tensor->group)->name);
    sp_write_key_bool(json, "buffer", tensor->buffer);
    sp_write_key_bool(json, "optional", tensor->optional);
    if (tensor->same_as != SHAPEPROOF_NONE)
        sp_write_key_string(json, "same_as", shapeproof_prediction_tensor(prediction, tensor->same_as)->name);
    if (tensor->dtype != SHAPEPROOF_DTYPE_UNKNOWN)
        sp_write_key_string(json, "dtype", shapeproof_dtype_name(tensor->dtype));
    sp_write_key_optional(json, "stands_for", tensor->stands_for);
    sp_write_close(json);
}

/* The document of `predict --json`. */
static void predict_json(const struct shapeproof_prediction *prediction,
                         const struct shapeproof_report_predict_options *options, struct sp_text *text)
{
    const struct shapeproof_derivation *forms = options->forms;
    struct sp_writer json = sp_write_document(text, "shapeproof.predict/1");
    sp_write_key_string(&json, "table", shapeproof_prediction_table(prediction));
    sp_json_hyperparameters(&json, prediction, forms);
    sp_write_key_open(&json, "tensors", '[');
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++)
        json_predicted(&json, prediction, shapeproof_prediction_tensor(prediction, i));
    sp_write_close(&json);
    sp_write_key_open(&json, "groups", '[');
    for (size_t i = 0; i < shapeproof_prediction_group_count(prediction); i++) {
        const struct shapeproof_group *group = shapeproof_prediction_group(prediction, i);
        sp_write_open_line(&json, '{');
        sp_write_key_string(&json, "name", group->name);
        sp_write_key_number(&json, "parameters", group->parameters);
        sp_write_key_optional(&json, "formula", sp_formula_of_group(forms, group->name));
        sp_write_close(&json);
    }
    sp_write_close(&json);
    json_totals(&json, "totals", prediction, options->size, forms);
    sp_write_close(&json);
}

/* ---- text ---- */

/* Name, symbol in the formulas, value, and where the value comes from. */
static void put_hyperparameter_table(const struct shapeproof_prediction *prediction, struct sp_text *text,
                                     const struct shapeproof_report_predict_options *options)
{
    static const struct sp_column columns[] = {
        {"hyper-parameter", SP_LEFT}, {"symbol", SP_LEFT}, {"value", SP_LEFT}, {"from", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 4};
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++) {
        const struct shapeproof_hyperparameter *hyper = shapeproof_prediction_hyperparameter(prediction, i);
        const char *symbol = symbol_in(options->forms, hyper->name);
        sp_put_visible(sp_table_cell(&table), hyper->name);
        sp_put_visible(sp_table_cell(&table), symbol ? symbol : "");
        sp_put_value(sp_table_cell(&table), hyper->value, 48);
        sp_put_provenance(sp_table_cell(&table), hyper->from);
    }
    sp_table_render(&table, text, &options->report);
}

/* optional, buffer, F32, same as wte.weight */
static void put_predicted_note(const struct shapeproof_prediction *prediction,
                               const struct shapeproof_predicted *tensor, struct sp_text *text)
{
    const char *comma = "";
    if (tensor->optional) sp_text_puts(text, "optional"), comma = ", ";
    if (tensor->buffer) sp_text_printf(text, "%sbuffer", comma), comma = ", ";
    if (tensor->dtype != SHAPEPROOF_DTYPE_UNKNOWN)
        sp_text_printf(text, "%s%s", comma, shapeproof_dtype_name(tensor->dtype)), comma = ", ";
    if (tensor->same_as == SHAPEPROOF_NONE) return;
    sp_text_printf(text, "%ssame %sas ", comma, tensor->rows_only ? "rows " : "");
    sp_put_visible(text, shapeproof_prediction_tensor(prediction, tensor->same_as)->name);
}

/*   h.{0-11}.ln_1.weight  (768)  x 12  9,216 */
static void put_predicted(const struct shapeproof_prediction *prediction, struct sp_table *table, const char *name,
                          size_t count, const struct shapeproof_predicted *tensor)
{
    struct sp_text *cell = sp_table_cell(table);
    sp_text_puts(cell, "  ");
    sp_put_visible(cell, name);
    sp_put_shape(sp_table_cell(table), tensor->shape, tensor->rank);
    cell = sp_table_cell(table);
    if (count > 1) sp_text_printf(cell, "x %zu", count);
    sp_text_grouped(sp_table_cell(table), tensor->logical * count); /* at most the total, which was checked */
    put_predicted_note(prediction, tensor, sp_table_cell(table));
}

/* = E*N*(4*E + 6); nothing when there is none, or it is 0. */
static void put_formula(struct sp_text *cell, const struct shapeproof_derivation *forms, const char *group)
{
    const char *formula = sp_formula_of_group(forms, group);
    if (!formula || strcmp(formula, "0") == 0) return;
    sp_text_puts(cell, "= ");
    sp_put_visible(cell, formula);
}

/* [attention]  28,366,848  = E*N*(4*E + 6) */
static void put_group_heading(const struct shapeproof_prediction *prediction, struct sp_table *table, size_t group,
                              const struct shapeproof_derivation *forms)
{
    const struct shapeproof_group *info = shapeproof_prediction_group(prediction, group);
    struct sp_text *cell = sp_table_cell(table);
    sp_table_color(table, SP_COLOR_BOLD);
    sp_text_puts(cell, "[");
    sp_put_visible(cell, *info->name ? info->name : "tensors");
    sp_text_puts(cell, "]");
    sp_table_cell(table);
    sp_table_cell(table);
    sp_text_grouped(sp_table_cell(table), info->parameters);
    sp_table_color(table, SP_COLOR_BOLD);
    put_formula(sp_table_cell(table), forms, info->name);
}

/* Equal for tensors with the same shape and note, which may share a line: the index of the first of them. */
static size_t merge_key(struct sp_arena *arena, struct sp_map *known, const struct shapeproof_prediction *prediction,
                        const struct shapeproof_predicted *tensor, size_t index)
{
    struct sp_text text = {0};
    sp_put_shape(&text, tensor->shape, tensor->rank);
    put_predicted_note(prediction, tensor, &text);
    const char *look = sp_text_keep(&text, arena);
    const size_t key = sp_map_get(known, look);
    if (key != SIZE_MAX) return key;
    sp_map_add(known, look, index);
    return index;
}

/* The lines of a group: one for each tensor if `all` are wanted, else names that differ in their indices alone share
 * one. `members` are its tensors, indices into the prediction. */
static void put_group_lines(const struct shapeproof_prediction *prediction, struct sp_table *table,
                            const size_t *members, size_t count, bool all)
{
    struct sp_arena arena = {0};
    struct sp_map known = {0};
    struct sp_collapse_input *input = sp_realloc(NULL, count, sizeof *input);
    struct sp_collapsed *lines;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, members[i]);
        if (all) put_predicted(prediction, table, tensor->name, 1, tensor);
        else
            input[i] = (struct sp_collapse_input){.name = tensor->name,
                                                  .key = merge_key(&arena, &known, prediction, tensor, i)};
    }
    const size_t line_count = all ? 0 : sp_collapse(&arena, NULL, input, count, &lines);
    for (size_t i = 0; i < line_count; i++)
        put_predicted(prediction, table, lines[i].name, lines[i].count,
                      shapeproof_prediction_tensor(prediction, members[lines[i].first]));
    sp_free(input);
    sp_map_free(&known);
    sp_arena_free(&arena);
}

/* Sorts the indices of the tensors by group, those of a group in their order. Sets begins[g] to the place at which
 * group g begins, and the one behind the last group to the number of tensors: a counting sort. */
static void sort_by_group(const struct shapeproof_prediction *prediction, size_t *members, size_t *begins)
{
    const size_t count = shapeproof_prediction_count(prediction),
                 groups = shapeproof_prediction_group_count(prediction);
    memset(begins, 0, (groups + 2) * sizeof *begins);
    for (size_t i = 0; i < count; i++) begins[shapeproof_prediction_tensor(prediction, i)->group + 2]++;
    for (size_t group = 2; group < groups + 2; group++) begins[group] += begins[group - 1];
    for (size_t i = 0; i < count; i++) members[begins[shapeproof_prediction_tensor(prediction, i)->group + 1]++] = i;
}

/* The table of tensors, group by group. */
static void put_tensors(const struct shapeproof_prediction *prediction, struct sp_text *text,
                        const struct shapeproof_report_predict_options *options)
{
    static const struct sp_column columns[] = {
        {"tensor", SP_LEFT}, {"shape", SP_LEFT}, {"", SP_LEFT}, {"parameters", SP_RIGHT}, {"", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 5};
    const size_t groups = shapeproof_prediction_group_count(prediction);
    size_t *members = sp_realloc(NULL, shapeproof_prediction_count(prediction), sizeof *members);
    size_t *begins = sp_realloc(NULL, groups + 2, sizeof *begins);
    sort_by_group(prediction, members, begins);
    for (size_t group = 0; group < groups; group++) {
        put_group_heading(prediction, &table, group, options->forms);
        put_group_lines(prediction, &table, members + begins[group], begins[group + 1] - begins[group],
                        options->report.all);
    }
    sp_table_render(&table, text, &options->report);
    sp_free(members);
    sp_free(begins);
}

/* parameters  124,439,808 unique  = E*(N*(12*E + 13) + P + V + 2) */
static void put_total(struct sp_table *table, const char *name, uint64_t number, const char *what,
                      const struct shapeproof_derivation *forms)
{
    sp_text_puts(sp_table_cell(table), name);
    struct sp_text *cell = sp_table_cell(table);
    sp_text_grouped(cell, number);
    sp_text_puts(cell, what);
    put_formula(sp_table_cell(table), forms, "total");
}

/* How many tensors a quantiser adds that a file may lack: the size does not count them. */
static size_t count_optional_additions(const struct shapeproof_prediction *prediction)
{
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        count += tensor->stands_for && tensor->optional;
    }
    return count;
}

/* bytes  497,759,232  474.7 MiB in F32, which is assumed; the unit is left out of a few bytes. */
static void put_size(struct sp_table *table, const struct shapeproof_predicted_size *size, size_t optional)
{
    if (!size->bytes) return;
    sp_text_puts(sp_table_cell(table), "bytes");
    sp_text_grouped(sp_table_cell(table), size->bytes);
    struct sp_text *cell = sp_table_cell(table);
    if (size->bytes >= 1024) sp_put_bytes(cell, size->bytes);
    const bool is_open = size->dtype != SHAPEPROOF_DTYPE_UNKNOWN, follows = size->bytes >= 1024;
    if (is_open) sp_text_printf(cell, "%sin %s", follows ? " " : "", shapeproof_dtype_name(size->dtype));
    if (size->key) sp_text_printf(cell, " (%s)", size->key);
    if (size->assumed) sp_text_puts(cell, size->scales_alone ? ", also assumed for scales" : ", which is assumed");
    const char *comma = is_open || follows ? ", " : "";
    if (optional) sp_text_printf(cell, "%swithout %zu optional tensor%s", comma, optional, optional == 1 ? "" : "s");
}

/* A total that says the same as another is left out. Where tensors are tied, "parameters" of the JSON counts them each
 * time, and "unique_parameters" once: the text says which of the two each number is. */
static void put_predicted_totals(const struct shapeproof_prediction *prediction, struct sp_text *text,
                                 const struct shapeproof_report_predict_options *options)
{
    static const struct sp_column columns[] = {{NULL, SP_LEFT}, {NULL, SP_LEFT}, {NULL, SP_LEFT}};
    const struct shapeproof_predicted_totals *totals = shapeproof_prediction_totals(prediction);
    struct sp_table table = {.columns = columns, .column_count = 3};
    const bool tied = totals->parameters != totals->unique_parameters;
    put_total(&table, "tensors", totals->tensors, "", NULL);
    put_total(&table, "parameters", totals->unique_parameters, tied ? " unique" : "", options->forms);
    if (tied) put_total(&table, "with ties twice", totals->parameters, "", NULL);
    if (totals->buffers) put_total(&table, "buffers", totals->buffers, "", NULL);
    if (options->size) put_size(&table, options->size, count_optional_additions(prediction));
    else if (totals->bytes) put_total(&table, "bytes", totals->bytes, "", NULL);
    sp_table_render(&table, text, &options->report);
}

char *shapeproof_report_predict(const struct shapeproof_prediction *prediction,
                                const struct shapeproof_report_predict_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_predict_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->report.format == SHAPEPROOF_REPORT_JSON) {
        predict_json(prediction, options, &text);
        return sp_text_take(&text, length);
    }
    if (options->report.format == SHAPEPROOF_REPORT_CSV) {
        sp_csv_predict(&text, prediction);
        return sp_text_take(&text, length);
    }
    if (options->report.format == SHAPEPROOF_REPORT_MARKDOWN) {
        sp_markdown_predict(&text, prediction, options->forms);
        return sp_text_take(&text, length);
    }
    sp_text_puts(&text, "table ");
    sp_color_puts(&text, options->report.color, SP_COLOR_BOLD, shapeproof_prediction_table(prediction));
    sp_text_puts(&text, "\n\n");
    put_hyperparameter_table(prediction, &text, options);
    sp_text_puts(&text, "\n");
    put_tensors(prediction, &text, options);
    sp_text_puts(&text, "\n");
    put_predicted_totals(prediction, &text, options);
    return sp_text_take(&text, length);
}
