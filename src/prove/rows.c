/* SPDX-License-Identifier: MIT */
#include "prove/rows.h"

#include <string.h>

#include "names/name_pattern.h"

/* {q_proj, k_proj} is {q_proj,k_proj}. */
static void put_without_blanks(struct sp_text *text, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (from[i] != ' ') sp_text_append(text, from + i, 1);
}

const char *sp_pattern_of_claimed_name(struct sp_arena *arena, const char *name)
{
    struct sp_text text = {0};
    while (*name) {
        const size_t before = strcspn(name, "{"), inside = name[before] ? strcspn(name + before, "}") : 0;
        sp_text_append(&text, name, before);
        name += before;
        if (!inside) continue;
        const bool is_index = memchr(name, ',', inside) == NULL && strspn(name + 1, "0123456789-") + 1 < inside;
        if (is_index) sp_text_puts(&text, "{}");
        else put_without_blanks(&text, name, inside + (name[inside] == '}'));
        name += inside + (name[inside] == '}');
    }
    return sp_text_keep(&text, arena);
}

/* The name with a number in place of each placeholder, "{p}h.{i}.weight" -> "7h.7.weight". No name of a claim has that
 * number, so that one with a number, h.0.weight, does not mean the row. */
static const char *example_of_row(struct sp_arena *arena, const char *row)
{
    struct sp_text text = {0};
    while (*row) {
        const size_t before = strcspn(row, "{");
        sp_text_append(&text, row, before);
        row += before;
        if (!*row) break;
        sp_text_puts(&text, "7654321");
        row += strcspn(row, "}");
        if (*row) row++;
    }
    return sp_text_keep(&text, arena);
}

bool sp_row_matches(struct sp_arena *arena, const char *pattern, const struct sp_row_count *row)
{
    struct sp_name_pattern parsed;
    struct sp_pattern_mistake mistake;
    return sp_name_pattern_parse(&parsed, pattern, strlen(pattern), &mistake) &&
           (sp_name_pattern_matches(&parsed, example_of_row(arena, row->name)) ||
            (row->prefix && sp_name_pattern_matches(&parsed, example_of_row(arena, row->name + row->prefix))));
}

/* Dimension `index` of a row; false with *why when it has none, or not the one that the rows before have, in *known. */
static bool same_dimension(const struct sp_row_count *row, int64_t index, const struct sp_poly **known,
                           const char **why)
{
    *why = NULL;
    if (!row->shape) *why = "the tensors of the row differ in shape";
    else if (index < 0 || index >= (int64_t)row->rank) *why = "the tensor has no such dimension: the first is 0";
    else if (*known && !sp_poly_equal(*known, row->shape[index])) *why = "these tensors differ in that dimension";
    else *known = row->shape[index];
    return !*why;
}

const struct sp_poly *sp_count_of_rows(struct sp_count *count, const struct sp_expr *expr, int64_t index,
                                       const char **why)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_arena scratch = {0};
    const char *pattern = sp_pattern_of_claimed_name(&scratch, expr->value.string);
    const bool is_dimension = strcmp(expr->name, "dim") == 0, is_count = strcmp(expr->name, "count") == 0;
    const struct sp_poly *sum = sp_poly_int(algebra, 0), *dimension = NULL;
    bool found = false, good = true;
    for (size_t i = 0; i < count->row_count && good; i++) {
        const struct sp_row_count *row = &count->rows[i];
        if (!sp_row_matches(&scratch, pattern, row)) continue;
        found = true;
        if (!is_dimension) sum = sp_poly_add(algebra, sum, is_count ? row->tensors : row->parameters);
        else if (!sp_poly_is_zero(row->parameters)) good = same_dimension(row, index, &dimension, why);
    }
    sp_arena_free(&scratch);
    if (!found)
        *why = "the table has no such row, other than optional ones and buffers; in a name {i} stands for an index";
    else if (is_dimension && good && !dimension) *why = "the table has no such tensor here";
    if (!found || !good) return NULL;
    return is_dimension ? dimension : sum;
}
