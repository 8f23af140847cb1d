/* SPDX-License-Identifier: MIT
 * The tensors of an HTML report: totals of modules and a table, which need no script, and the data of the map.
 *
 * The data must stay small for 100,000 tensors, so that tensors that differ in the indices of their names alone share
 * a row, and the indices are ranges:
 *
 *     {"kind": "inspect", "strings": ["BF16", "(768)"], "patterns": [["h.", ".ln.weight"]],
 *      "rows": [[0, "0-11", 0, -1, 1, 768, 1536, 0, 0, -1, -1, 0, -1]]}
 *
 * A row is: pattern, indices, dtype, shape before, shape after, parameters, bytes, both before, shard, group, state,
 * note. Strings are places in "strings", -1 for none. Indices are tuples between blanks, of which the last number may
 * be a range: "3.0-255 4.0-255". "parts" has the bytes of the files that are no tensors: [["padding", 2]]. Rows that
 * would make the page too large are left out; "left_out" has what they add up to. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "names/collapse.h"
#include "names/components.h"
#include "names/patterns.h"
#include "report/html/html.h"

const char *sp_html_shape(struct sp_html_tensors *tensors, const struct shapeproof_tensor *tensor)
{
    struct sp_text text = {0};
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) return NULL;
    sp_put_shape(&text, tensor->shape, tensor->rank);
    return sp_text_keep(&text, &tensors->arena);
}

const char *sp_html_predicted_shape(struct sp_html_tensors *tensors, const struct shapeproof_predicted *predicted)
{
    struct sp_text text = {0};
    sp_put_shape(&text, predicted->shape, predicted->rank);
    return sp_text_keep(&text, &tensors->arena);
}

void sp_html_tensors_free(struct sp_html_tensors *tensors)
{
    sp_free(tensors->items);
    sp_arena_free(&tensors->arena);
    *tensors = (struct sp_html_tensors){0};
}

static void put_number_cell(struct sp_text *html, uint64_t number)
{
    sp_text_puts(html, "<td class=\"number\">");
    sp_text_grouped(html, number);
    sp_text_puts(html, "</td>");
}

static void put_bytes_cell(struct sp_text *html, uint64_t bytes)
{
    sp_text_puts(html, "<td class=\"number\">");
    sp_put_bytes(html, bytes);
    sp_text_puts(html, "</td>");
}

/* "+1,024" or "-1,024", coloured; empty for no difference. `put` writes a number. */
static void put_difference_cell(struct sp_text *html, uint64_t before, uint64_t after,
                                void (*put)(struct sp_text *, uint64_t))
{
    sp_text_printf(html, "<td class=\"number%s\">", after > before ? " added" : after < before ? " removed" : "");
    if (after != before) {
        sp_text_puts(html, after > before ? "+" : "-");
        put(html, after > before ? after - before : before - after);
    }
    sp_text_puts(html, "</td>");
}

/* ---- totals of modules ---- */

struct module {
    const char *name;
    size_t tensors;
    uint64_t parameters, bytes, parameters_before, bytes_before;
};

struct modules {
    struct sp_kinds known;
    struct module *items;
    size_t count, capacity;
};

/* The module of a tensor, such that a model has few: the components of its name up to the one behind the first index,
 * which is "{}", and without the last one. "model.layers.3.mlp.up.weight" -> "model.layers.{}.mlp", "model.norm.weight"
 * -> "model.norm". */
static void put_module_name(struct sp_text *module, const char *name)
{
    enum { MOST = 5 }; /* components in front of an index: no model has more */
    struct sp_component_walk part = {.rest = name};
    bool is_behind_index = false;
    sp_text_puts(module, "");
    for (size_t count = 0; count < MOST && sp_component_next(&part, "./"); count++) {
        uint64_t value;
        const size_t digits = sp_index_at(part.text, 0, &value);
        const bool is_last = !*part.rest, is_index = digits && digits == part.length;
        if (count && is_last) return;
        if (count) sp_text_puts(module, ".");
        if (is_index) sp_text_puts(module, "{}");
        else sp_text_append(module, part.text, part.length);
        if (is_behind_index) return;
        is_behind_index = is_index;
    }
}

static struct module *module_of(struct modules *modules, struct sp_arena *arena, const char *name)
{
    struct sp_text text = {0};
    put_module_name(&text, name);
    const size_t index = sp_kind_of(&modules->known, &text);
    if (index == modules->count)
        *SP_PUSH(modules) = (struct module){.name = sp_arena_copy(arena, text.data, text.length)};
    sp_text_free(&text);
    return &modules->items[index];
}

static void add_tensor(struct module *module, const struct sp_html_tensor *tensor)
{
    module->tensors++;
    module->parameters += tensor->parameters;
    module->bytes += tensor->bytes;
    module->parameters_before += tensor->parameters_before;
    module->bytes_before += tensor->bytes_before;
}

/* A row; the last one, without a name, has the totals. */
static void put_module_row(struct sp_text *html, const struct module *module, enum sp_html_kind kind,
                           uint64_t all_parameters)
{
    enum { BAR = 100 }; /* pixels: the width of the bar of a module that has all parameters */
    sp_text_puts(html, "<tr><th scope=\"row\">");
    if (module->name) sp_html_code(html, module->name);
    else sp_text_puts(html, "all");
    sp_text_puts(html, "</th>");
    put_number_cell(html, module->tensors);
    if (kind == SP_HTML_DIFF) {
        put_number_cell(html, module->parameters_before);
        put_number_cell(html, module->parameters);
        put_difference_cell(html, module->parameters_before, module->parameters, sp_text_grouped);
        put_bytes_cell(html, module->bytes_before);
        put_bytes_cell(html, module->bytes);
        put_difference_cell(html, module->bytes_before, module->bytes, sp_put_bytes);
    } else {
        const double share = all_parameters ? (double)module->parameters / (double)all_parameters : 0;
        const unsigned tenths = (unsigned)(share * 1000 + 0.5); /* of a percent */
        const bool is_less = share > 0 && !tenths;              /* "<0.1 %" */
        put_number_cell(html, module->parameters);
        sp_text_printf(html,
                       "<td class=\"number\">%s%u.%u %%</td><td><svg class=\"bar\" width=\"%d\" height=\"8\" "
                       "aria-hidden=\"true\"><rect width=\"%u.%u\" height=\"8\"/></svg></td>",
                       is_less ? "&lt;" : "", (tenths + is_less) / 10, (tenths + is_less) % 10, BAR, tenths / 10,
                       tenths % 10);
        put_bytes_cell(html, module->bytes);
    }
    sp_text_puts(html, "</tr>\n");
}

void sp_html_modules(struct sp_text *html, const struct sp_html_tensors *tensors)
{
    enum { MOST_MODULES = 200 }; /* rows: more are no summary */
    struct modules modules = {.count = 0};
    struct sp_arena arena = {0};
    struct module all = {.name = NULL};
    for (size_t i = 0; i < tensors->count; i++) {
        const struct sp_html_tensor *tensor = &tensors->items[i];
        add_tensor(module_of(&modules, &arena, tensor->name), tensor);
        add_tensor(&all, tensor);
    }
    sp_html_section(html, tensors->kind == SP_HTML_DIFF ? "What grew and shrank" : "Modules");
    sp_text_printf(
        html,
        "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">module</th>"
        "<th scope=\"col\" class=\"number\">tensors</th>%s</tr></thead>\n<tbody>\n",
        tensors->kind == SP_HTML_DIFF
            ? "<th scope=\"col\" class=\"number\">parameters in A</th><th scope=\"col\" "
              "class=\"number\">in B</th><th scope=\"col\" class=\"number\">difference</th><th "
              "scope=\"col\" class=\"number\">bytes in A</th><th scope=\"col\" class=\"number\">in "
              "B</th><th scope=\"col\" class=\"number\">difference</th>"
            : "<th scope=\"col\" class=\"number\">parameters</th><th scope=\"col\" class=\"number\">share</th>"
              "<td></td><th scope=\"col\" class=\"number\">bytes</th>");
    for (size_t i = 0; i < modules.count && i < MOST_MODULES; i++)
        put_module_row(html, &modules.items[i], tensors->kind, all.parameters);
    put_module_row(html, &all, tensors->kind, all.parameters);
    sp_text_puts(html, "</tbody>\n</table></div>\n");
    if (modules.count > MOST_MODULES)
        sp_text_printf(html,
                       "<p>... and %zu more modules. <code>shapeproof %s --by module --rows 0</code> sums all of "
                       "them.</p>\n",
                       modules.count - MOST_MODULES, tensors->kind == SP_HTML_DIFF ? "diff" : "inspect");
    sp_free(modules.items);
    sp_kinds_free(&modules.known);
    sp_arena_free(&arena);
}

/* ---- the table ---- */

/* Everything of a tensor but its name and place; tensors with equal text can share a row. */
static void put_key(struct sp_text *key, const struct sp_html_tensor *tensor)
{
    const char *const texts[] = {tensor->dtype, tensor->before, tensor->after, tensor->note};
    key->length = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        sp_text_printf(key, "%zu:%s;", texts[i] ? strlen(texts[i]) + 1 : 0, texts[i] ? texts[i] : "");
    sp_text_printf(key, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d", tensor->parameters, tensor->bytes,
                   tensor->parameters_before, tensor->bytes_before, tensor->state);
}

/* A shape; a dash where this side has no such tensor. */
static void put_shape_cell(struct sp_text *html, const char *shape)
{
    sp_text_puts(html, "<td class=\"shape\">");
    if (shape) sp_html_text(html, shape);
    else sp_text_puts(html, "<span class=\"dim\">&mdash;</span>");
    sp_text_puts(html, "</td>");
}

static void put_state(struct sp_text *html, enum sp_html_state state)
{
    static const struct {
        const char *class, *word;
    } states[] = {[SP_HTML_PLAIN] = {"", ""},
                  [SP_HTML_NOTE] = {"note", "note"},
                  [SP_HTML_WARNING] = {"warning", "warning"},
                  [SP_HTML_ERROR] = {"error", "error"},
                  [SP_HTML_ADDED] = {"added", "added"},
                  [SP_HTML_REMOVED] = {"removed", "removed"},
                  [SP_HTML_CHANGED] = {"changed", "changed"}};
    if (state) sp_text_printf(html, "<span class=\"severity %s\">%s</span> ", states[state].class, states[state].word);
}

/* The tensors that have that name, with indices collapsed. */
static void put_tensor_row(struct sp_text *html, enum sp_html_kind kind, const struct sp_collapsed *names,
                           const struct sp_html_tensor *tensor)
{
    sp_text_puts(html, "<tr><th scope=\"row\">");
    sp_html_name(html, names->name);
    sp_text_puts(html, "</th>");
    put_number_cell(html, names->count);
    if (kind != SP_HTML_DIFF) put_shape_cell(html, tensor->dtype);
    if (kind != SP_HTML_INSPECT) put_shape_cell(html, tensor->before);
    put_shape_cell(html, tensor->after);
    if (kind == SP_HTML_DIFF) {
        put_difference_cell(html, names->count * tensor->parameters_before, names->count * tensor->parameters,
                            sp_text_grouped);
        put_difference_cell(html, names->count * tensor->bytes_before, names->count * tensor->bytes, sp_put_bytes);
    } else {
        put_number_cell(html, names->count * tensor->parameters);
        put_bytes_cell(html, names->count * tensor->bytes);
    }
    sp_text_puts(html, tensor->state || tensor->note ? "<td class=\"remark\">" : "<td>");
    put_state(html, tensor->state);
    if (tensor->note) sp_html_text(html, tensor->note);
    sp_text_puts(html, "</td></tr>\n");
}

/* Where all tensors are to be seen that a page has no room for. */
static const char *const all_tensors[] = {[SP_HTML_INSPECT] = "<code>shapeproof inspect</code> lists all of them.",
                                          [SP_HTML_CHECK] =
                                              "<code>shapeproof inspect</code> lists all that are stored.",
                                          [SP_HTML_DIFF] = "<code>shapeproof inspect</code> lists all of A and of B."};

/* `cut`: the search does not have all tensors. */
static void put_table(struct sp_text *html, struct sp_html_tensors *tensors, bool cut)
{
    static const char *const headings[] = {
        [SP_HTML_INSPECT] = "<th scope=\"col\">dtype</th><th scope=\"col\">shape</th><th scope=\"col\" "
                            "class=\"number\">parameters</th><th scope=\"col\" class=\"number\">bytes</th>",
        [SP_HTML_CHECK] =
            "<th scope=\"col\">dtype</th><th scope=\"col\">predicted</th><th scope=\"col\">stored</th><th "
            "scope=\"col\" class=\"number\">parameters</th><th scope=\"col\" class=\"number\">bytes</th>",
        [SP_HTML_DIFF] = "<th scope=\"col\">A</th><th scope=\"col\">B</th><th scope=\"col\" "
                         "class=\"number\">parameters</th><th scope=\"col\" class=\"number\">bytes</th>"};
    struct sp_kinds kinds = {0};
    struct sp_text key = {0};
    struct sp_collapsed *rows;
    struct sp_collapse_input *input = sp_realloc(NULL, tensors->count + 1, sizeof *input);
    for (size_t i = 0; i < tensors->count; i++) {
        put_key(&key, &tensors->items[i]);
        input[i] = (struct sp_collapse_input){.name = tensors->items[i].name, .key = sp_kind_of(&kinds, &key)};
    }
    const size_t count = sp_collapse(&tensors->arena, NULL, input, tensors->count, &rows);
    enum { OPEN = 60 }; /* rows: a longer table is folded away */
    struct sp_text summary = {0};
    sp_put_count(&summary, tensors->count, "tensor", "tensors");
    sp_text_puts(&summary, " in ");
    sp_put_count(&summary, count, "row", "rows");
    sp_html_fold_begin(html, summary.data, count <= OPEN);
    sp_text_printf(html,
                   "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">tensor</th><th scope=\"col\" "
                   "class=\"number\">tensors</th>%s<td></td></tr></thead>\n<tbody>\n",
                   headings[tensors->kind]);
    const size_t begin = html->length;
    size_t shown = 0;
    for (; shown < count && sp_html_has_room(html, begin, shown); shown++)
        put_tensor_row(html, tensors->kind, &rows[shown], &tensors->items[rows[shown].first]);
    sp_text_puts(html, "</tbody>\n</table></div>\n");
    if (shown < count) {
        sp_text_puts(html, "<p>... and ");
        sp_put_count(html, count - shown, "more row", "more rows");
        sp_text_printf(html, ". %s%s</p>\n", cut ? "" : "The search finds them. ", all_tensors[tensors->kind]);
    }
    sp_html_fold_end(html);
    sp_text_free(&summary);
    sp_text_free(&key);
    sp_kinds_free(&kinds);
    sp_free(input);
}

/* ---- the data of the script ---- */

/* Strings by number, each once. */
struct strings {
    struct sp_kinds known;
    struct sp_arena arena;
    const char **items;
    size_t count, capacity;
};

/* -1 for NULL. */
static long number_of_string(struct strings *strings, const char *string)
{
    struct sp_text text = {0};
    if (!string) return -1;
    sp_text_puts(&text, string);
    const size_t number = sp_kind_of(&strings->known, &text);
    if (number == strings->count) *SP_PUSH(strings) = sp_arena_copy(&strings->arena, text.data, text.length);
    sp_text_free(&text);
    return (long)number;
}

static void free_strings(struct strings *strings)
{
    sp_free(strings->items);
    sp_arena_free(&strings->arena);
    sp_kinds_free(&strings->known);
}

/* A tensor and the row that it is in. */
struct entry {
    size_t row;
    struct sp_place place;
    const struct sp_html_tensor *tensor;
};

static int by_row(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return sp_compare_indices(&a->place.indices, &b->place.indices);
}

/* Whether `b` is the next number of the same range. Numbers that JavaScript does not have exactly are in no range. */
static bool continues(const struct sp_indices *a, const struct sp_indices *b)
{
    const uint64_t exact = (uint64_t)1 << 53;
    const size_t last = a->count - 1;
    return memcmp(a->value, b->value, last * sizeof *a->value) == 0 && b->value[last] == a->value[last] + 1 &&
           b->value[last] < exact;
}

/* "3.0-255 4.0-255": the indices of the entries of a row, in ascending order. */
static void put_ranges(struct sp_text *text, const struct entry *entries, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        const struct sp_indices *first = &entries[i].place.indices;
        end = i + 1;
        if (!first->count) continue;
        while (end < count && continues(&entries[end - 1].place.indices, &entries[end].place.indices)) end++;
        if (i) sp_text_puts(text, " ");
        for (size_t k = 0; k < first->count; k++) sp_text_printf(text, k ? ".%" PRIu64 : "%" PRIu64, first->value[k]);
        if (end > i + 1) sp_text_printf(text, "-%" PRIu64, entries[end - 1].place.indices.value[first->count - 1]);
    }
}

/* The entries of a row. */
struct row {
    const struct entry *entries;
    size_t count;
    bool is_left_out;
};

/* What the rows of a page refer to, numbered in the order in which they first do. */
struct references {
    struct strings patterns, strings;
};

static void put_row(struct sp_text *text, struct references *references, const struct sp_patterns *patterns,
                    const struct row *row)
{
    const struct sp_html_tensor *tensor = row->entries->tensor;
    struct sp_text ranges = {0};
    sp_text_puts(&ranges, "");
    put_ranges(&ranges, row->entries, row->count);
    /* numbered one after the other, so that each compiler gives them the same numbers */
    const long pattern =
        number_of_string(&references->patterns, sp_pattern_text(patterns, row->entries->place.pattern));
    const long dtype = number_of_string(&references->strings, tensor->dtype);
    const long before = number_of_string(&references->strings, tensor->before);
    const long after = number_of_string(&references->strings, tensor->after);
    const long shard = number_of_string(&references->strings, tensor->shard);
    const long group = number_of_string(&references->strings, tensor->group);
    const long note = number_of_string(&references->strings, tensor->note);
    sp_text_printf(text, "[%ld,\"%s\",%ld,%ld,%ld,", pattern, ranges.data, dtype, before, after);
    sp_text_printf(text, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%ld,%ld,%d,%ld]", tensor->parameters,
                   tensor->bytes, tensor->parameters_before, tensor->bytes_before, shard, group, tensor->state, note);
    sp_text_free(&ranges);
}

/* As people see it. */
static void json_visible(struct sp_writer *json, const char *string, size_t length)
{
    struct sp_text visible = {0};
    sp_text_puts(&visible, "");
    sp_text_visible(&visible, string, length);
    sp_write_string(json, visible.data);
    sp_text_free(&visible);
}

/* The pieces of a pattern between its indices. */
static void json_pattern(struct sp_writer *json, const char *pattern)
{
    sp_write_open_line(json, '[');
    for (;;) {
        const char *mark = strchr(pattern, (unsigned char)SP_INDEX_MARK);
        json_visible(json, pattern, mark ? (size_t)(mark - pattern) : strlen(pattern));
        if (!mark) break;
        pattern = mark + 1;
    }
    sp_write_close(json);
}

/* Puts JSON into the page: only its strings have a "<", and without it the text neither ends the element nor begins
 * another one or a comment. */
static void put_without_tags(struct sp_text *html, const char *json)
{
    for (const char *rest = json; *rest;) {
        const size_t plain = strcspn(rest, "<");
        sp_text_append(html, rest, plain);
        rest += plain;
        if (*rest == '<') sp_text_puts(html, "\\u003c"), rest++;
    }
}

/* The bytes that a row adds to the data, with the patterns and strings that no earlier row had. */
static size_t size_of_row(struct references *references, const struct sp_patterns *patterns, const struct row *row)
{
    const size_t old_patterns = references->patterns.count, old_strings = references->strings.count;
    struct sp_text text = {0}, page = {0};
    struct sp_writer json = {.text = &text};
    put_row(&text, references, patterns, row);
    sp_write_open(&json, '[');
    for (size_t i = old_patterns; i < references->patterns.count; i++)
        json_pattern(&json, references->patterns.items[i]);
    for (size_t i = old_strings; i < references->strings.count; i++)
        json_visible(&json, references->strings.items[i], strlen(references->strings.items[i]));
    sp_write_close(&json);
    put_without_tags(&page, text.data);
    const size_t size = page.length;
    sp_text_free(&text);
    sp_text_free(&page);
    return size;
}

/* Rows with something remarkable first, then the largest. */
static int by_worth(const void *left, const void *right)
{
    const struct row *a = *(const struct row *const *)left, *b = *(const struct row *const *)right;
    const struct sp_html_tensor *first = a->entries->tensor, *second = b->entries->tensor;
    const uint64_t bytes_a = (first->bytes > first->bytes_before ? first->bytes : first->bytes_before) * a->count,
                   bytes_b = (second->bytes > second->bytes_before ? second->bytes : second->bytes_before) * b->count;
    if (first->state != second->state) return first->state > second->state ? -1 : 1;
    if (bytes_a != bytes_b) return bytes_a > bytes_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Leaves out the rows that are worth least, so that the data does not make the page too large. */
static void leave_rows_out(struct row *rows, size_t count, const struct sp_patterns *patterns)
{
    enum { MOST_DATA = 900 * 1000 }; /* bytes, of the 2 MB that a page has at most */
    struct references references = {.patterns = {.count = 0}};
    const struct row **sorted = sp_realloc(NULL, count + 1, sizeof *sorted);
    size_t size = 0, kept = 0;
    for (size_t i = 0; i < count; i++) sorted[i] = &rows[i];
    qsort(sorted, count, sizeof *sorted, by_worth);
    for (; kept < count; kept++) {
        size += size_of_row(&references, patterns, sorted[kept]);
        if (size > MOST_DATA) break;
    }
    for (; kept < count; kept++) rows[sorted[kept] - rows].is_left_out = true;
    sp_free(sorted);
    free_strings(&references.patterns);
    free_strings(&references.strings);
}

/* What the rows that are left out add up to; returns the number of their tensors. */
static size_t json_left_out(struct sp_writer *json, const struct row *rows, size_t count)
{
    size_t tensors = 0;
    uint64_t sums[4] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct sp_html_tensor *tensor = rows[i].entries->tensor;
        if (!rows[i].is_left_out) continue;
        tensors += rows[i].count;
        sums[0] += tensor->parameters * rows[i].count;
        sums[1] += tensor->bytes * rows[i].count;
        sums[2] += tensor->parameters_before * rows[i].count;
        sums[3] += tensor->bytes_before * rows[i].count;
    }
    if (!tensors) return 0;
    sp_write_key_open(json, "left_out", '{');
    sp_write_key_number(json, "tensors", tensors);
    sp_write_key_number(json, "parameters", sums[0]);
    sp_write_key_number(json, "bytes", sums[1]);
    sp_write_key_number(json, "parametersBefore", sums[2]);
    sp_write_key_number(json, "bytesBefore", sums[3]);
    sp_write_close(json);
    return tensors;
}

/* What the files have besides the tensors, in bytes; nothing if it is not known. */
static void json_parts(struct sp_writer *json, const struct shapeproof_inventory *file)
{
    const struct shapeproof_file_bytes *bytes = file ? shapeproof_inventory_file_bytes(file) : NULL;
    if (!bytes) return;
    const struct {
        const char *name;
        uint64_t bytes;
    } parts[] = {{"unused", bytes->unused},
                 {"padding", bytes->padding},
                 {"structure", bytes->structure},
                 {"unaccounted", bytes->unaccounted}};
    sp_write_key_open(json, "parts", '[');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].bytes) continue;
        sp_write_open_line(json, '[');
        sp_write_string(json, parts[i].name);
        sp_write_number(json, parts[i].bytes);
        sp_write_close(json);
    }
    sp_write_close(json);
}

/* The document of the rows; returns the number of tensors that it leaves out. */
static size_t json_rows(struct sp_text *text, const struct sp_html_tensors *tensors, const struct row *rows,
                        size_t count, const struct sp_patterns *patterns)
{
    static const char *const kinds[] = {"inspect", "check", "diff"};
    struct references references = {.patterns = {.count = 0}};
    struct sp_writer json = {.text = text};
    sp_write_open(&json, '{');
    sp_write_key_string(&json, "kind", kinds[tensors->kind]);
    const size_t left_out = json_left_out(&json, rows, count);
    json_parts(&json, tensors->file);
    sp_write_key_open(&json, "rows", '[');
    for (size_t i = 0; i < count; i++) {
        struct sp_text row = {0};
        if (rows[i].is_left_out) continue;
        put_row(&row, &references, patterns, &rows[i]);
        sp_write_raw(&json, row.data);
        sp_text_free(&row);
    }
    sp_write_close(&json);
    sp_write_key_open(&json, "patterns", '[');
    for (size_t i = 0; i < references.patterns.count; i++) json_pattern(&json, references.patterns.items[i]);
    sp_write_close(&json);
    sp_write_key_open(&json, "strings", '[');
    for (size_t i = 0; i < references.strings.count; i++)
        json_visible(&json, references.strings.items[i], strlen(references.strings.items[i]));
    sp_write_close(&json);
    sp_write_close(&json);
    free_strings(&references.patterns);
    free_strings(&references.strings);
    return left_out;
}

/* Tensors that differ in their indices alone are a row. Returns the number of tensors that are left out. */
static size_t json_tensors(struct sp_text *text, const struct sp_html_tensors *tensors)
{
    struct sp_patterns patterns = {.rule = SP_INDEX_APART};
    struct sp_kinds kinds = {0};
    struct sp_text key = {0};
    struct entry *entries = sp_realloc(NULL, tensors->count + 1, sizeof *entries);
    struct row *rows = sp_realloc(NULL, tensors->count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct sp_html_tensor *tensor = &tensors->items[i];
        struct entry *entry = &entries[i];
        *entry = (struct entry){.tensor = tensor};
        entry->place.pattern = sp_pattern_of(&patterns, tensor->name, &entry->place.indices);
        put_key(&key, tensor);
        sp_text_printf(&key, ";%zu;%s;%s", entry->place.pattern, tensor->shard ? tensor->shard : "",
                       tensor->group ? tensor->group : "");
        entry->row = sp_kind_of(&kinds, &key);
    }
    qsort(entries, tensors->count, sizeof *entries, by_row);
    for (size_t i = 0, end; i < tensors->count; i = end, count++) {
        for (end = i + 1; end < tensors->count && entries[end].row == entries[i].row;) end++;
        rows[count] = (struct row){.entries = &entries[i], .count = end - i};
    }
    leave_rows_out(rows, count, &patterns);
    const size_t left_out = json_rows(text, tensors, rows, count, &patterns);
    sp_free(rows);
    sp_free(entries);
    sp_kinds_free(&kinds);
    sp_patterns_free(&patterns);
    sp_text_free(&key);
    return left_out;
}

void sp_html_tensors(struct sp_text *html, struct sp_html_tensors *tensors)
{
    struct sp_text json = {0};
    const size_t left_out = json_tensors(&json, tensors);
    sp_html_section(html, "Tensors");
    if (left_out) {
        sp_text_puts(html, "<p>To keep the page small, its map and its search have ");
        sp_text_grouped(html, tensors->count - left_out);
        sp_text_puts(html, " of ");
        sp_put_count(html, tensors->count, "tensor", "tensors");
        sp_text_printf(html, ": those with a remark, and the largest. %s</p>\n", all_tensors[tensors->kind]);
    }
    sp_text_puts(html, "<div class=\"map-place\"></div>\n");
    put_table(html, tensors, left_out > 0);
    sp_text_puts(html, "<script type=\"application/json\">");
    put_without_tags(html, json.data);
    sp_text_puts(html, "</script>\n");
    sp_text_free(&json);
}
