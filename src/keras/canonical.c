/* SPDX-License-Identifier: MIT
 * What Keras calls the variables of a file, whatever the file does: "digit/kernel" for layers/dense/vars/0 of an
 * archive and for model_weights/digit/digit/kernel of an .h5. */
#include <stdlib.h>

#include "config/inside.h"
#include "keras/model.h"
#include "lang/prediction.h"
#include "shapeproof/keras.h"

struct sp_keras_names {
    struct sp_arena arena;
    const char **list; /* for each tensor of the file, or NULL */
};

/* The prediction for a configuration, as a file has the names or, without one, as Keras does. */
struct predicted_names {
    struct sp_tables *tables;
    struct sp_config *config;
    struct sp_prediction *prediction;
};

static bool predict_names(struct predicted_names *names, struct sp_value entry, const struct sp_inventory *inventory)
{
    struct sp_error error = {0};
    *names = (struct predicted_names){.tables = sp_tables_new(&error), .config = sp_config_new()};
    if (!names->tables) return false;
    if (!inventory) sp_config_set_root(names->config, entry);
    if (sp_keras_compose(names->tables, names->config, inventory, &error) != SP_OK) return false;
    names->prediction = sp_predict(names->tables, names->config, NULL, &error);
    return names->prediction != NULL;
}

static void forget_names(struct predicted_names *names)
{
    sp_prediction_free(names->prediction);
    sp_config_free(names->config);
    sp_tables_free(names->tables);
}

/* Whether two predictions mean the same variable of the same layer, as far as its last component tells. */
static bool is_same_variable(const struct sp_prediction *stored, size_t i, const struct sp_prediction *own, size_t k)
{
    const char *a = strrchr(sp_prediction_own_name(stored, i), '/'), *b = strrchr(own->tensors[k].name, '/');
    const char *in_a = stored->groups[stored->tensors[i].group].name, *in_b = own->groups[own->tensors[k].group].name;
    return a && b && strcmp(a, b) == 0 && strcmp(in_a, in_b) == 0;
}

/* Line by line the same model, in other words; but that an archive has LoRA merged, and a kernel twice that is made to
 * have a norm. */
static void join_names(struct sp_keras_names *names, const struct sp_inventory *inventory,
                       const struct sp_prediction *stored, const struct sp_prediction *own)
{
    for (size_t i = 0, k = 0; i < stored->count && k < own->count;) {
        if (!is_same_variable(stored, i, own, k)) {
            const bool twice = i + 1 < stored->count && is_same_variable(stored, i + 1, own, k);
            i += twice;
            k += !twice;
            continue;
        }
        const size_t tensor = sp_inventory_find(inventory, stored->tensors[i++].name);
        if (tensor != SP_NONE) names->list[tensor] = sp_arena_string(&names->arena, own->tensors[k].name);
        k++;
    }
}

struct sp_keras_names *sp_keras_names_new(const struct sp_inventory *inventory)
{
    struct sp_value entry;
    struct predicted_names stored = {0}, own = {0};
    if (!sp_config_is_inside(inventory, NULL)) return NULL;
    struct sp_keras_names *names = sp_realloc(NULL, 1, sizeof *names);
    *names = (struct sp_keras_names){0};
    names->list = sp_arena_array(&names->arena, sp_inventory_count(inventory) + 1, sizeof *names->list);
    const bool known = sp_config_keras_entry(&names->arena, inventory, &entry) &&
                       predict_names(&stored, entry, inventory) && predict_names(&own, entry, NULL);
    if (known) join_names(names, inventory, stored.prediction, own.prediction);
    forget_names(&stored);
    forget_names(&own);
    if (known) return names;
    sp_keras_names_free(names);
    return NULL;
}

const char *const *sp_keras_names_list(const struct sp_keras_names *names) { return names->list; }

void sp_keras_names_free(struct sp_keras_names *names)
{
    if (!names) return;
    sp_arena_free(&names->arena);
    free(names);
}
