/* SPDX-License-Identifier: MIT
 * Texts of several lines: what is known of the selected line, what the check says, what the keys do. */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "browse/screen.h"
#include "report/wrap.h"

/* A text that is made line by line. */
struct page {
    struct sp_text *text;
    size_t columns;
    bool unicode;
};

void sp_make_ascii(struct sp_text *text)
{
    struct sp_text ascii = {0};
    for (size_t i = 0; i < text->length;) {
        uint32_t code;
        const size_t length = sp_utf8_decode(text->data + i, text->length - i, &code);
        if (length && code < 0x80) sp_text_append(&ascii, text->data + i, 1);
        else sp_text_printf(&ascii, "\\u{%" PRIx32 "}", length ? code : UINT32_C(0xfffd));
        i += length ? length : 1;
    }
    sp_text_free(text);
    *text = ascii;
}

/* Ends a paragraph, which is `said`: it goes on below its own beginning, `indent` columns from the left. */
static void put_paragraph(const struct page *page, const char *label, size_t indent, struct sp_text *said)
{
    sp_text_puts(page->text, label);
    if (strlen(label) < indent) sp_text_pad(page->text, indent - strlen(label));
    const size_t begin = page->text->length;
    if (said->length && !page->unicode) sp_make_ascii(said);
    if (said->length) sp_text_append(page->text, said->data, said->length);
    sp_wrap_to(page->text, begin, indent, page->columns);
    sp_text_puts(page->text, "\n");
    said->length = 0;
}

/* ---- the selected line ---- */

enum { LABEL = 11 }; /* columns of the words at the left */

/* Each finding about a tensor, with its cause. */
static void put_findings_of(const struct sp_browser *browser, const struct page *page, const struct sp_name_node *leaf)
{
    struct sp_text text = {0};
    for (size_t i = sp_browser_finding(browser, leaf); i != SIZE_MAX; i = browser->next_finding[i]) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(browser->check, i);
        sp_put_visible(&text, finding->message);
        if (finding->expected && !strstr(finding->message, finding->expected)) {
            sp_text_puts(&text, "; predicted: ");
            sp_put_visible(&text, finding->expected);
        }
        put_paragraph(page, shapeproof_severity_name(finding->severity), LABEL, &text);
        if (finding->reason) {
            sp_put_visible(&text, finding->reason);
            put_paragraph(page, "expected", LABEL, &text);
        }
        if (finding->cause == SHAPEPROOF_NONE) continue;
        sp_put_visible(&text, shapeproof_check_cause(browser->check, finding->cause)->message);
        put_paragraph(page, "cause", LABEL, &text);
    }
    sp_text_free(&text);
}

/* "4 x ": how many the line stands for. */
static void put_times(struct sp_text *text, const struct sp_name_node *node)
{
    if (node->folded == 1) return;
    sp_text_grouped(text, node->folded);
    sp_text_puts(text, " x ");
}

static void put_exact_bytes(struct sp_text *text, uint64_t bytes)
{
    sp_put_count(text, bytes, "byte", "bytes");
    if (bytes < 1024) return;
    sp_text_puts(text, " (");
    sp_put_bytes(text, bytes);
    sp_text_puts(text, ")");
}

/* What the format tells of a tensor besides its shape. */
static void put_flags(struct sp_text *text, const struct shapeproof_tensor *tensor)
{
    static const struct {
        uint32_t flag;
        const char *words;
    } flags[] = {{SHAPEPROOF_TENSOR_VIEW, "overlaps another tensor of its storage"},
                 {SHAPEPROOF_TENSOR_EXPANDED, "expanded: several elements at one place of its storage"},
                 {SHAPEPROOF_TENSOR_NO_DATA, "the file has no data for it"},
                 {SHAPEPROOF_TENSOR_STATE, "state of an optimizer or trainer, not part of the model"},
                 {SHAPEPROOF_TENSOR_BIG_ENDIAN, "big-endian"},
                 {SHAPEPROOF_TENSOR_NEGATED, "negated or conjugated when it is read"},
                 {SHAPEPROOF_TENSOR_SPARSE, "sparse: indices and values are stored"}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!(tensor->flags & flags[i].flag)) continue;
        if (text->length) sp_text_puts(text, "; ");
        sp_text_puts(text, flags[i].words);
    }
}

static void put_tensor(const struct sp_browser *browser, const struct page *page, const struct sp_name_node *node)
{
    const struct shapeproof_tensor *tensor = node->tensor;
    const bool is_absent = sp_browser_is_absent(browser, node);
    struct sp_text text = {0};
    put_times(&text, node);
    if (!is_absent) {
        sp_put_visible(&text, tensor->dtype_name);
        sp_text_puts(&text, " ");
    }
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) sp_text_puts(&text, "no shape");
    else sp_put_shape(&text, tensor->shape, tensor->rank);
    sp_text_puts(&text, ", ");
    sp_put_count(&text, tensor->parameters, "parameter", "parameters");
    if (!is_absent && tensor->bytes) {
        sp_text_puts(&text, ", ");
        put_exact_bytes(&text, tensor->bytes);
    }
    put_paragraph(page, is_absent ? "predicted" : "stored", LABEL, &text);
    put_findings_of(browser, page, node);
    if (is_absent) {
        sp_text_free(&text);
        return;
    }
    if (node->folded == 1) {
        sp_put_visible(&text, shapeproof_inventory_file(browser->inventory, tensor->file));
        if (tensor->data_end) {
            sp_text_puts(&text, ", bytes ");
            sp_text_grouped(&text, tensor->data_begin);
            sp_text_puts(&text, " to ");
            sp_text_grouped(&text, tensor->data_end);
        }
        put_paragraph(page, "in", LABEL, &text);
        if (tensor->same_as != SHAPEPROOF_NONE) {
            sp_put_visible(&text, shapeproof_inventory_tensor(browser->inventory, tensor->same_as)->name);
            put_paragraph(page, "same as", LABEL, &text);
        }
    } else {
        sp_text_puts(&text, "m ends the merging, and shows file and offset of each");
        put_paragraph(page, "in", LABEL, &text);
    }
    put_flags(&text, tensor);
    if (text.length) put_paragraph(page, "note", LABEL, &text);
    sp_text_free(&text);
}

static void put_module(const struct sp_browser *browser, const struct page *page, const struct sp_name_node *node)
{
    const struct sp_browse_node *known = &browser->nodes[node->index];
    const char *between = "";
    struct sp_text text = {0};
    put_times(&text, node);
    if (node->folded > 1) sp_text_puts(&text, "(");
    sp_put_count(&text, node->tensors, "tensor, ", "tensors, ");
    sp_put_count(&text, node->parameters, "parameter, ", "parameters, ");
    put_exact_bytes(&text, node->bytes);
    if (node->folded > 1) sp_text_puts(&text, ")");
    put_paragraph(page, "stored", LABEL, &text);
    for (size_t i = 0; i < browser->dtype_count; i++)
        if (known->dtypes >> i & 1) {
            sp_text_puts(&text, between);
            sp_put_visible(&text, browser->dtype_names[i]);
            between = ", ";
        }
    if (text.length) put_paragraph(page, "dtype", LABEL, &text);
    for (size_t i = SHAPEPROOF_SEVERITY_ERROR + 1; i-- > 0;) {
        if (!known->findings[i]) continue;
        if (text.length) sp_text_puts(&text, ", ");
        put_times(&text, node);
        sp_text_grouped(&text, known->findings[i]);
        sp_text_printf(&text, " %s%s", shapeproof_severity_name((enum shapeproof_severity)i),
                       known->findings[i] == 1 ? "" : "s");
    }
    if (text.length) {
        sp_text_puts(&text, "; f goes to the next, c lists the causes");
        put_paragraph(page, "findings", LABEL, &text);
    }
    sp_text_free(&text);
}

void sp_browser_put_details(const struct sp_browser *browser, struct sp_text *text, size_t columns, bool unicode)
{
    const struct page page = {.text = text, .columns = columns, .unicode = unicode};
    const struct sp_name_node *node = sp_browser_selected(browser)->node;
    if (node->tensor) put_tensor(browser, &page, node);
    else put_module(browser, &page, node);
}

/* ---- the check ---- */

static void put_causes(const struct sp_browser *browser, const struct page *page)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < shapeproof_check_cause_count(browser->check); i++) {
        const struct shapeproof_cause *cause = shapeproof_check_cause(browser->check, i);
        if (!i) put_paragraph(page, "\ncauses", 0, &text);
        sp_put_visible(&text, cause->message);
        put_paragraph(page, shapeproof_severity_name(cause->severity), LABEL, &text);
        if (!cause->hint) continue;
        sp_text_puts(&text, "hint: ");
        sp_put_visible(&text, cause->hint);
        put_paragraph(page, "", LABEL, &text);
    }
    sp_text_free(&text);
}

static void put_groups(const struct sp_browser *browser, const struct page *page)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < shapeproof_check_group_count(browser->check); i++) {
        const struct shapeproof_finding_group *group = shapeproof_check_group(browser->check, i);
        if (!i) put_paragraph(page, "\nfindings", 0, &text);
        sp_put_visible(&text, group->name);
        sp_text_puts(&text, " ");
        sp_put_visible(&text, group->first->message);
        if (group->count > 1) sp_text_printf(&text, " (%zu tensors)", group->count);
        put_paragraph(page, shapeproof_severity_name(group->first->severity), LABEL, &text);
    }
    sp_text_free(&text);
}

static void put_warnings(const struct sp_browser *browser, const struct page *page)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < shapeproof_inventory_warning_count(browser->inventory); i++) {
        if (!i) put_paragraph(page, "\nabout the file", 0, &text);
        sp_put_visible(&text, shapeproof_inventory_warning(browser->inventory, i));
        put_paragraph(page, "warning", LABEL, &text);
    }
    sp_text_free(&text);
}

static void put_check(const struct sp_browser *browser, const struct page *page)
{
    struct sp_text text = {0};
    if (browser->check) {
        sp_text_printf(&text, "%s: ", shapeproof_verdict_name(shapeproof_check_verdict(browser->check)));
        sp_put_visible(&text, shapeproof_check_summary(browser->check));
        put_paragraph(page, "", 0, &text);
        sp_text_puts(&text, shapeproof_prediction_table(shapeproof_check_prediction(browser->check)));
        put_paragraph(page, "table", LABEL, &text);
        put_causes(browser, page);
        put_groups(browser, page);
        if (shapeproof_check_advice(browser->check)) {
            sp_put_visible(&text, shapeproof_check_advice(browser->check));
            put_paragraph(page, "\nadvice", LABEL + 1, &text);
        }
    } else {
        sp_text_puts(&text, "not checked: ");
        sp_put_visible(&text, browser->no_check);
        put_paragraph(page, "", 0, &text);
        sp_text_puts(&text, "--config FILE gives the configuration that the file is checked against");
        put_paragraph(page, "hint", LABEL, &text);
    }
    put_warnings(browser, page);
    sp_text_free(&text);
}

/* ---- the keys ---- */

static void put_help(const struct page *page)
{
    static const struct {
        const char *keys, *what;
    } keys[] = {
        {"up, down, k, j", "the line above, below; also Page Up, Page Down, Home, End, g, G"},
        {"right, l", "open the module; if it is open, go to its first line"},
        {"left, h", "close the module; if it is closed, go to the module around it"},
        {"Enter, space", "open or close the module; of a tensor, show all that is known"},
        {"x, X", "open all modules in the selected one; close all"},
        {"s", "the next order: bytes, parameters, tensors, as in the file, by name"},
        {"m", "show equal layers as one line, layers.{0-31}, or each by itself"},
        {"/", "search for a part of a name; upper and lower case are the same"},
        {"n, N", "the next, the previous line that was found"},
        {"f, F", "the next, the previous tensor with an error or warning of the check; notes if there are neither"},
        {"c", "the verdict of the check, with causes and findings"},
        {"q", "quit, or leave a page such as this one"},
    };
    struct sp_text text = {0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        sp_text_puts(&text, keys[i].what);
        put_paragraph(page, keys[i].keys, 16, &text);
    }
    sp_text_puts(&text,
                 "A letter in front of a name is the worst finding in it: E for an error, W for a warning, n for "
                 "a note. A tensor that is predicted and not in the file is in the tree, and counts nowhere. "
                 "Tied tensors count once.");
    put_paragraph(page, "\n", 0, &text);
    sp_text_free(&text);
}

void sp_browser_put_page(const struct sp_browser *browser, struct sp_text *text, size_t columns, bool unicode)
{
    const struct page page = {.text = text, .columns = columns, .unicode = unicode};
    struct sp_text name = {0};
    switch (browser->page) {
    case SP_PAGE_HELP:
        put_help(&page);
        break;
    case SP_PAGE_CHECK:
        put_check(browser, &page);
        break;
    case SP_PAGE_DETAILS:
        sp_browser_put_name(&name, sp_browser_selected(browser)->node);
        put_paragraph(&page, "name", LABEL, &name);
        sp_text_free(&name);
        sp_browser_put_details(browser, text, columns, unicode);
        break;
    case SP_PAGE_NONE:
        break;
    }
}
