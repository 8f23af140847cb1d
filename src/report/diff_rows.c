/* SPDX-License-Identifier: MIT
 * A comparison as CSV, for spreadsheets, and as Markdown, to be pasted into a pull request. */
#include "report/csv.h"
#include "report/diff.h"
#include "report/markdown.h"
#include "shapeproof/diff.h"

void sp_csv_diff(struct sp_text *text, const struct shapeproof_diff *diff)
{
    static const char *const titles[] = {"severity", "id", "tensor", "other", "message", "detail", "reason", NULL};
    struct sp_csv csv = {.text = text};
    sp_csv_heading(&csv, titles);
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++) {
        const struct shapeproof_diff_finding *finding = shapeproof_diff_finding(diff, i);
        sp_csv_field(&csv, shapeproof_severity_name(finding->severity));
        sp_csv_field(&csv, finding->id);
        sp_csv_field(&csv, finding->name);
        sp_csv_field(&csv, finding->other);
        sp_csv_field(&csv, finding->message);
        sp_csv_field(&csv, finding->detail);
        sp_csv_field(&csv, finding->reason);
        sp_csv_end_row(&csv);
    }
}

/* | A | `model.pt` | torch-zip | 28 | 7,872 | */
static void markdown_side(struct sp_text *text, const char *side, const struct shapeproof_inventory *inventory)
{
    const struct shapeproof_totals *totals = shapeproof_inventory_totals(inventory);
    sp_text_printf(text, "| %s | ", side);
    sp_markdown_cell_code(text, shapeproof_inventory_path(inventory));
    sp_text_printf(text, " | %s | ", shapeproof_inventory_format(inventory));
    sp_text_grouped(text, totals->tensors);
    sp_text_puts(text, " | ");
    sp_text_grouped(text, totals->unique_parameters);
    sp_text_puts(text, " |\n");
}

/* | error | `h.{0,1}.w` is in A alone: F32 (2) | 2 | */
static void markdown_finding(struct sp_text *text, const struct shapeproof_diff_group *group)
{
    const struct shapeproof_diff_finding *finding = group->first;
    sp_text_printf(text, "| %s | ", shapeproof_severity_name(finding->severity));
    sp_markdown_cell_code(text, group->name);
    sp_text_puts(text, " ");
    sp_markdown_text(text, finding->message);
    if (group->count == 1 && finding->detail) {
        sp_text_puts(text, ", ");
        sp_markdown_text(text, finding->detail);
    }
    if (finding->reason) {
        sp_text_puts(text, " (expected: ");
        sp_markdown_text(text, finding->reason);
        sp_text_puts(text, ")");
    }
    sp_text_puts(text, " | ");
    sp_text_grouped(text, group->count);
    sp_text_puts(text, " |\n");
}

/* - 24 tensors renamed: `module.*` to `*`, transposed */
static void markdown_mapping(struct sp_text *text, const struct shapeproof_diff_mapping *mapping)
{
    sp_text_puts(text, "- ");
    sp_put_count(text, mapping->tensors, "tensor", "tensors");
    sp_text_puts(text, " renamed: ");
    sp_markdown_code(text, mapping->from);
    sp_text_puts(text, " to ");
    sp_markdown_code(text, mapping->to);
    sp_text_puts(text, mapping->transposed ? ", transposed\n" : "\n");
}

/* Whether the finding has a row: renamed tensors are in the list of renamings, and notes are left out. */
static bool has_markdown_row(const struct shapeproof_diff_finding *finding)
{
    return finding->severity != SHAPEPROOF_SEVERITY_NOTE && finding->kind != SHAPEPROOF_DIFF_FINDING_RENAMED;
}

void sp_markdown_diff(struct sp_text *text, const struct shapeproof_diff *diff)
{
    bool any = false;
    sp_text_puts(text, shapeproof_diff_is_same(diff) ? "**same**: " : "**differs**: ");
    sp_markdown_text(text, shapeproof_diff_summary(diff));
    sp_text_puts(text, "\n\n| | checkpoint | format | tensors | elements |\n|---|---|---|--:|--:|\n");
    markdown_side(text, "A", shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A));
    markdown_side(text, "B", shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B));
    for (size_t i = 0; i < shapeproof_diff_group_count(diff); i++) {
        const struct shapeproof_diff_group *group = shapeproof_diff_group(diff, i);
        if (!has_markdown_row(group->first)) continue;
        if (!any) sp_text_puts(text, "\n| severity | what | tensors |\n|---|---|--:|\n");
        any = true;
        markdown_finding(text, group);
    }
    for (size_t i = 0; i < shapeproof_diff_mapping_count(diff); i++) {
        if (!i) sp_text_puts(text, "\n");
        markdown_mapping(text, shapeproof_diff_mapping(diff, i));
    }
}
