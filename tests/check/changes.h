/* SPDX-License-Identifier: MIT
 * Changes to a checkpoint, or to its configuration, each at a random place. */
#ifndef TESTS_COMPARE_CHANGES_H
#define TESTS_COMPARE_CHANGES_H

#include "check/model.h"

/* One change to one model. */
struct trial {
    struct model *model;
    const struct shapeproof_prediction *truth; /* of the unchanged configuration */
    uint64_t state;                            /* of the random numbers */
    struct sp_map changed;                     /* names of the tensors that were changed */
    struct sp_arena arena;
    char key[256];                 /* of the hyper-parameter that was changed, */
    struct shapeproof_value value; /* and what it was */
    const struct sp_map *before;   /* names of what an earlier change touched, or NULL */
    bool again;                    /* one of them was changed */
    const char *retyped;           /* the tensor whose dtype alone was changed */
};

/* What a check may answer besides leaving what was changed without a cause: the ids of causes, each of them true. */
struct mutation {
    const char *name;
    bool (*alter)(struct trial *); /* false where there is nothing of the kind */
    const char *answers;
    size_t causes; /* how many there may be */
    bool partly;   /* and something left without a cause all the same */
};

/* ---- chance ---- */

static size_t below(struct trial *trial, size_t limit)
{
    trial->state ^= trial->state << 13;
    trial->state ^= trial->state >> 7;
    trial->state ^= trial->state << 17;
    return (size_t)(trial->state >> 11) % limit;
}

static struct part *any_part(struct trial *trial) { return &trial->model->parts[below(trial, trial->model->count)]; }

/* Any of those that are wanted, or NULL. */
static struct part *any_such(struct trial *trial, bool (*wanted)(const struct part *))
{
    const size_t start = below(trial, trial->model->count);
    for (size_t i = 0; i < trial->model->count; i++) {
        struct part *part = &trial->model->parts[(start + i) % trial->model->count];
        if (wanted(part)) return part;
    }
    return NULL;
}

static void note(struct trial *trial, const char *name)
{
    if (trial->before && sp_map_get(trial->before, name) != SIZE_MAX) trial->again = true;
    sp_map_add(&trial->changed, sp_arena_string(&trial->arena, name), 0);
}

/* ---- layers ---- */

/* The length of the name up to and with its first index, when something follows: "model.layers.5"; else 0. */
static size_t layer_length(const char *name)
{
    uint64_t index;
    for (size_t i = 0; name[i]; i++) {
        const size_t digits = sp_index_at(name, i, &index);
        if (digits) return name[i + digits] == '.' ? i + digits : 0;
    }
    return 0;
}

static bool has_layer(const struct part *part) { return layer_length(part->name) != 0; }

static bool in_layer(const struct part *part, const char *layer, size_t length)
{
    return strncmp(part->name, layer, length) == 0 && part->name[length] == '.';
}

/* ---- changes to the file ---- */

static void remove_noted(struct trial *trial)
{
    struct model *model = trial->model;
    size_t kept = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (sp_map_get(&trial->changed, model->parts[i].name) != SIZE_MAX) free(model->parts[i].name);
        else model->parts[kept++] = model->parts[i];
    }
    model->count = kept;
}

static bool drop_tensor(struct trial *trial)
{
    note(trial, any_part(trial)->name);
    remove_noted(trial);
    return true;
}

static bool drop_layer(struct trial *trial)
{
    const struct part *of = any_such(trial, has_layer);
    if (!of) return false;
    for (size_t i = 0; i < trial->model->count; i++)
        if (in_layer(&trial->model->parts[i], of->name, layer_length(of->name)))
            note(trial, trial->model->parts[i].name);
    remove_noted(trial);
    return true;
}

static bool drop_kind(struct trial *trial)
{
    struct sp_patterns patterns = {0};
    const struct part *of = any_such(trial, has_layer);
    if (!of) return false;
    const size_t kind = sp_pattern_of(&patterns, of->name, NULL);
    for (size_t i = 0; i < trial->model->count; i++)
        if (sp_pattern_of(&patterns, trial->model->parts[i].name, NULL) == kind)
            note(trial, trial->model->parts[i].name);
    remove_noted(trial);
    sp_patterns_free(&patterns);
    return true;
}

static void rename_part(struct trial *trial, struct part *part, const char *from, const char *to)
{
    note(trial, part->name);
    replace_in(part, from, to);
}

static bool rename_tensor(struct trial *trial)
{
    struct part *part = any_part(trial);
    char from[256], to[512];
    const char *dot = strrchr(part->name, '.');
    snprintf(from, sizeof from, "%s", dot ? dot : part->name);
    snprintf(to, sizeof to, "%s_of_old", from);
    rename_part(trial, part, from, to);
    return true;
}

static bool is_word(const char *component, size_t length)
{
    return length && (component[0] < '0' || component[0] > '9');
}

/* Any component of the name that is no index, as ".component."; the name is thought to be within dots. */
static bool any_component(struct trial *trial, const char *name, char *out, size_t size)
{
    size_t count = 0;
    for (const char *p = name; *p; p += p[strcspn(p, ".")] ? strcspn(p, ".") + 1 : strcspn(p, ".")) {
        const size_t length = strcspn(p, ".");
        if (is_word(p, length) && below(trial, ++count) == 0) snprintf(out, size, "%.*s", (int)length, p);
    }
    return count > 0;
}

/* Where the component stands in the name, or NULL. */
static const char *find_component(const char *name, const char *component)
{
    const size_t length = strlen(component);
    for (const char *p = name; (p = strstr(p, component)) != NULL; p++)
        if ((p == name || p[-1] == '.') && (p[length] == '.' || !p[length])) return p;
    return NULL;
}

static bool rename_component(struct trial *trial)
{
    char component[256];
    if (!any_component(trial, any_part(trial)->name, component, sizeof component)) return false;
    snprintf(trial->key, sizeof trial->key, "the_%.200s", component);
    for (size_t i = 0; i < trial->model->count; i++) {
        struct part *part = &trial->model->parts[i];
        const char *place = find_component(part->name, component);
        struct sp_text name = {0};
        if (!place) continue;
        note(trial, part->name);
        sp_text_printf(&name, "%.*sthe_%s", (int)(place - part->name), part->name, place);
        free(part->name);
        part->name = name.data;
    }
    return true;
}

static bool is_matrix(const struct part *part) { return part->rank == 2; }

static bool transpose(struct trial *trial)
{
    struct part *part = any_such(trial, is_matrix);
    if (!part) return false;
    const uint64_t rows = part->shape[0];
    note(trial, part->name);
    part->shape[0] = part->shape[1];
    part->shape[1] = rows;
    return true;
}

static bool has_dimension(const struct part *part) { return part->rank > 0; }

static bool resize_dimension(struct trial *trial)
{
    struct part *part = any_such(trial, has_dimension);
    if (!part) return false;
    note(trial, part->name);
    part->shape[below(trial, part->rank)] += 1 + below(trial, 3);
    return true;
}

static bool add_stranger(struct trial *trial)
{
    char name[64];
    snprintf(name, sizeof name, "stranger.%zu.weight", below(trial, 1000000));
    model_add_shape(trial->model, name, SHAPE(1 + below(trial, 3), 2));
    note(trial, name);
    return true;
}

static bool duplicate_last_layer(struct trial *trial)
{
    struct model *model = trial->model;
    const struct part *of = any_such(trial, has_layer);
    char layer[512];
    uint64_t last = 0, index;
    if (!of) return false;
    size_t length = layer_length(of->name), digits = length;
    while (digits && of->name[digits - 1] >= '0' && of->name[digits - 1] <= '9') digits--;
    for (size_t i = 0; i < model->count; i++)
        if (strncmp(model->parts[i].name, of->name, digits) == 0 && sp_index_at(model->parts[i].name, digits, &index) &&
            index > last)
            last = index;
    length = (size_t)snprintf(layer, sizeof layer, "%.*s%" PRIu64, (int)digits, of->name, last);
    for (size_t i = 0, count = model->count; i < count; i++) {
        struct sp_text name = {0};
        const struct part part = model->parts[i];
        if (!in_layer(&part, layer, length)) continue;
        sp_text_printf(&name, "%.*s%" PRIu64 "%s", (int)digits, layer, last + 1, part.name + length);
        model_add_shape(model, name.data, part.rank, part.shape)->dtype = part.dtype;
        note(trial, name.data);
        sp_text_free(&name);
    }
    return true;
}

static bool change_dtype(struct trial *trial)
{
    struct part *part = any_part(trial);
    note(trial, part->name);
    part->dtype = part->dtype == SHAPEPROOF_DTYPE_F64 ? SHAPEPROOF_DTYPE_F32
                                                      : SHAPEPROOF_DTYPE_F64; /* F32 among BF16 is common */
    trial->retyped = part->name;
    return true;
}

/* ---- changes to the configuration ---- */

static bool is_number(struct shapeproof_hyperparameter hyper) { return hyper.value.type == SHAPEPROOF_VALUE_INT; }
static bool is_truth_value(struct shapeproof_hyperparameter hyper) { return hyper.value.type == SHAPEPROOF_VALUE_BOOL; }

static bool is_vocabulary(struct shapeproof_hyperparameter hyper)
{
    return is_number(hyper) && strstr(hyper.name, "vocab_size") != NULL;
}

/* Any hyper-parameter of the kind that is for the configuration to say; false when there is none. */
static bool any_hyperparameter(struct trial *trial, bool (*wanted)(struct shapeproof_hyperparameter))
{
    const size_t count = shapeproof_prediction_hyperparameter_count(trial->truth),
                 start = count ? below(trial, count) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_hyperparameter hyper =
            *shapeproof_prediction_hyperparameter(trial->truth, (start + i) % count);
        if (!wanted(hyper) || hyper.from.source == SHAPEPROOF_SOURCE_TABLE) continue;
        snprintf(trial->key, sizeof trial->key, "%s", hyper.name);
        trial->value = hyper.value;
        return true;
    }
    return false;
}

static void set(struct trial *trial, const char *value)
{
    char setting[512];
    snprintf(setting, sizeof setting, "%s=%s", trial->key, value);
    model_set(trial->model, setting);
}

static bool change_number(struct trial *trial)
{
    char other[64];
    if (!any_hyperparameter(trial, is_number)) return false;
    const int64_t value = trial->value.integer;
    const int64_t others[] = {value + 1, value > 1 ? value - 1 : value + 2, value ? 2 * value : 3};
    snprintf(other, sizeof other, "%" PRId64, others[below(trial, 3)]);
    set(trial, other);
    return true;
}

static bool flip(struct trial *trial)
{
    if (!any_hyperparameter(trial, is_truth_value)) return false;
    set(trial, trial->value.boolean ? "false" : "true");
    return true;
}

static bool is_possible(const struct model *model)
{
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction =
        shapeproof_predict(model->tables, model->config, &(struct shapeproof_predict_options){.stored = true}, &error);
    shapeproof_prediction_free(prediction);
    return prediction != NULL;
}

/* The file is of a larger vocabulary, its configuration is not. */
static bool resize_vocabulary(struct trial *trial)
{
    char larger[64];
    if (!any_hyperparameter(trial, is_vocabulary)) return false;
    const int64_t value = trial->value.integer + 1 + (int64_t)below(trial, 100);
    snprintf(larger, sizeof larger, "%" PRId64, value);
    struct shapeproof_config *config = trial->model->config;
    trial->model->config = sp_config_variant(config);
    set(trial, larger);
    const bool possible = is_possible(trial->model);
    if (possible) model_predict(trial->model, AS_STORED);
    shapeproof_config_free(trial->model->config);
    trial->model->config = config;
    trial->value = sp_value_int(value);
    return possible;
}

/* Of what may be answered, this is no plain reading of the change:
 * "hyperparameter" where a file was changed: another value predicts just what the file is then. An embedding or a head
 *   that is lost looks like one that is tied, a bias that is lost in all layers like one that is switched off, the only
 *   tensor of a dimension like another number. Whether that is so is tested.
 * "absent-buffers": what was dropped is computed anew by loaders, so that nothing is lost.
 * "layers-missing" where a number was changed: layers that the file never had are missing.
 * "tied-copy" thrice: an untied head in three tensors, packed.
 * "embedding-copy" where a tie was switched on: the embedding that is under another name besides is one too many.
 * The last layer twice: of models with layers of several kinds, the table has another kind there, or none in that
 *   place. Then there is one layer more, and the rest is left; or two numbers together predict the file. */
static const struct mutation mutations[] = {
    {"one tensor dropped", drop_tensor, "hyperparameter absent-buffers", 1, false},
    {"one layer dropped", drop_layer, "layers-missing experts-missing hyperparameter", 1, false},
    {"one kind dropped in all layers", drop_kind, "bias hyperparameter absent-buffers", 1, false},
    {"one tensor renamed", rename_tensor, "renamed", 1, false},
    {"a component renamed everywhere", rename_component, "renamed", 1, false},
    {"one matrix transposed", transpose, "transposed", 1, false},
    {"one dimension resized", resize_dimension, "vocabulary hyperparameter", 1, false},
    {"the vocabulary resized", resize_vocabulary, "hyperparameter", 1, false},
    {"one number of the configuration changed", change_number, "hyperparameter layers-missing", 1, false},
    {"one truth value flipped", flip, "hyperparameter tied-copy embedding-copy", 3, false},
    {"a stranger added", add_stranger, "", 0, false},
    {"the last layer there twice", duplicate_last_layer, "hyperparameter", 2, true},
    {"one dtype changed", change_dtype, "", 0, false},
};
enum { MUTATIONS = sizeof mutations / sizeof *mutations };

#endif
