/* SPDX-License-Identifier: MIT */
#include "report/name_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/map.h"
#include "base/natural.h"

enum { MAX_DEPTH = 32 };

static const char separators[] = "./";

/* ---- building ---- */

struct leaf {
    const struct sp_name_entry *entry;
    size_t position;
};

/* Names that share a prefix become neighbours. */
static int by_bytes_of_name(const void *left, const void *right)
{
    const struct leaf *a = left, *b = right;
    return strcmp(a->entry->tensor->name, b->entry->tensor->name);
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

/* The component of a leaf's name at [begin, end), below `parent` and behind its other children. */
static struct sp_name_node *add_node(struct sp_name_tree *tree, struct sp_name_node *parent, const struct leaf *leaf,
                                     size_t begin, size_t end)
{
    struct sp_name_node *node = sp_arena_alloc(&tree->arena, sizeof *node);
    *node = (struct sp_name_node){.name = leaf->entry->tensor->name,
                                  .begin = begin,
                                  .end = end,
                                  .index = tree->count,
                                  .parent = parent,
                                  .position = leaf->position,
                                  .leader = node,
                                  .folded = 1};
    node->numbered = parse_number(node->name + begin, end - begin, &node->number);
    if (parent->last_made) parent->last_made->next_made = node;
    else parent->first_made = node;
    parent->last_made = node;
    SP_GROW(tree->nodes, tree->count, tree->capacity);
    tree->nodes[tree->count++] = node;
    return node;
}

/* Adds one name below the branch of open nodes, whose first `depth` it shares; returns the new depth. */
static size_t add_tensor_name(struct sp_name_tree *tree, struct sp_name_node **branch, size_t depth,
                              const struct leaf *leaf)
{
    const char *name = leaf->entry->tensor->name;
    struct sp_name_node *parent = depth ? branch[depth - 1] : &tree->root;
    size_t begin = depth ? parent->end + 1 : 0;
    for (;;) {
        const size_t end = begin + strcspn(name + begin, separators);
        if (!name[end] || depth == MAX_DEPTH) break;
        parent = branch[depth++] = add_node(tree, parent, leaf, begin, end);
        begin = end + 1;
    }
    add_node(tree, parent, leaf, begin, strlen(name))->tensor = leaf->entry->tensor;
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
static void build(struct sp_name_tree *tree, const struct sp_name_entry *entries, size_t count)
{
    struct leaf *leaves = sp_realloc(NULL, count + 1, sizeof *leaves);
    struct sp_name_node *branch[MAX_DEPTH];
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) leaves[i] = (struct leaf){&entries[i], i};
    qsort(leaves, count, sizeof *leaves, by_bytes_of_name);
    for (size_t i = 0; i < count; i++)
        depth = add_tensor_name(tree, branch, shared_depth(branch, depth, leaves[i].entry->tensor->name), &leaves[i]);
    sp_free(leaves);
}

/* ---- sub-totals and structure, from the leaves up ---- */

/* All that must be equal for two tensors to be folded, but the name. */
static void describe_leaf(const struct sp_name_entry *entry, struct sp_text *text)
{
    const struct shapeproof_tensor *tensor = entry->tensor;
    sp_text_printf(text, "%zu:%s|%" PRIu32 "|%zu", strlen(tensor->dtype_name), tensor->dtype_name, tensor->flags,
                   entry->kind);
    for (uint32_t i = 0; i < tensor->rank; i++) sp_text_printf(text, "|%" PRIu64, tensor->shape[i]);
}

/* The structure of each child is known already, so that one number stands for the whole sub-tree. */
static void describe_children(const struct sp_name_node *node, struct sp_text *text)
{
    for (const struct sp_name_node *child = node->first_made; child; child = child->next_made) {
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
    if (found != SIZE_MAX) return found;
    const size_t fresh = known->count;
    sp_map_add(known, sp_arena_copy(&tree->arena, description->data, description->length), fresh);
    return fresh;
}

/* The position of a node is that of its first tensor. */
static void sum_into_parent(struct sp_name_node *node)
{
    struct sp_name_node *parent = node->parent;
    parent->tensors += node->tensors;
    parent->parameters += node->parameters;
    parent->bytes += node->bytes;
    if (node->position < parent->position) parent->position = node->position;
}

/* Backwards through the list, so that the children of a node come before it. */
static void sum_up_nodes(struct sp_name_tree *tree, const struct sp_name_entry *entries)
{
    struct sp_map known = {0};
    struct sp_text description = {0};
    for (size_t i = tree->count; i-- > 0;) {
        struct sp_name_node *node = tree->nodes[i];
        if (description.data) description.length = 0;
        if (node->tensor) {
            const struct sp_name_entry *entry = &entries[node->position];
            describe_leaf(entry, &description);
            node->tensors = entry->tensors;
            node->parameters = entry->parameters;
            node->bytes = entry->bytes;
        } else describe_children(node, &description);
        node->structure = intern(tree, &known, &description);
        sum_into_parent(node);
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

/* The largest first, of folded ones all together; equal ones by position. */
static int by_sum(uint64_t a, uint64_t b, const void *left, const void *right)
{
    if (a != b) return a > b ? -1 : 1;
    return by_position(left, right);
}

static int by_sum_of_bytes(const void *left, const void *right)
{
    const struct sp_name_node *a = *(const struct sp_name_node *const *)left,
                              *b = *(const struct sp_name_node *const *)right;
    return by_sum(a->bytes * a->folded, b->bytes * b->folded, left, right);
}

static int by_sum_of_parameters(const void *left, const void *right)
{
    const struct sp_name_node *a = *(const struct sp_name_node *const *)left,
                              *b = *(const struct sp_name_node *const *)right;
    return by_sum(a->parameters * a->folded, b->parameters * b->folded, left, right);
}

static int by_sum_of_tensors(const void *left, const void *right)
{
    const struct sp_name_node *a = *(const struct sp_name_node *const *)left,
                              *b = *(const struct sp_name_node *const *)right;
    return by_sum(a->tensors * a->folded, b->tensors * b->folded, left, right);
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
            node->leader = leader;
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
    for (struct sp_name_node *child = parent->first_made; child; child = child->next_made)
        if (child->numbered && child->position < first_number) first_number = child->position;
    for (struct sp_name_node *child = parent->first_made; child; child = child->next_made)
        child->rank = child->numbered ? first_number : child->position;
}

/* Brings the children of one node into order, and folds those that are equal if that is wanted. */
static void arrange_children(struct sp_name_node *parent, bool folded, enum sp_name_order order)
{
    static int (*const compare[])(const void *, const void *) = {[SP_NAMES_BY_POSITION] = by_position,
                                                                 [SP_NAMES_BY_COMPONENT] = by_component,
                                                                 [SP_NAMES_BY_BYTES] = by_sum_of_bytes,
                                                                 [SP_NAMES_BY_PARAMETERS] = by_sum_of_parameters,
                                                                 [SP_NAMES_BY_TENSORS] = by_sum_of_tensors};
    size_t count = 0;
    for (const struct sp_name_node *child = parent->first_made; child; child = child->next_made) count++;
    struct sp_name_node **siblings = sp_realloc(NULL, count + 1, sizeof(struct sp_name_node *));
    count = 0;
    for (struct sp_name_node *child = parent->first_made; child; child = child->next_made) {
        child->leader = child;
        child->more = NULL;
        child->folded = 1;
        siblings[count++] = child;
    }
    rank_siblings(parent);
    if (folded) fold(siblings, count);
    qsort(siblings, count, sizeof *siblings, compare[order]);
    parent->child = count ? siblings[0] : NULL;
    for (size_t i = 0; i < count; i++) siblings[i]->next = i + 1 < count ? siblings[i + 1] : NULL;
    sp_free(siblings);
}

void sp_name_tree_arrange(struct sp_name_tree *tree, bool folded, enum sp_name_order order)
{
    arrange_children(&tree->root, folded, order);
    for (size_t i = 0; i < tree->count; i++) arrange_children(tree->nodes[i], folded, order);
}

void sp_name_tree_open(struct sp_name_tree *tree, const struct sp_name_entry *entries, size_t count)
{
    *tree = (struct sp_name_tree){.root = {.position = SIZE_MAX, .folded = 1}};
    build(tree, entries, count);
    sum_up_nodes(tree, entries);
}

void sp_name_tree_close(struct sp_name_tree *tree)
{
    sp_free(tree->nodes);
    sp_arena_free(&tree->arena);
}

/* ---- lines ---- */

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

void sp_put_name_node(struct sp_text *text, const struct sp_name_node *node)
{
    if (node->folded > 1) put_numbers(text, node);
    else sp_text_visible(text, node->name + node->begin, node->end - node->begin);
}

const struct sp_name_node *sp_name_node_joined(const struct sp_name_node *node)
{
    const struct sp_name_node *shown = NULL;
    if (node->folded != 1 || node->tensor) return NULL;
    for (const struct sp_name_node *child = node->child; child; child = child->next) {
        if (!child->folded) continue;
        if (shown) return NULL;
        shown = child;
    }
    return shown;
}

uint64_t sp_times_folded(uint64_t bytes, const struct sp_name_node *node)
{
    uint64_t product;
    return sp_mul_u64(bytes, node->folded, &product) ? product : UINT64_MAX;
}
