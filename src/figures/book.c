/* SPDX-License-Identifier: MIT
 * The book of figures, src/models/figures.json. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "base/watch.h"
#include "config/published.h"
#include "figures/conventions.h"
#include "prove/printed.h"
#include "shapeproof/evaluate.h"

struct shapeproof_figures {
    struct sp_arena arena;
    struct shapeproof_figure *items;
    size_t count, capacity;
};

/* ---- the figures of one model ---- */

/* A published model under judgement, and the lines of the book that are about it. */
struct judged_model {
    const struct shapeproof_model *model;
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    struct shapeproof_prediction *prediction;
    struct sp_figure_parts parts; /* all 0 until a figure needs a convention */
    const char **expressions;     /* of the figures that do not count the total */
    size_t expression_count;
    struct shapeproof_expressions *parsed;    /* NULL: there are none, or they are malformed */
    struct shapeproof_evaluation *evaluation; /* of these; likewise */
};

static bool counts_total(const struct shapeproof_figure *figure) { return strcmp(figure->of, "total") == 0; }

/* Whether the expression counts the whole model with its embeddings, as "active" and "total - [experts]/2" do:
 * conventions about embeddings make a difference to it. */
static bool counts_embeddings(const char *expression)
{
    if (strcmp(expression, "active") == 0) return true;
    return strncmp(expression, "total", strlen("total")) == 0 && !strstr(expression, "embedding]") &&
           !strstr(expression, "head]");
}

/* Evaluates the expressions together, because each evaluation counts the table. */
static void evaluate_expressions(struct judged_model *judged, struct shapeproof_error *error)
{
    const char *table = shapeproof_prediction_table(judged->prediction);
    const struct shapeproof_claim_lines lines = {
        .name = "figures.json", .items = judged->expressions, .count = judged->expression_count};
    char *letters = NULL;
    if (!lines.count) return;
    judged->parsed = shapeproof_expressions_new(judged->tables, table, &lines, &letters, error);
    const struct shapeproof_evaluate_options what = {.prediction = judged->prediction};
    if (judged->parsed) judged->evaluation = shapeproof_evaluate(judged->parsed, judged->config, &what, error);
    sp_free(letters);
}

/* The number that an expression has; false with the reason when it is not a whole number. */
static bool take_value(const struct shapeproof_evaluated *result, uint64_t *value, const char **why)
{
    if (result->value.denominator != 1 || result->value.numerator < 0) {
        *why = result->why ? result->why : "it is not a whole number";
        return false;
    }
    *value = (uint64_t)result->value.numerator;
    return true;
}

/* The parts of the model, for the conventions under which the value of an expression, or the total for NULL, may be
 * printed. */
static struct sp_figure_parts parts_of(struct judged_model *judged, const struct shapeproof_evaluated *result,
                                       uint64_t value)
{
    if (!judged->parts.total) judged->parts = sp_figure_parts_of(judged->prediction);
    const struct sp_figure_parts parts = judged->parts;
    return result ? (struct sp_figure_parts){.total = value, .tokens = parts.tokens, .head = parts.head} : parts;
}

/* Judges a figure. `result` is the value of its expression; NULL: it counts the total. Most figures are right as they
 * are printed: only for the others are the tensors gone through for the parts. */
static void judge_figure(struct shapeproof_figure *figure, struct sp_arena *arena, struct judged_model *judged,
                         const struct shapeproof_evaluated *result)
{
    const char *why = NULL;
    figure->total = shapeproof_prediction_totals(judged->prediction)->unique_parameters;
    if (result && !take_value(result, &figure->total, &why)) {
        figure->why = sp_arena_string(arena, why);
        return;
    }
    struct sp_figure_judgement judgement = sp_figure_judge(arena, figure->printed, figure->total, NULL);
    if (judgement.verdict == SHAPEPROOF_REFUTED && (!result || counts_embeddings(figure->of))) {
        const struct sp_figure_parts parts = parts_of(judged, result, figure->total);
        judgement = sp_figure_judge(arena, figure->printed, figure->total, &parts);
    }
    figure->verdict = judgement.verdict;
    figure->counted = judgement.counted;
    figure->convention = judgement.convention;
    figure->why = judgement.why;
    if (judgement.verdict == SHAPEPROOF_REFUTED) figure->right = sp_printed_like(arena, figure->printed, figure->total);
}

/* Judges the figures from index `first` on that are about the model. */
static void judge_model(struct shapeproof_figures *figures, const struct sp_book_lines *lines, size_t first,
                        struct shapeproof_tables *tables)
{
    struct judged_model judged = {.model = lines->items[first].model, .tables = tables};
    struct shapeproof_error error = {0};
    size_t next = 0; /* of the expressions */
    judged.expressions = sp_arena_array(&figures->arena, lines->count, sizeof *judged.expressions);
    for (size_t i = first; i < lines->count; i++)
        if (lines->items[i].model == judged.model && !counts_total(&figures->items[i]))
            judged.expressions[judged.expression_count++] = lines->items[i].of;
    judged.config = shapeproof_config_new();
    shapeproof_config_take_model(judged.config, judged.model);
    judged.prediction = shapeproof_predict(tables, judged.config, NULL, &error);
    if (judged.prediction) evaluate_expressions(&judged, &error);
    const char *why = sp_arena_copy(&figures->arena, error.message, strcspn(error.message, "\n"));
    for (size_t i = first; i < lines->count; i++) {
        struct shapeproof_figure *figure = &figures->items[i];
        if (lines->items[i].model != judged.model) continue;
        const bool is_total = counts_total(figure);
        if (!judged.prediction || (!is_total && !judged.evaluation)) figure->why = why;
        else
            judge_figure(figure, &figures->arena, &judged,
                         is_total ? NULL : shapeproof_evaluation_get(judged.evaluation, next++));
    }
    shapeproof_evaluation_free(judged.evaluation);
    shapeproof_expressions_free(judged.parsed);
    shapeproof_prediction_free(judged.prediction);
    shapeproof_config_free(judged.config);
}

/* ---- the book ---- */

/* Puts the figures of the lines into the list, without verdicts. */
static void list_figures(struct shapeproof_figures *figures, const struct sp_book_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct sp_book_line *line = &lines->items[i];
        *SP_PUSH(figures) = (struct shapeproof_figure){.model = line->model->name,
                                                       .printed = line->printed,
                                                       .of = line->of,
                                                       .source = line->source,
                                                       .at = line->at,
                                                       .note = line->note,
                                                       .verdict = SHAPEPROOF_UNDECIDED,
                                                       .convention = "",
                                                       .why = "",
                                                       .right = ""};
    }
}

/* Keeps the lines that are about one model. */
static void select_model(struct sp_book_lines *lines, const struct shapeproof_model *model)
{
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++)
        if (lines->items[i].model == model) lines->items[kept++] = lines->items[i];
    lines->count = kept;
}

static bool is_first_of_model(const struct sp_book_lines *lines, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (lines->items[i].model == lines->items[index].model) return false;
    return true;
}

struct shapeproof_figures *shapeproof_figures_new(struct shapeproof_tables *tables,
                                                  const struct shapeproof_models *models,
                                                  const struct shapeproof_figures_options *options,
                                                  struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("reading the figures");
    static const struct shapeproof_figures_options none = {0};
    struct sp_book_lines lines = {.items = NULL};
    bool goes_on = true;
    sp_error_reset(error);
    assert(tables && models);
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    struct shapeproof_figures *figures = sp_realloc(NULL, 1, sizeof *figures);
    *figures = (struct shapeproof_figures){.items = NULL};
    const bool is_read = sp_book_read(&figures->arena, models, &lines, error);
    if (is_read && options->model) select_model(&lines, shapeproof_models_find(models, options->model));
    if (is_read) list_figures(figures, &lines);
    for (size_t i = 0; is_read && i < lines.count && goes_on; i++) {
        if (!is_first_of_model(&lines, i)) continue;
        goes_on = sp_goes_on(options->watch, "figures", i, lines.count);
        if (goes_on) judge_model(figures, &lines, i, tables);
    }
    sp_free(lines.items);
    if (!goes_on) sp_fail_cancelled(error);
    if (is_read && goes_on) return figures;
    shapeproof_figures_free(figures);
    return NULL;
}

void shapeproof_figures_free(struct shapeproof_figures *figures)
{
    if (!figures) return;
    sp_free(figures->items);
    sp_arena_free(&figures->arena);
    sp_free(figures);
}

size_t shapeproof_figures_count(const struct shapeproof_figures *figures) { return figures->count; }

const struct shapeproof_figure *shapeproof_figures_get(const struct shapeproof_figures *figures, size_t index)
{
    assert(index < figures->count);
    return &figures->items[index];
}
