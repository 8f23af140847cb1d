/* SPDX-License-Identifier: MIT
 * The proof: the text is parsed and expanded as any table is, and has to be what each file holds. */
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

bool sp_learn_prove(struct sp_learning *learning, struct sp_error *error)
{
    const size_t before = learning->rest.count;
    if (learning->are_strangers) return false;
    struct sp_tables *tables = sp_tables_new(error);
    if (tables && (learning->base || learning->inners.count)) add_own_tables(tables, learning->tables);
    bool proved =
        tables && sp_tables_add_text(tables, "learnt.shapes", learning->text, strlen(learning->text), error) == SP_OK;
    for (size_t i = 0; i < learning->evidence.count && proved; i++)
        proved = compare_example(learning, tables, i, error);
    if (!proved)
        *SP_PUSH(&learning->rest) =
            sp_arena_printf(&learning->arena, "the table cannot be expanded: %s", error->message);
    sp_tables_free(tables);
    sp_error_reset(error);
    return proved && before == 0 && learning->rest.count == 0;
}
