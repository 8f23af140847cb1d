/* SPDX-License-Identifier: MIT
 * Rows of one storage: shared in the file wherever both are there, or left out of it where a flag says so. */
#include <string.h>

#include "learn/solve.h"

/* The tensor of a row without loops in an example, or NULL. */
static const struct sp_row_tensor *only_place_in(const struct sp_tensor_row *row, size_t example)
{
    for (size_t i = 0; i < row->places.count; i++)
        if (row->places.items[i].point.example == example) return &row->places.items[i];
    return NULL;
}

/* Whether the tensor is the same storage as one of the other row in that example. */
static bool is_shared_in(const struct sp_evidence *evidence, const struct sp_tensor_row *row,
                         const struct sp_tensor_row *other, size_t example)
{
    const struct sp_row_tensor *a = only_place_in(row, example), *b = only_place_in(other, example);
    if (!a || !b) return false;
    const struct shapeproof_inventory *inventory = evidence->examples[example].inventory;
    const size_t first = a->tensor->same_as, second = b->tensor->same_as;
    if (first != SHAPEPROOF_NONE && shapeproof_inventory_tensor(inventory, first) == b->tensor) return true;
    return (first != SHAPEPROOF_NONE && first == second) ||
           (second != SHAPEPROOF_NONE && shapeproof_inventory_tensor(inventory, second) == a->tensor);
}

static bool is_shared_in_any(const struct sp_evidence *evidence, const struct sp_tensor_row *row,
                             const struct sp_tensor_row *other)
{
    for (size_t e = 0; e < evidence->count; e++)
        if (is_shared_in(evidence, row, other, e)) return true;
    return false;
}

/* Whether the two are one storage in every example that has both. */
static bool is_shared_in_all(const struct sp_evidence *evidence, const struct sp_tensor_row *row,
                             const struct sp_tensor_row *other)
{
    for (size_t e = 0; e < evidence->count; e++)
        if (only_place_in(row, e) && only_place_in(other, e) && !is_shared_in(evidence, row, other, e)) return false;
    return true;
}

/* Ties two rows under the condition that tells the examples in which they are one storage from the others; leaves them
 * untied when there is none. */
static void tie_by_storage(struct sp_learn_problem *problem, struct sp_tensor_row *row, size_t other)
{
    const struct sp_tensor_row *target = &problem->layout.rows.items[other];
    struct sp_learn_function shared = {.name = row->pattern};
    for (size_t e = 0; e < problem->evidence->count; e++)
        if (only_place_in(row, e) && only_place_in(target, e))
            sp_function_add(&shared, &(struct sp_point){.example = e}, is_shared_in(problem->evidence, row, target, e));
    const struct sp_answer when = sp_solve_condition(problem, &shared, NULL);
    if (when.term) {
        row->tied_to = other;
        row->tied_when = when;
    }
    sp_function_free(&shared);
}

/* Whether a tensor of the row is the same storage as an earlier one of its file. */
static bool is_same_as_any(const struct sp_tensor_row *row)
{
    for (size_t i = 0; i < row->places.count; i++)
        if (row->places.items[i].tensor->same_as != SHAPEPROOF_NONE) return true;
    return false;
}

/* Ties a row without loops to the first row before it that is the same storage in every example with both; else, under
 * a condition, to the first that is in some. */
static void find_tie(struct sp_learn_problem *problem, size_t index)
{
    struct sp_tensor_row *row = &problem->layout.rows.items[index];
    size_t first = index;
    if (!row->is_solved || row->index_count || !is_same_as_any(row)) return;
    for (size_t i = 0; i < index; i++) {
        const struct sp_tensor_row *other = &problem->layout.rows.items[i];
        if (other->index_count || !other->is_solved) continue;
        if (!is_shared_in_any(problem->evidence, row, other)) continue;
        if (first == index) first = i;
        if (!is_shared_in_all(problem->evidence, row, other)) continue;
        row->tied_to = i;
        row->tied_when = (struct sp_answer){.term = NULL};
        return;
    }
    if (first != index) tie_by_storage(problem, row, first);
}

/* ---- one block at each iteration of a loop ---- */

/* The tensor of the row that stands where this one does, but at the first iteration of that loop. */
static const struct shapeproof_tensor *at_first_iteration(const struct sp_tensor_row *row,
                                                          const struct sp_row_tensor *place, size_t depth)
{
    struct sp_point first = place->point;
    first.index[depth] = 0;
    for (size_t i = 0; i < row->places.count; i++)
        if (sp_compare_points(&row->places.items[i].point, &first) == 0) return row->places.items[i].tensor;
    return NULL;
}

/* Whether each iteration of a loop has the storage of the first one. */
static bool is_one_block(const struct sp_evidence *evidence, const struct sp_tensor_row *row, size_t depth)
{
    size_t shared = 0;
    for (size_t i = 0; i < row->places.count; i++) {
        const struct sp_row_tensor *place = &row->places.items[i];
        const struct shapeproof_inventory *inventory = evidence->examples[place->point.example].inventory;
        const size_t same = place->tensor->same_as;
        if (!place->point.index[depth] && same == SHAPEPROOF_NONE) continue;
        if (same == SHAPEPROOF_NONE ||
            shapeproof_inventory_tensor(inventory, same) != at_first_iteration(row, place, depth))
            return false;
        shared++;
    }
    return shared > 0;
}

/* Ties the row to its own first iteration, for i > 0, in the first loop where that is so. */
static void tie_iterations(struct sp_learn_problem *problem, size_t index)
{
    struct sp_tensor_row *row = &problem->layout.rows.items[index];
    struct sp_arena *arena = problem->evidence->arena;
    for (size_t depth = 0; row->is_solved && is_same_as_any(row) && depth < row->index_count; depth++) {
        if (!is_one_block(problem->evidence, row, depth)) continue;
        row->tied_to = index;
        row->tied_at = depth;
        row->tied_when.term = sp_search_term_binary(arena, SP_TERM_LESS, sp_search_term_number(arena, 0),
                                                    sp_search_term_index(arena, depth));
        return;
    }
}

/* ---- by a flag ---- */

/* The flag of a condition `not flag`, if its name says that it is one of a tie; NULL otherwise. */
static const struct sp_search_term *flag_of_tie(const struct sp_search_term *where)
{
    if (!where || where->op != SP_TERM_NOT || where->a->op != SP_TERM_TRUTH || where->a->a) return NULL;
    return strstr(where->a->terminal->path, "tie") ? where->a : NULL;
}

static bool has_equal_dims(const struct sp_tensor_row *a, const struct sp_tensor_row *b)
{
    if (a->rank != b->rank) return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (!sp_search_terms_equal(a->dims[d].term, b->dims[d].term)) return false;
    return true;
}

static bool is_embedding(const char *name)
{
    return strstr(name, "emb") || strstr(name, "wte") || strstr(name, "shared");
}

/* Whether the expressions of the other row are the shape of this one wherever it is. */
static bool are_dims_of_row(const struct sp_tensor_row *row, const struct sp_tensor_row *other)
{
    for (size_t i = 0; i < row->places.count && row->rank == other->rank; i++)
        for (uint32_t d = 0; d < row->rank; d++)
            if (sp_search_term_value(other->dims[d].term, &row->places.items[i].point) !=
                (double)row->places.items[i].tensor->shape[d])
                return false;
    return row->rank == other->rank;
}

/* Gives a head that is absent where a tie is set the dimensions of the embedding, if these are its sizes: fewer
 * examples have the head, so that its own dimensions rest on less. */
static void take_dims_of_embedding(const struct sp_learn_problem *problem, struct sp_tensor_row *row)
{
    const struct sp_search_term *flag = row->is_solved && !row->index_count ? flag_of_tie(row->where.term) : NULL;
    for (size_t i = 0; flag && i < problem->layout.rows.count; i++) {
        const struct sp_tensor_row *other = &problem->layout.rows.items[i];
        if (other == row || other->index_count || !other->is_solved || other->where.term) continue;
        if (!is_embedding(other->pattern) || !are_dims_of_row(row, other)) continue;
        memcpy(row->dims, other->dims, row->rank * sizeof *row->dims);
        return;
    }
}

/* Ties a head that is absent exactly where the flag of a tie is set to the embedding of equal dimensions: it is always
 * there, and the same when the flag is set. */
static void tie_by_flag(struct sp_learn_problem *problem, struct sp_tensor_row *row)
{
    const struct sp_search_term *flag = row->is_solved && !row->index_count ? flag_of_tie(row->where.term) : NULL;
    for (size_t i = 0; flag && i < problem->layout.rows.count; i++) {
        const struct sp_tensor_row *other = &problem->layout.rows.items[i];
        if (other == row || other->index_count || !other->is_solved || other->where.term) continue;
        if (!is_embedding(other->pattern) || !has_equal_dims(row, other)) continue;
        row->tied_to = i;
        row->tied_when = row->where;
        row->tied_when.term = flag;
        row->where = (struct sp_answer){.term = NULL};
        return;
    }
}

/* Of several rows with one storage the first of the file has it; the others are tied to it. */
void sp_solve_ties(struct sp_learn_problem *problem)
{
    for (size_t i = problem->layout.rows.count; i-- > 0;) find_tie(problem, i);
    for (size_t i = 0; i < problem->layout.rows.count; i++) tie_iterations(problem, i);
    for (size_t i = 0; i < problem->layout.rows.count; i++)
        take_dims_of_embedding(problem, &problem->layout.rows.items[i]);
    for (size_t i = 0; i < problem->layout.rows.count; i++) tie_by_flag(problem, &problem->layout.rows.items[i]);
}
