/* SPDX-License-Identifier: MIT
 * Names of a graph. An exporter that computes with a weight before it writes it gives it a name of its own, and writes
 * equal weights once; the nodes still say which module they come from:
 *
 *     node /layers.0/linear1/MatMul (x, onnx::MatMul_53)     onnx::MatMul_53 is layers.0.linear1.weight, transposed
 *     node /layers.1/norm1/LayerNormalization (x, layers.0.norm1.weight, ...)     so it is layers.1.norm1.weight, too
 */
#include <string.h>

#include "base/chars.h"
#include "diff/pairing.h"
#include "model/inventory.h"
#include "model/layouts.h"

/* Whether the exporters of PyTorch make such names: "onnx::MatMul_53", "val_4". */
static bool is_made_up(const char *name) { return strncmp(name, "onnx::", 6) == 0 || strncmp(name, "val_", 4) == 0; }

/* The name of the parameter that a tensor is. A module that its parent takes apart is called "linear1" there, and not
 * "layers.0.linear1": then the bias beside the weight tells, as far as it has its own name. */
static const char *parameter_of(struct sp_pairing *p, const struct sp_diff_half *half, const struct sp_map *uses,
                                const struct sp_tensor_use *use)
{
    const size_t length = strlen(use->parameter) - strlen("weight");
    if (!sp_ends_with(use->parameter, ".weight")) return use->parameter;
    const size_t beside = sp_map_get(uses, sp_arena_printf(&p->arena, "%.*sbias", (int)length, use->parameter));
    if (beside == SIZE_MAX) return use->parameter;
    const char *bias = half->inventory->uses.items[beside].tensor;
    if (is_made_up(bias) || !sp_ends_with(bias, ".bias")) return use->parameter;
    return sp_arena_printf(&p->diff->arena, "%.*sweight", (int)(strlen(bias) - strlen("bias")), bias);
}

/* The uses of tensors that are in the file, by the parameter. */
static void collect_uses(const struct sp_diff_half *half, struct sp_map *uses)
{
    for (size_t i = 0; i < half->inventory->uses.count; i++) {
        const struct sp_tensor_use *use = &half->inventory->uses.items[i];
        if (shapeproof_inventory_find(half->inventory, use->tensor) != SHAPEPROOF_NONE)
            sp_map_add(uses, use->parameter, i);
    }
}

/* The last two components of a name: "lm_head.weight" of "m.lm_head.weight". */
static const char *ending_of(const char *name)
{
    const char *at = name + strlen(name);
    for (unsigned dots = 0; at > name; at--)
        if (at[-1] == '.' && ++dots == 2) break;
    return at;
}

/* The endings of the names in a half -> 1 if such a tensor has no counterpart yet. */
static void collect_endings(const struct sp_diff_half *half, struct sp_map *endings)
{
    for (size_t i = 0; i < half->inventory->count; i++)
        if (half->other[i] == SHAPEPROOF_NONE) sp_map_set(endings, ending_of(half->inventory->tensors[i].name), 1);
        else sp_map_add(endings, ending_of(half->inventory->tensors[i].name), 0);
}

/* Whether the tensor is a head that is tied to the embedding, and has the name of the head: torch.export gives a tied
 * tensor one of its names, and safetensors may have the other. */
static bool is_tied_head(const struct sp_tensor_use *use, const struct sp_map *endings_of_other)
{
    const char *own = ending_of(use->tensor), *other = ending_of(use->parameter);
    return !use->is_weight && !use->transposed && sp_ends_with(own, ".weight") && strcmp(own, other) != 0 &&
           sp_map_get(endings_of_other, own) == SIZE_MAX && sp_map_get(endings_of_other, other) == 1;
}

/* Gives each tensor with a name that is made up the name of the parameter that it is; returns how many. */
static size_t translate_made_up(struct sp_pairing *p, const struct sp_diff_half *half, const struct sp_diff_half *other)
{
    struct sp_map uses = {0}, endings = {0};
    size_t count = 0;
    if (!half->inventory->uses.count) return 0;
    collect_uses(half, &uses);
    collect_endings(other, &endings);
    for (size_t i = 0; i < half->inventory->uses.count; i++) {
        const struct sp_tensor_use *use = &half->inventory->uses.items[i];
        const size_t tensor = shapeproof_inventory_find(half->inventory, use->tensor);
        if (tensor == SHAPEPROOF_NONE || half->other[tensor] != SHAPEPROOF_NONE) continue;
        if (!is_made_up(use->tensor) && !is_tied_head(use, &endings)) continue;
        struct sp_spelling *spelling = &half->spelling[tensor];
        if (spelling->habits & SP_HABIT_SCHEME) continue; /* by the first node that uses it */
        const unsigned habits = spelling->habits | SP_HABIT_SCHEME;
        *spelling = sp_spell(&p->diff->arena, parameter_of(p, half, &uses, use));
        spelling->habits = habits;
        half->turned[tensor] = use->transposed;
        count++;
    }
    sp_map_free(&uses);
    sp_map_free(&endings);
    return count;
}

bool sp_pairing_graph(struct sp_pairing *p)
{
    const size_t count =
        translate_made_up(p, &p->diff->a, &p->diff->b) + translate_made_up(p, &p->diff->b, &p->diff->a);
    if (!count) return false;
    p->diff->scheme = "of torch.onnx";
    p->diff->plain = "of PyTorch";
    return true;
}

/* Reports the parameters that the other file has apart, and this one as another tensor with the same values. */
static void note_shared(struct sp_pairing *p, const struct sp_diff_half *half, const struct sp_diff_half *other)
{
    for (size_t i = 0; i < half->inventory->uses.count; i++) {
        const struct sp_tensor_use *use = &half->inventory->uses.items[i];
        const size_t tensor = shapeproof_inventory_find(half->inventory, use->tensor);
        const size_t parameter = shapeproof_inventory_find(other->inventory, use->parameter);
        if (tensor == SHAPEPROOF_NONE || parameter == SHAPEPROOF_NONE || half->other[tensor] == SHAPEPROOF_NONE ||
            other->other[parameter] != SHAPEPROOF_NONE || other->once[parameter])
            continue;
        const struct shapeproof_tensor *stored = shapeproof_inventory_tensor(half->inventory, tensor);
        const struct shapeproof_tensor *apart = shapeproof_inventory_tensor(other->inventory, parameter);
        if (!(use->transposed ? sp_tensor_is_transposed(stored, apart) : sp_tensor_same_shape(stored, apart))) continue;
        const bool is_a = other->side == SHAPEPROOF_DIFF_A;
        other->once[parameter] = true;
        sp_diff_add_about(p->diff, is_a ? parameter : SHAPEPROOF_NONE, is_a ? SHAPEPROOF_NONE : parameter,
                          (struct shapeproof_diff_finding){
                              .kind = SHAPEPROOF_DIFF_FINDING_STORED_ONCE,
                              .message = sp_arena_printf(&p->diff->arena, "is the same tensor as %s in %s",
                                                         stored->name, sp_half_name(half))});
    }
}

/* Reports the transposed copies of tensors that are in the same file under their own names: of a head that is tied, and
 * that is read as an embedding, too. */
static void note_copies(struct sp_pairing *p, const struct sp_diff_half *half)
{
    for (size_t i = 0; i < half->inventory->uses.count; i++) {
        const struct sp_tensor_use *use = &half->inventory->uses.items[i];
        const size_t copy = shapeproof_inventory_find(half->inventory, use->tensor);
        const size_t own = shapeproof_inventory_find(half->inventory, use->parameter);
        if (copy == SHAPEPROOF_NONE || own == SHAPEPROOF_NONE || !use->transposed || !is_made_up(use->tensor) ||
            half->other[copy] != SHAPEPROOF_NONE || half->other[own] == SHAPEPROOF_NONE || half->once[copy] ||
            !sp_tensor_is_transposed(&half->inventory->tensors[copy], &half->inventory->tensors[own]))
            continue;
        const bool is_a = half->side == SHAPEPROOF_DIFF_A;
        half->once[copy] = true;
        sp_diff_add_about(
            p->diff, is_a ? copy : SHAPEPROOF_NONE, is_a ? SHAPEPROOF_NONE : copy,
            (struct shapeproof_diff_finding){.kind = SHAPEPROOF_DIFF_FINDING_STORED_ONCE,
                                             .message = sp_arena_printf(&p->diff->arena, "is %s in %s, transposed",
                                                                        use->parameter, sp_half_name(half))});
    }
}

void sp_pairing_copies(struct sp_pairing *p)
{
    note_copies(p, &p->diff->a);
    note_copies(p, &p->diff->b);
}

void sp_pairing_shared(struct sp_pairing *p)
{
    note_shared(p, &p->diff->a, &p->diff->b);
    note_shared(p, &p->diff->b, &p->diff->a);
}
