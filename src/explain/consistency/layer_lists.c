/* SPDX-License-Identifier: MIT
 * Lists of the configuration that say something of each layer, and have another length than there are layers. Programs
 * refuse such a configuration, or read past the end of the list. */
#include <inttypes.h>
#include <string.h>

#include "base/chars.h"
#include "explain/gather.h"

/* The number of layers that the object says, and the one that a cause has found the file to have instead. */
struct layer_counts {
    struct shapeproof_value said, found;
};

static struct layer_counts count_layers(struct shapeproof_check *check, struct shapeproof_value object,
                                        const char *path)
{
    const char *key = sp_arena_printf(&check->arena, "%snum_hidden_layers", path);
    const size_t hyper = sp_find_hyperparameter(check->prediction, key);
    struct layer_counts counts = {sp_value_member(object, "num_hidden_layers"), sp_value_absent(key)};
    if (hyper != SHAPEPROOF_NONE) counts.said = shapeproof_prediction_hyperparameter(check->prediction, hyper)->value;
    for (size_t i = 0; i < check->cause_count; i++)
        if (check->causes[i].hyperparameter && strcmp(check->causes[i].hyperparameter, key) == 0)
            counts.found = check->causes[i].found;
    return counts;
}

/* Layers for multi-token prediction may be among them. */
static bool is_length(struct shapeproof_value object, struct shapeproof_value layers, size_t length)
{
    const struct shapeproof_value more = sp_value_member(object, "num_nextn_predict_layers");
    if (layers.type != SHAPEPROOF_VALUE_INT || layers.integer < 0) return false;
    const uint64_t own = (uint64_t)layers.integer;
    return length == own ||
           (more.type == SHAPEPROOF_VALUE_INT && more.integer > 0 && length == own + (uint64_t)more.integer);
}

/* Those of multi-token prediction have lists of their own (mtp_layer_types). */
static bool is_of_layers(const struct shapeproof_member *member)
{
    return member->value.type == SHAPEPROOF_VALUE_LIST && strncmp(member->key, "mtp_", strlen("mtp_")) != 0 &&
           (sp_ends_with(member->key, "layer_types") || sp_ends_with(member->key, "layers_block_type"));
}

static void blame_list(struct shapeproof_check *check, const char *path, const struct shapeproof_member *list,
                       struct shapeproof_value layers)
{
    const char *file = sp_config_hyper(check->config)->file;
    struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_LAYER_LIST);
    cause->explains = 1;
    cause->message = sp_arena_printf(&check->arena, "%s%s in %s has %zu %s for %" PRId64 " layers", path, list->key,
                                     *file ? file : "the configuration", list->value.count,
                                     list->value.count == 1 ? "entry" : "entries", layers.integer);
    cause->hint = "give it an entry for each layer: programs refuse the configuration, or stop at the last entry";
}

static void check_lists(struct shapeproof_check *check, struct shapeproof_value object, const char *path, int depth)
{
    enum { DEEPEST = 3 };
    const struct layer_counts layers = count_layers(check, object, path);
    for (size_t i = 0; i < object.count; i++) {
        const struct shapeproof_member *member = &object.members[i];
        if (member->value.type == SHAPEPROOF_VALUE_OBJECT && depth < DEEPEST)
            check_lists(check, member->value, sp_arena_printf(&check->arena, "%s%s.", path, member->key), depth + 1);
        if (layers.said.type != SHAPEPROOF_VALUE_INT || !is_of_layers(member)) continue;
        const size_t length = member->value.count;
        if (!is_length(object, layers.said, length) && !is_length(object, layers.found, length))
            blame_list(check, path, member, layers.said);
    }
}

void sp_explain_layer_lists(struct shapeproof_check *check)
{
    const struct shapeproof_value root = sp_config_hyper(check->config)->root;
    if (root.type == SHAPEPROOF_VALUE_OBJECT) check_lists(check, root, "", 0);
}
