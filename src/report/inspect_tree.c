/* SPDX-License-Identifier: MIT
 * The tensors nested by the components of their names (separated by '.', or '/' as in HDF5), with sub-totals.
 * Siblings whose names are numbers and whose sub-trees are equal (names, dtypes, shapes, flags) are folded into one:
 * layers.{0-11}. Siblings that differ stay apart, and a hole in the numbering shows: {0-3,20-31}.
 *
 * The nodes lie in one array, parents before their children, in byte order of the names: there all names that share a
 * prefix are neighbours, so that one sweep builds the tree. A name is split at most MAX_DEPTH times, which bounds the
 * recursion whatever the file says. Tied tensors count once in sub-totals. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/map.h"
#include "report/inspect.h"

enum { MAX_DEPTH = 32 };

static const char separators[] = "./";

struct node {
    const char *name;    /* full name of the first tensor below */
    size_t begin, end;   /* this component within the name, without separators */
    struct node *parent; /* NULL at the top */
    struct node *child, *last_child, *next;
    const struct sp_tensor *tensor; /* of a leaf, or NULL */
    size_t position;                /* of its first tensor in the report's order */
    size_t rank;                    /* position, but the same for all numbered siblings */
    uint64_t tensors, parameters, bytes;
    bool numbered;
    uint64_t number;
    size_t structure;  /* equal for equal sub-trees */
    struct node *more; /* the next sibling that is folded into this one */
    uint64_t folded;   /* how many siblings this one stands for; 0 when it is folded into another */
};

struct tree {
    const struct sp_inspect *inspect;
    struct sp_arena arena;
    struct node root;
    struct node **nodes; /* in the order in which they were made: parents first */
    size_t count, capacity;
};

/* ---- building ---- */

struct entry {
    const struct sp_tensor *tensor;
    size_t position;
};

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

static struct node *add_node(struct tree *tree, struct node *parent, const struct entry *entry, size_t begin,
                             size_t end)
{
    struct node *node = sp_arena_alloc(&tree->arena, sizeof *node);
    *node = (struct node){.name = entry->tensor->name, .begin = begin, .end = end, .parent = parent, .folded = 1};
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
static size_t add_name(struct tree *tree, struct node **branch, size_t depth, const struct entry *entry)
{
    const char *name = entry->tensor->name;
    struct node *parent = depth ? branch[depth - 1] : &tree->root;
    size_t begin = depth ? parent->end + 1 : 0;
    for (;;) {
        const size_t end = begin + strcspn(name + begin, separators);
        if (!name[end] || depth == MAX_DEPTH) break;
        parent = branch[depth++] = add_node(tree, parent, entry, begin, end);
        begin = end + 1;
    }
    struct node *leaf = add_node(tree, parent, entry, begin, strlen(name));
    leaf->tensor = entry->tensor;
    return depth;
}

static size_t shared_depth(struct node *const *branch, size_t depth, const char *name)
{
    size_t shared = 0; /* the separator after the component must be the same too */
    while (shared < depth && strncmp(branch[shared]->name, name, branch[shared]->end + 1) == 0) shared++;
    return shared;
}

static void build(struct tree *tree)
{
    const struct sp_inspect *inspect = tree->inspect;
    struct entry *entries = sp_realloc(NULL, inspect->count + 1, sizeof *entries);
    struct node *branch[MAX_DEPTH];
    size_t depth = 0;
    for (size_t i = 0; i < inspect->count; i++) entries[i] = (struct entry){sp_inspect_tensor(inspect, i), i};
    qsort(entries, inspect->count, sizeof *entries, by_bytes_of_name);
    for (size_t i = 0; i < inspect->count; i++)
        depth = add_name(tree, branch, shared_depth(branch, depth, entries[i].tensor->name), &entries[i]);
    free(entries);
}

/* ---- sub-totals and structure, from the leaves up ---- */

static bool is_counted(const struct tree *tree, const struct node *leaf)
{
    return tree->inspect->counted[tree->inspect->chosen[leaf->position]];
}

static void describe_leaf(const struct tree *tree, const struct node *leaf, struct sp_text *text)
{
    const struct sp_tensor *tensor = leaf->tensor;
    sp_text_printf(text, "%zu:%s|%" PRIu32 "|%d", strlen(tensor->dtype_name), tensor->dtype_name, tensor->flags,
                   is_counted(tree, leaf));
    for (uint32_t i = 0; i < tensor->rank; i++) sp_text_printf(text, "|%" PRIu64, tensor->shape[i]);
}

/* The structure of each child is known already, so that one number stands for the whole sub-tree. */
static void describe_children(const struct node *node, struct sp_text *text)
{
    for (const struct node *child = node->child; child; child = child->next) {
        const size_t length = child->end - child->begin;
        sp_text_printf(text, "%c%zu:", child->tensor ? '=' : child->name[child->end], length);
        sp_text_append(text, child->name + child->begin, length);
        sp_text_printf(text, ">%zu;", child->structure);
    }
}

/* Equal descriptions get equal numbers. */
static size_t intern(struct tree *tree, struct sp_map *known, const struct sp_text *description)
{
    const size_t found = sp_map_get(known, description->data);
    if (found != SP_NONE) return found;
    const size_t fresh = known->count;
    sp_map_add(known, sp_arena_copy(&tree->arena, description->data, description->length), fresh);
    return fresh;
}

static void sum_into_parent(const struct tree *tree, struct node *node)
{
    struct node *parent = node->parent;
    if (node->tensor) {
        const bool counted = is_counted(tree, node);
        node->tensors = 1;
        node->parameters = counted ? node->tensor->parameters : 0;
        node->bytes = counted ? node->tensor->bytes : 0;
    }
    parent->tensors += node->tensors;
    parent->parameters += node->parameters;
    parent->bytes += node->bytes;
    if (node->position < parent->position) parent->position = node->position;
}

static void sum_up(struct tree *tree)
{
    struct sp_map known = {0};
    struct sp_text description = {0};
    for (size_t i = tree->count; i-- > 0;) {
        struct node *node = tree->nodes[i];
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

static int by_structure(const void *left, const void *right)
{
    const struct node *a = *(const struct node *const *)left, *b = *(const struct node *const *)right;
    if (a->structure != b->structure) return a->structure < b->structure ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int by_position(const void *left, const void *right)
{
    const struct node *a = *(const struct node *const *)left, *b = *(const struct node *const *)right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static int by_name(const void *left, const void *right)
{
    const struct node *a = *(const struct node *const *)left, *b = *(const struct node *const *)right;
    return sp_compare_natural(a->name + a->begin, b->name + b->begin);
}

static int by_size(const void *left, const void *right)
{
    const struct node *a = *(const struct node *const *)left, *b = *(const struct node *const *)right;
    const uint64_t size_of_a = a->bytes * a->folded, size_of_b = b->bytes * b->folded;
    if (size_of_a != size_of_b) return size_of_a > size_of_b ? -1 : 1;
    return by_position(left, right);
}

/* The separator behind them is the one thing that a structure does not describe. */
static bool is_equal(const struct node *a, const struct node *b)
{
    return a->structure == b->structure && (a->tensor || a->name[a->end] == b->name[b->end]);
}

/* Joins the numbered ones among `count` siblings that are equal. */
static void fold(struct node **siblings, size_t count)
{
    qsort(siblings, count, sizeof *siblings, by_structure);
    struct node *leader = NULL, *last = NULL;
    for (size_t i = 0; i < count; i++) {
        struct node *node = siblings[i];
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
static void rank(struct node *parent)
{
    size_t first_number = SIZE_MAX;
    for (struct node *child = parent->child; child; child = child->next)
        if (child->numbered && child->position < first_number) first_number = child->position;
    for (struct node *child = parent->child; child; child = child->next)
        child->rank = child->numbered ? first_number : child->position;
}

static void arrange_children(struct node *parent, bool folding, enum sp_inspect_sort sort)
{
    size_t count = 0;
    for (const struct node *child = parent->child; child; child = child->next) count++;
    struct node **siblings = sp_realloc(NULL, count + 1, sizeof(struct node *));
    count = 0;
    for (struct node *child = parent->child; child; child = child->next) siblings[count++] = child;
    rank(parent);
    if (folding) fold(siblings, count);
    qsort(siblings, count, sizeof *siblings,
          sort == SP_SORT_NAME   ? by_name
          : sort == SP_SORT_SIZE ? by_size
                                 : by_position);
    parent->child = count ? siblings[0] : NULL;
    for (size_t i = 0; i < count; i++) siblings[i]->next = i + 1 < count ? siblings[i + 1] : NULL;
    free(siblings);
}

static void tree_open(struct tree *tree, const struct sp_inspect *inspect, bool folding)
{
    *tree = (struct tree){.inspect = inspect, .root = {.position = SIZE_MAX, .folded = 1}};
    build(tree);
    sum_up(tree);
    arrange_children(&tree->root, folding, inspect->options.sort);
    for (size_t i = 0; i < tree->count; i++) arrange_children(tree->nodes[i], folding, inspect->options.sort);
}

static void tree_close(struct tree *tree)
{
    free(tree->nodes);
    sp_arena_free(&tree->arena);
}

/* ---- the tree ---- */

/* {0-3,20-31} */
static void put_numbers(struct sp_text *text, const struct node *first)
{
    const char *comma = "{";
    for (const struct node *node = first; node; comma = ",") {
        const struct node *last = node;
        while (last->more && last->more->number == last->number + 1) last = last->more;
        sp_text_printf(text, "%s%" PRIu64, comma, node->number);
        if (last != node) sp_text_printf(text, "-%" PRIu64, last->number);
        node = last->more;
    }
    sp_text_puts(text, "}");
}

static void put_component(struct sp_text *text, const struct node *node)
{
    if (node->folded > 1) put_numbers(text, node);
    else if (node->tensor && !node->name[0]) sp_text_puts(text, "\"\"");
    else sp_text_visible(text, node->name + node->begin, node->end - node->begin);
}

static const struct node *only_child(const struct node *node)
{
    const struct node *shown = NULL;
    for (const struct node *child = node->child; child; child = child->next) {
        if (!child->folded) continue;
        if (shown) return NULL;
        shown = child;
    }
    return shown;
}

/* A node whose only child takes its line: model.layers.{0-31}. A folded node keeps its own, for its count. */
static bool joins_child(const struct node *node, unsigned depth, unsigned limit)
{
    return node->folded == 1 && !node->tensor && only_child(node) && (!limit || depth < limit);
}

static void put_note(const struct tree *tree, const struct node *node, bool one_of_many, struct sp_text *text)
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

static void put_cells(const struct tree *tree, struct sp_table *table, const struct node *node, bool one_of_many)
{
    const struct sp_tensor *tensor = node->tensor;
    struct sp_text *text = sp_table_cell(table);
    if (!tensor) sp_text_grouped(text, node->tensors * node->folded);
    text = sp_table_cell(table);
    if (tensor) sp_inspect_put_dtype(text, tensor);
    text = sp_table_cell(table);
    if (tensor) sp_inspect_put_shape(text, tensor);
    text = sp_table_cell(table);
    sp_text_grouped(text, (tensor ? tensor->parameters : node->parameters) * node->folded);
    text = sp_table_cell(table);
    if (tensor && !sp_dtype_bits(tensor->dtype)) sp_text_puts(text, "?");
    else sp_put_bytes(text, times(tensor ? tensor->bytes : node->bytes, node->folded));
    put_note(tree, node, one_of_many, sp_table_cell(table));
    sp_table_color(table, SP_COLOR_DIM);
}

/* Depth is counted in components, indentation in lines. */
static void put_node(const struct tree *tree, struct sp_table *table, const struct node *node, unsigned depth,
                     unsigned indent, bool one_of_many)
{
    const unsigned limit = tree->inspect->options.depth;
    struct sp_text *text = sp_table_cell(table);
    sp_text_pad(text, 2 * indent);
    for (; joins_child(node, depth, limit); depth++) {
        put_component(text, node);
        sp_text_append(text, node->name + node->end, 1);
        node = only_child(node);
    }
    put_component(text, node);
    sp_table_color(table, node->tensor ? SP_COLOR_NONE : SP_COLOR_BOLD);
    put_cells(tree, table, node, one_of_many);
    if (limit && depth >= limit) return;
    for (const struct node *child = node->child; child; child = child->next)
        if (child->folded) put_node(tree, table, child, depth + 1, indent + 1, one_of_many || node->folded > 1);
}

void sp_inspect_tree(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const struct sp_column columns[] = {{"name", false},  {"tensors", true},    {"dtype", false},
                                               {"shape", false}, {"parameters", true}, {"bytes", true},
                                               {"note", false}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    struct tree tree;
    tree_open(&tree, inspect, true);
    for (const struct node *node = tree.root.child; node; node = node->next)
        if (node->folded) put_node(&tree, &table, node, 1, 0, false);
    sp_table_render(&table, text, &inspect->options.report);
    sp_table_free(&table);
    tree_close(&tree);
}

/* ---- sub-totals ---- */

static void put_prefix(struct sp_table *table, const struct node *node, unsigned depth, unsigned limit)
{
    if (!node->tensor && depth < limit) {
        for (const struct node *child = node->child; child; child = child->next)
            put_prefix(table, child, depth + 1, limit);
        return;
    }
    struct sp_text *text = sp_table_cell(table);
    sp_text_visible(text, node->name, node->end);
    if (!node->tensor) sp_text_append(text, node->name + node->end, 1);
    sp_text_grouped(sp_table_cell(table), node->tensors);
    sp_text_grouped(sp_table_cell(table), node->parameters);
    sp_put_bytes(sp_table_cell(table), node->bytes);
}

void sp_inspect_prefixes(const struct sp_inspect *inspect, struct sp_text *text)
{
    static const struct sp_column columns[] = {
        {"prefix", false}, {"tensors", true}, {"parameters", true}, {"bytes", true}};
    struct sp_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    const unsigned limit = inspect->options.depth ? inspect->options.depth : 1;
    struct tree tree;
    tree_open(&tree, inspect, false);
    for (const struct node *node = tree.root.child; node; node = node->next) put_prefix(&table, node, 1, limit);
    sp_table_render(&table, text, &inspect->options.report);
    sp_table_free(&table);
    tree_close(&tree);
}
