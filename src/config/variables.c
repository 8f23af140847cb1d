/* SPDX-License-Identifier: MIT */
#include "config/variables.h"

#include <stdlib.h>

#include "base/chars.h"

static void rename_tensor(struct shapeproof_prediction *prediction, size_t tensor, const char *name)
{
    prediction->tensors[tensor].name = name;
}

/* The names are looked up by their new ones from here on. A name that two would have stays with the first. */
static void index_variable_names(struct shapeproof_prediction *prediction, const char *const *before)
{
    sp_map_free(&prediction->names);
    for (size_t i = 0; i < prediction->count; i++)
        if (!sp_map_add(&prediction->names, prediction->tensors[i].name, i)) {
            rename_tensor(prediction, i, before[i]);
            sp_map_add(&prediction->names, before[i], i);
        }
}

/* ---- numbers in place of names ---- */

/* Names each variable by its place among those of its layer: "layers/dense/kernel" becomes "layers/dense/vars/0". */
static void number_variables(struct shapeproof_prediction *prediction)
{
    struct sp_map counts = {0}; /* of the variables so far, by what is in front of their names */
    for (size_t i = 0; i < prediction->count; i++) {
        const char *name = prediction->tensors[i].name;
        const int front = (int)(sp_base_name(name) - name);
        if (front >= 5 && memcmp(name + front - 5, "vars/", 5) == 0) continue; /* it has a name of its own */
        const char *layer = sp_arena_copy(&prediction->arena, name, (size_t)front);
        const size_t known = sp_map_get(&counts, layer), number = known == SIZE_MAX ? 0 : known;
        sp_map_set(&counts, layer, number + 1);
        rename_tensor(prediction, i, sp_arena_printf(&prediction->arena, "%svars/%zu", layer, number));
    }
    sp_map_free(&counts);
}

/* ---- scopes ---- */

/* The name in the words of Keras 3: without the ":0" of TensorFlow, and what Keras 1 called otherwise. */
static const char *modern_name(struct sp_arena *arena, const char *name)
{
    static const char *const words[][2] = {{"running_mean", "moving_mean"}, {"running_std", "moving_variance"}};
    const size_t length = strlen(name);
    const char *bare =
        length > 2 && strcmp(name + length - 2, ":0") == 0 ? sp_arena_copy(arena, name, length - 2) : name;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sp_ends_with(bare, words[i][0]))
            return sp_arena_printf(arena, "%.*s%s", (int)(strlen(bare) - strlen(words[i][0])), bare, words[i][1]);
    return bare;
}

/* How many whole components two names have in common at their ends: 2 for "layers/dense/kernel" and "a/dense/kernel".
 * *alike: if none, whether the last component of `predicted` is the end of that of `file`, as "kernel" is of
 * "depthwise_kernel". */
static size_t common_end(const char *predicted, const char *file, bool *alike)
{
    size_t a = strlen(predicted), b = strlen(file), components = 0;
    *alike = false;
    while (a && b && predicted[a - 1] == file[b - 1]) {
        a--;
        b--;
        if (predicted[a] == '/' || !a || !b) components++;
        if (!components) *alike = *alike || (a && predicted[a - 1] == '/' && file[b ? b - 1 : 0] == '_');
    }
    return components;
}

/* One layer of the model: what is predicted of it, and what the file has. */
struct alignment {
    struct shapeproof_prediction *prediction;
    const struct sp_variable_group *group;
    const char **files;    /* its names, in the words of Keras 3 */
    const size_t *tensors; /* what is predicted: indices into the prediction */
    size_t count;
    size_t *file_of; /* per tensor: the index of its partner in `files`, or SHAPEPROOF_NONE */
    bool *taken;     /* per file */
    size_t paired;   /* so far */
};

/* The component before the last, with its slash, which is the name of the layer: "dense/" of "a/dense/kernel". Its
 * length, 0 when there is none, and where it begins. */
static size_t layer_component(const char *name, const char **start)
{
    const char *end = sp_base_name(name);
    *start = end;
    while (*start > name && (*start == end || (*start)[-1] != '/')) (*start)--;
    return (size_t)(end - *start);
}

/* Whether the layer that a file has a variable of is among those that the name goes through. */
static bool goes_through_layer(const char *name, const char *file)
{
    const char *layer;
    const size_t length = layer_component(file, &layer);
    for (const char *c = name; length && (c = strchr(c, *layer)); c++)
        if ((c == name || c[-1] == '/') && strncmp(c, layer, length) == 0) return true;
    return false;
}

/* Where the partner of a predicted variable may be. */
enum within {
    IN_ITS_LAYER, /* in a layer that the predicted name goes through */
    ANYWHERE
};

/* Pairs variables whose names agree in that many components at their ends, or (0) in the end of the last one. */
static void pair_variables(struct alignment *alignment, size_t components, enum within within)
{
    for (size_t i = 0; i < alignment->count; i++) {
        const char *name = alignment->prediction->tensors[alignment->tensors[i]].name;
        for (size_t k = 0; k < alignment->group->files.count && alignment->file_of[i] == SHAPEPROOF_NONE; k++) {
            bool alike;
            if (alignment->taken[k] || (within == IN_ITS_LAYER && !goes_through_layer(name, alignment->files[k])))
                continue;
            const size_t common = common_end(name, alignment->files[k], &alike);
            if (components ? common < components : !alike) continue;
            alignment->file_of[i] = k;
            alignment->taken[k] = true;
            alignment->paired++;
        }
    }
}

/* "variable_3", as Keras calls a variable without a name: it is paired with the next one of its layer. */
static bool is_automatic(const char *name)
{
    const char *base = sp_base_name(name);
    return strncmp(base, "variable", 8) == 0 && base[8 + strspn(base + 8, "_0123456789")] == '\0';
}

static bool have_one_layer(const char *a, const char *b)
{
    const char *in_a, *in_b;
    const size_t length = layer_component(a, &in_a);
    return length && layer_component(b, &in_b) == length && memcmp(in_a, in_b, length) == 0;
}

/* Pairs each variable that has no partner yet with the first automatic name of its layer. */
static void pair_automatic(struct alignment *alignment)
{
    for (size_t i = 0; i < alignment->count; i++) {
        const char *name = alignment->prediction->tensors[alignment->tensors[i]].name;
        for (size_t k = 0; k < alignment->group->files.count && alignment->file_of[i] == SHAPEPROOF_NONE; k++) {
            if (alignment->taken[k] || !is_automatic(alignment->files[k])) continue;
            if (!have_one_layer(name, alignment->files[k])) continue;
            alignment->file_of[i] = k;
            alignment->taken[k] = true;
            alignment->paired++;
        }
    }
}

/* Names that have nothing in common, dense_1_W and dense_1_b, go by their order, as Keras itself does. */
static void pair_in_order(struct alignment *alignment)
{
    if (alignment->paired || alignment->count != alignment->group->files.count) return;
    for (size_t i = 0; i < alignment->count; i++) alignment->file_of[i] = i;
}

/* Pairs what the file has of one layer with the tensors that are predicted of it, and gives these the file's names. The
 * surest pairs come first: names that agree in their last four components, then three, two, one, then in the end of the
 * last one; all that within the same inner layer, then anywhere; then automatic names (variable_3); then by order. A
 * tensor without a partner keeps its predicted name. */
static void align_group(const struct sp_variables *variables, struct alignment *alignment)
{
    struct shapeproof_prediction *prediction = alignment->prediction;
    const struct sp_variable_group *group = alignment->group;
    alignment->file_of = sp_realloc(NULL, alignment->count + 1, sizeof *alignment->file_of);
    alignment->taken = sp_arena_array(&prediction->arena, group->files.count + 1, sizeof *alignment->taken);
    alignment->files = sp_arena_array(&prediction->arena, group->files.count + 1, sizeof *alignment->files);
    for (size_t i = 0; i < group->files.count; i++)
        alignment->files[i] = modern_name(&prediction->arena, group->files.items[i]);
    for (size_t i = 0; i < alignment->count; i++) alignment->file_of[i] = SHAPEPROOF_NONE;
    for (size_t components = 5; components-- > 0;) pair_variables(alignment, components, IN_ITS_LAYER);
    for (size_t components = 5; components-- > 0;) pair_variables(alignment, components, ANYWHERE);
    pair_automatic(alignment);
    pair_in_order(alignment);
    for (size_t i = 0; i < alignment->count; i++) {
        const size_t tensor = alignment->tensors[i], file = alignment->file_of[i];
        const char *own = sp_arena_printf(&prediction->arena, "%s%s%s", group->front, prediction->tensors[tensor].name,
                                          variables->suffix);
        rename_tensor(prediction, tensor, file == SHAPEPROOF_NONE ? own : group->files.items[file]);
    }
    sp_free(alignment->file_of);
}

/* Aligns the groups one by one. The tensors of a group follow one another in a prediction. */
static void find_scopes(const struct sp_variables *variables, struct shapeproof_prediction *prediction)
{
    size_t *tensors = sp_realloc(NULL, prediction->count + 1, sizeof *tensors);
    for (size_t first = 0, end; first < prediction->count; first = end) {
        const size_t group = prediction->tensors[first].group;
        const size_t index = sp_map_get(&variables->group_names, prediction->groups[group].name);
        for (end = first; end < prediction->count && prediction->tensors[end].group == group; end++)
            tensors[end - first] = end;
        if (index == SIZE_MAX) continue;
        struct alignment alignment = {.prediction = prediction,
                                      .group = &variables->groups.items[index],
                                      .tensors = tensors,
                                      .count = end - first};
        align_group(variables, &alignment);
    }
    sp_free(tensors);
}

/* ---- both ---- */

void sp_variables_rename(const struct sp_variables *variables, struct shapeproof_prediction *prediction)
{
    const char **before = sp_arena_array(&prediction->arena, prediction->count + 1, sizeof *before);
    for (size_t i = 0; i < prediction->count; i++) before[i] = prediction->tensors[i].name;
    if (variables->numbered) number_variables(prediction);
    else find_scopes(variables, prediction);
    index_variable_names(prediction, before);
    prediction->own_names = before;
}

bool sp_variables_place(const struct sp_variables *variables, const char *name, struct sp_text *front,
                        const char **leaf)
{
    const char *slash = strrchr(name, '/');
    *leaf = NULL;
    if (!slash) return false;
    if (variables->numbered) {
        const size_t length = (size_t)(slash - name);
        if (length < 4 || memcmp(slash - 4, "vars", 4) != 0) return false;
        sp_text_append(front, name, length - 4);
        return true;
    }
    for (size_t i = 0; i < variables->groups.count; i++) {
        const struct sp_variable_group *group = &variables->groups.items[i];
        if (strncmp(name, group->front, strlen(group->front)) != 0) continue;
        sp_text_puts(front, group->front + strlen(variables->front));
        *leaf = slash + 1;
        return true;
    }
    return false;
}

size_t sp_variables_unpredicted(const struct sp_variables *variables, const char *name)
{
    for (size_t i = 0; i < variables->unpredicted.count; i++) {
        const struct sp_unpredicted *layer = &variables->unpredicted.items[i];
        const size_t front = strlen(layer->front);
        if (layer->except && strncmp(name, layer->except, strlen(layer->except)) == 0) continue;
        if (strncmp(name, layer->front, front) == 0 && (!layer->within || strstr(name + front, layer->within)))
            return i;
    }
    return SHAPEPROOF_NONE;
}

void sp_variables_free(struct sp_variables *variables)
{
    if (!variables) return;
    for (size_t i = 0; i < variables->groups.count; i++) sp_free(variables->groups.items[i].files.items);
    sp_free(variables->groups.items);
    sp_free(variables->unpredicted.items);
    sp_map_free(&variables->group_names);
}
