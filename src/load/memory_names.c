/* SPDX-License-Identifier: MIT */
#include "load/memory_names.h"

#include <string.h>

#include "config/config.h"
#include "load/class.h"
#include "load/conversion.h"

struct naming {
    struct sp_arena arena;
    struct sp_renaming_rules rules;
    void (*found)(void *context, const struct sp_memory_name *name);
    void *context;
};

static void tell(const struct naming *naming, const char *name, size_t predicted, size_t cuts, size_t row_block,
                 size_t row_blocks)
{
    const struct sp_memory_name told = {name, predicted, cuts, row_block, row_blocks};
    naming->found(naming->context, &told);
}

static size_t count_words(const char *words)
{
    const char *word;
    size_t count = 0;
    while (sp_word(&words, &word)) count++;
    return count;
}

/* Of a conversion that is not known only the names tell: as many targets as sources are one each. */
static void name_converted(struct naming *naming, const struct sp_renamed *renamed, size_t predicted)
{
    const struct sp_rule *rule = renamed->conversion;
    const size_t targets = sp_target_count(rule), sources = count_words(rule->from);
    const bool unknown = !sp_rule_is_known(rule), cut = strncmp(rule->how, "chunk0", strlen("chunk0")) == 0;
    if (strcmp(rule->how, "same") == 0) tell(naming, renamed->name, predicted, 1, 0, 1);
    else if (strcmp(rule->how, "join0") == 0 && targets == 1)
        tell(naming, renamed->name, predicted, 1, renamed->expression, sources);
    else if (unknown && sources == targets)
        tell(naming, sp_target_name(&naming->arena, rule, renamed->name, renamed->expression), predicted, 1, 0, 1);
    else if ((cut || unknown) && sources == 1)
        for (size_t i = 0; i < targets; i++)
            tell(naming, sp_target_name(&naming->arena, rule, renamed->name, i), predicted,
                 strcmp(rule->how, "chunk0") == 0 ? targets : SP_CUTS_UNKNOWN, 0, 1);
}

void sp_memory_names(const struct sp_load_subject *subject, const struct shapeproof_prediction *prediction,
                     void (*found)(void *context, const struct sp_memory_name *name), void *context)
{
    const struct sp_loader *loader = &sp_loader_transformers;
    const struct sp_loaded loaded = sp_class_loaded(loader, subject);
    struct naming naming = {.found = found, .context = context};
    if (!loaded.model_type) return;
    naming.rules = sp_renaming_rules(&naming.arena, loader, &loaded);
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const char *name = shapeproof_prediction_tensor(prediction, i)->name;
        const struct sp_renamed renamed = sp_rename(&naming.rules, name);
        if (renamed.conversion) name_converted(&naming, &renamed, i);
        else if (strcmp(renamed.name, name) != 0) tell(&naming, renamed.name, i, 1, 0, 1);
    }
    sp_renaming_rules_free(&naming.rules);
    sp_arena_free(&naming.arena);
}

bool sp_memory_is_own_release(const struct sp_load_subject *subject)
{
    const char *own = sp_loader_transformers.own_releases;
    const struct shapeproof_value version =
        sp_value_member(sp_config_hyper(subject->config)->root, "transformers_version");
    return version.type == SHAPEPROOF_VALUE_STRING && strncmp(version.string, own, strlen(own)) == 0;
}

size_t sp_memory_converted(const struct sp_load_subject *subject, size_t *first)
{
    const struct sp_loader *loader = &sp_loader_transformers;
    const struct sp_loaded loaded = sp_class_loaded(loader, subject);
    struct sp_arena arena = {0};
    size_t count = 0;
    if (!loaded.model_type || !sp_memory_is_own_release(subject)) return 0;
    struct sp_renaming_rules rules = sp_renaming_rules(&arena, loader, &loaded);
    for (size_t i = 0; i < shapeproof_inventory_count(subject->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(subject->inventory, i);
        const struct sp_renamed renamed = sp_rename(&rules, tensor->name);
        const bool reshaped = renamed.conversion && strcmp(renamed.conversion->how, "same") != 0;
        if (tensor->flags & SHAPEPROOF_TENSOR_STATE || (!reshaped && strcmp(renamed.name, tensor->name) == 0)) continue;
        if (!count++) *first = i;
    }
    sp_renaming_rules_free(&rules);
    sp_arena_free(&arena);
    return count;
}
