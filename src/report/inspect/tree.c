/* SPDX-License-Identifier: MIT
 * Two views of the tree of names: the tree itself, and the sub-totals of its prefixes. */
#include <stdlib.h>
#include <string.h>

#include "report/inspect/inspect.h"
#include "report/name_tree.h"

struct inspect_tree {
    const struct sp_inspect *inspect;
    struct sp_name_entry *entries;
    struct sp_name_tree names;
};

static enum sp_name_order order_asked(const struct sp_inspect *inspect)
{
    return inspect->options.sort == SHAPEPROOF_SORT_NAME   ? SP_NAMES_BY_COMPONENT
           : inspect->options.sort == SHAPEPROOF_SORT_SIZE ? SP_NAMES_BY_BYTES
                                                           : SP_NAMES_BY_POSITION;
}

/* Tied tensors count once. */
static void open_tree(struct inspect_tree *tree, const struct sp_inspect *inspect, bool folded)
{
    *tree = (struct inspect_tree){.inspect = inspect};
    tree->entries = sp_realloc(NULL, inspect->count + 1, sizeof *tree->entries);
    for (size_t i = 0; i < inspect->count; i++) {
        const struct shapeproof_tensor *tensor = sp_inspect_tensor(inspect, i);
        const bool counted = inspect->counted[inspect->chosen[i]];
        tree->entries[i] = (struct sp_name_entry){.tensor = tensor,
                                                  .tensors = 1,
                                                  .parameters = counted ? tensor->parameters : 0,
                                                  .bytes = counted ? tensor->bytes : 0,
                                                  .kind = counted};
    }
    sp_name_tree_open(&tree->names, tree->entries, inspect->count);
    sp_name_tree_arrange(&tree->names, folded, order_asked(inspect));
}

static void close_tree(struct inspect_tree *tree)
{
    sp_name_tree_close(&tree->names);
    sp_free(tree->entries);
}

/* ---- the tree ---- */

/* "12 x 7,087,872" of a node that stands for several, then what is noted of a tensor. Which tensor it is tied to is
 * said of a single one alone: the others may be tied to something else. */
static void put_node_note(const struct inspect_tree *tree, const struct sp_name_node *node, bool one_of_many,
                          struct sp_text *text)
{
    const size_t begin = text->length;
    if (node->folded > 1) {
        sp_text_grouped(text, node->folded);
        sp_text_puts(text, " x ");
        sp_text_grouped(text, node->tensor ? node->tensor->parameters : node->parameters);
    }
    if (!node->tensor) return;
    sp_inspect_put_note(text, begin, tree->inspect->inventory, node->tensor, !one_of_many && node->folded == 1);
}

/* The columns behind the name: of a tensor what it is, of a node with children the sums. */
static void put_cells(const struct inspect_tree *tree, struct sp_table *table, const struct sp_name_node *node,
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
    else sp_put_bytes(text, sp_times_folded(tensor ? tensor->bytes : node->bytes, node));
    put_node_note(tree, node, one_of_many, sp_table_cell(table));
    sp_table_color(table, SP_COLOR_DIM);
}

/* A line for a node, then those of its children. Nodes whose only child joins them share its line, so `depth`, in
 * components of the name, and `indent`, in lines above it, differ. `one_of_many`: a node around it stands for several
 * (folded), and so this one does. Children are shown up to the depth that is asked for. */
static void put_node(const struct inspect_tree *tree, struct sp_inspect_rows *rows, const struct sp_name_node *node,
                     unsigned depth, unsigned indent, bool one_of_many)
{
    const unsigned limit = tree->inspect->options.depth;
    struct sp_text *text = sp_table_cell(&rows->table);
    sp_text_pad(text, 2 * indent);
    const size_t begin = text->length;
    for (const struct sp_name_node *child; (!limit || depth < limit) && (child = sp_name_node_joined(node)); depth++) {
        sp_put_name_node(text, node);
        sp_text_append(text, node->name + node->end, 1);
        node = child;
    }
    sp_put_name_node(text, node);
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
    const struct inspect_tree *tree = context;
    for (const struct sp_name_node *node = tree->names.root.child; node; node = node->next)
        if (node->folded) put_node(tree, rows, node, 1, 0, false);
}

void sp_inspect_tree(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const struct sp_column columns[] = {{"name", SP_LEFT},  {"tensors", SP_RIGHT},    {"dtype", SP_LEFT},
                                               {"shape", SP_LEFT}, {"parameters", SP_RIGHT}, {"bytes", SP_RIGHT},
                                               {"note", SP_LEFT}};
    struct inspect_tree tree;
    open_tree(&tree, inspect, true);
    sp_inspect_put_rows(inspect, columns, sizeof columns / sizeof *columns, put_all_nodes, &tree, text);
    close_tree(&tree);
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
    const struct inspect_tree *tree = context;
    const unsigned asked = tree->inspect->options.depth;
    for (const struct sp_name_node *node = tree->names.root.child; node; node = node->next)
        put_prefix(rows, node, 1, asked ? asked : 1);
}

void sp_inspect_prefixes(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const struct sp_column columns[] = {
        {"prefix", SP_LEFT}, {"tensors", SP_RIGHT}, {"parameters", SP_RIGHT}, {"bytes", SP_RIGHT}};
    struct inspect_tree tree;
    open_tree(&tree, inspect, false);
    sp_inspect_put_rows(inspect, columns, sizeof columns / sizeof *columns, put_all_prefixes, &tree, text);
    close_tree(&tree);
}
