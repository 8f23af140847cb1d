/* SPDX-License-Identifier: MIT
 * A model of a class that no table knows, whose model_type has a table: which of the known classes is its body, and
 * what the file has besides. Of a reward model on a Llama
 *
 *     LLMForSequenceRegression  ->  all 20 tensors of LlamaModel, and value_head.weight (1, 16)
 */
#include <inttypes.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/names.h"
#include "config/choose.h"
#include "config/config.h"
#include "infer/classes.h"
#include "match/match.h"
#include "match/naming.h"
#include "model/layouts.h"
#include "shapeproof/check.h"

/* How well the prediction for one of the known classes fits the file. */
struct body {
    const char *class;
    size_t predicted;       /* tensors of the model that are in the file, each with its shape */
    struct sp_names others; /* "NAME SHAPE" of the tensors that the file has besides */
    size_t other_count;
    bool scores;  /* every other tensor is a matrix of one row or a bias of one number, as in the head of a reward model
                   */
    bool has_row; /* and one of them is such a matrix */
};

/* Whether a tensor may belong to a head with one output. */
static bool is_score(const struct shapeproof_tensor *tensor)
{
    return (tensor->rank == 2 && tensor->shape[0] == 1) || (tensor->rank == 1 && tensor->shape[0] == 1);
}

/* Fills `body` from the file under a prediction; false when something predicted is missing or has another shape. */
static bool fill_body(struct body *body, struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                      const struct shapeproof_prediction *prediction)
{
    struct sp_match match;
    sp_match_begin(&match, inventory, prediction);
    const struct sp_naming naming = sp_naming_infer(arena, &match);
    bool whole = true;
    sp_match_rest(&match, &naming);
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        whole = whole && !sp_is_error(sp_match_predicted(&match, i));
        body->predicted += match.tensor_of[i] != SHAPEPROOF_NONE;
    }
    body->scores = true;
    body->has_row = false;
    for (size_t i = 0; whole && i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        if (match.predicted_of[i] != SHAPEPROOF_NONE || sp_match_tensor(&match, i) == SP_STATE) continue;
        sp_names_add(&body->others,
                     sp_arena_printf(arena, "%s %s", tensor->name, sp_shape_text(arena, tensor->shape, tensor->rank)));
        body->other_count++;
        body->scores = body->scores && is_score(tensor);
        body->has_row = body->has_row || tensor->rank == 2;
    }
    sp_match_free(&match);
    return whole;
}

/* Fills `best` with the class under which nothing is missing and most tensors of the file are predicted. It stays as it
 * is when something is missing under every class. */
static void find_body(struct body *best, struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                      const struct shapeproof_tables *tables, const struct shapeproof_config *config,
                      const struct sp_unit *table)
{
    size_t count;
    const char *const *classes = sp_classes_of(tables, table, &count);
    for (size_t i = 0; i < count; i++) {
        struct shapeproof_error error = {0};
        struct body body = {.class = classes[i]};
        struct shapeproof_config *variant = sp_config_variant(config);
        const struct shapeproof_value class = sp_value_string(classes[i]);
        sp_config_set_value(variant, "architectures",
                            (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = &class}, "");
        struct shapeproof_prediction *prediction = /* a class "" says that the table does not depend on the class */
            *classes[i] ? shapeproof_predict(tables, variant, NULL, &error) : NULL;
        const bool whole = prediction && fill_body(&body, arena, inventory, prediction);
        if (whole && body.predicted > best->predicted) {
            sp_names_free(&best->others);
            *best = body;
        } else {
            sp_names_free(&body.others);
        }
        shapeproof_prediction_free(prediction);
        shapeproof_config_free(variant);
    }
}

char *shapeproof_unknown_class_describe(const struct shapeproof_inventory *inventory,
                                        const struct shapeproof_tables *tables, const struct shapeproof_config *config)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("checking it");
    SP_BUDGET_REUSE(inventory);
    struct shapeproof_error error = {0};
    struct sp_arena arena = {0};
    struct body body = {.predicted = 0};
    struct sp_text text = {0};
    const struct sp_unit *table = sp_choose_table(tables, NULL, sp_config_hyper(config), &error);
    if (table) find_body(&body, &arena, inventory, tables, config, table);
    if (body.predicted * 2 > shapeproof_inventory_count(inventory)) {
        sp_text_printf(&text, "the file has all %zu tensors of %s", body.predicted, body.class);
        if (body.other_count)
            sp_text_printf(&text, ", and besides %s%s", sp_names_text(&body.others),
                           body.scores && body.has_row ? ", a head with one output as a reward model has" : "");
        sp_text_printf(&text, "; --set 'architectures=[\"%s\"]' checks it as this class", body.class);
    }
    sp_names_free(&body.others);
    sp_arena_free(&arena);
    return text.data;
}
