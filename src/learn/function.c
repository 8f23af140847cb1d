/* SPDX-License-Identifier: MIT */
#include "learn/function.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

enum { MOST_POINTS = 400, MOST_BANKS = 32, MOST_COUNTED = 8 };

void sp_function_add(struct sp_learn_function *function, const struct sp_point *point, double value)
{
    if (function->count == function->capacity) {
        function->capacity = function->capacity ? 2 * function->capacity : 16;
        function->points = sp_realloc(function->points, function->capacity, sizeof *function->points);
        function->values = sp_realloc(function->values, function->capacity, sizeof *function->values);
    }
    function->points[function->count] = *point;
    function->values[function->count++] = value;
}

void sp_function_free(struct sp_learn_function *function)
{
    free(function->points);
    free(function->values);
}

/* ---- fewer indices ---- */

struct sample {
    struct sp_point point;
    double value;
};

static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    return sp_compare_points(&a->point, &b->point);
}

static struct sample *masked_samples(const struct sp_learn_function *function, unsigned mask)
{
    struct sample *samples = sp_realloc(NULL, function->count + 1, sizeof *samples);
    for (size_t i = 0; i < function->count; i++) {
        samples[i] = (struct sample){function->points[i], function->values[i]};
        for (size_t k = 0; k < SP_MAX_INDICES; k++)
            if (!(mask >> k & 1)) samples[i].point.index[k] = 0;
    }
    qsort(samples, function->count, sizeof *samples, compare_samples);
    return samples;
}

/* Each point once; 0 when two values are at one. */
static size_t unite_samples(struct sample *samples, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const bool same = kept && compare_samples(&samples[kept - 1], &samples[i]) == 0;
        if (same && samples[kept - 1].value != samples[i].value) return 0;
        if (!same) samples[kept++] = samples[i];
    }
    return kept;
}

/* Evenly, with the first and the last. */
static size_t thin_samples(struct sample *samples, size_t count)
{
    if (count <= MOST_POINTS) return count;
    for (size_t i = 0; i < MOST_POINTS; i++) samples[i] = samples[i * (count - 1) / (MOST_POINTS - 1)];
    return MOST_POINTS;
}

static struct sp_reduced keep_samples(const struct sample *samples, size_t count, unsigned mask)
{
    struct sp_reduced reduced = {.domain = {.count = count, .indices = mask}};
    reduced.domain.points = sp_realloc(NULL, count + 1, sizeof *reduced.domain.points);
    reduced.values = sp_realloc(NULL, count + 1, sizeof *reduced.values);
    for (size_t i = 0; i < count; i++) {
        reduced.domain.points[i] = samples[i].point;
        reduced.values[i] = samples[i].value;
    }
    return reduced;
}

static bool try_mask(const struct sp_learn_function *function, unsigned mask, struct sp_reduced *reduced)
{
    struct sample *samples = masked_samples(function, mask);
    const size_t count = thin_samples(samples, unite_samples(samples, function->count));
    if (count) *reduced = keep_samples(samples, count, mask);
    free(samples);
    return count > 0;
}

struct sp_reduced sp_function_reduce(const struct sp_learn_function *function)
{
    const unsigned all = (1U << function->index_count) - 1;
    struct sp_reduced reduced = {.values = NULL};
    for (size_t indices = 0; indices <= function->index_count; indices++)
        for (unsigned mask = 0; mask <= all; mask++)
            if ((size_t)__builtin_popcount(mask) == indices && try_mask(function, mask, &reduced)) return reduced;
    return reduced;
}

void sp_reduced_free(struct sp_reduced *reduced)
{
    free(reduced->domain.points);
    free(reduced->values);
}

size_t sp_distinct_values(const double *values, size_t count)
{
    double seen[MOST_COUNTED];
    size_t distinct = 0;
    for (size_t i = 0; i < count && distinct < MOST_COUNTED; i++) {
        size_t known = 0;
        while (known < distinct && seen[known] != values[i]) known++;
        if (known == distinct) seen[distinct++] = values[i];
    }
    return distinct;
}

/* ---- banks ---- */

static bool same_domain(const struct sp_domain *a, const struct sp_domain *b)
{
    return a->indices == b->indices && a->count == b->count &&
           memcmp(a->points, b->points, a->count * sizeof *a->points) == 0;
}

void sp_library_forget(struct sp_library *library)
{
    for (size_t i = 0; i < library->banks.count; i++) sp_bank_free(library->banks.items[i]);
    free(library->banks.items);
    library->banks.items = NULL;
    library->banks.count = library->banks.capacity = 0;
}

void sp_library_tidy(struct sp_library *library)
{
    if (library->banks.count >= MOST_BANKS) sp_library_forget(library);
}

struct sp_bank *sp_library_bank(struct sp_library *library, const struct sp_domain *domain)
{
    for (size_t i = 0; i < library->banks.count; i++)
        if (same_domain(sp_bank_domain(library->banks.items[i]), domain)) return library->banks.items[i];
    struct sp_domain kept = *domain;
    kept.points = sp_arena_array(library->evidence->arena, domain->count, sizeof *kept.points);
    memcpy(kept.points, domain->points, domain->count * sizeof *kept.points);
    *SP_PUSH(&library->banks) = sp_bank_new(library->evidence, &kept);
    return library->banks.items[library->banks.count - 1];
}
