/* SPDX-License-Identifier: MIT
 * Sizes that come from halving and doubling: a width that doubles with each stage, an image that is halved by it, and
 * what is flattened in the end: base*2^(stages - 1) * (image_size // 2^stages)^2. */
#include <string.h>

#include "base/chars.h"
#include "learn/phrases/stock.h"

enum { MOST_STAGES = 12, MOST_SIDES = 8 };

static bool is_whole_between(const struct sp_stock *stock, const struct sp_leaf *leaf, int64_t least, int64_t most)
{
    for (size_t i = 0; i < stock->evidence->count; i++)
        if (leaf->values[i].type != SHAPEPROOF_VALUE_INT || leaf->values[i].integer < least ||
            leaf->values[i].integer > most)
            return false;
    return !leaf->meaning;
}

/* ---- doublings ---- */

static bool is_count_of_stages(const struct sp_stock *stock, const struct sp_leaf *leaf)
{
    static const char *const words[] = {"stage", "depth", "level", "layer", "block",
                                        "num",   "down",  "up",    "scale", "pool"};
    return SP_HAS_ANY(leaf->path, words) && is_whole_between(stock, leaf, 0, MOST_STAGES);
}

static bool is_short_list(const struct sp_stock *stock, const struct sp_leaf *leaf)
{
    for (size_t i = 0; i < stock->evidence->count; i++)
        if (leaf->values[i].type != SHAPEPROOF_VALUE_LIST || leaf->values[i].count > MOST_STAGES) return false;
    return !leaf->list && strcmp(leaf->path, "architectures") != 0;
}

/* Then 2^stages is as good as a number. */
static bool is_always_as_many(const struct sp_stock *stock, const struct sp_phrase *stages)
{
    const struct sp_domain *domain = stock->shelf->domain;
    for (size_t i = 1; i < domain->count; i++)
        if (sp_phrase_value(stages, &domain->points[i]) != sp_phrase_value(stages, &domain->points[0])) return false;
    return true;
}

/* 2^stages, 2^(stages - 1), and on the way back 2^(stages - i), 2^(stages - 1 - i), 2^(stages - 2 - i). */
static void stock_doublings_of(struct sp_stock *stock, const struct sp_phrase *stages)
{
    struct sp_arena *arena = stock->shelf->arena;
    const struct sp_phrase *two = sp_phrase_number(arena, 2);
    for (double less = 0; less <= 2; less++) {
        const struct sp_phrase *number = sp_phrase_number(arena, less);
        const struct sp_phrase *from =
            less > 0 ? sp_phrase_of(arena, SP_PHRASE_SUBTRACT, stages, number, NULL) : stages;
        if (less < 2 && !is_always_as_many(stock, stages)) sp_stock_operation(stock, SP_PHRASE_POWER, two, from);
        for (size_t k = 0; k < SP_MAX_INDICES; k++) {
            const struct sp_phrase *index = sp_phrase_index(arena, k);
            if (!(stock->shelf->domain->indices >> k & 1)) continue;
            sp_stock_operation(stock, SP_PHRASE_POWER, two, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, from, index, NULL));
        }
    }
}

void sp_stock_doublings(struct sp_stock *stock)
{
    for (size_t i = 0; i < stock->evidence->leaves.count; i++) {
        const struct sp_leaf *leaf = stock->evidence->leaves.items[i];
        const bool is_list = is_short_list(stock, leaf);
        if (!is_list && !is_count_of_stages(stock, leaf)) continue;
        stock_doublings_of(stock,
                           sp_phrase_leaf(stock->shelf->arena, is_list ? SP_PHRASE_LENGTH : SP_PHRASE_KEY, leaf));
    }
}

/* ---- areas ---- */

static bool is_side_of_image(const struct sp_stock *stock, const struct sp_leaf *leaf)
{
    static const char *const words[] = {"image", "img",   "resol", "height", "width", "side",  "spatial", "grid",
                                        "input", "patch", "mel",   "freq",   "bins",  "board", "length",  "window"};
    return SP_HAS_ANY(leaf->path, words) && is_whole_between(stock, leaf, 2, (int64_t)1 << 20);
}

/* What each of the sides is divided by. */
static void stock_areas_divided(struct sp_stock *stock, const struct sp_phrase *const *sides, size_t count,
                                const struct sp_phrase *by)
{
    struct sp_arena *arena = stock->shelf->arena;
    const struct sp_phrase *left[MOST_SIDES], *two = sp_phrase_number(arena, 2);
    for (size_t i = 0; i < count; i++) {
        left[i] = sp_phrase_of(arena, SP_PHRASE_DIVIDE, sides[i], by, NULL);
        sp_stock_term(stock, left[i]);
        sp_stock_operation(stock, SP_PHRASE_POWER, left[i], two);
        for (size_t k = 0; k < i; k++) sp_stock_operation(stock, SP_PHRASE_MULTIPLY, left[k], left[i]);
    }
}

/* Behind one and two convolutions of stride 2, without padding and with it. */
static void stock_strided(struct sp_stock *stock, const struct sp_phrase *side)
{
    struct sp_arena *arena = stock->shelf->arena;
    const struct sp_phrase *one = sp_phrase_number(arena, 1), *two = sp_phrase_number(arena, 2);
    const struct sp_phrase *bare = side;
    for (size_t i = 0; i < 2; i++) {
        bare =
            sp_phrase_of(arena, SP_PHRASE_DIVIDE, sp_phrase_of(arena, SP_PHRASE_SUBTRACT, bare, one, NULL), two, NULL);
        sp_stock_term(stock, bare);
    }
    for (double by = 2; by <= 4; by *= 2)
        sp_stock_operation(stock, SP_PHRASE_CEIL_DIV, side, sp_phrase_number(arena, by));
}

static bool is_doubling(const struct sp_phrase *term)
{
    return term->op == SP_PHRASE_POWER && term->a->op == SP_PHRASE_NUMBER && term->b->op != SP_PHRASE_INDEX;
}

void sp_stock_areas(struct sp_stock *stock)
{
    struct sp_arena *arena = stock->shelf->arena;
    const struct sp_phrase *sides[MOST_SIDES];
    size_t count = 0;
    for (size_t i = 0; i < stock->evidence->leaves.count && count < MOST_SIDES; i++)
        if (is_side_of_image(stock, stock->evidence->leaves.items[i]))
            sides[count++] = sp_phrase_leaf(arena, SP_PHRASE_KEY, stock->evidence->leaves.items[i]);
    for (double by = 1; by <= 32; by *= 2) stock_areas_divided(stock, sides, count, sp_phrase_number(arena, by));
    for (size_t i = 0; i < stock->simple; i++)
        if (is_doubling(stock->shelf->items[i].term))
            stock_areas_divided(stock, sides, count, stock->shelf->items[i].term);
    for (size_t i = 0; i < count; i++) stock_strided(stock, sides[i]);
}
