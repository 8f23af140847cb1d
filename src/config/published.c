/* SPDX-License-Identifier: MIT
 * The library of published models. A file has the models of a family:
 *
 *     {"source": "where they were published", "config": {"model_type": "gpt2", "vocab_size": 50257},
 *      "models": [{"name": "gpt2-xl", "published": "1558M", "parameters": 1557611200,
 *                  "config": {"n_embd": 1600, "n_layer": 48, "n_head": 25}}]}
 *
 * What stands at the top is common to all of its models; a source or a key of `config` in a model wins over it. A model
 * may have an "alias", a shorter name that people write.
 *
 * figures.json is the book of figures: what publications print about these models.
 *
 *     {"sources": [{"source": "Radford et al. 2019", "figures": [
 *        {"model": "gpt2-xl", "printed": "1542M", "at": "Table 2", "note": "why it is wrong", "of": "total"}]}]}
 *
 * `of` is the expression that the figure counts; without it that is the total. `at` and `note` may be left out. */
#include "config/published.h"

#include <stdlib.h>
#include <strings.h>

#include "base/call.h"
#include "base/suggest.h"
#include "base/value.h"
#include "config/config.h"
#include "shapeproof/models.h"

struct shapeproof_models {
    struct sp_arena arena;
    struct shapeproof_model *items;
    size_t count, capacity;
    const char *book; /* the text of the book of figures; NULL: there is none */
};

static const char book_file[] = "figures.json";

/* ---- reading ---- */

static bool is_wrong(struct shapeproof_error *error, const char *file, const char *what)
{
    return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, "%s: %s", file, what);
}

/* The text under a key of an object, or NULL. */
static const char *text_of(struct shapeproof_value object, const char *key)
{
    const struct shapeproof_value value = sp_value_member(object, key);
    return value.type == SHAPEPROOF_VALUE_STRING ? value.string : NULL;
}

/* What the configuration calls its kind of model. */
static const char *type_of(struct shapeproof_value config)
{
    const char *type = text_of(config, "model_type");
    if (!type) type = text_of(config, "architecture");
    return type ? type : "";
}

/* Adds one of the objects under "models": its own keys, and what the family has in common. False with an error when it
 * has no name, or no source. */
static bool add_model(struct shapeproof_models *models, const char *file, struct shapeproof_value family,
                      struct shapeproof_value object, struct shapeproof_error *error)
{
    const struct shapeproof_value parameters = sp_value_member(object, "parameters");
    const char *source = text_of(object, "source");
    struct shapeproof_model model = {.name = text_of(object, "name"),
                                     .hub = text_of(object, "hub"),
                                     .alias = text_of(object, "alias"),
                                     .published = text_of(object, "published"),
                                     .source = source ? source : text_of(family, "source"),
                                     .file = file,
                                     .config = sp_value_member(family, "config")};
    if (!model.name || !model.source) return is_wrong(error, file, "a model without a name or a source");
    if (parameters.type == SHAPEPROOF_VALUE_INT) model.parameters = (uint64_t)parameters.integer;
    if (model.config.type != SHAPEPROOF_VALUE_OBJECT)
        model.config = (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT};
    model.config = sp_value_patched(&models->arena, model.config, sp_value_member(object, "config"));
    model.type = type_of(model.config);
    SP_GROW(models->items, models->count, models->capacity);
    models->items[models->count++] = model;
    return true;
}

static bool add_family(struct shapeproof_models *models, const char *file, const char *text,
                       struct shapeproof_error *error)
{
    struct shapeproof_value family;
    if (!sp_value_parse_json(&models->arena, text, strlen(text), &family, error)) return false;
    const struct shapeproof_value list = sp_value_member(family, "models");
    if (list.type != SHAPEPROOF_VALUE_LIST) return is_wrong(error, file, "there is no list of models in it");
    for (size_t i = 0; i < list.count; i++)
        if (!add_model(models, file, family, list.items[i], error)) return false;
    return true;
}

struct shapeproof_models *shapeproof_models_new(struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("reading the configuration");
    struct shapeproof_models *models = sp_realloc(NULL, 1, sizeof *models);
    const char *name = sp_published_text;
    *models = (struct shapeproof_models){.items = NULL};
    sp_error_reset(error);
    for (size_t i = 0; i < sp_published_file_count; i++) {
        const char *text = name + strlen(name) + 1;
        if (strcmp(name, book_file) == 0) models->book = text;
        else if (!add_family(models, name, text, error)) {
            shapeproof_models_free(models);
            return NULL;
        }
        name = text + strlen(text) + 1;
    }
    return models;
}

void shapeproof_models_free(struct shapeproof_models *models)
{
    if (!models) return;
    sp_free(models->items);
    sp_arena_free(&models->arena);
    sp_free(models);
}

/* ---- the book of figures ---- */

static bool add_figure(struct sp_book_lines *lines, const struct shapeproof_models *models, const char *source,
                       struct shapeproof_value object, struct shapeproof_error *error)
{
    const char *name = text_of(object, "model"), *of = text_of(object, "of"), *at = text_of(object, "at");
    const char *note = text_of(object, "note");
    const struct sp_book_line line = {.model = name ? shapeproof_models_find(models, name) : NULL,
                                      .printed = text_of(object, "printed"),
                                      .of = of ? of : "total",
                                      .source = source,
                                      .at = at ? at : "",
                                      .note = note ? note : ""};
    if (!line.model)
        return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, "%s: there is no published model '%s'",
                       book_file, name ? name : "");
    if (!line.printed) return is_wrong(error, book_file, "a figure without what is printed");
    *SP_PUSH(lines) = line;
    return true;
}

static bool add_source(struct sp_book_lines *lines, const struct shapeproof_models *models,
                       struct shapeproof_value object, struct shapeproof_error *error)
{
    const char *source = text_of(object, "source");
    const struct shapeproof_value list = sp_value_member(object, "figures");
    if (!source || list.type != SHAPEPROOF_VALUE_LIST)
        return is_wrong(error, book_file, "a source without a name or without figures");
    for (size_t i = 0; i < list.count; i++)
        if (!add_figure(lines, models, source, list.items[i], error)) return false;
    return true;
}

/* Whether one of the first `count` lines has the size that the authors of the model give. */
static bool has_figure(const struct sp_book_lines *lines, size_t count, const struct shapeproof_model *model)
{
    for (size_t i = 0; i < count; i++) {
        const struct sp_book_line *line = &lines->items[i];
        if (line->model == model && strcmp(line->of, "total") == 0 && strcmp(line->printed, model->published) == 0)
            return true;
    }
    return false;
}

bool sp_book_read(struct sp_arena *arena, const struct shapeproof_models *models, struct sp_book_lines *lines,
                  struct shapeproof_error *error)
{
    struct shapeproof_value book = {.type = SHAPEPROOF_VALUE_ABSENT};
    if (models->book && !sp_value_parse_json(arena, models->book, strlen(models->book), &book, error)) return false;
    const struct shapeproof_value list = sp_value_member(book, "sources");
    for (size_t i = 0; i < list.count; i++)
        if (!add_source(lines, models, list.items[i], error)) return false;
    const size_t printed = lines->count;
    for (size_t i = 0; i < models->count; i++) {
        const struct shapeproof_model *model = &models->items[i];
        if (!model->published || has_figure(lines, printed, model)) continue;
        *SP_PUSH(lines) = (struct sp_book_line){.model = model,
                                                .printed = model->published,
                                                .of = "total",
                                                .source = "Sizes of models, as 'shapeproof models' lists them",
                                                .at = model->source,
                                                .note = ""};
    }
    return true;
}

/* ---- finding ---- */

size_t shapeproof_models_count(const struct shapeproof_models *models) { return models->count; }

const struct shapeproof_model *shapeproof_models_get(const struct shapeproof_models *models, size_t index)
{
    return &models->items[index];
}

/* Behind the slash: "resnet50" of "torchvision/resnet50". */
static const char *short_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

const struct shapeproof_model *shapeproof_models_find(const struct shapeproof_models *models, const char *name)
{
    const struct shapeproof_model *by_other_name = NULL, *by_part = NULL;
    for (size_t i = 0; i < models->count; i++) {
        const struct shapeproof_model *model = &models->items[i];
        if (strcasecmp(model->name, name) == 0) return model;
        const bool is_called =
            (model->hub && strcasecmp(model->hub, name) == 0) || (model->alias && strcasecmp(model->alias, name) == 0);
        if (is_called) by_other_name = model;
        const bool is_part = strcasecmp(short_name(model->name), name) == 0 ||
                             (model->hub && strcasecmp(short_name(model->hub), name) == 0);
        if (is_part && !by_part) by_part = model;
    }
    return by_other_name ? by_other_name : by_part;
}

const struct shapeproof_model *shapeproof_models_like(const struct shapeproof_models *models, const char *name)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("reading the configuration");
    const char **names = sp_realloc(NULL, models->count ? models->count : 1, sizeof *names);
    for (size_t i = 0; i < models->count; i++) names[i] = short_name(models->items[i].name);
    const char *likely = sp_suggest_name(name, names, models->count);
    sp_free(names);
    return likely ? shapeproof_models_find(models, likely) : NULL;
}

static bool contains(const char *text, const char *part)
{
    const size_t length = strlen(part);
    for (; text && strlen(text) >= length; text++)
        if (strncasecmp(text, part, length) == 0) return true;
    return false;
}

bool shapeproof_models_fits(const struct shapeproof_models *models, size_t index, const char *text)
{
    const struct shapeproof_model *model = &models->items[index];
    return !text || contains(model->name, text) || contains(model->alias, text) || contains(model->hub, text) ||
           contains(model->type, text);
}

/* ---- the configuration of a model ---- */

void shapeproof_config_take_model(struct shapeproof_config *config, const struct shapeproof_model *model)
{
    SP_CALL(NULL, );
    SP_SPENDS("reading the configuration");
    sp_config_keep(config);
    struct shapeproof_error ignored = {0};
    struct shapeproof_value root; /* a copy, in the arena of the configuration */
    char *text = shapeproof_value_text(model->config);
    if (sp_value_parse_json(&config->arena, text, strlen(text), &root, &ignored))
        sp_config_set_model(config, root, sp_arena_string(&config->arena, model->name));
    sp_free(text);
}

const char *shapeproof_config_model(const struct shapeproof_config *config)
{
    return config->model ? config->model : "";
}
