/* SPDX-License-Identifier: MIT
 * Whether chunks cover a tensor, each element once. Most often they follow one another in one dimension, which one pass
 * shows. Otherwise they are sorted by the dimension in which most of them differ, and each is compared with those that
 * begin before it ends. */
#include <stdlib.h>

#include "base/checked.h"
#include "read/dcp/dcp.h"

enum { MAX_COVER_STEPS = 50 * 1000 * 1000, SORTING = 8 }; /* what sorting costs for each chunk */

/* The dimension along which chunk 0 is shorter than the tensor; 0 when there is none. */
static uint32_t divided_dimension(const struct sp_dcp_tensor *tensor)
{
    for (uint32_t d = 0; d < tensor->rank; d++)
        if (tensor->chunks[0].sizes[d] != tensor->size[d]) return d;
    return 0;
}

/* True when the chunks follow one another from the beginning to the end. */
static bool is_row(const struct sp_dcp_tensor *tensor, uint64_t *steps)
{
    uint64_t end = 0;
    if (!tensor->chunk_count) return false;
    const uint32_t along = divided_dimension(tensor);
    for (size_t i = 0; i < tensor->chunk_count; i++) {
        const struct sp_dcp_chunk *chunk = &tensor->chunks[i];
        for (uint32_t d = 0; d < tensor->rank; d++)
            if (d != along && (chunk->offsets[d] || chunk->sizes[d] != tensor->size[d])) return false;
        *steps += tensor->rank;
        if (!tensor->rank) continue;
        if (chunk->offsets[along] != end) return false;
        end += chunk->sizes[along];
    }
    return tensor->rank ? end == tensor->size[along] : tensor->chunk_count == 1;
}

struct edge {
    uint64_t offset;
    const struct sp_dcp_chunk *chunk;
};

static int compare_edges(const void *left, const void *right)
{
    const uint64_t a = ((const struct edge *)left)->offset, b = ((const struct edge *)right)->offset;
    return a < b ? -1 : a > b;
}

/* Lists the chunks that have elements, sorted by where they begin in the dimension. Returns at how many different
 * places they begin. */
static size_t sort_edges(const struct sp_dcp_tensor *tensor, uint32_t dimension, struct edge *edges)
{
    size_t count = 0, distinct = 1;
    for (size_t i = 0; i < tensor->chunk_count; i++)
        if (tensor->chunks[i].elements)
            edges[count++] = (struct edge){tensor->chunks[i].offsets[dimension], &tensor->chunks[i]};
    if (!count) return 0;
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t i = 1; i < count; i++) distinct += edges[i].offset != edges[i - 1].offset;
    return distinct;
}

/* The dimension in which most chunks begin at different places. */
static uint32_t best_dimension(const struct sp_dcp_tensor *tensor, struct edge *edges)
{
    uint32_t best = 0;
    size_t most = 0;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        const size_t distinct = sort_edges(tensor, d, edges);
        if (distinct > most) {
            most = distinct;
            best = d;
        }
    }
    return best;
}

static bool do_overlap(const struct sp_dcp_chunk *a, const struct sp_dcp_chunk *b, uint32_t rank)
{
    for (uint32_t d = 0; d < rank; d++)
        if (a->offsets[d] + a->sizes[d] <= b->offsets[d] || b->offsets[d] + b->sizes[d] <= a->offsets[d]) return false;
    return true;
}

/* Sets the first two chunks that overlap, or `unknown` when that takes too many comparisons. The edges are the chunks,
 * sorted by where they begin in the dimension: only those that begin before a chunk ends can overlap it. */
static void find_overlap(const struct sp_dcp_tensor *tensor, const struct edge *edges, size_t count, uint32_t dimension,
                         struct sp_dcp_cover *cover, uint64_t *steps)
{
    for (size_t i = 0; i < count; i++) {
        const struct sp_dcp_chunk *chunk = edges[i].chunk;
        const uint64_t end = edges[i].offset + chunk->sizes[dimension];
        for (size_t k = i + 1; k < count && edges[k].offset < end; k++) {
            if ((*steps += tensor->rank) > MAX_COVER_STEPS) {
                cover->unknown = true;
                return;
            }
            if (!do_overlap(chunk, edges[k].chunk, tensor->rank)) continue;
            cover->one = chunk;
            cover->two = edges[k].chunk;
            return;
        }
    }
}

/* A scalar has no dimension to sort by: two chunks of it are the same. */
static struct sp_dcp_cover cover_scalar(const struct sp_dcp_tensor *tensor)
{
    struct sp_dcp_cover cover = {.covered = tensor->chunk_count > 0};
    if (tensor->chunk_count > 1) {
        cover.one = &tensor->chunks[0];
        cover.two = &tensor->chunks[1];
    }
    return cover;
}

struct sp_dcp_cover sp_dcp_cover(const struct sp_dcp_tensor *tensor, uint64_t *steps)
{
    struct sp_dcp_cover cover = {.covered = tensor->elements};
    size_t count = 0; /* of chunks that have elements */
    if (*steps > MAX_COVER_STEPS) return (struct sp_dcp_cover){.unknown = true};
    if (!tensor->elements || is_row(tensor, steps)) return cover;
    if (!tensor->rank) return cover_scalar(tensor);
    *steps += SORTING * (uint64_t)tensor->rank * tensor->chunk_count;
    if (*steps > MAX_COVER_STEPS) return (struct sp_dcp_cover){.unknown = true};
    struct edge *edges = sp_realloc(NULL, tensor->chunk_count + 1, sizeof *edges);
    const uint32_t dimension = best_dimension(tensor, edges);
    sort_edges(tensor, dimension, edges);
    cover.covered = 0;
    for (size_t i = 0; i < tensor->chunk_count; i++) {
        count += tensor->chunks[i].elements > 0;
        if (!sp_add_u64(cover.covered, tensor->chunks[i].elements, &cover.covered)) cover.covered = UINT64_MAX;
    }
    find_overlap(tensor, edges, count, dimension, &cover, steps);
    sp_free(edges);
    return cover;
}
