/* SPDX-License-Identifier: MIT
 * Which quantisation a file has: each that its names allow is predicted for a few modules, then, of those that fit
 * best, for the whole. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "check/check.h"
#include "lang/prediction.h"
#include "lang/syntax/ast.h"
#include "stored/schemes.h"
#include "stored/suffixes.h"

enum { MAX_INDICES = 24, MAX_SHOWING = 8, MAX_FORMS = 512, FINALISTS = 3 };

struct recogniser {
    struct shapeproof_check *check;
    struct sp_map names; /* of the tensors of the file, as predictions have them */
    struct sp_map tails; /* their last components */
    struct sp_arena arena;
    int64_t indices[MAX_INDICES];
    size_t index_count;
    const struct sp_unit *part; /* whose tensors `storage` has found in the file */
    struct sp_file_storage storage;
    struct shapeproof_value tried[MAX_FORMS];
    size_t errors[MAX_FORMS];
    size_t count;
};

/* ---- the names of the file ---- */

static void read_names(struct recogniser *recogniser)
{
    const struct shapeproof_inventory *inventory = recogniser->check->inventory;
    struct sp_name_keeper keeper = {.arena = &recogniser->arena, .names = &recogniser->names};
    struct sp_finder finder = {.naming = &recogniser->check->naming, .find = sp_keep_name, .context = &keeper};
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        unsigned renaming;
        keeper.tensor = i;
        sp_finder_find(&finder, shapeproof_inventory_tensor(inventory, i)->name, &renaming);
    }
    sp_finder_free(&finder);
    sp_note_tails(inventory, &recogniser->tails);
}

static void add_index(struct recogniser *recogniser, int64_t index)
{
    for (size_t i = 0; i < recogniser->index_count; i++)
        if (recogniser->indices[i] == index) return;
    if (recogniser->index_count < MAX_INDICES) recogniser->indices[recogniser->index_count++] = index;
}

/* The indices in the names of a few tensors that show how the file is quantised. */
static void choose_few_indices(struct recogniser *recogniser)
{
    const struct shapeproof_inventory *inventory = recogniser->check->inventory;
    struct sp_patterns patterns = {0};
    size_t showing = 0, seen = 0, last_pattern = SHAPEPROOF_NONE;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory) && showing < MAX_SHOWING; i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        struct sp_indices indices;
        if (!sp_looks_packed(tensor)) continue;
        const size_t pattern = sp_pattern_of(&patterns, tensor->name, &indices);
        if (pattern == last_pattern && seen++ > 2) continue;
        last_pattern = pattern;
        showing++;
        for (size_t p = 0; p < indices.count; p++) add_index(recogniser, (int64_t)indices.value[p]);
    }
    qsort(recogniser->indices, recogniser->index_count, sizeof *recogniser->indices, sp_compare_integers);
    sp_patterns_free(&patterns);
}

/* ---- trying ---- */

static struct shapeproof_prediction *predict_quantised(const struct recogniser *recogniser,
                                                       struct shapeproof_value form, const struct sp_storage *storage,
                                                       const struct sp_scope *scope)
{
    const struct shapeproof_check *check = recogniser->check;
    struct shapeproof_config *config = sp_config_variant(check->config);
    sp_config_set_value(config, "quantization", (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL}, "the file");
    sp_config_set_value(config, "quantization_config", form, "the file");
    sp_config_store(config, storage);
    struct shapeproof_prediction *prediction = sp_check_predict(check, config, scope, NULL);
    shapeproof_config_free(config); /* nobody asks what the dimensions mean */
    return prediction;
}

/* Of the packed modules that the sample has; SIZE_MAX without a prediction. */
static size_t sample_errors(const struct recogniser *recogniser, struct shapeproof_value form,
                            const struct sp_storage *storage)
{
    const struct sp_scope scope = {recogniser->indices, recogniser->index_count, 20000};
    struct shapeproof_prediction *prediction = predict_quantised(recogniser, form, storage, &scope);
    size_t errors = 0, packed = 0;
    for (size_t i = 0; prediction && i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(prediction, i);
        const size_t found = sp_map_get(&recogniser->names, expected->name);
        if (!expected->stands_for || (found == SHAPEPROOF_NONE && expected->optional)) continue;
        const struct shapeproof_tensor *tensor =
            found == SHAPEPROOF_NONE ? NULL : shapeproof_inventory_tensor(recogniser->check->inventory, found);
        packed++;
        errors +=
            !tensor || !sp_same_shape(tensor, expected) || !sp_prediction_allows_dtype(prediction, i, tensor->dtype);
    }
    shapeproof_prediction_free(prediction);
    return packed ? errors : SIZE_MAX;
}

static size_t whole_errors(const struct recogniser *recogniser, struct shapeproof_value form,
                           const struct sp_storage *storage)
{
    struct shapeproof_prediction *prediction = predict_quantised(recogniser, form, storage, NULL);
    const size_t errors = prediction ? sp_stored_errors(recogniser->check, prediction) : SIZE_MAX;
    shapeproof_prediction_free(prediction);
    return errors;
}

static void try_form(void *context, struct shapeproof_value form)
{
    struct recogniser *recogniser = context;
    if (recogniser->count == MAX_FORMS) return;
    recogniser->tried[recogniser->count] = form;
    recogniser->errors[recogniser->count++] = sample_errors(recogniser, form, &recogniser->storage.storage);
}

/* Of those that leave the fewest errors in the sample the one that leaves the fewest in the whole, and fewer than
 * `errors`. */
static struct shapeproof_value best_form(struct recogniser *recogniser, const struct sp_storage *storage,
                                         size_t *errors)
{
    struct shapeproof_value best = sp_value_absent("quantization_config");
    size_t least = SIZE_MAX, finalists = 0;
    for (size_t i = 0; i < recogniser->count; i++)
        if (recogniser->errors[i] < least) least = recogniser->errors[i];
    for (size_t i = 0; i < recogniser->count && finalists < FINALISTS && least < SIZE_MAX; i++) {
        if (recogniser->errors[i] != least) continue;
        const size_t left = whole_errors(recogniser, recogniser->tried[i], storage);
        finalists++;
        if (left >= *errors) continue;
        *errors = left;
        best = recogniser->tried[i];
    }
    return best;
}

/* What the file says of the modules of a method is read once for all of its forms. */
static void try_method(struct recogniser *recogniser, size_t method, struct shapeproof_value *best, size_t *errors)
{
    const struct shapeproof_check *check = recogniser->check;
    const struct sp_unit *part = sp_scheme_part(check->tables, method);
    if (!part || !sp_part_shows(part, &recogniser->tails)) return;
    if (part != recogniser->part) {
        sp_file_storage_free(&recogniser->storage);
        sp_file_storage_read(&recogniser->storage, part, sp_part_beside(check->tables, part), check->inventory,
                             &check->naming);
        recogniser->part = part;
    }
    if (!recogniser->storage.packed) return;
    recogniser->count = 0;
    sp_scheme_visit_all(&recogniser->check->arena, method, try_form, recogniser);
    const struct shapeproof_value value = best_form(recogniser, &recogniser->storage.storage, errors);
    if (sp_value_is_set(value)) *best = value;
}

/* Two methods may store a weight alike: the one that the configuration names is asked first. */
static bool is_configured(const struct shapeproof_check *check, size_t method)
{
    static const char part_of[] = "quantised_";
    const struct sp_unit *part = sp_scheme_part(check->tables, method);
    const char *configured = check->quantisation.configured;
    return part && configured && strcmp(part->name + strlen(part_of), configured) == 0;
}

struct shapeproof_value sp_recognise_quantisation(struct shapeproof_check *check, size_t *errors)
{
    struct recogniser recogniser = {.check = check};
    struct shapeproof_value best = sp_value_absent("quantization_config");
    choose_few_indices(&recogniser);
    read_names(&recogniser);
    for (size_t i = 0; i < sp_scheme_count() && *errors; i++)
        if (is_configured(check, i)) try_method(&recogniser, i, &best, errors);
    for (size_t i = 0; i < sp_scheme_count() && *errors; i++)
        if (!is_configured(check, i)) try_method(&recogniser, i, &best, errors);
    sp_file_storage_free(&recogniser.storage);
    sp_map_free(&recogniser.names);
    sp_map_free(&recogniser.tails);
    sp_arena_free(&recogniser.arena);
    return best;
}
