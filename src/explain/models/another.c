/* SPDX-License-Identifier: MIT
 * The weights of another model. When findings stay open, the file itself is asked what it is: under the table of the
 * configuration, for another size or class of the same family, then under all. What inference answers is a proposal and
 * no more: the configuration is changed by it, in as few keys as will do, and predicted and matched as a whole. Only
 * what leaves nothing open becomes a cause. It takes what other causes had explained in part, and those that explain
 * nothing then go. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/what_if.h"
#include "infer/infer.h"
#include "lang/functions.h"

/* What the search may cost: files of more tensors are not asked, and so many tensors are predicted in all. */
enum { MAX_CHANGES = 48, MAX_TENSORS = 20000, MAX_PREDICTED = 400000 };

/* What the configuration would have to say. */
struct other_model {
    struct sp_check *check;
    const char *table;
    struct sp_change changes[MAX_CHANGES];
    bool dropped[MAX_CHANGES], open[MAX_CHANGES]; /* open: other values would do as well */
    size_t count;
    size_t budget; /* tensors that may still be predicted */
};

/* ---- trials ---- */

static struct sp_config *config_of_model(const struct other_model *other)
{
    struct sp_config *config = sp_config_variant(other->check->config);
    for (size_t i = 0; i < other->count; i++)
        if (!other->dropped[i]) sp_config_set_value(config, other->changes[i].key, other->changes[i].value, "what if");
    return config;
}

static bool is_whole_match(const struct sp_inventory *inventory, const struct sp_prediction *prediction)
{
    struct sp_arena arena = {0};
    struct sp_match match;
    sp_match_begin(&match, inventory, prediction);
    const struct sp_naming naming = sp_naming_infer(&arena, &match);
    sp_match_rest(&match, &naming);
    const bool whole = !sp_match_errors(&match);
    sp_match_free(&match);
    sp_arena_free(&arena);
    return whole;
}

/* Whether every tensor of the file is as predicted then, and none is missing. */
static bool leaves_nothing_open(struct other_model *other)
{
    const struct sp_check *check = other->check;
    const struct sp_scope scope = {.most = 2 * sp_inventory_count(check->inventory) + 1000};
    struct sp_error error = {0};
    struct sp_config *config = config_of_model(other);
    sp_config_limit(config, &scope);
    struct sp_prediction *prediction =
        sp_predict(check->tables, config, &(struct sp_predict_options){.table = other->table}, &error);
    const size_t count = prediction ? sp_prediction_count(prediction) : 0;
    const bool whole = prediction && count <= other->budget && is_whole_match(check->inventory, prediction);
    other->budget -= count < other->budget ? count : other->budget;
    sp_prediction_free(prediction);
    sp_config_free(config);
    return whole;
}

/* ---- what differs ---- */

/* Whether the file tells the value, and not only that it is one of several. */
static bool is_determined(const struct sp_inference *inference, const char *key)
{
    for (size_t i = 0; i < sp_inference_count(inference); i++)
        if (strcmp(sp_inference_get(inference, i).name, key) == 0) return sp_inference_get(inference, i).determined;
    return true; /* the class */
}

static void add_model_change(struct other_model *other, const struct sp_inference *inference,
                             const struct sp_setting *setting)
{
    const struct sp_prediction *prediction = other->check->prediction;
    const size_t key = sp_find_hyperparameter(prediction, setting->path);
    struct sp_change change = {.key = sp_arena_string(&other->check->arena, setting->path), .value = setting->value};
    if (key != SP_NONE) {
        const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(prediction, key);
        if (sp_values_equal(hyper.value, setting->value)) return;
        change.configured = hyper.value;
        change.from = hyper.from;
    }
    other->open[other->count] = !is_determined(inference, setting->path);
    other->changes[other->count++] = change;
}

static bool is_configured(const struct sp_change *change)
{
    return change->configured.type != SP_ABSENT && change->from.source != SP_SOURCE_DEFAULT;
}

/* As few changes as will do: those of keys that the configuration does not have are the first to go. */
static void drop_needless_changes(struct other_model *other)
{
    for (int configured = 0; configured < 2; configured++)
        for (size_t i = other->count; i-- > 0;) {
            if (other->dropped[i] || is_configured(&other->changes[i]) != configured) continue;
            other->dropped[i] = true;
            other->dropped[i] = leaves_nothing_open(other);
        }
}

/* ---- the cause ---- */

static bool is_about_tensors(const struct sp_check *check, const struct sp_finding *finding)
{
    (void)check;
    return finding->severity == SP_SEVERITY_ERROR &&
           (finding->kind == SP_FINDING_MISSING || finding->kind == SP_FINDING_UNEXPECTED ||
            finding->kind == SP_FINDING_SHAPE);
}

/* Takes from other causes what this one explains as a whole. Those that have nothing left are taken back: without a
 * message they go. */
static void retract_causes(struct sp_check *check)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        struct sp_finding *finding = &check->findings[i];
        if (finding->cause == SP_NONE || !is_about_tensors(check, finding)) continue;
        struct sp_cause *cause = &check->causes[finding->cause];
        finding->cause = SP_NONE;
        if (!--cause->explains) cause->message = NULL;
    }
}

static bool is_taken(const struct sp_check *check, const struct sp_finding *finding, const void *context)
{
    (void)context;
    return is_about_tensors(check, finding);
}

/* The first class of a list such as ["BertModel"], or NULL. */
static const char *first_class_of(struct sp_value classes)
{
    return classes.type == SP_LIST && classes.count && classes.items[0].type == SP_STRING ? classes.items[0].string
                                                                                          : NULL;
}

static const char *said_by(struct sp_provenance from) { return from.name ? from.name : "the command line"; }

/* "BertModel, where config.json promises BertForMaskedLM" when the class is another one; else "another bert model". */
static const char *model_said(struct other_model *other)
{
    struct sp_arena *arena = &other->check->arena;
    for (size_t i = 0; i < other->count; i++) {
        const struct sp_change *change = &other->changes[i];
        const char *promised = first_class_of(change->configured), *found = first_class_of(change->value);
        if (other->dropped[i] || strcmp(change->key, "architectures") != 0 || !promised || !found) continue;
        other->dropped[i] = true; /* it is said */
        return sp_arena_printf(arena, "%s, where %s promises %s", found, said_by(change->from), promised);
    }
    return sp_arena_printf(arena, "another %s model", other->table);
}

/* ": hidden_size is 896 in config.json, the file has 1536; ..." */
static const char *changes_said(const struct other_model *other)
{
    struct sp_check *check = other->check;
    struct sp_text text = {0};
    for (size_t i = 0; i < other->count; i++) {
        const struct sp_change *change = &other->changes[i];
        if (other->dropped[i]) continue;
        sp_text_printf(&text, "%s%s is ", text.length ? "; " : ": ", change->key);
        if (change->configured.type == SP_ABSENT) sp_text_puts(&text, "not set");
        else {
            sp_value_json(&text, change->configured);
            sp_text_printf(&text, " %s", sp_said_where(check, change->from));
        }
        sp_text_puts(&text, other->open[i] ? ", the file agrees with " : ", the file has ");
        sp_value_json(&text, change->value);
        if (other->open[i]) sp_text_puts(&text, " and other values");
    }
    return sp_text_keep(&text, &check->arena);
}

/* What to write into the configuration, as JSON. */
static const char *changes_as_json(const struct other_model *other)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < other->count; i++) {
        if (other->dropped[i]) continue;
        sp_text_puts(&text, text.length ? ", " : "{");
        sp_text_json(&text, other->changes[i].key);
        sp_text_puts(&text, ": ");
        sp_value_json(&text, other->changes[i].value);
    }
    sp_text_puts(&text, "}");
    return sp_text_keep(&text, &other->check->arena);
}

static void blame_model(struct other_model *other)
{
    struct sp_check *check = other->check;
    retract_causes(check);
    struct sp_cause *cause = sp_gather(check, SP_CAUSE_ANOTHER_MODEL, is_taken, NULL);
    if (!cause) return;
    const char *patch = changes_as_json(other), *model = model_said(other);
    cause->message = sp_arena_printf(&check->arena, "the weights are of %s%s", model, changes_said(other));
    cause->hint = sp_arena_printf(&check->arena, "with %s in the configuration %s", patch,
                                  sp_what_vanishes(&check->arena, cause));
}

/* ---- the search ---- */

static bool try_inferred(struct sp_check *check, const struct sp_inference *inference)
{
    struct other_model other = {.check = check, .budget = MAX_PREDICTED};
    const struct sp_config *inferred = inference->best->config;
    if (!sp_attempt_explains_all(inference->best) || inferred->setting_count > MAX_CHANGES) return false;
    other.table = sp_arena_string(&check->arena, sp_inference_table(inference));
    for (size_t i = 0; i < inferred->setting_count; i++) add_model_change(&other, inference, &inferred->settings[i]);
    if (!other.count || !leaves_nothing_open(&other)) return false;
    drop_needless_changes(&other);
    blame_model(&other);
    return true;
}

void sp_explain_another(struct sp_check *check)
{
    const char *table = sp_prediction_table(check->prediction);
    struct sp_error error = {0};
    if (!sp_check_open(check) || check->quantisation.method || sp_inventory_count(check->inventory) > MAX_TENSORS)
        return;
    struct sp_inference *inference =
        sp_infer(check->inventory, check->tables, &(struct sp_infer_options){.table = table}, &error);
    if (inference) try_inferred(check, inference);
    sp_inference_free(inference);
}
