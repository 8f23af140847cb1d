/* SPDX-License-Identifier: MIT */
#include "load/conversion.h"

#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/checked.h"

struct sp_load_shape sp_load_shape_of(const uint64_t *shape, uint32_t rank)
{
    struct sp_load_shape piece = {.rank = rank <= SP_PIECE_RANK ? rank : SP_PIECE_RANK + 1};
    for (uint32_t i = 0; rank <= SP_PIECE_RANK && i < rank; i++) piece.shape[i] = shape[i];
    return piece;
}

bool sp_same_load_shape(const struct sp_load_shape *a, const struct sp_load_shape *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

/* Whether it is the shape of a tensor of that rank. Of one above the limit it is not said. */
static bool is_load_shape(const struct sp_load_shape *piece, const uint64_t *shape)
{
    for (uint32_t i = 0; i < piece->rank && piece->rank <= SP_PIECE_RANK; i++)
        if (piece->shape[i] != shape[i]) return false;
    return piece->rank <= SP_PIECE_RANK;
}

size_t sp_gathering_find(struct sp_gathering *gathering, struct sp_renamed renamed)
{
    const size_t known = sp_map_get(&gathering->names, renamed.name);
    if (known != SIZE_MAX) return known;
    const char *name = sp_arena_string(gathering->arena, renamed.name);
    sp_map_add(&gathering->names, name, gathering->count);
    *SP_PUSH(gathering) = (struct sp_gathered){.name = name, .held = SIZE_MAX, .rule = renamed.conversion};
    return gathering->count - 1;
}

void sp_gathering_add(struct sp_gathering *gathering, size_t index, size_t expression, const uint64_t *shape,
                      uint32_t rank)
{
    struct sp_pieces *pieces = &gathering->items[index].of[expression % SP_EXPRESSIONS];
    struct sp_run *run = pieces->count ? &pieces->items[pieces->count - 1] : NULL;
    const bool same = run && run->piece.rank == rank && (run->last == shape || is_load_shape(&run->piece, shape));
    if (!same) {
        run = SP_PUSH(pieces);
        *run = (struct sp_run){.piece = sp_load_shape_of(shape, rank)};
    }
    run->last = shape;
    run->count++;
}

void sp_gathering_free(struct sp_gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++)
        for (size_t k = 0; k < SP_EXPRESSIONS; k++) sp_free(gathering->items[i].of[k].items);
    sp_free(gathering->items);
    sp_map_free(&gathering->names);
}

/* ---- targets ---- */

size_t sp_target_count(const struct sp_rule *rule)
{
    const char *words = rule->to, *word;
    size_t count = 0;
    while (sp_word(&words, &word)) count++;
    return count;
}

const char *sp_target_name(struct sp_arena *arena, const struct sp_rule *rule, const char *name, size_t target)
{
    const char *words = rule->to, *first, *word;
    const size_t length = sp_word(&words, &first);
    size_t size = length;
    for (word = first; target; target--) size = sp_word(&words, &word);
    if (word == first) return name;
    const char *place = strstr(name, sp_arena_copy(arena, first, length));
    if (!place) return name;
    return sp_arena_printf(arena, "%.*s%.*s%s", (int)(place - name), name, (int)size, word, place + length);
}

bool sp_rule_is_known(const struct sp_rule *rule) { return !strchr(rule->how, '?'); }

/* ---- steps: each makes other pieces of those there are; false when they do not fit ---- */

/* The shapes of the tensors so far. Before the first step there are none: what is gathered is taken as it is. */
struct pieces {
    struct sp_load_shape items[SP_EXPRESSIONS];
    size_t count;
};

/* stackN: the tensors of each expression along a new dimension N: 8 experts of (6, 4) are (8, 6, 4) for N = 0. False
 * when those of an expression have several shapes. */
static bool stack_pieces(const struct sp_gathered *gathered, unsigned dimension, struct pieces *out)
{
    for (size_t k = 0; k < SP_EXPRESSIONS; k++) {
        const struct sp_pieces *pieces = &gathered->of[k];
        if (!pieces->count) continue;
        struct sp_load_shape whole = pieces->items[0].piece;
        if (pieces->count > 1 || whole.rank >= SP_PIECE_RANK || dimension > whole.rank) return false;
        memmove(whole.shape + dimension + 1, whole.shape + dimension, (whole.rank - dimension) * sizeof *whole.shape);
        whole.shape[dimension] = pieces->items[0].count;
        whole.rank++;
        out->items[out->count++] = whole;
    }
    return true;
}

/* Joins `count` tensors of the shape `piece` to `whole` along a dimension; false when another dimension differs. */
static bool join_piece(struct sp_load_shape *whole, struct sp_load_shape piece, size_t count, unsigned dimension)
{
    uint64_t rows;
    if (dimension >= whole->rank || piece.rank != whole->rank) return false;
    if (!sp_mul_u64(piece.shape[dimension], count, &rows)) return false;
    piece.shape[dimension] = whole->shape[dimension];
    if (!sp_same_load_shape(whole, &piece)) return false;
    whole->shape[dimension] += rows;
    return true;
}

/* joinN: what was stacked before, or else all tensors, along dimension N. */
static bool join_gathered(const struct sp_gathered *gathered, unsigned dimension, struct pieces *out)
{
    const bool stacked = out->count > 0;
    for (size_t i = 1; stacked && i < out->count; i++)
        if (!join_piece(&out->items[0], out->items[i], 1, dimension)) return false;
    for (size_t k = 0; !stacked && k < SP_EXPRESSIONS; k++)
        for (size_t i = 0; i < gathered->of[k].count; i++) {
            struct sp_run run = gathered->of[k].items[i];
            if (!out->count) {
                out->items[out->count++] = run.piece;
                run.count--;
            }
            if (run.count && !join_piece(&out->items[0], run.piece, run.count, dimension)) return false;
        }
    out->count = 1;
    return true;
}

/* chunkN: as torch.chunk, one tensor for each target: all but the last are of one size along dimension N. */
static bool chunk_piece(const struct sp_rule *rule, unsigned dimension, struct pieces *out)
{
    const struct sp_load_shape whole = out->items[0];
    const size_t count = sp_target_count(rule);
    if (dimension >= whole.rank || count > SP_EXPRESSIONS) return false;
    uint64_t left = whole.shape[dimension];
    const uint64_t size = left / count + (left % count != 0);
    for (out->count = 0; out->count < count; out->count++) {
        if (!left) return false;
        out->items[out->count] = whole;
        out->items[out->count].shape[dimension] = left < size ? left : size;
        left -= out->items[out->count].shape[dimension];
    }
    return true;
}

/* swapMN: the dimensions M and N change places. */
static bool swap_dimensions(struct sp_load_shape *piece, unsigned first, unsigned second)
{
    if (first >= piece->rank || second >= piece->rank) return false;
    const uint64_t rows = piece->shape[first];
    piece->shape[first] = piece->shape[second];
    piece->shape[second] = rows;
    return true;
}

/* For a step on a single tensor: the first tensor of the first expression that has any. */
static bool first_piece(const struct sp_gathered *gathered, struct pieces *out)
{
    for (size_t k = 0; k < SP_EXPRESSIONS && !out->count; k++)
        if (gathered->of[k].count) out->items[out->count++] = gathered->of[k].items[0].piece;
    return out->count > 0;
}

/* One word of rule->how, "stack0" or "swap12": its last digits are dimensions. */
static bool convert_step(const struct sp_gathered *gathered, const char *step, size_t length, struct pieces *out)
{
    const unsigned last = sp_digit(step[length - 1]);
    if (strncmp(step, "stack", 5) == 0) return stack_pieces(gathered, last, out);
    if (strncmp(step, "join", 4) == 0) return join_gathered(gathered, last, out);
    if (!out->count && !first_piece(gathered, out)) return false;
    if (strncmp(step, "chunk", 5) == 0) return chunk_piece(gathered->rule, last, out);
    if (strncmp(step, "swap", 4) == 0) return swap_dimensions(&out->items[0], sp_digit(step[length - 2]), last);
    return SP_IS(step, length, "same");
}

size_t sp_convert(const struct sp_gathered *gathered, struct sp_load_shape out[SP_EXPRESSIONS])
{
    struct pieces pieces = {0};
    const char *words = gathered->rule->how, *word;
    for (size_t length; (length = sp_word(&words, &word));)
        if (!convert_step(gathered, word, length, &pieces)) return 0;
    memcpy(out, pieces.items, pieces.count * sizeof *out);
    return pieces.count;
}
