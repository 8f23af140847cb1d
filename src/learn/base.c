/* SPDX-License-Identifier: MIT
 * A table that is to be like another one extends it, where that predicts nothing but what every example has: then only
 * the other rows are written. */
#include "base/names.h"
#include "base/order.h"
#include "learn/learning.h"
#include "shapeproof/prediction.h"

static bool has_shape(const struct sp_tensor *tensor, const struct sp_predicted *predicted)
{
    return sp_same_dims(tensor->shape, tensor->rank, predicted->shape, predicted->rank);
}

/* Everything that it predicts of its own is there. */
static bool is_all_there(const struct sp_prediction *prediction, const struct sp_inventory *inventory)
{
    for (size_t i = 0; i < sp_prediction_count(prediction); i++) {
        const struct sp_predicted *predicted = sp_prediction_tensor(prediction, i);
        const size_t there = sp_inventory_find(inventory, predicted->name);
        if (there == SP_NONE && !predicted->optional && predicted->same_as == SP_NONE) return false;
        if (there != SP_NONE && !has_shape(sp_inventory_tensor(inventory, there), predicted)) return false;
    }
    return true;
}

/* How many of the row's places in the example are predicted; of the others nothing may be. */
static bool is_row_predicted(const struct sp_tensor_row *row, size_t example, const struct sp_prediction *prediction)
{
    for (size_t i = 0; i < row->places.count; i++) {
        const struct sp_occurrence *place = &row->places.items[i];
        if (place->point.example == example && sp_prediction_find(prediction, place->tensor->name) == SP_NONE)
            return false;
    }
    return true;
}

/* What begins otherwise in other classes needs a definition, which the other table may have under that name. */
static bool may_stand_apart(const struct sp_tensor_row *row) { return *row->pattern != SP_FRONT_MARK; }

bool sp_learn_find_base(struct sp_learning *learning, const char *like)
{
    const struct sp_layout *layout = &learning->lesson.layout;
    struct sp_error error = {0};
    bool *has = sp_arena_array(&learning->arena, layout->rows.count + 1, sizeof *has), fits = layout->rows.count > 0;
    for (size_t r = 0; r < layout->rows.count; r++) has[r] = true;
    for (size_t e = 0; e < learning->evidence.count && fits; e++) {
        const struct sp_learn_example *example = &learning->evidence.examples[e];
        struct sp_prediction *prediction =
            example->config
                ? sp_predict(learning->tables, example->config, &(struct sp_predict_options){.table = like}, &error)
                : NULL;
        fits = prediction && is_all_there(prediction, example->inventory);
        for (size_t r = 0; r < layout->rows.count && fits; r++)
            has[r] = has[r] && is_row_predicted(&layout->rows.items[r], e, prediction);
        sp_prediction_free(prediction);
    }
    bool any = false;
    for (size_t r = 0; r < layout->rows.count && fits; r++) {
        any = any || has[r];
        fits = has[r] || may_stand_apart(&layout->rows.items[r]);
    }
    learning->base = fits && any ? like : NULL;
    learning->rows_of_base = has;
    return learning->base != NULL;
}
