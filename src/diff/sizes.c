/* SPDX-License-Identifier: MIT
 * How two models of one kind differ as a whole: "24 layers against 12, hidden 768 against 1024". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/order.h"
#include "diff/diff.h"
#include "names/components.h"
#include "names/patterns.h"

enum {
    SHOWN = 3,     /* sizes that are named */
    MANY = 4,      /* tensors of other shapes: with fewer the models differ in these alone, and not as a whole */
    MAX_SIZES = 64 /* different pairs of sizes, and stacks of layers, that are looked at */
};

/* ---- layers ---- */

/* Names up to their first index, and how many different indices there are behind each. */
struct stacks {
    struct sp_arena arena;
    struct sp_map fronts, layers;
    size_t counts[MAX_SIZES], tensors[MAX_SIZES];
    const char *names[MAX_SIZES];
};

/* The length of the name up to and with the dot before its first index; 0 when it has none. */
static size_t front_length(const char *name, uint64_t *index)
{
    for (struct sp_component_walk part = {.rest = name}; sp_component_next(&part, "./");) {
        const size_t place = (size_t)(part.text - name);
        if (place && *part.rest && sp_index_at(name, place, index) == part.length) return place;
    }
    return 0;
}

/* Counts a tensor for the stack of layers that its name is in: "h." of "h.3.w", with layer 3. */
static void note_layer(struct stacks *stacks, const char *name)
{
    uint64_t index;
    const size_t length = front_length(name, &index);
    if (!length) return;
    const char *front = sp_arena_copy(&stacks->arena, name, length);
    const char *layer = sp_arena_printf(&stacks->arena, "%s%" PRIu64, front, index);
    size_t place = sp_map_get(&stacks->fronts, front);
    if (place == SIZE_MAX) {
        place = stacks->fronts.count;
        if (place == MAX_SIZES) return;
        sp_map_add(&stacks->fronts, front, place);
        stacks->names[place] = front;
        stacks->counts[place] = stacks->tensors[place] = 0;
    }
    stacks->tensors[place]++;
    stacks->counts[place] += sp_map_add(&stacks->layers, layer, 0);
}

/* The layers of the stack that has the most tensors; what has one tensor in each is no stack of layers. */
static size_t count_layers(const struct sp_diff_half *half)
{
    const struct shapeproof_inventory *inventory = half->inventory;
    struct stacks stacks = {.arena = {0}};
    size_t layers = 0, most = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        const char *translated = half->spelling[i].text; /* which may number the layers of two lists as one */
        if (!(tensor->flags & SHAPEPROOF_TENSOR_STATE)) note_layer(&stacks, translated ? translated : tensor->name);
    }
    for (size_t i = 0; i < stacks.fronts.count; i++) {
        if (stacks.tensors[i] <= most || stacks.tensors[i] < 2 * stacks.counts[i]) continue;
        most = stacks.tensors[i];
        layers = stacks.counts[i];
    }
    sp_map_free(&stacks.fronts);
    sp_map_free(&stacks.layers);
    sp_arena_free(&stacks.arena);
    return layers;
}

/* ---- sizes ---- */

/* A dimension that is `a` in A and `b` in B, in so many tensors. */
struct size {
    uint64_t a, b;
    size_t count;
    bool is_hidden, is_vocabulary; /* in one of these it is the width of the model, or the size of the vocabulary */
};

struct sizes {
    struct size list[MAX_SIZES];
    size_t count;
};

/* The entry of that pair of sizes; NULL when there are too many. */
static struct size *size_of(struct sizes *sizes, uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->list[i].a == a && sizes->list[i].b == b) return &sizes->list[i];
    if (sizes->count == MAX_SIZES) return NULL;
    sizes->list[sizes->count] = (struct size){.a = a, .b = b};
    return &sizes->list[sizes->count++];
}

/* A norm is as wide as the model, and a table of embeddings as long as the vocabulary. */
static void note_sizes(struct sizes *sizes, const struct shapeproof_tensor *a, const struct shapeproof_tensor *b)
{
    static const char *const norms[] = {"norm", "ln_", "LayerNorm"};
    static const char *const tables[] = {"embed_tokens", "wte", "word_embeddings", "tok_embeddings", "embed_in"};
    const bool is_norm = a->rank == 1 && SP_HAS_ANY(a->name, norms);
    const bool is_table = a->rank == 2 && SP_HAS_ANY(a->name, tables);
    for (uint32_t d = 0; d < a->rank && a->rank == b->rank; d++) {
        struct size *size = a->shape[d] != b->shape[d] ? size_of(sizes, a->shape[d], b->shape[d]) : NULL;
        if (!size) continue;
        size->count++;
        size->is_hidden = size->is_hidden || is_norm;
        size->is_vocabulary = size->is_vocabulary || (is_table && d == 0);
    }
}

static int compare_sizes(const void *left, const void *right)
{
    const struct size *a = left, *b = right;
    if (a->is_hidden != b->is_hidden) return a->is_hidden ? -1 : 1;
    if (a->count != b->count) return sp_order(b->count, a->count);
    return a->a != b->a ? sp_order(a->a, b->a) : sp_order(a->b, b->b);
}

static void put_size(struct sp_text *text, const struct size *size)
{
    sp_text_printf(text, "%s%s%" PRIu64 " against %" PRIu64, text->length ? ", " : "",
                   size->is_hidden       ? "hidden "
                   : size->is_vocabulary ? "vocabulary "
                                         : "",
                   size->a, size->b);
}

/* The numbers of layers, if both have such, then the sizes that differ: that of the hidden state first, then the ones
 * in most tensors. */
const char *sp_diff_sizes(struct shapeproof_diff *diff)
{
    struct sizes sizes = {.count = 0};
    struct sp_text text = {0};
    const size_t in_a = count_layers(&diff->a), in_b = count_layers(&diff->b);
    size_t reshaped = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(diff->a.inventory); i++) {
        if (diff->a.other[i] == SHAPEPROOF_NONE || shapeproof_diff_is_converted(diff, i) || diff->a.joined[i]) continue;
        const struct shapeproof_tensor *a = sp_diff_a(diff, i), *b = sp_diff_b(diff, diff->a.other[i]);
        if (sp_tensor_same_shape(a, b) || sp_tensor_is_transposed(a, b)) continue;
        reshaped++;
        note_sizes(&sizes, a, b);
    }
    if (diff->totals.both && in_a && in_b && in_a != in_b) sp_text_printf(&text, "%zu layers against %zu", in_a, in_b);
    if (sizes.count) qsort(sizes.list, sizes.count, sizeof *sizes.list, compare_sizes);
    const bool differ_as_a_whole = reshaped >= MANY || text.length;
    for (size_t i = 0; i < sizes.count && i < SHOWN && differ_as_a_whole; i++) put_size(&text, &sizes.list[i]);
    return text.length ? sp_text_keep(&text, &diff->arena) : NULL;
}
