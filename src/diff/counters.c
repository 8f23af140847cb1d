/* SPDX-License-Identifier: MIT
 * The layers of two Keras files that are the same in all but their names: by the counters in them (counters.h), or by
 * their order. */
#include <stdlib.h>
#include <string.h>

#include "diff/pairing.h"
#include "names/counters.h"

/* ---- counters ---- */

/* The tensors of the model, on the heap. */
static struct sp_variable *list_variables(const struct shapeproof_inventory *inventory, size_t *count)
{
    struct sp_variable *variables = sp_realloc(NULL, shapeproof_inventory_count(inventory), sizeof *variables);
    *count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        if (tensor->flags & (SHAPEPROOF_TENSOR_STATE | SHAPEPROOF_TENSOR_NO_SHAPE)) continue;
        variables[(*count)++] = (struct sp_variable){tensor->name, tensor->shape, tensor->rank, i};
    }
    return variables;
}

static void pair_shift(struct shapeproof_diff *diff, const struct sp_counted *counted, const struct sp_shift *shift)
{
    *SP_PUSH(&diff->translations) = (struct sp_translation){sp_arena_printf(&diff->arena, "%s/*", shift->from),
                                                            sp_arena_printf(&diff->arena, "%s/*", shift->to), false};
    for (size_t i = shift->first; i < shift->first + shift->count; i++)
        if (diff->a.other[counted->pairs[i].a] == SHAPEPROOF_NONE &&
            diff->b.other[counted->pairs[i].b] == SHAPEPROOF_NONE)
            sp_diff_pair_tensors(diff, counted->pairs[i].a, counted->pairs[i].b, diff->translations.count - 1);
}

void sp_diff_pair_counters(struct shapeproof_diff *diff)
{
    struct sp_counted counted = {.arena = &diff->arena};
    size_t in_a, in_b;
    if (!sp_is_from_keras(diff->a.inventory) || !sp_is_from_keras(diff->b.inventory)) return;
    struct sp_variable *a = list_variables(diff->a.inventory, &in_a), *b = list_variables(diff->b.inventory, &in_b);
    sp_count_layers(&counted, a, in_a, b, in_b);
    for (size_t i = 0; i < counted.shift_count; i++) pair_shift(diff, &counted, &counted.shifts[i]);
    sp_counted_free(&counted);
    sp_free(a);
    sp_free(b);
}

/* ---- in order ---- */

enum { LEAST_LAYERS = 3 };

static bool same_layer(const char *a, const char *b)
{
    const size_t length = sp_layer_length(a);
    return length && length == sp_layer_length(b) && memcmp(a, b, length) == 0;
}

/* The tensors of the model in the order of the file, and whether none of them has a counterpart. */
static bool list_model(const struct sp_diff_half *half, size_t *tensors, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(half->inventory); i++) {
        if (shapeproof_inventory_tensor(half->inventory, i)->flags & SHAPEPROOF_TENSOR_STATE) continue;
        if (half->other[i] != SHAPEPROOF_NONE) return false;
        tensors[(*count)++] = i;
    }
    return true;
}

/* Whether layer for layer the shapes are the same, of several layers. */
static bool same_sequence(const struct shapeproof_diff *diff, const size_t *a, const size_t *b, size_t count)
{
    size_t layers = 0;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_tensor *in_a = sp_diff_a(diff, a[i]), *in_b = sp_diff_b(diff, b[i]);
        const bool goes_on = i && same_layer(sp_diff_a(diff, a[i - 1])->name, in_a->name);
        if (!sp_tensor_same_shape(in_a, in_b) || !sp_layer_length(in_a->name) || !sp_layer_length(in_b->name))
            return false;
        if (i && goes_on != same_layer(sp_diff_b(diff, b[i - 1])->name, in_b->name)) return false;
        layers += !goes_on;
    }
    return layers >= LEAST_LAYERS;
}

static void pair_sequence(struct shapeproof_diff *diff, const size_t *a, const size_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *in_a = sp_diff_a(diff, a[i])->name, *in_b = sp_diff_b(diff, b[i])->name;
        if (!i || !same_layer(sp_diff_a(diff, a[i - 1])->name, in_a))
            *SP_PUSH(&diff->translations) = (struct sp_translation){
                sp_arena_printf(&diff->arena, "%.*s/*", (int)sp_layer_length(in_a), in_a),
                sp_arena_printf(&diff->arena, "%.*s/*", (int)sp_layer_length(in_b), in_b), false};
        sp_diff_pair_tensors(diff, a[i], b[i], diff->translations.count - 1);
    }
}

static bool keeps_layers_in_order(const struct shapeproof_inventory *inventory)
{
    return sp_format_has(inventory, SP_BY_KERAS) && sp_format_has(inventory, SP_IN_ORDER);
}

/* A Keras 2 file keeps the order of the layers, by which it is loaded unless it is by name. Where no name is the same
 * and the shapes agree from the first layer to the last, the order tells what is what. */
void sp_diff_pair_order(struct shapeproof_diff *diff)
{
    const size_t in_a = shapeproof_inventory_count(diff->a.inventory),
                 in_b = shapeproof_inventory_count(diff->b.inventory);
    if (!keeps_layers_in_order(diff->a.inventory) || !keeps_layers_in_order(diff->b.inventory)) return;
    size_t *a = sp_realloc(NULL, in_a, sizeof *a), *b = sp_realloc(NULL, in_b, sizeof *b), a_count, b_count;
    if (list_model(&diff->a, a, &a_count) && list_model(&diff->b, b, &b_count) && a_count == b_count &&
        same_sequence(diff, a, b, a_count))
        pair_sequence(diff, a, b, a_count);
    sp_free(a);
    sp_free(b);
}
