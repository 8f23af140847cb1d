/* SPDX-License-Identifier: MIT
 * A prediction as CSV, for spreadsheets, and as Markdown, to be pasted into a page. */
#include "report/csv.h"
#include "report/markdown.h"
#include "report/prediction.h"

/* "yes", or an empty field. */
static void csv_flag(struct sp_csv *csv, bool flag) { sp_csv_field(csv, flag ? "yes" : NULL); }

/* A tensor. Its parameters are those of the model: buffers have none. */
static void csv_predicted(struct sp_csv *csv, const struct shapeproof_prediction *prediction,
                          const struct shapeproof_predicted *tensor)
{
    struct sp_text shape = {0};
    sp_put_shape(&shape, tensor->shape, tensor->rank);
    sp_csv_field(csv, tensor->name);
    sp_csv_field(csv, shapeproof_prediction_group(prediction, tensor->group)->name);
    sp_csv_field(csv, tensor->dtype == SHAPEPROOF_DTYPE_UNKNOWN ? NULL : shapeproof_dtype_name(tensor->dtype));
    sp_csv_field(csv, shape.data);
    sp_csv_number(csv, tensor->parameters);
    csv_flag(csv, tensor->buffer);
    csv_flag(csv, tensor->optional);
    sp_csv_field(csv, tensor->same_as == SHAPEPROOF_NONE
                          ? NULL
                          : shapeproof_prediction_tensor(prediction, tensor->same_as)->name);
    sp_csv_field(csv, tensor->stands_for);
    sp_csv_end_row(csv);
    sp_text_free(&shape);
}

void sp_csv_predict(struct sp_text *text, const struct shapeproof_prediction *prediction)
{
    static const char *const titles[] = {"tensor", "group",    "dtype",   "shape",      "parameters",
                                         "buffer", "optional", "same_as", "stands_for", NULL};
    struct sp_csv csv = {.text = text};
    sp_csv_heading(&csv, titles);
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++)
        csv_predicted(&csv, prediction, shapeproof_prediction_tensor(prediction, i));
}

/* | `n_layer` | 12 | default (gpt2.shapes:40) | */
static void markdown_hyperparameter(struct sp_text *text, const struct shapeproof_hyperparameter *hyper)
{
    enum { LONGEST_VALUE = 72 }; /* columns */
    struct sp_text value = {0}, from = {0};
    sp_put_value(&value, hyper->value, LONGEST_VALUE);
    sp_put_provenance(&from, hyper->from);
    sp_text_puts(text, "|");
    sp_markdown_code_cell(text, hyper->name);
    sp_markdown_cell(text, value.length ? value.data : "");
    sp_markdown_cell(text, from.length ? from.data : "");
    sp_text_puts(text, "\n");
    sp_text_free(&value);
    sp_text_free(&from);
}

/* | attention | 28,366,848 | `E*N*(4*E + 4)` |, the last cell only if there are formulas. */
static void markdown_group(struct sp_text *text, const char *name, uint64_t parameters,
                           const struct shapeproof_derivation *forms)
{
    const char *formula = sp_formula_of_group(forms, name);
    sp_text_puts(text, "|");
    sp_markdown_cell(text, *name ? name : "tensors");
    sp_text_puts(text, " ");
    sp_text_grouped(text, parameters);
    sp_text_puts(text, " |");
    if (formula) sp_markdown_code_cell(text, formula);
    else if (forms) sp_text_puts(text, " |");
    sp_text_puts(text, "\n");
}

void sp_markdown_predict(struct sp_text *text, const struct shapeproof_prediction *prediction,
                         const struct shapeproof_derivation *forms)
{
    const struct shapeproof_predicted_totals *totals = shapeproof_prediction_totals(prediction);
    sp_text_puts(text, "**");
    sp_markdown_text(text, shapeproof_prediction_table(prediction));
    sp_text_puts(text, "**: ");
    sp_put_count(text, totals->tensors, "tensor", "tensors");
    sp_text_puts(text, ", ");
    sp_text_grouped(text, totals->unique_parameters);
    sp_text_puts(text, " parameters\n");
    if (shapeproof_prediction_hyperparameter_count(prediction))
        sp_text_puts(text, "\n| hyper-parameter | value | from |\n|---|---|---|\n");
    for (size_t i = 0; i < shapeproof_prediction_hyperparameter_count(prediction); i++)
        markdown_hyperparameter(text, shapeproof_prediction_hyperparameter(prediction, i));
    sp_text_puts(text, forms ? "\n| group | parameters | formula |\n|---|--:|---|\n"
                             : "\n| group | parameters |\n|---|--:|\n");
    for (size_t i = 0; i < shapeproof_prediction_group_count(prediction); i++) {
        const struct shapeproof_group *group = shapeproof_prediction_group(prediction, i);
        markdown_group(text, group->name, group->parameters, forms);
    }
    markdown_group(text, "total", totals->unique_parameters, forms);
}
