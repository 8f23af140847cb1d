/* SPDX-License-Identifier: MIT
 * shapeproof.diff/1: what was added, removed, changed and renamed, then the findings that decide the verdict. */
#include <stdlib.h>
#include <string.h>

#include "report/diff.h"
#include "report/json.h"

/* The fields of a tensor, inside an open object. */
static void json_fields(struct sp_writer *json, const struct sp_inventory *inventory, const struct sp_tensor *tensor)
{
    sp_write_key_optional(json, "dtype", tensor->dtype_name);
    sp_write_key(json, "shape");
    if (tensor->flags & SP_TENSOR_NO_SHAPE) sp_write_null(json);
    else sp_write_numbers(json, tensor->shape, tensor->rank);
    if (tensor->same_as != SP_NONE)
        sp_write_key_optional(json, "same_as", sp_inventory_tensor(inventory, tensor->same_as)->name);
}

/* "added" and "removed", with those of which the other has the parts or the whole. */
static void json_alone(struct sp_writer *json, const struct sp_diff *diff, const char *id)
{
    const bool in_a = strcmp(id, "removed") == 0;
    const struct sp_inventory *inventory = in_a ? diff->a : diff->b;
    sp_write_key(json, id);
    sp_write_open(json, '[');
    for (size_t i = 0; i < sp_inventory_count(inventory); i++) {
        const struct sp_tensor *tensor = sp_inventory_tensor(inventory, i);
        if (!sp_diff_is_alone(diff, i, in_a) || (tensor->flags & SP_TENSOR_STATE)) continue;
        sp_write_open_line(json, '{');
        sp_write_key_optional(json, "name", tensor->name);
        json_fields(json, inventory, tensor);
        sp_write_close(json);
    }
    sp_write_close(json);
}

static const char *const changes[] = {"shape", "transposed", "dtype", "tied", "data"};
enum { CHANGES = sizeof changes / sizeof *changes };

/* For each tensor of A a bit for each of its changes; to be freed. */
static unsigned *changes_of(const struct sp_diff *diff)
{
    const size_t count = sp_inventory_count(diff->a);
    unsigned *bits = sp_realloc(NULL, count, sizeof *bits);
    for (size_t i = 0; i < count; i++) bits[i] = 0;
    for (size_t i = 0; i < diff->finding_count; i++)
        for (size_t k = 0; k < CHANGES; k++)
            if (strcmp(diff->findings[i].id, changes[k]) == 0) bits[diff->findings[i].a] |= 1u << k;
    return bits;
}

static void json_changed(struct sp_writer *json, const struct sp_diff *diff, size_t tensor, unsigned bits)
{
    const struct sp_tensor *a = sp_diff_a(diff, tensor), *b = sp_diff_b(diff, diff->b_of[tensor]);
    sp_write_open_line(json, '{');
    sp_write_key_optional(json, "name", a->name);
    sp_write_key(json, "a");
    sp_write_open(json, '{');
    json_fields(json, diff->a, a);
    sp_write_close(json);
    sp_write_key(json, "b");
    sp_write_open(json, '{');
    if (sp_diff_is_renamed(diff, tensor)) sp_write_key_optional(json, "name", b->name);
    json_fields(json, diff->b, b);
    sp_write_close(json);
    sp_write_key(json, "what");
    sp_write_open(json, '[');
    for (size_t k = 0; k < CHANGES; k++)
        if (bits & 1u << k) sp_write_string(json, changes[k]);
    sp_write_close(json);
    sp_write_close(json);
}

static void json_all_changed(struct sp_writer *json, const struct sp_diff *diff)
{
    unsigned *bits = changes_of(diff);
    sp_write_key(json, "changed");
    sp_write_open(json, '[');
    for (size_t i = 0; i < sp_inventory_count(diff->a); i++)
        if (bits[i]) json_changed(json, diff, i, bits[i]);
    sp_write_close(json);
    free(bits);
}

static void json_renamed(struct sp_writer *json, const struct sp_diff *diff)
{
    sp_write_key(json, "renamed");
    sp_write_open(json, '[');
    for (size_t i = 0; i < sp_inventory_count(diff->a); i++) {
        if (!sp_diff_is_renamed(diff, i)) continue;
        sp_write_open_line(json, '{');
        sp_write_key_optional(json, "a", sp_diff_a(diff, i)->name);
        sp_write_key_optional(json, "b", sp_diff_b(diff, diff->b_of[i])->name);
        sp_write_key_bool(json, "transposed", sp_diff_is_converted(diff, i));
        sp_write_close(json);
    }
    sp_write_close(json);
}

static void json_mappings(struct sp_writer *json, const struct sp_diff *diff)
{
    sp_write_key(json, "mappings");
    sp_write_open(json, '[');
    for (size_t i = 0; i < diff->mapping_count; i++) {
        const struct sp_diff_mapping *mapping = &diff->mappings[i];
        sp_write_open_line(json, '{');
        sp_write_key_optional(json, "from", mapping->from);
        sp_write_key_optional(json, "to", mapping->to);
        sp_write_key_bool(json, "transposed", mapping->transposed);
        sp_write_key_number(json, "tensors", mapping->tensors);
        sp_write_close(json);
    }
    sp_write_close(json);
}

static void json_findings(struct sp_writer *json, const struct sp_diff *diff)
{
    sp_write_key(json, "findings");
    sp_write_open(json, '[');
    for (size_t i = 0; i < diff->finding_count; i++) {
        const struct sp_diff_finding *finding = &diff->findings[i];
        sp_write_open_line(json, '{');
        sp_write_key_optional(json, "id", finding->id);
        sp_write_key_optional(json, "severity", sp_severity_name(finding->severity));
        sp_write_key_optional(json, "name", finding->name);
        sp_write_key_optional(json, "other", finding->other);
        sp_write_key_optional(json, "message", finding->message);
        sp_write_key_optional(json, "detail", finding->detail);
        sp_write_key_optional(json, "reason", finding->reason);
        sp_write_close(json);
    }
    sp_write_close(json);
}

static void json_data(struct sp_writer *json, const struct sp_diff *diff)
{
    const struct sp_diff_totals *totals = &diff->totals;
    if (!diff->read_data) return;
    sp_write_key(json, "data");
    sp_write_open_line(json, '{');
    sp_write_key_number(json, "compared", totals->data_compared);
    sp_write_key_number(json, "bytes", totals->data_bytes);
    sp_write_key_number(json, "different", totals->data_different);
    sp_write_key_number(json, "not_compared", totals->data_unread);
    sp_write_close(json);
}

static void json_subject(struct sp_writer *json, const char *key, const struct sp_inventory *inventory)
{
    const struct sp_totals totals = sp_inventory_totals(inventory);
    sp_write_key(json, key);
    sp_write_open_line(json, '{');
    sp_write_key_optional(json, "file", sp_inventory_path(inventory));
    sp_write_key_optional(json, "format", sp_inventory_format(inventory));
    sp_write_key_number(json, "tensors", totals.tensors);
    sp_write_key_number(json, "parameters", totals.parameters);
    sp_write_key_number(json, "unique_parameters", totals.unique_parameters);
    sp_write_key_number(json, "bytes", totals.bytes);
    sp_write_key(json, "warnings");
    sp_write_open(json, '[');
    for (size_t i = 0; i < sp_inventory_warning_count(inventory); i++)
        sp_write_string(json, sp_inventory_warning(inventory, i));
    sp_write_close(json);
    sp_write_close(json);
}

void sp_diff_put_json(const struct sp_diff *diff, struct sp_text *text)
{
    struct sp_writer json = {.text = text};
    sp_write_open(&json, '{');
    sp_write_key_optional(&json, "schema", "shapeproof.diff/1");
    sp_write_key_optional(&json, "verdict", sp_diff_verdict(diff));
    json_alone(&json, diff, "added");
    json_alone(&json, diff, "removed");
    json_all_changed(&json, diff);
    json_renamed(&json, diff);
    json_mappings(&json, diff);
    json_findings(&json, diff);
    json_data(&json, diff);
    sp_write_key_optional(&json, "summary", diff->summary);
    json_subject(&json, "a", diff->a);
    json_subject(&json, "b", diff->b);
    sp_write_close(&json);
}
