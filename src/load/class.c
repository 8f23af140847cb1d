/* SPDX-License-Identifier: MIT */
#include "load/class.h"

#include <string.h>

#include "config/choose.h"
#include "config/config.h"
#include "lang/prediction.h"
#include "load/renaming.h"

enum { MAX_LABELS = 100000 };

/* ---- which class ---- */

struct sp_loaded sp_class_loaded(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    struct sp_error error = {0};
    const struct sp_hyper *hyper = sp_config_hyper(subject->config);
    const struct sp_value said = sp_value_member(hyper->root, "model_type");
    if (said.type == SP_STRING) return sp_loader_class(loader, said.string, sp_first_class(hyper));
    const struct sp_unit *table = sp_choose_table(subject->tables, subject->table, hyper, &error);
    if (!table || !table->model_type_count) return (struct sp_loaded){0};
    return sp_loader_class(loader, table->model_types[0], sp_first_class(hyper));
}

struct sp_loaded sp_class_named(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    struct sp_two_models two;
    const bool differs = sp_chooses_two(subject->tables, sp_config_hyper(subject->config), &two);
    if (!loader->by_class || subject->table || !differs) return (struct sp_loaded){0};
    return sp_loader_class(loader, two.class_type, two.class);
}

/* ---- the model ---- */

static void set_ties(struct sp_config *config, bool tied)
{
    const char *const keys[] = {"tie_word_embeddings", "text_config.tie_word_embeddings"};
    const bool inward = sp_value_member(sp_config_hyper(config)->root, "text_config").type == SP_OBJECT;
    for (size_t i = 0; i < 1 + (size_t)inward; i++) sp_config_set_value(config, keys[i], sp_value_bool(tied), "");
}

static struct sp_value said_of_ties(const struct sp_loader *loader, const struct sp_config *config)
{
    const struct sp_value root = sp_config_hyper(config)->root, text = sp_value_member(root, "text_config");
    return sp_value_member(loader->ties_by_text && text.type == SP_OBJECT ? text : root, "tie_word_embeddings");
}

/* "but NAME" */
static const char *tied_but(const struct sp_loaded *loaded)
{
    return strncmp(loaded->ties, "but ", 4) == 0 ? loaded->ties + 4 : NULL;
}

/* Whether the class ties, as the loader sees it: SP_BOOL, or what the table says. What is said counts for the whole and
 * for its parts. */
static struct sp_value class_ties(const struct sp_loader *loader, const struct sp_loaded *loaded,
                                  const struct sp_config *config)
{
    const struct sp_value said = said_of_ties(loader, config);
    const bool always = strcmp(loaded->ties, "always") == 0;
    if (always || strcmp(loaded->ties, "never") == 0) return sp_value_bool(always);
    if (sp_value_member(sp_config_hyper(config)->root, loaded->ties).type == SP_OBJECT)
        return sp_value_is_bool(said, true) ? said : sp_value_absent("");
    if (tied_but(loaded) && said.type == SP_BOOL) return sp_value_bool(true);
    if (said.type == SP_BOOL || !*loaded->ties || tied_but(loaded)) return said;
    return sp_value_bool(strcmp(loaded->ties, "true") == 0);
}

/* A class of another model_type reads the configuration as its own. */
static void set_model_type(struct sp_config *config, const char *model_type)
{
    const struct sp_value said = sp_value_member(sp_config_hyper(config)->root, "model_type");
    if (said.type == SP_STRING && strcmp(said.string, model_type) != 0)
        sp_config_set_value(config, "model_type", sp_value_string(model_type), "");
}

/* So many labels, when the configuration names another number of them; SIZE_MAX when it does not contradict itself. */
static size_t other_labels(const struct sp_loader *loader, const struct sp_config *config)
{
    const struct sp_value root = sp_config_hyper(config)->root;
    const struct sp_value names = sp_value_member(root, "id2label"), number = sp_value_member(root, "num_labels");
    if (!loader->counts_labels || names.type != SP_OBJECT || number.type != SP_INT) return SIZE_MAX;
    const bool differs = number.integer > 0 && number.integer <= MAX_LABELS && (size_t)number.integer != names.count;
    return differs ? (size_t)number.integer : SIZE_MAX;
}

static void set_labels(struct sp_config *config, size_t count)
{
    struct sp_error error = {0};
    struct sp_text setting = {0};
    sp_text_puts(&setting, "id2label={");
    for (size_t i = 0; i < count; i++) sp_text_printf(&setting, "%s\"%zu\": %zu", i ? ", " : "", i, i);
    sp_text_puts(&setting, "}");
    sp_config_set(config, setting.data, &error);
    sp_text_free(&setting);
}

/* Of words with blanks between: "key=value" is what the class has whatever is said, "key" as if it were not said. */
static void set_words(struct sp_arena *arena, struct sp_config *config, const char *words)
{
    struct sp_error error = {0};
    const char *word;
    for (size_t length; (length = sp_word(&words, &word));) {
        const char *setting = sp_arena_copy(arena, word, length);
        if (strchr(setting, '=')) sp_config_set(config, setting, &error);
        else sp_config_set_value(config, setting, sp_value_absent(""), "");
    }
}

/* The release that the loader is, when the configuration was written by another one, or does not say by which; or NULL.
 * Of the loader's own releases, the tables know the differences. */
static const char *other_release(const struct sp_loader *loader, const struct sp_config *config)
{
    const struct sp_value said = sp_value_member(sp_config_hyper(config)->root, "transformers_version");
    if (!loader->version || !loader->own_releases || said.type != SP_STRING) return loader->version;
    return strncmp(said.string, loader->own_releases, strlen(loader->own_releases)) == 0 ? NULL : loader->version;
}

/* The class makes something else of the configuration than its table. */
static bool is_read_otherwise(const struct sp_loader *loader, const struct sp_loaded *loaded,
                              const struct sp_config *config)
{
    return other_release(loader, config) || *loaded->unread || other_labels(loader, config) != SIZE_MAX;
}

/* The configuration as the class reads it. */
static struct sp_config *read_by_class(struct sp_arena *arena, const struct sp_loader *loader,
                                       const struct sp_loaded *loaded, const struct sp_load_subject *subject)
{
    const size_t labels = other_labels(loader, subject->config);
    struct sp_config *config = sp_config_variant(subject->config);
    if (labels != SIZE_MAX) set_labels(config, labels);
    if (!subject->table) set_model_type(config, loaded->model_type);
    const char *release = other_release(loader, config);
    if (release) sp_config_set_value(config, "transformers_version", sp_value_string(release), "");
    set_words(arena, config, loaded->unread);
    return config;
}

struct sp_class_model sp_class_predict(struct sp_arena *arena, const struct sp_loader *loader,
                                       const struct sp_loaded *loaded, const struct sp_load_subject *subject)
{
    struct sp_error error = {0};
    const struct sp_value ties = class_ties(loader, loaded, subject->config);
    struct sp_class_model model = {.prediction = subject->prediction, .untied = sp_value_is_bool(ties, false)};
    if (sp_value_is_bool(said_of_ties(loader, subject->config), false)) model.alone = tied_but(loaded);
    if (model.prediction && ties.type != SP_BOOL && !is_read_otherwise(loader, loaded, subject->config)) return model;
    struct sp_config *config = read_by_class(arena, loader, loaded, subject);
    if (ties.type == SP_BOOL) set_ties(config, ties.boolean);
    model.prediction = model.own =
        sp_predict(subject->tables, config, &(struct sp_predict_options){.table = subject->table}, &error);
    sp_config_free(config);
    return model;
}

void sp_class_free(struct sp_class_model *model) { sp_prediction_free(model->own); }

/* ---- what it needs ---- */

const char *sp_class_lacks(struct sp_arena *arena, const struct sp_loaded *loaded, const struct sp_config *config)
{
    const char *words = loaded->needed, *word;
    for (size_t length; (length = sp_word(&words, &word));) {
        const char *key = sp_arena_copy(arena, word, length);
        if (sp_value_member(sp_config_hyper(config)->root, key).type == SP_ABSENT) return key;
    }
    return "";
}
