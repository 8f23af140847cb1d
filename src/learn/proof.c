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

static void add_difference(struct sp_learning *learning, size_t example, const char *name, const char *what)
{
    if (learning->rest.count < MOST_DIFFERENCES)
        *SP_PUSH(&learning->rest) = sp_arena_printf(&learning->arena, "%s: %s %s",
                                                    sp_inventory_path(learning->evidence.examples[example].inventory),
                                                    sp_quote(name).text, what);
}

static bool is_same_shape(const struct sp_tensor *tensor, const struct sp_predicted *predicted)
{
    return sp_same_dims(tensor->shape, tensor->rank, predicted->shape, predicted->rank);
}

/* A tensor that is tied may be left out of a file. */
static void compare_predicted(struct sp_learning *learning, const struct sp_prediction *prediction, size_t example)
{
    const struct sp_inventory *inventory = learning->evidence.examples[example].inventory;
    for (size_t i = 0; i < sp_prediction_count(prediction); i++) {
        const struct sp_predicted *predicted = sp_prediction_tensor(prediction, i);
        const size_t there = sp_inventory_find(inventory, predicted->name);
        if (there == SP_NONE && !predicted->optional && predicted->same_as == SP_NONE)
            add_difference(learning, example, predicted->name, "would be there and is not");
        if (there != SP_NONE && !is_same_shape(sp_inventory_tensor(inventory, there), predicted))
            add_difference(learning, example, predicted->name, "would have another shape");
    }
}

static void compare_tensors(struct sp_learning *learning, const struct sp_prediction *prediction, size_t example)
{
    const struct sp_inventory *inventory = learning->evidence.examples[example].inventory;
    for (size_t i = 0; i < sp_inventory_count(inventory); i++) {
        const struct sp_tensor *tensor = sp_inventory_tensor(inventory, i);
        if (tensor->flags & SP_TENSOR_STATE) continue;
        const size_t predicted = sp_prediction_find(prediction, tensor->name);
        if (predicted == SP_NONE && sp_map_get(&learning->unexplained, tensor->name) == SIZE_MAX)
            add_difference(learning, example, tensor->name, "is in no row");
        if (predicted != SP_NONE)
            learning->explained += is_same_shape(tensor, sp_prediction_tensor(prediction, predicted));
    }
}

static bool compare_example(struct sp_learning *learning, const struct sp_tables *tables, size_t example,
                            struct sp_error *error)
{
    struct sp_config *empty = sp_config_new();
    const struct sp_config *config = learning->evidence.examples[example].config;
    struct sp_prediction *prediction =
        sp_predict(tables, config ? config : empty, &(struct sp_predict_options){.table = learning->name}, error);
    if (prediction) {
        compare_tensors(learning, prediction, example);
        compare_predicted(learning, prediction, example);
    }
    sp_prediction_free(prediction);
    sp_config_free(empty);
    return prediction != NULL;
}

/* What the user has added to the tables; of what is in no file that is left the table alone. */
static void add_own_tables(struct sp_tables *tables, const struct sp_tables *given)
{
    const char *last = "";
    for (size_t i = 0; i < sp_tables_count(given); i++) {
        const struct sp_table_info info = sp_tables_info(given, i);
        struct sp_error error = {0};
        if (strcmp(sp_tables_kind(given, i), "own") != 0 || strcmp(info.file, last) == 0) continue;
        if (sp_tables_add_file(tables, info.file, &error) == SP_OK) last = info.file;
        else {
            sp_error_reset(&error);
            sp_tables_add_text(tables, info.file, info.source, info.source_length, &error);
        }
        sp_error_reset(&error);
    }
}

/* The tables that there are, and the learnt one; NULL when that is none. */
static struct sp_tables *tables_with_learnt(const struct sp_learning *learning, struct sp_error *error)
{
    struct sp_tables *tables = sp_tables_new(error);
    if (tables && (learning->base || learning->inners.count)) add_own_tables(tables, learning->tables);
    if (tables && sp_tables_add_text(tables, "learnt.shapes", learning->text, strlen(learning->text), error) == SP_OK)
        return tables;
    sp_tables_free(tables);
    return NULL;
}

bool sp_learn_prove(struct sp_learning *learning, struct sp_error *error)
{
    const size_t before = learning->rest.count;
    if (learning->are_strangers) return false;
    struct sp_tables *tables = tables_with_learnt(learning, error);
    bool proved = tables != NULL;
    for (size_t i = 0; i < learning->evidence.count && proved; i++)
        proved = compare_example(learning, tables, i, error);
    if (!proved)
        *SP_PUSH(&learning->rest) =
            sp_arena_printf(&learning->arena, "the table cannot be expanded: %s", error->message);
    sp_tables_free(tables);
    sp_error_reset(error);
    learning->is_sound = proved && learning->rest.count == before;
    return learning->is_sound && before == 0;
}

/* ---- rows by themselves ---- */

/* Some of a message without the place in a text that nobody sees: "expected a list, found an integer". */
static const char *words_of_error(struct sp_learning *learning, const struct sp_error *error)
{
    const char *words = error->message;
    while (strncmp(words, "learnt.shapes:", 14) == 0) {
        const char *behind = strstr(words, ": ");
        if (!behind) break;
        words = behind + 2;
    }
    return sp_arena_copy(&learning->arena, words, strcspn(words, "\n"));
}

/* Whether the prediction of one row is what the example has of it. */
static bool is_row_of_example(const struct sp_tensor_row *row, const struct sp_prediction *prediction, size_t example)
{
    size_t places = 0;
    for (size_t i = 0; i < row->places.count; i++) {
        const struct sp_row_tensor *place = &row->places.items[i];
        if (place->point.example != example) continue;
        const size_t predicted = sp_prediction_find(prediction, place->tensor->name);
        if (predicted == SP_NONE || !is_same_shape(place->tensor, sp_prediction_tensor(prediction, predicted)))
            return false;
        places++;
    }
    return sp_prediction_count(prediction) == places;
}

/* NULL when the text, which has that row alone, predicts it in each example; otherwise what is wrong. */
static const char *fault_of_row(struct sp_learning *learning, const struct sp_tensor_row *row)
{
    struct sp_error error = {0};
    const char *fault = NULL;
    struct sp_tables *tables = tables_with_learnt(learning, &error);
    for (size_t e = 0; tables && e < learning->evidence.count && !fault; e++) {
        struct sp_config *empty = sp_config_new();
        const struct sp_learn_example *example = &learning->evidence.examples[e];
        struct sp_prediction *prediction = sp_predict(tables, example->config ? example->config : empty,
                                                      &(struct sp_predict_options){.table = learning->name}, &error);
        if (!prediction) fault = words_of_error(learning, &error);
        else if (!is_row_of_example(row, prediction, e))
            fault = sp_arena_printf(&learning->arena, "what was found for it is not true of %s",
                                    sp_inventory_path(example->inventory));
        sp_prediction_free(prediction);
        sp_config_free(empty);
    }
    if (!tables) fault = words_of_error(learning, &error);
    sp_tables_free(tables);
    sp_error_reset(&error);
    return fault;
}

/* Writes the table of that row alone, without what it shares with others. */
static const char *fault_of_row_alone(struct sp_learning *learning, const bool *solved, size_t which)
{
    struct sp_layout *layout = &learning->lesson.layout;
    struct sp_tensor_row *row = &layout->rows.items[which];
    const size_t tied_to = row->tied_to;
    for (size_t i = 0; i < layout->rows.count; i++) layout->rows.items[i].is_solved = i == which;
    row->tied_to = SP_NONE;
    sp_learn_write(learning);
    const char *fault = fault_of_row(learning, row);
    row->tied_to = tied_to;
    for (size_t i = 0; i < layout->rows.count; i++) layout->rows.items[i].is_solved = solved[i];
    return fault;
}

void sp_learn_leave_out_all_rows(struct sp_learning *learning)
{
    struct sp_layout *layout = &learning->lesson.layout;
    for (size_t i = 0; i < layout->rows.count; i++) {
        if (!layout->rows.items[i].is_solved) continue;
        layout->rows.items[i].is_solved = false;
        layout->rows.items[i].why_not = "the table that was found has mistakes";
    }
}

void sp_learn_leave_out_wrong_rows(struct sp_learning *learning)
{
    enum { MOST_PREDICTIONS = 20000 }; /* some seconds */
    struct sp_layout *layout = &learning->lesson.layout;
    const size_t rows = layout->rows.count;
    if (rows * learning->evidence.count > MOST_PREDICTIONS) {
        sp_learn_leave_out_all_rows(learning);
        return;
    }
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
    for (size_t i = 0; i < rows; i++) {
        struct sp_tensor_row *row = &layout->rows.items[i];
        if (row->tied_to != SP_NONE && !layout->rows.items[row->tied_to].is_solved) row->tied_to = SP_NONE;
    }
    free(faults);
    free(solved);
}
