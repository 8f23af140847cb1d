/* SPDX-License-Identifier: MIT */
#include "load/class.h"

#include <string.h>

#include "config/choose.h"
#include "config/config.h"
#include "lang/prediction.h"
#include "load/renaming.h"

/* ---- which class ---- */

const struct sp_loaded *sp_class_loaded(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    struct sp_error error = {0};
    const struct sp_hyper *hyper = sp_config_hyper(subject->config);
    const struct sp_value said = sp_value_member(hyper->root, "model_type");
    if (said.type == SP_STRING) return sp_loader_class(loader, said.string, sp_first_class(hyper));
    const struct sp_unit *table = sp_choose_table(subject->tables, subject->table, hyper, &error);
    if (!table || !table->model_type_count) return NULL;
    return sp_loader_class(loader, table->model_types[0], sp_first_class(hyper));
}

const struct sp_loaded *sp_class_named(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    struct sp_two_models two;
    const bool differs = sp_chooses_two(subject->tables, sp_config_hyper(subject->config), &two);
    return loader->by_class && !subject->table && differs ? sp_loader_class(loader, two.class_type, two.class) : NULL;
}

/* ---- the model ---- */

static void set_ties(struct sp_config *config, bool tied)
{
    const char *const keys[] = {"tie_word_embeddings", "text_config.tie_word_embeddings"};
    const bool inward = sp_value_member(sp_config_hyper(config)->root, "text_config").type == SP_OBJECT;
    for (size_t i = 0; i < 1 + (size_t)inward; i++) sp_config_set_value(config, keys[i], sp_value_bool(tied), "");
}

/* Whether the class ties, as the loader sees it: SP_BOOL, or what the table says. What the whole configuration says
 * counts for its parts as well. */
static struct sp_value class_ties(const struct sp_loaded *loaded, const struct sp_config *config)
{
    const struct sp_value said = sp_value_member(sp_config_hyper(config)->root, "tie_word_embeddings");
    const bool always = strcmp(loaded->ties, "always") == 0;
    if (always || strcmp(loaded->ties, "never") == 0) return sp_value_bool(always);
    if (sp_value_member(sp_config_hyper(config)->root, loaded->ties).type == SP_OBJECT)
        return sp_value_is_bool(said, true) ? said : sp_value_absent("");
    if (said.type == SP_BOOL || !*loaded->ties) return said;
    return sp_value_bool(strcmp(loaded->ties, "true") == 0);
}

/* A class of another model_type reads the configuration as its own. */
static void set_model_type(struct sp_config *config, const char *model_type)
{
    const struct sp_value said = sp_value_member(sp_config_hyper(config)->root, "model_type");
    if (said.type == SP_STRING && strcmp(said.string, model_type) != 0)
        sp_config_set_value(config, "model_type", sp_value_string(model_type), "");
}

static void set_fixed(struct sp_arena *arena, struct sp_config *config, const char *settings)
{
    struct sp_error error = {0};
    const char *setting;
    for (size_t length; (length = sp_word(&settings, &setting));)
        sp_config_set(config, sp_arena_copy(arena, setting, length), &error);
}

struct sp_class_model sp_class_predict(struct sp_arena *arena, const struct sp_loaded *loaded,
                                       const struct sp_load_subject *subject)
{
    struct sp_error error = {0};
    const struct sp_value ties = class_ties(loaded, subject->config);
    struct sp_class_model model = {.prediction = subject->prediction, .untied = sp_value_is_bool(ties, false)};
    if (model.prediction && ties.type != SP_BOOL && !loaded->fixed) return model;
    struct sp_config *config = sp_config_variant(subject->config);
    if (ties.type == SP_BOOL) set_ties(config, ties.boolean);
    if (!subject->table) set_model_type(config, loaded->model_type);
    if (loaded->fixed) set_fixed(arena, config, loaded->fixed);
    model.prediction = model.own =
        sp_predict(subject->tables, config, &(struct sp_predict_options){.table = subject->table}, &error);
    sp_config_free(config);
    return model;
}

void sp_class_free(struct sp_class_model *model) { sp_prediction_free(model->own); }

/* ---- what it needs ---- */

const char *sp_class_lacks(struct sp_arena *arena, const struct sp_loaded *loaded, const struct sp_config *config)
{
    const char *words = loaded->needed ? loaded->needed : "", *word;
    for (size_t length; (length = sp_word(&words, &word));) {
        const char *key = sp_arena_copy(arena, word, length);
        if (sp_value_member(sp_config_hyper(config)->root, key).type == SP_ABSENT) return key;
    }
    return "";
}
