/* SPDX-License-Identifier: MIT */
#include "explain/files/adapter_base.h"

#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "names/components.h"
#include "names/wrappers.h"

const char sp_adapter_merge_hint[] =
    "not merged: call merge_and_unload() on the PEFT model, and save the model that it returns";

static void note_left_out(struct sp_adapter_base *base, size_t predicted)
{
    const char *name = sp_prediction_tensor(base->check->prediction, predicted)->name;
    for (int i = 0; i < SP_MOST_LEFT_OUT; i++) {
        name = sp_behind_component(name, ".");
        if (!name) return;
        if (!sp_map_add(&base->left_out[i], name, predicted)) sp_map_set(&base->left_out[i], name, SP_NONE);
    }
}

/* More than half of what must be there is. */
static bool is_model_there(const struct sp_check *check)
{
    size_t needed = 0, there = 0;
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) {
        const bool is_needed = !sp_prediction_tensor(check->prediction, i)->optional;
        needed += is_needed;
        there += is_needed && sp_is_stored(check, i);
    }
    return there * 2 > needed;
}

void sp_adapter_base_open(struct sp_adapter_base *base, struct sp_check *check)
{
    const size_t tensors = sp_inventory_count(check->inventory);
    *base = (struct sp_adapter_base){.check = check, .whole = is_model_there(check)};
    base->finding_of = sp_realloc(NULL, tensors, sizeof *base->finding_of);
    for (size_t i = 0; i < tensors; i++) base->finding_of[i] = SP_NONE;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open_as(&check->findings[i], SP_FINDING_UNEXPECTED))
            base->finding_of[check->findings[i].tensor] = i;
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) note_left_out(base, i);
}

void sp_adapter_base_close(struct sp_adapter_base *base)
{
    for (int i = 0; i < SP_MOST_LEFT_OUT; i++) sp_map_free(&base->left_out[i]);
    free(base->finding_of);
}

/* Of the name as it is, then with a few components taken off in front, the first that `find` finds. */
static size_t find_behind(const struct sp_adapter_base *base, const char *name, int left_out)
{
    enum { DEEPEST = 6 };
    for (int depth = 0; name && depth < DEEPEST; depth++, name = sp_behind_component(name, ".")) {
        const size_t found = left_out ? sp_map_get(&base->left_out[left_out - 1], name)
                                      : sp_prediction_find(base->check->prediction, name);
        if (found != SP_NONE) return found;
    }
    return SP_NONE;
}

/* The module without wrappers, in `text`. */
static void put_bare_module(struct sp_text *text, const char *module)
{
    sp_unwrap(text, module);
    if (text->length && text->data[text->length - 1] == '.') text->data[--text->length] = '\0';
}

size_t sp_adapter_base_find(const struct sp_adapter_base *base, const char *module, const char *rest)
{
    struct sp_text name = {0};
    size_t found = SP_NONE;
    put_bare_module(&name, module);
    sp_text_printf(&name, ".%s", rest);
    for (int left_out = 0; left_out <= SP_MOST_LEFT_OUT && found == SP_NONE; left_out++)
        found = find_behind(base, name.data, left_out);
    sp_text_free(&name);
    return found;
}

bool sp_adapter_base_holds(const struct sp_adapter_base *base, const char *module)
{
    struct sp_text name = {0};
    put_bare_module(&name, module);
    const char *last = strrchr(name.data, '.');
    const bool experts = last && strcmp(last, ".experts") == 0;
    sp_text_free(&name);
    for (size_t i = 0; experts && i < sp_prediction_count(base->check->prediction); i++)
        if (strstr(sp_prediction_tensor(base->check->prediction, i)->name, ".experts.")) return true;
    return false;
}

void sp_adapter_tensor_fits(const struct sp_adapter_base *base, size_t tensor)
{
    if (tensor == SP_NONE || base->finding_of[tensor] == SP_NONE) return;
    struct sp_finding *finding = &base->check->findings[base->finding_of[tensor]];
    finding->severity = SP_SEVERITY_NOTE;
    finding->message = "is part of the adapter";
}

void sp_adapter_take_absent(struct sp_check *check, const struct sp_cause *cause)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        struct sp_finding *finding = &check->findings[i];
        if (!sp_finding_is_open_as(finding, SP_FINDING_MISSING)) continue;
        sp_take(check, i, cause);
        finding->severity = SP_SEVERITY_NOTE;
        finding->message = "is not stored: the base has it";
    }
}
