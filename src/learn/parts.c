/* SPDX-License-Identifier: MIT */
#include "learn/parts.h"

#include <string.h>

/* The row with the same beginning and this end; SP_NONE when there is none that could be in a part. */
static size_t row_beside(const struct sp_layout *layout, const struct sp_tensor_row *row, size_t base, const char *end)
{
    struct sp_text name = {0};
    sp_text_append(&name, row->pattern, base);
    sp_text_puts(&name, end);
    const size_t found = sp_map_get(&layout->row_names, name.data);
    const struct sp_tensor_row *other = found == SIZE_MAX ? NULL : &layout->rows.items[found];
    sp_text_free(&name);
    return other && other->is_solved && other->tied_to == SP_NONE ? found : SP_NONE;
}

static bool same_condition(const struct sp_tensor_row *a, const struct sp_tensor_row *b)
{
    const struct sp_phrase *left = a->where.term, *right = b->where.term;
    return left && right ? sp_phrases_equal(left, right) : left == right;
}

static bool is_dim(const struct sp_tensor_row *row, uint32_t dimension, const struct sp_phrase *term)
{
    return dimension < row->rank && sp_phrases_equal(row->dims[dimension].term, term);
}

static void add_argument(struct sp_part_found *found, const struct sp_phrase *term)
{
    found->arguments[found->argument_count++] = term;
}

/* ---- a weight and a bias ---- */

/* What a weight with a bias of its first dimension is, by its rank; NULL: nothing. */
static const char *part_of_weight(const struct sp_tensor_row *weight, struct sp_part_found *found)
{
    static const char *const parts[] = {NULL, "norm", "linear", "convolution_1d", "convolution"};
    const bool square = weight->rank != 4 || is_dim(weight, 3, weight->dims[2].term);
    if (weight->rank >= sizeof parts / sizeof *parts || !square) return NULL;
    for (uint32_t d = 0; d < weight->rank && d < 3; d++) add_argument(found, weight->dims[d].term);
    return parts[weight->rank];
}

static bool is_pair(const struct sp_tensor_row *weight, const struct sp_tensor_row *bias, struct sp_part_found *found)
{
    if (bias->rank != 1 || !weight->rank || !is_dim(weight, 0, bias->dims[0].term)) return false;
    found->part = part_of_weight(weight, found);
    found->where = weight->where.term;
    if (same_condition(weight, bias)) return found->part != NULL;
    found->bias = bias->where.term;
    return found->part && weight->rank == 2 && !weight->where.term;
}

static struct sp_part_found find_pair(const struct sp_layout *layout, const struct sp_tensor_row *row, size_t base)
{
    struct sp_part_found found = {.base = row->pattern, .base_length = base, .row_count = 2};
    found.rows[0] = row_beside(layout, row, base, "weight");
    found.rows[1] = row_beside(layout, row, base, "bias");
    if (found.rows[0] == SP_NONE || found.rows[1] == SP_NONE ||
        !is_pair(&layout->rows.items[found.rows[0]], &layout->rows.items[found.rows[1]], &found))
        found.part = NULL;
    return found;
}

/* ---- batch normalisation ---- */

static struct sp_part_found find_batch_norm(const struct sp_layout *layout, const struct sp_tensor_row *row,
                                            size_t base)
{
    static const char *const ends[] = {"weight", "bias", "running_mean", "running_var", "num_batches_tracked"};
    struct sp_part_found found = {.part = "batch_norm", .base = row->pattern, .base_length = base};
    for (size_t i = 0; i < SP_MOST_PART_ROWS; i++) {
        const size_t there = row_beside(layout, row, base, ends[i]);
        const struct sp_tensor_row *other = there == SP_NONE ? NULL : &layout->rows.items[there];
        const bool fits = other && same_condition(other, row) && other->rank == (i < 4 ? 1U : 0U) &&
                          (!i || i == 4 || is_dim(other, 0, found.arguments[0]));
        if (!fits) return (struct sp_part_found){.part = NULL};
        if (!i) add_argument(&found, other->dims[0].term);
        found.rows[found.row_count++] = there;
        found.where = other->where.term;
    }
    const struct sp_tensor_row *count = &layout->rows.items[found.rows[4]];
    for (size_t i = 0; i < count->places.count; i++)
        if (count->places.items[i].tensor->dtype != SP_DTYPE_I64) return (struct sp_part_found){.part = NULL};
    return found;
}

struct sp_part_found sp_find_part(const struct sp_layout *layout, size_t index)
{
    const struct sp_tensor_row *row = &layout->rows.items[index];
    const char *dot = strrchr(row->pattern, '.');
    if (!dot || row->tied_to != SP_NONE) return (struct sp_part_found){.part = NULL};
    const size_t base = (size_t)(dot + 1 - row->pattern);
    const struct sp_part_found found = find_batch_norm(layout, row, base);
    if (found.part) return found;
    if (strcmp(dot, ".weight") == 0 || strcmp(dot, ".bias") == 0) return find_pair(layout, row, base);
    return (struct sp_part_found){.part = NULL};
}
