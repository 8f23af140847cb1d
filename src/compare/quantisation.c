/* SPDX-License-Identifier: MIT
 * How a file is quantised: by what its configuration says, or, where that says nothing or something else, by its
 * tensors. From here on predictions list what is stored. */
#include <stdlib.h>
#include <string.h>

#include "compare/check.h"

/* The method that a configuration names, and its part; false when it quantises nothing. */
static bool method_of(struct sp_check *check, const struct sp_config *config, const char **method,
                      const struct sp_unit **part)
{
    struct sp_quantised quantised;
    const bool found = sp_quantised_open(&quantised, check->tables, sp_config_hyper(config), NULL);
    *method = found ? sp_arena_string(&check->arena, quantised.method) : NULL;
    *part = found ? quantised.part : NULL;
    sp_quantised_close(&quantised);
    return found;
}

static size_t errors_of(const struct sp_check *check, const struct sp_prediction *prediction)
{
    struct sp_match match;
    sp_match_init(&match, check->inventory, prediction, &check->naming);
    const size_t errors = sp_match_errors(&match);
    sp_match_free(&match);
    return errors;
}

/* Takes a configuration, and with it the prediction of what is stored; false when there is none. */
static bool adopt(struct sp_check *check, struct sp_config *config, const char *method, const struct sp_unit *part)
{
    struct sp_quantisation *quantisation = &check->quantisation;
    struct sp_error error = {0};
    struct sp_file_storage *storage = sp_realloc(NULL, 1, sizeof *storage);
    sp_file_storage_read(storage, part, check->inventory, &check->naming);
    sp_config_store(config, &storage->storage);
    struct sp_prediction *prediction = sp_predict(check->tables, check->table_name, config, &error);
    if (!prediction) {
        sp_file_storage_free(storage);
        free(storage);
        sp_config_free(config);
        return false;
    }
    sp_quantisation_free(quantisation);
    quantisation->method = method;
    quantisation->file = storage;
    quantisation->config = config;
    sp_prediction_free(check->prediction);
    check->prediction = prediction;
    check->config = config;
    return true;
}

static void adopt_configured(struct sp_check *check)
{
    const struct sp_unit *part;
    const char *method;
    if (!method_of(check, check->config, &method, &part)) return;
    check->quantisation.configured = method;
    if (part) adopt(check, sp_config_variant(check->config), method, part);
}

/* Whether an object has what the form has, but for numbers. */
static bool has_kind_of(struct sp_value object, struct sp_value form)
{
    if (form.type == SP_INT) return object.type == SP_INT || object.type == SP_ABSENT;
    if (form.type != object.type) return false;
    if (form.type == SP_STRING) return strcmp(object.string, form.string) == 0;
    if (form.type == SP_BOOL) return object.boolean == form.boolean;
    for (size_t i = 0; form.type == SP_OBJECT && i < form.count; i++)
        if (strcmp(form.members[i].key, "quant_method") != 0 &&
            !has_kind_of(sp_value_member(object, form.members[i].key), form.members[i].value))
            return false;
    return true;
}

static bool differs_in_kind(const struct sp_check *check, struct sp_value form)
{
    struct sp_quantised quantised;
    sp_quantised_open(&quantised, check->tables, sp_config_hyper(check->quantisation.base), NULL);
    const bool same = has_kind_of(quantised.object, form);
    sp_quantised_close(&quantised);
    return !same;
}

/* What the tensors say, where the configuration leaves most of them unexplained. */
static void adopt_recognised(struct sp_check *check)
{
    struct sp_quantisation *quantisation = &check->quantisation;
    const size_t errors = errors_of(check, check->prediction);
    const struct sp_unit *part;
    const char *method;
    const struct sp_value form = errors ? sp_recognise_quantisation(check) : sp_value_absent("");
    if (!sp_value_is_set(form)) return;
    struct sp_config *config = sp_config_variant(quantisation->base);
    sp_config_set_value(config, "quantization", (struct sp_value){.type = SP_NULL}, "the file");
    sp_config_set_value(config, "quantization_config", form, "the file");
    method_of(check, config, &method, &part);
    /* The same method with other numbers is a matter of hyper-parameters. */
    if (quantisation->configured && strcmp(method, quantisation->configured) == 0 && !differs_in_kind(check, form))
        sp_config_free(config);
    else if (adopt(check, config, method, part)) {
        quantisation->recognised = true;
        quantisation->vanished = errors - errors_of(check, check->prediction);
    }
}

void sp_check_quantisation(struct sp_check *check)
{
    check->quantisation.base = check->config;
    adopt_configured(check);
    adopt_recognised(check);
}

void sp_quantisation_free(struct sp_quantisation *quantisation)
{
    if (quantisation->file) sp_file_storage_free(quantisation->file);
    free(quantisation->file);
    sp_config_free(quantisation->config);
    quantisation->file = NULL;
    quantisation->config = NULL;
}
