/* SPDX-License-Identifier: MIT
 * Two views of the tree of names: the tree itself, and the sub-totals of its prefixes. */
#include <inttypes.h>

#include "base/checked.h"
#include "report/inspect/inspect.h"
#include "report/inspect/name_tree.h"

/* ---- the tree ---- */

/* {0-3,20-31} */
static void put_numbers(struct sp_text *text, const struct sp_name_node *first)
{
    const char *comma = "{";
    for (const struct sp_name_node *node = first; node; comma = ",") {
        const struct sp_name_node *last = node;
        while (last->more && last->more->number == last->number + 1) last = last->more;
        sp_text_printf(text, "%s%" PRIu64, comma, node->number);
        if (last != node) sp_text_printf(text, "-%" PRIu64, last->number);
        node = last->more;
    }
    sp_text_puts(text, "}");
}

/* The name of a node, or the numbers of those that it stands for. */
static void put_component(struct sp_text *text, const struct sp_name_node *node)
{
    if (node->folded > 1) put_numbers(text, node);
    else sp_text_visible(text, node->name + node->begin, node->end - node->begin);
}

/* The one child that is shown, or NULL when there are none or several. */
static const struct sp_name_node *only_child(const struct sp_name_node *node)
{
    const struct sp_name_node *shown = NULL;
    for (const struct sp_name_node *child = node->child; child; child = child->next) {
        if (!child->folded) continue;
        if (shown) return NULL;
        shown = child;
    }
    return shown;
}

/* A node whose only child takes its line: model.layers.{0-31}. A folded node keeps its own, for its count. */
static bool joins_child(const struct sp_name_node *node, unsigned depth, unsigned limit)
{
    return node->folded == 1 && !node->tensor && only_child(node) && (!limit || depth < limit);
}

/* 12 x 7,087,872, then what is noted of a tensor. */
static void put_node_note(const struct sp_name_tree *tree, const struct sp_name_node *node, bool one_of_many,
                          struct sp_text *text)
{
    const size_t begin = text->length;
    if (node->folded > 1) {
        sp_text_grouped(text, node->folded);
        sp_text_puts(text, " x ");
        sp_text_grouped(text, node->tensor ? node->tensor->parameters : node->parameters);
    }
    if (!node->tensor) return;
    /* Of several folded into one, the others may be tied to something else. */
    sp_inspect_put_note(text, begin, tree->inspect->inventory, node->tensor, !one_of_many && node->folded == 1);
}

/* The parameters of all tensors were added up without overflow; the bytes of tied ones were not. */
static uint64_t times(uint64_t bytes, uint64_t count)
{
    uint64_t product;
    return sp_mul_u64(bytes, count, &product) ? product : UINT64_MAX;
}

/* The columns behind the name: of a tensor what it is, of a node with children the sums. */
static void put_cells(const struct sp_name_tree *tree, struct sp_table *table, const struct sp_name_node *node,
                      bool one_of_many)
{
    const struct shapeproof_tensor *tensor = node->tensor;
    struct sp_text *text = sp_table_cell(table);
    if (!tensor) sp_text_grouped(text, node->tensors * node->folded);
    text = sp_table_cell(table);
    if (tensor) sp_inspect_put_dtype(text, tensor);
    text = sp_table_cell(table);
    if (tensor) sp_inspect_put_shape(text, tensor);
    text = sp_table_cell(table);
    sp_text_grouped(text, (tensor ? tensor->parameters : node->parameters) * node->folded);
    text = sp_table_cell(table);
    if (tensor && !sp_inspect_knows_bytes(tensor)) sp_text_puts(text, "?");
    else sp_put_bytes(text, times(tensor ? tensor->bytes : node->bytes, node->folded));
    put_node_note(tree, node, one_of_many, sp_table_cell(table));
    sp_table_color(table, SP_COLOR_DIM);
}

/* Depth is counted in components, indentation in lines. */
static void put_node(const struct sp_name_tree *tree, struct sp_inspect_rows *rows, const struct sp_name_node *node,
                     unsigned depth, unsigned indent, bool one_of_many)
{
    const unsigned limit = tree->inspect->options.depth;
    struct sp_text *text = sp_table_cell(&rows->table);
    sp_text_pad(text, 2 * indent);
    const size_t begin = text->length;
    for (; joins_child(node, depth, limit); depth++) {
        put_component(text, node);
        sp_text_append(text, node->name + node->end, 1);
        node = only_child(node);
    }
    put_component(text, node);
    if (text->length == begin) sp_text_puts(text, "\"\""); /* an empty component must not look like a blank line */
    sp_table_color(&rows->table, node->tensor ? SP_COLOR_NONE : SP_COLOR_BOLD);
    put_cells(tree, &rows->table, node, one_of_many);
    sp_inspect_end_row(rows);
    if (limit && depth >= limit) return;
    for (const struct sp_name_node *child = node->child; child; child = child->next)
        if (child->folded) put_node(tree, rows, child, depth + 1, indent + 1, one_of_many || node->folded > 1);
}

static void put_all_nodes(const void *context, struct sp_inspect_rows *rows)
{
    const struct sp_name_tree *tree = context;
    for (const struct sp_name_node *node = tree->root.child; node; node = node->next)
        if (node->folded) put_node(tree, rows, node, 1, 0, false);
}

void sp_inspect_tree(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const struct sp_column columns[] = {{"name", false},  {"tensors", true},    {"dtype", false},
                                               {"shape", false}, {"parameters", true}, {"bytes", true},
                                               {"note", false}};
    struct sp_name_tree tree;
    sp_name_tree_open(&tree, inspect, true);
    sp_inspect_put_rows(inspect, columns, sizeof columns / sizeof *columns, put_all_nodes, &tree, text);
    sp_name_tree_close(&tree);
}

/* ---- sub-totals ---- */

/* The rows of a node: itself at the depth that is asked for, or at a tensor; else its children. */
static void put_prefix(struct sp_inspect_rows *rows, const struct sp_name_node *node, unsigned depth, unsigned limit)
{
    struct sp_table *table = &rows->table;
    if (!node->tensor && depth < limit) {
        for (const struct sp_name_node *child = node->child; child; child = child->next)
            put_prefix(rows, child, depth + 1, limit);
        return;
    }
    struct sp_text *text = sp_table_cell(table);
    sp_text_visible(text, node->name, node->end);
    if (!node->tensor) sp_text_append(text, node->name + node->end, 1);
    else if (!node->end) sp_text_puts(text, "\"\"");
    sp_text_grouped(sp_table_cell(table), node->tensors);
    sp_text_grouped(sp_table_cell(table), node->parameters);
    sp_put_bytes(sp_table_cell(table), node->bytes);
    sp_inspect_end_row(rows);
}

static void put_all_prefixes(const void *context, struct sp_inspect_rows *rows)
{
    const struct sp_name_tree *tree = context;
    const unsigned asked = tree->inspect->options.depth;
    for (const struct sp_name_node *node = tree->root.child; node; node = node->next)
        put_prefix(rows, node, 1, asked ? asked : 1);
}

void sp_inspect_prefixes(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const struct sp_column columns[] = {
        {"prefix", false}, {"tensors", true}, {"parameters", true}, {"bytes", true}};
    struct sp_name_tree tree;
    sp_name_tree_open(&tree, inspect, false);
    sp_inspect_put_rows(inspect, columns, sizeof columns / sizeof *columns, put_all_prefixes, &tree, text);
    sp_name_tree_close(&tree);
}
