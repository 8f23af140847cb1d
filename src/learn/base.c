/* SPDX-License-Identifier: MIT
 * A table that another one extends: what the other predicts rightly, group by group, is not written again.
 *
 *     of llama     in every example         in the learnt table
 *     embedding    as predicted
 *     attention    qkv_proj in place of     [attention] for i in 0..L-1
 *                  q_proj, k_proj, v_proj   model.layers.{i}.self_attn.qkv_proj.weight ...
 *     mlp          as predicted
 *                  one more norm            [own layers] for i in 0..L-1 ... */
#include <string.h>

#include "base/names.h"
#include "base/order.h"
#include "learn/learning.h"
#include "shapeproof/prediction.h"

enum { MOST_GROUPS = 200 };

struct base_search {
    struct shapeproof_learning *learning;
    struct shapeproof_prediction **predictions; /* one for each example */
    struct sp_base *base;
};

/* ---- groups ---- */

/* The group of a predicted tensor, added if it is new; for a group of an inner table, "language model: attention", that
 * of the table which uses it, "language model". SHAPEPROOF_NONE when there are too many. */
static size_t group_of_predicted(struct base_search *search, size_t example,
                                 const struct shapeproof_predicted *predicted)
{
    const char *name = shapeproof_prediction_group(search->predictions[example], predicted->group)->name;
    const char *inner = strstr(name, ": ");
    struct sp_base *base = search->base;
    const char *own = sp_arena_copy(&search->learning->arena, name, inner ? (size_t)(inner - name) : strlen(name));
    for (size_t i = 0; i < base->group_count; i++)
        if (strcmp(base->groups[i].name, own) == 0) return i;
    if (base->group_count == MOST_GROUPS) return SHAPEPROOF_NONE;
    base->groups[base->group_count] = (struct sp_base_group){.name = own};
    return base->group_count++;
}

/* Whether the file has a predicted tensor with its shape, or lacks one that may be left out. */
static bool is_as_predicted(const struct shapeproof_inventory *inventory, const struct shapeproof_predicted *predicted)
{
    const size_t there = shapeproof_inventory_find(inventory, predicted->name);
    if (there == SHAPEPROOF_NONE) return predicted->optional || predicted->same_as != SHAPEPROOF_NONE;
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, there);
    return sp_same_dims(tensor->shape, tensor->rank, predicted->shape, predicted->rank);
}

/* Marks the groups as replaced of which a tensor is not as predicted in some example. False when there are too many. */
static bool judge_groups(struct base_search *search)
{
    for (size_t e = 0; e < search->learning->evidence.count; e++)
        for (size_t i = 0; i < shapeproof_prediction_count(search->predictions[e]); i++) {
            const struct shapeproof_predicted *predicted = shapeproof_prediction_tensor(search->predictions[e], i);
            const size_t group = group_of_predicted(search, e, predicted);
            if (group == SHAPEPROOF_NONE) return false;
            if (!is_as_predicted(search->learning->evidence.examples[e].inventory, predicted))
                search->base->groups[group].is_replaced = true;
        }
    return true;
}

/* ---- rows ---- */

/* The group that predicts the tensor at a place, or SHAPEPROOF_NONE. */
static size_t group_of_place(struct base_search *search, const struct sp_row_tensor *place)
{
    const struct shapeproof_prediction *prediction = search->predictions[place->point.example];
    const size_t there = shapeproof_prediction_find(prediction, place->tensor->name);
    return there == SHAPEPROOF_NONE
               ? SHAPEPROOF_NONE
               : group_of_predicted(search, place->point.example, shapeproof_prediction_tensor(prediction, there));
}

static bool is_kept_place(struct base_search *search, const struct sp_row_tensor *place)
{
    const size_t group = group_of_place(search, place);
    return group != SHAPEPROOF_NONE && !search->base->groups[group].is_replaced;
}

/* Decides whether a row is left to the base, which must have all of it. If it has some of it the row is written, and
 * the groups with that part are replaced; then true. */
static bool judge_row(struct base_search *search, size_t index)
{
    const struct sp_tensor_row *row = &search->learning->problem.layout.rows.items[index];
    size_t kept = 0;
    for (size_t i = 0; i < row->places.count; i++) kept += is_kept_place(search, &row->places.items[i]);
    search->base->rows[index] = kept == row->places.count;
    for (size_t i = 0; i < row->places.count && kept && kept < row->places.count; i++)
        if (is_kept_place(search, &row->places.items[i]))
            search->base->groups[group_of_place(search, &row->places.items[i])].is_replaced = true;
    return kept && kept < row->places.count;
}

/* Until nothing changes: a group that is replaced may take a tensor from another row. */
static void judge_rows(struct base_search *search)
{
    const size_t count = search->learning->problem.layout.rows.count;
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t r = 0; r < count; r++) changed = judge_row(search, r) || changed;
    }
}

static bool have_same_loops(const struct sp_tensor_row *a, const struct sp_tensor_row *b)
{
    return a->index_count == b->index_count && memcmp(a->stems, b->stems, a->index_count * sizeof *a->stems) == 0;
}

/* The heading for a row that the base has not at all: that of a row with the same loops, or NULL. */
static const char *heading_beside(const struct sp_layout *layout, const struct sp_base *base, size_t row)
{
    for (size_t r = 0; r < layout->rows.count && layout->rows.items[row].index_count; r++)
        if (base->headings[r] && have_same_loops(&layout->rows.items[r], &layout->rows.items[row]))
            return base->headings[r];
    return NULL;
}

/* Finds the headings of the rows that are written. */
static void find_headings(struct base_search *search)
{
    const struct sp_layout *layout = &search->learning->problem.layout;
    struct sp_base *base = search->base;
    for (size_t r = 0; r < layout->rows.count; r++)
        for (size_t i = 0; i < layout->rows.items[r].places.count && !base->rows[r] && !base->headings[r]; i++) {
            const size_t group = group_of_place(search, &layout->rows.items[r].places.items[i]);
            if (group == SHAPEPROOF_NONE) continue;
            base->headings[r] = base->groups[group].name;
            base->groups[group].is_written = true;
        }
    for (size_t r = 0; r < layout->rows.count; r++)
        if (!base->rows[r] && !base->headings[r]) base->headings[r] = heading_beside(layout, base, r);
}

/* ---- how much it has ---- */

/* How many tensors of an example are in rows of the base; in all rows if `base` is NULL. */
static size_t count_tensors(const struct sp_layout *layout, const struct sp_base *base, size_t example)
{
    size_t count = 0;
    for (size_t r = 0; r < layout->rows.count; r++)
        for (size_t i = 0; i < layout->rows.items[r].places.count && (!base || base->rows[r]); i++)
            count += layout->rows.items[r].places.items[i].point.example == example;
    return count;
}

/* Sets is_whole, is_most and tensors. */
static void weigh_base(struct base_search *search)
{
    const struct sp_layout *layout = &search->learning->problem.layout;
    struct sp_base *base = search->base;
    base->is_whole = base->is_most = true;
    for (size_t e = 0; e < search->learning->evidence.count; e++) {
        const size_t all = count_tensors(layout, NULL, e), here = count_tensors(layout, base, e);
        base->tensors += here;
        base->is_whole = base->is_whole && here == all;
        base->is_most = base->is_most && 2 * here >= all;
    }
    for (size_t i = 0; i < base->group_count; i++) base->is_whole = base->is_whole && !base->groups[i].is_replaced;
}

/* Whether the base can be extended: only groups with a name can be replaced, and it must have something. */
static bool can_extend_base(const struct sp_base *base)
{
    for (size_t i = 0; i < base->group_count; i++)
        if (base->groups[i].is_replaced && !*base->groups[i].name) return false;
    return base->tensors > 0;
}

/* Expands the table for each example. False when one has no configuration, or the table cannot be expanded for it. */
static bool predict_examples(struct base_search *search, const char *table)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_learning *learning = search->learning;
    bool done = !learning->invented;
    for (size_t e = 0; e < learning->evidence.count && done; e++) {
        const struct shapeproof_config *config = learning->evidence.examples[e].config;
        const struct shapeproof_predict_options options = {.table = table};
        if (config) search->predictions[e] = shapeproof_predict(learning->tables, config, &options, &error);
        sp_error_reset(&error);
        done = search->predictions[e] != NULL;
    }
    return done;
}

struct sp_base *sp_learn_look_at_base(struct shapeproof_learning *learning, const char *table)
{
    const size_t rows = learning->problem.layout.rows.count;
    struct sp_base *base = sp_arena_array(&learning->arena, 1, sizeof *base);
    struct base_search search = {.learning = learning, .base = base};
    search.predictions = sp_arena_array(&learning->arena, learning->evidence.count, sizeof *search.predictions);
    base->table = table;
    base->rows = sp_arena_array(&learning->arena, rows + 1, sizeof *base->rows);
    base->headings = sp_arena_array(&learning->arena, rows + 1, sizeof *base->headings);
    base->groups = sp_arena_array(&learning->arena, MOST_GROUPS, sizeof *base->groups);
    const bool fits = predict_examples(&search, table) && judge_groups(&search);
    if (fits) {
        judge_rows(&search);
        find_headings(&search);
        weigh_base(&search);
    }
    for (size_t e = 0; e < learning->evidence.count; e++) shapeproof_prediction_free(search.predictions[e]);
    return fits && can_extend_base(base) ? base : NULL;
}
