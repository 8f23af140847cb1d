/* SPDX-License-Identifier: MIT
 * inspect for people: a heading, the tensors in the form that was asked for, then what they add up to. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "report/inspect/inspect.h"
#include "report/inventory.h"
#include "report/markdown.h"

enum { LABEL_COLUMNS = 12, METADATA_COLUMNS = 60, TIES_SHOWN = 10, TIED_NAMES_SHOWN = 4, UNUSED_SHOWN = 5 };

/* ---- cells ---- */

void sp_inspect_put_dtype(struct sp_text *text, const struct shapeproof_tensor *tensor)
{
    sp_put_visible(text, tensor->dtype_name);
}

void sp_inspect_put_shape(struct sp_text *text, const struct shapeproof_tensor *tensor)
{
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) sp_text_puts(text, "none");
    else sp_put_shape(text, tensor->shape, tensor->rank);
}

static void put_known_bytes(struct sp_text *text, const struct shapeproof_tensor *tensor)
{
    if (sp_inspect_knows_bytes(tensor)) sp_put_bytes(text, tensor->bytes);
    else sp_text_puts(text, "?");
}

/* ", " unless the cell is still empty. */
static void put_comma(struct sp_text *text, size_t begin)
{
    if (text->length != begin) sp_text_puts(text, ", ");
}

/* "piece (32, 16), 1 of 2" */
static void put_piece(struct sp_text *text, const struct shapeproof_tensor_piece *piece)
{
    sp_text_puts(text, "piece ");
    sp_put_shape(text, piece->shape, piece->rank);
    if (piece->pieces && piece->index != SHAPEPROOF_NONE)
        sp_text_printf(text, ", %" PRIu64 " of %" PRIu64, piece->index + 1, piece->pieces);
    else if (piece->pieces) sp_text_printf(text, ", one of %" PRIu64, piece->pieces);
}

void sp_inspect_put_note(struct sp_text *text, size_t begin, const struct shapeproof_inventory *inventory,
                         const struct shapeproof_tensor *tensor, bool name_tie)
{
    static const struct {
        uint32_t flag;
        const char *word;
    } words[] = {{SHAPEPROOF_TENSOR_VIEW, "view"},
                 {SHAPEPROOF_TENSOR_EXPANDED, "expanded"},
                 {SHAPEPROOF_TENSOR_SPARSE, "sparse"},
                 {SHAPEPROOF_TENSOR_NO_DATA, "no data"},
                 {SHAPEPROOF_TENSOR_STATE, "state"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!(tensor->flags & words[i].flag)) continue;
        put_comma(text, begin);
        sp_text_puts(text, words[i].word);
    }
    if (tensor->piece) {
        put_comma(text, begin);
        put_piece(text, tensor->piece);
    }
    if (tensor->same_as == SHAPEPROOF_NONE) return;
    put_comma(text, begin);
    sp_text_puts(text, name_tie ? "same as " : "tied");
    if (name_tie) sp_put_visible(text, shapeproof_inventory_tensor(inventory, tensor->same_as)->name);
}

/* ---- the list ---- */

static void put_tensor_row(const struct shapeproof_tensor *tensor, struct sp_inspect_rows *rows)
{
    struct sp_table *table = &rows->table;
    sp_put_visible(sp_table_cell(table), tensor->name[0] ? tensor->name : "\"\"");
    sp_inspect_put_dtype(sp_table_cell(table), tensor);
    sp_inspect_put_shape(sp_table_cell(table), tensor);
    sp_text_grouped(sp_table_cell(table), tensor->parameters);
    put_known_bytes(sp_table_cell(table), tensor);
    struct sp_text *note = sp_table_cell(table);
    sp_inspect_put_note(note, note->length, rows->inspect->inventory, tensor, true);
    sp_table_color(table, SP_COLOR_DIM);
    sp_inspect_end_row(rows);
}

static void put_tensor_rows(const void *context, struct sp_inspect_rows *rows)
{
    const struct sp_inspect *inspect = context;
    for (size_t i = 0; i < inspect->count; i++) put_tensor_row(sp_inspect_tensor(inspect, i), rows);
}

static void put_list(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const struct sp_column columns[] = {{"name", SP_LEFT},        {"dtype", SP_LEFT},  {"shape", SP_LEFT},
                                               {"parameters", SP_RIGHT}, {"bytes", SP_RIGHT}, {"note", SP_LEFT}};
    sp_inspect_put_rows(inspect, columns, sizeof columns / sizeof *columns, put_tensor_rows, inspect, text);
}

/* ---- where the data are ---- */

/* "?" when the format does not tell; nothing when there are no data. */
static void put_place(struct sp_text *text, const struct shapeproof_tensor *tensor, uint64_t place)
{
    if (tensor->data_end) sp_text_grouped(text, place);
    else if (tensor->parameters && !(tensor->flags & SHAPEPROOF_TENSOR_NO_DATA)) sp_text_puts(text, "?");
}

static void put_offset_rows(const void *context, struct sp_inspect_rows *rows)
{
    const struct sp_inspect *inspect = context;
    const bool has_shards = shapeproof_inventory_file_count(inspect->inventory) > 1;
    for (size_t i = 0; i < inspect->count; i++) {
        const struct shapeproof_tensor *tensor = sp_inspect_tensor(inspect, i);
        struct sp_table *table = &rows->table;
        sp_put_visible(sp_table_cell(table), tensor->name[0] ? tensor->name : "\"\"");
        put_place(sp_table_cell(table), tensor, tensor->data_begin);
        put_place(sp_table_cell(table), tensor, tensor->data_end);
        put_place(sp_table_cell(table), tensor, tensor->data_end - tensor->data_begin);
        struct sp_text *shard = sp_table_cell(table);
        if (has_shards) sp_put_visible(shard, shapeproof_inventory_file(inspect->inventory, tensor->file));
        sp_inspect_end_row(rows);
    }
}

static void put_offsets(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const struct sp_column columns[] = {
        {"name", SP_LEFT}, {"begin", SP_RIGHT}, {"end", SP_RIGHT}, {"bytes", SP_RIGHT}, {"shard", SP_LEFT}};
    sp_inspect_put_rows(inspect, columns, sizeof columns / sizeof *columns, put_offset_rows, inspect, text);
}

/* ---- what follows: a label, then a value ---- */

/* Labels below one another; "" for a further line of the same. */
static void put_label(const struct sp_inspect *inspect, struct sp_text *text, const char *label)
{
    sp_color_puts(text, inspect->options.report.color, SP_COLOR_DIM, label);
    sp_text_pad(text, LABEL_COLUMNS - strlen(label));
}

/* Tensors that are the same together, in the order of the file. */
static int by_tie(const void *left, const void *right)
{
    const struct shapeproof_tensor *a = *(const struct shapeproof_tensor *const *)left;
    const struct shapeproof_tensor *b = *(const struct shapeproof_tensor *const *)right;
    if (a->same_as != b->same_as) return a->same_as < b->same_as ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* wte.weight = lm_head.weight; returns how many of `tied` it took. */
static size_t put_tie(const struct shapeproof_inventory *inventory, const struct shapeproof_tensor **tied, size_t count,
                      struct sp_text *text)
{
    size_t same = 1;
    while (same < count && tied[same]->same_as == tied[0]->same_as) same++;
    sp_put_visible(text, shapeproof_inventory_tensor(inventory, tied[0]->same_as)->name);
    for (size_t i = 0; i < same && i < TIED_NAMES_SHOWN; i++) {
        sp_text_puts(text, " = ");
        sp_put_visible(text, tied[i]->name);
    }
    if (same > TIED_NAMES_SHOWN) sp_text_printf(text, " = ... (%zu more)", same - TIED_NAMES_SHOWN);
    sp_text_puts(text, "\n");
    return same;
}

/* "ties  wte.weight = lm_head.weight", a line for each storage that several tensors have. Of more than TIES_SHOWN
 * storages the rest is counted; the notes of the list and JSON have all of them. */
static void put_ties(const struct sp_inspect *inspect, struct sp_text *text)
{
    const struct shapeproof_tensor **tied = sp_realloc(NULL, inspect->count + 1, sizeof *tied);
    size_t count = 0, groups = 0, shown_end = 0;
    for (size_t i = 0; i < inspect->count; i++) {
        const struct shapeproof_tensor *tensor = sp_inspect_tensor(inspect, i);
        if (tensor->same_as != SHAPEPROOF_NONE) tied[count++] = tensor;
    }
    qsort(tied, count, sizeof *tied, by_tie);
    for (size_t i = 0; i < count && groups < TIES_SHOWN; groups++) {
        put_label(inspect, text, groups ? "" : "ties");
        i += put_tie(inspect->inventory, tied + i, count - i, text);
        shown_end = i;
    }
    if (shown_end < count) {
        put_label(inspect, text, "");
        sp_text_puts(text, "... and ");
        sp_put_count(text, count - shown_end, "more tied tensor", "more tied tensors");
        sp_text_puts(text, "\n");
    }
    sp_free(tied);
}

/* State beside the model, ties once. */
static uint64_t parameters_of_state(const struct sp_inspect *inspect)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < inspect->count; i++) {
        const struct shapeproof_tensor *tensor = sp_inspect_tensor(inspect, i);
        if (inspect->counted[inspect->chosen[i]] && (tensor->flags & SHAPEPROOF_TENSOR_STATE))
            sum += tensor->parameters;
    }
    return sum;
}

/* What the model has whose weights are quantised, below how many elements the file stores. */
static void put_quantised(const struct sp_inspect *inspect, struct sp_text *text)
{
    const struct shapeproof_quantised_model *model = inspect->options.quantised;
    if (!model || inspect->options.filter) return;
    put_label(inspect, text, "");
    if (model->parameters) {
        sp_text_grouped(text, model->parameters);
        sp_text_puts(text, " of the model: ");
    } else {
        sp_text_puts(text, "how many the model has cannot be told: ");
    }
    sp_put_visible(text, model->how);
    sp_text_puts(text, "\n");
}

/* 124,439,808 unique (163,037,184 with tied tensors counted each time) */
static void put_parameters(const struct sp_inspect *inspect, struct sp_text *text)
{
    const struct shapeproof_totals *totals = &inspect->totals;
    const uint64_t state = parameters_of_state(inspect);
    put_label(inspect, text, "parameters");
    sp_color_begin(text, inspect->options.report.color, SP_COLOR_BOLD);
    sp_text_grouped(text, totals->unique_parameters);
    sp_color_end(text, inspect->options.report.color, SP_COLOR_BOLD);
    if (totals->parameters != totals->unique_parameters) {
        sp_text_puts(text, " unique (");
        sp_text_grouped(text, totals->parameters);
        sp_text_puts(text, " with tied tensors counted each time)");
    }
    sp_text_puts(text, inspect->options.quantised ? " elements as they are stored\n" : "\n");
    put_quantised(inspect, text);
    if (!state) return;
    put_label(inspect, text, "");
    sp_text_grouped(text, totals->unique_parameters - state);
    sp_text_puts(text, " of the model, ");
    sp_text_grouped(text, state);
    sp_text_puts(text, " of state beside it\n");
}

/* "474.7 MiB (497,759,232), of which the file holds 300.0 MiB without 2 tensors of unknown size": the bytes of the
 * tensors, each part behind the first only where there is something to say. */
static void put_bytes(const struct sp_inspect *inspect, struct sp_text *text)
{
    uint64_t unknown = 0;
    for (size_t i = 0; i < inspect->count; i++) {
        const struct shapeproof_tensor *tensor = sp_inspect_tensor(inspect, i);
        unknown += !sp_inspect_knows_bytes(tensor) && tensor->parameters;
    }
    put_label(inspect, text, "bytes");
    sp_put_bytes(text, inspect->totals.bytes);
    if (inspect->totals.bytes >= 1024) {
        sp_text_puts(text, " (");
        sp_text_grouped(text, inspect->totals.bytes);
        sp_text_puts(text, ")");
    }
    const uint64_t absent = shapeproof_inventory_file_bytes(inspect->inventory)->absent;
    if (absent && !inspect->options.filter) {
        sp_text_puts(text, ", of which the file holds ");
        sp_put_bytes(text, inspect->totals.bytes - absent);
    }
    if (unknown) {
        sp_text_puts(text, " without ");
        sp_put_count(text, unknown, "tensor of unknown size", "tensors of unknown size");
    }
    sp_text_puts(text, "\n");
}

/* 12,345 bytes: 12,000 of tensors, 345 structure */
static void put_file_bytes(const struct sp_inspect *inspect, struct sp_text *text)
{
    const struct shapeproof_file_bytes *bytes = shapeproof_inventory_file_bytes(inspect->inventory);
    const struct {
        uint64_t bytes;
        const char *what;
    } uses[] = {{bytes->tensors, " of tensors"},
                {bytes->unused, " of no listed tensor"},
                {bytes->padding, " padding"},
                {bytes->structure, " structure"},
                {bytes->unaccounted, " unaccounted"}};
    const char *separator = ": ";
    if (!bytes->size) return;
    put_label(inspect, text, shapeproof_inventory_file_count(inspect->inventory) > 1 ? "files" : "file");
    sp_text_grouped(text, bytes->size);
    sp_text_puts(text, " bytes");
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (!uses[i].bytes) continue;
        sp_text_puts(text, separator);
        sp_text_grouped(text, uses[i].bytes);
        sp_text_puts(text, uses[i].what);
        separator = ", ";
    }
    sp_text_puts(text, "\n");
}

/* archive/data/3 (24 B), by their names in the file */
static void put_unused(const struct sp_inspect *inspect, struct sp_text *text)
{
    const size_t count = shapeproof_inventory_unused_count(inspect->inventory);
    for (size_t i = 0; i < count && i < UNUSED_SHOWN; i++) {
        const struct shapeproof_unused *unused = shapeproof_inventory_unused(inspect->inventory, i);
        if (i) sp_text_puts(text, ", ");
        else put_label(inspect, text, "unused");
        sp_put_visible(text, unused->storage);
        sp_text_puts(text, " (");
        sp_put_bytes(text, unused->bytes);
        sp_text_puts(text, ")");
    }
    if (count > UNUSED_SHOWN) {
        sp_text_puts(text, ", and ");
        sp_put_count(text, count - UNUSED_SHOWN, "more storage", "more storages");
    }
    if (count) sp_text_puts(text, "\n");
}

/* What is wrong with the file itself. */
static void put_doubts(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const struct {
        const char *label;
        bool (*put)(struct sp_text *, const struct shapeproof_inventory *);
    } doubts[] = {{"unread", sp_put_unread}, {"suspicious", sp_put_suspects}};
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++) {
        struct sp_text line = {0};
        if (doubts[i].put(&line, inspect->inventory)) {
            put_label(inspect, text, doubts[i].label);
            sp_text_append(text, line.data, line.length);
            sp_text_puts(text, "\n");
        }
        sp_text_free(&line);
    }
}

/* Of the selection; how many tensors there are at all, when there is a filter. */
static void put_inspect_totals(const struct sp_inspect *inspect, struct sp_text *text)
{
    const uint64_t all = shapeproof_inventory_totals(inspect->inventory)->tensors;
    put_label(inspect, text, "tensors");
    sp_text_grouped(text, inspect->totals.tensors);
    if (inspect->options.filter) {
        sp_text_puts(text, " of ");
        sp_text_grouped(text, all);
    }
    sp_text_puts(text, "\n");
    put_parameters(inspect, text);
    put_bytes(inspect, text);
    put_file_bytes(inspect, text);
    put_unused(inspect, text);
}

/* The parameters of each dtype. One that is not known goes by the format's own word, as long as there are few: those of
 * shapeproof/dtype.h and as many others. */
enum { MOST_DTYPES = 64 };
struct dtype_sums {
    struct {
        const char *name;
        uint64_t parameters;
    } sums[MOST_DTYPES];
    size_t count;
};

static uint64_t *sum_of_dtype(struct dtype_sums *dtypes, const char *name)
{
    const size_t last = sizeof dtypes->sums / sizeof *dtypes->sums - 1;
    size_t i = 0;
    while (i < dtypes->count && i < last && strcmp(dtypes->sums[i].name, name) != 0) i++;
    if (i == dtypes->count) {
        dtypes->sums[i].name = i == last ? "other" : name;
        dtypes->count++;
    }
    return &dtypes->sums[i].parameters;
}

/* In the order in which the dtypes first appear. */
static void put_dtypes(const struct sp_inspect *inspect, struct sp_text *text)
{
    struct dtype_sums dtypes = {.count = 0};
    for (size_t i = 0; i < inspect->count; i++) {
        const struct shapeproof_tensor *tensor = sp_inspect_tensor(inspect, i);
        const bool counted = inspect->counted[inspect->chosen[i]];
        *sum_of_dtype(&dtypes, tensor->dtype_name) += counted ? tensor->parameters : 0;
    }
    if (!dtypes.count) return;
    put_label(inspect, text, "dtypes");
    for (size_t i = 0; i < dtypes.count; i++) {
        if (i) sp_text_puts(text, "; ");
        sp_put_visible(text, dtypes.sums[i].name);
        sp_text_puts(text, " ");
        sp_text_grouped(text, dtypes.sums[i].parameters);
    }
    sp_text_puts(text, "\n");
}

/* Every entry, long values cut. */
static void put_metadata(const struct sp_inspect *inspect, struct sp_text *text)
{
    const size_t count = shapeproof_inventory_metadata_count(inspect->inventory);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_metadata *entry = shapeproof_inventory_metadata(inspect->inventory, i);
        put_label(inspect, text, i ? "" : "metadata");
        sp_put_visible(text, entry->key);
        sp_text_puts(text, " = ");
        sp_put_cut(text, entry->value, METADATA_COLUMNS);
        sp_text_puts(text, "\n");
    }
}

/* What follows the tensors, in lines. */
static void put_summary(const struct sp_inspect *inspect, struct sp_text *text)
{
    put_ties(inspect, text);
    put_inspect_totals(inspect, text);
    put_dtypes(inspect, text);
    put_doubts(inspect, text);
    put_metadata(inspect, text);
}

void sp_inspect_put_format(struct sp_text *text, const struct shapeproof_inventory *inventory)
{
    const size_t files = shapeproof_inventory_file_count(inventory);
    sp_put_visible(text, shapeproof_inventory_format(inventory));
    if (files <= 1) return;
    sp_text_puts(text, ", ");
    sp_put_count(text, files, "shard", "shards");
}

struct sp_table sp_inspect_summary_table(const struct sp_inspect *inspect)
{
    static const struct sp_column columns[] = {{NULL, SP_LEFT}, {NULL, SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 2};
    struct sp_text summary = {0};
    sp_text_puts(sp_table_cell(&table), "format");
    sp_inspect_put_format(sp_table_cell(&table), inspect->inventory);
    put_summary(inspect, &summary);
    for (const char *line = summary.data; line && *line;) {
        const size_t length = strcspn(line, "\n");
        size_t label = LABEL_COLUMNS;
        while (label && line[label - 1] == ' ') label--;
        sp_text_append(sp_table_cell(&table), line, label);
        sp_text_append(sp_table_cell(&table), line + LABEL_COLUMNS, length - LABEL_COLUMNS);
        line += length + (line[length] == '\n');
    }
    sp_text_free(&summary);
    return table;
}

/* ---- the report ---- */

/* The path, the tensors unless only totals are wanted, and what follows them. */
static void put_markdown(const struct sp_inspect *inspect, struct sp_text *text)
{
    struct sp_table summary = sp_inspect_summary_table(inspect);
    sp_markdown_code(text, shapeproof_inventory_path(inspect->inventory));
    sp_text_puts(text, "\n\n");
    if (inspect->count && inspect->options.view != SHAPEPROOF_INSPECT_TOTALS) {
        put_list(inspect, text);
        sp_text_puts(text, "\n");
    }
    sp_table_render(&summary, text, &inspect->options.report);
}

void sp_inspect_text(const struct sp_inspect *inspect, struct sp_text *text)
{
    if (inspect->options.report.format == SHAPEPROOF_REPORT_MARKDOWN) {
        put_markdown(inspect, text);
        return;
    }
    sp_put_inventory_heading(text, inspect->inventory, inspect->options.report.color);
    switch (inspect->options.view) {
    case SHAPEPROOF_INSPECT_LIST:
        put_list(inspect, text);
        break;
    case SHAPEPROOF_INSPECT_TREE:
        sp_inspect_tree(inspect, text);
        break;
    case SHAPEPROOF_INSPECT_PREFIXES:
        sp_inspect_prefixes(inspect, text);
        break;
    case SHAPEPROOF_INSPECT_OFFSETS:
        put_offsets(inspect, text);
        break;
    case SHAPEPROOF_INSPECT_TOTALS:
        break;
    }
    if (inspect->count && inspect->options.view != SHAPEPROOF_INSPECT_TOTALS) sp_text_puts(text, "\n");
    put_summary(inspect, text);
}
