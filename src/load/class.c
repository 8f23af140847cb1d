/* SPDX-License-Identifier: MIT */
#include "load/class.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "check/check.h"
#include "config/choose.h"
#include "config/config.h"
#include "lang/prediction.h"
#include "load/renaming.h"
#include "load/value_kinds.h"
#include "names/layer_kinds.h"

enum { MAX_LABELS = 100000 };

/* ---- which class ---- */

const char *sp_class_key(const struct sp_loader *loader)
{
    return loader->class_key ? loader->class_key : "model_type";
}

struct sp_loaded sp_class_loaded(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    struct shapeproof_error error = {0};
    const struct sp_hyper *hyper = sp_config_hyper(subject->config);
    const struct shapeproof_value said = sp_value_member(hyper->root, sp_class_key(loader));
    if (said.type == SHAPEPROOF_VALUE_STRING) return sp_loader_class(loader, said.string, sp_first_class(hyper));
    if (loader->class_key) return (struct sp_loaded){0};
    const struct sp_unit *table = sp_choose_table(subject->tables, subject->table, hyper, &error);
    if (!table || !table->model_type_count) return (struct sp_loaded){0};
    return sp_loader_class(loader, table->model_types[0], sp_first_class(hyper));
}

struct sp_loaded sp_class_named(const struct sp_loader *loader, const struct sp_load_subject *subject)
{
    struct sp_two_models two;
    const bool differs = sp_chooses_two(subject->tables, sp_config_hyper(subject->config), &two);
    if (!loader->by_class || subject->table || !differs) return (struct sp_loaded){0};
    return sp_loader_class(loader, two.class_type, two.class);
}

/* ---- the model ---- */

static void set_ties(struct shapeproof_config *config, bool tied)
{
    const char *const keys[] = {"tie_word_embeddings", "text_config.tie_word_embeddings"};
    const bool inward = sp_value_member(sp_config_hyper(config)->root, "text_config").type == SHAPEPROOF_VALUE_OBJECT;
    for (size_t i = 0; i < 1 + (size_t)inward; i++) sp_config_set_value(config, keys[i], sp_value_bool(tied), "");
}

static struct shapeproof_value said_of_ties(const struct sp_loader *loader, const struct shapeproof_config *config)
{
    const struct shapeproof_value root = sp_config_hyper(config)->root, text = sp_value_member(root, "text_config");
    return sp_value_member(loader->ties_by_text && text.type == SHAPEPROOF_VALUE_OBJECT ? text : root,
                           "tie_word_embeddings");
}

/* "but NAME" */
static const char *tied_but(const struct sp_loaded *loaded)
{
    return strncmp(loaded->ties, "but ", 4) == 0 ? loaded->ties + 4 : NULL;
}

/* What a part of the configuration says of ties: SHAPEPROOF_VALUE_BOOL, or the table decides, which knows what the part
 * ties when it is silent. */
static struct shapeproof_value said_of_part(const struct shapeproof_config *config, const char *part)
{
    return sp_value_member(sp_value_member(sp_config_hyper(config)->root, part), "tie_word_embeddings");
}

/* The same where the whole has a say as well. */
static struct shapeproof_value said_of_part_or_whole(const struct shapeproof_config *config, const char *part)
{
    const struct shapeproof_value root = sp_config_hyper(config)->root;
    const struct shapeproof_value own = said_of_part(config, part);
    const struct shapeproof_value whole = sp_value_member(root, "tie_word_embeddings");
    if (sp_value_is_bool(own, true) || sp_value_is_bool(whole, true)) return sp_value_bool(true);
    if (sp_value_member(root, part).type != SHAPEPROOF_VALUE_OBJECT) return whole;
    return own.type == SHAPEPROOF_VALUE_BOOL ? whole : sp_value_absent("");
}

/* Whether the class ties, as the loader sees it: SHAPEPROOF_VALUE_BOOL, or what the table says. What is said counts for
 * the whole and for its parts. */
static struct shapeproof_value class_ties(const struct sp_loader *loader, const struct sp_loaded *loaded,
                                          const struct shapeproof_config *config)
{
    const struct shapeproof_value said = said_of_ties(loader, config);
    const bool always = strcmp(loaded->ties, "always") == 0;
    if (always || strcmp(loaded->ties, "never") == 0) return sp_value_bool(always);
    if (strncmp(loaded->ties, "or ", 3) == 0) return said_of_part_or_whole(config, loaded->ties + 3);
    if (strncmp(loaded->ties, "of ", 3) == 0) return said_of_part(config, loaded->ties + 3);
    if (sp_value_member(sp_config_hyper(config)->root, loaded->ties).type == SHAPEPROOF_VALUE_OBJECT)
        return sp_value_is_bool(said, true) ? said : sp_value_absent("");
    if (tied_but(loaded) && said.type == SHAPEPROOF_VALUE_BOOL) return sp_value_bool(true);
    if (said.type == SHAPEPROOF_VALUE_BOOL || !*loaded->ties || tied_but(loaded)) return said;
    return sp_value_bool(strcmp(loaded->ties, "true") == 0);
}

/* A class of another model_type reads the configuration as its own. */
static void set_model_type(struct shapeproof_config *config, const char *model_type)
{
    const struct shapeproof_value said = sp_value_member(sp_config_hyper(config)->root, "model_type");
    if (said.type == SHAPEPROOF_VALUE_STRING && strcmp(said.string, model_type) != 0)
        sp_config_set_value(config, "model_type", sp_value_string(model_type), "");
}

/* So many labels, when the configuration names another number of them; SIZE_MAX when it does not contradict itself. */
static size_t other_labels(const struct sp_loader *loader, const struct shapeproof_config *config)
{
    const struct shapeproof_value root = sp_config_hyper(config)->root;
    const struct shapeproof_value names = sp_value_member(root, "id2label"),
                                  number = sp_value_member(root, "num_labels");
    if (!loader->counts_labels || names.type != SHAPEPROOF_VALUE_OBJECT || number.type != SHAPEPROOF_VALUE_INT)
        return SIZE_MAX;
    const bool differs = number.integer > 0 && number.integer <= MAX_LABELS && (size_t)number.integer != names.count;
    return differs ? (size_t)number.integer : SIZE_MAX;
}

static void set_labels(struct shapeproof_config *config, size_t count)
{
    struct shapeproof_error error = {0};
    struct sp_text setting = {0};
    sp_text_puts(&setting, "id2label={");
    for (size_t i = 0; i < count; i++) sp_text_printf(&setting, "%s\"%zu\": %zu", i ? ", " : "", i, i);
    sp_text_puts(&setting, "}");
    shapeproof_config_set(config, setting.data, &error);
    sp_text_free(&setting);
}

/* Of words with blanks between: "key=value" is what the class has whatever is said, "key" as if it were not said. */
static void set_words(struct sp_arena *arena, struct shapeproof_config *config, const char *words)
{
    struct shapeproof_error error = {0};
    const char *word;
    for (size_t length; (length = sp_word(&words, &word));) {
        const char *setting = sp_arena_copy(arena, word, length);
        if (strchr(setting, '=')) shapeproof_config_set(config, setting, &error);
        else sp_config_set_value(config, setting, sp_value_absent(""), "");
    }
}

/* The release that the loader is, when the configuration was written by another one, or does not say by which; or NULL.
 * Of the loader's own releases, the tables know the differences. */
static const char *other_release(const struct sp_loader *loader, const struct shapeproof_config *config)
{
    const struct shapeproof_value said = sp_value_member(sp_config_hyper(config)->root, "transformers_version");
    if (!loader->version || !loader->own_releases || said.type != SHAPEPROOF_VALUE_STRING) return loader->version;
    return strncmp(said.string, loader->own_releases, strlen(loader->own_releases)) == 0 ? NULL : loader->version;
}

/* The class makes something else of the configuration than its table. */
static bool is_read_otherwise(const struct sp_loader *loader, const struct sp_loaded *loaded,
                              const struct shapeproof_config *config)
{
    return other_release(loader, config) || *loaded->unread || other_labels(loader, config) != SIZE_MAX;
}

/* The configuration as the class reads it. */
static struct shapeproof_config *read_by_class(struct sp_arena *arena, const struct sp_loader *loader,
                                               const struct sp_loaded *loaded, const struct sp_load_subject *subject)
{
    const size_t labels = other_labels(loader, subject->config);
    struct shapeproof_config *config = sp_config_variant(subject->config);
    if (labels != SIZE_MAX) set_labels(config, labels);
    if (!subject->table) set_model_type(config, loaded->model_type);
    const char *release = other_release(loader, config);
    if (release) sp_config_set_value(config, "transformers_version", sp_value_string(release), "");
    set_words(arena, config, loaded->unread);
    return config;
}

struct sp_class_model sp_class_predict(struct sp_arena *arena, const struct sp_loader *loader,
                                       const struct sp_loaded *loaded, const struct sp_load_subject *subject)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_value ties = class_ties(loader, loaded, subject->config);
    struct sp_class_model model = {.prediction = subject->prediction, .untied = sp_value_is_bool(ties, false)};
    if (sp_value_is_bool(said_of_ties(loader, subject->config), false)) model.alone = tied_but(loaded);
    if (model.prediction && ties.type != SHAPEPROOF_VALUE_BOOL && !is_read_otherwise(loader, loaded, subject->config))
        return model;
    struct shapeproof_config *config = read_by_class(arena, loader, loaded, subject);
    if (ties.type == SHAPEPROOF_VALUE_BOOL) set_ties(config, ties.boolean);
    model.prediction = model.own = shapeproof_predict(
        subject->tables, config, &(struct shapeproof_predict_options){.table = subject->table}, &error);
    shapeproof_config_free(config);
    return model;
}

void sp_class_free(struct sp_class_model *model) { shapeproof_prediction_free(model->own); }

/* ---- what it refuses ---- */

/* The value of a path within an object, "text_config.vocab_size". */
static struct shapeproof_value value_at(struct shapeproof_value object, const char *path, size_t length)
{
    char key[128];
    for (;;) {
        const char *dot = memchr(path, '.', length);
        const size_t size = dot ? (size_t)(dot - path) : length;
        if (size >= sizeof key) return sp_value_absent("");
        memcpy(key, path, size);
        key[size] = '\0';
        object = sp_value_member(object, key);
        if (!dot) return object;
        path += size + 1;
        length -= size + 1;
    }
}

/* What a class makes of an object: the whole configuration, or a part of it. */
struct reading {
    struct sp_arena *arena;
    struct sp_loaded loaded;
    struct shapeproof_value object;
    const char *front;                              /* its path: "text_config.", or "" */
    const struct shapeproof_prediction *prediction; /* with the defaults of the table, or NULL */
};

/* A value, and whether the configuration leaves it out. */
struct setting {
    struct shapeproof_value value;
    bool is_default;
};

/* Whether a word of `defaults` begins with the key: "a|b=12" with a. */
static bool is_default_of(const char *word, const char *path)
{
    const size_t length = strlen(path);
    return strncmp(word, path, length) == 0 && (word[length] == '=' || word[length] == '|');
}

/* What the object says of a key that it leaves out under another name, or else the default of the class: 12 of
 * "n_head|num_attention_heads=12". Absent when the class is not known to have one, or when the object lacks the part.
 */
static struct setting default_of_class(const struct reading *reading, const char *path)
{
    const char *dot = strrchr(path, '.'), *words = reading->loaded.defaults, *word;
    if (dot && value_at(reading->object, path, (size_t)(dot - path)).type != SHAPEPROOF_VALUE_OBJECT) words = "";
    for (size_t length; (length = sp_word(&words, &word));) {
        if (!is_default_of(word, path)) continue;
        const char *end = memchr(word, '=', length);
        for (const char *name = word; name < end; name += strcspn(name, "|=") + 1) {
            const struct shapeproof_value said = value_at(reading->object, name, strcspn(name, "|="));
            if (said.type != SHAPEPROOF_VALUE_ABSENT) return (struct setting){said, false};
        }
        return (struct setting){sp_value_int(strtoll(end + 1, NULL, 10)), true};
    }
    return (struct setting){sp_value_absent(""), true};
}

/* The value at the path; where the object has none, the default of the class, or else the one that the prediction found
 * in its table. */
static struct setting value_or_default(const struct reading *reading, const char *path)
{
    const struct shapeproof_value said = value_at(reading->object, path, strlen(path));
    if (said.type != SHAPEPROOF_VALUE_ABSENT && said.type != SHAPEPROOF_VALUE_NULL)
        return (struct setting){said, false};
    if (said.type == SHAPEPROOF_VALUE_ABSENT) {
        const struct setting usual = default_of_class(reading, path);
        if (usual.value.type != SHAPEPROOF_VALUE_ABSENT) return usual;
    }
    if (!reading->prediction) return (struct setting){said, false};
    const char *whole = sp_arena_printf(reading->arena, "%s%s", reading->front, path);
    const size_t index = sp_find_hyperparameter(reading->prediction, whole);
    if (index == SHAPEPROOF_NONE) return (struct setting){said, false};
    return (struct setting){shapeproof_prediction_hyperparameter(reading->prediction, index)->value, true};
}

/* "text_config.n_head 12", and whether this is a default. */
static const char *setting_text(const struct reading *reading, const char *key, struct setting setting)
{
    return sp_arena_printf(reading->arena, "%s%s %" PRId64 "%s", reading->front, key, setting.value.integer,
                           setting.is_default ? " (default)" : "");
}

/* Words of transformers 5.24: functions that it knows by name; kinds of rotary embeddings, and those of them that need
 * a factor. Of rotary embeddings, some classes know more. */
static const char activations[] =
    "gelu gelu_10 gelu_fast gelu_new gelu_python gelu_pytorch_tanh gelu_python_tanh gelu_accurate hardswish laplace "
    "leaky_relu linear mish quick_gelu relu relu2 relu6 sigmoid silu sqrtsoftplus swish tanh prelu xielu";
static const char rotary_kinds[] = "default linear dynamic yarn longrope llama3 proportional mrope su axial";
static const char scaled_kinds[] = "linear dynamic yarn llama3";

/* Why an entry of a list of layers is none that is known; "" when all are. */
static const char *unknown_layer(struct sp_arena *arena, const char *front, const char *key,
                                 struct shapeproof_value list)
{
    const char *known = sp_layer_kinds(key);
    for (size_t i = 0; known && i < list.count; i++) {
        if (list.items[i].type != SHAPEPROOF_VALUE_STRING)
            return sp_arena_printf(arena, "an entry of %s%s is not a string", front, key);
        if (!sp_words_have(known, list.items[i].string))
            return sp_arena_printf(arena, "%s%s has %s, which is none of the kinds that it knows", front, key,
                                   sp_quote(list.items[i].string).text);
    }
    return "";
}

/* The same of one kind of rotary embedding; one for each kind of layer may stand within. */
static const char *unknown_rotary(struct sp_arena *arena, struct shapeproof_value rope)
{
    const struct shapeproof_value said = sp_value_member(rope, "rope_type");
    const struct shapeproof_value kind = said.type == SHAPEPROOF_VALUE_STRING ? said : sp_value_member(rope, "type");
    if (kind.type == SHAPEPROOF_VALUE_STRING && !sp_words_have(rotary_kinds, kind.string))
        return sp_arena_printf(arena, "it knows no rotary embedding %s", sp_quote(kind.string).text);
    if (kind.type == SHAPEPROOF_VALUE_STRING && sp_words_have(scaled_kinds, kind.string) &&
        sp_value_member(rope, "factor").type == SHAPEPROOF_VALUE_ABSENT)
        return sp_arena_printf(arena, "the rotary embedding %s has no factor", sp_quote(kind.string).text);
    return "";
}

/* Of words "key:activation" and "rope_scaling:rope". */
static const char *unknown_name(struct sp_arena *arena, struct shapeproof_value object, const char *front,
                                const char *word, size_t length)
{
    const size_t size = (size_t)((const char *)memchr(word, ':', length) - word);
    const char *key = sp_arena_copy(arena, word, size);
    const struct shapeproof_value value = value_at(object, key, size);
    if (length - size == strlen(":activation"))
        return value.type != SHAPEPROOF_VALUE_STRING || sp_words_have(activations, value.string)
                   ? ""
                   : sp_arena_printf(arena, "it knows no activation function %s (%s%s)", sp_quote(value.string).text,
                                     front, key);
    const char *dot = strrchr(key, '.');
    const struct shapeproof_value part = dot ? value_at(object, key, (size_t)(dot - key)) : object;
    const struct shapeproof_value own = sp_value_member(part, "rope_parameters"),
                                  rope = own.type == SHAPEPROOF_VALUE_OBJECT ? own : value;
    const char *why = rope.type == SHAPEPROOF_VALUE_OBJECT ? unknown_rotary(arena, rope) : "";
    for (size_t i = 0; rope.type == SHAPEPROOF_VALUE_OBJECT && !*why && i < rope.count; i++)
        if (rope.members[i].value.type == SHAPEPROOF_VALUE_OBJECT) why = unknown_rotary(arena, rope.members[i].value);
    return why;
}

/* Why the class refuses the two keys of a condition such as "pad_token_id<vocab_size" (see `needed` in loader.h): they
 * contradict each other, one is no integer, or an entry of a list is of a kind that the class does not know. "" when it
 * does not refuse them, or when one of them has no value. */
static const char *contradiction(const struct reading *reading, const char *word, size_t length)
{
    struct sp_arena *arena = reading->arena;
    const bool counts = *word == '#';
    const char *first = word + counts, *end = word + length, *front = reading->front;
    const size_t size = strcspn(first, "<%=");
    const char *second = first + size + 1, *one = sp_arena_copy(arena, first, size),
               *other = sp_arena_copy(arena, second, (size_t)(end - second));
    const struct setting a = value_or_default(reading, one), b = value_or_default(reading, other);
    const struct shapeproof_value left = a.value, right = b.value;
    if (left.type == SHAPEPROOF_VALUE_REAL || right.type == SHAPEPROOF_VALUE_REAL)
        return sp_arena_printf(arena, "%s%s is no integer", front, left.type == SHAPEPROOF_VALUE_REAL ? one : other);
    if (right.type != SHAPEPROOF_VALUE_INT || left.type != (counts ? SHAPEPROOF_VALUE_LIST : SHAPEPROOF_VALUE_INT))
        return "";
    if (counts && right.integer >= 0 && left.count != (uint64_t)right.integer)
        return sp_arena_printf(arena, "the length of %s%s is %zu, and %s%s is %" PRId64 "%s", front, one, left.count,
                               front, other, right.integer, b.is_default ? " by default" : "");
    if (counts) return unknown_layer(arena, front, one, left); /* the length agrees; now the entries */
    if (first[size] == '<' && left.integer < -right.integer)
        return sp_arena_printf(arena, "%s is below -%s%s", setting_text(reading, one, a), front, other);
    if (first[size] == '<' && left.integer >= right.integer)
        return sp_arena_printf(arena, "%s is not below %s", setting_text(reading, one, a),
                               setting_text(reading, other, b));
    if (first[size] == '%' && right.integer > 0 && left.integer % right.integer)
        return sp_arena_printf(arena, "%s is no multiple of %s", setting_text(reading, one, a),
                               setting_text(reading, other, b));
    return "";
}

/* The row of the type that a part says it has; without a model_type when there is none. */
static struct sp_loaded loaded_of_part(const struct sp_loader *loader, struct shapeproof_value part)
{
    const struct shapeproof_value type = sp_value_member(part, "model_type");
    return type.type == SHAPEPROOF_VALUE_STRING ? sp_loader_class(loader, type.string, "") : (struct sp_loaded){0};
}

/* Of the kinds of the values in this object, then of what else the class needs of it. What is about a part of it counts
 * where the part does not say which type it is of: that type has words of its own. */
static const char *first_objection(const struct reading *reading, const struct sp_loader *loader)
{
    const char *words = reading->loaded.needed, *word;
    const char *refused = loader->minds_kinds ? sp_refused_kind(reading->arena, reading->loaded.model_type,
                                                                reading->front, reading->object)
                                              : "";
    if (*refused) return refused;
    for (size_t length; (length = sp_word(&words, &word));) {
        const char *dot = memchr(word, '.', length);
        const char *part = word + (*word == '#');
        const bool names = memchr(word, ':', length);
        if (!names && strcspn(word, "<%=") >= length) {
            const char *key = sp_arena_copy(reading->arena, word, length);
            if (sp_value_member(reading->object, key).type == SHAPEPROOF_VALUE_ABSENT)
                return sp_arena_printf(reading->arena, "the configuration has no %s", key);
            continue;
        }
        if (dot && loaded_of_part(loader, value_at(reading->object, part, (size_t)(dot - part))).model_type) continue;
        const char *why = names ? unknown_name(reading->arena, reading->object, reading->front, word, length)
                                : contradiction(reading, word, length);
        if (*why) return why;
    }
    return "";
}

/* The configuration with the values of --set as their types take them: who types mlp_ratio=4 means 4.0. */
static struct shapeproof_value root_as_taken(struct sp_arena *arena, const struct shapeproof_config *config)
{
    struct shapeproof_value root = sp_config_hyper(config)->root;
    for (size_t i = 0; i < config->setting_count; i++) {
        const char *path = config->settings[i].path, *dot = strrchr(path, '.');
        if (config->overrides[i].from.source != SHAPEPROOF_SOURCE_SETTING) continue;
        const struct shapeproof_value object = dot ? value_at(root, path, (size_t)(dot - path)) : root;
        const struct shapeproof_value type = sp_value_member(object, "model_type");
        if (type.type == SHAPEPROOF_VALUE_STRING)
            root = sp_value_with(arena, root, path,
                                 sp_value_as_taken(arena, type.string, dot ? dot + 1 : path, sp_value_at(root, path)));
    }
    return root;
}

const char *sp_class_objection(struct sp_arena *arena, const struct sp_loader *loader, const struct sp_loaded *loaded,
                               const struct shapeproof_config *config, const struct shapeproof_prediction *prediction)
{
    const struct shapeproof_value root = root_as_taken(arena, config);
    const struct reading whole = {arena, *loaded, root, "", prediction};
    const char *why = first_objection(&whole, loader);
    for (size_t i = 0; !*why && root.type == SHAPEPROOF_VALUE_OBJECT && i < root.count; i++) {
        const struct shapeproof_member *member = &root.members[i];
        if (member->value.type != SHAPEPROOF_VALUE_OBJECT || !sp_ends_with(member->key, "_config")) continue;
        const char *front = sp_arena_printf(arena, "%s.", member->key);
        const struct reading part = {arena, loaded_of_part(loader, member->value), member->value, front, prediction};
        if (part.loaded.model_type) why = first_objection(&part, loader);
    }
    return why;
}
