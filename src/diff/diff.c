/* SPDX-License-Identifier: MIT
 * The flow of a comparison of two checkpoints, and what the public header promises. */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "expect/expect.h"
#include "model/layouts.h"

static const struct {
    const char *id;
    enum sp_severity severity;
} finding_kinds[] = {
#define KIND(name, id, severity, meaning) [SP_DIFF_FINDING_##name] = {id, SP_SEVERITY_##severity},
    SP_DIFF_FINDINGS(KIND)
#undef KIND
};

void sp_diff_add(struct sp_diff *diff, struct sp_diff_finding finding)
{
    finding.id = finding_kinds[finding.kind].id;
    finding.severity = finding_kinds[finding.kind].severity;
    SP_GROW(diff->findings, diff->finding_count, diff->finding_capacity);
    diff->findings[diff->finding_count++] = finding;
}

void sp_diff_add_about(struct sp_diff *diff, size_t a, size_t b, struct sp_diff_finding finding)
{
    finding.a = a;
    finding.b = b;
    finding.name = a != SP_NONE ? sp_diff_a(diff, a)->name : sp_diff_b(diff, b)->name;
    if (a != SP_NONE && b != SP_NONE && sp_diff_is_renamed(diff, a)) finding.other = sp_diff_b(diff, b)->name;
    sp_diff_add(diff, finding);
}

static bool is_kernel_leaf(const char *leaf) { return strcmp(leaf, "kernel") == 0 || strcmp(leaf, "vars/0") == 0; }

/* A kernel on one side and a weight on the other: then that is the reason, and a square matrix is transposed too. */
bool sp_diff_is_converted(const struct sp_diff *diff, size_t a)
{
    const size_t b = diff->a.other[a];
    if (b == SP_NONE || !diff->a.spelling[a].text || !diff->b.spelling[b].text) return false;
    return is_kernel_leaf(diff->a.spelling[a].leaf) != is_kernel_leaf(diff->b.spelling[b].leaf) &&
           sp_tensor_is_transposed(sp_diff_a(diff, a), sp_diff_b(diff, b));
}

static size_t *nothing_of(struct sp_diff *diff, size_t count)
{
    size_t *indices = sp_arena_array(&diff->arena, count, sizeof *indices);
    for (size_t i = 0; i < count; i++) indices[i] = SP_NONE;
    return indices;
}

static void open_half(struct sp_diff *diff, struct sp_diff_half *half)
{
    const size_t count = sp_inventory_count(half->inventory);
    half->other = nothing_of(diff, count);
    half->spelling = sp_arena_array(&diff->arena, count, sizeof *half->spelling);
    half->once = sp_arena_array(&diff->arena, count, sizeof *half->once);
    half->joined = sp_arena_array(&diff->arena, count, sizeof *half->joined);
}

static struct sp_diff *new_diff(const struct sp_inventory *a, const struct sp_inventory *b)
{
    struct sp_diff *diff = sp_realloc(NULL, 1, sizeof *diff);
    *diff = (struct sp_diff){.a = {.side = SP_DIFF_A, .inventory = a}, .b = {.side = SP_DIFF_B, .inventory = b}};
    open_half(diff, &diff->a);
    open_half(diff, &diff->b);
    diff->translation_of = nothing_of(diff, sp_inventory_count(a));
    return diff;
}

/* ---- expectations ---- */

static void expect_each(struct sp_diff *diff, struct sp_expecting *expecting)
{
    for (size_t i = 0; i < diff->finding_count; i++) {
        struct sp_diff_finding *finding = &diff->findings[i];
        const char *reason = sp_expected(expecting, finding->id, NULL, finding->name, finding->other);
        if (!reason) continue;
        finding->reason = reason;
        finding->severity = SP_SEVERITY_NOTE;
    }
}

static void add_unmet_to_diff(void *diff, struct sp_left_over left)
{
    sp_diff_add(diff, (struct sp_diff_finding){.kind = left.expired ? SP_DIFF_FINDING_EXPIRED : SP_DIFF_FINDING_UNUSED,
                                               .name = left.name,
                                               .message = left.message,
                                               .a = SP_NONE,
                                               .b = SP_NONE});
}

/* Turns the findings that are expected into notes, and adds one for each expectation that is expired or that nothing
 * fulfilled. */
static void expect_diff_findings(struct sp_diff *diff, const struct sp_expectations *expectations)
{
    struct sp_expecting expecting = {.expectations = expectations};
    expect_each(diff, &expecting);
    sp_expecting_end(&expecting, &diff->arena, add_unmet_to_diff, diff);
}

/* ---- the flow ---- */

static bool compare_checkpoints(struct sp_diff *diff, const struct sp_diff_options *options, struct sp_error *error)
{
    if (options->names_a && options->names_b) sp_diff_pair_known(diff, options->names_a, options->names_b);
    sp_diff_pair(diff);
    sp_diff_map(diff);
    sp_diff_ties(diff);
    sp_diff_join(diff);
    sp_diff_quantised(diff);
    sp_diff_find(diff);
    diff->totals.data = options->data;
    if (options->data && !sp_diff_data(diff, error)) return false;
    if (options->expectations) expect_diff_findings(diff, options->expectations);
    sp_diff_conclude(diff);
    return true;
}

struct sp_diff *sp_diff_new(const struct sp_inventory *a, const struct sp_inventory *b,
                            const struct sp_diff_options *options, struct sp_error *error)
{
    sp_error_reset(error);
    static const struct sp_diff_options none = {0};
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    struct sp_diff *diff = new_diff(a, b);
    if (compare_checkpoints(diff, options, error)) return diff;
    sp_diff_free(diff);
    return NULL;
}

void sp_diff_free(struct sp_diff *diff)
{
    if (!diff) return;
    free(diff->translations.items);
    free(diff->mappings);
    free(diff->findings);
    sp_arena_free(&diff->arena);
    free(diff);
}

/* ---- results ---- */

bool sp_diff_is_same(const struct sp_diff *diff) { return diff->same; }
const char *sp_diff_data_note(const struct sp_diff *diff) { return diff->data_note; }
const char *sp_diff_summary(const struct sp_diff *diff) { return diff->summary; }
struct sp_diff_totals sp_diff_totals(const struct sp_diff *diff) { return diff->totals; }

static const struct sp_diff_half *half_of(const struct sp_diff *diff, enum sp_diff_side side)
{
    return side == SP_DIFF_A ? &diff->a : &diff->b;
}

const struct sp_inventory *sp_diff_inventory(const struct sp_diff *diff, enum sp_diff_side side)
{
    return half_of(diff, side)->inventory;
}

size_t sp_diff_counterpart(const struct sp_diff *diff, enum sp_diff_side side, size_t tensor)
{
    return half_of(diff, side)->other[tensor];
}

bool sp_diff_is_alone(const struct sp_diff *diff, enum sp_diff_side side, size_t tensor)
{
    const struct sp_diff_half *half = half_of(diff, side);
    return !half->once[tensor] && half->other[tensor] == SP_NONE;
}

size_t sp_diff_mapping_count(const struct sp_diff *diff) { return diff->mapping_count; }
struct sp_diff_mapping sp_diff_mapping(const struct sp_diff *diff, size_t index) { return diff->mappings[index]; }
size_t sp_diff_finding_count(const struct sp_diff *diff) { return diff->finding_count; }

const struct sp_diff_finding *sp_diff_finding(const struct sp_diff *diff, size_t index)
{
    return &diff->findings[index];
}

size_t sp_diff_group_count(const struct sp_diff *diff) { return diff->group_count; }
struct sp_diff_group sp_diff_group(const struct sp_diff *diff, size_t index) { return diff->groups[index]; }
