/* SPDX-License-Identifier: MIT
 * How a file is quantised: by what its configuration says, or, where that says nothing or something else, by its
 * tensors. From here on predictions list what is stored. */
#include <stdlib.h>
#include <string.h>

#include "check/adapter.h"
#include "check/check.h"
#include "lang/prediction.h"

/* The method that a configuration names, and the part of a table that describes it, or NULL; false when the
 * configuration quantises nothing. */
static bool method_of_file(struct shapeproof_check *check, const struct shapeproof_config *config, const char **method,
                           const struct sp_unit **part)
{
    struct sp_quantised quantised;
    const bool found = sp_quantised_open(&quantised, check->tables, sp_config_hyper(config), NULL);
    *method = found ? sp_arena_string(&check->arena, quantised.method) : NULL;
    *part = found ? quantised.part : NULL;
    sp_quantised_close(&quantised);
    return found;
}

/* The errors about the tensors that are stored in place of one weight: missing ones, other shapes and other dtypes; 0
 * when the file has none of them. `first` is the first of them, and `*next` becomes the index behind the last. */
static size_t weight_errors(const struct sp_match *match, size_t first, size_t *next)
{
    const char *weight = shapeproof_prediction_tensor(match->prediction, first)->stands_for;
    size_t missing = 0, other = 0, there = 0, i = first;
    for (; i < shapeproof_prediction_count(match->prediction); i++) {
        const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(match->prediction, i);
        const size_t found = match->tensor_of[i];
        if (predicted->stands_for != weight) break;
        there += found != SHAPEPROOF_NONE;
        missing += sp_match_predicted(match, i) == SP_MISSING;
        if (found == SHAPEPROOF_NONE) continue;
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(match->inventory, found);
        other += !sp_same_shape(tensor, predicted) || !sp_prediction_allows_dtype(match->prediction, i, tensor->dtype);
    }
    *next = i;
    return there ? missing + other : 0;
}

size_t sp_stored_errors(const struct shapeproof_check *check, const struct shapeproof_prediction *prediction)
{
    struct sp_match match;
    size_t errors = 0;
    sp_match_init(&match, check->inventory, prediction, &check->naming);
    for (size_t i = 0, next; i < shapeproof_prediction_count(prediction); i = next) {
        next = i + 1;
        if (shapeproof_prediction_tensor(prediction, i)->stands_for) errors += weight_errors(&match, i, &next);
        else errors += sp_match_predicted(&match, i) == SP_SHAPE;
    }
    for (size_t i = 0; i < shapeproof_inventory_count(check->inventory); i++)
        errors += match.predicted_of[i] == SHAPEPROOF_NONE && sp_match_tensor(&match, i) == SP_UNEXPECTED;
    sp_match_free(&match);
    return errors;
}

/* The first line of a mistake in a table, without its place: "MESSAGE" of "FILE:LINE: MESSAGE\n...". */
static const char *what_failed(struct shapeproof_check *check, const char *message)
{
    const char *place = strstr(message, ": ");
    const char *text = place ? place + 2 : message;
    return sp_arena_copy(&check->arena, text, strcspn(text, "\n"));
}

/* Predicts what is stored under this configuration, which is taken over. True: it and the prediction are now those of
 * the check. False: it is freed, the check keeps its own, and quantisation->failure says why. */
static bool adopt(struct shapeproof_check *check, struct shapeproof_config *config, const char *method,
                  const struct sp_unit *part)
{
    struct sp_quantisation *quantisation = &check->quantisation;
    struct shapeproof_error error = {0};
    struct sp_file_storage *storage = sp_realloc(NULL, 1, sizeof *storage);
    sp_file_storage_read(storage, part, sp_part_beside(check->tables, part), check->inventory, &check->naming);
    sp_config_store(config, &storage->storage);
    struct shapeproof_prediction *prediction = sp_check_predict(check, config, NULL, &error);
    if (!prediction) {
        quantisation->failure = what_failed(check, error.message);
        sp_file_storage_free(storage);
        sp_free(storage);
        shapeproof_config_free(config);
        return false;
    }
    sp_quantisation_free(quantisation);
    quantisation->method = method;
    quantisation->file = storage;
    quantisation->config = config;
    shapeproof_prediction_free(check->prediction);
    check->prediction = prediction;
    sp_match_free(&check->match);
    sp_match_begin(&check->match, check->inventory, prediction);
    check->config = config;
    return true;
}

static void adopt_configured(struct shapeproof_check *check)
{
    const struct sp_unit *part;
    const char *method;
    if (!method_of_file(check, check->config, &method, &part)) return;
    check->quantisation.configured = method;
    check->quantisation.described = part != NULL;
    if (part) adopt(check, sp_config_variant(check->config), method, part);
}

/* Whether an object has the members of the form with the same strings and flags. Numbers may differ, or be absent:
 * {"bits": 8, "sym": true} has the kind of {"bits": 4, "sym": true}. */
static bool has_kind_of(struct shapeproof_value object, struct shapeproof_value form)
{
    if (form.type == SHAPEPROOF_VALUE_INT)
        return object.type == SHAPEPROOF_VALUE_INT || object.type == SHAPEPROOF_VALUE_ABSENT;
    if (form.type != object.type) return false;
    if (form.type == SHAPEPROOF_VALUE_STRING) return strcmp(object.string, form.string) == 0;
    if (form.type == SHAPEPROOF_VALUE_BOOL) return object.boolean == form.boolean;
    for (size_t i = 0; form.type == SHAPEPROOF_VALUE_OBJECT && i < form.count; i++)
        if (strcmp(form.members[i].key, "quant_method") != 0 &&
            !has_kind_of(sp_value_member(object, form.members[i].key), form.members[i].value))
            return false;
    return true;
}

/* Whether the configuration says something of another kind than the form. */
static bool differs_in_kind(const struct shapeproof_check *check, struct shapeproof_value form)
{
    struct sp_quantised quantised;
    sp_quantised_open(&quantised, check->tables, sp_config_hyper(check->quantisation.base), NULL);
    const bool same = has_kind_of(quantised.object, form);
    sp_quantised_close(&quantised);
    return !same;
}

/* Whether the recognised method, which leaves `left` of `errors` errors, is to replace the configured one. That must
 * take away half of the errors: a configuration is not given up for a few tensors. The same method with other numbers
 * does not count: trials of hyper-parameters find these. If no part of a table describes the configured method, the
 * recognised one must leave no error. */
static bool is_better_method(const struct shapeproof_check *check, const char *method, struct shapeproof_value form,
                             size_t errors, size_t left)
{
    if (!check->quantisation.described) return !left;
    const bool same_method = strcmp(method, check->quantisation.configured) == 0;
    return left <= errors / 2 && (!same_method || differs_in_kind(check, form));
}

/* Whether nearly all of what is predicted in place of quantised weights is in the file as predicted. */
static bool is_mostly_right(const struct shapeproof_check *check)
{
    size_t packed = 0, right = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(check->prediction, i);
        if (!expected->stands_for || expected->optional) continue;
        const size_t found = shapeproof_inventory_find(check->inventory, expected->name);
        const struct shapeproof_tensor *tensor =
            found == SHAPEPROOF_NONE ? NULL : shapeproof_inventory_tensor(check->inventory, found);
        packed++;
        right += tensor && sp_same_shape(tensor, expected) &&
                 sp_prediction_allows_dtype(check->prediction, i, tensor->dtype);
    }
    return packed && right * 10 > packed * 9;
}

/* Recognises the method by the tensors, where the configuration does not explain nearly all of them, and adopts it in
 * place of the configured one if it explains more. "quantization", which MLX writes, is read before
 * "quantization_config" and is therefore set to null. */
static void adopt_recognised(struct shapeproof_check *check)
{
    struct sp_quantisation *quantisation = &check->quantisation;
    const struct sp_unit *part;
    const char *method;
    if (!sp_any_looks_packed(check->inventory) || is_mostly_right(check)) return;
    const size_t errors = sp_stored_errors(check, check->prediction);
    size_t left = errors;
    const struct shapeproof_value form = errors ? sp_recognise_quantisation(check, &left) : sp_value_absent("");
    if (!sp_value_is_set(form)) return;
    struct shapeproof_config *config = sp_config_variant(quantisation->base);
    sp_config_set_value(config, "quantization", (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL}, "the file");
    sp_config_set_value(config, "quantization_config", form, "the file");
    method_of_file(check, config, &method, &part);
    if (quantisation->configured && !is_better_method(check, method, form, errors, left)) {
        shapeproof_config_free(config);
    } else if (adopt(check, config, method, part)) {
        quantisation->recognised = true;
        quantisation->vanished = errors - left;
    }
}

void sp_check_quantisation(struct shapeproof_check *check)
{
    check->quantisation.base = check->config;
    check->quantisation.elsewhere = !sp_any_looks_packed(check->inventory) && sp_is_adapter(check->inventory);
    if (check->quantisation.elsewhere) return;
    adopt_configured(check);
    adopt_recognised(check);
}

void sp_quantisation_free(struct sp_quantisation *quantisation)
{
    if (quantisation->file) sp_file_storage_free(quantisation->file);
    sp_free(quantisation->file);
    shapeproof_config_free(quantisation->config);
    quantisation->file = NULL;
    quantisation->config = NULL;
}
