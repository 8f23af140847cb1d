/* SPDX-License-Identifier: MIT
 * The metadata of a GGUF file, compared with the configuration that --config gives. */
#include <string.h>

#include "base/chars.h"
#include "config/gguf_origin.h"
#include "config/inside.h"
#include "explain/gather.h"

/* Whether the key is one of these: "head_dim" of "head_dim and hidden_size", but not of "v_head_dim". */
static bool has_key(const char *keys, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = keys; (at = strstr(at, key)); at += length)
        if ((at == keys || !sp_is_word(at[-1])) && !sp_is_word(at[length])) return true;
    return false;
}

/* Whether a cause already says that the configuration and the tensors have different values of one of these keys. */
static bool is_said(const struct shapeproof_check *check, const char *keys)
{
    for (size_t i = 0; i < check->cause_count; i++) {
        const char *key = check->causes[i].hyperparameter;
        if (key && *key && has_key(keys, key)) return true;
    }
    return false;
}

/* Whether the tensor is not as predicted: then its rows say nothing about the metadata. */
static bool is_found_wrong(const struct shapeproof_check *check, size_t tensor)
{
    for (size_t i = 0; tensor != SHAPEPROOF_NONE && i < check->finding_count; i++)
        if (check->findings[i].tensor == tensor && check->findings[i].kind == SHAPEPROOF_FINDING_SHAPE) return true;
    return false;
}

void sp_explain_metadata(struct shapeproof_check *check)
{
    const struct shapeproof_inventory *inventory = check->inventory;
    const struct shapeproof_config *config = check->given_config;
    if (!sp_config_gguf_names_model(inventory) || !*shapeproof_config_path(config) ||
        sp_config_is_of_gguf(config, inventory))
        return;
    const struct sp_gguf_differences differences = sp_config_gguf_differences(&check->arena, config, inventory);
    for (size_t i = 0; i < differences.count; i++) {
        if (is_said(check, differences.items[i].source) || is_found_wrong(check, differences.items[i].tensor)) continue;
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_METADATA);
        cause->message = differences.items[i].message;
        cause->hint = differences.items[i].hint ? differences.items[i].hint : "convert the model again";
    }
}
