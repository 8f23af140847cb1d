/* SPDX-License-Identifier: MIT
 * The result of comparing two checkpoints: the verdict in the first line, what was compared, how names were translated,
 * the findings. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare/diff.h"
#include "report/findings.h"
#include "report/json.h"
#include "shapeproof/report.h"

static const char *verdict_of(const struct sp_diff *diff) { return diff->same ? "same" : "differs"; }

/* ---- JSON: shapeproof.diff/1 ---- */

static void json_text(struct sp_writer *json, const char *key, const char *value)
{
    if (!value) return;
    sp_write_key(json, key);
    sp_write_string(json, value);
}

static void json_number(struct sp_writer *json, const char *key, uint64_t value)
{
    sp_write_key(json, key);
    sp_write_number(json, value);
}

/* The fields of a tensor, inside an open object. */
static void json_fields(struct sp_writer *json, const struct sp_inventory *inventory, const struct sp_tensor *tensor)
{
    json_text(json, "dtype", tensor->dtype_name);
    sp_write_key(json, "shape");
    if (tensor->flags & SP_TENSOR_NO_SHAPE) sp_write_null(json);
    else sp_write_numbers(json, tensor->shape, tensor->rank);
    if (tensor->same_as != SP_NONE) json_text(json, "same_as", sp_inventory_tensor(inventory, tensor->same_as)->name);
}

/* "added" and "removed". */
static void json_alone(struct sp_writer *json, const struct sp_diff *diff, const char *id)
{
    const bool in_a = strcmp(id, "removed") == 0;
    const struct sp_inventory *inventory = in_a ? diff->a : diff->b;
    sp_write_key(json, id);
    sp_write_open(json, '[');
    for (size_t i = 0; i < diff->finding_count; i++) {
        const struct sp_diff_finding *finding = &diff->findings[i];
        if (strcmp(finding->id, id) != 0) continue;
        sp_write_open_line(json, '{');
        json_text(json, "name", finding->name);
        json_fields(json, inventory, sp_inventory_tensor(inventory, in_a ? finding->a : finding->b));
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
    json_text(json, "name", a->name);
    sp_write_key(json, "a");
    sp_write_open(json, '{');
    json_fields(json, diff->a, a);
    sp_write_close(json);
    sp_write_key(json, "b");
    sp_write_open(json, '{');
    if (sp_diff_is_renamed(diff, tensor)) json_text(json, "name", b->name);
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
        json_text(json, "a", sp_diff_a(diff, i)->name);
        json_text(json, "b", sp_diff_b(diff, diff->b_of[i])->name);
        sp_write_key(json, "transposed");
        sp_write_bool(json, sp_diff_is_converted(diff, i));
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
        json_text(json, "from", mapping->from);
        json_text(json, "to", mapping->to);
        sp_write_key(json, "transposed");
        sp_write_bool(json, mapping->transposed);
        json_number(json, "tensors", mapping->tensors);
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
        json_text(json, "id", finding->id);
        json_text(json, "severity", sp_severity_name(finding->severity));
        json_text(json, "name", finding->name);
        json_text(json, "other", finding->other);
        json_text(json, "message", finding->message);
        json_text(json, "detail", finding->detail);
        json_text(json, "reason", finding->reason);
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
    json_number(json, "compared", totals->data_compared);
    json_number(json, "bytes", totals->data_bytes);
    json_number(json, "different", totals->data_different);
    json_number(json, "not_compared", totals->data_unread);
    sp_write_close(json);
}

static void json_subject(struct sp_writer *json, const char *key, const struct sp_inventory *inventory)
{
    const struct sp_totals totals = sp_inventory_totals(inventory);
    sp_write_key(json, key);
    sp_write_open_line(json, '{');
    json_text(json, "file", sp_inventory_path(inventory));
    json_text(json, "format", sp_inventory_format(inventory));
    json_number(json, "tensors", totals.tensors);
    json_number(json, "parameters", totals.parameters);
    json_number(json, "unique_parameters", totals.unique_parameters);
    json_number(json, "bytes", totals.bytes);
    sp_write_key(json, "warnings");
    sp_write_open(json, '[');
    for (size_t i = 0; i < sp_inventory_warning_count(inventory); i++)
        sp_write_string(json, sp_inventory_warning(inventory, i));
    sp_write_close(json);
    sp_write_close(json);
}

static void put_json(const struct sp_diff *diff, struct sp_text *text)
{
    struct sp_writer json = {.text = text};
    sp_write_open(&json, '{');
    json_text(&json, "schema", "shapeproof.diff/1");
    json_text(&json, "verdict", verdict_of(diff));
    json_alone(&json, diff, "added");
    json_alone(&json, diff, "removed");
    json_all_changed(&json, diff);
    json_renamed(&json, diff);
    json_mappings(&json, diff);
    json_findings(&json, diff);
    json_data(&json, diff);
    json_text(&json, "summary", diff->summary);
    json_subject(&json, "a", diff->a);
    json_subject(&json, "b", diff->b);
    sp_write_close(&json);
}

/* ---- text ---- */

static void put_side(struct sp_table *table, const char *label, const struct sp_inventory *inventory)
{
    const struct sp_totals totals = sp_inventory_totals(inventory);
    struct sp_text *cell = sp_labelled(table, label);
    sp_put_visible(cell, sp_inventory_path(inventory));
    sp_text_printf(cell, " (%s), ", sp_inventory_format(inventory));
    sp_put_count(cell, totals.tensors, "tensor", "tensors");
    sp_text_puts(cell, ", ");
    sp_put_count(cell, totals.unique_parameters, "element", "elements");
}

static void put_data(struct sp_table *table, const struct sp_diff_totals *totals)
{
    struct sp_text *cell = sp_labelled(table, "data");
    sp_put_count(cell, totals->data_compared, "tensor", "tensors");
    sp_text_puts(cell, " compared, ");
    sp_put_bytes(cell, totals->data_bytes);
    sp_text_printf(cell, ": %zu %s", totals->data_different, totals->data_different == 1 ? "differs" : "differ");
    if (totals->data_unread) sp_text_printf(cell, "; %zu not compared", totals->data_unread);
}

static void put_subject(const struct sp_diff *diff, struct sp_text *text, const struct sp_report_options *options)
{
    static const struct sp_column columns[] = {{NULL, false}, {NULL, false}};
    struct sp_table table = {.columns = columns, .column_count = 2};
    put_side(&table, "A", diff->a);
    put_side(&table, "B", diff->b);
    sp_put_count(sp_labelled(&table, "both"), diff->totals.both, "tensor", "tensors");
    if (diff->read_data) put_data(&table, &diff->totals);
    sp_table_render(&table, text, options);
    sp_table_free(&table);
}

/* How the names of A become those of B. */
static void put_mappings(const struct sp_diff *diff, struct sp_text *text, const struct sp_report_options *options)
{
    static const struct sp_column columns[] = {
        {NULL, false}, {NULL, false}, {NULL, false}, {NULL, true}, {NULL, false}};
    struct sp_table table = {.columns = columns, .column_count = 5};
    if (!diff->mapping_count) return;
    sp_put_heading(text, options, "renamed");
    for (size_t i = 0; i < diff->mapping_count; i++) {
        const struct sp_diff_mapping *mapping = &diff->mappings[i];
        struct sp_text *from = sp_table_cell(&table);
        sp_text_puts(from, "  ");
        sp_put_visible(from, mapping->from);
        sp_text_puts(sp_table_cell(&table), "->");
        struct sp_text *to = sp_table_cell(&table);
        sp_put_visible(to, mapping->to);
        if (mapping->transposed) sp_text_puts(to, ", transposed");
        sp_text_grouped(sp_table_cell(&table), mapping->tensors);
        sp_text_puts(sp_table_cell(&table), mapping->tensors == 1 ? "tensor" : "tensors");
    }
    sp_table_render(&table, text, options);
    sp_table_free(&table);
}

static void put_finding(struct sp_text *text, const struct sp_report_options *options, const char *name, size_t count,
                        const struct sp_diff_finding *finding)
{
    sp_put_severity(text, options, finding->severity);
    sp_put_visible(text, name);
    sp_text_puts(text, " ");
    sp_put_visible(text, finding->message);
    if (count == 1 && finding->detail) sp_text_printf(text, ", %s", finding->detail);
    if (count > 1) sp_text_printf(text, " (%zu tensors)", count);
    sp_put_reason(text, finding->reason);
    sp_text_puts(text, "\n");
}

/* What is renamed was said above, and of state only the number is said. */
static bool is_shown(const struct sp_diff_finding *finding, bool all, bool notes)
{
    const bool in_short = strcmp(finding->id, "renamed") == 0 || strcmp(finding->id, "state") == 0;
    if (in_short && !all) return false;
    return (finding->severity == SP_SEVERITY_NOTE) == notes;
}

static void put_expected_names(struct sp_text *text, const struct sp_report_options *options, size_t count,
                               const char *reason)
{
    if (!count) return;
    sp_put_severity(text, options, SP_SEVERITY_NOTE);
    sp_put_count(text, count, "tensor renamed", "tensors renamed");
    sp_put_reason(text, reason);
    sp_text_puts(text, "\n");
}

/* How many of the renamed ones are expected, for each reason. */
static void put_all_expected_names(const struct sp_diff *diff, struct sp_text *text,
                                   const struct sp_report_options *options)
{
    const char *reason = NULL;
    size_t count = 0;
    for (size_t i = 0; i < diff->finding_count; i++) {
        const struct sp_diff_finding *finding = &diff->findings[i];
        if (strcmp(finding->id, "renamed") != 0 || !finding->reason) continue;
        if (finding->reason != reason) {
            put_expected_names(text, options, count, reason);
            count = 0;
        }
        reason = finding->reason;
        count++;
    }
    put_expected_names(text, options, count, reason);
}

static void put_state(const struct sp_diff *diff, struct sp_text *text, const struct sp_report_options *options)
{
    size_t in_a = 0, in_b = 0;
    for (size_t i = 0; i < diff->finding_count; i++) {
        const struct sp_diff_finding *finding = &diff->findings[i];
        if (strcmp(finding->id, "state") != 0) continue;
        in_a += finding->b == SP_NONE;
        in_b += finding->a == SP_NONE;
    }
    for (int side = 0; side < 2; side++) {
        const size_t count = side ? in_b : in_a;
        if (!count) continue;
        sp_put_severity(text, options, SP_SEVERITY_NOTE);
        sp_put_count(text, count, "tensor", "tensors");
        sp_text_printf(text, " of optimizer or trainer state in %s alone\n", side ? "B" : "A");
    }
}

static void put_findings(const struct sp_diff *diff, struct sp_text *text, const struct sp_diff_report_options *options,
                         bool notes)
{
    const size_t count = options->all ? diff->finding_count : diff->group_count;
    struct sp_text body = {0};
    for (size_t i = 0; i < count; i++) {
        const struct sp_diff_finding *finding = options->all ? &diff->findings[i] : diff->groups[i].first;
        if (!is_shown(finding, options->all, notes)) continue;
        if (options->all) put_finding(&body, &options->report, finding->name, 1, finding);
        else put_finding(&body, &options->report, diff->groups[i].name, diff->groups[i].count, finding);
    }
    if (notes && !options->all) {
        put_all_expected_names(diff, &body, &options->report);
        put_state(diff, &body, &options->report);
    }
    if (body.length) {
        sp_put_heading(text, &options->report, notes ? "notes" : "findings");
        sp_text_append(text, body.data, body.length);
    }
    sp_text_free(&body);
}

char *sp_report_diff(const struct sp_diff *diff, const struct sp_diff_report_options *options, size_t *length)
{
    static const struct sp_diff_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->report.format == SP_REPORT_JSON) {
        put_json(diff, &text);
        return sp_text_take(&text, length);
    }
    sp_color_puts(&text, options->report.color, diff->same ? SP_COLOR_GREEN : SP_COLOR_RED, verdict_of(diff));
    sp_text_puts(&text, ": ");
    sp_put_visible(&text, diff->summary);
    sp_text_puts(&text, "\n\n");
    put_subject(diff, &text, &options->report);
    put_mappings(diff, &text, &options->report);
    put_findings(diff, &text, options, false);
    put_findings(diff, &text, options, true);
    return sp_text_take(&text, length);
}
