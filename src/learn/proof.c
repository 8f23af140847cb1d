/* SPDX-License-Identifier: MIT
 * The proof: the text is parsed and expanded as any table is, and has to be what each file holds. Where it is not, each
 * row is tried by itself, and those that are wrong are left out: what is written is a table in any case. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/order.h"
#include "learn/learning.h"
#include "shapeproof/prediction.h"

enum { MOST_DIFFERENCES = 100 };

static void add_difference(struct shapeproof_learning *learning, size_t example, const char *name, const char *what)
{
    learning->is_sound = false;
    if (learning->rest.count < MOST_DIFFERENCES)
        *SP_PUSH(&learning->rest) = sp_arena_printf(
            &learning->arena, "%s: %s %s", shapeproof_inventory_path(learning->evidence.examples[example].inventory),
            sp_quote(name).text, what);
}

static bool is_same_shape(const struct shapeproof_tensor *tensor, const struct shapeproof_predicted *predicted)
{
    return sp_same_dims(tensor->shape, tensor->rank, predicted->shape, predicted->rank);
}

/* Adds a difference for each predicted tensor that is not in the file, or has another shape there. One that is optional
 * or tied may be left out of a file. */
static void compare_predicted(struct shapeproof_learning *learning, const struct shapeproof_prediction *prediction,
                              size_t example)
{
    const struct shapeproof_inventory *inventory = learning->evidence.examples[example].inventory;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(prediction, i);
        const size_t there = shapeproof_inventory_find(inventory, predicted->name);
        if (there == SHAPEPROOF_NONE && !predicted->optional && predicted->same_as == SHAPEPROOF_NONE)
            add_difference(learning, example, predicted->name, "is predicted by the table, but missing in the file");
        if (there != SHAPEPROOF_NONE && !is_same_shape(shapeproof_inventory_tensor(inventory, there), predicted))
            add_difference(learning, example, predicted->name, "has another shape than the table predicts");
    }
}

/* Adds a difference for each tensor of the file that is not predicted, unless it is unexplained already; counts those
 * that are predicted with their shape. */
static void compare_tensors(struct shapeproof_learning *learning, const struct shapeproof_prediction *prediction,
                            size_t example)
{
    const struct shapeproof_inventory *inventory = learning->evidence.examples[example].inventory;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        if (tensor->flags & SHAPEPROOF_TENSOR_STATE) continue;
        const size_t predicted = shapeproof_prediction_find(prediction, tensor->name);
        if (predicted == SHAPEPROOF_NONE && sp_map_get(&learning->unexplained, tensor->name) == SIZE_MAX)
            add_difference(learning, example, tensor->name, "is predicted by no row of the table");
        if (predicted != SHAPEPROOF_NONE)
            learning->explained += is_same_shape(tensor, shapeproof_prediction_tensor(prediction, predicted));
    }
}

/* False, with an error, when the table cannot be expanded for the example. */
static bool compare_example(struct shapeproof_learning *learning, const struct shapeproof_tables *tables,
                            size_t example, struct shapeproof_error *error)
{
    struct shapeproof_config *empty = shapeproof_config_new();
    const struct shapeproof_config *config = learning->evidence.examples[example].config;
    struct shapeproof_prediction *prediction = shapeproof_predict(
        tables, config ? config : empty, &(struct shapeproof_predict_options){.table = learning->name}, error);
    if (prediction) {
        compare_tensors(learning, prediction, example);
        compare_predicted(learning, prediction, example);
    }
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(empty);
    return prediction != NULL;
}

/* Adds the tables of the user: their files, or the text of the table where the file cannot be read any more. */
static void add_own_tables(struct shapeproof_tables *tables, const struct shapeproof_tables *given)
{
    const char *last = "";
    for (size_t i = 0; i < shapeproof_tables_count(given); i++) {
        const struct shapeproof_table_info *info = shapeproof_tables_info(given, i);
        struct shapeproof_error error = {0};
        if (strcmp(shapeproof_tables_kind(given, i), "own") != 0 || strcmp(info->file, last) == 0) continue;
        if (shapeproof_tables_add_file(tables, info->file, &error) == SHAPEPROOF_OK) last = info->file;
        else {
            sp_error_reset(&error);
            shapeproof_tables_add_text(tables, info->file, info->source, info->source_length, &error);
        }
        sp_error_reset(&error);
    }
}

/* The built-in tables and the learnt one; with those of the user if it depends on other tables. NULL, with an error,
 * when its text is no table. */
static struct shapeproof_tables *tables_with_learnt(const struct shapeproof_learning *learning,
                                                    struct shapeproof_error *error)
{
    struct shapeproof_tables *tables = shapeproof_tables_new(error);
    if (tables && (learning->base || learning->inners.count)) add_own_tables(tables, learning->tables);
    if (tables && shapeproof_tables_add_text(tables, "learnt.shapes", learning->text, strlen(learning->text), error) ==
                      SHAPEPROOF_OK)
        return tables;
    shapeproof_tables_free(tables);
    return NULL;
}

bool sp_learn_prove(struct shapeproof_learning *learning, struct shapeproof_error *error)
{
    const size_t before = learning->rest.count;
    learning->is_sound = false;
    if (learning->are_strangers) return false;
    struct shapeproof_tables *tables = tables_with_learnt(learning, error);
    bool proved = tables != NULL;
    learning->is_sound = proved; /* until there is a difference */
    for (size_t i = 0; i < learning->evidence.count && proved; i++)
        proved = compare_example(learning, tables, i, error);
    if (!proved)
        *SP_PUSH(&learning->rest) =
            sp_arena_printf(&learning->arena, "the table cannot be expanded: %s", error->message);
    shapeproof_tables_free(tables);
    sp_error_reset(error);
    learning->is_sound = learning->is_sound && proved;
    return learning->is_sound && before == 0;
}

/* ---- rows by themselves ---- */

/* The first line of a message without the places in the text, which nobody sees: "learnt.shapes:3:7: expected a list"
 * -> "expected a list". */
static const char *words_of_error(struct shapeproof_learning *learning, const struct shapeproof_error *error)
{
    const char *words = error->message;
    while (strncmp(words, "learnt.shapes:", 14) == 0) {
        const char *behind = strstr(words, ": ");
        if (!behind) break;
        words = behind + 2;
    }
    return sp_arena_copy(&learning->arena, words, sp_first_line(words));
}

/* Whether the prediction of one row is what the example has of it. */
static bool is_row_of_example(const struct sp_tensor_row *row, const struct shapeproof_prediction *prediction,
                              size_t example)
{
    size_t places = 0;
    for (size_t i = 0; i < row->places.count; i++) {
        const struct sp_row_tensor *place = &row->places.items[i];
        if (place->point.example != example) continue;
        const size_t predicted = shapeproof_prediction_find(prediction, place->tensor->name);
        if (predicted == SHAPEPROOF_NONE ||
            !is_same_shape(place->tensor, shapeproof_prediction_tensor(prediction, predicted)))
            return false;
        places++;
    }
    return shapeproof_prediction_count(prediction) == places;
}

/* What is wrong with a row, if the text has that row alone: it cannot be expanded for an example, or predicts something
 * else than the example has. NULL when nothing is. */
static const char *fault_of_row(struct shapeproof_learning *learning, const struct sp_tensor_row *row)
{
    struct shapeproof_error error = {0};
    const char *fault = NULL;
    struct shapeproof_tables *tables = tables_with_learnt(learning, &error);
    for (size_t e = 0; tables && e < learning->evidence.count && !fault; e++) {
        struct shapeproof_config *empty = shapeproof_config_new();
        const struct shapeproof_learn_example *example = &learning->evidence.examples[e];
        struct shapeproof_prediction *prediction =
            shapeproof_predict(tables, example->config ? example->config : empty,
                               &(struct shapeproof_predict_options){.table = learning->name}, &error);
        if (!prediction) fault = words_of_error(learning, &error);
        else if (!is_row_of_example(row, prediction, e))
            fault = sp_arena_printf(&learning->arena, "the expressions that were found for it are wrong for %s",
                                    shapeproof_inventory_path(example->inventory));
        shapeproof_prediction_free(prediction);
        shapeproof_config_free(empty);
    }
    if (!tables) fault = words_of_error(learning, &error);
    shapeproof_tables_free(tables);
    sp_error_reset(&error);
    return fault;
}

/* The same, for which the text is written with that row alone and without its tie. `solved` is which rows are. */
static const char *fault_of_row_alone(struct shapeproof_learning *learning, const bool *solved, size_t which)
{
    struct sp_layout *layout = &learning->problem.layout;
    struct sp_tensor_row *row = &layout->rows.items[which];
    const size_t tied_to = row->tied_to;
    for (size_t i = 0; i < layout->rows.count; i++) layout->rows.items[i].is_solved = i == which;
    row->tied_to = SHAPEPROOF_NONE;
    sp_learn_write(learning);
    const char *fault = fault_of_row(learning, row);
    row->tied_to = tied_to;
    for (size_t i = 0; i < layout->rows.count; i++) layout->rows.items[i].is_solved = solved[i];
    return fault;
}

void sp_learn_leave_out_all_rows(struct shapeproof_learning *learning)
{
    struct sp_layout *layout = &learning->problem.layout;
    for (size_t i = 0; i < layout->rows.count; i++) {
        if (!layout->rows.items[i].is_solved) continue;
        layout->rows.items[i].is_solved = false;
        layout->rows.items[i].why_not = "the table that was found has mistakes";
    }
}

void sp_learn_leave_out_wrong_rows(struct shapeproof_learning *learning)
{
    enum { MOST_PREDICTIONS = 20000 }; /* some seconds; with more all rows are left out */
    struct sp_layout *layout = &learning->problem.layout;
    const size_t rows = layout->rows.count;
    if (rows * learning->evidence.count > MOST_PREDICTIONS) {
        sp_learn_leave_out_all_rows(learning);
        return;
    }
    /* The faults are all collected first: each row is tried in a table that has no other one. */
    bool *solved = sp_realloc(NULL, rows + 1, sizeof *solved);
    const char **faults = sp_realloc(NULL, rows + 1, sizeof *faults);
    for (size_t i = 0; i < rows; i++) solved[i] = layout->rows.items[i].is_solved;
    for (size_t i = 0; i < rows; i++) {
        faults[i] = NULL;
        if (solved[i] && !layout->rows.items[i].is_inner) faults[i] = fault_of_row_alone(learning, solved, i);
    }
    for (size_t i = 0; i < rows; i++) {
        struct sp_tensor_row *row = &layout->rows.items[i];
        if (!faults[i]) continue;
        row->is_solved = false;
        row->why_not = faults[i];
    }
    /* What is tied to a row that is left out is written by itself. */
    for (size_t i = 0; i < rows; i++) {
        struct sp_tensor_row *row = &layout->rows.items[i];
        if (row->tied_to != SHAPEPROOF_NONE && !layout->rows.items[row->tied_to].is_solved)
            row->tied_to = SHAPEPROOF_NONE;
    }
    sp_free(faults);
    sp_free(solved);
}
