/* SPDX-License-Identifier: MIT
 * Layers by what is in them: Keras and PyTorch name them each in its own way, and what stays is which variables a layer
 * has, and their shapes.
 *
 *     layers.conv2d   weight (3, 3, 3, 5), bias (5)   <->   conv   weight (5, 3, 3, 3), bias (5)
 *
 * A layer that no other looks like is claimed at once. Of several alike the order tells, where each on the one side has
 * one on the other and nothing is left. */
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/order.h"
#include "diff/pairing.h"
#include "names/components.h"

/* A tensor without a counterpart. */
struct variable {
    const char *layer, *leaf; /* in the common spelling */
    size_t tensor, place;     /* place: of the first variable of the layer */
};

/* A layer, and what it looks like. */
struct layer {
    const struct variable *variables;
    size_t count;
    const char *look;
    size_t order; /* among the layers of its side */
};

struct layers {
    const struct sp_diff_half *half;
    SP_ARRAY(struct variable) variables;
    SP_ARRAY(struct layer) list;
};

/* ---- the layers of a side ---- */

/* With numbers as such: "conv2d_2" comes before "conv2d_10", and "conv2d" before both. */
static int compare_naturally(const char *a, const char *b)
{
    while (*a && *b) {
        if (sp_is_digit(*a) && sp_is_digit(*b)) {
            const size_t a_digits = strspn(a, "0123456789"), b_digits = strspn(b, "0123456789");
            if (a_digits != b_digits) return a_digits < b_digits ? -1 : 1;
        }
        if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        a++;
        b++;
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int compare_variables(const void *left, const void *right)
{
    const struct variable *a = left, *b = right;
    const int layers = strcmp(a->layer, b->layer);
    return layers ? layers : strcmp(a->leaf, b->leaf);
}

/* What other frameworks have no variable for, such as a count of batches, is no part of a look. */
static bool is_part_of_look(const struct shapeproof_tensor *tensor)
{
    return !(tensor->flags & (SHAPEPROOF_TENSOR_STATE | SHAPEPROOF_TENSOR_NO_SHAPE)) && tensor->rank;
}

static void collect_variables(struct sp_pairing *p, struct layers *layers)
{
    for (size_t i = 0; i < shapeproof_inventory_count(layers->half->inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(layers->half->inventory, i);
        const char *text = layers->half->spelling[i].text;
        if (layers->half->other[i] != SHAPEPROOF_NONE || !text || !is_part_of_look(tensor)) continue;
        const size_t leaf = sp_last_component(text, strlen(text), ".");
        *SP_PUSH(&layers->variables) = (struct variable){
            .layer = sp_arena_copy(&p->arena, text, leaf), .leaf = text + leaf, .tensor = i, .place = i};
    }
    if (layers->variables.count)
        qsort(layers->variables.items, layers->variables.count, sizeof *layers->variables.items, compare_variables);
}

/* A kernel as PyTorch has it. */
static void put_shape(struct sp_text *text, const struct shapeproof_tensor *tensor, bool transposed)
{
    for (uint32_t d = 0; d < tensor->rank; d++) {
        const uint32_t from = !transposed ? d : d < 2 ? tensor->rank - 1 - d : d - 2;
        sp_text_puts(text, d ? "x" : " ");
        sp_text_number(text, tensor->shape[from]);
    }
}

static bool is_kernel(const char *leaf) { return strcmp(leaf, "kernel") == 0 || strcmp(leaf, "vars/0") == 0; }

/* `kernels`: what is called so is the other way round than elsewhere. */
static const char *look_of(struct sp_pairing *p, const struct sp_diff_half *half, const struct layer *layer,
                           bool kernels)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < layer->count; i++) {
        const struct shapeproof_tensor *tensor =
            shapeproof_inventory_tensor(half->inventory, layer->variables[i].tensor);
        const bool transposed =
            kernels && tensor->rank >= 2 && is_kernel(half->spelling[layer->variables[i].tensor].leaf);
        sp_text_printf(&text, "%s", layer->variables[i].leaf);
        put_shape(&text, tensor, transposed);
        sp_text_puts(&text, ";");
    }
    return sp_text_keep(&text, &p->arena);
}

static void form_layers(struct sp_pairing *p, struct layers *layers, bool kernels)
{
    layers->variables.count = layers->list.count = 0;
    collect_variables(p, layers);
    for (size_t i = 0, next; i < layers->variables.count; i = next) {
        struct variable *variables = &layers->variables.items[i];
        for (next = i;
             next < layers->variables.count && strcmp(layers->variables.items[next].layer, variables->layer) == 0;
             next++)
            if (layers->variables.items[next].tensor < variables->place)
                variables->place = layers->variables.items[next].tensor;
        struct layer layer = {.variables = variables, .count = next - i};
        layer.look = look_of(p, layers->half, &layer, kernels);
        *SP_PUSH(&layers->list) = layer;
    }
}

/* ---- those that look alike ---- */

static int by_place(const void *left, const void *right)
{
    const struct layer *a = left, *b = right;
    return sp_order(a->variables->place, b->variables->place);
}

static int by_name(const void *left, const void *right)
{
    const struct layer *a = left, *b = right;
    return compare_naturally(a->variables->layer, b->variables->layer);
}

static int by_look(const void *left, const void *right)
{
    const struct layer *a = left, *b = right;
    const int looks = strcmp(a->look, b->look);
    return looks ? looks : sp_order(a->order, b->order);
}

/* By their looks, those of one look in the order of the model, as far as the file keeps it. */
static void sort_layers(struct layers *layers)
{
    if (!layers->list.count) return;
    qsort(layers->list.items, layers->list.count, sizeof *layers->list.items,
          sp_format_has(layers->half->inventory, SP_IN_ORDER) ? by_place : by_name);
    for (size_t i = 0; i < layers->list.count; i++) layers->list.items[i].order = i;
    qsort(layers->list.items, layers->list.count, sizeof *layers->list.items, by_look);
}

/* How many from there on have one look. */
static size_t run_of_looks(const struct layers *layers, size_t from)
{
    size_t to = from + 1;
    while (to < layers->list.count && strcmp(layers->list.items[to].look, layers->list.items[from].look) == 0) to++;
    return to - from;
}

static void pair_layers(struct sp_pairing *p, const struct layer *a, const struct layer *b)
{
    struct shapeproof_diff *diff = p->diff;
    *SP_PUSH(&diff->translations) =
        (struct sp_translation){.from = sp_arena_printf(&diff->arena, "%s*", a->variables->layer),
                                .to = sp_arena_printf(&diff->arena, "%s*", b->variables->layer)};
    for (size_t i = 0; i < a->count; i++)
        sp_diff_pair_tensors(diff, a->variables[i].tensor, b->variables[i].tensor, diff->translations.count - 1);
}

/* Whether each look is there as often on both sides. */
static bool is_one_to_one(const struct layers *a, const struct layers *b)
{
    if (a->list.count != b->list.count) return false;
    for (size_t i = 0; i < a->list.count; i++)
        if (strcmp(a->list.items[i].look, b->list.items[i].look) != 0) return false;
    return true;
}

enum action { COUNT, PAIR };

/* Counts the layers whose looks are clear, and pairs them if that is asked for. */
static size_t pair_looks(enum action action, struct sp_pairing *p, const struct layers *a, const struct layers *b)
{
    const bool all = is_one_to_one(a, b);
    size_t pairs = 0;
    for (size_t i = 0, k = 0; i < a->list.count && k < b->list.count;) {
        const size_t in_a = run_of_looks(a, i), in_b = run_of_looks(b, k);
        const int order = strcmp(a->list.items[i].look, b->list.items[k].look);
        const size_t alike = order == 0 && in_a == in_b && (all || in_a == 1) ? in_a : 0;
        for (size_t n = 0; n < alike && action == PAIR; n++)
            pair_layers(p, &a->list.items[i + n], &b->list.items[k + n]);
        pairs += alike;
        if (order <= 0) i += in_a;
        if (order >= 0) k += in_b;
    }
    return pairs;
}

/* Most of the layers must have a counterpart, or most of the tensors have one already: a few of one size are there in
 * any two models. */
static bool is_evidence(const struct sp_pairing *p, const struct layers *a, const struct layers *b, size_t pairs)
{
    const size_t layers = a->list.count > b->list.count ? a->list.count : b->list.count;
    const size_t left = a->variables.count > b->variables.count ? a->variables.count : b->variables.count;
    return 2 * pairs > layers || p->diff->totals.both > left;
}

/* First as if kernels were the other way round, then for those that are not, such as embeddings. Of two files of
 * PyTorch names say more than this. */
void sp_pairing_structure(struct sp_pairing *p)
{
    struct layers a = {.half = &p->diff->a}, b = {.half = &p->diff->b};
    if (!sp_is_from_keras(a.half->inventory) && !sp_is_from_keras(b.half->inventory)) return;
    for (int kernels = 1; kernels >= 0; kernels--) {
        form_layers(p, &a, kernels);
        form_layers(p, &b, kernels);
        sort_layers(&a);
        sort_layers(&b);
        if (is_evidence(p, &a, &b, pair_looks(COUNT, p, &a, &b))) pair_looks(PAIR, p, &a, &b);
    }
    sp_free(a.variables.items);
    sp_free(a.list.items);
    sp_free(b.variables.items);
    sp_free(b.list.items);
}
