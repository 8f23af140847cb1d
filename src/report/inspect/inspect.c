/* SPDX-License-Identifier: MIT
 * The inspect report: choose the tensors, bring them into order, and let text or JSON write them. */
#define _POSIX_C_SOURCE 200809L
#include "report/inspect/inspect.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/call.h"
#include "base/natural.h"
#include "report/html/html.h"

const struct shapeproof_tensor *sp_inspect_tensor(const struct sp_inspect *inspect, size_t i)
{
    return shapeproof_inventory_tensor(inspect->inventory, inspect->chosen[i]);
}

/* ---- order ---- */

struct key {
    const struct shapeproof_tensor *tensor;
    size_t index;
};

/* As in the file. */
static int by_index(const struct key *a, const struct key *b) { return a->index < b->index ? -1 : a->index > b->index; }

/* 2 before 10. */
static int by_natural_name(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    return sp_compare_natural(a->tensor->name, b->tensor->name);
}

/* The largest first; as in the file when they are equal. */
static int by_tensor_size(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    if (a->tensor->bytes != b->tensor->bytes) return a->tensor->bytes > b->tensor->bytes ? -1 : 1;
    return by_index(a, b);
}

/* Sorts the selection, which is in the order of the file so far. */
static void put_in_order(struct sp_inspect *inspect)
{
    if (inspect->options.sort == SHAPEPROOF_SORT_FILE) return;
    struct key *keys = sp_realloc(NULL, inspect->count + 1, sizeof *keys);
    for (size_t i = 0; i < inspect->count; i++)
        keys[i] = (struct key){sp_inspect_tensor(inspect, i), inspect->chosen[i]};
    qsort(keys, inspect->count, sizeof *keys,
          inspect->options.sort == SHAPEPROOF_SORT_NAME ? by_natural_name : by_tensor_size);
    for (size_t i = 0; i < inspect->count; i++) inspect->chosen[i] = keys[i].index;
    sp_free(keys);
}

/* ---- choice ---- */

/* The selection, in the order of the file. */
static void choose_tensors(struct sp_inspect *inspect)
{
    const size_t count = shapeproof_inventory_count(inspect->inventory);
    const char *filter = inspect->options.filter;
    inspect->chosen = sp_realloc(NULL, count + 1, sizeof *inspect->chosen);
    for (size_t i = 0; i < count; i++)
        if (!filter || fnmatch(filter, shapeproof_inventory_tensor(inspect->inventory, i)->name, 0) == 0)
            inspect->chosen[inspect->count++] = i;
}

/* Sums that cannot overflow: those of the whole inventory did not. */
static void sum_up_chosen(struct sp_inspect *inspect)
{
    const size_t count = shapeproof_inventory_count(inspect->inventory);
    bool *seen = sp_realloc(NULL, count + 1, sizeof *seen); /* per first tensor of a tie */
    inspect->counted = sp_realloc(NULL, count + 1, sizeof *inspect->counted);
    memset(seen, 0, count);
    memset(inspect->counted, 0, count);
    inspect->totals.tensors = inspect->count;
    for (size_t i = 0; i < inspect->count; i++) {
        const struct shapeproof_tensor *tensor = sp_inspect_tensor(inspect, i);
        const size_t first = tensor->same_as != SHAPEPROOF_NONE ? tensor->same_as : inspect->chosen[i];
        inspect->totals.parameters += tensor->parameters;
        if (seen[first]) continue;
        seen[first] = inspect->counted[inspect->chosen[i]] = true;
        inspect->totals.unique_parameters += tensor->parameters;
        inspect->totals.bytes += tensor->bytes;
    }
    sp_free(seen);
}

void sp_inspect_send(const struct sp_inspect *inspect, struct sp_text *text)
{
    enum { ENOUGH = 1 << 16 };
    if (!inspect->options.sink || text->length < ENOUGH) return;
    sp_budget_write(text->length);
    struct sp_call *paused = sp_call_pause();
    inspect->options.sink(inspect->options.to, text->data, text->length);
    sp_call_resume(paused);
    text->length = 0;
}

void sp_inspect_put_rows(const struct sp_inspect *inspect, const struct sp_column *columns, size_t column_count,
                         void (*put)(const void *context, struct sp_inspect_rows *rows), const void *context,
                         struct sp_text *text)
{
    struct sp_inspect_rows rows = {inspect, {.columns = columns, .column_count = column_count}, NULL};
    put(context, &rows);
    sp_table_begin(&rows.table, text, &inspect->options.report);
    rows.text = text;
    put(context, &rows);
    sp_table_free(&rows.table);
}

void sp_inspect_end_row(struct sp_inspect_rows *rows)
{
    if (!rows->text) {
        sp_table_measure(&rows->table);
        return;
    }
    sp_table_flush(&rows->table, rows->text, &rows->inspect->options.report);
    sp_inspect_send(rows->inspect, rows->text);
}

char *shapeproof_report_inspect(const struct shapeproof_inventory *inventory,
                                const struct shapeproof_report_inspect_options *options, size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    SP_BUDGET_REUSE(inventory);
    struct sp_inspect inspect = {.inventory = inventory};
    struct sp_text text = {0};
    if (options) inspect.options = *options;
    choose_tensors(&inspect);
    sum_up_chosen(&inspect); /* before sorting, so that the first of equal tensors is the first in the file */
    put_in_order(&inspect);
    if (inspect.options.report.format == SHAPEPROOF_REPORT_JSON) sp_inspect_json(&inspect, &text);
    else if (inspect.options.report.format == SHAPEPROOF_REPORT_CSV) sp_inspect_csv(&inspect, &text);
    else if (inspect.options.report.format == SHAPEPROOF_REPORT_HTML) sp_html_inspect(&inspect, &text, false);
    else if (inspect.options.report.format == SHAPEPROOF_REPORT_HTML_PART) sp_html_inspect(&inspect, &text, true);
    else sp_inspect_text(&inspect, &text);
    sp_free(inspect.chosen);
    sp_free(inspect.counted);
    return sp_text_take(&text, length);
}
