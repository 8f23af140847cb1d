/* SPDX-License-Identifier: MIT
 * The flow of a comparison of two checkpoints, and what the public header promises. */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/error.h"
#include "base/fault.h"
#include "expect/expect.h"
#include "model/layouts.h"

static const struct {
    const char *id;
    enum shapeproof_severity severity;
} finding_kinds[] = {
#define KIND(name, value, id, severity, meaning)                                                                       \
    [SHAPEPROOF_DIFF_FINDING_##name] = {id, SHAPEPROOF_SEVERITY_##severity},
    SHAPEPROOF_DIFF_FINDINGS(KIND)
#undef KIND
};

void sp_diff_add(struct shapeproof_diff *diff, struct shapeproof_diff_finding finding)
{
    finding.id = finding_kinds[finding.kind].id;
    finding.severity = finding_kinds[finding.kind].severity;
    SP_GROW(diff->findings, diff->finding_count, diff->finding_capacity);
    diff->findings[diff->finding_count++] = finding;
}

void sp_diff_add_about(struct shapeproof_diff *diff, size_t a, size_t b, struct shapeproof_diff_finding finding)
{
    finding.a = a;
    finding.b = b;
    finding.name = a != SHAPEPROOF_NONE ? sp_diff_a(diff, a)->name : sp_diff_b(diff, b)->name;
    if (a != SHAPEPROOF_NONE && b != SHAPEPROOF_NONE && sp_diff_is_renamed(diff, a))
        finding.other = sp_diff_b(diff, b)->name;
    sp_diff_add(diff, finding);
}

static bool is_kernel_leaf(const char *leaf) { return strcmp(leaf, "kernel") == 0 || strcmp(leaf, "vars/0") == 0; }

/* A kernel on one side and a weight on the other: then that is the reason, and a square matrix is transposed too. */
bool shapeproof_diff_is_converted(const struct shapeproof_diff *diff, size_t a)
{
    const size_t b = diff->a.other[a];
    if (b == SHAPEPROOF_NONE || !diff->a.spelling[a].text || !diff->b.spelling[b].text) return false;
    return is_kernel_leaf(diff->a.spelling[a].leaf) != is_kernel_leaf(diff->b.spelling[b].leaf) &&
           sp_tensor_is_transposed(sp_diff_a(diff, a), sp_diff_b(diff, b));
}

static size_t *nothing_of(struct shapeproof_diff *diff, size_t count)
{
    size_t *indices = sp_arena_array(&diff->arena, count, sizeof *indices);
    for (size_t i = 0; i < count; i++) indices[i] = SHAPEPROOF_NONE;
    return indices;
}

static void open_half(struct shapeproof_diff *diff, struct sp_diff_half *half)
{
    const size_t count = shapeproof_inventory_count(half->inventory);
    half->other = nothing_of(diff, count);
    half->spelling = sp_arena_array(&diff->arena, count, sizeof *half->spelling);
    half->once = sp_arena_array(&diff->arena, count, sizeof *half->once);
    half->joined = sp_arena_array(&diff->arena, count, sizeof *half->joined);
    half->incomplete = sp_arena_array(&diff->arena, count, sizeof *half->incomplete);
    half->is_weight_of_parts = sp_arena_array(&diff->arena, count, sizeof *half->is_weight_of_parts);
    half->turned = sp_arena_array(&diff->arena, count, sizeof *half->turned);
}

static struct shapeproof_diff *new_diff(const struct shapeproof_inventory *a, const struct shapeproof_inventory *b)
{
    struct shapeproof_diff *diff = sp_realloc(NULL, 1, sizeof *diff);
    *diff = (struct shapeproof_diff){.a = {.side = SHAPEPROOF_DIFF_A, .inventory = a},
                                     .b = {.side = SHAPEPROOF_DIFF_B, .inventory = b}};
    open_half(diff, &diff->a);
    open_half(diff, &diff->b);
    diff->translation_of = nothing_of(diff, shapeproof_inventory_count(a));
    return diff;
}

/* ---- expectations ---- */

static void expect_each(struct shapeproof_diff *diff, struct sp_expecting *expecting)
{
    for (size_t i = 0; i < diff->finding_count; i++) {
        struct shapeproof_diff_finding *finding = &diff->findings[i];
        const char *reason = sp_expected(expecting, finding->id, NULL, finding->name, finding->other);
        if (!reason) continue;
        finding->reason = reason;
        finding->severity = SHAPEPROOF_SEVERITY_NOTE;
    }
}

static void add_unmet_to_diff(void *diff, struct sp_left_over left)
{
    sp_diff_add(diff, (struct shapeproof_diff_finding){.kind = left.expired ? SHAPEPROOF_DIFF_FINDING_EXPIRED
                                                                            : SHAPEPROOF_DIFF_FINDING_UNUSED,
                                                       .name = left.name,
                                                       .message = left.message,
                                                       .a = SHAPEPROOF_NONE,
                                                       .b = SHAPEPROOF_NONE});
}

/* Turns the findings that are expected into notes, and adds one for each expectation that is expired or that nothing
 * fulfilled. */
static void expect_diff_findings(struct shapeproof_diff *diff, const struct shapeproof_expectations *expectations)
{
    struct sp_expecting expecting = {.expectations = expectations};
    expect_each(diff, &expecting);
    sp_expecting_end(&expecting, &diff->arena, add_unmet_to_diff, diff);
}

/* ---- the flow ---- */

static bool compare_checkpoints(struct shapeproof_diff *diff, const struct shapeproof_diff_options *options,
                                struct shapeproof_error *error)
{
    if (options->names_a && options->names_b) sp_diff_pair_known(diff, options->names_a, options->names_b);
    sp_diff_pair(diff);
    sp_diff_parametrised(diff);
    sp_diff_map(diff);
    sp_diff_ties(diff);
    sp_diff_join(diff);
    sp_diff_quantised(diff);
    sp_diff_find(diff);
    sp_diff_metadata(diff);
    diff->totals.data = options->data;
    if (options->data && !sp_diff_data(diff, options->watch, error)) return false;
    sp_diff_judge_conversion(diff);
    if (options->expectations) expect_diff_findings(diff, options->expectations);
    sp_diff_conclude(diff);
    return true;
}

struct shapeproof_diff *shapeproof_diff_new(const struct shapeproof_inventory *a, const struct shapeproof_inventory *b,
                                            const struct shapeproof_diff_options *options,
                                            struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("comparing it");
    SP_BUDGET_REUSE(a);
    SP_BUDGET_REUSE(b);
    sp_budget_spend(shapeproof_inventory_count(a) + shapeproof_inventory_count(b));
    sp_error_reset(error);
    static const struct shapeproof_diff_options none = {0};
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    sp_fault_begin(error);
    struct shapeproof_diff *diff = new_diff(a, b);
    const bool ok = compare_checkpoints(diff, options, error);
    if (sp_fault_end(error) && ok) return diff;
    shapeproof_diff_free(diff);
    return NULL;
}

void shapeproof_diff_free(struct shapeproof_diff *diff)
{
    if (!diff) return;
    sp_free(diff->translations.items);
    sp_free(diff->joints.items);
    sp_free(diff->packed.items);
    sp_free(diff->parametrised.items);
    sp_free(diff->mappings);
    sp_free(diff->findings);
    sp_arena_free(&diff->arena);
    sp_free(diff);
}

/* ---- results ---- */

bool shapeproof_diff_is_same(const struct shapeproof_diff *diff) { return diff->same; }
const char *shapeproof_diff_data_note(const struct shapeproof_diff *diff) { return diff->data_note; }
const char *shapeproof_diff_summary(const struct shapeproof_diff *diff) { return diff->summary; }
const struct shapeproof_diff_totals *shapeproof_diff_totals(const struct shapeproof_diff *diff)
{
    return &diff->totals;
}

static const struct sp_diff_half *half_of(const struct shapeproof_diff *diff, enum shapeproof_diff_side side)
{
    return side == SHAPEPROOF_DIFF_A ? &diff->a : &diff->b;
}

const struct shapeproof_inventory *shapeproof_diff_inventory(const struct shapeproof_diff *diff,
                                                             enum shapeproof_diff_side side)
{
    return half_of(diff, side)->inventory;
}

size_t shapeproof_diff_counterpart(const struct shapeproof_diff *diff, enum shapeproof_diff_side side, size_t tensor)
{
    return half_of(diff, side)->other[tensor];
}

bool shapeproof_diff_is_alone(const struct shapeproof_diff *diff, enum shapeproof_diff_side side, size_t tensor)
{
    const struct sp_diff_half *half = half_of(diff, side);
    return !half->once[tensor] && half->other[tensor] == SHAPEPROOF_NONE;
}

size_t shapeproof_diff_mapping_count(const struct shapeproof_diff *diff) { return diff->mapping_count; }
const struct shapeproof_diff_mapping *shapeproof_diff_mapping(const struct shapeproof_diff *diff, size_t index)
{
    return &diff->mappings[index];
}
size_t shapeproof_diff_finding_count(const struct shapeproof_diff *diff) { return diff->finding_count; }

const struct shapeproof_diff_finding *shapeproof_diff_finding(const struct shapeproof_diff *diff, size_t index)
{
    return &diff->findings[index];
}

size_t shapeproof_diff_group_count(const struct shapeproof_diff *diff) { return diff->group_count; }
const struct shapeproof_diff_group *shapeproof_diff_group(const struct shapeproof_diff *diff, size_t index)
{
    return &diff->groups[index];
}
