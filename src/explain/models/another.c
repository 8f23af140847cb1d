/* SPDX-License-Identifier: MIT
 * The weights of another model. When findings stay open that are about the model as a whole, the file itself is asked
 * what it is: under the table of the configuration, for another size or class of the same family, then under all. What
 * leaves nothing open becomes a cause. It takes what other causes had explained in part, and those that explain nothing
 * then go. */
#include <stdlib.h>
#include <string.h>

#include "explain/gather.h"
#include "explain/models/model.h"
#include "explain/own_table.h"
#include "explain/remedy.h"
#include "lang/prediction.h"

/* Of files with more tensors than that it is not asked: with so many, the search takes less than two seconds. */
enum { MAX_TENSORS = 50000 };

/* ---- evidence ---- */

/* Whether a finding is an error about the tensors that there are, with a cause or without. */
static bool is_about_tensors(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                             const void *context)
{
    (void)check;
    (void)context;
    return finding->severity == SHAPEPROOF_SEVERITY_ERROR &&
           (finding->kind == SHAPEPROOF_FINDING_MISSING || finding->kind == SHAPEPROOF_FINDING_UNEXPECTED ||
            finding->kind == SHAPEPROOF_FINDING_SHAPE);
}

/* What the findings about tensors, with causes or without, show. */
struct evidence {
    size_t missing, others; /* how many are missing; unexpected or of another shape */
    bool several_kinds;     /* false: all are one tensor, or that tensor of each layer, which may be lost or added */
    bool several_layers;    /* false: all are in one layer, which may be lost or there twice */
};

/* Whether a cause says that the tensor is beside the model: of a trainer, or of a copy. It is no evidence of another.
 */
static bool is_beside_model(const struct shapeproof_check *check, const struct shapeproof_finding *finding)
{
    if (finding->cause == SHAPEPROOF_NONE) return false;
    const char *id = check->causes[finding->cause].id;
    return strcmp(id, sp_cause_rows[SP_CAUSE_OUTSIDE].id) == 0 || strcmp(id, sp_cause_rows[SP_CAUSE_COPY].id) == 0;
}

static struct evidence weigh_findings(const struct shapeproof_check *check)
{
    struct evidence evidence = {0};
    const struct shapeproof_finding *first = NULL;
    size_t layer = 0, pattern = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!is_about_tensors(check, finding, NULL) || is_beside_model(check, finding)) continue;
        if (!first) {
            first = finding;
            layer = sp_layer_end(first->name, SP_LAYERS);
            pattern = check->places[i].pattern;
        }
        *(finding->kind == SHAPEPROOF_FINDING_MISSING ? &evidence.missing : &evidence.others) += 1;
        evidence.several_kinds |= check->places[i].pattern != pattern;
        evidence.several_layers |= !layer || !sp_is_in_layer(finding->name, first->name, layer);
    }
    return evidence;
}

/* Whether the findings suggest that the file is another model: they are about several kinds of tensors in several
 * layers, and something is there that the configured model does not have. If all that differs is missing, which may
 * have many reasons, a quarter of the prediction must be. */
static bool is_another_model(const struct shapeproof_check *check, struct evidence evidence)
{
    return evidence.several_kinds && evidence.several_layers &&
           (evidence.others || evidence.missing * 4 >= shapeproof_prediction_count(check->prediction));
}

/* Whether one layer is of another kind: it lacks several kinds of tensors, and has others. A list of the configuration
 * that names layers may be wrong. */
static bool is_layer_of_another_kind(struct evidence evidence)
{
    return evidence.several_kinds && !evidence.several_layers && evidence.missing && evidence.others;
}

/* Whether all that differs is that the file lacks whole kinds of tensors, such as the biases of every layer: a model of
 * another type may have no such kinds. So each kind that is missing somewhere is missing everywhere, at least one has
 * an index, and those with an index have two missing tensors each on average. A kind without an index, such as a last
 * norm, has one tensor. */
static bool lacks_whole_kinds(const struct shapeproof_check *check)
{
    struct sp_patterns patterns = {.rule = check->patterns.rule};
    size_t lacking = 0, single = 0; /* missing tensors, and kinds without an index */
    bool whole = true;              /* so far */
    for (size_t i = 0; i < check->finding_count && whole; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        if (!is_about_tensors(check, finding, NULL)) continue;
        whole = finding->kind == SHAPEPROOF_FINDING_MISSING;
        struct sp_indices indices = {.count = 0};
        const size_t known = patterns.count;
        if (whole)
            sp_pattern_of(&patterns, shapeproof_prediction_tensor(check->prediction, finding->predicted)->name,
                          &indices);
        single += patterns.count > known && !indices.count;
        lacking++;
    }
    const size_t kinds = patterns.count; /* that are missing: a tensor of another kind gets a higher number */
    for (size_t i = 0; i < shapeproof_prediction_count(check->prediction) && whole && kinds; i++) {
        if (check->match.tensor_of[i] == SHAPEPROOF_NONE) continue;
        whole = sp_pattern_of(&patterns, shapeproof_prediction_tensor(check->prediction, i)->name, NULL) >= kinds;
    }
    sp_patterns_free(&patterns);
    const size_t indexed = kinds - single;
    return whole && indexed > 0 && lacking - single >= 2 * indexed;
}

/* ---- the cause ---- */

/* Whether the finding is one that the other model explains: it would be there under the right configuration too, if a
 * tensor is beside the model, or a buffer that loaders compute. */
static bool is_of_model(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                        const void *context)
{
    if (!is_about_tensors(check, finding, context) || is_beside_model(check, finding)) return false;
    if (finding->cause == SHAPEPROOF_NONE) return true;
    const char *id = check->causes[finding->cause].id;
    return strcmp(id, sp_cause_rows[SP_CAUSE_STRAY_BUFFERS].id) != 0 &&
           strcmp(id, sp_cause_rows[SP_CAUSE_ABSENT_BUFFERS].id) != 0;
}

/* Takes from other causes what this one explains as a whole. Those that have nothing left are taken back, and so are
 * those about what is in front of names when the other model has these names: without a message they go. */
static void retract_causes(struct shapeproof_check *check, const struct sp_model *model)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        struct shapeproof_finding *finding = &check->findings[i];
        if (finding->cause == SHAPEPROOF_NONE || !is_of_model(check, finding, NULL)) continue;
        struct shapeproof_cause *cause = &check->causes[finding->cause];
        finding->cause = SHAPEPROOF_NONE;
        if (!--cause->explains) cause->message = NULL;
    }
    for (size_t i = 0; i < check->cause_count && model->plain; i++) {
        const char *id = check->causes[i].id;
        if (id == sp_cause_rows[SP_CAUSE_PREFIX].id || id == sp_cause_rows[SP_CAUSE_BASE_PREFIX].id)
            check->causes[i].message = NULL;
    }
}

/* The class, or the first of a list such as ["BertModel"], or NULL. */
static const char *first_class_of(struct shapeproof_value classes)
{
    if (classes.type == SHAPEPROOF_VALUE_STRING) return classes.string;
    return classes.type == SHAPEPROOF_VALUE_LIST && classes.count && classes.items[0].type == SHAPEPROOF_VALUE_STRING
               ? classes.items[0].string
               : NULL;
}

/* A value as a report shows it; of a long list only its length. */
static const char *value_said(struct shapeproof_check *check, struct shapeproof_value value)
{
    enum { FEW = 4 };
    if (value.type != SHAPEPROOF_VALUE_LIST || value.count <= FEW) return sp_value_words(&check->arena, value);
    return sp_arena_printf(&check->arena, "a list of %zu", value.count);
}

static void put_change(struct sp_text *text, struct shapeproof_check *check, const struct sp_model_change *change)
{
    const struct sp_change *what = &change->what;
    const char *where = sp_said_where(check, what->from);
    if (what->value.type == SHAPEPROOF_VALUE_NULL) {
        sp_text_printf(text, "%s %s does not fit", what->key, where);
        return;
    }
    if (!sp_value_is_set(what->configured)) sp_text_printf(text, "%s is not set", what->key);
    else sp_text_printf(text, "%s is %s %s", what->key, value_said(check, what->configured), where);
    sp_text_printf(text, ", the file has %s%s", value_said(check, what->value),
                   change->free ? " or another that fits" : "");
}

/* ": hidden_size is 896 in config.json, the file has 1536; ..." */
static const char *changes_said(const struct sp_model *model, const char *but)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < model->count; i++) {
        const struct sp_model_change *change = &model->changes[i];
        if (change->dropped || (but && strcmp(change->what.key, but) == 0)) continue;
        sp_text_puts(&text, text.length ? "; " : ": ");
        put_change(&text, model->check, change);
    }
    return sp_text_keep(&text, &model->check->arena);
}

static const struct sp_change *change_of_class(const struct sp_model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct sp_change *what = &model->changes[i].what;
        if (!model->changes[i].dropped && sp_is_class_key(what->key) && first_class_of(what->configured) &&
            first_class_of(what->value))
            return what;
    }
    return NULL;
}

static bool has_only_missing(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        if (finding->severity == SHAPEPROOF_SEVERITY_ERROR && finding->kind != SHAPEPROOF_FINDING_MISSING) return false;
    }
    return true;
}

/* The only change that is left, or NULL. */
static const struct sp_model_change *only_change(const struct sp_model *model)
{
    const struct sp_model_change *only = NULL;
    for (size_t i = 0; i < model->count; i++) {
        if (model->changes[i].dropped) continue;
        if (only) return NULL;
        only = &model->changes[i];
    }
    return only;
}

/* Another model of the configured table: of another class, of another size, or both. Of the user's own table one wrong
 * value is said as such. */
static const char *same_family_said(const struct sp_model *model, const struct shapeproof_cause *cause)
{
    struct shapeproof_check *check = model->check;
    const struct sp_model_change *only = sp_is_own_table(check->prediction) ? only_change(model) : NULL;
    if (only) {
        struct sp_text text = {0};
        put_change(&text, check, only);
        return sp_text_keep(&text, &check->arena);
    }
    const struct sp_change *class = change_of_class(model);
    if (!class)
        return sp_arena_printf(&check->arena, "the weights are of another %s model%s", model->table,
                               changes_said(model, NULL));
    const bool is_less = has_only_missing(check);
    return sp_arena_printf(&check->arena, "the weights are of %s, but %s says %s%s%s%s", first_class_of(class->value),
                           class->from.source == SHAPEPROOF_SOURCE_SETTING ? "the command line" : class->from.name,
                           first_class_of(class->configured), changes_said(model, class->key), is_less ? ": it " : "",
                           is_less ? sp_cause_file_summary(check, (size_t)(cause - check->causes)) : "");
}

/* "the weights are of a qwen2 model, not of llama: the file has ....bias and lacks ..." */
static const char *other_family_said(const struct sp_model *model, const struct shapeproof_cause *cause)
{
    struct shapeproof_check *check = model->check;
    const char *configured = shapeproof_prediction_table(check->prediction);
    const size_t index = (size_t)(cause - check->causes);
    if (!sp_check_matched(check))
        return sp_arena_printf(&check->arena,
                               "no tensor of the file is predicted by the table %s: it is another model, %s, with %s",
                               configured, model->table, shapeproof_inventory_tensor(check->inventory, 0)->name);
    return sp_arena_printf(&check->arena, "the weights are of a %s model, not of %s: the file %s", model->table,
                           configured, sp_cause_file_summary(check, index));
}

/* The values are those of the inference: written and read once more, they are the check's. */
static struct shapeproof_value patch_of_model(const struct sp_model *model)
{
    struct sp_arena *arena = &model->check->arena;
    struct shapeproof_error error = {0};
    struct shapeproof_value patch = {.type = SHAPEPROOF_VALUE_OBJECT}, own;
    for (size_t i = 0; i < model->count; i++)
        if (!model->changes[i].dropped)
            patch = sp_value_with(arena, patch, model->changes[i].what.key, model->changes[i].what.value);
    const char *words = sp_value_words(arena, patch);
    return sp_value_parse_json(arena, words, strlen(words), &own, &error) ? own : (struct shapeproof_value){0};
}

static void blame_model(const struct sp_model *model)
{
    struct shapeproof_check *check = model->check;
    retract_causes(check, model);
    struct shapeproof_cause *cause = sp_gather(check, SP_CAUSE_ANOTHER_MODEL, is_of_model, NULL);
    if (!cause) return;
    const bool same_family = strcmp(model->table, shapeproof_prediction_table(check->prediction)) == 0;
    cause->message = same_family ? same_family_said(model, cause) : other_family_said(model, cause);
    if (model->patched) cause->patch = patch_of_model(model);
    else cause->hint = "'shapeproof infer --emit-config' writes a configuration for these weights";
}

/* ---- the search ---- */

/* A model of the family is one only with the rest of the configuration; of another family it may have nothing. */
static bool try_table(struct shapeproof_check *check, const char *table)
{
    struct sp_model model;
    if (!sp_model_infer(&model, check, table) || (!model.patched && table)) return false;
    blame_model(&model);
    return true;
}

static bool has_unrelated_cause(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < check->cause_count; i++)
        if (check->causes[i].id == sp_cause_rows[SP_CAUSE_UNRELATED].id) return true;
    return false;
}

/* The cause that explains all findings about tensors; NULL when there is none. */
static struct shapeproof_cause *only_cause(struct shapeproof_check *check)
{
    size_t cause = SHAPEPROOF_NONE;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!is_about_tensors(check, &check->findings[i], NULL)) continue;
        if (check->findings[i].cause == SHAPEPROOF_NONE ||
            (cause != SHAPEPROOF_NONE && cause != check->findings[i].cause))
            return NULL;
        cause = check->findings[i].cause;
    }
    return cause == SHAPEPROOF_NONE ? NULL : &check->causes[cause];
}

/* All that differs are biases that the configured type never has: those of another type, most likely. */
static bool has_only_stray_biases(struct shapeproof_check *check)
{
    const struct shapeproof_cause *cause = only_cause(check);
    return cause && cause->id == sp_cause_rows[SP_CAUSE_BIAS].id && !cause->hyperparameter &&
           cause->severity == SHAPEPROOF_SEVERITY_ERROR &&
           sp_first_of(check, cause)->kind == SHAPEPROOF_FINDING_UNEXPECTED;
}

/* Something is without a cause, or without a good one. */
static bool is_any_unexplained(struct shapeproof_check *check)
{
    return sp_check_open(check) || check->half_explained || has_unrelated_cause(check) || has_only_stray_biases(check);
}

/* Of a file that only lacks whole kinds of tensors: it may be a whole model of another type, and no tensor tells which
 * of the two it is. So both are said, and neither is a cause. */
static void explain_whole_kinds(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = only_cause(check);
    struct sp_model model;
    if (!sp_check_open(check) && (!cause || cause->id != sp_cause_rows[SP_CAUSE_BIAS].id || cause->hyperparameter))
        return;
    if (!sp_model_infer_as_named(&model, check) ||
        strcmp(model.table, shapeproof_prediction_table(check->prediction)) == 0)
        return;
    const char *readings = sp_arena_printf(
        &check->arena, "they were lost, or the weights are of a %s model: the file has all tensors of one",
        model.table);
    *(cause ? &cause->hint : &check->open_hint) = readings;
}

/* The one cause, that tensors are fused or split, which explains all findings about tensors; or NULL. */
static struct shapeproof_cause *only_layout(struct shapeproof_check *check)
{
    struct shapeproof_cause *only = NULL;
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct shapeproof_finding *finding = &check->findings[i];
        const bool is_layout =
            finding->kind == SHAPEPROOF_FINDING_MISSING || finding->kind == SHAPEPROOF_FINDING_UNEXPECTED;
        if (!is_layout && finding->kind != SHAPEPROOF_FINDING_SHAPE) continue;
        if (!is_layout || finding->cause == SHAPEPROOF_NONE) return NULL;
        struct shapeproof_cause *cause = &check->causes[finding->cause];
        if (only && cause != only) return NULL;
        only = cause;
    }
    const bool is_layout =
        only && (only->id == sp_cause_rows[SP_CAUSE_FUSED].id || only->id == sp_cause_rows[SP_CAUSE_SPLIT].id);
    return is_layout ? only : NULL;
}

/* Tensors of another layout are those of a type that has that layout, if it is the file's as a whole. */
static void explain_layout(struct shapeproof_check *check)
{
    struct shapeproof_cause *cause = only_layout(check);
    struct sp_model model;
    if (!cause || !sp_model_infer_as_named(&model, check)) return;
    if (strcmp(model.table, shapeproof_prediction_table(check->prediction)) == 0 || !model.plain) return;
    cause->hint = sp_arena_printf(&check->arena, "the file has all tensors of a %s model%s%s", model.table,
                                  cause->hint ? "; otherwise, " : "", cause->hint ? cause->hint : "");
}

void sp_explain_another(struct shapeproof_check *check)
{
    const bool is_small = shapeproof_inventory_count(check->inventory) <= MAX_TENSORS;
    if (sp_prediction_is_chosen(check->prediction)) return; /* what it uses is the other model, and no other */
    if (is_small && lacks_whole_kinds(check)) explain_whole_kinds(check);
    if (is_small) explain_layout(check);
    if (!is_any_unexplained(check)) return;
    const struct evidence evidence = weigh_findings(check);
    const bool own = sp_is_own_table(check->prediction);
    const bool is_another = is_another_model(check, evidence);
    if (!own && !is_another && !is_layer_of_another_kind(evidence)) return;
    if (shapeproof_inventory_count(check->inventory) > MAX_TENSORS) {
        check->open_hint = "no fix is known: other models are not tried for a file of more than 50,000 tensors";
        return;
    }
    if (try_table(check, shapeproof_prediction_table(check->prediction))) return;
    /* Who wrote the table knows of which model the weights are: the rows that differ are what is worth seeing. */
    if (evidence.others && is_another && !own) try_table(check, NULL);
}
