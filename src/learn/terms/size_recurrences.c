/* SPDX-License-Identifier: MIT
 * Sizes that come from halving and doubling: a width that doubles with each stage, an image that is halved by it, and
 * what is flattened in the end: base*2^(stages - 1) * (image_size // 2^stages)^2. */
#include <string.h>

#include "base/chars.h"
#include "learn/terms/enumerator.h"

enum { MOST_STAGES = 12, MOST_SIDES = 8 };

static bool is_whole_between(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal, int64_t least,
                             int64_t most)
{
    for (size_t i = 0; i < enumerator->evidence->count; i++)
        if (terminal->values[i].type != SHAPEPROOF_VALUE_INT || terminal->values[i].integer < least ||
            terminal->values[i].integer > most)
            return false;
    return !terminal->meaning;
}

/* ---- doublings ---- */

static bool is_count_of_stages(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    static const char *const words[] = {"stage", "depth", "level", "layer", "block",
                                        "num",   "down",  "up",    "scale", "pool"};
    return SP_HAS_ANY(terminal->path, words) && is_whole_between(enumerator, terminal, 0, MOST_STAGES);
}

static bool is_short_list(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    for (size_t i = 0; i < enumerator->evidence->count; i++)
        if (terminal->values[i].type != SHAPEPROOF_VALUE_LIST || terminal->values[i].count > MOST_STAGES) return false;
    return !terminal->list && strcmp(terminal->path, "architectures") != 0;
}

/* Then 2^stages is as good as a number. */
static bool is_always_as_many(const struct sp_enumerator *enumerator, const struct sp_search_term *stages)
{
    const struct sp_domain *domain = enumerator->signatures->domain;
    for (size_t i = 1; i < domain->count; i++)
        if (sp_search_term_value(stages, &domain->points[i]) != sp_search_term_value(stages, &domain->points[0]))
            return false;
    return true;
}

/* 2^stages, 2^(stages - 1), and on the way back 2^(stages - i), 2^(stages - 1 - i), 2^(stages - 2 - i). */
static void enumerate_doublings_of(struct sp_enumerator *enumerator, const struct sp_search_term *stages)
{
    struct sp_arena *arena = enumerator->signatures->arena;
    const struct sp_search_term *two = sp_search_term_number(arena, 2);
    for (double less = 0; less <= 2; less++) {
        const struct sp_search_term *number = sp_search_term_number(arena, less);
        const struct sp_search_term *from =
            less > 0 ? sp_search_term_binary(arena, SP_TERM_SUBTRACT, stages, number) : stages;
        if (less < 2 && !is_always_as_many(enumerator, stages))
            sp_enumerator_add_operation(enumerator, SP_TERM_POWER, two, from);
        for (size_t k = 0; k < SP_MAX_INDICES; k++) {
            const struct sp_search_term *index = sp_search_term_index(arena, k);
            if (!(enumerator->signatures->domain->indices >> k & 1)) continue;
            sp_enumerator_add_operation(enumerator, SP_TERM_POWER, two,
                                        sp_search_term_binary(arena, SP_TERM_SUBTRACT, from, index));
        }
    }
}

void sp_enumerator_doublings(struct sp_enumerator *enumerator)
{
    for (size_t i = 0; i < enumerator->evidence->terminals.count; i++) {
        const struct sp_terminal *terminal = enumerator->evidence->terminals.items[i];
        const bool is_list = is_short_list(enumerator, terminal);
        if (!is_list && !is_count_of_stages(enumerator, terminal)) continue;
        enumerate_doublings_of(enumerator, sp_search_term_terminal(enumerator->signatures->arena,
                                                                   is_list ? SP_TERM_LENGTH : SP_TERM_KEY, terminal));
    }
}

/* ---- areas ---- */

static bool is_side_of_image(const struct sp_enumerator *enumerator, const struct sp_terminal *terminal)
{
    static const char *const words[] = {"image", "img",   "resol", "height", "width", "side",  "spatial", "grid",
                                        "input", "patch", "mel",   "freq",   "bins",  "board", "length",  "window"};
    return SP_HAS_ANY(terminal->path, words) && is_whole_between(enumerator, terminal, 2, (int64_t)1 << 20);
}

/* What each of the sides is divided by. */
static void enumerate_areas_divided(struct sp_enumerator *enumerator, const struct sp_search_term *const *sides,
                                    size_t count, const struct sp_search_term *by)
{
    struct sp_arena *arena = enumerator->signatures->arena;
    const struct sp_search_term *left[MOST_SIDES], *two = sp_search_term_number(arena, 2);
    for (size_t i = 0; i < count; i++) {
        left[i] = sp_search_term_binary(arena, SP_TERM_DIVIDE, sides[i], by);
        sp_enumerator_add_term(enumerator, left[i]);
        sp_enumerator_add_operation(enumerator, SP_TERM_POWER, left[i], two);
        for (size_t k = 0; k < i; k++) sp_enumerator_add_operation(enumerator, SP_TERM_MULTIPLY, left[k], left[i]);
    }
}

/* Behind one and two convolutions of stride 2, without padding and with it. */
static void enumerate_strided(struct sp_enumerator *enumerator, const struct sp_search_term *side)
{
    struct sp_arena *arena = enumerator->signatures->arena;
    const struct sp_search_term *one = sp_search_term_number(arena, 1), *two = sp_search_term_number(arena, 2);
    const struct sp_search_term *bare = side;
    for (size_t i = 0; i < 2; i++) {
        bare = sp_search_term_binary(arena, SP_TERM_DIVIDE, sp_search_term_binary(arena, SP_TERM_SUBTRACT, bare, one),
                                     two);
        sp_enumerator_add_term(enumerator, bare);
    }
    for (double by = 2; by <= 4; by *= 2)
        sp_enumerator_add_operation(enumerator, SP_TERM_CEIL_DIV, side, sp_search_term_number(arena, by));
}

static bool is_doubling(const struct sp_search_term *term)
{
    return term->op == SP_TERM_POWER && term->a->op == SP_TERM_NUMBER && term->b->op != SP_TERM_INDEX;
}

void sp_enumerator_areas(struct sp_enumerator *enumerator)
{
    struct sp_arena *arena = enumerator->signatures->arena;
    const struct sp_search_term *sides[MOST_SIDES];
    size_t count = 0;
    for (size_t i = 0; i < enumerator->evidence->terminals.count && count < MOST_SIDES; i++)
        if (is_side_of_image(enumerator, enumerator->evidence->terminals.items[i]))
            sides[count++] = sp_search_term_terminal(arena, SP_TERM_KEY, enumerator->evidence->terminals.items[i]);
    for (double by = 1; by <= 32; by *= 2)
        enumerate_areas_divided(enumerator, sides, count, sp_search_term_number(arena, by));
    for (size_t i = 0; i < enumerator->simple; i++)
        if (is_doubling(enumerator->signatures->items[i].term))
            enumerate_areas_divided(enumerator, sides, count, enumerator->signatures->items[i].term);
    for (size_t i = 0; i < count; i++) enumerate_strided(enumerator, sides[i]);
}
