/* SPDX-License-Identifier: MIT
 * shapeproof.diff/1: what was added, removed, changed and renamed, then the findings that decide the verdict. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "report/diff.h"
#include "report/inventory.h"
#include "report/json.h"

/* A tensor of one side. */
static const struct shapeproof_tensor *tensor_of(const struct shapeproof_diff *diff, enum shapeproof_diff_side side,
                                                 size_t index)
{
    return shapeproof_inventory_tensor(shapeproof_diff_inventory(diff, side), index);
}

/* What can change in a tensor, inside an open object. */
static void json_side_of_pair(struct sp_writer *json, const struct shapeproof_diff *diff,
                              enum shapeproof_diff_side side, size_t index)
{
    const struct shapeproof_tensor *tensor = tensor_of(diff, side, index);
    sp_write_key_string(json, "dtype", tensor->dtype_name);
    sp_json_shape(json, tensor);
    sp_json_same_as(json, shapeproof_diff_inventory(diff, side), tensor);
}

/* "added" and "removed", with those of which the other has the parts or the whole. */
static void json_alone(struct sp_writer *json, const struct shapeproof_diff *diff, const char *key,
                       enum shapeproof_diff_side side)
{
    sp_write_key_open(json, key, '[');
    for (size_t i = 0; i < shapeproof_inventory_count(shapeproof_diff_inventory(diff, side)); i++) {
        const struct shapeproof_tensor *tensor = tensor_of(diff, side, i);
        if (!shapeproof_diff_is_alone(diff, side, i) || (tensor->flags & SHAPEPROOF_TENSOR_STATE)) continue;
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "name", tensor->name);
        json_side_of_pair(json, diff, side, i);
        sp_write_close(json);
    }
    sp_write_close(json);
}

/* ---- tensors that both have ---- */

/* The findings that are a change of a tensor. */
static const struct {
    enum shapeproof_diff_finding_kind kind;
    const char *word;
} changes[] = {
    {SHAPEPROOF_DIFF_FINDING_SHAPE, "shape"}, {SHAPEPROOF_DIFF_FINDING_TRANSPOSED, "transposed"},
    {SHAPEPROOF_DIFF_FINDING_DTYPE, "dtype"}, {SHAPEPROOF_DIFF_FINDING_TIED, "tied"},
    {SHAPEPROOF_DIFF_FINDING_DATA, "data"},
};
enum { CHANGES = sizeof changes / sizeof *changes };

/* The changes of one tensor of A, a bit for each. */
struct change {
    unsigned bits;
    bool renamed;
};

/* For each tensor of A; to be freed. */
static struct change *list_changes(const struct shapeproof_diff *diff)
{
    const size_t count = shapeproof_inventory_count(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A));
    struct change *of = sp_realloc(NULL, count, sizeof *of);
    for (size_t i = 0; i < count; i++) of[i] = (struct change){0};
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++) {
        const struct shapeproof_diff_finding *finding = shapeproof_diff_finding(diff, i);
        for (size_t k = 0; k < CHANGES; k++)
            if (finding->kind == changes[k].kind) of[finding->a].bits |= 1u << k;
        if (finding->kind == SHAPEPROOF_DIFF_FINDING_RENAMED) of[finding->a].renamed = true;
    }
    return of;
}

/* A tensor as it is in A and in B, and what differs; its name in B only when that is another. */
static void json_changed(struct sp_writer *json, const struct shapeproof_diff *diff, size_t a, struct change change)
{
    const size_t b = shapeproof_diff_counterpart(diff, SHAPEPROOF_DIFF_A, a);
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "name", tensor_of(diff, SHAPEPROOF_DIFF_A, a)->name);
    sp_write_key_open(json, "a", '{');
    json_side_of_pair(json, diff, SHAPEPROOF_DIFF_A, a);
    sp_write_close(json);
    sp_write_key_open(json, "b", '{');
    if (change.renamed) sp_write_key_string(json, "name", tensor_of(diff, SHAPEPROOF_DIFF_B, b)->name);
    json_side_of_pair(json, diff, SHAPEPROOF_DIFF_B, b);
    sp_write_close(json);
    sp_write_key_open(json, "what", '[');
    for (size_t k = 0; k < CHANGES; k++)
        if (change.bits & 1u << k) sp_write_string(json, changes[k].word);
    sp_write_close(json);
    sp_write_close(json);
}

/* What is called otherwise; transposed, when the other framework has the dimensions in another order. */
static void json_renamed(struct sp_writer *json, const struct shapeproof_diff *diff, size_t a)
{
    const size_t b = shapeproof_diff_counterpart(diff, SHAPEPROOF_DIFF_A, a);
    sp_write_open_line(json, '{');
    sp_write_key_string(json, "a", tensor_of(diff, SHAPEPROOF_DIFF_A, a)->name);
    sp_write_key_string(json, "b", tensor_of(diff, SHAPEPROOF_DIFF_B, b)->name);
    sp_write_key_bool(json, "transposed", shapeproof_diff_is_converted(diff, a));
    sp_write_close(json);
}

/* "changed" and "renamed" */
static void json_both(struct sp_writer *json, const struct shapeproof_diff *diff)
{
    const size_t count = shapeproof_inventory_count(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A));
    struct change *of = list_changes(diff);
    sp_write_key_open(json, "changed", '[');
    for (size_t i = 0; i < count; i++)
        if (of[i].bits) json_changed(json, diff, i, of[i]);
    sp_write_close(json);
    sp_write_key_open(json, "renamed", '[');
    for (size_t i = 0; i < count; i++)
        if (of[i].renamed) json_renamed(json, diff, i);
    sp_write_close(json);
    free(of);
}

/* How names are translated, and how many are. */
static void json_mappings(struct sp_writer *json, const struct shapeproof_diff *diff)
{
    sp_write_key_open(json, "mappings", '[');
    for (size_t i = 0; i < shapeproof_diff_mapping_count(diff); i++) {
        const struct shapeproof_diff_mapping *mapping = shapeproof_diff_mapping(diff, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "from", mapping->from);
        sp_write_key_string(json, "to", mapping->to);
        sp_write_key_bool(json, "transposed", mapping->transposed);
        sp_write_key_number(json, "tensors", mapping->tensors);
        sp_write_close(json);
    }
    sp_write_close(json);
}

/* ---- findings, and what was compared ---- */

/* All of them, none collapsed, in the order of the files. */
static void json_findings(struct sp_writer *json, const struct shapeproof_diff *diff)
{
    sp_write_key_open(json, "findings", '[');
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++) {
        const struct shapeproof_diff_finding *finding = shapeproof_diff_finding(diff, i);
        sp_write_open_line(json, '{');
        sp_write_key_string(json, "id", finding->id);
        sp_write_key_string(json, "severity", shapeproof_severity_name(finding->severity));
        sp_write_key_string(json, "name", finding->name);
        sp_write_key_optional(json, "other", finding->other);
        sp_write_key_string(json, "message", finding->message);
        sp_write_key_optional(json, "detail", finding->detail);
        sp_write_key_optional(json, "reason", finding->reason);
        sp_write_close(json);
    }
    sp_write_close(json);
}

/* How much was read and compared; nothing unless data were asked for. */
static void json_data(struct sp_writer *json, const struct shapeproof_diff *diff)
{
    const struct shapeproof_diff_totals *totals = shapeproof_diff_totals(diff);
    if (!totals->data) return;
    sp_write_key_open_line(json, "data", '{');
    sp_write_key_number(json, "compared", totals->data_compared);
    sp_write_key_number(json, "bytes", totals->data_bytes);
    sp_write_key_number(json, "different", totals->data_different);
    sp_write_key_number(json, "not_compared", totals->data_unread);
    if (shapeproof_diff_data_note(diff)) sp_write_key_string(json, "note", shapeproof_diff_data_note(diff));
    sp_write_close(json);
}

/* One of the two checkpoints, its totals and its warnings. */
static void json_subject(struct sp_writer *json, const char *key, const struct shapeproof_inventory *inventory)
{
    const struct shapeproof_totals totals = *shapeproof_inventory_totals(inventory);
    sp_write_key_open_line(json, key, '{');
    sp_write_key_string(json, "file", shapeproof_inventory_path(inventory));
    sp_write_key_string(json, "format", shapeproof_inventory_format(inventory));
    sp_json_totals(json, &totals);
    sp_json_warnings(json, inventory, NULL);
    sp_write_close(json);
}

void sp_diff_put_json(const struct shapeproof_diff *diff, struct sp_text *text)
{
    struct sp_writer json = sp_write_document(text, "shapeproof.diff/1");
    sp_write_key_string(&json, "verdict", sp_diff_verdict(diff));
    json_alone(&json, diff, "added", SHAPEPROOF_DIFF_B);
    json_alone(&json, diff, "removed", SHAPEPROOF_DIFF_A);
    json_both(&json, diff);
    json_mappings(&json, diff);
    json_findings(&json, diff);
    json_data(&json, diff);
    sp_write_key_string(&json, "summary", shapeproof_diff_summary(diff));
    json_subject(&json, "a", shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A));
    json_subject(&json, "b", shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B));
    sp_write_close(&json);
}
