/* SPDX-License-Identifier: MIT
 * Tables whose models have names, such as "resnet50", from which every size follows. The name that comes nearest to the
 * file is better evidence than the sizes that its tensors show one by one. */
#include <string.h>

#include "infer/classes.h"
#include "infer/infer.h"

/* Sets the class, for a table that has classes beside the names. */
static void set_class(struct shapeproof_config *config, struct sp_attempt *attempt)
{
    if (!attempt->table->model_type_count || !*attempt->class) return;
    struct shapeproof_value *item = sp_arena_alloc(&attempt->outline.solver.arena, sizeof *item);
    *item = sp_value_string(attempt->class);
    sp_config_set_value(config, "architectures",
                        (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 1, .items = item},
                        "inferred");
}

struct shapeproof_prediction *sp_predict_named(struct sp_attempt *attempt, const char *name)
{
    const struct sp_scope scope = {.most = 2 * shapeproof_inventory_count(attempt->view->inventory) + 1000};
    struct shapeproof_config *config = shapeproof_config_new();
    sp_config_set_value(config, "architecture", sp_value_string(name), "inferred");
    set_class(config, attempt);
    sp_config_limit(config, &scope);
    struct shapeproof_prediction *prediction = sp_attempt_predict(attempt, config);
    shapeproof_config_free(config);
    return prediction;
}

/* How many errors the prediction under that name has; SIZE_MAX when there is none. */
static size_t errors_under(struct sp_attempt *attempt, const struct sp_naming *naming, const char *name)
{
    struct shapeproof_prediction *prediction = sp_predict_named(attempt, name);
    struct sp_match match;
    if (!prediction) return SIZE_MAX;
    sp_match_init(&match, attempt->view->inventory, prediction, naming);
    const size_t errors = sp_match_errors(&match);
    sp_match_free(&match);
    shapeproof_prediction_free(prediction);
    return errors;
}

/* Of two names with as many errors the shorter is nearer: "resnet50" before "resnet50_gn". */
static bool is_nearer(size_t errors, const char *name, size_t least, const char *nearest)
{
    if (!nearest || errors != least) return errors < least;
    return strlen(name) < strlen(nearest);
}

const char *sp_nearest_name(struct sp_attempt *attempt, const struct sp_naming *naming, size_t *left)
{
    const struct sp_unit *table = attempt->table;
    const size_t tensors = shapeproof_inventory_count(attempt->view->inventory) + 10;
    size_t least = SIZE_MAX;
    const char *nearest = NULL;
    if (!sp_stands_for_settings(table)) return NULL;
    for (size_t i = 0; i < table->architecture_count && *left >= tensors; i++) {
        *left -= tensors;
        const size_t errors = errors_under(attempt, naming, table->architectures[i]);
        if (!is_nearer(errors, table->architectures[i], least, nearest)) continue;
        least = errors;
        nearest = table->architectures[i];
    }
    return least < tensors / 2 ? nearest : NULL; /* other sizes have no name */
}
