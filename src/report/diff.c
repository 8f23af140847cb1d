/* SPDX-License-Identifier: MIT
 * The result of comparing two checkpoints: the verdict in the first line, what was compared, how names were translated,
 * the findings. */

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/call.h"
#include "base/json_write.h"
#include "base/map.h"
#include "base/text.h"
#include "report/diff.h"
#include "report/findings.h"
#include "report/html/html.h"
#include "report/inventory.h"
#include "report/wrap.h"
#include "shapeproof/diff.h"

/* ---- JSON: shapeproof.diff/1 ---- */

/* shapeproof.diff/1: what was added, removed, changed and renamed, then the findings that decide the verdict. */

static inline const char *sp_diff_verdict(const struct shapeproof_diff *diff)
{
    return shapeproof_diff_is_same(diff) ? "same" : "differs";
}

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

/* Whether a tensor of A is one tensor in B, too; one whose parts B has is not. */
static bool has_counterpart(const struct shapeproof_diff *diff, size_t a)
{
    return a != SHAPEPROOF_NONE && shapeproof_diff_counterpart(diff, SHAPEPROOF_DIFF_A, a) != SHAPEPROOF_NONE;
}

/* For each tensor of A; to be freed. */
static struct change *list_changes(const struct shapeproof_diff *diff)
{
    const size_t count = shapeproof_inventory_count(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A));
    struct change *of = sp_realloc(NULL, count, sizeof *of);
    for (size_t i = 0; i < count; i++) of[i] = (struct change){0};
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++) {
        const struct shapeproof_diff_finding *finding = shapeproof_diff_finding(diff, i);
        for (size_t k = 0; k < CHANGES; k++)
            if (finding->kind == changes[k].kind && has_counterpart(diff, finding->a)) of[finding->a].bits |= 1u << k;
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
    sp_free(of);
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

/* The document of `diff --json`. */
static void diff_put_json(const struct shapeproof_diff *diff, struct sp_text *text)
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

/* ---- diff ---- */

/* model.pt (torch-zip), 28 tensors, 7,872 elements */
static void put_side(struct sp_table *table, const char *label, const struct shapeproof_inventory *inventory)
{
    const struct shapeproof_totals *totals = shapeproof_inventory_totals(inventory);
    struct sp_text *cell = sp_labelled(table, label);
    sp_put_visible(cell, shapeproof_inventory_path(inventory));
    sp_text_printf(cell, " (%s), ", shapeproof_inventory_format(inventory));
    sp_put_count(cell, totals->tensors, "tensor", "tensors");
    sp_text_puts(cell, ", ");
    sp_put_count(cell, totals->unique_parameters, "element", "elements");
}

/* 28 tensors compared, 30.8 KiB: 1 differs */
static void put_data(struct sp_table *table, const struct shapeproof_diff *diff,
                     const struct shapeproof_diff_totals *totals)
{
    const char *note = shapeproof_diff_data_note(diff);
    struct sp_text *cell = sp_labelled(table, "data");
    sp_put_count(cell, totals->data_compared, "tensor", "tensors");
    sp_text_puts(cell, " compared, ");
    sp_put_bytes(cell, totals->data_bytes);
    sp_text_printf(cell, ": %zu %s", totals->data_different, totals->data_different == 1 ? "differs" : "differ");
    if (note) sp_text_printf(cell, "; %s", note);
}

/* What was compared: A, B, what they share, and whether bytes were read. */
static void put_both_sides(const struct shapeproof_diff *diff, struct sp_text *text,
                           const struct shapeproof_report_options *options)
{
    const struct shapeproof_diff_totals totals = *shapeproof_diff_totals(diff);
    struct sp_table table = sp_label_table();
    put_side(&table, "A", shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A));
    put_side(&table, "B", shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B));
    sp_put_count(sp_labelled(&table, "both"), totals.both, "tensor", "tensors");
    sp_put_doubt_rows(&table, "A: ", shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A));
    sp_put_doubt_rows(&table, "B: ", shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B));
    if (totals.data) put_data(&table, diff, &totals);
    sp_table_render(&table, text, options);
}

/* How the names of A become those of B: "module.* -> *, transposed  24 tensors", a line for each translation. */
static void put_mappings(const struct shapeproof_diff *diff, struct sp_text *text,
                         const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {
        {NULL, SP_LEFT}, {NULL, SP_LEFT}, {NULL, SP_LEFT}, {NULL, SP_RIGHT}, {NULL, SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 5};
    if (!shapeproof_diff_mapping_count(diff)) return;
    sp_put_heading(text, options, "renamed");
    for (size_t i = 0; i < shapeproof_diff_mapping_count(diff); i++) {
        const struct shapeproof_diff_mapping *mapping = shapeproof_diff_mapping(diff, i);
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
}

void sp_put_compared_sides(const struct shapeproof_diff *diff, struct sp_text *text,
                           const struct shapeproof_report_options *options)
{
    put_both_sides(diff, text, options);
    put_mappings(diff, text, options);
}

/* A finding that shares its line with no other. */
static struct shapeproof_diff_group group_of_one(const struct shapeproof_diff_finding *finding)
{
    return (struct shapeproof_diff_group){finding->name, 1, finding};
}

/*   error    h.{0,1}.w is in A alone: F32 (2) (2 tensors); of a single tensor with its other name in B */
static void put_diff_group(struct sp_text *text, const struct shapeproof_report_options *options,
                           const struct shapeproof_diff_group *group)
{
    const struct shapeproof_diff_finding *finding = group->first;
    sp_put_severity(text, options, finding->severity);
    const size_t begin = text->length;
    sp_put_visible(text, group->name);
    sp_text_puts(text, " ");
    if (group->count == 1 && finding->other && finding->kind != SHAPEPROOF_DIFF_FINDING_RENAMED) {
        sp_text_puts(text, "(");
        sp_put_visible(text, finding->other);
        sp_text_puts(text, " in B) ");
    }
    sp_put_visible(text, finding->message);
    if (group->count == 1 && finding->detail) sp_text_printf(text, ", %s", finding->detail);
    if (group->count > 1) sp_text_printf(text, " (%zu tensors)", group->count);
    sp_put_reason(text, finding->reason);
    sp_end_item(text, begin);
}

/* The two parts of what was found. */
enum part {
    FINDINGS, /* errors and warnings */
    NOTES
};

/* Whether a conversion changed the dtype: a note that nobody has to expect. */
static bool is_converted_dtype(const struct shapeproof_diff_finding *finding)
{
    return finding->kind == SHAPEPROOF_DIFF_FINDING_DTYPE && finding->severity == SHAPEPROOF_SEVERITY_NOTE &&
           !finding->reason;
}

/* Whether a finding has a line in that part. Without --all what is renamed was said above; of state and of the dtypes
 * of a conversion only the numbers are said. */
static bool is_shown(const struct shapeproof_diff_finding *finding, enum part part, bool all)
{
    const bool in_short = finding->kind == SHAPEPROOF_DIFF_FINDING_RENAMED ||
                          finding->kind == SHAPEPROOF_DIFF_FINDING_STATE || is_converted_dtype(finding);
    if (in_short && !all) return false;
    return (finding->severity == SHAPEPROOF_SEVERITY_NOTE) == (part == NOTES);
}

/*   note     24 tensors renamed (expected: the names of 2021); nothing for none. */
static void put_expected_names(struct sp_text *text, const struct shapeproof_report_options *options, size_t count,
                               const char *reason)
{
    if (!count) return;
    sp_put_severity(text, options, SHAPEPROOF_SEVERITY_NOTE);
    const size_t begin = text->length;
    sp_put_count(text, count, "tensor renamed", "tensors renamed");
    sp_put_reason(text, reason);
    sp_end_item(text, begin);
}

/* How many of the renamed ones are expected, for each reason. */
static void put_all_expected_names(const struct shapeproof_diff *diff, struct sp_text *text,
                                   const struct shapeproof_report_options *options)
{
    const char *reason = NULL;
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++) {
        const struct shapeproof_diff_finding *finding = shapeproof_diff_finding(diff, i);
        if (finding->kind != SHAPEPROOF_DIFF_FINDING_RENAMED || !finding->reason) continue;
        if (finding->reason != reason) {
            put_expected_names(text, options, count, reason);
            count = 0;
        }
        reason = finding->reason;
        count++;
    }
    put_expected_names(text, options, count, reason);
}

/* Of optimizer or trainer state only how much there is in A alone, and in B. */
static void put_state(const struct shapeproof_diff *diff, struct sp_text *text,
                      const struct shapeproof_report_options *options)
{
    size_t in_a = 0, in_b = 0;
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++) {
        const struct shapeproof_diff_finding *finding = shapeproof_diff_finding(diff, i);
        if (finding->kind != SHAPEPROOF_DIFF_FINDING_STATE) continue;
        in_a += finding->b == SHAPEPROOF_NONE;
        in_b += finding->a == SHAPEPROOF_NONE;
    }
    for (int side = 0; side < 2; side++) {
        const size_t count = side ? in_b : in_a;
        if (!count) continue;
        sp_put_severity(text, options, SHAPEPROOF_SEVERITY_NOTE);
        sp_put_count(text, count, "tensor", "tensors");
        sp_text_printf(text, " of state beside the model in %s alone\n", side ? "B" : "A");
    }
}

/*   note     5 tensors: BF16 in A, F32 in B; a line for each pair of dtypes that a conversion changed. */
static void put_converted_dtypes(const struct shapeproof_diff *diff, struct sp_text *text,
                                 const struct shapeproof_report_options *options)
{
    struct sp_map said = {0};
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++) {
        const struct shapeproof_diff_finding *first = shapeproof_diff_finding(diff, i);
        if (!is_converted_dtype(first) || !sp_map_add(&said, first->message, i)) continue;
        size_t count = 0;
        for (size_t k = i; k < shapeproof_diff_finding_count(diff); k++) {
            const struct shapeproof_diff_finding *finding = shapeproof_diff_finding(diff, k);
            count += is_converted_dtype(finding) && strcmp(finding->message, first->message) == 0;
        }
        sp_put_severity(text, options, SHAPEPROOF_SEVERITY_NOTE);
        sp_put_count(text, count, "tensor", "tensors");
        sp_text_puts(text, ": ");
        sp_put_visible(text, first->message);
        sp_text_puts(text, "\n");
    }
    sp_map_free(&said);
}

/* A line for each, or for each group as far as there is room for them. */
static void put_diff_groups(const struct shapeproof_diff *diff, struct sp_text *body,
                            const struct shapeproof_report_options *options, enum part part, size_t room)
{
    const size_t count = options->all ? shapeproof_diff_finding_count(diff) : shapeproof_diff_group_count(diff);
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_diff_group shown =
            options->all ? group_of_one(shapeproof_diff_finding(diff, i)) : *shapeproof_diff_group(diff, i);
        const size_t end = body->length;
        if (!is_shown(shown.first, part, options->all)) continue;
        if (!left) put_diff_group(body, options, &shown);
        if (!left && (options->all || sp_count_lines(body) <= room)) continue;
        if (!left) sp_cut_back(body, end);
        left += shown.count;
    }
    if (left) sp_text_printf(body, "  ... and %zu more; --all lists them\n", left);
}

static bool has_notes(const struct shapeproof_diff *diff)
{
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++)
        if (shapeproof_diff_finding(diff, i)->severity == SHAPEPROOF_SEVERITY_NOTE) return true;
    return false;
}

/* One of the parts under its heading, as long as the report has room for it; nothing when it is empty. */
static void put_diff_findings(const struct shapeproof_diff *diff, struct sp_text *text,
                              const struct shapeproof_report_options *options, enum part part)
{
    enum {
        HEADING = 2,
        MORE = 1,
        FEWEST = 4
    }; /* lines: of a heading, of "... and 5 more", and of the findings at least */
    struct sp_text body = {0};
    /* the findings leave room for a few notes */
    const size_t below = part == FINDINGS && has_notes(diff) ? HEADING + FEWEST : 0;
    const size_t taken = sp_count_lines(text) + HEADING + MORE + below;
    put_diff_groups(diff, &body, options, part, taken + FEWEST < SP_MOST_LINES ? SP_MOST_LINES - taken : FEWEST);
    if (part == NOTES && !options->all) {
        put_all_expected_names(diff, &body, options);
        put_converted_dtypes(diff, &body, options);
        put_state(diff, &body, options);
    }
    if (body.length) {
        sp_put_heading(text, options, part == NOTES ? "notes" : "findings");
        sp_text_append(text, body.data, body.length);
    }
    sp_text_free(&body);
}

char *shapeproof_report_diff(const struct shapeproof_diff *diff, const struct shapeproof_report_options *options,
                             size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    SP_BUDGET_REUSE(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A));
    SP_BUDGET_REUSE(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B));
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) {
        diff_put_json(diff, &text);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_HTML) {
        sp_html_diff(diff, &text, options);
        return sp_text_take(&text, length);
    }
    if (options->format == SHAPEPROOF_REPORT_CSV || options->format == SHAPEPROOF_REPORT_MARKDOWN) {
        (options->format == SHAPEPROOF_REPORT_CSV ? sp_csv_diff : sp_markdown_diff)(&text, diff);
        return sp_text_take(&text, length);
    }
    sp_color_puts(&text, options->color, shapeproof_diff_is_same(diff) ? SP_COLOR_GREEN : SP_COLOR_RED,
                  sp_diff_verdict(diff));
    sp_text_puts(&text, ": ");
    sp_put_visible(&text, shapeproof_diff_summary(diff));
    sp_text_puts(&text, "\n\n");
    sp_put_compared_sides(diff, &text, options);
    put_diff_findings(diff, &text, options, FINDINGS);
    put_diff_findings(diff, &text, options, NOTES);
    return sp_text_take(&text, length);
}
