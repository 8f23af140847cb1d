/* SPDX-License-Identifier: MIT
 * The book of figures, src/models/figures.json. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "base/watch.h"
#include "config/choose.h"
#include "config/config.h"
#include "config/published.h"
#include "figures/conventions.h"
#include "prove/printed.h"
#include "verify/verify.h"

struct shapeproof_figures {
    struct sp_arena arena;
    struct shapeproof_figure *items;
    size_t count, capacity;
};

/* ---- the figures of one model ---- */

/* A published model under judgement, and the lines of the book that are about it.
 *
 * A prediction has each tensor of each expert; a count of the table takes as long for 256 experts as for 8. On the
 * other hand, a count of a table without experts takes longer than its prediction. So a model without experts all of
 * whose figures are its total is predicted, and any other is counted, and is predicted only if a figure needs a
 * convention. */
struct judged_model {
    const struct shapeproof_model *model;
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    struct shapeproof_prediction *prediction; /* NULL until it is needed */
    struct sp_figure_parts parts;             /* all 0 until a figure needs a convention */
    const char **expressions;                 /* of all its figures */
    size_t expression_count;
    struct shapeproof_expressions *parsed;    /* NULL: the total is predicted, or they are malformed */
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

static bool predict_model(struct judged_model *judged, struct shapeproof_error *error)
{
    if (!judged->prediction) judged->prediction = shapeproof_predict(judged->tables, judged->config, NULL, error);
    return judged->prediction;
}

/* Evaluates the expressions together, because each evaluation counts the table. */
static bool evaluate_expressions(struct judged_model *judged, const struct sp_unit *table,
                                 struct shapeproof_error *error)
{
    const struct shapeproof_claim_lines lines = {
        .name = "figures.json", .items = judged->expressions, .count = judged->expression_count};
    char *letters = NULL;
    judged->parsed = shapeproof_expressions_new(judged->tables, table->name, &lines, &letters, error);
    if (judged->parsed) judged->evaluation = sp_evaluate_by_count(judged->parsed, judged->config, error);
    sp_free(letters);
    return judged->evaluation;
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

/* The parts of the model, for the conventions under which its total, or another value that counts its embeddings, may
 * be printed. False with an error where it cannot be predicted. */
static bool take_parts(struct judged_model *judged, const struct shapeproof_figure *figure,
                       struct sp_figure_parts *parts, struct shapeproof_error *error)
{
    if (!predict_model(judged, error)) return false;
    if (!judged->parts.total) judged->parts = sp_figure_parts_of(judged->prediction);
    *parts = judged->parts;
    if (!counts_total(figure))
        *parts = (struct sp_figure_parts){.total = figure->total, .tokens = parts->tokens, .head = parts->head};
    return true;
}

/* The first line of an error. */
static const char *reason_of(struct sp_arena *arena, const struct shapeproof_error *error)
{
    return sp_arena_copy(arena, error->message, sp_first_line(error->message));
}

/* Judges a figure. `result` is the value of its expression; NULL: it is the total of the prediction. Most figures are
 * right as they are printed: only for the others are the tensors gone through for the parts. */
static void judge_figure(struct shapeproof_figure *figure, struct sp_arena *arena, struct judged_model *judged,
                         const struct shapeproof_evaluated *result)
{
    const char *why = NULL;
    struct shapeproof_error error = {0};
    if (!result) figure->total = shapeproof_prediction_totals(judged->prediction)->unique_parameters;
    else if (!take_value(result, &figure->total, &why)) {
        figure->why = sp_arena_string(arena, why);
        return;
    }
    struct sp_figure_judgement judgement = sp_figure_judge(arena, figure->printed, figure->total, NULL);
    if (judgement.verdict == SHAPEPROOF_REFUTED && (counts_total(figure) || counts_embeddings(figure->of))) {
        struct sp_figure_parts parts;
        if (!take_parts(judged, figure, &parts, &error)) {
            figure->why = reason_of(arena, &error);
            return;
        }
        judgement = sp_figure_judge(arena, figure->printed, figure->total, &parts);
    }
    figure->verdict = judgement.verdict;
    figure->counted = judgement.counted;
    figure->convention = judgement.convention;
    figure->why = judgement.why;
    if (judgement.verdict == SHAPEPROOF_REFUTED) figure->right = sp_printed_like(arena, figure->printed, figure->total);
}

/* Whether a token uses only a share of a group of the table: it has experts. */
static bool has_share(const struct sp_unit *table)
{
    for (size_t i = 0; i < table->section_count; i++)
        if (table->sections[i].share.part) return true;
    return false;
}

/* Judges the figures from index `first` on that are about the model. */
static void judge_model(struct shapeproof_figures *figures, const struct sp_book_lines *lines, size_t first,
                        struct shapeproof_tables *tables)
{
    struct judged_model judged = {.model = lines->items[first].model, .tables = tables};
    struct shapeproof_error error = {0};
    bool are_totals = true;
    size_t next = 0; /* of the expressions */
    judged.expressions = sp_arena_array(&figures->arena, lines->count, sizeof *judged.expressions);
    for (size_t i = first; i < lines->count; i++) {
        if (lines->items[i].model != judged.model) continue;
        judged.expressions[judged.expression_count++] = lines->items[i].of;
        are_totals = are_totals && counts_total(&figures->items[i]);
    }
    judged.config = shapeproof_config_new();
    shapeproof_config_take_model(judged.config, judged.model);
    const struct sp_unit *table = sp_choose_table(tables, NULL, sp_config_hyper(judged.config), &error);
    const bool is_predicted = are_totals && table && !has_share(table);
    const bool is_known =
        table && (is_predicted ? predict_model(&judged, &error) : evaluate_expressions(&judged, table, &error));
    const char *why = is_known ? NULL : reason_of(&figures->arena, &error);
    for (size_t i = first; i < lines->count; i++) {
        struct shapeproof_figure *figure = &figures->items[i];
        if (lines->items[i].model != judged.model) continue;
        if (!is_known) figure->why = why;
        else
            judge_figure(figure, &figures->arena, &judged,
                         is_predicted ? NULL : shapeproof_evaluation_get(judged.evaluation, next++));
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
