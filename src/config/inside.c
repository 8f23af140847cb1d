/* SPDX-License-Identifier: MIT */
#include "config/inside.h"

#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"

static const char *model_config(const struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(inventory); i++) {
        const struct shapeproof_metadata *metadata = shapeproof_inventory_metadata(inventory, i);
        if (strcmp(metadata->key, "model_config") == 0) return metadata->value;
    }
    return NULL;
}

bool sp_config_is_keras_entry(struct shapeproof_value value)
{
    return value.type == SHAPEPROOF_VALUE_OBJECT &&
           sp_value_member(value, "class_name").type == SHAPEPROOF_VALUE_STRING &&
           sp_value_is_set(sp_value_member(value, "config"));
}

bool sp_config_keras_entry(struct sp_arena *arena, const struct shapeproof_inventory *inventory,
                           struct shapeproof_value *entry)
{
    struct shapeproof_error error = {0};
    const char *text = model_config(inventory);
    return text && sp_value_parse_json(arena, text, strlen(text), entry, &error) && sp_config_is_keras_entry(*entry);
}

bool shapeproof_config_is_inside(const struct shapeproof_inventory *inventory, const char *table)
{
    SP_CALL(NULL, false);
    SP_SPENDS("reading the configuration");
    SP_BUDGET_REUSE(inventory);
    struct sp_arena arena = {0};
    struct shapeproof_value entry;
    if (sp_config_gguf_names_model(inventory)) return true;
    const bool inside = !table && sp_config_keras_entry(&arena, inventory, &entry);
    sp_arena_free(&arena);
    return inside;
}

bool sp_config_take_program(struct shapeproof_config *config, const struct shapeproof_inventory *inventory)
{
    struct sp_program_config found;
    if (!sp_config_of_program(&config->arena, inventory, &found)) return false;
    const char *path = shapeproof_inventory_path(inventory);
    config->path = sp_arena_string(&config->arena, path);
    config->place = found.place;
    sp_config_compose(config, found.root,
                      sp_arena_printf(&config->arena, "%s of %s", found.place, sp_base_name(config->path)), NULL);
    return true;
}

static bool take_inside(struct shapeproof_config *config, const struct shapeproof_inventory *inventory,
                        struct shapeproof_error *error)
{
    struct shapeproof_value entry;
    if (sp_config_gguf_names_model(inventory)) {
        if (!sp_config_gguf_agrees(inventory, error)) return false;
        sp_config_take_gguf(config, inventory);
        return true;
    }
    if (sp_config_take_program(config, inventory)) return true;
    if (!sp_config_keras_entry(&config->arena, inventory, &entry)) {
        sp_hint(error, "give the config.json of the model, or a GGUF or Keras file, which have one in themselves");
        return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_NONE,
                       "a checkpoint (%s) without a configuration in itself", shapeproof_inventory_format(inventory));
    }
    sp_config_compose(config, entry, NULL, NULL);
    config->path = sp_arena_string(&config->arena, shapeproof_inventory_path(inventory));
    return true;
}

bool sp_config_load_checkpoint(struct shapeproof_config *config, const char *path, struct shapeproof_error *error)
{
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, error);
    if (!inventory) return false;
    const bool taken = take_inside(config, inventory, error);
    if (!taken) sp_error_prefix(error, path);
    shapeproof_inventory_close(inventory);
    return taken;
}
