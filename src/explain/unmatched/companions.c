/* SPDX-License-Identifier: MIT
 * What stands beside a tensor stands beside all of its siblings, or beside none: the scale of an activation, say, which
 * a quantiser may leave out. The table calls it optional, and a loader that finds some reads what it happens to have in
 * memory for the others. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "explain/gather.h"
#include "explain/siblings.h"
#include "match/present_modules.h"
#include "names/components.h"

/* Modules that loaders make one of, and scales that belong together: what one of them has, all have. */
static const struct {
    const char *component, *kin;
} joined[] = {
    {"q_proj", "qkv"},   {"k_proj", "qkv"}, {"v_proj", "qkv"}, {"query", "qkv"}, {"key", "qkv"},    {"value", "qkv"},
    {"q", "qkv"},        {"k", "qkv"},      {"v", "qkv"},      {"wq", "qkv"},    {"wk", "qkv"},     {"wv", "qkv"},
    {"gate_proj", "gu"}, {"up_proj", "gu"}, {"w1", "gu"},      {"w3", "gu"},     {"k_scale", "kv"}, {"v_scale", "kv"},
};

static void put_kin(struct sp_text *text, const char *name)
{
    text->length = 0;
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, ".");) {
        const char *kin = NULL;
        for (size_t i = 0; i < sizeof joined / sizeof *joined && !kin; i++)
            if (sp_is_component(part.text, part.length, joined[i].component)) kin = joined[i].kin;
        if (kin) sp_text_printf(text, "%s.", kin);
        else sp_text_append(text, part.text, (size_t)(part.rest - part.text));
    }
}

/* Buffers are computed anew where they are not there. */
static bool is_choice(const struct shapeproof_predicted *tensor) { return tensor->optional && !tensor->buffer; }

/* Of each predicted tensor whether a finding is about it already. */
static bool *find_judged(const struct shapeproof_check *check)
{
    const size_t total = shapeproof_prediction_count(check->prediction);
    bool *judged = sp_realloc(NULL, total, sizeof *judged);
    if (total) memset(judged, 0, total * sizeof *judged);
    for (size_t i = 0; i < check->finding_count; i++)
        if (check->findings[i].tensor == SHAPEPROOF_NONE && check->findings[i].predicted != SHAPEPROOF_NONE)
            judged[check->findings[i].predicted] = true;
    return judged;
}

/* The optional tensors whose module is there otherwise; of a module that is gone they are no matter of their own. */
static void add_companions(struct shapeproof_check *check, const struct sp_present_modules *present,
                           struct sp_siblings *siblings)
{
    struct sp_text kin = {0};
    bool *judged = find_judged(check);
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        const bool there = sp_is_stored(check, i);
        if (!is_choice(tensor) || judged[i] || (!there && !sp_module_is_present(present, tensor->name))) continue;
        put_kin(&kin, tensor->name);
        sp_siblings_add(siblings, kin.data, tensor->name, there);
    }
    sp_free(judged);
    sp_text_free(&kin);
}

static void find_lacking(struct shapeproof_check *check, struct sp_siblings *siblings)
{
    struct sp_present_modules present = {0};
    bool any = false;
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(check->prediction, i);
        if (!is_choice(tensor)) continue;
        any = any || sp_is_stored(check, i);
        if (!sp_is_stored(check, i)) sp_present_modules_add(&present, tensor->name);
    }
    if (any) {
        sp_present_modules_read(&present, &check->match);
        add_companions(check, &present, siblings);
    }
    sp_present_modules_free(&present);
}

/* ---- causes ---- */

void sp_explain_companions(struct shapeproof_check *check)
{
    struct sp_siblings siblings = {.count = 0};
    find_lacking(check, &siblings);
    const size_t count = sp_siblings_lacking(&siblings);
    if (count) {
        struct shapeproof_cause *cause = sp_blame(check, SP_CAUSE_COMPANION);
        for (size_t i = 0; i < count; i++) {
            const char *name = siblings.items[i].name;
            sp_check_add_lacking(check, name, shapeproof_prediction_find(check->prediction, name),
                                 SHAPEPROOF_SEVERITY_ERROR, "is missing, but sibling modules have it");
            sp_attribute_finding(check, check->finding_count - 1, cause);
        }
        sp_cause_set_message(check, cause, "missing, although sibling modules have it");
        cause->hint = "loaders leave these tensors uninitialised: convert the model again, so that all modules have "
                      "them or none";
    }
    sp_siblings_free(&siblings);
}
