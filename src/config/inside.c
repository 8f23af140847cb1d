/* SPDX-License-Identifier: MIT */
#include "config/inside.h"

#include <string.h>

static const char *model_config(const struct sp_inventory *inventory)
{
    for (size_t i = 0; i < sp_inventory_metadata_count(inventory); i++) {
        const struct sp_metadata metadata = sp_inventory_metadata(inventory, i);
        if (strcmp(metadata.key, "model_config") == 0) return metadata.value;
    }
    return NULL;
}

bool sp_config_is_keras_entry(struct sp_value value)
{
    return value.type == SP_OBJECT && sp_value_member(value, "class_name").type == SP_STRING &&
           sp_value_is_set(sp_value_member(value, "config"));
}

bool sp_config_keras_entry(struct sp_arena *arena, const struct sp_inventory *inventory, struct sp_value *entry)
{
    struct sp_error error = {0};
    const char *text = model_config(inventory);
    return text && sp_value_parse_json(arena, text, strlen(text), entry, &error) && sp_config_is_keras_entry(*entry);
}

bool sp_config_is_inside(const struct sp_inventory *inventory, const char *table)
{
    struct sp_arena arena = {0};
    struct sp_value entry;
    if (sp_config_gguf_names_model(inventory)) return true;
    const bool inside = !table && sp_config_keras_entry(&arena, inventory, &entry);
    sp_arena_free(&arena);
    return inside;
}

static bool take_inside(struct sp_config *config, const struct sp_inventory *inventory, struct sp_error *error)
{
    struct sp_value entry;
    if (sp_config_gguf_names_model(inventory)) {
        if (!sp_config_gguf_agrees(inventory, error)) return false;
        sp_config_take_gguf(config, inventory);
        return true;
    }
    if (!sp_config_keras_entry(&config->arena, inventory, &entry)) {
        sp_hint(error, "give the config.json of the model, or a GGUF or Keras file, which have one in themselves");
        return sp_fail(error, SP_ERR_TABLE, SP_KIND_NONE, "a checkpoint (%s) without a configuration in itself",
                       sp_inventory_format(inventory));
    }
    sp_config_compose(config, entry, NULL, NULL);
    config->path = sp_arena_string(&config->arena, sp_inventory_path(inventory));
    return true;
}

bool sp_config_load_checkpoint(struct sp_config *config, const char *path, struct sp_error *error)
{
    struct sp_inventory *inventory = sp_inventory_open(path, error);
    if (!inventory) return false;
    const bool taken = take_inside(config, inventory, error);
    if (!taken) sp_error_prefix(error, path);
    sp_inventory_close(inventory);
    return taken;
}
