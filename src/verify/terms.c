/* SPDX-License-Identifier: MIT
 * Deviations as terms. A tensor is as large as the product of the dimensions that its row of the table has, and all
 * tensors of a row together as large as the row:
 *
 *     h.{0-1}.attn.c_attn.bias is missing    the row h.{i}.attn.c_attn.bias has (3*E), N times: -3*E*N
 *     h.1.attn.c_attn.bias is missing        one of two: -3*E
 *     wte.weight is (80, 16), not (64, 16)   the row has (V, E): 16*E
 *     h.2.mlp.c_fc.bias is not predicted     its siblings h.{0-1}.mlp.c_fc.bias are, as (H): H
 *     h.{0-1}.attn.q.bias is not predicted   h.{i}.attn.q.weight is, N times (A*D, E): A*D*N
 *
 * A term that is not worth the number of parameters is not used: the number stands in its place. */
#include <stdlib.h>
#include <string.h>

#include "lang/prediction.h"
#include "names/name_pattern.h"
#include "names/patterns.h"
#include "verify/verify.h"

/* What the table has under one pattern of names. */
struct pattern_row {
    const struct sp_row_count *row; /* or NULL */
    size_t tensors;                 /* that are predicted of it and counted */
    int64_t parameters;             /* in them */
};

/* The rows of the table, by the patterns of the names that they predict. */
struct terms {
    struct shapeproof_verification *verification;
    struct sp_patterns patterns;
    struct {
        struct pattern_row *items; /* heap; by pattern */
        size_t count, capacity;
    } rows;
};

static const struct shapeproof_predicted *predicted_at(const struct terms *terms, size_t predicted)
{
    return shapeproof_prediction_tensor(terms->verification->check->prediction, predicted);
}

/* ---- the row of a tensor ---- */

/* The pattern of the names that the template of a row makes: "{p}h.{i}.weight" is "*h.*.weight". *literal counts the
 * bytes that stand for themselves. */
static char *pattern_of_template(struct sp_arena *arena, const char *template, size_t *literal)
{
    struct sp_text text = {0};
    *literal = 0;
    for (const char *at = template; *at; at++) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (end) {
            sp_text_puts(&text, "*");
            at = end;
            continue;
        }
        if (strchr("*?[]{}\\", *at)) sp_text_puts(&text, "\\");
        sp_text_append(&text, at, 1);
        ++*literal;
    }
    return sp_text_keep(&text, arena);
}

/* Whether the template of a row makes the name. *literal: the bytes of it that stand for themselves. */
static bool is_made_by(struct sp_arena *arena, const char *template, const char *name, size_t *literal)
{
    struct sp_name_pattern pattern;
    struct sp_pattern_mistake mistake;
    const char *text = pattern_of_template(arena, template, literal);
    return sp_name_pattern_parse(&pattern, text, strlen(text), &mistake) && sp_name_pattern_matches(&pattern, name);
}

/* The row of its group whose template makes the name; of several the one with the most text of its own. */
static const struct sp_row_count *row_of_name(const struct sp_count *count, const char *group, const char *name)
{
    const struct sp_row_count *best = NULL;
    struct sp_arena scratch = {0};
    size_t most = 0, literal;
    for (size_t i = 0; i < count->row_count; i++) {
        const struct sp_row_count *row = &count->rows[i];
        if (strcmp(row->group, group) != 0 || !is_made_by(&scratch, row->name, name, &literal)) continue;
        if (best && literal <= most) continue;
        best = row;
        most = literal;
    }
    sp_arena_free(&scratch);
    return best;
}

/* Adds a predicted tensor to the row of its pattern, which is looked up for the first one. Optional tensors, buffers
 * and tied ones are not counted. */
static void add_to_rows(struct terms *terms, size_t predicted)
{
    const struct shapeproof_prediction *prediction = terms->verification->check->prediction;
    const struct shapeproof_predicted *info = predicted_at(terms, predicted);
    const size_t pattern = sp_pattern_of(&terms->patterns, info->name, NULL);
    const char *group = shapeproof_prediction_group(prediction, info->group)->name;
    if (pattern == terms->rows.count) /* it is new */
        *SP_PUSH(&terms->rows) = (struct pattern_row){
            .row = row_of_name(&terms->verification->general, group, sp_prediction_own_name(prediction, predicted))};
    if (info->optional || info->buffer || info->same_as != SHAPEPROOF_NONE) return;
    terms->rows.items[pattern].tensors++;
    terms->rows.items[pattern].parameters += (int64_t)info->logical;
}

/* ---- terms ---- */

/* Whether the polynomial has that value under the configuration. */
static bool is_worth(const struct terms *terms, const struct sp_poly *poly, int64_t number)
{
    struct sp_rational value;
    return sp_configured_value(&terms->verification->configured, poly, &value) && value.den == 1 && value.num == number;
}

/* The product of all dimensions but one (or SIZE_MAX), in the case that is configured; NULL when they are not known. */
static const struct sp_poly *product_but(const struct terms *terms, const struct sp_row_count *row, size_t but)
{
    struct sp_algebra *algebra = &terms->verification->general.symbolic.algebra;
    const struct sp_poly *product = sp_poly_int(algebra, 1);
    if (!row || !row->shape) return NULL;
    for (size_t i = 0; i < row->rank; i++)
        if (i != but) product = sp_poly_mul(algebra, product, row->shape[i]);
    return sp_configured_form(&terms->verification->configured, product);
}

/* The only dimension in which a tensor has not the predicted shape, or SIZE_MAX. */
static size_t odd_dimension(const struct shapeproof_tensor *tensor, const struct shapeproof_predicted *predicted)
{
    size_t odd = SIZE_MAX;
    if (tensor->rank != predicted->rank) return SIZE_MAX;
    for (size_t i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] == predicted->shape[i]) continue;
        if (odd != SIZE_MAX) return SIZE_MAX;
        odd = i;
    }
    return odd;
}

/* Where the size of a deviant comes from. */
struct source {
    const struct pattern_row *row; /* or NULL: its size is only a number */
    bool is_bias;                  /* it is an unpredicted bias beside the weight that the row has */
};

/* The row whose pattern the name has; NULL for none. */
static const struct pattern_row *row_of_pattern(const struct terms *terms, const char *name)
{
    struct sp_text text = {0};
    struct sp_indices indices = {.count = 0};
    sp_name_split(&text, name, terms->patterns.rule, &indices);
    const size_t pattern = sp_pattern_find(&terms->patterns, text.data ? text.data : "");
    sp_text_free(&text);
    return pattern < terms->rows.count ? &terms->rows.items[pattern] : NULL;
}

/* The row of a tensor that is not predicted: of siblings with other indices, or of the weight beside a bias. */
static struct source source_of_stranger(const struct terms *terms, size_t tensor)
{
    const struct shapeproof_check *check = terms->verification->check;
    static const char bias[] = ".bias";
    struct sp_text name = {0};
    sp_naming_apply(&check->naming, shapeproof_inventory_tensor(check->inventory, tensor)->name, &name);
    struct source source = {.row = name.length ? row_of_pattern(terms, name.data) : NULL};
    const size_t length = sizeof bias - 1;
    if (!source.row && name.length > length && strcmp(name.data + name.length - length, bias) == 0) {
        name.length -= length;
        sp_text_puts(&name, ".weight");
        source = (struct source){row_of_pattern(terms, name.data), true};
    }
    sp_text_free(&name);
    return source;
}

/* A predicted tensor has a row of its own, one that is tied the row of the tensor which it is tied to. */
static struct source source_of(const struct terms *terms, const struct sp_deviant *deviant)
{
    if (deviant->predicted == SHAPEPROOF_NONE) return source_of_stranger(terms, deviant->tensor);
    const struct shapeproof_predicted *info = predicted_at(terms, deviant->predicted);
    if (info->same_as != SHAPEPROOF_NONE) info = predicted_at(terms, info->same_as);
    return (struct source){.row = row_of_pattern(terms, info->name)};
}

/* How many more rows, or columns, a tensor has than predicted, times all other dimensions. */
static const struct sp_poly *term_of_shape(struct terms *terms, const struct pattern_row *row,
                                           const struct sp_deviant *deviant)
{
    const struct shapeproof_tensor *tensor =
        shapeproof_inventory_tensor(terms->verification->check->inventory, deviant->tensor);
    const struct shapeproof_predicted *predicted = predicted_at(terms, deviant->predicted);
    const size_t odd = odd_dimension(tensor, predicted);
    const struct sp_poly *others = odd == SIZE_MAX ? NULL : product_but(terms, row->row, odd);
    if (!others) return NULL;
    return sp_poly_scale(&terms->verification->general.symbolic.algebra, others,
                         sp_rational_int((int64_t)tensor->shape[odd] - (int64_t)predicted->shape[odd]));
}

/* A bias is as long as one dimension of its weight: the first, or the last of a weight that is stored transposed. */
static const struct sp_poly *term_of_bias(struct terms *terms, const struct pattern_row *row,
                                          const struct sp_deviant *deviant)
{
    const struct sp_row_count *weight = row->row;
    if (!weight || !weight->shape || weight->rank < 2) return NULL;
    const struct sp_poly *first = sp_configured_form(&terms->verification->configured, weight->shape[0]);
    if (first && is_worth(terms, first, deviant->parameters)) return first;
    return sp_configured_form(&terms->verification->configured, weight->shape[weight->rank - 1]);
}

/* One tensor: a polynomial that is worth what it deviates by, or that number. */
static const struct sp_poly *term_of_tensor(struct terms *terms, enum shapeproof_deviation_kind kind,
                                            struct source source, const struct sp_deviant *deviant)
{
    struct sp_algebra *algebra = &terms->verification->general.symbolic.algebra;
    const struct sp_poly *term = !source.row                          ? NULL
                                 : source.is_bias                     ? term_of_bias(terms, source.row, deviant)
                                 : kind == SHAPEPROOF_DEVIATION_SHAPE ? term_of_shape(terms, source.row, deviant)
                                                                      : product_but(terms, source.row->row, SIZE_MAX);
    if (term && kind == SHAPEPROOF_DEVIATION_MISSING) term = sp_poly_scale(algebra, term, sp_rational_int(-1));
    return term && is_worth(terms, term, deviant->parameters) ? term : sp_poly_int(algebra, deviant->parameters);
}

/* ---- all tensors of one row ---- */

/* Deviants of one deviation with one source. */
struct bucket {
    size_t count;
    int64_t parameters;        /* of all */
    const struct sp_poly *one; /* the term that each of them has; NULL when they differ */
    const struct sp_poly *sum; /* of their terms */
};

/* Adds a deviant with its term. */
static void add_to_bucket(struct sp_algebra *algebra, struct bucket *bucket, const struct sp_poly *term,
                          int64_t parameters)
{
    bucket->one = !bucket->count || (bucket->one && sp_poly_equal(bucket->one, term)) ? term : NULL;
    bucket->sum = bucket->count ? sp_poly_add(algebra, bucket->sum, term) : term;
    bucket->parameters += parameters;
    bucket->count++;
}

/* The term of all deviants in a bucket. Where these are all tensors of the row it is written for the loops of the row:
 * the negative of the whole row if they are missing; else the term that each has, times all/each, the number of
 * iterations: -3*E of N layers is -3*E*N. A term that is not worth the number of parameters is not used; the sum of the
 * single terms stands in its place. */
static const struct sp_poly *term_of_bucket(struct terms *terms, const struct pattern_row *row,
                                            const struct bucket *bucket)
{
    struct sp_algebra *algebra = &terms->verification->general.symbolic.algebra;
    const struct sp_poly *all = row->row && row->tensors == bucket->count
                                    ? sp_configured_form(&terms->verification->configured, row->row->parameters)
                                    : NULL;
    if (!all) return bucket->sum;
    const struct sp_poly *missing = sp_poly_scale(algebra, all, sp_rational_int(-1));
    if (is_worth(terms, missing, bucket->parameters)) return missing;
    const struct sp_poly *each = product_but(terms, row->row, SIZE_MAX);
    const struct sp_poly *times = each && bucket->one ? sp_poly_divide(algebra, all, each) : NULL;
    const struct sp_poly *term = times ? sp_poly_mul(algebra, times, bucket->one) : NULL;
    return term && is_worth(terms, term, bucket->parameters) ? term : bucket->sum;
}

/* Finds the term of a deviation: "-3*E*N" for the missing biases of N layers. Its tensors are sorted into one bucket
 * for each row of the table, and a second one for biases beside the weight of that row; the terms of the buckets are
 * added up. A tensor without a row is a number. */
static void find_term(struct terms *terms, struct sp_deviation *deviation)
{
    struct sp_algebra *algebra = &terms->verification->general.symbolic.algebra;
    const size_t rows = terms->rows.count;
    struct bucket *buckets = sp_realloc(NULL, 2 * rows, sizeof *buckets); /* of rows, then of their biases */
    memset(buckets, 0, 2 * rows * sizeof *buckets);
    deviation->term = sp_poly_int(algebra, 0);
    for (size_t i = 0; i < deviation->tensors.count; i++) {
        struct sp_deviant *deviant = &deviation->tensors.items[i];
        const struct source source = source_of(terms, deviant);
        const struct pattern_row *own = deviant->predicted == SHAPEPROOF_NONE
                                            ? (source.is_bias ? NULL : source.row)
                                            : row_of_pattern(terms, predicted_at(terms, deviant->predicted)->name);
        deviant->row = own ? own->row : NULL;
        const struct sp_poly *term = term_of_tensor(terms, deviation->kind, source, deviant);
        if (!source.row) deviation->term = sp_poly_add(algebra, deviation->term, term);
        else
            add_to_bucket(algebra, &buckets[(size_t)(source.row - terms->rows.items) + (source.is_bias ? rows : 0)],
                          term, deviant->parameters);
    }
    for (size_t i = 0; i < 2 * rows; i++)
        if (buckets[i].count)
            deviation->term =
                sp_poly_add(algebra, deviation->term, term_of_bucket(terms, &terms->rows.items[i % rows], &buckets[i]));
    sp_free(buckets);
}

void sp_verify_terms(struct shapeproof_verification *verification)
{
    struct terms terms = {.verification = verification, .patterns = {.rule = SP_INDEX_COMPONENT}};
    const size_t count = shapeproof_prediction_count(verification->check->prediction);
    if (!verification->deviations.count) return;
    for (size_t i = 0; i < count; i++) add_to_rows(&terms, i);
    for (size_t i = 0; i < verification->deviations.count; i++) find_term(&terms, &verification->deviations.items[i]);
    sp_patterns_free(&terms.patterns);
    sp_free(terms.rows.items);
}
