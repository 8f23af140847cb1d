/* SPDX-License-Identifier: MIT
 * What Keras calls the variables of a file, whatever the file does: "digit/kernel" for layers/dense/vars/0 of an
 * archive and for model_weights/digit/digit/kernel of an .h5. */
#include <stdlib.h>

#include "base/budget.h"
#include "base/call.h"
#include "config/inside.h"
#include "keras/model.h"
#include "lang/prediction.h"
#include "model/format.h"
#include "shapeproof/keras.h"

struct shapeproof_keras_names {
    struct sp_arena arena;
    const char **list; /* for each tensor of the file, or NULL */
};

/* The prediction for a configuration, as a file has the names or, without one, as Keras does. */
struct predicted_names {
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    struct shapeproof_prediction *prediction;
};

/* Fills the prediction for a configuration; `inventory` is the file whose names it has, NULL: as Keras has them. False
 * when it cannot be predicted; to be forgotten in any case. */
static bool predict_names(struct predicted_names *names, struct shapeproof_value entry,
                          const struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    *names = (struct predicted_names){.tables = shapeproof_tables_new(&error), .config = shapeproof_config_new()};
    if (!names->tables) return false;
    sp_config_set_root(names->config, entry);
    if (sp_keras_compose_for(SP_KERAS_NAMES_ALONE, names->tables, names->config, inventory, &error) != SHAPEPROOF_OK)
        return false;
    names->prediction = shapeproof_predict(names->tables, names->config, NULL, &error);
    return names->prediction != NULL;
}

static void forget_names(struct predicted_names *names)
{
    shapeproof_prediction_free(names->prediction);
    shapeproof_config_free(names->config);
    shapeproof_tables_free(names->tables);
}

/* Whether two predictions mean the same variable of the same layer, as far as its last component tells. */
static bool is_same_variable(const struct shapeproof_prediction *stored, size_t i,
                             const struct shapeproof_prediction *own, size_t k)
{
    const char *a = strrchr(sp_prediction_own_name(stored, i), '/'), *b = strrchr(own->tensors[k].name, '/');
    const char *in_a = stored->groups[stored->tensors[i].group].name, *in_b = own->groups[own->tensors[k].group].name;
    return a && b && strcmp(a, b) == 0 && strcmp(in_a, in_b) == 0;
}

enum { MAX_SKIPPED = 16 };

/* How many lines one side has at i and k that the other does not have: up to where both mean the same variable again; 0
 * when they do at once. *of_stored: whether they are lines of `stored`. When the sides do not meet again within
 * MAX_SKIPPED lines, one of `stored` is skipped. */
static size_t lines_skipped(const struct shapeproof_prediction *stored, size_t i,
                            const struct shapeproof_prediction *own, size_t k, bool *of_stored)
{
    for (size_t n = 0; n <= MAX_SKIPPED; n++) {
        *of_stored = i + n < stored->count && is_same_variable(stored, i + n, own, k);
        if (*of_stored || (k + n < own->count && is_same_variable(stored, i, own, k + n))) return n;
    }
    *of_stored = true;
    return 1;
}

/* Gives each tensor of the file that `stored` predicts the name that Keras has for it: `own` predicts the same
 * variables in the same order. Some lines are on one side alone, because an archive has LoRA merged, a kernel with a
 * norm twice, and the frequencies of words. */
static void join_names(struct shapeproof_keras_names *names, const struct shapeproof_inventory *inventory,
                       const struct shapeproof_prediction *stored, const struct shapeproof_prediction *own)
{
    for (size_t i = 0, k = 0; i < stored->count && k < own->count;) {
        bool of_stored;
        const size_t skipped = lines_skipped(stored, i, own, k, &of_stored);
        if (skipped) {
            *(of_stored ? &i : &k) += skipped;
            continue;
        }
        const size_t tensor = shapeproof_inventory_find(inventory, stored->tensors[i++].name);
        if (tensor != SHAPEPROOF_NONE) names->list[tensor] = sp_arena_string(&names->arena, own->tensors[k].name);
        k++;
    }
}

/* The variables of a layer without a table go by their order, where they are its own: layers/scaled/vars/0 and
 * model_weights/scaled/scaled/scale. */
static bool is_own_variable(const struct sp_variables *variables, const struct sp_unpredicted *layer, const char *name)
{
    const size_t front = strlen(layer->front);
    const char *last = strrchr(name, '/');
    const size_t length = strlen(layer->layer);
    if (variables->numbered) return strncmp(name + front, "vars/", 5) == 0 && last == name + front + 4;
    return last && last - name > (ptrdiff_t)length && last[-(ptrdiff_t)length - 1] == '/' &&
           strncmp(last - length, layer->layer, length) == 0;
}

/* Numbers the variables of layers that no table describes, "scaled/0", "scaled/1", in the order of the file. */
static void number_unpredicted(struct shapeproof_keras_names *names, const struct shapeproof_inventory *inventory,
                               const struct sp_variables *stored, const struct sp_variables *own)
{
    size_t *counts = sp_arena_array(&names->arena, stored->unpredicted.count + 1, sizeof *counts);
    if (stored->unpredicted.count != own->unpredicted.count) return;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        const size_t layer = names->list[i] ? SHAPEPROOF_NONE : sp_variables_unpredicted(stored, name);
        if (layer == SHAPEPROOF_NONE || !is_own_variable(stored, &stored->unpredicted.items[layer], name)) continue;
        const struct sp_unpredicted *said = &own->unpredicted.items[layer];
        names->list[i] =
            sp_arena_printf(&names->arena, "%s%s%zu", said->front, said->within ? said->within : "", counts[layer]++);
    }
}

struct shapeproof_keras_names *shapeproof_keras_names_new(const struct shapeproof_inventory *inventory,
                                                          const struct shapeproof_inventory *other)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("reading the configuration");
    SP_BUDGET_REUSE(inventory);
    struct shapeproof_value entry;
    struct predicted_names stored = {0}, own = {0}; /* under the names of the file, and under those of Keras */
    const bool is_inside = shapeproof_config_is_inside(inventory, NULL);
    if (!is_inside && !sp_format_has(inventory, SP_BY_KERAS)) return NULL;
    if (!is_inside && (!other || !shapeproof_config_is_inside(other, NULL))) return NULL;
    struct shapeproof_keras_names *names = sp_realloc(NULL, 1, sizeof *names);
    *names = (struct shapeproof_keras_names){0};
    names->list = sp_arena_array(&names->arena, shapeproof_inventory_count(inventory) + 1, sizeof *names->list);
    const bool known = sp_config_keras_entry(&names->arena, is_inside ? inventory : other, &entry) &&
                       predict_names(&stored, entry, inventory) && predict_names(&own, entry, NULL);
    if (known) {
        join_names(names, inventory, stored.prediction, own.prediction);
        number_unpredicted(names, inventory, stored.config->variables, own.config->variables);
    }
    forget_names(&stored);
    forget_names(&own);
    if (known) return names;
    shapeproof_keras_names_free(names);
    return NULL;
}

const char *const *shapeproof_keras_names_list(const struct shapeproof_keras_names *names) { return names->list; }

void shapeproof_keras_names_free(struct shapeproof_keras_names *names)
{
    if (!names) return;
    sp_arena_free(&names->arena);
    sp_free(names);
}
