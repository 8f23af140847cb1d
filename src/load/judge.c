/* SPDX-License-Identifier: MIT */
#include "load/judge.h"

#include <stdlib.h>
#include <string.h>

#include "config/choose.h"
#include "config/config.h"
#include "lang/prediction.h"
#include "load/taking.h"
#include "names/components.h"
#include "names/some.h"

/* ---- which class ---- */

static const char *text_of(struct sp_value value) { return value.type == SP_STRING ? value.string : ""; }

static const char *first_class(struct sp_value config)
{
    const struct sp_value classes = sp_value_member(config, "architectures");
    return classes.type == SP_LIST && classes.count ? text_of(classes.items[0]) : "";
}

/* A configuration that names no model_type is of one that its table is for. */
static const struct sp_loaded *class_loaded(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    struct sp_error error = {0};
    const struct sp_hyper *hyper = sp_config_hyper(subject->config);
    const char *model_type = text_of(sp_value_member(hyper->root, "model_type"));
    if (!*model_type) {
        const struct sp_unit *table = sp_choose_table(subject->tables, subject->table, hyper, &error);
        if (table && table->model_type_count) model_type = table->model_types[0];
    }
    return sp_loader_class(loader, model_type, first_class(hyper->root));
}

static bool reads_format(const struct sp_loader *loader, const struct sp_inventory *inventory)
{
    for (const char *const *format = loader->formats; *format; format++)
        if (strcmp(*format, sp_inventory_format(inventory)) == 0) return true;
    return false;
}

bool sp_load_is_meant(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    return sp_value_member(sp_config_hyper(subject->config)->root, "model_type").type == SP_STRING &&
           reads_format(loader, subject->inventory) && class_loaded(loader, subject);
}

/* ---- the model ---- */

static void set_ties(struct sp_config *config, bool tied)
{
    const char *const keys[] = {"tie_word_embeddings", "text_config.tie_word_embeddings"};
    const bool inward = sp_value_member(sp_config_hyper(config)->root, "text_config").type == SP_OBJECT;
    for (size_t i = 0; i < 1 + (size_t)inward; i++) sp_config_set_value(config, keys[i], sp_value_bool(tied), "");
}

/* Whether the class ties, as the loader sees it: SP_BOOL, or what the table says. What the whole configuration says
 * counts for its parts as well. */
static struct sp_value class_ties(const struct sp_loaded *loaded, const struct sp_config *config)
{
    const struct sp_value said = sp_value_member(sp_config_hyper(config)->root, "tie_word_embeddings");
    const bool always = strcmp(loaded->ties, "always") == 0;
    if (always || strcmp(loaded->ties, "never") == 0) return sp_value_bool(always);
    if (said.type == SP_BOOL || !*loaded->ties) return said;
    return sp_value_bool(strcmp(loaded->ties, "true") == 0);
}

static void set_fixed(struct sp_arena *arena, struct sp_config *config, const char *settings)
{
    struct sp_error error = {0};
    const char *setting;
    for (size_t length; (length = sp_word(&settings, &setting));)
        sp_config_set(config, sp_arena_copy(arena, setting, length), &error);
}

/* What the class has; NULL when nothing can be predicted. */
static struct sp_prediction *predict_class(struct sp_arena *arena, const struct sp_loaded *loaded,
                                           const struct sp_load_subject *subject, bool *untied)
{
    struct sp_error error = {0};
    const struct sp_value ties = class_ties(loaded, subject->config);
    struct sp_config *config = sp_config_variant(subject->config);
    if (ties.type == SP_BOOL) set_ties(config, ties.boolean);
    if (loaded->fixed) set_fixed(arena, config, loaded->fixed);
    *untied = sp_value_is_bool(ties, false);
    struct sp_prediction *prediction =
        sp_predict(subject->tables, config, &(struct sp_predict_options){.table = subject->table}, &error);
    sp_config_free(config);
    return prediction;
}

/* ---- what would help ---- */

/* Whether it is taken whole once names lose that prefix, and less is ignored. */
static bool helps_to_strip(struct sp_model_memory *memory, const struct sp_load_subject *subject, const char *prefix,
                           const struct sp_taking *before)
{
    struct sp_taking after = sp_load_take(memory, subject->inventory, prefix);
    const bool helps = !after.fresh && !after.reshaped && !after.failed && after.ignored.count < before->ignored.count;
    sp_taking_free(&after);
    return helps;
}

/* The beginning of a name that is ignored, one to three components, that has to go. */
static const char *find_remedy(struct sp_arena *arena, struct sp_model_memory *memory,
                               const struct sp_load_subject *subject, const struct sp_taking *taking)
{
    if (!taking->ignored.count || !taking->fresh) return NULL;
    const char *name = sp_inventory_tensor(subject->inventory, taking->ignored.items[0])->name;
    struct sp_components part = {.rest = name};
    for (int i = 0; i < 3 && sp_component_next(&part, ".") && *part.rest; i++) {
        const char *prefix = sp_arena_copy(arena, name, (size_t)(part.rest - name));
        if (helps_to_strip(memory, subject, prefix, taking)) return sp_arena_printf(arena, "strip '%s'", prefix);
    }
    return NULL;
}

/* ---- sentences ---- */

/* Some of those that are newly initialised, or that have another shape. */
static const char *held_names(struct sp_arena *arena, const struct sp_model_memory *memory, bool fresh)
{
    const char **names = sp_realloc(NULL, memory->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < memory->count; i++) {
        const struct sp_held *held = &memory->items[i];
        if (fresh ? sp_is_fresh(memory, held) : held->reshaped) names[count++] = held->name;
    }
    const char *text = sp_some_names(arena, names, count);
    free(names);
    return text;
}

/* "2 of another shape (a, b), 1 missing (c), 3 unexpected" */
static const char *complaints(struct sp_arena *arena, const struct sp_model_memory *memory,
                              const struct sp_taking *taking)
{
    struct sp_text text = {0};
    if (taking->failed) sp_text_printf(&text, ", %zu that cannot be put together", taking->failed);
    if (taking->reshaped)
        sp_text_printf(&text, ", %zu of another shape (%s)", taking->reshaped, held_names(arena, memory, false));
    if (taking->fresh) sp_text_printf(&text, ", %zu missing (%s)", taking->fresh, held_names(arena, memory, true));
    if (taking->ignored.count) sp_text_printf(&text, ", %zu unexpected", taking->ignored.count);
    const char *kept = sp_text_keep(&text, arena);
    return *kept ? kept + 2 : kept;
}

/* What is wrong, of a loader that goes on all the same. */
static const char *shortcoming(struct sp_arena *arena, const struct sp_loading *loading, const char *names)
{
    if (loading->fresh)
        return sp_arena_printf(arena, "%s leaves %zu of %zu parameters newly initialised: %s", loading->name,
                               loading->fresh, loading->expected, loading->remedy ? loading->remedy : names);
    return sp_arena_printf(arena, "%s drops %s of the file, and nothing is new", loading->name,
                           sp_count_of(arena, loading->lost, "tensor"));
}

static const char *success(struct sp_arena *arena, const struct sp_loading *loading)
{
    if (!loading->ignored) return sp_arena_printf(arena, "%s loads it: nothing new", loading->name);
    return sp_arena_printf(arena, "%s loads it: nothing new, %zu ignored", loading->name, loading->ignored);
}

/* ---- the answer ---- */

static struct sp_loading unknown(struct sp_arena *arena, struct sp_loading loading, const char *why)
{
    loading.answer = SP_LOADING_UNKNOWN;
    loading.message = sp_arena_printf(arena, "whether %s loads it cannot be told: %s", loading.name, why);
    return loading;
}

static struct sp_loading refused(struct sp_arena *arena, struct sp_loading loading, const char *why)
{
    loading.answer = SP_LOADING_REFUSED;
    loading.message = sp_arena_printf(arena, "%s refuses it: %s", loading.name, why);
    return loading;
}

/* Of what is ignored, what the model may have needed. */
static size_t count_lost(const struct sp_load_subject *subject, const struct sp_taking *taking)
{
    size_t lost = 0;
    for (size_t i = 0; i < taking->ignored.count; i++)
        lost += !subject->spare || !subject->spare[taking->ignored.items[i]];
    return lost;
}

static struct sp_loading judge_taking(struct sp_arena *arena, struct sp_model_memory *memory,
                                      const struct sp_load_subject *subject, const struct sp_taking *taking,
                                      struct sp_loading loading)
{
    const bool strict = memory->loader->strict && (taking->fresh || taking->ignored.count);
    const char *names = held_names(arena, memory, true), *wrong = complaints(arena, memory, taking);
    loading.expected = memory->count;
    loading.fresh = taking->fresh;
    loading.ignored = taking->ignored.count;
    loading.reshaped = taking->reshaped;
    loading.lost = count_lost(subject, taking);
    loading.remedy = find_remedy(arena, memory, subject, taking);
    if (strict || taking->reshaped || taking->failed)
        return refused(arena, loading, loading.remedy ? loading.remedy : wrong);
    loading.answer = loading.fresh || loading.lost ? SP_LOADING_IN_PART : SP_LOADING_WHOLE;
    loading.message =
        loading.answer == SP_LOADING_WHOLE ? success(arena, &loading) : shortcoming(arena, &loading, names);
    return loading;
}

/* The first key that the class needs and the configuration has not; "" when it has all. In the arena. */
static const char *key_lacking(struct sp_arena *arena, const struct sp_loaded *loaded, const struct sp_config *config)
{
    const char *words = loaded->needed ? loaded->needed : "", *word;
    for (size_t length; (length = sp_word(&words, &word));) {
        const char *key = sp_arena_copy(arena, word, length);
        if (sp_value_member(sp_config_hyper(config)->root, key).type == SP_ABSENT) return key;
    }
    return "";
}

static struct sp_loading judge_class(struct sp_arena *arena, const struct sp_loader *loader,
                                     const struct sp_loaded *loaded, const struct sp_load_subject *subject,
                                     struct sp_loading loading)
{
    struct sp_model_memory memory;
    bool untied;
    struct sp_prediction *prediction = predict_class(arena, loaded, subject, &untied);
    if (!prediction) return unknown(arena, loading, "its model cannot be predicted");
    sp_memory_build(&memory, loader, loaded, prediction);
    memory.untied = untied;
    struct sp_taking taking = sp_load_take(&memory, subject->inventory, NULL);
    loading = taking.unknown ? unknown(arena, loading, taking.unknown)
                             : judge_taking(arena, &memory, subject, &taking, loading);
    sp_taking_free(&taking);
    sp_memory_free(&memory);
    sp_prediction_free(prediction);
    return loading;
}

static bool is_own_quantisation(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    return loader->quantisation && subject->quantisation && strcmp(loader->quantisation, subject->quantisation) == 0;
}

struct sp_loading sp_load(struct sp_arena *arena, const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    struct sp_loading loading = {.loader = loader->id, .name = loader->name};
    const struct sp_loaded *loaded = class_loaded(loader, subject);
    if (!reads_format(loader, subject->inventory))
        return refused(arena, loading,
                       sp_arena_printf(arena, "it does not read %s", sp_inventory_format(subject->inventory)));
    if (!loaded) return unknown(arena, loading, "it has no class of its own for this configuration");
    if (subject->quantised && !is_own_quantisation(loader, subject))
        return unknown(arena, loading, "the weights are quantised");
    const char *lacking = key_lacking(arena, loaded, subject->config);
    if (*lacking) return refused(arena, loading, sp_arena_printf(arena, "the configuration has no %s", lacking));
    return judge_class(arena, loader, loaded, subject, loading);
}
