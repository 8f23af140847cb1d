/* SPDX-License-Identifier: MIT
 * Two views of the tree of names: the tree itself, and the sub-totals of its prefixes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/map.h"
#include "base/natural.h"
#include "report/inspect/inspect.h"

/* ---- names as a tree ---- */

/* The tensors of a report nested by the components of their names, which '.' or (in HDF5) '/' separate, with
 * sub-totals. Siblings whose names are numbers and whose sub-trees are equal (names, dtypes, shapes, flags) can be
 * folded into one: layers.{0-11}. Siblings that differ stay apart, and a hole in the numbering shows: {0-3,20-31}.
 * Tied tensors count once. */

struct sp_name_node {
    const char *name;                  /* full name of the first tensor below */
    size_t begin, end;                 /* this component within the name, without separators */
    struct sp_name_node *parent;       /* NULL at the top */
    struct sp_name_node *child, *next; /* in the order of the report; those that are folded into another too */
    struct sp_name_node *last_child;
    const struct shapeproof_tensor *tensor; /* of a leaf, or NULL */
    size_t position;                        /* of its first tensor in the report's order */
    size_t rank;                            /* position, but the same for all numbered siblings */
    uint64_t tensors, parameters, bytes;
    bool numbered;
    uint64_t number;
    size_t structure;          /* equal for equal sub-trees */
    struct sp_name_node *more; /* the next sibling that is folded into this one */
    uint64_t folded;           /* how many siblings this one stands for; 0 when it is folded into another */
};

struct sp_name_tree {
    const struct sp_inspect *inspect;
    struct sp_arena arena;
    struct sp_name_node root;
    struct sp_name_node **nodes; /* in the order in which they were made: parents first */
    size_t count, capacity;
};

enum { MAX_DEPTH = 32 };

static const char separators[] = "./";

/* ---- building ---- */

struct entry {
    const struct shapeproof_tensor *tensor;
    size_t position;
};

/* Names that share a prefix become neighbours. */
static int by_bytes_of_name(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return strcmp(a->tensor->name, b->tensor->name);
}

/* Numbers as people write indices: no leading zeros, so that {0-11} means exactly those names. */
static bool parse_number(const char *text, size_t length, uint64_t *number)
{
    if (!length || length > 18 || (text[0] == '0' && length > 1)) return false;
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        *number = *number * 10 + (uint64_t)(text[i] - '0');
    }
    return true;
}

/* The component of an entry's name at [begin, end), below `parent` and behind its other children. */
static struct sp_name_node *add_node(struct sp_name_tree *tree, struct sp_name_node *parent, const struct entry *entry,
                                     size_t begin, size_t end)
{
    struct sp_name_node *node = sp_arena_alloc(&tree->arena, sizeof *node);
    *node =
        (struct sp_name_node){.name = entry->tensor->name, .begin = begin, .end = end, .parent = parent, .folded = 1};
    node->position = entry->position;
    node->numbered = parse_number(node->name + begin, end - begin, &node->number);
    if (parent->last_child) parent->last_child->next = node;
    else parent->child = node;
    parent->last_child = node;
    SP_GROW(tree->nodes, tree->count, tree->capacity);
    tree->nodes[tree->count++] = node;
    return node;
}

/* Adds one name below the branch of open nodes, whose first `depth` it shares; returns the new depth. */
static size_t add_tensor_name(struct sp_name_tree *tree, struct sp_name_node **branch, size_t depth,
                              const struct entry *entry)
{
    const char *name = entry->tensor->name;
    struct sp_name_node *parent = depth ? branch[depth - 1] : &tree->root;
    size_t begin = depth ? parent->end + 1 : 0;
    for (;;) {
        const size_t end = begin + strcspn(name + begin, separators);
        if (!name[end] || depth == MAX_DEPTH) break;
        parent = branch[depth++] = add_node(tree, parent, entry, begin, end);
        begin = end + 1;
    }
    struct sp_name_node *leaf = add_node(tree, parent, entry, begin, strlen(name));
    leaf->tensor = entry->tensor;
    return depth;
}

/* How many of the open nodes are components of this name too. */
static size_t shared_depth(struct sp_name_node *const *branch, size_t depth, const char *name)
{
    size_t shared = 0; /* the separator after the component must be the same too */
    while (shared < depth && strncmp(branch[shared]->name, name, branch[shared]->end + 1) == 0) shared++;
    return shared;
}

/* Adds name after name, with the path to the last one open: what a name shares with it is there already. */
static void build(struct sp_name_tree *tree)
{
    const struct sp_inspect *inspect = tree->inspect;
    struct entry *entries = sp_realloc(NULL, inspect->count + 1, sizeof *entries);
    struct sp_name_node *branch[MAX_DEPTH];
    size_t depth = 0;
    for (size_t i = 0; i < inspect->count; i++) entries[i] = (struct entry){sp_inspect_tensor(inspect, i), i};
    qsort(entries, inspect->count, sizeof *entries, by_bytes_of_name);
    for (size_t i = 0; i < inspect->count; i++)
        depth = add_tensor_name(tree, branch, shared_depth(branch, depth, entries[i].tensor->name), &entries[i]);
    free(entries);
}

/* ---- sub-totals and structure, from the leaves up ---- */

/* Whether it counts in the sums. */
static bool is_first_of_ties(const struct sp_name_tree *tree, const struct sp_name_node *leaf)
{
    return tree->inspect->counted[tree->inspect->chosen[leaf->position]];
}

/* All that must be equal for two tensors to be folded, but the name. */
static void describe_leaf(const struct sp_name_tree *tree, const struct sp_name_node *leaf, struct sp_text *text)
{
    const struct shapeproof_tensor *tensor = leaf->tensor;
    sp_text_printf(text, "%zu:%s|%" PRIu32 "|%d", strlen(tensor->dtype_name), tensor->dtype_name, tensor->flags,
                   is_first_of_ties(tree, leaf));
    for (uint32_t i = 0; i < tensor->rank; i++) sp_text_printf(text, "|%" PRIu64, tensor->shape[i]);
}

/* The structure of each child is known already, so that one number stands for the whole sub-tree. */
static void describe_children(const struct sp_name_node *node, struct sp_text *text)
{
    for (const struct sp_name_node *child = node->child; child; child = child->next) {
        const size_t length = child->end - child->begin;
        sp_text_printf(text, "%c%zu:", child->tensor ? '=' : child->name[child->end], length);
        sp_text_append(text, child->name + child->begin, length);
        sp_text_printf(text, ">%zu;", child->structure);
    }
}

/* Equal descriptions get equal numbers. */
static size_t intern(struct sp_name_tree *tree, struct sp_map *known, const struct sp_text *description)
{
    const size_t found = sp_map_get(known, description->data);
    if (found != SHAPEPROOF_NONE) return found;
    const size_t fresh = known->count;
    sp_map_add(known, sp_arena_copy(&tree->arena, description->data, description->length), fresh);
    return fresh;
}

/* The position of a node is that of its first tensor. */
static void sum_into_parent(const struct sp_name_tree *tree, struct sp_name_node *node)
{
    struct sp_name_node *parent = node->parent;
    if (node->tensor) {
        const bool counted = is_first_of_ties(tree, node);
        node->tensors = 1;
        node->parameters = counted ? node->tensor->parameters : 0;
        node->bytes = counted ? node->tensor->bytes : 0;
    }
    parent->tensors += node->tensors;
    parent->parameters += node->parameters;
    parent->bytes += node->bytes;
    if (node->position < parent->position) parent->position = node->position;
}

/* Backwards through the list, so that the children of a node come before it. */
static void sum_up_nodes(struct sp_name_tree *tree)
{
    struct sp_map known = {0};
    struct sp_text description = {0};
    for (size_t i = tree->count; i-- > 0;) {
        struct sp_name_node *node = tree->nodes[i];
        if (description.data) description.length = 0;
        if (node->tensor) describe_leaf(tree, node, &description);
        else describe_children(node, &description);
        node->structure = intern(tree, &known, &description);
        sum_into_parent(tree, node);
    }
    sp_map_free(&known);
    sp_text_free(&description);
}

/* ---- folding equal siblings, and their order ---- */

/* Equal sub-trees together, in the order of their numbers. */
static int by_structure(const void *left, const void *right)
{
    const struct sp_name_node *a = *(const struct sp_name_node *const *)left,
                              *b = *(const struct sp_name_node *const *)right;
    if (a->structure != b->structure) return a->structure < b->structure ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* As in the file, numbered siblings by number. */
static int by_position(const void *left, const void *right)
{
    const struct sp_name_node *a = *(const struct sp_name_node *const *)left,
                              *b = *(const struct sp_name_node *const *)right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* By their own component alone: their parent is the same. */
static int by_component(const void *left, const void *right)
{
    const struct sp_name_node *a = *(const struct sp_name_node *const *)left,
                              *b = *(const struct sp_name_node *const *)right;
    return sp_compare_natural(a->name + a->begin, b->name + b->begin);
}

/* The largest first, of folded ones all together. */
static int by_node_size(const void *left, const void *right)
{
    const struct sp_name_node *a = *(const struct sp_name_node *const *)left,
                              *b = *(const struct sp_name_node *const *)right;
    const uint64_t size_of_a = a->bytes * a->folded, size_of_b = b->bytes * b->folded;
    if (size_of_a != size_of_b) return size_of_a > size_of_b ? -1 : 1;
    return by_position(left, right);
}

/* The separator behind them is the one thing that a structure does not describe. */
static bool is_equal(const struct sp_name_node *a, const struct sp_name_node *b)
{
    return a->structure == b->structure && (a->tensor || a->name[a->end] == b->name[b->end]);
}

/* Joins the numbered ones among `count` siblings that are equal. */
static void fold(struct sp_name_node **siblings, size_t count)
{
    qsort(siblings, count, sizeof *siblings, by_structure);
    struct sp_name_node *leader = NULL, *last = NULL;
    for (size_t i = 0; i < count; i++) {
        struct sp_name_node *node = siblings[i];
        if (!node->numbered) continue;
        if (leader && is_equal(leader, node)) {
            last->more = node;
            leader->folded++;
            node->folded = 0;
        } else {
            leader = node;
        }
        last = node;
    }
}

/* Numbered siblings stay together, where the first of them stands. */
static void rank_siblings(struct sp_name_node *parent)
{
    size_t first_number = SIZE_MAX;
    for (struct sp_name_node *child = parent->child; child; child = child->next)
        if (child->numbered && child->position < first_number) first_number = child->position;
    for (struct sp_name_node *child = parent->child; child; child = child->next)
        child->rank = child->numbered ? first_number : child->position;
}

enum siblings { FOLDED, EACH_BY_ITSELF };

/* Brings the children of one node into order, and folds those that are equal if that is wanted. */
static void arrange_children(struct sp_name_node *parent, enum siblings wanted, enum shapeproof_inspect_sort sort)
{
    size_t count = 0;
    for (const struct sp_name_node *child = parent->child; child; child = child->next) count++;
    struct sp_name_node **siblings = sp_realloc(NULL, count + 1, sizeof(struct sp_name_node *));
    count = 0;
    for (struct sp_name_node *child = parent->child; child; child = child->next) siblings[count++] = child;
    rank_siblings(parent);
    if (wanted == FOLDED) fold(siblings, count);
    qsort(siblings, count, sizeof *siblings,
          sort == SHAPEPROOF_SORT_NAME   ? by_component
          : sort == SHAPEPROOF_SORT_SIZE ? by_node_size
                                         : by_position);
    parent->child = count ? siblings[0] : NULL;
    for (size_t i = 0; i < count; i++) siblings[i]->next = i + 1 < count ? siblings[i + 1] : NULL;
    free(siblings);
}

static void name_tree_open(struct sp_name_tree *tree, const struct sp_inspect *inspect, enum siblings wanted)
{
    *tree = (struct sp_name_tree){.inspect = inspect, .root = {.position = SIZE_MAX, .folded = 1}};
    build(tree);
    sum_up_nodes(tree);
    arrange_children(&tree->root, wanted, inspect->options.sort);
    for (size_t i = 0; i < tree->count; i++) arrange_children(tree->nodes[i], wanted, inspect->options.sort);
}

static void name_tree_close(struct sp_name_tree *tree)
{
    free(tree->nodes);
    sp_arena_free(&tree->arena);
}

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

/* "12 x 7,087,872" of a node that stands for several, then what is noted of a tensor. Which tensor it is tied to is
 * said of a single one alone: the others may be tied to something else. */
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

/* A line for a node, then those of its children. Nodes whose only child joins them share its line, so `depth`, in
 * components of the name, and `indent`, in lines above it, differ. `one_of_many`: a node around it stands for several
 * (folded), and so this one does. Children are shown up to the depth that is asked for. */
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
    static const struct sp_column columns[] = {{"name", SP_LEFT},  {"tensors", SP_RIGHT},    {"dtype", SP_LEFT},
                                               {"shape", SP_LEFT}, {"parameters", SP_RIGHT}, {"bytes", SP_RIGHT},
                                               {"note", SP_LEFT}};
    struct sp_name_tree tree;
    name_tree_open(&tree, inspect, FOLDED);
    sp_inspect_put_rows(inspect, columns, sizeof columns / sizeof *columns, put_all_nodes, &tree, text);
    name_tree_close(&tree);
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
        {"prefix", SP_LEFT}, {"tensors", SP_RIGHT}, {"parameters", SP_RIGHT}, {"bytes", SP_RIGHT}};
    struct sp_name_tree tree;
    name_tree_open(&tree, inspect, EACH_BY_ITSELF);
    sp_inspect_put_rows(inspect, columns, sizeof columns / sizeof *columns, put_all_prefixes, &tree, text);
    name_tree_close(&tree);
}
