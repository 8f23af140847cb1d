/* SPDX-License-Identifier: MIT
 * Keras numbers the layers of a class for as long as a program runs: conv3d, conv3d_1, conv3d_2. The next model of the
 * same program begins where that one ended, conv3d_3, and one that is loaded beside another may have conv3d_1_1. So
 * conv3d_1 of one file need not be conv3d_1 of another: where the numbers of a class are a run of the same length in
 * both and begin elsewhere, the layers are taken in their order, if their variables agree. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare/collapse.h"
#include "compare/pairing.h"

/* One variable of one layer: "layers/", "conv3d", 1, "/vars/0". */
struct variable {
    size_t class; /* the number of what is in front of the counter */
    uint64_t counter;
    const char *rest; /* without the layer's name, which Keras 2 has twice */
    size_t tensor;
};

struct side {
    const struct sp_inventory *inventory;
    struct variable *variables; /* sorted */
    size_t count;
};

struct counters {
    struct sp_diff *diff;
    struct sp_kinds classes;
    struct sp_text scratch;
    struct side a, b;
};

/* ---- reading names ---- */

/* Where the component of the layer is in a name: behind the last "layers/", or in front, below "model_weights/". */
static bool find_layer(const char *name, size_t *begin, size_t *end)
{
    static const char holder[] = "layers/", old_holder[] = "model_weights/";
    *begin = strncmp(name, old_holder, strlen(old_holder)) == 0 ? strlen(old_holder) : 0;
    for (const char *p = name; (p = strstr(p, holder)) != NULL; p++)
        if (p == name || p[-1] == '/') *begin = (size_t)(p - name) + strlen(holder);
    *end = *begin + strcspn(name + *begin, "/");
    return *end > *begin && name[*end];
}

/* The length of the component without its counter, which is 0 where there is none. */
static size_t class_length(const char *component, size_t length, uint64_t *counter)
{
    size_t at = length;
    *counter = 0;
    while (at && component[at - 1] >= '0' && component[at - 1] <= '9') at--;
    if (at < 2 || at == length || component[at - 1] != '_' || component[at] == '0' || length - at > 9) return length;
    *counter = strtoull(component + at, NULL, 10);
    return at - 1;
}

/* "/conv3d_1/kernel:0" behind the layer conv3d_1 is "/kernel:0". */
static const char *without_layer(const char *rest, const char *layer, size_t length)
{
    const bool again = strncmp(rest + 1, layer, length) == 0 && strchr("/_", rest[1 + length]) && rest[1 + length];
    return again ? rest + 1 + length : rest;
}

/* How a name is taken apart: by the counter, or by an ending that all layers of one side have. */
static bool read_variable(struct counters *counters, const char *name, const char *ending, struct variable *variable)
{
    size_t begin, end;
    if (!find_layer(name, &begin, &end)) return false;
    size_t length = end - begin;
    variable->rest = without_layer(name + end, name + begin, length);
    variable->counter = 0;
    if (!ending) length = class_length(name + begin, length, &variable->counter);
    else {
        const size_t tail = strlen(ending);
        if (length <= tail || strncmp(name + end - tail, ending, tail) != 0) return false;
        length -= tail;
    }
    counters->scratch.length = 0;
    sp_text_append(&counters->scratch, name, begin + length);
    variable->class = sp_kind_of(&counters->classes, &counters->scratch);
    return true;
}

static int compare_variables(const void *left, const void *right)
{
    const struct variable *a = left, *b = right;
    if (a->class != b->class) return a->class < b->class ? -1 : 1;
    if (a->counter != b->counter) return a->counter < b->counter ? -1 : 1;
    const int order = strcmp(a->rest, b->rest);
    return order ? order : a->tensor < b->tensor ? -1 : a->tensor > b->tensor;
}

/* False when a tensor of the model has no layer, or none with that ending. */
static bool read_side(struct counters *counters, struct side *side, const char *ending)
{
    bool all = true;
    side->count = 0;
    for (size_t i = 0; i < sp_inventory_count(side->inventory); i++) {
        const struct sp_tensor *tensor = sp_inventory_tensor(side->inventory, i);
        struct variable variable = {.tensor = i};
        if (tensor->flags & SP_TENSOR_STATE) continue;
        if (read_variable(counters, tensor->name, ending, &variable)) side->variables[side->count++] = variable;
        else all = false;
    }
    if (side->count) qsort(side->variables, side->count, sizeof *side->variables, compare_variables);
    return all && side->count;
}

/* ---- pairing ---- */

static bool agree(const struct counters *counters, const struct variable *a, const struct variable *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct sp_tensor *in_a = sp_diff_a(counters->diff, a[i].tensor);
        if (a[i].class != b[i].class || a[i].counter - a->counter != b[i].counter - b->counter) return false;
        if (strcmp(a[i].rest, b[i].rest) != 0) return false;
        if (!sp_diff_same_shape(in_a, sp_diff_b(counters->diff, b[i].tensor))) return false;
    }
    return true;
}

static void pair_all(const struct counters *counters, const struct variable *a, const struct variable *b, size_t count,
                     struct sp_translation translation)
{
    struct sp_diff *diff = counters->diff;
    SP_GROW(diff->translations, diff->translation_count, diff->translation_capacity);
    diff->translations[diff->translation_count] = translation;
    for (size_t i = 0; i < count; i++) sp_diff_pair_tensors(diff, a[i].tensor, b[i].tensor, diff->translation_count);
    diff->translation_count++;
}

static size_t run_of(const struct side *side, size_t from)
{
    size_t to = from;
    while (to < side->count && side->variables[to].class == side->variables[from].class) to++;
    return to - from;
}

/* Whether the counters have no gap, and there are several. */
static bool is_run(const struct variable *variables, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (variables[i].counter > variables[i - 1].counter + 1) return false;
    return variables[count - 1].counter > variables->counter;
}

/* "conv3d_{n}" and "conv3d_{n+12}". */
static struct sp_translation shifted(const struct counters *counters, const struct variable *a,
                                     const struct variable *b)
{
    struct sp_arena *arena = &counters->diff->arena;
    const char *name = sp_diff_a(counters->diff, a->tensor)->name;
    size_t begin, end;
    uint64_t counter;
    find_layer(name, &begin, &end);
    const char *class = sp_arena_copy(arena, name + begin, class_length(name + begin, end - begin, &counter));
    const int64_t shift = (int64_t)b->counter - (int64_t)a->counter;
    return (struct sp_translation){sp_arena_printf(arena, "%s_{n}/*", class),
                                   sp_arena_printf(arena, "%s_{n%+" PRId64 "}/*", class, shift)};
}

static void pair_shifted(struct counters *counters)
{
    const struct side *a = &counters->a, *b = &counters->b;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const size_t in_a = run_of(a, i), in_b = run_of(b, k);
        const struct variable *from = &a->variables[i], *to = &b->variables[k];
        if (from->class == to->class && from->counter != to->counter && in_a == in_b && is_run(from, in_a) &&
            agree(counters, from, to, in_a))
            pair_all(counters, from, to, in_a, shifted(counters, from, to));
        if (from->class <= to->class) i += in_a;
        if (from->class >= to->class) k += in_b;
    }
}

/* Every layer of B has the same ending behind its name in A. */
static bool pair_ended(struct counters *counters, const char *ending)
{
    struct side *a = &counters->a, *b = &counters->b;
    if (!read_side(counters, a, "") || !read_side(counters, b, ending)) return false;
    if (a->count != b->count || run_of(a, 0) == a->count || !agree(counters, a->variables, b->variables, a->count))
        return false;
    pair_all(counters, a->variables, b->variables, a->count,
             (struct sp_translation){"x/*", sp_arena_printf(&counters->diff->arena, "x%s/*", ending)});
    return true;
}

static bool is_keras(const struct sp_inventory *inventory)
{
    return strncmp(sp_inventory_format(inventory), "keras", 5) == 0;
}

void sp_diff_pair_counters(struct sp_diff *diff)
{
    struct counters counters = {.diff = diff, .a = {.inventory = diff->a}, .b = {.inventory = diff->b}};
    if (!is_keras(diff->a) || !is_keras(diff->b)) return;
    counters.a.variables = sp_realloc(NULL, sp_inventory_count(diff->a), sizeof *counters.a.variables);
    counters.b.variables = sp_realloc(NULL, sp_inventory_count(diff->b), sizeof *counters.b.variables);
    if (!pair_ended(&counters, "_1") && !pair_ended(&counters, "_2")) {
        read_side(&counters, &counters.a, NULL);
        read_side(&counters, &counters.b, NULL);
        pair_shifted(&counters);
    }
    free(counters.a.variables);
    free(counters.b.variables);
    sp_kinds_free(&counters.classes);
    sp_text_free(&counters.scratch);
}

/* ---- in order ---- */

enum { LEAST_LAYERS = 3 };

static size_t layer_length(const char *name)
{
    size_t begin, end;
    return find_layer(name, &begin, &end) ? end : 0;
}

static bool same_layer(const char *a, const char *b)
{
    const size_t length = layer_length(a);
    return length && length == layer_length(b) && memcmp(a, b, length) == 0;
}

/* The tensors of the model in the order of the file, and whether none of them has a counterpart. */
static bool list_model(const struct sp_inventory *inventory, const size_t *counterparts, size_t *tensors, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < sp_inventory_count(inventory); i++) {
        if (sp_inventory_tensor(inventory, i)->flags & SP_TENSOR_STATE) continue;
        if (counterparts[i] != SP_NONE) return false;
        tensors[(*count)++] = i;
    }
    return true;
}

/* Whether layer for layer the shapes are the same, of several layers. */
static bool same_sequence(const struct sp_diff *diff, const size_t *a, const size_t *b, size_t count)
{
    size_t layers = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sp_tensor *in_a = sp_diff_a(diff, a[i]), *in_b = sp_diff_b(diff, b[i]);
        const bool goes_on = i && same_layer(sp_diff_a(diff, a[i - 1])->name, in_a->name);
        if (!sp_diff_same_shape(in_a, in_b) || !layer_length(in_a->name) || !layer_length(in_b->name)) return false;
        if (i && goes_on != same_layer(sp_diff_b(diff, b[i - 1])->name, in_b->name)) return false;
        layers += !goes_on;
    }
    return layers >= LEAST_LAYERS;
}

static void pair_sequence(struct sp_diff *diff, const size_t *a, const size_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *in_a = sp_diff_a(diff, a[i])->name, *in_b = sp_diff_b(diff, b[i])->name;
        if (!i || !same_layer(sp_diff_a(diff, a[i - 1])->name, in_a)) {
            SP_GROW(diff->translations, diff->translation_count, diff->translation_capacity);
            diff->translations[diff->translation_count++] =
                (struct sp_translation){sp_arena_printf(&diff->arena, "%.*s/*", (int)layer_length(in_a), in_a),
                                        sp_arena_printf(&diff->arena, "%.*s/*", (int)layer_length(in_b), in_b)};
        }
        sp_diff_pair_tensors(diff, a[i], b[i], diff->translation_count - 1);
    }
}

/* A Keras 2 file keeps the order of the layers, by which it is loaded unless it is by name. Where no name is the same
 * and the shapes agree from the first layer to the last, the order tells what is what. */
void sp_diff_pair_order(struct sp_diff *diff)
{
    const size_t in_a = sp_inventory_count(diff->a), in_b = sp_inventory_count(diff->b);
    const char *format = "keras-hdf5";
    if (strcmp(sp_inventory_format(diff->a), format) != 0 || strcmp(sp_inventory_format(diff->b), format) != 0) return;
    size_t *a = sp_realloc(NULL, in_a, sizeof *a), *b = sp_realloc(NULL, in_b, sizeof *b), a_count, b_count;
    if (list_model(diff->a, diff->b_of, a, &a_count) && list_model(diff->b, diff->a_of, b, &b_count) &&
        a_count == b_count && same_sequence(diff, a, b, a_count))
        pair_sequence(diff, a, b, a_count);
    free(a);
    free(b);
}
