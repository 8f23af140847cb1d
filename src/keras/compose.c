/* SPDX-License-Identifier: MIT
 * From the configuration of a Keras model to a table and the configuration that the table reads (model.h). */
#include <stdlib.h>

#include "base/chars.h"
#include "config/inside.h"
#include "keras/model.h"
#include "lang/tables.h"
#include "model/format.h"
#include "shapeproof/keras.h"

static const char *config_text(const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(inventory); i++) {
        const struct shapeproof_metadata *metadata = shapeproof_inventory_metadata(inventory, i);
        if (strcmp(metadata->key, "model_config") == 0) return metadata->value;
    }
    return NULL;
}

/* ---- the source ---- */

/* Marks the definitions that an expression needs, and those that they need. Later ones name earlier ones. */
static void mark_used(const struct sp_keras_writer *writer, bool *used, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c != '_' || !sp_is_digit(c[1]) || (c > text && sp_is_word(c[-1]))) continue;
        const size_t number = strtoul(c + 1, NULL, 10);
        if (number && number <= writer->definitions.count) used[number - 1] = true;
    }
}

static void put_definitions(const struct sp_keras_writer *writer, const char *lines, struct sp_text *source)
{
    bool *used = sp_arena_array(writer->arena, writer->definitions.count + 1, sizeof *used);
    mark_used(writer, used, lines);
    for (size_t i = writer->definitions.count; i-- > 0;)
        if (used[i]) mark_used(writer, used, writer->definitions.items[i]);
    for (size_t i = 0; i < writer->definitions.count; i++)
        if (used[i]) sp_text_printf(source, "_%zu = %s\n", i + 1, writer->definitions.items[i]);
}

/* "table keras_model extends ...", its definitions, and the lines of the layers. */
static enum shapeproof_status add_table(struct sp_keras_writer *writer, struct shapeproof_tables *tables,
                                        struct shapeproof_error *error)
{
    struct sp_text source = {0};
    const char *lines = sp_text_keep(&writer->lines, writer->arena);
    sp_text_puts(&source, "# The layers of the model.\ntable keras_model extends keras_lengths\n");
    put_definitions(writer, lines, &source);
    sp_text_puts(&source, lines);
    const enum shapeproof_status status = sp_tables_add_source(
        tables,
        (struct sp_source_text){.name = "the layers of the model", .text = source.data, .length = source.length},
        error);
    sp_text_free(&source);
    return status;
}

/* ---- the configuration ---- */

static struct shapeproof_value with_table(struct sp_arena *arena, struct shapeproof_value root)
{
    return sp_value_with(arena, root, "shapeproof_table", sp_value_string("keras_model"));
}

static enum shapeproof_status compose_model(struct shapeproof_tables *tables, struct shapeproof_config *config,
                                            struct shapeproof_value entry, const char *label,
                                            const struct shapeproof_inventory *inventory, enum sp_keras_purpose purpose,
                                            struct shapeproof_error *error)
{
    struct sp_keras_model *model = sp_keras_parse(&config->arena, entry, error);
    if (!model) return error->status;
    struct sp_variables *variables = sp_keras_name_variables(&config->arena, model, inventory);
    struct sp_keras_writer writer = {.arena = &config->arena,
                                     .objects = variables->numbered,
                                     .names_alone = purpose == SP_KERAS_NAMES_ALONE,
                                     .variables = variables};
    const struct sp_keras_kind kind = sp_keras_kind(&config->arena, entry, "");
    sp_keras_write(&writer, model, &kind);
    sp_config_compose(config, with_table(&config->arena, model->root), label, variables);
    sp_keras_forget(model);
    const enum shapeproof_status status = add_table(&writer, tables, error);
    sp_free(writer.definitions.items);
    return status;
}

/* The configuration of a model that is no list of layers. */
static enum shapeproof_status refuse_subclass(struct shapeproof_value entry, struct shapeproof_error *error)
{
    const struct shapeproof_value class_name = sp_value_member(entry, "class_name");
    sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE,
            "the layers of the model are defined only in the code of its class '%s'", class_name.string);
    sp_hint(error, "write a table for it and give it with --table FILE");
    return error->status;
}

enum shapeproof_status sp_keras_compose(struct shapeproof_tables *tables, struct shapeproof_config *config,
                                        const struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    sp_error_reset(error);
    return sp_keras_compose_for(SP_KERAS_NAMES_AND_SIZES, tables, config, inventory, error);
}

enum shapeproof_status sp_keras_compose_for(enum sp_keras_purpose purpose, struct shapeproof_tables *tables,
                                            struct shapeproof_config *config,
                                            const struct shapeproof_inventory *inventory,
                                            struct shapeproof_error *error)
{
    struct shapeproof_value entry = config->file_root;
    const char *label = sp_base_name(config->path);
    const char *text = !*config->path && inventory ? config_text(inventory) : NULL;
    if (text) {
        label = sp_format_has(inventory, SP_ARCHIVED) ? "config.json" : "model_config";
        if (!sp_value_parse_json(&config->arena, text, strlen(text), &entry, error)) {
            sp_error_prefix(error, label);
            return error->status;
        }
    }
    if (!sp_config_is_keras_entry(entry)) return SHAPEPROOF_OK;
    if (!sp_keras_is_model(entry)) return refuse_subclass(entry, error);
    return compose_model(tables, config, entry, label, inventory, purpose, error);
}
