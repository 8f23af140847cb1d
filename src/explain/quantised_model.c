/* SPDX-License-Identifier: MIT
 * How many parameters the model has whose weights a file stores quantised. A check against the configuration beside
 * the file says it; where there is none, or it does not know all of the file, names and shapes do. */
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/fault.h"
#include "config/config.h"
#include "explain/causes.h"
#include "explain/undescribed.h"
#include "names/components.h"
#include "shapeproof/table.h"
#include "stored/descriptions.h"
#include "stored/unpack.h"

enum { FORMS = 8 }; /* readings of a file that are compared: all that sp_unpack keeps */

/* What is known of the file and of the configuration beside it, if there is one. */
struct reading {
    struct sp_arena arena;
    const struct shapeproof_inventory *file;
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    struct shapeproof_check *check; /* of the file against that configuration; NULL when no prediction can be made */
};

static void open_reading(struct reading *reading, const struct shapeproof_inventory *file)
{
    struct shapeproof_error error = {0};
    char *path = sp_config_beside(shapeproof_inventory_path(file));
    *reading =
        (struct reading){.file = file, .tables = shapeproof_tables_new(&error), .config = shapeproof_config_new()};
    const bool loaded =
        reading->tables && path && shapeproof_config_load(reading->config, path, &error) == SHAPEPROOF_OK;
    if (loaded && shapeproof_config_fit(reading->config, reading->tables, NULL, file, &error) == SHAPEPROOF_OK)
        reading->check = shapeproof_check_new(file, reading->tables, reading->config, NULL, &error);
    sp_free(path);
}

static void close_reading(struct reading *reading)
{
    shapeproof_check_free(reading->check);
    shapeproof_config_free(reading->config);
    shapeproof_tables_free(reading->tables);
    sp_arena_free(&reading->arena);
}

/* A tensor of integers or bytes that belongs to the model. */
static bool may_be_packed(const struct shapeproof_tensor *tensor)
{
    return sp_looks_packed(tensor) && !(tensor->flags & SHAPEPROOF_TENSOR_STATE);
}

/* Whether everything that may be packed is predicted by the check: otherwise that counts packed words as parameters. */
static bool check_knows_all(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        if (check->match.predicted_of[i] == SHAPEPROOF_NONE &&
            may_be_packed(shapeproof_inventory_tensor(check->inventory, i)))
            return false;
    return true;
}

/* Whether numbers and strings of the form are the same in the object, as far as that has them: {"bits": 4} agrees with
 * {"bits": 4, "group_size": 128}. */
static bool agrees_with_form(struct shapeproof_value object, struct shapeproof_value form)
{
    if (!sp_value_is_set(object)) return true;
    if (form.type != object.type) return false;
    if (form.type == SHAPEPROOF_VALUE_INT) return object.integer == form.integer;
    if (form.type == SHAPEPROOF_VALUE_STRING) return strcmp(object.string, form.string) == 0;
    for (size_t i = 0; form.type == SHAPEPROOF_VALUE_OBJECT && i < form.count; i++)
        if (!agrees_with_form(sp_value_member(object, form.members[i].key), form.members[i].value)) return false;
    return true;
}

/* The elements of the packed matrices and of all other tensors of the model: its parameters. 0 when a tensor that is no
 * part of a matrix may be packed as well, or when the sum is no 64-bit number. */
static uint64_t sum_of_model(struct reading *reading, const struct sp_unpacked *unpacked)
{
    const size_t count = shapeproof_inventory_count(reading->file);
    bool *taken = sp_arena_array(&reading->arena, count, sizeof *taken); /* for each tensor: it is part of a matrix */
    uint64_t sum = 0;
    for (size_t i = 0; i < unpacked->count; i++) {
        const struct sp_packed_module *module = &unpacked->modules[i];
        const struct sp_matrix *matrix = &module->matrix;
        for (size_t t = 0; t < module->count; t++) taken[module->tensors[t]] = true;
        const uint64_t matrices = matrix->lead ? matrix->lead : 1; /* experts in one tensor; 0: no such dimension */
        uint64_t elements = matrix->elements;                      /* 0: rows and columns are known instead */
        if (!elements && (__builtin_mul_overflow(matrix->rows, matrix->columns, &elements) ||
                          __builtin_mul_overflow(elements, matrices, &elements)))
            return 0;
        if (__builtin_add_overflow(sum, elements, &sum)) return 0;
    }
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(reading->file, i);
        if (taken[i] || tensor->same_as != SHAPEPROOF_NONE || (tensor->flags & SHAPEPROOF_TENSOR_STATE)) continue;
        if (tensor->rank > 1 && may_be_packed(tensor)) return 0;
        if (__builtin_add_overflow(sum, tensor->parameters, &sum)) return 0;
    }
    return sum;
}

/* Whether another of the forms, which all explain as much of the file as the best one, gives the model another size and
 * is no less likely: as many of its modules have a familiar dimension, or not all modules of the best one have. */
static bool is_ambiguous(struct reading *reading, const struct sp_unpacked *found, size_t count, size_t best)
{
    const uint64_t sum = sum_of_model(reading, &found[best]);
    for (size_t i = 0; i < count; i++)
        if ((found[i].familiar == found[best].familiar || found[best].familiar < found[best].count) &&
            sum_of_model(reading, &found[i]) != sum)
            return true;
    return false;
}

/* How the file is quantised, by names and shapes alone: "AWQ, 4 bits, by names and shapes"; NULL when no form explains
 * it. Of several forms that explain as much of the file, the one that the configuration names counts, or else the
 * likeliest. `*parameters` stays as it is when the size of the model is ambiguous. */
static const char *describe_by_shapes(struct reading *reading, uint64_t *parameters)
{
    struct sp_unpacked found[FORMS];
    struct sp_quantised quantised;
    const size_t count = sp_unpack(&reading->arena, reading->tables, reading->file, found, FORMS);
    size_t best = 0;
    bool named = false;
    if (!count) return NULL;
    if (sp_quantised_open(&quantised, reading->tables, sp_config_hyper(reading->config), NULL)) {
        for (size_t i = 0; i < count && !named; i++)
            if ((named = agrees_with_form(quantised.object, found[i].form))) best = i;
    }
    sp_quantised_close(&quantised);
    if (named || !is_ambiguous(reading, found, count, best)) *parameters = sum_of_model(reading, &found[best]);
    return sp_arena_printf(&reading->arena, "%s, by names and shapes",
                           sp_describe_scheme(&reading->arena, found[best].form));
}

/* The name up to its last component, "fc." of "fc.scales"; "" of one without a dot. In the arena. */
static const char *name_of_module(struct reading *reading, const char *name, size_t length)
{
    return sp_arena_copy(&reading->arena, name, sp_last_component(name, length, "."));
}

/* Whether a matrix of integers or bytes has a tensor called a scale beside it, in the same module or in that around
 * it: "fc.packed" and "fc.scales", "fc.weight._data._data" and "fc.weight._scale". */
static bool has_scaled_integers(struct reading *reading)
{
    const size_t count = shapeproof_inventory_count(reading->file);
    struct sp_map modules = {0};
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        const char *name = shapeproof_inventory_tensor(reading->file, i)->name;
        const char *module = name_of_module(reading, name, strlen(name));
        if (strstr(name + strlen(module), "scale")) sp_map_add(&modules, module, i);
    }
    for (size_t i = 0; i < count && !found; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(reading->file, i);
        if (tensor->rank < 2 || !may_be_packed(tensor)) continue;
        const char *module = name_of_module(reading, tensor->name, strlen(tensor->name));
        const size_t length = strlen(module);
        found = sp_map_get(&modules, module) != SIZE_MAX ||
                (length && sp_map_get(&modules, name_of_module(reading, module, length - 1)) != SIZE_MAX);
    }
    sp_map_free(&modules);
    return found;
}

/* How the file is quantised: by the check, if it knows all of the file, or else by shapes, or else the bare name of the
 * configured method. NULL when nothing is quantised. `*parameters` stays as it is where they are not known. */
static const char *describe_reading(struct reading *reading, uint64_t *parameters)
{
    struct shapeproof_check *check = reading->check;
    if (!reading->tables) return NULL;
    const struct sp_quantisation *quantisation = check ? &check->quantisation : NULL;
    if (check && check_knows_all(check)) {
        if (!quantisation->method) return quantisation->configured;
        *parameters = check->counts.logical;
        return sp_quantisation_words(check);
    }
    const char *how = describe_by_shapes(reading, parameters);
    if (!how && check) how = quantisation->configured;
    for (size_t i = 0; !how && check && i < check->cause_count; i++)
        if (strcmp(check->causes[i].id, sp_cause_of(SP_CAUSE_QUANTISED).id) == 0)
            how = "weights quantised in a way of their own";
    return how || !has_scaled_integers(reading) ? how : "weights of integers or bytes, with scales beside them";
}

struct shapeproof_quantised_model *shapeproof_quantised_model_new(const struct shapeproof_inventory *inventory,
                                                                  struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("checking it");
    SP_BUDGET_REUSE(inventory);
    struct reading reading;
    struct shapeproof_quantised_model *model = NULL;
    uint64_t parameters = 0;
    sp_error_reset(error);
    if (!sp_any_looks_packed(inventory)) return NULL;
    sp_fault_begin(error);
    open_reading(&reading, inventory);
    const char *how = describe_reading(&reading, &parameters);
    if (how) {
        struct sp_text copy = {0};
        sp_text_puts(&copy, how);
        model = sp_realloc(NULL, 1, sizeof *model);
        *model = (struct shapeproof_quantised_model){copy.data, parameters};
    }
    close_reading(&reading);
    if (sp_fault_end(error)) return model;
    shapeproof_quantised_model_free(model);
    return NULL;
}

void shapeproof_quantised_model_free(struct shapeproof_quantised_model *model)
{
    if (model) sp_free(model->how);
    sp_free(model);
}
