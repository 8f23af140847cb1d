/* SPDX-License-Identifier: MIT
 * Tensors beside the model that are known by what they are: layers for multi-token prediction, and second copies. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "explain/vocabulary.h"

static bool is_stranger(const struct sp_finding *finding)
{
    return sp_finding_is_open_as(finding, SP_FINDING_UNEXPECTED);
}

/* Gathers the findings under a new cause, a warning; the caller words it. */
static size_t add_cause(struct sp_check *check, const char *id, const size_t *findings, size_t count)
{
    const size_t cause = sp_check_add_cause(check, (struct sp_cause){.id = id, .severity = SP_SEVERITY_WARNING});
    for (size_t i = 0; i < count; i++) sp_check_explain(check, findings[i], cause);
    return cause;
}

/* ---- multi-token prediction ---- */

static bool has_component(const char *name, const char *component)
{
    const size_t length = strlen(component);
    for (const char *p = name; p; p = strchr(p, '.') ? strchr(p, '.') + 1 : NULL)
        if (strncmp(p, component, length) == 0 && (p[length] == '.' || !p[length])) return true;
    return false;
}

static bool is_multi_token(const char *name)
{
    static const char *const components[] = {"mtp", "mtp_layers", "mtp_block", "nextn", "nextn_predict_layers"};
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        if (has_component(name, components[i])) return true;
    return false;
}

/* Those that the table does not have at all. */
static void explain_unknown_layers(struct sp_check *check)
{
    size_t *found = sp_realloc(NULL, check->finding_count, sizeof *found), count = 0;
    for (size_t i = 0; i < check->finding_count; i++)
        if (is_stranger(&check->findings[i]) && is_multi_token(check->findings[i].name)) found[count++] = i;
    if (count) {
        const size_t cause = add_cause(check, "multi-token", found, count);
        check->causes[cause].message = sp_arena_printf(
            &check->arena,
            "the file has layers for multi-token prediction, which the model itself does not use: %s (%s)",
            sp_check_names(check, sp_explained_by, &cause), sp_count_of(&check->arena, count, "tensor"));
    }
    free(found);
}

/* The tables call their group so; it is optional there, since the model is whole without it. */
static bool is_for_multi_token(const struct sp_check *check, size_t predicted)
{
    const struct sp_predicted *tensor = sp_prediction_tensor(check->prediction, predicted);
    return tensor->optional &&
           strcmp(sp_prediction_group(check->prediction, tensor->group).name, "multi-token prediction") == 0;
}

static const char *how_many_configured(struct sp_check *check, struct sp_cause *cause)
{
    const size_t key = sp_find_hyperparameter(check->prediction, "num_nextn_predict_layers");
    if (key == SP_NONE) return "the model is predicted with layers for multi-token prediction";
    const struct sp_hyperparameter hyper = sp_prediction_hyperparameter(check->prediction, key);
    cause->hyperparameter = hyper.name;
    cause->configured = hyper.value;
    return sp_said(check, hyper);
}

/* Those that the configuration promises and the file lacks, all or in part. */
static void explain_dropped_layers(struct sp_check *check)
{
    const size_t total = sp_prediction_count(check->prediction);
    const char **absent = sp_realloc(NULL, total, sizeof *absent);
    size_t count = 0, present = 0;
    for (size_t i = 0; i < total; i++) {
        if (!is_for_multi_token(check, i)) continue;
        if (check->match.tensor_of[i] != SP_NONE) present++;
        else absent[count++] = sp_prediction_tensor(check->prediction, i)->name;
    }
    if (count) {
        struct sp_cause cause = {.id = "multi-token", .explains = count};
        const char *says = how_many_configured(check, &cause);
        cause.severity = present ? SP_SEVERITY_WARNING : SP_SEVERITY_NOTE;
        cause.message = present ? sp_arena_printf(&check->arena, "%s, the file has a part of these layers: it lacks %s",
                                                  says, sp_some_names(&check->arena, absent, count))
                                : sp_arena_printf(&check->arena, "%s, the file has none of these layers (%s)", says,
                                                  sp_count_of(&check->arena, count, "tensor"));
        sp_check_add_cause(check, cause);
    }
    free(absent);
}

void sp_explain_multi_token(struct sp_check *check)
{
    explain_unknown_layers(check);
    explain_dropped_layers(check);
}

/* ---- a second copy of the model ---- */

/* The tensor of the file that the rest of a name stands for, of the same shape and where it is expected; or SP_NONE. */
static bool is_copy_of(const struct sp_check *check, const struct sp_tensor *tensor, const char *rest)
{
    const size_t predicted = sp_prediction_find(check->prediction, rest);
    size_t original = sp_inventory_find(check->inventory, rest);
    if (original == SP_NONE && predicted != SP_NONE) original = check->match.tensor_of[predicted];
    if (original == SP_NONE || check->match.predicted_of[original] == SP_NONE) return false;
    const struct sp_tensor *other = sp_inventory_tensor(check->inventory, original);
    return other != tensor && other->rank == tensor->rank &&
           (!other->rank || memcmp(other->shape, tensor->shape, other->rank * sizeof *other->shape) == 0);
}

/* The length of what is in front of the name of another tensor that this one is a copy of; 0 when it is none. */
static size_t copy_prefix(const struct sp_check *check, const struct sp_finding *finding)
{
    enum { DEEPEST = 4 };
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    const char *rest = tensor->name;
    for (int depth = 0; depth < DEEPEST && (rest = strchr(rest, '.')) != NULL; depth++)
        if (is_copy_of(check, tensor, ++rest)) return (size_t)(rest - tensor->name);
    return 0;
}

static size_t matched_tensors(const struct sp_check *check)
{
    size_t matched = 0;
    for (size_t i = 0; i < sp_inventory_count(check->inventory); i++)
        matched += check->match.predicted_of[i] != SP_NONE;
    return matched;
}

/* The prefix under which there are copies of at least half the model, or NULL; and their findings. */
static const char *common_prefix(struct sp_check *check, size_t *found, size_t *count)
{
    const char *prefix = NULL;
    size_t others = 0;
    *count = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        const size_t length = is_stranger(&check->findings[i]) ? copy_prefix(check, &check->findings[i]) : 0;
        if (!length) continue;
        if (!prefix) prefix = sp_arena_copy(&check->arena, check->findings[i].name, length);
        if (strncmp(prefix, check->findings[i].name, strlen(prefix)) == 0) found[(*count)++] = i;
        else others++;
    }
    return *count > 1 && *count >= matched_tensors(check) / 2 && *count > others ? prefix : NULL;
}

void sp_explain_copies(struct sp_check *check)
{
    size_t *found = sp_realloc(NULL, check->finding_count, sizeof *found), count;
    const char *prefix = common_prefix(check, found, &count);
    if (prefix) {
        const size_t cause = add_cause(check, "copy", found, count);
        check->causes[cause].message = sp_arena_printf(&check->arena, "the file holds a second copy of %s below '%s'",
                                                       sp_count_of(&check->arena, count, "tensor"), prefix);
        check->causes[cause].hint = "loaders ignore one of the two: make sure that it is not the one you mean";
    }
    free(found);
}

/* ---- the embedding of the last pipeline stage ---- */

/* A stranger of an embedding's name and shape. */
static size_t embedding_of(const struct sp_check *check, const struct sp_finding *finding)
{
    const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, finding->tensor);
    if (tensor->rank != 2) return SP_NONE;
    for (size_t i = 0; i < sp_prediction_count(check->prediction); i++) {
        const struct sp_predicted *predicted = sp_prediction_tensor(check->prediction, i);
        if (check->match.tensor_of[i] == SP_NONE || !sp_same_shape(tensor, predicted)) continue;
        char *words = sp_prediction_dimension(check->prediction, i, 0);
        const bool is = sp_is_vocabulary(words);
        free(words);
        if (is) return check->match.tensor_of[i];
    }
    return SP_NONE;
}

void sp_explain_embeddings(struct sp_check *check)
{
    enum { MOST = 4 }; /* strangers of such a name that are looked at: a file may have any number */
    size_t tried = 0;
    for (size_t i = 0; i < check->finding_count && tried < MOST; i++) {
        if (!is_stranger(&check->findings[i]) || !strstr(check->findings[i].name, "embed")) continue;
        const size_t original = embedding_of(check, &check->findings[i]);
        tried++;
        if (original == SP_NONE) continue;
        const size_t cause = add_cause(check, "embedding-copy", &i, 1);
        check->causes[cause].message =
            sp_arena_printf(&check->arena,
                            "%s has the shape of %s: a copy, as the last pipeline stage holds of a tied "
                            "embedding",
                            check->findings[i].name, sp_inventory_tensor(check->inventory, original)->name);
    }
}
