/* SPDX-License-Identifier: MIT
 * Which published models there are, and what is known of one. */
#include "base/call.h"
#include "base/json_write.h"
#include "report/common.h"
#include "report/csv.h"
#include "report/table.h"
#include "shapeproof/report.h"

/* ---- JSON ---- */

static void put_model_json(struct sp_writer *json, const struct shapeproof_model *model)
{
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "name", model->name);
    sp_write_key_optional(json, "alias", model->alias);
    sp_write_key_optional(json, "hub", model->hub);
    sp_write_key_string(json, "type", model->type);
    sp_write_key_optional(json, "published", model->published);
    if (model->parameters) sp_write_key_number(json, "parameters", model->parameters);
    sp_write_key_string(json, "source", model->source);
    sp_write_key_value(json, "config", model->config);
    sp_write_close(json);
}

static void put_models_json(struct sp_text *text, const struct shapeproof_models *models, const char *filter,
                            const struct shapeproof_model *one)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.models/1");
    sp_write_key_open(&json, "models", '[');
    for (size_t i = 0; i < shapeproof_models_count(models); i++) {
        const struct shapeproof_model *model = shapeproof_models_get(models, i);
        if (one ? model == one : shapeproof_models_fits(models, i, filter)) put_model_json(&json, model);
    }
    sp_write_close(&json);
    sp_write_close(&json);
}

/* ---- CSV ---- */

/* A row for each model, without its hyper-parameters. */
static void put_models_csv(struct sp_text *text, const struct shapeproof_models *models, const char *filter,
                           const struct shapeproof_model *one)
{
    static const char *const titles[] = {"model", "hub", "type", "published", "parameters", "source", NULL};
    struct sp_csv csv = {.text = text};
    sp_csv_heading(&csv, titles);
    for (size_t i = 0; i < shapeproof_models_count(models); i++) {
        const struct shapeproof_model *model = shapeproof_models_get(models, i);
        if (one ? model != one : !shapeproof_models_fits(models, i, filter)) continue;
        sp_csv_field(&csv, model->name);
        sp_csv_field(&csv, model->hub);
        sp_csv_field(&csv, model->type);
        sp_csv_field(&csv, model->published);
        if (model->parameters) sp_csv_number(&csv, model->parameters);
        else sp_csv_field(&csv, NULL);
        sp_csv_field(&csv, model->source);
        sp_csv_end_row(&csv);
    }
}

/* ---- text ---- */

/* The table of all models that the filter names. */
static void put_list(struct sp_text *text, const struct shapeproof_models *models, const char *filter,
                     const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{"model", SP_LEFT},
                                               {"published", SP_RIGHT},
                                               {"parameters", SP_RIGHT},
                                               {"type", SP_LEFT},
                                               {"on the hub", SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (size_t i = 0; i < shapeproof_models_count(models); i++) {
        const struct shapeproof_model *model = shapeproof_models_get(models, i);
        if (!shapeproof_models_fits(models, i, filter)) continue;
        sp_put_visible(sp_table_cell(&table), model->name);
        sp_put_visible(sp_table_cell(&table), model->published ? model->published : "");
        struct sp_text *cell = sp_table_cell(&table);
        if (model->parameters) sp_text_grouped(cell, model->parameters);
        sp_put_visible(sp_table_cell(&table), model->type);
        sp_put_visible(sp_table_cell(&table), model->hub ? model->hub : "");
    }
    sp_table_render(&table, text, options);
}

/* Its hyper-parameters, one line each; those of a nested configuration with their full name. */
static void put_config(struct sp_table *table, const char *before, struct shapeproof_value config)
{
    for (size_t i = 0; i < config.count; i++) {
        const struct shapeproof_member *member = &config.members[i];
        struct sp_text name = {0};
        sp_text_printf(&name, "%s%s", before, member->key);
        if (member->value.type == SHAPEPROOF_VALUE_OBJECT) {
            sp_text_puts(&name, ".");
            put_config(table, name.data, member->value);
        } else {
            sp_put_visible(sp_table_cell(table), name.data);
            sp_put_value(sp_table_cell(table), member->value, 72);
        }
        sp_text_free(&name);
    }
}

/* A row, if the fact is known. */
static void put_fact(struct sp_table *table, const char *what, const char *fact)
{
    if (!fact) return;
    sp_text_puts(sp_table_cell(table), what);
    sp_put_visible(sp_table_cell(table), fact);
}

/* All about one model: where it was published, then its hyper-parameters. */
static void put_one(struct sp_text *text, const struct shapeproof_model *model,
                    const struct shapeproof_report_options *options)
{
    static const struct sp_column facts[] = {{NULL, SP_LEFT}, {NULL, SP_LEFT}};
    static const struct sp_column values[] = {{"hyper-parameter", SP_LEFT}, {"value", SP_LEFT}};
    struct sp_table table = {.columns = facts, .column_count = 2};
    put_fact(&table, "model", model->name);
    put_fact(&table, "short name", model->alias);
    put_fact(&table, "on the hub", model->hub);
    put_fact(&table, "source", model->source);
    put_fact(&table, "published", model->published);
    if (model->parameters) {
        sp_text_puts(sp_table_cell(&table), "parameters");
        sp_text_grouped(sp_table_cell(&table), model->parameters);
    }
    sp_table_render(&table, text, options);
    sp_text_puts(text, "\n");
    table = (struct sp_table){.columns = values, .column_count = 2};
    put_config(&table, "", model->config);
    sp_table_render(&table, text, options);
}

char *shapeproof_report_models(const struct shapeproof_models *models, const char *filter,
                               const struct shapeproof_model *one, const struct shapeproof_report_options *options,
                               size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) put_models_json(&text, models, filter, one);
    else if (options->format == SHAPEPROOF_REPORT_CSV) put_models_csv(&text, models, filter, one);
    else if (one) put_one(&text, one, options);
    else put_list(&text, models, filter, options);
    return sp_text_take(&text, length);
}
