/* SPDX-License-Identifier: MIT
 * Whether what a check says of changes is true, by the simplest comparison of a file with a prediction: each change is
 * named or left without a cause, and nothing else is blamed. */
#ifndef TESTS_COMPARE_ANSWERS_H
#define TESTS_COMPARE_ANSWERS_H

#include "check/changes.h"

enum { MOST_CHANGES = 2 };

/* A model with its changes, and what was said of it before. */
struct asked {
    struct model *model;
    const struct shapeproof_prediction *truth; /* of the unchanged configuration */
    const struct sp_map *usual;                /* the causes that are given for the unchanged file, too */
    struct trial trials[MOST_CHANGES];
    const struct mutation *kinds[MOST_CHANGES];
    size_t count;
    struct sp_map touched;             /* names of all that is not as it was: in the file, or in the prediction */
    struct sp_map newly[MOST_CHANGES]; /* of those what each change touched first */
    struct sp_arena arena;
};

static inline void asked_free(struct asked *asked)
{
    for (size_t i = 0; i < asked->count; i++) {
        sp_map_free(&asked->newly[i]);
        sp_map_free(&asked->trials[i].changed);
        sp_arena_free(&asked->trials[i].arena);
    }
    sp_map_free(&asked->touched);
    sp_arena_free(&asked->arena);
}

static inline struct shapeproof_prediction *predict_changed(const struct model *model,
                                                            const struct shapeproof_config *config)
{
    struct shapeproof_error error = {0};
    return shapeproof_predict(model->tables, config, &(struct shapeproof_predict_options){.stored = true}, &error);
}

/* ---- the simplest comparison ---- */

static inline bool is_required(const struct shapeproof_predicted *tensor)
{
    return !tensor->optional && tensor->same_as == SHAPEPROOF_NONE;
}

static inline bool has_shape(const struct part *part, const struct shapeproof_predicted *expected)
{
    return part->rank == expected->rank && memcmp(part->shape, expected->shape, part->rank * sizeof *part->shape) == 0;
}

static inline struct sp_map places_of(const struct model *model)
{
    struct sp_map places = {0};
    for (size_t i = 0; i < model->count; i++) sp_map_add(&places, model->parts[i].name, i);
    return places;
}

static inline bool is_there(const struct sp_map *places, const struct shapeproof_predicted *tensor)
{
    return sp_map_get(places, tensor->name) != SIZE_MAX;
}

/* Of each predicted tensor, whether it or another one that it is tied to is in the file. */
static inline bool *find_stored(const struct shapeproof_prediction *prediction, const struct sp_map *places)
{
    const size_t count = shapeproof_prediction_count(prediction);
    bool *stored = calloc(count + 1, sizeof *stored);
    if (!stored) abort();
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (!is_there(places, tensor)) continue;
        stored[i] = true;
        if (tensor->same_as != SHAPEPROOF_NONE) stored[tensor->same_as] = true;
    }
    return stored;
}

/* What is missing, unexpected, or of another shape. */
static inline size_t count_errors(const struct model *model, const struct shapeproof_prediction *prediction)
{
    struct sp_map places = places_of(model);
    bool *stored = find_stored(prediction, &places);
    size_t errors = 0;
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++)
        errors += is_required(shapeproof_prediction_tensor(prediction, i)) && !stored[i];
    for (size_t i = 0; i < model->count; i++) {
        const size_t place = shapeproof_prediction_find(prediction, model->parts[i].name);
        errors +=
            place == SHAPEPROOF_NONE || !has_shape(&model->parts[i], shapeproof_prediction_tensor(prediction, place));
    }
    free(stored);
    sp_map_free(&places);
    return errors;
}

/* How many groups of optional tensors, such as layers for multi-token prediction, are there in part. */
static inline size_t count_halves(const struct model *model, const struct shapeproof_prediction *prediction)
{
    struct sp_map places = places_of(model);
    const size_t groups = shapeproof_prediction_group_count(prediction);
    unsigned *seen = calloc(groups + 1, sizeof *seen); /* 1: one is there, 2: one is absent */
    size_t halves = 0;
    if (!seen) abort();
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (tensor->optional && !tensor->buffer && !tensor->stands_for)
            seen[tensor->group] |= is_there(&places, tensor) ? 1 : 2;
    }
    for (size_t i = 0; i < groups; i++) halves += seen[i] == 3;
    free(seen);
    sp_map_free(&places);
    return halves;
}

/* ---- what was touched ---- */

static inline void touch(struct asked *asked, const char *name)
{
    if (sp_map_get(&asked->touched, name) != SIZE_MAX) return;
    const char *own = sp_arena_string(&asked->arena, name);
    sp_map_add(&asked->touched, own, 0);
    sp_map_add(&asked->newly[asked->count - 1], own, 0);
}

/* What of the file is not as the unchanged configuration asks for it. */
static inline void touch_file(struct asked *asked)
{
    const struct model *model = asked->model;
    struct sp_map places = places_of(model);
    for (size_t i = 0; i < model->count; i++) {
        const size_t place = shapeproof_prediction_find(asked->truth, model->parts[i].name);
        if (place == SHAPEPROOF_NONE || !has_shape(&model->parts[i], shapeproof_prediction_tensor(asked->truth, place)))
            touch(asked, model->parts[i].name);
    }
    for (size_t i = 0; i < shapeproof_prediction_count(asked->truth); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(asked->truth, i);
        if (is_required(tensor) && !is_there(&places, tensor)) touch(asked, tensor->name);
    }
    for (size_t i = 0; i < asked->count; i++)
        if (asked->trials[i].retyped) touch(asked, asked->trials[i].retyped);
    sp_map_free(&places);
}

static inline bool is_same_tensor(const struct shapeproof_predicted *a, const struct shapeproof_predicted *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0 &&
           a->optional == b->optional && (a->same_as == SHAPEPROOF_NONE) == (b->same_as == SHAPEPROOF_NONE);
}

/* Whether the one prediction has the tensor, and the other has not, or has it otherwise. */
static inline bool has_changed(const struct shapeproof_predicted *tensor, const struct shapeproof_prediction *other)
{
    const size_t place = shapeproof_prediction_find(other, tensor->name);
    return place == SHAPEPROOF_NONE || !is_same_tensor(tensor, shapeproof_prediction_tensor(other, place));
}

static inline void touch_predicted(struct asked *asked, const struct shapeproof_prediction *one,
                                   const struct shapeproof_prediction *other)
{
    struct sp_map places = places_of(asked->model);
    for (size_t i = 0; i < shapeproof_prediction_count(one); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(one, i);
        const bool matters = !tensor->optional || is_there(&places, tensor);
        if (matters && has_changed(tensor, other)) touch(asked, tensor->name);
    }
    sp_map_free(&places);
}

static inline void touch_all(struct asked *asked, const struct shapeproof_prediction *prediction)
{
    touch_file(asked);
    touch_predicted(asked, asked->truth, prediction);
    touch_predicted(asked, prediction, asked->truth);
}

/* ---- what is said ---- */

/* A hyper-parameter that was changed is said to have the value that it had. */
static inline bool is_restored(const struct trial *trial, const struct shapeproof_cause *cause)
{
    return cause->hyperparameter && strcmp(cause->hyperparameter, trial->key) == 0 &&
           cause->found.type == trial->value.type &&
           (cause->found.type == SHAPEPROOF_VALUE_BOOL ? cause->found.boolean == trial->value.boolean
                                                       : cause->found.integer == trial->value.integer);
}

static inline bool names_key(const struct trial *trial, const char *message)
{
    return *trial->key && strstr(message, trial->key);
}

static inline bool is_among(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *place = words; (place = strstr(place, word)) != NULL; place += length)
        if ((place == words || place[-1] == ' ') && (!place[length] || place[length] == ' ')) return true;
    return false;
}

static inline bool is_about(const struct asked *asked, size_t number, const struct shapeproof_finding *finding)
{
    const struct trial *trial = &asked->trials[number];
    if (names_key(trial, finding->message) || sp_map_get(&trial->changed, finding->name) != SIZE_MAX) return true;
    if (sp_map_get(&asked->newly[number], finding->name) == SIZE_MAX) return false;
    if (trial->changed.count || finding->cause == SHAPEPROOF_NONE) return true;
    return is_among(asked->kinds[number]->answers, shapeproof_check_cause(asked->model->check, finding->cause)->id);
}

/* Whether a finding or a cause names what was changed; or, of a number, what it decides, with a cause that may be. */
static inline bool is_named(const struct asked *asked, size_t number)
{
    const struct shapeproof_check *check = asked->model->check;
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++)
        if (is_about(asked, number, shapeproof_check_finding(check, i))) return true;
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++)
        if (names_key(&asked->trials[number], shapeproof_check_cause(check, i)->message)) return true;
    return false;
}

/* The name of a finding about something else, or NULL. */
static inline const char *find_foreign(const struct asked *asked)
{
    const struct shapeproof_check *check = asked->model->check;
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        if (finding->severity != SHAPEPROOF_SEVERITY_NOTE && sp_map_get(&asked->touched, finding->name) == SIZE_MAX)
            return finding->name;
    }
    return NULL;
}

/* "buffers note": what a cause is known by, in `text`. */
static inline const char *kind_of(const struct shapeproof_cause *cause, char *text, size_t size)
{
    snprintf(text, size, "%s %s", cause->id, shapeproof_severity_name(cause->severity));
    return text;
}

static inline bool is_usual(const struct asked *asked, const struct shapeproof_cause *cause)
{
    char kind[128];
    return sp_map_get(asked->usual, kind_of(cause, kind, sizeof kind)) != SIZE_MAX;
}

/* Another model, with all keys that were changed, of which there is one. */
static inline bool names_all_keys(const struct asked *asked, const struct shapeproof_cause *cause)
{
    size_t keys = 0;
    for (size_t i = 0; i < asked->count; i++) {
        if (!*asked->trials[i].key) continue;
        if (!names_key(&asked->trials[i], cause->message)) return false;
        keys++;
    }
    return keys > 0;
}

static inline bool is_answer(const struct asked *asked, const struct shapeproof_cause *cause)
{
    if (strcmp(cause->id, "another-model") == 0) return names_all_keys(asked, cause);
    for (size_t i = 0; i < asked->count; i++)
        if (is_among(asked->kinds[i]->answers, cause->id)) return true;
    return false;
}

static inline void set_found(struct shapeproof_config *config, const char *key, struct shapeproof_value value)
{
    struct shapeproof_error error = {0};
    struct sp_text setting = {0};
    char *found = shapeproof_value_text(value);
    sp_text_printf(&setting, "%s=%s", key, found);
    free(found);
    if (shapeproof_config_set(config, setting.data, &error)) die(setting.data, error.message);
    sp_text_free(&setting);
}

/* What a patch says of keys besides the one that is blamed: heads and the heads of keys and values belong together. */
static inline void set_patch(struct shapeproof_config *config, const char *prefix, struct shapeproof_value patch)
{
    for (size_t i = 0; patch.type == SHAPEPROOF_VALUE_OBJECT && i < patch.count; i++) {
        const struct shapeproof_member *member = &patch.members[i];
        struct sp_text key = {0};
        sp_text_printf(&key, "%s%s%s", prefix, *prefix ? "." : "", member->key);
        if (member->value.type == SHAPEPROOF_VALUE_OBJECT) set_patch(config, key.data, member->value);
        else if (member->value.type != SHAPEPROOF_VALUE_NULL) set_found(config, key.data, member->value);
        sp_text_free(&key);
    }
}

/* The configuration with all that the causes say that the file has. To be freed. */
static inline struct shapeproof_config *as_found(const struct asked *asked)
{
    const struct shapeproof_check *check = asked->model->check;
    struct shapeproof_config *config = sp_config_variant(asked->model->config);
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++) {
        const struct shapeproof_cause *cause = shapeproof_check_cause(check, i);
        if (strcmp(cause->id, "hyperparameter") != 0) continue;
        set_found(config, cause->hyperparameter, cause->found);
        set_patch(config, "", cause->patch);
    }
    return config;
}

/* Whether as many errors vanish with the hyper-parameters that are blamed as is said, and no other comes. */
static inline bool are_values_right(const struct asked *asked, bool partly)
{
    const struct model *model = asked->model;
    size_t explained = 0;
    for (size_t i = 0; i < shapeproof_check_cause_count(model->check); i++)
        if (strcmp(shapeproof_check_cause(model->check, i)->id, "hyperparameter") == 0)
            explained += shapeproof_check_cause(model->check, i)->explains;
    if (!explained) return true;
    struct shapeproof_config *config = as_found(asked);
    struct shapeproof_prediction *now = predict_changed(model, model->config), *then = predict_changed(model, config);
    const size_t errors = count_errors(model, now), left = then ? count_errors(model, then) : errors;
    const bool right = then && (partly ? left < errors : left + explained <= errors) &&
                       count_halves(model, then) <= count_halves(model, now);
    shapeproof_prediction_free(now);
    shapeproof_prediction_free(then);
    shapeproof_config_free(config);
    return right;
}

/* Why what is said is not true, or NULL. */
static inline const char *objection(struct asked *asked)
{
    const struct shapeproof_check *check = asked->model->check;
    size_t given = 0, most = 0;
    bool partly = asked->count > 1;
    const char *foreign = find_foreign(asked);
    for (size_t i = 0; i < asked->count; i++) {
        if (!is_named(asked, i)) return "does not name what was changed";
        most += asked->kinds[i]->causes;
        partly = partly || asked->kinds[i]->partly;
    }
    if (foreign) return sp_arena_printf(&asked->arena, "has a finding about something else: %s", foreign);
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++) {
        const struct shapeproof_cause *cause = shapeproof_check_cause(check, i);
        if (is_usual(asked, cause)) continue;
        given++;
        if (!is_answer(asked, cause)) return sp_arena_printf(&asked->arena, "blames something else: %s", cause->id);
    }
    if (given > most) return "has more causes than there are changes";
    if (given && sp_check_open(check) && !partly) return "has a cause and leaves something open";
    return are_values_right(asked, partly) ? NULL : "blames a value that is not right";
}

/* ---- whether changes leave a trace ---- */

/* The table says no dtype of a buffer, and nothing else could; that of the scale of a quantised weight is one of
 * several. */
static inline bool may_have_any_dtype(const struct shapeproof_prediction *prediction, const char *name)
{
    const size_t place = shapeproof_prediction_find(prediction, name);
    if (place == SHAPEPROOF_NONE) return false;
    const struct shapeproof_predicted *expected = shapeproof_prediction_tensor(prediction, place);
    return (expected->buffer || expected->stands_for) && expected->dtype == SHAPEPROOF_DTYPE_UNKNOWN;
}

/* Whether the file is, name by name and shape by shape, what the prediction asks for. */
static inline bool is_as_predicted(const struct model *model, const struct shapeproof_prediction *prediction)
{
    if (count_errors(model, prediction)) return false;
    for (size_t i = 0; i < model->count; i++) {
        const size_t place = shapeproof_prediction_find(prediction, model->parts[i].name);
        if (shapeproof_prediction_tensor(prediction, place)->same_as != SHAPEPROOF_NONE) return false;
    }
    return true;
}

static inline bool is_traceless(const struct asked *asked, const struct shapeproof_prediction *prediction)
{
    if (!is_as_predicted(asked->model, prediction)) return false;
    for (size_t i = 0; i < asked->count; i++)
        if (asked->trials[i].retyped &&
            !may_have_any_dtype(shapeproof_check_prediction(asked->model->check), asked->trials[i].retyped))
            return false;
    return true;
}

#endif
