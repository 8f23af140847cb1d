/* SPDX-License-Identifier: MIT
 * Weights that are quantised in one of the checkpoints: the several tensors that are stored in place of a matrix, and
 * the matrix. packed.c compares their data. */
#include <string.h>

#include "base/order.h"
#include "diff/diff.h"
#include "shapeproof/table.h"
#include "stored/descriptions.h"
#include "stored/suffixes.h"
#include "stored/unpack.h"

enum { FORMS = 64 }; /* in which a file may be quantised, of which the other file tells the right one */

struct sides {
    struct shapeproof_diff *diff;
    const struct sp_diff_half *packed, *other;
};

/* The tensor of the other side that is the matrix, or SHAPEPROOF_NONE. */
static size_t find_matrix(const struct sides *sides, const struct sp_packed_module *module)
{
    const struct sp_matrix *matrix = &module->matrix;
    const size_t found = shapeproof_inventory_find(sides->other->inventory, module->name);
    if (found == SHAPEPROOF_NONE) return SHAPEPROOF_NONE;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(sides->other->inventory, found);
    const uint64_t shape[] = {matrix->lead, matrix->rows, matrix->columns};
    if (sp_looks_packed(tensor)) return SHAPEPROOF_NONE;
    if (matrix->elements) return tensor->rank == 2 && tensor->parameters == matrix->elements ? found : SHAPEPROOF_NONE;
    const uint32_t rank = matrix->lead ? 3 : 2;
    return sp_same_dims(tensor->shape, tensor->rank, shape + 3 - rank, rank) ? found : SHAPEPROOF_NONE;
}

static size_t count_matrices(const struct sides *sides, const struct sp_unpacked *unpacked)
{
    size_t count = 0;
    for (size_t i = 0; i < unpacked->count; i++) count += find_matrix(sides, &unpacked->modules[i]) != SHAPEPROOF_NONE;
    return count;
}

static void mark_module(const struct sp_diff_half *half, const struct sp_packed_module *module)
{
    for (size_t i = 0; i < module->count; i++) half->joined[module->tensors[i]] = true;
}

/* Reports each module that is packed on one side and a matrix on the other, and marks their tensors. */
static void add_quantised(const struct sides *sides, const struct sp_unpacked *unpacked)
{
    struct sp_arena *arena = &sides->diff->arena;
    const char *message = sp_arena_printf(arena, "is quantised in %s: %s", sp_half_name(sides->packed),
                                          sp_describe_scheme(arena, unpacked->form));
    const bool in_a = sides->other->side == SHAPEPROOF_DIFF_A;
    for (size_t i = 0; i < unpacked->count; i++) {
        const size_t found = find_matrix(sides, &unpacked->modules[i]);
        if (found == SHAPEPROOF_NONE) continue;
        sides->other->joined[found] = true;
        mark_module(sides->packed, &unpacked->modules[i]);
        *SP_PUSH(&sides->diff->packed) = (struct sp_diff_packed){.packed_side = sides->packed,
                                                                 .full_side = sides->other,
                                                                 .module = &unpacked->modules[i],
                                                                 .form = unpacked->form,
                                                                 .full = found};
        sp_diff_add_about(
            sides->diff, in_a ? found : SHAPEPROOF_NONE, in_a ? SHAPEPROOF_NONE : found,
            (struct shapeproof_diff_finding){.kind = SHAPEPROOF_DIFF_FINDING_QUANTISED, .message = message});
    }
}

/* Reports the modules that one file quantises and the other has as matrices. Of several forms that fit the file that
 * one is taken under which most modules are matrices of the other. */
static void find_quantised(const struct sides *sides, const struct sp_unpacked *found, size_t count)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t matrices = count_matrices(sides, &found[i]);
        if (matrices <= most) continue;
        most = matrices;
        best = i;
    }
    if (most) add_quantised(sides, &found[best]);
}

/* ---- quantised in both, each in its own way ---- */

/* Whether both can be the same matrix; of one of which only the number of elements is known, by that alone. */
static bool same_matrix(const struct sp_matrix *a, const struct sp_matrix *b)
{
    const uint64_t in_a = a->elements ? a->elements : a->rows * a->columns;
    const uint64_t in_b = b->elements ? b->elements : b->rows * b->columns;
    if (a->elements || b->elements) return in_a == in_b;
    return a->lead == b->lead && a->rows == b->rows && a->columns == b->columns;
}

/* Reports the modules that both files quantise in different ways, and marks their tensors, so that they are not
 * reported one by one as well. */
static void find_both_quantised(struct shapeproof_diff *diff, const struct sp_unpacked *a, const struct sp_unpacked *b)
{
    const char *in_a = sp_describe_scheme(&diff->arena, a->form), *in_b = sp_describe_scheme(&diff->arena, b->form);
    struct sp_map modules = {0};
    if (strcmp(in_a, in_b) == 0) return;
    const char *message = sp_arena_printf(&diff->arena, "is quantised differently: %s in A, %s in B", in_a, in_b);
    for (size_t i = 0; i < b->count; i++) sp_map_add(&modules, b->modules[i].name, i);
    for (size_t i = 0; i < a->count; i++) {
        const struct sp_packed_module *module = &a->modules[i];
        const size_t other = sp_map_get(&modules, module->name);
        if (other == SIZE_MAX || !same_matrix(&module->matrix, &b->modules[other].matrix)) continue;
        mark_module(&diff->a, module);
        mark_module(&diff->b, &b->modules[other]);
        sp_diff_add(diff, (struct shapeproof_diff_finding){.kind = SHAPEPROOF_DIFF_FINDING_QUANTISED,
                                                           .name = module->name,
                                                           .message = message,
                                                           .a = module->tensors[0],
                                                           .b = b->modules[other].tensors[0]});
    }
    sp_map_free(&modules);
}

/* ---- the whole ---- */

/* Whether it is worth looking: something looks packed, and a tensor is in one alone or has another dtype. */
static bool may_be_quantised(const struct shapeproof_diff *diff)
{
    if (!sp_any_looks_packed(diff->a.inventory) && !sp_any_looks_packed(diff->b.inventory)) return false;
    for (size_t i = 0; i < shapeproof_inventory_count(diff->a.inventory); i++)
        if (diff->a.other[i] == SHAPEPROOF_NONE ||
            sp_diff_a(diff, i)->dtype != sp_diff_b(diff, diff->a.other[i])->dtype)
            return true;
    return diff->totals.both < shapeproof_inventory_count(diff->b.inventory);
}

void sp_diff_quantised(struct shapeproof_diff *diff)
{
    struct shapeproof_error error = {0};
    struct sp_unpacked a[FORMS], b[FORMS];
    if (!may_be_quantised(diff)) return;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (!tables) return; /* what follows says less without them */
    const size_t in_a = sp_unpack(&diff->arena, tables, diff->a.inventory, a, FORMS);
    const size_t in_b = sp_unpack(&diff->arena, tables, diff->b.inventory, b, FORMS);
    find_quantised(&(struct sides){diff, &diff->a, &diff->b}, a, in_a);
    find_quantised(&(struct sides){diff, &diff->b, &diff->a}, b, in_b);
    if (in_a && in_b) find_both_quantised(diff, &a[0], &b[0]);
    shapeproof_tables_free(tables);
}
