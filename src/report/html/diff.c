/* SPDX-License-Identifier: MIT
 * Two checkpoints as HTML: the verdict, what grew and shrank, findings, the tensors of both. */
#include "report/diff.h"

#include <stdlib.h>

#include "report/html/html.h"

/* ---- findings ---- */

static void put_finding_row(struct sp_text *html, const struct shapeproof_diff_group *group)
{
    const struct shapeproof_diff_finding *finding = group->first;
    sp_text_puts(html, "<tr><td>");
    sp_html_severity(html, finding->severity);
    sp_text_puts(html, "</td><th scope=\"row\">");
    sp_html_name(html, group->name);
    sp_text_puts(html, "</th><td class=\"number\">");
    sp_text_grouped(html, group->count);
    sp_text_puts(html, "</td><td class=\"remark\">");
    sp_html_text(html, finding->message);
    if (group->count == 1 && finding->detail) {
        sp_text_puts(html, ", ");
        sp_html_text(html, finding->detail);
    }
    if (finding->reason) {
        sp_text_puts(html, " (expected: ");
        sp_html_text(html, finding->reason);
        sp_text_puts(html, ")");
    }
    sp_text_puts(html, "</td></tr>\n");
}

static void put_findings(const struct shapeproof_diff *diff, struct sp_text *html)
{
    const size_t count = shapeproof_diff_group_count(diff);
    if (!count) return;
    sp_html_section(html, "Findings");
    sp_text_puts(html, "<div class=\"wide\"><table>\n<thead><tr><td></td><th scope=\"col\">tensor</th><th "
                       "scope=\"col\" class=\"number\">tensors</th><th scope=\"col\">what</th></tr></thead>\n"
                       "<tbody>\n");
    const size_t begin = html->length;
    size_t shown = 0;
    for (; shown < count && sp_html_has_room(html, begin, shown); shown++)
        put_finding_row(html, shapeproof_diff_group(diff, shown));
    sp_text_puts(html, "</tbody>\n</table></div>\n");
    if (shown == count) return;
    sp_text_puts(html, "<p>... and ");
    sp_put_count(html, count - shown, "more row", "more rows");
    sp_text_puts(html, ". <code>--format json</code> lists all findings.</p>\n");
}

/* ---- tensors ---- */

/* The findings about each tensor of A, and about each of B that A has not: the worst, or NULL. */
struct findings {
    const struct shapeproof_diff_finding **of_a, **of_b;
};

static const struct shapeproof_diff_finding **no_findings(const struct shapeproof_inventory *inventory)
{
    const size_t count = shapeproof_inventory_count(inventory);
    const struct shapeproof_diff_finding **findings = sp_realloc(NULL, count + 1, sizeof *findings);
    for (size_t i = 0; i < count; i++) findings[i] = NULL;
    return findings;
}

static struct findings worst_findings(const struct shapeproof_diff *diff)
{
    const struct findings worst = {no_findings(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A)),
                                   no_findings(shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B))};
    for (size_t i = 0; i < shapeproof_diff_finding_count(diff); i++) {
        const struct shapeproof_diff_finding *finding = shapeproof_diff_finding(diff, i);
        const struct shapeproof_diff_finding **there = finding->a != SHAPEPROOF_NONE   ? &worst.of_a[finding->a]
                                                       : finding->b != SHAPEPROOF_NONE ? &worst.of_b[finding->b]
                                                                                       : NULL;
        if (there && (!*there || finding->severity > (*there)->severity)) *there = finding;
    }
    return worst;
}

/* "F32 (768, 50257)" */
static const char *describe_tensor(struct sp_html_tensors *tensors, const struct shapeproof_tensor *tensor)
{
    struct sp_text text = {0};
    sp_put_visible(&text, tensor->dtype_name);
    if (!(tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE)) {
        sp_text_puts(&text, " ");
        sp_put_shape(&text, tensor->shape, tensor->rank);
    }
    return sp_text_keep(&text, &tensors->arena);
}

/* What a tensor of either side, or of both, adds to the list; NULL for what a side does not have. */
static void list_pair(const struct shapeproof_tensor *a, const struct shapeproof_tensor *b,
                      const struct shapeproof_diff_finding *finding, struct sp_html_tensors *tensors)
{
    const bool a_counts = a && a->same_as == SHAPEPROOF_NONE, b_counts = b && b->same_as == SHAPEPROOF_NONE;
    const bool is_note = finding && finding->severity == SHAPEPROOF_SEVERITY_NOTE;
    *SP_PUSH(tensors) = (struct sp_html_tensor){.name = a ? a->name : b->name,
                                                .before = a ? describe_tensor(tensors, a) : NULL,
                                                .after = b ? describe_tensor(tensors, b) : NULL,
                                                .parameters = b_counts ? b->parameters : 0,
                                                .bytes = b_counts ? b->bytes : 0,
                                                .parameters_before = a_counts ? a->parameters : 0,
                                                .bytes_before = a_counts ? a->bytes : 0,
                                                .state = !a        ? SP_HTML_ADDED
                                                         : !b      ? SP_HTML_REMOVED
                                                         : is_note ? SP_HTML_NOTE
                                                         : finding ? SP_HTML_CHANGED
                                                                   : SP_HTML_PLAIN,
                                                .note = finding ? finding->message : NULL};
}

static void list_tensors(const struct shapeproof_diff *diff, struct sp_html_tensors *tensors)
{
    const struct shapeproof_inventory *a = shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A),
                                      *b = shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B);
    const struct findings worst = worst_findings(diff);
    for (size_t i = 0; i < shapeproof_inventory_count(a); i++) {
        const size_t other = shapeproof_diff_counterpart(diff, SHAPEPROOF_DIFF_A, i);
        list_pair(shapeproof_inventory_tensor(a, i),
                  other == SHAPEPROOF_NONE ? NULL : shapeproof_inventory_tensor(b, other), worst.of_a[i], tensors);
    }
    for (size_t i = 0; i < shapeproof_inventory_count(b); i++)
        if (shapeproof_diff_counterpart(diff, SHAPEPROOF_DIFF_B, i) == SHAPEPROOF_NONE)
            list_pair(NULL, shapeproof_inventory_tensor(b, i), worst.of_b[i], tensors);
    sp_free(worst.of_a);
    sp_free(worst.of_b);
}

void sp_html_diff(const struct shapeproof_diff *diff, struct sp_text *html,
                  const struct shapeproof_report_options *options)
{
    const struct shapeproof_inventory *a = shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_A),
                                      *b = shapeproof_diff_inventory(diff, SHAPEPROOF_DIFF_B);
    const bool is_same = shapeproof_diff_is_same(diff);
    struct sp_html_tensors tensors = {.kind = SP_HTML_DIFF};
    struct sp_text subject = {0};
    list_tensors(diff, &tensors);
    sp_text_printf(&subject, "%s \u2192 %s", shapeproof_inventory_path(a), shapeproof_inventory_path(b));
    sp_html_begin(html, &(struct sp_html_title){.command = "diff",
                                                .subject = subject.data,
                                                .verdict = is_same ? "same" : "differs",
                                                .color = is_same ? SP_COLOR_GREEN : SP_COLOR_RED,
                                                .line = shapeproof_diff_summary(diff)});
    sp_text_free(&subject);
    sp_put_compared_sides(diff, html, options);
    put_findings(diff, html);
    sp_html_warnings(html, "Warnings about A", a, NULL);
    sp_html_warnings(html, "Warnings about B", b, NULL);
    sp_html_modules(html, &tensors);
    sp_html_tensors(html, &tensors);
    sp_html_end(html);
    sp_html_tensors_free(&tensors);
}
