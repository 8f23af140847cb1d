/* SPDX-License-Identifier: MIT
 * A check as HTML: the verdict, causes, findings, what is predicted and stored by group and by tensor. */
#include "report/check.h"

#include <stdlib.h>
#include <string.h>

#include "report/html/html.h"

/* ---- causes ---- */

/* Whether a later cause has the same hint, which is said once. */
static bool is_said_below(const struct shapeproof_check *check, size_t cause)
{
    for (size_t i = cause + 1; i < shapeproof_check_cause_count(check); i++)
        if (shapeproof_check_cause(check, i)->hint == shapeproof_check_cause(check, cause)->hint) return true;
    return false;
}

static void put_causes(const struct shapeproof_check *check, struct sp_text *html)
{
    const size_t count = shapeproof_check_cause_count(check);
    if (!count) return;
    sp_html_section(html, "Causes");
    sp_text_puts(html, "<ul class=\"remarks\">\n");
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_cause *cause = shapeproof_check_cause(check, i);
        sp_text_puts(html, "<li>");
        sp_html_severity(html, cause->severity);
        sp_text_puts(html, " ");
        sp_html_text(html, cause->message);
        if (cause->explains) {
            sp_text_puts(html, " <span class=\"dim\">(");
            sp_put_count(html, cause->explains, "finding", "findings");
            sp_text_puts(html, ")</span>");
        }
        if (cause->hint && !is_said_below(check, i)) {
            sp_text_puts(html, "<br><span class=\"hint\">");
            sp_html_text(html, cause->hint);
            sp_text_puts(html, "</span>");
        }
        sp_text_puts(html, "</li>\n");
    }
    sp_text_puts(html, "</ul>\n");
}

/* ---- findings ---- */

static void put_finding_row(struct sp_text *html, const struct shapeproof_check *check,
                            const struct shapeproof_finding_group *group)
{
    const struct shapeproof_finding *finding = group->first;
    const char *const cells[] = {finding->expected, finding->found};
    const bool has_sides = finding->expected || finding->found;
    sp_text_puts(html, "<tr><td>");
    sp_html_severity(html, finding->severity);
    sp_text_puts(html, "</td><th scope=\"row\">");
    sp_html_name(html, group->name);
    sp_text_puts(html, "</th><td class=\"number\">");
    sp_text_grouped(html, group->count);
    sp_text_puts(html, "</td>");
    for (size_t i = 0; i < 2; i++) {
        sp_text_puts(html, "<td class=\"shape\">");
        if (cells[i]) sp_html_text(html, cells[i]);
        else if (has_sides) sp_text_puts(html, "<span class=\"dim\">&mdash;</span>");
        sp_text_puts(html, "</td>");
    }
    sp_text_puts(html, "<td class=\"remark\">");
    sp_html_text(html, finding->message);
    if (finding->reason) {
        sp_text_puts(html, " (expected: ");
        sp_html_text(html, finding->reason);
        sp_text_puts(html, ")");
    }
    sp_text_puts(html, "</td><td>");
    if (finding->cause != SHAPEPROOF_NONE) sp_html_text(html, shapeproof_check_cause(check, finding->cause)->id);
    sp_text_puts(html, "</td></tr>\n");
}

static void put_findings(const struct shapeproof_check *check, struct sp_text *html)
{
    const size_t count = shapeproof_check_group_count(check);
    if (!count) return;
    sp_html_section(html, "Findings");
    if (shapeproof_check_advice(check)) {
        sp_text_puts(html, "<p class=\"hint\">");
        sp_html_text(html, shapeproof_check_advice(check));
        sp_text_puts(html, "</p>\n");
    }
    sp_text_puts(html, "<div class=\"wide\"><table>\n<thead><tr><td></td><th scope=\"col\">tensor</th><th "
                       "scope=\"col\" class=\"number\">tensors</th><th scope=\"col\">predicted</th><th "
                       "scope=\"col\">stored</th><th scope=\"col\">what</th><th scope=\"col\">cause</th></tr></thead>\n"
                       "<tbody>\n");
    const size_t begin = html->length;
    size_t shown = 0;
    for (; shown < count && sp_html_has_room(html, begin, shown); shown++)
        put_finding_row(html, check, shapeproof_check_group(check, shown));
    sp_text_puts(html, "</tbody>\n</table></div>\n");
    if (shown == count) return;
    sp_text_puts(html, "<p>... and ");
    sp_put_count(html, count - shown, "more row", "more rows");
    sp_text_puts(html, ". <code>--format json</code> lists all findings.</p>\n");
}

/* ---- loaders ---- */

/* What would have to change for loaders to take the checkpoint whole. */
static void put_remedies(struct sp_text *html, const struct shapeproof_loadings *loadings)
{
    for (size_t i = 0; loadings && i < shapeproof_loading_count(loadings); i++) {
        const struct shapeproof_loading *loading = shapeproof_loading(loadings, i);
        if (!loading->remedy) continue;
        sp_text_puts(html, "<p class=\"hint\">");
        sp_html_text(html, loading->loader);
        sp_text_puts(html, ": ");
        sp_html_text(html, loading->remedy);
        sp_text_puts(html, "</p>\n");
    }
}

/* ---- tensors ---- */

static enum sp_html_state state_of(const struct shapeproof_finding *finding)
{
    static const enum sp_html_state states[] = {[SHAPEPROOF_SEVERITY_NOTE] = SP_HTML_NOTE,
                                                [SHAPEPROOF_SEVERITY_WARNING] = SP_HTML_WARNING,
                                                [SHAPEPROOF_SEVERITY_ERROR] = SP_HTML_ERROR};
    return finding ? states[finding->severity] : SP_HTML_PLAIN;
}

/* The worst finding about each tensor of the file, or NULL. To be freed. */
static const struct shapeproof_finding **worst_findings(const struct shapeproof_check *check)
{
    const size_t count = shapeproof_inventory_count(shapeproof_check_inventory(check));
    const struct shapeproof_finding **worst = sp_realloc(NULL, count + 1, sizeof *worst);
    for (size_t i = 0; i < count; i++) worst[i] = NULL;
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        if (finding->tensor == SHAPEPROOF_NONE) continue;
        const struct shapeproof_finding **there = &worst[finding->tensor];
        if (!*there || finding->severity > (*there)->severity) *there = finding;
    }
    return worst;
}

static const char *group_of(const struct shapeproof_prediction *prediction,
                            const struct shapeproof_predicted *predicted)
{
    const char *name = shapeproof_prediction_group(prediction, predicted->group)->name;
    return *name ? name : "tensors";
}

static void list_stored(const struct shapeproof_check *check, size_t index, const struct shapeproof_finding *finding,
                        struct sp_html_tensors *tensors)
{
    const struct shapeproof_inventory *inventory = shapeproof_check_inventory(check);
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(check);
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, index);
    const size_t there = shapeproof_check_counterpart(check, index);
    const struct shapeproof_predicted *predicted =
        there == SHAPEPROOF_NONE ? NULL : shapeproof_prediction_tensor(prediction, there);
    const bool counts = tensor->same_as == SHAPEPROOF_NONE, has_shards = shapeproof_inventory_file_count(inventory) > 1;
    struct sp_text note = {0};
    if (!finding) sp_inspect_put_note(&note, 0, inventory, tensor, true);
    *SP_PUSH(tensors) =
        (struct sp_html_tensor){.name = tensor->name,
                                .dtype = tensor->dtype_name,
                                .before = predicted ? sp_html_predicted_shape(tensors, predicted) : NULL,
                                .after = sp_html_shape(tensors, tensor),
                                .parameters = counts ? tensor->parameters : 0,
                                .bytes = counts ? tensor->bytes : 0,
                                .shard = has_shards ? shapeproof_inventory_file(inventory, tensor->file) : NULL,
                                .group = predicted ? group_of(prediction, predicted) : "not predicted",
                                .state = state_of(finding),
                                .note = finding       ? finding->message
                                        : note.length ? sp_text_keep(&note, &tensors->arena)
                                                      : NULL};
    sp_text_free(&note);
}

/* What is predicted and not stored, with the size that it should have. */
static void list_absent(const struct shapeproof_check *check, const struct shapeproof_finding *finding,
                        struct sp_html_tensors *tensors)
{
    const struct shapeproof_prediction *prediction = shapeproof_check_prediction(check);
    const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(prediction, finding->predicted);
    const bool is_lost = finding->severity != SHAPEPROOF_SEVERITY_NOTE;
    *SP_PUSH(tensors) = (struct sp_html_tensor){.name = finding->name,
                                                .before = sp_html_predicted_shape(tensors, predicted),
                                                .parameters = is_lost ? predicted->parameters : 0,
                                                .group = group_of(prediction, predicted),
                                                .state = state_of(finding),
                                                .note = finding->message};
}

static void put_tensors(const struct shapeproof_check *check, struct sp_text *html)
{
    struct sp_html_tensors tensors = {.kind = SP_HTML_CHECK, .file = shapeproof_check_inventory(check)};
    const struct shapeproof_finding **worst = worst_findings(check);
    for (size_t i = 0; i < shapeproof_inventory_count(shapeproof_check_inventory(check)); i++)
        list_stored(check, i, worst[i], &tensors);
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        if (finding->tensor == SHAPEPROOF_NONE && finding->predicted != SHAPEPROOF_NONE)
            list_absent(check, finding, &tensors);
    }
    sp_html_tensors(html, &tensors);
    sp_html_tensors_free(&tensors);
    sp_free(worst);
}

/* "fused, tied": each cause once. */
static void put_cause_ids(const struct shapeproof_check *check, struct sp_text *text)
{
    sp_text_puts(text, "");
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++) {
        const char *id = shapeproof_check_cause(check, i)->id;
        size_t earlier = 0;
        while (earlier < i && strcmp(shapeproof_check_cause(check, earlier)->id, id) != 0) earlier++;
        if (earlier == i) sp_text_printf(text, "%s%s", text->length ? ", " : "", id);
    }
}

/* The verdict. A check whose verdict is good fails all the same if a loader does not take the file, or a claim fails.
 */
static void begin_page(const struct shapeproof_check *check, struct sp_text *html,
                       const struct shapeproof_report_options *options, bool is_part)
{
    const enum shapeproof_verdict verdict = shapeproof_check_verdict(check);
    const char *word = shapeproof_verdict_name(verdict);
    struct sp_text line = {0}, causes = {0};
    size_t failing = 0;
    sp_put_headline(check, options->loadings, &line);
    for (size_t i = 0; options->claims && i < shapeproof_verification_claim_count(options->claims); i++) {
        const struct shapeproof_verified_claim *claim = shapeproof_verification_claim(options->claims, i);
        failing += claim->answer == SHAPEPROOF_CLAIM_FAILS && !claim->proof->erratum;
    }
    if (failing) sp_text_printf(&line, "; %zu claim%s", failing, failing == 1 ? " fails" : "s fail");
    const bool fails = failing || (options->loadings && shapeproof_loading_failed(options->loadings));
    const size_t findings = shapeproof_check_finding_count(check);
    put_cause_ids(check, &causes);
    const struct sp_html_title title = {.command = "check",
                                        .subject = shapeproof_inventory_path(shapeproof_check_inventory(check)),
                                        .verdict = word,
                                        .color = fails ? SP_COLOR_RED : sp_verdict_color(verdict),
                                        .line = line.data + strlen(word) + strlen(": "),
                                        .findings = &findings,
                                        .totals = shapeproof_inventory_totals(shapeproof_check_inventory(check)),
                                        .note = causes.data};
    (is_part ? sp_html_begin_part : sp_html_begin)(html, &title);
    sp_text_free(&line);
    sp_text_free(&causes);
}

void sp_html_check(const struct shapeproof_check *check, struct sp_text *html,
                   const struct shapeproof_report_options *options, bool is_part)
{
    begin_page(check, html, options, is_part);
    sp_put_compared(check, html, options);
    put_remedies(html, options->loadings);
    put_causes(check, html);
    put_findings(check, html);
    sp_html_warnings(html, "Warnings", shapeproof_check_inventory(check), shapeproof_check_prediction(check));
    if (options->claims) {
        sp_html_groups(html, options->claims);
        sp_html_claims(html, options->claims, options->all);
    }
    sp_html_hyperparameters(html, shapeproof_check_prediction(check));
    if (is_part) sp_html_next_piece(html);
    put_tensors(check, html);
    if (!is_part) sp_html_end(html);
}
