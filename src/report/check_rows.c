/* SPDX-License-Identifier: MIT
 * A check as CSV, for spreadsheets, and as Markdown, to be pasted into a pull request. */
#include <string.h>

#include "report/check.h"
#include "report/csv.h"
#include "report/markdown.h"
#include "shapeproof/load.h"

/* ---- CSV ---- */

void sp_csv_check_heading(struct sp_csv *csv)
{
    static const char *const titles[] = {"checkpoint", "severity", "id",    "tensor", "expected",
                                         "found",      "message",  "cause", "reason", NULL};
    sp_csv_heading(csv, titles);
}

/* Causes that explain no finding, such as a prefix of all names, are rows without a tensor. */
static void csv_cause(struct sp_csv *csv, const char *path, const struct shapeproof_cause *cause)
{
    sp_csv_field(csv, path);
    sp_csv_field(csv, shapeproof_severity_name(cause->severity));
    sp_csv_field(csv, cause->id);
    for (int i = 0; i < 3; i++) sp_csv_field(csv, NULL);
    sp_csv_field(csv, cause->message);
    sp_csv_field(csv, cause->id);
    sp_csv_field(csv, NULL);
    sp_csv_end_row(csv);
}

static void csv_finding(struct sp_csv *csv, const char *path, const struct shapeproof_check *check,
                        const struct shapeproof_finding *finding)
{
    const bool is_explained = finding->cause != SHAPEPROOF_NONE;
    sp_csv_field(csv, path);
    sp_csv_field(csv, shapeproof_severity_name(finding->severity));
    sp_csv_field(csv, finding->id);
    sp_csv_field(csv, finding->name);
    sp_csv_field(csv, finding->expected);
    sp_csv_field(csv, finding->found);
    sp_csv_field(csv, finding->message);
    sp_csv_field(csv, is_explained ? shapeproof_check_cause(check, finding->cause)->id : NULL);
    sp_csv_field(csv, finding->reason);
    sp_csv_end_row(csv);
}

/* Whether there is a row of a finding that names the cause. */
static bool has_findings(const struct shapeproof_check *check, size_t cause)
{
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++)
        if (shapeproof_check_finding(check, i)->cause == cause) return true;
    return false;
}

void sp_csv_check(struct sp_csv *csv, const struct shapeproof_check *check)
{
    const char *path = shapeproof_inventory_path(shapeproof_check_inventory(check));
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++)
        if (!has_findings(check, i)) csv_cause(csv, path, shapeproof_check_cause(check, i));
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++)
        csv_finding(csv, path, check, shapeproof_check_finding(check, i));
}

/* ---- Markdown ---- */

/* | error | the file lacks biases that gpt2 always has. Hint: convert the model again | 2 | */
static void markdown_cause(struct sp_text *text, const struct shapeproof_cause *cause)
{
    sp_text_printf(text, "| %s | ", shapeproof_severity_name(cause->severity));
    sp_markdown_text(text, cause->message);
    if (cause->hint) {
        sp_text_puts(text, ". Hint: ");
        sp_markdown_text(text, cause->hint);
    }
    sp_text_puts(text, " | ");
    if (cause->explains) sp_text_grouped(text, cause->explains);
    sp_text_puts(text, " |\n");
}

/* | error | `h.{0-4}.ln.weight` is missing: (768) | 5 | */
static void markdown_finding(struct sp_text *text, const struct shapeproof_finding_group *group)
{
    const struct shapeproof_finding *finding = group->first;
    sp_text_printf(text, "| %s | ", shapeproof_severity_name(finding->severity));
    sp_markdown_cell_code(text, group->name);
    sp_text_puts(text, " ");
    sp_markdown_text(text, finding->message);
    sp_put_sole_shape(text, finding);
    if (finding->reason) {
        sp_text_puts(text, " (expected: ");
        sp_markdown_text(text, finding->reason);
        sp_text_puts(text, ")");
    }
    sp_text_printf(text, " | %zu |\n", group->count);
}

/* A finding that a cause explains is in the row of the cause; one that was expected has a row for its reason. */
static bool has_markdown_row(const struct shapeproof_finding *finding)
{
    return finding->cause == SHAPEPROOF_NONE || finding->reason;
}

static void put_markdown_table(struct sp_text *text, const struct shapeproof_check *check)
{
    const size_t before = text->length;
    sp_text_puts(text, "\n| severity | what | tensors |\n|---|---|--:|\n");
    const size_t begin = text->length;
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++)
        markdown_cause(text, shapeproof_check_cause(check, i));
    for (size_t i = 0; i < shapeproof_check_group_count(check); i++)
        if (has_markdown_row(shapeproof_check_group(check, i)->first))
            markdown_finding(text, shapeproof_check_group(check, i));
    if (text->length > begin) return;
    text->length = before; /* a table without rows says nothing */
    text->data[before] = '\0';
}

/* What loaders make of the checkpoint, and claims that do not hold, as items of a list. */
static void put_markdown_list(struct sp_text *text, const struct shapeproof_loadings *loadings,
                              const struct shapeproof_verification *claims)
{
    bool any = false;
    for (size_t i = 0; loadings && i < shapeproof_loading_count(loadings); i++) {
        sp_text_puts(text, any ? "- " : "\n- ");
        sp_markdown_text(text, shapeproof_loading(loadings, i)->message);
        sp_text_puts(text, "\n");
        any = true;
    }
    for (size_t i = 0; claims && i < shapeproof_verification_claim_count(claims); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(claims, i);
        const bool fails = claim->answer == SHAPEPROOF_CLAIM_FAILS;
        const char *why = fails ? claim->difference : claim->why;
        if (claim->proof->erratum || claim->answer == SHAPEPROOF_CLAIM_OTHER) continue;
        sp_text_puts(text, any ? "- " : "\n- ");
        sp_markdown_code(text, claim->proof->claim);
        sp_text_puts(text, claim->answer == SHAPEPROOF_CLAIM_HOLDS ? " holds"
                           : fails                                 ? " **fails**"
                                                                   : " is not decided");
        if (why) {
            sp_text_puts(text, ": ");
            sp_markdown_text(text, why);
        }
        sp_text_puts(text, "\n");
        any = true;
    }
}

void sp_markdown_check(struct sp_text *text, const struct shapeproof_check *check,
                       const struct shapeproof_report_options *options)
{
    const char *verdict = shapeproof_verdict_name(shapeproof_check_verdict(check));
    sp_text_printf(text, "**%s**: ", verdict);
    sp_markdown_text(text, shapeproof_check_headline(check));
    sp_text_puts(text, "\n\n");
    sp_markdown_code(text, shapeproof_inventory_path(shapeproof_check_inventory(check)));
    sp_text_puts(text, " with the table ");
    sp_markdown_code(text, shapeproof_prediction_table(shapeproof_check_prediction(check)));
    sp_text_puts(text, "\n");
    put_markdown_table(text, check);
    put_markdown_list(text, options->loadings, options->claims);
}
