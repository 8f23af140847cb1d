/* SPDX-License-Identifier: MIT */
#include "learn/rows/parts.h"

#include <stdio.h>
#include <string.h>

/* The index of the row that begins like `row`, with `base` characters, and ends so. SHAPEPROOF_NONE when there is none,
 * or when it cannot be in a part: it is not solved, or tied. */
static size_t row_beside(const struct sp_layout *layout, const struct sp_tensor_row *row, size_t base, const char *end)
{
    struct sp_text name = {0};
    sp_text_append(&name, row->pattern, base);
    sp_text_puts(&name, end);
    const size_t found = sp_map_get(&layout->row_names, name.data);
    const struct sp_tensor_row *other = found == SIZE_MAX ? NULL : &layout->rows.items[found];
    sp_text_free(&name);
    return other && other->is_solved && other->tied_to == SHAPEPROOF_NONE ? found : SHAPEPROOF_NONE;
}

static bool same_condition(const struct sp_tensor_row *a, const struct sp_tensor_row *b)
{
    const struct sp_search_term *left = a->where.term, *right = b->where.term;
    return left && right ? sp_search_terms_equal(left, right) : left == right;
}

/* Whether a row has the term as that dimension; false when it has not so many. */
static bool is_dim(const struct sp_tensor_row *row, uint32_t dimension, const struct sp_search_term *term)
{
    return dimension < row->rank && sp_search_terms_equal(row->dims[dimension].term, term);
}

static void add_argument(struct sp_part_found *found, const struct sp_search_term *term)
{
    found->arguments[found->argument_count++] = term;
}

/* ---- a weight and a bias ---- */

/* The part that a weight with a bias is, by its rank, and its arguments; NULL when it is none. A convolution must have
 * a square kernel. */
static const char *part_of_weight(const struct sp_tensor_row *weight, struct sp_part_found *found)
{
    static const char *const parts[] = {NULL, "norm", "linear", "convolution_1d", "convolution"};
    const bool square = weight->rank != 4 || is_dim(weight, 3, weight->dims[2].term);
    if (weight->rank >= sizeof parts / sizeof *parts || !square) return NULL;
    for (uint32_t d = 0; d < weight->rank && d < 3; d++) add_argument(found, weight->dims[d].term);
    return parts[weight->rank];
}

/* Whether a weight and a bias are a part; only that of a linear may have a condition of its own. */
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
    if (found.rows[0] == SHAPEPROOF_NONE || found.rows[1] == SHAPEPROOF_NONE ||
        !is_pair(&layout->rows.items[found.rows[0]], &layout->rows.items[found.rows[1]], &found))
        found.part = NULL;
    return found;
}

/* ---- batch normalisation ---- */

/* The batch norm that a row is in: four vectors of one size and a counter of 64 bits, under one condition. The part is
 * NULL when it is in none. */
static struct sp_part_found find_batch_norm(const struct sp_layout *layout, const struct sp_tensor_row *row,
                                            size_t base)
{
    static const char *const ends[] = {"weight", "bias", "running_mean", "running_var", "num_batches_tracked"};
    enum { WEIGHT = 0, COUNTER = 4 };
    static const struct sp_part_found none = {.part = NULL};
    struct sp_part_found found = {.part = "batch_norm", .base = row->pattern, .base_length = base};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t there = row_beside(layout, row, base, ends[i]);
        if (there == SHAPEPROOF_NONE) return none;
        const struct sp_tensor_row *other = &layout->rows.items[there];
        if (!same_condition(other, row) || other->rank != (i == COUNTER ? 0U : 1U)) return none;
        if (i == WEIGHT) add_argument(&found, other->dims[0].term); /* the size */
        else if (i != COUNTER && !is_dim(other, 0, found.arguments[0])) return none;
        found.rows[found.row_count++] = there;
        found.where = other->where.term;
    }
    const struct sp_tensor_row *counter = &layout->rows.items[found.rows[COUNTER]];
    for (size_t i = 0; i < counter->places.count; i++)
        if (counter->places.items[i].tensor->dtype != SHAPEPROOF_DTYPE_I64) return none;
    return found;
}

/* ---- several matrices together ---- */

enum { MOST_MEMBERS = 4 };

/* Linear layers that are one part: "q_proj", "k_proj", "v_proj", "o_proj". */
struct ensemble {
    const struct sp_layout *layout;
    const struct sp_tensor_row *weights[MOST_MEMBERS];
    const struct sp_tensor_row *biases[MOST_MEMBERS]; /* NULL: the member has none */
    struct sp_part_found found;
};

/* Finds the row of the weight of each member, and that of its bias if it has one. False if a weight is not there or no
 * matrix, if its condition is not that of the first, or if the bias is not as long as the weight has rows. */
static bool find_members(struct ensemble *ensemble, const struct sp_tensor_row *row, size_t base,
                         const char *const *members, size_t count)
{
    struct sp_part_found *found = &ensemble->found;
    *found = (struct sp_part_found){.base = row->pattern, .base_length = base};
    for (size_t i = 0; i < count; i++) {
        char end[32];
        snprintf(end, sizeof end, "%s.weight", members[i]);
        const size_t weight = row_beside(ensemble->layout, row, base, end);
        snprintf(end, sizeof end, "%s.bias", members[i]);
        const size_t bias = row_beside(ensemble->layout, row, base, end);
        if (weight == SHAPEPROOF_NONE || ensemble->layout->rows.items[weight].rank != 2) return false;
        ensemble->weights[i] = &ensemble->layout->rows.items[weight];
        ensemble->biases[i] = bias == SHAPEPROOF_NONE ? NULL : &ensemble->layout->rows.items[bias];
        found->rows[found->row_count++] = weight;
        if (bias != SHAPEPROOF_NONE) found->rows[found->row_count++] = bias;
        if (!same_condition(ensemble->weights[0], ensemble->weights[i])) return false;
        if (bias != SHAPEPROOF_NONE &&
            (ensemble->biases[i]->rank != 1 || !is_dim(ensemble->biases[i], 0, ensemble->weights[i]->dims[0].term)))
            return false;
    }
    found->where = ensemble->weights[0]->where.term;
    return true;
}

/* Adds the flag that says whether these members have biases. False when one flag cannot say it: some have a bias and
 * some have none, or they have other conditions. */
static bool add_bias_flag(struct ensemble *ensemble, size_t first, size_t count)
{
    const struct sp_tensor_row *bias = ensemble->biases[first];
    struct sp_part_flag flag = {.holds = bias != NULL};
    for (size_t i = first + 1; i < first + count; i++)
        if (!bias != !ensemble->biases[i] || (bias && !same_condition(bias, ensemble->biases[i]))) return false;
    if (bias && !same_condition(bias, ensemble->weights[first])) {
        if (ensemble->weights[first]->where.term) return false;
        flag.when = bias->where.term;
    }
    ensemble->found.flags[ensemble->found.flag_count++] = flag;
    return true;
}

/* Drops flags at the end that are false: that is their default. */
static void drop_idle_flags(struct sp_part_found *found)
{
    while (found->flag_count && !found->flags[found->flag_count - 1].holds) found->flag_count--;
}

/* gated_mlp(outer, inner, bias) */
static struct sp_part_found find_gated_mlp(const struct sp_layout *layout, const struct sp_tensor_row *row, size_t base)
{
    static const char *const members[] = {"gate_proj", "up_proj", "down_proj"};
    struct ensemble ensemble = {.layout = layout};
    if (!find_members(&ensemble, row, base, members, 3)) return (struct sp_part_found){.part = NULL};
    const struct sp_search_term *inner = ensemble.weights[0]->dims[0].term, *outer = ensemble.weights[0]->dims[1].term;
    const bool fits = is_dim(ensemble.weights[1], 0, inner) && is_dim(ensemble.weights[1], 1, outer) &&
                      is_dim(ensemble.weights[2], 0, outer) && is_dim(ensemble.weights[2], 1, inner);
    if (!fits || !add_bias_flag(&ensemble, 0, 3)) return (struct sp_part_found){.part = NULL};
    add_argument(&ensemble.found, outer);
    add_argument(&ensemble.found, inner);
    drop_idle_flags(&ensemble.found);
    ensemble.found.part = "gated_mlp";
    return ensemble.found;
}

/* Splits the widths of queries and keys, A*D and K*D, into the arguments A, K and D. False when they share no factor.
 */
static bool split_products(const struct sp_search_term *queries, const struct sp_search_term *keys,
                           struct sp_part_found *found)
{
    if (queries->op != SP_TERM_MULTIPLY || keys->op != SP_TERM_MULTIPLY) return false;
    const struct sp_search_term *const of[] = {queries->a, queries->b}, *const by[] = {keys->a, keys->b};
    for (size_t i = 0; i < 4; i++) {
        const struct sp_search_term *width = of[i / 2];
        if (!sp_search_terms_equal(width, by[i % 2]) || width->op == SP_TERM_NUMBER) continue;
        add_argument(found, of[1 - i / 2]);
        add_argument(found, by[1 - i % 2]);
        add_argument(found, width);
        return true;
    }
    return false;
}

/* grouped_attention(width, heads, key heads, width of a head, bias, bias of o_proj) */
static struct sp_part_found find_grouped_attention(const struct sp_layout *layout, const struct sp_tensor_row *row,
                                                   size_t base)
{
    static const char *const members[] = {"q_proj", "k_proj", "v_proj", "o_proj"};
    struct ensemble ensemble = {.layout = layout};
    if (!find_members(&ensemble, row, base, members, 4)) return (struct sp_part_found){.part = NULL};
    const struct sp_search_term *queries = ensemble.weights[0]->dims[0].term, *keys = ensemble.weights[1]->dims[0].term;
    const struct sp_search_term *model = ensemble.weights[0]->dims[1].term;
    const bool fits = is_dim(ensemble.weights[1], 1, model) && is_dim(ensemble.weights[2], 0, keys) &&
                      is_dim(ensemble.weights[2], 1, model) && is_dim(ensemble.weights[3], 0, model) &&
                      is_dim(ensemble.weights[3], 1, queries);
    add_argument(&ensemble.found, model);
    if (!fits || !split_products(queries, keys, &ensemble.found) || !add_bias_flag(&ensemble, 0, 3) ||
        !add_bias_flag(&ensemble, 3, 1))
        return (struct sp_part_found){.part = NULL};
    drop_idle_flags(&ensemble.found);
    ensemble.found.part = "grouped_attention";
    return ensemble.found;
}

/* The part that the matrices below "...self_attn." are, for the row "...self_attn.q_proj.weight" or any beside it. */
static struct sp_part_found find_ensemble(const struct sp_layout *layout, const struct sp_tensor_row *row, size_t base)
{
    while (base > 1 && row->pattern[base - 2] != '.') base--;
    if (base < 2) return (struct sp_part_found){.part = NULL};
    base--;
    const struct sp_part_found found = find_gated_mlp(layout, row, base);
    return found.part ? found : find_grouped_attention(layout, row, base);
}

static bool has_row(const struct sp_part_found *found, size_t row)
{
    for (size_t i = 0; i < found->row_count; i++)
        if (found->rows[i] == row) return true;
    return false;
}

struct sp_part_found sp_find_part(const struct sp_layout *layout, size_t index)
{
    const struct sp_tensor_row *row = &layout->rows.items[index];
    const char *dot = strrchr(row->pattern, '.');
    if (!dot || row->tied_to != SHAPEPROOF_NONE) return (struct sp_part_found){.part = NULL};
    const size_t base = (size_t)(dot + 1 - row->pattern);
    const struct sp_part_found whole = find_ensemble(layout, row, base);
    if (whole.part && has_row(&whole, index)) return whole;
    const struct sp_part_found found = find_batch_norm(layout, row, base);
    if (found.part) return found;
    if (strcmp(dot, ".weight") == 0 || strcmp(dot, ".bias") == 0) return find_pair(layout, row, base);
    return (struct sp_part_found){.part = NULL};
}
